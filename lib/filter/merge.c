/*
 * merge.c - the union of two filters.
 *
 * The union has a bit set if either filter has, so OR is exact: the result
 * has the bytes of a filter to which all keys of both were added. A key must
 * have the same cells in both, so all of their plans must be equal.
 */
#include <seen/kind_writer.h>

#include <string.h>

#include "cells.h"
#include "kinds.h"
#include "storage.h"
#include "tree.h"

static enum seen_code differ(const char *what, uint64_t a, uint64_t b,
                             struct seen_error *why)
{
    return seen_fail(why, SEEN_MISMATCH, 0, "the %s differ: %llu and %llu",
                     what, (unsigned long long)a, (unsigned long long)b);
}

enum seen_code filter_alike(const struct seen_filter *f,
                            const struct seen_filter *g,
                            struct seen_error *why)
{
    const struct seen_plan *p = &f->plan, *q = &g->plan;
    enum seen_code code = SEEN_OK;

    if (!kind_same(p->kind, q->kind))
        return seen_fail(why, SEEN_MISMATCH, 0, "the kinds differ: %s and %s",
                         p->kind, q->kind);
    if (strcmp(p->profile, q->profile))
        return seen_fail(why, SEEN_MISMATCH, 0,
                         "the profiles differ: %s and %s", p->profile,
                         q->profile);
    if (p->keyed != q->keyed)
        return seen_fail(why, SEEN_MISMATCH, 0, "one is keyed, one is not");
    if (f->check != g->check)
        return seen_fail(why, SEEN_MISMATCH, 0, "the keys differ");
    if (p->seed != q->seed)
        return differ("seeds", p->seed, q->seed, why);
    if (p->bits != q->bits)
        return differ("bits", p->bits, q->bits, why);
    if (f->size != g->size || memcmp(f->shape, g->shape, sizeof f->shape))
        return seen_fail(why, SEEN_MISMATCH, 0, "the layers differ in size");
    if (p->probes != q->probes)
        return differ("probes", p->probes, q->probes, why);
    if (f->kind->merge)
        return SEEN_OK; /* it compares the parts itself */
    if (f->parts != g->parts)
        return differ("numbers of parts", f->parts, g->parts, why);
    for (unsigned i = 0; i < f->parts && code == SEEN_OK; i++)
        code = filter_alike(f->part[i], g->part[i], why);
    return code;
}

static enum seen_code unite(struct seen_filter *f,
                            const struct seen_filter *from,
                            struct seen_error *why)
{
    uint64_t *to = (uint64_t *)f->cells;
    const uint64_t *with = (const uint64_t *)from->cells;
    enum seen_code code = SEEN_OK;

    if (f->kind->merge)
        return f->kind->merge(f, from, why);
    for (size_t i = 0; i < f->size / sizeof *to; i++)
        to[i] |= with[i];
    f->set = f->cells ? cells_count(f->cells, f->size) : 0;
    for (unsigned i = 0; i < f->parts && code == SEEN_OK; i++)
        code = unite(f->part[i], from->part[i], why);
    return code;
}

enum seen_code seen_filter_merge(struct seen_filter *f,
                                 const struct seen_filter *from,
                                 struct seen_error *why)
{
    enum seen_code code = filter_alike(f, from, why);
    uint64_t first;

    if (f->storage && !f->storage->copied)
        return seen_fail(why, SEEN_UNABLE, 0,
                         "a filter in a file is merged by loading it");
    if (code == SEEN_OK && (f->traits | from->traits) & SEEN_CELLS_ELSEWHERE)
        code = seen_fail(why, SEEN_UNABLE, 0,
                         "the cells are on a server: load the filter first");
    if (code == SEEN_OK && !(f->traits & SEEN_CAN_MERGE))
        code = seen_fail(why, SEEN_UNABLE, 0, "%s cannot be merged",
                         f->plan.kind);
    if (code == SEEN_OK)
        code = storage_check_all(from, why);
    if (code == SEEN_OK && f->storage)
        code = f->storage->before(f->storage, false, NULL, 0, &first, why);
    if (code == SEEN_OK)
        code = unite(f, from, why);
    code = storage_kept(from, code, why);
    if (code == SEEN_OK) {
        f->offered += from->offered;
        if (f->plan.keys != from->plan.keys)
            f->plan.keys = SEEN_KEYS_AUTO;
    }
    return code;
}

/*
 * A leaf accepts a key while fewer than `limit` cells are set, and a key sets
 * at most `probes` cells. The parts of a growing filter are always full,
 * except the last.
 */
bool seen_filter_overfull(const struct seen_filter *f)
{
    bool any = false;

    if (f->kind->combines && f->kind->target == SEEN_TO_LAST)
        return false;
    for (unsigned i = 0; i < f->parts && !any; i++)
        any = seen_filter_overfull(f->part[i]);
    if (!f->kind->combines && f->limit < UINT64_MAX - f->plan.probes)
        any = (f->kind->filled ? f->kind->filled(f) : set_cells(f)) >
              f->limit + f->plan.probes;
    return any;
}
