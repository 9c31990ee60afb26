/*
 * classify.c - what happened to a page: the rules, in the order in which they
 * are asked.
 *
 *     stored answer?  ── yes ──> repeat it
 *     older than known?  (exact) ──> late
 *     304 ──> unchanged          404, 410 ──> removed, if it was known
 *     a field that had text matches nothing ──> broken
 *     URL known?  ── no ──> content known ──> duplicate, or else new
 *     content as the last one (exact), or as any earlier one ──> unchanged
 *     as an earlier one (exact) ──> reverted      else ──> updated
 *     with --confirm, the first sight of the last two ──> flapping
 *
 * A page that is broken changes nothing in the state, so that it is not
 * "updated" when the template was repaired; it is broken until then. 304 and
 * late records change nothing either.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../lib/text/hex.h"
#include "../lib/text/little.h"
#include "../lib/text/span.h"
#include "inside.h"
#include "words.h"

enum { FORGET = 4 }; /* old answers per new one, at most */

enum { /* kinds of keys in the filter of versions */
       KEY_VERSION = 11,
       KEY_PENDING = 12
};

/* One record on its way to its answer. */
struct change_question {
    struct change_state *s;
    const struct change_record *r;
    struct change_answers *all;
    struct change_answer answer;
    uint64_t url;              /* of the record's key */
    uint64_t version, pending; /* keys */
    char content[CHANGE_SUM];
    bool known;  /* the URL */
    bool had;    /* the URL had this content before */
    bool added;  /* the version is in its filter */
    uint64_t id; /* hash of the record's id */
    struct seen_error *why;
};

static enum seen_code no_memory(struct seen_error *why)
{
    return seen_fail(why, SEEN_NOMEM, 0, "no memory for an answer");
}

/* --- ids --- */

static void add_number(struct buffer *b, uint64_t x)
{
    char bytes[8];

    little_put_64(bytes, x);
    buffer_bytes(b, bytes, sizeof bytes);
}

/* 32 digits of the hash of what is in s->other. */
static struct seen_span made_id(struct change_state *s,
                                struct change_answers *all)
{
    char digits[CHANGE_ID + 1], bytes[CHANGE_ID / 2];
    struct seen_key key;

    seen_key_hash(&key, s->other.bytes, s->other.len);
    little_put_64(bytes, key.lo);
    little_put_64(bytes + 8, key.hi);
    hex_write(digits, bytes, sizeof bytes);
    return change_answers_keep(all, span_of(digits));
}

static enum seen_code find_id(struct change_question *q)
{
    const struct change_record *r = q->r;
    struct buffer *b = &q->s->other;

    q->answer.id = r->id;
    if (r->id.len && !*r->fault)
        return SEEN_OK;
    b->len = 0;
    if (*r->fault) {
        buffer_text(b, "fault ");
        buffer_span(b, r->line);
    } else if (r->visit.len || r->fetched) {
        buffer_text(b, "fetch ");
        buffer_span(b, r->visit);
        buffer_byte(b, 0);
        add_number(b, r->fetched);
        add_number(b, r->turn);
        buffer_span(b, r->url);
    } else {
        buffer_text(b, "record ");
        add_number(b, (uint64_t)q->s->last + 1);
        buffer_span(b, r->url);
    }
    if (!b->failed)
        q->answer.id = made_id(q->s, q->all);
    return b->failed || !q->answer.id.text ? no_memory(q->why) : SEEN_OK;
}

/* --- stored answers --- */

static enum seen_code store(struct change_question *q, struct seen_span id,
                            uint64_t hash, enum change_class class,
                            struct seen_span json, int64_t cause)
{
    struct change_state *s = q->s;
    enum seen_code code;

