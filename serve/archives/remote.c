/*
 * remote.c - the thread that asks one remote archive.
 *
 *          ┌────────── an error ──────────┐
 *          v                              │
 *     ┌──────────┐  it answers       ┌─────────┐
 *     │   away   │ ────────────────> │  ready  │ <─┐ questions, adds,
 *     └──────────┘                   └─────────┘ ──┘ a look every 2 s
 *       │     ^
 *       └─────┘ a try per second
 *
 * A filter that was replaced or deleted meanwhile answers SEEN_CORRUPT: its
 * chunks are gone. Then the name is opened again, and asked again: a new
 * filter of that name is served without a pause.
 */
#include "remote.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include <seen/kind.h>

#include "../../lib/disk/clock.h"
#include "../../remote/remote.h"
#include "inside.h"

enum {
    TRY_EVERY = 1000,   /* ms, while it is away */
    LOOK_EVERY = 2000,  /* ms without calls, while it is not */
    COUNT_EVERY = 60000, /* ms until its counts are read again */
    WAITING = 10000,    /* calls, at most */
    BATCH = 2048        /* URLs asked at once */
};

struct archive_remote {
    struct archive_remote *next;
    struct archive_set *set;
    char *address;
    pthread_t thread;

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    struct archive_call *first, **last;
    size_t waiting;
    struct archive_remote_filter *filter; /* with a reference; or NULL */
    bool away, stop, ended;
    struct seen_error why;
    uint64_t since; /* clock_ms(): waits for the server since; 0: does not */
    uint64_t losses;

    /* Of the thread alone. */
    uint64_t opened, asked; /* clock_ms() of the last time */
    struct seen_key key[BATCH];
    bool seen[BATCH];
    struct {
        struct archive_call *call;
        size_t lookup;
    } of[BATCH]; /* whose key it is */
    char *text; /* of those keys */
    size_t used;
};

bool archive_is_remote(const char *path)
{
    return remote_is_address(path);
}

/* --- the filter --- */

static void filter_put(struct archive_remote_filter *f)
{
    if (!f || --f->refs)
        return;
    seen_filter_free(f->filter);
    free(f);
}

static void warn(void *whose, const char *text)
{
    struct archive_remote *r = whose;

    if (r->set->warn)
        r->set->warn(r->address, text);
}

static enum seen_code open_keyed(struct archive_remote *r,
                                 struct seen_filter **out,
                                 struct seen_error *why)
{
    /* Loops read its rate while this thread waits for the server. */
    struct remote_options options = { .still = true,
                                      .warn = warn,
                                      .whose = r };
    enum seen_code code = remote_open(out, r->address, &options, why);

    if (code != SEEN_OK || !seen_filter_plan(*out)->keyed)
        return code;
    seen_filter_free(*out);
    *out = NULL;
    options.secret = archive_set_secret(r->set);
    if (!options.secret)
        return seen_fail(why, SEEN_MISMATCH, 0,
                         "the filter is keyed, and its key is not known");
    return remote_open(out, r->address, &options, why);
}

static enum seen_code open_filter(struct archive_remote *r,
                                  struct archive_remote_filter **out,
                                  struct seen_error *why)
{
    struct archive_remote_filter *f = calloc(1, sizeof *f);
    enum seen_code code;

    *out = NULL;
    if (!f)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a filter");
    f->refs = 1;
    code = open_keyed(r, &f->filter, why);
    if (code == SEEN_OK)
        code = seen_profile_find(&f->profile,
                                 seen_filter_plan(f->filter)->profile, why);
    if (code == SEEN_OK)
        *out = f;
    else
        filter_put(f);
    return code;
}

/* Loops look at the archive again. */
static void tell_loops(struct archive_remote *r)
{
    pthread_mutex_lock(&r->set->lock);
    archive_set_changed(r->set);
    pthread_mutex_unlock(&r->set->lock);
}

static void note_losses(struct archive_remote *r)
{
    uint64_t now = r->filter ? remote_losses(r->filter->filter) : 0;

    if (now > r->losses) /* a new connection has counted none itself */
        __atomic_store_n(&r->losses, now, __ATOMIC_RELAXED);
}

