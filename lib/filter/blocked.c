/*
 * blocked.c - all probes of a key in one cache line: the default kind.
 *
 * A classic Bloom filter costs up to k cache misses per key. Here the first
 * hash picks a line of 512 bits, and all k bits are in it [1]: one miss, which
 * is prefetched. blocked.h draws how a key picks its bits: one bit in each of
 * k neighbouring words of the eight, so that SIMD makes the mask of a key
 * without a loop [2]. If every key used all eight words, 10 bits per key would
 * give 1.05 %; six of eight give 0.97 %, and six bits anywhere in the line,
 * which costs a loop, 0.96 %.
 *
 * The price is an uneven load: the keys of a line are Poisson with mean
 * l = 512 n/m, and the excess of errors in full lines is larger than the
 * saving in empty ones. The rate is computed exactly, not estimated. Let a
 * lookup have q_i distinct bits in word i. By inclusion and exclusion over the
 * sets of s_i <= q_i bits that are clear,
 *
 *     p = sum over s of  prod_i C(q_i, s_i) (-1)^(s_i)  P(all s are clear)
 *
 * and a key of turn t, with c_i(t) bits in word i, leaves s_i given bits of
 * that word clear with chance C(64 - s_i, c_i) / C(64, c_i). Averaged over
 * the eight turns that is g(s), l keys leave g(s)^l, and a Poisson number of
 * them e^(-l (1 - g(s))). For k <= 8 there are 2^k terms.
 *
 * For the same rate it needs more bits than a classic filter, and more so at
 * low rates: 3.5 % more at 1 %, 8 % at 0.1 %, 15 % at 0.01 %. Plans below that
 * are refused with advice: seen_kind_for_rate().
 *
 * [1] F. Putze, P. Sanders, J. Singler: Cache-, hash- and space-efficient
 *     Bloom filters. WEA 2007.
 * [2] H. Lang, T. Neumann, A. Kemper, P. Boncz: Performance-optimal
 *     filtering: Bloom overtakes Cuckoo at high throughput. VLDB 2019.
 */
#include "blocked.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "grouped.h"
#include "region.h"

enum {
    MOST_PROBES = 16,
    SHARERS = 64,      /* threads that add, at most, before a limit may be
                          exceeded by some keys */
    MOST_SHARED = 4096 /* keys before the common sum is updated */
};

extern const struct seen_kind filter_blocked;

/* How many bits a key of this turn has in the word. */
static unsigned bits_in(unsigned k, unsigned turn, unsigned word)
{
    unsigned step = (word + WORDS - turn) % WORDS;

    return (unsigned)(step < k) + (step + WORDS < k);
}

/* Sum up the terms of p from `word` on; left[t] is the product so far of
   the chances that a key of turn t leaves the chosen bits clear. */
static double terms(unsigned k, unsigned word, double sign, const double *left,
                    double l)
{
    unsigned asked = bits_in(k, 0, word);
    double sum = 0, g = 0, next[WORDS];

    if (word == WORDS) {
        for (unsigned t = 0; t < WORDS; t++)
            g += left[t] / WORDS;
        return sign * exp(-l * (1 - g));
    }
    sum = terms(k, word + 1, sign, left, l); /* no bit of the word is clear */
    for (unsigned s = 1; s <= asked; s++) {
        double ways = asked == 2 && s == 1 ? -2 : s == 1 ? -1 : 1;

        for (unsigned t = 0; t < WORDS; t++) {
            unsigned c = bits_in(k, t, word);

            next[t] = left[t] * (c ? (64.0 - s) / 64 : 1) *
                      (c == 2 ? (63.0 - s) / 63 : 1);
        }
        sum += terms(k, word + 1, sign * ways, next, l);
    }
    return sum;
}

static double formula(double n, double m, unsigned k)
{
    static const double all[WORDS] = { 1, 1, 1, 1, 1, 1, 1, 1 };

    return fmin(1, fmax(terms(k, 0, 1, all, LINE_BITS * n / m), 1e-300));
}

static enum seen_code blocked_make(struct seen_filter *f,
                                   struct seen_error *why)
{
    struct blocked *b = (struct blocked *)f;
    struct seen_plan *plan = &f->plan;
    enum seen_code code;
    char arg[2], other[SEEN_KIND_TEXT];