    sql_bind_number(s->add, 1, s->last + 1);
    sql_bind_bytes(s->add, 2, id);
    sql_bind_number(s->add, 3, (int64_t)time(NULL));
    sql_bind_number(s->add, 4, class);
    sql_bind_text(s->add, 5, json);
    if (cause)
        sql_bind_number(s->add, 6, cause);
    else
        sql_bind_null(s->add, 6);
    code = sql_do(s->add, q->why);
    if (code != SEEN_OK)
        return code;
    s->last++;
    s->stored++;
    s->count[class]++;
    return change_ids_add(&s->ids, hash, s->last, q->why);
}

/* Answers that came because of another one are repeated with it. */
static enum seen_code repeat_caused(struct change_question *q, int64_t number)
{
    struct change_state *s = q->s;
    enum seen_code code;
    bool row;

    sql_bind_number(s->caused_by, 1, number);
    while ((code = sql_step(s->caused_by, &row, q->why)) == SEEN_OK && row) {
        buffer_byte(&s->caused, 'a'); /* again */
        buffer_span(&s->caused, sql_text(s->caused_by, 1));
        buffer_byte(&s->caused, '\n');
    }
    return code;
}

/* The row of the stored answer, if there is one. */
static enum seen_code find_stored(struct change_question *q, int64_t *number,
                                  bool *stored)
{
    struct change_state *s = q->s;
    struct change_ids_at at;
    enum seen_code code;

    *stored = false;
    q->id = change_ids_hash(q->answer.id);
    at = change_ids_begin(&s->ids, q->id);
    while (change_ids_next(&s->ids, &at, number)) {
        sql_bind_number(s->find, 1, *number);
        code = sql_step(s->find, stored, q->why);
        if (code != SEEN_OK)
            return code;
        if (*stored && span_equal(sql_text(s->find, 0), q->answer.id))
            return SEEN_OK;
        if (*stored)
            sql_reset(s->find);
        *stored = false;
    }
    return SEEN_OK;
}

static enum seen_code repeat(struct change_question *q, bool *stored)
{
    struct change_state *s = q->s;
    struct change_answer *last;
    struct seen_span json;
    enum seen_code code;
    int64_t number;

    code = find_stored(q, &number, stored);
    if (code != SEEN_OK || !*stored)
        return code;
    json = sql_text(s->find, 2);
    if (sql_number(s->find, 1) == CHANGE_END) {
        last = change_answers_add(q->all);
        if (last)
            last->class = CHANGE_END;
        code = last ? SEEN_OK : no_memory(q->why);
    } else {
        code = change_answer_read(q->all, json, q->why);
    }
    sql_reset(s->find);
    if (code != SEEN_OK)
        return code;
    q->all->answer[q->all->n - 1].again = true;
    return s->options.exact ? repeat_caused(q, number) : SEEN_OK;
}

/* --- visits --- */

struct completion {
    struct change_question *q;
    struct seen_span visit;
    int64_t cause;
};

static enum seen_code add_missing(void *owner, struct seen_span url,
                                  struct seen_error *why)
{
    struct completion *c = owner;
    struct change_question *q = c->q;
    struct buffer *b = &q->s->other, *line = &q->s->line;
    struct change_answer a = { .url = url,
                               .class = CHANGE_REMOVED,
                               .visit = c->visit,
                               .why = span_of("missing"),
                               .type = { "", 0 },
                               .of = { "", 0 } };
    enum seen_code code;

    b->len = 0;
    buffer_text(b, "missing ");
    buffer_span(b, c->visit);
    buffer_byte(b, 0);
    buffer_span(b, url);
    if (!b->failed)
        a.id = made_id(q->s, q->all);
    if (b->failed || !a.id.text)
        return no_memory(why);
    line->len = 0;
    change_answer_write(line, q->all, &a);
    if (line->failed)
        return no_memory(why);
    code = store(q, a.id, change_ids_hash(a.id), a.class,
                 (struct seen_span){ line->bytes, line->len }, c->cause);
    buffer_byte(&q->s->caused, 'n'); /* new */
    buffer_append(&q->s->caused, line);
    buffer_byte(&q->s->caused, '\n');
    return code;
}

