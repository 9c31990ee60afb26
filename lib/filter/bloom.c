/*
 * bloom.c - the classic Bloom filter.
 *
 * An array of m bits and k probes per key [1]. For n keys and a planned
 * false-positive rate p, k = -log2 p is best and sets half of the bits. k must
 * be whole, and m follows from the rounded k:
 *
 *     p = (1 - e^(-kn/m))^k         m = -kn / ln(1 - p^(1/k))
 *
 * probe.h finds the k cells of a key; kind_writer.h says when the filter is
 * full. Keys are not counted: their number follows from the set bits.
 *
 * "bloom" uses the 128 bits of the key, and "bloom:sip" is the same under a
 * secret. The others hash the text as published (see ../key/published.h), to
 * compare with the papers and to read their filters. Let h(s, t) be the hash
 * of text t under salt s. Then probe j of a filter of m bits is
 *
 *     bloom:jenkins            h(s_j, t) m / 2^32       of 32-bit functions
 *     bloom:sha1               h(s_j, t) m / 2^64       of 64-bit functions
 *     bloom:jenkins+sha1       the same, by function j mod 2 of the list
 *     bloom:orestes            (h(0, t) + j h(h(0, t), t)) mod m, h Murmur3
 *
 * where s_j = seen_mix(seen_mix(seed) + j); 32-bit functions use its low half.
 * One function with k salts is as good as k functions [2], and another seed
 * gives other salts, hence errors on other keys. Orestes [3] has no seed. A
 * 32-bit function cannot reach all cells of a filter of more than 2^32 bits:
 * such plans are refused. Below, it reaches some cells more often than others,
 * and plans get as many bits more as that takes: see uneven.h.
 *
 * [1] B. Bloom: Space/time trade-offs in hash coding with allowable
 *     errors. CACM 13(7), 1970.
 * [2] the thesis, section 4.1 and tables 5.1 to 5.8.
 * [3] the library of the archives report: h1 + i h2, with two Murmur3.
 */
#include <seen/kind_writer.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../key/published.h"
#include "args.h"
#include "cells.h"
#include "uneven.h"
#include "probe.h"
#include "region.h"
#include "stripes.h"

/* In a filter of 1 GB, adding took 164 ns per key in batches of 16, 192 ns one
   by one. */
enum {
    BATCH = 16, /* keys at a time */
    ASKED = 128,     /* the same, of lookups */
    FIRST = 4,       /* probes of all keys, at most */
    POSITIONS = 2048 /* of other probes, that are fetched before they are
                        read */
};

struct bloom {
    struct seen_filter base; /* first: see kind_writer.h */
    uint64_t salt;
    enum published function[PUBLISHED_COUNT];
    unsigned functions;         /* 0: none; the bits of the key are used */
    bool orestes;               /* the pair of Murmur3 */
    uint32_t salts[MAX_PROBES]; /* s_j, their low halves */
};

extern const struct seen_kind filter_bloom;

static double formula(double n, double m, unsigned k)
{
    return pow(-expm1(-(double)k * n / m), k);
}

/* A list with a function of 32 bits, as if all were: see uneven.h. */
static double formula_narrow(double n, double m, unsigned k)
{
    struct uneven_filter f = { m, k, 0, 0x1p32 };

    return uneven_rate(&f, n);
}

/*
 * Of Orestes' probes only the first, h1 mod m, is as uneven. h1 + j h2 covers
 * m j + 1 times as often, from a place that depends on h2: with j = 1 its
 * probabilities differ by m / 2^32 of those of h1, and with larger j by less.
 */
static double formula_orestes(double n, double m, unsigned k)
{
    struct uneven_filter f = { m, 1, k - 1, 0x1p32 };

    return uneven_rate(&f, n);
}

/* Read a list of functions, as in "jenkins+murmur+sha1". */
static enum seen_code read_list(struct bloom *b, const char *list,
                                struct seen_error *why)
{
    bool used[PUBLISHED_COUNT] = { false };

