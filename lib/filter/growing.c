/*
 * growing.c - adds a new filter when the last one is full; any may say yes.
 *
 *     part 0    n keys       rate p (1 - r)
 *     part 1    F n          p (1 - r) r
 *     part 2    F^2 n        p (1 - r) r^2      <-- the last gets new keys
 *
 * `growing` [1] keeps the planned rate p for any number of keys. The errors
 * of parts add up, so the rate of each part is r = 0.85 times that of the one
 * before, and the sum of all p (1 - r) r^i is p. Each part is F times larger,
 * so that there are few: from a thousand keys to a billion in 20 parts with
 * F = 2. The cost compared with a filter of known n is the lower rate: 3.9
 * bits per key for the first part (log2 of 1/0.15, times 1.44), and 0.34 more
 * for each further part.
 *
 * `growing:F,planned` is for a capacity that is expected to be enough. Its first
 * part has 0.63 p, which costs 1.0 bits per key in place of 3.9, and those after
 * it divide the rest as above: 1.7 bits per key more than the parts of `growing`.
 *
 * `dynamic:N` [2] has up to N equal parts, each for 1/N of the capacity at
 * the planned rate: it is growing with factor 1 and equal rates. Its rate is
 * about N times the planned one, 18 % for 20 filters of 1 %, which is what it
 * is here to show: seen_filter_planned() and _rate() return the sum. It is 60
 * lines beside growing, which has the rest; in a file outside the library it
 * would be all of this one again, and files of its kind must stay readable.
 *
 * An old filter can become the first part of one that grows (seen convert
 * --kind growing/bloom). It was not planned for a series, so the parts after
 * it divide what it leaves of p: part i >= 1 has (p - p0) (1 - r) r^(i-1).
 *
 * The last part decides key by key whether it is full: keys before that point
 * are in it, the key and those after it go to the next part. So the parts do
 * not depend on batches. Parts of `growing` are full at the mean load of their
 * capacity (`tight`): overfull filters cost rate, new ones only memory.
 *
 * [1] P. Almeida, C. Baquero, N. Preguica, D. Hutchison: Scalable Bloom
 *     filters. Information Processing Letters 101(6), 2007.
 * [2] the archives report, section 2.2 and figure 5; D. Guo et al.: The
 *     dynamic Bloom filters. TKDE 22(1), 2010.
 */
#include <seen/kind_writer.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "kinds.h"
#include "parts.h"
#include "stripes.h"
#include "tree.h"

enum { BATCH = 256, EXPECTED = 8, GROWING_ROOM = 64, DYNAMIC_ROOM = 16 };

static const double tightening = 0.85;
static const double planned_first = 0.63; /* of the rate, for `planned` */

struct growing {
    struct seen_filter base; /* first: see kind_writer.h */
    unsigned factor;         /* 1 for `dynamic` */
    bool planned;            /* the first part may stay alone */
};

extern const struct seen_kind filter_growing;
extern const struct seen_kind filter_dynamic;

static void begin(struct seen_filter *f, unsigned factor, unsigned room)
{
    ((struct growing *)f)->factor = factor;
    f->first = 1;
    f->room = room;
}

static enum seen_code growing_make(struct seen_filter *f,
                                   struct seen_error *why)
{
    const struct seen_plan *plan = &f->plan;
    enum seen_code code;
    unsigned factor;

    code = arg_number(plan->kind, 0, 2, 16, 2, &factor, why);
    if (code == SEEN_OK)
        code = arg_last(plan->kind, 1, "planned",
                        &((struct growing *)f)->planned, why);
    if (code == SEEN_OK &&
        (plan->bits || plan->probes || plan->multiplier > 0))
        code = seen_fail(why, SEEN_RANGE, 0,
                         "what grows has no fixed bits, probes or "
                         "multiplier: give a rate and a first capacity");
    if (code == SEEN_OK && (!plan->capacity || !(plan->rate > 0)))
        code = seen_fail(why, SEEN_RANGE, 0,
                         "growing needs a rate and a first capacity");
    begin(f, factor, GROWING_ROOM);
    return code;
}

static enum seen_code dynamic_make(struct seen_filter *f,
                                   struct seen_error *why)
{
    struct seen_plan *plan = &f->plan, part;
    enum seen_code code;
    unsigned room;