/* A record or the end of a visit was stored: is the visit complete now? */
static enum seen_code count_visit(struct change_question *q, bool end)
{
    struct change_state *s = q->s;
    struct sql_statement *st = end ? s->visit_end : s->visit_add;
    struct completion c = { .q = q, .visit = q->r->visit, .cause = s->last };
    enum seen_code code;
    bool row, full;

    if (!s->options.exact || !q->r->visit.len)
        return SEEN_OK;
    if (end && q->r->missed) /* then nobody knows which pages are gone */
        return SEEN_OK;
    sql_bind_text(st, 1, q->r->visit);
    if (end)
        sql_bind_number(st, 2, (int64_t)q->r->records);
    code = sql_step(st, &row, q->why);
    if (code != SEEN_OK)
        return code;
    full = row && !sql_number(st, 2) && sql_number(st, 1) >= 0 &&
           sql_number(st, 0) >= sql_number(st, 1);
    sql_reset(st);
    if (!full)
        return SEEN_OK;
    sql_bind_text(s->visit_done, 1, q->r->visit);
    code = sql_do(s->visit_done, q->why);
    return code == SEEN_OK ? change_exact_missing(&s->exact, q->r->visit,
                                                  add_missing, &c, q->why)
                           : code;
}

/* --- rules --- */

/* Hashes of 64 bits are behind all keys, so that nothing is more certain than
   that. */
static double rate(const struct change_question *q, enum change_filter which)
{
    return fmax(change_filters_rate(&q->s->filters, which), 1e-12);
}

static void answer_is(struct change_question *q, enum change_class class,
                      double wrong)
{
    q->answer.class = class;
    q->answer.wrong = q->s->options.exact && class != CHANGE_REVERTED ? 0
                                                                      : wrong;
}

/* The answer has a place in the list before its changes are added. */
static enum seen_code place_answer(struct change_question *q)
{
    struct change_answer *a = change_answers_add(q->all);

    return a ? SEEN_OK : no_memory(q->why);
}

/* Is the page empty, and was it never before? */
static enum seen_code has_emptied(struct change_question *q, bool *emptied)
{
    enum seen_code code = SEEN_OK;
    bool had = true;

    if (q->s->page->empty)
        code = change_filters_has(&q->s->filters, CHANGE_VERSIONS, q->version,
                                  &had, q->why);
    *emptied = !had;
    return code;
}

static enum seen_code find_broken(struct change_question *q, bool *broken)
{
    const struct change_page *page = q->s->page;
    struct change_state *s = q->s;
    size_t first = q->all->changes;
    enum seen_code code = SEEN_OK;

    *broken = false;
    for (size_t i = 0; code == SEEN_OK && i < page->fields; i++) {
        const struct change_page_field *f = &page->field[i];
        struct change_in_field *change;
        bool matched = false;

        if (f->matched)
            continue;
        if (s->options.exact)
            matched = change_exact_matched(&s->known.fields, f->name);
        else if (!s->options.no_words)
            code = change_words_matched(&s->filters, q->url, f, &matched,
                                        q->why);
        else /* only if all of them are gone, since (URL, nothing) is known
                or not */
            code = has_emptied(q, &matched);
        if (!matched)
            continue;
        *broken = true;
        change = change_answers_change(q->all);
        if (!change)
            return no_memory(q->why);
        change->broken = true;
        change->field = f->name;
        change->exact = s->options.exact;
    }
    q->answer.first = first;
    q->answer.changes = q->all->changes - first;
    return code;
}

static enum seen_code find_structure(struct change_question *q)
{
    struct change_state *s = q->s;
    bool same = false;
    enum seen_code code = SEEN_OK;

    if (!q->r->has_skeleton || !q->known)
        return SEEN_OK;
    if (s->options.exact) {
        if (!s->known.has_skeleton)
            return SEEN_OK;
        same = s->known.skeleton == q->r->skeleton;
    } else {
        code = change_filters_has(&s->filters, CHANGE_TREES,
                                  change_mix(q->url, q->r->skeleton), &same,
                                  q->why);
    }
    q->answer.structure = same ? CHANGE_STRUCTURE_SAME
                               : CHANGE_STRUCTURE_CHANGED;
    return code;
}

