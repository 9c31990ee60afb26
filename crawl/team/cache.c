/*
 * cache.c - the filter of a visit on a server that all workers share.
 *
 * The frontier decides what is new, so the filter may be away, be lost or lack
 * keys: links are asked of the frontier then. All that matters is that nobody
 * waits long for a server that does not answer.
 */
#include "cache.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <seen/store.h>

#include "../../lib/disk/clock.h"
#include "../../lib/text/random.h"
#include "../../lib/text/span.h"
#include "../../remote/identity.h"
#include "../../remote/remote.h"
#include "../../remote/reserve.h"

enum {
    CAPACITY = 1000000, /* links of a visit */
    TRIES = 20, /* while another worker makes the filter */
    PAUSE = 50  /* ms between them */
};

/* --- the token --- */

static const char token_table[] =
    "CREATE TABLE IF NOT EXISTS frontier_token (one {number} NOT NULL PRIMARY "
    "KEY, token TEXT NOT NULL)";

static enum seen_code read_token(struct crawl_team *t, struct seen_error *why)
{
    struct sql_statement *insert, *find;
    struct seen_span text;
    char token[24];
    enum seen_code code;
    bool row;

    snprintf(token, sizeof token, "%08" PRIx32, (uint32_t)random_seed());
    code = sql_prepare(&insert, t->db,
                       "INSERT INTO frontier_token VALUES (1, ?1) ON CONFLICT "
                       "DO NOTHING",
                       why);
    if (code == SEEN_OK) {
        sql_bind_text(insert, 1, span_of(token));
        code = sql_do(insert, why);
    }
    if (code == SEEN_OK)
        code = sql_prepare(&find, t->db, "SELECT token FROM frontier_token",
                           why);
    if (code == SEEN_OK)
        code = sql_step(find, &row, why);
    if (code != SEEN_OK)
        return code;
    text = row ? sql_text(find, 0) : (struct seen_span){ "", 0 };
    t->token = strndup(text.text, text.len);
    sql_reset(find);
    return t->token ? SEEN_OK
                    : seen_fail(why, SEEN_NOMEM, 0, "no memory for a worker");
}

enum seen_code crawl_team_token(struct crawl_team *t, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    if (t->token)
        return SEEN_OK;
    /* Of two that make a table at once, PostgreSQL lets one fail. */
    if (sql_run(t->db, token_table, NULL) != SEEN_OK)
        code = sql_run(t->db, token_table, why);
    return code == SEEN_OK ? read_token(t, why) : code;
}

static void warn_of_server(void *whose, const char *text)
{
    struct seen_error why;

    seen_fail(&why, SEEN_IO, 0, "--cache: %.140s", text);
    crawl_team_warn(whose, &why);
}

enum seen_code crawl_team_cache_open(struct crawl *c, struct seen_error *why)
{
    struct crawl_team *t = crawl_team_of(c);
    enum seen_code code;
    unsigned timeout;

    crawl_server_init(&t->server, t->settings.cache, "row", warn_of_server, c);
    if (!t->settings.cache)
        return SEEN_OK;
    code = crawl_server_timeout(t->settings.cache, &timeout, why);
    t->cache_timeout = timeout < t->settings.lease / 8 ? timeout
                                                       : t->settings.lease / 8;
    return code == SEEN_OK ? crawl_team_token(t, why) : code;
}

void crawl_team_cache_close(struct crawl_team *t)
{
    free(t->token);
}

/* --- away --- */

static bool is_away(const struct crawl_team *t)
{
    return !t->server.base || clock_ms() < t->cache_until;
}

/* The filter cannot be used now. One that is gone, since somebody deleted it,
   is made again the next time. */
static void give_up(struct crawl *c, struct crawl_team_visit *visit,
                    uint64_t began, struct seen_error *why)
{
    struct crawl_team *t = crawl_team_of(c);
    uint64_t took = clock_ms() - began;
    struct seen_error text;

    seen_filter_free(visit->filter);
    visit->filter = NULL;
    if (why->code != SEEN_CORRUPT && why->code != SEEN_ABSENT)
        t->cache_until = clock_ms() + crawl_server_pause(took);
    seen_fail(&text, why->code, 0,
              "--cache: %.110s; links are asked of the frontier", why->text);
    crawl_team_warn(c, &text);
}

/* --- the filter of a visit --- */

static void name_row(char row[24], int64_t id)
{
    snprintf(row, 24, "%lld", (long long)id);
}

bool crawl_team_cache_reads(const struct crawl_team *t)
{
    return t->server.reserves;
}

