/*
 * shared_commit.c - commit a group of pages, with the links found on them.
 *
 *     worker      lock; the lease has not ended; this commit is not done yet
 *     hosts       lock those of pages, of links and of robots.txt
 *     visits      read which of them run
 *     pages       end those that are this worker's, of visits that run
 *     known       keep what is known of them now
 *     links       insert those of pages that were ended; those to hosts of
 *                 other databases go into the outbox
 *     stopped     give up the pages of hosts that are not asked any more
 *     hosts       write
 *     robots      write
 *     visits      write, if they still run
 *     shards      write
 *
 * Visits are many workers' rows: to lock them at the start would make commits
 * wait for each other all along. They are written last. If one of them has
 * stopped running in the meantime, all is rolled back and run again, and then
 * its pages are refused. A visit stops running once, so this comes to an end.
 */
#include "shared_inside.h"

#include <stdlib.h>
#include <string.h>

#include "../lib/text/array.h"
#include "../lib/text/memory.h"
#include "../lib/text/span.h"

struct visit_change {
    int64_t id, queued, fetched, failed, excluded, left, links, bytes, aside;
    int64_t sent; /* links, to other databases */
    bool running, spread;
};

struct shard_change {
    int64_t visit, shard, records;
};

struct commit {
    struct frontier_shared *f;
    struct frontier_group *g;
    int64_t number; /* of this commit, in this lease */
    int64_t *link_host;
    struct frontier_locked *host; /* those that are locked, by id */
    size_t hosts;
    struct visit_change *visit; /* by id */
    size_t visits, visit_room;
    struct shard_change *shard; /* by visit and shard */
    size_t shards;
    size_t *chosen; /* indices of what a batch is about */
    size_t chosens;
    struct frontier_insert *insert;
    const struct frontier_link **elsewhere; /* links to other databases */
    const struct frontier_done **known; /* pages whose row is kept */
    int64_t last; /* visit, if a host is stopped */
    int64_t pages, links, bytes;
    bool again; /* a visit stopped running */
};

/* --- the worker --- */

int64_t frontier_shared_next_commit(const struct frontier_shared *f)
{
    return f->commits + 1;
}

/* *commit is -1 if the lease is not known. */
static enum seen_code read_commit(struct frontier_shared *f, int64_t lease,
                                  int64_t *commit, struct seen_error *why)
{
    struct sql_statement *st = f->st[SHARED_COMMITS];

    *commit = -1;
    sql_bind_number(st, 1, lease);
    return sql_first(st, commit, why);
}

struct commit_reading {
    struct frontier_shared *f;
    int64_t lease, commit;
};

static enum seen_code read_last_commit(void *owner, struct sql *db,
                                       struct seen_error *why)
{
    struct commit_reading *r = owner;

    (void)db;
    return read_commit(r->f, r->lease, &r->commit, why);
}

/* In a transaction, since it locks the row: a commit under way has it. */
enum seen_code frontier_shared_last_commit(struct frontier_shared *f,
                                           int64_t lease, int64_t *commit,
                                           struct seen_error *why)
{
    struct commit_reading r = { .f = f, .lease = lease };
    enum seen_code code = frontier_shared_step(f, read_last_commit, &r, why);

    *commit = r.commit;
    return code == SEEN_OK && r.commit < 0
               ? seen_fail(why, SEEN_ABSENT, 0, "no such lease")
               : code;
}

/* *done: the commit was done by a run whose answer was lost. */
static enum seen_code hold(struct commit *c, bool *done,
                           struct seen_error *why)
{
    struct sql_statement *st = c->f->st[SHARED_NUMBERED];
    int64_t commit;
    enum seen_code code;

    *done = false;
    SQL_NUMBERS(st, 1, c->f->number, c->number);
    code = sql_do(st, why);
    if (code != SEEN_OK || sql_changes(c->f->db) == 1)
        return code;
    code = read_commit(c->f, c->f->number, &commit, why);
    *done = code == SEEN_OK && commit == c->number;
    if (code == SEEN_OK && !*done)
        code = seen_fail(why, SEEN_ABSENT, 0,
                         "the lease of this worker ended");
    return code;
}

/* --- hosts and visits of the group --- */

static enum seen_code lock_hosts(struct commit *c, struct seen_error *why)
{
    const struct frontier_group *g = c->g;
    enum seen_code code;
    size_t n = 0;