/*
 * What a page is now, in the filters and in its row. To ask a filter for a key
 * and to add it takes twice as long as to add it and learn whether it was
 * there, so the URL was added when it was asked for, unless there are rows of
 * pages; is_new() adds the text of a new page, and find_version() most
 * versions.
 */
static enum seen_code remember(struct change_question *q)
{
    struct change_filters *f = &q->s->filters;
    const struct change_page *page = q->s->page;
    bool exact = q->s->options.exact;
    enum seen_code code = SEEN_OK;

    if (exact)
        code = change_filters_add_url(f, &q->r->key, NULL, q->why);
    if (code == SEEN_OK && !q->added)
        code = change_filters_add(f, CHANGE_VERSIONS, q->version, NULL,
                                  q->why);
    if (code == SEEN_OK && !page->empty && (exact || q->known))
        code = change_filters_add(f, CHANGE_TEXTS, page->content.lo, NULL,
                                  q->why);
    if (code == SEEN_OK && !q->s->options.no_words && !exact)
        code = change_words_remember(f, q->url, page, !q->known, q->why);
    return code;
}

static enum seen_code remember_tree(struct change_question *q)
{
    if (!q->r->has_skeleton ||
        (!q->s->options.exact && q->answer.structure == CHANGE_STRUCTURE_SAME))
        return SEEN_OK;
    return change_filters_add(&q->s->filters, CHANGE_TREES,
                              change_mix(q->url, q->r->skeleton), NULL,
                              q->why);
}

static enum seen_code is_new(struct change_question *q)
{
    struct change_state *s = q->s;
    bool copy = false;
    enum seen_code code = SEEN_OK;

    if (s->page->empty) {
        answer_is(q, CHANGE_NEW, 0);
    } else if (s->options.exact) {
        code = change_exact_same(&s->exact, &q->r->key, q->content, &s->other,
                                 q->why);
        copy = s->other.len;
        if (copy)
            q->answer.of = change_answers_keep(
                q->all, (struct seen_span){ s->other.bytes, s->other.len });
    } else {
        code = change_filters_add(&s->filters, CHANGE_TEXTS,
                                  s->page->content.lo, &copy, q->why);
    }
    if (code != SEEN_OK || s->other.failed || !q->answer.of.text)
        return code == SEEN_OK ? no_memory(q->why) : code;
    answer_is(q, copy ? CHANGE_DUPLICATE : CHANGE_NEW,
              copy ? rate(q, CHANGE_TEXTS) : 0);
    return remember(q);
}

static enum seen_code has_changed(struct change_question *q, bool back)
{
    struct change_state *s = q->s;
    bool confirmed = !s->options.confirm;
    enum seen_code code = SEEN_OK;
    double wrong = rate(q, back ? CHANGE_VERSIONS : CHANGE_URLS);

    if (!confirmed && s->options.exact)
        confirmed = s->known.waits &&
                    !memcmp(s->known.pending, q->content, CHANGE_SUM);
    else if (!confirmed)
        code = change_filters_add(&s->filters, CHANGE_VERSIONS, q->pending,
                                  &confirmed, q->why);
    if (code != SEEN_OK)
        return code;
    if (!confirmed) {
        s->known.waits = true;
        memcpy(s->known.pending, q->content, CHANGE_SUM);
        answer_is(q, CHANGE_FLAPPING, wrong);
        return SEEN_OK;
    }
    if (s->options.confirm && !s->options.exact)
        wrong += rate(q, CHANGE_VERSIONS);
    answer_is(q, back ? CHANGE_REVERTED : CHANGE_UPDATED, wrong);
    if (!s->options.no_words)
        code = change_page_find(s->page, q->why);
    if (!s->options.no_words && code == SEEN_OK) {
        code = s->options.exact
                   ? change_exact_compare(&s->known.fields, s->page, q->all,
                                          q->why)
                   : change_words_compare(&s->filters, q->url, s->page, q->all,
                                          q->why);
        q->answer.first = q->all->answer[q->all->n - 1].first;
        q->answer.changes = q->all->answer[q->all->n - 1].changes;
    }
    return code == SEEN_OK ? remember(q) : code;
}

