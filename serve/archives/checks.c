/*
 * checks.c - check the cells of files against their checksums.
 *
 * A filter is served from its first second on, while a thread reads all of its
 * cells once. There is one row per path. It is for one version of the file: its
 * device, inode and time of change; another version makes it unchecked again,
 * and what a check has found about a version that was replaced meanwhile is
 * dropped. Files that are offered for download have their digest computed in
 * the same way.
 *
 * A large file that answers meanwhile is read by a thread that gets only the
 * time of CPUs that nobody else wants (SCHED_IDLE): requests come first. Another
 * thread waits for it and keeps what it found, since a thread that may have to
 * wait for long must not hold the lock of the set:
 *
 *     archive_check_run()    files that do not answer until they are checked
 *     check_aside()          the others
 *         read_when_idle()   one of them
 */
#include "inside.h"

#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "../../lib/text/buffer.h"
#include "guard.h"

enum {
    TRIES = 3,
    SMALL = 1 << 23 /* bytes of a file that is read in milliseconds */
};

/*
 * A file that looks broken is checked again before it is called broken: a
 * writer may change the cells while they are read, or the file is replaced.
 */
static enum archive_condition check_file(const char *path,
                                         struct seen_error *why)
{
    static const struct seen_access access = { .unverified = true };
    static const struct timespec moment = { .tv_nsec = 200000000 };

    for (int i = 0;; i++) {
        struct seen_filter *f = NULL;
        enum seen_code code;

        guard_begin();
        code = seen_store_map(&f, path, &access, why);
        if (code == SEEN_OK)
            code = seen_store_verify(f, why);
        seen_filter_free(f);
        if (guard_end())
            code = seen_fail(why, SEEN_CORRUPT, 0, ARCHIVE_CUT_SHORT);
        if (code == SEEN_OK)
            return ARCHIVE_GOOD;
        if (i == TRIES && (code == SEEN_IO || code == SEEN_NOMEM))
            return ARCHIVE_UNCHECKED; /* not the fault of the file */
        if (i == TRIES)
            return ARCHIVE_BAD;
        nanosleep(&moment, NULL);
    }
}

/* A file to be read, and what was found. */
struct archive_reading {
    const char *path;
    bool digests; /* its digest is wanted, not its condition */
    enum archive_condition condition;
    struct seen_error why;
    bool digested;
    unsigned char digest[SEEN_DIGEST];
};

static void read_file(struct archive_reading *r)
{
    if (r->digests)
        r->digested = seen_digest_file(r->path, r->digest, NULL, NULL) ==
                      SEEN_OK;
    else
        r->condition = check_file(r->path, &r->why);
}

/* Where the system does not let it wait, it does not. */
static void *read_when_idle(void *given)
{
    const struct sched_param none = { .sched_priority = 0 };

    sched_setscheduler(0, SCHED_IDLE, &none);
    read_file(given);
    return NULL;
}

static void read_aside(struct archive_reading *r)
{
    pthread_t thread;
    struct stat it;

    if ((!stat(r->path, &it) && it.st_size <= SMALL) ||
        pthread_create(&thread, NULL, read_when_idle, r))
        read_file(r);
    else
        pthread_join(thread, NULL);
}

/* Of the files that are to be checked, one that was tried least often. */
static struct archive_check *next_check(struct archive_set *set, bool urgent)
{
    struct archive_check *best = NULL;

    for (struct archive_check *c = set->checks; c; c = c->next)
        if (c->condition == ARCHIVE_UNCHECKED && c->urgent == urgent &&
            (!best || c->tries < best->tries))
            best = c;
    return best;
}

static bool same_version(const struct archive_check *c, dev_t dev, ino_t ino,
                         struct timespec changed)
{
    return c->dev == dev && c->ino == ino &&
           c->changed.tv_sec == changed.tv_sec &&
           c->changed.tv_nsec == changed.tv_nsec;
}

static bool is_current(const struct archive_check *c)
{
    struct stat now;

    return !stat(c->path, &now) &&
           same_version(c, now.st_dev, now.st_ino, now.st_mtim);
}

/* Check one file, without the lock: rows stay until the set is freed. Results
   for what was replaced meanwhile are dropped. */