    for (size_t i = 0; i < g->askeds; i++)
        c->host[n++].id = g->asked[i].host;
    for (size_t i = 0; i < g->links; i++)
        if (c->link_host[i])
            c->host[n++].id = c->link_host[i];
    c->hosts = frontier_shared_sort(c->host, n);
    code = frontier_shared_lock(c->f, c->host, c->hosts, why);
    for (size_t i = 0; code == SEEN_OK && i < g->askeds; i++) {
        const struct frontier_locked *h = frontier_shared_find(
            c->host, c->hosts, g->asked[i].host);

        g->asked[i].refused = !h->found || h->worker != c->f->number;
    }
    return code;
}

static int by_visit(const void *a, const void *b)
{
    const struct visit_change *x = a, *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

static struct visit_change *find_visit(struct commit *c, int64_t id)
{
    const struct visit_change key = { .id = id };

    return c->visits
               ? bsearch(&key, c->visit, c->visits, sizeof *c->visit, by_visit)
               : NULL;
}

static enum seen_code add_visit(struct commit *c, int64_t id,
                                struct seen_error *why)
{
    struct visit_change *more;

    if (c->visits && c->visit[c->visits - 1].id == id)
        return SEEN_OK;
    more = array_grow(c->visit, &c->visit_room, c->visits + 1, sizeof *more);
    if (!more)
        return no_memory_for(why, "the frontier");
    c->visit = more;
    c->visit[c->visits++] = (struct visit_change){
        .id = id, .spread = frontier_shared_is_spread(c->f)
    };
    return SEEN_OK;
}

static void sort_visits(struct commit *c)
{
    size_t kept = 0;

    if (!c->visits)
        return;
    qsort(c->visit, c->visits, sizeof *c->visit, by_visit);
    for (size_t i = 1; i < c->visits; i++)
        if (c->visit[i].id != c->visit[kept].id)
            c->visit[++kept] = c->visit[i];
    c->visits = kept + 1;
}

static enum seen_code read_states(struct commit *c, struct seen_error *why)
{
    struct sql_statement *st = c->f->st[SHARED_VISIT_STATES];
    enum seen_code code = SEEN_OK;
    bool row;

    for (size_t at = 0; code == SEEN_OK && at < c->visits; at += SHARED_LIST) {
        for (size_t i = 0; i < SHARED_LIST; i++)
            if (at + i < c->visits)
                sql_bind_number(st, (int)i + 1, c->visit[at + i].id);
            else
                sql_bind_null(st, (int)i + 1);
        while ((code = sql_step(st, &row, why)) == SEEN_OK && row) {
            struct visit_change *v = find_visit(c, sql_number(st, 0));

            if (v)
                v->running = sql_number(st, 1) == FRONTIER_RUNNING;
        }
    }
    return code;
}

static enum seen_code read_visits(struct commit *c, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    c->visits = 0;
    for (size_t i = 0; code == SEEN_OK && i < c->g->dones; i++)
        code = add_visit(c, c->g->done[i].visit, why);
    for (size_t i = 0; code == SEEN_OK && i < c->g->links; i++)
        code = add_visit(c, c->g->link[i].visit, why);
    sort_visits(c);
    return code == SEEN_OK ? read_states(c, why) : code;
}

/* --- pages --- */

static void bind_done(void *owner, struct sql_statement *st, size_t i)
{
    const struct commit *c = owner;
    const struct frontier_done *d = &c->g->done[c->chosen[i]];

    SQL_NUMBERS(st, 1, d->page.id, d->page.host);
    if (d->end == FRONTIER_AGAIN) {
        SQL_NUMBERS(st, 3, 0, d->page.priority, d->page.attempts,
                    d->page.flags);
    } else {
        sql_bind_number(
            st, 3, 1 + (d->end == FRONTIER_ASIDE ? FRONTIER_LEFT : d->end));
        sql_bind_null(st, 4);
        sql_bind_null(st, 5);
        sql_bind_null(st, 6);
    }
    sql_bind_number(st, 7, d->visit);
}

/* Several pages of a group have one shard mostly, so the list is short. */
static void count_record(struct commit *c, int64_t visit, int shard)
{
    for (size_t i = c->shards; i--;)
        if (c->shard[i].visit == visit && c->shard[i].shard == shard) {
            c->shard[i].records++;
            return;
        }
    c->shard[c->shards++] = (struct shard_change){ visit, shard, 1 };
}

static void count_done(struct commit *c, const struct frontier_done *d)
{
    struct visit_change *v = find_visit(c, d->visit);

    c->bytes += d->bytes;
    v->bytes += d->bytes;
    if (d->shard >= 0)
        count_record(c, d->visit, d->shard);
    if (d->end == FRONTIER_AGAIN)
        return;
    v->fetched += d->end == FRONTIER_FETCHED;
    v->failed += d->end == FRONTIER_FAILED;
    v->excluded += d->end == FRONTIER_EXCLUDED;
    v->left += d->end == FRONTIER_LEFT || d->end == FRONTIER_ASIDE;
    v->aside += d->end == FRONTIER_ASIDE;
    v->queued--;
    frontier_shared_find(c->host, c->hosts, d->page.host)->queued--;
    c->pages++;
}

static int by_page(const void *a, const void *b, void *owner)
{
    const struct commit *c = owner;
    size_t i = *(const size_t *)a, j = *(const size_t *)b;
    int64_t x = c->g->done[i].page.id, y = c->g->done[j].page.id;
    int order = (x > y) - (x < y);

    return order ? order : (i > j) - (i < j);
}

/* A page was changed: the first one of those that have its id. */
static void take_done(void *owner, struct sql_statement *st)
{
    struct commit *c = owner;
    int64_t id = sql_number(st, 0);
    size_t low = 0, high = c->chosens;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (c->g->done[c->chosen[middle]].page.id < id)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < c->chosens && c->g->done[c->chosen[low]].page.id == id)
        c->g->done[c->chosen[low]].refused = false;
}

