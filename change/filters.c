/* filters.c - add, journal, save, replay. */
#include "filters.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seen/key.h>
#include <seen/store.h>

#include "../lib/text/little.h"

enum {
    BATCH = 256,
    FIRST = 1000,         /* keys of the first part, */
    FIRST_WORDS = 250000, /* and of words: a page has hundreds */
    WAITING = 64 << 20,   /* bytes of the journal before files are renewed, or
                             half of the files, if that is more */
    HEAD = 4 * CHANGE_FILTERS,
    URL_KEY = 16,
    KEY = 8
};

static const struct {
    const char *name, *kind, *profile;
    double rate;
} plans[CHANGE_FILTERS] = {
    [CHANGE_URLS] = { "urls", "growing/bloom", "whatwg", 1e-6 },
    [CHANGE_VERSIONS] = { "versions", "growing/bloom", "raw", 1e-6 },
    [CHANGE_TEXTS] = { "texts", "growing/bloom", "raw", 1e-4 },
    [CHANGE_TREES] = { "trees", "growing/bloom", "raw", 1e-3 },
    [CHANGE_WORDS] = { "words", "growing/blocked", "raw", 2e-3 },
};

static size_t key_bytes(enum change_filter which)
{
    return which == CHANGE_URLS ? URL_KEY : KEY;
}

/* --- ask and add --- */

enum seen_code change_filters_has_all(const struct change_filters *f,
                                      enum change_filter which,
                                      const uint64_t *key, size_t n, bool *has,
                                      struct seen_error *why)
{
    struct seen_key some[BATCH];
    enum seen_code code = SEEN_OK;

    for (size_t at = 0; code == SEEN_OK && at < n; at += BATCH) {
        size_t m = n - at < BATCH ? n - at : BATCH;

        for (size_t i = 0; i < m; i++)
            seen_key_number(&some[i], key[at + i]);
        code = seen_filter_has(f->one[which].filter, some, m, has + at, why);
    }
    return code;
}

enum seen_code change_filters_add_all(struct change_filters *f,
                                      enum change_filter which,
                                      const uint64_t *key, size_t n, bool *had,
                                      struct seen_error *why)
{
    struct change_one_filter *one = &f->one[which];
    struct seen_key some[BATCH];
    enum seen_code code = SEEN_OK;
    bool fresh[BATCH];

    for (size_t at = 0; code == SEEN_OK && at < n; at += BATCH) {
        size_t m = n - at < BATCH ? n - at : BATCH;

        for (size_t i = 0; i < m; i++)
            seen_key_number(&some[i], key[at + i]);
        code = seen_filter_add(one->filter, some, m, fresh, why);
        for (size_t i = 0; code == SEEN_OK && i < m; i++) {
            if (fresh[i])
                buffer_bytes(&one->fresh, &key[at + i], KEY);
            if (had)
                had[at + i] = !fresh[i];
        }
    }
    return code;
}

enum seen_code change_filters_has(const struct change_filters *f,
                                  enum change_filter which, uint64_t key,
                                  bool *has, struct seen_error *why)
{
    return change_filters_has_all(f, which, &key, 1, has, why);
}

enum seen_code change_filters_add(struct change_filters *f,
                                  enum change_filter which, uint64_t key,
                                  bool *had, struct seen_error *why)
{
    return change_filters_add_all(f, which, &key, 1, had, why);
}

enum seen_code change_filters_has_url(const struct change_filters *f,
                                      const struct seen_key *key, bool *has,
                                      struct seen_error *why)
{
    return seen_filter_has(f->one[CHANGE_URLS].filter, key, 1, has, why);
}

enum seen_code change_filters_add_url(struct change_filters *f,
                                      const struct seen_key *key,
                                      struct seen_error *why)
{
    struct change_one_filter *one = &f->one[CHANGE_URLS];
    enum seen_code code;
    bool fresh;

    code = seen_filter_add(one->filter, key, 1, &fresh, why);
    if (code == SEEN_OK && fresh) {
        buffer_bytes(&one->fresh, &key->lo, 8);
        buffer_bytes(&one->fresh, &key->hi, 8);
    }
    return code;
}

/* --- the journal --- */

/*
 *     number of keys per filter, 4 bytes each | keys of urls, 16 bytes each |
 *     keys of the others, 8 bytes each
 */
enum seen_code change_filters_note(struct change_filters *f,
                                   struct seen_error *why)
{
    struct buffer row = { .bytes = NULL };
    enum seen_code code = SEEN_OK;
    char head[HEAD];

