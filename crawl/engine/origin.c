/*
 * origin.c - scheme, host and port: what robots.txt and failures belong to.
 *
 * Politeness is about a host: one request at a time, whatever the port. What
 * cannot be asked is an origin. A visitor's comment with a link to port 25 must
 * not end the crawl of the site that it is on. So five failures in a row, or a
 * robots.txt that cannot be fetched, close the origin:
 *
 *     unknown ──> asked ──> known ──> five failures ──┐
 *        ^          │                                 v
 *        └─ pause ──┴── no answer after all ──────> closed
 *                       attempts
 *
 * Its pages then leave the queue one by one, without a request, and the same
 * command or the next visit asks again. While an origin waits for its pause,
 * pages of others go first (crawl.c).
 *
 * One page may link to all 65,535 ports. When CRAWL_FAILING origins of a host
 * fail, no others with a port are tried. Those without one, http://HOST and
 * https://HOST, are what links are mostly about, and are tried in any case.
 *
 * Failures and closed origins are kept in the rows of the frontier, under the
 * name of the origin, which is not the name of a host: a host that leaves
 * memory between two attempts is not tried for ever.
 */
#include "host.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/text/span.h"
#include "../page/scope.h"

enum { ORIGINS = 64 }; /* of a host, before any is forgotten */

struct crawl_origin *crawl_host_origin(struct crawl_host *host,
                                       struct seen_span name)
{
    struct crawl_origin *o = map_get(&host->origins, name.text, name.len);

    if (o)
        return o;
    o = calloc(1, sizeof *o + name.len + 1);
    if (!o)
        return NULL;
    o->host = host;
    o->len = name.len;
    memcpy(o->name, name.text, name.len);
    if (!map_set(&host->origins, o->name, o->len, o)) {
        free(o);
        return NULL;
    }
    return o;
}

static void free_origin(struct crawl_host *host, struct crawl_origin *o)
{
    crawl_rules_drop(host, o);
    free(o->reason);
    free(o);
}

void crawl_origins_clear(struct crawl_host *host)
{
    struct crawl_origin *o;

    for (size_t at = 0; (o = map_next(&host->origins, &at));)
        free_origin(host, o);
    map_clear(&host->origins);
}

/* --- failures --- */

struct seen_span crawl_origins_name(const struct crawl_host *host,
                                    char name[CRAWL_ORIGINS_NAME])
{
    static const char before[] = "*://";
    size_t room = CRAWL_ORIGINS_NAME - sizeof before;
    size_t len = host->len < room ? host->len : room;

    memcpy(name, before, sizeof before - 1);
    memcpy(name + sizeof before - 1, host->name, len);
    return (struct seen_span){ name, sizeof before - 1 + len };
}

static void note_change(struct crawl_host *host, struct crawl_origin *o)
{
    o->changed = host->changed_origins = true;
}

/* How many are closed is kept as the failures of one that is none. */
static void count_closed(struct crawl_host *host, int more)
{
    char name[CRAWL_ORIGINS_NAME];
    struct crawl_origin *all = crawl_host_origin(
        host, crawl_origins_name(host, name));

    host->closed += (unsigned)more;
    if (!all)
        return;
    all->failures = host->closed;
    note_change(host, all);
}

static bool fails(const struct crawl_origin *o)
{
    return o->failures || o->state == CRAWL_ROBOTS_CLOSED;
}

void crawl_origin_answered(struct crawl_host *host, struct crawl_origin *o)
{
    if (!o->failures)
        return;
    host->failing -= host->failing && o->state != CRAWL_ROBOTS_CLOSED;
    o->failures = 0;
    note_change(host, o);
}

int crawl_origin_words(const struct crawl_origin *o)
{
    enum { MOST = 60 };

    return o->len < MOST ? (int)o->len : MOST;
}

