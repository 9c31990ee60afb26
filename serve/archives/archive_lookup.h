/*
 * archive_lookup.h - many URLs in one archive, or in all of them.
 *
 * A URL is made a key once per profile that occurs among the archives, not
 * once per archive; the keys are then looked up in batches.
 */
#ifndef SEEN_SERVE_ARCHIVES_ARCHIVE_LOOKUP_H
#define SEEN_SERVE_ARCHIVES_ARCHIVE_LOOKUP_H

#include "keys.h"
#include "view.h"

/*
 * What an archive says about a URL. Only the first two are answers of its
 * filter. The others are "unknown" to clients: never "no" from an archive that
 * was not asked.
 */
enum archive_answer {
    ARCHIVE_NO,
    ARCHIVE_YES,     /* or a false positive */
    ARCHIVE_REFUSES, /* its profile does not accept the URL */
    ARCHIVE_SILENT   /* it is withdrawn, or could not be asked */
};

static inline bool archive_unknown(enum archive_answer answer)
{
    return answer != ARCHIVE_NO && answer != ARCHIVE_YES;
}

struct archive_lookup {
    struct seen_span url;
    enum archive_item
        item; /* ARCHIVE_URL, which is 0, unless it is of Redis */
    bool bad; /* it is not a URL: every archive that was asked refuses it */
};

struct archive_counts {
    uint64_t asked, held; /* increased by lookups */
};

/*
 * Look n <= ARCHIVE_BATCH URLs up; answer[i] is an enum archive_answer for
 * lookup i. `keys` is scratch memory. SEEN_CORRUPT: the archive is withdrawn.
 */
enum seen_code archive_lookup(struct archive *a, struct archive_keys *keys,
                              struct archive_lookup *lookup, size_t n,
                              unsigned char *answer,
                              struct archive_counts *counts);

/*
 * The same in several archives, of which some may be NULL: the answer of
 * archive number a to lookup i is at answer[a * ARCHIVE_BATCH + i]. An archive
 * that fails meanwhile is withdrawn and silent. If all are silent, no URL is
 * bad.
 */
void archive_lookup_all(struct archive *const *archive, size_t archives,
                        struct archive_keys *keys,
                        struct archive_lookup *lookup, size_t n,
                        unsigned char *answer, struct archive_counts *counts);

/* Find out which lookups are bad. archive_lookup_all() does so; this is for
   answers that come from several calls. */
void archive_lookup_judge(struct archive_lookup *lookup, size_t n,
                          size_t archives, const unsigned char *answer);

#endif