    code = arg_number(plan->kind, 0, 2, SEEN_PARTS, DYNAMIC_ROOM, &room, why);
    if (code == SEEN_OK)
        code = arg_last(plan->kind, 1, NULL, NULL, why);
    if (code != SEEN_OK)
        return code;
    begin(f, 1, room);
    if (!f->recorded && (!plan->capacity || !(plan->rate > 0))) {
        code = filter_sample(f, &part, why);
        if (code != SEEN_OK)
            return code;
        if (!plan->capacity)
            plan->capacity = part.capacity * room;
        if (!(plan->rate > 0))
            plan->rate = part.rate;
    }
    return SEEN_OK;
}

/*
 * The rate of part i. The first part is of the series if its rate is. If it is
 * not, it is that of a `planned` one, or was a filter before, which may be past
 * its capacity.
 */
static double rate_of(const struct seen_filter *f, unsigned i)
{
    double p = f->plan.rate, first = p * (1 - tightening), p0;

    if (!i && ((const struct growing *)f)->planned)
        return planned_first * p;
    if (!i || fabs(f->part[0]->plan.rate - first) < 1e-6 * first)
        return first * pow(tightening, i);
    p0 = seen_filter_overfull(f->part[0]) ? seen_filter_rate(f->part[0])
                                          : seen_filter_planned(f->part[0]);
    return fmax(p - p0, 1e-3 * p) * (1 - tightening) * pow(tightening, i - 1);
}

/*
 * The next part is F times the largest so far, not F^i times the first: a
 * union has the parts of several filters, and would grow too fast.
 */
static enum seen_code growing_part(const struct seen_filter *f, unsigned i,
                                   struct seen_plan *plan,
                                   struct seen_error *why)
{
    const struct growing *g = (const struct growing *)f;
    uint64_t largest = 0;

    for (unsigned j = 0; j < i; j++)
        if (f->part[j]->plan.capacity > largest)
            largest = f->part[j]->plan.capacity;
    if (largest > SEEN_BITS / g->factor)
        return seen_fail(why, SEEN_FULL, 0,
                         "the next part would be for more than 2^48 keys");
    if (largest)
        plan->capacity = largest * g->factor;
    plan->rate = rate_of(f, i);
    plan->tight = true;
    plan->over = false;
    kind_lower(plan->kind, plan->rate);
    return SEEN_OK;
}

/* Past capacity, if that is allowed, the last part accepts more keys. */
static enum seen_code dynamic_part(const struct seen_filter *f, unsigned i,
                                   struct seen_plan *plan,
                                   struct seen_error *why)
{
    (void)why;
    plan->capacity = plan->capacity / f->room +
                     (plan->capacity % f->room != 0);
    plan->bits /= f->room;
    plan->over = plan->over && i + 1 == f->room;
    return SEEN_OK;
}

/* Some keys of a batch, and their numbers in it. */
struct left {
    struct seen_key key[BATCH];
    size_t at[BATCH];
    size_t n;
};

/* Look the keys from `start` on up in one part; keys that it has are dropped. */
static enum seen_code sieve(const struct seen_filter *part, struct left *left,
                            size_t start, bool *seen, struct seen_error *why)
{
    bool found[BATCH];
    size_t kept = start;
    enum seen_code code = part->kind->has(part, left->key + start,
                                          left->n - start, found, why);

    for (size_t i = start; i < left->n && code == SEEN_OK; i++) {
        seen[left->at[i]] = found[i - start];
        if (found[i - start])
            continue;
        left->key[kept] = left->key[i];
        left->at[kept++] = left->at[i];
    }
    if (code == SEEN_OK)
        left->n = kept;
    return code;
}

/*
 * Look keys up in the parts before `end`, the last and largest first. Leaves
 * the keys that no part has.
 */
static enum seen_code ask(const struct seen_filter *f, unsigned end,
                          const struct seen_key *key, size_t n, bool *seen,
                          struct left *left, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    left->n = n;
    for (size_t i = 0; i < n; i++) {
        left->key[i] = key[i];
        left->at[i] = i;
        seen[i] = false;
    }
    while (end-- > 0 && left->n && code == SEEN_OK)
        code = sieve(f->part[end], left, 0, seen, why);
    return code;
}

