/*
 * counting.c - counters instead of bits: keys can be removed and counted.
 *
 * A Bloom filter with a counter of W bits instead of each bit. Adding a key
 * adds 1 to its k counters, and removing it subtracts 1. The smallest of the
 * k counters is its count ("minimum selection"). It is too high only if all k
 * are shared with other keys, which is as rare as a false positive.
 *
 *   counter  0   1   2         15  16
 *           +---+---+---+-...-+---+---+-
 *   W = 4   | 2 | 0 | 1 |     | 0 | 3 |      16 to a word of 64 bits
 *           +---+---+---+-...-+---+---+-
 *
 * Counter i is the W bits from bit iW on, numbered as in cells.h. So that
 * the count is never below the truth:
 *
 * - A counter that reaches 2^W - 1 is never changed again, because what was
 *   not counted above it cannot be subtracted. A count of 2^W - 1 means "this
 *   many or more". With W = 4 and half of the counters in use, two counters in
 *   10^15 get there by sharing alone; those of keys added 15 times do.
 * - If two probes of a key fall on one counter, it is changed once. Changing
 *   it twice would be as symmetric, but would count the key twice there.
 * - A key whose count is 0 was never added, and is not removed.
 *
 * With `minimal`, an add raises only the counters that equal the smallest
 * ("minimal increase"). That is enough for the count, and makes it too high
 * far less often, but keys cannot be removed: a counter that was not raised
 * for one key would be lowered for it, below the true count of another. It is
 * one comparison in raised(), so it is an argument of this kind and not a
 * kind of the laboratory.
 *
 * S. Cohen, Y. Matias: Spectral Bloom filters. SIGMOD 2003, sections 2, 3.2.
 */
#include <seen/kind_writer.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "cells.h"
#include "probe.h"
#include "stripes.h"

enum { BATCH = 16 };

struct counting {
    struct seen_filter base;    /* first: see kind_writer.h */
    uint64_t salt;
    uint64_t counters;
    uint64_t most;              /* 2^W - 1: a counter that is stuck */
    bool minimal;
};

/* The distinct counters of a key. */
struct spots {
    uint64_t at[MAX_PROBES];
    unsigned n;
};

extern const struct seen_kind filter_counting;

static double formula(double n, double m, unsigned k)
{
    return pow(-expm1(-(double)k * n / m), k);
}

static enum seen_code counting_make(struct seen_filter *f,
                                    struct seen_error *why)
{
    struct counting *c = (struct counting *)f;
    struct seen_plan *plan = &f->plan;
    enum seen_code code;
    unsigned width;

    code = arg_number(plan->kind, 0, 4, 32, 4, &width, why);
    if (code == SEEN_OK)
        code = arg_last(plan->kind, 1, "minimal", &c->minimal, why);
    if (code == SEEN_OK && (width & (width - 1)))
        code = seen_fail(why, SEEN_RANGE, 0,
                         "counters have 4, 8, 16 or 32 bits, not %u", width);
    if (code == SEEN_OK)
        code = seen_plan_size(plan, f->recorded, width, MAX_PROBES, formula,
                              why);
    if (code != SEEN_OK)
        return code;
    if (plan->bits < width)
        return seen_fail(why, SEEN_RANGE, 0, "not one counter fits the bits");
    c->salt = seen_mix(plan->seed);
    c->counters = plan->bits / width;
    c->most = (UINT64_C(1) << width) - 1;
    f->cell_bits = width;
    f->size = (plan->bits + LINE_BITS - 1) / LINE_BITS * LINE;
    f->limit = seen_plan_limit(plan, c->counters);
    return SEEN_OK;
}

/* Find the counters of up to BATCH keys, and start to fetch them. */
static size_t locate(const struct counting *c, const struct seen_key *key,
                     size_t n, struct spots spots[BATCH])
{
    size_t some = n < BATCH ? n : BATCH;

    for (size_t i = 0; i < some; i++) {
        struct probe p = probe_first(&key[i], c->salt);
        struct spots *s = &spots[i];

        s->n = 0;
        for (unsigned j = 0; j < c->base.plan.probes; j++) {
            uint64_t at = probe_next(&p, c->counters);
            unsigned same = 0;

            while (same < s->n && s->at[same] != at)
                same++;
            if (same < s->n)
                continue;
            s->at[s->n++] = at;
            __builtin_prefetch(c->base.cells + at * c->base.cell_bits / 8);
        }
    }
    return some;
}

