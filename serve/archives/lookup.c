/* lookup.c - the same URLs under each profile, for each archive. */
#include "lookup.h"

static bool same(const struct seen_profile *a, const struct seen_profile *b)
{
    return a->rules == b->rules && a->segments == b->segments;
}

/*
 * Make keys from lookup `from` on, as many as fit into a batch; which[j] is
 * the lookup of key j. Returns where to go on.
 */
static size_t make_keys(struct archive_keys *k, struct archive_lookup *lookup,
                        size_t from, size_t n, const struct seen_profile *p,
                        unsigned short *which)
{
    archive_keys_clear(k);
    for (; from < n && !archive_keys_full(k); from++)
        if (archive_keys_add(k, lookup[from].url, ARCHIVE_URL, p, NULL) ==
            SEEN_OK) {
            which[k->n - 1] = (unsigned short)from;
            lookup[from].bad = false;
        }
    return from;
}

/* Look up a batch, and give the answers to the lookups that they are for. */
static enum seen_code ask(struct archive *a, struct archive_keys *k,
                          const unsigned short *which, bool *seen,
                          struct archive_counts *counts)
{
    enum seen_code code = archive_has(a, k->key, k->n, k->seen, NULL);

    if (code != SEEN_OK)
        return code;
    for (size_t j = 0; j < k->n; j++) {
        seen[which[j]] = k->seen[j];
        counts->held += k->seen[j];
    }
    counts->asked += k->n;
    return SEEN_OK;
}

enum seen_code archive_lookup(struct archive *a, struct archive_keys *keys,
                              struct archive_lookup *lookup, size_t n,
                              bool *seen, struct archive_counts *counts)
{
    unsigned short which[ARCHIVE_BATCH];

    for (size_t i = 0; i < n; i++)
        lookup[i].bad = true;
    for (size_t i = 0; i < n;) {
        i = make_keys(keys, lookup, i, n, &a->profile, which);
        if (ask(a, keys, which, seen, counts) != SEEN_OK)
            return SEEN_CORRUPT;
    }
    return SEEN_OK;
}

/* Was an archive before number `a` asked under the same profile? */
static bool done_before(struct archive_view *v, size_t a)
{
    const struct archive *it = archive_view_at(v, a);

    for (size_t i = 0; i < a; i++) {
        const struct archive *other = archive_view_at(v, i);

        if (other->filter && same(&other->profile, &it->profile))
            return true;
    }
    return false;
}

void archive_lookup_all(struct archive_view *v, struct archive_keys *keys,
                        struct archive_lookup *lookup, size_t n,
                        size_t archives, bool *held,
                        struct archive_counts *counts)
{
    unsigned short which[ARCHIVE_BATCH];
    bool any = false;

    memset(held, 0, archives * ARCHIVE_BATCH);
    for (size_t a = 0; a < archives; a++)
        any |= archive_view_at(v, a)->filter != NULL;
    for (size_t i = 0; i < n; i++)
        lookup[i].bad = any;
    for (size_t a = 0; a < archives; a++) {
        const struct archive *first = archive_view_at(v, a);

        if (!first->filter || done_before(v, a))
            continue;
        for (size_t i = 0; i < n;) {
            const struct seen_profile profile = first->profile;

            i = make_keys(keys, lookup, i, n, &profile, which);
            for (size_t b = a; b < archives; b++) {
                struct archive *it = archive_view_at(v, b);

                if (it->filter && same(&it->profile, &profile))
                    ask(it, keys, which, held + b * ARCHIVE_BATCH, counts);
            }
        }
    }
}
