/*
 * status.c - one set of questions, in two versions: for the tables of a shared
 * frontier and for those of a crawl folder. Both give the same columns.
 *
 * ?1 is the time now. A folder has Unix times. A shared frontier has those of
 * its database; if the machine of a SQLite file was started again and nobody
 * has opened it since, the last time that was noted is taken for now, and
 * every lease has ended.
 */
#include "status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "../lib/text/array.h"
#include "../lib/text/memory.h"
#include "../lib/text/span.h"
#include "shared_inside.h"
#include "spread.h"

enum { VISITS, HOSTS, WORKERS, SUMS, HOST_SUMS, QUESTIONS };

const char *const frontier_wait_names[FRONTIER_WAITS] = {
    [FRONTIER_WAIT_STOPPED] = "stopped", [FRONTIER_WAIT_LEASE] = "lease",
    [FRONTIER_WAIT_ADDRESS] = "address", [FRONTIER_WAIT_TAKEN] = "taken",
    [FRONTIER_WAIT_DUE] = "due",         [FRONTIER_WAIT_WORKER] = "worker",
    [FRONTIER_WAIT_NOTHING] = "nothing",
};

/* Times that cannot be are distrusted, as in shared.c. */
#define LIVES(worker) \
    "(" worker "until > ?1 AND " worker "renewed <= ?1 + 1000)"
#define DUE_IN \
    "CASE WHEN h.asked > ?1 + 1000 OR h.due > ?1 + 86400000 + " \
    "coalesce(h.delay, 0) THEN coalesce(h.delay, 3000) ELSE h.due - ?1 END"

/* The numbers of enum frontier_wait. A host that has pages again after it was
   stopped is not stopped any more: another visit asks it. */
#define WAIT \
    "CASE WHEN h.stopped IS NOT NULL AND h.queued = 0 THEN 0 WHEN h.worker " \
    "<> 0 AND (w.until IS NULL OR NOT " LIVES( \
        "w.") ") THEN 1 WHEN h.worker " \
              "<> 0 THEN 3 WHEN h.queued = 0 THEN 6 WHEN " LIVES( \
                  "x.") " THEN 2 WHEN " \
                        "h.due > ?1 THEN 4 ELSE 5 END"

#define HOLDERS \
    " FROM hosts h LEFT JOIN workers w ON w.id = h.worker AND h.worker <> 0 " \
    "LEFT JOIN addresses a ON a.name = h.address AND h.worker = 0 LEFT JOIN " \
    "workers x ON x.id = a.worker"

/* Origins have rows among the hosts; those that are given up are listed. */
#define LISTED \
    " WHERE (h.name NOT LIKE '%://%' OR (h.stopped IS NOT NULL AND (h.queued > " \
    "0 OR h.name NOT LIKE '*%')))"

/* Those that need help first. */
#define HOST_ORDER \
    " ORDER BY CASE WHEN h.stopped IS NOT NULL THEN 0 WHEN h.failures > 0 " \
    "THEN 1 WHEN h.queued > 0 THEN 2 ELSE 3 END, h.due, h.id LIMIT ?2"

static const char *const shared[QUESTIONS] = {
    [VISITS] =
        "SELECT id, visit, name, job, seed, shards, most, state, ?1 - "
        "began, CASE WHEN ended = 0 THEN -1 ELSE ?1 - ended END, "
        "queued, fetched, failed, excluded, given_up, links, bytes, "
        "(SELECT coalesce(sum(records), 0) FROM shards s WHERE s.visit "
        "= visits.id), not_due, CASE WHEN recalled IS NULL THEN 0 ELSE "
        "1 END, thorough FROM visits ORDER BY CASE WHEN state < 2 THEN 0 "
        "ELSE 1 END, id DESC LIMIT ?2",
    [HOSTS] =
        "SELECT h.id, " WAIT ", " DUE_IN ", CASE WHEN h.asked = 0 THEN "
        "-1 WHEN h.asked > ?1 THEN 0 ELSE ?1 - h.asked END, coalesce(h.delay, -1), h.queued, "
        "h.fetched, h.requests, h.bytes, h.failures, h.worker, "
        "coalesce(w.name, x.name, ''), h.name, h.address, "
        "coalesce(h.stopped, ''), h.note, coalesce(w.until - ?1, 0), "
        "coalesce(h.delay, 3000)" HOLDERS LISTED HOST_ORDER,
    [WORKERS] = "SELECT id, name, CASE WHEN until <= ?1 OR " LIVES(
        "") " THEN until - ?1 ELSE -1 END, ?1 - joined, ?1 - renewed, "
            "(SELECT count(*) FROM hosts h WHERE h.worker = workers.id "
            "AND h.worker <> 0), commits, pages, links, bytes FROM "
            "workers ORDER BY CASE WHEN " LIVES("") " THEN 0 ELSE 1 END, id "
                                                    "DESC LIMIT ?2",
    [SUMS] = "SELECT (SELECT count(*) FROM workers WHERE " LIVES(
        "") "), (SELECT "
            "count(*) FROM visits WHERE state < 2), (SELECT count(*) FROM "
            "hosts WHERE failures > 0 AND name NOT LIKE '%://%'), (SELECT coalesce(sum(queued), 0) "
            "FROM visits)",
    [HOST_SUMS] = "SELECT wait, count(*) FROM (SELECT " WAIT
                  " AS wait" HOLDERS LISTED ") AS waits GROUP BY wait",
};