void crawl_origin_failed(struct crawl_host *host, struct crawl_origin *o)
{
    host->failing += !fails(o);
    o->failures++;
    note_change(host, o);
    if (o->failures >= CRAWL_FAILURES)
        crawl_origin_close(host, o, "%.*s does not answer",
                           crawl_origin_words(o), o->name);
}

bool crawl_host_answers_beside(const struct crawl_host *host,
                               const struct crawl_origin *o)
{
    const struct crawl_origin *other;

    for (size_t at = 0; (other = map_next(&host->origins, &at));)
        if (other != o && !other->failures &&
            (other->state == CRAWL_ROBOTS_KNOWN ||
             other->state == CRAWL_ROBOTS_KEPT))
            return true;
    return false;
}

void crawl_origin_close(struct crawl_host *host, struct crawl_origin *o,
                        const char *format, ...)
{
    char reason[CRAWL_CLOSED_TEXT];
    va_list args;

    if (o->state == CRAWL_ROBOTS_CLOSED)
        return;
    host->failing += !fails(o);
    count_closed(host, 1);
    o->state = CRAWL_ROBOTS_CLOSED;
    o->barred = INT64_MAX;
    free(o->reason);
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    o->reason = strdup(reason);
    note_change(host, o);
}

void crawl_origin_open(struct crawl_host *host, struct crawl_origin *o)
{
    host->failing -= host->failing > 0;
    count_closed(host, host->closed ? -1 : 0);
    o->state = CRAWL_ROBOTS_UNKNOWN;
    o->attempts = o->failures = 0;
    o->hold = 0;
    note_change(host, o);
}

bool crawl_origin_recall(struct crawl_host *host, struct crawl_origin *o,
                         unsigned failures, unsigned closed,
                         const char *reason, int64_t barred)
{
    if (!host->counted) {
        host->counted = true;
        host->closed += closed;
        host->failing += closed;
    }
    if (o->state != CRAWL_ROBOTS_UNKNOWN || fails(o))
        return true;
    o->failures = failures;
    if (!reason) {
        host->failing += failures > 0;
        return true;
    }
    o->state = CRAWL_ROBOTS_CLOSED;
    o->barred = barred;
    o->reason = strdup(reason);
    return o->reason != NULL;
}

static bool has_port(const struct crawl_origin *o)
{
    const char *colon = memrchr(o->name, ':', o->len);

    return colon && colon[1] != '/' && !memchr(colon, ']', strlen(colon));
}

bool crawl_origin_is_too_much(const struct crawl_host *host,
                              const struct crawl_origin *o)
{
    return o->state == CRAWL_ROBOTS_UNKNOWN && !o->until && !fails(o) &&
           host->failing >= CRAWL_FAILING && has_port(o);
}

/* --- memory --- */

void crawl_host_trim_origins(struct crawl_host *host)
{
    struct map kept = { .slot = NULL };
    struct crawl_origin *o;

    if (host->origins.used < ORIGINS ||
        host->origins.used < host->origins_most || crawl_host_is_asking(host))
        return;
    for (struct crawl_page *p = host->first; p; p = p->next) {
        struct seen_span name = crawl_origin_of(span_of(p->url));

        o = map_get(&host->origins, name.text, name.len);
        if (o && !map_set(&kept, o->name, o->len, o))
            goto no_memory;
    }
    for (size_t at = 0; (o = map_next(&host->origins, &at));)
        if ((o == host->asked || o->state == CRAWL_ROBOTS_ASKED ||
             o->changed || *o->name == '*') &&
            !map_set(&kept, o->name, o->len, o))
            goto no_memory;
    for (size_t at = 0; (o = map_next(&host->origins, &at));)
        if (!map_get(&kept, o->name, o->len)) {
            host->failing -= o->failures && o->state != CRAWL_ROBOTS_CLOSED;
            free_origin(host, o);
        }
    map_clear(&host->origins);
    host->origins = kept;
    host->origins_most = 2 * kept.used;
    return;

no_memory: /* then they stay */
    map_clear(&kept);
}
