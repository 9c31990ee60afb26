/*
 * spread_visits.c - visits of a frontier over several databases: they begin in
 * the home, have a row everywhere, and end when nothing is left anywhere. The
 * argument is in spread.h.
 *
 * A visit whose budget is spent is closed in one database after the other, the
 * home last. If that is interrupted, whoever looks next finds a row that does
 * not run while that of the home does, and goes on.
 */
#include <stdlib.h>
#include <string.h>

#include "../lib/disk/clock.h"
#include "../lib/text/array.h"
#include "../lib/text/memory.h"
#include "../lib/text/span.h"
#include "shared_inside.h"
#include "spread_inside.h"

/* --- sums --- */

struct summing {
    struct spread_database *d;
    bool done; /* by a run before, of which only the end was lost */
};

static enum seen_code read_sums(void *owner, struct sql *db,
                                struct seen_error *why)
{
    struct summing *s = owner;
    struct spread_database *d = s->d;
    struct sql_statement *st = d->shared->st[SHARED_VISIT_SUMS];
    enum seen_code code;
    bool row;

    (void)db;
    d->n = 0;
    while ((code = sql_step(st, &row, why)) == SEEN_OK && row) {
        struct spread_sums *more = array_grow(d->sums, &d->room, d->n + 1,
                                              sizeof *more);

        if (!more) {
            sql_reset(st);
            return no_memory_for(why, "visits");
        }
        d->sums = more;
        more += d->n++;
        frontier_shared_read_visit(st, &more->visit);
        more->visit.visit = more->visit.name = more->visit.job =
            (struct seen_span){ "", 0 };
        more->sent = sql_number(st, 21);
        more->sending = sql_number(st, 22);
    }
    return code;
}

static enum seen_code read_all(struct frontier_spread *f,
                               struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    for (unsigned i = 0; code == SEEN_OK && i < f->databases; i++) {
        struct summing s = { .d = &f->database[i] };

        if (spread_answers(f, i))
            SPREAD_ASK(f, i, frontier_shared_read(shared, read_sums, &s, why));
    }
    return code;
}

static int by_id(const void *a, const void *b)
{
    const struct spread_sums *x = a, *y = b;

    return (x->visit.id > y->visit.id) - (x->visit.id < y->visit.id);
}

static const struct spread_sums *find_sums(const struct frontier_spread *f,
                                           unsigned at, int64_t visit)
{
    const struct spread_database *d = &f->database[at];
    const struct spread_sums key = { .visit = { .id = visit } };

    return d->n ? bsearch(&key, d->sums, d->n, sizeof *d->sums, by_id) : NULL;
}

/* --- the end --- */

/* A number that every commit makes larger that does anything for the visit;
   -1: something is left of it, here. */
static int64_t quiet(const struct spread_sums *s)
{
    const struct frontier_visit *v = s ? &s->visit : NULL;

    if (!v || v->queued > 0 || v->recalling || s->sending)
        return -1;
    return v->fetched + v->failed + v->excluded + v->left + v->links +
           v->not_due + s->sent;
}

struct spread_end {
    int64_t visit;
    int64_t sum[FRONTIER_DATABASES];
    bool closed; /* its budget is spent, or it is not closed everywhere */
};

struct spread_ends {
    struct spread_end *visit;
    size_t n, room;
};

/* In the first round: visits that seem to have come to their end. */
static enum seen_code choose(const struct frontier_spread *f,
                             struct spread_ends *e, struct seen_error *why)
{
    for (size_t i = 0; i < f->database[0].n; i++) {
        const struct frontier_visit *home = &f->database[0].sums[i].visit;
        struct spread_end end = { .visit = home->id }, *more;
        int64_t fetched = 0;
        bool over = true;

        if (home->state != FRONTIER_RUNNING)
            continue;
        for (unsigned at = 0; at < f->databases; at++) {
            const struct spread_sums *s = find_sums(f, at, home->id);

            end.sum[at] = quiet(s);
            over &= end.sum[at] >= 0;
            end.closed |= s && s->visit.state != FRONTIER_RUNNING;
            fetched += s ? s->visit.fetched : 0;
        }
        end.closed |= home->most > 0 && fetched >= home->most;
        if (!over && !end.closed)
            continue;
        more = array_grow(e->visit, &e->room, e->n + 1, sizeof *more);
        if (!more)
            return no_memory_for(why, "visits");
        e->visit = more;
        more[e->n++] = end;
    }
    return SEEN_OK;
}

static bool is_over(const struct frontier_spread *f,
                    const struct spread_end *end)
{
    if (end->closed)
        return true;
    for (unsigned at = 0; at < f->databases; at++)
        if (quiet(find_sums(f, at, end->visit)) != end->sum[at])
            return false;
    return true;
}

