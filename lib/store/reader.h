/*
 * reader.h - what a reader remembers of its file.
 */
#ifndef SEEN_STORE_READER_H
#define SEEN_STORE_READER_H

#include "../filter/keeper.h"
#include "journal.h"
#include "place.h"
#include "read.h"

struct reader {
    struct seen_keeper keeper;  /* first: a filter's keeper is a reader's */
    char *path;                 /* as it was given: a link may be moved */
    struct place place;
    bool mapped;                /* or else copied */
    bool unverified;
    bool changed;               /* the copy, by its owner */
    struct mapping map;
    int fd;
    unsigned char head[HEAD];   /* as it was when the cells were read */
    struct journal journal;     /* as far as it was applied */
    uint64_t counted;           /* the change at which cells were counted, */
    bool uncounted;             /* or never since the file was read */
};

/* Read the file at r->path and its journal. `r` is as calloc() gives it, but
   for path and mapped, and on failure to be freed all the same. */
enum seen_code reader_have(struct reader *r, struct seen_filter **out,
                           const struct seen_access *how,
                           struct seen_error *why);

/* Apply what the journal has beyond what was applied. */
enum seen_code reader_catch_up(struct reader *r, struct seen_filter *f,
                               struct seen_error *why);

/* The reader of f, or NULL if it has none. */
struct reader *reader_of(const struct seen_filter *f);

void reader_free(struct reader *r);

#endif