/* Had the URL this content before? If not, it has it now, unless a change must
   be confirmed. */
static enum seen_code find_version(struct change_question *q)
{
    const struct change_options *o = &q->s->options;

    q->added = !o->exact && !o->confirm;
    return q->added ? change_filters_add(&q->s->filters, CHANGE_VERSIONS,
                                         q->version, &q->had, q->why)
                    : change_filters_has(&q->s->filters, CHANGE_VERSIONS,
                                         q->version, &q->had, q->why);
}

static enum seen_code compare(struct change_question *q)
{
    struct change_state *s = q->s;
    bool same, back = false;
    enum seen_code code;

    if (!q->known)
        return is_new(q);
    code = find_version(q);
    if (code != SEEN_OK)
        return code;
    same = q->had;
    if (s->options.exact) {
        same = !s->known.gone &&
               !memcmp(s->known.content, q->content, CHANGE_SUM);
        back = q->had;
    }
    if (!same)
        return has_changed(q, back);
    s->known.waits = false;
    answer_is(q, CHANGE_UNCHANGED, rate(q, CHANGE_VERSIONS));
    return SEEN_OK;
}

/* 404 and 410: it is gone, if it was there. */
static enum seen_code is_gone(struct change_question *q)
{
    struct change_state *s = q->s;

    if (q->known && !s->known.gone) {
        answer_is(q, CHANGE_REMOVED, rate(q, CHANGE_URLS));
        q->answer.why = span_of(q->r->status == 404 ? "404" : "410");
    } else {
        answer_is(q, CHANGE_UNCHANGED, 0);
    }
    s->known.gone = true;
    return SEEN_OK;
}

static void new_row(struct change_question *q)
{
    struct change_known *known = &q->s->known;

    known->gone = false;
    known->waits = false;
    memcpy(known->content, q->content, CHANGE_SUM);
    known->has_skeleton = q->r->has_skeleton;
    known->skeleton = q->r->skeleton;
    change_exact_fields(&known->fields, q->s->page, q->s->options.no_words);
}

/* After the answer: the row of the URL. A page that is broken or flapping, and
   one that was only asked for, keeps what is known of it. */
static enum seen_code keep_row(struct change_question *q)
{
    struct change_state *s = q->s;

    if (!s->options.exact || q->answer.class == CHANGE_LATE)
        return SEEN_OK;
    if (q->r->fetched > s->known.fetched)
        s->known.fetched = q->r->fetched;
    switch (q->answer.class) {
    case CHANGE_NEW:
    case CHANGE_DUPLICATE:
    case CHANGE_UPDATED:
    case CHANGE_REVERTED: new_row(q); break;
    case CHANGE_UNCHANGED:
        if (!q->known)
            return SEEN_OK;
        if (q->r->has_skeleton) {
            s->known.has_skeleton = true;
            s->known.skeleton = q->r->skeleton;
        }
        break;
    default: break;
    }
    if (s->known.fields.failed)
        return no_memory(q->why);
    return change_exact_keep(&s->exact, q->r, &s->known, q->why);
}

static uint64_t version_of(uint64_t url, const struct change_page *page)
{
    return change_mix(change_mix(url, KEY_VERSION),
                      change_mix(page->content.lo, page->content.hi));
}

static void take_page(struct change_question *q)
{
    const struct change_page *page = q->s->page;

    little_put_64(q->content, page->content.lo);
    little_put_64(q->content + 8, page->content.hi);
    q->version = version_of(q->url, page);
    q->pending = change_mix(q->version, KEY_PENDING);
}

