/*
 * hosts.c - hosts and pages from the shared frontier.
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
 */
#include "inside.h"

#include <stdlib.h>
#include <string.h>

#include "../../lib/disk/clock.h"
#include "../../lib/text/span.h"
#include "../engine/aside.h"
#include "../page/scope.h"

enum {
    AHEAD = 3000,      /* ms: hosts that are due so soon are taken */
    FAR = 30000,       /* ms: a host that is not due for so long goes back */
    SHARE_EVERY = 1000 /* ms between looks at how many work */
};

static enum seen_code no_memory(struct seen_error *why)
{
    return seen_fail(why, SEEN_NOMEM, 0, "no memory for a host");
}

/* --- pages --- */

struct taking {
    crawl_take_row *take;
    void *owner;
    bool no_memory;
};

static bool read_known(struct crawl_known *page,
                       const struct frontier_known *row)
{
    const struct seen_span text[CRAWL_KNOWN_TEXTS] = {
        [CRAWL_KNOWN_URL] = row->url,
        [CRAWL_KNOWN_ETAG] = row->etag,
        [CRAWL_KNOWN_MODIFIED] = row->modified,
        [CRAWL_KNOWN_DIGEST] = row->digest,
        [CRAWL_KNOWN_NOTE] = { "", 0 },
        [CRAWL_KNOWN_PLACE] = row->place,
        [CRAWL_KNOWN_TYPE] = row->type,
    };

    *page = (struct crawl_known){
        .id = 1, /* there is one */
        .first = row->first,
        .last = row->last,
        .due = row->due,
        .stored = row->stored,
        .checks = row->checks,
        .changes = row->changes,
        .status = row->status,
        .size = row->size,
        .depth = row->depth,
        .terms = row->terms,
        .links = row->links,
    };
    crawl_known_read_history(page, row->history);
    return crawl_known_take_texts(page, text);
}

static bool take_page(void *owner, const struct frontier_shared_page *row)
{
    struct taking *t = owner;
    struct crawl_known known = { .id = 0 };
    bool more;

    if (row->known && !read_known(&known, row->known)) {
        t->no_memory = true;
        return false;
    }
    more = t->take(t->owner, &row->page, row->visit,
                   row->known ? &known : NULL);
    crawl_known_clear(&known);
    return more;
}

enum seen_code crawl_team_pages(struct crawl *c, const struct crawl_host *host,
                                unsigned most, crawl_take_row *take,
                                void *owner, struct seen_error *why)
{
    struct taking t = { take, owner, false };
    enum seen_code code = frontier_spread_next(
        crawl_team_of(c)->frontier, host->id, most, take_page, &t, why);

    return code == SEEN_OK && t.no_memory ? no_memory(why) : code;
}

enum seen_code crawl_team_origin(struct crawl *c,
                                 struct frontier_origin *origin,
                                 struct seen_error *why)
{
    return frontier_spread_origin(crawl_team_of(c)->frontier, origin, why);
}

enum seen_code crawl_team_robots(struct crawl *c, struct seen_span origin,
                                 size_t most, struct crawl_kept_robots *kept,
                                 struct seen_error *why)
{
    struct frontier_robots row;
    enum seen_code code;

    (void)most;
    *kept = (struct crawl_kept_robots){ .found = false };
    code = frontier_spread_robots(crawl_team_of(c)->frontier,
                                  crawl_host_of(origin), origin, &row, why);
    if (code != SEEN_OK)
        return code == SEEN_ABSENT ? SEEN_OK : code;
    *kept = (struct crawl_kept_robots){ .found = true,
                                        .status = row.status,
                                        .until = crawl_now(c) + row.until_in,
                                        .body = malloc(row.body.len + 1),
                                        .len = row.body.len };
    if (!kept->body)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for robots.txt");
    memcpy(kept->body, row.body.text, row.body.len);
    return SEEN_OK;
}

/* What is left of the visit's budget is shared by the workers, so that those
   pages do not exceed it by much that others fetch meanwhile. */
