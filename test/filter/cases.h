/*
 * cases.h - what the tests of filters share: URLs, and every kind there is.
 *
 * The URLs are the combinations of 100 hosts, 100 folders and 200 pages, in
 * an order that looks random: 1234567 has no factor in common with their
 * number, so all are distinct. Among the first few thousand all segments
 * occur, so that one never added is a crossing of known ones: the worst that
 * a `layered` filter can be asked.
 */
#ifndef TEST_FILTER_CASES_H
#define TEST_FILTER_CASES_H

#include "test/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seen/kind_writer.h>

enum { URLS = 2000000, URL_ROOM = 40 };

/* The first n URLs; free() gives all of it back. */
static inline struct seen_key *urls_new(size_t n)
{
    struct seen_key *key = malloc(n * (sizeof *key + URL_ROOM));
    char *text = (char *)(key + n);

    assert_true(n <= URLS);
    assert_non_null(key);
    for (size_t i = 0; i < n; i++, text += URL_ROOM) {
        size_t j = i * 1234567 % URLS;
        int len = snprintf(text, URL_ROOM, "http://h%zu.example/d%zu/p%zu",
                           j % 100, j / 100 % 100, j / 10000);

        seen_key_hash(&key[i], text, (size_t)len);
    }
    return key;
}

/* Every kind that can be added to, and nestings that make sense. */
static const char *const every_kind[] = {
    "bloom",
    "bloom:jenkins",
    "bloom:murmur",
    "bloom:murmur3",
    "bloom:md5",
    "bloom:sha1",
    "bloom:orestes",
    "bloom:jenkins+murmur+sha1",
    "blocked",
    "counting",
    "counting:8",
    "counting:16,minimal",
    "counting:32",
    "layered:1",
    "layered:3",
    "layered:2,mixed",
    "spatial/bloom",
    "spatial:3/blocked",
    "routed:16/bloom",
    "routed:16,md5/blocked",
    "routed:4/layered:3,mixed",
    "growing/bloom",
    "growing:4/blocked",
    "growing/counting:8",
    "growing/layered:3",
    "dynamic:4/bloom",
    "dynamic/blocked",
    "spatial:2/routed:16/counting:8",
    "growing/routed:4/bloom:murmur",
    "growing/spatial:2/blocked",
    "routed:8/growing/blocked",
    "spatial:2/growing/bloom",
    "routed:2/dynamic:3/blocked",
    "growing:3/spatial:2/routed:2/bloom",
};

/* Those that only the builder makes. */
static const char *const built_kind[] = {
    "fuse",
    "fuse:16",
    "routed:4/fuse",
    "spatial:2/fuse",
    "spatial:2/routed:2,md5/fuse",
    "ribbon",
    "ribbon:8",
    "ribbon:16",
    "routed:4/ribbon",
    "spatial:2/ribbon",
    "shards",
    "shards:8",
    "routed:4/shards",
    "spatial:2/shards",
};

/* Whether a kind grows past its capacity, and whether a name occurs in it. */
static inline bool contains(const char *kind, const char *name)
{
    return strstr(kind, name) != NULL;
}

/* Whether a kind can be keyed: published hashes cannot. */
static inline bool keyable(const char *kind)
{
    return !contains(kind, "bloom:") && !contains(kind, "md5");
}

static inline struct seen_plan plan_of(const char *kind, uint64_t capacity,
                                       double rate)
{
    struct seen_plan plan = { .capacity = capacity, .rate = rate, .seed = 7 };

    snprintf(plan.kind, sizeof plan.kind, "%s", kind);
    return plan;
}

/* What keyed filters of tests are keyed with. */
static const unsigned char secret[SEEN_SECRET] = "sixteen letters";

static inline const unsigned char *secret_of(const struct seen_plan *plan)
{
    return plan->keyed ? secret : NULL;
}

static inline struct seen_filter *made(const struct seen_plan *plan)
{
    struct seen_filter *f;
    struct seen_error why = { .code = SEEN_OK };

    if (seen_filter_new_keyed(&f, plan, secret_of(plan), &why) != SEEN_OK)
        fail_msg("%s: %s", plan->kind, why.text);
    return f;
}

static inline void add_all(struct seen_filter *f, const struct seen_key *key,
                           size_t n)
{
    struct seen_error why = { .code = SEEN_OK };

    if (seen_filter_add(f, key, n, NULL, &why) != SEEN_OK)
        fail_msg("%s: key %llu: %s", f->plan.kind, (unsigned long long)why.at,
                 why.text);
}

/* How many of n keys the filter says yes to. */
static inline size_t yes(const struct seen_filter *f,
                         const struct seen_key *key, size_t n)
{
    bool *seen = malloc(n + 1);
    size_t sum = 0;

    assert_non_null(seen);
    assert_int_equal(seen_filter_has(f, key, n, seen, NULL), SEEN_OK);
    for (size_t i = 0; i < n; i++)
        sum += seen[i];
    free(seen);
    return sum;
}

/* Whether two filters have the same plan, parts and cells. */
static inline bool same(const struct seen_filter *f,
                        const struct seen_filter *g)
{
    if (f->parts != g->parts || f->size != g->size || f->set != g->set ||
        f->plan.bits != g->plan.bits || f->plan.seed != g->plan.seed)
        return false;
    if (f->cells && memcmp(f->cells, g->cells, f->size))
        return false;
    for (unsigned i = 0; i < f->parts; i++)
        if (!same(f->part[i], g->part[i]))
            return false;
    return true;
}

/* Numbers that look random, the same in every run. */
static inline uint64_t chance(uint64_t *state, uint64_t below)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    return seen_mix(*state) % below;
}

#endif
