/*
 * batches.c - blocked, the default kind, in all ways that it can be used.
 *
 * Contenders take turns, slice by slice, and every figure is the smallest of
 * TURNS slices, with the median and the largest. On a busy machine the smallest
 * is the one that comes again: others leave nothing in the caches. Their order
 * changes: the slice before makes up to 10 % of the time of a slice. Lookups and inserts are
 * measured apart: changed lines that are on their way to memory slow down
 * lookups after them. The limits read lines of the filter's own memory, and
 * write them back unchanged, so that both have the same pages.
 *
 * ns are CPU time of the thread that took longer, so that neighbours on a busy
 * machine cost what they do to the caches only. Builds by two threads are
 * measured by the clock, because these wait for each other.
 *
 * A slice of a filter that may fit into the cache begins with as many keys that
 * are not timed. Otherwise those who come more often would find more of their
 * lines in the cache: blocked and its limits were 1.3 to 1.7 times as fast as
 * FastLocalBloom with a million keys, of which nothing is left in a program of
 * its own.
 *
 * Keys are made before the clock starts, URLs too: POOL of them in one piece,
 * which is more than the first two caches hold.
 */
#include "bench.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <bloom.h>
#include <seen/kind.h>

#include "local.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

enum {
    POOL = 16384, /* keys that are prepared at a time */
    TURNS = 11,
    SLICE = 6,       /* pools of a slice */
    EXPECTED = 32,   /* keys that are expected before they are looked up */
    SMALL = 10000000 /* keys; more are in no cache, and libbloom takes minutes
                        to fill */
};

static const unsigned batches[] = { 1, 256, 4096 };

struct bench_pool {
    struct seen_key key[POOL];
    uint64_t hash[POOL]; /* of the same keys, for filters that take no more */
    char text[POOL][URL_ROOM];
    struct seen_span url[POOL];
    enum seen_code code[POOL];
    bool answer[POOL];
    uint64_t next; /* number of the next key */
};

struct bench_peers;

/* What takes turns. Shared ones are done by two threads; `builds` is the
   number of threads that build a filter of all keys anew. */
struct bench_turn {
    const char *what, *who;
    unsigned batch, builds;
    bool urls, writes, shared;
    void (*run)(struct bench_peers *s, struct bench_pool *p, unsigned batch);
    double ns[TURNS];
};

struct bench_peers {
    uint64_t keys;
    struct seen_filter *ours, *shared;
    struct fast_local fast;
    struct bloom libbloom;
    bool small;
    struct bench_pool *pool[MOST_THREADS];
};

static void prepare(struct bench_pool *p, bool urls)
{
    for (size_t i = 0; i < POOL; i++, p->next++) {
        if (urls) {
            p->url[i].text = p->text[i];
            p->url[i].len = bench_url(p->text[i], p->next);
        } else {
            seen_key_number(&p->key[i], p->next);
            p->hash[i] = p->key[i].lo;
        }
    }
}

static void ours_has(struct bench_peers *s, struct bench_pool *p,
                     unsigned batch)
{
    for (size_t i = 0; i < POOL; i += batch)
        seen_filter_has(s->ours, p->key + i, batch, p->answer + i, NULL);
}

static void ours_add(struct bench_peers *s, struct bench_pool *p,
                     unsigned batch)
{
    for (size_t i = 0; i < POOL; i += batch)
        seen_filter_add(s->ours, p->key + i, batch, p->answer + i, NULL);
}

static void ours_share(struct bench_peers *s, struct bench_pool *p,
                       unsigned batch)
{
    for (size_t i = 0; i < POOL; i += batch)
        seen_filter_add(s->shared, p->key + i, batch, p->answer + i, NULL);
}

/* What an event loop does that gets 32 requests and then answers them. */
static void ours_expect(struct bench_peers *s, struct bench_pool *p,
                        unsigned batch)
{
    (void)batch;
    for (size_t i = 0; i < POOL; i += EXPECTED) {
        for (size_t j = i; j < i + EXPECTED; j++)
            seen_filter_expect(s->ours, &p->key[j], 1);
        for (size_t j = i; j < i + EXPECTED; j++)
            seen_filter_has(s->ours, &p->key[j], 1, &p->answer[j], NULL);
    }
}

