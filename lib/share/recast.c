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
 *     X -> growing/X, dynamic:N/X   X is the first part: the cells stay, and
 *                              what does not fit goes to the next parts
 *
 * A kind is rewritten from the outside in, so these can be combined:
 * routed:16/X becomes routed:16/growing/X. The gain of bits: counters of 4
 * bits become a quarter of their size to publish. The loss: counts, removal,
 * and growth. The gain of growing: a filter that is full gets a second
 * generation. The loss: the errors of all generations add up, see
 * growing_part().
 *
 * Why in the library: it moves cells and parts that only lib/filter and
 * lib/store may see, and its two uses are daily work. A full filter gets a
 * second part without its URLs (seen add names the command when it refuses),
 * and a counting filter is published as a bloom.
 */
#include <seen/share.h>

#include <stdio.h>
#include <string.h>

#include "../filter/kinds.h"
#include "../filter/storage.h"
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

/* Is the outermost of a kind one that gets new parts? */
static bool gets_parts(const char *kind)
{
    const struct seen_kind *outer = seen_kind_find(kind);

    return outer && outer->combines && outer->target == SEEN_TO_LAST;
}

/* Write the kinds that a filter can become, for a message. */
static void list_possible(const struct seen_filter *f, char *list, size_t room)
{
    const char *kind = f->plan.kind, *slash = strrchr(kind, '/');
    const struct seen_kind *leaf = seen_kind_find(slash ? slash + 1 : kind);
    int outside = (int)strcspn(kind, "/"),
        before = slash ? (int)(slash + 1 - kind) : 0;
    size_t len = 0;

    list[0] = '\0';
    if (leaf && leaf->as_bits)
        len += (size_t)snprintf(list, room, "%.*s%s, ", before, kind,
                                leaf->as_bits);
    if (transparent(f) && len < room)
        len += (size_t)snprintf(list + len, room - len, "%s, ",
                                f->part[0]->plan.kind);
    if (seen_filter_can(f, SEEN_CAN_ADD) &&
        !seen_filter_can(f, SEEN_ADDS_PARTS) && len < room) {
        len += (size_t)snprintf(list + len, room - len, "growing/%s, ", kind);
        if (f->kind->target == SEEN_TO_ONE && f->kind->combines && len < room)
            snprintf(list + len, room - len, "%.*s/growing/%s, ", outside,
                     kind, inner(kind));
    }
}

static enum seen_code refuse(const struct seen_filter *f, const char *kind,
                             struct seen_error *why)
{
    char list[2 * SEEN_KIND_TEXT];

    list_possible(f, list, sizeof list);
    list[strlen(list) - (*list ? 2 : 0)] = '\0'; /* the last comma */
    return seen_fail(why, SEEN_UNABLE, 0,
                     "%s cannot become %s without its source%s%s",
                     f->plan.kind, kind, *list ? "; possible: " : "", list);
}

/*
 * f as another kind. A filter that becomes a part gets its limit back
 * (`bounded`), or else it would never be full.
 */
static enum seen_code recast(struct seen_filter **out,
                             const struct seen_filter *f, const char *kind,
                             bool bounded, struct seen_error *why);

/*
 * f as the first part of a filter that gets more. The later parts together
 * may err as often as the first, so the planned rate is twice the old one.
 */
static enum seen_code wrap(struct seen_filter **out,
                           const struct seen_filter *f, const char *kind,
                           struct seen_error *why)
{
    struct filter_record r = { .plan = f->plan, .check = f->check };
    double rate = seen_filter_planned(f), now = seen_filter_rate(f);
    struct seen_filter *part;
    enum seen_code code;

    *out = NULL;
    rate = now > rate ? now : rate;
    strcpy(r.plan.kind, kind);
    r.plan.bits = r.plan.probes = 0;
    r.plan.multiplier = 0;
    r.plan.over = false;
    r.plan.rate = rate;
    if (seen_kind_find(kind)->traits & SEEN_CAN_GROW)
        r.plan.rate += rate < 1 - rate ? rate : (1 - rate) / 2;
    code = recast(&part, f, inner(kind), true, why);
    if (code != SEEN_OK)
        return code;
    code = filter_restore(out, &r, filter_secret(f), why);
    if (code != SEEN_OK) {
        seen_filter_free(part);
        return code;
    }
    if (!((*out)->kind->traits & SEEN_CAN_GROW))
        (*out)->plan.capacity *= (*out)->room; /* below 2^48 * 2^12 */
    code = filter_append(*out, part, why);
    if (code == SEEN_OK && (*out)->plan.capacity > SEEN_BITS)
        code = seen_fail(why, SEEN_RANGE, 0,
                         "%u parts would be for more than 2^48 keys",
                         (*out)->room);
    return code;
}

