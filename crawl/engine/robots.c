/* robots.c - what a robots.txt means, once it is committed. */
#include "group.h"

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
    next->host = page->host;
    crawl_page_share(next, page->shared);
    next->hops = page->hops + 1;
    next->attempts = page->attempts;
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

/* Pages that waited may go on, even if others wait for the end of a pause. */
static enum seen_code wake(struct crawl *c, struct crawl_host *host,
                           struct seen_error *why)
{
    if (host->busy || host->waiting || host->lookup || host->asking)
        return SEEN_OK;
    return crawl_host_set_due(&c->hosts, host, host->polite)
               ? SEEN_OK
               : seen_fail(why, SEEN_NOMEM, 0, "no memory for a host");
}

/* The lock is held. */
enum seen_code crawl_robots_settle(struct crawl *c, struct crawl_page *page,
                                   struct seen_error *why)
{
    enum { DAY = 86400000 };
    const struct crawl_settings *s = page->shared->settings;
    struct crawl_origin *o = page->robots;
    struct crawl_host *host = page->host;
    enum seen_code code;
    int64_t now = crawl_now(c);

    if (host->abroad == page) {
        host->abroad = NULL;
        c->abroad--;
    }
    if (page->onward) {
        crawl_host_push(host, page->onward, true);
        page->onward = NULL;
        crawl_host_set_due(&c->hosts, host, host->due);
        return SEEN_OK;
    }
    if (o->state == CRAWL_ROBOTS_CLOSED) /* by its failures */
        return wake(c, host, why);
    switch (web_robots_status(page->status)) {
    case WEB_ROBOTS_READ:
    case WEB_ROBOTS_ALLOW:
        o->attempts = 0;
        o->delay = 0;
        /* A reader compiles it: allow.c. */
        code = crawl_origin_know(host, o, page->status,
                                 crawl_robots_text(page), now + DAY, why);
        if (code != SEEN_OK)
            return code;
        break;
    case WEB_ROBOTS_DENY:
        o->state = CRAWL_ROBOTS_UNKNOWN; /* asked again, when it is due */
        /* Its failures count those before the host was out of memory. */
        if (o->attempts++ < s->retries && o->failures <= s->retries &&
            !crawl_read_refused(page))
            break;
        close_origin(host, o, page->fault);
    }
    return wake(c, host, why);
}

bool crawl_robots_is_abroad(const struct crawl_page *page,
                            struct seen_span *name)
{
    *name = crawl_host_of(span_of(page->url));
    return page->hops &&
           !span_equal(
               *name, (struct seen_span){ page->host->name, page->host->len });
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
