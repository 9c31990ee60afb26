/*
 * host_queue.c - hosts, and the entries that wait for them.
 *
 * An entry is in one of these states, and its list is the state:
 *
 *     later      q->later, by due time          counted in host->later
 *     waiting    host->waiting, in order
 *     active     in none of ours                counted in host->active
 *
 * A host is in the list of ready ones exactly if it has waiting entries and
 * may start another one; it enters at the end and leaves by its turn, so hosts
 * take turns however many entries each has. A host without entries is freed;
 * one in the list of ready ones, at its turn.
 *
 * Each operation takes constant time, except that an entry with a due time is
 * sorted in from the end, where it mostly belongs.
 */
#include "host_queue.h"

#include <stdlib.h>
#include <string.h>

#include "../lib/disk/clock.h"

struct fetch_host {
    struct fetch_host *after; /* among those that are ready */
    struct fetch_list waiting;
    unsigned active, later;
    bool ready;
    size_t len;
    char name[];
};

/* --- lists --- */

void fetch_list_insert(struct fetch_list *l, struct fetch_queued *e,
                       struct fetch_queued *before)
{
    e->before = before;
    e->after = before ? before->after : l->first;
    if (e->before)
        e->before->after = e;
    else
        l->first = e;
    if (e->after)
        e->after->before = e;
    else
        l->last = e;
}

void fetch_list_remove(struct fetch_list *l, struct fetch_queued *e)
{
    if (e->before)
        e->before->after = e->after;
    else
        l->first = e->after;
    if (e->after)
        e->after->before = e->before;
    else
        l->last = e->before;
    e->before = e->after = NULL;
}

/* --- hosts --- */

static struct fetch_host *host_of(struct fetch_host_queue *q, const char *name)
{
    size_t len = strlen(name);
    struct fetch_host *h = map_get(&q->hosts, name, len);

    if (h)
        return h;
    h = calloc(1, sizeof *h + len);
    if (!h)
        return NULL;
    memcpy(h->name, name, len);
    h->len = len;
    if (map_set(&q->hosts, h->name, len, h))
        return h;
    free(h);
    return NULL;
}

static void make_ready(struct fetch_host_queue *q, struct fetch_host *h)
{
    if (h->ready || !h->waiting.first || h->active >= q->per_host)
        return;
    h->ready = true;
    h->after = NULL;
    if (q->last)
        q->last->after = h;
    else
        q->first = h;
    q->last = h;
}

/* A host that is ready stays until its turn comes. */
static void drop_idle(struct fetch_host_queue *q, struct fetch_host *h)
{
    if (h->ready || h->active || h->later || h->waiting.first)
        return;
    map_remove(&q->hosts, h->name, h->len);
    free(h);
}

/* --- the queue --- */

void fetch_host_queue_clear(struct fetch_host_queue *q)
{
    struct fetch_host *h;

    for (size_t at = 0; (h = map_next(&q->hosts, &at));)
        free(h);
    map_clear(&q->hosts);
    q->first = q->last = NULL;
    q->later = (struct fetch_list){ NULL, NULL };
    q->active = 0;
}

bool fetch_host_queue_add(struct fetch_host_queue *q, struct fetch_queued *e,
                          const char *host, uint64_t due)
{
    struct fetch_host *h = host_of(q, host);
    struct fetch_queued *at = q->later.last;

    if (!h)
        return false;
    e->host = h;
    e->due = due;
    e->active = false;
    e->later = due > 0;
    if (e->later) { /* mostly it is the last one to become due */
        while (at && at->due > due)
            at = at->before;
        fetch_list_insert(&q->later, e, at);
        h->later++;
    } else {
        fetch_list_insert(&h->waiting, e, h->waiting.last);
        make_ready(q, h);
    }
    return true;
}

bool fetch_host_queue_redirect(struct fetch_host_queue *q,
                               struct fetch_queued *e, const char *host)
{
    struct fetch_host *h = host_of(q, host);

    if (!h)
        return false;
    h->later++; /* so that the host stays if it is the same one */
    fetch_host_queue_remove(q, e);
    h->later--;
    e->host = h;
    fetch_list_insert(&h->waiting, e, NULL);
    make_ready(q, h);
    return true;
}

uint64_t fetch_host_queue_due(const struct fetch_host_queue *q)
{
    return q->later.first ? q->later.first->due : UINT64_MAX;
}

/* Entries whose time has come wait like the others. */
static void queue_due(struct fetch_host_queue *q)
{
    uint64_t now = q->later.first ? clock_ms() : 0;
    struct fetch_queued *e;

    while ((e = q->later.first) && e->due <= now) {
        fetch_list_remove(&q->later, e);
        e->later = false;
        e->host->later--;
        fetch_list_insert(&e->host->waiting, e, e->host->waiting.last);
        make_ready(q, e->host);
    }
}

/*
 * Take the ready host whose turn it is out of the list; NULL if there is
 * none. A host that has half of all is passed over if another one follows.
 * At most two hosts can have half, so the search is short.
 */
static struct fetch_host *next_host(struct fetch_host_queue *q)
{
    unsigned half = (q->parallel + 1) / 2;
    struct fetch_host *before = NULL, *h = q->first;

    while (h && h->active >= half && h->waiting.first) {
        before = h;
        h = h->after;
    }
    if (!h) {
        before = NULL;
        h = q->first;
    }
    if (!h)
        return NULL;
    if (before)
        before->after = h->after;
    else
        q->first = h->after;
    if (q->last == h)
        q->last = before;
    h->ready = false;
    return h;
}

struct fetch_queued *fetch_host_queue_next(struct fetch_host_queue *q)
{
    struct fetch_host *h;

    queue_due(q);
    while (q->active < q->parallel && (h = next_host(q))) {
        struct fetch_queued *e = h->waiting.first;

        if (!e) {
            drop_idle(q, h);
            continue;
        }
        fetch_list_remove(&h->waiting, e);
        e->active = true;
        h->active++;
        q->active++;
        make_ready(q, h);
        return e;
    }
    return NULL;
}

static void leave(struct fetch_host_queue *q, struct fetch_queued *e)
{
    if (e->active) {
        e->host->active--;
        q->active--;
    } else if (e->later) {
        e->host->later--;
        fetch_list_remove(&q->later, e);
    } else {
        fetch_list_remove(&e->host->waiting, e);
    }
    e->active = e->later = false;
    e->host = NULL;
}

void fetch_host_queue_remove(struct fetch_host_queue *q,
                             struct fetch_queued *e)
{
    struct fetch_host *h = e->host;

    if (!h)
        return;
    leave(q, e);
    make_ready(q, h);
    drop_idle(q, h);
}

static void move(struct fetch_host_queue *q, struct fetch_list *from,
                 bool (*wanted)(const struct fetch_queued *e,
                                const void *owner),
                 const void *owner, struct fetch_list *to)
{
    for (struct fetch_queued *e = from->first, *after; e; e = after) {
        after = e->after;
        if (wanted(e, owner)) {
            leave(q, e);
            fetch_list_insert(to, e, to->last);
        }
    }
}

/* The map does not change here: a host with entries that wait is ready, or
   has active ones, and is freed when its turn comes or these end. One that
   had only entries to come later is freed with the queue. */
void fetch_host_queue_move(struct fetch_host_queue *q,
                           bool (*wanted)(const struct fetch_queued *e,
                                          const void *owner),
                           const void *owner, struct fetch_list *to)
{
    struct fetch_host *h;

    for (size_t at = 0; (h = map_next(&q->hosts, &at));)
        move(q, &h->waiting, wanted, owner, to);
    move(q, &q->later, wanted, owner, to);
}
