/*
 * refill.c - from rows of the frontier to hosts in memory.
 *
 * A host in memory has some pages at hand: as many as it used since the last
 * refill, twice, so that a fast host does not wait for the next commit. Rows
 * stay in the frontier until their page is committed; which of them are on
 * their way is known to the host.
 *
 * Breadth first, pages may be taken ahead, since links that are found later
 * come later. In any other order a new link may come before all that is at
 * hand: then that goes back to the frontier, and a host waits for the commit of
 * its last page before the next one (crawl.c). So the order is exact per
 * host, and costs nothing while the delay of a host is longer than a commit.
 *
 * When there are more hosts than fit into memory, those give way that have had
 * their turn, or are not due for a minute. Their due time is in the state, so
 * that politeness outlives them. Hosts that are not asked any more leave at
 * once: 4,096 of them would keep all others out. So would thousands that never
 * answer, or whose names take half a minute to be looked up: hosts that are
 * not prompt have three quarters of the memory, and others do not give way to
 * them.
 */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

#include "../../lib/text/span.h"
#include "../page/scope.h"

enum {
    AT_HAND = 8,
    AT_HAND_MANY = 2, /* if there are more than MANY hosts, to save memory */
    MANY = 512,
    AT_HAND_MOST = 512,
    RECALLED_MOST =
        8192, /* pages at hand of hosts whose rules are read again */
    READ_MOST = 16 << 10,  /* bytes of a robots.txt that is read at once */
    FAR = 60000 /* ms: a host that is not due for so long may give way */
};

struct refill {
    struct crawl *c;
    struct crawl_host *host;
    unsigned wanted, taken;
    size_t room; /* hosts that still fit, */
    size_t slow; /* and of them, hosts that are not prompt */
    bool more, more_slow; /* hosts that do not */
    unsigned rows;
    struct crawl_page *first, *last;
    bool no_memory;
};

/* --- pages --- */

static bool take_page(void *owner, const struct frontier_page *row)
{
    struct refill *r = owner;
    struct crawl_page *page;

    if (crawl_host_is_out(r->host, row->id))
        return true;
    page = crawl_page_new(row);
    if (!page || !crawl_host_note_out(r->host, row->id)) {
        crawl_page_free(page);
        r->no_memory = true;
        return false;
    }
    page->host = r->host;
    page->shared = &r->c->shared;
    if (r->last)
        r->last->next = page;
    else
        r->first = page;
    r->last = page;
    return ++r->taken < r->wanted;
}

/* What an earlier visit knows of the page, for a conditional request. */
static enum seen_code recall(struct crawl *c, struct crawl_page *page,
                             struct seen_error *why)
{
    bool found;

    if (c->state.visit.id < 2 && c->settings->strategy != CRAWL_CONTINUOUS)
        return SEEN_OK;
    return crawl_state_find(&c->state, &page->key, &found, &page->known, why);
}

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

enum seen_code crawl_origin_know(struct crawl_host *host,
                                 struct crawl_origin *o, int status,
                                 struct seen_span body, int64_t until,
                                 struct seen_error *why)
{
    bool reads = web_robots_status(status) == WEB_ROBOTS_READ;

    crawl_rules_set_text(host, o, reads ? body : (struct seen_span){ "", 0 });
    o->state = CRAWL_ROBOTS_KNOWN;
    o->until = until;
    return o->text.failed
               ? seen_fail(why, SEEN_NOMEM, 0, "no memory for robots.txt")
               : SEEN_OK;
}

/* So may failures, or that it was given up. */
static enum seen_code recall_failures(struct crawl *c, struct crawl_host *host,
                                      struct crawl_origin *o,
                                      struct seen_error *why)
{
    char name[CRAWL_ORIGINS_NAME];
    struct frontier_origin all = { .name = crawl_origins_name(host, name) };
    struct frontier_origin row = { .name = { o->name, o->len } };
    enum seen_code code = frontier_origin_find(c->state.frontier, &all, why);
    char *reason = NULL;
    bool done;

    if (code == SEEN_OK)
        code = frontier_origin_find(c->state.frontier, &row, why);
    if (code != SEEN_OK)
        return code;
    if (row.closed.len)
        reason = strndup(row.closed.text, row.closed.len);
    done = (reason || !row.closed.len) &&
           crawl_origin_recall(host, o, row.failures, all.failures, reason,
                               INT64_MAX);
    free(reason);
    return done ? SEEN_OK
                : seen_fail(why, SEEN_NOMEM, 0, "no memory for a host");
}

