/*
 * spatial.c - several filters with different seeds: all must say yes.
 *
 *     key --+--> part 0, seed s0 --.
 *           |                      +-- and --> seen?
 *           '--> part 1, seed s1 --'
 *
 * Whether a key is a false positive in one filter is independent of the next,
 * so the rates multiply: N parts of rate p^(1/N) make a filter of rate p [1].
 * They take as many bits as one filter of rate p, so this is for comparison,
 * and for kinds that cannot reach low rates alone: two `blocked` of 0.1 % make
 * 0.0001 %.
 *
 * Every part holds every key, so parts have the capacity of the whole. Given
 * bits are divided among the parts; probes and multiplier are per part, as in
 * the thesis.
 *
 * If a part refuses a key because it is full, the parts before it have the key
 * already. That is harmless, since the part that refused it answers no. If
 * parts can remove, the key is removed from them.
 *
 * [1] the thesis, section 4.3.
 */
#include <seen/kind_writer.h>

#include <math.h>

#include "args.h"
#include "parts.h"
#include "stripes.h"
#include "tree.h"

enum { BATCH = 256, MOST = 16 };

extern const struct seen_kind filter_spatial;

static enum seen_code spatial_make(struct seen_filter *f,
                                   struct seen_error *why)
{
    struct seen_plan *plan = &f->plan, part;
    enum seen_code code;
    unsigned parts;

    code = arg_number(plan->kind, 0, 2, MOST, 2, &parts, why);
    if (code == SEEN_OK)
        code = arg_last(plan->kind, 1, NULL, NULL, why);
    if (code != SEEN_OK)
        return code;
    f->first = f->room = parts;
    if (!f->recorded && (!plan->capacity || !(plan->rate > 0))) {
        code = filter_sample(f, &part, why);
        if (code != SEEN_OK)
            return code;
        if (!plan->capacity)
            plan->capacity = part.capacity;
        if (!(plan->rate > 0))
            plan->rate = pow(part.rate, parts);
    }
    return SEEN_OK;
}

static enum seen_code spatial_part(const struct seen_filter *f, unsigned i,
                                   struct seen_plan *plan,
                                   struct seen_error *why)
{
    (void)i, (void)why;         /* equal except for the seed */
    if (plan->rate > 0)
        plan->rate = pow(plan->rate, 1.0 / f->room);
    plan->bits /= f->room;
    return SEEN_OK;
}

/* One key needs no lists of keys. */
static enum seen_code ask_one(const struct seen_filter *f,
                              const struct seen_key *key, bool *seen,
                              struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    *seen = true;
    for (unsigned p = 0; p < f->parts && code == SEEN_OK && *seen; p++) {
        const struct seen_filter *part = f->part[p];

        code = part->has_one ? part->has_one(part, key, seen)
                             : part->kind->has(part, key, 1, seen, why);
    }
    return code;
}

/* A key is looked up in a part only if all parts before it have it. */
static enum seen_code ask(const struct seen_filter *f,
                          const struct seen_key *key, size_t n, bool *seen,
                          struct seen_error *why)
{
    enum seen_code code = f->part[0]->kind->has(f->part[0], key, n, seen, why);
    struct seen_key left[BATCH];
    size_t at[BATCH];
    bool also[BATCH];

    for (unsigned p = 1; p < f->parts && code == SEEN_OK; p++) {
        size_t some = 0;

        for (size_t i = 0; i < n; i++)
            if (seen[i]) {
                at[some] = i;
                left[some++] = key[i];
            }
        code = f->part[p]->kind->has(f->part[p], left, some, also, why);
        for (size_t i = 0; i < some && code == SEEN_OK; i++)
            seen[at[i]] = also[i];
    }
    return code;
}

static enum seen_code spatial_has(const struct seen_filter *f,
                                  const struct seen_key *key, size_t n,
                                  bool *seen, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    if (n == 1)
        return ask_one(f, key, seen, why);
    for (size_t done = 0, some; done < n && code == SEEN_OK; done += some) {
        some = n - done < BATCH ? n - done : BATCH;
        code = ask(f, key + done, some, seen + done, why);
    }
    return code;
}

/* Most keys are looked up in one part or in all; fetch for the first. */
static void spatial_expect(const struct seen_filter *f,
                           const struct seen_key *key, size_t n)
{
    if (f->part[0]->kind->expect)
        f->part[0]->kind->expect(f->part[0], key, n);
}

static enum seen_code add_one(struct seen_filter *f,
                              const struct seen_key *key, bool *fresh,
                              struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    bool new_there;
    unsigned p = 0;

    *fresh = false;
    while (p < f->parts && code == SEEN_OK) {
        code = f->part[p]->kind->add(f->part[p], key, 1, &new_there, why);
        if (code == SEEN_OK) {
            *fresh |= new_there;
            p++;
        }
    }
    while (code != SEEN_OK && p-- > 0 && f->traits & SEEN_CAN_REMOVE)
        f->part[p]->kind->remove(f->part[p], key, 1, NULL);
    return code;
}

