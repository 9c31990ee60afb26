/*
 * budget.h - how much work an input of others may cost, in counted steps.
 *
 * The size of hostile input is bounded, but that says nothing of the work
 * which it causes. A function whose cost is not linear in its input gets a
 * budget, spends it as it goes, and gives up with an outcome of its own when
 * nothing is left. Steps and not seconds: two machines, or one that is busy,
 * must come to the same answer.
 *
 *     struct budget page = { 1000000000 };
 *
 *     if (!budget_spend(&page, nodes))
 *         return seen_fail(why, SEEN_RANGE, 0, "the page costs too much");
 *
 * A step is what it takes to look at one byte or one node: some nanoseconds.
 * Who copies or reads n bytes spends n steps, whatever a call of a library
 * needs for them. Spend for a row of small things at once: the count needs to
 * be proportional, not exact.
 *
 * Threads: a budget belongs to one thread at a time.
 */
#ifndef SEEN_TEXT_BUDGET_H
#define SEEN_TEXT_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct budget {
    uint64_t left; /* steps */
};

/* False if there are fewer steps left than that: then none are left, so that
   all who share the budget stop, too. */
static inline bool budget_spend(struct budget *b, uint64_t steps)
{
    if (steps > b->left) {
        b->left = 0;
        return false;
    }
    b->left -= steps;
    return true;
}

/* Has someone asked for more than there was? A budget that was spent to the
   last step counts as empty, too. */
static inline bool budget_empty(const struct budget *b)
{
    return !b->left;
}

#endif