    for (int i = 0; i < CHANGE_FILTERS; i++)
        little_put_32(head + 4 * i,
                      (uint32_t)(f->one[i].fresh.len /
                                 key_bytes((enum change_filter)i)));
    buffer_bytes(&row, head, HEAD);
    for (int i = 0; i < CHANGE_FILTERS; i++) {
        buffer_append(&row, &f->one[i].fresh);
        f->one[i].fresh.len = 0;
    }
    if (row.failed)
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for the journal");
    else if (row.len > HEAD) {
        sql_bind_number(f->add, 1, f->row + 1);
        sql_bind_bytes(f->add, 2, (struct seen_span){ row.bytes, row.len });
        code = sql_do(f->add, why);
        f->row += code == SEEN_OK;
        f->waiting += row.len;
    }
    buffer_clear(&row);
    return code;
}

static enum seen_code replay_keys(struct change_filters *f,
                                  enum change_filter which, const char *keys,
                                  size_t n, struct seen_error *why)
{
    struct seen_key some[BATCH];
    enum seen_code code = SEEN_OK;
    size_t m = 0;

    for (size_t i = 0; code == SEEN_OK && i < n; i++) {
        struct seen_key *key = &some[m++];

        if (which == CHANGE_URLS)
            *key = (struct seen_key){ .lo = little_64(keys + i * URL_KEY),
                                      .hi = little_64(keys + i * URL_KEY +
                                                      8) };
        else
            seen_key_number(key, little_64(keys + i * KEY));
        if (m == BATCH || i + 1 == n) {
            code = seen_filter_add(f->one[which].filter, some, m, NULL, why);
            m = 0;
        }
    }
    return code;
}

static enum seen_code replay_row(struct change_filters *f, int64_t number,
                                 struct seen_span row, struct seen_error *why)
{
    size_t at = HEAD;
    enum seen_code code = SEEN_OK;

    if (row.len < HEAD)
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "a row of the journal is short");
    for (int i = 0; code == SEEN_OK && i < CHANGE_FILTERS; i++) {
        size_t n = little_32(row.text + 4 * i);
        size_t len = n * key_bytes((enum change_filter)i);

        if (len > row.len - at || (n && !f->one[i].filter))
            return seen_fail(why, SEEN_CORRUPT, 0,
                             "a row of the journal is damaged");
        if (number > f->one[i].saved)
            code = replay_keys(f, (enum change_filter)i, row.text + at, n,
                               why);
        at += len;
    }
    return code;
}

static enum seen_code replay(struct change_filters *f, struct seen_error *why)
{
    struct sql_statement *st;
    enum seen_code code;
    bool row;

    code = sql_prepare(
        &st, f->db, "SELECT number, keys FROM journal ORDER BY number", why);
    while (code == SEEN_OK && (code = sql_step(st, &row, why)) == SEEN_OK &&
           row) {
        struct seen_span keys = sql_text(st, 1);

        f->row = sql_number(st, 0);
        f->waiting += keys.len;
        code = replay_row(f, f->row, keys, why);
        if (code != SEEN_OK)
            sql_reset(st);
    }
    return code;
}

/* --- files --- */

static enum seen_code save_one(struct change_filters *f,
                               struct change_one_filter *one,
                               struct seen_error *why)
{
    enum seen_code code;
    char row[32];

    if (!one->filter || one->saved == f->row)
        return SEEN_OK;
    snprintf(row, sizeof row, "%lld", (long long)f->row);
    code = seen_meta_set(one->filter, "journal", row, why);
    if (code == SEEN_OK)
        code = seen_store_save(one->filter, one->path, why);
    if (code == SEEN_OK)
        one->saved = f->row;
    return code;
}

enum seen_code change_filters_save(struct change_filters *f, bool now,
                                   struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    char script[80];

    if (!now &&
        (f->waiting < WAITING || f->waiting < change_filters_bytes(f) / 2))
        return SEEN_OK;
    for (int i = 0; code == SEEN_OK && i < CHANGE_FILTERS; i++)
        code = save_one(f, &f->one[i], why);
    if (code != SEEN_OK || !f->waiting)
        return code;
    snprintf(script, sizeof script, "DELETE FROM journal WHERE number <= %lld",
             (long long)f->row);
    code = sql_run(f->db, script, why);
    if (code == SEEN_OK)
        f->waiting = 0;
    return code;
}

