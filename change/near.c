/*
 * near.c - SimHash of a record, and the pages of a state by their prints.
 *
 *     record ──> words ──> print ──> nearest of another host (prints.h)
 *                            └─────> row of near_pages, for the next start
 *
 * Pages are numbered 1, 2, 3, ... without gaps, and the number is the row's
 * key and the place in prints.h, so that neither stores the other's address.
 * A gap is damage, and is refused.
 *
 * The rows have transactions of their own, after those of the answers: a page
 * that is missing here costs a pair that is not reported, never a wrong class.
 * A record that is delivered again is passed over only if its page is known,
 * so a page that a kill between the two transactions lost is remembered then.
 *
 * A record costs about 20 instructions per word (see struct votes), what
 * prints.h says of a question, and one row if its print is another one.
 */
#include "near.h"

#include <stdlib.h>
#include <string.h>

#include <seen/key.h>

#include "../lib/text/span.h"
#include "inside.h"
#include "text.h"
#include "words.h"

struct change_near {
    struct change_state *state;
    struct change_prints *prints;
    struct sql_statement *add, *set, *url;
};

/* --- prints --- */

static uint64_t hash_of(struct seen_span word)
{
    uint64_t h = word.len;

    for (size_t i = 0; i < word.len; i++)
        h = change_mix(h, (unsigned char)word.text[i]);
    return h;
}

/*
 * How many of the hashes have each bit set: counters of 64 columns, with their
 * lowest bits in the first number. A hash is added to all columns at once, and
 * its carries mostly end after a few numbers, so that a word takes about 20
 * instructions and not 64 additions.
 */
struct votes {
    uint64_t digit[40];
    uint64_t n;
};

static void add_vote(struct votes *v, uint64_t hash)
{
    for (size_t i = 0; hash; i++) {
        uint64_t carry = v->digit[i] & hash;

        v->digit[i] ^= hash;
        hash = carry;
    }
    v->n++;
}

/* The bits that more than half of the hashes have. */
static uint64_t majority(const struct votes *v)
{
    uint64_t print = 0;

    for (int bit = 0; bit < 64; bit++) {
        uint64_t set = 0;

        for (size_t i = 0; i < sizeof v->digit / sizeof *v->digit; i++)
            set |= (v->digit[i] >> bit & 1) << i;
        print |= (uint64_t)(2 * set > v->n) << bit;
    }
    return print;
}

bool change_near_print(const struct change_record *r,
                       const struct change_rules *rules, uint64_t *print)
{
    struct change_words w = { .word = NULL };
    struct votes votes = { .n = 0 };
    bool failed = false;

    for (size_t i = 0; i < r->fields; i++) {
        const struct change_field *f = &r->field[i];
        const struct change_rule *rule = change_rules_find(rules, r, f->name);

        if (!change_rule_compared(rule))
            continue;
        for (size_t k = 0; k < f->n; k++) {
            change_words_read(&w, r->value[f->first + k], rule,
                              change_rules_share(r));
            failed |= w.failed;
            for (size_t at = 0; at < w.n; at++)
                add_vote(&votes, hash_of(w.word[at]));
        }
    }
    change_words_clear(&w);
    *print = majority(&votes);
    return !failed && votes.n >= CHANGE_NEAR_WORDS;
}

/* --- pages --- */

static uint64_t hash_url(struct seen_span url)
{
    struct seen_key key;

    seen_key_hash(&key, url.text, url.len);
    return change_mix(key.lo, key.hi);
}

/* "http://a.example/x" has the host "//a.example". Two hosts have the same 32
   bits with a chance of 2^-32, and are then taken for one. */
static uint32_t hash_host(struct seen_span url)
{
    const char *from = memchr(url.text, '/', url.len);
    size_t n = 2;

    if (!from || (size_t)(url.text + url.len - from) < 2)
        return (uint32_t)hash_url(url);
    while (from + n < url.text + url.len && from[n] != '/')
        n++;
    return (uint32_t)hash_url((struct seen_span){ from, n });
}

/* --- the table --- */

/* Earlier versions of this program had five copies of each URL, in a table and
   its four indexes. */
static enum seen_code make_table(struct sql *db, struct seen_error *why)
{
    struct sql_statement *st;
    enum seen_code code;
    bool old = false;

    code = sql_run(db,
                   "CREATE TABLE IF NOT EXISTS near_pages (number INTEGER "
                   "PRIMARY KEY, print INTEGER NOT NULL, url TEXT NOT NULL)",
                   why);
    if (code == SEEN_OK)
        code = sql_prepare(
            &st, db, "SELECT 1 FROM sqlite_schema WHERE name = 'near'", why);
    if (code == SEEN_OK)
        code = sql_step(st, &old, why);
    if (code != SEEN_OK || !old)
        return code;
    sql_reset(st);
    return sql_run(db,
                   "INSERT INTO near_pages (print, url) SELECT print, url "
                   "FROM near; DROP TABLE near",
                   why);
}