/* `page`: the record is of a page that is there, so that its URL is known from
   now on. */
static enum seen_code find_known(struct change_question *q, bool page)
{
    struct change_state *s = q->s;
    enum seen_code code;

    if (!s->options.exact && page)
        return change_filters_add_url(&s->filters, &q->r->key, &q->known,
                                      q->why);
    if (!s->options.exact)
        return change_filters_has_url(&s->filters, &q->r->key, &q->known,
                                      q->why);
    code = change_exact_find(&s->exact, &q->r->key, &s->known, q->why);
    q->known = s->known.found;
    return code;
}

static enum seen_code judge(struct change_question *q)
{
    struct change_state *s = q->s;
    bool gone = q->r->status == 404 || q->r->status == 410, broken = false;
    enum seen_code code;

    q->url = change_mix(q->r->key.lo, q->r->key.hi);
    s->known.gone = false;
    code = find_known(q, !gone && q->r->status != 304);
    if (code != SEEN_OK)
        return code;
    if (q->known && s->options.exact && q->r->fetched &&
        q->r->fetched < s->known.fetched) {
        answer_is(q, CHANGE_LATE, 0);
        return SEEN_OK;
    }
    if (gone)
        return is_gone(q);
    if (q->r->status == 304) {
        answer_is(q, CHANGE_UNCHANGED, 0);
        return SEEN_OK;
    }
    take_page(q);
    code = find_structure(q);
    if (code == SEEN_OK && q->known)
        code = find_broken(q, &broken);
    if (code != SEEN_OK)
        return code;
    if (broken) {
        answer_is(q, CHANGE_BROKEN,
                  rate(q, s->options.no_words ? CHANGE_URLS : CHANGE_WORDS));
        return SEEN_OK;
    }
    code = compare(q);
    return code == SEEN_OK ? remember_tree(q) : code;
}

/* --- a record --- */

static bool is_ours(const struct change_question *q)
{
    const struct change_options *o = &q->s->options;

    if (o->shards < 2)
        return true;
    return q->r->end ? q->r->shard == o->shard
                     : q->r->key.lo % o->shards == o->shard;
}

static enum seen_code set_aside(struct change_question *q, const char *reason)
{
    q->answer.class = CHANGE_ERROR;
    q->answer.why = change_answers_keep(q->all, span_of(reason));
    return q->answer.why.text ? SEEN_OK : no_memory(q->why);
}

static enum seen_code answer_one(struct change_question *q)
{
    const struct change_record *r = q->r;
    enum seen_code code;

    if (*r->fault)
        return set_aside(q, r->fault);
    if (!is_ours(q))
        return set_aside(q, "of another shard");
    if (r->end) {
        q->answer.class = CHANGE_END;
        return SEEN_OK;
    }
    code = judge(q);
    return code == SEEN_OK ? keep_row(q) : code;
}

static enum seen_code finish(struct change_question *q)
{
    struct change_state *s = q->s;
    struct change_answer *a = &q->all->answer[q->all->n - 1];
    enum seen_code code;

    *a = q->answer;
    s->line.len = 0;
    if (a->class != CHANGE_END) {
        change_answer_write(&s->line, q->all, a);
        a->json = change_answers_keep(
            q->all, (struct seen_span){ s->line.bytes, s->line.len });
        if (s->line.failed || !a->json.text)
            return no_memory(q->why);
    }
    code = store(q, a->id, q->id, a->class, a->json, 0);
    if (code == SEEN_OK && a->class != CHANGE_ERROR)
        code = count_visit(q, q->r->end);
    return code;
}

/* s->page is that of the record. */
static enum seen_code classify_one(struct change_state *s,
                                   const struct change_record *r,
                                   struct change_answers *all,
                                   struct seen_error *why)
{
    const struct seen_span none = { "", 0 };
    struct change_question q = { .s = s,
                                 .r = r,
                                 .all = all,
                                 .answer = { .url = r->url,
                                             .visit = r->visit,
                                             .type = r->type,
                                             .fetched = r->fetched,
                                             .of = none,
                                             .why = none,
                                             .json = none },
                                 .why = why };
    enum seen_code code = find_id(&q);
    bool stored = false;

