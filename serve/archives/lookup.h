/*
 * lookup.h - many URLs in one archive, or in all of them.
 *
 * A URL is made a key once per profile that occurs among the archives, not
 * once per archive; the keys are then looked up in batches.
 */
#ifndef SEEN_SERVE_ARCHIVES_LOOKUP_H
#define SEEN_SERVE_ARCHIVES_LOOKUP_H

#include "keys.h"
#include "view.h"

struct archive_lookup {
    struct seen_span url;
    bool bad; /* it is not a URL */
};

struct archive_counts {
    uint64_t asked, held; /* increased by lookups */
};

/*
 * Look n <= ARCHIVE_BATCH URLs up; seen[i] is the answer to lookup i that is
 * not bad. `keys` is scratch memory. SEEN_CORRUPT: the archive is withdrawn.
 */
enum seen_code archive_lookup(struct archive *a, struct archive_keys *keys,
                              struct archive_lookup *lookup, size_t n,
                              bool *seen, struct archive_counts *counts);

/*
 * The same in the first `archives` of the view: held[i] of archive number a
 * is at held[a * ARCHIVE_BATCH + i]. An archive that cannot answer is
 * withdrawn afterwards, and its column means nothing. A URL is bad if no
 * profile accepts it; where only some do, the other archives do not hold it.
 * If all archives are withdrawn, none is bad.
 */
void archive_lookup_all(struct archive_view *v, struct archive_keys *keys,
                        struct archive_lookup *lookup, size_t n,
                        size_t archives, bool *held,
                        struct archive_counts *counts);

#endif
