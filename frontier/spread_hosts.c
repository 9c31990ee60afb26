/*
 * spread_hosts.c - hosts of a frontier over several databases, and who asks
 * the hosts of an address.
 *
 * The claim of an address is a row of the database that the address is hashed
 * to. Where the host is, a row of `addresses` says the same, since those who
 * look for hosts there must find whose they are. It may be late: it only
 * decides who tries to claim the address next. So it may stay when the claim is
 * given up; the claim itself goes with the worker's last host of the address,
 * which is counted here, since no database knows all hosts.
 */
#include <stdlib.h>
#include <string.h>

#include "../lib/text/memory.h"
#include "../lib/text/span.h"
#include "shared_inside.h"
#include "spread_inside.h"

/* --- claims --- */

struct spread_claim {
    size_t hosts, len;
    char address[];
};

/* A host that has a claim. */
struct spread_held {
    int64_t host;
    struct spread_claim *claim;
};

static enum seen_code hold(struct frontier_spread *f, int64_t host,
                           struct seen_span address, struct seen_error *why)
{
    struct spread_claim *claim = map_get(&f->claims, address.text,
                                         address.len);
    struct spread_held *held = map_get(&f->held, &host, sizeof host);

    if (held)
        return SEEN_OK;
    if (!claim) {
        claim = calloc(1, sizeof *claim + address.len);
        if (!claim)
            return no_memory_for(why, "the frontier");
        claim->len = address.len;
        memcpy(claim->address, address.text, address.len);
        if (!map_set(&f->claims, claim->address, claim->len, claim)) {
            free(claim);
            return no_memory_for(why, "the frontier");
        }
    }
    held = malloc(sizeof *held);
    if (held) {
        *held = (struct spread_held){ host, claim };
        if (map_set(&f->held, &held->host, sizeof held->host, held)) {
            claim->hosts++;
            return SEEN_OK;
        }
    }
    free(held);
    return no_memory_for(why, "the frontier");
}

/* The host is gone. If it was the last one of its address, others may ask
   that. If the database is away the claim ends with the lease. */
static void let_go(struct frontier_spread *f, int64_t host)
{
    struct spread_held *held = map_remove(&f->held, &host, sizeof host);
    struct spread_claim *claim = held ? held->claim : NULL;
    struct seen_span address;
    unsigned at;

    free(held);
    if (!claim || --claim->hosts)
        return;
    address = (struct seen_span){ claim->address, claim->len };
    at = frontier_spread_database(f, address);
    if (spread_answers(f, at))
        frontier_shared_unclaim(f->database[at].shared, address, NULL);
    map_remove(&f->claims, claim->address, claim->len);
    free(claim);
}

void frontier_spread_forget(struct frontier_spread *f)
{
    void *claim;

    for (size_t at = 0; (claim = map_next(&f->claims, &at));)
        free(claim);
    for (size_t at = 0; (claim = map_next(&f->held, &at));)
        free(claim);
    map_clear(&f->claims);
    map_clear(&f->held);
}

enum seen_code frontier_spread_address(struct frontier_spread *f, int64_t host,
                                       struct seen_span address, bool *mine,
                                       struct seen_error *why)
{
    const unsigned at = frontier_database_of(host);
    const unsigned by = frontier_spread_database(f, address);
    int64_t holder = 0;
    enum seen_code code = SEEN_OK;

    *mine = false;
    if (spread_is_one(f))
        return frontier_shared_address(f->database[0].shared, host, address,
                                       mine, why);
    if (!spread_answers(f, at))
        return SEEN_OK;
    if (by != at && spread_answers(f, by))
        SPREAD_ASK(f, by,
                   frontier_shared_claim(shared, address, &holder, why));
    if (code == SEEN_OK)
        SPREAD_ASK(f, at,
                   frontier_shared_apply(shared, host, address,
                                         by == at ? NULL : &holder, mine,
                                         why));
    return code == SEEN_OK && *mine ? hold(f, host, address, why) : code;
}

/* Another worker has the host, in another database than the one whose
   robots.txt it is: that one follows it, as if it had the same address. */
static enum seen_code follow(struct frontier_spread *f, int64_t of,
                             const struct frontier_leased *host, bool *given,
                             struct seen_error *why)
{
    const unsigned at = frontier_database_of(of);
    enum seen_code code = SEEN_OK;
    bool mine;

    if (!host->address.len || !spread_answers(f, at))
        return SEEN_OK;
    SPREAD_ASK(f, at,
               frontier_shared_apply(shared, of, host->address, &host->worker,
                                     &mine, why));
    *given = code == SEEN_OK && !mine;
    return code;
}

