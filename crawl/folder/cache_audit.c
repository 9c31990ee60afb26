/*
 * cache_audit.c - how often the filter was wrong.
 *
 * For a sample of all URLs the state remembers exactly which were seen. A URL
 * belongs to the sample by its key, so that all of its occurrences do. Where a
 * filter has parts that must agree (spatial:N), a yes of one part alone is a
 * false positive that was discovered, and costs no sample.
 */
#include "cache_inside.h"

#include <stdio.h>
#include <stdlib.h>

#include "../../lib/text/little.h"

bool crawl_cache_samples(const struct crawl_cache *c,
                         const struct seen_key *key)
{
    return c->sample > 0 &&
           (double)(seen_mix(key->hi) >> 11) * 0x1p-53 < c->sample;
}

static struct seen_span key_bytes(const struct seen_key *key, char bytes[16])
{
    little_put_64(bytes, key->lo);
    little_put_64(bytes + 8, key->hi);
    return (struct seen_span){ bytes, 16 };
}

/* The sample has it from now on. */
enum seen_code crawl_cache_sample(struct crawl_cache *c,
                                  const struct seen_key *key,
                                  struct seen_error *why)
{
    char bytes[16];

    if (!crawl_cache_samples(c, key))
        return SEEN_OK;
    sql_bind_bytes(c->audit_add, 1, key_bytes(key, bytes));
    return sql_do(c->audit_add, why);
}

/*
 * A sample counts only if it has all URLs of the visit, so its share is the one
 * that the visit began with: --audit that is given later, or with another
 * share, is for the next visit.
 */
enum seen_code crawl_cache_open_audit(struct crawl_cache *c, double share,
                                      bool fresh, struct seen_error *why)
{
    long long visit = c->state->visit.id;
    enum seen_code code;
    char text[64], *kept = NULL;

    if (fresh) {
        snprintf(text, sizeof text, "%lld %.17g", visit, share);
        code = crawl_state_set(c->state, "audit", text, why);
        c->sample = share;
    } else {
        code = crawl_state_get(c->state, "audit", &kept, why);
        if (code == SEEN_OK && kept &&
            sscanf(kept, "%lld %lf", &visit, &share) == 2 &&
            visit == c->state->visit.id)
            c->sample = share;
        free(kept);
    }
    if (code == SEEN_OK && c->sample > 0)
        code = sql_prepare(&c->audit_find, c->state->db,
                           "SELECT 1 FROM audit WHERE key = ?1", why);
    if (code == SEEN_OK && c->sample > 0)
        code = sql_prepare(&c->audit_add, c->state->db,
                           "INSERT OR IGNORE INTO audit VALUES (?1)", why);
    return code;
}

/* Was a sampled URL really seen, as the filter says? */
enum seen_code crawl_cache_audit(struct crawl_cache *c,
                                 const struct seen_key *key, bool seen,
                                 struct seen_error *why)
{
    enum seen_code code;
    char bytes[16];
    bool row;

    sql_bind_bytes(c->audit_find, 1, key_bytes(key, bytes));
    code = sql_step(c->audit_find, &row, why);
    if (code != SEEN_OK)
        return code;
    sql_reset(c->audit_find);
    if (row)
        return SEEN_OK;
    c->audited++;
    c->mistaken += seen;
    return crawl_cache_sample(c, key, why); /* it is counted once */
}

/* Did a part of the filter say yes although the whole says no? */
enum seen_code crawl_cache_count_parts(struct crawl_cache *c,
                                       const struct seen_key *key, size_t n,
                                       const bool *seen,
                                       struct seen_error *why)
{
    unsigned parts = seen_filter_parts(c->filter);
    bool any[CRAWL_CACHE_BATCH] = { false }, one[CRAWL_CACHE_BATCH];

    for (unsigned p = 0; p < parts; p++) {
        enum seen_code code = seen_filter_has(seen_filter_part(c->filter, p),
                                              key, n, one, why);

        if (code != SEEN_OK)
            return code;
        for (size_t i = 0; i < n; i++)
            any[i] |= one[i];
    }
    for (size_t i = 0; i < n; i++)
        c->discovered += any[i] && !seen[i];
    return SEEN_OK;
}
