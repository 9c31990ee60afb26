/*
 * host.c - the states of hosts, and the lists that they are on.
 *
 * Each change of state goes through crawl_host_become(), which asserts that
 * host.h draws an arrow for it. A state and its list change together here, so
 * that no other file can leave a host on a list that its state does not have.
 *
 * Hosts that are due are in two binary heaps by time: prompt ones, and those of
 * which nobody knows that they answer soon. A host knows its place in its heap,
 * so that a new time costs a walk up or down, and nothing is searched. The
 * second heap is passed over while too many of its hosts are busy (slow_most):
 * a quarter of all requests stays free for the first.
 *
 * An address lives as long as hosts in memory have it. Hosts that find it busy
 * wait in a queue of that address; each request that ends wakes the first of
 * them. So a busy address costs nothing until one of its requests ends.
 */
#include "host.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "../../lib/text/array.h"
#include "../../lib/text/span.h"

/* --- states --- */

enum { BIT_RESTS = 1 << CRAWL_HOST_RESTS };

static const unsigned arrows[CRAWL_HOST_STATES] = {
    [CRAWL_HOST_RESTS] = 1 << CRAWL_HOST_DUE | 1 << CRAWL_HOST_WAITS |
                         1 << CRAWL_HOST_BUSY | 1 << CRAWL_HOST_LOOKED_UP |
                         1 << CRAWL_HOST_ASKS | 1 << CRAWL_HOST_RECALLS |
                         1 << CRAWL_HOST_LEAVES,
    [CRAWL_HOST_DUE] = BIT_RESTS,
    [CRAWL_HOST_WAITS] = BIT_RESTS,
    [CRAWL_HOST_BUSY] = BIT_RESTS,
    [CRAWL_HOST_LOOKED_UP] = BIT_RESTS | 1 << CRAWL_HOST_CLAIMS,
    [CRAWL_HOST_CLAIMS] = BIT_RESTS,
    [CRAWL_HOST_ASKS] = BIT_RESTS,
    [CRAWL_HOST_RECALLS] = BIT_RESTS | 1 << CRAWL_HOST_ASKS_AGAIN,
    [CRAWL_HOST_ASKS_AGAIN] = BIT_RESTS,
    [CRAWL_HOST_LEAVES] = BIT_RESTS,
};

bool crawl_host_may_become(const struct crawl_host *host,
                           enum crawl_host_state state)
{
    return arrows[host->state] & 1U << state;
}

void crawl_host_become(struct crawl_host *host, enum crawl_host_state state)
{
    assert(crawl_host_may_become(host, state));
    assert((state == CRAWL_HOST_DUE) == (host->place > 0));
    host->state = state;
}

bool crawl_host_is_free(const struct crawl_host *host)
{
    return host->state == CRAWL_HOST_RESTS || host->state == CRAWL_HOST_DUE;
}

bool crawl_host_is_asking(const struct crawl_host *host)
{
    return host->state == CRAWL_HOST_ASKS ||
           host->state == CRAWL_HOST_RECALLS ||
           host->state == CRAWL_HOST_ASKS_AGAIN;
}

/* --- the heap --- */

static void put(struct crawl_heap *h, size_t at, struct crawl_host *host)
{
    h->host[at] = host;
    host->place = at;
}

static void sift_up(struct crawl_heap *h, size_t at)
{
    struct crawl_host *host = h->host[at];

    for (; at > 1 && h->host[at / 2]->due > host->due; at /= 2)
        put(h, at, h->host[at / 2]);
    put(h, at, host);
}

static void sift_down(struct crawl_heap *h, size_t at)
{
    struct crawl_host *host = h->host[at];
    size_t child;

    for (; (child = 2 * at) <= h->n; at = child) {
        if (child < h->n && h->host[child + 1]->due < h->host[child]->due)
            child++;
        if (h->host[child]->due >= host->due)
            break;
        put(h, at, h->host[child]);
    }
    put(h, at, host);
}

bool crawl_host_set_due(struct crawl_hosts *hosts, struct crawl_host *host,
                        int64_t due)
{
    struct crawl_heap *h = &hosts->heap[host->prompt];

    host->due = due > host->hold ? due : host->hold;
    if (!host->place) {
        void *more = array_grow(h->host, &h->room, h->n + 2, sizeof *h->host);

        if (!more)
            return false;
        h->host = more;
        put(h, ++h->n, host);
        crawl_host_become(host, CRAWL_HOST_DUE);
    }
    sift_up(h, host->place);
    sift_down(h, host->place);
    return true;
}

bool crawl_hosts_may_ask(const struct crawl_hosts *h, bool prompt)
{
    return prompt || !h->slow || h->slow < h->slow_most;
}

struct crawl_host *crawl_hosts_first(const struct crawl_hosts *h)
{
    struct crawl_host *first = NULL;

    for (int i = 0; i < 2; i++)
        if (h->heap[i].n && crawl_hosts_may_ask(h, i) &&
            (!first || h->heap[i].host[1]->due < first->due))
            first = h->heap[i].host[1];
    return first;
}