    if (seen_kind_arg(plan->kind, 0, arg, sizeof arg))
        return seen_fail(why, SEEN_RANGE, 0, "blocked takes no argument");
    if (plan->hostile)
        return seen_fail(why, SEEN_RANGE, 0,
                         "blocked cannot be sized for hostile keys, which "
                         "would fill single lines: use bloom");
    if (!f->recorded && plan->rate > 0 && plan->rate < BLOCKED_LEAST_RATE) {
        seen_kind_for_rate(other, plan->rate);
        return seen_fail(why, SEEN_RANGE, 0,
                         "blocked is not for rates below %g %%: use %s",
                         100 * BLOCKED_LEAST_RATE, other);
    }
    code = seen_plan_size(plan, f->recorded, 1, MOST_PROBES, formula, why);
    if (code != SEEN_OK)
        return code;
    plan->bits = (plan->bits + LINE_BITS - 1) / LINE_BITS * LINE_BITS;
    b->bytes = plan->bits / 8;
    b->salt = seen_mix(plan->seed);
    b->way = blocked_best();
    if (plan->probes <= WORDS && !plan->keyed)
        f->has_one = b->way->has_one;
    f->cell_bits = 1;
    f->size = plan->bits / 8;
    f->limit = seen_plan_limit(plan, plan->bits);
    return SEEN_OK;
}

/* Probe j of a key: a word of the line and a bit of the word. This is the
   reference for the SIMD versions. */
static inline unsigned probe_word(uint64_t bits, unsigned j)
{
    return (turn_of(bits) + j) % WORDS;
}

static inline uint64_t probe_bit(uint64_t bits, unsigned j)
{
    unsigned shift = MARK_SHIFT + 6 * probe_word(bits, j);
    unsigned at = bits >> shift & 63;

    if (j >= WORDS) {
        unsigned d = second_bits(bits) >> shift & 63;

        at = (at + (d ? d : 1)) & 63;
    }
    return UINT64_C(1) << at;
}

static inline bool known(const unsigned char *line, uint64_t bits, unsigned k)
{
    const uint64_t *word = (const uint64_t *)line;

    for (unsigned j = 0; j < k; j++)
        if (!(__atomic_load_n(&word[probe_word(bits, j)], __ATOMIC_RELAXED) &
              probe_bit(bits, j)))
            return false;
    return true;
}

/* Set the bits; return how many were clear. With several threads the line is
   locked. Readers see each word before or after the change, which is enough. */
static inline unsigned set(unsigned char *line, uint64_t bits, unsigned k)
{
    uint64_t *word = (uint64_t *)line;
    unsigned miss = 0;

    for (unsigned j = 0; j < k; j++) {
        uint64_t *at = &word[probe_word(bits, j)], bit = probe_bit(bits, j);
        uint64_t old = __atomic_load_n(at, __ATOMIC_RELAXED);

        miss += !(old & bit);
        __atomic_store_n(at, old | bit, __ATOMIC_RELAXED);
    }
    return miss;
}

struct view {
    unsigned char *cells;
    unsigned k;
};

static inline bool in_portable(const struct view *v, const struct mark *m,
                               bool two)
{
    (void)two;
    return known(v->cells + line_of(m), m->bits, v->k);
}

static inline bool set_portable(const struct view *v, const struct mark *m,
                                bool two, uint64_t *more)
{
    unsigned miss = set(v->cells + line_of(m), m->bits, v->k);

    (void)two;
    *more += miss;
    return miss;
}

#define WIDTH(name) name##_portable
#define TARGET
#define VIEW struct view
#define VIEW_OF(cells, k) \
    { \
        cells, k \
    }
#define IN in_portable
#define SET set_portable
#define SUM uint64_t
#define START(n) 0
#define TOTAL(more) (more)
#include "blocked_loops.h"

const struct blocked_way blocked_portable = { .name = "portable",
                                              .has = has_portable,
                                              .has_one = has_one_portable,
                                              .add = add_portable,
                                              .add_one = add_one_portable,
                                              .share = share_portable,
                                              .fill = fill_portable };

/* --- which version --- */

/* Versions of this CPU, the widest first. */
static const struct blocked_way *version(unsigned i)
{
#if defined __x86_64__ && !defined SEEN_PORTABLE
    static const struct blocked_way *const all[] = { &blocked_avx512,
                                                     &blocked_avx2 };
    bool can[] = { __builtin_cpu_supports("avx512f") &&
                       __builtin_cpu_supports("avx512dq") &&
                       __builtin_cpu_supports("bmi") &&
                       __builtin_cpu_supports("bmi2"),
                   __builtin_cpu_supports("avx2") &&
                       __builtin_cpu_supports("bmi") &&
                       __builtin_cpu_supports("bmi2") };

    for (unsigned v = 0; v < 2; v++)
        if (can[v] && !i--)
            return all[v];
#endif
    return i ? NULL : &blocked_portable;
}