static enum seen_code load(struct change_near *n, struct seen_error *why)
{
    struct sql_statement *st;
    enum seen_code code;
    bool row;

    code = sql_prepare(&st, n->state->db,
                       "SELECT number, print, url FROM near_pages ORDER BY "
                       "number",
                       why);
    while (code == SEEN_OK && (code = sql_step(st, &row, why)) == SEEN_OK &&
           row) {
        uint64_t number = change_prints_pages(n->prints) + 1;
        struct seen_span url = sql_text(st, 2);

        if (sql_number(st, 0) != (int64_t)number)
            code = seen_fail(why, SEEN_CORRUPT, 0,
                             "page %llu of those for --near is missing",
                             (unsigned long long)number);
        else
            code = change_prints_put(n->prints, hash_url(url), number,
                                     hash_host(url),
                                     (uint64_t)sql_number(st, 1), why);
        if (code != SEEN_OK)
            sql_reset(st);
    }
    return code;
}

static enum seen_code prepare(struct change_near *n, struct seen_error *why)
{
    struct sql *db = n->state->db;
    enum seen_code code = sql_begin(db, why);

    if (code == SEEN_OK)
        code = make_table(db, why);
    if (code == SEEN_OK)
        code = sql_commit(db, why);
    if (code != SEEN_OK) {
        sql_rollback(db);
        return code;
    }
    code = sql_prepare(&n->add, db,
                       "INSERT INTO near_pages VALUES (?1, ?2, ?3)", why);
    if (code == SEEN_OK)
        code = sql_prepare(&n->set, db,
                           "UPDATE near_pages SET print = ?2 WHERE number = "
                           "?1",
                           why);
    if (code == SEEN_OK)
        code = sql_prepare(
            &n->url, db, "SELECT url FROM near_pages WHERE number = ?1", why);
    return code == SEEN_OK ? load(n, why) : code;
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
    n->prints = change_prints_new();
    code = n->prints ? prepare(n, why)
                     : seen_fail(why, SEEN_NOMEM, 0, "no memory for an index");
    if (code == SEEN_OK)
        *out = n;
    else
        change_near_close(n);
    return code;
}

void change_near_close(struct change_near *n)
{
    if (n)
        change_prints_free(n->prints);
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

struct change_prints_cost change_near_cost(const struct change_near *n)
{
    return change_prints_cost(n->prints);
}

/* --- a record --- */

static enum seen_code report(struct change_near *n, uint64_t number,
                             const struct change_record *r, unsigned distance,
                             change_near_take *take, void *owner,
                             struct seen_error *why)
{
    enum seen_code code;
    bool row;

    sql_bind_number(n->url, 1, (int64_t)number);
    code = sql_step(n->url, &row, why);
    if (code != SEEN_OK || !row)
        return code;
    take(owner, r, sql_text(n->url, 0), distance);
    sql_reset(n->url);
    return SEEN_OK;
}

static enum seen_code keep(struct change_near *n, uint64_t known,
                           const struct change_record *r, uint64_t print,
                           struct seen_error *why)
{
    uint64_t number = known ? known : change_prints_pages(n->prints) + 1;
    struct sql_statement *st = known ? n->set : n->add;
    enum seen_code code;

    if (known && change_prints_get(n->prints, known) == print)
        return SEEN_OK;
    sql_bind_number(st, 1, (int64_t)number);
    sql_bind_number(st, 2, (int64_t)print);
    if (!known)
        sql_bind_text(st, 3, r->url);
    code = sql_do(st, why);
    return code == SEEN_OK
               ? change_prints_put(n->prints, hash_url(r->url), number,
                                   hash_host(r->url), print, why)
               : code;
}

enum seen_code change_near_see(struct change_near *n,
                               const struct change_record *r,
                               const struct change_rules *rules, bool again,
                               unsigned distance, change_near_take *take,
                               void *owner, struct seen_error *why)
{
    uint64_t print, known, other;
    enum seen_code code = SEEN_OK;
    unsigned bits;

    if (r->end)
        return SEEN_OK;
    known = change_prints_find(n->prints, hash_url(r->url));
    if ((again && known) || !change_near_print(r, rules, &print))
        return SEEN_OK;
    bits = change_prints_nearest(n->prints, print, hash_host(r->url), distance,
                                 &other);
    if (bits <= distance)
        code = report(n, other, r, bits, take, owner, why);
    return code == SEEN_OK ? keep(n, known, r, print, why) : code;
}