static void ours_urls(struct bench_peers *s, struct bench_pool *p,
                      unsigned batch)
{
    struct seen_profile raw;

    seen_profile_find(&raw, "raw", NULL);
    for (size_t i = 0; i < POOL; i += batch) {
        size_t n = seen_key_make_many(p->key, p->code, NULL, 0, p->url + i,
                                      batch, &raw);

        seen_filter_has(s->ours, p->key, n, p->answer + i, NULL);
    }
}

/* The least that it can cost: the hash inline, and a lookup in a batch. */
static void inline_urls(struct bench_peers *s, struct bench_pool *p,
                        unsigned batch)
{
    for (size_t i = 0; i < POOL; i += batch) {
        for (size_t j = 0; j < batch; j++) {
            XXH128_hash_t h = XXH3_128bits(p->url[i + j].text,
                                           p->url[i + j].len);

            p->key[j].lo = h.low64;
            p->key[j].hi = h.high64;
        }
        seen_filter_has(s->ours, p->key, batch, p->answer + i, NULL);
    }
}

static void fast_has(struct bench_peers *s, struct bench_pool *p,
                     unsigned batch)
{
    for (size_t i = 0; i < POOL; i += batch)
        s->fast.has(&s->fast, p->hash + i, batch, p->answer + i);
}

static void fast_add(struct bench_peers *s, struct bench_pool *p,
                     unsigned batch)
{
    for (size_t i = 0; i < POOL; i += batch)
        bench_local_add(&s->fast, p->hash + i, batch);
}

static void lines_of_hashes(struct bench_peers *s, struct bench_pool *p,
                            unsigned batch)
{
    for (size_t i = 0; i < POOL; i += batch)
        limit_ask_hashes(seen_filter_memory(s->ours),
                         seen_filter_bytes(s->ours), p->hash + i, batch,
                         p->answer + i);
}

static void lines_of_keys(struct bench_peers *s, struct bench_pool *p,
                          unsigned batch)
{
    for (size_t i = 0; i < POOL; i += batch)
        limit_ask_keys(seen_filter_memory(s->ours), seen_filter_bytes(s->ours),
                       p->key + i, batch, p->answer + i);
}

static void libbloom_has(struct bench_peers *s, struct bench_pool *p,
                         unsigned batch)
{
    (void)batch;
    for (size_t i = 0; i < POOL; i++)
        p->answer[i] = bloom_check(&s->libbloom, &p->key[i].lo, 16) > 0;
}

static void libbloom_add(struct bench_peers *s, struct bench_pool *p,
                         unsigned batch)
{
    (void)batch;
    for (size_t i = 0; i < POOL; i++)
        p->answer[i] = bloom_add(&s->libbloom, &p->key[i].lo, 16) > 0;
}

#define LOOKUP "lookup"
#define INSERT "insert"

/* Without run() and builds: the limit. 0: every size of batch; of a limit, all
   but the first. */
