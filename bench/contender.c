/*
 * contender.c - what is measured: our kinds, and libbloom beside them.
 *
 * Filters that can be given bits get 10 a key, so that speeds compare; the
 * others get a planned rate of one percent.
 */
#include "bench.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <bloom.h>
#include <seen/build.h>
#include <seen/kind.h>

size_t bench_url(char *text, uint64_t number)
{
    uint64_t x = seen_mix(number);

    return (size_t)snprintf(
        text, URL_ROOM,
        "https://www.host-%04x.example/news/%04x/article-%014llx.html",
        (unsigned)(x >> 52), (unsigned)(x >> 40 & 0xfff),
        (unsigned long long)number);
}

void chunk_make(struct chunk *c, uint64_t first, bool urls)
{
    for (unsigned i = 0; i < CHUNK; i++) {
        c->number[i] = first + i;
        c->hash[i] = seen_mix(first + i);
        if (urls) {
            c->url[i].text = c->text[i];
            c->url[i].len = bench_url(c->text[i], first + i);
        } else {
            seen_key_number(&c->key[i], first + i);
        }
    }
}

static void keys_make(struct chunk *c)
{
    struct seen_profile raw;

    seen_profile_find(&raw, "raw", NULL);
    seen_key_make_many(c->key, NULL, NULL, 0, c->url, CHUNK, &raw);
}

static bool takes_bits(const char *kind)
{
    return !strchr(kind, '/') && seen_kind_can(kind, SEEN_CAN_ADD) &&
           !seen_kind_can(kind, SEEN_CAN_COUNT) &&
           !seen_kind_can(kind, SEEN_HAS_LAYERS);
}

static struct seen_plan plan_of(const char *kind, uint64_t keys)
{
    struct seen_plan plan = { .capacity = keys, .over = true };

    snprintf(plan.kind, sizeof plan.kind, "%s", kind);
    if (takes_bits(kind))
        plan.bits = keys * 10;
    else if (!seen_kind_can(kind, SEEN_SIZES_ITSELF))
        plan.rate = 0.01;
    return plan;
}

static const char *ours_open(struct contender *s, const char *kind,
                             uint64_t keys, unsigned threads)
{
    static struct seen_error why;
    struct seen_plan plan = plan_of(kind, keys);
    struct seen_filter *f;

    if (seen_filter_new(&f, &plan, &why) != SEEN_OK)
        return why.text;
    s->state = f;
    if (threads > 1 && seen_filter_allow_threads(f, &why) != SEEN_OK)
        return why.text;
    return NULL;
}

static void ours_add(struct contender *s, struct chunk *c, bool urls)
{
    if (urls)
        keys_make(c);
    seen_filter_add(s->state, c->key, CHUNK, NULL, NULL);
}

static void ours_has(struct contender *s, struct chunk *c, bool urls)
{
    if (urls)
        keys_make(c);
    seen_filter_has(s->state, c->key, CHUNK, c->answer, NULL);
}

static void ours_one(struct contender *s, struct chunk *c, bool urls)
{
    struct seen_profile raw;

    if (urls)
        seen_profile_find(&raw, "raw", NULL);
    for (unsigned i = 0; i < CHUNK; i++) {
        if (urls)
            seen_key_make_as(&c->key[i], NULL, c->url[i].text, c->url[i].len,
                             &raw, NULL);
        seen_filter_has(s->state, &c->key[i], 1, &c->answer[i], NULL);
    }
}

/* One thread's share of a bulk build, with the time that it took. */
struct build_lane {
    struct seen_build *build;
    unsigned number, threads;
    uint64_t first, last;
    bool urls;
    double ns;
    struct chunk *chunk;
};

static void *lane_run(void *argument)
{
    struct build_lane *lane = argument;
    struct chunk *c = lane->chunk;
    double begin;

    for (uint64_t i = lane->first; i < lane->last;) {
        unsigned n = 0;

        for (; n < CHUNKS && i < lane->last; n++, i += CHUNK)
            chunk_make(&c[n], i, lane->urls);
        begin = bench_work_ns(lane->threads);
        for (unsigned j = 0; j < n; j++) {
            if (lane->urls)
                keys_make(&c[j]);
            seen_build_add(lane->build, lane->number, c[j].key, CHUNK, NULL);
        }
        lane->ns += bench_work_ns(lane->threads) - begin;
    }
    begin = bench_work_ns(lane->threads);
    seen_build_flush(lane->build, lane->number, NULL);
    lane->ns += bench_work_ns(lane->threads) - begin;
    return NULL;
}