    for (const char *at = list;; at++) {
        size_t len = strcspn(at, "+");
        enum published which = published_find(at, len);

        if (which == PUBLISHED_COUNT)
            return seen_fail(why, SEEN_RANGE, 0,
                             "no hash is named '%.*s': there are sip, "
                             "jenkins, murmur, murmur3, md5, sha1, orestes",
                             (int)len, at);
        if (used[which])
            return seen_fail(why, SEEN_RANGE, 0,
                             "%.*s is there twice: a list is of distinct "
                             "functions",
                             (int)len, at);
        used[which] = true;
        b->function[b->functions++] = which;
        at += len;
        if (!*at)
            return SEEN_OK;
    }
}

static enum seen_code read_hash(struct bloom *b, const struct seen_plan *plan,
                                struct seen_error *why)
{
    char hash[SEEN_KIND_TEXT];
    enum seen_code code = arg_last(plan->kind, 1, NULL, NULL, why);

    if (code != SEEN_OK || !seen_kind_arg(plan->kind, 0, hash, sizeof hash))
        return code;
    if (!strcmp(hash, "sip"))
        return plan->keyed ? SEEN_OK
                           : seen_fail(why, SEEN_RANGE, 0,
                                       "bloom:sip needs a secret key");
    b->orestes = !strcmp(hash, "orestes");
    code = b->orestes ? SEEN_OK : read_list(b, hash, why);
    if (code == SEEN_OK && plan->keyed)
        code = seen_fail(why, SEEN_RANGE, 0,
                         "%s has no secret: a keyed filter hashes with sip",
                         hash);
    return code;
}

/* Is one of the filter's functions a 32-bit function? */
static bool narrow(const struct bloom *b)
{
    for (unsigned i = 0; i < b->functions; i++)
        if (!published_wide(b->function[i]))
            return true;
    return b->orestes;
}

/* How many probes of a key are looked at before the others are fetched. */
static inline unsigned first_of(const struct seen_plan *plan)
{
    return plan->probes <= FIRST ? plan->probes : 3;
}

/* Find the next positions of a key, and start to fetch their cells. */
static inline void find_next(struct probe *p, const uint64_t *word, uint64_t m,
                             unsigned n, uint64_t *at)
{
    for (unsigned j = 0; j < n; j++) {
        at[j] = probe_next(p, m);
        __builtin_prefetch(&word[at[j] / 64]);
    }
}

static enum seen_code has_one(const struct seen_filter *f,
                              const struct seen_key *key, bool *seen)
{
    const uint64_t *word = (const uint64_t *)f->cells;
    const uint64_t m = f->plan.bits;
    unsigned first = first_of(&f->plan), rest = f->plan.probes - first;
    struct probe p = probe_first(key, ((const struct bloom *)f)->salt);
    uint64_t at[MAX_PROBES];
    bool set = true;

    for (unsigned j = 0; j < first; j++)
        set &= bit_get(word, probe_next(&p, m));
    if (set)
        find_next(&p, word, m, rest, at);
    for (unsigned j = 0; j < rest && set; j++)
        set = bit_get(word, at[j]);
    *seen = set;
    return SEEN_OK;
}

static enum seen_code bloom_make(struct seen_filter *f, struct seen_error *why)
{
    struct bloom *b = (struct bloom *)f;
    struct seen_plan *plan = &f->plan;
    enum seen_code code = read_hash(b, plan, why);