/* A key that is not found is looked up in all parts, the last one first. What
   is fetched for many parts would not stay in the cache. */
static void growing_expect(const struct seen_filter *f,
                           const struct seen_key *key, size_t n)
{
    unsigned parts = seen_filter_parts(f);

    for (unsigned i = parts; i-- > 0 && parts - i <= EXPECTED;)
        if (f->part[i]->kind->expect)
            f->part[i]->kind->expect(f->part[i], key, n);
}

/* One key needs no lists. It waits for the cells of several parts at once. */
static enum seen_code has_key(const struct seen_filter *f,
                              const struct seen_key *key, bool *seen,
                              struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    *seen = false;
    growing_expect(f, key, 1);
    for (unsigned i = seen_filter_parts(f);
         i-- > 0 && code == SEEN_OK && !*seen;) {
        const struct seen_filter *part = f->part[i];

        code = part->has_one ? part->has_one(part, key, seen)
                             : part->kind->has(part, key, 1, seen, why);
    }
    return code;
}

static enum seen_code growing_has(const struct seen_filter *f,
                                  const struct seen_key *key, size_t n,
                                  bool *seen, struct seen_error *why)
{
    unsigned parts = seen_filter_parts(f);
    enum seen_code code = SEEN_OK;
    struct left left;

    if (n == 1)
        return has_key(f, key, seen, why);
    for (size_t done = 0, some; done < n && code == SEEN_OK; done += some) {
        some = n - done < BATCH ? n - done : BATCH;
        code = ask(f, parts, key + done, some, seen + done, &left, why);
    }
    return code;
}

/*
 * Add a batch. A key that a part refuses is not in it and goes to the next
 * part. A key after it may equal one that was just added, so it is looked up
 * in the full part once more.
 */
static enum seen_code add_some(struct seen_filter *f,
                               const struct seen_key *key, size_t n,
                               bool *fresh, struct seen_error *why)
{
    bool seen[BATCH], new_there[BATCH];
    struct seen_error reason = { .at = 0 };
    struct left left;
    size_t start = 0;
    enum seen_code code = ask(f, f->parts - 1, key, n, seen, &left, why);

    if (code != SEEN_OK)
        return code;
    while (start < left.n && code == SEEN_OK) {
        struct seen_filter *last = f->part[f->parts - 1];
        size_t some = left.n - start;

        code = last->kind->add(last, left.key + start, some, new_there,
                               &reason);
        if (code != SEEN_OK)
            some = (size_t)reason.at;
        for (size_t i = 0; i < some; i++)
            seen[left.at[start + i]] = !new_there[i];
        start += some;
        if (code == SEEN_FULL) {
            code = seen_filter_grow(f, &reason);
            if (code == SEEN_OK && start + 1 < left.n)
                code = sieve(last, &left, start + 1, seen, &reason);
        }
    }
    for (size_t i = 0; i < n && fresh; i++)
        fresh[i] = !seen[i];
    if (code != SEEN_OK && why) {
        *why = reason;
        why->at = left.at[start];
    }
    return code;
}

/* All threads that add take one lock, because order decides what is full. */
static enum seen_code growing_add(struct seen_filter *f,
                                  const struct seen_key *key, size_t n,
                                  bool *fresh, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    for (size_t done = 0, some; done < n && code == SEEN_OK; done += some) {
        some = n - done < BATCH ? n - done : BATCH;
        if (f->stripes)
            stripe_lock(f, 0);
        code = add_some(f, key + done, some, fresh ? fresh + done : NULL, why);
        if (f->stripes)
            stripe_unlock(f, 0);
        if (code != SEEN_OK && why)
            why->at += done;
    }
    return code;
}

static enum seen_code growing_under(const struct seen_filter *f,
                                    const struct seen_key *key, bool *seen,
                                    struct seen_error *why)
{
    return part_under(f, false, key, seen, why);
}

/* A key is wrong if any part is wrong: 1 - prod(1 - p_i), without rounding. */
static double any_of(const struct seen_filter *f,
                     double (*rate)(const struct seen_filter *part))
{
    unsigned parts = seen_filter_parts(f);
    double right = 0; /* log of the chance that none is wrong */

    for (unsigned i = 0; i < parts; i++)
        right += log1p(-rate(f->part[i]));
    return 0 - expm1(right); /* not -0 */
}

