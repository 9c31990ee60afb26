/*
 * layered.c - a bit array for each path segment, and one that ties them.
 *
 *     http://a.example/news/2024?p=1
 *     \______________/ \__/ \______/
 *         layer 1        2      3          of layered:3 and above
 *
 *              +----------------+
 *   layer 1    | H(segment 1)   | --.
 *              +----------------+   |
 *   layer 2    | H(segment 2)   | --+-- XOR --.
 *              +----------------+   |         |
 *   layer 3    | H(segment 3)   | --'         |
 *              +----------------+             |
 *   XOR layer  | H(1)^H(2)^H(3) | <-----------'
 *              +----------------+
 *
 * Segment 1 ends at the first slash after "scheme://", if there is one. After
 * the first '?' nothing is split. Layer L has the rest of the path. Empty
 * segments count: "http://h" and "http://h/" differ.
 *
 * The layers alone answer "is there a URL under http://a.example/news?", but
 * not whether a URL is there: with a1/a2 and b1/b2 stored, a1/b2 is in every
 * layer. Hence the XOR layer [1]: the k probes of a URL's segments, each of
 * 64 bits, are XORed one by one and then reduced to positions. (The paper
 * XORs the positions. That is the same if m is a power of two; for other m it
 * gives positions past the end.)
 *
 * Limits of XOR. It ignores order, and equal segments cancel: with x/a/b/b
 * stored, x/a is found; with x/a/b and y/b/a stored, x/b/a is found. These
 * false positives come from the structure of sites (day and month swapped in
 * the URLs of a blog: all of them), and more bits do not help. So the number
 * of the layer is put into the hash, and H differs between layers: the rule is
 * `mixed`. `published` is that of the paper, to compare with. New filters say
 * which they have. In files from before `mixed` became the default,
 * "layered:3" is the published rule.
 *
 * Sizes. A site has fewer hosts than pages: each layer is sized for its number
 * of distinct segments, plan.segments, at the planned rate. The XOR layer is
 * sized for all keys, so that it meets the rate alone. If all segments of a
 * URL are known, only the XOR layer tells whether the URL was added, so its
 * load gives the rate. The other layers can only make it lower.
 *
 * [1] Cen Zhiwang, Xu Jungang, Sun Jian: A multi-layer Bloom filter for
 *     duplicated URL detection. ICACTE 2010.
 */
#include <seen/kind_writer.h>

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <seen/url.h>

#include "../text/sip.h"
#include "args.h"
#include "cells.h"
#include "cost.h"
#include "probe.h"
#include "stripes.h"

struct layered {
    struct seen_filter base;    /* first: see kind_writer.h */
    uint64_t salt;
    uint64_t first[SEEN_LAYERS + 1];    /* bit of each layer; XOR last */
    uint64_t tied;              /* bits set in the XOR layer... */
    const unsigned char *tied_of;       /* ...of these cells */
    unsigned layers;            /* without the XOR layer */
    bool mixed;
};

/* The positions of a URL: those of each segment, then those of the XOR. */
struct spots {
    uint64_t at[SEEN_LAYERS + 1][MAX_PROBES];
    unsigned rows;              /* segments + 1 */
    uint64_t stripe;
};

extern const struct seen_kind filter_layered;

static double formula(double n, double m, unsigned k)
{
    return pow(-expm1(-(double)k * n / m), k);
}

static uint64_t whole_lines(uint64_t bits)
{
    return (bits + LINE_BITS - 1) / LINE_BITS * LINE_BITS;
}

/* The expected number of distinct segments in a layer: at most one per key. */
static uint64_t expected(const struct seen_plan *plan, unsigned layer)
{
    uint64_t n = plan->segments[layer];

    return n && n < plan->capacity ? n : plan->capacity;
}

/* Size one bit array for n keys; `like` gives rate, probes and the rest. */
static enum seen_code size_one(const struct seen_plan *like, uint64_t n,
                               struct seen_plan *one, struct seen_error *why)
{
    *one = *like;
    one->capacity = n;
    return seen_plan_size(one, false, 1, MAX_PROBES, formula, why);
}