static const struct blocked_way *allowed; /* NULL: the widest */

const struct blocked_way *blocked_best(void)
{
    return allowed ? allowed : version(0);
}

const char *seen_simd(void)
{
    return blocked_best()->name;
}

enum seen_code seen_simd_set(const char *name, struct seen_error *why)
{
    const struct blocked_way *way;

    for (unsigned i = 0; name && (way = version(i)); i++)
        if (!strcmp(way->name, name)) {
            allowed = way;
            return SEEN_OK;
        }
    if (name)
        return seen_fail(why, SEEN_RANGE, 0, "this CPU has no %s", name);
    allowed = NULL;
    return SEEN_OK;
}

/* --- the kind --- */

static enum seen_code blocked_has(const struct seen_filter *f,
                                  const struct seen_key *key, size_t n,
                                  bool *seen, struct seen_error *why)
{
    const struct blocked *b = (const struct blocked *)f;

    (void)why; /* memory does not fail */
    return b->way->has(b, key, n, seen);
}

static void blocked_expect(const struct seen_filter *f,
                           const struct seen_key *key, size_t n)
{
    const struct marker by = marker_of((const struct blocked *)f);

    for (size_t i = 0; i < n; i++)
        __builtin_prefetch(f->cells + mark_of(&by, &key[i]).at);
}

/* Add a key to its locked line; false if it is new and the filter is full. */
static bool add_locked(struct seen_filter *f, unsigned char *line,
                       uint64_t bits, uint64_t *more, bool *fresh)
{
    unsigned miss;

    if (set_cells(f) + *more >= f->limit && !known(line, bits, f->plan.probes))
        return false;
    miss = set(line, bits, f->plan.probes);
    *more += miss;
    *fresh = miss;
    return true;
}

/*
 * Threads that add take the lock of a line, so that one of them is first. A
 * key that is known needs no lock: the thread that set its last bit, under the
 * lock, has got fresh = true, or set it for another key.
 */
static enum seen_code share_each(struct blocked *b, const struct seen_key *key,
                                 size_t n, bool *fresh, struct seen_error *why)
{
    const struct marker by = marker_of(b);
    struct seen_filter *f = &b->base;
    bool added = true, first = false;
    struct mark mark[AHEAD];
    uint64_t more = 0;
    size_t i = 0;

    for (size_t j = 0; j < n; j++)
        mark[j] = fetch_mark(&by, &key[j], f->cells, true);
    for (; i < n && added; i += added) {
        unsigned char *line = f->cells + line_of(&mark[i]);

        first = false;
        if (!known(line, mark[i].bits, f->plan.probes)) {
            stripe_lock(f, group_of(&mark[i]));
            added = add_locked(f, line, mark[i].bits, &more, &first);
            stripe_unlock(f, group_of(&mark[i]));
        }
        if (added && fresh)
            fresh[i] = first;
    }
    __atomic_fetch_add(&f->set, more, __ATOMIC_RELAXED);
    return added ? SEEN_OK
                 : seen_fail(why, SEEN_FULL, i,
                             "the filter holds all it was planned for");
}

/*
 * Keys in groups are added in another order than the caller's, and add their
 * number of bits to the common sum when they are done. So they are for
 * filters that cannot become full meanwhile, even if SHARERS threads add. Few
 * keys, and those of an almost full filter, are added one by one.
 */
static enum seen_code add_shared(struct blocked *b, const struct seen_key *key,
                                 size_t n, bool *fresh, struct seen_error *why)
{
    struct seen_filter *f = &b->base;
    enum seen_code code = SEEN_OK;

    for (size_t done = 0, some; done < n && code == SEEN_OK; done += some) {
        uint64_t set = set_cells(f),
                 room = f->limit > set ? f->limit - set : 0;
        uint64_t safe = room / SHARERS / f->plan.probes;
        bool *first = fresh ? fresh + done : NULL;

        some = n - done < MOST_SHARED ? n - done : MOST_SHARED;
        some = some < safe ? some : (size_t)safe;
        if (some < AHEAD) {
            some = n - done < AHEAD ? n - done : AHEAD;
            code = share_each(b, key + done, some, first, why);
            if (code != SEEN_OK && why)
                why->at += done;
        } else {
            uint64_t more = b->way->share(b, key + done, some, first);

            __atomic_fetch_add(&f->set, more, __ATOMIC_RELAXED);
        }
    }
    return code;
}

