/*
 * refill.c - hosts and pages from the shared frontier.
 *
 * A worker takes hosts that are due, as many as are its share: all that have
 * pages, divided by the workers. A host with pages at hand stays with it, so
 * that its robots.txt, its connection and its due time stay where they are. It
 * goes back when it has no pages left, is not due for a while, or when others
 * have fewer hosts.
 *
 * Before the first request to a host its address is looked up and claimed:
 * hosts of one address belong to one worker, which limits its requests per
 * address. If another worker has the address, the host goes there.
 *
 * A robots.txt may be moved to another host. That one is borrowed, so that two
 * workers never ask it at once.
 *
 * The frontier is asked without the lock: a server takes its time, and requests
 * go on meanwhile.
 */
#include "inside.h"

#include <stdlib.h>
#include <string.h>

#include "../../lib/disk/clock.h"
#include "../../lib/text/array.h"
#include "../../lib/text/span.h"
#include "../page/scope.h"

enum {
    AHEAD = 3000,      /* ms: hosts that are due so soon are taken */
    AT_HAND = 8,
    AT_HAND_MOST = 512,
    FAR = 30000,       /* ms: a host that is not due for so long goes back */
    SOON = 1000,       /* ms: try again to borrow a host */
    SHARE_EVERY = 1000 /* ms between looks at how many work */
};

static enum seen_code no_memory(struct seen_error *why)
{
    return seen_fail(why, SEEN_NOMEM, 0, "no memory for a host");
}

/* Hosts that something is to be done for. The map of hosts, and the rows that
   are on their way, are changed by this thread only. */
struct some {
    struct crawl_host **host;
    size_t n, room;
};

/* All hosts for which is() is true, with the lock. */
static enum seen_code choose(struct crawl *c, struct some *some,
                             bool (*is)(const struct crawl_host *host),
                             struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    struct crawl_host *host;

    pthread_mutex_lock(&c->lock);
    for (size_t at = 0;
         code == SEEN_OK && (host = map_next(&c->hosts.by_id, &at));) {
        struct crawl_host **more;

        if (!is(host))
            continue;
        more = array_grow(some->host, &some->room, some->n + 1, sizeof *more);
        if (more) {
            some->host = more;
            more[some->n++] = host;
        } else {
            code = no_memory(why);
        }
    }
    pthread_mutex_unlock(&c->lock);
    return code;
}

/* --- pages --- */

struct taking {
    struct crawl_host *host;
    unsigned wanted;
    struct crawl_list pages;
    bool no_memory;
};

static bool take_page(void *owner, const struct frontier_shared_page *row)
{
    struct taking *t = owner;
    struct crawl_page *page;

    if (crawl_host_is_out(t->host, row->page.id))
        return true;
    page = crawl_page_new(&row->page);
    if (!page) {
        t->no_memory = true;
        return false;
    }
    page->host = t->host;
    page->visit = row->visit;
    crawl_list_add(&t->pages, page);
    return t->pages.n < t->wanted;
}

/* So may failures, or that it was given up, which another visit than those
   that had begun by then does not care about. */
static enum seen_code recall_failures(struct crawl *c, struct crawl_host *host,
                                      struct crawl_origin *o, int64_t visit,
                                      struct seen_error *why)
{
    char name[CRAWL_ORIGINS_NAME];
    struct frontier_shared_origin all = { .name = crawl_origins_name(host,
                                                                     name) };
    struct frontier_shared_origin row = { .name = { o->name, o->len } };
    enum seen_code code = SEEN_OK;
    char *reason = NULL;
    bool done;

    if (!host->counted)
        code = frontier_shared_origin(c->team->frontier, &all, why);
    if (code == SEEN_OK)
        code = frontier_shared_origin(c->team->frontier, &row, why);
    if (code != SEEN_OK)
        return code;
    if (row.closed.len && !(reason = strndup(row.closed.text, row.closed.len)))
        return no_memory(why);
    pthread_mutex_lock(&c->lock);
    done = crawl_origin_recall(host, o, row.failures,
                               visit <= all.barred ? all.failures : 0, reason,
                               row.barred);
    pthread_mutex_unlock(&c->lock);
    free(reason);
    return done ? SEEN_OK : no_memory(why);
}

/* robots.txt may be known from another worker or visit. */
static enum seen_code recall_robots(struct crawl *c, struct crawl_page *page,
                                    struct seen_error *why)
{
    struct seen_span name = crawl_origin_of(span_of(page->url));
    struct frontier_robots robots;
    struct crawl_origin *o;
    enum seen_code code;