/* robots.txt may be known from an earlier run. */
static enum seen_code recall_robots(struct crawl *c, struct crawl_page *page,
                                    struct seen_error *why)
{
    struct seen_span name = crawl_origin_of(span_of(page->url));
    struct crawl_origin *o = crawl_host_origin(page->host, name);
    struct crawl_kept_robots kept;
    enum seen_code code;

    if (!o)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for robots.txt");
    if (o->looked)
        return SEEN_OK;
    o->looked = true;
    code = recall_failures(c, page->host, o, why);
    if (code != SEEN_OK || o->state == CRAWL_ROBOTS_CLOSED)
        return code;
    code = crawl_state_robots(&c->state, name, crawl_now(c), READ_MOST, &kept,
                              why);
    if (code != SEEN_OK || !kept.found)
        return code;
    if (kept.body) {
        code = crawl_origin_know(page->host, o, kept.status,
                                 (struct seen_span){ kept.body, kept.len },
                                 kept.until, why);
    } else { /* it is read when it is needed, without the lock */
        o->state = CRAWL_ROBOTS_KEPT;
        o->until = kept.until;
    }
    free(kept.body);
    return code;
}

/* A crawl_read_rules: they were in memory, or are too long to be read with the
   lock. Verdicts go on to count, since it is the same text. */
static enum seen_code read_rules(struct crawl *c, struct crawl_host *host,
                                 struct crawl_origin *o,
                                 struct seen_error *why)
{
    struct crawl_kept_robots kept;
    enum seen_code code;

    code = crawl_state_robots(&c->state, (struct seen_span){ o->name, o->len },
                              crawl_now(c), SIZE_MAX, &kept, why);
    if (code != SEEN_OK)
        return code;
    pthread_mutex_lock(&c->lock);
    if (kept.found)
        code = crawl_origin_know(host, o, kept.status,
                                 (struct seen_span){ kept.body, kept.len },
                                 o->until, why);
    else
        o->state = CRAWL_ROBOTS_UNKNOWN; /* its time is over */
    pthread_mutex_unlock(&c->lock);
    free(kept.body);
    return code;
}

unsigned crawl_host_at_hand(const struct crawl *c,
                            const struct crawl_host *host, unsigned usual)
{
    unsigned share = RECALLED_MOST / ((unsigned)c->hosts.by_id.used + 1);

    if (!host->recalls || share <= usual)
        return usual;
    return share < CRAWL_ALLOW_PAGES ? share : CRAWL_ALLOW_PAGES;
}

static unsigned at_hand(const struct crawl *c, const struct crawl_host *host)
{
    return crawl_host_at_hand(
        c, host, c->hosts.by_id.used > MANY ? AT_HAND_MANY : AT_HAND);
}

void crawl_host_put_back(struct crawl_host *host)
{
    struct crawl_page *page, *robots = NULL;

    while ((page = crawl_host_pull(host))) {
        if (page->robots) {
            robots = page; /* one at most: the others wait for it */
            continue;
        }
        crawl_host_forget_out(host, page->id);
        crawl_page_free(page);
    }
    if (robots)
        crawl_host_push(host, robots, true);
}

/* The page is at hand, with what is known of it. */
static enum seen_code give(struct crawl *c, struct crawl_page *page,
                           struct seen_error *why)
{
    enum seen_code code = recall(c, page, why);

    if (code == SEEN_OK)
        code = recall_robots(c, page, why);
    crawl_host_push(page->host, page, false);
    return code;
}

void crawl_host_rouse(struct crawl *c, struct crawl_host *host)
{
    if (host->ready && !host->busy && !host->waiting && !host->lookup &&
        !host->asking)
        crawl_host_set_due(&c->hosts, host, host->polite);
}

/* May an archive be asked about the page? Start URLs and sitemaps are fetched
   in any case: nothing else is found without them. */
static bool may_skip(const struct crawl_page *page)
{
    return !(page->flags & (CRAWL_FLAG_START | CRAWL_FLAG_SITEMAP));
}

/* Pages that an archive may hold go to `asked`, all others to the host. */
static enum seen_code fill(struct crawl *c, struct crawl_host *host,
                           struct crawl_list *asked, struct seen_error *why)
{
    unsigned wanted = at_hand(c, host) + 2 * host->used;
    struct refill r = { .c = c, .host = host };
    enum seen_code code;
    struct crawl_page *page;

