/*
 * writers.c - filters that are open for writing, one per file for all loops.
 *
 * A loop that uses a writer has a reference. Before a writer is closed,
 * because its file is deleted or was replaced, all loops give theirs back.
 */
#include "inside.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "../../lib/text/random.h"
#include "guard.h"

enum {
    DELETED = 4096,       /* paths that are remembered */
    FILE_NAME = 255 - 16, /* ".journal" and ".new" may follow */
};

static struct archive_writer *find_writer(struct archive_set *set,
                                          const char *path)
{
    struct archive_writer *w = set->writers;

    while (w && strcmp(w->path, path))
        w = w->next;
    return w;
}

struct archive_writer *archive_writer_peek(struct archive_set *set,
                                           const char *path)
{
    struct archive_writer *w;

    pthread_mutex_lock(&set->lock);
    w = find_writer(set, path);
    if (w && w->leaving)
        w = NULL;
    if (w)
        w->refs++;
    pthread_mutex_unlock(&set->lock);
    return w;
}

void archive_writer_put(struct archive_set *set, struct archive_writer *w)
{
    pthread_mutex_lock(&set->lock);
    w->refs--;
    pthread_cond_broadcast(&set->changed);
    pthread_mutex_unlock(&set->lock);
}

struct seen_filter *archive_writer_filter(struct archive_writer *w)
{
    return w->filter;
}

void archive_writer_spoil(struct archive_writer *w)
{
    pthread_mutex_lock(&w->set->lock);
    __atomic_store_n(&w->spoiled, true, __ATOMIC_RELAXED);
    archive_set_changed(w->set);
    pthread_mutex_unlock(&w->set->lock);
}

enum seen_code archive_writer_changed(struct archive_writer *w,
                                      enum seen_code code,
                                      struct seen_error *why)
{
    bool cut = guard_end();

    if (!cut && !archive_writer_spoiled(w) &&
        (code != SEEN_OK || seen_store_current(w->filter)))
        return code;
    archive_writer_spoil(w);
    return seen_fail(why, SEEN_CORRUPT, 0, ARCHIVE_CUT_SHORT);
}

bool archive_writer_spoiled(const struct archive_writer *w)
{
    return __atomic_load_n(&w->spoiled, __ATOMIC_RELAXED);
}

bool archive_writer_leaving(const struct archive_writer *w)
{
    return __atomic_load_n(&w->leaving, __ATOMIC_RELAXED);
}

/* Is `as-of` of today already, as after a restart? */
static bool is_dated(const struct archive_writer *w, time_t now)
{
    const char *value = seen_meta_get(w->filter, "as-of");
    char day[32];
    struct tm utc;

    return value && *value && gmtime_r(&now, &utc) &&
           strftime(day, sizeof day, "%Y-%m-%d", &utc) == 10 &&
           strncmp(value, day, strnlen(value, 10)) >= 0;
}

void archive_writer_date(struct archive_writer *w)
{
    const time_t now = time(NULL);
    const int64_t day = (int64_t)now / 86400;

    if (!w->dated ||
        __atomic_exchange_n(&w->day, day, __ATOMIC_RELAXED) == day ||
        is_dated(w, now))
        return;
    if (seen_store_checkpoint(w->filter, NULL) != SEEN_OK)
        return; /* nothing is lost; the next checkpoint does it */
    pthread_mutex_lock(&w->set->lock);
    archive_set_changed(w->set);
    pthread_mutex_unlock(&w->set->lock);
}

static bool of_profile(const struct archive_writer *w,
                       const struct seen_profile *wanted)
{
    return w->profile.rules == wanted->rules &&
           w->profile.segments == wanted->segments;
}

/* Has `as-of` to follow a change that is made now? */
static bool is_due(const struct archive_writer *w)
{
    const int64_t day = (int64_t)time(NULL) / 86400;

    return w->dated && __atomic_load_n(&w->day, __ATOMIC_RELAXED) != day;
}

bool archive_writer_hold(struct archive_writer *w,
                         const struct seen_profile *profile, size_t n)
{
    if (w->exact || archive_writer_leaving(w) || archive_writer_spoiled(w))
        return false;
    return of_profile(w, profile) && !is_due(w) &&
           seen_store_hold(w->filter, n);
}

