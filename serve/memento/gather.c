/*
 * gather.c - questions, gatherings, and who waits for which.
 *
 *     memento_ask ──> incoming ──> take ──┬──> cached                 ──> done()
 *                     (any thread)        ├──> a gathering of this URL ─┐
 *                                         ├──> a new gathering ─────────┴─> done()
 *                                         └──> waiting, if there are too many
 *
 * Gatherings begin and have their deadlines in the same order, so the first of
 * the list is always the next that is late.
 */
#include "gather.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/disk/clock.h"
#include "../../lib/text/map.h"
#include "ask.h"
#include "cache.h"
#include "health.h"

enum {
    GATHERINGS = 64,     /* at a time */
    WAITING = 1000,      /* questions, at most */
    PARTIAL_MS = 10000,  /* how long an incomplete TimeMap is kept */
    CONNECTIONS = 256,   /* at a time, and */
    PER_HOST = 16,       /* to one host */
    CONNECT = 5,         /* seconds */
    LINK_BYTES = 336,    /* of a TimeMap, for each memento that it may have */
    TURN_MS = 1000       /* longest wait of the thread */
};

struct gathering {
    struct gathering *next, *prev;
    struct memento *memento;
    struct buffer key;
    struct memento_question *questions; /* that wait for it */
    struct memento_timemap *timemap;
    struct memento_asking *asking;
    size_t left; /* archives that have not answered */
    uint64_t deadline;
};

struct memento {
    struct memento_options options;
    struct memento_list list;
    uint64_t patience; /* ms */
    pthread_t thread;
    bool started;

    pthread_mutex_t lock; /* of these */
    struct memento_question *incoming, **incoming_end;
    struct memento_copy *wanted; /* mementos to fetch */
    size_t open; /* questions that are not answered, and mementos */
    bool stop;

    struct memento_client client; /* of the thread, from here on */
    struct memento_cache cache;
    struct map running, health;
    struct gathering *first, *last;
    size_t gatherings;
    struct memento_question *waiting, **waiting_end;
    struct memento_counts counts; /* relaxed atomics */
};

#define COUNT_UP(m, what, n) \
    __atomic_add_fetch(&(m)->counts.what, (uint64_t)(n), __ATOMIC_RELAXED)

/* --- keys --- */

/*
 * The URL and what is asked for it: with another answer of a filter it is
 * another key. One for the closest memento has the date, too, and TimeGates; it
 * begins as no URL does.
 */
static void write_key(struct buffer *key, const struct memento_question *q,
                      bool closest)
{
    if (closest)
        buffer_format(key, "%lld ", (long long)q->when);
    buffer_text(key, q->url);
    for (size_t i = 0; i < q->sources; i++) {
        const struct memento_source *s = &q->source[i];
        const char *gate = closest ? s->gate : NULL;

        buffer_byte(key, '\n');
        buffer_text(key, gate ? gate : s->url ? s->url : s->name);
    }
}

/* --- answers --- */

static void one_less_open(struct memento *m)
{
    pthread_mutex_lock(&m->lock);
    m->open--;
    pthread_mutex_unlock(&m->lock);
}

static void answer(struct memento *m, struct memento_question *q,
                   struct memento_timemap *t, bool cached)
{
    one_less_open(m);
    q->timemap = t ? memento_timemap_keep(t) : NULL;
    q->cached = cached;
    q->done(q);
}

/* What is counted, and what may be said of the closest memento, if not all of
   them are there. */
static void describe_sparse(struct gathering *g)
{
    struct memento_timemap *t = g->timemap;
    int64_t closest;

    for (size_t i = 0; i < t->reports; i++)
        t->report[i].mementos = g->asking[i].count;
    if (!t->captures)
        return;
    closest = t->capture[memento_timemap_closest(t, g->questions->when)].when;
    for (size_t i = 0; i < t->reports; i++)
        if (g->asking[i].stored)
            t->unknown |= memento_near_unknown(&g->asking[i].near, closest);
}

/* All captures in one array; without memory all archives have failed. */
static void merge(struct gathering *g)
{
    struct memento_timemap *t = g->timemap;
    size_t all = 0;

    for (size_t i = 0; i < t->reports; i++) {
        memento_ask_settle(&g->asking[i]);
        t->sparse |= g->asking[i].sparse;
        all += g->asking[i].stored;
    }
    if (all && !(t->capture = calloc(all, sizeof *t->capture)))
        for (size_t i = 0; i < t->reports; i++)
            memento_report_fail(&t->report[i], "no memory for its mementos");
    for (size_t i = 0; i < t->reports && t->capture; i++) {
        memento_ask_captures(&g->asking[i], (uint32_t)i,
                             t->capture + t->captures);
        t->captures += g->asking[i].stored;
    }
    t->made = clock_ms();
    memento_timemap_finish(t);
    if (t->sparse)
        describe_sparse(g);
}

