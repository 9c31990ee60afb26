/* near.c - SimHash of a record, and an index of prints by their bands. */
#include "near.h"

#include <stdlib.h>
#include <string.h>

#include "../lib/text/span.h"
#include "inside.h"
#include "text.h"
#include "words.h"

enum { BANDS = 4 };

struct change_near {
    struct change_state *state;
    struct sql_statement *band[BANDS], *knows, *keep;
    struct buffer found;
};

/* --- prints --- */

static uint64_t hash_of(struct seen_span word)
{
    uint64_t h = word.len;

    for (size_t i = 0; i < word.len; i++)
        h = change_mix(h, (unsigned char)word.text[i]);
    return h;
}

bool change_near_print(const struct change_record *r,
                       const struct change_rules *rules, uint64_t *print)
{
    struct change_words w = { .word = NULL };
    int64_t vote[64] = { 0 };
    size_t words = 0;
    bool failed = false;

    for (size_t i = 0; i < r->fields; i++) {
        const struct change_field *f = &r->field[i];
        const struct change_rule *rule = change_rules_find(rules, r, f->name);

        if (!change_rule_compared(rule))
            continue;
        for (size_t k = 0; k < f->n; k++) {
            change_words_read(&w, r->value[f->first + k], rule);
            failed |= w.failed;
            words += w.n;
            for (size_t at = 0; at < w.n; at++) {
                uint64_t h = hash_of(w.word[at]);

                for (int bit = 0; bit < 64; bit++)
                    vote[bit] += h >> bit & 1 ? 1 : -1;
            }
        }
    }
    change_words_clear(&w);
    *print = 0;
    for (int bit = 0; bit < 64; bit++)
        *print |= (uint64_t)(vote[bit] > 0) << bit;
    return !failed && words >= CHANGE_NEAR_WORDS;
}

/* --- the table --- */

static enum seen_code prepare(struct change_near *n, struct seen_error *why)
{
    struct sql *db = n->state->db;
    enum seen_code code = sql_run(
        db,
        "CREATE TABLE IF NOT EXISTS near (url TEXT PRIMARY KEY, print "
        "INTEGER NOT NULL, b0 INTEGER NOT NULL, b1 INTEGER NOT NULL, b2 "
        "INTEGER NOT NULL, b3 INTEGER NOT NULL) WITHOUT ROWID;"
        "CREATE INDEX IF NOT EXISTS near_b0 ON near (b0, print);"
        "CREATE INDEX IF NOT EXISTS near_b1 ON near (b1, print);"
        "CREATE INDEX IF NOT EXISTS near_b2 ON near (b2, print);"
        "CREATE INDEX IF NOT EXISTS near_b3 ON near (b3, print);",
        why);
    static const char *const text[BANDS] = {
        "SELECT url, print FROM near WHERE b0 = ?1",
        "SELECT url, print FROM near WHERE b1 = ?1",
        "SELECT url, print FROM near WHERE b2 = ?1",
        "SELECT url, print FROM near WHERE b3 = ?1",
    };

    for (int i = 0; code == SEEN_OK && i < BANDS; i++)
        code = sql_prepare(&n->band[i], db, text[i], why);
    if (code == SEEN_OK)
        code = sql_prepare(&n->knows, db, "SELECT 1 FROM near WHERE url = ?1",
                           why);
    if (code == SEEN_OK)
        code = sql_prepare(&n->keep, db,
                           "INSERT INTO near VALUES (?1, ?2, ?3, ?4, ?5, ?6) "
                           "ON CONFLICT (url) DO UPDATE SET print = ?2, b0 = "
                           "?3, b1 = ?4, b2 = ?5, b3 = ?6",
                           why);
    return code;
}

enum seen_code change_near_open(struct change_near **out,
                                struct change_state *s, struct seen_error *why)
{
    struct change_near *n = calloc(1, sizeof *n);
    enum seen_code code;

    *out = NULL;
    if (!n)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for an index");
    n->state = s;
    code = prepare(n, why);
    if (code == SEEN_OK)
        *out = n;
    else
        change_near_close(n);
    return code;
}

void change_near_close(struct change_near *n)
{
    if (n)
        buffer_clear(&n->found);
    free(n); /* the statements belong to the database */
}

enum seen_code change_near_begin(struct change_near *n, struct seen_error *why)
{
    return sql_begin(n->state->db, why);
}

enum seen_code change_near_commit(struct change_near *n,
                                  struct seen_error *why)
{
    return sql_commit(n->state->db, why);
}

/* --- pages --- */

/* "http://a.example/x" has the host "//a.example". */
static struct seen_span host_of(struct seen_span url)
{
    const char *from = memchr(url.text, '/', url.len);
    size_t n = 2;

    if (!from || (size_t)(url.text + url.len - from) < 2)
        return url;
    while (from + n < url.text + url.len && from[n] != '/')
        n++;
    return (struct seen_span){ from, n };
}

static int64_t band_of(uint64_t print, int band)
{
    return (int64_t)(print >> (16 * band) & 0xffff);
}

static enum seen_code look(struct change_near *n, int band, uint64_t print,
                           struct seen_span host, unsigned *nearest,
                           struct seen_error *why)
{
    struct sql_statement *st = n->band[band];
    enum seen_code code;
    bool row;

    sql_bind_number(st, 1, band_of(print, band));
    while ((code = sql_step(st, &row, why)) == SEEN_OK && row) {
        uint64_t other = (uint64_t)sql_number(st, 1);
        unsigned bits = (unsigned)__builtin_popcountll(other ^ print);
        struct seen_span url = sql_text(st, 0);

        if (bits >= *nearest || span_equal(host_of(url), host))
            continue;
        *nearest = bits;
        n->found.len = 0;
        buffer_span(&n->found, url);
    }
    return code;
}

static enum seen_code keep(struct change_near *n, struct seen_span url,
                           uint64_t print, struct seen_error *why)
{
    sql_bind_text(n->keep, 1, url);
    sql_bind_number(n->keep, 2, (int64_t)print);
    for (int i = 0; i < BANDS; i++)
        sql_bind_number(n->keep, 3 + i, band_of(print, i));
    return sql_do(n->keep, why);
}

enum seen_code change_near_see(struct change_near *n,
                               const struct change_record *r,
                               const struct change_rules *rules, bool again,
                               unsigned distance, change_near_take *take,
                               void *owner, struct seen_error *why)
{
    unsigned nearest = distance + 1;
    enum seen_code code = SEEN_OK;
    bool known = false;
    uint64_t print;

    if (r->end || !change_near_print(r, rules, &print))
        return SEEN_OK;
    if (again) {
        sql_bind_text(n->knows, 1, r->url);
        code = sql_step(n->knows, &known, why);
        if (code != SEEN_OK)
            return code;
        if (known) {
            sql_reset(n->knows);
            return SEEN_OK;
        }
    }
    for (int i = 0; code == SEEN_OK && i < BANDS; i++)
        code = look(n, i, print, host_of(r->url), &nearest, why);
    if (n->found.failed)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a URL");
    if (code == SEEN_OK && nearest <= distance)
        take(owner, r, (struct seen_span){ n->found.bytes, n->found.len },
             nearest);
    return code == SEEN_OK ? keep(n, r->url, print, why) : code;
}