#define FOLDER_WAIT \
    "CASE WHEN h.stopped IS NOT NULL THEN 0 WHEN h.queued = 0 THEN 6 WHEN " \
    "h.due > ?1 THEN 4 ELSE 5 END"

/* Sums of hosts are those of the last visit. */
#define LAST(sum) \
    "CASE WHEN v.id = (SELECT max(id) FROM visits) THEN (SELECT " sum \
    " FROM hosts) ELSE -1 END"
#define COUNTED(names) \
    "(SELECT coalesce(sum(n), 0) FROM counts c WHERE c.visit = v.id AND " \
    "c.name IN (" names "))"

static const char *const alone[QUESTIONS] = {
    [VISITS] =
        "SELECT v.id, v.name, v.name, '', v.seed, 0, 0, CASE WHEN v.ended = 0 "
        "THEN 0 ELSE 2 END, ?1 - v.began, CASE WHEN v.ended = 0 THEN -1 ELSE "
        "?1 - v.ended END, CASE WHEN v.ended = 0 THEN (SELECT "
        "coalesce(sum(queued), 0) FROM hosts WHERE stopped IS NULL) ELSE 0 "
        "END, " COUNTED(
            "'stored', 'unchanged', 'redirect', 'error'") ", "
                                                          "" COUNTED("'failed'") ", " COUNTED(
                                                              "'robots'") ", "
                                                                          "" LAST("coalesce(sum(queued) FILTER (WHERE stopped IS NOT NULL), 0)") ", " COUNTED(
                                                                              "'fresh'") ", " LAST("coalesce(sum(bytes), 0)") ", -1, -1, 0, 0 "
                                                                                                                              "FROM visits v ORDER BY v.ended <> 0, v.id DESC LIMIT ?2",
    [HOSTS] =
        "SELECT h.id, " FOLDER_WAIT ", h.due - ?1, -1, -1, h.queued, "
        "h.fetched, h.requests, h.bytes, h.failures, 0, '', h.name, '', "
        "coalesce(h.stopped, ''), '', 0, 0 FROM hosts h" LISTED HOST_ORDER,
    [WORKERS] = "SELECT 0, '', 0, 0, 0, 0, 0, 0, 0, 0 WHERE ?1 < 0 LIMIT ?2",
    [SUMS] =
        "SELECT 0, (SELECT count(*) FROM visits WHERE ended = 0), "
        "(SELECT count(*) FROM hosts WHERE failures > 0 AND name NOT LIKE "
        "'%://%'), (SELECT "
        "coalesce(sum(queued), 0) FROM hosts WHERE ?1 > 0)",
    [HOST_SUMS] = "SELECT wait, count(*) FROM (SELECT " FOLDER_WAIT
                  " AS wait FROM hosts h" LISTED ") AS waits GROUP BY wait",
};

/* The table comes with the first worker of this version, or with the first row
   of a folder. */
static const char aside_sum[] = "SELECT count(*) FROM aside";
static const char shared_aside[] =
    "SELECT a.url, coalesce(v.visit, '') FROM aside a LEFT JOIN visits v ON "
    "v.id = a.visit ORDER BY a.visit DESC, a.url LIMIT ?1";
static const char alone_aside[] =
    "SELECT a.url, coalesce(v.name, '') FROM aside a LEFT JOIN visits v ON "
    "v.id = a.visit ORDER BY a.visit DESC, a.url LIMIT ?1";

