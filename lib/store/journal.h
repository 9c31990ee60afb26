/*
 * journal.h - what was added since the file was sealed.
 *
 * A writer appends a record before it changes the cells, so that a crash
 * loses nothing that was acknowledged. Changes are numbered for the life of
 * the file, and the file's head says which is the last one that its cells
 * hold; each record is applied once, whatever was checkpointed in between.
 */
#ifndef SEEN_STORE_JOURNAL_H
#define SEEN_STORE_JOURNAL_H

#include <stdbool.h>

#include <seen/key.h>

#include "format.h"
#include "paths.h"

enum {
    JOURNAL_HEAD = 40,
    RECORD_HEAD = 40,
    RECORD_LEAST = 48,          /* with its checksum */
    RECORD_MOST = 1 << 30
};

enum journal_change {
    ADDED = 1,
    REMOVED = 2,
    UNDONE = 3          /* numbers that were refused after all: SEEN_FULL */
};

struct journal {
    int fd;             /* -1: there is none */
    uint64_t identity;  /* of the file that it belongs to */
    uint64_t base;      /* the last change before it began */
    uint64_t last;      /* the last change in it */
    uint64_t end;       /* bytes of whole records and the head */
    uint64_t flushed;   /* of which so many are on the disk for certain */
    unsigned char *buffer;      /* of the record that is written, or of */
    size_t room;
    uint64_t window_at;         /* the bytes that were read last */
    size_t window_len;
};

/*
 * Replace the journal of `p` by an empty one. On failure j->fd is unchanged
 * and the old one is still there, or it is new, and only flushing the folder
 * failed.
 */
enum seen_code journal_begin(struct journal *j, const struct store_paths *p,
                             uint64_t identity, uint64_t base,
                             struct seen_error *why);

/*
 * Open the journal of `p` that belongs to the file with head h, before its
 * first record. j->fd is -1 if there is none, or one that belongs to another
 * file: what was replaced, or checkpointed and not yet begun anew.
 * SEEN_CORRUPT if there must be one.
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

/* Say that `count` changes from `first` on were refused by the filter. */
enum seen_code journal_undo(struct journal *j, uint64_t first, uint64_t count,
                            struct seen_error *why);

/* A record as it lies in the journal's buffer, until the next is read. */
struct journal_record {
    enum journal_change change;
    bool text;
    uint64_t first, count, flushed, length;
    const unsigned char *keys;
    size_t keys_len;
};

/* Forget what was read: the journal may have changed. */
void journal_look(struct journal *j);

/*
 * Read the record at j->end of a journal of `size` bytes, and move on. *found
 * is false at the end of what is whole. SEEN_CORRUPT if what is not whole is
 * followed by a record that was written when it was on the disk already.
 */
enum seen_code journal_next(struct journal *j, uint64_t size, bool *found,
                            struct journal_record *r, struct seen_error *why);

/*
 * Apply what follows j->end and is numbered above `done` to a filter.
 * Afterwards j->end and j->last are those of the last whole record.
 */
enum seen_code journal_replay(struct journal *j, struct seen_filter *f,
                              uint64_t done, struct seen_error *why);

#endif