    crawl_host_trim_origins(host);
    r.wanted = wanted < AT_HAND_MOST ? wanted : AT_HAND_MOST;
    code = frontier_next(c->state.frontier, host->id,
                         (unsigned)host->outs + r.wanted, take_page, &r, why);
    if (code == SEEN_OK && r.no_memory)
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for a page");
    host->drained = r.taken < r.wanted;
    host->used = 0;
    while ((page = r.first)) {
        r.first = page->next;
        if (code != SEEN_OK)
            crawl_page_free(page);
        else if (c->skip && may_skip(page))
            crawl_list_add(asked, page);
        else
            code = give(c, page, why);
    }
    crawl_host_rouse(c, host);
    return code;
}

/* --- --skip --- */

/* What the archives said is known: the lock is held. */
static enum seen_code settle(struct crawl *c, struct crawl_list *asked,
                             const struct crawl_skip_answers *answers,
                             struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    struct crawl_page *page;

    for (size_t i = 0; (page = crawl_list_take(asked)); i++) {
        struct crawl_host *host = page->host;

        if (answers->held[i]) {
            page->outcome = CRAWL_SKIPPED;
            page->started = crawl_now(c);
            crawl_list_add(&c->done, page);
            host->used++;
        } else if (code == SEEN_OK) {
            code = give(c, page, why);
        } else {
            crawl_page_free(page);
        }
        crawl_host_rouse(c, host);
    }
    c->unasked += answers->unasked;
    if (*answers->warning)
        memcpy(c->warning, answers->warning, sizeof c->warning);
    return code;
}

/*
 * Ask the archives about pages, many at a time, without the lock: a server
 * takes its time, and requests go on meanwhile. Hosts stay in memory, because
 * their pages are noted as on their way.
 */
static enum seen_code ask_archives(struct crawl *c, struct crawl_list *asked,
                                   struct seen_error *why)
{
    struct seen_span *url = malloc((asked->n + 1) * sizeof *url);
    struct crawl_skip_answers answers = { .held = malloc(asked->n + 1),
                                          .stop = &c->stop };
    enum seen_code code = SEEN_OK;
    size_t n = 0;

    if (!url || !answers.held)
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for --skip");
    for (struct crawl_page *p = asked->first; code == SEEN_OK && p;
         p = p->next)
        url[n++] = span_of(p->url);
    if (code == SEEN_OK)
        code = crawl_skip_ask(c->skip, url, n, &answers, why);
    if (code == SEEN_OK) {
        pthread_mutex_lock(&c->lock);
        code = settle(c, asked, &answers, why);
        pthread_mutex_unlock(&c->lock);
    }
    free(url);
    free(answers.held);
    return code;
}

/* --- hosts --- */

bool crawl_host_look_up(struct crawl *c, struct crawl_host *host)
{
    const struct frontier_page none = { .url = { host->name, host->len },
                                        .path = { "", 0 },
                                        .type = { "", 0 } };
    struct crawl_page *page;

    page = crawl_page_new(&none);
    if (!page)
        return false;
    page->host = host;
    page->lookup = true;
    host->lookup = true;
    crawl_hosts_pop(&c->hosts, host);
    c->looking++;
    crawl_list_add(&c->names[host->prompt], page);
    pthread_cond_broadcast(&c->to_look); /* some take one kind only */
    return true;
}

/* Is a robots.txt that was moved to this host under way, or not committed? */
static void meet_guest(struct crawl *c, struct crawl_host *host)
{
    struct seen_span name = { host->name, host->len };
    struct crawl_host *from;

    for (size_t at = 0;
         c->abroad && (from = map_next(&c->hosts.by_id, &at));) {
        struct crawl_page *page = from->abroad;

        if (!page || !span_equal(name, crawl_host_of(span_of(page->url))))
            continue;
        if (page->due) { /* it was answered */
            host->hold = page->due;
        } else {
            host->busy = true;
            page->other = host;
        }
        return;
    }
}

