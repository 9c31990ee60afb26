/*
 * recast.c - a filter as another kind that gives the same answers.
 *
 * A filter does not know its keys, so it can become another kind only if its
 * cells contain all that the other kind needs:
 *
 *     counting:W -> bloom      the counters of a key are at the places of the
 *                              bits it would have: a bit is set if its
 *                              counter is not 0
 *     growing/X -> X           if there is one part, which gives all answers
 *     dynamic:N/X, spatial:1/X
 *     routed:16/X -> routed:16/Y    if every part X can become a Y
 *
 * A kind is rewritten from the outside in, so these can be combined. The gain:
 * counters of 4 bits become a quarter of their size to publish. The loss:
 * counts, removal, and growth.
 */
#include <seen/share.h>

#include <stdio.h>
#include <string.h>

#include "../filter/tree.h"

static const char *inner(const char *kind)
{
    const char *slash = strchr(kind, '/');

    return slash ? slash + 1 : "";
}

/* Do two kinds begin with the same combinator and arguments? */
static bool same_outside(const char *a, const char *b)
{
    size_t len = strcspn(a, "/");

    return a[len] == '/' && !strncmp(a, b, len + 1);
}

/* Does a combinator give the answers of its only part? */
static bool transparent(const struct seen_filter *f)
{
    return f->kind->combines && f->kind->target != SEEN_TO_ONE &&
           seen_filter_parts(f) == 1;
}

/* The width of the cells inside that can become bits; or else 1. */
static unsigned width(const struct seen_filter *f)
{
    while (f->kind->combines && seen_filter_parts(f))
        f = f->part[0];
    return f->kind->as_bits ? f->cell_bits : 1;
}

/* Bit i is set if counter i is not 0. Sizes are whole lines. */
static void flatten(struct seen_filter *to, const struct seen_filter *from)
{
    const uint64_t *word = (const uint64_t *)from->cells;
    uint64_t most = (UINT64_C(1) << from->cell_bits) - 1;
    unsigned a_word = 64 / from->cell_bits;

    for (uint64_t i = 0; i < to->plan.bits; i++)
        if (word[i / a_word] >> i % a_word * from->cell_bits & most)
            to->cells[i / 8] |= (unsigned char)(1u << i % 8);
}

static enum seen_code recast(struct seen_filter **out,
                             const struct seen_filter *f, const char *kind,
                             struct seen_error *why);

static enum seen_code recast_parts(struct seen_filter *to,
                                   const struct seen_filter *from,
                                   struct seen_error *why)
{
    bool same = !strcmp(to->plan.kind, from->plan.kind);
    enum seen_code code = SEEN_OK;

    for (unsigned i = 0; i < seen_filter_parts(from) && code == SEEN_OK; i++) {
        struct seen_filter *part;

        /* growing/blocked has parts of `bloom` where rates are low: if the
           kind of the whole stays, so do theirs. */
        code = recast(&part, from->part[i],
                      same ? from->part[i]->plan.kind : inner(to->plan.kind),
                      why);
        if (code == SEEN_OK)
            code = filter_append(to, part, why);
    }
    return code;
}

static enum seen_code recast(struct seen_filter **out,
                             const struct seen_filter *f, const char *kind,
                             struct seen_error *why)
{
    struct filter_record r = filter_record(f);
    bool same = !strcmp(f->plan.kind, kind);
    bool flat = f->kind->as_bits && !strcmp(kind, f->kind->as_bits);
    enum seen_code code;

    *out = NULL;
    if (!same && transparent(f) && !same_outside(f->plan.kind, kind))
        return recast(out, f->part[0], kind, why);
    if (!same && !flat && !same_outside(f->plan.kind, kind))
        return seen_fail(
            why, SEEN_UNABLE, 0,
            "%s cannot become %s, as its cells do not contain the "
            "URLs; build it again from its source",
            f->plan.kind, kind);
    strcpy(r.plan.kind, kind);
    if (!same)
        r.plan.bits /= width(f);
    code = filter_restore(out, &r, filter_secret(f), why);
    if (code != SEEN_OK)
        return code;
    code = f->kind->combines ? recast_parts(*out, f, why)
                             : filter_fill(*out, why);
    if (code == SEEN_OK && flat)
        flatten(*out, f);
    else if (code == SEEN_OK && f->size)
        memcpy((*out)->cells, f->cells, f->size);
    if (code == SEEN_OK) {
        (*out)->set = f->set;
        (*out)->offered = seen_filter_offered(f);
        (*out)->last = f->last;
        if ((*out)->kind->renew)
            (*out)->kind->renew(*out);
        return SEEN_OK;
    }
    seen_filter_free(*out);
    *out = NULL;
    return code;
}

enum seen_code seen_filter_recast(struct seen_filter **out,
                                  const struct seen_filter *f,
                                  const char *kind, struct seen_error *why)
{
    const char *name, *value;
    enum seen_code code;

    *out = NULL;
    if (strlen(kind) >= SEEN_KIND_TEXT)
        return seen_fail(why, SEEN_RANGE, 0, "kind is too long");
    if (!seen_kind_find(kind))
        return seen_fail(why, SEEN_RANGE, 0, "no kind is named %.*s",
                         (int)strcspn(kind, ":/"), kind);
    code = recast(out, f, kind, why);
    if (code != SEEN_OK)
        return code;
    (*out)->offered = seen_filter_offered(f);
    for (size_t i = 0; code == SEEN_OK && seen_meta_at(f, i, &name, &value);
         i++)
        code = seen_meta_set(*out, name, value, why);
    if (code != SEEN_OK) {
        seen_filter_free(*out);
        *out = NULL;
    }
    return code;
}
