/*
 * store.h - filters as files.
 *
 * A file holds one filter, its plan and its metadata, with checksums of all
 * of it; doc/format.md specifies the bytes. Three ways to have it:
 *
 *     seen_store_load()   a private copy in memory (fastest to ask)
 *     seen_store_map()    mapped read-only (nothing is copied)
 *     seen_store_open()   for writing: adds are durable
 *
 *     struct seen_access options = { .sync = SEEN_SYNC_ALWAYS };
 *
 *     if (seen_store_open(&f, "crawl.seen", &options, &why) == SEEN_OK) {
 *         code = seen_filter_add(f, key, n, fresh, &why);
 *         code = seen_store_close(f, &why);
 *     }
 *
 * While a writer has a file open, every add is first appended to a journal
 * beside it (crawl.seen.journal). A writer that is killed leaves both; the
 * next one replays what the file lacks, each record once, and readers look
 * through the journal too.
 *
 * Caveats. A file on a network file system without working flock() can get
 * two writers. Files are mapped, by seen_store_map() and most writers: one
 * that another program cuts short meanwhile, a disk that cannot be read, and
 * a full one of a file system that copies on write, end the process with
 * SIGBUS. (On others a writer has room for all cells once it is open, or is
 * refused with ENOSPC.)
 *
 * A file that was cut short, altered, of a later version, or asked with
 * another profile or secret is refused with its reason: a broken filter
 * answers neither yes nor no.
 *
 * Threads: one writer a file at a time, by a lock file (crawl.seen.lock),
 * over all processes; any number of readers.
 */
#ifndef SEEN_STORE_H
#define SEEN_STORE_H

#include <seen/filter.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* When an add is safe from a power failure. A killed process loses no
   acknowledged add under any of them. */
enum seen_sync {
    SEEN_SYNC_ALWAYS = 0,   /* when seen_filter_add() returns */
    SEEN_SYNC_EVERYSEC = 1, /* about a second later */
    SEEN_SYNC_NO = 2        /* when the system writes it out */
};

struct seen_access {
    const char *profile;         /* must be this one; NULL: any will do */
    const unsigned char *secret; /* of SEEN_SECRET bytes; NULL: none */
    bool unverified;             /* leave the cells to _verify() */
    bool over;                   /* for writing: go on past capacity */
    enum seen_sync sync;         /* for writing */
};

/*
 * Have the filter at `path`; `options` may be NULL. On failure *out is NULL:
 * SEEN_CORRUPT for a file that was cut short or changed, SEEN_MISMATCH for a
 * later version or another profile or secret, SEEN_BUSY when another writer
 * has it open, SEEN_IO with errno kept.
 */
enum seen_code seen_store_load(struct seen_filter **out, const char *path,
                               const struct seen_access *options,
                               struct seen_error *why);
enum seen_code seen_store_map(struct seen_filter **out, const char *path,
                              const struct seen_access *options,
                              struct seen_error *why);
enum seen_code seen_store_open(struct seen_filter **out, const char *path,
                               const struct seen_access *options,
                               struct seen_error *why);

/* Check all cells of a filter that was had `unverified` by _load or _map. */
enum seen_code seen_store_verify(const struct seen_filter *f,
                                 struct seen_error *why);

/*
 * For a reader: take in what writers have added since. *changed, unless
 * NULL, tells whether there was anything. No other thread may use f
 * meanwhile. SEEN_MISMATCH: the file was replaced by another filter; have it
 * anew. SEEN_UNABLE: f is no reader, or a copy that was added to since.
 */
enum seen_code seen_store_refresh(struct seen_filter *f, bool *changed,
                                  struct seen_error *why);

/*
 * Bring the file of a filter that is open for writing up to date and empty
 * its journal. The filter stays open. On failure nothing is lost: the
 * journal stays.
 */
enum seen_code seen_store_checkpoint(struct seen_filter *f,
                                     struct seen_error *why);

/*
 * Checkpoint, seal the file and give the lock back. The filter is freed,
 * whatever is returned. (seen_filter_free() does the same, silently.)
 */
enum seen_code seen_store_close(struct seen_filter *f, struct seen_error *why);

/*
 * Is the file of a filter that is open for writing still the one that its
 * path names, and as long as it was? Locks keep our own kind from it, but not
 * `mv` and `cp`: adds to a file that nobody can find any more are lost.
 */
bool seen_store_current(const struct seen_filter *f);

/*
 * Give the lock back without bringing the file up to date, which is left,
 * with its journal, as that of a writer that was killed. For a file that is
 * no longer current. The filter is freed.
 */
void seen_store_abandon(struct seen_filter *f);

/*
 * Replace `path` so that a reader, or a machine that lost its power, finds
 * the old file or the new one, never half of either. On SEEN_OK the new one
 * is on the disk; on failure the old one is as it was, unless flushing the
 * directory was what failed. Links are followed, also to what is not there
 * yet. SEEN_BUSY if a writer has `path` open.
 */
enum seen_code seen_store_save(const struct seen_filter *f, const char *path,
                               struct seen_error *why);

/* The same where there is nothing yet, else SEEN_EXISTS: of several
   who begin a file, one does. */
enum seen_code seen_store_create(const struct seen_filter *f, const char *path,
                                 struct seen_error *why);

/*
 * The right to write `path`, which need not exist, until it is given back.
 * For who reads a file and replaces it by what follows from it: with _save()
 * alone, what a writer adds between the two is lost. SEEN_BUSY if a writer
 * has it open; as long as the claim is held, those who come are told so.
 *
 *     if (seen_store_claim(&c, "all.seen", &why) == SEEN_OK) {
 *         code = seen_store_load(&f, "all.seen", NULL, &why);
 *         code = seen_filter_merge(f, monday, &why);
 *         code = seen_claim_save(f, c, &why);
 *         seen_claim_free(c);
 *     }
 */
struct seen_claim;
enum seen_code seen_store_claim(struct seen_claim **out, const char *path,
                                struct seen_error *why);
/* As seen_store_save() does; the claim is kept. */
enum seen_code seen_claim_save(const struct seen_filter *f,
                               struct seen_claim *c, struct seen_error *why);
/* The same with a whole file that is already written, in the same file
   system: it is flushed and takes the place of the claim's path. Whether it
   is a filter is the caller's business. */
enum seen_code seen_claim_swap(struct seen_claim *c, const char *from,
                               struct seen_error *why);
/* Give the right back. NULL is welcome. */
void seen_claim_free(struct seen_claim *c);

/*
 * Metadata: values of one line under names of letters, digits, '-' and '.',
 * kept with the filter and written with it: "title", "holder", "as-of",
 * "timemap". SEEN_RANGE for a name that is taken by the plan, a value with
 * control bytes, or more than SEEN_META_TEXT in all. A NULL value removes.
 */
enum { SEEN_META_TEXT = 65536 };
enum seen_code seen_meta_set(struct seen_filter *f, const char *name,
                             const char *value, struct seen_error *why);
/* The value, which lives until metadata is set again, or NULL. */
const char *seen_meta_get(const struct seen_filter *f, const char *name);
/* The i-th pair in order of names; false past the last. */
bool seen_meta_at(const struct seen_filter *f, size_t i, const char **name,
                  const char **value);

/*
 * Plan, counts and metadata as the one canonical text of name=value lines
 * that files hold; allocated, for the caller to free().
 */
enum seen_code seen_store_describe(const struct seen_filter *f, char **text,
                                   struct seen_error *why);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
