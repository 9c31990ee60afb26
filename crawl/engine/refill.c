/*
 * refill.c - from rows of a store to pages at hand of hosts in memory.
 *
 * A host in memory has some pages at hand: as many as it used since the last
 * refill, twice, so that a fast host does not wait for the next commit. Rows
 * stay in the store until their page is committed; which of them are on their
 * way is known to the host.
 *
 * Breadth first, pages may be taken ahead, since links that are found later
 * come later. In any other order a new link may come before all that is at
 * hand: then that goes back to the store, and a host waits for the commit of
 * its last page before the next one (crawl.c). So the order is exact per
 * host, and costs nothing while the delay of a host is longer than a commit.
 *
 * The store is asked without the lock: a server takes its time, a disk may, and
 * requests go on meanwhile. The map of hosts, and the rows that are on their
 * way, are changed by this thread only.
 */
#include "store.h"

#include <stdlib.h>
#include <string.h>

#include "../../lib/text/array.h"
#include "../../lib/text/span.h"
#include "../page/scope.h"
#include "aside.h"

enum {
    AT_HAND = 8,
    AT_HAND_MANY = 2, /* if there are more than MANY hosts, to save memory */
    MANY = 512,
    AT_HAND_MOST = 512,
    RECALLED_MOST =
        8192, /* pages at hand of hosts whose rules are read again */
    READ_MOST = 16 << 10 /* bytes of a robots.txt that is read at once */
};

static enum seen_code no_memory(struct seen_error *why)
{
    return seen_fail(why, SEEN_NOMEM, 0, "no memory for a host");
}

/* --- some hosts --- */

enum seen_code crawl_some_add(struct crawl_some *some, struct crawl_host *host,
                              struct seen_error *why)
{
    struct crawl_host **more = array_grow(some->host, &some->room, some->n + 1,
                                          sizeof *more);

    if (!more)
        return no_memory(why);
    some->host = more;
    more[some->n++] = host;
    return SEEN_OK;
}

enum seen_code crawl_for_each_host(struct crawl *c, crawl_is_host *is,
                                   crawl_act_on_host *act, void *owner,
                                   struct seen_error *why)
{
    struct crawl_some some = { .n = 0 };
    enum seen_code code = SEEN_OK;
    struct crawl_host *host;

    pthread_mutex_lock(&c->lock);
    for (size_t at = 0;
         code == SEEN_OK && (host = map_next(&c->hosts.by_id, &at));)
        if (is(c, host))
            code = crawl_some_add(&some, host, why);
    pthread_mutex_unlock(&c->lock);
    for (size_t i = 0; code == SEEN_OK && i < some.n; i++)
        code = act(c, some.host[i], owner, why);
    free(some.host);
    return code;
}

bool crawl_host_is_idle(const struct crawl_host *host)
{
    const struct crawl_origin *o;

    if (!crawl_host_is_free(host) || host->spent ||
        (host->stopped && !host->stop_written) || host->changed_origins ||
        host->outs != host->ready || host->robots || host->moved ||
        host->moved_out)
        return false;
    for (size_t at = 0; (o = map_next(&host->origins, &at));)
        if (o->state == CRAWL_ROBOTS_ASKED)
            return false;
    return true;
}

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
    crawl_hosts_pop(&c->hosts, host);
    crawl_host_become(host, CRAWL_HOST_LOOKED_UP);
    c->looking++;
    crawl_list_add(&c->names[host->prompt], page);
    pthread_cond_broadcast(&c->to_look); /* some take one kind only */
    return true;
}

/* --- pages --- */

struct taking {
    struct crawl_host *host;
    unsigned wanted;
    struct crawl_list pages;
    bool no_memory;
};