    if (code == SEEN_OK)
        code = seen_plan_size(plan, f->recorded, 1, MAX_PROBES,
                              b->orestes  ? formula_orestes
                              : narrow(b) ? formula_narrow
                                          : formula,
                              why);
    if (code == SEEN_OK && plan->bits > UINT64_C(1) << 32 && narrow(b))
        code = seen_fail(why, SEEN_RANGE, 0,
                         "a hash of 32 bits reaches 2^32 bits only, and the "
                         "plan takes %llu",
                         (unsigned long long)plan->bits);
    if (code != SEEN_OK)
        return code;
    b->salt = seen_mix(plan->seed);
    for (unsigned j = 0; j < MAX_PROBES; j++)
        b->salts[j] = (uint32_t)seen_mix(b->salt + j);
    f->cell_bits = 1;
    f->size = (plan->bits + LINE_BITS - 1) / LINE_BITS * LINE;
    f->limit = seen_plan_limit(plan, plan->bits);
    if (!(f->traits & SEEN_READS_TEXT) && !plan->keyed)
        f->has_one = has_one;
    return SEEN_OK;
}

/* Are all probes Jenkins' hash, which does eight of them at once? */
static bool only_jenkins(const struct bloom *b)
{
    return b->functions == 1 && b->function[0] == PUBLISHED_JENKINS;
}

static void locate_jenkins(const struct bloom *b, const struct seen_key *key,
                           unsigned from, unsigned to, uint64_t *at)
{
    uint32_t x[MAX_PROBES];

    published_jenkins_many(key->text, key->len, b->salts + from, to - from, x);
    for (unsigned j = from; j < to; j++)
        at[j] = x[j - from] * b->base.plan.bits >> 32;
}

/* All positions are found with the first: two hashes give all of them. */
static void locate_orestes(const struct bloom *b, const struct seen_key *key,
                           unsigned from, uint64_t *at)
{
    uint64_t h1, h2;

    if (from)
        return;
    h1 = published_murmur3(key->text, key->len, 0);
    h2 = published_murmur3(key->text, key->len, (uint32_t)h1);
    for (unsigned j = 0; j < b->base.plan.probes; j++)
        at[j] = (h1 + j * h2) % b->base.plan.bits;
}

/* Find the positions of some probes of a key as they were published. */
static void locate_published(const struct bloom *b, const struct seen_key *key,
                             unsigned from, unsigned to, uint64_t *at)
{
    const struct seen_plan *plan = &b->base.plan;

    if (b->orestes) {
        locate_orestes(b, key, from, at);
        return;
    }
    if (only_jenkins(b)) {
        locate_jenkins(b, key, from, to, at);
        return;
    }
    for (unsigned j = from; j < to; j++) {
        enum published which = b->function[j % b->functions];
        uint64_t x = published_hash(which, key->text, key->len,
                                    seen_mix(b->salt + j));

        at[j] = published_wide(which) ? reduce(x, plan->bits)
                                      : x * plan->bits >> 32;
    }
}

/* Start to fetch the cells of some probes. */
static void fetch(const struct bloom *b, const uint64_t *at, unsigned from,
                  unsigned to)
{
    const uint64_t *word = (const uint64_t *)b->base.cells;

    for (unsigned j = from; j < to; j++)
        __builtin_prefetch(&word[at[j] / 64]);
}

/* Find the positions of up to BATCH keys, and start to fetch the cells of
   their first probes. Hashes of texts are slow: only the positions of the
   first probes are found. */
static size_t locate(const struct bloom *b, const struct seen_key *key,
                     size_t n, unsigned first, uint64_t at[BATCH][MAX_PROBES])
{
    const struct seen_plan *plan = &b->base.plan;
    size_t some = n < BATCH ? n : BATCH;
    bool reads = b->base.traits & SEEN_READS_TEXT;

    for (size_t i = 0; i < some && reads; i++) {
        locate_published(b, &key[i], 0, first, at[i]);
        fetch(b, at[i], 0, first);
    }
    for (size_t i = 0; i < some && !reads; i++) {
        struct probe p = probe_first(&key[i], b->salt);

        for (unsigned j = 0; j < plan->probes; j++)
            at[i][j] = probe_next(&p, plan->bits);
        fetch(b, at[i], 0, first);
    }
    return some;
}