static enum seen_code add_some(struct seen_filter *f,
                               const struct seen_key *key, size_t n,
                               bool *fresh, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    bool new_there[BATCH];

    for (size_t i = 0; i < n; i++)
        fresh[i] = false;
    for (unsigned p = 0; p < f->parts && code == SEEN_OK; p++) {
        code = f->part[p]->kind->add(f->part[p], key, n, new_there, why);
        for (size_t i = 0; i < n && code == SEEN_OK; i++)
            fresh[i] |= new_there[i];
    }
    return code;
}

/*
 * A batch is added to one part after the other while there is room for all
 * keys. Otherwise, and if several threads add, it is added key by key. Of
 * threads that add the same key, the stripe lets one at a time change all
 * parts.
 */
static enum seen_code spatial_add(struct seen_filter *f,
                                  const struct seen_key *key, size_t n,
                                  bool *fresh, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    bool unasked[BATCH];

    for (size_t done = 0, some; done < n && code == SEEN_OK; done += some) {
        bool *new = fresh ? fresh + done : unasked;

        some = n - done < BATCH ? n - done : BATCH;
        if (!f->stripes && part_room(f) >= some) {
            code = add_some(f, key + done, some, new, why);
            if (code != SEEN_OK && why)
                why->at += done;
            continue;
        }
        for (size_t i = 0; i < some && code == SEEN_OK; i++) {
            uint64_t stripe = key[done + i].lo;

            if (f->stripes)
                stripe_lock(f, stripe);
            code = add_one(f, &key[done + i], &new[i], why);
            if (f->stripes)
                stripe_unlock(f, stripe);
            if (code != SEEN_OK && why)
                why->at = done + i;
        }
    }
    return code;
}

/* The count is the smallest of all parts: a wrong count is too high. */
static enum seen_code spatial_count(const struct seen_filter *f,
                                    const struct seen_key *key, size_t n,
                                    uint64_t *count, struct seen_error *why)
{
    enum seen_code code = f->part[0]->kind->count(f->part[0], key, n, count,
                                                  why);
    uint64_t there;

    for (unsigned p = 1; p < f->parts; p++)
        for (size_t i = 0; i < n && code == SEEN_OK; i++) {
            code = f->part[p]->kind->count(f->part[p], &key[i], 1, &there,
                                           why);
            if (code == SEEN_OK && there < count[i])
                count[i] = there;
        }
    return code;
}

/* The key is removed from all parts, or from none. */
static enum seen_code remove_one(struct seen_filter *f,
                                 const struct seen_key *key,
                                 struct seen_error *why)
{
    uint64_t count;
    enum seen_code code = spatial_count(f, key, 1, &count, why);

    if (code == SEEN_OK && !count)
        code = seen_fail(why, SEEN_ABSENT, 0, "the count of the key is 0");
    for (unsigned p = 0; p < f->parts && code == SEEN_OK; p++)
        code = f->part[p]->kind->remove(f->part[p], key, 1, why);
    return code;
}

static enum seen_code spatial_remove(struct seen_filter *f,
                                     const struct seen_key *key, size_t n,
                                     struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    for (size_t i = 0; i < n && code == SEEN_OK; i++) {
        if (f->stripes)
            stripe_lock(f, key[i].lo);
        code = remove_one(f, &key[i], why);
        if (f->stripes)
            stripe_unlock(f, key[i].lo);
        if (code != SEEN_OK && why)
            why->at = i;
    }
    return code;
}

static enum seen_code spatial_under(const struct seen_filter *f,
                                    const struct seen_key *key, bool *seen,
                                    struct seen_error *why)
{
    return part_under(f, true, key, seen, why);
}

static double spatial_rate(const struct seen_filter *f)
{
    double product = 1;

    for (unsigned p = 0; p < f->parts; p++)
        product *= seen_filter_rate(f->part[p]);
    return product;
}

static double spatial_planned(const struct seen_filter *f)
{
    double product = 1;

    for (unsigned p = 0; p < f->parts; p++)
        product *= seen_filter_planned(f->part[p]);
    return product;
}

static double spatial_entries(const struct seen_filter *f)
{
    double sum = 0;

    for (unsigned p = 0; p < f->parts; p++)
        sum += seen_filter_entries(f->part[p]);
    return sum / f->parts;
}

/* The rates of the parts multiply. */
static double spatial_part_rate(const char *text, double rate)
{
    unsigned parts;

    if (arg_number(text, 0, 2, MOST, 2, &parts, NULL) != SEEN_OK)
        return rate;
    return pow(rate, 1.0 / parts);
}

const struct seen_kind filter_spatial = {
    .name = "spatial",
    .synopsis = "spatial:N/KIND",
    .summary = "N filters with different seeds, all of which must say yes",
    .traits = SEEN_CAN_ADD | SEEN_CAN_REMOVE | SEEN_CAN_COUNT |
              SEEN_CAN_PREFIX | SEEN_CAN_MERGE | SEEN_PARTS_AGREE,
    .combines = true,
    .target = SEEN_TO_ALL,
    .part_rate = spatial_part_rate,
    .state = sizeof(struct seen_filter),
    .make = spatial_make,
    .part = spatial_part,
    .has = spatial_has,
    .expect = spatial_expect,
    .add = SEEN_CHANGE(spatial_add),
    .rate = spatial_rate,
    .entries = spatial_entries,
    .planned = spatial_planned,
    .remove = SEEN_CHANGE(spatial_remove),
    .count = spatial_count,
    .under = spatial_under,
};