    if (code == SEEN_OK)
        code = repeat(&q, &stored);
    if (code != SEEN_OK || stored)
        return code;
    code = place_answer(&q);
    if (code == SEEN_OK)
        code = answer_one(&q);
    return code == SEEN_OK ? finish(&q) : code;
}

/* --- a group of records --- */

/* Keys of a group that are asked for soon. */
struct soon {
    struct change_page *page[CHANGE_GROUP]; /* NULL: there is none */
    struct seen_key url[CHANGE_GROUP];
    uint64_t version[2 * CHANGE_GROUP], text[CHANGE_GROUP], tree[CHANGE_GROUP];
    size_t urls, versions, texts, trees;
};

static void add_soon(struct soon *soon, const struct change_record *r,
                     const struct change_page *page)
{
    uint64_t url = change_mix(r->key.lo, r->key.hi);

    soon->url[soon->urls++] = r->key;
    soon->version[soon->versions++] = version_of(url, page);
    if (page->fields)
        soon->version[soon->versions++] = change_words_count_key(
            url, &page->field[0]);
    soon->text[soon->texts++] = page->content.lo;
    if (r->has_skeleton)
        soon->tree[soon->trees++] = change_mix(url, r->skeleton);
}

/*
 * Read the pages of a group, and fetch the cells that they will ask for.
 * Without that a record waits for the memory once per part of a filter: at ten
 * million URLs, which are in 14 parts, that was two thirds of its time.
 */
static enum seen_code look_ahead(struct change_state *s, struct soon *soon,
                                 const struct change_record *record, size_t n,
                                 struct seen_error *why)
{
    struct change_filters *f = &s->filters;
    enum seen_code code = SEEN_OK;

    soon->urls = soon->versions = soon->texts = soon->trees = 0;
    for (size_t i = 0; code == SEEN_OK && i < n; i++) {
        const struct change_record *r = &record[i];

        soon->page[i] = NULL;
        if (*r->fault || r->end || r->status == 404 || r->status == 410 ||
            r->status == 304)
            continue;
        soon->page[i] = r->page ? r->page : &s->group[i];
        if (!r->page && i)
            change_page_pass(&s->group[i - 1], &s->group[i]);
        if (!r->page)
            code = change_page_read(&s->group[i], r, s->options.rules, why);
        if (code == SEEN_OK)
            add_soon(soon, r, soon->page[i]);
    }
    if (s->options.exact)
        return code;
    if (code == SEEN_OK)
        code = change_filters_fetch_urls(f, soon->url, soon->urls, why);
    if (code == SEEN_OK)
        code = change_filters_fetch(f, CHANGE_VERSIONS, soon->version,
                                    soon->versions, why);
    if (code == SEEN_OK)
        code = change_filters_fetch(f, CHANGE_TEXTS, soon->text, soon->texts,
                                    why);
    return code == SEEN_OK ? change_filters_fetch(f, CHANGE_TREES, soon->tree,
                                                  soon->trees, why)
                           : code;
}

/* --- a batch --- */

/* Answers that are older than --remember. They are numbered in the order of
   time. One that a results file may lack stays. */
static enum seen_code forget(struct change_state *s, size_t n,
                             struct seen_error *why)
{
    int64_t until = (int64_t)time(NULL) - (int64_t)s->options.remember;
    int64_t last = 0;
    uint64_t count = 0;
    enum seen_code code;
    bool row;

