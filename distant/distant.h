/*
 * distant.h - ask a filter on a web server, by parts of its file.
 *
 *     https://haw.nsk.hr/bloom-filter/haw.seen
 *         │ the beginning, once; then a block per key     source.c, fetch/
 *     ~/.cache/seen/NAME.part                             cache.c
 *         │
 *     <seen/ranges.h> ──> seen_filter_has()               distant.c
 *
 *     code = distant_open(&f, url, &options, &access, &why);
 *     code = seen_filter_has(f, key, n, seen, &why);
 *     if (distant_moved(url, &options, code))
 *         it is another file now: open it again, and ask again
 *     seen_filter_free(f);
 *
 * Nothing that a server sends is trusted: fetch/ guards the connection, bodies
 * have bounds, the library checks each part, and a filter whose questions cost
 * too much is refused as harvest/ does. An answer comes from one version of the
 * file: parts are asked for with If-Range, and have the checksums of its table.
 *
 * Where many parts are needed, all of the file is fetched as soon as that is
 * cheaper, and what is sent is at most about twice the file, however long the
 * list of URLs. A server without ranges sends all of it at once.
 *
 * Threads: a filter may be asked by many; see <seen/ranges.h>.
 */
#ifndef SEEN_DISTANT_DISTANT_H
#define SEEN_DISTANT_DISTANT_H

#include <stdbool.h>
#include <string.h>

#include <seen/store.h>

enum { DISTANT_DECOYS = 1000 };

struct distant_options {
    const char *cache;   /* folder of the cache; NULL: keep nothing */
    const char *secrets; /* folder of the user's secret, for decoys */
    const char *tmp;     /* folder for temporary files [/tmp] */
    uint64_t cache_most; /* bytes of all that is kept [1 GiB] */
    uint64_t most;       /* bytes of a file that is fetched as a whole
                            [1 GiB]; of a larger one only parts */
    uint64_t cost;       /* of a question, in units of seen_filter_cost() [1M] */
    uint64_t fresh;      /* seconds for which answers from the cache alone are
                            not checked with the server [1 h] */
    bool sure;           /* find out at opening whether what is kept is what
                            the server has: when nothing will be asked */
    unsigned decoys;     /* see <seen/ranges.h> */
    unsigned stall;      /* seconds without bytes [30]; or twice as many with
                            less than 1 kB/s */
    bool allow_private;  /* as struct fetch_options, */
    const char *allow;   /* these three */
    const char *authorities;
    void (*say)(void *whose, const char *text); /* what will take long; or
                                                   NULL */
    void *whose;
};

/* Is it the URL of such a filter, not a path? */
static inline bool distant_is_url(const char *text)
{
    return !strncmp(text, "https://", 8) || !strncmp(text, "http://", 7);
}

/*
 * Open the filter at a URL; texts of the options must outlive it. SEEN_ABSENT:
 * there is none. SEEN_IO, SEEN_RANGE, SEEN_CORRUPT, SEEN_UNABLE: as
 * fetch_handler and <seen/ranges.h> say. SEEN_MISMATCH: another profile, or
 * secret.
 */
enum seen_code distant_open(struct seen_filter **out, const char *url,
                            const struct distant_options *options,
                            const struct seen_access *access,
                            struct seen_error *why);

/*
 * A question failed with this code: may it be because the file was replaced, or
 * the cache has a wrong part? Then what is kept of it is removed.
 */
bool distant_moved(const char *url, const struct distant_options *options,
                   enum seen_code code);

#endif
