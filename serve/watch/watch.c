/*
 * watch.c - a thread per place, and what it saw last.
 *
 *     asked   somebody wants a look; the thread wakes
 *     busy    it looks
 *     look    the last one; replaced as a whole, freed by its last reader
 *
 * A look is fresh for a second, or for ten times as long as it took if that is
 * more: a database with a million hosts is not read all the time because a
 * page is open. A place that has not answered for WATCH_PATIENCE is late:
 * nobody waits for it any more until it has.
 */
#include "watch.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../lib/disk/clock.h"
#include "../../lib/text/array.h"
#include "../../lib/text/buffer.h"
#include "../../lib/text/map.h"
#include "../../lib/text/span.h"
#include "place.h"

enum { FRESH = 1000, TIMES = 10, CLOSING = 1000 };

struct watched {
    struct watch *watch;
    struct watch_place *place;
    pthread_t thread;
    bool started, asked, busy, ended;
    uint64_t since; /* when it was asked, if it has not answered yet */
    struct watch_look *look;
};

struct watch {
    pthread_mutex_t lock;
    pthread_cond_t wanted, seen; /* a look is; something has changed */
    bool stop;
    size_t places;
    struct watched place[];
};

/* --- looks --- */

static void release(struct watch_look *look)
{
    if (look && !__atomic_sub_fetch(&look->references, 1, __ATOMIC_ACQ_REL))
        watch_look_free(look);
}

static uint64_t fresh_for(const struct watch_look *look)
{
    const uint64_t longer = (uint64_t)look->took * TIMES;

    return longer > FRESH ? longer : FRESH;
}

static bool is_fresh(const struct watched *p, uint64_t now)
{
    return p->look && now - p->look->at < fresh_for(p->look);
}

/* Nobody waits for a place that is late. */
static bool is_late(const struct watched *p, uint64_t now)
{
    return p->since && now - p->since >= WATCH_PATIENCE;
}

static void *watch_thread(void *given)
{
    struct watched *p = given;
    struct watch *w = p->watch;
    struct watch_look *look, *old;

    pthread_mutex_lock(&w->lock);
    for (;;) {
        while (!p->asked && !w->stop)
            pthread_cond_wait(&w->wanted, &w->lock);
        if (w->stop)
            break;
        p->asked = false;
        p->busy = true;
        pthread_mutex_unlock(&w->lock);
        look = watch_place_look(p->place);
        pthread_mutex_lock(&w->lock);
        old = p->look;
        if (look)
            p->look = look;
        p->busy = false;
        p->since = 0;
        pthread_cond_broadcast(&w->seen);
        if (look)
            release(old);
    }
    p->ended = true;
    pthread_cond_broadcast(&w->seen);
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* With the lock: ask all places that are not fresh; is there any that is
   worth waiting for? */
static bool ask(struct watch *w)
{
    const uint64_t now = clock_ms();
    bool any = false;

    for (size_t i = 0; i < w->places; i++) {
        struct watched *p = &w->place[i];

        if (is_fresh(p, now) || !p->started)
            continue;
        if (!p->busy && !p->asked) {
            p->asked = true;
            p->since = now;
            pthread_cond_broadcast(&w->wanted);
        }
        any |= !is_late(p, now);
    }
    return any;
}

bool watch_is_fresh(struct watch *w)
{
    bool wait;

    pthread_mutex_lock(&w->lock);
    wait = ask(w);
    pthread_mutex_unlock(&w->lock);
    return !wait;
}

static struct timespec after(unsigned ms)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += ms / 1000;
    t.tv_nsec += (long)(ms % 1000) * 1000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    return t;
}

void watch_wait(struct watch *w)
{
    const struct timespec end = after(WATCH_PATIENCE);

    pthread_mutex_lock(&w->lock);
    while (!w->stop && ask(w) &&
           !pthread_cond_timedwait(&w->seen, &w->lock, &end))
        ;
    pthread_mutex_unlock(&w->lock);
}

/* --- views --- */

/* The name of a crawl in a view, which no other has; NULL without memory. */
static char *name_in(struct map *names, const char *name)
{
    struct buffer text = { .bytes = NULL };
    char *own = strdup(name);

    for (unsigned n = 2; own && map_get(names, own, strlen(own)); n++) {
        free(own);
        buffer_format(&text, "%s-%u", name, n);
        own = buffer_take(&text);
    }
    if (own && !map_set(names, own, strlen(own), own)) {
        free(own);
        own = NULL;
    }
    return own;
}

static void add(struct watch_view *view, size_t *room, struct map *names,
                struct watch_seen seen)
{
    struct watch_seen *more = array_grow(view->crawl, room, view->crawls + 1,
                                         sizeof *more);

