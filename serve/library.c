/* library.c - names, writers and verdicts, one for all loops. */
#define _GNU_SOURCE /* asprintf, clock waits */
#include "library.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "guard.h"

enum { LONGEST_NAME = 200, TRIES = 3, LEAVE_SECONDS = 5 };

struct writer {
    struct writer *next;
    char *path;
    struct seen_filter *filter;
    struct library *library;
    unsigned refs; /* besides the list's own */
    bool leaving, spoiled;
};

static const char cut_short[] =
    "the file was replaced or cut short while it was in use";

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
    bool checking, stop;
    unsigned age;
    void (*wake)(void *);
    void *to;

    pthread_mutex_t opening; /* one writer is opened or deleted at a time */
};

/* --- names --- */

const char *library_name_fault(struct span name)
{
    static const char *const ours[] = {
        "agg",     "timemap",  "timegate",    "prefix",      "archives",
        "info",    "files",    "metrics",     "healthz",     "add",
        "page.js", "page.css", "sitemap.xml", ".well-known", "robots.txt",
    };

    if (!name.len)
        return "an archive needs a name";
    if (name.len > LONGEST_NAME)
        return "the name is too long";
    if (name.text[0] == '.')
        return "a name cannot begin with a point";
    for (size_t i = 0; i < name.len; i++)
        if ((unsigned char)name.text[i] < 0x21 || name.text[i] == 0x7f)
            return "a name cannot have spaces or control bytes";
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
        if (span_is(name, ours[i]))
            return "the name is that of a path of the server";
    return NULL;
}

static bool plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

/* A file name for any name: what a shell might mind is %41. */
static char *file_of(const char *folder, struct span name)
{
    char *path = malloc(strlen(folder) + 3 * name.len + sizeof "/.seen");
    char *at = path;

    if (!path)
        return NULL;
    at += sprintf(at, "%s/", folder);
    for (size_t i = 0; i < name.len; i++)
        at += plain(name.text[i])
                  ? sprintf(at, "%c", name.text[i])
                  : sprintf(at, "%%%02X", (unsigned char)name.text[i]);
    strcpy(at, ".seen");
    return path;
}

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
}

/* The name of an archive whose file is called `file`, or NULL. */
static char *name_of(const char *file)
{
    size_t len = strlen(file), n = 0;
    struct span name;
    char *out;

    if (len <= 5 || strcmp(file + len - 5, ".seen") || file[0] == '.')
        return NULL;
    out = malloc(len);
    if (!out)
        return NULL;
    for (size_t i = 0; i < len - 5; i++) {
        int high = file[i] == '%' ? hex(file[i + 1]) : -1;
        int low = high >= 0 ? hex(file[i + 2]) : -1;

        out[n] = file[i];
        if (low >= 0) {
            out[n] = (char)(high * 16 + low);
            i += 2;
        }
        n++;
    }
    out[n] = '\0';
    name = (struct span){ out, n };
    if (strlen(out) != n || library_name_fault(name)) {
        free(out);
        return NULL;
    }
    return out;
}

/* Of one name, the one that was given first comes first. */
static int by_name(const void *a, const void *b)
{
    const struct holding *x = a, *y = b;
    int order = strcmp(x->name, y->name);

    if (!order)
        order = (x->from > y->from) - (x->from < y->from);
    return order ? order : strcmp(x->path, y->path);
}

void holdings_free(struct holding *h, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(h[i].name);
        free(h[i].path);
    }
    free(h);
}

static bool append(struct holding **h, size_t *n, char *name, char *path,
                   size_t from)
{
    struct holding *more = NULL;

    if (name && path && !(*n & (*n - 1)))
        more = realloc(*h, (*n ? 2 * *n : 1) * sizeof **h);
    else if (name && path)
        more = *h;
    if (!more) {
        free(name);
        free(path);
        return false;
    }
    *h = more;
    more[(*n)++] = (struct holding){ name, path, from > 0, from };
    return true;
}

static bool has_name(const struct holding *h, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(h[i].name, name))
            return true;
    return false;
}

