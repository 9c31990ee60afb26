/*
 * shared_visits.c - visits of the shared frontier: how they begin and end.
 *
 * A visit begins in one transaction, with its start pages. The unique index of
 * visits (visit) makes a second delivery of the job harmless. The unique index
 * of names of visits that run makes of two visits of one name, begun at once
 * by two workers, one that runs and one that is coalesced.
 *
 * It ends in two steps. The commit that ends its last page, or spends its
 * budget, makes it FRONTIER_ENDING, and no later commit changes its pages or
 * its counts. Pages that wait still have rows then, counted at their hosts.
 * They are deleted with all others, in batches, after the end was published.
 * The visit has ended when that is done, so that another worker goes on if
 * this one dies.
 */
#include "shared_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/text/memory.h"
#include "../lib/text/span.h"

/* --- the beginning --- */

struct beginning {
    struct frontier_shared *f;
    const struct frontier_visit *visit;
    const struct frontier_link *start;
    const int64_t *id; /* of the hosts of the start URLs */
    struct frontier_locked *host;
    struct frontier_insert *insert;
    size_t n;
    enum frontier_visit_state state;
};

static void bind_visit(struct sql_statement *st,
                       const struct frontier_visit *visit)
{
    sql_bind_text(st, 1, visit->visit);
    sql_bind_text(st, 2, visit->name);
    sql_bind_bytes(st, 3, visit->job);
    SQL_NUMBERS(st, 4, (int64_t)visit->seed, visit->shards, visit->most,
                visit->due, visit->terms);
}

/* *id is 0 if there is no new row. */
static enum seen_code add_visit(const struct beginning *b, int64_t *id,
                                struct seen_error *why)
{
    struct sql_statement *st = b->f->st[SHARED_VISIT_ADD];

    *id = 0;
    bind_visit(st, b->visit);
    sql_bind_bytes(st, 9, (struct seen_span){ "", 0 });
    sql_bind_number(st, 10, b->visit->thorough);
    return sql_first(st, id, why);
}

static enum seen_code read_state(struct beginning *b, bool *found,
                                 struct seen_error *why)
{
    struct sql_statement *st = b->f->st[SHARED_VISIT_STATE];
    enum seen_code code;
    bool row;

    *found = false;
    sql_bind_text(st, 1, b->visit->visit);
    while ((code = sql_step(st, &row, why)) == SEEN_OK && row) {
        b->state = (enum frontier_visit_state)sql_number(st, 0);
        *found = true;
    }
    return code;
}

/* It was begun before, or another of its name runs. */
static enum seen_code not_begun(struct beginning *b, struct seen_error *why)
{
    enum seen_code code;
    bool found;

    code = read_state(b, &found, why);
    if (code != SEEN_OK || found)
        return code;
    bind_visit(b->f->st[SHARED_VISIT_COALESCE], b->visit);
    code = sql_do(b->f->st[SHARED_VISIT_COALESCE], why);
    if (code == SEEN_OK)
        code = read_state(b, &found, why);
    return code;
}

/* Every other database gets to know the visit, and the start URLs of its
   hosts. */
static enum seen_code announce(const struct beginning *b, int64_t visit,
                               struct seen_error *why)
{
    const struct frontier_link **link = calloc(b->n + 1, sizeof(void *));
    struct frontier_link *copy = calloc(b->n + 1, sizeof *copy);
    enum seen_code code = link && copy ? SEEN_OK
                                       : no_memory_for(why, "the frontier");
    size_t n = 0;

    for (size_t i = 0; code == SEEN_OK && i < b->n; i++)
        if (!b->id[i]) {
            copy[n] = b->start[i];
            copy[n].visit = visit;
            copy[n].wanted = true;
            link[n] = &copy[n];
            n++;
        }
    if (code == SEEN_OK)
        code = frontier_outbox_announce(b->f, visit, why);
    if (code == SEEN_OK)
        code = frontier_outbox_send(b->f, link, n, why);
    free(copy);
    free(link);
    return code;
}

static enum seen_code add_start(struct beginning *b, int64_t visit,
                                struct seen_error *why)
{
    struct sql_statement *st = b->f->st[SHARED_VISIT_BEGUN];
    const bool spread = frontier_shared_is_spread(b->f);
    int64_t queued = 0;
    enum seen_code code;
    size_t hosts, n = 0;

