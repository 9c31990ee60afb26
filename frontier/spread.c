/*
 * spread.c - a frontier over several databases: what a worker asks goes to the
 * database that has the host, and what is of all of them is summed up.
 */
#include "spread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../lib/disk/clock.h"
#include "../lib/text/memory.h"
#include "../lib/text/span.h"
#include "outbox.h"
#include "shared_inside.h"
#include "spread_inside.h"

enum {
    PATIENCE = 5000,     /* ms for one database, at most */
    AWAY_LEAST = 1000,   /* ms before it is tried again */
    AWAY_MOST = 60000,
    ROUND = 250,         /* ms, times the workers: frontier_spread_round() */
    ROUND_MOST = 5000,
    IDLE = 500,          /* ms between the rounds of an idle worker, at most */
    DELIVER = 100,       /* and between its deliveries of what it sent */
    ROUNDS = 16          /* of parcels, between two commits */
};

/* --- open --- */

static enum seen_code open_one(struct frontier_spread *f, unsigned at,
                               const struct frontier_worker *worker,
                               struct seen_error *why)
{
    struct spread_database *d = &f->database[at];
    struct frontier_worker one = *worker;

    one.database = at;
    one.databases = f->databases;
    one.secret = f->secret;
    if (!spread_is_one(f)) {
        one.patience = worker->lease / 4 < PATIENCE ? worker->lease / 4
                                                    : PATIENCE;
        if (one.patience > worker->patience)
            one.patience = worker->patience;
    }
    return frontier_shared_open(&d->shared, d->db, &one, why);
}

enum seen_code frontier_spread_open(struct frontier_spread **out,
                                    const char *list,
                                    const struct frontier_worker *worker,
                                    struct seen_error *why)
{
    struct frontier_spread *f = calloc(1, sizeof *f);
    char *where[FRONTIER_DATABASES];
    enum seen_code code;

    *out = NULL;
    if (!f)
        return no_memory_for(why, "the frontier");
    f->patience = worker->patience;
    code = frontier_spread_split(list, where, &f->databases, why);
    for (unsigned i = 0; i < f->databases; i++)
        f->database[i].where = where[i];
    for (unsigned i = 0; code == SEEN_OK && i < f->databases; i++)
        code = sql_connect(&f->database[i].db, where[i], SQL_CREATE, why);
    if (code == SEEN_OK && spread_is_one(f)) {
        code = frontier_spread_check(f->database[0].db, 0, 1, f->identity,
                                     why);
        if (code == SEEN_OK)
            code = frontier_shared_create(f->database[0].db, why);
    } else if (code == SEEN_OK) {
        code = frontier_spread_create(f, why);
    }
    for (unsigned i = 0; code == SEEN_OK && i < f->databases; i++)
        code = open_one(f, i, worker, why);
    if (code != SEEN_OK) {
        frontier_spread_close(f);
        return code;
    }
    *out = f;
    return SEEN_OK;
}

void frontier_spread_close(struct frontier_spread *f)
{
    if (!f)
        return;
    frontier_spread_forget(f);
    for (unsigned i = 0; i < f->databases; i++) {
        struct spread_database *d = &f->database[i];

        frontier_shared_close(d->shared);
        sql_close(d->db);
        free(d->where);
        free(d->sums);
    }
    free(f);
}

unsigned frontier_spread_databases(const struct frontier_spread *f)
{
    return f->databases;
}

struct sql *frontier_spread_home(const struct frontier_spread *f)
{
    return f->database[0].db;
}

unsigned frontier_spread_database(const struct frontier_spread *f,
                                  struct seen_span host)
{
    return frontier_shared_database(f->database[0].shared, host);
}

void frontier_spread_watch(struct frontier_spread *f,
                           frontier_shared_point *at, void *owner)
{
    for (unsigned i = 0; i < f->databases; i++)
        frontier_shared_watch(f->database[i].shared, at, owner);
}

/* --- databases that are away --- */

static bool is_away(enum seen_code code)
{
    return code == SEEN_IO || code == SEEN_BUSY;
}

/* After a wait of several seconds, say, it is left alone for ten times as
   long: the hosts of the others do not wait for it most of the time. */