static bool all_set(const struct bloom *b, const uint64_t *at, unsigned from,
                    unsigned to)
{
    const uint64_t *word = (const uint64_t *)b->base.cells;

    for (unsigned j = from; j < to; j++)
        if (!bit_get(word, at[j]))
            return false;
    return true;
}

static void set_all(struct bloom *b, const uint64_t *at)
{
    uint64_t *word = (uint64_t *)b->base.cells, more = 0;

    for (unsigned j = 0; j < b->base.plan.probes; j++)
        more += b->base.stripes ? bit_set_shared(word, at[j])
                                : bit_set(word, at[j]);
    if (b->base.stripes)
        __atomic_fetch_add(&b->base.set, more, __ATOMIC_RELAXED);
    else
        b->base.set += more;
}

/*
 * A cell is set with probability one half, so seven of eight keys that were
 * never added are found out by the first three probes. The other cells are
 * fetched, and the other hashes of a text computed, only for the rest.
 */
static void has_published(const struct bloom *b, const struct seen_key *key,
                          size_t n, bool *seen, unsigned first)
{
    unsigned all = b->base.plan.probes;
    uint64_t at[BATCH][MAX_PROBES];

    for (size_t done = 0, some; done < n; done += some) {
        bool *found = seen + done;

        some = locate(b, key + done, n - done, first, at);
        for (size_t i = 0; i < some; i++) {
            found[i] = all_set(b, at[i], 0, first);
            if (!found[i])
                continue;
            locate_published(b, &key[done + i], first, all, at[i]);
            fetch(b, at[i], first, all);
        }
        for (size_t i = 0; i < some; i++)
            found[i] = found[i] && all_set(b, at[i], first, all);
    }
}

/* Ask keys that passed the first probes for the others, as many at a time as
   there is room for. */
static void ask_rest(const struct bloom *b, struct probe *probe,
                     const unsigned char *passed, size_t passes, unsigned rest,
                     bool *seen)
{
    const uint64_t *word = (const uint64_t *)b->base.cells;
    const uint64_t m = b->base.plan.bits;
    uint64_t at[POSITIONS];

    for (size_t done = 0, some; done < passes && rest; done += some) {
        some = passes - done < POSITIONS / rest ? passes - done
                                                : POSITIONS / rest;
        for (size_t i = 0; i < some; i++)
            find_next(&probe[passed[done + i]], word, m, rest, at + i * rest);
        for (size_t i = 0; i < some; i++)
            seen[passed[done + i]] = all_set(b, at + i * rest, 0, rest);
    }
}

/*
 * The same for keys whose positions follow from two hashes. Which keys pass
 * the first probes is not a branch, which nobody could predict: they are
 * listed, and only they get the other positions. At a rate of 1e-6, half of
 * the keys in the filter: 17 ns per key instead of 28 with a million keys, 31
 * instead of 41 with ten million (EPYC, Zen 5). With 32 keys at a time the CPU
 * waits for memory: at 1 % 40 million keys took 28 ns each, with 64 19, with
 * 128 16.
 */
static size_t has_some(const struct bloom *b, const struct seen_key *key,
                       size_t n, bool *seen, unsigned first)
{
    const uint64_t *word = (const uint64_t *)b->base.cells;
    const uint64_t m = b->base.plan.bits, salt = b->salt;
    uint64_t at[ASKED][FIRST];
    struct probe probe[ASKED];
    unsigned char passed[ASKED];
    size_t some = n < ASKED ? n : ASKED, passes = 0;

    for (size_t i = 0; i < some; i++) {
        probe[i] = probe_first(&key[i], salt);
        find_next(&probe[i], word, m, first, at[i]);
    }
    for (size_t i = 0; i < some; i++) {
        bool set = true;

        for (unsigned j = 0; j < first; j++)
            set &= bit_get(word, at[i][j]);
        seen[i] = set;
        passed[passes] = (unsigned char)i;
        passes += set;
    }
    ask_rest(b, probe, passed, passes, b->base.plan.probes - first, seen);
    return some;
}