/* Open the name again: the filter that it has now. */
static enum seen_code reopen(struct archive_remote *r, struct seen_error *why)
{
    struct archive_remote_filter *f, *old;
    enum seen_code code = open_filter(r, &f, why);
    bool back;

    r->opened = r->asked = clock_ms();
    if (code != SEEN_OK)
        return code;
    pthread_mutex_lock(&r->lock);
    old = r->filter;
    back = r->away;
    r->filter = f;
    r->away = false;
    filter_put(old);
    pthread_mutex_unlock(&r->lock);
    if (back)
        warn(r, "it answers again");
    note_losses(r);
    tell_loops(r);
    return SEEN_OK;
}

static void go_away(struct archive_remote *r, const struct seen_error *why)
{
    bool news;

    pthread_mutex_lock(&r->lock);
    news = !r->away;
    r->away = true;
    r->why = *why;
    pthread_mutex_unlock(&r->lock);
    r->opened = clock_ms();
    if (!news)
        return;
    warn(r, why->text);
    tell_loops(r);
}

/* --- questions --- */

static void fail_call(struct archive_call *call, enum seen_code code,
                      const struct seen_error *why)
{
    call->code = code;
    call->why = *why;
    if (call->answer)
        memset(call->answer, ARCHIVE_SILENT, call->n);
    for (struct archive_change *c = call->change; c; c = c->next) {
        c->code = code == SEEN_IO ? SEEN_BUSY : code; /* it may come back */
        c->why = *why;
    }
}

/* Make keys of as many lookups as fit. *call and *from say where to go on. */
static size_t make_keys(struct archive_remote *r, struct archive_call **call,
                        size_t *from)
{
    size_t n = 0;

    r->used = 0;
    while (*call && n < BATCH && r->used <= ARCHIVE_TEXT) {
        struct archive_lookup *lookup = &(*call)->lookup[*from];
        char *text = r->text + r->used;
        struct seen_key *key = &r->key[n];

        if (archive_key(key, text, lookup->url, lookup->item,
                        &r->filter->profile, NULL) == SEEN_OK) {
            if (key->text >= text && key->text < text + SEEN_KEY_TEXT)
                r->used = (size_t)(key->text - r->text) + key->len;
            r->of[n].call = *call;
            r->of[n++].lookup = *from;
        }
        if (++*from == (*call)->n) {
            *call = (*call)->next;
            *from = 0;
        }
    }
    return n;
}

static enum seen_code ask_keys(struct archive_remote *r, size_t n,
                               struct seen_error *why)
{
    enum seen_code code = n ? seen_filter_has(r->filter->filter, r->key, n,
                                              r->seen, why)
                            : SEEN_OK;

    for (size_t i = 0; i < n && code == SEEN_OK; i++) {
        struct archive_call *call = r->of[i].call;

        call->answer[r->of[i].lookup] = r->seen[i] ? ARCHIVE_YES : ARCHIVE_NO;
        call->counts.asked++;
        call->counts.held += r->seen[i];
    }
    return code;
}

/* Ask the URLs of calls that are linked. */
static enum seen_code ask_once(struct archive_remote *r,
                               struct archive_call *first,
                               struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    size_t from = 0;

    for (struct archive_call *c = first; c; c = c->next) {
        memset(c->answer, ARCHIVE_REFUSES, c->n);
        c->counts = (struct archive_counts){ 0 };
    }
    while (first && code == SEEN_OK)
        code = ask_keys(r, make_keys(r, &first, &from), why);
    return code;
}

/* --- changes --- */

static enum seen_code change_once(struct archive_remote *r,
                                  struct archive_change *c,
                                  struct seen_error *why)
{
    const struct seen_profile *its = &r->filter->profile;

    if (its->rules != c->profile.rules || its->segments != c->profile.segments)
        return seen_fail(why, SEEN_BUSY, 0,
                         "the archive was replaced; try again");
    archive_change_make(c, r->filter->filter);
    *why = c->why;
    return c->code;
}

/* --- the thread --- */

static enum seen_code run_once(struct archive_remote *r,
                               struct archive_call *call,
                               struct seen_error *why)
{
    return call->change ? change_once(r, call->change, why)
                        : ask_once(r, call, why);
}