static void unlink_gathering(struct memento *m, struct gathering *g)
{
    *(g->prev ? &g->prev->next : &m->first) = g->next;
    *(g->next ? &g->next->prev : &m->last) = g->prev;
    m->gatherings--;
    map_remove(&m->running, g->key.bytes, g->key.len);
}

static void free_gathering(struct gathering *g)
{
    for (size_t i = 0; g->asking && g->timemap && i < g->timemap->reports; i++)
        memento_ask_clear(&g->asking[i]);
    free(g->asking);
    memento_timemap_release(g->timemap);
    buffer_clear(&g->key);
    free(g);
}

/* A question for the closest memento that was answered by whole TimeMaps has
   answered all questions for this URL. */
static void keep_answer(struct gathering *g, uint64_t until)
{
    struct memento_timemap *t = g->timemap;
    struct buffer whole = { .bytes = NULL };
    const struct buffer *key = &g->key;

    if (g->questions->closest && !t->sparse && !t->failed) {
        write_key(&whole, g->questions, false);
        key = &whole;
    }
    if (!key->failed)
        memento_cache_put(&g->memento->cache, key->bytes, key->len, t, until);
    buffer_clear(&whole);
}

static void finish(struct gathering *g)
{
    struct memento *m = g->memento;
    struct memento_question *q, *next;
    uint64_t keep = m->options.keep * 1000;

    unlink_gathering(m, g);
    merge(g);
    COUNT_UP(m, failed, g->timemap->failed);
    if (g->timemap->failed && keep > PARTIAL_MS)
        keep = PARTIAL_MS;
    keep_answer(g, clock_ms() + keep);
    for (q = g->questions; q; q = next) {
        next = q->next;
        answer(m, q, g->timemap, false);
    }
    free_gathering(g);
}

/* --- gatherings --- */

static void one_less(struct gathering *g)
{
    if (!--g->left)
        finish(g);
}

static void on_asked(struct memento_asking *a)
{
    struct gathering *g = a->owner;

    memento_health_note(&g->memento->health, a);
    one_less(g);
}

static void ask_archive(struct gathering *g, size_t i,
                        const struct memento_source *source, uint64_t now)
{
    struct memento *m = g->memento;
    struct memento_report *r = &g->timemap->report[i];
    struct memento_asking *a = &g->asking[i];

    *a = (struct memento_asking){ .client = &m->client,
                                  .report = r,
                                  .done = on_asked,
                                  .owner = g,
                                  .original = g->questions->url,
                                  .closest = g->questions->closest,
                                  .near = { .when = g->questions->when } };
    r->name = strdup(source->name);
    if (!r->name)
        memento_report_fail(r, "no memory");
    else if (!source->url && !(a->closest && source->gate))
        memento_report_fail(r, "%s", source->fault);
    else if (memento_health_rests(&m->health, source->name, now, m->patience))
        memento_report_fail(r,
                            "it did not answer %d times in a row, and is not "
                            "asked for %d s",
                            MEMENTO_FAILURES, MEMENTO_REST_MS / 1000);
    if (r->failed) {
        one_less(g);
        return;
    }
    memento_ask_begin(a, source);
}

/* False without memory. */
static bool begin(struct memento *m, struct memento_question *q,
                  struct buffer *key)
{
    struct gathering *g = calloc(1, sizeof *g);

    if (!g)
        return false;
    g->memento = m;
    g->timemap = memento_timemap_new(q->sources);
    g->asking = calloc(q->sources + 1, sizeof *g->asking);
    if (!g->timemap || !g->asking ||
        !map_set(&m->running, key->bytes, key->len, g)) {
        if (g->timemap)
            g->timemap->reports = 0; /* none was asked */
        free_gathering(g);
        return false;
    }
    g->key = *key;
    *key = (struct buffer){ .bytes = NULL };
    g->questions = q;
    q->next = NULL;
    g->deadline = clock_ms() + m->patience;
    g->prev = m->last;
    *(m->last ? &m->last->next : &m->first) = g;
    m->last = g;
    m->gatherings++;
    g->left = q->sources + 1; /* it does not end before all were asked */
    for (size_t i = 0; i < q->sources; i++)
        ask_archive(g, i, &q->source[i], clock_ms());
    one_less(g);
    return true;
}