static enum seen_code make_one(struct change_filters *f,
                               enum change_filter which, uint64_t capacity,
                               struct seen_error *why)
{
    struct seen_plan plan = { .capacity = capacity ? capacity : FIRST,
                              .rate = plans[which].rate };

    strcpy(plan.kind, plans[which].kind);
    strcpy(plan.profile, plans[which].profile);
    if (which == CHANGE_WORDS)
        plan.capacity = FIRST_WORDS;
    f->one[which].saved = -1; /* there is no file */
    return seen_filter_new(&f->one[which].filter, &plan, why);
}

static enum seen_code load_one(struct change_filters *f,
                               enum change_filter which,
                               struct seen_error *why)
{
    const struct seen_access access = { .profile = plans[which].profile };
    struct change_one_filter *one = &f->one[which];
    struct seen_error detail;
    const char *row;

    if (seen_store_load(&one->filter, one->path, &access, &detail) !=
        SEEN_OK) {
        errno = detail.system;
        return seen_fail(why,
                         detail.code == SEEN_IO ? SEEN_ABSENT : detail.code, 0,
                         "%s.seen: %.110s", plans[which].name, detail.text);
    }
    row = seen_meta_get(one->filter, "journal");
    if (!row)
        return seen_fail(why, SEEN_MISMATCH, 0,
                         "%s.seen is not a filter of this state",
                         plans[which].name);
    one->saved = strtoll(row, NULL, 10);
    if (f->row < one->saved)
        f->row = one->saved;
    return SEEN_OK;
}

enum seen_code change_filters_open(struct change_filters *f, struct sql *db,
                                   const char *folder, uint64_t capacity,
                                   bool words, bool fresh,
                                   struct seen_error *why)
{
    enum seen_code code;

    f->db = db;
    code = sql_prepare(&f->add, db, "INSERT INTO journal VALUES (?1, ?2)",
                       why);
    for (int i = 0; code == SEEN_OK && i < CHANGE_FILTERS; i++) {
        if (i == CHANGE_WORDS && !words)
            continue;
        if (asprintf(&f->one[i].path, "%s/%s.seen", folder, plans[i].name) < 0)
            return seen_fail(why, SEEN_NOMEM, 0, "no memory for a path");
        code = fresh ? make_one(f, (enum change_filter)i, capacity, why)
                     : load_one(f, (enum change_filter)i, why);
    }
    if (code == SEEN_OK)
        code = fresh ? change_filters_save(f, true, why) : replay(f, why);
    return code;
}

void change_filters_close(struct change_filters *f)
{
    for (int i = 0; i < CHANGE_FILTERS; i++) {
        seen_filter_free(f->one[i].filter);
        free(f->one[i].path);
        buffer_clear(&f->one[i].fresh);
    }
    *f = (struct change_filters){ .db = NULL };
}

/* --- figures --- */

/*
 * The rate of a blocked filter takes 100 us to compute, more than all else
 * that a changed page needs. This is a bound for it: the rate at capacity
 * times the share of the capacity that is used. The rate is convex in the
 * number of keys and the cells that are set are concave in it, so neither
 * replacement makes it smaller. It depends on the cells alone, so that it is
 * the same after a replay.
 */
static double part_bound(const struct seen_filter *part)
{
    const struct seen_plan *plan = seen_filter_plan(part);
    double m = (double)plan->bits, full, share;

    if (!plan->bits || !plan->capacity)
        return plan->rate;
    full = -expm1(-(double)plan->probes * (double)plan->capacity / m);
    share = (double)seen_filter_cells_set(part) / m / full;
    return plan->rate * (share < 1 ? share : 1);
}

double change_filters_rate(const struct change_filters *f,
                           enum change_filter which)
{
    const struct seen_filter *filter = f->one[which].filter;
    double sum = 0;

    if (!filter)
        return 0;
    if (which != CHANGE_WORDS)
        return seen_filter_rate(filter);
    for (unsigned i = 0; i < seen_filter_parts(filter); i++)
        sum += part_bound(seen_filter_part(filter, i));
    return sum;
}

double change_filters_entries(const struct change_filters *f,
                              enum change_filter which)
{
    return f->one[which].filter ? seen_filter_entries(f->one[which].filter)
                                : 0;
}

uint64_t change_filters_bytes(const struct change_filters *f)
{
    uint64_t sum = 0;

    for (int i = 0; i < CHANGE_FILTERS; i++)
        if (f->one[i].filter)
            sum += seen_filter_bytes(f->one[i].filter);
    return sum;
}
