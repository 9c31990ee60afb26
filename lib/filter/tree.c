/*
 * tree.c - from a plan to a filter: kinds by name, parts, cells, locks.
 *
 * The list of kinds starts with our own; others register.
 */
#include "tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../key/secret.h"
#include "cells.h"
#include "keeper.h"
#include "probe.h"
#include "stripes.h"

extern const struct seen_kind filter_blocked;
extern const struct seen_kind filter_fuse;
extern const struct seen_kind filter_bloom;
extern const struct seen_kind filter_counting;
extern const struct seen_kind filter_dynamic;
extern const struct seen_kind filter_growing;
extern const struct seen_kind filter_layered;
extern const struct seen_kind filter_routed;
extern const struct seen_kind filter_spatial;

static const struct seen_kind *kinds[SEEN_KINDS] = {
    &filter_blocked,  &filter_fuse,    &filter_bloom,
    &filter_counting, &filter_dynamic, &filter_growing,
    &filter_layered,  &filter_routed,  &filter_spatial,
};

enum { DEPTH = 4 }; /* of nested kinds; every sensible one is less deep */

const struct seen_kind *seen_kind_find(const char *text)
{
    size_t len = strcspn(text, ":/");

    for (int i = 0; i < SEEN_KINDS && kinds[i]; i++)
        if (!strncmp(kinds[i]->name, text, len) && !kinds[i]->name[len])
            return kinds[i];
    return NULL;
}

enum seen_code seen_kind_register(const struct seen_kind *kind,
                                  struct seen_error *why)
{
    int i = 0;

    if (seen_kind_find(kind->name))
        return seen_fail(why, SEEN_MISMATCH, 0,
                         "a kind named %s is known already", kind->name);
    while (i < SEEN_KINDS && kinds[i])
        i++;
    if (i == SEEN_KINDS)
        return seen_fail(why, SEEN_FULL, 0, "there are %d kinds already", i);
    kinds[i] = kind;
    return SEEN_OK;
}

bool seen_kind_arg(const char *text, unsigned i, char *arg, size_t room)
{
    size_t end = strcspn(text, "/"), at = strcspn(text, ":/");
    size_t len;

    if (at == end)
        return false;
    for (at++; i; i--) {
        at += strcspn(text + at, ",/");
        if (text[at] != ',')
            return false;
        at++;
    }
    len = strcspn(text + at, ",/");
    snprintf(arg, room, "%.*s", (int)len, text + at);
    return true;
}

/* What follows the slash of the outermost kind, or NULL. */
static const char *inner(const char *text)
{
    const char *slash = strchr(text, '/');

    return slash ? slash + 1 : NULL;
}

static bool named(const char *text, const char *name)
{
    size_t len = strlen(name);

    return text && !strncmp(text, name, len) &&
           (!text[len] || text[len] == ':' || text[len] == '/');
}

/* Nestings that make no sense, outer over inner at any depth, and why not. */
static const struct {
    const char *outer, *inner, *reason;
} senseless[] = {
    { "growing", "growing", "what grows is never full" },
    { "growing", "dynamic", "growing alone keeps the rate" },
    { "dynamic", "growing", "what grows is never full" },
    { "dynamic", "dynamic", "one with more parts is the same" },
    { "growing", "fuse", "a fuse is built once and cannot be added to" },
    { "dynamic", "fuse", "a fuse is built once and cannot be added to" },
    { "routed", "routed", "one with more parts is the same" },
    { "spatial", "spatial", "one with more parts is the same" },
};

static enum seen_code check_nesting(const char *text, struct seen_error *why)
{
    const size_t rules = sizeof senseless / sizeof senseless[0];
    int depth = 0;

    for (const char *at = text; at; at = inner(at)) {
        const struct seen_kind *kind = seen_kind_find(at);

        if (!kind)
            return seen_fail(why, SEEN_RANGE, (uint64_t)(at - text),
                             "no kind is named %.*s", (int)strcspn(at, ":/"),
                             at);
        if (kind->combines && !inner(at))
            return seen_fail(why, SEEN_RANGE, (uint64_t)(at - text),
                             "%s is made of filters: say of which, as in "
                             "%s/blocked",
                             kind->name, at);
        if (!kind->combines && inner(at))
            return seen_fail(why, SEEN_RANGE, (uint64_t)(at - text),
                             "%s is a leaf: nothing can be inside it",
                             kind->name);
        if (++depth > DEPTH)
            return seen_fail(why, SEEN_RANGE, (uint64_t)(at - text),
                             "kinds are nested more than %d deep", DEPTH);
        for (const char *in = inner(at); in; in = inner(in))
            for (size_t i = 0; i < rules; i++)
                if (named(at, senseless[i].outer) &&
                    named(in, senseless[i].inner))
                    return seen_fail(why, SEEN_RANGE, (uint64_t)(in - text),
                                     "%s inside %s makes no sense: %s",
                                     senseless[i].inner, senseless[i].outer,
                                     senseless[i].reason);
    }
    return SEEN_OK;
}