static const struct bench_turn turns[] = {
    { .what = LOOKUP, .who = "limit" },
    { .what = LOOKUP, .who = "limit, hashes", .run = lines_of_hashes },
    { .what = LOOKUP, .who = "limit, keys", .run = lines_of_keys },
    { .what = LOOKUP, .who = "blocked", .run = ours_has },
    { .what = LOOKUP, .who = "FastLocalBloom", .run = fast_has },
    { .what = "expected", .who = "blocked", .batch = 1, .run = ours_expect },
    { .what = LOOKUP, .who = "libbloom", .batch = 1, .run = libbloom_has },
    { .what = "URL lookup",
      .who = "XXH3 inline",
      .batch = 256,
      .urls = true,
      .run = inline_urls },
    { .what = "URL lookup",
      .who = "blocked",
      .batch = 256,
      .urls = true,
      .run = ours_urls },
    { .what = INSERT, .who = "limit", .writes = true },
    { .what = INSERT, .who = "blocked", .writes = true, .run = ours_add },
    { .what = INSERT,
      .who = "FastLocalBloom",
      .writes = true,
      .run = fast_add },
    { .what = INSERT,
      .who = "libbloom",
      .batch = 1,
      .writes = true,
      .run = libbloom_add },
    { .what = "2 threads",
      .who = "blocked",
      .batch = 256,
      .writes = true,
      .shared = true,
      .run = ours_share },
    { .what = "2 threads",
      .who = "blocked",
      .batch = 4096,
      .writes = true,
      .shared = true,
      .run = ours_share },
    { .what = "bulk build",
      .who = "1 thread",
      .batch = CHUNK,
      .writes = true,
      .builds = 1 },
    { .what = "bulk build",
      .who = "2 threads",
      .batch = CHUNK,
      .writes = true,
      .builds = 2 },
};
enum { MOST_TURNS = 32 };

/* One thread's slice. */
struct bench_slice {
    struct bench_peers *s;
    struct bench_turn *t;
    struct bench_pool *pool;
    pthread_barrier_t *together; /* with the other thread, else NULL */
    double ns;
};

static void *run_slice(void *argument)
{
    struct bench_slice *slice = argument;

    slice->ns = 0;
    for (int i = slice->s->small ? -SLICE : 0; i < SLICE; i++) {
        double begin;

        prepare(slice->pool, slice->t->urls);
        if (slice->together)
            pthread_barrier_wait(slice->together);
        begin = bench_cpu_ns();
        slice->t->run(slice->s, slice->pool, slice->t->batch);
        if (i >= 0)
            slice->ns += bench_cpu_ns() - begin;
    }
    return NULL;
}

static double build_anew(const struct bench_peers *s, unsigned threads)
{
    struct contender ours = contender_ours;
    double ns = NAN;

    ours.build(&ours, "blocked", s->keys, false, threads, &ns);
    ours.close(&ours);
    return ns;
}

static double take_turn(struct bench_peers *s, struct bench_turn *t)
{
    pthread_barrier_t together;
    struct bench_slice slice[MOST_THREADS] = {
        { s, t, s->pool[0], &together, 0 }, { s, t, s->pool[1], &together, 0 }
    };
    size_t size = (size_t)seen_filter_bytes(s->ours);
    pthread_t other;

    if (t->builds)
        return build_anew(s, t->builds);
    if (!t->run)
        return (t->writes ? limit_write : limit_read)(
            seen_filter_memory(s->ours), size, SLICE * POOL);
    pthread_barrier_init(&together, NULL, MOST_THREADS);
    if (!t->shared || pthread_create(&other, NULL, run_slice, &slice[1])) {
        slice[0].together = NULL;
        run_slice(&slice[0]);
        return slice[0].ns / (SLICE * POOL);
    }
    run_slice(&slice[0]);
    pthread_join(other, NULL);
    pthread_barrier_destroy(&together);
    return fmax(slice[0].ns, slice[1].ns) / (2.0 * SLICE * POOL);
}

static void show(const struct bench_turn *t, uint64_t keys, double limit,
                 bool json, const char *between)
{
    double ns[TURNS], median;

    memcpy(ns, t->ns, sizeof ns);
    median = bench_median(ns, TURNS); /* which sorts them */
    if (json) {
        printf("%s\n  {\"keys\": %llu, \"what\": \"%s\", \"who\": \"%s\", "
               "\"batch\": %u, ",
               between, (unsigned long long)keys, t->what, t->who, t->batch);
        bench_json("ns", median, ", ");
        bench_json("least_ns", ns[0], ", ");
        bench_json("most_ns", ns[TURNS - 1], ", ");
        bench_json("x_limit", ns[0] / limit, "}");
        return;
    }
    printf("%11llu  %-10s %-15s ", (unsigned long long)keys, t->what, t->who);
    if (t->batch)
        printf("%5u", t->batch);
    else
        printf("%5s", "-");
    printf(" %8.2f %8.2f %8.2f %8.2f\n", ns[0], median, ns[TURNS - 1],
           ns[0] / limit);
}