static enum seen_code list_folder(const char *folder, size_t number,
                                  struct holding **h, size_t *n,
                                  struct seen_error *why)
{
    struct dirent *e;
    DIR *dir = opendir(folder);

    if (!dir)
        return seen_fail(why, SEEN_IO, 0, "cannot be read");
    while ((e = readdir(dir))) {
        char *name = name_of(e->d_name), *path = NULL;

        if (!name)
            continue;
        if (asprintf(&path, "%s/%s", folder, e->d_name) < 0)
            path = NULL;
        if (!append(h, n, name, path, number)) {
            closedir(dir);
            return seen_fail(why, SEEN_NOMEM, 0, "no memory for its list");
        }
    }
    closedir(dir);
    return SEEN_OK;
}

static void drop_doubles(struct holding *h, size_t *n)
{
    size_t kept = 1;

    for (size_t i = 1; i < *n; i++)
        if (strcmp(h[i].name, h[kept - 1].name)) {
            h[kept++] = h[i];
        } else {
            free(h[i].name);
            free(h[i].path);
        }
    *n = kept;
}

enum seen_code library_list(struct library *l, struct holding **out, size_t *n,
                            struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    *out = NULL;
    *n = 0;
    for (size_t i = 0; i < l->names && code == SEEN_OK; i++)
        if (!append(out, n, strdup(l->named[i].name), strdup(l->named[i].path),
                    false))
            code = seen_fail(why, SEEN_NOMEM, 0, "no memory for a list");
    for (size_t i = 0; i < l->folders && code == SEEN_OK; i++)
        code = list_folder(l->folder[i], i + 1, out, n, why);
    if (code != SEEN_OK) {
        holdings_free(*out, *n);
        *out = NULL;
        *n = 0;
        return code;
    }
    if (*n) {
        qsort(*out, *n, sizeof **out, by_name);
        drop_doubles(*out, n);
    }
    return SEEN_OK;
}

const char *library_folder(const struct library *l, size_t i)
{
    return i < l->folders ? l->folder[i] : NULL;
}

/* --- making it --- */

static enum seen_code take_operand(struct library *l, const char *operand,
                                   struct seen_error *why)
{
    const char *equals = strchr(operand, '=');
    struct seen_filter *f = NULL;
    struct stat it;
    const char *fault;
    enum seen_code code;
    struct span name;

    if (!stat(operand, &it) && S_ISDIR(it.st_mode)) {
        char **more = realloc(l->folder, (l->folders + 1) * sizeof *more);

        if (more)
            l->folder = more;
        if (!more || !(more[l->folders] = realpath(operand, NULL)))
            return seen_fail(why, SEEN_IO, 0, "cannot be read");
        l->folders++;
        return SEEN_OK;
    }
    if (!equals)
        return seen_fail(why, SEEN_RANGE, 0,
                         "is no folder; for a filter give NAME=FILTER");
    name = (struct span){ operand, (size_t)(equals - operand) };
    fault = library_name_fault(name);
    if (fault)
        return seen_fail(why, SEEN_RANGE, 0, "%s", fault);
    code = seen_store_map(&f, equals + 1,
                          &(struct seen_access){ .unverified = true }, why);
    seen_filter_free(f);
    if (code != SEEN_OK)
        return code;
    if (!append(&l->named, &l->names, strndup(name.text, name.len),
                strdup(equals + 1), 0))
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a name");
    if (has_name(l->named, l->names - 1, l->named[l->names - 1].name))
        return seen_fail(why, SEEN_RANGE, 0, "the name is given twice");
    return SEEN_OK;
}

static void library_free(struct library *l)
{
    for (size_t i = 0; i < l->folders; i++)
        free(l->folder[i]);
    free(l->folder);
    holdings_free(l->named, l->names);
    while (l->verdicts) {
        struct verdict_of *v = l->verdicts;

        l->verdicts = v->next;
        free(v->path);
        free(v);
    }
    pthread_mutex_destroy(&l->lock);
    pthread_mutex_destroy(&l->opening);
    pthread_cond_destroy(&l->changed);
    memset(l->secret, 0, sizeof l->secret);
    free(l);
}

