/* parts.c - what combinators share. */
#include "parts.h"

#include <string.h>

#include "cells.h"
#include "probe.h"
#include "tree.h"

uint64_t part_room(const struct seen_filter *f)
{
    unsigned parts = seen_filter_parts(f);
    uint64_t set = set_cells(f), least = UINT64_MAX;

    if (!f->kind->combines)
        return f->plan.probes && set < f->limit
                   ? (f->limit - 1 - set) / f->plan.probes + 1
                   : 0;
    if (f->first < f->room)     /* it grows: only the last part gets keys */
        return parts ? part_room(f->part[parts - 1]) : 0;
    for (unsigned i = 0; i < parts && least; i++) {
        uint64_t room = part_room(f->part[i]);

        least = room < least ? room : least;
    }
    return least;
}

enum seen_code part_under(const struct seen_filter *f, bool all,
                          const struct seen_key *key, bool *seen,
                          struct seen_error *why)
{
    unsigned parts = seen_filter_parts(f);
    enum seen_code code = SEEN_OK;

    *seen = all;
    for (unsigned i = 0; i < parts && code == SEEN_OK && *seen == all; i++) {
        const struct seen_filter *part = f->part[i];

        code = part->kind->under(part, key, seen, why);
    }
    return code;
}