/* --- questions --- */

static struct memento_timemap *cached(struct memento *m,
                                      const struct buffer *key)
{
    return key->failed ? NULL
                       : memento_cache_get(&m->cache, key->bytes, key->len,
                                           clock_ms());
}

/* A TimeMap that is whole knows the closest memento, too. */
static struct memento_timemap *find(struct memento *m,
                                    const struct memento_question *q,
                                    const struct buffer *key)
{
    struct memento_timemap *t = NULL;
    struct buffer whole = { .bytes = NULL };

    if (q->closest) {
        write_key(&whole, q, false);
        t = cached(m, &whole);
        buffer_clear(&whole);
    }
    return t && !t->failed ? t : cached(m, key);
}

static void take(struct memento *m, struct memento_question *q)
{
    struct buffer key = { .bytes = NULL };
    struct memento_timemap *t;
    struct gathering *g;

    write_key(&key, q, q->closest);
    if (key.failed) {
        answer(m, q, NULL, false);
    } else if ((t = find(m, q, &key))) {
        COUNT_UP(m, cached, 1);
        answer(m, q, t, true);
    } else if ((g = map_get(&m->running, key.bytes, key.len))) {
        COUNT_UP(m, shared, 1);
        q->next = g->questions->next; /* the first one's texts are in use */
        g->questions->next = q;
    } else if (m->gatherings >= GATHERINGS) {
        q->next = NULL;
        *m->waiting_end = q;
        m->waiting_end = &q->next;
    } else if (!begin(m, q, &key)) {
        answer(m, q, NULL, false);
    }
    buffer_clear(&key);
}

static struct memento_question *next_waiting(struct memento *m)
{
    struct memento_question *q = m->waiting;

    m->waiting = q->next;
    if (!m->waiting)
        m->waiting_end = &m->waiting;
    return q;
}

/* Those that waited for longer than an archive may take are refused. */
static void take_waiting(struct memento *m)
{
    const uint64_t now = clock_ms();

    while (m->waiting && now - m->waiting->asked > m->patience)
        answer(m, next_waiting(m), NULL, false);
    while (m->waiting && m->gatherings < GATHERINGS)
        take(m, next_waiting(m));
}

/* End a gathering with what is there. */
static void cut_short(struct gathering *g, const char *why)
{
    const size_t n = g->timemap->reports;

    g->left++;
    for (size_t i = 0; i < n; i++)
        memento_ask_stop(&g->asking[i], why);
    one_less(g);
}

static void end_late(struct memento *m)
{
    const uint64_t now = clock_ms();
    char why[MEMENTO_WHY];

    snprintf(why, sizeof why, "no whole answer within %u s",
             (unsigned)(m->patience / 1000));
    while (m->first && m->first->deadline <= now)
        cut_short(m->first, why);
}

static int turn_ms(const struct memento *m)
{
    const uint64_t now = clock_ms();

    if (!m->first || m->first->deadline > now + TURN_MS)
        return TURN_MS;
    return m->first->deadline > now ? (int)(m->first->deadline - now) : 0;
}

static void copied(struct memento_copy *c)
{
    one_less_open(c->owner);
    c->done(c);
}

static void fetch_wanted(struct memento *m, struct memento_copy *c, bool stop)
{
    for (struct memento_copy *next; c; c = next) {
        next = c->next;
        c->owner = m;
        c->client = &m->client;
        c->ended = copied;
        if (stop)
            copied(c);
        else
            memento_copy_begin(c, m->options.patience);
    }
}

/* What was asked since the last time; false if it is time to stop. */
static bool take_incoming(struct memento *m)
{
    struct memento_question *q, *next;
    struct memento_copy *wanted;
    bool stop;

    pthread_mutex_lock(&m->lock);
    wanted = m->wanted;
    m->wanted = NULL;
    q = m->incoming;
    m->incoming = NULL;
    m->incoming_end = &m->incoming;
    stop = m->stop;
    pthread_mutex_unlock(&m->lock);
    for (; q; q = next) {
        next = q->next;
        if (stop)
            answer(m, q, NULL, false);
        else
            take(m, q);
    }
    fetch_wanted(m, wanted, stop);
    return !stop;
}