static double growing_rate(const struct seen_filter *f)
{
    return any_of(f, seen_filter_rate);
}

/* Above the planned rate only in a union, which has the parts of several. */
static double growing_planned(const struct seen_filter *f)
{
    return fmax(f->plan.rate, any_of(f, seen_filter_planned));
}

static double dynamic_planned(const struct seen_filter *f)
{
    double one = f->parts ? seen_filter_planned(f->part[0]) : f->plan.rate;

    return -expm1(f->room * log1p(-one));
}

/* A copy of a filter and all its parts. */
static enum seen_code copy(struct seen_filter **out,
                           const struct seen_filter *f, struct seen_error *why)
{
    struct seen_filter *part;
    struct filter_record record = filter_record(f);
    enum seen_code code = filter_restore(out, &record, filter_secret(f), why);

    if (code == SEEN_OK)
        code = filter_fill(*out, why);
    for (unsigned i = 0; i < f->parts && code == SEEN_OK; i++) {
        code = copy(&part, f->part[i], why);
        if (code == SEEN_OK)
            code = filter_append(*out, part, why);
    }
    if (code != SEEN_OK) {
        seen_filter_free(*out);
        *out = NULL;
        return code;
    }
    if (f->cells)
        memcpy((*out)->cells, f->cells, f->size);
    (*out)->set = f->set;
    (*out)->offered = f->offered;
    return SEEN_OK;
}

/*
 * The union has the parts of both, and its rate is the sum of both. All copies
 * are made before the first is appended.
 */
static enum seen_code growing_merge(struct seen_filter *f,
                                    const struct seen_filter *from,
                                    struct seen_error *why)
{
    struct seen_filter **part;
    enum seen_code code = SEEN_OK;
    unsigned n = from->parts, made = 0;

    if (n > f->room - f->parts)
        return seen_fail(why, SEEN_FULL, 0,
                         "the union would have %u parts, and %s can have %u",
                         f->parts + n, f->plan.kind, f->room);
    part = calloc(n, sizeof *part);
    if (!part)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for %u parts", n);
    while (made < n && code == SEEN_OK) {
        code = copy(&part[made], from->part[made], why);
        if (code == SEEN_OK && f->stripes)
            code = seen_filter_allow_threads(part[made], why);
        made++;
    }
    for (unsigned i = 0; i < made; i++)
        if (code == SEEN_OK)
            code = filter_append(f, part[i], why);
        else
            seen_filter_free(part[i]);
    free(part);
    return code;
}

const struct seen_kind filter_growing = {
    .name = "growing",
    .synopsis = "growing[:F]/KIND",
    .summary = "adds a filter F times larger whenever the last is full",
    .traits = SEEN_CAN_ADD | SEEN_CAN_PREFIX | SEEN_CAN_MERGE | SEEN_CAN_GROW |
              SEEN_ADDS_PARTS | SEEN_NEEDS_ORDER,
    .combines = true,
    .target = SEEN_TO_LAST,
    .state = sizeof(struct growing),
    .make = growing_make,
    .part = growing_part,
    .has = growing_has,
    .expect = growing_expect,
    .add = SEEN_CHANGE(growing_add),
    .rate = growing_rate,
    .planned = growing_planned,
    .under = growing_under,
    .merge = SEEN_CHANGE(growing_merge),
};

const struct seen_kind filter_dynamic = {
    .name = "dynamic",
    .synopsis = "dynamic:N/KIND",
    .summary = "up to N equal filters, whose errors add up",
    .traits = SEEN_CAN_ADD | SEEN_CAN_PREFIX | SEEN_CAN_MERGE |
              SEEN_ADDS_PARTS | SEEN_NEEDS_ORDER,
    .combines = true,
    .target = SEEN_TO_LAST,
    .state = sizeof(struct growing),
    .make = dynamic_make,
    .part = dynamic_part,
    .has = growing_has,
    .expect = growing_expect,
    .add = SEEN_CHANGE(growing_add),
    .rate = growing_rate,
    .planned = dynamic_planned,
    .under = growing_under,
    .merge = SEEN_CHANGE(growing_merge),
};
