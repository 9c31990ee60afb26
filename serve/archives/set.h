/*
 * set.h - the filters that are served, as all loops share them.
 *
 * Each loop maps every filter for itself (view.h), so that a lookup takes no
 * lock. What all loops must agree on is here: which names stand for which
 * files, the one writer per file, and the results of checking the cells
 * against their checksums, which a thread of its own does.
 *
 * Threads: everything here may be called from any thread.
 */
#ifndef SEEN_SERVE_ARCHIVES_SET_H
#define SEEN_SERVE_ARCHIVES_SET_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include <seen/share.h>
#include <seen/store.h>

#include "../../lib/text/span.h"

struct archive_set;
struct archive_remote; /* remote.h */

enum { ARCHIVE_NAME = 200 }; /* bytes of a name, at most */

/* Its file is not there; it does not answer for another reason; it does. */
enum archive_news { ARCHIVE_IS_GONE, ARCHIVE_FAILS, ARCHIVE_ANSWERS };

struct archive_set_options {
    const char *const *operand; /* NAME=FILTER, or a folder of filters; FILTER
                                   is a file or an address (remote/) */
    size_t operands;
    const unsigned char *secret; /* of keyed filters; NULL: none is known */
    bool writable;               /* archives can be changed and made */
    bool digests;                /* archive_digest() will be called */
    enum seen_sync sync;
    uint64_t cost; /* the most that a lookup may cost: seen_filter_cost() */
    bool (*reserved)(struct seen_span name); /* has another meaning; or NULL */

    /* Called for each file of a folder that is not served because of its name,
       and why: at the beginning, and when folders are read again; or NULL. */
    void (*report)(const char *path, const char *why);
    /* Called, from any thread, when an archive does not answer any more, and
       when it answers again: see troubles.h; or NULL. */
    void (*tell)(const char *name, const char *path, enum archive_news news,
                 const char *why);
    /* Called, from any thread, when a server that holds an archive does not
       answer any more, answers again, or may have lost adds; or NULL. */
    void (*warn)(const char *address, const char *text);
    /* Called, from any thread, for a folder whose archives.json (overlay.h)
       became wrong while it is served: the one before stays; or NULL. */
    void (*mistaken)(const char *folder, const char *why);
};

/*
 * Look at the operands. On failure *out is NULL and why->at is the operand: a
 * name that is taken or not allowed, or a filter that cannot be opened. It is
 * the number of operands if none is at fault.
 */
enum seen_code archive_set_open(struct archive_set **out,
                                const struct archive_set_options *options,
                                struct seen_error *why);

/* Close all writers, which brings their files up to date, and report the
   first failure. The set must not be used any more. */
enum seen_code archive_set_close(struct archive_set *set,
                                 struct seen_error *why);

/* Call `wake`, in any thread, whenever loops should refresh their views. */
void archive_set_notify(struct archive_set *set, void (*wake)(void *),
                        void *to);

/* Have all views read folders and files again, as if all had changed, and
   report files that are not served again. */
void archive_set_reread(struct archive_set *set);
unsigned archive_set_rereads(const struct archive_set *set);

/* Tell the operator: see the option. */
void archive_set_tell(const struct archive_set *set, const char *name,
                      const char *path, enum archive_news news,
                      const char *why);

const unsigned char *archive_set_secret(const struct archive_set *set);
bool archive_set_writable(const struct archive_set *set);
uint64_t archive_set_cost(const struct archive_set *set);

/* Why an archive is not asked; two numbers of 64 bits belong to it. */
#define ARCHIVE_TOO_EXPENSIVE \
    "a lookup costs up to %" PRIu64 ", more than --cost %" PRIu64

/* Why an archive cannot have this name: it is reserved, or does not fit into
   a file name. NULL if it can. */
const char *archive_name_fault(const struct archive_set *set,
                               struct seen_span name);

/* --- names and files --- */

struct archive_entry {
    char *name, *path;
    size_t folder; /* 0: named by an operand; else the number of its folder,
                      from 1: it comes and goes with its file */
};

struct archive_list {
    struct archive_entry *entry; /* in order of names */
    size_t n, room;
};

/* All names and paths as they are now. On failure the list is empty. */
enum seen_code archive_list_load(struct archive_list *list,
                                 const struct archive_set *set,
                                 struct seen_error *why);
void archive_list_clear(struct archive_list *list);

/* The path of the archive of this name, to be freed; NULL if there is none. */
char *archive_find_path(const struct archive_set *set, const char *name);

/* The i-th folder that is served; NULL past the last. */
const char *archive_folder(const struct archive_set *set, size_t i);

/*
 * Read archives.json of the i-th folder into *overlay, which is replaced. If it
 * is wrong, that is reported, once for all loops that find it so, and *overlay
 * becomes what it said when any of them last found it right: a loop that had
 * nothing to do meanwhile does not differ from the others.
 */
struct archive_overlay;
void archive_read_overlay(struct archive_set *set, size_t i,
                          struct archive_overlay *overlay);

/* --- checksums --- */

enum archive_condition { ARCHIVE_UNCHECKED, ARCHIVE_GOOD, ARCHIVE_BAD };

/* The result of checking a file against its checksums; a file that was not
   checked yet is queued for it. For a bad one `why` says what is wrong. */
enum archive_condition archive_condition(struct archive_set *set,
                                         const char *path,
                                         const struct stat *file,
                                         struct seen_error *why);

/* Queue a file for being checked again: it may have changed after its time
   was read. A check that is under way does not count. */
void archive_recheck(struct archive_set *set, const char *path,
                     const struct stat *file);

