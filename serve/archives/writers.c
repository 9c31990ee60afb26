/*
 * writers.c - filters that are open for writing, one a file for all loops.
 *
 * A loop that asks one has a reference. To close it, because it is deleted or
 * its file is no longer what it was, all are asked to give theirs back.
 */
#define _GNU_SOURCE /* asprintf, clock waits */
#include "inside.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "guard.h"

static struct writer *find_writer(struct library *l, const char *path)
{
    struct writer *w = l->writers;

    while (w && strcmp(w->path, path))
        w = w->next;
    return w;
}

struct writer *writer_peek(struct library *l, const char *path)
{
    struct writer *w;

    pthread_mutex_lock(&l->lock);
    w = find_writer(l, path);
    if (w && w->leaving)
        w = NULL;
    if (w)
        w->refs++;
    pthread_mutex_unlock(&l->lock);
    return w;
}

void writer_put(struct library *l, struct writer *w)
{
    pthread_mutex_lock(&l->lock);
    w->refs--;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
}

struct seen_filter *writer_filter(struct writer *w)
{
    return w->filter;
}

void writer_spoil(struct writer *w)
{
    pthread_mutex_lock(&w->library->lock);
    __atomic_store_n(&w->spoiled, true, __ATOMIC_RELAXED);
    library_older(w->library);
    pthread_mutex_unlock(&w->library->lock);
}

enum seen_code writer_changed(struct writer *w, enum seen_code code,
                              struct seen_error *why)
{
    bool cut = guard_end();

    if (!cut && !writer_spoiled(w) &&
        (code != SEEN_OK || seen_store_current(w->filter)))
        return code;
    writer_spoil(w);
    return seen_fail(why, SEEN_CORRUPT, 0, CUT_SHORT);
}

bool writer_spoiled(const struct writer *w)
{
    return __atomic_load_n(&w->spoiled, __ATOMIC_RELAXED);
}

bool writer_leaving(const struct writer *w)
{
    return __atomic_load_n(&w->leaving, __ATOMIC_RELAXED);
}

static enum seen_code open_writer(struct writer **out, struct library *l,
                                  const char *path, struct seen_error *why)
{
    struct seen_access how = { .sync = l->sync };
    struct writer *w = calloc(1, sizeof *w);
    struct seen_filter *f = NULL;
    enum seen_code code = SEEN_NOMEM;
    bool keyed = false;

    if (!w || !(w->path = strdup(path)))
        goto fail;
    code = seen_store_map(&f, path,
                          &(struct seen_access){ .unverified = true }, why);
    if (code != SEEN_OK)
        goto fail;
    keyed = seen_filter_plan(f)->keyed;
    seen_filter_free(f);
    how.secret = keyed ? library_secret(l) : NULL;
    code = seen_store_open(&w->filter, path, &how, why);
    if (code == SEEN_OK)
        code = seen_filter_share(w->filter, why);
    if (code != SEEN_OK) {
        seen_filter_free(w->filter);
        goto fail;
    }
    *out = w;
    return SEEN_OK;
fail:
    if (code == SEEN_NOMEM)
        seen_fail(why, SEEN_NOMEM, 0, "no memory for a writer");
    if (w)
        free(w->path);
    free(w);
    return code;
}

static void unlink_writer(struct library *l, struct writer *w)
{
    struct writer **at = &l->writers;

    while (*at != w)
        at = &(*at)->next;
    *at = w->next;
}

enum seen_code writer_close(struct writer *w, struct seen_error *why)
{
    enum seen_code code;

    if (writer_spoiled(w) || !seen_store_current(w->filter)) {
        seen_store_abandon(w->filter);
        code = seen_fail(why, SEEN_CORRUPT, 0, CUT_SHORT);
    } else {
        code = seen_store_close(w->filter, why);
    }
    free(w->path);
    free(w);
    return code;
}

/* Wait until nobody has the writer any more; false if that takes too long. */
static bool wait_alone(struct library *l, struct writer *w)
{
    struct timespec end;

    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += LEAVE_SECONDS;
    while (w->refs)
        if (pthread_cond_timedwait(&l->changed, &l->lock, &end) == ETIMEDOUT)
            return !w->refs;
    return true;
}

/* Close the writer of `path`, if there is one. `opening` is held. */
static enum seen_code retire(struct library *l, const char *path,
                             struct seen_error *why)
{
    struct writer *w;
    bool alone = true;

    pthread_mutex_lock(&l->lock);
    w = find_writer(l, path);
    if (w) {
        __atomic_store_n(&w->leaving, true, __ATOMIC_RELAXED);
        library_older(l);
        alone = wait_alone(l, w);
        if (alone)
            unlink_writer(l, w);
        else
            __atomic_store_n(&w->leaving, false, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&l->lock);
    if (!alone)
        return seen_fail(why, SEEN_BUSY, 0, "is being written to");
    return w ? writer_close(w, why) : SEEN_OK;
}

/* A writer whose file is what it was; others are to be opened anew. */
static struct writer *peek_good(struct library *l, const char *path)
{
    struct writer *w = writer_peek(l, path);