struct status_database {
    struct sql *db;
    struct sql_statement *aside, *aside_sum; /* NULL: no table yet */
    struct sql_statement *question[QUESTIONS];
    struct sql_statement *now; /* NULL: Unix time */
    bool shared;
};

/* Those of a frontier that answer, in their order: spread.h. */
struct frontier_status {
    struct status_database database[FRONTIER_DATABASES];
    unsigned databases;
    char *name;
    char away[200]; /* what the last one said that does not answer, or "" */
};

/* --- open and close --- */

/* The number that a statement returns; SEEN_ABSENT: no row. */
static enum seen_code ask(struct sql *db, const char *text, int64_t *number,
                          bool *same, struct seen_error *why)
{
    struct sql_statement *st;
    enum seen_code code;
    bool row;

    code = sql_prepare(&st, db, text, why);
    if (code == SEEN_OK)
        code = sql_step(st, &row, why);
    if (code != SEEN_OK)
        return code;
    if (!row)
        return seen_fail(why, SEEN_ABSENT, 0, "no row");
    *number = sql_number(st, 0);
    if (same)
        *same = sql_start_of(db, sql_text(st, 1)) != SQL_START_ANOTHER;
    sql_reset(st);
    return SEEN_OK;
}

static bool is_missing(enum seen_code code)
{
    return code != SEEN_OK && code != SEEN_IO && code != SEEN_NOMEM &&
           code != SEEN_BUSY && code != SEEN_CORRUPT;
}

static enum seen_code find_kind(struct status_database *s, bool *same,
                                struct seen_error *why)
{
    enum seen_code code;
    int64_t version = 0;

    code = ask(s->db, "SELECT version, epoch FROM frontier_version", &version,
               same, why);
    s->shared = code == SEEN_OK;
    if (code == SEEN_OK && version < SHARED_VERSION)
        return seen_fail(why, SEEN_MISMATCH, 0,
                         "%s has tables of version %lld; the next seen "
                         "work converts them",
                         sql_name(s->db), (long long)version);
    if (code == SEEN_OK && version != SHARED_VERSION)
        return seen_fail(why, SEEN_MISMATCH, 0,
                         "%s has the tables of version %lld; this program "
                         "needs version %d",
                         sql_name(s->db), (long long)version, SHARED_VERSION);
    if (!is_missing(code))
        return code;
    code = SEEN_ABSENT;
    if (*sql_epoch(s->db)) /* a file */
        code = ask(s->db, "SELECT count(*) FROM position", &version, NULL,
                   why);
    return is_missing(code)
               ? seen_fail(why, SEEN_MISMATCH, 0,
                           "%s has no frontier and no crawl", sql_name(s->db))
               : code;
}

static enum seen_code prepare(struct status_database *s, bool same,
                              struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    for (int i = 0; code == SEEN_OK && i < QUESTIONS; i++)
        code = sql_prepare(&s->question[i], s->db,
                           s->shared ? shared[i] : alone[i], why);
    if (code == SEEN_OK && s->shared)
        code = sql_prepare(&s->now, s->db,
                           same ? "SELECT {now}"
                                : "SELECT coalesce(max(time), 0) FROM (SELECT "
                                  "max(until) AS time FROM workers UNION ALL "
                                  "SELECT max(began) FROM visits UNION ALL "
                                  "SELECT max(ended) FROM visits) AS noted",
                           why);
    return code;
}

static char *path_of(const char *where)
{
    struct stat st;
    char *path;

    if (sql_is_url(where) || stat(where, &st) || !S_ISDIR(st.st_mode))
        return strdup(where);
    return asprintf(&path, "%s/state.db", where) < 0 ? NULL : path;
}

static enum seen_code open_one(struct status_database *s, const char *where,
                               unsigned at, unsigned n,
                               char identity[FRONTIER_IDENTITY],
                               struct seen_error *why)
{
    char *path = path_of(where);
    enum seen_code code;
    bool same = true;

    code = path ? sql_connect(&s->db, path, SQL_READ, why)
                : no_memory_for(why, "the frontier");
    if (code == SEEN_OK)
        code = find_kind(s, &same, why);
    if (code == SEEN_OK && s->shared)
        code = frontier_spread_check(s->db, at, n, identity, why);
    if (code == SEEN_OK)
        code = prepare(s, same, why);
    free(path);
    if (code != SEEN_OK) {
        sql_close(s->db);
        s->db = NULL;
    }
    return code;
}

