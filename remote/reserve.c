/*
 * reserve.c - empty filters of `seen serve`, RedisBloom and Redis.
 *
 *     BF.RESERVE haw RATE CAPACITY SEED n PROFILE p    seen serve
 *     BF.RESERVE haw RATE CAPACITY                     RedisBloom
 *
 * RedisBloom refuses more than seven words ("wrong number of arguments"), so
 * the first form is tried first, and the second one only after that answer.
 *
 * The number of bits of a filter of RedisBloom follows from its capacity
 * without rounding to a power of two, and the bits of an item are its hashes
 * modulo that number. So a filter of another capacity errs on other items.
 */
#include "reserve.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seen/kind_writer.h>

#include "server.h"

enum { VARIED = 16 }; /* the capacity varies by up to 1/16 */

static bool is_bf(const char *address)
{
    return !strncmp(address, "bf:", 3) || !strncmp(address, "bfs:", 4);
}

bool remote_must_reserve(const char *address)
{
    const char *rest = address;
    bool all = true;
    char *one;

    if (!remote_is_spatial(address))
        return is_bf(address);
    while (remote_spatial_next(&rest, &one)) {
        all &= one && is_bf(one);
        free(one);
    }
    return all;
}

/* Servers take seeds of 63 bits. */
static uint64_t seed_of(uint64_t seed, unsigned part)
{
    return seen_mix(seed + part) >> 1;
}

static void put_reserve(struct remote_batch *b, const char *name,
                        const struct seen_plan *plan, bool ours)
{
    const uint64_t more = ours ? 0
                               : plan->seed % (plan->capacity / VARIED + 1);
    char rate[32];

    remote_batch_reset(b);
    remote_batch_begin(b, 0, true);
    remote_wire_count(&b->text, ours ? 8 : 4);
    remote_wire_text(&b->text, "BF.RESERVE");
    remote_wire_text(&b->text, name);
    snprintf(rate, sizeof rate, "%.17g", plan->rate);
    remote_wire_text(&b->text, rate);
    remote_wire_number(&b->text, plan->capacity + more);
    if (!ours)
        return;
    remote_wire_text(&b->text, "SEED");
    remote_wire_number(&b->text, plan->seed);
    remote_wire_text(&b->text, "PROFILE");
    remote_wire_text(&b->text, plan->profile);
}

static bool says(const redisReply *reply, const char *words)
{
    return reply->type == REDIS_REPLY_ERROR && strcasestr(reply->str, words);
}

static enum seen_code reserve(struct remote_server *s, struct remote_batch *b,
                              const struct seen_plan *plan,
                              struct seen_error *why)
{
    const redisReply *reply;
    enum seen_code code;

    put_reserve(b, s->address.name, plan, true);
    code = remote_server_run(s, b, why);
    if (code == SEEN_OK && (says(b->request[0].reply, "wrong number") ||
                            says(b->request[0].reply, "syntax error"))) {
        put_reserve(b, s->address.name, plan, false);
        code = remote_server_run(s, b, why);
    }
    if (code != SEEN_OK)
        return code;
    reply = b->request[0].reply;
    errno = 0;
    if (says(reply, "exists"))
        return seen_fail(why, SEEN_EXISTS, 0,
                         "there is a filter of this name");
    return remote_reply_check(reply, REDIS_REPLY_STATUS, why);
}

static enum seen_code reserve_at(const char *address,
                                 const struct seen_plan *plan,
                                 struct seen_error *why)
{
    struct remote_batch b = { .n = 0 };
    struct remote_server *s = NULL;
    struct remote_address a;
    enum seen_code code = remote_address_parse(&a, address, why);

    if (code == SEEN_OK)
        code = remote_server_open(&s, &a, NULL, NULL, why);
    remote_address_forget(&a);
    if (code == SEEN_OK)
        code = reserve(s, &b, plan, why);
    remote_batch_clear(&b);
    remote_server_close(s);
    return code;
}

enum seen_code remote_reserve(const char *address,
                              const struct seen_plan *plan,
                              struct seen_error *why)
{
    const unsigned parts = remote_address_parts(address);
    struct seen_plan one = *plan;
    enum seen_code code = SEEN_OK;
    const char *rest = address;
    char *part;

    one.seed = seed_of(plan->seed, 0);
    if (!remote_is_spatial(address))
        return reserve_at(address, &one, why);
    one.rate = pow(plan->rate, 1.0 / parts);
    for (unsigned i = 0; code == SEEN_OK && remote_spatial_next(&rest, &part);
         i++) {
        one.seed = seed_of(plan->seed, i);
        code = part ? reserve_at(part, &one, why)
                    : seen_fail(why, SEEN_NOMEM, 0, "no memory for a filter");
        free(part);
    }
    return code;
}

/* --- in Redis --- */

enum {
    CAPACITY = 10000000, /* where a filter does not grow, */
    GROWS_FROM = 100000, /* and where it does */
    PARTS_LEAST = 4, /* of a routed filter: some for each node of a cluster */
    PART_BYTES = 15 << 20
};