    if (!w || !writer_spoiled(w))
        return w;
    writer_put(l, w);
    return NULL;
}

static bool of_profile(struct writer *w, const struct seen_profile *wanted)
{
    struct seen_profile its;

    return seen_profile_find(&its, seen_filter_plan(w->filter)->profile,
                             NULL) == SEEN_OK &&
           its.rules == wanted->rules && its.segments == wanted->segments;
}

static enum seen_code get_writer(struct writer **out, struct library *l,
                                 const char *path, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    struct writer *w;

    *out = peek_good(l, path);
    if (*out)
        return SEEN_OK;
    if (!l->writable)
        return seen_fail(why, SEEN_UNABLE, 0, "the server is read-only");
    pthread_mutex_lock(&l->opening);
    *out = peek_good(l, path); /* another thread may have been first */
    if (!*out)
        code = retire(l, path, why);
    if (!*out && (code == SEEN_OK || code == SEEN_CORRUPT))
        code = open_writer(&w, l, path, why);
    if (!*out && code == SEEN_OK) {
        pthread_mutex_lock(&l->lock);
        w->library = l;
        w->refs = 1;
        w->next = l->writers;
        l->writers = w;
        library_older(l);
        pthread_mutex_unlock(&l->lock);
        *out = w;
    }
    pthread_mutex_unlock(&l->opening);
    return code;
}

enum seen_code writer_get(struct writer **out, struct library *l,
                          const char *path, const struct seen_profile *profile,
                          struct seen_error *why)
{
    enum seen_code code = get_writer(out, l, path, why);

    if (code != SEEN_OK || of_profile(*out, profile))
        return code;
    writer_put(l, *out);
    *out = NULL;
    return seen_fail(why, SEEN_BUSY, 0, "the archive was replaced; try again");
}

static void unlink_journal(const char *path)
{
    char *journal = NULL;

    if (asprintf(&journal, "%s.journal", path) < 0)
        return;
    unlink(journal);
    free(journal);
}

enum seen_code library_delete(struct library *l, const char *path,
                              struct seen_error *why)
{
    enum seen_code code;

    pthread_mutex_lock(&l->opening);
    code = retire(l, path, why);
    if (code == SEEN_OK || code == SEEN_CORRUPT) {
        struct seen_claim *claim;

        code = seen_store_claim(&claim, path, why);
        if (code == SEEN_OK) {
            if (unlink(path))
                code = seen_fail(why, SEEN_IO, 0, "cannot be deleted");
            else
                unlink_journal(path); /* that a killed writer left */
            seen_claim_free(claim);
        }
    }
    pthread_mutex_unlock(&l->opening);
    return code;
}

/* --- new ones --- */

static enum seen_code place_for(struct library *l, struct span name,
                                char **path, struct seen_error *why)
{
    const char *fault = library_name_fault(name);

    *path = NULL;
    if (!l->writable)
        return seen_fail(why, SEEN_UNABLE, 0, "the server is read-only");
    if (!l->folders)
        return seen_fail(why, SEEN_UNABLE, 0,
                         "the server has no folder for new filters");
    if (fault)
        return seen_fail(why, SEEN_RANGE, 0, "%s", fault);
    *path = holding_path(l->folder[0], name);
    return *path ? SEEN_OK
                 : seen_fail(why, SEEN_NOMEM, 0, "no memory for a name");
}

/* A writer whose file someone removed has its lock still. */
static void retire_stale(struct library *l, const char *path)
{
    struct writer *w = writer_peek(l, path);
    bool stale = w && !seen_store_current(w->filter);

    if (stale)
        writer_spoil(w);
    if (w)
        writer_put(l, w);
    if (stale)
        retire(l, path, NULL);
}

enum seen_code library_create(struct library *l, struct span name,
                              const struct seen_plan *plan,
                              struct seen_error *why)
{
    struct seen_filter *f = NULL;
    char *path;
    enum seen_code code = place_for(l, name, &path, why);

    if (code == SEEN_OK)
        code = seen_filter_new(&f, plan, why);
    if (code == SEEN_OK) {
        pthread_mutex_lock(&l->opening);
        retire_stale(l, path);
        code = seen_store_create(f, path, why);
        if (code == SEEN_IO && errno == EEXIST)
            code = seen_fail(why, SEEN_MISMATCH, 0, "there is one already");
        pthread_mutex_unlock(&l->opening);
    }
    seen_filter_free(f);
    free(path);
    return code;
}

enum seen_code library_import(struct library *l, struct span name,
                              const struct seen_filter *f,
                              struct seen_error *why)
{
    char *path;
    enum seen_code code = place_for(l, name, &path, why);

    if (code == SEEN_OK) {
        pthread_mutex_lock(&l->opening);
        code = retire(l, path, why);
        if (code == SEEN_OK || code == SEEN_CORRUPT)
            code = seen_store_save(f, path, why);
        pthread_mutex_unlock(&l->opening);
    }
    free(path);
    return code;
}

enum seen_code library_checkpoint(struct library *l, struct seen_error *why)
{
    enum seen_code first = SEEN_OK;
    struct writer *w;

    pthread_mutex_lock(&l->opening); /* none comes or goes meanwhile */
    for (w = l->writers; w; w = w->next) {
        enum seen_code code = SEEN_OK;

        if (writer_spoiled(w) || !seen_store_current(w->filter))
            code = seen_fail(first ? NULL : why, SEEN_CORRUPT, 0, CUT_SHORT);
        else
            code = seen_store_checkpoint(w->filter, first ? NULL : why);
        first = first ? first : code;
    }
    pthread_mutex_unlock(&l->opening);
    return first;
}