static bool is_there(void *owner, const struct frontier_visit *visit)
{
    (void)owner, (void)visit;
    return false;
}

static enum seen_code close_one(struct frontier_spread *f, unsigned at,
                                int64_t visit, struct seen_error *why)
{
    enum seen_code code;

    SPREAD_ASK(f, at, frontier_shared_close_visit(shared, visit, why));
    frontier_shared_reach(f->database[at].shared, "closed");
    return code;
}

/* Not before every database has its row: one that comes later would run. */
enum seen_code frontier_spread_close_visit(struct frontier_spread *f,
                                           int64_t visit,
                                           struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    if (!spread_is_one(f) && !frontier_spread_is_whole(f))
        return SEEN_OK; /* later */
    for (unsigned i = 1; code == SEEN_OK && i < f->databases; i++) {
        SPREAD_ASK(f, i,
                   frontier_shared_visit(shared, visit, is_there, NULL, why));
        if (code == SEEN_ABSENT && spread_answers(f, i))
            return SEEN_OK; /* later */
    }
    for (unsigned i = f->databases; code == SEEN_OK && i-- > 0;)
        code = close_one(f, i, visit, why);
    return code;
}

enum seen_code frontier_spread_finish(struct frontier_spread *f,
                                      enum frontier_haste haste,
                                      struct seen_error *why)
{
    struct spread_ends e = { .n = 0 };
    enum seen_code code;

    if (spread_is_one(f) ||
        (haste == FRONTIER_BUSY &&
         clock_ms() - f->finished < frontier_spread_round(f)))
        return SEEN_OK;
    f->finished = clock_ms();
    code = read_all(f, why);
    if (code == SEEN_OK && frontier_spread_is_whole(f))
        code = choose(f, &e, why);
    if (code == SEEN_OK && e.n)
        code = read_all(f, why);
    for (size_t i = 0; code == SEEN_OK && i < e.n; i++)
        if (is_over(f, &e.visit[i]))
            code = frontier_spread_close_visit(f, e.visit[i].visit, why);
    free(e.visit);
    return code;
}

struct dropping {
    struct frontier_shared *f;
    int64_t visit;
};

/* Links that were on their way when the visit was closed. */
static enum seen_code drop_links(void *owner, struct sql *db,
                                 struct seen_error *why)
{
    const struct dropping *d = owner;
    struct sql_statement *st = d->f->st[SHARED_OUTBOX_DROP_VISIT];

    (void)db;
    sql_bind_number(st, 1, d->visit);
    return sql_do(st, why);
}

enum seen_code frontier_spread_ended(struct frontier_spread *f, int64_t visit,
                                     struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    if (!spread_is_one(f) && !frontier_spread_is_whole(f))
        return SEEN_OK; /* it is published again */
    for (unsigned i = 0;
         !spread_is_one(f) && code == SEEN_OK && i < f->databases; i++) {
        struct dropping d = { f->database[i].shared, visit };

        SPREAD_ASK(f, i, frontier_shared_step(shared, drop_links, &d, why));
    }
    for (unsigned i = f->databases; code == SEEN_OK && i-- > 0;)
        SPREAD_ASK(f, i, frontier_shared_ended(shared, visit, why));
    return code;
}

/* --- the beginning --- */

struct spread_left {
    struct frontier_shared *f;
    struct seen_span name;
    int64_t left;
};

/* Did the last visit of the name leave pages there? */
static enum seen_code read_left(void *owner, struct sql *db,
                                struct seen_error *why)
{
    struct spread_left *l = owner;
    struct sql_statement *st = l->f->st[SHARED_VISIT_LEFT];

    (void)db;
    sql_bind_text(st, 1, l->name);
    return sql_first(st, &l->left, why);
}

enum seen_code frontier_spread_begin(struct frontier_spread *f,
                                     const struct frontier_visit *visit,
                                     const struct frontier_link *start,
                                     size_t n,
                                     enum frontier_visit_state *state,
                                     struct seen_error *why)
{
    struct frontier_visit begun = *visit;
    enum seen_code code = SEEN_OK;

    if (!spread_answers(f, 0))
        return seen_fail(why, SEEN_BUSY, 0,
                         "the home of the frontier is away");
    for (unsigned i = 1; code == SEEN_OK && i < f->databases; i++) {
        struct spread_left l = { f->database[i].shared, visit->name, 0 };

        if (spread_answers(f, i))
            SPREAD_ASK(f, i, frontier_shared_read(shared, read_left, &l, why));
        begun.thorough |= l.left || !spread_answers(f, i);
    }
    if (code == SEEN_OK)
        SPREAD_ASK(
            f, 0, frontier_shared_begin(shared, &begun, start, n, state, why));
    return code == SEEN_ABSENT && !spread_answers(f, 0)
               ? seen_fail(why, SEEN_BUSY, 0,
                           "the home of the frontier is away")
               : code;
}