/* The turns of this size of filter, one for each size of batch. */
static size_t list_turns(struct bench_turn *list, bool small)
{
    size_t n = 0;

    for (size_t i = 0; i < sizeof turns / sizeof turns[0]; i++) {
        bool one = turns[i].batch || !turns[i].run;

        if (!small && strcmp(turns[i].who, "libbloom") == 0)
            continue;
        for (size_t b = strncmp(turns[i].who, "limit", 5) || one ? 0 : 1;
             b < (one ? 1 : 3); b++) {
            list[n] = turns[i];
            if (!one)
                list[n].batch = batches[b];
            n++;
        }
    }
    return n;
}

static bool open_peers(struct bench_peers *s, uint64_t keys)
{
    struct seen_plan plan = {
        .kind = "blocked", .capacity = keys, .bits = keys * 10, .over = true
    };

    s->keys = keys;
    s->small = keys <= SMALL;
    for (unsigned i = 0; i < MOST_THREADS; i++) {
        s->pool[i] = calloc(1, sizeof *s->pool[i]);
        if (!s->pool[i])
            return false;
    }
    return bench_local_open(&s->fast, keys) &&
           !(s->small && bloom_init(&s->libbloom, (int)keys, 0.01)) &&
           seen_filter_new(&s->ours, &plan, NULL) == SEEN_OK &&
           seen_filter_new(&s->shared, &plan, NULL) == SEEN_OK &&
           seen_filter_allow_threads(s->shared, NULL) == SEEN_OK;
}

static void close_peers(struct bench_peers *s)
{
    for (unsigned i = 0; i < MOST_THREADS; i++)
        free(s->pool[i]);
    bench_local_close(&s->fast);
    if (s->small)
        bloom_free(&s->libbloom);
    seen_filter_free(s->ours);
    seen_filter_free(s->shared);
}

/* One slice of each, in an order of this turn; -1 is to warm up. */
static void take_round(struct bench_peers *s, struct bench_turn *list,
                       size_t n, bool writes, int turn)
{
    size_t order[MOST_TURNS] = { 0 };

    for (size_t i = 0; i < n; i++) {
        size_t at = seen_mix((uint64_t)(turn + 1) << 32 | i) % (i + 1);

        order[i] = order[at];
        order[at] = i;
    }
    for (size_t i = 0; i < n; i++) {
        struct bench_turn *t = &list[order[i]];

        if (t->writes == writes)
            t->ns[turn < 0 ? 0 : turn] = take_turn(s, t);
    }
}

bool bench_batches(uint64_t keys, bool json, const char *between)
{
    struct bench_turn list[MOST_TURNS];
    struct bench_peers s = { 0 };
    double limit = NAN;
    size_t n;

    if (!open_peers(&s, keys)) {
        close_peers(&s);
        return false;
    }
    for (uint64_t done = 0; done < keys; done += POOL) {
        prepare(s.pool[0], false);
        ours_add(&s, s.pool[0], 4096);
        ours_share(&s, s.pool[0], 4096);
        fast_add(&s, s.pool[0], 4096);
        if (s.small)
            libbloom_add(&s, s.pool[0], 1);
    }
    s.pool[1]->next = UINT64_C(1) << 42;
    n = list_turns(list, s.small);
    for (int writes = 0; writes < 2; writes++)
        for (int turn = -1; turn < TURNS; turn++)
            take_round(&s, list, n, writes, turn);
    for (size_t i = 0; i < n; i++) {
        if (!list[i].batch) {
            double ns[TURNS];

            memcpy(ns, list[i].ns, sizeof ns);
            bench_median(ns, TURNS);
            limit = ns[0];
        }
        show(&list[i], keys, limit, json, i ? "," : between);
    }
    close_peers(&s);
    return true;
}