/* With a timeout that the lease allows. */
static char *address_of(const struct crawl_team *t, int64_t id,
                        const char *visit)
{
    char *more = NULL, *address, row[24], timeout[48];

    name_row(row, id);
    if (asprintf(&more, t->server.reserves ? "%s-%s-%s" : "%s-%s", visit,
                 t->token, row) < 0)
        return NULL;
    snprintf(timeout, sizeof timeout, "timeout=%u.%03u",
             t->cache_timeout / 1000, t->cache_timeout % 1000);
    address = remote_address_more(t->server.base, more, timeout);
    free(more);
    return address;
}

static enum seen_code open_filter(struct crawl *c,
                                  struct crawl_team_visit *visit,
                                  const char *address, struct seen_error *why)
{
    enum seen_code code;
    char row[24];
    bool ours;

    name_row(row, visit->id);
    code = crawl_server_open(&crawl_team_of(c)->server, &visit->filter,
                             address, row, &ours, why);
    return code == SEEN_OK && !ours /* of a visit that was pruned */
               ? seen_fail(why, SEEN_ABSENT, 0, "it is of another visit")
               : code;
}

static enum seen_code save_filter(struct crawl *c,
                                  const struct crawl_team_visit *visit,
                                  const char *address, struct seen_plan *plan,
                                  struct seen_error *why)
{
    struct seen_filter *f;
    enum seen_code code = crawl_server_new(&f, address, plan, why);
    char row[24];

    name_row(row, visit->id);
    if (code == SEEN_OK)
        code = crawl_server_save(&crawl_team_of(c)->server, f, address, row,
                                 why);
    seen_filter_free(f);
    return code;
}

static enum seen_code make_filter(struct crawl *c,
                                  const struct crawl_team_visit *visit,
                                  const char *address, struct seen_error *why)
{
    const struct crawl_team *t = crawl_team_of(c);
    struct seen_plan plan = {
        .profile = "whatwg",
        .capacity = t->settings.capacity ? t->settings.capacity
                    : t->server.reserves ? CRAWL_SERVER_FIRST
                                         : CAPACITY,
        .rate = visit->job->settings.rate > 0 ? visit->job->settings.rate
                                              : 1e-6,
        .seed = visit->job->seed
    };
    enum seen_code code;

    if (!t->server.reserves)
        return save_filter(c, visit, address, &plan, why);
    code = remote_reserve(address, &plan, why);
    return code == SEEN_EXISTS ? SEEN_OK : code; /* another worker did */
}

/* Several workers may meet a visit at once; one of them makes the filter. */
static enum seen_code open_or_make(struct crawl *c,
                                   struct crawl_team_visit *visit,
                                   struct seen_error *why)
{
    const struct timespec pause = { .tv_nsec = PAUSE * 1000000L };
    char *address = address_of(crawl_team_of(c), visit->id, visit->job->visit);
    enum seen_code code = SEEN_BUSY;

    if (!address)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for an address");
    for (int i = 0; i < TRIES && code == SEEN_BUSY; i++) {
        if (i)
            nanosleep(&pause, NULL);
        code = open_filter(c, visit, address, why);
        if (code == SEEN_ABSENT || code == SEEN_CORRUPT) {
            code = make_filter(c, visit, address, why);
            if (code == SEEN_OK)
                code = open_filter(c, visit, address, why);
        }
    }
    free(address);
    return code;
}

static bool is_ready(struct crawl *c, struct crawl_team_visit *visit)
{
    const uint64_t began = clock_ms();
    struct seen_error why;

    if (is_away(crawl_team_of(c)))
        return false;
    if (visit->filter || open_or_make(c, visit, &why) == SEEN_OK)
        return true;
    give_up(c, visit, began, &why);
    return false;
}

void crawl_team_cache_ask(struct crawl *c, struct crawl_team_visit *visit,
                          const struct seen_key *key, size_t n, bool *seen)
{
    const bool ready = is_ready(c, visit);
    const uint64_t began = clock_ms();
    struct seen_error why;

    if (ready && seen_filter_has(visit->filter, key, n, seen, &why) == SEEN_OK)
        return;
    if (ready)
        give_up(c, visit, began, &why);
    memset(seen, 0, n);
}

void crawl_team_cache_add(struct crawl *c, struct crawl_team_visit *visit,
                          const struct seen_key *key, size_t n)
{
    const bool ready = is_ready(c, visit);
    const uint64_t began = clock_ms();
    struct seen_error why;

    if (ready && seen_filter_add(visit->filter, key, n, NULL, &why) != SEEN_OK)
        give_up(c, visit, began, &why);
}

void crawl_team_cache_remove(struct crawl *c, int64_t id, const char *visit)
{
    struct crawl_team *t = crawl_team_of(c);
    struct seen_error ignored;
    char *address, row[24];

    if (is_away(t))
        return; /* it stays there, and is never asked again */
    address = address_of(t, id, visit);
    name_row(row, id);
    if (address)
        remote_remove(address, t->server.mark, row, &ignored);
    free(address);
}