    pthread_mutex_lock(&c->lock);
    o = crawl_host_origin(page->host, name);
    pthread_mutex_unlock(&c->lock);
    if (!o)
        return no_memory(why);
    if (o->looked)
        return SEEN_OK;
    o->looked = true; /* of this thread only */
    code = recall_failures(c, page->host, o, page->visit, why);
    if (code != SEEN_OK)
        return code;
    code = frontier_shared_robots(c->team->frontier, name, &robots, why);
    if (code != SEEN_OK)
        return code == SEEN_ABSENT ? SEEN_OK : code;
    pthread_mutex_lock(&c->lock);
    if (o->state == CRAWL_ROBOTS_UNKNOWN)
        code = crawl_origin_know(page->host, o, robots.status, robots.body,
                                 crawl_now(c) + robots.until_in, why);
    pthread_mutex_unlock(&c->lock);
    return code;
}

/* A crawl_read_rules: they were in memory. Verdicts go on to count, since it is
   the same text. */
static enum seen_code read_rules(struct crawl *c, struct crawl_host *host,
                                 struct crawl_origin *o,
                                 struct seen_error *why)
{
    struct frontier_robots robots;
    enum seen_code code;

    code = frontier_shared_robots(c->team->frontier,
                                  (struct seen_span){ o->name, o->len },
                                  &robots, why);
    if (code != SEEN_OK && code != SEEN_ABSENT)
        return code;
    pthread_mutex_lock(&c->lock);
    if (code == SEEN_ABSENT) { /* its time is over */
        o->state = CRAWL_ROBOTS_UNKNOWN;
        code = SEEN_OK;
    } else {
        code = crawl_origin_know(host, o, robots.status, robots.body, o->until,
                                 why);
    }
    pthread_mutex_unlock(&c->lock);
    return code;
}

/* What is left of the visit's budget is shared by the workers, so that those
   pages do not exceed it by much that others fetch meanwhile. */
static bool may_spend(const struct crawl *c, const struct crawl_task *task)
{
    int64_t most = (int64_t)task->job->settings.pages, rest, share;

    if (!most)
        return true;
    rest = most - task->fetched;
    share = c->team->workers > 1
                ? (rest + c->team->workers - 1) / c->team->workers
                : rest;
    return (int64_t)atomic_load(&task->pages) < share;
}

/* A page that is not taken has no visit then. */
static enum seen_code prepare(struct crawl *c, struct crawl_page *page,
                              struct seen_error *why)
{
    struct crawl_task *task;
    enum seen_code code = crawl_task_find(c, page->visit, &task, why);

    if (code != SEEN_OK || !may_spend(c, task))
        return code;
    crawl_task_hold(task, page);
    return recall_robots(c, page, why);
}

static bool is_hungry(const struct crawl_host *host)
{
    unsigned usual = crawl_host_at_hand(host->crawl, host, AT_HAND);

    return !host->drained && !host->stopped &&
           host->ready < usual / 2 + host->used;
}

static enum seen_code fill(struct crawl *c, struct crawl_host *host,
                           struct seen_error *why)
{
    struct taking t = { .host = host };
    struct crawl_page *page;
    enum seen_code code;
    unsigned most;

    pthread_mutex_lock(&c->lock);
    crawl_host_trim_origins(host);
    t.wanted = crawl_host_at_hand(c, host, AT_HAND) + 2 * host->used;
    if (t.wanted > AT_HAND_MOST)
        t.wanted = AT_HAND_MOST;
    most = (unsigned)host->outs + t.wanted;
    host->used = 0;
    pthread_mutex_unlock(&c->lock);
    code = frontier_shared_next(c->team->frontier, host->id, most, take_page,
                                &t, why);
    if (code == SEEN_OK && t.no_memory)
        code = no_memory(why);
    for (page = t.pages.first; code == SEEN_OK && page; page = page->next)
        code = prepare(c, page, why);
    pthread_mutex_lock(&c->lock);
    host->drained = t.pages.n < t.wanted;
    while ((page = crawl_list_take(&t.pages))) {
        if (code == SEEN_OK && page->task &&
            !crawl_host_note_out(host, page->id))
            code = no_memory(why);
        if (code == SEEN_OK && page->task)
            crawl_host_push(host, page, false);
        else
            crawl_page_free(page);
    }
    crawl_host_rouse(c, host);
    pthread_mutex_unlock(&c->lock);
    return code;
}

void crawl_team_drop_pages(struct crawl *c)
{
    struct crawl_host *host;

    pthread_mutex_lock(&c->lock);
    for (size_t at = 0; (host = map_next(&c->hosts.by_id, &at));)
        for (unsigned n = host->ready; n; n--) {
            struct crawl_page *page = crawl_host_pull(host);

            if (page->robots || page->task->runs) {
                crawl_host_push(host, page, false); /* all of them: in order */
            } else {
                crawl_host_forget_out(host, page->id);
                crawl_page_free(page);
            }
        }
    pthread_mutex_unlock(&c->lock);
}