    for (size_t i = 0; i < b->n; i++) {
        if (!b->id[i])
            continue;
        b->host[n] = (struct frontier_locked){ .id = b->id[i] };
        b->insert[n++] = (struct frontier_insert){
            .link = &b->start[i],
            .visit = visit,
            .host = b->id[i],
            .wanted = true,
            .i = i,
        };
    }
    hosts = frontier_shared_sort(b->host, n);
    code = frontier_shared_lock(b->f, b->host, hosts, why);
    if (code == SEEN_OK)
        code = frontier_shared_insert(b->f, b->insert, n, why);
    for (size_t i = 0; code == SEEN_OK && i < n; i++)
        if (b->insert[i].fresh) {
            frontier_shared_find(b->host, hosts, b->insert[i].host)->queued++;
            queued++;
        }
    if (code == SEEN_OK)
        code = frontier_shared_count(b->f, b->host, hosts, why);
    if (code == SEEN_OK && spread)
        code = announce(b, visit, why);
    if (code != SEEN_OK)
        return code;
    b->state = queued || spread ? FRONTIER_RUNNING : FRONTIER_ENDING;
    SQL_NUMBERS(st, 1, visit, queued, b->state);
    return sql_do(st, why);
}

static enum seen_code begin(void *owner, struct sql *db,
                            struct seen_error *why)
{
    struct beginning *b = owner;
    enum seen_code code;
    int64_t id;

    (void)db;
    code = add_visit(b, &id, why);
    if (code == SEEN_OK)
        code = id ? add_start(b, id, why) : not_begun(b, why);
    frontier_shared_reach(b->f, "begun");
    return code;
}

enum seen_code frontier_shared_begin(struct frontier_shared *f,
                                     const struct frontier_visit *visit,
                                     const struct frontier_link *start,
                                     size_t n,
                                     enum frontier_visit_state *state,
                                     struct seen_error *why)
{
    struct beginning b = { .f = f, .visit = visit, .start = start, .n = n };
    int64_t *id = calloc(n + 1, sizeof *id);
    enum seen_code code;

    b.id = id;
    b.host = calloc(n + 1, sizeof *b.host);
    b.insert = calloc(n + 1, sizeof *b.insert);
    if (id && b.host && b.insert) {
        code = frontier_shared_link_hosts(f, start, n, id, why);
        if (code == SEEN_OK)
            code = frontier_shared_step(f, begin, &b, why);
    } else {
        code = no_memory_for(why, "the frontier");
    }
    if (code == SEEN_OK) {
        *state = b.state;
        frontier_shared_reach(f, "began");
    }
    free(b.insert);
    free(b.host);
    free(id);
    return code;
}

/* --- reports --- */

struct visit_listing {
    struct sql_statement *st;
    frontier_take_visit *take;
    void *owner;
    int64_t first, second;
    size_t n;
    bool done; /* by a run before, of which only the end was lost */
};

void frontier_shared_read_visit(struct sql_statement *st,
                                struct frontier_visit *visit)
{
    *visit = (struct frontier_visit){
        .id = sql_number(st, 0),
        .visit = sql_text(st, 1),
        .name = sql_text(st, 2),
        .job = sql_text(st, 3),
        .seed = (uint64_t)sql_number(st, 4),
        .shards = (unsigned)sql_number(st, 5),
        .most = sql_number(st, 6),
        .state = (enum frontier_visit_state)sql_number(st, 7),
        .began_ago = sql_number(st, 8),
        .ended_ago = sql_number(st, 9),
        .queued = sql_number(st, 10),
        .fetched = sql_number(st, 11),
        .failed = sql_number(st, 12),
        .excluded = sql_number(st, 13),
        .left = sql_number(st, 14),
        .links = sql_number(st, 15),
        .bytes = sql_number(st, 16),
        .records = sql_number(st, 17),
        .not_due = sql_number(st, 18),
        .recalling = sql_number(st, 19),
        .thorough = sql_number(st, 20),
    };
}

