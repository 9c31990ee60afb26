/*
 * hosts.c - hosts and pages from the rows of a folder.
 *
 * When there are more hosts than fit into memory, those give way that have had
 * their turn, or are not due for a minute. Their due time is in the state, so
 * that politeness outlives them. Hosts that are not asked any more leave at
 * once: 4,096 of them would keep all others out. So would thousands that never
 * answer, or whose names take half a minute to be looked up: hosts that are
 * not prompt have three quarters of the memory, and others do not give way to
 * them.
 */
#include "inside.h"

#include <stdlib.h>
#include <string.h>

#include "../../lib/text/span.h"
#include "../engine/aside.h"
#include "../page/scope.h"

enum { FAR = 60000 }; /* ms: a host that is not due for so long may give way */

/* --- pages --- */

struct taking {
    crawl_take_row *take;
    void *owner;
};

static bool take_page(void *owner, const struct frontier_page *row)
{
    const struct taking *t = owner;

    return t->take(t->owner, row, 0, NULL);
}

enum seen_code crawl_folder_pages(struct crawl *c,
                                  const struct crawl_host *host, unsigned most,
                                  crawl_take_row *take, void *owner,
                                  struct seen_error *why)
{
    struct taking t = { take, owner };

    return frontier_next(crawl_folder_of(c)->state.frontier, host->id, most,
                         take_page, &t, why);
}

/* What an earlier visit knows of the page, for a conditional request. */
enum seen_code crawl_folder_prepare(struct crawl *c, struct crawl_page *page,
                                    struct seen_error *why)
{
    struct crawl_folder *f = crawl_folder_of(c);
    bool found;

    crawl_page_share(page, &f->shared);
    crawl_aside_mark(c, page);
    if (f->state.visit.id < 2 && c->settings->strategy != CRAWL_CONTINUOUS)
        return SEEN_OK;
    return crawl_state_find(&f->state, &page->key, &found, &page->known, why);
}

enum seen_code crawl_folder_origin(struct crawl *c,
                                   struct frontier_origin *origin,
                                   struct seen_error *why)
{
    origin->barred = INT64_MAX; /* there is one visit at a time */
    return frontier_origin_find(crawl_folder_of(c)->state.frontier, origin,
                                why);
}

enum seen_code crawl_folder_robots(struct crawl *c, struct seen_span origin,
                                   size_t most, struct crawl_kept_robots *kept,
                                   struct seen_error *why)
{
    return crawl_state_robots(&crawl_folder_of(c)->state, origin, crawl_now(c),
                              most, kept, why);
}

/* --- hosts --- */

struct bringing {
    struct crawl *c;
    size_t room; /* hosts that still fit */
    size_t slow; /* how many of them may be hosts that are not prompt */
    bool more, more_slow; /* there are hosts that do not fit; that are not
                             prompt and do not fit */
    unsigned rows;
    bool no_memory;
};

/*
 * When a host that comes into memory is due. A due time that is more than a
 * day ahead is of another clock. After a run that did not end well, a host may
 * have been asked just before the end.
 */
static int64_t due_of(const struct crawl *c, int64_t due, double asked)
{
    enum { DAY = 86400000, MINUTE = 60000 };
    int64_t now = crawl_now(c), least;

    if (due > now + DAY + MINUTE)
        due = now;
    if (!c->wary)
        return due;
    least = c->wary + crawl_delay(0, c->settings->delay, asked, 0);
    return due > least ? due : least;
}

/* Its pages wait until its address is known. The lock is held. */
static bool add_host(struct bringing *b, const struct frontier_host *row,
                     bool prompt)
{
    struct crawl *c = b->c;
    struct crawl_host *host;

    host = crawl_host_add(&c->hosts, row->id, row->name,
                          due_of(c, row->due, -1));
    if (!host)
        return false;
    host->crawl = c;
    host->failures = row->failures;
    host->fetched = row->fetched;
    host->found = row->found;
    if (row->stopped.len) { /* only a robots.txt is requested, if at all */
        host->stopped = "it was stopped before";
        host->stop_written = true;
    }
    crawl_host_set_prompt(&c->hosts, host, prompt);
    return crawl_host_look_up(c, host);
}