static bool may_spend(const struct crawl *c,
                      const struct crawl_team_visit *visit)
{
    int64_t most = (int64_t)visit->job->settings.pages, rest, share;

    if (!most)
        return true;
    rest = most - visit->fetched;
    share = crawl_team_of(c)->workers > 1
                ? (rest + crawl_team_of(c)->workers - 1) /
                      crawl_team_of(c)->workers
                : rest;
    return (int64_t)atomic_load(&visit->pages) < share;
}

/*
 * A copy stands for the page only if it is what this visit would have made of
 * it. On other terms it may have other fields and links. Nobody has a copy of
 * the links here: those of a page that answers 304 are taken for known, and so
 * they are, unless the visit before left pages. And a folder of WARC files is
 * to have each payload once, so it must have been written to one.
 */
static void judge_copy(const struct crawl *c,
                       const struct crawl_team_visit *visit,
                       struct crawl_known *known)
{
    bool archived = !crawl_team_of(c)->folder || *known->place;

    if (!archived || known->terms != (int64_t)visit->job->terms ||
        (visit->thorough && known->links))
        *known->etag = *known->modified = '\0';
    if (!archived)
        *known->digest = '\0';
}

enum seen_code crawl_team_prepare(struct crawl *c, struct crawl_page *page,
                                  struct seen_error *why)
{
    struct crawl_team_visit *visit;
    enum seen_code code = crawl_team_visit_find(c, page->visit, &visit, why);

    crawl_aside_mark(c, page);
    if (code != SEEN_OK || !may_spend(c, visit))
        return code;
    crawl_page_share(page, &visit->job->shared);
    if (page->known.id)
        judge_copy(c, visit, &page->known);
    return SEEN_OK;
}