static void note_away(struct frontier_spread *f, unsigned at, uint64_t began,
                      const struct seen_error *why)
{
    struct spread_database *d = &f->database[at];
    uint64_t waited = clock_ms() - began, pause = 10 * waited;

    if (pause < AWAY_LEAST)
        pause = AWAY_LEAST;
    if (pause > AWAY_MOST)
        pause = AWAY_MOST;
    if (!d->away)
        snprintf(f->news, sizeof f->news,
                 "%.120s; its hosts wait, the others go on",
                 why ? why->text : sql_name(d->db));
    f->lost |= d->joined;
    d->joined = false;
    d->away = clock_ms() + pause;
}

enum seen_code frontier_spread_judge(struct frontier_spread *f, unsigned at,
                                     uint64_t began, enum seen_code code,
                                     struct seen_error *why)
{
    if (spread_is_one(f) || !is_away(code))
        return code;
    note_away(f, at, began, why);
    return seen_fail(why, SEEN_ABSENT, 0,
                     "a database of the frontier is away");
}

bool frontier_spread_is_whole(const struct frontier_spread *f)
{
    for (unsigned i = 0; i < f->databases; i++)
        if (!f->database[i].joined)
            return false;
    return true;
}

bool frontier_spread_news(struct frontier_spread *f, struct seen_error *why)
{
    if (!*f->news)
        return false;
    seen_fail(why, SEEN_IO, 0, "%s", f->news);
    *f->news = '\0';
    return true;
}

/* --- the lease --- */

int64_t frontier_spread_number(const struct frontier_spread *f)
{
    return f->number;
}

/* The first database that answers gives the number. */
static enum seen_code join_one(struct frontier_spread *f, unsigned at,
                               struct seen_error *why)
{
    struct spread_database *d = &f->database[at];
    uint64_t began = clock_ms();
    enum seen_code code = frontier_shared_join_as(d->shared, f->number, why);

    if (is_away(code) && !spread_is_one(f))
        note_away(f, at, began, why);
    if (code != SEEN_OK)
        return code;
    if (d->away)
        snprintf(f->news, sizeof f->news, "%.120s answers again",
                 sql_name(d->db));
    d->away = 0;
    d->joined = true;
    f->number = frontier_shared_number(d->shared);
    return SEEN_OK;
}

static enum seen_code join_all(struct frontier_spread *f, bool *any,
                               struct seen_error *why)
{
    for (unsigned i = 0; i < f->databases; i++) {
        enum seen_code code;

        if (f->database[i].away > clock_ms())
            continue;
        code = join_one(f, i, why);
        if (code != SEEN_OK && (spread_is_one(f) || !is_away(code)))
            return code;
        *any |= code == SEEN_OK;
    }
    return SEEN_OK;
}

enum seen_code frontier_spread_join(struct frontier_spread *f,
                                    struct seen_error *why)
{
    const struct timespec pause = { .tv_nsec = 100000000 };
    const uint64_t end = clock_ms() + f->patience;
    struct seen_error last = { .text = "no database answers" };
    enum seen_code code;
    bool any = false;

    frontier_spread_forget(f);
    f->number = 0;
    f->lost = false;
    for (unsigned i = 0; i < f->databases; i++)
        f->database[i].joined = false;
    while ((code = join_all(f, &any, &last)) == SEEN_OK && !any) {
        if (clock_ms() > end)
            return seen_fail(why, SEEN_IO, 0, "%s", last.text);
        nanosleep(&pause, NULL);
    }
    if (code != SEEN_OK && why)
        *why = last;
    return code;
}

enum seen_code frontier_spread_renew(struct frontier_spread *f,
                                     struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    for (unsigned i = 0; code == SEEN_OK && i < f->databases; i++)
        if (spread_answers(f, i))
            SPREAD_ASK(f, i, frontier_shared_renew(shared, why));
    return code;
}

int64_t frontier_spread_was_set(struct frontier_spread *f)
{
    int64_t most = 0;

    for (unsigned i = 0; i < f->databases; i++) {
        int64_t by = frontier_shared_was_set(f->database[i].shared);

        most = by ? by : most;
    }
    return most;
}

