/* checks.c - whether the cells of files are what their checksums say. */
#define _GNU_SOURCE /* asprintf, clock waits */
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
static enum verdict check_file(const char *path, struct seen_error *why)
{
    static const struct seen_access how = { .unverified = true };
    static const struct timespec moment = { .tv_nsec = 200000000 };

    for (int i = 0;; i++) {
        struct seen_filter *f = NULL;
        enum seen_code code;

        guard_begin();
        code = seen_store_map(&f, path, &how, why);
        if (code == SEEN_OK)
            code = seen_store_verify(f, why);
        seen_filter_free(f);
        if (guard_end())
            code = seen_fail(why, SEEN_CORRUPT, 0, CUT_SHORT);
        if (code == SEEN_OK)
            return VERDICT_GOOD;
        if (i == TRIES && (code == SEEN_IO || code == SEEN_NOMEM))
            return VERDICT_PENDING; /* that says nothing of the file */
        if (i == TRIES)
            return VERDICT_BAD;
        nanosleep(&moment, NULL);
    }
}

/* Of those that are to be looked at, one that was tried least often. */
static struct verdict_of *next_pending(struct library *l)
{
    struct verdict_of *best = NULL;

    for (struct verdict_of *v = l->verdicts; v; v = v->next)
        if (v->verdict == VERDICT_PENDING && (!best || v->tries < best->tries))
            best = v;
    return best;
}

static bool same_version(const struct verdict_of *a,
                         const struct verdict_of *b)
{
    return a->dev == b->dev && a->ino == b->ino &&
           a->changed.tv_sec == b->changed.tv_sec &&
           a->changed.tv_nsec == b->changed.tv_nsec;
}

void *verdict_run(void *given)
{
    struct library *l = given;

    pthread_mutex_lock(&l->lock);
    while (!l->stop) {
        struct verdict_of *v = next_pending(l), seen;
        enum verdict found;
        struct seen_error why;
        char *path;

        if (!v) {
            pthread_cond_wait(&l->changed, &l->lock);
            continue;
        }
        path = v->path; /* rows stay until the library is freed */
        seen = *v;
        pthread_mutex_unlock(&l->lock);
        found = check_file(path, &why);
        pthread_mutex_lock(&l->lock);
        if (!same_version(v, &seen))
            continue; /* it was another file that was looked at */
        v->verdict = found;
        v->why = why;
        v->tries++;
        if (found != VERDICT_PENDING)
            library_older(l);
    }
    pthread_mutex_unlock(&l->lock);
    return NULL;
}

/* A row for each path: what is known of a file that was replaced is of no
   use any more. */
enum verdict library_verdict(struct library *l, const char *path,
                             const struct stat *it, struct seen_error *why)
{
    struct verdict_of *v;
    enum verdict verdict = VERDICT_PENDING;

    pthread_mutex_lock(&l->lock);
    for (v = l->verdicts; v && strcmp(v->path, path); v = v->next)
        ;
    if (!v && (v = calloc(1, sizeof *v)) && !(v->path = strdup(path))) {
        free(v);
        v = NULL;
    } else if (v && !v->dev) {
        v->next = l->verdicts;
        l->verdicts = v;
    }
    if (v && (v->dev != it->st_dev || v->ino != it->st_ino ||
              v->changed.tv_sec != it->st_mtim.tv_sec ||
              v->changed.tv_nsec != it->st_mtim.tv_nsec)) {
        v->dev = it->st_dev;
        v->ino = it->st_ino;
        v->changed = it->st_mtim;
        v->verdict = VERDICT_PENDING;
        pthread_cond_broadcast(&l->changed);
    }
    if (v) {
        verdict = v->verdict;
        if (verdict == VERDICT_BAD && why)
            *why = v->why;
    }
    pthread_mutex_unlock(&l->lock);
    return verdict;
}
