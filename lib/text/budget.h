/*
 * budget.h - how much work an input of others may cost, in counted steps.
 *
 * The size of hostile input is bounded, but that says nothing of the work
 * which it causes. A function whose cost is not linear in its input gets a
 * budget, spends it as it goes, and gives up with an outcome of its own when
 * nothing is left. Steps and not seconds: two machines, or one that is busy,
 * must come to the same answer.
 *
 *     struct budget page = { .left = 1000000000 };
 *
 *     if (!budget_spend(&page, nodes))
 *         return seen_fail(why, SEEN_RANGE, 0, "the page costs too much");
 *
 * A step is what it takes to look at one byte or one node: some nanoseconds.
 * Who copies or reads n bytes spends n steps, whatever a call of a library
 * needs for them. Spend for a row of small things at once: the count needs to
 * be proportional, not exact.
 *
 * A program that is told to stop must not wait for such a function. So a budget
 * may look at a flag, which any thread may set: from then on it has at most
 * `grace` steps left. Cheap work ends as if nothing had happened, costly work
 * soon; what it has made by then is no result, since another run would not
 * repeat it:
 *
 *     struct budget page = { .left = 1000000000, .stop = &stop,
 *                            .grace = 1000000 };
 *
 *     work_on(text, &page);
 *     if (budget_stopped(&page))
 *         forget what was made; it says nothing of the text
 *
 * Threads: a budget belongs to one thread at a time.
 */
#ifndef SEEN_TEXT_BUDGET_H
#define SEEN_TEXT_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget {
    uint64_t left; /* steps */
    uint64_t grace;
    const atomic_bool *stop; /* or NULL */
    bool hurried;            /* *stop was true when somebody looked */
};

/* False if there are fewer steps left than that: then none are left, so that
   all who share the budget stop, too. */
static inline bool budget_spend(struct budget *b, uint64_t steps)
{
    if (b->stop && atomic_load_explicit(b->stop, memory_order_relaxed)) {
        b->left = b->left < b->grace ? b->left : b->grace;
        b->stop = NULL; /* the grace is given once */
        b->hurried = true;
    }
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

/*
 * A part of the work gets a part of the budget, at most `most` steps of it:
 *
 *     struct budget part = budget_lend(&page, page.left / 2);
 *     uint64_t lent = part.left;
 *
 *     work_on(text, &part);
 *     budget_settle(&page, &part, lent);
 */
static inline struct budget budget_lend(const struct budget *b, uint64_t most)
{
    struct budget part = *b;

    part.left = part.left < most ? part.left : most;
    return part;
}

static inline void budget_settle(struct budget *b, const struct budget *part,
                                 uint64_t lent)
{
    if (part->hurried && !b->hurried)
        *b = *part;
    else
        budget_spend(b, lent - part->left);
}

/* Is it empty because of its flag? */
static inline bool budget_stopped(const struct budget *b)
{
    return b->hurried && !b->left;
}

#endif
