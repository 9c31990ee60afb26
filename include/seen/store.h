/*
 * store.h - filters as files.
 *
 * A file holds one filter, its plan and its metadata, all with checksums;
 * doc/format.md specifies the bytes. There are three ways to use it:
 *
 *     seen_store_load()   a private copy in memory (fastest lookups)
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
 * A writer appends every change to a journal beside the file first
 * (crawl.seen.journal), and marks the file; until its first change it writes
 * nothing. A writer that is killed leaves file and journal. The next writer
 * replays the records that the file lacks, each once. Readers read the
 * journal, too. A file that is marked is refused without its journal, so a
 * copy of the file alone never answers without what was acknowledged. To copy
 * a filter in use, load it and save it.
 *
 * Caveats. A file on a network file system without working flock() can get
 * two writers. seen_store_map() and most writers map files: the process ends
 * with SIGBUS if another program cuts a file short meanwhile, if the disk
 * cannot be read, or if a copy-on-write file system is full, unless its handler
 * asks seen_store_fault(). (On other file systems opening a writer gives all
 * cells a place on the disk, or fails with ENOSPC.)
 *
 * A file that was cut short or altered, is of a later version, or has another
 * profile or secret than asked for is refused with the reason: a broken
 * filter answers neither yes nor no.
 *
 * Threads: one writer per file over all processes, by a lock file
 * (crawl.seen.lock); any number of readers.
 */
#ifndef SEEN_STORE_H
#define SEEN_STORE_H

#include <seen/filter.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* When an add survives a power failure. A killed process loses no
   acknowledged add under any of these. */
enum seen_sync {
    SEEN_SYNC_ALWAYS = 0,   /* when seen_filter_add() returns */
    SEEN_SYNC_EVERYSEC = 1, /* about a second later */
    SEEN_SYNC_NO = 2        /* when the system writes it out */
};

struct seen_access {
    const char *profile;         /* expected; NULL: any */
    const unsigned char *secret; /* of SEEN_SECRET bytes; NULL: none */
    bool unverified;             /* do not check the cells; see _verify() */
    bool over;                   /* for writing: accept keys past capacity */
    bool lazy;                   /* for few keys: check what they need */
    enum seen_sync sync;         /* for writing */
};

/*
 * A `lazy` filter is opened at once, however large: head, text and table are
 * checked, and of the cells, in blocks of 64 KiB, those that a key needs when
 * it is looked up, added or removed. If one of them is damaged, this fails
 * with SEEN_CORRUPT and the number of the block; keys in other blocks are
 * answered. A writer that changes some blocks leaves the checksums of all
 * others as they are, so damage there stays damage. What needs all cells
 * (_save, _merge, _verify, a checkpoint) checks all of them first. Only
 * seen_filter_memory() and the rate of `layered` filters read cells that were
 * not checked, and while a writer has the file open, a lazy reader's counts
 * and rates are those from before. Looking up a key takes up to twice as long
 * until all blocks are checked; for many keys, open it without `lazy`.
 *
 * It is for _map and _open. _open checks all cells nevertheless if changes
 * are not flushed one by one (`sync`), if a journal is left, if the kind does
 * not say which cells a key needs, or if the file is not changed in place:
 * counters, and filters that get new parts.
 */

/*
 * Open the filter at `path`; `options` may be NULL. On failure *out is NULL.
 * SEEN_CORRUPT: the file was cut short or changed. SEEN_MISMATCH: it is of a
 * later version, or has another profile or secret. SEEN_BUSY: another writer
 * has it open. SEEN_IO: errno is kept.
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

/* Check all cells of a filter that was opened `unverified`, by _load or
   _map. */
enum seen_code seen_store_verify(const struct seen_filter *f,
                                 struct seen_error *why);

/*
 * Was something wrong with the file of f that did not keep it from being
 * read? *what has the clause, unless it is NULL: one of the two heads is
 * damaged, or its journal ends in an incomplete record. That is what a killed
 * writer leaves of a change that it never acknowledged; but after a power
 * failure, or with another sync than SEEN_SYNC_ALWAYS, damage to the last
 * record cannot be told from it. A reader may also catch a writer in the
 * middle of a record: ask again after seen_store_refresh().
 */
bool seen_store_warning(const struct seen_filter *f, struct seen_error *what);

/*
 * For a reader: read what writers have added since. *changed is set to
 * whether there was anything, unless it is NULL. No other thread may use f
 * meanwhile. SEEN_MISMATCH: the file was replaced by another filter; open it
 * again. SEEN_UNABLE: f is not a reader, or is a copy that was added to.
 */
enum seen_code seen_store_refresh(struct seen_filter *f, bool *changed,
                                  struct seen_error *why);

/*
 * Write all changes of a filter that is open for writing to its file, and
 * empty the journal. The filter stays open. On failure nothing is lost: the
 * journal stays.
 */
