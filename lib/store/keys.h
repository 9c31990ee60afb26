/*
 * keys.h - the log of all keys of a filter that can grow: NAME.seen.keys.
 *
 * A filter of bits cannot say which keys it holds, so that a larger one cannot
 * be made from it. A filter that *keeps its keys* has a log beside it, of 16
 * bytes per key that was added. Nothing reads the log until the filter is
 * full. Then a larger filter is built from it, and replaces the full one
 * (grow.c). So there is always one filter of the right size, with one line of
 * memory per question, and the keys cost disk, not memory.
 *
 *     seen_store_keep_keys()   the text of the file says so: keys-log=1
 *     add                      journal first, then the log, not flushed
 *     each checkpoint, close   the log is flushed, and says how much it has
 *     full                     the log is read, once
 */
#ifndef SEEN_STORE_KEYS_H
#define SEEN_STORE_KEYS_H

#include <stdbool.h>

#include "format.h"
#include "journal.h"
#include "paths.h"

#define KEYS_META "keys-log" /* the name of the field; its value is 1 */

enum {
    KEYS_VERSION = 1,
    KEYS_SLOT = 4096,     /* each slot and the head are in sectors of their own */
    KEYS_HEAD = 3 * 4096, /* then come the keys */
    KEY_BYTES = 16,
    STORE_KEYS_TAIL = 2048 /* keys that wait to be written to it, at most */
};

/* What the log has, and of which state of which file. */
struct store_keys_slot {
    uint64_t identity, applied; /* of the head of that file */
    uint64_t count;             /* of keys in the log */
    uint64_t sum;               /* of all of them: see keys.c */
};

struct store_keys_log {
    bool kept;              /* the file says that there is a log */
    bool whole;             /* it has all keys of the file, */
    bool damaged;           /* or it had, and some have changed */
    struct seen_error lost; /* why not, if it is kept and not whole */
    int fd;                 /* -1: not there yet, because there was no key */
    unsigned at;            /* which slot is that of the file */
    struct store_keys_slot now;  /* what that slot says */
    struct store_keys_slot next; /* count and sum of all keys so far */
    uint64_t noted;         /* number of the last change that is among these */
    unsigned char *tail;    /* the last of these, not yet in the file */
    size_t tail_n;
    bool written;           /* next is in the other slot */
    uint64_t try_at;        /* keys: repetitions could not be removed, which is
                               not tried again before it has so many: sieve.c */
};

/*
 * Open the log of a file with head h, for its only writer. SEEN_OK also if
 * there is no whole log: then `lost` says why, and the filter cannot grow.
 * Other errors say that it cannot be known now, so that the writer must not
 * add keys.
 */
enum seen_code store_keys_open(struct store_keys_log *k,
                               const struct store_paths *p,
                               const struct seen_filter *f,
                               const struct store_head *h,
                               struct seen_error *why);
void store_keys_close(struct store_keys_log *k);

/* The same for a reader: is there a whole log? If not, `lost` says why. */
bool store_keys_look(const struct store_paths *p, const struct seen_filter *f,
                     const struct store_head *h, struct seen_error *lost);

/* Its keys are not those that were added: it is not whole any more, and says
   so to later writers. */
void store_keys_condemn(struct store_keys_log *k);

/* Before the first change to a file: make the log if it is not there. */
enum seen_code store_keys_begin(struct store_keys_log *k,
                                const struct store_paths *p,
                                struct seen_error *why);

/*
 * Keys that the journal has as changes from number `first` on: append them. If
 * that fails, the journal has them nevertheless, and store_keys_follow() tries
 * again. While the journal does not change.
 */
void store_keys_note(struct store_keys_log *k, uint64_t first,
                     const struct seen_key *key, size_t n);

/* Append what is in the journal and not in the log, for the only thread that
   uses the writer. */
enum seen_code store_keys_follow(struct store_keys_log *k,
                                 const struct seen_filter *f,
                                 struct journal *j, struct seen_error *why);

/*
 * The file is about to get the identity and the changes of head h: append what
 * the log lacks, and flush it. store_keys_commit() follows once the file has that
 * head. If it never gets it, the log is still that of the old head.
 */
enum seen_code store_keys_move(struct store_keys_log *k,
                               const struct seen_filter *f, struct journal *j,
                               const struct store_head *h,
                               struct seen_error *why);
void store_keys_commit(struct store_keys_log *k);

/* The same, and write all of the log to its file. */
enum seen_code store_keys_write(struct store_keys_log *k,
                                const struct seen_filter *f, struct journal *j,
                                struct seen_error *why);

/* How many keys its file has. */
uint64_t store_keys_written(const struct store_keys_log *k);

/* Read n of these from number `at` on, and add them to *sum, which is next.sum
   once it has all. */
enum seen_code store_keys_read(const struct store_keys_log *k, uint64_t at,
                               struct seen_key *key, size_t n, uint64_t *sum,
                               struct seen_error *why);

/* All keys to a function; twice if they were added twice. SEEN_CORRUPT if the
   log was changed. */
enum seen_code store_keys_each(struct store_keys_log *k,
                               const struct seen_filter *f, struct journal *j,
                               journal_take *take, void *whose,
                               struct seen_error *why);

/* What a key adds to the sum of a log. */
uint64_t store_keys_sum(uint64_t lo, uint64_t hi);

/* A new file for keys, which nobody else can have open. */
enum seen_code store_keys_make(int *fd, const char *path,
                               const struct store_paths *p,
                               struct seen_error *why);

/*
 * Replace the log by the file *fd at p->grow, which has its keys but for
 * `fewer`, with the sum `less`, among those that the slot counts. All keys are
 * written, and the log, too. *fd is -1 once it belongs to the log. On failure
 * the log is as it was, or only the flush of the folder failed; which of the two
 * is there after a crash does not matter.
 */
enum seen_code store_keys_renew(struct store_keys_log *k,
                                const struct store_paths *p, int *fd,
                                uint64_t fewer, uint64_t less,
                                struct seen_error *why);

/* Remove the log, for good. */
enum seen_code store_keys_forget(struct store_keys_log *k,
                                 const struct store_paths *p,
                                 struct seen_error *why);

/* Can a filter keep its keys? */
bool store_keys_suit(const struct seen_filter *f);

#endif