/* One that is away frees the hosts when the lease has ended. */
enum seen_code frontier_spread_leave(struct frontier_spread *f,
                                     struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    frontier_spread_forget(f);
    for (unsigned i = 0; code == SEEN_OK && i < f->databases; i++)
        if (spread_answers(f, i)) {
            f->database[i].joined = false;
            SPREAD_ASK(f, i, frontier_shared_leave(shared, why));
            if (code == SEEN_ABSENT)
                code = SEEN_OK;
        }
    f->number = 0;
    return code;
}

/* --- links on their way --- */

/* Those that come back get a lease in the worker's number. If it had one of
   this number before, that has ended: it begins anew everywhere. */
static enum seen_code revive(struct frontier_spread *f, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    for (unsigned i = 0; code == SEEN_OK && i < f->databases; i++) {
        if (f->database[i].joined || f->database[i].away > clock_ms())
            continue;
        code = join_one(f, i, why);
        if (is_away(code))
            code = SEEN_OK;
    }
    return code;
}

static enum seen_code deliver(struct frontier_spread *f, unsigned from,
                              unsigned to, struct seen_error *why)
{
    bool more = true, to_failed = false;
    enum seen_code code = SEEN_OK;

    for (int i = 0; code == SEEN_OK && more && i < ROUNDS; i++) {
        uint64_t began = clock_ms();

        code = frontier_outbox_deliver(f->database[from].shared,
                                       f->database[to].shared, &more,
                                       &to_failed, why);
        code = frontier_spread_judge(f, to_failed ? to : from, began, code,
                                     why);
    }
    return code;
}

/* To which databases does the outbox of this one have links? A bit each. */
struct looking {
    struct frontier_shared *f;
    uint64_t found;
};

static enum seen_code find_targets(void *owner, struct sql *db,
                                   struct seen_error *why)
{
    struct looking *l = owner;
    struct sql_statement *st = l->f->st[SHARED_OUTBOX_TARGETS];
    enum seen_code code;
    bool row;

    (void)db;
    l->found = 0;
    while ((code = sql_step(st, &row, why)) == SEEN_OK && row)
        l->found |= UINT64_C(1) << (sql_number(st, 0) & 63);
    return code;
}

static enum seen_code deliver_from(struct frontier_spread *f, unsigned from,
                                   bool look, struct seen_error *why)
{
    struct looking l = { .f = f->database[from].shared };
    enum seen_code code = SEEN_OK;

    if (!spread_answers(f, from))
        return SEEN_OK;
    if (look)
        SPREAD_ASK(f, from,
                   frontier_shared_read(shared, find_targets, &l, why));
    l.found |= l.f->sent_to;
    l.f->sent_to = 0;
    for (unsigned to = 0; code == SEEN_OK && to < f->databases; to++)
        if (from != to && l.found >> to & 1 && spread_answers(f, to))
            code = deliver(f, from, to, why);
    return code;
}

uint64_t frontier_spread_round(const struct frontier_spread *f)
{
    int64_t workers = 1;

    for (unsigned i = 0; i < f->databases; i++)
        if (f->database[i].load.workers > workers)
            workers = f->database[i].load.workers;
    return workers < ROUND_MOST / ROUND ? (uint64_t)workers * ROUND
                                        : ROUND_MOST;
}

/* Is it time for a round, and else at least for what this worker sent? */
static bool is_time(const struct frontier_spread *f, enum frontier_haste haste,
                    bool *round)
{
    const uint64_t now = clock_ms();
    uint64_t pause = frontier_spread_round(f);

    if (haste == FRONTIER_IDLE && pause > IDLE)
        pause = IDLE;
    *round = haste == FRONTIER_AT_ONCE || now - f->looked >= pause;
    return *round || (haste == FRONTIER_IDLE && now - f->delivered >= DELIVER);
}

/* In a round the links that any worker sent. One that is idle waits for links,
   maybe for those that it has sent itself. */