static enum seen_code open_all(struct frontier_status *s,
                               char *where[FRONTIER_DATABASES], unsigned n,
                               struct seen_error *why)
{
    char identity[FRONTIER_IDENTITY] = "";
    struct seen_error away;

    for (unsigned i = 0; i < n; i++) {
        enum seen_code code = open_one(&s->database[s->databases], where[i], i,
                                       n, identity, &away);

        s->databases += code == SEEN_OK;
        if (code == SEEN_IO)
            snprintf(s->away, sizeof s->away, "%s", away.text);
        if (code != SEEN_OK && (code != SEEN_IO || n == 1)) {
            if (why)
                *why = away;
            return code;
        }
    }
    if (!s->databases)
        return seen_fail(why, SEEN_IO, 0, "%s", s->away);
    if (n > 1 && asprintf(&s->name, "%s and %u more",
                          sql_name(s->database[0].db), n - 1) < 0) {
        s->name = NULL;
        return no_memory_for(why, "the frontier");
    }
    return SEEN_OK;
}

enum seen_code frontier_status_open(struct frontier_status **out,
                                    const char *where, struct seen_error *why)
{
    struct frontier_status *s = calloc(1, sizeof *s);
    char *part[FRONTIER_DATABASES];
    unsigned n = 0;
    enum seen_code code;

    *out = NULL;
    code = s ? frontier_spread_split(where, part, &n, why)
             : no_memory_for(why, "the frontier");
    if (code == SEEN_OK)
        code = open_all(s, part, n, why);
    while (n)
        free(part[--n]);
    if (code != SEEN_OK) {
        frontier_status_close(s);
        return code;
    }
    *out = s;
    return SEEN_OK;
}

void frontier_status_close(struct frontier_status *s)
{
    if (!s)
        return;
    for (unsigned i = 0; i < s->databases; i++)
        sql_close(s->database[i].db);
    free(s->name);
    free(s);
}

bool frontier_status_is_shared(const struct frontier_status *s)
{
    return s->database[0].shared;
}

const char *frontier_status_name(const struct frontier_status *s)
{
    return s->name ? s->name : sql_name(s->database[0].db);
}

const char *frontier_status_away(const struct frontier_status *s)
{
    return *s->away ? s->away : NULL;
}

/* Bind the time to a question. */
static enum seen_code at_time(struct status_database *s,
                              struct sql_statement *st, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    struct timespec time;
    int64_t now = 0;
    bool row;

    if (!s->now) {
        clock_gettime(CLOCK_REALTIME, &time);
        now = (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
    } else {
        while ((code = sql_step(s->now, &row, why)) == SEEN_OK && row)
            now = sql_number(s->now, 0);
    }
    sql_bind_number(st, 1, now);
    return code;
}

/* --- visits --- */

double frontier_status_rate(const struct frontier_visit *visit)
{
    int64_t took = visit->ended_ago < 0 ? visit->began_ago
                                        : visit->began_ago - visit->ended_ago;

    return took > 0 ? 1000.0 * (double)visit->fetched / (double)took : 0;
}

/* What the other databases counted, by the id of the visit. */
struct status_counts {
    struct frontier_visit *visit;
    size_t n, room;
};

static enum seen_code count_visits(struct status_database *s, unsigned most,
                                   struct status_counts *c,
                                   struct seen_error *why)
{
    struct sql_statement *st = s->question[VISITS];
    enum seen_code code = at_time(s, st, why);
    bool row;

    sql_bind_number(st, 2, most);
    while (code == SEEN_OK && (code = sql_step(st, &row, why)) == SEEN_OK &&
           row) {
        struct frontier_visit *more = array_grow(c->visit, &c->room, c->n + 1,
                                                 sizeof *more);

        if (!more) {
            sql_reset(st);
            return no_memory_for(why, "visits");
        }
        c->visit = more;
        frontier_shared_read_visit(st, &more[c->n++]);
    }
    return code;
}

static void add_counts(const struct status_counts *c,
                       struct frontier_visit *visit)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->visit[i].id == visit->id)
            frontier_shared_add(visit, &c->visit[i]);
}

enum seen_code frontier_status_visits(struct frontier_status *s, unsigned most,
                                      frontier_take_visit *take, void *owner,
                                      struct seen_error *why)
{
    struct status_database *home = &s->database[0];
    struct sql_statement *st = home->question[VISITS];
    struct status_counts c = { .n = 0 };
    struct frontier_visit visit;
    enum seen_code code = SEEN_OK;
    bool row;

