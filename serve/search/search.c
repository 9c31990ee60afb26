/* search.c - two threads per crawl, and the questions that wait for them. */
#include "search.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../lib/disk/clock.h"
#include "../../lib/text/span.h"

enum {
    QUICK = 60000,     /* steps: about 5 ms, or 4,000 pages */
    THOROUGH = 600000, /* about 50 ms; 4 s of texts that were made for it */
    QUICK_WAIT = 256,  /* questions, at most */
    THOROUGH_WAIT = 16,
    STUCK = 20000, /* ms after which a disk does not answer */
    CLOSING = 5000 /* ms: a text that was made for it may take one */
};

struct search_lane {
    struct search_crawl *crawl;
    struct search_lane *next; /* for what takes more; or NULL */
    uint64_t steps;
    size_t most;
    pthread_t thread;
    pthread_cond_t wanted; /* a question is there, or it is to end */
    bool started, ended;
    struct search_asking *first, **last;
    size_t waiting;
    uint64_t since; /* when the question that is asked now began; 0: none is */
};

struct search_crawl {
    struct search_set *search;
    char *name;
    const char *folder;
    struct search_lane quick, thorough;
};

struct search_set {
    pthread_mutex_t lock;
    pthread_cond_t ended; /* a thread has */
    bool stop;
    struct search_counts counts;
    size_t crawls;
    struct search_crawl crawl[];
};

/* --- a lane --- */

/* With the lock. */
static bool append(struct search_lane *l, struct search_asking *a)
{
    if (l->waiting == l->most)
        return false;
    a->next = NULL;
    *l->last = a;
    l->last = &a->next;
    l->waiting++;
    pthread_cond_signal(&l->wanted);
    return true;
}

static struct search_asking *take(struct search_lane *l)
{
    struct search_asking *a = l->first;

    if (!a)
        return NULL;
    l->first = a->next;
    if (!l->first)
        l->last = &l->first;
    l->waiting--;
    return a;
}

/* Should the next lane find more? */
static bool is_worth(const struct search_lane *l,
                     const struct search_found *found)
{
    return l->next && found && found->code == SEEN_OK &&
           (found->costly || !found->complete);
}

/* With the lock: to the next lane, or back to who asked. */
static void finish(struct search_lane *l, struct search_asking *a,
                   struct search_found *found)
{
    struct search_counts *counts = &l->crawl->search->counts;
    const bool more = is_worth(l, found) && !atomic_load(&a->gone) &&
                      !l->crawl->search->stop;

    counts->thorough += more;
    if (more && append(l->next, a)) {
        search_found_free(found);
        return;
    }
    counts->incomplete += found && found->code == SEEN_OK &&
                          (found->costly || !found->complete);
    a->found = found;
    a->done(a);
}

static bool has_words(const struct search_asking *a)
{
    return a->question.words.len;
}

/* A question whose asker has gone costs nothing more. */
static struct search_found *ask(struct search_lane *l, struct search_asking *a)
{
    struct budget budget = { .left = l->steps, .stop = &a->gone };
    struct search_found *found = search_pages(l->crawl->folder, &a->question,
                                              &budget);

    if (found && !has_words(a))
        found->complete = true;
    return found;
}

