/*
 * server.c - make, copy and open a filter of a visit on a server.
 *
 * The kind is chosen for the place: bits of one URL that lie in several
 * strings would cost several commands. A filter accepts keys past its capacity,
 * since a rate that rises is better than a crawl that stops; the rate is
 * reported.
 */
#include "server.h"

#include <stdlib.h>

#include <seen/kind.h>
#include <seen/store.h>

#include "../../remote/identity.h"
#include "../../remote/reserve.h"

void crawl_server_init(struct crawl_server *s, const char *cache,
                       const char *mark, remote_warn *warn, void *whose)
{
    *s = (struct crawl_server){ .mark = mark, .warn = warn, .whose = whose };
    if (!cache || !remote_is_address(cache))
        return;
    s->base = cache;
    s->reserves = remote_must_reserve(cache);
}

static enum seen_code one_timeout(const char *address, unsigned *timeout,
                                  struct seen_error *why)
{
    struct remote_address a;
    enum seen_code code = remote_address_parse(&a, address, why);

    if (code == SEEN_OK && a.timeout_ms > *timeout)
        *timeout = a.timeout_ms;
    remote_address_forget(&a);
    return code;
}

enum seen_code crawl_server_timeout(const char *base, unsigned *timeout,
                                    struct seen_error *why)
{
    const char *rest = base;
    enum seen_code code = SEEN_OK;
    char *one;

    *timeout = 0;
    if (!remote_is_spatial(base))
        return one_timeout(base, timeout, why);
    while (code == SEEN_OK && remote_spatial_next(&rest, &one)) {
        if (!one)
            return seen_fail(why, SEEN_NOMEM, 0, "no memory for the cache");
        code = one_timeout(one, timeout, why);
        if (code == SEEN_OK &&
            remote_must_reserve(one) != remote_must_reserve(base))
            code = seen_fail(why, SEEN_UNABLE, 0,
                             "--cache: some parts are bf:// and some are not; "
                             "they cannot be filters of one plan");
        free(one);
    }
    return code;
}

enum seen_code crawl_server_new(struct seen_filter **out, const char *address,
                                struct seen_plan *plan, struct seen_error *why)
{
    const bool reserved = remote_must_reserve(address);
    enum seen_code code;

    remote_choose_kind(plan, reserved ? 1 : remote_address_parts(address));
    plan->over = true;
    if (!reserved)
        remote_plan(plan);
    code = seen_filter_new(out, plan, why);
    if (code == SEEN_OK && !reserved)
        code = remote_able_at(*out, address, why);
    if (code != SEEN_OK) {
        seen_filter_free(*out);
        *out = NULL;
    }
    return code;
}

enum seen_code crawl_server_save(const struct crawl_server *s,
                                 struct seen_filter *f, const char *address,
                                 const char *mark, struct seen_error *why)
{
    const struct remote_options options = { .warn = s->warn,
                                            .whose = s->whose };
    enum seen_code code = seen_meta_set(f, s->mark, mark, why);

    return code == SEEN_OK ? remote_save(f, address, &options, why) : code;
}

enum seen_code crawl_server_open(const struct crawl_server *s,
                                 struct seen_filter **out, const char *address,
                                 const char *mark, bool *ours,
                                 struct seen_error *why)
{
    const struct remote_options options = { .profile = "whatwg",
                                            .over = !s->reserves,
                                            .warn = s->warn,
                                            .whose = s->whose };
    enum seen_code code = remote_open(out, address, &options, why);

    *ours = code == SEEN_OK &&
            (s->reserves || remote_is_marked(*out, s->mark, mark));
    if (code == SEEN_OK && !*ours) {
        seen_filter_free(*out);
        *out = NULL;
    }
    return code;
}

uint64_t crawl_server_pause(uint64_t took)
{
    enum { LEAST = 1000, TIMES = 10 }; /* ms */

    return TIMES * took > LEAST ? TIMES * took : LEAST;
}
