/*
 * cache_plan.c - which filter a visit begins with, and how it grows.
 *
 * The number of URLs is not known when a visit begins. A first visit has room
 * for what --capacity says, or 10 million; later ones for half as many more as
 * the visit before had. If that was too little, the filter grows.
 */
#include "cache_inside.h"

#include <stdio.h>
#include <string.h>

#include <seen/kind.h>
#include <seen/share.h>

enum { USUAL = 10000000 }; /* URLs */

static const char fuse_and[] = "fuse+"; /* --cache fuse+KIND */

bool crawl_cache_has_fuse(const struct crawl_settings *settings)
{
    return settings->cache &&
           !strncmp(settings->cache, fuse_and, sizeof fuse_and - 1);
}

/* 1.5 times the pages and links of the last visit (thesis, 7.2.1), or what a
   first visit is given. Beside a fuse there are only pages that are new since
   the last visit: a quarter of those that are known. */
static uint64_t choose_capacity(const struct crawl_cache *c)
{
    double before = c->earlier ? seen_filter_entries(c->earlier) : 0;

    if (c->settings->capacity)
        return c->settings->capacity;
    if (c->known)
        before = seen_filter_entries(c->known) / 6;
    if (before > 0)
        return before < 1000 ? 1500 : (uint64_t)(1.5 * before);
    return USUAL;
}

/*
 * By default the filter grows when it is full, and its rate doubles: see
 * grow(). A kind that was asked for stays what it is. Rather a rate that rises
 * than a crawl that stops: it is reported.
 */
static enum seen_code choose_plan(const struct crawl_cache *c,
                                  struct seen_plan *plan,
                                  struct seen_error *why)
{
    const struct crawl_settings *settings = c->settings;
    const char *kind = settings->cache ? settings->cache : "bloom";

    *plan = (struct seen_plan){ .profile = "whatwg",
                                .capacity = choose_capacity(c),
                                .rate = settings->rate,
                                .seed = c->state->visit.seed };
    if (c->server.base)
        return SEEN_OK; /* crawl_server_new() chooses the kind */
    if (crawl_cache_has_fuse(settings))
        kind += sizeof fuse_and - 1;
    if (strlen(kind) >= sizeof plan->kind)
        return seen_fail(why, SEEN_RANGE, 0, "--cache %.40s: too long", kind);
    strcpy(plan->kind, kind);
    if (!seen_kind_can(kind, SEEN_CAN_ADD))
        return seen_fail(why, SEEN_RANGE, 0,
                         "--cache %.60s: not a kind of filter that can be "
                         "added to",
                         kind);
    if (!settings->cache) {
        plan->rate /= 2;
        plan->tight = true;
    } else {
        plan->over = !seen_kind_can(kind, SEEN_CAN_GROW);
    }
    return SEEN_OK;
}

enum seen_code crawl_cache_make(struct crawl_cache *c, struct seen_error *why)
{
    struct seen_plan plan;
    enum seen_code code = choose_plan(c, &plan, why);

    if (code != SEEN_OK)
        return code;
    return c->server.base
               ? crawl_server_new(&c->filter, c->server.base, &plan, why)
               : seen_filter_new(&c->filter, &plan, why);
}

/*
 * A full filter becomes the first part of one that grows. A filter that could
 * grow from the beginning has a first part of a lower rate, and takes 4.1 bytes
 * per URL at 1e-6; this one takes 3.8, and 1e-6 holds for both parts together.
 */
static enum seen_code grow(struct crawl_cache *c, struct seen_error *why)
{
    char kind[SEEN_KIND_TEXT + 16];
    struct seen_filter *grown;
    enum seen_code code;

    snprintf(kind, sizeof kind, "growing/%s",
             seen_filter_plan(c->filter)->kind);
    code = seen_filter_recast(&grown, c->filter, kind, why);
    if (code == SEEN_OK) {
        seen_filter_free(c->filter);
        c->filter = grown;
    }
    return code;
}

enum seen_code crawl_cache_grow_by(struct crawl_cache *c,
                                   const struct seen_key *key, size_t n,
                                   struct seen_error *why)
{
    struct seen_error detail;
    enum seen_code code = seen_filter_add(c->filter, key, n, NULL, &detail);

    if (code == SEEN_FULL && detail.at < n) {
        code = grow(c, &detail);
        if (code == SEEN_OK)
            code = seen_filter_add(c->filter, key + detail.at,
                                   n - (size_t)detail.at, NULL, &detail);
    }
    if (code != SEEN_OK && why)
        *why = detail;
    return code;
}