/* --- hosts --- */

struct leasing {
    struct crawl *c;
    bool no_memory;
};

/* The lock is not held. */
static struct crawl_host *add_host(struct crawl *c,
                                   const struct frontier_leased *row)
{
    struct crawl_host *host;

    pthread_mutex_lock(&c->lock);
    host = crawl_host_get(&c->hosts, row->id);
    if (!host) {
        host = crawl_host_add(&c->hosts, row->id, row->name,
                              crawl_now(c) + row->due_in);
        if (host) {
            host->crawl = c;
            host->failures = row->failures;
            host->fetched = row->fetched;
            crawl_host_set_prompt(&c->hosts, host,
                                  row->fetched && !row->failures);
        }
    }
    pthread_mutex_unlock(&c->lock);
    return host;
}

static bool take_host(void *owner, const struct frontier_leased *row)
{
    struct leasing *l = owner;
    struct crawl_host *host = add_host(l->c, row);

    if (!host) {
        l->no_memory = true;
        return false;
    }
    pthread_mutex_lock(&l->c->lock);
    if (!host->address && !host->lookup)
        l->no_memory = !crawl_host_look_up(l->c, host);
    host->drained = false;
    pthread_mutex_unlock(&l->c->lock);
    return !l->no_memory;
}

static enum seen_code find_share(struct crawl *c, struct seen_error *why)
{
    struct crawl_team *t = c->team;
    struct frontier_load load;
    enum seen_code code;

    if (t->shared && clock_ms() - t->shared < SHARE_EVERY)
        return SEEN_OK;
    code = frontier_shared_load(t->frontier, &load, why);
    if (code != SEEN_OK)
        return code;
    t->shared = clock_ms();
    t->workers = load.workers;
    t->share = load.workers < 2
                   ? -1
                   : (load.hosts + load.workers - 1) / load.workers;
    return SEEN_OK;
}

static enum seen_code bring_hosts(struct crawl *c, struct seen_error *why)
{
    const struct crawl_team *t = c->team;
    struct leasing l = { .c = c };
    int64_t most = (int64_t)c->settings->hosts;
    int64_t have = (int64_t)c->hosts.by_id.used;
    enum seen_code code;

    if (t->share >= 0 && t->share < most)
        most = t->share;
    if (have >= most)
        return SEEN_OK;
    code = frontier_shared_lease(t->frontier, (unsigned)(most - have), AHEAD,
                                 take_host, &l, why);
    return code == SEEN_OK && l.no_memory ? no_memory(why) : code;
}

static bool has_claim(const struct crawl_host *host)
{
    return *host->claim;
}

/* The address of the host was looked up. Nobody else touches the host until it
   is claimed. */
static enum seen_code claim(struct crawl *c, struct crawl_host *host,
                            struct seen_error *why)
{
    enum seen_code code;
    bool mine;

    code = frontier_shared_address(c->team->frontier, host->id,
                                   span_of(host->claim), &mine, why);
    if (code != SEEN_OK)
        return code;
    pthread_mutex_lock(&c->lock);
    host->lookup = false;
    if (!mine) /* it belongs to another worker now */
        crawl_host_remove(&c->hosts, host);
    else if (!crawl_host_resolve(&c->hosts, host, host->claim) ||
             !crawl_host_set_due(&c->hosts, host, host->due))
        code = no_memory(why);
    else
        *host->claim = '\0';
    pthread_mutex_unlock(&c->lock);
    return code;
}

static bool borrows(const struct crawl_host *host)
{
    return host->borrows;
}

/* The host that a robots.txt was moved to. */
static enum seen_code borrow(struct crawl *c, struct crawl_host *host,
                             struct seen_error *why)
{
    struct crawl_host *other = NULL;
    struct frontier_leased row;
    enum seen_code code = SEEN_OK;
    char *name = NULL;
    int64_t due;

    pthread_mutex_lock(&c->lock);
    host->borrows = false;
    if (host->first && host->first->robots) {
        struct seen_span at = crawl_host_of(span_of(host->first->url));

        name = strndup(at.text, at.len);
        code = name ? SEEN_OK : no_memory(why);
    }
    pthread_mutex_unlock(&c->lock);
    if (!name)
        return code;
    code = frontier_shared_borrow(c->team->frontier, span_of(name), &row, why);
    free(name);
    if (code != SEEN_OK && code != SEEN_BUSY)
        return code;
    if (code == SEEN_OK && !(other = add_host(c, &row)))
        return no_memory(why);
    pthread_mutex_lock(&c->lock);
    due = other ? other->due : crawl_now(c) + SOON; /* another worker has it */
    code = crawl_host_set_due(&c->hosts, host,
                              due > host->due ? due : host->due)
               ? SEEN_OK
               : no_memory(why);
    pthread_mutex_unlock(&c->lock);
    return code;
}

