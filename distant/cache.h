/*
 * cache.h - what was fetched of distant filters, kept for the next question.
 *
 *     ~/.cache/seen/               0700
 *         8f3a...c1.part           the file with holes: <seen/ranges.h>
 *         8f3a...c1.note           of which URL and version it is
 *         8f3a...c1.part.Xb3kQ1    one that is begun
 *
 * The name is a hash of the URL. Processes share the files without a lock: a
 * part is only written to with bytes that have the right checksum, and is
 * trusted only where it has it. A new version gets a new file, which takes the
 * name when it can be asked; whoever has the old one open keeps it. The note
 * says which file it is about, so that the two never disagree unnoticed.
 *
 * The cache says what its user has asked about, as far as blocks do; so nobody
 * else may read it. It is bounded: the entries that were used longest ago are
 * removed.
 *
 * Threads: entries are independent.
 */
#ifndef SEEN_DISTANT_CACHE_H
#define SEEN_DISTANT_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include <seen/error.h>
#include <seen/key.h>

enum { DISTANT_ETAG = 512, DISTANT_DATE = 64 };

/* What the server said of the version that is kept. */
struct distant_version {
    char etag[DISTANT_ETAG];     /* or "" */
    char modified[DISTANT_DATE]; /* or "" */
    uint64_t checked;            /* when it was last known to be the one that
                                    the server has: Unix time */
};

struct distant_entry {
    char *folder, *part, *note, *begun; /* paths; `begun` is NULL, or where a
                                           new part is until it is kept */
    char *url;
    int fd;    /* of the part */
    bool kept; /* it is the one of an earlier process, or has its name now */
    struct distant_version version;
};

/*
 * Open what is kept of a URL, or begin anew, always so if `anew`. A folder that
 * is missing is made. SEEN_RANGE: it is not ours alone. SEEN_IO.
 */
enum seen_code distant_entry_open(struct distant_entry *e, const char *folder,
                                  const char *url, bool anew,
                                  struct seen_error *why);

/* What was begun is a filter: give it its name, and write the note; of one that
   is kept, the note alone. What cannot be written is not kept. */
void distant_entry_keep(struct distant_entry *e);

/* Remove it, unless another process has replaced it meanwhile. */
void distant_entry_forget(struct distant_entry *e);

/* Close it; what was begun and not kept is removed. Begin with zeros and fd
   -1. */
void distant_entry_close(struct distant_entry *e);

/* Remove entries, except this one, until the rest has at most so many bytes. */
void distant_cache_shrink(const struct distant_entry *e, uint64_t most);

/*
 * The user's secret for decoys at a URL: a function of the file FOLDER/decoys,
 * which is made if it is missing.
 */
enum seen_code distant_secret(const char *folder, const char *url,
                              unsigned char secret[SEEN_SECRET],
                              struct seen_error *why);

#endif