void crawl_team_drop_pages(struct crawl *c)
{
    struct crawl_host *host;

    pthread_mutex_lock(&c->lock);
    for (size_t at = 0; (host = map_next(&c->hosts.by_id, &at));)
        for (unsigned n = host->ready; n; n--) {
            struct crawl_page *page = crawl_host_pull(host);

            if (crawl_team_visit_of(page)->runs) {
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
    if (!host->address && crawl_host_is_free(host))
        l->no_memory = !crawl_host_look_up(l->c, host);
    host->drained = false;
    pthread_mutex_unlock(&l->c->lock);
    return !l->no_memory;
}

static enum seen_code find_share(struct crawl *c, struct seen_error *why)
{
    struct crawl_team *t = crawl_team_of(c);
    struct frontier_load load;
    enum seen_code code;

    if (t->shared && clock_ms() - t->shared < SHARE_EVERY)
        return SEEN_OK;
    code = frontier_spread_load(t->frontier, &load, why);
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
    const struct crawl_team *t = crawl_team_of(c);
    struct leasing l = { .c = c };
    int64_t most = (int64_t)c->settings->hosts;
    int64_t have = (int64_t)c->hosts.by_id.used;
    enum seen_code code;

    if (t->share >= 0 && t->share < most)
        most = t->share;
    if (have >= most)
        return SEEN_OK;
    code = frontier_spread_lease(t->frontier, (unsigned)(most - have), AHEAD,
                                 take_host, &l, why);
    return code == SEEN_OK && l.no_memory ? no_memory(why) : code;
}

static bool has_claim(struct crawl *c, struct crawl_host *host)
{
    (void)c;
    return host->state == CRAWL_HOST_CLAIMS;
}

/* The address of the host was looked up. Nobody else touches the host until it
   is claimed. */
static enum seen_code claim(struct crawl *c, struct crawl_host *host,
                            void *owner, struct seen_error *why)
{
    enum seen_code code;
    bool mine;

    (void)owner;
    code = frontier_spread_address(crawl_team_of(c)->frontier, host->id,
                                   span_of(host->claim), &mine, why);
    if (code != SEEN_OK)
        return code;
    pthread_mutex_lock(&c->lock);
    crawl_host_become(host, CRAWL_HOST_RESTS);
    if (!mine) { /* it belongs to another worker now */
        crawl_robots_unplace(c, host);
        crawl_host_remove(&c->hosts, host);
    } else if (!crawl_host_resolve(&c->hosts, host, host->claim) ||
               !crawl_host_set_due(&c->hosts, host, host->due))
        code = no_memory(why);
    pthread_mutex_unlock(&c->lock);
    return code;
}

/* --- back to the frontier --- */

/* Has the host nothing to do here for a while? */
static bool is_over(const struct crawl_host *host, int64_t now)
{
    return crawl_host_is_idle(host) &&
           (host->stopped || (!host->ready && host->drained) ||
            host->due > now + FAR);
}

/* Nobody may ask a host that goes back. */
static enum seen_code note_leaving(struct crawl_some *some, struct crawl *c,
                                   struct crawl_host *host,
                                   struct seen_error *why)
{
    enum seen_code code = crawl_some_add(some, host, why);

    if (code != SEEN_OK)
        return code;
    crawl_hosts_pop(&c->hosts, host);
    crawl_host_become(host, CRAWL_HOST_LEAVES);
    return SEEN_OK;
}

/* Nobody else may ask hosts of an address that this worker asks. */
static bool has_company(const struct crawl_host *host)
{
    return host->address && host->address->hosts > 1;
}

static enum seen_code choose_leaving(struct crawl *c, struct crawl_some *some,
                                     struct seen_error *why)
{
    int64_t now = crawl_now(c), share = crawl_team_of(c)->share;
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
        if (crawl_host_is_idle(host) && !has_company(host))
            code = note_leaving(some, c, host, why);
    pthread_mutex_unlock(&c->lock);
    return code;
}

static enum seen_code give_back(struct crawl *c, struct seen_error *why)
{
    struct crawl_some some = { .n = 0 };
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
        code = frontier_spread_release(crawl_team_of(c)->frontier, row, some.n,
                                       why);
    pthread_mutex_lock(&c->lock);
    for (size_t i = 0; code == SEEN_OK && i < some.n; i++)
        crawl_host_remove(&c->hosts, some.host[i]);
    pthread_mutex_unlock(&c->lock);
    free(row);
    free(some.host);
    return code;
}

/* --- for a robots.txt that was moved --- */

/* If another worker has the host, that of the origin goes there, so that two
   workers never ask one host, and neither waits until the other is done. Its
   robots.txt is asked there again. */
static bool may_hand_over(struct crawl *c, struct crawl_origin *of)
{
    bool may;

    of->state = CRAWL_ROBOTS_UNKNOWN;
    may = crawl_host_is_idle(of->host) && !has_company(of->host);
    of->state = CRAWL_ROBOTS_ASKED;
    if (may) {
        crawl_hosts_pop(&c->hosts, of->host);
        crawl_host_become(of->host, CRAWL_HOST_LEAVES);
    }
    return may;
}

enum seen_code crawl_team_host(struct crawl *c, struct seen_span name,
                               struct crawl_origin *of,
                               enum crawl_coming *coming,
                               struct seen_error *why)
{
    struct leasing l = { .c = c };
    struct crawl_host *host = of->host;
    struct frontier_leased row;
    enum seen_code code;
    bool may, given;

    pthread_mutex_lock(&c->lock);
    may = may_hand_over(c, of);
    pthread_mutex_unlock(&c->lock);
    code = frontier_spread_take(crawl_team_of(c)->frontier, name,
                                may ? host->id : 0, &row, &given, why);
    if (code == SEEN_OK && !take_host(&l, &row))
        return no_memory(why);
    *coming = code == SEEN_OK ? CRAWL_CAME
              : given         ? CRAWL_HANDED_OVER
                              : CRAWL_NOT_YET;
    pthread_mutex_lock(&c->lock);
    if (given)
        crawl_host_remove(&c->hosts, host);
    else if (may) {
        crawl_host_become(host, CRAWL_HOST_RESTS);
        crawl_host_rouse(c, host);
    }
    pthread_mutex_unlock(&c->lock);
    return code == SEEN_BUSY ? SEEN_OK : code;
}

/* --- all --- */

enum seen_code crawl_team_hosts(struct crawl *c, struct seen_error *why)
{
    enum seen_code code = find_share(c, why);

    if (code == SEEN_OK)
        code = give_back(c, why);
    if (code == SEEN_OK)
        code = bring_hosts(c, why);
    if (code == SEEN_OK)
        code = crawl_for_each_host(c, has_claim, claim, NULL, why);
    return code;
}
