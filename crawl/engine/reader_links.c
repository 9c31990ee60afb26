/*
 * reader_links.c - which links of a page are followed.
 *
 * A link passes, in this order: the template's rules, the scope, nofollow, the
 * bounds per page, and its words if the crawl is topical. What leaves it out is
 * counted by its reason. Some reasons are also noted per link, for `seen crawl
 * why`: those that nobody can find again by the URL alone.
 *
 * Every link is paid for before it is looked at. Patterns pay from a part of
 * that which is lent to them per URL, so that one URL does not take what the
 * others need.
 */
#include "reader_inside.h"

#include <stdio.h>
#include <string.h>

#include "../../lib/text/array.h"
#include "../../lib/text/span.h"
#include "../../web/robots.h"
#include "../page/listing.h"

enum {
    LINKS_MOST = 100000,  /* per page */
    HOPS_MOST = 20,       /* redirects in a row */
    TRAPS_MOST = 100,     /* remembered per page; all are counted */
    SITEMAPS_MOST = 1000, /* per robots.txt */
    LINK = 200,           /* steps per link, */
    LINK_BYTE = 4         /* and per byte of its URL */
};

/* --- links --- */

static char letter_of(const struct web_link *link)
{
    switch (link->kind) {
    case WEB_LINK_REFRESH: return 'R';
    case WEB_LINK_FORM: return 'S';
    default:
        return link->requisite || link->kind == WEB_LINK_FRAME ? 'E' : 'L';
    }
}

static struct crawl_link *add_link(struct crawl_reader *r,
                                   struct seen_span url, char letter,
                                   unsigned depth, double score, int priority,
                                   struct seen_span type)
{
    const struct crawl_shared *shared = r->shared;
    struct crawl_page *page = r->page;
    struct crawl_link *more = array_grow(page->link, &page->room,
                                         page->links + 1, sizeof *more);
    struct crawl_link *to;

    if (!more) {
        r->no_memory = true;
        return NULL;
    }
    page->link = more;
    to = &more[page->links++];
    *to = (struct crawl_link){
        .url = page->texts.len,
        .url_len = url.len,
        .letter = letter,
        .score = score,
        .priority = crawl_scope_priority(shared->scope, shared->settings, url,
                                         depth, &r->patterns) -
                    priority,
    };
    crawl_key(&to->key, r->room, url);
    to->key.text = NULL; /* made again where it is needed */
    buffer_span(&page->texts, url);
    to->type = page->texts.len;
    to->type_len = type.len;
    buffer_span(&page->texts, type);
    r->no_memory |= page->texts.failed;
    return to;
}

static void note_trap(struct crawl_reader *r, struct seen_span url,
                      const char *reason)
{
    struct crawl_page *page = r->page;

    page->excluded[CRAWL_LEFT_TRAP]++;
    if (page->trapped >= TRAPS_MOST)
        return;
    page->trapped++;
    buffer_text(&page->traps, reason);
    buffer_byte(&page->traps, '\0');
    buffer_span(&page->traps, url);
    buffer_byte(&page->traps, '\0');
    r->no_memory |= page->traps.failed;
}

/* A link in scope that is not followed for a reason which its URL does not
   tell. */
void crawl_reader_leave_out(struct crawl_reader *r, const struct seen_key *key,
                            enum crawl_left_reason reason)
{
    struct crawl_page *page = r->page;
    struct crawl_left_link *more;

    page->excluded[reason]++;
    if (page->lefts >= LINKS_MOST)
        return;
    more = array_grow(page->left, &page->left_room, page->lefts + 1,
                      sizeof *more);
    if (!more) {
        r->no_memory = true;
        return;
    }
    page->left = more;
    more[page->lefts++] = (struct crawl_left_link){ key->lo, reason };
}

/* How many redirects in a row led to the page? The path has a letter per
   hop. */
static unsigned hops_of(const struct crawl_page *page)
{
    size_t n = strlen(page->path);
    unsigned hops = 0;

    while (n && page->path[--n] == 'R')
        hops++;
    return hops;
}

