/*
 * build_plan.c - what seen build is to make: from options to a plan.
 *
 * A plan takes two of capacity, rate and bits. The rate has a default, which
 * gives way to the bits in the name of a kind (ribbon:6). So it is the
 * capacity that may be missing, and then the inputs are asked:
 *
 *     given                       capacity
 *     --capacity                  as given
 *     --bits and a rate           follows
 *     a fuse, a ribbon, shards    known when all URLs are
 *     otherwise                   counted as keys come, 2 % to spare
 */
#include "build.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <seen/kind.h>
#include <seen/store.h>

#include "../lib/text/number.h"
#include "access.h"
#include "secret.h"

/* Does the kind say how many bits it takes, as ribbon:6 does? Then the rate
   follows from them. */
static bool has_bits(const char *kind)
{
    const char *leaf = seen_kind_which(kind, SEEN_SIZES_ITSELF);
    char bits[SEEN_KIND_TEXT];

    return leaf && seen_kind_arg(leaf, 0, bits, sizeof bits);
}

/* Can the capacity be had from bits and what goes with them? */
static bool derivable(const struct seen_plan *p)
{
    return p->bits && !seen_kind_can(p->kind, SEEN_HAS_LAYERS) &&
           (p->rate > 0 || (p->multiplier > 0 && p->probes));
}

/* A hostile key would fill single lines of blocked filters. On a server there
   are rules of its own. With a multiplier the bits do not follow from the
   rate. */
static void default_kind(const struct build *b, char kind[SEEN_KIND_TEXT])
{
    if (b->hostile)
        strcpy(kind, "bloom");
    else if (!(b->rate > 0) || b->multiplier > 0 ||
             access_is_remote(b->output))
        strcpy(kind, "blocked");
    else
        seen_kind_for_rate(kind, b->rate);
}

enum outcome build_plan(struct build *b)
{
    struct seen_plan *p = &b->plan;

    if (b->kind && strlen(b->kind) >= sizeof p->kind)
        return trouble("--kind: is longer than %zu bytes", sizeof p->kind - 1);
    if (b->profile && strlen(b->profile) >= sizeof p->profile)
        return trouble("--profile: no profile is named %s", b->profile);
    if (!cmd_keys_read(&b->asked, b->keys))
        return TROUBLE;
    if (b->asked == SEEN_KEYS_TRUSTED && b->profile &&
        strncmp(b->profile, "surt", 4))
        return trouble("--keys: the keys of an index are SURTs; under %s "
                       "there are none to trust",
                       b->profile);
    if (b->probes > UINT_MAX)
        return trouble("--probes: %s are too many", show_count(b->probes));
    if (b->kind)
        strcpy(p->kind, b->kind);
    else
        default_kind(b, p->kind);
    b->in.every = seen_kind_can(p->kind, SEEN_CAN_COUNT);
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
    if (!p->bits && !(p->rate > 0) && !(p->multiplier > 0) &&
        !has_bits(p->kind))
        p->rate = 0.01;
    if (access_is_remote(b->output))
        access_remote->plan(p);
    b->sizes = !p->capacity && !derivable(p) &&
               !seen_kind_can(p->kind, SEEN_SIZES_ITSELF);
    return !b->keyed || secret_read(b->keyed, b->secret) ? YES : TROUBLE;
}

enum outcome build_meta(const struct build *b, struct seen_filter *f)
{
    uint64_t lost = cmd_ingest_lost(&b->in);
    char partial[80];

    snprintf(partial, sizeof partial, "%s of the input could not be read",
             show_counted(lost, "part"));
    seen_meta_set(f, "partial", lost ? partial : NULL, NULL);
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

enum outcome build_whole(const struct build *b, const struct seen_ingest *in)
{
    uint64_t lost = cmd_ingest_lost(in);

    if (!lost || b->partial)
        return YES;
    return trouble("%s: was not written, because %s of the input could not be "
                   "read; --partial builds it without %s",
                   b->output, show_counted(lost, "part"),
                   lost == 1 ? "that" : "these");
}

enum outcome build_filled(const struct build *b, const struct seen_ingest *in,
                          uint64_t urls, uint64_t excluded)
{
    const char *what = "the inputs have no URLs";

    if (urls || b->allow_empty)
        return YES;
    if (excluded)
        what = "all URLs are excluded";
    else if (b->select && in->tally.lines > in->rejects.count)
        what = "no capture meets the conditions";
    return trouble("%s: was not written, because %s; --allow-empty builds an "
                   "empty filter",
                   b->output, what);
}