    for (unsigned i = 1; code == SEEN_OK && i < s->databases; i++)
        code = count_visits(&s->database[i], most, &c, why);
    if (code == SEEN_OK)
        code = at_time(home, st, why);
    sql_bind_number(st, 2, most);
    while (code == SEEN_OK && (code = sql_step(st, &row, why)) == SEEN_OK &&
           row) {
        frontier_shared_read_visit(st, &visit);
        add_counts(&c, &visit);
        if (!take(owner, &visit)) {
            sql_reset(st);
            break;
        }
    }
    free(c.visit);
    return code;
}

/* --- hosts --- */

static int64_t wait_in(const struct frontier_status_host *h, int64_t lease,
                       int64_t delay)
{
    int64_t in = 0;

    if (h->wait == FRONTIER_WAIT_LEASE)
        in = lease + delay > h->due_in ? lease + delay : h->due_in;
    else if (h->wait == FRONTIER_WAIT_DUE || h->wait == FRONTIER_WAIT_TAKEN)
        in = h->due_in;
    return in > 0 ? in : 0;
}

static void read_host(struct sql_statement *st,
                      struct frontier_status_host *host)
{
    *host = (struct frontier_status_host){
        .id = sql_number(st, 0),
        .wait = (enum frontier_wait)sql_number(st, 1),
        .due_in = sql_number(st, 2),
        .asked_ago = sql_number(st, 3),
        .delay = sql_number(st, 4),
        .queued = sql_number(st, 5),
        .fetched = sql_number(st, 6),
        .requests = sql_number(st, 7),
        .bytes = sql_number(st, 8),
        .failures = (unsigned)sql_number(st, 9),
        .worker = sql_number(st, 10),
        .by = sql_text(st, 11),
        .name = sql_text(st, 12),
        .address = sql_text(st, 13),
        .stopped = sql_text(st, 14),
        .note = sql_text(st, 15),
    };
    host->wait_in = wait_in(host, sql_number(st, 16), sql_number(st, 17));
}

/* As HOST_ORDER. */
static bool is_before(const struct frontier_status_host *a,
                      const struct frontier_status_host *b)
{
    const int rank_a = a->stopped.len ? 0
                       : a->failures  ? 1
                       : a->queued    ? 2
                                      : 3;
    const int rank_b = b->stopped.len ? 0
                       : b->failures  ? 1
                       : b->queued    ? 2
                                      : 3;

    return rank_a != rank_b ? rank_a < rank_b : a->due_in < b->due_in;
}

/* The next host of each database, if there is one: they are merged. */
struct merging {
    struct frontier_status *s;
    struct frontier_status_host host[FRONTIER_DATABASES];
    bool row[FRONTIER_DATABASES];
};

static enum seen_code step_host(struct merging *m, unsigned at,
                                struct seen_error *why)
{
    struct sql_statement *st = m->s->database[at].question[HOSTS];
    enum seen_code code = sql_step(st, &m->row[at], why);

    m->row[at] &= code == SEEN_OK;
    if (m->row[at])
        read_host(st, &m->host[at]);
    return code;
}

static unsigned choose_host(const struct merging *m)
{
    unsigned found = m->s->databases;

    for (unsigned i = 0; i < m->s->databases; i++)
        if (m->row[i] && (found == m->s->databases ||
                          is_before(&m->host[i], &m->host[found])))
            found = i;
    return found;
}

enum seen_code frontier_status_hosts(struct frontier_status *s, unsigned most,
                                     frontier_take_status_host *take,
                                     void *owner, struct seen_error *why)
{
    struct merging *m = calloc(1, sizeof *m);
    enum seen_code code = m ? SEEN_OK : no_memory_for(why, "hosts");
    unsigned at, n = 0;

    for (unsigned i = 0; code == SEEN_OK && i < s->databases; i++) {
        struct sql_statement *st = s->database[i].question[HOSTS];

        m->s = s;
        code = at_time(&s->database[i], st, why);
        sql_bind_number(st, 2, most);
        if (code == SEEN_OK)
            code = step_host(m, i, why);
    }
    while (code == SEEN_OK && n++ < most &&
           (at = choose_host(m)) < s->databases) {
        if (!take(owner, &m->host[at]))
            break;
        code = step_host(m, at, why);
    }
    for (unsigned i = 0; m && i < s->databases; i++)
        if (m->row[i])
            sql_reset(s->database[i].question[HOSTS]);
    free(m);
    return code;
}

