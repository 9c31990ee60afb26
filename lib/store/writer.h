/*
 * writer.h - a filter open for writing, as its three files see it.
 *
 *     writer.c       from a file to a writer, and back
 *     writer_add.c   journal first, cells after it
 *     checkpoint.c   bring the file up to date
 *     grow.c         a larger filter in place of a full one
 *     sieve.c        a log of keys without repetitions
 */
#ifndef SEEN_STORE_WRITER_H
#define SEEN_STORE_WRITER_H

#include <pthread.h>

#include <seen/store.h>

#include "../filter/storage.h"
#include "blocks.h"
#include "cells.h"
#include "journal.h"
#include "keys.h"

struct store_writer {
    struct seen_storage storage;  /* first: f->storage points to it */
    struct seen_filter *f;
    struct store_paths paths;
    int lock;
    char *text;                 /* the text of the file */
    bool in_place;
    bool over;                  /* it has no limit, because its owner said so */
    bool begun;                 /* there is a journal, and the head says so */
    bool sealable;              /* the table fits the cells */
    bool damaged;               /* when it was opened, one of its heads was */
    uint64_t dropped;           /* bytes of its journal that were no record */
    struct seen_meta *metas;    /* that readers may still use: meta.h */
    struct store_mapping map;
    struct store_blocks *blocks; /* NULL: all were checked */
    enum seen_sync sync;
    struct store_keys_log keys;        /* changed while no thread adds */
    pthread_mutex_t growing;    /* taken before `mutex` */
    struct store_growth *growth; /* grow.c; NULL: none */
    struct store_sieve *sieve;   /* sieve.c; NULL: none */
    bool repeats;                /* and one is to begin */
    bool condemned;              /* the log was found to be damaged, and the
                                    filter still has no limit */
    /* Numbers of changes: */
    uint64_t try_at;             /* a growth failed, and is not tried again
                                    before it */
    uint64_t look_at;            /* before it the filter cannot be full */
    uint64_t settled;            /* the writer has made some changes by then */

    pthread_mutex_t mutex;      /* guards what follows, to `most` */
    int fd, next;               /* the file, and the one that replaces it */
    struct store_head head;     /* the head of the file */
    pthread_cond_t idle;        /* no thread is adding, or none is excluded */
    unsigned adding;            /* threads between _before and _after */
    bool exclusive;             /* no other thread may begin to add, */
    bool held;                  /* but this one: seen_store_hold() */
    pthread_t holder;
    int64_t changed_at;         /* time of a change that `as-of` lacks; or 0 */
    int failed;                 /* errno of a failed flush: nothing is written since */
    struct journal journal;
    uint64_t most;              /* bytes of journal that cause a checkpoint */

    pthread_mutex_t flushing;   /* taken before `mutex` */
    pthread_t ticker;
    pthread_cond_t tick;
    bool ticking, stop;
};

/* What lib/filter calls: see storage.h. */
enum seen_code store_writer_before(struct seen_storage *s, bool remove,
                                   const struct seen_key *key, size_t n,
                                   uint64_t *first, struct seen_error *why);
void store_writer_after(struct seen_storage *s, uint64_t first, size_t n,
                        size_t done);

/* For SEEN_SYNC_EVERYSEC: a thread that flushes the journal every second. */
enum seen_code store_writer_tick(struct store_writer *w,
                                 struct seen_error *why);
void store_writer_stop(struct store_writer *w);

/* Can this thread add n keys without waiting? Then no checkpoint begins before
   it has released the writer. */
bool store_writer_hold(struct store_writer *w, size_t n);
void store_writer_release(struct store_writer *w);

/* Wait until no thread is adding, and let none begin; then let them again. */
void store_writer_exclude(struct store_writer *w);
void store_writer_admit(struct store_writer *w);

/* Set w->most, how long the journal may get. */
void store_writer_limit(struct store_writer *w);

/* Refuse a change because an earlier flush failed. */
enum seen_code store_writer_refuse(struct store_writer *w,
                                   struct seen_error *why);

/*
 * For the thread that has excluded the others: bring the file up to date. If
 * it is changed in place, a new journal is begun. Otherwise, and when closing,
 * the file is sealed and needs no journal. On failure file and journal lose
 * nothing.
 */
enum seen_code store_checkpoint(struct store_writer *w, bool closing,
                                struct seen_error *why);

/* In place: record in the heads what the cells have, and begin a new journal.
   All blocks are checked before. */
enum seen_code store_checkpoint_settle(struct store_writer *w,
                                       struct seen_error *why);

/* Replace the journal by an empty one. */
enum seen_code store_checkpoint_journal(struct store_writer *w,
                                        struct seen_error *why);

/* The file is sealed: drop the journal. The next change begins one. */
void store_checkpoint_sealed(struct store_writer *w);

/*
 * Before the first change: begin a journal unless there is one, and mark the
 * file, so that nobody takes it for complete without its journal. Until then
 * a writer leaves the file alone.
 */
enum seen_code store_checkpoint_begin(struct store_writer *w,
                                      struct seen_error *why);

#endif