static enum seen_code end_pages(struct commit *c, struct seen_error *why)
{
    struct frontier_group *g = c->g;
    enum seen_code code = SEEN_OK;
    size_t n = 0;

    c->shards = 0;
    c->pages = c->links = c->bytes = 0;
    for (size_t i = 0; i < g->dones; i++) {
        struct frontier_done *d = &g->done[i];
        const struct frontier_locked *h = frontier_shared_find(
            c->host, c->hosts, d->page.host);

        d->refused = !h || !h->found || h->worker != c->f->number ||
                     !find_visit(c, d->visit)->running;
        if (!d->refused)
            c->chosen[n++] = i;
    }
    c->chosens = n;
    if (n)
        qsort_r(c->chosen, n, sizeof *c->chosen, by_page, c);
    for (size_t i = 0; i < n; i++)
        g->done[c->chosen[i]].refused = true;
    code = sql_do_rows(c->f->st[SHARED_PAGE_DONE], bind_done, c, n, take_done,
                       why);
    for (size_t i = 0; code == SEEN_OK && i < n; i++)
        if (!g->done[c->chosen[i]].refused) {
            count_done(c, &g->done[c->chosen[i]]);
            if (g->done[c->chosen[i]].end == FRONTIER_ASIDE)
                code = frontier_shared_set_aside(
                    c->f, g->done[c->chosen[i]].page.id, why);
        }
    return code;
}

/* --- what is known of them --- */

static int by_known(const void *a, const void *b)
{
    const struct frontier_done *x = *(const struct frontier_done *const *)a;
    const struct frontier_done *y = *(const struct frontier_done *const *)b;
    int order = (x->visit > y->visit) - (x->visit < y->visit);

    return order ? order
                 : memcmp(x->known->key, y->known->key, sizeof x->known->key);
}

static enum seen_code keep_known(struct commit *c, struct seen_error *why)
{
    const struct frontier_group *g = c->g;
    size_t n = 0;

    for (size_t i = 0; i < g->dones; i++)
        if (!g->done[i].refused && g->done[i].known)
            c->known[n++] = &g->done[i];
    if (!n)
        return SEEN_OK;
    qsort(c->known, n, sizeof *c->known, by_known);
    return frontier_shared_keep(c->f, c->known, n, why);
}

/* --- links --- */

/* Those to hosts of this database are to be inserted. */
static size_t choose_links(struct commit *c, size_t *elsewhere)
{
    struct frontier_group *g = c->g;
    size_t n = 0;

    *elsewhere = 0;
    for (size_t i = 0; i < g->links; i++) {
        const struct frontier_link *link = &g->link[i];
        struct visit_change *visit = find_visit(c, link->visit);
        const struct frontier_locked *h;

        g->fresh[i] = false;
        if ((g->from[i] != SIZE_MAX && g->done[g->from[i]].refused) ||
            !visit->running)
            continue;
        if (!c->link_host[i]) {
            visit->sent++;
            c->elsewhere[(*elsewhere)++] = link;
            continue;
        }
        h = frontier_shared_find(c->host, c->hosts, c->link_host[i]);
        c->insert[n++] = (struct frontier_insert){
            .link = link,
            .visit = link->visit,
            .host = c->link_host[i],
            .state = h->barred >= link->visit ? FRONTIER_LEFT + 1 : 0,
            .wanted = link->wanted,
            .i = i,
        };
    }
    return n;
}

