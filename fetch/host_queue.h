/*
 * host_queue.h - things to fetch that wait, host by host.
 *
 *     ready: haw.nsk.hr:443 ──> archive.org:443 ──> ...      hosts take turns
 *              │ 2 active         │ 0 active
 *              a, b, c            d                           in order
 *
 * Limits: `parallel` entries are active at a time, `per_host` of them for one
 * host; and no host has more than half of `parallel` while another one waits.
 * So a host with ten thousand entries, or one that never answers, delays no
 * other. An entry may have a time before which it is not next. Hosts are made
 * and freed with their entries.
 *
 *     struct page { struct fetch_queued queued; char url[]; };
 *
 *     struct fetch_host_queue q = { .parallel = 8, .per_host = 4 };
 *
 *     fetch_host_queue_add(&q, &page->queued, "a.example:80", 0);
 *     while ((queued = fetch_host_queue_next(&q)))
 *         start((struct page *)queued);
 *     ...
 *     fetch_host_queue_remove(&q, &page->queued);          it is done
 *
 * Threads: a queue belongs to one thread at a time.
 */
#ifndef SEEN_FETCH_HOST_QUEUE_H
#define SEEN_FETCH_HOST_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include "../lib/text/map.h"

struct fetch_host;

/* Part of the caller's struct. It is in one list at a time: in the queue
   while it waits, in one of the caller's while it is active, or in none. */
struct fetch_queued {
    struct fetch_queued *before, *after;
    struct fetch_host *host; /* NULL: not in the queue, and not active */
    uint64_t due;            /* by clock_ms(); 0: at once */
    bool active, later;
};

struct fetch_list {
    struct fetch_queued *first, *last;
};

/* Put an entry after another one, or, with NULL, at the beginning. */
void fetch_list_insert(struct fetch_list *l, struct fetch_queued *e,
                       struct fetch_queued *before);
void fetch_list_remove(struct fetch_list *l, struct fetch_queued *e);

/* Begin with the limits set, and the rest zero. */
struct fetch_host_queue {
    unsigned parallel, per_host;
    unsigned active;
    struct map hosts;
    struct fetch_host *first, *last; /* with entries that could be next */
    struct fetch_list later;         /* not yet due, the first one first */
};

/* Free the hosts; their entries are the caller's. */
void fetch_host_queue_clear(struct fetch_host_queue *q);

/* Let an entry wait for this host, after the others; before clock_ms() is
   `due` it is not next. False if there is no memory. */
bool fetch_host_queue_add(struct fetch_host_queue *q, struct fetch_queued *e,
                          const char *host, uint64_t due);

/* Move an active entry to another host, where it is the next one. */
bool fetch_host_queue_redirect(struct fetch_host_queue *q,
                               struct fetch_queued *e, const char *host);

/* When to ask again because an entry becomes due; UINT64_MAX: none does. */
uint64_t fetch_host_queue_due(const struct fetch_host_queue *q);

/* The next entry, which is active from now on; NULL if none waits or the
   limits are reached. */
struct fetch_queued *fetch_host_queue_next(struct fetch_host_queue *q);

/* Take an entry that waits or is active out of the queue. */
void fetch_host_queue_remove(struct fetch_host_queue *q,
                             struct fetch_queued *e);

/* Move those that wait and for which `wanted` is true to a list. */
void fetch_host_queue_move(struct fetch_host_queue *q,
                           bool (*wanted)(const struct fetch_queued *e,
                                          const void *owner),
                           const void *owner, struct fetch_list *to);

#endif