static enum seen_code check_plan(struct seen_plan *plan,
                                 struct seen_error *why)
{
    enum seen_code code;

    if (!memchr(plan->kind, '\0', sizeof plan->kind) ||
        !memchr(plan->profile, '\0', sizeof plan->profile))
        return seen_fail(why, SEEN_RANGE, 0, "kind or profile is too long");
    if (!plan->profile[0])
        strcpy(plan->profile, "raw");
    code = seen_key_profile(plan->profile, why);
    if (code == SEEN_OK)
        code = check_nesting(plan->kind, why);
    if (code != SEEN_OK)
        return code;
    if (plan->rate != 0 && !(plan->rate > 0 && plan->rate < 1))
        return seen_fail(why, SEEN_RANGE, 0, "a rate is between 0 and 1");
    if (plan->multiplier != 0 &&
        !(plan->multiplier > 0 && plan->multiplier < 1e6))
        return seen_fail(why, SEEN_RANGE, 0,
                         "a multiplier is above 0 and below a million");
    if (plan->bits > SEEN_BITS || plan->capacity > SEEN_BITS)
        return seen_fail(why, SEEN_RANGE, 0,
                         "more than 2^48 bits or keys are a mistake");
    if (plan->probes > MAX_PROBES)
        return seen_fail(why, SEEN_RANGE, 0, "more than %d probes",
                         MAX_PROBES);
    if (plan->keyed && key_secret_known(plan->secret)) {
        if (plan->check && plan->check != key_secret_check(plan->secret))
            return seen_fail(why, SEEN_MISMATCH, 0,
                             "the filter is keyed with another key");
        plan->check = key_secret_check(plan->secret);
    } else if (plan->keyed && !plan->recorded) {
        return seen_fail(why, SEEN_RANGE, 0, "a key of zeros is no secret");
    }
    return SEEN_OK;
}

/* The plan of the next part, as it is before the kind has its say. */
static enum seen_code part_plan(const struct seen_filter *f, unsigned i,
                                struct seen_plan *plan, struct seen_error *why)
{
    *plan = f->plan;
    strcpy(plan->kind, inner(f->plan.kind));
    plan->seed = part_seed(f->plan.seed, i);
    plan->recorded = false; /* it is yet to be derived */
    memset(plan->shape, 0, sizeof plan->shape);
    return f->kind->part(f, i, plan, why);
}

/*
 * Make the next part. To size a leaf takes milliseconds, and there may be
 * thousands of them: one that is planned as the one before it takes its
 * derived plan. (A fuse is sized later, by its keys.)
 */
static enum seen_code make_part(struct seen_filter *f,
                                struct seen_filter **out,
                                struct seen_error *why)
{
    const struct seen_filter *last = f->parts ? f->part[f->parts - 1] : NULL;
    struct seen_plan plan, before;
    enum seen_code code = part_plan(f, f->parts, &plan, why);

    *out = NULL;
    if (code != SEEN_OK)
        return code;
    if (last && !last->kind->combines && !last->kind->once &&
        part_plan(f, f->parts - 1, &before, NULL) == SEEN_OK) {
        before.seed = plan.seed;
        if (!memcmp(&before, &plan, sizeof plan)) {
            plan = last->plan;
            plan.seed = before.seed;
        }
    }
    return filter_make(out, &plan, true, why);
}

enum seen_code filter_make(struct seen_filter **out,
                           const struct seen_plan *plan, bool whole,
                           struct seen_error *why)
{
    struct seen_plan derived = *plan;
    enum seen_code code = check_plan(&derived, why);
    const struct seen_kind *kind;
    struct seen_filter *f = NULL, *part;

    *out = NULL;
    if (code != SEEN_OK)
        return code;
    kind = seen_kind_find(derived.kind);
    code = kind->make(&f, &derived, why);
    if (code != SEEN_OK)
        return code;
    f->kind = kind;
    f->plan = derived;
    f->plan.recorded = true;
    if (kind->combines) {
        f->part = calloc(f->room, sizeof *f->part);
        if (!f->part)
            code = seen_fail(why, SEEN_NOMEM, 0, "no memory for %u parts",
                             f->room);
    }
    while (whole && code == SEEN_OK && f->parts < f->first) {
        code = make_part(f, &part, why);
        if (code == SEEN_OK)
            code = filter_append(f, part, why);
    }
    if (code != SEEN_OK) {
        seen_filter_free(f);
        return code;
    }
    *out = f;
    return SEEN_OK;
}