enum seen_code frontier_spread_deliver(struct frontier_spread *f,
                                       enum frontier_haste haste,
                                       struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    bool round;

    if (f->lost) /* also if whoever saw it did not stop for that */
        return seen_fail(why, SEEN_ABSENT, 0,
                         "a database of the frontier is away");
    if (spread_is_one(f) || !is_time(f, haste, &round))
        return SEEN_OK;
    if (round) {
        code = revive(f, why);
        f->looked = clock_ms();
    }
    for (unsigned from = 0; code == SEEN_OK && from < f->databases; from++)
        code = deliver_from(f, from, round, why);
    f->delivered = clock_ms();
    return code;
}

/* --- pages that kill their worker --- */

/* Where the page is. A robots.txt is noted in the home. A database that is
   away hears of no death: three are needed anyway. */
enum seen_code frontier_spread_suspect(struct frontier_spread *f,
                                       const struct frontier_suspect *suspect,
                                       size_t n, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    for (size_t i = 0; code == SEEN_OK && i < n; i++) {
        unsigned at = suspect[i].origin.len
                          ? 0
                          : frontier_database_of(suspect[i].id);

        if (spread_answers(f, at))
            SPREAD_ASK(f, at,
                       frontier_shared_suspect(shared, &suspect[i], 1, why));
    }
    return code;
}

enum seen_code frontier_spread_aside(struct frontier_spread *f,
                                     frontier_take_key *take, void *owner,
                                     struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    for (unsigned i = 0; code == SEEN_OK && i < f->databases; i++)
        if (spread_answers(f, i))
            SPREAD_ASK(f, i, frontier_shared_aside(shared, take, owner, why));
    return code;
}

enum seen_code frontier_spread_suspects(struct frontier_spread *f,
                                        frontier_take_key *take, void *owner,
                                        struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    if (spread_answers(f, 0))
        SPREAD_ASK(f, 0, frontier_shared_suspects(shared, take, owner, why));
    return code;
}

enum seen_code frontier_spread_retry_aside(struct frontier_spread *f,
                                           struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    for (unsigned i = 0; code == SEEN_OK && i < f->databases; i++)
        if (spread_answers(f, i))
            SPREAD_ASK(f, i, frontier_shared_retry_aside(shared, why));
    return code;
}

/* --- commits --- */

static unsigned database_of(const struct frontier_group *g)
{
    return g->dones    ? frontier_database_of(g->done[0].page.host)
           : g->askeds ? frontier_database_of(g->asked[0].host)
                       : 0;
}

enum seen_code frontier_spread_commit(struct frontier_spread *f,
                                      struct frontier_group *group,
                                      bool *uncertain, struct seen_error *why)
{
    const unsigned at = database_of(group);
    enum seen_code code, judged;
    uint64_t began = clock_ms();

    *uncertain = false;
    if (!spread_answers(f, at))
        return seen_fail(why, SEEN_ABSENT, 0, "its database is away");
    code = frontier_shared_commit(f->database[at].shared, group, why);
    judged = frontier_spread_judge(f, at, began, code, why);
    *uncertain = judged != code;
    return judged;
}

int64_t frontier_spread_next_commit(const struct frontier_spread *f,
                                    unsigned database)
{
    return (int64_t)database << FRONTIER_DATABASE_SHIFT |
           frontier_shared_next_commit(f->database[database].shared);
}

/* Whether a commit was done is worth more patience than a step is: nobody else
   waits for this worker in vain for so long, and its lines would be left to
   others. */
enum seen_code frontier_spread_last_commit(struct frontier_spread *f,
                                           int64_t lease, int64_t commit,
                                           int64_t *last,
                                           struct seen_error *why)
{
    const struct timespec pause = { .tv_nsec = 100000000 };
    const unsigned at = frontier_database_of(commit);
    const uint64_t end = clock_ms() + f->patience;
    enum seen_code code;

    if (at >= f->databases)
        return seen_fail(why, SEEN_ABSENT, 0, "no such database");
    while (is_away(code = frontier_shared_last_commit(f->database[at].shared,
                                                      lease, last, why)) &&
           !spread_is_one(f) && clock_ms() < end)
        nanosleep(&pause, NULL);
    *last |= (int64_t)at << FRONTIER_DATABASE_SHIFT;
    return code;
}
