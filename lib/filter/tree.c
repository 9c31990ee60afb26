/*
 * tree.c - from a plan to a filter: parts, cells, locks.
 *
 * A filter is a tree: kinds that combine have parts, which are filters, and
 * leaves have cells. It is made in three steps, which stand here in this order.
 * The store takes the first one per node of a file (filter_restore()), appends
 * the parts itself, and brings the cells.
 *
 *     make_node()    check a plan, let its kind complete it; no parts yet
 *     make_parts()   for each part the request of its kind, then make_node()
 *     filter_fill()  cells for leaves that have none
 *
 * Then come locks, growing, and freeing. A plan may come from a file that
 * somebody else wrote, so check_plan() bounds its numbers before anything is
 * computed from them, and check_growth() bounds what a file's plan lets grow.
 *
 * `parts` is stored with release order, after the part is in its place: a
 * thread that asks meanwhile sees the parts before it or that one, too, and
 * never an empty place.
 */
#include "tree.h"

#include <stdlib.h>
#include <string.h>

#include "../key/secret.h"
#include "cells.h"
#include "storage.h"
#include "kinds.h"
#include "probe.h"
#include "stripes.h"

static enum seen_code check_plan(struct seen_plan *plan,
                                 struct seen_error *why)
{
    enum seen_code code;

    if (!memchr(plan->kind, '\0', sizeof plan->kind) ||
        !memchr(plan->profile, '\0', sizeof plan->profile))
        return seen_fail(why, SEEN_RANGE, 0, "kind or profile is too long");
    if (!plan->profile[0])
        strcpy(plan->profile, "raw");
    code = seen_profile_find(NULL, plan->profile, why);
    if (code == SEEN_OK)
        code = kind_check(plan->kind, why);
    if (code != SEEN_OK)
        return code;
    if (plan->rate != 0 && !(plan->rate > 0 && plan->rate < 1))
        return seen_fail(why, SEEN_RANGE, 0, "a rate is between 0 and 1");
    if (plan->multiplier != 0 &&
        !(plan->multiplier > 0 && plan->multiplier < 1e6))
        return seen_fail(why, SEEN_RANGE, 0,
                         "a multiplier is above 0 and below a million");
    if ((unsigned)plan->keys > SEEN_KEYS_DERIVED)
        return seen_fail(why, SEEN_RANGE, 0, "unknown keys of an index");
    if (plan->bits > SEEN_BITS || plan->capacity > SEEN_BITS)
        return seen_fail(why, SEEN_RANGE, 0,
                         "more than 2^48 bits or keys are a mistake");
    if (plan->bits / 8 >= SIZE_MAX / 2) /* the address space is of 32 bits */
        return seen_fail(why, SEEN_NOMEM, 0,
                         "%llu bits are more than memory can have",
                         (unsigned long long)plan->bits);
    if (plan->probes > MAX_PROBES)
        return seen_fail(why, SEEN_RANGE, 0, "more than %d probes",
                         MAX_PROBES);
    return SEEN_OK;
}

/* The secret is given, or only its check value is known. */
static enum seen_code check_secret(struct filter_record *r,
                                   const unsigned char *secret,
                                   struct seen_error *why)
{
    if (!secret && r->plan.keyed && !r->check)
        return seen_fail(why, SEEN_RANGE, 0, "a keyed filter takes a secret");
    if (!secret)
        return SEEN_OK;
    if (!key_secret_known(secret))
        return seen_fail(why, SEEN_RANGE, 0, "a secret must not be all zeros");
    if (r->check && r->check != key_secret_check(secret))
        return seen_fail(why, SEEN_MISMATCH, 0,
                         "the filter is keyed with another key");
    r->plan.keyed = true;
    r->check = key_secret_check(secret);
    return SEEN_OK;
}

/* Make a filter without parts. Its plan is recorded, or yet to be derived. */
static enum seen_code make_node(struct seen_filter **out,
                                struct filter_record r, bool recorded,
                                const unsigned char *secret,
                                struct seen_error *why)
{
    enum seen_code code = check_plan(&r.plan, why);
    const struct seen_kind *kind;
    struct seen_filter *f;

