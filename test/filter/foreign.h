/*
 * foreign.h - a kind of filter from outside the library: "mine", counters of
 * 8 bits, one per key, found by the key's lower half. It can count, remove,
 * be inside others, and grow with them.
 */
#ifndef TEST_FILTER_FOREIGN_H
#define TEST_FILTER_FOREIGN_H

#include <math.h>

#include <seen/kind_writer.h>

static double mine_formula(double n, double m, unsigned k)
{
    return pow(-expm1(-(double)k * n / m), k);
}

static enum seen_code mine_make(struct seen_filter *f, struct seen_error *why)
{
    struct seen_plan *plan = &f->plan;
    enum seen_code code = seen_plan_size(plan, f->recorded, 8, 1, mine_formula,
                                         why);

    if (code != SEEN_OK)
        return code;
    f->cell_bits = 8;
    f->size = (plan->bits / 8 + 63) / 64 * 64;
    f->limit = seen_plan_limit(plan, plan->bits / 8);
    return SEEN_OK;
}

static unsigned char *mine_cell(const struct seen_filter *f,
                                const struct seen_key *key)
{
    return &f->cells[seen_mix(key->lo ^ f->plan.seed) % (f->plan.bits / 8)];
}

static enum seen_code mine_count(const struct seen_filter *f,
                                 const struct seen_key *key, size_t n,
                                 uint64_t *count, struct seen_error *why)
{
    (void)why;
    for (size_t i = 0; i < n; i++)
        count[i] = *mine_cell(f, &key[i]);
    return SEEN_OK;
}

static enum seen_code mine_has(const struct seen_filter *f,
                               const struct seen_key *key, size_t n,
                               bool *seen, struct seen_error *why)
{
    (void)why;
    for (size_t i = 0; i < n; i++)
        seen[i] = *mine_cell(f, &key[i]);
    return SEEN_OK;
}

static enum seen_code mine_add(struct seen_filter *f,
                               const struct seen_key *key, size_t n,
                               bool *fresh, struct seen_error *why)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char *cell = mine_cell(f, &key[i]);
        bool old = *cell;

        if (!old && f->set >= f->limit)
            return seen_fail(why, SEEN_FULL, i, "mine is full");
        *cell = (unsigned char)(*cell + (*cell < 255));
        f->set += !old;
        if (fresh)
            fresh[i] = !old;
    }
    return SEEN_OK;
}

static enum seen_code mine_remove(struct seen_filter *f,
                                  const struct seen_key *key, size_t n,
                                  struct seen_error *why)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char *cell = mine_cell(f, &key[i]);

        if (!*cell)
            return seen_fail(why, SEEN_ABSENT, i, "is not there");
        *cell = (unsigned char)(*cell - (*cell < 255));
        f->set -= !*cell;
    }
    return SEEN_OK;
}

static uint64_t mine_recount(const struct seen_filter *f)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < f->size; i++)
        sum += f->cells[i] != 0;
    return sum;
}

static double mine_rate(const struct seen_filter *f)
{
    return (double)f->set / ((double)f->plan.bits / 8);
}

static const struct seen_kind mine = {
    .name = "mine",
    .synopsis = "mine",
    .summary = "a counter per key",
    .traits = SEEN_CAN_ADD | SEEN_CAN_REMOVE | SEEN_CAN_COUNT,
    .state = sizeof(struct seen_filter),
    .make = mine_make,
    .has = mine_has,
    .add = mine_add,
    .rate = mine_rate,
    .remove = mine_remove,
    .count = mine_count,
    .recount = mine_recount,
};

#endif