static enum seen_code recast_parts(struct seen_filter *to,
                                   const struct seen_filter *from,
                                   bool bounded, struct seen_error *why)
{
    bool same = kind_same(to->plan.kind, from->plan.kind);
    enum seen_code code = SEEN_OK;

    for (unsigned i = 0; i < seen_filter_parts(from) && code == SEEN_OK; i++) {
        struct seen_filter *part;

        /* growing/blocked has parts of `bloom` where rates are low: if the
           kind of the whole stays, so do theirs. */
        code = recast(&part, from->part[i],
                      same ? from->part[i]->plan.kind : inner(to->plan.kind),
                      bounded, why);
        if (code == SEEN_OK)
            code = filter_append(to, part, why);
    }
    return code;
}

/* The plan of a whole whose parts get new parts is as if it was made so. */
static void loosen(struct seen_filter *f)
{
    if (!seen_filter_can(f, SEEN_ADDS_PARTS))
        return;
    f->plan.bits = f->plan.probes = 0;
    f->plan.multiplier = 0;
    f->plan.over = false;
    if (f->parts)
        f->plan.rate = seen_filter_planned(f);
}

/* f with the same cells, or with bits for counters. */
static enum seen_code rewrite(struct seen_filter **out,
                              const struct seen_filter *f, const char *kind,
                              bool bounded, struct seen_error *why)
{
    struct filter_record r = filter_record(f);
    bool same = kind_same(f->plan.kind, kind),
         flat = !same && !f->kind->combines;
    enum seen_code code;

    strcpy(r.plan.kind, kind);
    r.plan.over = r.plan.over && !bounded;
    if (!same)
        r.plan.bits /= width(f);
    code = filter_restore(out, &r, filter_secret(f), why);
    if (code != SEEN_OK)
        return code;
    code = f->kind->combines ? recast_parts(*out, f, bounded, why)
                             : filter_fill(*out, why);
    if (code != SEEN_OK)
        return code;
    if (flat)
        flatten(*out, f);
    else if (f->size)
        memcpy((*out)->cells, f->cells, f->size);
    (*out)->set = f->set;
    (*out)->offered = seen_filter_offered(f);
    (*out)->last = f->last;
    if ((*out)->kind->renew)
        (*out)->kind->renew(*out);
    if (!seen_filter_can(f, SEEN_ADDS_PARTS))
        loosen(*out);
    return SEEN_OK;
}

static enum seen_code recast(struct seen_filter **out,
                             const struct seen_filter *f, const char *kind,
                             bool bounded, struct seen_error *why)
{
    bool same = kind_same(f->plan.kind, kind);
    bool flat = f->kind->as_bits && !strcmp(kind, f->kind->as_bits);
    enum seen_code code;

    *out = NULL;
    if (!same && transparent(f) && !same_outside(f->plan.kind, kind))
        return recast(out, f->part[0], kind, bounded, why);
    if (same || flat || same_outside(f->plan.kind, kind))
        code = rewrite(out, f, kind, bounded, why);
    else if (gets_parts(kind) && !seen_filter_can(f, SEEN_ADDS_PARTS))
        code = wrap(out, f, kind, why);
    else
        code = refuse(f, kind, why);
    if (code != SEEN_OK) {
        seen_filter_free(*out);
        *out = NULL;
    }
    return code;
}

/*
 * An argument that a request leaves out has today's default, or else the value
 * that f has: an old layered:3 cannot become growing/layered:3,mixed, but
 * growing/layered:3,published.
 */
static enum seen_code recast_as_asked(struct seen_filter **out,
                                      const struct seen_filter *f,
                                      const char *kind, struct seen_error *why)
{
    char whole[SEEN_KIND_TEXT], before[SEEN_KIND_TEXT];
    enum seen_code code;

    strcpy(whole, kind);
    strcpy(before, kind);
    code = kind_complete(whole, true, why);
    if (code == SEEN_OK)
        code = recast(out, f, whole, false, why);
    if (code == SEEN_UNABLE && !kind_same(whole, kind) &&
        kind_complete(before, false, NULL) == SEEN_OK &&
        recast(out, f, before, false, NULL) == SEEN_OK)
        code = SEEN_OK;
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
    if (f->traits & SEEN_CELLS_ELSEWHERE)
        return seen_fail(why, SEEN_UNABLE, 0,
                         "the cells are on a server: load the filter first");
    if (!seen_kind_find(kind))
        return seen_fail(why, SEEN_RANGE, 0, "no kind is named %.*s",
                         (int)strcspn(kind, ":/"), kind);
    code = storage_check_all(f, why);
    if (code == SEEN_OK)
        code = recast_as_asked(out, f, kind, why);
    if (code != SEEN_OK)
        return code;
    code = storage_kept(f, code, why);
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