/* --- back to the frontier --- */

/* Has the host nothing to do here for a while? */
static bool is_over(const struct crawl_host *host, int64_t now)
{
    return crawl_host_is_idle(host) && !host->borrows &&
           (host->stopped || (!host->ready && host->drained) ||
            host->due > now + FAR);
}

/* A host that goes back is busy until it is gone: nobody may ask it. */
static enum seen_code note_leaving(struct some *some, struct crawl *c,
                                   struct crawl_host *host,
                                   struct seen_error *why)
{
    struct crawl_host **more = array_grow(some->host, &some->room, some->n + 1,
                                          sizeof *more);

    if (!more)
        return no_memory(why);
    some->host = more;
    more[some->n++] = host;
    crawl_hosts_pop(&c->hosts, host);
    host->busy = true;
    return SEEN_OK;
}

/* Nobody else may ask hosts of an address that this worker asks. */
static bool has_company(const struct crawl_host *host)
{
    return host->address && host->address->hosts > 1;
}

static enum seen_code choose_leaving(struct crawl *c, struct some *some,
                                     struct seen_error *why)
{
    int64_t now = crawl_now(c), share = c->team->share;
    int64_t have = (int64_t)c->hosts.by_id.used;
    enum seen_code code = SEEN_OK;
    struct crawl_host *host;

    pthread_mutex_lock(&c->lock);
    for (size_t at = 0;
         code == SEEN_OK && (host = map_next(&c->hosts.by_id, &at));)
        if (is_over(host, now))
            code = note_leaving(some, c, host, why);
    /* Others have fewer. */
    for (size_t at = 0; code == SEEN_OK && share >= 0 &&
                        have - (int64_t)some->n > share + share / 8 &&
                        (host = map_next(&c->hosts.by_id, &at));)
        if (crawl_host_is_idle(host) && !host->borrows && !has_company(host))
            code = note_leaving(some, c, host, why);
    pthread_mutex_unlock(&c->lock);
    return code;
}

static enum seen_code give_back(struct crawl *c, struct seen_error *why)
{
    struct some some = { .n = 0 };
    struct frontier_return *row = NULL;
    enum seen_code code = choose_leaving(c, &some, why);
    int64_t now = crawl_now(c);

    if (code == SEEN_OK && some.n) {
        row = malloc(some.n * sizeof *row);
        code = row ? SEEN_OK : no_memory(why);
    }
    for (size_t i = 0; code == SEEN_OK && i < some.n; i++)
        row[i] = (struct frontier_return){ some.host[i]->id,
                                           some.host[i]->due - now };
    if (code == SEEN_OK && some.n)
        code = frontier_shared_release(c->team->frontier, row, some.n, why);
    pthread_mutex_lock(&c->lock);
    for (size_t i = 0; code == SEEN_OK && i < some.n; i++)
        crawl_host_remove(&c->hosts, some.host[i]);
    pthread_mutex_unlock(&c->lock);
    free(row);
    free(some.host);
    return code;
}

/* --- all --- */

static enum seen_code for_each(struct crawl *c,
                               bool (*is)(const struct crawl_host *host),
                               enum seen_code (*act)(struct crawl *c,
                                                     struct crawl_host *host,
                                                     struct seen_error *why),
                               struct seen_error *why)
{
    struct some some = { .n = 0 };
    enum seen_code code = choose(c, &some, is, why);

    for (size_t i = 0; code == SEEN_OK && i < some.n; i++)
        code = act(c, some.host[i], why);
    free(some.host);
    return code;
}

enum seen_code crawl_team_refill(struct crawl *c, struct seen_error *why)
{
    enum seen_code code = crawl_allow_read(c, read_rules, why);

    if (code == SEEN_OK)
        code = find_share(c, why);
    if (code == SEEN_OK)
        code = give_back(c, why);
    if (code == SEEN_OK)
        code = bring_hosts(c, why);
    if (code == SEEN_OK)
        code = for_each(c, has_claim, claim, why);
    if (code == SEEN_OK)
        code = for_each(c, borrows, borrow, why);
    if (code == SEEN_OK)
        code = for_each(c, is_hungry, fill, why);
    return code;
}