void crawl_hosts_pop(struct crawl_hosts *hosts, struct crawl_host *host)
{
    struct crawl_heap *h = &hosts->heap[host->prompt];
    size_t at = host->place;
    struct crawl_host *last;

    if (!at)
        return;
    host->place = 0;
    crawl_host_become(host, CRAWL_HOST_RESTS);
    last = h->host[h->n--];
    if (last == host)
        return;
    put(h, at, last);
    sift_up(h, at);
    sift_down(h, last->place);
}

bool crawl_host_set_prompt(struct crawl_hosts *h, struct crawl_host *host,
                           bool prompt)
{
    bool placed = host->place;

    if (prompt == host->prompt)
        return true;
    crawl_hosts_pop(h, host);
    host->prompt = prompt;
    return !placed || crawl_host_set_due(h, host, host->due);
}

/* --- hosts --- */

struct crawl_host *crawl_host_get(struct crawl_hosts *h, int64_t id)
{
    return map_get(&h->by_id, &id, sizeof id);
}

struct crawl_host *crawl_host_named(const struct crawl_hosts *h,
                                    struct seen_span name)
{
    return map_get(&h->by_name, name.text, name.len);
}

static void forget_host(struct crawl_hosts *h, struct crawl_host *host)
{
    map_remove(&h->by_id, &host->id, sizeof host->id);
    if (map_get(&h->by_name, host->name, host->len) == host)
        map_remove(&h->by_name, host->name, host->len);
}

struct crawl_host *crawl_host_add(struct crawl_hosts *h, int64_t id,
                                  struct seen_span name, int64_t due)
{
    struct crawl_host *host = calloc(1, sizeof *host + name.len + 1);

    if (!host)
        return NULL;
    host->id = id;
    host->all = h;
    host->polite = due;
    host->len = name.len;
    memcpy(host->name, name.text, name.len);
    if (map_set(&h->by_id, &host->id, sizeof host->id, host) &&
        map_set(&h->by_name, host->name, host->len, host) &&
        crawl_host_set_due(h, host, due))
        return host;
    forget_host(h, host);
    free(host);
    return NULL;
}

static void free_host(struct crawl_host *host)
{
    struct crawl_page *page;

    while ((page = crawl_host_pull(host)) ||
           (page = crawl_host_pull_robots(host, true)))
        crawl_page_free(page);
    crawl_origins_clear(host);
    free(host->out);
    free(host);
}

/* An address is kept as long as hosts in memory have it. */
static void drop_address(struct crawl_hosts *h, struct crawl_address *a)
{
    if (a && !--a->hosts) {
        map_remove(&h->addresses, a->name, strlen(a->name));
        free(a);
    }
}

void crawl_host_remove(struct crawl_hosts *h, struct crawl_host *host)
{
    crawl_hosts_pop(h, host);
    forget_host(h, host);
    drop_address(h, host->address);
    free_host(host);
}

void crawl_hosts_clear(struct crawl_hosts *h)
{
    struct crawl_address *address;
    struct crawl_host *host;

    for (size_t at = 0; (host = map_next(&h->by_id, &at));)
        free_host(host);
    for (size_t at = 0; (address = map_next(&h->addresses, &at));)
        free(address);
    map_clear(&h->by_id);
    map_clear(&h->by_name);
    map_clear(&h->addresses);
    free(h->heap[0].host);
    free(h->heap[1].host);
    *h = (struct crawl_hosts){ .per_address = h->per_address,
                               .slow_most = h->slow_most };
}

void crawl_hosts_limit(struct crawl_hosts *h, unsigned per_address,
                       unsigned parallel)
{
    h->per_address = per_address;
    h->slow_most = parallel - parallel / 4;
}

/* --- addresses --- */

bool crawl_host_resolve(struct crawl_hosts *h, struct crawl_host *host,
                        const char *name)
{
    struct crawl_address *a = map_get(&h->addresses, name, strlen(name));

    if (!a) {
        a = calloc(1, sizeof *a);
        if (!a || strlen(name) >= sizeof a->name) {
            free(a);
            return false;
        }
        strcpy(a->name, name);
        if (!map_set(&h->addresses, a->name, strlen(a->name), a)) {
            free(a);
            return false;
        }
    }
    a->hosts++;
    host->address = a;
    return true;
}

bool crawl_host_may_enter(struct crawl_hosts *h, struct crawl_host *host)
{
    struct crawl_address *a = host->address;

    if (!a || a->active < h->per_address)
        return true;
    crawl_host_become(host, CRAWL_HOST_WAITS);
    host->next = NULL;
    if (a->last)
        a->last->next = host;
    else
        a->first = host;
    a->last = host;
    return false;
}

void crawl_host_enter(struct crawl_hosts *h, struct crawl_host *host)
{
    crawl_host_become(host, CRAWL_HOST_BUSY);
    if (host->address)
        host->address->active++;
    h->slow += !host->prompt;
}

