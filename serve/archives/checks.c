/*
 * checks.c - check the cells of files against their checksums.
 *
 * A filter is served from its first second on, while a thread reads all of its
 * cells once. There is one row per path. It is for one version of the file: its
 * device, inode and time of change; another version makes it unchecked again,
 * and what a check has found about a version that was replaced meanwhile is
 * dropped. Files that are offered for download have their digest computed by
 * the same thread.
 */
#include "inside.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "../../lib/text/buffer.h"
#include "guard.h"

enum { TRIES = 3 };

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

/* Of the files that are to be checked, one that was tried least often. */
static struct archive_check *next_check(struct archive_set *set)
{
    struct archive_check *best = NULL;

    for (struct archive_check *c = set->checks; c; c = c->next)
        if (c->condition == ARCHIVE_UNCHECKED &&
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
static void check(struct archive_set *set, struct archive_check *c)
{
    const struct archive_check was = *c;
    enum archive_condition found;
    struct seen_error why;
    bool digested;

    pthread_mutex_unlock(&set->lock);
    found = check_file(was.path, &why);
    pthread_mutex_lock(&set->lock);
    if (c->turn != was.turn || !same_version(c, was.dev, was.ino, was.changed))
        return;
    c->condition = found;
    c->why = why;
    c->tries++;
    if (found != ARCHIVE_UNCHECKED)
        archive_set_changed(set);
    if (found != ARCHIVE_GOOD || !set->digests || set->stop)
        return;
    pthread_mutex_unlock(&set->lock);
    digested = seen_digest_file(was.path, c->digest, NULL, NULL) == SEEN_OK &&
               is_current(&was);
    pthread_mutex_lock(&set->lock);
    c->digested = digested && c->turn == was.turn &&
                  same_version(c, was.dev, was.ino, was.changed);
}

void *archive_check_run(void *given)
{
    struct archive_set *set = given;

    pthread_mutex_lock(&set->lock);
    while (!set->stop) {
        struct archive_check *c = next_check(set);

        if (c)
            check(set, c);
        else
            pthread_cond_wait(&set->changed, &set->lock);
    }
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
