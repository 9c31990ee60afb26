/*
 * watch_read.c - the frontier and the queues of workers, as rows of a look.
 *
 * frontier/status.h gives rows one by one, for crawl folders and for databases
 * of workers alike; here they become rows of the look, with copies of all texts
 * and with moments instead of "so long ago".
 */
#include "watch_read.h"

#include <time.h>

#include "../../lib/text/span.h"

struct watch_reader {
    struct watch_look *look;
    struct watch_crawl *crawl;
    int64_t now; /* Unix time in ms */
    bool runs;
};

static bool take_visit(void *owner, const struct frontier_visit *from)
{
    struct watch_reader *r = owner;
    struct watch_visit *v = watch_add_visit(r->look, r->crawl);

    if (!v)
        return false;
    *v = (struct watch_visit){
        .name = watch_text(r->look, from->visit),
        .began = r->now - from->began_ago,
        .ended = from->ended_ago >= 0 ? r->now - from->ended_ago : 0,
        .pages = from->fetched,
        .failed = from->failed,
        .excluded = from->excluded,
        .waiting = from->queued,
        .left = from->left,
        .not_due = from->not_due,
        .links = from->links,
        .bytes = from->bytes,
        .records = from->records,
        .most = from->most,
        .rate = -1,
        .mean = frontier_status_rate(from),
    };
    switch (from->state) {
    case FRONTIER_RUNNING:
        v->state = r->runs ? WATCH_RUNS : WATCH_STOPPED;
        break;
    case FRONTIER_ENDING: v->state = WATCH_ENDING; break;
    case FRONTIER_COALESCED: v->state = WATCH_COALESCED; break;
    default: v->state = WATCH_ENDED; break;
    }
    if (v->state == WATCH_STOPPED || v->state == WATCH_COALESCED)
        v->mean = -1;
    return true;
}

static bool take_host(void *owner, const struct frontier_status_host *from)
{
    struct watch_reader *r = owner;
    struct watch_host *h = watch_add_host(r->look, r->crawl);

    if (!h)
        return false;
    *h = (struct watch_host){
        .name = watch_text(r->look, from->name),
        .note = watch_text(r->look,
                           from->stopped.len ? from->stopped : from->note),
        .by = watch_text(r->look, from->by),
        .address = watch_text(r->look, from->address),
        .wait = from->wait,
        .wait_in = from->wait_in,
        .due_in = from->due_in > 0 ? from->due_in : 0,
        .waiting = from->queued,
        .pages = from->fetched,
        .requests = from->requests,
        .bytes = from->bytes,
        .failures = from->failures,
    };
    return true;
}

static bool take_worker(void *owner, const struct frontier_status_worker *from)
{
    struct watch_reader *r = owner;
    struct watch_worker *w = watch_add_worker(r->look, r->crawl);

    if (!w)
        return false;
    *w = (struct watch_worker){ .name = watch_text(r->look, from->name),
                                .number = from->number,
                                .hosts = from->hosts,
                                .pages = from->pages,
                                .ends_in = from->ends_in,
                                .rate = -1,
                                .mean = from->rate };
    return true;
}

static void read_sums(struct watch_reader *r,
                      const struct frontier_status_sums *sums, bool shared)
{
    struct watch_crawl *c = r->crawl;

    for (int i = 0; i < FRONTIER_WAITS; i++)
        c->hosts[i] = sums->hosts[i];
    c->failing = sums->failing;
    c->aside = sums->aside;
    c->live = sums->workers;
    if (shared)
        r->runs = sums->workers > 0;
}

bool watch_read_frontier(struct watch_look *look, struct watch_crawl *c,
                         struct frontier_status *status, bool runs)
{
    struct watch_reader r = { .look = look, .crawl = c, .runs = runs };
    const bool shared = frontier_status_is_shared(status);
    struct frontier_status_sums sums;
    struct seen_error why;
    struct timespec now;
    enum seen_code code;

    c->kind = shared ? WATCH_SHARED : WATCH_FOLDER;
    clock_gettime(CLOCK_REALTIME, &now);
    r.now = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    code = frontier_status_sum(status, &sums, &why);
    if (code == SEEN_OK) {
        read_sums(&r, &sums, shared);
        code = frontier_status_visits(status, WATCH_VISITS, take_visit, &r,
                                      &why);
    }
    if (code == SEEN_OK)
        code = frontier_status_hosts(status, WATCH_HOSTS, take_host, &r, &why);
    if (code == SEEN_OK)
        code = frontier_status_workers(status, WATCH_WORKERS, take_worker, &r,
                                       &why);
    if (code != SEEN_OK)
        c->why = watch_text(look, span_of(why.text));
    watch_sum(c);
    return code == SEEN_OK;
}

/* --- queues --- */

static bool take_queue(void *owner, const struct queue_stats *from)
{
    struct watch_reader *r = owner;
    struct watch_queue *q = watch_add_queue(r->look, r->crawl);

    if (!q)
        return false;
    *q = (struct watch_queue){ .name = watch_text(r->look, from->name),
                               .ready = from->ready,
                               .taken = from->taken,
                               .later = from->waiting,
                               .dead = from->dead,
                               .oldest = from->oldest,
                               .done = from->done,
                               .rate = -1 };
    return true;
}

bool watch_read_queues(struct watch_look *look, struct watch_crawl *c,
                       struct queue *queue)
{
    struct watch_reader r = { .look = look, .crawl = c };
    struct seen_error why;

    if (queue_stats(queue, take_queue, &r, &why) == SEEN_OK)
        return true;
    c->why = watch_text(look, span_of(why.text));
    return false;
}
