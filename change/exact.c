/*
 * exact.c - rows of last versions, and the comparison with them.
 *
 * A record costs one lookup by its key and one upsert of the same row; the
 * two indexes serve questions that few records ask:
 *
 *     key UNIQUE           the last version of this URL
 *     content              another URL with this content (duplicate)
 *     name, gone, due      pages that a visit should have met (removed)
 *
 * A word is stored as 32 bits of its hash, so that a page of 600 words takes
 * 2.7 KB and not its text. The price: what was removed is counted and cannot
 * be shown, and one in 2^32 changed words looks unchanged.
 *
 * Missing pages are handed out before one UPDATE with the same condition
 * marks them. Both are in the caller's transaction, so a visit whose batch is
 * rolled back finds the same pages again.
 */
#include "exact.h"

#include <stdlib.h>
#include <string.h>

#include "../lib/text/little.h"
#include "../lib/text/number.h"
#include "../lib/text/span.h"
#include "diff.h"
#include "words.h"

const char change_exact_schema[] =
    "CREATE TABLE IF NOT EXISTS pages (number INTEGER PRIMARY KEY, key BLOB "
    "NOT NULL UNIQUE, url TEXT NOT NULL, name TEXT NOT NULL, due INTEGER NOT "
    "NULL, fetched INTEGER NOT NULL, gone INTEGER NOT NULL, content BLOB NOT "
    "NULL, pending BLOB, skeleton INTEGER, fields BLOB NOT NULL);"
    "CREATE INDEX IF NOT EXISTS pages_content ON pages (content);"
    "CREATE INDEX IF NOT EXISTS pages_visit ON pages (name, gone, due);"
    "CREATE TABLE IF NOT EXISTS visits (visit TEXT PRIMARY KEY, stored "
    "INTEGER NOT NULL, expected INTEGER NOT NULL, complete INTEGER NOT NULL) "
    "WITHOUT ROWID;";

enum seen_code change_exact_open(struct change_exact *e, struct sql *db,
                                 struct seen_error *why)
{
    const struct {
        struct sql_statement **to;
        const char *text;
    } all[] = {
        { &e->find, "SELECT fetched, gone, content, pending, skeleton, fields "
                    "FROM pages WHERE key = ?1" },
        { &e->keep,
          "INSERT INTO pages (key, url, name, due, fetched, gone, content, "
          "pending, skeleton, fields) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, "
          "?9, ?10) ON CONFLICT (key) DO UPDATE SET name = ?3, due = ?4, "
          "fetched = ?5, gone = ?6, content = ?7, pending = ?8, skeleton = "
          "?9, fields = ?10" },
        { &e->same, "SELECT url FROM pages WHERE content = ?1 AND key <> ?2 "
                    "ORDER BY number LIMIT 1" },
        { &e->missing, "SELECT url FROM pages WHERE name = ?1 AND gone = 0 "
                       "AND due < ?2 ORDER BY number" },
        { &e->mark, "UPDATE pages SET gone = 1 WHERE name = ?1 AND gone = 0 "
                    "AND due < ?2" },
    };
    enum seen_code code = SEEN_OK;

    e->db = db;
    for (size_t i = 0; code == SEEN_OK && i < sizeof all / sizeof *all; i++)
        code = sql_prepare(all[i].to, db, all[i].text, why);
    return code;
}

static struct seen_span key_bytes(const struct seen_key *key,
                                  char bytes[CHANGE_SUM])
{
    little_put_64(bytes, key->lo);
    little_put_64(bytes + 8, key->hi);
    return (struct seen_span){ bytes, CHANGE_SUM };
}

static void copy_sum(char to[CHANGE_SUM], struct seen_span from)
{
    memset(to, 0, CHANGE_SUM);
    memcpy(to, from.text, from.len < CHANGE_SUM ? from.len : CHANGE_SUM);
}

enum seen_code change_exact_find(struct change_exact *e,
                                 const struct seen_key *url,
                                 struct change_known *known,
                                 struct seen_error *why)
{
    char bytes[CHANGE_SUM];
    enum seen_code code;
    bool row;

    known->fields.len = 0;
    *known = (struct change_known){ .fields = known->fields };
    sql_bind_bytes(e->find, 1, key_bytes(url, bytes));
    code = sql_step(e->find, &row, why);
    if (code != SEEN_OK || !row)
        return code;
    known->found = true;
    known->fetched = (uint64_t)sql_number(e->find, 0);
    known->gone = sql_number(e->find, 1);
    copy_sum(known->content, sql_text(e->find, 2));
    known->waits = !sql_is_null(e->find, 3);
    if (known->waits)
        copy_sum(known->pending, sql_text(e->find, 3));
    known->has_skeleton = !sql_is_null(e->find, 4);
    known->skeleton = (uint64_t)sql_number(e->find, 4);
    buffer_span(&known->fields, sql_text(e->find, 5));
    sql_reset(e->find);
    return known->fields.failed
               ? seen_fail(why, SEEN_NOMEM, 0, "no memory for a page")
               : SEEN_OK;
}