static enum seen_code add_links(struct commit *c, struct seen_error *why)
{
    struct frontier_group *g = c->g;
    size_t elsewhere, n = choose_links(c, &elsewhere);
    enum seen_code code = frontier_shared_insert(c->f, c->insert, n, why);

    if (code == SEEN_OK && elsewhere)
        code = frontier_outbox_send(c->f, c->elsewhere, elsewhere, why);
    for (size_t i = 0; code == SEEN_OK && i < n; i++) {
        const struct frontier_insert *in = &c->insert[i];
        struct visit_change *v = find_visit(c, in->visit);

        g->fresh[in->i] = in->fresh;
        if (!in->fresh)
            continue;
        c->links++;
        v->links += !in->wanted; /* a start URL is none */
        v->left += in->state != 0;
        v->queued += in->state == 0;
        frontier_shared_find(c->host, c->hosts, in->host)->queued +=
            in->state == 0;
    }
    return code;
}

/* --- hosts that are not asked any more --- */

static enum seen_code count_stopped(struct commit *c, int64_t host,
                                    struct seen_error *why)
{
    struct frontier_locked *h = frontier_shared_find(c->host, c->hosts, host);
    struct sql_statement *st = c->f->st[SHARED_PAGE_STOP_COUNT];
    struct visit_change *more = NULL;
    size_t n = 0, grown = 0;
    enum seen_code code;
    bool row;

    sql_bind_number(st, 1, host);
    while ((code = sql_step(st, &row, why)) == SEEN_OK && row) {
        struct visit_change *larger = array_grow(more, &grown, n + 1,
                                                 sizeof *more);

        if (!larger) {
            sql_reset(st);
            code = no_memory_for(why, "the frontier");
            break;
        }
        more = larger;
        more[n++] = (struct visit_change){ .id = sql_number(st, 0),
                                           .queued = sql_number(st, 1) };
    }
    for (size_t i = 0; code == SEEN_OK && i < n; i++)
        if (!find_visit(c, more[i].id)) {
            code = add_visit(c, more[i].id, why);
            sort_visits(c);
        }
    if (code == SEEN_OK)
        code = read_states(c, why);
    for (size_t i = 0; code == SEEN_OK && i < n; i++) {
        struct visit_change *v = find_visit(c, more[i].id);

        h->queued -= more[i].queued;
        if (v->running) {
            v->queued -= more[i].queued;
            v->left += more[i].queued;
        }
    }
    free(more);
    return code;
}

static enum seen_code read_last(struct commit *c, struct seen_error *why)
{
    struct sql_statement *st = c->f->st[SHARED_VISIT_LAST];

    return sql_first(st, &c->last, why);
}

/* Visits that have begun by now do not ask it again. */
static enum seen_code stop_hosts(struct commit *c, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    bool first = true;

    for (size_t i = 0; code == SEEN_OK && i < c->g->askeds; i++) {
        const struct frontier_asked *a = &c->g->asked[i];

        if (!a->stopped || a->refused)
            continue;
        if (first)
            code = read_last(c, why);
        first = false;
        if (code == SEEN_OK)
            code = count_stopped(c, a->host, why);
        if (code != SEEN_OK)
            break;
        sql_bind_number(c->f->st[SHARED_PAGE_STOP], 1, a->host);
        code = sql_do(c->f->st[SHARED_PAGE_STOP], why);
    }
    return code;
}

/* --- what is written last --- */

static void bind_asked(void *owner, struct sql_statement *st, size_t i)
{
    const struct commit *c = owner;
    const struct frontier_asked *a = &c->g->asked[c->chosen[i]];

    SQL_NUMBERS(st, 1, a->host, a->due_in, a->delay, a->requests, a->bytes,
                a->fetched, a->stopped ? 0 : a->failures);
    sql_bind_null(st, 8);
    sql_bind_null(st, 9);
    sql_bind_null(st, 10);
    if (a->stopped) {
        sql_bind_text(st, 8, span_of(a->stopped));
        sql_bind_number(st, 9, c->last);
    }
    if (a->note.len)
        sql_bind_bytes(st, 10, a->note);
}