static bool ours_build(struct contender *s, const char *kind, uint64_t keys,
                       bool urls, unsigned threads, double *ns)
{
    struct seen_plan plan = plan_of(kind, keys);
    double begin = bench_work_ns(threads), slowest = 0;
    struct build_lane lane[MOST_THREADS] = { { 0 } };
    pthread_t thread[MOST_THREADS];
    struct seen_filter *f;
    struct seen_build *b;

    if (threads > 1 && seen_kind_can(kind, SEEN_NEEDS_ORDER))
        return false;
    if (seen_build_new(&b, &plan, threads, NULL) != SEEN_OK)
        return false;
    *ns = bench_work_ns(threads) - begin;
    for (unsigned i = 0; i < threads; i++) {
        lane[i].build = b;
        lane[i].number = i;
        lane[i].threads = threads;
        lane[i].first = keys / CHUNK * i / threads * CHUNK;
        lane[i].last = keys / CHUNK * (i + 1) / threads * CHUNK;
        lane[i].urls = urls;
        lane[i].chunk = calloc(CHUNKS, sizeof *lane[i].chunk);
        if (!lane[i].chunk)
            abort();
        pthread_create(&thread[i], NULL, lane_run, &lane[i]);
    }
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(thread[i], NULL);
        if (lane[i].ns > slowest)
            slowest = lane[i].ns;
        free(lane[i].chunk);
    }
    begin = bench_work_ns(threads);
    if (seen_build_finish(b, &f, NULL) != SEEN_OK)
        return false;
    *ns = (*ns + slowest + bench_work_ns(threads) - begin) / (double)keys;
    seen_filter_free(s->state);
    s->state = f;
    return true;
}

static void ours_close(struct contender *s)
{
    seen_filter_free(s->state);
    s->state = NULL;
}

static double ours_bits(const struct contender *s)
{
    return 8.0 * (double)seen_filter_bytes(s->state);
}

const struct contender contender_ours = {
    .name = "ours",
    .open = ours_open,
    .add = ours_add,
    .has = ours_has,
    .one = ours_one,
    .build = ours_build,
    .close = ours_close,
    .bits = ours_bits,
};

static const char *libbloom_open(struct contender *s, const char *kind,
                                 uint64_t keys, unsigned threads)
{
    struct bloom *b = calloc(1, sizeof *b);

    (void)kind, (void)threads;
    s->state = b;
    if (!b || keys > INT32_MAX || bloom_init(b, (int)keys, 0.01))
        return "libbloom cannot be that large";
    return NULL;
}

static void libbloom_add(struct contender *s, struct chunk *c, bool urls)
{
    for (unsigned i = 0; i < CHUNK; i++)
        if (urls)
            bloom_add(s->state, c->url[i].text, (int)c->url[i].len);
        else
            bloom_add(s->state, &c->number[i], sizeof c->number[i]);
}

static void libbloom_has(struct contender *s, struct chunk *c, bool urls)
{
    for (unsigned i = 0; i < CHUNK; i++)
        c->answer[i] = (urls ? bloom_check(s->state, c->url[i].text,
                                           (int)c->url[i].len)
                             : bloom_check(s->state, &c->number[i],
                                           sizeof c->number[i])) > 0;
}

static void libbloom_close(struct contender *s)
{
    bloom_free(s->state);
    free(s->state);
    s->state = NULL;
}

static double libbloom_bits(const struct contender *s)
{
    const struct bloom *b = s->state;

    return 8.0 * (double)b->bytes;
}

const struct contender contender_libbloom = {
    .name = "libbloom",
    .open = libbloom_open,
    .add = libbloom_add,
    .has = libbloom_has,
    .close = libbloom_close,
    .bits = libbloom_bits,
};