    sql_bind_number(s->oldest, 1, (int64_t)(FORGET * n));
    while ((code = sql_step(s->oldest, &row, why)) == SEEN_OK && row) {
        if (sql_number(s->oldest, 1) >= until ||
            (s->has_results && sql_number(s->oldest, 0) > s->written)) {
            sql_reset(s->oldest);
            break;
        }
        last = sql_number(s->oldest, 0);
        count++;
    }
    if (code != SEEN_OK || !last)
        return code;
    sql_bind_number(s->forget, 1, last);
    code = sql_do(s->forget, why);
    if (code == SEEN_OK)
        s->stored -= count;
    return code == SEEN_OK ? change_ids_forget(&s->ids, last, why) : code;
}

/* Behind the answers to records: those that came of them. */
static enum seen_code add_caused(struct change_state *s,
                                 struct change_answers *all,
                                 struct seen_error *why)
{
    struct seen_span rest = { s->caused.bytes, s->caused.len }, line;
    enum seen_code code = s->caused.failed ? no_memory(why) : SEEN_OK;

    while (code == SEEN_OK && span_cut(&rest, '\n', &line)) {
        bool again = *line.text == 'a';

        line.text++;
        line.len--;
        code = change_answer_read(all, line, why);
        if (code == SEEN_OK)
            all->answer[all->n - 1].again = again;
    }
    return code;
}

static enum seen_code classify(struct change_state *s,
                               const struct change_record *record, size_t n,
                               struct change_answers *answers,
                               struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    struct soon soon;

    s->caused.len = 0;
    for (size_t i = 0; code == SEEN_OK && i < n; i++) {
        size_t at = i % CHANGE_GROUP;

        if (!at)
            code = look_ahead(s, &soon, &record[i],
                              n - i < CHANGE_GROUP ? n - i : CHANGE_GROUP,
                              why);
        s->page = soon.page[at];
        if (code == SEEN_OK)
            code = classify_one(s, &record[i], answers, why);
    }
    if (code == SEEN_OK)
        code = add_caused(s, answers, why);
    if (code == SEEN_OK)
        code = change_filters_note(&s->filters, why);
    if (code == SEEN_OK)
        code = change_ids_note(&s->ids, why);
    if (code == SEEN_OK)
        code = change_results_note(s, why);
    if (code == SEEN_OK)
        code = forget(s, n, why);
    return code == SEEN_OK ? change_state_note(s, why) : code;
}

enum seen_code change_classify(struct change_state *s,
                               const struct change_record *record, size_t n,
                               struct change_answers *answers,
                               struct seen_error *why)
{
    enum seen_code code;

    change_answers_empty(answers);
    if (s->failed)
        return seen_fail(why, SEEN_UNABLE, 0,
                         "the state must be opened again after a fault");
    code = change_filters_save(&s->filters, false, why);
    if (code == SEEN_OK)
        code = sql_begin(s->db, why);
    if (code != SEEN_OK)
        return code;
    code = classify(s, record, n, answers, why);
    if (code == SEEN_OK)
        code = sql_commit(s->db, why);
    if (code != SEEN_OK) {
        sql_rollback(s->db);
        change_answers_empty(answers);
        s->failed = true;
    }
    return code;
}

enum seen_code change_state_fill(struct change_state *s,
                                 const struct change_record *record, size_t n,
                                 struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    struct soon soon;

    for (size_t i = 0; code == SEEN_OK && i < n; i++) {
        struct change_question q = { .s = s, .r = &record[i], .why = why };
        size_t at = i % CHANGE_GROUP;

        q.url = change_mix(record[i].key.lo, record[i].key.hi);
        if (!at)
            code = look_ahead(s, &soon, &record[i],
                              n - i < CHANGE_GROUP ? n - i : CHANGE_GROUP,
                              why);
        s->page = soon.page[at];
        if (code == SEEN_OK)
            code = find_known(&q, true);
        if (code != SEEN_OK)
            break;
        take_page(&q);
        code = change_filters_add(&s->filters, CHANGE_TEXTS,
                                  s->page->content.lo, NULL, why);
        if (code == SEEN_OK)
            code = remember(&q);
        if (code == SEEN_OK)
            code = remember_tree(&q);
    }
    return code == SEEN_OK ? change_filters_drop(&s->filters, why) : code;
}
