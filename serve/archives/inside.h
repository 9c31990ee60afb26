/*
 * inside.h - the library, as the files that keep it share it.
 *
 *     holdings.c    which names stand for which files
 *     verdicts.c    whether their cells are good
 *     writers.c     who writes to them, and new ones
 *     library.c     beginning and end
 */
#ifndef SEEN_SERVE_ARCHIVES_INSIDE_H
#define SEEN_SERVE_ARCHIVES_INSIDE_H

#include <pthread.h>

#include "set.h"

struct writer {
    struct writer *next;
    char *path;
    struct seen_filter *filter;
    struct library *library;
    unsigned refs; /* besides the list's own */
    bool leaving, spoiled;
};

struct verdict_of {
    struct verdict_of *next;
    char *path;
    dev_t dev;
    ino_t ino;
    struct timespec changed;
    enum verdict verdict;
    unsigned tries;
    struct seen_error why;
};

struct library {
    char **folder;
    size_t folders;
    struct holding *named;
    size_t names;
    unsigned char secret[SEEN_SECRET];
    bool keyed, writable;
    enum seen_sync sync;

    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t changed;
    struct writer *writers;
    struct verdict_of *verdicts;
    pthread_t checker;
    bool stop;
    unsigned age;
    void (*wake)(void *);
    void *to;

    pthread_mutex_t opening; /* one writer is opened or deleted at a time */
};

enum { LEAVE_SECONDS = 5 }; /* to wait for others, at most */

/* Why a file that is open can be used no more. */
#define CUT_SHORT "the file was replaced or cut short while it was in use"

/* Something changed that loops should see. The lock is held. */
void library_older(struct library *l);

/* Append a name and a path, which then belong to the list; of folder number
   `from`, or named (0). False without memory: both are freed. */
bool holding_append(struct holding **h, size_t *n, char *name, char *path,
                    size_t from);
bool holding_named(const struct holding *h, size_t n, const char *name);

/* A path in the folder for any name, allocated; or NULL. */
char *holding_path(const char *folder, struct span name);

/* The thread that looks at cells, until l->stop. */
void *verdict_run(void *library);

/* Close one that nobody has any more and that is in no list; it is freed.
   What was added to a file that is no longer there is lost, and told. */
enum seen_code writer_close(struct writer *w, struct seen_error *why);

#endif