enum seen_code frontier_spread_take(struct frontier_spread *f,
                                    struct seen_span name, int64_t of,
                                    struct frontier_leased *host, bool *given,
                                    struct seen_error *why)
{
    const unsigned at = frontier_spread_database(f, name);
    const bool apart = of && frontier_database_of(of) != at;
    enum seen_code code, followed = SEEN_OK;

    *given = false;
    if (!spread_answers(f, at))
        return seen_fail(why, SEEN_BUSY, 0, "its database is away");
    host->worker = 0; /* SEEN_BUSY of the database itself leaves it so */
    code = frontier_shared_take(f->database[at].shared, name, apart ? 0 : of,
                                host, given, why);
    if (code == SEEN_BUSY && apart && host->worker)
        followed = follow(f, of, host, given, why);
    if (*given)
        let_go(f, of);
    if (code != SEEN_BUSY)
        code = frontier_spread_judge(f, at, clock_ms(), code, why);
    return followed != SEEN_OK ? followed : code;
}

/* One database per call, and the others as they were: with many workers this
   question is asked often, and what it counts changes slowly. */
enum seen_code frontier_spread_load(struct frontier_spread *f,
                                    struct frontier_load *load,
                                    struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    *load = (struct frontier_load){ .workers = 0 };
    f->loaded = (f->loaded + 1) % f->databases;
    for (unsigned i = 0; i < f->databases; i++) {
        struct spread_database *d = &f->database[i];

        if (!spread_answers(f, i))
            continue;
        if (i == f->loaded || !d->loaded)
            SPREAD_ASK(f, i, frontier_shared_load(shared, &d->load, why));
        if (code != SEEN_OK)
            return code;
        d->loaded = true;
        load->hosts += d->load.hosts;
        if (d->load.workers > load->workers)
            load->workers = d->load.workers;
    }
    return SEEN_OK;
}

enum seen_code frontier_spread_release(struct frontier_spread *f,
                                       const struct frontier_return *host,
                                       size_t n, struct seen_error *why)
{
    struct frontier_return *some;
    enum seen_code code = SEEN_OK;

    if (spread_is_one(f))
        return frontier_shared_release(f->database[0].shared, host, n, why);
    some = malloc((n + 1) * sizeof *some);
    if (!some)
        return no_memory_for(why, "the frontier");
    for (unsigned i = 0; code == SEEN_OK && i < f->databases; i++) {
        size_t k = 0;

        for (size_t j = 0; j < n; j++)
            if (frontier_database_of(host[j].host) == i)
                some[k++] = host[j];
        if (k && spread_answers(f, i))
            SPREAD_ASK(f, i, frontier_shared_release(shared, some, k, why));
    }
    for (size_t i = 0; code == SEEN_OK && i < n; i++)
        let_go(f, host[i].host);
    free(some);
    return code;
}

enum seen_code frontier_spread_next(struct frontier_spread *f, int64_t host,
                                    unsigned most, frontier_take_shared *take,
                                    void *owner, struct seen_error *why)
{
    const unsigned at = frontier_database_of(host);
    enum seen_code code = SEEN_OK;

    if (spread_answers(f, at))
        SPREAD_ASK(f, at,
                   frontier_shared_next(shared, host, most, take, owner, why));
    return code;
}

enum seen_code frontier_spread_robots(struct frontier_spread *f,
                                      struct seen_span host,
                                      struct seen_span origin,
                                      struct frontier_robots *robots,
                                      struct seen_error *why)
{
    const unsigned at = frontier_spread_database(f, host);
    enum seen_code code;

    if (!spread_answers(f, at))
        return seen_fail(why, SEEN_ABSENT, 0, "its database is away");
    SPREAD_ASK(f, at, frontier_shared_robots(shared, origin, robots, why));
    return code;
}

enum seen_code frontier_spread_origin(struct frontier_spread *f,
                                      struct frontier_origin *origin,
                                      struct seen_error *why)
{
    const unsigned at = frontier_database_of(origin->host);
    enum seen_code code = SEEN_OK;

    if (spread_answers(f, at))
        SPREAD_ASK(f, at, frontier_shared_origin(shared, origin, why));
    return code;
}

/* --- hosts that come and go --- */

enum seen_code frontier_spread_lease(struct frontier_spread *f, unsigned most,
                                     int64_t ahead, frontier_take_leased *take,
                                     void *owner, struct seen_error *why)
{
    unsigned joined = 0, at = f->turn;
    enum seen_code code = SEEN_OK;

    for (unsigned i = 0; i < f->databases; i++)
        joined += spread_answers(f, i);
    for (unsigned i = 0; i < f->databases; i++) {
        at = (f->turn + i) % f->databases;
        if (spread_answers(f, at))
            break;
    }
    f->turn = (at + 1) % f->databases;
    if (joined)
        SPREAD_ASK(f, at,
                   frontier_shared_lease(shared, (most + joined - 1) / joined,
                                         ahead, take, owner, why));
    return code;
}