static void *run(void *given)
{
    struct memento *m = given;

    while (take_incoming(m)) {
        end_late(m);
        take_waiting(m);
        fetch_poll(m->client.web, turn_ms(m));
    }
    while (m->first)
        cut_short(m->first, "the server is stopping");
    while (m->waiting)
        answer(m, next_waiting(m), NULL, false);
    return NULL;
}

/* --- from other threads --- */

bool memento_ask(struct memento *m, struct memento_question *q)
{
    bool good;

    q->timemap = NULL;
    q->next = NULL;
    q->asked = clock_ms();
    pthread_mutex_lock(&m->lock);
    good = !m->stop && m->open < WAITING + GATHERINGS;
    if (good) {
        m->open++;
        *m->incoming_end = q;
        m->incoming_end = &q->next;
    }
    pthread_mutex_unlock(&m->lock);
    if (good) {
        COUNT_UP(m, questions, 1);
        fetch_wakeup(m->client.web);
    }
    return good;
}

bool memento_fetch(struct memento *m, struct memento_copy *c)
{
    bool good;

    pthread_mutex_lock(&m->lock);
    good = !m->stop && m->open < WAITING + GATHERINGS;
    if (good) {
        m->open++;
        c->next = m->wanted;
        m->wanted = c;
    }
    pthread_mutex_unlock(&m->lock);
    if (good)
        fetch_wakeup(m->client.web);
    return good;
}

const struct memento_list *memento_archives(const struct memento *m)
{
    return &m->list;
}

void memento_spare(struct memento *m, size_t archives)
{
    COUNT_UP(m, spared, archives);
}

struct memento_counts memento_count(const struct memento *m)
{
    struct memento_counts counts;
    const uint64_t *from = (const uint64_t *)&m->counts;
    uint64_t *to = (uint64_t *)&counts;

    for (size_t i = 0; i < sizeof counts / sizeof *to; i++)
        to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
    counts.requests = __atomic_load_n(&m->client.requests, __ATOMIC_RELAXED);
    return counts;
}

/* --- open and close --- */

static uint64_t or_else(uint64_t value, uint64_t usual)
{
    return value ? value : usual;
}

static void set_options(struct memento *m,
                        const struct memento_options *options)
{
    struct memento_options *o = &m->options;

    *o = *options;
    o->patience = (unsigned)or_else(o->patience, 10);
    o->keep = or_else(o->keep, 600);
    m->patience = o->patience * UINT64_C(1000);
    m->cache.most = or_else(o->cache, 64 << 20);
    m->client.most = o->most;
    m->client.bytes = o->most ? o->most * LINK_BYTES + (1 << 16)
                              : MEMENTO_BYTES;
    m->client.memory = or_else(o->memory, 256 << 20);
    o->fetch.parallel = CONNECTIONS;
    o->fetch.per_host = PER_HOST;
    o->fetch.connect = o->patience < CONNECT ? o->patience : CONNECT;
    o->fetch.timeout = o->patience + 1; /* ours comes first */
}

enum seen_code memento_open(struct memento **out,
                            const struct memento_options *options,
                            struct seen_error *why)
{
    struct memento *m = calloc(1, sizeof *m);
    enum seen_code code = SEEN_OK;

    *out = NULL;
    if (!m)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for an aggregator");
    pthread_mutex_init(&m->lock, NULL);
    m->incoming_end = &m->incoming;
    m->waiting_end = &m->waiting;
    set_options(m, options);
    if (options->archives)
        code = memento_list_load(&m->list, options->archives, why);
    if (code == SEEN_OK)
        code = fetch_new(&m->client.web, &m->options.fetch, why);
    if (code == SEEN_OK) {
        m->started = !pthread_create(&m->thread, NULL, run, m);
        if (!m->started)
            code = seen_fail(why, SEEN_NOMEM, 0,
                             "cannot start a thread for the aggregator");
    }
    if (code != SEEN_OK) {
        memento_close(m);
        return code;
    }
    *out = m;
    return SEEN_OK;
}

void memento_close(struct memento *m)
{
    if (!m)
        return;
    if (m->started) {
        pthread_mutex_lock(&m->lock);
        m->stop = true;
        pthread_mutex_unlock(&m->lock);
        fetch_wakeup(m->client.web);
        pthread_join(m->thread, NULL);
    }
    fetch_free(m->client.web);
    memento_cache_clear(&m->cache);
    memento_health_clear(&m->health);
    map_clear(&m->running);
    memento_list_clear(&m->list);
    pthread_mutex_destroy(&m->lock);
    free(m);
}
