/* robots.c - what a robots.txt means, once it is committed. */
#include "store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../fetch/decode.h"
#include "../../lib/text/span.h"
#include "../page/scope.h"

enum seen_code crawl_robots_redirect(struct crawl_page *page,
                                     struct seen_error *why)
{
    enum { HOPS = 5 };
    struct seen_span location = { "", 0 };
    struct crawl_page *next = NULL;
    const char *target;
    char *text;
    size_t len;

    if (page->hops >= HOPS || page->status < 300 || page->status >= 400 ||
        !fetch_header((struct seen_span){ page->head.bytes, page->head.len },
                      "location", &location))
        return SEEN_OK;
    text = malloc(SEEN_KEY_TEXT);
    if (!text)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for robots.txt");
    if (seen_url_whatwg(&target, &len, text, location.text, location.len,
                        page->url, strlen(page->url), NULL) != SEEN_OK ||
        !crawl_scope_is_web((struct seen_span){ target, len })) {
        free(text);
        return SEEN_OK;
    }
    next = crawl_page_new(&(struct frontier_page){
        .url = { target, len }, .path = { "PR", 2 }, .type = { "", 0 } });
    free(text);
    if (!next)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for robots.txt");
    next->robots = page->robots;
    crawl_page_share(next, page->shared);
    next->hops = page->hops + 1;
    next->attempts = page->attempts;
    next->flags = page->flags;
    page->onward = next;
    return SEEN_OK;
}

static void close_origin(struct crawl_host *host, struct crawl_origin *o,
                         const char *fault)
{
    bool private = strstr(fault, "not a public address");

    crawl_origin_close(host, o, "robots.txt of %.*s cannot be fetched: %.*s%s",
                       crawl_origin_words(o), o->name, private ? 44 : 66,
                       *fault ? fault : "it is answered with an error",
                       private ? "; see --allow-private" : "");
}

/* --- moved to another host --- */

/* The lock is held. False: the host is not in memory. */
static bool move(struct crawl *c, struct crawl_page *page)
{
    struct crawl_host *host = crawl_host_named(
        &c->hosts, crawl_host_of(span_of(page->url)));

    if (!host)
        return false;
    crawl_host_push_robots(host, page);
    crawl_host_rouse(c, host);
    return true;
}

void crawl_robots_unplace(struct crawl *c, struct crawl_host *host)
{
    struct crawl_page *page;

    while ((page = crawl_host_pull_robots(host, true)))
        crawl_list_add(&c->moved, page);
}

/* Bring the host of the first page of the list. The page stays there until then:
   while the list has pages, no time is skipped. */
static enum seen_code place(struct crawl *c, struct seen_error *why)
{
    enum { SOON = 1000 }; /* ms */
    struct crawl_page *page = c->moved.first;
    const struct seen_span name = crawl_host_of(span_of(page->url));
    enum crawl_coming coming = CRAWL_CAME;
    enum seen_code code = SEEN_OK;
    bool here;

    pthread_mutex_lock(&c->lock);
    here = crawl_host_named(&c->hosts, name);
    pthread_mutex_unlock(&c->lock);
    if (!here && page->due <= crawl_now(c))
        code = c->store->host(c, name, page->robots, &coming, why);
    else if (!here)
        coming = CRAWL_NOT_YET;
    if (code != SEEN_OK)
        return code;
    pthread_mutex_lock(&c->lock);
    crawl_list_take(&c->moved);
    if (coming == CRAWL_HANDED_OVER) {
        crawl_page_free(page);
    } else if (coming == CRAWL_NOT_YET || !move(c, page)) {
        if (page->due <= crawl_now(c))
            page->due = crawl_now(c) + SOON;
        crawl_list_add(&c->moved, page);
    }
    pthread_mutex_unlock(&c->lock);
    return SEEN_OK;
}

/* The list, and the map of hosts, are changed by this thread only. */
enum seen_code crawl_robots_place(struct crawl *c, struct seen_error *why)
{
    const size_t most = 2 * (size_t)c->settings->hosts;
    enum seen_code code = SEEN_OK;

    for (size_t n = c->moved.n;
         code == SEEN_OK && n && c->hosts.by_id.used < most; n--)
        code = place(c, why);
    return code;
}

/* --- what it means --- */

/* The lock is held. */
enum seen_code crawl_robots_settle(struct crawl *c, struct crawl_page *page,
                                   struct seen_error *why)
{
    enum { DAY = 86400000 };
    const struct crawl_settings *s = page->shared->settings;
    struct crawl_origin *o = page->robots;
    struct crawl_host *host = o->host;
    enum seen_code code = SEEN_OK;
    int64_t now = crawl_now(c);

    page->host->moved_out -= page->host != host;
    if (page->onward) {
        if (!move(c, page->onward))
            crawl_list_add(&c->moved, page->onward);
        page->onward = NULL;
        return SEEN_OK;
    }
    if (o->state == CRAWL_ROBOTS_CLOSED) { /* by its failures */
        crawl_host_rouse(c, host);
        return SEEN_OK;
    }
    switch (web_robots_status(page->status)) {
    case WEB_ROBOTS_READ:
    case WEB_ROBOTS_ALLOW:
        o->attempts = 0;
        o->delay = 0;
        /* A reader compiles it: allow.c. */
        code = crawl_origin_know(host, o, page->status,
                                 crawl_robots_text(page), now + DAY, why);
        break;
    case WEB_ROBOTS_DENY:
        o->state = CRAWL_ROBOTS_UNKNOWN; /* asked again, when it is due */
        /* Its failures count those before the host was out of memory. */
        if (o->attempts++ < s->retries && o->failures <= s->retries &&
            !crawl_read_refused(page))
            break;
        close_origin(host, o, page->fault);
    }
    /* Pages that waited may go on, even if others wait for a pause. */
    crawl_host_rouse(c, host);
    return code;
}

struct seen_span crawl_robots_text(const struct crawl_page *page)
{
    const struct buffer *body = &page->body;
    struct seen_span text = { body->len ? body->bytes : "", body->len };

    if (text.len > WEB_ROBOTS_MOST + 1)
        text.len = WEB_ROBOTS_MOST + 1;
    return text;
}

bool crawl_robots_is_answer(const struct crawl_page *page)
{
    return !page->onward && web_robots_status(page->status) != WEB_ROBOTS_DENY;
}