void archive_writer_release(struct archive_writer *w)
{
    seen_store_release(w->filter);
}

uint64_t *archive_writer_count(struct archive_writer *w)
{
    if (!w->exact)
        return NULL;
    pthread_mutex_lock(&w->counting);
    return &w->old;
}

void archive_writer_counted(struct archive_writer *w)
{
    pthread_mutex_unlock(&w->counting);
}

static enum seen_code open_writer(struct archive_writer **out,
                                  struct archive_set *set, const char *path,
                                  struct seen_error *why)
{
    struct seen_access access = { .sync = set->sync };
    struct archive_writer *w = calloc(1, sizeof *w);
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
    access.secret = keyed ? archive_set_secret(set) : NULL;
    code = seen_store_open(&w->filter, path, &access, why);
    if (code == SEEN_OK)
        code = seen_filter_allow_threads(w->filter, why);
    if (code == SEEN_OK)
        code = seen_profile_find(&w->profile,
                                 seen_filter_plan(w->filter)->profile, why);
    if (code != SEEN_OK) {
        seen_filter_free(w->filter);
        goto fail;
    }
    w->exact = seen_meta_get(w->filter, ARCHIVE_EXACT);
    w->dated = seen_meta_get(w->filter, "as-of");
    pthread_mutex_init(&w->counting, NULL);
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

static void unlink_writer(struct archive_set *set, struct archive_writer *w)
{
    struct archive_writer **at = &set->writers;

    while (*at != w)
        at = &(*at)->next;
    *at = w->next;
}

enum seen_code archive_writer_close(struct archive_writer *w,
                                    struct seen_error *why)
{
    enum seen_code code;

    if (archive_writer_spoiled(w) || !seen_store_current(w->filter)) {
        seen_store_abandon(w->filter);
        code = seen_fail(why, SEEN_CORRUPT, 0, ARCHIVE_CUT_SHORT);
    } else {
        code = seen_store_close(w->filter, why);
    }
    pthread_mutex_destroy(&w->counting);
    free(w->path);
    free(w);
    return code;
}

/* Wait until there are no references but `own`; false if that takes too long. */
static bool wait_alone(struct archive_set *set, struct archive_writer *w,
                       unsigned own)
{
    const struct timespec end = archive_deadline();

    while (w->refs > own)
        if (pthread_cond_timedwait(&set->changed, &set->lock, &end) ==
            ETIMEDOUT)
            return w->refs <= own;
    return true;
}

/* `opening` is held, or somebody closes a writer, and may wait for us. */
void archive_writer_grow(struct archive_writer *w)
{
    struct archive_set *set = w->set;
    bool alone;

    if (!seen_store_outgrown(w->filter) ||
        pthread_mutex_trylock(&set->opening))
        return;
    pthread_mutex_lock(&set->lock);
    __atomic_store_n(&w->leaving, true, __ATOMIC_RELAXED);
    archive_set_changed(set);
    alone = wait_alone(set, w, 1);
    pthread_mutex_unlock(&set->lock);
    if (alone && !archive_writer_spoiled(w) && seen_store_current(w->filter))
        seen_store_grow(w->filter, NULL, NULL);
    pthread_mutex_lock(&set->lock);
    __atomic_store_n(&w->leaving, false, __ATOMIC_RELAXED);
    archive_set_changed(set);
    pthread_mutex_unlock(&set->lock);
    pthread_mutex_unlock(&set->opening);
}

/* Close the writer of `path`, if there is one. `opening` is held. */
static enum seen_code retire(struct archive_set *set, const char *path,
                             struct seen_error *why)
{
    struct archive_writer *w;
    bool alone = true;