/*
 * Answer a change, or questions that are linked. SEEN_CORRUPT means that chunks
 * are gone, so that nothing is known. If the name has another filter now, that
 * one is asked. An add is not repeated after any other failure, since it may
 * have been made; and it says little about questions, which a server without
 * memory or a replica still answers: look() finds out.
 */
static void answer(struct archive_remote *r, struct archive_call *call)
{
    const bool change = call->change;
    struct seen_error why;
    enum seen_code code;

    if (r->away) {
        why = r->why;
        code = SEEN_IO;
    } else {
        code = run_once(r, call, &why);
        if (code == SEEN_CORRUPT && reopen(r, &why) == SEEN_OK)
            code = run_once(r, call, &why);
        if (code == SEEN_CORRUPT || (code != SEEN_OK && !change))
            go_away(r, &why);
    }
    r->asked = code == SEEN_OK ? clock_ms() : 0;
    note_losses(r);
    for (struct archive_call *next; call; call = next) {
        next = call->next;
        if (code != SEEN_OK && code != SEEN_FULL)
            fail_call(call, change && code != SEEN_CORRUPT ? code : SEEN_IO,
                      &why);
        call->done(call);
    }
}

/* Questions that follow one another are asked together. */
static void answer_all(struct archive_remote *r, struct archive_call *call)
{
    while (call) {
        struct archive_call *last = call, *rest;

        while (!call->change && last->next && !last->next->change)
            last = last->next;
        rest = last->next;
        last->next = NULL;
        answer(r, call);
        call = rest;
    }
}

/* Nobody asks: does it still answer? */
static void look(struct archive_remote *r)
{
    const struct seen_key any = { .lo = 1, .hi = 1, .text = "", .len = 0 };
    const uint64_t now = clock_ms();
    struct seen_error why;
    enum seen_code code;
    bool seen;

    if (r->away || now - r->opened >= COUNT_EVERY)
        code = reopen(r, &why);
    else
        code = seen_filter_has(r->filter->filter, &any, 1, &seen, &why);
    if (code == SEEN_CORRUPT && !r->away)
        code = reopen(r, &why);
    r->asked = clock_ms();
    if (code != SEEN_OK)
        go_away(r, &why);
    note_losses(r);
}

static uint64_t look_at(const struct archive_remote *r)
{
    return r->away ? r->opened + TRY_EVERY : r->asked + LOOK_EVERY;
}

/* With the lock held. */
static void wait_until(struct archive_remote *r, uint64_t ms)
{
    const struct timespec end = { .tv_sec = (time_t)(ms / 1000),
                                  .tv_nsec = (long)(ms % 1000) * 1000000 };

    pthread_cond_timedwait(&r->changed, &r->lock, &end);
}