static uint64_t get(const struct counting *c, uint64_t at)
{
    const uint64_t *word = (const uint64_t *)c->base.cells;
    uint64_t bit = at * c->base.cell_bits;

    return __atomic_load_n(&word[bit / 64], __ATOMIC_RELAXED) >> bit % 64 &
           c->most;
}

static uint64_t smallest(const struct counting *c, const struct spots *s)
{
    uint64_t least = c->most;

    for (unsigned j = 0; j < s->n; j++) {
        uint64_t value = get(c, s->at[j]);

        least = value < least ? value : least;
    }
    return least;
}

/* The new value of a counter after an add or a remove; `least` is the count. */
static uint64_t raised(const struct counting *c, uint64_t value,
                       uint64_t least)
{
    if (c->minimal)             /* at least count + 1, also if others add */
        return value > least || value == c->most ? value : least + 1;
    return value == c->most ? value : value + 1;
}

static uint64_t lowered(const struct counting *c, uint64_t value)
{
    return value == c->most || !value ? value : value - 1;
}

/*
 * Other counters of the word may belong to keys of other stripes, so with
 * several threads the word is written by compare and exchange.
 */
static bool swap(struct counting *c, uint64_t *word, uint64_t *old,
                 uint64_t new)
{
    if (c->base.stripes)
        return __atomic_compare_exchange_n(word, old, new, true,
                                           __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    *word = new;
    return true;
}

/* Change the counters of a key, whose count is `least`. */
static void change(struct counting *c, const struct spots *s, bool up,
                   uint64_t least)
{
    uint64_t *cells = (uint64_t *)c->base.cells, more = 0;

    for (unsigned j = 0; j < s->n; j++) {
        uint64_t bit = s->at[j] * c->base.cell_bits, *word = &cells[bit / 64];
        uint64_t old = __atomic_load_n(word, __ATOMIC_RELAXED), new, was, is;

        do {
            was = old >> bit % 64 & c->most;
            is = up ? raised(c, was, least) : lowered(c, was);
            new = old ^ (was ^ is) << bit % 64;
        } while (!swap(c, word, &old, new));
        more += (uint64_t)(is != 0) - (uint64_t)(was != 0);
    }
    if (c->base.stripes)
        __atomic_fetch_add(&c->base.set, more, __ATOMIC_RELAXED);
    else
        c->base.set += more;
}

static void counting_expect(const struct seen_filter *f,
                            const struct seen_key *key, size_t n)
{
    const struct counting *c = (const struct counting *)f;

    for (size_t i = 0; i < n; i++) {
        struct probe p = probe_first(&key[i], c->salt);

        for (unsigned j = 0; j < f->plan.probes; j++)
            __builtin_prefetch(f->cells +
                               probe_next(&p, c->counters) * f->cell_bits / 8);
    }
}

static enum seen_code counting_has(const struct seen_filter *f,
                                   const struct seen_key *key, size_t n,
                                   bool *seen, struct seen_error *why)
{
    const struct counting *c = (const struct counting *)f;
    struct spots spots[BATCH];

    (void)why;                  /* memory does not fail */
    for (size_t done = 0, some; done < n; done += some) {
        some = locate(c, key + done, n - done, spots);
        for (size_t i = 0; i < some; i++)
            seen[done + i] = smallest(c, &spots[i]);
    }
    return SEEN_OK;
}

static enum seen_code counting_count(const struct seen_filter *f,
                                     const struct seen_key *key, size_t n,
                                     uint64_t *count, struct seen_error *why)
{
    const struct counting *c = (const struct counting *)f;
    struct spots spots[BATCH];

    (void)why;
    for (size_t done = 0, some; done < n; done += some) {
        some = locate(c, key + done, n - done, spots);
        for (size_t i = 0; i < some; i++)
            count[done + i] = smallest(c, &spots[i]);
    }
    return SEEN_OK;
}

/* Add or remove one key; false if the filter is full, or the key not there. */
static bool change_one(struct counting *c, const struct spots *s, bool up,
                       bool *fresh)
{
    uint64_t least = smallest(c, s);

    if (!least && (!up || set_cells(&c->base) >= c->base.limit))
        return false;
    change(c, s, up, least);
    if (fresh)
        *fresh = !least;
    return true;
}

/* Add or remove keys until one is refused; return how many. */
static size_t change_all(struct counting *c, const struct seen_key *key,
                         size_t n, bool up, bool *fresh)
{
    struct spots spots[BATCH];
    struct seen_filter *f = &c->base;

    for (size_t done = 0, some; done < n; done += some) {
        some = locate(c, key + done, n - done, spots);
        for (size_t i = 0; i < some; i++) {
            bool changed;

            if (f->stripes)
                stripe_lock(f, key[done + i].lo);
            changed = change_one(c, &spots[i], up,
                                 fresh ? fresh + done + i : NULL);
            if (f->stripes)
                stripe_unlock(f, key[done + i].lo);
            if (!changed)
                return done + i;
        }
    }
    return n;
}

static enum seen_code counting_add(struct seen_filter *f,
                                   const struct seen_key *key, size_t n,
                                   bool *fresh, struct seen_error *why)
{
    size_t added = change_all((struct counting *)f, key, n, true, fresh);

    return added == n ? SEEN_OK
                      : seen_fail(why, SEEN_FULL, added,
                                  "the filter holds all it was planned for");
}

static enum seen_code counting_remove(struct seen_filter *f,
                                      const struct seen_key *key, size_t n,
                                      struct seen_error *why)
{
    struct counting *c = (struct counting *)f;
    size_t removed;

    removed = change_all(c, key, n, false, NULL);
    return removed == n ? SEEN_OK
                        : seen_fail(why, SEEN_ABSENT, removed,
                                    "the count of the key is 0");
}

static enum seen_code counting_reach(const struct seen_filter *f,
                                     const struct seen_key *key, uint64_t *at,
                                     size_t *n, struct seen_error *why)
{
    struct spots spots[BATCH];

    (void)why;
    locate((const struct counting *)f, key, 1, spots);
    *n = spots[0].n;
    for (size_t j = 0; j < *n; j++)
        at[j] = spots[0].at[j] * f->cell_bits / 8;
    return SEEN_OK;
}

static double counting_rate(const struct seen_filter *f)
{
    const struct counting *c = (const struct counting *)f;

    return pow((double)set_cells(f) / (double)c->counters, f->plan.probes);
}

static uint64_t counting_recount(const struct seen_filter *f)
{
    const struct counting *c = (const struct counting *)f;
    uint64_t set = 0;

    for (uint64_t i = 0; i < c->counters; i++)
        set += get(c, i) != 0;
    return set;
}

/* The sum of two counts is the count of the union; stuck counters stay. */
static enum seen_code counting_merge(struct seen_filter *f,
                                     const struct seen_filter *from,
                                     struct seen_error *why)
{
    struct counting *c = (struct counting *)f;
    const struct counting *with = (const struct counting *)from;
    uint64_t *word = (uint64_t *)f->cells;

    (void)why;
    for (uint64_t i = 0; i < c->counters; i++) {
        uint64_t bit = i * f->cell_bits, was = get(c, i);
        uint64_t sum = was + get(with, i);

        sum = sum < c->most ? sum : c->most;
        word[bit / 64] ^= (was ^ sum) << bit % 64;
    }
    f->set = counting_recount(f);
    return SEEN_OK;
}

/*
 * Minimal increase cannot remove, since which counters a key has raised
 * depends on the keys before it; nor merge, since sums of counters are not
 * the least counters of the union.
 */
static unsigned counting_traits(const char *text)
{
    char arg[16];

    if (seen_kind_arg(text, 1, arg, sizeof arg) && !strcmp(arg, "minimal"))
        return SEEN_CAN_ADD | SEEN_CAN_COUNT | SEEN_NEEDS_ORDER;
    return SEEN_CAN_ADD | SEEN_CAN_COUNT | SEEN_CAN_REMOVE | SEEN_CAN_MERGE;
}

const struct seen_kind filter_counting = {
    .name = "counting",
    .synopsis = "counting:W[,minimal]",
    .summary = "counters of W bits, to remove and to count",
    .traits_of = counting_traits,
    .as_bits = "bloom",
    .state = sizeof(struct counting),
    .make = counting_make,
    .has = counting_has,
    .expect = counting_expect,
    .add = SEEN_CHANGE(counting_add),
    .rate = counting_rate,
    .remove = SEEN_CHANGE(counting_remove),
    .count = counting_count,
    .merge = SEEN_CHANGE(counting_merge),
    .recount = counting_recount,
    .reach = counting_reach,
};