uint64_t change_visit_due(struct seen_span visit, struct seen_span *name)
{
    uint64_t due = 0;
    size_t at = visit.len;

    while (at && visit.text[at - 1] != '@')
        at--;
    *name = visit;
    if (!at ||
        !number_digits((struct seen_span){ visit.text + at, visit.len - at },
                       &due))
        return 0;
    name->len = at - 1;
    return due;
}

enum seen_code change_exact_keep(struct change_exact *e,
                                 const struct change_record *r,
                                 const struct change_known *known,
                                 struct seen_error *why)
{
    char bytes[CHANGE_SUM];
    struct seen_span name;
    uint64_t due = change_visit_due(r->visit, &name);

    sql_bind_bytes(e->keep, 1, key_bytes(&r->key, bytes));
    sql_bind_text(e->keep, 2, r->url);
    sql_bind_text(e->keep, 3, name);
    sql_bind_number(e->keep, 4, (int64_t)due);
    sql_bind_number(e->keep, 5, (int64_t)known->fetched);
    sql_bind_number(e->keep, 6, known->gone);
    sql_bind_bytes(e->keep, 7,
                   (struct seen_span){ known->content, CHANGE_SUM });
    if (known->waits)
        sql_bind_bytes(e->keep, 8,
                       (struct seen_span){ known->pending, CHANGE_SUM });
    else
        sql_bind_null(e->keep, 8);
    if (known->has_skeleton)
        sql_bind_number(e->keep, 9, (int64_t)known->skeleton);
    else
        sql_bind_null(e->keep, 9);
    sql_bind_bytes(
        e->keep, 10,
        (struct seen_span){ known->fields.len ? known->fields.bytes : "",
                            known->fields.len });
    return sql_do(e->keep, why);
}

enum seen_code change_exact_same(struct change_exact *e,
                                 const struct seen_key *url,
                                 const char content[CHANGE_SUM],
                                 struct buffer *other, struct seen_error *why)
{
    char bytes[CHANGE_SUM];
    enum seen_code code;
    bool row;

    other->len = 0;
    sql_bind_bytes(e->same, 1, (struct seen_span){ content, CHANGE_SUM });
    sql_bind_bytes(e->same, 2, key_bytes(url, bytes));
    code = sql_step(e->same, &row, why);
    if (code != SEEN_OK || !row)
        return code;
    buffer_span(other, sql_text(e->same, 0));
    sql_reset(e->same);
    return SEEN_OK;
}

enum seen_code change_exact_missing(struct change_exact *e,
                                    struct seen_span visit,
                                    change_take_missing *take, void *owner,
                                    struct seen_error *why)
{
    struct seen_span name;
    int64_t due = (int64_t)change_visit_due(visit, &name);
    enum seen_code code;
    bool row;

    sql_bind_text(e->missing, 1, name);
    sql_bind_number(e->missing, 2, due);
    while ((code = sql_step(e->missing, &row, why)) == SEEN_OK && row) {
        code = take(owner, sql_text(e->missing, 0), why);
        if (code != SEEN_OK) {
            sql_reset(e->missing);
            return code;
        }
    }
    if (code != SEEN_OK)
        return code;
    sql_bind_text(e->mark, 1, name);
    sql_bind_number(e->mark, 2, due);
    return sql_do(e->mark, why);
}

/* --- fields ---

   Per field: bytes of the name (4) | name | had text (1) | words (4) | a hash
   per word (4 each). With `bare` there are 0 words, and no comparison. */

void change_exact_fields(struct buffer *to, const struct change_page *page,
                         bool bare)
{
    char four[4];

    to->len = 0;
    for (size_t i = 0; i < page->fields; i++) {
        const struct change_page_field *f = &page->field[i];
        size_t n = bare ? 0 : f->words;

        little_put_32(four, (uint32_t)f->name.len);
        buffer_bytes(to, four, 4);
        buffer_span(to, f->name);
        buffer_byte(to, f->matched);
        little_put_32(four, (uint32_t)n);
        buffer_bytes(to, four, 4);
        for (size_t k = 0; k < n; k++) {
            little_put_32(four, (uint32_t)page->word[f->first + k]);
            buffer_bytes(to, four, 4);
        }
    }
}

struct stored_field {
    struct seen_span name;
    bool matched;
    size_t n;
    const char *words;
};

