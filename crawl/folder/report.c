/*
 * report.c - what a visit did and what is left, as numbers from the state.
 *
 * Counters are written with each commit. Some numbers are sums over rows: hosts,
 * and the freshness of all known pages, for which every row is read.
 */
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <seen/store.h>

#include "../../lib/disk/lock.h"
#include "../../lib/text/array.h"
#include "../../remote/remote.h"
#include "../engine/store.h"
#include "../page/scope.h"
#include "aside.h"
#include "cache_remote.h"
#include "left_out.h"
#include "recover.h"

enum { RECOVERED_MOST = 100000 };

/* --- numbers --- */

static void take_count(void *owner, const char *name, int64_t n)
{
    struct crawl_report *r = owner;
    const struct {
        const char *name;
        int64_t *to;
    } known[] = {
        { "links", &r->links },
        { "fresh", &r->fresh },
        { "discovered", &r->discovered },
        { "audited", &r->audited },
        { "mistaken", &r->mistaken },
        { "recovered", &r->recoveries },
        { "saved-bytes", &r->saved_bytes },
        { "unasked", &r->unasked },
        { "costly", &r->costly },
        { CRAWL_COPIES, &r->copies },
        { CRAWL_COPIES_LOST, &r->copies_lost },
    };

    for (int i = 0; i < CRAWL_OUTCOMES; i++)
        if (!strcmp(name, crawl_outcome_names[i])) {
            r->outcome[i] = n;
            if (i != CRAWL_AGAIN && i != CRAWL_ROBOTS && i != CRAWL_SKIPPED &&
                i != CRAWL_CLOSED && i != CRAWL_ASIDE)
                r->pages += n;
        }
    for (int i = 0; i < CRAWL_LEFT_LINKS; i++)
        if (!strcmp(name, crawl_left_counters[i]))
            r->left_out[i] = n;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(name, known[i].name))
            *known[i].to = n;
    if (!strncmp(name, CRAWL_TRAP, strlen(CRAWL_TRAP)) &&
        r->trap_reasons < CRAWL_TRAP_REASONS) {
        struct crawl_report_trap *trap = &r->trap[r->trap_reasons++];

        trap->links = n;
        snprintf(trap->reason, sizeof trap->reason, "%s",
                 name + strlen(CRAWL_TRAP));
    }
}

static bool take_host(void *owner, const struct frontier_host *host)
{
    struct crawl_report *r = owner;
    struct crawl_report_host *more;

    r->requests += host->requests;
    r->bytes += host->bytes;
    if (frontier_is_origin(host->name))
        r->outcome[CRAWL_CLOSED] += host->queued;
    if (host->stopped.len)
        r->left += host->queued;
    else
        r->waiting += host->queued;
    if (!host->requests && !host->queued)
        return true;
    more = array_grow(r->host, &r->host_room, r->hosts + 1, sizeof *more);
    if (!more)
        return false;
    r->host = more;
    more[r->hosts++] = (struct crawl_report_host){
        .name = strndup(host->name.text, host->name.len),
        .stopped = strndup(host->stopped.text, host->stopped.len),
        .queued = host->queued,
        .fetched = host->fetched,
        .requests = host->requests,
        .bytes = host->bytes,
        .due = host->due,
    };
    return true;
}

static int by_requests(const void *a, const void *b)
{
    const struct crawl_report_host *x = a, *y = b;

    return (x->requests < y->requests) - (x->requests > y->requests);
}

static enum seen_code read_recovered(struct crawl_report *r,
                                     struct crawl_state *s,
                                     struct seen_error *why)
{
    struct sql_statement *st;
    enum seen_code code;
    bool row;

    code = sql_prepare(&st, s->db,
                       "SELECT url FROM recovered WHERE visit = ?1 LIMIT ?2",
                       why);
    if (code != SEEN_OK)
        return code;
    SQL_NUMBERS(st, 1, s->visit.id, RECOVERED_MOST);
    while ((code = sql_step(st, &row, why)) == SEEN_OK && row) {
        char **more = array_grow(r->recovered, &r->recovered_room,
                                 r->recovered_n + 1, sizeof *more);
        struct seen_span url = sql_text(st, 0);

        if (!more)
            return seen_fail(why, SEEN_NOMEM, 0, "no memory for a report");
        r->recovered = more;
        more[r->recovered_n++] = strndup(url.text, url.len);
    }
    return code;
}

/* The host of a page, if it is in the report. */
static struct crawl_report_host *host_of(const struct map *hosts,
                                         struct seen_span url)
{
    struct seen_span name = crawl_host_of(url);

    return map_get(hosts, name.text, name.len);
}

static enum seen_code read_freshness(struct crawl_report *r,
                                     struct crawl_state *s,
                                     struct seen_error *why)
{
    struct map hosts = { .slot = NULL };
    struct sql_statement *st;
    enum seen_code code = SEEN_OK;
    double size = 0;
    int64_t all = 0;
    bool row;