void crawl_host_pass(struct crawl_hosts *h, struct crawl_host *host)
{
    struct crawl_address *a = host->address;
    struct crawl_host *next = a ? a->first : NULL;

    if (!next)
        return;
    a->first = next->next;
    if (!a->first)
        a->last = NULL;
    crawl_host_become(next, CRAWL_HOST_RESTS);
    crawl_host_set_due(h, next, next->due);
}

void crawl_host_leave(struct crawl_hosts *h, struct crawl_host *host)
{
    crawl_host_become(host, CRAWL_HOST_RESTS);
    h->slow -= !host->prompt;
    if (host->address)
        host->address->active--;
    crawl_host_pass(h, host);
}

/* --- pages --- */

void crawl_host_push(struct crawl_host *host, struct crawl_page *page,
                     bool front)
{
    page->next = front ? host->first : NULL;
    if (front)
        host->first = page;
    else if (host->last)
        host->last->next = page;
    else
        host->first = page;
    if (!front || !page->next)
        host->last = page;
    host->ready++;
}

struct crawl_page *crawl_host_pull(struct crawl_host *host)
{
    struct crawl_page *page = host->first;

    if (!page)
        return NULL;
    host->first = page->next;
    if (!host->first)
        host->last = NULL;
    host->ready--;
    page->next = NULL;
    return page;
}

void crawl_host_push_robots(struct crawl_host *host, struct crawl_page *page)
{
    page->host = host;
    page->next = NULL;
    if (page->robots->host == host) {
        page->next = host->robots;
        host->robots = page;
        return;
    }
    if (host->moved)
        host->last_moved->next = page;
    else
        host->moved = page;
    host->last_moved = page;
}

struct crawl_page *crawl_host_pull_robots(struct crawl_host *host, bool moved)
{
    struct crawl_page **first = host->robots ? &host->robots : &host->moved;
    struct crawl_page *page = host->robots || moved ? *first : NULL;

    if (!page)
        return NULL;
    if (page == host->moved) {
        host->turns = 0;
        host->moved_out++;
    }
    *first = page->next;
    page->next = NULL;
    return page;
}

bool crawl_host_is_turn_of_pages(struct crawl_host *host)
{
    return !host->moved || host->turns++ < CRAWL_PAGE_TURNS;
}

bool crawl_host_is_out(const struct crawl_host *host, int64_t id)
{
    for (size_t i = 0; i < host->outs; i++)
        if (host->out[i] == id)
            return true;
    return false;
}

bool crawl_host_note_out(struct crawl_host *host, int64_t id)
{
    void *more = array_grow(host->out, &host->outs_room, host->outs + 1,
                            sizeof *host->out);

    if (!more)
        return false;
    host->out = more;
    host->out[host->outs++] = id;
    return true;
}

void crawl_host_forget_out(struct crawl_host *host, int64_t id)
{
    for (size_t i = 0; i < host->outs; i++)
        if (host->out[i] == id) {
            host->out[i] = host->out[--host->outs];
            return;
        }
}

bool crawl_host_has_unread(const struct crawl_host *host)
{
    return host->unread > host->cheap;
}

void crawl_host_note_read(struct crawl_host *host, bool charged)
{
    enum { CHEAP_MOST = 500 };

    host->unread--;
    if (charged)
        host->cheap = 0;
    else if (host->cheap < CHEAP_MOST)
        host->cheap++;
}

/* --- politeness --- */

enum { LEAST = 3000, MOST = 30000, ASKED_MOST = 300000 }; /* ms */

int64_t crawl_delay_charge(int64_t delay, uint64_t steps)
{
    enum { FREE = 5000000, TIMES = 10, PER_MS = 500000 };
    int64_t more = (int64_t)(steps / (PER_MS / TIMES));
    int64_t room = delay < MOST ? MOST - delay : 0;

    if (steps < FREE)
        return 0;
    return more < room ? more : room;
}

int64_t crawl_host_owes(struct crawl_host *host, bool alone)
{
    int64_t more = crawl_delay_charge(0, host->owed);

    if (!more)
        return 0;
    host->owed = 0;
    return alone ? 0 : more;
}

int64_t crawl_delay_charge_rows(int64_t delay, uint64_t rows)
{
    enum { TIMES = 10, PER_ROW = 3400 }; /* ns */
    int64_t more = (int64_t)(rows * TIMES * PER_ROW / 1000000);
    int64_t room = delay < MOST ? MOST - delay : 0;

    return more < room ? more : room;
}

int64_t crawl_delay(unsigned ms, int64_t fixed, double asked, unsigned after)
{
    int64_t delay = 5 * (int64_t)ms;

    if (delay < LEAST)
        delay = LEAST;
    if (delay > MOST)
        delay = MOST;
    if (fixed >= 0)
        delay = fixed;
    if (asked > 0 && asked * 1000 > (double)delay)
        delay = asked * 1000 < ASKED_MOST ? (int64_t)(asked * 1000)
                                          : ASKED_MOST;
    if ((int64_t)after * 1000 > delay)
        delay = (int64_t)after * 1000;
    return delay;
}
