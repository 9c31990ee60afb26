/*
 * inside.h - struct archive_set, for the files that implement it.
 *
 *     names.c      which names stand for which files
 *     checks.c     whether the cells of the files are good
 *     writers.c    open writers, new and deleted archives
 *     remote.c     archives whose cells are on another server
 *     set.c        beginning and end
 */
#ifndef SEEN_SERVE_ARCHIVES_INSIDE_H
#define SEEN_SERVE_ARCHIVES_INSIDE_H

#include <pthread.h>
#include <time.h>

#include "set.h"

struct archive_writer {
    struct archive_writer *next;
    char *path;
    struct seen_filter *filter;
    struct archive_set *set;
    struct seen_profile profile;
    unsigned refs; /* besides the list's own */
    bool leaving, spoiled;
    bool exact;
    bool dated;   /* it has the metadata `as-of`, */
    int64_t day;  /* which was brought up to date on this day, from 1970 */
    pthread_mutex_t counting; /* of the next */
    uint64_t old;             /* offered, but not new */
};

/* What is known of the file at a path, in the version that these say. */
struct archive_check {
    struct archive_check *next;
    char *path;
    dev_t dev;
    ino_t ino;
    struct timespec changed;
    unsigned turn; /* of being checked; increased to drop results */
    enum archive_condition condition;
    unsigned tries;
    bool urgent; /* it does not answer until it is checked */
    struct seen_error why;
    bool digested;
    unsigned char digest[SEEN_DIGEST];
};

/* archives.json of a folder: its text when it was last right, NULL if there was
   no file, and what is wrong since. */
struct archive_said {
    char *text;
    size_t len;
    struct seen_error mistake;
};

struct archive_set {
    char **folder;
    size_t folders;
    struct archive_list named; /* by operands */
    unsigned char secret[SEEN_SECRET];
    bool keyed, writable, digests;
    enum seen_sync sync;
    uint64_t cost;
    bool (*reserved)(struct seen_span name);
    void (*report)(const char *path, const char *why);
    void (*tell)(const char *name, const char *path, enum archive_news news,
                 const char *why);
    void (*warn)(const char *address, const char *text);
    struct archive_remote *remotes; /* do not change once it is open */
    void (*mistaken)(const char *folder, const char *why);

    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t changed; /* its clock is the monotonic one */
    struct archive_writer *writers;
    struct archive_check *checks;
    pthread_t checker;
    bool stop, checker_ended;
    struct archive_list deleted; /* by clients: archive_set_take_deleted() */
    unsigned version, rereads;
    void (*wake)(void *);
    void *to;

    pthread_mutex_t opening; /* one writer is opened or deleted at a time */

    pthread_mutex_t reading; /* one archives.json at a time */
    struct archive_said *said; /* of each folder */
};

enum { ARCHIVE_LEAVE_SECONDS = 5 }; /* to wait for others, at most */

/* When that time ends, for waiting on set->changed. */
struct timespec archive_deadline(void);

/*
 * Begin to use the filter at an address, and add it to the set. A server that
 * cannot be reached is not a failure: the archive is away, *why says so, and
 * *away is true.
 */
enum seen_code archive_remote_open(struct archive_set *set,
                                   const char *address, bool *away,
                                   struct seen_error *why);
/* Ask the thread to end; and wait until it has. False if it still waits for its
   server at that time: then nothing is freed. */
void archive_remote_stop(struct archive_remote *r);
bool archive_remote_close(struct archive_remote *r,
                          const struct timespec *end);
struct archive_remote *archive_remote_next(const struct archive_remote *r);

/* Why an open file can no longer be used. */
#define ARCHIVE_CUT_SHORT \
    "the file was replaced or cut short while it was in use"

/* Something changed that loops should see. The lock is held. */
void archive_set_changed(struct archive_set *set);

/* Append a name and a path, which then belong to the list. False without
   memory: both are freed. */
bool archive_list_append(struct archive_list *list, char *name, char *path,
                         size_t folder);

/* The path in a folder for any name, allocated; or NULL. */
char *archive_path(const char *folder, struct seen_span name);

/* Report each file of a folder that is not served. */
void archive_report(const struct archive_set *set,
                    void (*report)(const char *path, const char *why));

/* The thread that checks files, until set->stop. */
void *archive_check_run(void *set);

/*
 * Close a writer that has no references and is in no list, and free it. Adds
 * to a file that is no longer there are lost, and reported.
 */
enum seen_code archive_writer_close(struct archive_writer *w,
                                    struct seen_error *why);

#endif
