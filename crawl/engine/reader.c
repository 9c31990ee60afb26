/*
 * reader.c - from an answer to links, fields and WARC members.
 *
 * What an answer means:
 *
 *     200 ...         stored; its links are followed
 *     same digest     stored as a revisit record; its links are followed
 *     304             a revisit record; the links of our copy are followed
 *     301, 302, ...   stored; its target is a link of the same depth
 *     429, 5xx        tried again, later; after the last attempt stored
 *     404, ...        stored
 *     no answer       tried again, later; after the last attempt logged
 *
 * A page that says "too many requests" with the status 200 is a 429 in
 * disguise: short, and with the words in its title or first lines.
 */
#include "reader.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../../fetch/decode.h"
#include "../../lib/text/array.h"
#include "../../lib/text/json.h"
#include "../../lib/text/span.h"
#include "../../web/links.h"
#include "../../web/robots.h"
#include "../page/listing.h"
#include "copy.h"
#include "extract.h"

enum {
    TEXT_MOST = 1 << 20,      /* bytes of visible text that are kept */
    LIMIT_MOST = 8 << 10,     /* a longer page is not a rate limit */
    LINKS_MOST = 100000,      /* per page */
    HOPS_MOST = 20,           /* redirects in a row */
    TRAPS_MOST = 100,         /* remembered per page; all are counted */
    SITEMAPS_MOST = 1000,     /* per robots.txt */
    KEPT = 1 << 20            /* bytes of a buffer for the next page */
};

struct crawl_reader {
    const struct crawl_shared *shared;
    struct warc_packer *packer;
    struct fetch_decoded decoded, other;
    struct crawl_copy copy;
    struct buffer text, title, record, fields;
    struct warc_packed packed;
    char room[SEEN_KEY_TEXT], clean[SEEN_KEY_TEXT];
    struct crawl_page *page; /* the one at hand */
    const char *type;        /* of the template, or NULL */
    struct web_tree *tree;   /* if the template needs it */
    struct crawl_areas *areas;
    bool no_memory;
    bool noindex;            /* the page asks not to be found */
    struct budget budget;    /* of the page at hand; */
    struct budget *paying;   /* what links pay from: a part of it, or all; */
    struct budget patterns;  /* what patterns may take of that for a URL */
    const atomic_bool *stop; /* or NULL */
    uint64_t steps;          /* of a page */
    uint64_t stop_steps;     /* after a stop; what is left of them: */
    uint64_t grace;
};

enum seen_code crawl_reader_new(struct crawl_reader **out,
                                const atomic_bool *stop,
                                struct seen_error *why)
{
    struct crawl_reader *r = calloc(1, sizeof *r);
    enum seen_code code;

    *out = NULL;
    if (!r)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a reader");
    r->stop = stop;
    crawl_reader_limit(r, CRAWL_PAGE_STEPS, CRAWL_STOP_STEPS);
    r->decoded.budget = r->other.budget = &r->budget;
    code = warc_packer_new(&r->packer, 0, why);
    if (code != SEEN_OK) {
        free(r);
        return code;
    }
    *out = r;
    return SEEN_OK;
}

void crawl_reader_limit(struct crawl_reader *r, uint64_t steps,
                        uint64_t stop_steps)
{
    r->steps = steps;
    r->stop_steps = r->grace = stop_steps;
}

void crawl_reader_free(struct crawl_reader *r)
{
    if (!r)
        return;
    warc_packer_free(r->packer);
    fetch_decoded_clear(&r->decoded);
    fetch_decoded_clear(&r->other);
    crawl_copy_clear(&r->copy);
    buffer_clear(&r->text);
    buffer_clear(&r->title);
    buffer_clear(&r->record);
    buffer_clear(&r->fields);
    warc_packed_clear(&r->packed);
    free(r);
}

static struct seen_span span_of_buffer(const struct buffer *b)
{
    return (struct seen_span){ b->bytes ? b->bytes : "", b->len };
}

/* --- what it costs --- */

/* Steps per link and per byte of its URL; per byte of words. */
enum { LINK = 200, LINK_BYTE = 4, WORD_BYTE = 24, WORD = 40, PACK_BYTE = 5 };