/* Each of n parts has the n-th root of the rate. Only cells that are copied
   must be in the parts that they will have there. */
void remote_choose_kind(struct seen_plan *plan, unsigned n)
{
    const double rate = pow(plan->rate, 1.0 / n),
                 bytes = (double)plan->capacity * -log(rate) /
                         (M_LN2 * M_LN2 * 8);
    unsigned parts = (unsigned)(bytes / PART_BYTES) + 1;
    char spatial[24] = "";

    if (parts < PARTS_LEAST)
        parts = PARTS_LEAST;
    if (n > 1)
        snprintf(spatial, sizeof spatial, "spatial:%u/", n);
    if (rate >= 1e-4)
        snprintf(plan->kind, sizeof plan->kind, "%sblocked", spatial);
    else
        snprintf(plan->kind, sizeof plan->kind, "%srouted:%u/bloom", spatial,
                 parts);
}

/* SEEN_ABSENT if nothing is there. */
static enum seen_code look(const char *address,
                           const struct remote_options *options,
                           struct seen_error *why)
{
    struct remote_options any = *options;
    struct seen_filter *f = NULL;
    enum seen_code code;

    any.profile = NULL;
    code = remote_open(&f, address, &any, why);
    seen_filter_free(f);
    return code;
}

/* A part that is there would be asked beside new ones that are empty. */
static enum seen_code check_absent(const char *address,
                                   const struct remote_options *options,
                                   struct seen_error *why)
{
    enum seen_code code = SEEN_ABSENT;
    const char *rest = address;
    char *part;

    if (!remote_is_spatial(address))
        return SEEN_OK; /* which making it finds out */
    while (code == SEEN_ABSENT && remote_spatial_next(&rest, &part)) {
        code = part ? look(part, options, why)
                    : seen_fail(why, SEEN_NOMEM, 0, "no memory for a filter");
        free(part);
    }
    if (code == SEEN_OK || code == SEEN_CORRUPT || code == SEEN_MISMATCH)
        return seen_fail(why, SEEN_EXISTS, 0,
                         "some parts of it are there: delete them, or make "
                         "the others again");
    return code == SEEN_ABSENT ? SEEN_OK : code;
}

static enum seen_code create_in_redis(const char *address,
                                      struct seen_plan *plan,
                                      const struct remote_options *options,
                                      struct seen_error *why)
{
    struct remote_options fresh = *options;
    struct seen_filter *f = NULL;
    enum seen_code code;

    fresh.fresh = true;
    remote_choose_kind(plan, remote_address_parts(address));
    remote_plan(plan);
    code = seen_filter_new(&f, plan, why);
    if (code == SEEN_OK)
        code = remote_able_at(f, address, why);
    if (code == SEEN_OK)
        code = remote_save(f, address, &fresh, why);
    if (code == SEEN_OK)
        *plan = *seen_filter_plan(f);
    seen_filter_free(f);
    return code;
}

/* The profile that an address asks for, if the plan has none. */
static enum seen_code take_profile(const char *address, struct seen_plan *plan,
                                   struct seen_error *why)
{
    struct remote_address a;
    enum seen_code code = remote_address_parse(&a, address, why);

    if (code == SEEN_OK && a.profile)
        code = seen_profile_find(NULL, a.profile, why);
    if (code == SEEN_OK && a.profile && !*plan->profile)
        strcpy(plan->profile, a.profile);
    else if (code == SEEN_OK && a.profile && strcmp(plan->profile, a.profile))
        code = seen_fail(why, SEEN_MISMATCH, 0,
                         "its address has profile %.40s; %.40s is expected",
                         a.profile, plan->profile);
    remote_address_forget(&a);
    return code;
}

static enum seen_code choose_profile(const char *address,
                                     struct seen_plan *plan,
                                     struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    const char *rest = address;
    char *part;

    if (!remote_is_spatial(address))
        code = take_profile(address, plan, why);
    else
        while (code == SEEN_OK && remote_spatial_next(&rest, &part)) {
            code = part ? take_profile(part, plan, why)
                        : seen_fail(why, SEEN_NOMEM, 0,
                                    "no memory for a filter");
            free(part);
        }
    if (!*plan->profile)
        strcpy(plan->profile, "whatwg");
    return code;
}

enum seen_code remote_create(const char *address, struct seen_plan *plan,
                             const struct remote_options *options,
                             struct seen_error *why)
{
    static const struct remote_options none = { .profile = NULL };
    enum seen_code code;

    if (!options)
        options = &none;
    code = choose_profile(address, plan, why);
    if (code == SEEN_OK)
        code = check_absent(address, options, why);
    if (code != SEEN_OK)
        return code;
    if (!plan->capacity)
        plan->capacity = remote_must_reserve(address) ? GROWS_FROM : CAPACITY;
    return remote_must_reserve(address)
               ? remote_reserve(address, plan, why)
               : create_in_redis(address, plan, options, why);
}