/*
 * Given bits are divided among the layers in proportion to their segments, so
 * that all have the same bits per key, hence the same best k.
 */
static enum seen_code share_bits(struct seen_filter *f, unsigned layers,
                                 struct seen_error *why)
{
    struct seen_plan *plan = &f->plan, tie = *plan, sized;
    double sum = (double)plan->capacity, given = (double)plan->bits;
    enum seen_code code;

    for (unsigned i = 0; i < layers; i++)
        sum += (double)expected(plan, i);
    plan->bits = 0;
    for (unsigned i = 0; i <= layers; i++) {
        uint64_t n = i < layers ? expected(plan, i) : plan->capacity;

        f->shape[i] = (uint64_t)(given * ((double)n / sum)) / LINE_BITS *
                      LINE_BITS;
        plan->bits += f->shape[i];
        if (!f->shape[i])
            return seen_fail(why, SEEN_RANGE, 0,
                             "the bits are too few for %u layers", layers);
    }
    tie.bits = f->shape[layers];
    code = size_one(&tie, plan->capacity, &sized, why);
    plan->probes = sized.probes;
    plan->rate = sized.rate;
    return code;
}

static enum seen_code derive(struct seen_filter *f, unsigned layers,
                             struct seen_error *why)
{
    struct seen_plan *plan = &f->plan, tie, one;
    enum seen_code code;

    if (!plan->capacity)
        return seen_fail(why, SEEN_RANGE, 0,
                         "layered needs a capacity: its layers share it");
    if (plan->bits && plan->multiplier > 0)
        return seen_fail(why, SEEN_RANGE, 0,
                         "a multiplier sizes each layer: leave out the bits");
    if (plan->bits)
        return share_bits(f, layers, why);
    code = size_one(plan, plan->capacity, &tie, why);
    if (code != SEEN_OK)
        return code;
    plan->probes = tie.probes;
    plan->rate = tie.rate;
    plan->bits = f->shape[layers] = whole_lines(tie.bits);
    tie.bits = 0;               /* rate and probes decide the layers' sizes */
    tie.multiplier = 0;
    for (unsigned i = 0; i < layers; i++) {
        code = size_one(&tie, expected(plan, i), &one, why);
        if (code != SEEN_OK)
            return code;
        f->shape[i] = whole_lines(one.bits);
        plan->bits += f->shape[i];
    }
    if (plan->bits > SEEN_BITS)
        return seen_fail(why, SEEN_RANGE, 0,
                         "the plan takes more than 2^48 bits");
    return SEEN_OK;
}

/* The values of a file must fit together, or cells would be overrun. */
static enum seen_code check(const struct seen_filter *f, unsigned layers,
                            struct seen_error *why)
{
    const struct seen_plan *plan = &f->plan;
    uint64_t sum = 0;
    bool good = plan->probes && plan->probes <= MAX_PROBES;

    for (unsigned i = 0; i <= layers; i++) {
        good = good && f->shape[i] && f->shape[i] <= SEEN_BITS &&
               f->shape[i] % LINE_BITS == 0;
        sum += good ? f->shape[i] : 0;
    }
    if (!good || sum != plan->bits)
        return seen_fail(why, SEEN_RANGE, 0,
                         "the sizes of the layers do not fit together");
    return SEEN_OK;
}

/* Requests always have the rule; files of older versions may lack it. */
static enum seen_code read_rule(struct layered *l, const char *kind,
                                struct seen_error *why)
{
    char rule[16];
    bool given = seen_kind_arg(kind, 1, rule, sizeof rule), published;

    if (given && !strcmp(rule, "mixed"))
        return arg_last(kind, 1, "mixed", &l->mixed, why);
    return arg_last(kind, 1, "published", &published, why);
}

static enum seen_code layered_make(struct seen_filter *f,
                                   struct seen_error *why)
{
    struct layered *l = (struct layered *)f;
    const struct seen_plan *plan = &f->plan;
    enum seen_code code;
    unsigned layers;