void frontier_shared_add(struct frontier_visit *to,
                         const struct frontier_visit *from)
{
    to->queued += from->queued;
    to->fetched += from->fetched;
    to->failed += from->failed;
    to->excluded += from->excluded;
    to->left += from->left;
    to->links += from->links;
    to->bytes += from->bytes;
    to->records += from->records;
    to->not_due += from->not_due;
    to->recalling |= from->recalling;
}

static enum seen_code list_visits(void *owner, struct sql *db,
                                  struct seen_error *why)
{
    struct visit_listing *l = owner;
    struct sql_statement *st = l->st;
    struct frontier_visit visit;
    enum seen_code code;
    bool row;

    (void)db;
    if (l->done)
        return SEEN_OK;
    sql_bind_number(st, 1, l->first);
    if (l->second >= 0)
        sql_bind_number(st, 2, l->second);
    while ((code = sql_step(st, &row, why)) == SEEN_OK && row) {
        frontier_shared_read_visit(st, &visit);
        l->n++;
        if (!l->take(l->owner, &visit)) {
            sql_reset(st);
            break;
        }
    }
    l->done = code == SEEN_OK;
    return code;
}

enum seen_code frontier_shared_visits(struct frontier_shared *f,
                                      enum frontier_visit_state state,
                                      int64_t after, frontier_take_visit *take,
                                      void *owner, struct seen_error *why)
{
    struct visit_listing l = { .st = f->st[SHARED_VISITS],
                               .take = take,
                               .owner = owner,
                               .first = state,
                               .second = after < 0 ? 0 : after };

    return frontier_shared_read(f, list_visits, &l, why);
}

enum seen_code frontier_shared_visit(struct frontier_shared *f, int64_t id,
                                     frontier_take_visit *take, void *owner,
                                     struct seen_error *why)
{
    struct visit_listing l = { .st = f->st[SHARED_VISIT],
                               .take = take,
                               .owner = owner,
                               .first = id,
                               .second = -1 };
    enum seen_code code = frontier_shared_read(f, list_visits, &l, why);

    return code == SEEN_OK && !l.n
               ? seen_fail(why, SEEN_ABSENT, 0, "no such visit")
               : code;
}

struct record_reading {
    struct frontier_shared *f;
    int64_t visit, *records;
    unsigned shards;
};

static enum seen_code read_records(void *owner, struct sql *db,
                                   struct seen_error *why)
{
    struct record_reading *c = owner;
    struct sql_statement *st = c->f->st[SHARED_RECORDS];
    enum seen_code code;
    bool row;

    (void)db;
    sql_bind_number(st, 1, c->visit);
    while ((code = sql_step(st, &row, why)) == SEEN_OK && row) {
        int64_t shard = sql_number(st, 0);

        if (shard >= 0 && shard < c->shards)
            c->records[shard] = sql_number(st, 1);
    }
    return code;
}

enum seen_code frontier_shared_records(struct frontier_shared *f,
                                       int64_t visit, int64_t *records,
                                       unsigned shards, struct seen_error *why)
{
    struct record_reading c = {
        .f = f, .visit = visit, .records = records, .shards = shards
    };

    for (unsigned i = 0; i < shards; i++)
        records[i] = 0;
    return frontier_shared_read(f, read_records, &c, why);
}

/* --- the end --- */

/* One batch after the other, in the order of keys. A step that is repeated
   goes on after the batch that failed: passes begin anew until one finds no
   page. */
struct sweeping {
    struct frontier_shared *f;
    int64_t visit;
    unsigned char key[16]; /* the last one that was looked at */
    size_t after;          /* bytes of that key: 0 at the start */
    int64_t id[SHARED_BATCH], at[SHARED_BATCH];
    int64_t changed[SHARED_BATCH];
    int state[SHARED_BATCH];
    size_t n;
};

static enum seen_code read_rest(struct sweeping *s, struct seen_error *why)
{
    struct sql_statement *st = s->f->st[SHARED_PAGE_REST];
    const char *key = (const char *)s->key;
    unsigned char last[16];
    enum seen_code code;
    bool row;