enum seen_code seen_store_checkpoint(struct seen_filter *f,
                                     struct seen_error *why);

/*
 * Checkpoint, seal the file and release the lock. The filter is freed in any
 * case. (seen_filter_free() does the same without reporting errors.)
 */
enum seen_code seen_store_close(struct seen_filter *f, struct seen_error *why);

/*
 * A filter that keeps its keys is never full: nobody has to know how many there
 * will be.
 *
 *     plan.capacity = SEEN_FIRST_KEYS;
 *     plan.tight = true;
 *     code = seen_filter_new(&f, &plan, &why);
 *     code = seen_store_keep_keys(f, &why);
 *     code = seen_store_create(f, "crawl.seen", &why);
 *     seen_filter_free(f);
 *     code = seen_store_open(&f, "crawl.seen", NULL, &why);
 *
 * Its writers append each key, 16 bytes, to a log beside the file
 * (crawl.seen.keys), which costs no memory. Shortly before the filter is at its
 * capacity, the writer begins to fill another one from the log, for twice as
 * many keys or, above a million, 1.5 times as many, which then replaces file and
 * filter. So it takes at most twice the bits of a filter that was planned for
 * exactly its keys, keeps the planned rate (with `tight`), and a question costs
 * the same. The memory of both is in use while it is filled.
 *
 * Filling is done by adds, in slices: one of n keys fills in at most
 * 1024 + 128 n others, and the one that replaces the filter 4096 more. Only
 * closing a filter that is full fills in all that are missing, for some 10 ns
 * per key that was ever added.
 *
 * A log that is four times as long as it need be, because keys were added again,
 * is replaced by one without repetitions, also in slices. That takes as much
 * disk again, for a while, and up to 100 MB of memory.
 *
 * The log has mode 0600: hashes of URLs can be guessed. Copies of the file
 * alone answer as ever, and so does seen_store_save(); they cannot grow, like a
 * filter whose log was lost, damaged, or passed by a program that does not know
 * it: then it is full at its capacity, and SEEN_FULL says why.
 *
 * SEEN_UNABLE: f is not empty, or is in a file; or its kind has other cells
 * than bits, gets new parts, or reads the text of keys.
 */
enum { SEEN_FIRST_KEYS = 20000 };
enum seen_code seen_store_keep_keys(struct seen_filter *f,
                                    struct seen_error *why);

/* Was the file of f made to keep its keys? Also of a copy, and after the log was
   lost. */
bool seen_store_keeps(const struct seen_filter *f);

/* Will the filter of a file grow when it is full? If not, `why` has the reason;
   also if it was full and could not grow, and went on past its capacity. That
   is known only where it is open for writing. A reader looks whether the file
   has a whole log, and has SEEN_IO as the reason if it may not. */
bool seen_store_grows(const struct seen_filter *f, struct seen_error *why);

/*
 * Adding grows the filter by itself, except after seen_filter_allow_threads():
 * then adds fill the larger one, and the caller says, by this call, that no
 * other thread uses f. *grown is set to whether it was replaced, unless it is
 * NULL; plan, cells and parts of f are others then. On failure the filter is as
 * it was, and goes on past its capacity. Closing does the same.
 */
enum seen_code seen_store_grow(struct seen_filter *f, bool *grown,
                               struct seen_error *why);

/* Is the larger one filled, so that seen_store_grow() takes a moment? For any
   thread. */
bool seen_store_outgrown(const struct seen_filter *f);

/*
 * Give all keys that were added to a filter that is open for writing to a
 * function, without texts: for another kind, rate or capacity, with the same
 * profile and secret. A key that was added twice may come twice. Those of a
 * keyed filter are hashed already. SEEN_UNABLE: it has no log of all keys.
 */
typedef enum seen_code (*seen_key_taker)(void *to, const struct seen_key *key,
                                         size_t n, struct seen_error *why);
enum seen_code seen_store_keys(struct seen_filter *f, seen_key_taker take,
                               void *to, struct seen_error *why);

/*
 * Build another filter of these keys: of any kind, rate, capacity and seed that
 * `plan` has, with the profile of f and, if f is keyed, with its secret.
 * SEEN_UNABLE: there is no log of all keys, or the kind reads the text of keys.
 * SEEN_MISMATCH: another profile, or the secret is not known. Others as in
 * seen_build_new() and seen_build_finish(). *out is NULL then.
 */
enum seen_code seen_store_rebuild(struct seen_filter *f,
                                  const struct seen_plan *plan,
                                  struct seen_filter **out,
                                  struct seen_error *why);

/* Remove the log of a filter that is open for writing. It keeps no keys any
   more, and is full at its capacity when it is opened again. */
enum seen_code seen_store_forget_keys(struct seen_filter *f,
                                      struct seen_error *why);

/*
 * Is the file of a filter that is open for writing still the file at its
 * path, with its old length? The lock stops our own programs, but not `mv` and
 * `cp`; adds to a file that no path leads to are lost.
 */