/* --- reports --- */

struct overlay {
    struct frontier_spread *f;
    enum frontier_visit_state state;
    frontier_take_visit *take;
    void *owner;
    enum seen_code code;
    struct seen_error why;
};

static bool add_visit(void *owner, const struct frontier_visit *visit)
{
    frontier_shared_add(owner, visit);
    return true;
}

/* What was read last is near enough while a visit runs. Once it is ending its
   sums stay, and some databases may have ended it already. */
static enum seen_code add_others(struct overlay *o, struct frontier_visit *all,
                                 struct seen_error *why)
{
    struct frontier_spread *f = o->f;
    enum seen_code code = SEEN_OK;

    for (unsigned i = 1; code == SEEN_OK && i < f->databases; i++) {
        const struct spread_sums *s = find_sums(f, i, all->id);

        if (o->state != FRONTIER_RUNNING)
            SPREAD_ASK(
                f, i,
                frontier_shared_visit(shared, all->id, add_visit, all, why));
        else if (s)
            frontier_shared_add(all, &s->visit);
    }
    return code;
}

static bool take_sum(void *owner, const struct frontier_visit *visit)
{
    struct overlay *o = owner;
    struct frontier_visit all = *visit;

    o->code = add_others(o, &all, &o->why);
    return o->code == SEEN_OK && o->take(o->owner, &all);
}

enum seen_code frontier_spread_visits(struct frontier_spread *f,
                                      enum frontier_visit_state state,
                                      int64_t after, frontier_take_visit *take,
                                      void *owner, struct seen_error *why)
{
    struct overlay o = {
        .f = f, .state = state, .take = take, .owner = owner
    };
    enum seen_code code = SEEN_OK;

    if (spread_is_one(f))
        return frontier_shared_visits(f->database[0].shared, state, after,
                                      take, owner, why);
    if (!spread_answers(f, 0) ||
        (state == FRONTIER_ENDING && !frontier_spread_is_whole(f)))
        return SEEN_OK;
    SPREAD_ASK(
        f, 0, frontier_shared_visits(shared, state, after, take_sum, &o, why));
    if (code == SEEN_OK && o.code != SEEN_OK) {
        code = o.code;
        if (why)
            *why = o.why;
    }
    return code;
}

/* Every database that has a page of a visit has its row. */
enum seen_code frontier_spread_visit(struct frontier_spread *f, int64_t id,
                                     frontier_take_visit *take, void *owner,
                                     struct seen_error *why)
{
    enum seen_code code = seen_fail(why, SEEN_ABSENT, 0, "no such visit");

    for (unsigned i = 0; code == SEEN_ABSENT && i < f->databases; i++)
        if (spread_answers(f, i))
            SPREAD_ASK(f, i,
                       frontier_shared_visit(shared, id, take, owner, why));
    return code;
}

/* Each database has the known pages of its hosts. */
enum seen_code frontier_spread_recall(struct frontier_spread *f, int64_t visit,
                                      frontier_weigh *weigh, void *owner,
                                      bool *more, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    *more = false;
    for (unsigned i = 0; code == SEEN_OK && i < f->databases; i++) {
        bool left = false;

        if (spread_answers(f, i))
            SPREAD_ASK(f, i,
                       frontier_shared_recall(shared, visit, weigh, owner,
                                              &left, why));
        *more |= left;
    }
    return code;
}

enum seen_code frontier_spread_records(struct frontier_spread *f,
                                       int64_t visit, int64_t *records,
                                       unsigned shards, struct seen_error *why)
{
    int64_t *some = calloc(shards + 1, sizeof *some);
    enum seen_code code = some ? SEEN_OK : no_memory_for(why, "visits");

    for (unsigned k = 0; k < shards; k++)
        records[k] = 0;
    for (unsigned i = 0; code == SEEN_OK && i < f->databases; i++) {
        if (!spread_answers(f, i)) {
            code = seen_fail(why, SEEN_ABSENT, 0,
                             "a database of the frontier is away");
            break;
        }
        SPREAD_ASK(f, i,
                   frontier_shared_records(shared, visit, some, shards, why));
        for (unsigned k = 0; code == SEEN_OK && k < shards; k++)
            records[k] += some[k];
    }
    free(some);
    return code;
}