    code = arg_number(plan->kind, 0, 1, SEEN_LAYERS, 0, &layers, why);
    if (code == SEEN_OK)
        code = read_rule(l, plan->kind, why);
    if (code == SEEN_OK)
        code = f->recorded ? check(f, layers, why) : derive(f, layers, why);
    if (code != SEEN_OK)
        return code;
    l->salt = seen_mix(plan->seed);
    l->layers = layers;
    for (unsigned i = 0; i < layers; i++)
        l->first[i + 1] = l->first[i] + f->shape[i];
    f->cell_bits = 1;
    f->size = plan->bits / 8;
    /* The limit is about the XOR layer: see layered_filled(). Code that
       compares it with `set`, which counts the bits of all layers, takes the
       filter for full too early, never too late. */
    f->limit = seen_plan_limit(plan, f->shape[layers]);
    return SEEN_OK;
}

/* H of a segment in its layer, counted from 0: where its probes begin. */
static struct probe hash(const struct layered *l, unsigned layer,
                         const char *text, const size_t *end)
{
    uint64_t salt = l->mixed ? part_seed(l->salt, layer) : l->salt;
    size_t from = layer ? end[layer - 1] + 1 : 0, len = end[layer] - from;
    struct seen_key key = { .text = text + from, .len = len };

    if (l->base.plan.keyed) {
        sip_hash(l->base.secret, key.text, len, &key.lo, &key.hi);
    } else {
        XXH128_hash_t h = XXH3_128bits(key.text, len);

        key.lo = h.low64;
        key.hi = h.high64;
    }
    return probe_first(&key, salt);
}

/* Find the positions of a URL, and start to fetch their cells. */
static void locate(const struct layered *l, const struct seen_key *key,
                   struct spots *s)
{
    const uint64_t *word = (const uint64_t *)l->base.cells;
    const struct seen_plan *plan = &l->base.plan;
    const uint64_t *shape = l->base.shape;
    uint64_t tie[MAX_PROBES] = { 0 }, *at;
    size_t end[SEEN_LAYERS];
    unsigned n = seen_url_segments(key->text, key->len, end, l->layers);

    for (unsigned i = 0; i < n; i++) {
        struct probe p = hash(l, i, key->text, end);

        for (unsigned j = 0; j < plan->probes; j++) {
            tie[j] ^= p.x;
            s->at[i][j] = l->first[i] + probe_next(&p, shape[i]);
            __builtin_prefetch(&word[s->at[i][j] / 64]);
        }
    }
    at = s->at[n];
    for (unsigned j = 0; j < plan->probes; j++) {
        at[j] = l->first[l->layers] + reduce(tie[j], shape[l->layers]);
        __builtin_prefetch(&word[at[j] / 64]);
    }
    s->rows = n + 1;
    s->stripe = tie[0];
}

static bool all_set(const struct layered *l, const uint64_t *at)
{
    const uint64_t *word = (const uint64_t *)l->base.cells;

    for (unsigned j = 0; j < l->base.plan.probes; j++)
        if (!bit_get(word, at[j]))
            return false;
    return true;
}

static uint64_t set_all(struct layered *l, const uint64_t *at)
{
    uint64_t *word = (uint64_t *)l->base.cells, more = 0;

    for (unsigned j = 0; j < l->base.plan.probes; j++)
        more += l->base.stripes ? bit_set_shared(word, at[j])
                                : bit_set(word, at[j]);
    return more;
}

/* The XOR layer first: it decides most lookups. */
static bool known(const struct layered *l, const struct spots *s)
{
    for (unsigned i = s->rows; i > 0; i--)
        if (!all_set(l, s->at[i - 1]))
            return false;
    return true;
}

/*
 * The number of bits set in the XOR layer. Files have only the sum over all
 * layers, and the store sets cells after make() and may replace them, so the
 * bits are counted at first use. One thread counts and the others wait, so
 * that no thread sets a bit before the number is known.
 */