    pthread_mutex_lock(&set->lock);
    w = find_writer(set, path);
    if (w) {
        __atomic_store_n(&w->leaving, true, __ATOMIC_RELAXED);
        archive_set_changed(set);
        alone = wait_alone(set, w, 0);
        if (alone)
            unlink_writer(set, w);
        else
            __atomic_store_n(&w->leaving, false, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&set->lock);
    if (!alone)
        return seen_fail(why, SEEN_BUSY, 0, "is being written to");
    return w ? archive_writer_close(w, why) : SEEN_OK;
}

/* The writer, unless its file was replaced: then it must be opened again. */
static struct archive_writer *peek_good(struct archive_set *set,
                                        const char *path)
{
    struct archive_writer *w = archive_writer_peek(set, path);

    if (!w || !archive_writer_spoiled(w))
        return w;
    archive_writer_put(set, w);
    return NULL;
}

static enum seen_code get_writer(struct archive_writer **out,
                                 struct archive_set *set, const char *path,
                                 struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    struct archive_writer *w;

    *out = peek_good(set, path);
    if (*out)
        return SEEN_OK;
    if (!set->writable)
        return seen_fail(why, SEEN_UNABLE, 0, "the server is read-only");
    pthread_mutex_lock(&set->opening);
    *out = peek_good(set, path); /* another thread may have been first */
    if (!*out)
        code = retire(set, path, why);
    if (!*out && (code == SEEN_OK || code == SEEN_CORRUPT))
        code = open_writer(&w, set, path, why);
    if (!*out && code == SEEN_OK) {
        pthread_mutex_lock(&set->lock);
        w->set = set;
        w->refs = 1;
        w->next = set->writers;
        set->writers = w;
        archive_set_changed(set);
        pthread_mutex_unlock(&set->lock);
        *out = w;
    }
    pthread_mutex_unlock(&set->opening);
    return code;
}

enum seen_code archive_writer_get(struct archive_writer **out,
                                  struct archive_set *set, const char *path,
                                  const struct seen_profile *profile,
                                  struct seen_error *why)
{
    enum seen_code code = get_writer(out, set, path, why);

    if (code != SEEN_OK || of_profile(*out, profile))
        return code;
    archive_writer_put(set, *out);
    *out = NULL;
    return seen_fail(why, SEEN_BUSY, 0, "the archive was replaced; try again");
}

/* What a killed writer left, or the keys of a filter that is no more. */
static void unlink_beside(const char *path, const char *suffix)
{
    char *name = NULL;

    if (asprintf(&name, "%s%s", path, suffix) < 0)
        return;
    unlink(name);
    free(name);
}

static void note_deleted(struct archive_set *set, const char *path)
{
    pthread_mutex_lock(&set->lock);
    if (set->deleted.n < DELETED)
        archive_list_append(&set->deleted, strdup(""), strdup(path), 0);
    pthread_mutex_unlock(&set->lock);
}

enum seen_code archive_delete(struct archive_set *set, const char *path,
                              struct seen_error *why)
{
    enum seen_code code;

    pthread_mutex_lock(&set->opening);
    code = retire(set, path, why);
    if (code == SEEN_OK || code == SEEN_CORRUPT) {
        struct seen_claim *claim;

        code = seen_store_claim(&claim, path, why);
        if (code == SEEN_OK) {
            if (unlink(path))
                code = seen_fail(why, errno == ENOENT ? SEEN_ABSENT : SEEN_IO,
                                 0, "cannot be deleted");
            if (code == SEEN_OK) {
                unlink_beside(path, ".journal");
                unlink_beside(path, ".keys");
                note_deleted(set, path);
            }
            seen_claim_free(claim);
        }
    }
    pthread_mutex_unlock(&set->opening);
    return code;
}

/* --- new ones --- */

static enum seen_code place_for(struct archive_set *set, struct seen_span name,
                                char **path, struct seen_error *why)
{
    const char *fault = archive_name_fault(set, name);

    *path = NULL;
    if (!set->writable)
        return seen_fail(why, SEEN_UNABLE, 0, "the server is read-only");
    if (!set->folders)
        return seen_fail(why, SEEN_UNABLE, 0,
                         "the server has no folder for new filters");
    if (fault)
        return seen_fail(why, SEEN_RANGE, 0, "%s", fault);
    *path = archive_path(set->folder[0], name);
    if (!*path)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a name");
    if (strlen(strrchr(*path, '/') + 1) <= FILE_NAME)
        return SEEN_OK;
    free(*path);
    *path = NULL;
    return seen_fail(why, SEEN_RANGE, 0,
                     "the name is too long for a file: a byte that is not a "
                     "letter or digit takes three");
}

/* A writer whose file was removed still holds its lock. */
static void retire_stale(struct archive_set *set, const char *path)
{
    struct archive_writer *w = archive_writer_peek(set, path);
    bool stale = w && !seen_store_current(w->filter);

    if (stale)
        archive_writer_spoil(w);
    if (w)
        archive_writer_put(set, w);
    if (stale)
        retire(set, path, NULL);
}

/* No filter takes less than log2(1/rate) bits per key. */
static enum seen_code check_room(const struct archive_set *set,
                                 const struct seen_plan *plan,
                                 struct seen_error *why)
{
    double need = (double)plan->capacity * -log2(plan->rate) / 8;
    struct statvfs disk;