static void *check_all(void *given);

enum seen_code library_new(struct library **out, const struct library_how *how,
                           struct seen_error *why)
{
    struct library *l = calloc(1, sizeof *l);
    enum seen_code code = SEEN_OK;

    *out = NULL;
    if (!l)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory to serve");
    pthread_mutex_init(&l->lock, NULL);
    pthread_mutex_init(&l->opening, NULL);
    pthread_cond_init(&l->changed, NULL);
    l->writable = how->writable;
    l->sync = how->sync;
    l->keyed = how->secret;
    if (how->secret)
        memcpy(l->secret, how->secret, sizeof l->secret);
    for (size_t i = 0; i < how->operands && code == SEEN_OK; i++) {
        code = take_operand(l, how->operand[i], why);
        if (code != SEEN_OK && why)
            why->at = i;
    }
    if (code == SEEN_OK && pthread_create(&l->checker, NULL, check_all, l))
        code = seen_fail(why, SEEN_IO, 0, "no thread to check filters");
    if (code != SEEN_OK) {
        library_free(l);
        return code;
    }
    *out = l;
    return SEEN_OK;
}

void library_tell(struct library *l, void (*wake)(void *), void *to)
{
    pthread_mutex_lock(&l->lock);
    l->wake = wake;
    l->to = to;
    pthread_mutex_unlock(&l->lock);
}

const unsigned char *library_secret(const struct library *l)
{
    return l->keyed ? l->secret : NULL;
}

bool library_writable(const struct library *l)
{
    return l->writable;
}

unsigned library_age(const struct library *l)
{
    return __atomic_load_n(&l->age, __ATOMIC_ACQUIRE);
}

/* Something changed that loops should see. The lock is held. */
static void grow_older(struct library *l)
{
    __atomic_add_fetch(&l->age, 1, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&l->changed);
    if (l->wake)
        l->wake(l->to);
}

/* --- verdicts --- */

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
            code = seen_fail(why, SEEN_CORRUPT, 0, "%s", cut_short);
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

static void *check_all(void *given)
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
            grow_older(l);
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

/* --- writers --- */

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
    grow_older(w->library);
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
    return seen_fail(why, SEEN_CORRUPT, 0, "%s", cut_short);
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

/* What was added to a file that is no longer there is lost, and told. */
static enum seen_code close_writer(struct writer *w, struct seen_error *why)
{
    enum seen_code code;

    if (writer_spoiled(w) || !seen_store_current(w->filter)) {
        seen_store_abandon(w->filter);
        code = seen_fail(why, SEEN_CORRUPT, 0, "%s", cut_short);
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
        grow_older(l);
        alone = wait_alone(l, w);
        if (alone)
            unlink_writer(l, w);
        else
            __atomic_store_n(&w->leaving, false, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&l->lock);
    if (!alone)
        return seen_fail(why, SEEN_BUSY, 0, "is being written to");
    return w ? close_writer(w, why) : SEEN_OK;
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
        grow_older(l);
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
    *path = file_of(l->folder[0], name);
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
            code = seen_fail(first ? NULL : why, SEEN_CORRUPT, 0, "%s",
                             cut_short);
        else
            code = seen_store_checkpoint(w->filter, first ? NULL : why);
        first = first ? first : code;
    }
    pthread_mutex_unlock(&l->opening);
    return first;
}

enum seen_code library_close(struct library *l, struct seen_error *why)
{
    enum seen_code first = SEEN_OK;
    struct timespec end;

    pthread_mutex_lock(&l->lock);
    l->stop = true;
    l->wake = NULL;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
    while (l->writers) {
        struct writer *w = l->writers;
        enum seen_code code;

        l->writers = w->next;
        code = close_writer(w, first ? NULL : why);
        first = first ? first : code;
    }
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += LEAVE_SECONDS;
    if (!pthread_timedjoin_np(l->checker, NULL, &end))
        library_free(l); /* else it still reads, and the process ends */
    return first;
}