    for (size_t i = 0; code == SEEN_OK && i < r->hosts; i++)
        if (!map_set(&hosts, r->host[i].name, strlen(r->host[i].name),
                     &r->host[i]))
            code = seen_fail(why, SEEN_NOMEM, 0, "no memory for a report");
    if (code == SEEN_OK)
        code = sql_prepare(&st, s->db,
                           "SELECT history, size, due, last, url FROM fetched",
                           why);
    while (code == SEEN_OK && (code = sql_step(st, &row, why)) == SEEN_OK &&
           row) {
        struct crawl_known page = { .due = sql_number(st, 2),
                                    .last = sql_number(st, 3) };
        struct crawl_report_host *host = host_of(&hosts, sql_text(st, 4));

        crawl_known_read_history(&page, sql_text(st, 0));
        size += (double)sql_number(st, 1);
        all++;
        crawl_freshness_add(&r->freshness, &page, r->now);
        if (host)
            crawl_freshness_add(&host->freshness, &page, r->now);
    }
    map_clear(&hosts);
    r->mean_size = all ? (int64_t)(size / (double)all) : 0;
    return code;
}

/* Pages that this visit left alone, since it is not their time; and those of
   any visit whose time has come. */
static enum seen_code read_due(struct crawl_report *r, struct crawl_state *s,
                               struct seen_error *why)
{
    struct sql_statement *st;
    enum seen_code code;
    bool row;

    code = sql_prepare(
        &st, s->db,
        "SELECT count(*) FILTER (WHERE due > ?2 AND visit < ?1), "
        "coalesce(min(due) FILTER (WHERE due > ?2 AND visit < ?1), 0), "
        "count(*) FILTER (WHERE due <= ?2) FROM fetched WHERE due < ?3",
        why);
    if (code != SEEN_OK)
        return code;
    SQL_NUMBERS(st, 1, s->visit.id, r->now);
    sql_bind_number(st, 3, INT64_MAX); /* never */
    code = sql_step(st, &row, why);
    if (code == SEEN_OK && row) {
        r->not_due = sql_number(st, 0);
        r->next_due = sql_number(st, 1);
        r->due = sql_number(st, 2);
    }
    return code;
}

/*
 * The interval of E. B. Wilson (Journal of the American Statistical
 * Association 22, 1927) for a share of which k of n were seen: it has 95 % of
 * what the share may be, also where k is 0.
 */
static void find_band(double band[2], double k, double n)
{
    const double z = 1.959964; /* standard deviations to either side */
    double p = k / n, middle = (p + z * z / (2 * n)) / (1 + z * z / n);
    double half = z / (1 + z * z / n) *
                  sqrt(p * (1 - p) / n + z * z / (4 * n * n));

    band[0] = k > 0 ? middle - half : 0;
    band[1] = k < n ? middle + half : 1;
}

static void read_cache(struct crawl_report *r, struct crawl_state *s)
{
    struct seen_access options = { .unverified = true };
    struct seen_filter *f;
    char name[40];
    char *path;

    r->rate = -1;
    snprintf(name, sizeof name, "cache-%lld.seen", (long long)s->visit.id);
    path = crawl_state_path(s, name);
    if (path && seen_store_map(&f, path, &options, NULL) == SEEN_OK) {
        snprintf(r->cache, sizeof r->cache, "%s", seen_filter_plan(f)->kind);
        r->rate = seen_filter_rate(f);
        seen_filter_free(f);
    }
    free(path);
    path = NULL;
    if (r->rate < 0)
        crawl_remote_facts(s, r->cache, sizeof r->cache, &r->rate, &path);
    free(path);
}

static bool is_running(const char *folder)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/lock", folder);
    return lock_held(path);
}

enum seen_code crawl_report_read(struct crawl_report *r, const char *folder,
                                 struct seen_error *why)
{
    struct crawl_state s;
    enum seen_code code = crawl_state_look(&s, folder, why);

    memset(r, 0, sizeof *r);
    if (code != SEEN_OK)
        return code;
    r->running = is_running(folder);
    r->visit = s.visit;
    r->now = (int64_t)time(NULL) * 1000;
    code = crawl_state_counts(&s, take_count, r, why);
    if (code == SEEN_OK)
        code = frontier_all_hosts(s.frontier, take_host, r, why);
    if (code == SEEN_OK)
        code = read_recovered(r, &s, why);
    if (code == SEEN_OK)
        code = crawl_state_next_due(&s, &r->first_due, why);
    if (code == SEEN_OK)
        code = read_freshness(r, &s, why);
    if (code == SEEN_OK)
        code = read_due(r, &s, why);
    if (r->audited)
        find_band(r->audit, (double)r->mistaken, (double)r->audited);
    read_cache(r, &s);
    crawl_state_close(&s);
    if (code != SEEN_OK)
        crawl_report_clear(r);
    else if (r->hosts)
        qsort(r->host, r->hosts, sizeof *r->host, by_requests);
    return code;
}

void crawl_report_clear(struct crawl_report *r)
{
    for (size_t i = 0; i < r->hosts; i++) {
        free(r->host[i].name);
        free(r->host[i].stopped);
    }
    for (size_t i = 0; i < r->recovered_n; i++)
        free(r->recovered[i]);
    free(r->host);
    free(r->recovered);
    memset(r, 0, sizeof *r);
}