static void *lane_thread(void *given)
{
    struct search_lane *l = given;
    struct search_set *s = l->crawl->search;
    struct search_asking *a;
    struct search_found *found;

    pthread_mutex_lock(&s->lock);
    while (!s->stop) {
        if (!(a = take(l))) {
            pthread_cond_wait(&l->wanted, &s->lock);
            continue;
        }
        l->since = clock_ms();
        pthread_mutex_unlock(&s->lock);
        found = ask(l, a);
        pthread_mutex_lock(&s->lock);
        l->since = 0;
        finish(l, a, found);
    }
    l->ended = true;
    pthread_cond_broadcast(&s->ended);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* --- questions --- */

static bool is_stuck(const struct search_lane *l)
{
    return l->since && clock_ms() - l->since > STUCK;
}

bool search_ask(struct search_set *s, struct search_asking *a)
{
    struct search_lane *quick = &s->crawl[a->crawl].quick;
    bool good;

    a->found = NULL;
    pthread_mutex_lock(&s->lock);
    good = !s->stop && !is_stuck(quick) && append(quick, a);
    s->counts.questions++;
    s->counts.refused += !good;
    pthread_mutex_unlock(&s->lock);
    return good;
}

struct search_counts search_count(struct search_set *s)
{
    struct search_counts counts;

    pthread_mutex_lock(&s->lock);
    counts = s->counts;
    pthread_mutex_unlock(&s->lock);
    return counts;
}

const char *search_name(const struct search_set *s, size_t i)
{
    return i < s->crawls ? s->crawl[i].name : NULL;
}

/* --- open and close --- */

/* "NAME=DIR", or DIR, which is called after its last part. Both stay in one
   piece of memory. */
static bool name_crawl(struct search_crawl *c, const char *place)
{
    const char *equals = strchr(place, '=');
    size_t len = strlen(place), from;

    if (equals && equals > place && equals < place + strcspn(place, "/")) {
        c->name = strdup(place);
        if (!c->name)
            return false;
        c->name[equals - place] = '\0';
        c->folder = c->name + (equals - place) + 1;
        return true;
    }
    while (len > 1 && place[len - 1] == '/')
        len--;
    for (from = len; from && place[from - 1] != '/'; from--)
        ;
    if (from == len)
        from = 0;
    c->name = malloc(len - from + 1 + strlen(place) + 1);
    if (!c->name)
        return false;
    memcpy(c->name, place + from, len - from);
    c->name[len - from] = '\0';
    c->folder = strcpy(c->name + (len - from) + 1, place);
    return true;
}

static enum seen_code name_all(struct search_set *s,
                               const struct search_places *places,
                               struct seen_error *why)
{
    for (size_t i = 0; i < s->crawls; i++) {
        if (!name_crawl(&s->crawl[i], places->place[i]))
            return seen_fail(why, SEEN_NOMEM, 0, "no memory for crawls");
        for (size_t k = 0; k < i; k++)
            if (!strcmp(s->crawl[k].name, s->crawl[i].name))
                return seen_fail(why, SEEN_RANGE, 0,
                                 "--search: two crawls are called %.80s; "
                                 "write NAME=DIR",
                                 s->crawl[i].name);
    }
    return SEEN_OK;
}

static bool start_lane(struct search_lane *l, struct search_crawl *c,
                       uint64_t steps, size_t most, struct search_lane *next)
{
    *l = (struct search_lane){ .crawl = c,
                               .steps = steps,
                               .most = most,
                               .next = next,
                               .wanted = PTHREAD_COND_INITIALIZER,
                               .last = &l->first };
    l->started = !pthread_create(&l->thread, NULL, lane_thread, l);
    return l->started;
}

static enum seen_code start_all(struct search_set *s, struct seen_error *why)
{
    for (size_t i = 0; i < s->crawls; i++) {
        struct search_crawl *c = &s->crawl[i];

        c->search = s;
        if (!start_lane(&c->thorough, c, THOROUGH, THOROUGH_WAIT, NULL) ||
            !start_lane(&c->quick, c, QUICK, QUICK_WAIT, &c->thorough))
            return seen_fail(why, SEEN_NOMEM, 0,
                             "cannot start a thread for a search");
    }
    return SEEN_OK;
}

static bool init(struct search_set *s)
{
    pthread_condattr_t attributes;

    if (pthread_condattr_init(&attributes))
        return false;
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->ended, &attributes);
    pthread_condattr_destroy(&attributes);
    return true;
}

enum seen_code search_open(struct search_set **out,
                           const struct search_places *places,
                           struct seen_error *why)
{
    struct search_set *s;
    enum seen_code code;

    *out = NULL;
    if (places->places > SEARCH_CRAWLS)
        return seen_fail(why, SEEN_RANGE, 0, "--search: at most %d crawls",
                         SEARCH_CRAWLS);
    s = calloc(1, sizeof *s + places->places * sizeof *s->crawl);
    if (!s || !init(s)) {
        free(s);
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for crawls");
    }
    s->crawls = places->places;
    code = name_all(s, places, why);
    if (code == SEEN_OK)
        code = start_all(s, why);
    if (code == SEEN_OK)
        *out = s;
    else
        search_close(s);
    return code;
}

static bool all_ended(const struct search_set *s)
{
    for (size_t i = 0; i < s->crawls; i++) {
        const struct search_crawl *c = &s->crawl[i];

        if ((c->quick.started && !c->quick.ended) ||
            (c->thorough.started && !c->thorough.ended))
            return false;
    }
    return true;
}

/* Those that wait go back unanswered. */
static void give_back(struct search_lane *l)
{
    struct search_asking *a;

    while (l->started && (a = take(l)))
        a->done(a);
}

void search_close(struct search_set *s)
{
    struct timespec end;
    bool ended;

    if (!s)
        return;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += CLOSING / 1000;
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    for (size_t i = 0; i < s->crawls; i++) { /* zeroed if not started */
        pthread_cond_signal(&s->crawl[i].quick.wanted);
        pthread_cond_signal(&s->crawl[i].thorough.wanted);
    }
    while (!(ended = all_ended(s)) &&
           !pthread_cond_timedwait(&s->ended, &s->lock, &end))
        ;
    pthread_mutex_unlock(&s->lock);
    if (!ended)
        return;
    for (size_t i = 0; i < s->crawls; i++) {
        struct search_crawl *c = &s->crawl[i];

        if (c->quick.started)
            pthread_join(c->quick.thread, NULL);
        if (c->thorough.started)
            pthread_join(c->thorough.thread, NULL);
        give_back(&c->quick);
        give_back(&c->thorough);
        free(c->name);
    }
    pthread_cond_destroy(&s->ended);
    pthread_mutex_destroy(&s->lock);
    free(s);
}