    s->n = 0;
    memcpy(last, s->key, sizeof last);
    sql_bind_number(st, 1, s->visit);
    sql_bind_bytes(st, 2, (struct seen_span){ key, s->after });
    sql_bind_number(st, 3, SHARED_BATCH);
    while ((code = sql_step(st, &row, why)) == SEEN_OK && row) {
        struct seen_span at = sql_text(st, 3);

        s->id[s->n] = sql_number(st, 0);
        s->at[s->n] = sql_number(st, 1);
        s->state[s->n++] = (int)sql_number(st, 2);
        if (at.len == sizeof last)
            memcpy(last, at.text, at.len);
    }
    memcpy(s->key, last, sizeof last);
    s->after = sizeof last;
    return code;
}

static void bind_drop(void *owner, struct sql_statement *st, size_t i)
{
    const struct sweeping *s = owner;

    SQL_NUMBERS(st, 1, s->id[i], s->state[i]);
}

static enum seen_code sweep(void *owner, struct sql *db,
                            struct seen_error *why)
{
    struct sweeping *s = owner;
    struct frontier_locked host[SHARED_BATCH];
    size_t hosts = 0;
    enum seen_code code;

    (void)db;
    code = read_rest(s, why);
    for (size_t i = 0; i < s->n; i++)
        if (!s->state[i])
            host[hosts++] = (struct frontier_locked){ .id = s->at[i] };
    hosts = frontier_shared_sort(host, hosts);
    if (code == SEEN_OK)
        code = frontier_shared_lock(s->f, host, hosts, why);
    if (code == SEEN_OK && s->n)
        code = sql_do_many(s->f->st[SHARED_PAGE_DROP], bind_drop, s, s->n,
                           s->changed, why);
    for (size_t i = 0; code == SEEN_OK && i < s->n; i++) {
        struct frontier_locked *h = frontier_shared_find(host, hosts,
                                                         s->at[i]);

        if (h && !s->state[i])
            h->queued -= s->changed[i];
    }
    return code == SEEN_OK ? frontier_shared_count(s->f, host, hosts, why)
                           : code;
}

static enum seen_code finish(void *owner, struct sql *db,
                             struct seen_error *why)
{
    const struct sweeping *s = owner;

    (void)db;
    sql_bind_number(s->f->st[SHARED_VISIT_ENDED], 1, s->visit);
    return sql_do(s->f->st[SHARED_VISIT_ENDED], why);
}

/* A budget is spent once per visit, which is not worth a statement that is
   prepared. */
static enum seen_code close_visit(void *owner, struct sql *db,
                                  struct seen_error *why)
{
    const int64_t *visit = owner;
    char text[400];

    snprintf(text, sizeof text,
             "UPDATE visits SET given_up = given_up + queued + "
             "" SHARED_UNRECALLED ", queued = 0, state = " SHARED_ENDING
             " WHERE id = %lld AND state = "
             "" SHARED_RUNNING,
             (long long)*visit);
    return sql_run(db, text, why);
}

enum seen_code frontier_shared_close_visit(struct frontier_shared *f,
                                           int64_t visit,
                                           struct seen_error *why)
{
    return frontier_shared_step(f, close_visit, &visit, why);
}

static bool note_state(void *owner, const struct frontier_visit *visit)
{
    *(enum frontier_visit_state *)owner = visit->state;
    return true;
}

enum seen_code frontier_shared_ended(struct frontier_shared *f, int64_t visit,
                                     struct seen_error *why)
{
    struct sweeping s = { .f = f, .visit = visit };
    enum frontier_visit_state state = FRONTIER_RUNNING;
    enum seen_code code;
    bool all;

    code = frontier_shared_visit(f, visit, note_state, &state, why);
    if (code != SEEN_OK)
        return code;
    if (state == FRONTIER_RUNNING)
        return seen_fail(why, SEEN_RANGE, 0, "the visit is running");
    if (state != FRONTIER_ENDING)
        return SEEN_OK;
    do { /* until nothing is found from the first key on */
        all = !s.after;
        code = frontier_shared_step(f, sweep, &s, why);
        frontier_shared_reach(f, "swept");
        if (s.n)
            continue;
        s.after = 0;
        if (all)
            break;
    } while (code == SEEN_OK);
    frontier_shared_reach(f, "emptied");
    if (code == SEEN_OK)
        code = frontier_shared_step(f, finish, &s, why);
    frontier_shared_reach(f, "finished");
    return code == SEEN_OK ? frontier_shared_clean(f, why) : code;
}