/*
 * The SHA-256 of a file. False if it is not known, which may change: because
 * it was not computed yet, or because the file is being written to.
 */
bool archive_digest(struct archive_set *set, const char *path,
                    const struct stat *file,
                    unsigned char digest[SEEN_DIGEST]);

/* Increases when a file was checked or a writer came or went. */
unsigned archive_set_version(const struct archive_set *set);

/* --- archives on other servers: see remote.h --- */

/* Is it an address, and not the path of a file? */
bool archive_is_remote(const char *path);

/* The remote archive of a path of the set; or NULL. */
struct archive_remote *archive_remote_find(const struct archive_set *set,
                                           const char *path);

/*
 * What is known of an archive: its filter, for its plan and counts only. It is
 * shared, and lives until it is put back. NULL: it was never reached. *away
 * says whether it can be asked; if not, why.
 */
struct archive_remote_filter {
    struct seen_filter *filter;
    struct seen_profile profile;
    unsigned refs; /* under the lock of the archive */
};
struct archive_remote_filter *archive_remote_get(struct archive_remote *r,
                                                 bool *away,
                                                 struct seen_error *why);
void archive_remote_put(struct archive_remote *r,
                        struct archive_remote_filter *f);

/* Times that adds which its server acknowledged may have been lost. */
uint64_t archive_remote_losses(const struct archive_remote *r);

/* --- writers: all but _peek may take long, so no loop calls them --- */

struct archive_writer;

/* The writer of `path` if it is open already, with a reference; or NULL. */
struct archive_writer *archive_writer_peek(struct archive_set *set,
                                           const char *path);

/* The same, opened if it is not. SEEN_BUSY: the filter was replaced by one of
   another profile than `profile`, under which the keys were made. */
enum seen_code archive_writer_get(struct archive_writer **out,
                                  struct archive_set *set, const char *path,
                                  const struct seen_profile *profile,
                                  struct seen_error *why);
void archive_writer_put(struct archive_set *set, struct archive_writer *w);

/* The filter, shared: any number of threads may ask and add. */
struct seen_filter *archive_writer_filter(struct archive_writer *w);

/*
 * For a loop, which must not wait: can a change of n keys that were made under
 * `profile` be made at once? Then the writer is held until it is released, and
 * only this thread may change the filter without waiting: seen_store_hold().
 */
bool archive_writer_hold(struct archive_writer *w,
                         const struct seen_profile *profile, size_t n);
void archive_writer_release(struct archive_writer *w);

/*
 * Exchange a filter that keeps its keys for the larger one that adds have
 * filled, for a caller that has a reference: the loops give theirs back first, and ask the file meanwhile. If
 * that takes too long, or it cannot grow, it goes on past its capacity.
 */
void archive_writer_grow(struct archive_writer *w);

/*
 * To be called after a change of the filter that began with guard_begin().
 * Returns `code`, or SEEN_CORRUPT if the file was cut short meanwhile.
 */
enum seen_code archive_writer_changed(struct archive_writer *w,
                                      enum seen_code code,
                                      struct seen_error *why);

/*
 * To be called after a change was made: the metadata `as-of` follows changes,
 * and not only when the server ends. The first change of a day writes the file
 * of an archive that has this metadata anew, also if servers come and go that
 * day; others wait meanwhile.
 */
void archive_writer_date(struct archive_writer *w);

/*
 * Its file was cut short under it. It is not written to any more, and stays
 * open until the process ends: closing it would seal what is left as good.
 */
void archive_writer_spoil(struct archive_writer *w);
bool archive_writer_spoiled(const struct archive_writer *w);

/*
 * For an archive that is exact, of one thread at a time: how many of the keys
 * offered to the filter since it was opened were not new. NULL for any other,
 * which needs no archive_writer_counted().
 */
uint64_t *archive_writer_count(struct archive_writer *w);
void archive_writer_counted(struct archive_writer *w);

/* It is about to be deleted, or to grow: give references back soon. */
bool archive_writer_leaving(const struct archive_writer *w);

/* What a new archive is like. */
struct archive_new {
    struct seen_plan plan;
    bool any_seed; /* instead of the plan's: a random one */
    bool keeps;    /* its keys, so that it is never full */
    bool exact;    /* full after plan.capacity new keys, neither before nor
                      after; the filter says so in its metadata, as
                      ARCHIVE_EXACT */
    unsigned expansion; /* how it grows as its maker asked for it, if it grows
                           otherwise: metadata ARCHIVE_EXPANSION; else 0 */
};
#define ARCHIVE_EXACT "nonscaling"
#define ARCHIVE_EXPANSION "expansion"

/*
 * Make the file of a new archive, in the first folder that is served.
 * SEEN_EXISTS: the name is taken. SEEN_RANGE: the disk has no room for it;
 * a disk that one filter fills fails all the others.
 */
enum seen_code archive_create(struct archive_set *set, struct seen_span name,
                              const struct archive_new *made,
                              struct seen_error *why);

/* Save a filter as a new archive. SEEN_EXISTS: the name is taken. */
enum seen_code archive_import(struct archive_set *set, struct seen_span name,
                              const struct seen_filter *f,
                              struct seen_error *why);

/* Close and delete the file of an archive that is in a served folder.
   SEEN_ABSENT: somebody else has deleted it. */
enum seen_code archive_delete(struct archive_set *set, const char *path,
                              struct seen_error *why);

/* The archives that archive_delete() deleted since the last call, by their
   paths; at most some thousands. */
void archive_set_take_deleted(struct archive_set *set,
                              struct archive_list *list);

/* Bring the files of all writers up to date. */
enum seen_code archive_checkpoint(struct archive_set *set,
                                  struct seen_error *why);

#endif