static bool take_host(void *owner, const struct frontier_host *row)
{
    struct bringing *b = owner;
    bool prompt = row->fetched && !row->failures;

    b->rows++;
    if (crawl_host_get(&b->c->hosts, row->id))
        return true;
    if (!prompt && !b->slow) {
        b->more_slow = true;
        return true;
    }
    if (!b->room) {
        b->more = true;
        return false;
    }
    b->room--;
    b->slow -= !prompt;
    pthread_mutex_lock(&b->c->lock);
    b->no_memory = !add_host(b, row, prompt);
    pthread_mutex_unlock(&b->c->lock);
    return !b->no_memory;
}

enum seen_code crawl_folder_host(struct crawl *c, struct seen_span name,
                                 struct crawl_origin *of,
                                 enum crawl_coming *coming,
                                 struct seen_error *why)
{
    struct bringing b = { .c = c, .room = 1, .slow = 1 };
    enum seen_code code = frontier_host_named(
        crawl_folder_of(c)->state.frontier, name, take_host, &b, why);

    (void)of;
    *coming = CRAWL_CAME;
    if (code == SEEN_OK && b.no_memory)
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for a host");
    return code;
}

/* It has nothing to do, and never will, or not before its row comes up. */
static bool is_done(const struct crawl *c, const struct crawl_host *host)
{
    return crawl_host_is_idle(host) &&
           (host->stopped ||
            (!host->ready && host->drained && host->due <= crawl_now(c)));
}

/* May it give way to hosts that wait outside? */
static bool may_go(const struct crawl *c, const struct crawl_host *host)
{
    return crawl_host_is_idle(host) &&
           (host->turn >= c->settings->turn || host->due > crawl_now(c) + FAR);
}

/* Which hosts leave memory: those that are done; and those that may go, all of
   them, or those that are not prompt. */
enum leaving { DONE, SLOW, ANY };

static size_t remove_hosts(struct crawl *c, enum leaving which)
{
    struct crawl_host *host, *gone[64];
    size_t n, all = 0;

    pthread_mutex_lock(&c->lock);
    do {
        n = 0;
        for (size_t at = 0; n < 64 && (host = map_next(&c->hosts.by_id, &at));)
            if (is_done(c, host) || (which == ANY && may_go(c, host)) ||
                (which == SLOW && !host->prompt && may_go(c, host)))
                gone[n++] = host;
        for (size_t i = 0; i < n; i++)
            crawl_host_remove(&c->hosts, gone[i]);
        all += n;
    } while (n == 64);
    pthread_mutex_unlock(&c->lock);
    return all;
}

/* Hosts that are not prompt have three quarters of the memory. */
static size_t room_for_slow(struct crawl *c, size_t most)
{
    const struct crawl_host *host;
    size_t slow = 0, slow_most = most - most / 4;

    pthread_mutex_lock(&c->lock);
    for (size_t at = 0; (host = map_next(&c->hosts.by_id, &at));)
        slow += !host->prompt;
    pthread_mutex_unlock(&c->lock);
    return slow < slow_most ? slow_most - slow : 0;
}

/* *next is which hosts should leave, so that others come. */
static enum seen_code bring_hosts(struct crawl *c, enum leaving *next,
                                  struct seen_error *why)
{
    struct crawl_folder *f = crawl_folder_of(c);
    size_t used = c->hosts.by_id.used;
    unsigned most = (unsigned)c->settings->hosts;
    struct bringing b = { .c = c,
                          .room = used < most ? most - used : 0,
                          .slow = room_for_slow(c, most) };
    enum seen_code code;

    code = frontier_hosts(f->state.frontier, false, most + 1, take_host, &b,
                          why);
    /* Thousands that do not fit may hide others that do. */
    if (code == SEEN_OK && b.more_slow && b.rows > most && b.room)
        code = frontier_hosts(f->state.frontier, true, most + 1, take_host, &b,
                              why);
    if (code == SEEN_OK && b.no_memory)
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for a host");
    *next = b.more ? ANY : b.more_slow ? SLOW : DONE;
    return code;
}

enum seen_code crawl_folder_hosts(struct crawl *c, struct seen_error *why)
{
    enum leaving leaving;
    enum seen_code code;

    remove_hosts(c, DONE);
    code = bring_hosts(c, &leaving, why);
    if (code == SEEN_OK && leaving != DONE && remove_hosts(c, leaving))
        code = bring_hosts(c, &leaving, why);
    return code;
}