static enum seen_code write_hosts(struct commit *c, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    size_t n = 0;

    for (size_t i = 0; i < c->g->askeds; i++)
        if (!c->g->asked[i].refused)
            c->chosen[n++] = i;
    if (n)
        code = sql_do_rows(c->f->st[SHARED_HOST_ASKED], bind_asked, c, n, NULL,
                           why);
    return code == SEEN_OK
               ? frontier_shared_count(c->f, c->host, c->hosts, why)
               : code;
}

/* The worker has the host, so nobody else writes these rows. */
static void bind_origin(void *owner, struct sql_statement *st, size_t i)
{
    const struct commit *c = owner;
    const struct frontier_origin *o = &c->g->origin[c->chosen[i]];

    sql_bind_text(st, 1, o->name);
    sql_bind_number(st, 2, o->failures);
    sql_bind_null(st, 3);
    if (o->closed.len)
        sql_bind_text(st, 3, o->closed);
    sql_bind_number(st, 4, o->barred);
}

/* Visits that have begun by now do not ask those that are closed. */
static enum seen_code write_origins(struct commit *c, struct seen_error *why)
{
    struct frontier_group *g = c->g;
    enum seen_code code = SEEN_OK;
    size_t n = 0;

    if (g->origins)
        code = read_last(c, why);
    for (size_t i = 0; i < g->origins; i++) {
        const struct frontier_locked *h = frontier_shared_find(
            c->host, c->hosts, g->origin[i].host);

        g->origin[i].barred = c->last;
        if (h && h->found && h->worker == c->f->number)
            c->chosen[n++] = i;
    }
    return code == SEEN_OK && n ? sql_do_many(c->f->st[SHARED_ORIGIN_KEEP],
                                              bind_origin, c, n, NULL, why)
                                : code;
}

static void bind_robots(void *owner, struct sql_statement *st, size_t i)
{
    const struct commit *c = owner;
    const struct frontier_robots *r = &c->g->robots[c->chosen[i]];

    sql_bind_text(st, 1, r->origin);
    SQL_NUMBERS(st, 2, r->until_in, r->status);
    sql_bind_bytes(st, 4, r->body);
}

static int by_origin(const void *a, const void *b, void *owner)
{
    const struct commit *c = owner;

    return span_order(c->g->robots[*(const size_t *)a].origin,
                      c->g->robots[*(const size_t *)b].origin);
}

static enum seen_code write_robots(struct commit *c, struct seen_error *why)
{
    size_t n = c->g->robotses;

    if (!n)
        return SEEN_OK;
    for (size_t i = 0; i < n; i++)
        c->chosen[i] = i;
    qsort_r(c->chosen, n, sizeof *c->chosen, by_origin, c);
    return sql_do_many(c->f->st[SHARED_ROBOTS_KEEP], bind_robots, c, n, NULL,
                       why);
}

static void bind_counts(void *owner, struct sql_statement *st, size_t i)
{
    const struct visit_change *v = (const struct visit_change *)owner + i;

    SQL_NUMBERS(st, 1, v->id, v->queued, v->fetched, v->failed, v->excluded,
                v->left, v->links, v->bytes, v->aside, v->spread);
}

/* So that nobody takes a visit for over while its links are on their way. */
static enum seen_code write_sent(struct commit *c, struct seen_error *why)
{
    struct sql_statement *st = c->f->st[SHARED_SENT];
    enum seen_code code = SEEN_OK;

    for (size_t i = 0; code == SEEN_OK && i < c->visits; i++)
        if (c->visit[i].sent) {
            SQL_NUMBERS(st, 1, c->visit[i].id, c->visit[i].sent);
            code = sql_do(st, why);
        }
    return code;
}

static enum seen_code write_visits(struct commit *c, struct seen_error *why)
{
    int64_t changed[SHARED_BATCH];
    enum seen_code code = SEEN_OK;
    size_t n = 0;

    for (size_t i = 0; i < c->visits; i++)
        if (c->visit[i].running)
            c->visit[n++] = c->visit[i];
    c->visits = n;
    for (size_t at = 0; code == SEEN_OK && at < n; at += SHARED_BATCH) {
        struct visit_change *some = c->visit + at;
        size_t many = n - at < SHARED_BATCH ? n - at : SHARED_BATCH;

        code = sql_do_many(c->f->st[SHARED_VISIT_COUNT], bind_counts, some,
                           many, changed, why);
        for (size_t i = 0; code == SEEN_OK && i < many; i++)
            if (changed[i] != 1) {
                c->again = true;
                code = seen_fail(why, SEEN_BUSY, 0, "a visit ended meanwhile");
            }
    }
    return code;
}