    if (more)
        view->crawl = more;
    if (more && (seen.name = name_in(names, seen.crawl->name)))
        more[view->crawls++] = seen;
    else
        view->failed = true;
}

void watch_see(struct watch *w, struct watch_view *view)
{
    const uint64_t now = clock_ms();
    struct map names = { .slot = NULL };
    size_t room = 0;

    memset(view, 0, sizeof *view);
    pthread_mutex_lock(&w->lock);
    for (size_t i = 0; i < w->places; i++) {
        struct watched *p = &w->place[i];
        struct watch_look *look = p->look;
        struct watch_seen seen = { .late = is_late(p, now) ? now - p->since
                                                           : 0 };

        if (!look)
            look = watch_place_unseen(p->place);
        if (!look)
            continue;
        __atomic_add_fetch(&look->references, 1, __ATOMIC_RELAXED);
        view->look[view->looks++] = look;
        view->failed |= look->failed;
        seen.age = look->at && now > look->at ? now - look->at : 0;
        seen.unix_ms = look->unix_ms;
        for (size_t k = 0; k < look->crawls; k++) {
            seen.crawl = &look->crawl[k];
            add(view, &room, &names, seen);
        }
    }
    pthread_mutex_unlock(&w->lock);
    map_clear(&names);
}

void watch_forget(struct watch_view *view)
{
    for (size_t i = 0; i < view->looks; i++)
        release(view->look[i]);
    for (size_t i = 0; i < view->crawls; i++)
        free(view->crawl[i].name);
    free(view->crawl);
    memset(view, 0, sizeof *view);
}

const struct watch_seen *watch_find(const struct watch_view *view,
                                    struct seen_span name)
{
    for (size_t i = 0; i < view->crawls; i++)
        if (span_is(name, view->crawl[i].name))
            return &view->crawl[i];
    return NULL;
}

/* --- open and close --- */

static bool start(struct watch *w)
{
    pthread_condattr_t attributes;

    if (pthread_condattr_init(&attributes))
        return false;
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->wanted, &attributes);
    pthread_cond_init(&w->seen, &attributes);
    pthread_condattr_destroy(&attributes);
    for (size_t i = 0; i < w->places; i++) {
        struct watched *p = &w->place[i];

        p->watch = w;
        p->started = p->place &&
                     !pthread_create(&p->thread, NULL, watch_thread, p);
        if (!p->started)
            return false;
    }
    return true;
}

/* "host=db password=secret", as libpq has it, would be shown as a folder. */
static bool has_conninfo(const struct watch_options *options)
{
    for (size_t i = 0; i < options->places; i++)
        if (strstr(options->place[i], "password=") &&
            !strstr(options->place[i], "://"))
            return true;
    return false;
}

/* The queues of a broker are a place, too. */
enum seen_code watch_open(struct watch **out,
                          const struct watch_options *options,
                          struct seen_error *why)
{
    const size_t n = options->places + options->queues;
    struct watch *w;

    *out = NULL;
    if (n > WATCH_PLACES)
        return seen_fail(why, SEEN_RANGE, 0,
                         "--crawls and --queue: at most %d places",
                         WATCH_PLACES);
    if (has_conninfo(options))
        return seen_fail(why, SEEN_RANGE, 0,
                         "--crawls: a database is written as "
                         "postgresql://USER@HOST/DATABASE");
    w = calloc(1, sizeof *w + n * sizeof *w->place);
    if (!w)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for crawls");
    w->places = n;
    for (size_t i = 0; i < n; i++)
        w->place[i].place = watch_place_new(
            i < options->places ? options->place[i]
                                : options->queue[i - options->places],
            i >= options->places);
    if (!start(w)) {
        watch_close(w);
        return seen_fail(why, SEEN_NOMEM, 0,
                         "cannot start a thread for crawls");
    }
    *out = w;
    return SEEN_OK;
}

static bool all_ended(const struct watch *w)
{
    for (size_t i = 0; i < w->places; i++)
        if (w->place[i].started && !w->place[i].ended)
            return false;
    return true;
}

void watch_close(struct watch *w)
{
    const struct timespec end = after(CLOSING);
    bool ended;

    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->stop = true;
    pthread_cond_broadcast(&w->wanted);
    pthread_cond_broadcast(&w->seen);
    while (!(ended = all_ended(w)) &&
           !pthread_cond_timedwait(&w->seen, &w->lock, &end))
        ;
    pthread_mutex_unlock(&w->lock);
    if (!ended)
        return;
    for (size_t i = 0; i < w->places; i++) {
        if (w->place[i].started)
            pthread_join(w->place[i].thread, NULL);
        watch_place_free(w->place[i].place);
        release(w->place[i].look);
    }
    pthread_cond_destroy(&w->wanted);
    pthread_cond_destroy(&w->seen);
    pthread_mutex_destroy(&w->lock);
    free(w);
}