static enum seen_code bloom_has(const struct seen_filter *f,
                                const struct seen_key *key, size_t n,
                                bool *seen, struct seen_error *why)
{
    const struct bloom *b = (const struct bloom *)f;
    unsigned first = first_of(&f->plan);

    (void)why;
    if (f->traits & SEEN_READS_TEXT)
        has_published(b, key, n, seen, first);
    else
        for (size_t done = 0; done < n;)
            done += has_some(b, key + done, n - done, seen + done, first);
    return SEEN_OK;
}

/* The cells of published functions cost their hashes, which are slower. */
static void bloom_expect(const struct seen_filter *f,
                         const struct seen_key *key, size_t n)
{
    const struct bloom *b = (const struct bloom *)f;
    const uint64_t *word = (const uint64_t *)f->cells;
    unsigned first = first_of(&f->plan);

    if (f->traits & SEEN_READS_TEXT)
        return;
    for (size_t i = 0; i < n; i++) {
        struct probe p = probe_first(&key[i], b->salt);

        for (unsigned j = 0; j < first; j++)
            __builtin_prefetch(&word[probe_next(&p, f->plan.bits) / 64]);
    }
}

/* Add one key; false if it is new and the filter is full. */
static bool add_one(struct bloom *b, const uint64_t *at, bool *fresh)
{
    bool known = all_set(b, at, 0, b->base.plan.probes);

    if (!known && set_cells(&b->base) >= b->base.limit)
        return false;
    if (!known)
        set_all(b, at);
    if (fresh)
        *fresh = !known;
    return true;
}

static enum seen_code bloom_add(struct seen_filter *f,
                                const struct seen_key *key, size_t n,
                                bool *fresh, struct seen_error *why)
{
    struct bloom *b = (struct bloom *)f;
    uint64_t at[BATCH][MAX_PROBES];
    enum seen_code code = SEEN_OK;

    for (size_t done = 0, some; done < n && code == SEEN_OK; done += some) {
        some = locate(b, key + done, n - done, f->plan.probes, at);
        for (size_t i = 0; i < some && code == SEEN_OK; i++) {
            bool added;

            if (f->stripes)
                stripe_lock(f, key[done + i].lo);
            added = add_one(b, at[i], fresh ? fresh + done + i : NULL);
            if (f->stripes)
                stripe_unlock(f, key[done + i].lo);
            if (!added)
                code = seen_fail(why, SEEN_FULL, done + i,
                                 "the filter holds all it was planned for");
        }
    }
    return code;
}

/* How many of the probes are by which functions: see uneven.h. */
static struct uneven_filter split_probes(const struct bloom *b)
{
    const struct seen_plan *plan = &b->base.plan;
    struct uneven_filter f = { (double)plan->bits, 0, 0, 0x1p32 };

    for (unsigned j = 0; j < plan->probes; j++)
        f.narrow += b->orestes
                        ? !j
                        : !published_wide(b->function[j % b->functions]);
    f.wide = plan->probes - f.narrow;
    return f;
}

/* A key that was never added is found if all of its k probes hit a set bit. */
static double bloom_rate(const struct seen_filter *f)
{
    const struct bloom *b = (const struct bloom *)f;
    double load = (double)set_cells(f) / (double)f->plan.bits;

    if (narrow(b)) {
        struct uneven_filter split = split_probes(b);

        return uneven_rate(&split, uneven_keys(&split, load));
    }
    return pow(load, f->plan.probes);
}

static double bloom_entries(const struct seen_filter *f)
{
    const struct bloom *b = (const struct bloom *)f;
    double m = (double)f->plan.bits, set = fmin((double)set_cells(f), m - 1);

    if (narrow(b)) {
        struct uneven_filter split = split_probes(b);

        return uneven_keys(&split, set / m);
    }
    return -m / f->plan.probes * log1p(-set / m);
}

