/*
 * archive_lookup.c - the same URLs under each profile, for each archive.
 *
 * Archives with the same profile have the same keys, so a list of URLs is
 * canonicalised once per profile and not once per archive. Keys of one profile
 * are made for a batch, and all archives that have it are asked before the next
 * batch.
 */
#include "archive_lookup.h"

static bool same(const struct seen_profile *a, const struct seen_profile *b)
{
    return a->rules == b->rules && a->segments == b->segments;
}

/*
 * Make keys from lookup `from` on, as many as fit into a batch; which[j] is
 * the lookup of key j. Returns where to go on.
 */
static size_t make_keys(struct archive_keys *k,
                        const struct archive_lookup *lookup, size_t from,
                        size_t n, const struct seen_profile *p,
                        unsigned short *which)
{
    archive_keys_clear(k);
    for (; from < n && !archive_keys_full(k); from++)
        if (archive_keys_add(k, lookup[from].url, lookup[from].item, p,
                             NULL) == SEEN_OK)
            which[k->n - 1] = (unsigned short)from;
    return from;
}

/* Look up a batch, and give the answers to the lookups that they are for. An
   archive that fails has answered nothing. */
static enum seen_code ask(struct archive *a, struct archive_keys *k,
                          const unsigned short *which, size_t n,
                          unsigned char *answer, struct archive_counts *counts)
{
    enum seen_code code = archive_has(a, k->key, k->n, k->seen, NULL);

    if (code != SEEN_OK) {
        memset(answer, ARCHIVE_SILENT, n);
        return code;
    }
    for (size_t j = 0; j < k->n; j++) {
        answer[which[j]] = k->seen[j] ? ARCHIVE_YES : ARCHIVE_NO;
        counts->held += k->seen[j];
    }
    counts->asked += k->n;
    return SEEN_OK;
}

/* A URL is bad if archives refuse it and none accepts it. */
void archive_lookup_judge(struct archive_lookup *lookup, size_t n,
                          size_t archives, const unsigned char *answer)
{
    for (size_t i = 0; i < n; i++) {
        bool refused = false, known = false;

        for (size_t a = 0; a < archives; a++) {
            refused |= answer[a * ARCHIVE_BATCH + i] == ARCHIVE_REFUSES;
            known |= !archive_unknown(answer[a * ARCHIVE_BATCH + i]);
        }
        lookup[i].bad = refused && !known;
    }
}

enum seen_code archive_lookup(struct archive *a, struct archive_keys *keys,
                              struct archive_lookup *lookup, size_t n,
                              unsigned char *answer,
                              struct archive_counts *counts)
{
    unsigned short which[ARCHIVE_BATCH];

    memset(answer, ARCHIVE_REFUSES, n);
    for (size_t i = 0; i < n;) {
        i = make_keys(keys, lookup, i, n, &a->profile, which);
        if (ask(a, keys, which, n, answer, counts) != SEEN_OK)
            return SEEN_CORRUPT;
    }
    archive_lookup_judge(lookup, n, 1, answer);
    return SEEN_OK;
}

static bool under(const struct archive *a, const struct seen_profile *profile)
{
    return a && a->filter && same(&a->profile, profile);
}

/* Ask all archives that have the profile of the first of them. */
static void ask_under(struct archive *const *archive, size_t archives,
                      struct archive_keys *keys,
                      const struct archive_lookup *lookup, size_t n,
                      unsigned char *answer, struct archive_counts *counts)
{
    const struct seen_profile profile = archive[0]->profile;
    unsigned short which[ARCHIVE_BATCH];

    for (size_t a = 0; a < archives; a++)
        if (under(archive[a], &profile))
            memset(answer + a * ARCHIVE_BATCH, ARCHIVE_REFUSES, n);
    for (size_t i = 0; i < n;) {
        i = make_keys(keys, lookup, i, n, &profile, which);
        for (size_t a = 0; a < archives; a++)
            if (under(archive[a], &profile))
                ask(archive[a], keys, which, n, answer + a * ARCHIVE_BATCH,
                    counts);
    }
}

void archive_lookup_all(struct archive *const *archive, size_t archives,
                        struct archive_keys *keys,
                        struct archive_lookup *lookup, size_t n,
                        unsigned char *answer, struct archive_counts *counts)
{
    for (size_t a = 0; a < archives; a++)
        memset(answer + a * ARCHIVE_BATCH, ARCHIVE_SILENT, n);
    for (size_t a = 0; a < archives; a++) /* those that have not answered */
        if (archive[a] && archive[a]->filter &&
            answer[a * ARCHIVE_BATCH] == ARCHIVE_SILENT)
            ask_under(archive + a, archives - a, keys, lookup, n,
                      answer + a * ARCHIVE_BATCH, counts);
    archive_lookup_judge(lookup, n, archives, answer);
}
