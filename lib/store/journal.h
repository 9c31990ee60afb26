/*
 * journal.h - the changes since the file was sealed.
 *
 * A writer appends a record before it changes the cells, so that a crash
 * loses nothing that was acknowledged. Changes are numbered for the life of
 * the file, and the file's head has the number of the last change in its
 * cells. So each record is applied once, whenever the last checkpoint was.
 */
#ifndef SEEN_STORE_JOURNAL_H
#define SEEN_STORE_JOURNAL_H

#include <stdbool.h>

#include <seen/key.h>

#include "format.h"
#include "paths.h"

enum {
    JOURNAL_VERSION = 3, /* the latest, of new journals 2, or */
    JOURNAL_LAZY = 3,    /* see journal_is_lazy() */
    JOURNAL_HEAD_1 = 40,        /* of version 1, and */
    JOURNAL_HEAD = 56,          /* of version 2, with the flushed length */
    RECORD_HEAD = 40,
    RECORD_LEAST = 48,          /* with its checksum */
    RECORD_MOST = 1 << 30
};

enum journal_change {
    ADDED = 1,
    REMOVED = 2,
    UNDONE = 3          /* numbers that the filter refused: SEEN_FULL */
};

struct journal {
    int fd;             /* -1: there is none */
    uint32_t version;   /* 1 beside a file of version 1; 2; 3: lazy */
    uint64_t identity;  /* of the file that it belongs to */
    uint64_t base;      /* number of the last change before it began */
    uint64_t last;      /* number of the last change in it */
    uint64_t end;       /* bytes of its head and complete records */
    uint64_t flushed;   /* how many bytes are certainly on the disk */
    uint64_t promised;  /* how many bytes its head says are on the disk */
    uint64_t left;      /* bytes after `end` when it was replayed */

    /* The record that is written; or, when reading, window_len bytes of the
       journal from window_at on. */
    unsigned char *buffer;
    size_t room;
    uint64_t window_at;
    size_t window_len;
};

/*
 * Replace the journal of `p` by an empty one of this version. On failure either j->fd is
 * unchanged and the old one still exists, or it is the new one and only the
 * flush of the folder failed.
 */
enum seen_code journal_begin(struct journal *j, const struct store_paths *p,
                             uint32_t version, uint64_t identity,
                             uint64_t base, struct seen_error *why);

/*
 * Open the journal of `p` that belongs to the file with head h, before its
 * first record. j->fd is -1 if there is none, or if it belongs to another
 * file: one that was replaced, or the state before a checkpoint that was
 * interrupted before it began a new journal. SEEN_CORRUPT if there must be
 * one.
 */
enum seen_code journal_open(struct journal *j, const struct store_paths *p,
                            const struct store_head *h, int flags,
                            struct seen_error *why);
void journal_close(struct journal *j);

/*
 * Append one record of n changes that follow the last, with texts if `text`.
 * On failure the journal is as it was.
 */
enum seen_code journal_append(struct journal *j, bool remove, bool text,
                              const struct seen_key *key, size_t n,
                              struct seen_error *why);

/* Record that the filter refused `count` changes from number `first` on. */
enum seen_code journal_undo(struct journal *j, uint64_t first, uint64_t count,
                            struct seen_error *why);

/*
 * The first `flushed` bytes are on the disk: record that in the head. Called
 * before a change is acknowledged. It need not be flushed itself.
 */
enum seen_code journal_promise(const struct journal *j, uint64_t flushed,
                               struct seen_error *why);

/* A record in the journal's buffer, valid until the next one is read. */
struct journal_record {
    enum journal_change change;
    bool text;
    uint64_t first, count, flushed, length;
    const unsigned char *keys;
    size_t keys_len;
};

/* Go back to before the first record. */
void journal_rewind(struct journal *j);

/* Look anew: drop the buffer, and read again what the head promises. */
void journal_look(struct journal *j);

/*
 * Read the record at j->end of a journal of `size` bytes, and move on. *found
 * is false at the first incomplete record. SEEN_CORRUPT if the head or a
 * later record proves that it was complete on the disk.
 */
enum seen_code journal_next(struct journal *j, uint64_t size, bool *found,
                            struct journal_record *r, struct seen_error *why);

/*
 * Was the file, whose head is h, not checked as a whole before its first
 * change, and are all changes since it was sealed in the journal? Then a block
 * that no record reaches still has the checksum of the table, or is damaged:
 * see checkpoint.c.
 */
bool journal_is_lazy(const struct journal *j, const struct store_head *h);

/*
 * Apply the changes behind j->end whose numbers are above `done` to a filter.
 * Afterwards j->end and j->last are those of the last complete record, and
 * j->left bytes behind it are not a record. SEEN_CORRUPT, too, for a change
 * that the filter cannot make. All keys of records, also of refused changes,
 * are given to store_blocks_change() first, unless `blocks` is NULL.
 */
struct store_blocks;
enum seen_code journal_replay(struct journal *j, struct seen_filter *f,
                              uint64_t done, struct store_blocks *blocks,
                              struct seen_error *why);

/*
 * Give the added keys whose numbers are above `done`, in the order of their
 * records, to a function: of a journal that is being written, whose place stays
 * as it is. Keys that were refused are given, too. SEEN_CORRUPT if a key was
 * removed.
 */
typedef enum seen_code journal_take(void *whose, const struct seen_key *key,
                                    size_t n, struct seen_error *why);
enum seen_code journal_each(struct journal *j, const struct seen_filter *f,
                            uint64_t done, journal_take *take, void *whose,
                            struct seen_error *why);

/* Give all keys of the records behind j->end to store_blocks_mark(). */
enum seen_code journal_mark(struct journal *j, const struct seen_filter *f,
                            struct store_blocks *blocks,
                            struct seen_error *why);

#endif
