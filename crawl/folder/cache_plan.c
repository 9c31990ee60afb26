/*
 * cache_plan.c - which filter a visit begins with.
 *
 * The number of URLs is not known when a visit begins. A first visit has room
 * for what --capacity says, or for few; later ones for half as many more as the
 * visit before had. A cache that keeps its keys grows past that: crawl/cache/growth.c.
 */
#include "cache_inside.h"

#include <stdio.h>
#include <string.h>

#include <seen/kind.h>
#include <seen/share.h>

/* URLs of a first visit. A cache that cannot grow has room for many. One that
   grows begins with 48 kB at 1e-6, so that a small site has a small folder. */
enum { USUAL = 10000000, FEW = 12000 };

static const char fuse_and[] = "fuse+"; /* --cache fuse+KIND */

bool crawl_cache_has_fuse(const struct crawl_settings *settings)
{
    return settings->cache &&
           !strncmp(settings->cache, fuse_and, sizeof fuse_and - 1);
}

/* 1.5 times the pages and links of the last visit (thesis, 7.2.1), or what a
   first visit is given. Beside a fuse there are only pages that are new since
   the last visit: a quarter of those that are known. */
static uint64_t choose_capacity(const struct crawl_cache *c, bool grows)
{
    double before = c->earlier ? seen_filter_entries(c->earlier) : 0;

    if (c->settings->capacity)
        return c->settings->capacity;
    if (c->known)
        before = seen_filter_entries(c->known) / 6;
    if (before > 0)
        return before < 1000 ? 1500 : (uint64_t)(1.5 * before);
    return c->server.reserves ? CRAWL_SERVER_FIRST : grows ? FEW : USUAL;
}

/* What keeps its keys grows: the default, and kinds whose capacity nobody gave.
   Kinds that grow by themselves, or hash texts, need no keys or more. */
static bool keeps_keys(const struct crawl_cache *c, const char *kind)
{
    return !c->server.base &&
           (!c->settings->cache || !c->settings->capacity) &&
           !seen_kind_can(kind, SEEN_CAN_GROW) &&
           !seen_kind_can(kind, SEEN_READS_TEXT);
}

/*
 * Rather a rate that rises than a crawl that stops: it is reported. One that
 * keeps its keys has grown before that.
 */
static enum seen_code choose_plan(const struct crawl_cache *c,
                                  struct seen_plan *plan, bool *keeps,
                                  struct seen_error *why)
{
    const struct crawl_settings *settings = c->settings;
    const char *kind = settings->cache;

    *keeps = false;
    *plan = (struct seen_plan){ .profile = "whatwg",
                                .capacity = choose_capacity(c, false),
                                .rate = settings->rate,
                                .seed = c->state->visit.seed };
    if (c->server.base)
        return SEEN_OK; /* crawl_server_new() chooses the kind */
    if (!kind) {
        seen_kind_for_rate(plan->kind, plan->rate);
    } else {
        if (crawl_cache_has_fuse(settings))
            kind += sizeof fuse_and - 1;
        if (strlen(kind) >= sizeof plan->kind)
            return seen_fail(why, SEEN_RANGE, 0, "--cache %.40s: too long",
                             kind);
        strcpy(plan->kind, kind);
    }
    if (!seen_kind_can(plan->kind, SEEN_CAN_ADD))
        return seen_fail(why, SEEN_RANGE, 0,
                         "--cache %.60s: not a kind of filter that can be "
                         "added to",
                         plan->kind);
    plan->over = !seen_kind_can(plan->kind, SEEN_CAN_GROW);
    *keeps = keeps_keys(c, plan->kind);
    plan->capacity = choose_capacity(c, *keeps);
    return SEEN_OK;
}

enum seen_code crawl_cache_make(struct crawl_cache *c, struct seen_error *why)
{
    struct seen_plan plan;
    char *path = NULL;
    bool keeps;
    enum seen_code code = choose_plan(c, &plan, &keeps, why);

    if (code != SEEN_OK)
        return code;
    if (c->server.base)
        return crawl_server_new(&c->filter, c->server.base, &plan, why);
    if (keeps && !(path = crawl_cache_keys_path(c->state, c->state->visit.id)))
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for the cache");
    crawl_keys_close(&c->growth.keys);
    crawl_keys_begin(&c->growth.keys, path);
    return seen_filter_new(&c->filter, &plan, why);
}
