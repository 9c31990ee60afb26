/*
 * writer.h - a filter open for writing, as its three files see it.
 *
 *     writer.c       from a file to a writer, and back
 *     writer_add.c   journal first, cells after it
 *     checkpoint.c   bring the file up to date
 */
#ifndef SEEN_STORE_WRITER_H
#define SEEN_STORE_WRITER_H

#include <pthread.h>

#include <seen/store.h>

#include "../filter/storage.h"
#include "cells.h"
#include "journal.h"

struct store_writer {
    struct seen_storage storage;  /* first: a filter's storage is a writer's */
    struct seen_filter *f;
    struct store_paths paths;
    int lock, fd;
    struct store_head head;           /* as it is in the file, */
    char *text;                 /* and the text as well */
    bool in_place;
    bool sealable;              /* the table is that of the cells */
    struct store_mapping map;
    enum seen_sync sync;

    pthread_mutex_t mutex;      /* for what follows */
    pthread_cond_t idle;        /* no thread is adding, or none is excluded */
    unsigned adding;            /* threads between _before and _after */
    bool exclusive;             /* no other thread may begin to add */
    int failed;                 /* errno of the flush that failed for good */
    struct journal journal;
    uint64_t most;              /* bytes of journal before a checkpoint */

    pthread_mutex_t flushing;   /* taken before `mutex` */
    pthread_t ticker;
    pthread_cond_t tick;
    bool ticking, stop;
};

/* What the filter's door calls: see storage.h. */
enum seen_code store_writer_before(struct seen_storage *s, bool remove,
                                   const struct seen_key *key, size_t n,
                                   uint64_t *first, struct seen_error *why);
void store_writer_after(struct seen_storage *s, uint64_t first, size_t n,
                        size_t done);

/* For SEEN_SYNC_EVERYSEC: flush the journal once a second, in a thread. */
enum seen_code store_writer_tick(struct store_writer *w,
                                 struct seen_error *why);
void store_writer_stop(struct store_writer *w);

/* Keep everyone else out, once those who are inside have left. */
void store_writer_exclude(struct store_writer *w);
void store_writer_admit(struct store_writer *w);

/* How long the journal may get: w->most. */
void store_writer_limit(struct store_writer *w);

/* An earlier flush failed: nothing is written any more. */
enum seen_code store_writer_refuse(struct store_writer *w,
                                   struct seen_error *why);

/*
 * For who has barred the others: bring the file up to date, and begin the
 * journal anew, or, when closing, seal the file and need it no more. On
 * failure file and journal are as good as they were.
 */
enum seen_code store_checkpoint(struct store_writer *w, bool closing,
                                struct seen_error *why);

/* Replace the journal by an empty one that follows the file. */
enum seen_code store_checkpoint_journal(struct store_writer *w,
                                        struct seen_error *why);

/* Have the file say that it is being changed, if that is done in place. */
enum seen_code store_checkpoint_begin(struct store_writer *w,
                                      struct seen_error *why);

#endif