    if (!statvfs(set->folder[0], &disk) &&
        need > (double)disk.f_bavail * (double)disk.f_frsize)
        return seen_fail(why, SEEN_RANGE, 0, "the disk has no room for it");
    return SEEN_OK;
}

/* Give the filter the file of a name that nobody has yet. The lock stops our
   own threads, the claim of the store other programs. */
static enum seen_code install(struct archive_set *set, struct seen_span name,
                              const char *path, const struct seen_filter *f,
                              struct seen_error *why)
{
    char *text = strndup(name.text, name.len), *taken = NULL;
    enum seen_code code;

    pthread_mutex_lock(&set->opening);
    if (text)
        taken = archive_find_path(set, text);
    if (!text) {
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for a name");
    } else if (taken) {
        code = seen_fail(why, SEEN_EXISTS, 0, "exists already");
    } else {
        retire_stale(set, path);
        code = seen_store_create(f, path, why);
    }
    pthread_mutex_unlock(&set->opening);
    free(taken);
    free(text);
    return code;
}

enum seen_code archive_create(struct archive_set *set, struct seen_span name,
                              const struct archive_new *made,
                              struct seen_error *why)
{
    struct seen_plan plan = made->plan;
    struct seen_filter *f = NULL;
    char *path, number[16];
    enum seen_code code = place_for(set, name, &path, why);

    if (made->any_seed)
        plan.seed = random_seed();
    if (code == SEEN_OK)
        code = check_room(set, &plan, why);
    if (code == SEEN_OK)
        code = seen_filter_new(&f, &plan, why);
    if (code == SEEN_OK && made->keeps)
        code = seen_store_keep_keys(f, why);
    if (code == SEEN_OK && made->exact)
        code = seen_meta_set(f, ARCHIVE_EXACT, "1", why);
    if (code == SEEN_OK && made->expansion) {
        snprintf(number, sizeof number, "%u", made->expansion);
        code = seen_meta_set(f, ARCHIVE_EXPANSION, number, why);
    }
    if (code == SEEN_OK)
        code = install(set, name, path, f, why);
    seen_filter_free(f);
    free(path);
    return code;
}

/* Its keys did not come along, so it gets parts when it is full. */
static enum seen_code with_parts(struct seen_filter **out,
                                 const struct seen_filter *f,
                                 struct seen_error *why)
{
    char kind[SEEN_KIND_TEXT + 16];

    snprintf(kind, sizeof kind, "growing:2/%s", seen_filter_plan(f)->kind);
    return seen_filter_recast(out, f, kind, why);
}

enum seen_code archive_import(struct archive_set *set, struct seen_span name,
                              const struct seen_filter *f,
                              struct seen_error *why)
{
    struct seen_filter *grows = NULL;
    char *path;
    enum seen_code code = place_for(set, name, &path, why);

    if (code == SEEN_OK && seen_store_keeps(f) && seen_filter_offered(f))
        code = with_parts(&grows, f, why);
    if (code == SEEN_OK)
        code = install(set, name, path, grows ? grows : f, why);
    seen_filter_free(grows);
    free(path);
    return code;
}

enum seen_code archive_checkpoint(struct archive_set *set,
                                  struct seen_error *why)
{
    enum seen_code first = SEEN_OK;
    struct archive_writer *w;

    pthread_mutex_lock(&set->opening); /* none comes or goes meanwhile */
    for (w = set->writers; w; w = w->next) {
        enum seen_code code = SEEN_OK;

        if (archive_writer_spoiled(w) || !seen_store_current(w->filter))
            code = seen_fail(first ? NULL : why, SEEN_CORRUPT, 0,
                             ARCHIVE_CUT_SHORT);
        else
            code = seen_store_checkpoint(w->filter, first ? NULL : why);
        first = first ? first : code;
    }
    pthread_mutex_unlock(&set->opening);
    return first;
}