static uint64_t tied(const struct layered *l)
{
    struct layered *own = (struct layered *)(uintptr_t)l;
    const unsigned char *cells = l->base.cells, *busy = (unsigned char *)own;
    const unsigned char *of = __atomic_load_n(&own->tied_of, __ATOMIC_ACQUIRE);
    const uint64_t *word = (const uint64_t *)cells;
    uint64_t count = 0;

    while (of != cells) {
        if (of == busy) {
            sched_yield();
            of = __atomic_load_n(&own->tied_of, __ATOMIC_ACQUIRE);
            continue;
        }
        if (!__atomic_compare_exchange_n(&own->tied_of, &of, busy, false,
                                         __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
            continue;
        for (uint64_t i = l->first[l->layers] / 64; i < l->base.size / 8; i++)
            count += (uint64_t)__builtin_popcountll(word[i]);
        __atomic_store_n(&own->tied, count, __ATOMIC_RELAXED);
        __atomic_store_n(&own->tied_of, cells, __ATOMIC_RELEASE);
        break;
    }
    return __atomic_load_n(&own->tied, __ATOMIC_RELAXED);
}

/* The address of the cells is not enough: memory is reused, and a mapping
   shows the changes of writers. */
static void layered_renew(struct seen_filter *f)
{
    ((struct layered *)f)->tied_of = NULL;
}

static enum seen_code layered_has(const struct seen_filter *f,
                                  const struct seen_key *key, size_t n,
                                  bool *seen, struct seen_error *why)
{
    const struct layered *l = (const struct layered *)f;
    struct spots s;

    (void)why;                  /* memory does not fail */
    for (size_t i = 0; i < n; i++) {
        locate(l, &key[i], &s);
        seen[i] = known(l, &s);
    }
    return SEEN_OK;
}

/* Add one key; false if it is new and the filter is full. */
static bool add_one(struct layered *l, const struct spots *s, bool *fresh)
{
    bool found = known(l, s);
    uint64_t in_tie, more = 0;

    if (!found && tied(l) >= l->base.limit)
        return false;
    if (fresh)
        *fresh = !found;
    if (found)
        return true;
    for (unsigned i = 0; i + 1 < s->rows; i++)
        more += set_all(l, s->at[i]);
    in_tie = set_all(l, s->at[s->rows - 1]);
    if (l->base.stripes) {
        __atomic_fetch_add(&l->tied, in_tie, __ATOMIC_RELAXED);
        __atomic_fetch_add(&l->base.set, more + in_tie, __ATOMIC_RELAXED);
    } else {
        l->tied += in_tie;
        l->base.set += more + in_tie;
    }
    return true;
}

static enum seen_code layered_add(struct seen_filter *f,
                                  const struct seen_key *key, size_t n,
                                  bool *fresh, struct seen_error *why)
{
    struct layered *l = (struct layered *)f;
    struct spots s;

    tied(l);                    /* before this thread sets its first bit */
    for (size_t i = 0; i < n; i++) {
        bool added;

        locate(l, &key[i], &s);
        if (f->stripes)
            stripe_lock(f, s.stripe);
        added = add_one(l, &s, fresh ? fresh + i : NULL);
        if (f->stripes)
            stripe_unlock(f, s.stripe);
        if (!added)
            return seen_fail(why, SEEN_FULL, i,
                             "the filter holds all it was planned for");
    }
    return SEEN_OK;
}

/*
 * Layer L holds the rests of paths, not their beginnings, so a prefix that
 * reaches into it is looked up in the layers above only: "yes" may then be
 * wrong, but "no" is certain. A slash at the end of a prefix has no effect.
 */
static enum seen_code layered_under(const struct seen_filter *f,
                                    const struct seen_key *key, bool *seen,
                                    struct seen_error *why)
{
    const struct layered *l = (const struct layered *)f;
    size_t end[SEEN_LAYERS];
    struct probe p;
    unsigned n;

    (void)why;
    n = seen_url_segments(key->text, key->len, end, l->layers);
    if (n > 1 && end[n - 1] == end[n - 2] + 1)
        n--;
    if (n == l->layers)
        n--;
    *seen = true;
    for (unsigned i = 0; i < n && *seen; i++) {
        uint64_t at[MAX_PROBES];

        p = hash(l, i, key->text, end);
        for (unsigned j = 0; j < f->plan.probes; j++)
            at[j] = l->first[i] + probe_next(&p, f->shape[i]);
        *seen = all_set(l, at);
    }
    return SEEN_OK;
}

/* The places of a prefix are those of its segments, without the XOR. */
static enum seen_code layered_reach(const struct seen_filter *f,
                                    const struct seen_key *key, uint64_t *at,
                                    size_t *n, struct seen_error *why)
{
    struct spots s;

    (void)why;
    locate((const struct layered *)f, key, &s);
    *n = 0;
    for (unsigned i = 0; i < s.rows; i++)
        for (unsigned j = 0; j < f->plan.probes; j++)
            at[(*n)++] = s.at[i][j] / 8;
    return SEEN_OK;
}

static double layered_rate(const struct seen_filter *f)
{
    const struct layered *l = (const struct layered *)f;

    return pow((double)tied(l) / (double)f->shape[l->layers], f->plan.probes);
}

/* Every URL is in the XOR layer, so its load gives their number. */
static double layered_entries(const struct seen_filter *f)
{
    const struct layered *l = (const struct layered *)f;
    double m = (double)f->shape[l->layers];

    return -m / f->plan.probes * log1p(-fmin((double)tied(l), m - 1) / m);
}

static uint64_t layered_filled(const struct seen_filter *f)
{
    return tied((const struct layered *)f);
}

static enum seen_code layered_merge(struct seen_filter *f,
                                    const struct seen_filter *from,
                                    struct seen_error *why)
{
    uint64_t *to = (uint64_t *)f->cells;
    const uint64_t *with = (const uint64_t *)from->cells;

    (void)why;                  /* filter.c has compared the two */
    for (size_t i = 0; i < f->size / sizeof *to; i++)
        to[i] |= with[i];
    f->set = cells_count(f->cells, f->size);
    layered_renew(f);
    return SEEN_OK;
}

/* A hash and a row of probes per segment, and a row of the XOR layer. */
static uint64_t layered_cost(const struct seen_filter *f)
{
    const struct layered *l = (const struct layered *)f;
    unsigned hash = f->plan.keyed ? COST_SIP : COST_XXH3;

    return (l->layers + 1) * (uint64_t)f->plan.probes + l->layers * hash;
}

/* A single layer holds whole URLs, not their beginnings. */
static unsigned layered_traits(const char *text)
{
    unsigned layers, traits = SEEN_CAN_ADD | SEEN_CAN_MERGE | SEEN_READS_TEXT |
                              SEEN_HAS_LAYERS;
    enum seen_code code = arg_number(text, 0, 1, SEEN_LAYERS, 1, &layers,
                                     NULL);
    char rule[16];
    bool mixed = seen_kind_arg(text, 1, rule, sizeof rule) &&
                 !strcmp(rule, "mixed");

    if (code == SEEN_OK && layers > 1)
        traits |= SEEN_CAN_PREFIX | (mixed ? 0 : SEEN_IGNORES_ORDER);
    return traits;
}

const struct seen_kind filter_layered = {
    .name = "layered",
    .synopsis = "layered:L[,published]",
    .summary = "an array of bits per path segment: answers for prefixes",
    .traits_of = layered_traits,
    .implied_at = 1,
    .implied = "mixed",
    .implied_before = "published",
    .state = sizeof(struct layered),
    .make = layered_make,
    .has = layered_has,
    .add = SEEN_CHANGE(layered_add),
    .rate = layered_rate,
    .cost = layered_cost,
    .entries = layered_entries,
    .under = layered_under,
    .merge = SEEN_CHANGE(layered_merge),
    .filled = layered_filled,
    .renew = layered_renew,
    .reach = layered_reach,
};