/* The next field of `rest`; false at the end, or where it is damaged. */
static bool next_field(struct seen_span *rest, struct stored_field *f)
{
    size_t len;

    if (rest->len < 4)
        return false;
    len = little_32(rest->text);
    if (rest->len - 4 < len || rest->len - 4 - len < 5)
        return false;
    f->name = (struct seen_span){ rest->text + 4, len };
    f->matched = rest->text[4 + len];
    f->n = little_32(rest->text + 5 + len);
    f->words = rest->text + 9 + len;
    rest->text += 9 + len;
    rest->len -= 9 + len;
    if (rest->len / 4 < f->n)
        return false;
    rest->text += 4 * f->n;
    rest->len -= 4 * f->n;
    return true;
}

static bool find_field(const struct buffer *fields, struct seen_span name,
                       struct stored_field *f)
{
    struct seen_span rest = { fields->bytes, fields->len };

    while (next_field(&rest, f))
        if (span_equal(f->name, name))
            return true;
    *f = (struct stored_field){ .n = 0 };
    return false;
}

bool change_exact_matched(const struct buffer *fields, struct seen_span name)
{
    struct stored_field f;

    return find_field(fields, name, &f) && f.matched;
}

/* Runs of new words within a value, and seams where words were only
   removed. */
static enum seen_code add_parts(struct change_answers *answers,
                                const struct change_page *page,
                                const struct change_page_field *f,
                                const bool *fresh, const uint32_t *gone,
                                struct change_in_field *sum,
                                struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    for (size_t i = 0; code == SEEN_OK && i <= f->words;) {
        size_t n = 0;

        sum->removed += gone[i];
        while (i + n < f->words && fresh[i + n] &&
               page->place[f->first + i + n].value ==
                   page->place[f->first + i].value) {
            if (n)
                sum->removed += gone[i + n];
            n++;
        }
        if (n) {
            sum->added += n;
            code = change_words_part(answers, page, f->first + i, n, why);
        } else if (gone[i] && !(i && fresh[i - 1])) {
            struct change_part *part = change_answers_part(answers);

            if (!part)
                return seen_fail(why, SEEN_NOMEM, 0, "no memory for words");
            if (i < f->words) {
                part->value = page->place[f->first + i].value;
                part->at = page->place[f->first + i].at;
            } else if (f->words) {
                part->value = page->place[f->first + i - 1].value;
                part->at = page->place[f->first + i - 1].at + 1;
            }
        }
        i += n ? n : 1;
    }
    return code;
}

static enum seen_code compare_field(const struct buffer *fields,
                                    const struct change_page *page,
                                    const struct change_page_field *f,
                                    struct change_answers *answers,
                                    struct seen_error *why)
{
    struct change_in_field sum = { .words = f->words,
                                   .exact = true,
                                   .first = answers->parts };
    uint32_t *old, *now = malloc((f->words + 1) * sizeof *now);
    uint32_t *gone = malloc((f->words + 1) * sizeof *gone);
    bool *fresh = malloc(f->words + 1), cut = false;
    struct change_in_field *change;
    enum seen_code code = SEEN_OK;
    struct stored_field before;

    find_field(fields, f->name, &before);
    old = malloc((before.n + 1) * sizeof *old);
    if (!old || !now || !gone || !fresh) {
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for words");
        goto release;
    }
    for (size_t i = 0; i < before.n; i++)
        old[i] = little_32(before.words + 4 * i);
    for (size_t i = 0; i < f->words; i++)
        now[i] = (uint32_t)page->word[f->first + i];
    if (!change_diff(old, before.n, now, f->words, fresh, gone, &cut))
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for words");
    else
        code = add_parts(answers, page, f, fresh, gone, &sum, why);
    if (code != SEEN_OK || (!sum.added && !sum.removed))
        goto release;
    sum.parts = answers->parts - sum.first;
    sum.distance = (double)(sum.added + sum.removed) /
                   (double)(before.n + f->words);
    sum.large = sum.distance >= CHANGE_LARGE;
    sum.field = change_answers_keep(answers, f->name);
    change = change_answers_change(answers);
    if (change && sum.field.text)
        *change = sum;
    else
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for words");
release:
    free(old);
    free(now);
    free(gone);
    free(fresh);
    return code;
}

enum seen_code change_exact_compare(const struct buffer *fields,
                                    const struct change_page *page,
                                    struct change_answers *answers,
                                    struct seen_error *why)
{
    size_t first = answers->changes;
    enum seen_code code = SEEN_OK;

    for (size_t i = 0; code == SEEN_OK && i < page->fields; i++)
        code = compare_field(fields, page, &page->field[i], answers, why);
    answers->answer[answers->n - 1].first = first;
    answers->answer[answers->n - 1].changes = answers->changes - first;
    return code;
}
