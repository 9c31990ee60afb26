/*
 * build_plan.c - what seen build is to make: from options to a plan.
 *
 * A plan takes two of capacity, rate and bits. The rate has a default, so it
 * is the capacity that may be missing, and then the inputs are asked:
 *
 *     given                       capacity
 *     --capacity                  as given
 *     --bits and a rate           follows
 *     a fuse                      known when all URLs are
 *     files                       estimated in a first pass, 2 % to spare
 *     a pipe, read only once      1,000,000 to begin with: growing/KIND
 */
#include "build.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <seen/kind.h>
#include <seen/store.h>

#include "../lib/text/number.h"
#include "estimate.h"
#include "secret.h"

enum { GROWING_FROM = 1000000 };

enum outcome build_plan(struct build *b)
{
    struct seen_plan *p = &b->plan;

    if (!b->kind) /* a hostile one would fill single lines */
        b->kind = b->hostile ? "bloom" : "blocked";
    if (strlen(b->kind) >= sizeof p->kind)
        return trouble("--kind: is longer than %zu bytes", sizeof p->kind - 1);
    if (b->profile && strlen(b->profile) >= sizeof p->profile)
        return trouble("--profile: no profile is named %s", b->profile);
    if (b->probes > UINT_MAX)
        return trouble("--probes: %s are too many", show_count(b->probes));
    strcpy(p->kind, b->kind);
    b->in.every = seen_kind_can(b->kind, SEEN_CAN_COUNT);
    strcpy(p->profile, b->profile ? b->profile : "surt");
    p->capacity = b->capacity;
    p->rate = b->rate;
    p->bits = b->bits;
    p->probes = (unsigned)b->probes;
    p->multiplier = b->multiplier;
    p->seed = b->seed;
    p->hostile = b->hostile;
    p->over = b->over;
    p->keyed = b->keyed;
    if (!p->bits && !(p->rate > 0) && !(p->multiplier > 0))
        p->rate = 0.01;
    return !b->keyed || secret_read(b->keyed, b->secret) ? YES : TROUBLE;
}

enum outcome build_meta(const struct build *b, struct seen_filter *f)
{
    for (size_t i = 0; i < b->meta.n; i++) {
        const char *text = b->meta.text[i], *equals = strchr(text, '=');
        struct seen_error why;
        char name[256];

        if (!equals || equals == text ||
            (size_t)(equals - text) >= sizeof name)
            return trouble("--meta: %s is not NAME=VALUE", text);
        snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
        if (seen_meta_set(f, name, equals + 1, &why) != SEEN_OK)
            return trouble("--meta: %s: %s", name, why.text);
    }
    return YES;
}

enum outcome build_rehearse(const struct build *b)
{
    struct seen_plan small = { .kind = "bloom", .capacity = 1, .rate = 0.5 };
    struct seen_filter *f = NULL;
    struct seen_build *trial;
    struct seen_error why;
    enum outcome out;

    if (seen_filter_new(&f, &small, &why) != SEEN_OK)
        return trouble("%s", why.text);
    out = build_meta(b, f);
    seen_filter_free(f);
    if (out != YES || b->plan.capacity || b->plan.bits)
        return out;
    small = b->plan;
    small.capacity = 1000;
    if (seen_build_new_keyed(&trial, &small, b->keyed ? b->secret : NULL, 1,
                             &why) != SEEN_OK)
        return trouble_with(b->output, &why);
    seen_build_free(trial);
    return YES;
}

/* Can the capacity be had from bits and what goes with them? */
static bool derivable(const struct seen_plan *p)
{
    return p->bits && !seen_kind_can(p->kind, SEEN_HAS_LAYERS) &&
           (p->rate > 0 || (p->multiplier > 0 && p->probes));
}

enum outcome build_capacity(struct build *b)
{
    struct seen_plan *p = &b->plan;
    char grown[sizeof p->kind + 8];

    if (p->capacity || derivable(p) ||
        seen_kind_can(p->kind, SEEN_SIZES_ITSELF))
        return YES;
    if (seen_source_twice(b->in.source))
        return estimate(&b->in, &b->without, p);
    if (p->bits)
        return trouble("--bits: from a pipe, --rate or --capacity is needed "
                       "as well");
    p->capacity = GROWING_FROM;
    if (seen_kind_can(p->kind, SEEN_ADDS_PARTS))
        return YES;
    snprintf(grown, sizeof grown, "growing/%s", p->kind);
    if (strlen(grown) >= sizeof p->kind)
        return trouble("--kind: is too long to grow; give --capacity");
    strcpy(p->kind, grown);
    if (!b->quiet)
        warning("%s: what is not a file cannot be read twice: building %s; "
                "with --capacity it would be %s",
                b->output, grown, b->kind);
    return YES;
}