static void check(struct archive_set *set, struct archive_check *c,
                  void read(struct archive_reading *r))
{
    const struct archive_check was = *c;
    struct archive_reading r = { .path = was.path };
    bool same;

    pthread_mutex_unlock(&set->lock);
    read(&r);
    pthread_mutex_lock(&set->lock);
    if (c->turn != was.turn || !same_version(c, was.dev, was.ino, was.changed))
        return;
    c->condition = r.condition;
    c->urgent = false;
    c->why = r.why;
    c->tries++;
    if (r.condition != ARCHIVE_UNCHECKED)
        archive_set_changed(set);
    if (r.condition != ARCHIVE_GOOD || !set->digests || set->stop)
        return;
    pthread_mutex_unlock(&set->lock);
    r.digests = true;
    read(&r);
    same = is_current(&was);
    pthread_mutex_lock(&set->lock);
    c->digested = r.digested && same && c->turn == was.turn &&
                  same_version(c, was.dev, was.ino, was.changed);
    if (c->digested)
        memcpy(c->digest, r.digest, sizeof c->digest);
}

/* Check files until the set stops: those that do not answer until they are
   checked, or the others, or both. The lock is held. */
static void check_all(struct archive_set *set, bool urgent, bool others,
                      void read(struct archive_reading *r))
{
    while (!set->stop) {
        struct archive_check *c = urgent ? next_check(set, true) : NULL;

        if (!c && others)
            c = next_check(set, false);
        if (c)
            check(set, c, read);
        else
            pthread_cond_wait(&set->changed, &set->lock);
    }
}

static void *check_aside(void *given)
{
    struct archive_set *set = given;

    pthread_mutex_lock(&set->lock);
    check_all(set, false, true, read_aside);
    pthread_mutex_unlock(&set->lock);
    return NULL;
}

void *archive_check_run(void *given)
{
    struct archive_set *set = given;
    pthread_t other;
    const bool two = !pthread_create(&other, NULL, check_aside, set);

    pthread_mutex_lock(&set->lock);
    check_all(set, true, !two, read_file);
    pthread_mutex_unlock(&set->lock);
    if (two)
        pthread_join(other, NULL);
    pthread_mutex_lock(&set->lock);
    set->checker_ended = true;
    pthread_cond_broadcast(&set->changed);
    pthread_mutex_unlock(&set->lock);
    return NULL;
}

/* The row of a path, for the file that is there now, with the lock held; NULL
   without memory. Another file than before is to be checked. */
static struct archive_check *row_of(struct archive_set *set, const char *path,
                                    const struct stat *file)
{
    struct archive_check *c = set->checks;

    while (c && strcmp(c->path, path))
        c = c->next;
    if (!c) {
        c = calloc(1, sizeof *c);
        if (!c || !(c->path = strdup(path))) {
            free(c);
            return NULL;
        }
        c->next = set->checks;
        set->checks = c;
    }
    if (!same_version(c, file->st_dev, file->st_ino, file->st_mtim)) {
        c->dev = file->st_dev;
        c->ino = file->st_ino;
        c->changed = file->st_mtim;
        c->condition = ARCHIVE_UNCHECKED;
        c->digested = false;
        pthread_cond_broadcast(&set->changed);
    }
    return c;
}

void archive_recheck(struct archive_set *set, const char *path,
                     const struct stat *file)
{
    struct archive_check *c;

    pthread_mutex_lock(&set->lock);
    c = row_of(set, path, file);
    if (c) {
        c->turn++;
        c->urgent = true;
        c->condition = ARCHIVE_UNCHECKED;
        c->digested = false;
        pthread_cond_broadcast(&set->changed);
    }
    pthread_mutex_unlock(&set->lock);
}

enum archive_condition archive_condition(struct archive_set *set,
                                         const char *path,
                                         const struct stat *file,
                                         struct seen_error *why)
{
    enum archive_condition condition = ARCHIVE_UNCHECKED;
    struct archive_check *c;

    pthread_mutex_lock(&set->lock);
    c = row_of(set, path, file);
    if (c)
        condition = c->condition;
    if (condition == ARCHIVE_BAD && why)
        *why = c->why;
    pthread_mutex_unlock(&set->lock);
    return condition;
}

/* Some files are changed in place while they are written to: then there is a
   journal beside them. */
bool archive_digest(struct archive_set *set, const char *path,
                    const struct stat *file, unsigned char digest[SEEN_DIGEST])
{
    struct buffer journal = { .bytes = NULL };
    struct archive_check *c;
    bool known = false;
    char *name;

    buffer_format(&journal, "%s.journal", path);
    name = buffer_take(&journal);
    if (name && access(name, F_OK)) {
        pthread_mutex_lock(&set->lock);
        c = row_of(set, path, file);
        known = c && c->digested;
        if (known)
            memcpy(digest, c->digest, SEEN_DIGEST);
        pthread_mutex_unlock(&set->lock);
    }
    free(name);
    return known;
}