static void *run(void *given)
{
    struct archive_remote *r = given;

    pthread_mutex_lock(&r->lock);
    while (!r->stop) {
        struct archive_call *first = r->first;

        if (!first && clock_ms() < look_at(r)) {
            wait_until(r, look_at(r));
            continue;
        }
        r->first = NULL;
        r->last = &r->first;
        r->waiting = 0;
        r->since = clock_ms();
        pthread_mutex_unlock(&r->lock);
        if (first)
            answer_all(r, first);
        else
            look(r);
        pthread_mutex_lock(&r->lock);
        r->since = 0;
    }
    r->ended = true;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

/* --- for others --- */

bool archive_remote_post(struct archive_remote *r, struct archive_call *call)
{
    struct seen_error why = { .code = SEEN_OK };
    uint64_t now;

    pthread_mutex_lock(&r->lock);
    now = clock_ms(); /* with the lock: it is never before r->since */
    errno = 0;
    if (r->away)
        why = r->why;
    else if (r->since && now - r->since > ARCHIVE_REMOTE_STUCK)
        seen_fail(&why, SEEN_IO, 0,
                  "its server has not answered for %llu seconds",
                  (unsigned long long)((now - r->since) / 1000));
    else if (r->waiting >= WAITING)
        seen_fail(&why, SEEN_BUSY, 0, "the server is too busy; try again");
    if (!why.code) {
        call->next = NULL;
        *r->last = call;
        r->last = &call->next;
        r->waiting++;
        pthread_cond_broadcast(&r->changed);
    }
    pthread_mutex_unlock(&r->lock);
    if (!why.code)
        return true;
    fail_call(call, why.code == SEEN_BUSY ? SEEN_BUSY : SEEN_IO, &why);
    return false;
}

struct archive_remote_filter *archive_remote_get(struct archive_remote *r,
                                                 bool *away,
                                                 struct seen_error *why)
{
    struct archive_remote_filter *f;

    pthread_mutex_lock(&r->lock);
    f = r->filter;
    if (f)
        f->refs++;
    *away = r->away;
    if (r->away)
        *why = r->why;
    pthread_mutex_unlock(&r->lock);
    return f;
}

void archive_remote_put(struct archive_remote *r,
                        struct archive_remote_filter *f)
{
    pthread_mutex_lock(&r->lock);
    filter_put(f);
    pthread_mutex_unlock(&r->lock);
}

uint64_t archive_remote_losses(const struct archive_remote *r)
{
    return __atomic_load_n(&r->losses, __ATOMIC_RELAXED);
}

struct archive_remote *archive_remote_find(const struct archive_set *set,
                                           const char *path)
{
    struct archive_remote *r = set->remotes;

    while (r && strcmp(r->address, path))
        r = r->next;
    return r;
}

struct archive_remote *archive_remote_next(const struct archive_remote *r)
{
    return r->next;
}

static void remote_free(struct archive_remote *r)
{
    filter_put(r->filter);
    pthread_mutex_destroy(&r->lock);
    pthread_cond_destroy(&r->changed);
    free(r->text);
    free(r->address);
    free(r);
}

/* Cannot be waited for? What is wrong with the server may pass; what is wrong
   with the address or the filter will not. */
static bool may_pass(enum seen_code code)
{
    return code == SEEN_IO || code == SEEN_NOMEM;
}

enum seen_code archive_remote_open(struct archive_set *set,
                                   const char *address, bool *away,
                                   struct seen_error *why)
{
    struct archive_remote *r = calloc(1, sizeof *r);
    pthread_condattr_t monotonic;
    enum seen_code code;

    *away = false;
    if (!r)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for an archive");
    pthread_mutex_init(&r->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&r->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    r->set = set;
    r->last = &r->first;
    r->address = strdup(address);
    r->text = malloc(ARCHIVE_TEXT + SEEN_KEY_TEXT);
    code = r->address && r->text
               ? open_filter(r, &r->filter, why)
               : seen_fail(why, SEEN_NOMEM, 0, "no memory for an archive");
    r->opened = r->asked = clock_ms();
    if (r->address && r->text && may_pass(code)) {
        *away = r->away = true;
        r->why = *why;
        code = SEEN_OK;
    }
    note_losses(r);
    if (code == SEEN_OK && pthread_create(&r->thread, NULL, run, r))
        code = seen_fail(why, SEEN_IO, 0, "cannot start a thread");
    if (code != SEEN_OK) {
        remote_free(r);
        return code;
    }
    r->next = set->remotes;
    set->remotes = r;
    return SEEN_OK;
}

static void fail_waiting(struct archive_remote *r)
{
    struct archive_call *call = r->first;
    struct seen_error why;

    r->first = NULL;
    seen_fail(&why, SEEN_BUSY, 0, "the server is stopping");
    for (struct archive_call *next; call; call = next) {
        next = call->next;
        fail_call(call, SEEN_BUSY, &why);
        call->done(call);
    }
}

void archive_remote_stop(struct archive_remote *r)
{
    pthread_mutex_lock(&r->lock);
    r->stop = true;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

bool archive_remote_close(struct archive_remote *r, const struct timespec *end)
{
    bool ended;

    pthread_mutex_lock(&r->lock);
    while (!r->ended && !pthread_cond_timedwait(&r->changed, &r->lock, end))
        ;
    ended = r->ended;
    pthread_mutex_unlock(&r->lock);
    if (!ended)
        return false;
    pthread_join(r->thread, NULL);
    fail_waiting(r);
    remote_free(r);
    return true;
}