enum seen_code filter_append(struct seen_filter *f, struct seen_filter *part,
                             struct seen_error *why)
{
    if (f->parts >= f->room) {
        seen_filter_free(part);
        return seen_fail(why, SEEN_FULL, 0, "%s has all its %u parts",
                         f->plan.kind, f->room);
    }
    if (part->reads_text && !f->reads_text) /* then no reader is there */
        f->reads_text = true;
    f->part[f->parts] = part;
    __atomic_store_n(&f->parts, f->parts + 1, __ATOMIC_RELEASE);
    return SEEN_OK;
}

size_t filter_leaves(const struct seen_filter *f)
{
    size_t sum = !f->kind->combines;

    for (unsigned i = 0; i < f->parts; i++)
        sum += filter_leaves(f->part[i]);
    return sum;
}

enum seen_code filter_fill(struct seen_filter *f, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    if (!f->kind->combines && !f->cells && f->size) {
        f->cells = cells_new(f->size);
        if (!f->cells)
            return seen_fail(why, SEEN_NOMEM, 0, "no memory for %zu bytes",
                             f->size);
    }
    for (unsigned i = 0; i < f->parts && code == SEEN_OK; i++)
        code = filter_fill(f->part[i], why);
    return code;
}

/* Does a kind that is only built from a known set occur in the text? */
static bool built_once(const char *text)
{
    for (; text; text = inner(text))
        if (seen_kind_find(text) && seen_kind_find(text)->once)
            return true;
    return false;
}

enum seen_code seen_filter_new(struct seen_filter **out,
                               const struct seen_plan *plan,
                               struct seen_error *why)
{
    enum seen_code code;

    *out = NULL;
    if (memchr(plan->kind, '\0', sizeof plan->kind) && built_once(plan->kind))
        return seen_fail(why, SEEN_UNABLE, 0,
                         "%s is built from a known set only", plan->kind);
    code = filter_make(out, plan, true, why);
    if (code == SEEN_OK)
        code = filter_fill(*out, why);
    if (code != SEEN_OK) {
        seen_filter_free(*out);
        *out = NULL;
    }
    return code;
}

/*
 * The parts of a filter have one set of locks for all: 64 KiB each would be
 * a quarter of a GiB for 4,096 of them. A thread is at one part at a time,
 * and what it holds beside that is further out, so nobody waits in a ring.
 */
static enum seen_code share_as(struct seen_filter *f,
                               struct seen_stripes *with,
                               struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    if (!f->stripes)
        f->stripes = with ? with : cells_new(sizeof *f->stripes);
    if (!f->stripes)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for locks");
    for (unsigned i = 0; i < f->parts && code == SEEN_OK; i++)
        code = share_as(f->part[i], f->part[0]->stripes, why);
    return code;
}

/* What grows needs the limits of its parts to know when; but not the last's,
   which may be yet to come. */
void filter_lift(struct seen_filter *f)
{
    bool grows = f->kind->combines && f->room > f->first;

    if (!f->kind->combines)
        f->limit = UINT64_MAX;
    f->over = grows;
    for (unsigned i = grows ? f->room - 1 : 0; i < f->parts; i++)
        filter_lift(f->part[i]);
}

enum seen_code seen_filter_grow(struct seen_filter *f, struct seen_error *why)
{
    struct seen_filter *part;
    enum seen_code code;

    if (f->parts >= f->room)
        return seen_fail(why, SEEN_FULL, 0, "%s has all its %u parts",
                         f->plan.kind, f->room);
    code = make_part(f, &part, why);
    if (code == SEEN_OK)
        code = filter_fill(part, why);
    if (code == SEEN_OK && f->stripes)
        code = share_as(part, f->parts ? f->part[0]->stripes : NULL, why);
    if (code != SEEN_OK) {
        if (part && f->parts && part->stripes == f->part[0]->stripes)
            part->stripes = NULL;
        seen_filter_free(part);
        return code;
    }
    if (f->over && f->parts + 1 == f->room)
        filter_lift(part);
    return filter_append(f, part, why);
}

enum seen_code seen_filter_share(struct seen_filter *f, struct seen_error *why)
{
    return share_as(f, NULL, why);
}

/* Parts that have the locks of the first must not give them back. */
static void free_parts(struct seen_filter *f)
{
    for (unsigned i = f->parts; i-- > 0;) {
        if (i && f->part[i]->stripes == f->part[0]->stripes)
            f->part[i]->stripes = NULL;
        seen_filter_free(f->part[i]);
    }
}

void seen_filter_free(struct seen_filter *f)
{
    if (!f)
        return;
    if (f->keeper)
        f->keeper->release(f->keeper, f);
    free_parts(f);
    if (f->kind && f->kind->clear)
        f->kind->clear(f);
    if (f->stripes)
        cells_free(f->stripes, sizeof *f->stripes);
    cells_free(f->cells, f->size);
    free(f->meta);
    free(f->part);
    free(f);
}