/* Not for kinds that read the text: the builder adds those key by key. */
static void bloom_spread(const struct seen_filter *f,
                         const struct seen_key *key, size_t n,
                         struct seen_entry *out)
{
    const struct bloom *b = (const struct bloom *)f;

    for (size_t i = 0; i < n; i++) {
        struct probe p = probe_first(&key[i], b->salt);

        for (unsigned j = 0; j < f->plan.probes; j++, out++) {
            uint64_t at = probe_next(&p, f->plan.bits);

            out->region = (uint32_t)(at / REGION_BITS);
            out->what = at % REGION_BITS;
        }
    }
}

static void bloom_locate(const struct seen_filter *f,
                         const struct seen_key *key, size_t n, uint64_t *bit)
{
    const struct bloom *b = (const struct bloom *)f;

    for (size_t i = 0; i < n; i++) {
        struct probe p = probe_first(&key[i], b->salt);

        for (unsigned j = 0; j < f->plan.probes; j++)
            *bit++ = probe_next(&p, f->plan.bits);
    }
}

static enum seen_code bloom_reach(const struct seen_filter *f,
                                  const struct seen_key *key, uint64_t *at,
                                  size_t *n, struct seen_error *why)
{
    const struct bloom *b = (const struct bloom *)f;
    uint64_t bit[BATCH][MAX_PROBES];

    (void)why;
    *n = f->plan.probes;
    locate(b, key, 1, f->plan.probes, bit);
    for (size_t j = 0; j < *n; j++)
        at[j] = bit[0][j] / 8;
    return SEEN_OK;
}

static uint64_t bloom_fill(struct seen_filter *f, uint64_t region,
                           const uint64_t *what, size_t n,
                           const struct seen_soon *soon)
{
    uint64_t *word = (uint64_t *)(f->cells + region * REGION), more = 0;
    struct pace pace = pace_of(soon, n / 8);

#pragma GCC unroll 8
    for (size_t i = 0; i < n; i++) {
        if (i % 8 == 0)
            fetch_some(&pace);
        more += bit_set(word, what[i]);
    }
    return more;
}

/* Two hashes give all probes of Orestes, and one run of Jenkins' gives eight. */
static uint64_t bloom_cost(const struct seen_filter *f)
{
    const struct bloom *b = (const struct bloom *)f;
    unsigned k = f->plan.probes;
    uint64_t sum = k;

    if (b->orestes)
        return sum + 2 * published_cost(PUBLISHED_MURMUR3);
    if (only_jenkins(b)) /* the first probes and the rest: two runs more */
        return sum + (k / 8 + 2) * published_cost(PUBLISHED_JENKINS);
    for (unsigned j = 0; j < k && b->functions; j++)
        sum += published_cost(b->function[j % b->functions]);
    return sum;
}

/* Only the hash of the key itself, with or without a secret, needs no text. */
static unsigned bloom_traits(const char *text)
{
    char hash[SEEN_KIND_TEXT];

    return SEEN_CAN_ADD | SEEN_CAN_MERGE |
           (seen_kind_arg(text, 0, hash, sizeof hash) && strcmp(hash, "sip")
                ? SEEN_READS_TEXT
                : 0);
}

const struct seen_kind filter_bloom = {
    .name = "bloom",
    .synopsis = "bloom[:HASH]",
    .summary = "the classic filter; HASH for a published hash function",
    .traits_of = bloom_traits,
    .state = sizeof(struct bloom),
    .make = bloom_make,
    .has = bloom_has,
    .expect = bloom_expect,
    .add = SEEN_CHANGE(bloom_add),
    .rate = bloom_rate,
    .entries = bloom_entries,
    .cost = bloom_cost,
    .spread = SEEN_CHANGE(bloom_spread),
    .fill = SEEN_CHANGE(bloom_fill),
    .locate = bloom_locate,
    .reach = bloom_reach,
};