static bool take_host(void *owner, const struct frontier_host *row)
{
    struct refill *r = owner;
    struct crawl_host *host = crawl_host_get(&r->c->hosts, row->id);
    bool prompt = row->fetched && !row->failures;

    r->rows++;
    if (host)
        return true;
    if (!prompt && !r->slow) {
        r->more_slow = true;
        return true;
    }
    if (!r->room) {
        r->more = true;
        return false;
    }
    r->room--;
    r->slow -= !prompt;
    host = crawl_host_add(&r->c->hosts, row->id, row->name,
                          due_of(r->c, row->due, -1));
    if (!host) {
        r->no_memory = true;
        return false;
    }
    host->crawl = r->c;
    host->failures = row->failures;
    host->fetched = row->fetched;
    host->found = row->found;
    meet_guest(r->c, host);
    crawl_host_set_prompt(&r->c->hosts, host, prompt);
    r->no_memory = !crawl_host_look_up(r->c, host);
    return !r->no_memory;
}

bool crawl_host_is_idle(const struct crawl_host *host)
{
    const struct crawl_origin *o;

    if (host->busy || host->waiting || host->lookup || host->asking ||
        host->spent || (host->stopped && !host->stop_written) ||
        host->changed_origins || host->outs != host->ready)
        return false;
    for (size_t at = 0; (o = map_next(&host->origins, &at));)
        if (o->state == CRAWL_ROBOTS_ASKED)
            return false;
    return true;
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
    return all;
}

/* Hosts that are not prompt have three quarters of the memory. */
static size_t room_for_slow(const struct crawl *c, size_t most)
{
    const struct crawl_host *host;
    size_t slow = 0, slow_most = most - most / 4;

    for (size_t at = 0; (host = map_next(&c->hosts.by_id, &at));)
        slow += !host->prompt;
    return slow < slow_most ? slow_most - slow : 0;
}

/* *next is which hosts should leave, so that others come. */
static enum seen_code bring_hosts(struct crawl *c, enum leaving *next,
                                  struct seen_error *why)
{
    size_t used = c->hosts.by_id.used;
    unsigned most = (unsigned)c->settings->hosts;
    struct refill r = { .c = c,
                        .room = used < most ? most - used : 0,
                        .slow = room_for_slow(c, most) };
    enum seen_code code;

    code = frontier_hosts(c->state.frontier, false, most + 1, take_host, &r,
                          why);
    /* Thousands that do not fit may hide others that do. */
    if (code == SEEN_OK && r.more_slow && r.rows > most && r.room)
        code = frontier_hosts(c->state.frontier, true, most + 1, take_host, &r,
                              why);
    if (code == SEEN_OK && r.no_memory)
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for a host");
    *next = r.more ? ANY : r.more_slow ? SLOW : DONE;
    return code;
}

enum seen_code crawl_refill(struct crawl *c, bool *idle,
                            struct seen_error *why)
{
    struct crawl_list asked = { .first = NULL };
    enum seen_code code;
    struct crawl_host *host;
    struct crawl_page *page;
    enum leaving leaving;
    int64_t waiting, all;

    code = crawl_allow_read(c, read_rules, why);
    if (code != SEEN_OK)
        return code;
    pthread_mutex_lock(&c->lock);
    remove_hosts(c, DONE);
    code = bring_hosts(c, &leaving, why);
    if (code == SEEN_OK && leaving != DONE && remove_hosts(c, leaving))
        code = bring_hosts(c, &leaving, why);
    for (size_t at = 0;
         code == SEEN_OK && (host = map_next(&c->hosts.by_id, &at));) {
        bool ordered = c->settings->order != CRAWL_BREADTH;

        if (host->changed && ordered)
            crawl_host_put_back(host);
        host->changed = false;
        if (!host->drained && !host->stopped &&
            host->ready < at_hand(c, host) / 2 + host->used)
            code = fill(c, host, &asked, why);
        if (ordered) /* its last page may be committed by now */
            crawl_host_rouse(c, host);
    }
    pthread_mutex_unlock(&c->lock);
    if (code == SEEN_OK && asked.n)
        code = ask_archives(c, &asked, why);
    while ((page = crawl_list_take(&asked)))
        crawl_page_free(page);

    pthread_mutex_lock(&c->lock);
    *idle = !c->active && !c->working && !c->looking && !c->done.n;
    if (code == SEEN_OK && *idle) { /* counting reads all hosts */
        code = frontier_count(c->state.frontier, &waiting, &all, why);
        c->waiting = (uint64_t)waiting;
        *idle = !waiting;
    }
    pthread_mutex_unlock(&c->lock);
    return code;
}