/* One key, with room for its bits. */
static bool blocked_add_one(struct seen_filter *f, const struct seen_key *key,
                            bool *fresh)
{
    struct blocked *b = (struct blocked *)f;
    unsigned k = f->plan.probes;

    return k <= WORDS && f->set + k <= f->limit &&
           b->way->add_one(b, key, fresh);
}

/*
 * While there is room for k more bits per key, the limit need not be checked.
 * The last few keys are added one by one. The product cannot overflow: keys
 * have 32 bytes each, and k is at most 16.
 */
static enum seen_code blocked_add(struct seen_filter *f,
                                  const struct seen_key *key, size_t n,
                                  bool *fresh, struct seen_error *why)
{
    struct blocked *b = (struct blocked *)f;
    bool seen;

    if (f->stripes)
        return add_shared(b, key, n, fresh, why);
    if (n == 1 && blocked_add_one(f, key, fresh))
        return SEEN_OK;
    for (size_t done = 0, some; done < n; done += some) {
        uint64_t room = f->set < f->limit ? f->limit - f->set : 0;

        some = n - done;
        if (some * f->plan.probes > room)
            some = room < f->plan.probes ? 1 : (size_t)(room / f->plan.probes);
        if (!room) {
            b->way->has(b, key + done, 1, &seen);
            if (!seen)
                return seen_fail(why, SEEN_FULL, done,
                                 "the filter holds all it was planned for");
        }
        f->set += b->way->add(b, key + done, some,
                              fresh ? fresh + done : NULL);
    }
    return SEEN_OK;
}

/*
 * The load gives the number of keys, and that gives the rate. The terms of the
 * formula are of the size of 1 and almost cancel. Up to 3^8 of them, each
 * rounded to 2^-53, leave an error of up to 1e-12, which may be more than the
 * rate of a filter that is almost empty. Such a rate is given as 1e-12, an
 * upper bound: the sum may be negative, and no filter errs once in 1e300.
 */
static double blocked_rate(const struct seen_filter *f)
{
    double n = seen_filter_entries(f);

    if (!set_cells(f) || set_cells(f) >= f->plan.bits)
        return set_cells(f) != 0; /* no number of keys gives that load */
    return fmax(formula(n, (double)f->plan.bits, f->plan.probes), 1e-12);
}

static void blocked_locate(const struct seen_filter *f,
                           const struct seen_key *key, size_t n, uint64_t *bit)
{
    const struct marker by = marker_of((const struct blocked *)f);

    for (size_t i = 0; i < n; i++) {
        struct mark m = mark_of(&by, &key[i]);

        for (unsigned j = 0; j < f->plan.probes; j++)
            *bit++ = line_of(&m) * 8 + 64 * probe_word(m.bits, j) +
                     (unsigned)__builtin_ctzll(probe_bit(m.bits, j));
    }
}

/* All in one line. */
static enum seen_code blocked_reach(const struct seen_filter *f,
                                    const struct seen_key *key, uint64_t *at,
                                    size_t *n, struct seen_error *why)
{
    const struct marker by = marker_of((const struct blocked *)f);
    struct mark m = mark_of(&by, key);

    (void)why;
    *at = line_of(&m);
    *n = 1;
    return SEEN_OK;
}

const struct seen_kind filter_blocked = {
    .name = "blocked",
    .synopsis = "blocked",
    .summary = "all bits of a key in one cache line: the fastest",
    .traits = SEEN_CAN_ADD | SEEN_CAN_MERGE | SEEN_HAS_LINES,
    .below = "bloom",
    .least_rate = BLOCKED_LEAST_RATE,
    .state = sizeof(struct blocked),
    .make = blocked_make,
    .has = blocked_has,
    .add = SEEN_CHANGE(blocked_add),
    .add_one = SEEN_CHANGE(blocked_add_one),
    .rate = blocked_rate,
    .expect = blocked_expect,
    .entries_per_key = 1,
    .spread = SEEN_CHANGE(blocked_spread),
    .fill = SEEN_CHANGE(blocked_fill),
    .locate = blocked_locate,
    .reach = blocked_reach,
};