void frontier_status_words(const struct frontier_status_host *h, char *to,
                           size_t room)
{
    double in = (double)h->wait_in / 1000;
    int by = (int)h->by.len;

    switch (h->wait) {
    case FRONTIER_WAIT_STOPPED:
        snprintf(to, room, "stopped: %.*s", (int)h->stopped.len,
                 h->stopped.text);
        break;
    case FRONTIER_WAIT_LEASE:
        snprintf(to, room, "its worker %.*s died; due in %.1f s", by ? by : 7,
                 by ? h->by.text : "unknown", in);
        break;
    case FRONTIER_WAIT_ADDRESS:
        snprintf(to, room, "address %.*s is asked by %.*s",
                 (int)h->address.len, h->address.text, by, h->by.text);
        break;
    case FRONTIER_WAIT_TAKEN:
        if (h->wait_in)
            snprintf(to, room, "%.*s asks it in %.1f s", by, h->by.text, in);
        else
            snprintf(to, room, "%.*s asks it", by, h->by.text);
        break;
    case FRONTIER_WAIT_DUE: snprintf(to, room, "due in %.1f s", in); break;
    case FRONTIER_WAIT_WORKER:
        snprintf(to, room, "due, and no worker has it");
        break;
    default: snprintf(to, room, "no page waits"); break;
    }
}

/* --- pages set aside --- */

/* Is there a table of them by now? */
static enum seen_code find_aside(struct status_database *s,
                                 struct seen_error *why)
{
    enum seen_code code;
    int64_t n;

    if (s->aside)
        return SEEN_OK;
    code = ask(s->db, aside_sum, &n, NULL, why);
    if (is_missing(code))
        return SEEN_OK;
    if (code == SEEN_OK)
        code = sql_prepare(&s->aside_sum, s->db, aside_sum, why);
    return code == SEEN_OK
               ? sql_prepare(&s->aside, s->db,
                             s->shared ? shared_aside : alone_aside, why)
               : code;
}

enum seen_code frontier_status_aside(struct frontier_status *s, unsigned most,
                                     frontier_take_aside *take, void *owner,
                                     struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    bool row;

    for (unsigned i = 0; code == SEEN_OK && i < s->databases; i++) {
        struct sql_statement *st;

        code = find_aside(&s->database[i], why);
        st = s->database[i].aside;
        if (code != SEEN_OK || !st)
            continue;
        sql_bind_number(st, 1, most);
        while ((code = sql_step(st, &row, why)) == SEEN_OK && row)
            if (!take(owner, sql_text(st, 0), sql_text(st, 1))) {
                sql_reset(st);
                return SEEN_OK;
            }
    }
    return code;
}

static enum seen_code count_aside(struct status_database *s, int64_t *n,
                                  struct seen_error *why)
{
    enum seen_code code = find_aside(s, why);
    bool row;

    while (code == SEEN_OK && s->aside &&
           (code = sql_step(s->aside_sum, &row, why)) == SEEN_OK && row)
        *n += sql_number(s->aside_sum, 0);
    return code;
}

/* --- workers and sums --- */

/* A worker has a row in each database. */
struct team {
    struct frontier_status_worker *worker;
    size_t n, room;
    struct buffer names;
};

static enum seen_code add_worker(struct team *t,
                                 const struct frontier_status_worker *from,
                                 struct seen_error *why)
{
    struct frontier_status_worker *to;

    for (size_t i = 0; i < t->n; i++) {
        to = &t->worker[i];
        if (to->number != from->number)
            continue;
        to->hosts += from->hosts;
        to->commits += from->commits;
        to->pages += from->pages;
        to->links += from->links;
        to->bytes += from->bytes;
        if (from->ends_in > to->ends_in)
            to->ends_in = from->ends_in;
        if (from->began_ago > to->began_ago)
            to->began_ago = from->began_ago;
        if (from->renewed_ago < to->renewed_ago)
            to->renewed_ago = from->renewed_ago;
        return SEEN_OK;
    }
    to = array_grow(t->worker, &t->room, t->n + 1, sizeof *to);
    if (!to)
        return no_memory_for(why, "workers");
    t->worker = to;
    to[t->n++] = *from;
    buffer_span(&t->names, from->name);
    return SEEN_OK;
}

