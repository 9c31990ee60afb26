/* checks.c - whether the cells of files are what their checksums say. */
#define _GNU_SOURCE
#include "inside.h"

#include <stdlib.h>
#include <time.h>

#include "guard.h"

enum { TRIES = 3 };

/*
 * A writer that comes while the cells are read changes them, and a file that
 * is replaced is another one: what looks broken is looked at again before it
 * is called so.
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
            return ARCHIVE_UNCHECKED; /* that says nothing of the file */
        if (i == TRIES)
            return ARCHIVE_BAD;
        nanosleep(&moment, NULL);
    }
}

/* Of those that are to be looked at, one that was tried least often. */
static struct archive_check *next_pending(struct archive_set *set)
{
    struct archive_check *best = NULL;

    for (struct archive_check *v = set->checks; v; v = v->next)
        if (v->condition == ARCHIVE_UNCHECKED &&
            (!best || v->tries < best->tries))
            best = v;
    return best;
}

static bool same_version(const struct archive_check *a,
                         const struct archive_check *b)
{
    return a->dev == b->dev && a->ino == b->ino &&
           a->changed.tv_sec == b->changed.tv_sec &&
           a->changed.tv_nsec == b->changed.tv_nsec;
}

void *archive_check_run(void *given)
{
    struct archive_set *set = given;

    pthread_mutex_lock(&set->lock);
    while (!set->stop) {
        struct archive_check *v = next_pending(set), seen;
        enum archive_condition found;
        struct seen_error why;
        char *path;

        if (!v) {
            pthread_cond_wait(&set->changed, &set->lock);
            continue;
        }
        path = v->path; /* rows stay until the set is freed */
        seen = *v;
        pthread_mutex_unlock(&set->lock);
        found = check_file(path, &why);
        pthread_mutex_lock(&set->lock);
        if (!same_version(v, &seen))
            continue; /* it was another file that was looked at */
        v->condition = found;
        v->why = why;
        v->tries++;
        if (found != ARCHIVE_UNCHECKED)
            archive_set_changed(set);
    }
    pthread_mutex_unlock(&set->lock);
    return NULL;
}

/* A row for each path: what is known of a file that was replaced is of no
   use any more. */
enum archive_condition archive_condition(struct archive_set *set,
                                         const char *path,
                                         const struct stat *file,
                                         struct seen_error *why)
{
    struct archive_check *v;
    enum archive_condition condition = ARCHIVE_UNCHECKED;

    pthread_mutex_lock(&set->lock);
    for (v = set->checks; v && strcmp(v->path, path); v = v->next)
        ;
    if (!v && (v = calloc(1, sizeof *v)) && !(v->path = strdup(path))) {
        free(v);
        v = NULL;
    } else if (v && !v->dev) {
        v->next = set->checks;
        set->checks = v;
    }
    if (v && (v->dev != file->st_dev || v->ino != file->st_ino ||
              v->changed.tv_sec != file->st_mtim.tv_sec ||
              v->changed.tv_nsec != file->st_mtim.tv_nsec)) {
        v->dev = file->st_dev;
        v->ino = file->st_ino;
        v->changed = file->st_mtim;
        v->condition = ARCHIVE_UNCHECKED;
        pthread_cond_broadcast(&set->changed);
    }
    if (v) {
        condition = v->condition;
        if (condition == ARCHIVE_BAD && why)
            *why = v->why;
    }
    pthread_mutex_unlock(&set->lock);
    return condition;
}