static unsigned minutes_of(uint64_t ms)
{
    enum { MOST = (1 << 24) - 1 }; /* 31 years */
    uint64_t minutes = ms / 60000 + (ms % 60000 > 0);

    return minutes < MOST ? (unsigned)minutes : MOST;
}

/* Whether patterns let a link in is not known. It may be one that the user
   excluded: it is left out. */
static void leave_undecided(struct crawl_reader *r, struct seen_span url,
                            const char *reason)
{
    struct seen_key key;

    crawl_key(&key, r->room, url);
    crawl_reader_leave_out(r, &key, CRAWL_LEFT_COSTLY);
    crawl_page_note_cost(r->page, "a link is left out: %s", reason);
}

/* What the scope leaves out. */
static void leave(struct crawl_reader *r, struct seen_span url,
                  enum crawl_scope_out out, const char *reason)
{
    switch (out) {
    case CRAWL_OUT_SCOPE: r->page->excluded[CRAWL_LEFT_SCOPE]++; break;
    case CRAWL_OUT_TRAP: note_trap(r, url, reason); break;
    case CRAWL_OUT_COSTLY: leave_undecided(r, url, reason); break;
    }
}

/* It was paid; patterns pay from r->patterns. */
static void consider_paid(struct crawl_reader *r, struct seen_span url,
                          char letter, unsigned depth, bool requisite,
                          bool nofollow, struct seen_span anchor)
{
    const struct crawl_shared *shared = r->shared;
    struct crawl_page *page = r->page;
    struct seen_span type = { "", 0 };
    struct crawl_verdict v = { .revisit = CRAWL_UNSET };
    char *clean = r->clean;
    double score = 0;
    struct seen_key key;
    enum crawl_scope_out out;
    bool unruled = false;
    char reason[CRAWL_REASON];

    if (shared->template && !requisite) {
        crawl_template_clean(shared->template, clean, &url.len, url.text,
                             url.len);
        url.text = clean;
        crawl_template_follow(shared->template, r->areas, r->type, url.text,
                              url.len, &r->patterns, &v);
        if (v.reason == CRAWL_COSTLY && letter != 'R') {
            snprintf(reason, sizeof reason,
                     "not known: pattern too costly here: %.100s", v.pattern);
            leave_undecided(r, url, reason);
            return;
        }
        unruled = !v.follow && letter != 'R';
        if (v.type)
            type = span_of(v.type);
        else if (letter == 'R')
            type = span_of(page->type);
    }
    if (!crawl_scope_has(shared->scope, url, depth, requisite, &r->patterns,
                         &out, reason)) {
        leave(r, url, out, reason);
        return;
    }
    if (nofollow || unruled) {
        crawl_key(&key, r->room, url);
        crawl_reader_leave_out(
            r, &key, nofollow ? CRAWL_LEFT_NOFOLLOW : CRAWL_LEFT_RULE);
        return;
    }
    if (page->links >= LINKS_MOST) {
        note_trap(r, url, "more than 100,000 links on one page");
        return;
    }
    /* Redirects are not deeper than their page, but they must end. */
    if (letter == 'R' && hops_of(page) >= HOPS_MOST) {
        note_trap(r, url, "more than 20 redirects in a row");
        return;
    }
    if (shared->focus && budget_spend(r->paying, crawl_reader_focus_cost(
                                                     r, anchor.len + url.len)))
        score = crawl_focus_link(shared->focus, 0, anchor, url);
    add_link(r, url, letter, depth, score, v.priority, type);
    if (!r->no_memory && v.revisit != CRAWL_UNSET)
        page->link[page->links - 1].minutes = minutes_of(v.revisit);
}

/* One URL does not take what the others need. So `seen crawl why` comes to the
   same answer, unless the page had too little left. */
static uint64_t lend_to_patterns(struct crawl_reader *r)
{
    r->patterns = budget_lend(r->paying, CRAWL_URL_STEPS);
    return r->patterns.left;
}