    *out = NULL;
    if (code == SEEN_OK)
        code = check_secret(&r, secret, why);
    if (code != SEEN_OK)
        return code;
    kind = seen_kind_find(r.plan.kind);
    f = calloc(1, kind->state);
    if (!f)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a filter");
    f->kind = kind;
    f->traits = kind_traits(r.plan.kind);
    f->plan = r.plan;
    memcpy(f->shape, r.shape, sizeof f->shape);
    f->check = r.check;
    f->recorded = recorded;
    if (secret)
        memcpy(f->secret, secret, sizeof f->secret);
    code = kind->make(f, why);
    if (code == SEEN_OK && kind->combines) {
        f->part = calloc(f->room, sizeof *f->part);
        if (!f->part)
            code = seen_fail(why, SEEN_NOMEM, 0, "no memory for %u parts",
                             f->room);
    }
    if (code != SEEN_OK) {
        seen_filter_free(f);
        return code;
    }
    f->recorded = true;
    *out = f;
    return SEEN_OK;
}

struct filter_record filter_record(const struct seen_filter *f)
{
    struct filter_record r = { .plan = f->plan, .check = f->check };

    memcpy(r.shape, f->shape, sizeof r.shape);
    return r;
}

const unsigned char *filter_secret(const struct seen_filter *f)
{
    return key_secret_known(f->secret) ? f->secret : NULL;
}

enum seen_code filter_restore(struct seen_filter **out,
                              const struct filter_record *record,
                              const unsigned char *secret,
                              struct seen_error *why)
{
    return make_node(out, *record, true, secret, why);
}

/* The request for part i, before its own kind derives the rest. */
static enum seen_code part_request(const struct seen_filter *f, unsigned i,
                                   struct filter_record *r,
                                   struct seen_error *why)
{
    memset(r, 0, sizeof *r);
    r->plan = f->plan;
    r->check = f->check;
    strcpy(r->plan.kind, kind_inner(f->plan.kind));
    r->plan.seed = part_seed(f->plan.seed, i);
    r->plan.keys = SEEN_KEYS_AUTO; /* the root has them */
    return f->kind->part(f, i, &r->plan, why);
}

enum seen_code filter_sample(const struct seen_filter *f,
                             struct seen_plan *sample, struct seen_error *why)
{
    struct seen_filter *part = NULL;
    struct filter_record r;
    enum seen_code code = part_request(f, 0, &r, why);

    if (code == SEEN_OK)
        code = make_node(&part, r, false, filter_secret(f), why);
    if (code == SEEN_OK)
        *sample = part->plan;
    seen_filter_free(part);
    return code;
}

static enum seen_code make_parts(struct seen_filter *f,
                                 struct seen_error *why);

/*
 * Make the next part. Sizing a leaf takes milliseconds, and there may be
 * thousands of leaves: if the request equals that of the last part, the
 * derived plan of the last part is used. (What is built
 * once is sized later, by its keys.)
 */
static enum seen_code make_part(struct seen_filter *f,
                                struct seen_filter **out,
                                struct seen_error *why)
{
    const struct seen_filter *last = f->parts ? f->part[f->parts - 1] : NULL;
    struct filter_record r, before;
    enum seen_code code = part_request(f, f->parts, &r, why);
    bool alike = false;

    *out = NULL;
    if (code != SEEN_OK)
        return code;
    if (last && !last->kind->combines && !(last->traits & SEEN_BUILT_ONCE) &&
        part_request(f, f->parts - 1, &before, NULL) == SEEN_OK) {
        before.plan.seed = r.plan.seed;
        alike = !memcmp(&before, &r, sizeof r);
    }
    if (alike) {
        r = filter_record(last);
        r.plan.seed = before.plan.seed;
    }
    code = make_node(out, r, alike, filter_secret(f), why);
    return code == SEEN_OK ? make_parts(*out, why) : code;
}

/* Make the parts that a filter begins with. */
static enum seen_code make_parts(struct seen_filter *f, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    struct seen_filter *part;

    while (code == SEEN_OK && f->parts < f->first) {
        code = make_part(f, &part, why);
        if (code == SEEN_OK)
            code = filter_append(f, part, why);
        else
            seen_filter_free(part);
    }
    return code;
}

enum seen_code filter_make(struct seen_filter **out,
                           const struct seen_plan *plan,
                           const unsigned char *secret, struct seen_error *why)
{
    struct filter_record r = { .plan = *plan };
    enum seen_code code = SEEN_OK;

    *out = NULL;
    if (memchr(plan->kind, '\0', sizeof plan->kind)) /* or it is refused */
        code = kind_complete(r.plan.kind, true, why);
    if (code == SEEN_OK)
        code = make_node(out, r, false, secret, why);
    if (code == SEEN_OK)
        code = make_parts(*out, why);
    if (code != SEEN_OK) {
        seen_filter_free(*out);
        *out = NULL;
    }
    return code;
}