static enum seen_code read_workers(struct status_database *s, unsigned most,
                                   struct team *t, struct seen_error *why)
{
    struct sql_statement *st = s->question[WORKERS];
    enum seen_code code = at_time(s, st, why);
    bool row;

    sql_bind_number(st, 2, most);
    while (code == SEEN_OK && (code = sql_step(st, &row, why)) == SEEN_OK &&
           row) {
        const struct frontier_status_worker worker = {
            .number = sql_number(st, 0),
            .name = sql_text(st, 1),
            .ends_in = sql_number(st, 2),
            .began_ago = sql_number(st, 3),
            .renewed_ago = sql_number(st, 4),
            .hosts = sql_number(st, 5),
            .commits = sql_number(st, 6),
            .pages = sql_number(st, 7),
            .links = sql_number(st, 8),
            .bytes = sql_number(st, 9),
        };

        code = add_worker(t, &worker, why);
        if (code != SEEN_OK)
            sql_reset(st);
    }
    return code;
}

/* Those with a lease first, then by their number, the last first. */
static int by_lease(const void *a, const void *b)
{
    const struct frontier_status_worker *x = a, *y = b;
    const int lives = (y->ends_in >= 0) - (x->ends_in >= 0);

    return lives ? lives : (x->number < y->number) - (x->number > y->number);
}

static void place_names(struct team *t)
{
    size_t at = 0;

    for (size_t i = 0; i < t->n; i++) {
        t->worker[i].name.text = t->names.len ? t->names.bytes + at : "";
        at += t->worker[i].name.len;
    }
}

enum seen_code frontier_status_workers(struct frontier_status *s,
                                       unsigned most,
                                       frontier_take_status_worker *take,
                                       void *owner, struct seen_error *why)
{
    struct team t = { .n = 0 };
    enum seen_code code = SEEN_OK;

    for (unsigned i = 0; code == SEEN_OK && i < s->databases; i++)
        code = read_workers(&s->database[i], most, &t, why);
    if (code == SEEN_OK && t.names.failed)
        code = no_memory_for(why, "workers");
    if (code == SEEN_OK) {
        place_names(&t);
        if (t.n)
            qsort(t.worker, t.n, sizeof *t.worker, by_lease);
    }
    for (size_t i = 0; code == SEEN_OK && i < t.n && i < most; i++) {
        struct frontier_status_worker *worker = &t.worker[i];
        int64_t ended_ago = worker->ends_in < 0 ? -worker->ends_in : 0;
        int64_t worked = worker->began_ago - ended_ago;

        worker->rate = worked > 0
                           ? 1000.0 * (double)worker->pages / (double)worked
                           : 0;
        if (!take(owner, worker))
            break;
    }
    buffer_clear(&t.names);
    free(t.worker);
    return code;
}

/* Each worker and each visit is in all of them. */
static enum seen_code add_sums(struct status_database *s,
                               struct frontier_status_sums *sums,
                               struct seen_error *why)
{
    struct sql_statement *st = s->question[SUMS];
    enum seen_code code;
    bool row;

    code = at_time(s, st, why);
    while (code == SEEN_OK && (code = sql_step(st, &row, why)) == SEEN_OK &&
           row) {
        if (sql_number(st, 0) > sums->workers)
            sums->workers = sql_number(st, 0);
        if (sql_number(st, 1) > sums->visits)
            sums->visits = sql_number(st, 1);
        sums->failing += sql_number(st, 2);
        sums->queued += sql_number(st, 3);
    }
    st = s->question[HOST_SUMS];
    if (code == SEEN_OK)
        code = at_time(s, st, why);
    while (code == SEEN_OK && (code = sql_step(st, &row, why)) == SEEN_OK &&
           row) {
        int64_t wait = sql_number(st, 0);

        if (wait >= 0 && wait < FRONTIER_WAITS)
            sums->hosts[wait] += sql_number(st, 1);
    }
    return code == SEEN_OK ? count_aside(s, &sums->aside, why) : code;
}

enum seen_code frontier_status_sum(struct frontier_status *s,
                                   struct frontier_status_sums *sums,
                                   struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    memset(sums, 0, sizeof *sums);
    for (unsigned i = 0; code == SEEN_OK && i < s->databases; i++)
        code = add_sums(&s->database[i], sums, why);
    return code;
}