static bool take_page(void *owner, const struct frontier_page *row,
                      int64_t visit, struct crawl_known *known)
{
    struct taking *t = owner;
    struct crawl_page *page;

    if (crawl_host_is_out(t->host, row->id))
        return true;
    page = crawl_page_new(row);
    if (!page) {
        t->no_memory = true;
        return false;
    }
    page->host = t->host;
    page->visit = visit;
    if (known) {
        page->known = *known;
        *known = (struct crawl_known){ .id = 0 };
    }
    crawl_list_add(&t->pages, page);
    return t->pages.n < t->wanted;
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

/* Failures of an origin may be known, or that it was given up, which another
   visit than those that had begun by then does not care about. */
static enum seen_code recall_failures(struct crawl *c, struct crawl_host *host,
                                      struct crawl_origin *o, int64_t visit,
                                      struct seen_error *why)
{
    char name[CRAWL_ORIGINS_NAME];
    struct frontier_origin all = { .name = crawl_origins_name(host, name),
                                   .host = host->id };
    struct frontier_origin row = { .name = { o->name, o->len },
                                   .host = host->id };
    enum seen_code code = SEEN_OK;
    char *reason = NULL;
    bool done;

    if (!host->counted)
        code = c->store->origin(c, &all, why);
    if (code == SEEN_OK)
        code = c->store->origin(c, &row, why);
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

/* With the lock held. A long text is read when it is needed. */
static enum seen_code know(struct crawl_host *host, struct crawl_origin *o,
                           const struct crawl_kept_robots *kept, int64_t until,
                           struct seen_error *why)
{
    if (kept->body)
        return crawl_origin_know(host, o, kept->status,
                                 (struct seen_span){ kept->body, kept->len },
                                 until, why);
    o->state = CRAWL_ROBOTS_KEPT;
    o->until = until;
    return SEEN_OK;
}

/* robots.txt may be known from an earlier run, another worker or visit. */
static enum seen_code recall_robots(struct crawl *c, struct crawl_page *page,
                                    struct seen_error *why)
{
    struct seen_span name = crawl_origin_of(span_of(page->url));
    struct crawl_kept_robots kept;
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
    pthread_mutex_lock(&c->lock);
    o->trust = crawl_aside_trust(c, name);
    pthread_mutex_unlock(&c->lock);
    code = recall_failures(c, page->host, o, page->visit, why);
    if (code != SEEN_OK)
        return code;
    code = c->store->robots(c, name, READ_MOST, &kept, why);
    if (code != SEEN_OK || !kept.found)
        return code;
    pthread_mutex_lock(&c->lock);
    if (o->state == CRAWL_ROBOTS_UNKNOWN)
        code = know(page->host, o, &kept, kept.until, why);
    pthread_mutex_unlock(&c->lock);
    free(kept.body);
    return code;
}

/* A crawl_read_rules: they were in memory, or are long. Verdicts go on to
   count, since it is the same text. */
static enum seen_code read_rules(struct crawl *c, struct crawl_host *host,
                                 struct crawl_origin *o,
                                 struct seen_error *why)
{
    const struct seen_span name = { o->name, o->len };
    struct crawl_kept_robots kept;
    enum seen_code code = c->store->robots(c, name, SIZE_MAX, &kept, why);

    if (code != SEEN_OK)
        return code;
    pthread_mutex_lock(&c->lock);
    if (kept.found)
        code = know(host, o, &kept, o->until, why);
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
    struct crawl_page *page;

    while ((page = crawl_host_pull(host))) {
        crawl_host_forget_out(host, page->id);
        crawl_page_free(page);
    }
}

void crawl_host_rouse(struct crawl *c, struct crawl_host *host)
{
    if ((host->ready || host->robots || host->moved) &&
        crawl_host_is_free(host))
        crawl_host_set_due(&c->hosts, host, host->polite);
}

/* May an archive be asked about the page? Start URLs and sitemaps are fetched
   in any case: nothing else is found without them. */
static bool may_skip(const struct crawl *c, const struct crawl_page *page)
{
    return c->skip && !(page->flags & (CRAWL_FLAG_START | CRAWL_FLAG_SITEMAP));
}

static unsigned want(struct crawl *c, struct crawl_host *host)
{
    unsigned wanted;

    crawl_host_trim_origins(host);
    wanted = at_hand(c, host) + 2 * host->used;
    host->used = 0;
    return wanted < AT_HAND_MOST ? wanted : AT_HAND_MOST;
}

/* Pages that an archive may hold go to `asked`, all others to the host. Pages
   that the store does not want now have no visit. The lock is held. */
static enum seen_code give(struct crawl *c, struct taking *t,
                           struct crawl_list *asked, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    struct crawl_page *page;

    while ((page = crawl_list_take(&t->pages))) {
        if (code == SEEN_OK && page->shared &&
            !crawl_host_note_out(t->host, page->id))
            code = no_memory(why);
        if (code != SEEN_OK || !page->shared)
            crawl_page_free(page);
        else if (may_skip(c, page))
            crawl_list_add(asked, page);
        else
            crawl_host_push(t->host, page, false);
    }
    return code;
}

static enum seen_code fill(struct crawl *c, struct crawl_host *host,
                           void *asked, struct seen_error *why)
{
    struct taking t = { .host = host };
    enum seen_code code;

    pthread_mutex_lock(&c->lock);
    t.wanted = want(c, host);
    pthread_mutex_unlock(&c->lock);
    code = c->store->pages(c, host, (unsigned)host->outs + t.wanted, take_page,
                           &t, why);
    if (code == SEEN_OK && t.no_memory)
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for a page");
    for (struct crawl_page *p = t.pages.first; code == SEEN_OK && p;
         p = p->next) {
        code = c->store->prepare(c, p, why);
        if (code == SEEN_OK && p->shared)
            code = recall_robots(c, p, why);
    }
    pthread_mutex_lock(&c->lock);
    host->drained = t.pages.n < t.wanted;
    if (code == SEEN_OK)
        code = give(c, &t, asked, why);
    crawl_host_rouse(c, host);
    pthread_mutex_unlock(&c->lock);
    crawl_pages_free(t.pages.first);
    return code;
}

static bool wants_pages(struct crawl *c, struct crawl_host *host)
{
    const bool ordered = c->settings->order != CRAWL_BREADTH;

    if (host->changed && ordered)
        crawl_host_put_back(host);
    host->changed = false;
    if (ordered) /* its last page may be committed by now */
        crawl_host_rouse(c, host);
    return !host->drained && !host->stopped &&
           host->ready < at_hand(c, host) / 2 + host->used;
}

/* --- --skip --- */

/* What the archives said is known: the lock is held. */
static void settle(struct crawl *c, struct crawl_list *asked,
                   const struct crawl_skip_answers *answers)
{
    struct crawl_page *page;

    for (size_t i = 0; (page = crawl_list_take(asked)); i++) {
        struct crawl_host *host = page->host;

        if (answers->held[i]) {
            page->outcome = CRAWL_SKIPPED;
            page->started = crawl_now(c);
            crawl_list_add(&c->done, page);
            host->used++;
        } else {
            crawl_host_push(host, page, false);
        }
        crawl_host_rouse(c, host);
    }
    c->unasked += answers->unasked;
    if (*answers->warning)
        memcpy(c->warning, answers->warning, sizeof c->warning);
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
        settle(c, asked, &answers);
        pthread_mutex_unlock(&c->lock);
    }
    free(url);
    free(answers.held);
    return code;
}

/* --- all --- */

enum seen_code crawl_refill(struct crawl *c, struct seen_error *why)
{
    struct crawl_list asked = { .first = NULL };
    enum seen_code code = crawl_allow_read(c, read_rules, why);

    if (code == SEEN_OK)
        code = c->store->hosts(c, why);
    if (code == SEEN_OK)
        code = crawl_robots_place(c, why);
    if (code == SEEN_OK)
        code = crawl_for_each_host(c, wants_pages, fill, &asked, why);
    if (code == SEEN_OK && asked.n)
        code = ask_archives(c, &asked, why);
    crawl_pages_free(asked.first);
    return code;
}