enum seen_code filter_append(struct seen_filter *f, struct seen_filter *part,
                             struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    if (f->parts >= f->room)
        code = seen_fail(why, SEEN_FULL, 0, "%s has all its %u parts",
                         f->plan.kind, f->room);
    else if (kind_lacks(f->traits, part->traits))
        code = seen_fail(why, SEEN_RANGE, 0,
                         "a part that is %s cannot do what %s can",
                         part->plan.kind, f->plan.kind);
    if (code != SEEN_OK) {
        seen_filter_free(part);
        return code;
    }
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
        f->zeroed = true;
    }
    for (unsigned i = 0; i < f->parts && code == SEEN_OK; i++)
        code = filter_fill(f->part[i], why);
    return code;
}

enum seen_code seen_filter_allocate(struct seen_filter *f,
                                    struct seen_error *why)
{
    return filter_fill(f, why);
}

static enum seen_code filter_new(struct seen_filter **out,
                                 const struct seen_plan *plan,
                                 const unsigned char *secret,
                                 struct seen_error *why)
{
    enum seen_code code;

    *out = NULL;
    if (memchr(plan->kind, '\0', sizeof plan->kind) &&
        kind_check(plan->kind, NULL) == SEEN_OK &&
        seen_kind_can(plan->kind, SEEN_BUILT_ONCE))
        return seen_fail(why, SEEN_UNABLE, 0,
                         "%s is built from a known set only", plan->kind);
    code = filter_make(out, plan, secret, why);
    if (code == SEEN_OK)
        code = filter_fill(*out, why);
    if (code != SEEN_OK) {
        seen_filter_free(*out);
        *out = NULL;
    }
    return code;
}

enum seen_code seen_filter_new(struct seen_filter **out,
                               const struct seen_plan *plan,
                               struct seen_error *why)
{
    return filter_new(out, plan, NULL, why);
}

enum seen_code seen_filter_new_keyed(struct seen_filter **out,
                                     const struct seen_plan *plan,
                                     const unsigned char *secret,
                                     struct seen_error *why)
{
    return filter_new(out, plan, secret, why);
}

/*
 * All parts of a filter share one set of locks: with 64 KiB each, 4,096 parts
 * would take a quarter of a GiB. A thread works on one part at a time, and any
 * other lock that it holds is of an outer level, so there is no deadlock.
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

/* A growing filter needs the limits of its parts to know when to grow, except
   that of the last possible part, which may not exist yet. */
void filter_lift(struct seen_filter *f)
{
    bool grows = f->kind->combines && f->room > f->first;

    if (!f->kind->combines)
        f->limit = UINT64_MAX;
    f->over = grows;
    for (unsigned i = grows ? f->room - 1 : 0; i < f->parts; i++)
        filter_lift(f->part[i]);
}

void filter_limit(struct seen_filter *f)
{
    if (!f->kind->combines)
        f->limit = seen_plan_limit(&f->plan, f->plan.bits);
    for (unsigned i = 0; i < f->parts; i++)
        filter_limit(f->part[i]);
}

/*
 * A plan that comes from a file may claim any capacity, and the file of 4 kB
 * would become one of terabytes with the first key that does not fit. The next
 * part of a true plan is at most 16 times as large as the largest, with about
 * half more bits per key; parts of a few keys are rounded up to whole lines.
 */
static enum seen_code check_growth(const struct seen_filter *f,
                                   const struct seen_filter *next,
                                   struct seen_error *why)
{
    enum { TIMES = 32, LEAST = 1 << 20 };
    uint64_t now = seen_filter_bytes(f), more = seen_filter_bytes(next);

    if (!f->parts || more <= LEAST || more / TIMES <= now)
        return SEEN_OK;
    return seen_fail(why, SEEN_FULL, 0,
                     "the plan wants a part of %llu bytes, but all parts so "
                     "far have %llu; it takes no more keys",
                     (unsigned long long)more, (unsigned long long)now);
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
        code = check_growth(f, part, why);
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

enum seen_code seen_filter_allow_threads(struct seen_filter *f,
                                         struct seen_error *why)
{
    return share_as(f, NULL, why);
}

/* Parts that share the locks of the first part must not free them. */
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
    if (f->storage)
        f->storage->release(f->storage, f);
    free_parts(f);
    if (f->kind && f->kind->clear)
        f->kind->clear(f);
    if (f->stripes)
        cells_free(f->stripes, sizeof *f->stripes);
    cells_free(f->cells, f->size);
    free(f->meta);
    free(f->part);
    explicit_bzero(f->secret, sizeof f->secret);
    free(f);
}