static int by_shard(const void *a, const void *b)
{
    const struct shard_change *x = a, *y = b;
    int order = (x->visit > y->visit) - (x->visit < y->visit);

    return order ? order : (x->shard > y->shard) - (x->shard < y->shard);
}

static void bind_shard(void *owner, struct sql_statement *st, size_t i)
{
    const struct commit *c = owner;

    SQL_NUMBERS(st, 1, c->shard[i].visit, c->shard[i].shard,
                c->shard[i].records);
}

static enum seen_code write_shards(struct commit *c, struct seen_error *why)
{
    struct sql_statement *st = c->f->st[SHARED_WORKED];
    enum seen_code code = SEEN_OK;

    if (c->shards) {
        qsort(c->shard, c->shards, sizeof *c->shard, by_shard);
        code = sql_do_many(c->f->st[SHARED_RECORD], bind_shard, c, c->shards,
                           NULL, why);
    }
    if (code != SEEN_OK)
        return code;
    SQL_NUMBERS(st, 1, c->f->number, c->pages, c->links, c->bytes);
    return sql_do(st, why);
}

/* --- the whole commit --- */

static enum seen_code write_group(void *owner, struct sql *db,
                                  struct seen_error *why)
{
    static const struct {
        enum seen_code (*step)(struct commit *c, struct seen_error *why);
        const char *point;
    } steps[] = {
        { lock_hosts, "locked" },  { read_visits, NULL },
        { end_pages, "ended" },    { keep_known, "known" },
        { add_links, "inserted" }, { stop_hosts, NULL },
        { write_hosts, NULL },     { write_origins, NULL },
        { write_robots, NULL },    { write_visits, NULL },
        { write_sent, NULL },      { write_shards, "counted" },
    };
    struct commit *c = owner;
    enum seen_code code;
    bool done;

    (void)db;
    code = hold(c, &done, why);
    if (code != SEEN_OK || done)
        return code;
    frontier_shared_reach(c->f, "held");
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        code = steps[i].step(c, why);
        if (code != SEEN_OK)
            break;
        if (steps[i].point)
            frontier_shared_reach(c->f, steps[i].point);
    }
    return code;
}

/* 0 is the id of a host of another database. */
static enum seen_code find_ids(struct commit *c, struct seen_error *why)
{
    return frontier_shared_link_hosts(c->f, c->g->link, c->g->links,
                                      c->link_host, why);
}

static enum seen_code allocate(struct commit *c, struct seen_error *why)
{
    const struct frontier_group *g = c->g;
    size_t n = g->askeds + g->links;
    size_t most = n + g->dones + g->robotses + g->origins + 1;

    c->link_host = calloc(g->links + 1, sizeof *c->link_host);
    c->host = calloc(n + 1, sizeof *c->host);
    c->shard = calloc(g->dones + 1, sizeof *c->shard);
    c->chosen = calloc(most, sizeof *c->chosen);
    c->insert = calloc(g->links + 1, sizeof *c->insert);
    c->elsewhere = calloc(g->links + 1, sizeof(struct frontier_link *));
    c->known = calloc(g->dones + 1, sizeof *c->known);
    if (!c->link_host || !c->host || !c->shard || !c->chosen || !c->insert ||
        !c->elsewhere || !c->known)
        return no_memory_for(why, "the frontier");
    return SEEN_OK;
}

enum seen_code frontier_shared_commit(struct frontier_shared *f,
                                      struct frontier_group *group,
                                      struct seen_error *why)
{
    struct commit c = { .f = f, .g = group, .number = ++f->commits };
    enum seen_code code = allocate(&c, why);

    if (code == SEEN_OK)
        code = find_ids(&c, why);
    while (code == SEEN_OK) {
        c.again = false;
        code = frontier_shared_step(f, write_group, &c, why);
        if (!c.again)
            break;
        code = SEEN_OK;
    }
    if (code == SEEN_OK)
        frontier_shared_reach(f, "committed");
    free(c.known);
    free(c.elsewhere);
    free(c.insert);
    free(c.chosen);
    free(c.shard);
    free(c.visit);
    free(c.host);
    free(c.link_host);
    return code;
}