void crawl_reader_consider(struct crawl_reader *r, struct seen_span url,
                           char letter, unsigned depth, bool requisite,
                           bool nofollow, struct seen_span anchor)
{
    uint64_t lent;

    if (!budget_spend(r->paying, LINK + LINK_BYTE * url.len))
        return;
    lent = lend_to_patterns(r);
    consider_paid(r, url, letter, depth, requisite, nofollow, anchor);
    budget_settle(r->paying, &r->patterns, lent);
}

void crawl_reader_take_link(void *owner, const struct web_link *link)
{
    struct crawl_reader *r = owner;

    char letter = letter_of(link);

    if (link->requisite && !r->shared->settings->requisites)
        return;
    crawl_reader_consider(
        r, link->url, letter, r->page->depth + (letter != 'R'),
        link->requisite,
        link->nofollow && !r->shared->settings->ignore_nofollow, link->text);
}

/* --- lists --- */

/* A sitemap is part of the site: no --include and no template has to name it.
   Indexes of indexes of indexes end somewhere. */
static void consider_paid_list(struct crawl_reader *r, struct seen_span url)
{
    struct crawl_page *page = r->page;
    struct crawl_link *link;
    enum crawl_scope_out out;
    char reason[CRAWL_REASON];

    if (page->lists >= CRAWL_LISTING_HOPS) {
        note_trap(r, url, "too many sitemaps lead to it");
        return;
    }
    if (!crawl_scope_list(r->shared->scope, url, &r->patterns, &out, reason)) {
        leave(r, url, out, reason);
        return;
    }
    if (page->links >= LINKS_MOST) {
        note_trap(r, url, "more than 100,000 links on one page");
        return;
    }
    link = add_link(r, url, 'M', page->depth, 1, 0,
                    (struct seen_span){ "", 0 });
    if (link)
        link->list = true;
}

static void consider_list(struct crawl_reader *r, struct seen_span url)
{
    uint64_t lent;

    if (!budget_spend(r->paying, LINK + LINK_BYTE * url.len))
        return;
    lent = lend_to_patterns(r);
    consider_paid_list(r, url);
    budget_settle(r->paying, &r->patterns, lent);
}

static void take_entry(void *owner, struct seen_span url, bool list)
{
    struct crawl_reader *r = owner;

    if (list)
        consider_list(r, url);
    else
        crawl_reader_consider(r, url, 'M', r->page->depth + 1, false, false,
                              (struct seen_span){ "", 0 });
}

/* A sitemap that is visited again has no flag, but a type. */
bool crawl_reader_has_list(const struct crawl_reader *r)
{
    const struct crawl_page *page = r->page;

    return page->flags & CRAWL_FLAG_SITEMAP ||
           crawl_listing_is_feed(page->mime) ||
           (r->shared->settings->sitemaps && crawl_listing_may_be(page->mime));
}

void crawl_reader_list(struct crawl_reader *r)
{
    struct crawl_page *page = r->page;

    for (const char *p = page->path; *p; p++)
        page->lists += *p == 'M';
    crawl_listing_read(r->decoded.body, page->url, r->paying, take_entry, r,
                       page->fault);
    crawl_reader_note_cost(
        r, budget_empty(r->paying),
        "it costs too much: some of its entries are left out");
}

/* The sitemaps that a robots.txt names. */
enum seen_code crawl_reader_robots(struct crawl_reader *r,
                                   struct seen_error *why)
{
    struct web_robots *robots;
    struct seen_span name;
    enum seen_code code;
    const char *url;
    size_t len;

    if (!r->shared->settings->sitemaps || r->page->status != 200)
        return SEEN_OK;
    code = web_robots_new(&robots, r->decoded.body.text, r->decoded.body.len,
                          NULL, why);
    if (code != SEEN_OK)
        return code;
    for (size_t i = 0;
         i < SITEMAPS_MOST && web_robots_sitemap(robots, i, &name); i++)
        if (seen_url_whatwg(&url, &len, r->clean, name.text, name.len,
                            r->page->url, strlen(r->page->url),
                            NULL) == SEEN_OK &&
            !strncmp(url, "http", 4))
            consider_list(r, (struct seen_span){ url, len });
    web_robots_free(robots);
    return SEEN_OK;
}