static void begin_budget(struct crawl_reader *r, bool may_stop)
{
    r->budget = (struct budget){ .left = r->steps };
    r->paying = &r->budget;
    if (!may_stop)
        return;
    if (!r->stop || !atomic_load(r->stop))
        r->grace = r->stop_steps; /* a run goes on after a lease has ended */
    r->budget.stop = r->stop;
    r->budget.grace = r->grace;
}

/* A page is packed whatever it has cost; but a stop does not wait for that. */
static bool may_pack(struct crawl_reader *r)
{
    struct budget packing = r->budget;
    bool may;

    if (!packing.hurried)
        packing.left = UINT64_MAX;
    may = budget_spend(&packing, PACK_BYTE * (uint64_t)r->page->raw.len);
    if (packing.hurried)
        r->budget = packing;
    return may;
}

/* The first reason counts. */
static void note_cost(struct crawl_reader *r, bool costly, const char *what)
{
    if (costly)
        crawl_page_note_cost(r->page, "%s", what);
}

static uint64_t focus_cost(const struct crawl_reader *r, size_t bytes)
{
    return WORD_BYTE * (uint64_t)bytes +
           WORD * (uint64_t)crawl_focus_words(r->shared->focus);
}

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
static void leave_out(struct crawl_reader *r, const struct seen_key *key,
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
    leave_out(r, &key, CRAWL_LEFT_COSTLY);
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
        leave_out(r, &key, nofollow ? CRAWL_LEFT_NOFOLLOW : CRAWL_LEFT_RULE);
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
    if (shared->focus &&
        budget_spend(r->paying, focus_cost(r, anchor.len + url.len)))
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

static void consider(struct crawl_reader *r, struct seen_span url, char letter,
                     unsigned depth, bool requisite, bool nofollow,
                     struct seen_span anchor)
{
    uint64_t lent;

    if (!budget_spend(r->paying, LINK + LINK_BYTE * url.len))
        return;
    lent = lend_to_patterns(r);
    consider_paid(r, url, letter, depth, requisite, nofollow, anchor);
    budget_settle(r->paying, &r->patterns, lent);
}

static void take_link(void *owner, const struct web_link *link)
{
    struct crawl_reader *r = owner;

    char letter = letter_of(link);

    if (link->requisite && !r->shared->settings->requisites)
        return;
    consider(r, link->url, letter, r->page->depth + (letter != 'R'),
             link->requisite,
             link->nofollow && !r->shared->settings->ignore_nofollow,
             link->text);
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
        consider(r, url, 'M', r->page->depth + 1, false, false,
                 (struct seen_span){ "", 0 });
}

/* A sitemap that is visited again has no flag, but a type. */
static bool is_list(const struct crawl_reader *r)
{
    const struct crawl_page *page = r->page;

    return page->flags & CRAWL_FLAG_SITEMAP ||
           crawl_listing_is_feed(page->mime) ||
           (r->shared->settings->sitemaps && crawl_listing_may_be(page->mime));
}

static void read_list(struct crawl_reader *r)
{
    struct crawl_page *page = r->page;

    for (const char *p = page->path; *p; p++)
        page->lists += *p == 'M';
    crawl_listing_read(r->decoded.body, page->url, r->paying, take_entry, r,
                       page->fault);
    note_cost(r, budget_empty(r->paying),
              "it costs too much: some of its entries are left out");
}

/* The sitemaps that a robots.txt names. */
static enum seen_code read_robots(struct crawl_reader *r,
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

/* --- pages --- */

static bool is_html(const char *mime)
{
    return !strcasecmp(mime, "text/html") ||
           !strcasecmp(mime, "application/xhtml+xml");
}

/* "text/html" and "utf-8" of "text/html; charset=utf-8". */
static void read_type(struct crawl_page *page, char charset[64])
{
    struct seen_span value = { "", 0 }, type, rest;

    *charset = '\0';
    fetch_header(span_of_buffer(&page->head), "content-type", &value);
    rest = value;
    if (!span_cut(&rest, ';', &type))
        type = value;
    type = span_trim(type);
    if (type.len >= sizeof page->mime)
        type.len = 0;
    for (size_t i = 0; i < type.len; i++) {
        char c = type.text[i];

        page->mime[i] = c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
    }
    page->mime[type.len] = '\0';
    for (struct seen_span part; span_cut(&rest, ';', &part);) {
        part = span_trim(part);
        if (part.len > 8 && !strncasecmp(part.text, "charset=", 8)) {
            part = (struct seen_span){ part.text + 8, part.len - 8 };
            if (part.len > 1 && *part.text == '"')
                part = (struct seen_span){ part.text + 1, part.len - 2 };
            if (part.len < 64) {
                memcpy(charset, part.text, part.len);
                charset[part.len] = '\0';
            }
        }
    }
}

/* What a template needs: the type of the page, and perhaps a tree. */
static enum seen_code read_tree(struct crawl_reader *r, const char *charset,
                                struct seen_error *why)
{
    const struct crawl_template *t = r->shared->template;
    struct crawl_page *page = r->page;
    const char *unknown;
    size_t len = strlen(page->url);
    const uint64_t half = r->budget.left / 2;
    struct budget parsing = budget_lend(&r->budget, half);
    enum seen_code code;

    r->type = crawl_template_type(t, *page->type ? page->type : NULL,
                                  page->url, len, &unknown);
    if (unknown)
        crawl_page_note_cost(
            page, "its type is not known: pattern too costly here: %.120s",
            unknown);
    if (!crawl_template_needs_tree(t, r->type))
        return SEEN_OK;
    code = web_tree_new_within(&r->tree, r->decoded.body.text,
                               r->decoded.body.len, *charset ? charset : NULL,
                               &parsing, why);
    budget_settle(&r->budget, &parsing, half);
    if (code == SEEN_RANGE) { /* it is too long: a page without fields */
        note_cost(r, true, "it is too long for a template");
        return SEEN_OK;
    }
    if (code != SEEN_OK)
        return code;
    note_cost(r, web_tree_cut(r->tree),
              "it costs too much: its template sees only a part of it");
    web_tree_limit(r->tree, &r->budget);
    return crawl_areas_new(&r->areas, t, r->tree, page->url, len, why);
}

static void drop_tree(struct crawl_reader *r)
{
    crawl_areas_free(r->areas);
    web_tree_free(r->tree);
    r->areas = NULL;
    r->tree = NULL;
    r->type = NULL;
}

static enum seen_code read_links(struct crawl_reader *r, const char *charset,
                                 struct seen_error *why)
{
    struct crawl_page *page = r->page;
    struct web_document doc = {
        .bytes = r->decoded.body.text,
        .len = r->decoded.body.len,
        .url = page->url,
        .url_len = strlen(page->url),
        .type = *page->mime ? page->mime : NULL,
        .charset = *charset ? charset : NULL,
        .headers = span_of_buffer(&page->head),
        .requisites = r->shared->settings->requisites,
    };
    enum seen_code code = SEEN_OK;
    struct web_page facts = { .title = &r->title,
                              .text = &r->text,
                              .most_text = TEXT_MOST };
    struct budget part;
    uint64_t lent;

    if (r->shared->template)
        code = read_tree(r, charset, why);
    /* What links leave is for fields. */
    lent = r->shared->template ? r->budget.left / 2 : r->budget.left;
    part = budget_lend(&r->budget, lent);
    doc.budget = r->paying = &part;
    if (code == SEEN_OK)
        code = web_links_read(&doc, &facts, take_link, r, why);
    r->noindex = facts.noindex;
    r->paying = &r->budget;
    budget_settle(&r->budget, &part, lent);
    note_cost(r, facts.costly,
              "it costs too much: some of its links are left out");
    return code;
}

/* --- focus --- */

/*
 * Links were found while the page was read; what the page itself is worth is
 * known only now. Redirects lead to the page that was wanted, and requisites
 * belong to theirs: they are followed with the priority of the page.
 */
static void weigh(struct crawl_reader *r)
{
    const struct crawl_settings *s = r->shared->settings;
    struct crawl_page *page = r->page;
    size_t kept = 0;

    if (budget_spend(&r->budget, focus_cost(r, r->text.len)))
        page->score = crawl_focus_text(r->shared->focus,
                                       span_of_buffer(&r->text));
    else
        note_cost(r, true, "it costs too much: its words are not counted");
    for (size_t i = 0; i < page->links; i++) {
        struct crawl_link link = page->link[i];

        link.score += s->weight[0] * page->score;
        if (link.letter == 'R' || link.letter == 'E' || link.list) {
            link.priority = page->priority;
        } else if (link.score < s->threshold) {
            leave_out(r, &link.key, CRAWL_LEFT_SCORE);
            continue;
        } else {
            link.priority += (int64_t)(1000000 * (1 - link.score));
        }
        page->link[kept++] = link;
    }
    page->links = kept;
}

/* --- pages that are as they were --- */

static void exchange(struct crawl_reader *r)
{
    struct fetch_decoded decoded = r->decoded;
    struct buffer head = r->page->head;

    r->decoded = r->other;
    r->other = decoded;
    r->page->head = r->copy.head;
    r->copy.head = head;
}

/* The links of a page that is as it was: our copy stands for the answer. */
static enum seen_code read_copy(struct crawl_reader *r, struct seen_error *why)
{
    struct crawl_page *page = r->page;
    enum seen_code code;
    char charset[64], mime[sizeof page->mime];
    size_t most = (size_t)r->shared->settings->max_size;

    code = crawl_copy_read(&r->copy, r->shared->folder, page->known.place,
                           most, why);
    if (code != SEEN_OK || !r->copy.found)
        return code;
    code = fetch_decode(&r->other, span_of_buffer(&r->copy.head),
                        span_of_buffer(&r->copy.body), most, why);
    if (code != SEEN_OK)
        return code;
    memcpy(mime, page->mime, sizeof mime);
    exchange(r);
    read_type(page, charset);
    if (is_html(page->mime) || !*page->mime)
        code = read_links(r, charset, why);
    exchange(r);
    memcpy(page->mime, mime, sizeof mime);
    if (code == SEEN_OK && r->shared->focus)
        weigh(r);
    drop_tree(r); /* its fields were extracted when it was new */
    r->text.len = r->title.len = 0;
    return code;
}

/* --- redirects --- */

static void follow(struct crawl_reader *r)
{
    struct crawl_page *page = r->page;
    struct seen_span location = { "", 0 };
    const char *target;
    char *text = malloc(SEEN_KEY_TEXT), *key_text;
    struct seen_key key;
    size_t len;

    if (!text) {
        r->no_memory = true;
        return;
    }
    if (fetch_header(span_of_buffer(&page->head), "location", &location) &&
        seen_url_whatwg(&target, &len, text, location.text, location.len,
                        page->url, strlen(page->url), NULL) == SEEN_OK &&
        crawl_scope_is_web((struct seen_span){ target, len })) {
        key_text = r->room;
        crawl_key(&key, key_text, (struct seen_span){ target, len });
        if (key.lo != page->key.lo || key.hi != page->key.hi)
            consider(r, (struct seen_span){ target, len }, 'R', page->depth,
                     page->flags & CRAWL_FLAG_REQUISITE, false,
                     (struct seen_span){ "", 0 });
        else if (page->flags & CRAWL_FLAG_AGAIN)
            page->outcome = CRAWL_LOOP;
        else
            page->outcome = CRAWL_AGAIN;
    } else {
        snprintf(page->fault, sizeof page->fault,
                 "the redirect has no target that can be fetched");
    }
    free(text);
}

/* --- what an answer means --- */

static bool mentions(struct seen_span text, const char *words)
{
    size_t n = strlen(words);

    for (size_t i = 0; i + n <= text.len; i++)
        if (!strncasecmp(text.text + i, words, n))
            return true;
    return false;
}

static bool is_limit_in_disguise(const struct crawl_reader *r)
{
    static const char *const words[] = { "too many requests",
                                         "rate limit exceeded", "rate limited",
                                         "request limit exceeded", NULL };
    struct seen_span title = span_of_buffer(&r->title);

    if (r->decoded.body.len > LIMIT_MOST)
        return false;
    for (int i = 0; words[i]; i++)
        if (mentions(title, words[i]) ||
            (r->text.len < 400 &&
             mentions(span_of_buffer(&r->text), words[i])))
            return true;
    return false;
}

static bool may_retry(const struct crawl_reader *r)
{
    return r->page->attempts < r->shared->settings->retries;
}

static bool is_redirect(int status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 ||
           status == 308;
}

static enum seen_code judge(struct crawl_reader *r, struct seen_error *why)
{
    struct crawl_page *page = r->page;
    char charset[64];
    enum seen_code code = SEEN_OK;

    read_type(page, charset);
    page->outcome = CRAWL_STORED;
    if (page->status == 304 && page->known.id) {
        page->outcome = CRAWL_UNCHANGED;
        page->revisit = true;
        return read_copy(r, why);
    }
    if (page->status == 429 || page->status >= 500) {
        page->outcome = may_retry(r) ? CRAWL_AGAIN : CRAWL_ERROR;
        return SEEN_OK;
    }
    if (page->status >= 400) {
        page->outcome = CRAWL_ERROR;
        return SEEN_OK;
    }
    if (is_redirect(page->status)) {
        page->outcome = CRAWL_REDIRECT;
        follow(r);
        if (r->shared->focus)
            weigh(r);
        return SEEN_OK;
    }
    if (is_list(r))
        read_list(r);
    else if (is_html(page->mime) || !*page->mime ||
             (r->shared->settings->requisites &&
              !strcmp(page->mime, "text/css")))
        code = read_links(r, charset, why);
    if (code == SEEN_OK && r->shared->focus)
        weigh(r);
    if (code == SEEN_OK && is_limit_in_disguise(r)) {
        page->status = 429;
        page->outcome = may_retry(r) ? CRAWL_AGAIN : CRAWL_ERROR;
        page->links = 0;
        snprintf(page->fault, sizeof page->fault,
                 "the page says that it is a rate limit");
    }
    return code;
}

/* --- members --- */

static bool wants_warc(const struct crawl_reader *r)
{
    return !r->shared->settings->urls_only && !r->shared->no_warc;
}

static enum seen_code pack(struct crawl_reader *r, struct seen_error *why)
{
    struct crawl_page *page = r->page;
    const struct crawl_known *known = &page->known;
    struct warc_exchange x = {
        .url = page->url,
        .when = (uint64_t)page->started,
        .address = *page->address ? page->address : NULL,
        .request = span_of_buffer(&page->sent),
        .head = span_of_buffer(&page->head),
        .body = span_of_buffer(&page->raw),
        .payload = r->decoded.payload,
        .truncated = page->cut,
        .status = page->status,
        .type = *page->mime ? page->mime : NULL,
    };
    enum seen_code code;
    char digest[WARC_DIGEST];

    if (known->id && *known->digest) {
        x.refers_url = known->url;
        x.refers_when = (uint64_t)known->stored;
        x.refers_digest = known->digest;
        if (page->status == 304)
            x.revisit = WARC_NOT_MODIFIED;
        else if (page->outcome == CRAWL_STORED && !page->cut) {
            code = warc_digest(x.payload, digest, why);
            if (code != SEEN_OK)
                return code;
            if (!strcmp(digest, known->digest)) {
                x.revisit = WARC_IDENTICAL;
                page->outcome = CRAWL_UNCHANGED;
                page->revisit = true;
            }
        }
    }
    /* Packing needs more room than its result takes. */
    code = warc_pack(r->packer, &r->packed, &x, why);
    if (code != SEEN_OK)
        return code;
    page->packed = r->packed;
    page->packed.bytes = (struct buffer){ .bytes = NULL };
    return crawl_page_copy(&page->packed.bytes, &r->packed.bytes)
               ? SEEN_OK
               : seen_fail(why, SEEN_NOMEM, 0, "no memory for a page");
}

/* Without WARC files: is the payload the one that is known? */
static enum seen_code compare(struct crawl_reader *r, struct seen_error *why)
{
    struct crawl_page *page = r->page;
    enum seen_code code = warc_digest(r->decoded.payload, page->packed.digest,
                                      why);

    if (code == SEEN_OK && page->known.id && !page->cut &&
        !strcmp(page->packed.digest, page->known.digest))
        page->outcome = CRAWL_UNCHANGED;
    return code;
}

/* --- the whole of it --- */

static enum seen_code extract(struct crawl_reader *r, struct seen_error *why)
{
    enum seen_code code;

    r->record.len = r->fields.len = 0;
    r->record.failed = r->fields.failed = false;
    code = crawl_extract(r->shared, r->page, r->tree,
                         span_of_buffer(&r->title), span_of_buffer(&r->text),
                         &r->record, &r->fields, why);
    if (code == SEEN_OK && !crawl_page_copy(&r->page->record, &r->record))
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for a page record");
    return code;
}

static enum seen_code finish_answer(struct crawl_reader *r,
                                    struct seen_error *why)
{
    struct crawl_page *page = r->page;
    enum seen_code code = SEEN_OK;

    if (page->outcome != CRAWL_AGAIN && wants_warc(r) && may_pack(r))
        code = pack(r, why);
    else if (page->outcome == CRAWL_STORED && r->shared->digests)
        code = compare(r, why);
    if (code == SEEN_OK && page->outcome != CRAWL_AGAIN &&
        !r->shared->settings->urls_only)
        code = extract(r, why);
    if (code == SEEN_OK && r->shared->settings->index && !r->noindex) {
        buffer_append(&page->body, &r->title);
        page->title_len = page->body.len;
        buffer_append(&page->body, &r->text);
    }
    if (r->title.len && r->title.len < sizeof page->title) {
        memcpy(page->title, r->title.bytes, r->title.len);
        page->title[r->title.len] = '\0';
    }
    return code;
}

/* A page that was very large leaves no large buffers behind. */
static void trim(struct crawl_reader *r)
{
    struct buffer *const buffers[] = { &r->packed.bytes, &r->record,
                                       &r->fields, &r->text };

    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        if (buffers[i]->room > KEPT)
            buffer_clear(buffers[i]);
}

/* A body that came as a whole may still be damaged, or a bomb: some kilobytes
   that stand for gigabytes. */
static void note_unread(struct crawl_reader *r)
{
    const struct fetch_decoded *d = &r->decoded;
    struct crawl_page *page = r->page;
    uint64_t most = r->shared->settings->max_size;

    page->unread[0] = '\0';
    if (*d->fault)
        snprintf(page->unread, sizeof page->unread, "%s", d->fault);
    else if (d->cut && d->body.len >= most && d->payload.len < most)
        snprintf(page->unread, sizeof page->unread,
                 "it unpacks to more than %llu bytes",
                 (unsigned long long)most);
    else if (d->cut && !page->cut)
        snprintf(page->unread, sizeof page->unread,
                 "the packed data ends too early");
}

/* libcurl has one code for a line of a head that is too long, which a guard
   refuses, and for a lack of memory. */
bool crawl_read_refused(const struct crawl_page *page)
{
    return page->code == SEEN_RANGE &&
           !mentions(span_of(page->fault), "line without end");
}

static enum seen_code work_robots(struct crawl_reader *r,
                                  struct seen_error *why)
{
    struct seen_span body = r->decoded.body;
    struct crawl_page *page = r->page;
    enum seen_code code;
    char charset[64];

    read_type(page, charset);
    page->outcome = CRAWL_STORED;
    if (body.len > WEB_ROBOTS_MOST) /* it shows whether a line is cut */
        body.len = WEB_ROBOTS_MOST + 1;
    buffer_span(&page->body, body);
    code = read_robots(r, why);
    return code == SEEN_OK && wants_warc(r) ? pack(r, why) : code;
}

static enum seen_code work_answer(struct crawl_reader *r,
                                  struct seen_error *why)
{
    struct crawl_page *page = r->page;
    enum seen_code code;

    code = fetch_decode(&r->decoded, span_of_buffer(&page->head),
                        span_of_buffer(&page->raw),
                        (size_t)r->shared->settings->max_size, why);
    if (code != SEEN_OK)
        return code;
    page->size = r->decoded.payload.len;
    note_unread(r);
    if (page->robots)
        return work_robots(r, why);
    code = judge(r, why);
    if (code == SEEN_OK)
        code = finish_answer(r, why);
    drop_tree(r);
    return code;
}

/* Is it about us, and not about what a page contains? */
static bool is_fault(enum seen_code code)
{
    return code != SEEN_OK && code != SEEN_RANGE && code != SEEN_CORRUPT &&
           code != SEEN_BAD_URL;
}

/* The page is one that nothing can be made of, for a reason of its own. */
static void give_up(struct crawl_reader *r, enum seen_code code,
                    const struct seen_error *why)
{
    struct crawl_page *page = r->page;

    page->code = code;
    page->outcome = CRAWL_FAILED;
    page->links = page->lefts = 0;
    page->revisit = false;
    buffer_clear(&page->record);
    page->packed.bytes.len = page->body.len = page->title_len = 0;
    snprintf(page->fault, sizeof page->fault, "%s", why->text);
}

static void take_up(struct crawl_reader *r, struct crawl_page *page)
{
    r->page = page;
    r->shared = page->shared;
    r->no_memory = r->noindex = false;
    r->text.len = r->title.len = 0;
}

/* The page is worked off with this code: is that a fault of ours? */
static enum seen_code put_down(struct crawl_reader *r, enum seen_code code,
                               const struct seen_error *reason,
                               struct seen_error *why)
{
    struct crawl_page *page = r->page;

    trim(r);
    if (r->budget.hurried)
        r->grace = r->budget.left;
    else
        page->steps = r->steps - r->budget.left +
                      PACK_BYTE * (uint64_t)page->raw.len;
    if (is_fault(code)) {
        if (why)
            *why = *reason;
        return code;
    }
    if (code != SEEN_OK)
        give_up(r, code, reason);
    if (r->no_memory || page->texts.failed || page->body.failed)
        return seen_fail(why, SEEN_NOMEM, 0,
                         "no memory for the links of %.80s", page->url);
    if (budget_stopped(&r->budget))
        return seen_fail(why, SEEN_UNABLE, 0, "it was stopped");
    return SEEN_OK;
}

/* Is it what was stored? One that was cut, as it may be by a --max-size that is
   smaller now, cannot be compared. */
static enum seen_code check_copy(struct crawl_reader *r,
                                 struct seen_error *why)
{
    const struct crawl_known *known = &r->page->known;
    char digest[WARC_DIGEST];
    enum seen_code code;

    if (!r->copy.whole)
        return seen_fail(why, SEEN_CORRUPT, 0, "there is no whole copy");
    if (r->other.cut || !*known->digest)
        return SEEN_OK;
    code = warc_digest(r->other.payload, digest, why);
    if (code == SEEN_OK && strcmp(digest, known->digest))
        code = seen_fail(why, SEEN_CORRUPT, 0, "the copy is damaged");
    return code;
}

enum seen_code crawl_read_stored(struct crawl_reader *r,
                                 struct crawl_page *page,
                                 struct seen_error *why)
{
    struct seen_error reason;
    enum seen_code code;

    take_up(r, page);
    page->copy = true;
    page->outcome = CRAWL_UNCHANGED;
    begin_budget(r, true);
    code = read_copy(r, &reason);
    if (code == SEEN_OK)
        code = check_copy(r, &reason);
    return put_down(r, code, &reason, why);
}

enum seen_code crawl_read(struct crawl_reader *r, struct crawl_page *page,
                          struct seen_error *why)
{
    struct seen_error reason;
    enum seen_code code;

    take_up(r, page);
    if (page->code != SEEN_OK) {
        page->outcome = may_retry(r) && !crawl_read_refused(page)
                            ? CRAWL_AGAIN
                            : CRAWL_FAILED;
        return SEEN_OK;
    }
    begin_budget(r, !page->robots);
    code = work_answer(r, &reason);
    return put_down(r, code, &reason, why);
}