bool seen_store_current(const struct seen_filter *f);

/*
 * For a thread that must not wait, such as an event loop: may it add up to n
 * keys now? If so, changes that it makes until seen_store_release() wait for
 * one write() each, to a journal that nobody is flushing, and for no
 * checkpoint: none begins meanwhile. False if a change would have to wait for
 * a disk or another thread, which is always so under SEEN_SYNC_ALWAYS; then
 * nothing is held. One thread at a time can hold a filter.
 *
 *     if (seen_store_hold(f, n)) {
 *         code = seen_filter_add(f, key, n, fresh, &why);
 *         seen_store_release(f);
 *     }
 */
bool seen_store_hold(struct seen_filter *f, size_t n);
void seen_store_release(struct seen_filter *f);

/*
 * Release the lock without a checkpoint. File and journal are left as by a
 * writer that was killed. For a file that is no longer current. The filter is
 * freed.
 */
void seen_store_abandon(struct seen_filter *f);

/*
 * For a program's handler of SIGBUS: is `address` in a mapped file of a filter?
 * Then that file is lost to the process: an empty page is mapped there, so that
 * the thread goes on, and whatever is done with the filter returns SEEN_IO,
 * also what was under way. A writer changes neither file nor journal any more:
 * the next one finds all that was acknowledged. What is left is to close it, or
 * to refresh a reader when the file was replaced.
 *
 *     static void on_bus(int signal, siginfo_t *it, void *context)
 *     {
 *         if (!seen_store_fault(it->si_addr))
 *             not ours: do what was done before, mostly crash
 *     }
 *
 * What returns no error, such as seen_filter_rate(), may be wrong then.
 * Async-signal-safe.
 */
bool seen_store_fault(const void *address);

/*
 * Replace `path` atomically: a reader, or a machine that lost its power, finds
 * the old file or the new one, never half of either. On SEEN_OK the new file
 * is on the disk. On failure the old one is unchanged, unless only flushing
 * the directory failed. Links are followed, also if their target does not
 * exist yet. SEEN_BUSY if a writer has `path` open.
 */
enum seen_code seen_store_save(const struct seen_filter *f, const char *path,
                               struct seen_error *why);

/* The same if there is no file at `path` yet, or else SEEN_EXISTS: of several
   processes that create a file, one succeeds. */
enum seen_code seen_store_create(const struct seen_filter *f, const char *path,
                                 struct seen_error *why);

/*
 * The right to write `path`, which need not exist, until it is released. For
 * read-modify-write of a file: with _save() alone, what a writer adds between
 * the two is lost. SEEN_BUSY if a writer has it open. While the claim is held,
 * other writers get SEEN_BUSY.
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
/* As seen_store_save(); the claim stays. */
enum seen_code seen_claim_save(const struct seen_filter *f,
                               struct seen_claim *c, struct seen_error *why);
/* The same with a file that is already written, in the same file system: it
   is flushed and moved to the claim's path. Whether it is a filter is not
   checked. */
enum seen_code seen_claim_swap(struct seen_claim *c, const char *from,
                               struct seen_error *why);
/* Release the claim. NULL is welcome. */
void seen_claim_free(struct seen_claim *c);

/*
 * Metadata: values of one line with names of letters, digits, '-' and '.',
 * kept in the filter and saved with it: "title", "holder", "as-of",
 * "timemap". SEEN_RANGE for a name that the plan uses, a value with control
 * bytes, or more than SEEN_META_TEXT bytes in all. A NULL value removes the
 * name.
 *
 * "as-of" is the date of the collection. If it is one (2026-11-15, 2026-11 or
 * 2026), a checkpoint or the closing of a writer sets it to the day of the
 * last change (UTC), unless it is later already.
 */
enum { SEEN_META_TEXT = 65536 };
enum seen_code seen_meta_set(struct seen_filter *f, const char *name,
                             const char *value, struct seen_error *why);
/* The value or NULL. It lives until metadata is set again. */
const char *seen_meta_get(const struct seen_filter *f, const char *name);
/* The i-th pair in order of names; false past the last. */
bool seen_meta_at(const struct seen_filter *f, size_t i, const char **name,
                  const char **value);

/*
 * Plan, counts and metadata as lines of name=value, in the canonical form that
 * files hold. The caller frees it with free().
 */
enum seen_code seen_store_describe(const struct seen_filter *f, char **text,
                                   struct seen_error *why);

/*
 * The filter of such a text, without cells: for kinds whose cells are
 * elsewhere. seen_filter_allocate() (kind_writer.h) gives it cells. It must
 * not be asked before that. SEEN_CORRUPT: the text is not canonical.
 * SEEN_MISMATCH: it is of a later version, or has another profile or secret
 * than `options`, which may be NULL, asks for.
 */
enum seen_code seen_store_restore(struct seen_filter **out, const char *text,
                                  const struct seen_access *options,
                                  struct seen_error *why);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
