/*
 * cost.c - the work of one question, from the plan alone.
 *
 * A plan that comes from another archive can be right in every checksum and
 * still ask for thousands of hashes per question. Servers and harvesters bound
 * the cost before they ask the filter for the first time.
 */
#include "cost.h"

#include <seen/kind_writer.h>

/* A filter without its parts. */
static uint64_t own_cost(const struct seen_filter *f)
{
    if (f->kind->cost)
        return f->kind->cost(f);
    if (f->kind->combines || f->traits & SEEN_HAS_LINES)
        return 1;
    return f->plan.probes + (f->traits & SEEN_READS_TEXT ? COST_XXH3 : 0);
}

/* To ask one more part takes about as long as to fetch one more line. */
static uint64_t tree_cost(const struct seen_filter *f, bool every_part)
{
    bool one = f->kind->target == SEEN_TO_ONE && !every_part;
    unsigned parts = seen_filter_parts(f);
    uint64_t sum = 0;

    for (unsigned i = 0; i < parts; i++) {
        uint64_t part = tree_cost(f->part[i], every_part);

        if (!one)
            sum += part + 1;
        else if (part > sum)
            sum = part;
    }
    return own_cost(f) + sum;
}

uint64_t seen_filter_cost(const struct seen_filter *f)
{
    return tree_cost(f, false) + (f->plan.keyed ? COST_SIP : 0);
}

uint64_t seen_filter_cost_prefix(const struct seen_filter *f)
{
    if (!(f->traits & SEEN_CAN_PREFIX))
        return 0;
    return tree_cost(f, true);
}
