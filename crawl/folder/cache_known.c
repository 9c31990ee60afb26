/*
 * cache_known.c - a fuse of the pages that are known: --cache fuse+KIND.
 *
 * It is built once, when a visit begins, and has 9 bits per page. It may be
 * wrong for one page in 256, so what it says is looked up in the table of pages:
 * nothing is lost. Its file can be built again from that table at any time.
 */
#include "cache_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seen/build.h>
#include <seen/store.h>

#include "../page/scope.h"

struct collect {
    struct seen_build *build;
    int64_t n;
};

static enum seen_code count_one(void *owner, int64_t id, struct seen_span url,
                                struct seen_error *why)
{
    struct collect *all = owner;

    (void)id;
    (void)url;
    (void)why;
    all->n++;
    return SEEN_OK;
}

static enum seen_code collect_one(void *owner, int64_t id,
                                  struct seen_span url, struct seen_error *why)
{
    static char text[SEEN_KEY_TEXT];
    struct collect *all = owner;
    struct seen_key key;

    (void)id;
    crawl_key(&key, text, url);
    return seen_build_add(all->build, 0, &key, 1, why);
}

/*
 * A fuse of all pages that are known when the visit begins: 9 bits per page,
 * since one page in 256 that it takes for known by mistake costs one look
 * into the table, and nothing is lost.
 */
static enum seen_code build_fuse(struct crawl_cache *c, const char *path,
                                 struct seen_error *why)
{
    struct seen_plan plan = { .kind = "fuse",
                              .profile = "whatwg",
                              .rate = 1.0 / 256,
                              .seed = c->state->visit.seed };
    struct collect all = { .n = 0 };
    enum seen_code code;

    code = crawl_state_each(c->state, 0, count_one, &all, why);
    if (code != SEEN_OK || !all.n)
        return code;
    plan.capacity = (uint64_t)all.n;
    code = seen_build_new(&all.build, &plan, 1, why);
    if (code != SEEN_OK)
        return code;
    code = crawl_state_each(c->state, 0, collect_one, &all, why);
    if (code != SEEN_OK) {
        seen_build_free(all.build);
        return code;
    }
    code = seen_build_finish(all.build, &c->known, why);
    return code == SEEN_OK ? seen_store_save(c->known, path, why) : code;
}

/* A visit goes on as it began. */
static enum seen_code find_fuse(struct crawl_cache *c, bool fresh,
                                bool *wanted, struct seen_error *why)
{
    enum seen_code code;
    char visit[32], *kept = NULL;

    snprintf(visit, sizeof visit, "%lld", (long long)c->state->visit.id);
    if (fresh) {
        *wanted = crawl_cache_has_fuse(c->settings) && c->state->visit.id > 1;
        return crawl_state_set(c->state, "fuse", *wanted ? visit : "0", why);
    }
    code = crawl_state_get(c->state, "fuse", &kept, why);
    *wanted = kept && !strcmp(kept, visit);
    free(kept);
    return code;
}

/* A fuse that is missing is built again. Then it also has the pages that the
   visit has fetched since, which does no harm: they were seen. */
enum seen_code crawl_cache_open_known(struct crawl_cache *c, bool fresh,
                                      struct seen_error *why)
{
    char *path, *old;
    bool wanted = false;
    struct seen_error detail;
    enum seen_code code = find_fuse(c, fresh, &wanted, why);

    if (code != SEEN_OK || !wanted)
        return code;
    path = crawl_cache_path(c->state, "known", c->state->visit.id);
    old = crawl_cache_path(c->state, "known", c->state->visit.id - 1);
    if (!path || !old)
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for the cache");
    else if (fresh)
        unlink(old);
    if (code == SEEN_OK && (fresh || access(path, F_OK)))
        code = build_fuse(c, path, why);
    else if (code == SEEN_OK &&
             seen_store_map(&c->known, path, NULL, &detail) != SEEN_OK)
        code = crawl_cache_refuse(path, &detail, why);
    free(path);
    free(old);
    return code;
}

/* Links to known pages are not followed. The fuse spares the question; the
   table answers it. */
enum seen_code crawl_cache_ask_known(struct crawl_cache *c,
                                     const struct seen_key *key, size_t n,
                                     bool *seen, struct seen_error *why)
{
    bool known[CRAWL_CACHE_BATCH];
    enum seen_code code = seen_filter_has(c->known, key, n, known, why);

    for (size_t i = 0; code == SEEN_OK && i < n; i++)
        if (known[i] && !seen[i])
            code = crawl_state_knows(c->state, &key[i], &seen[i], why);
    return code;
}
