/*
 * reader_answer.c - what an answer means, and what the page says.
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
#include "reader_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../../lib/text/span.h"

enum {
    TEXT_MOST = 1 << 20, /* bytes of visible text that are kept */
    LIMIT_MOST = 8 << 10 /* a longer page is not a rate limit */
};

/* --- pages --- */

static bool is_html(const char *mime)
{
    return !strcasecmp(mime, "text/html") ||
           !strcasecmp(mime, "application/xhtml+xml");
}

/* "text/html" and "utf-8" of "text/html; charset=utf-8". */
void crawl_reader_type(struct crawl_page *page, char charset[64])
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
        crawl_reader_note_cost(r, true, "it is too long for a template");
        return SEEN_OK;
    }
    if (code != SEEN_OK)
        return code;
    crawl_reader_note_cost(
        r, web_tree_cut(r->tree),
        "it costs too much: its template sees only a part of it");
    web_tree_limit(r->tree, &r->budget);
    return crawl_areas_new(&r->areas, t, r->tree, page->url, len, why);
}

void crawl_reader_drop_tree(struct crawl_reader *r)
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
        code = web_links_read(&doc, &facts, crawl_reader_take_link, r, why);
    r->noindex = facts.noindex;
    r->paying = &r->budget;
    budget_settle(&r->budget, &part, lent);
    crawl_reader_note_cost(
        r, facts.costly, "it costs too much: some of its links are left out");
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

    if (budget_spend(&r->budget, crawl_reader_focus_cost(r, r->text.len)))
        page->score = crawl_focus_text(r->shared->focus,
                                       span_of_buffer(&r->text));
    else
        crawl_reader_note_cost(r, true,
                               "it costs too much: its words are not counted");
    for (size_t i = 0; i < page->links; i++) {
        struct crawl_link link = page->link[i];

        link.score += s->weight[0] * page->score;
        if (link.letter == 'R' || link.letter == 'E' || link.list) {
            link.priority = page->priority;
        } else if (link.score < s->threshold) {
            crawl_reader_leave_out(r, &link.key, CRAWL_LEFT_SCORE);
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
enum seen_code crawl_reader_copy(struct crawl_reader *r,
                                 struct seen_error *why)
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
    crawl_reader_type(page, charset);
    if (is_html(page->mime) || !*page->mime)
        code = read_links(r, charset, why);
    exchange(r);
    memcpy(page->mime, mime, sizeof mime);
    if (code == SEEN_OK && r->shared->focus)
        weigh(r);
    crawl_reader_drop_tree(r); /* its fields were extracted when it was new */
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
            crawl_reader_consider(r, (struct seen_span){ target, len }, 'R',
                                  page->depth,
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

bool crawl_reader_mentions(struct seen_span text, const char *words)
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
        if (crawl_reader_mentions(title, words[i]) ||
            (r->text.len < 400 &&
             crawl_reader_mentions(span_of_buffer(&r->text), words[i])))
            return true;
    return false;
}

bool crawl_reader_may_retry(const struct crawl_reader *r)
{
    return r->page->attempts < r->shared->settings->retries;
}

static bool is_redirect(int status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 ||
           status == 308;
}

enum seen_code crawl_reader_judge(struct crawl_reader *r,
                                  struct seen_error *why)
{
    struct crawl_page *page = r->page;
    char charset[64];
    enum seen_code code = SEEN_OK;

    crawl_reader_type(page, charset);
    page->outcome = CRAWL_STORED;
    if (page->status == 304 && page->known.id) {
        page->outcome = CRAWL_UNCHANGED;
        page->revisit = true;
        return crawl_reader_copy(r, why);
    }
    if (page->status == 429 || page->status >= 500) {
        page->outcome = crawl_reader_may_retry(r) ? CRAWL_AGAIN : CRAWL_ERROR;
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
    if (crawl_reader_has_list(r))
        crawl_reader_list(r);
    else if (is_html(page->mime) || !*page->mime ||
             (r->shared->settings->requisites &&
              !strcmp(page->mime, "text/css")))
        code = read_links(r, charset, why);
    if (code == SEEN_OK && r->shared->focus)
        weigh(r);
    if (code == SEEN_OK && is_limit_in_disguise(r)) {
        page->status = 429;
        page->outcome = crawl_reader_may_retry(r) ? CRAWL_AGAIN : CRAWL_ERROR;
        page->links = 0;
        snprintf(page->fault, sizeof page->fault,
                 "the page says that it is a rate limit");
    }
    return code;
}
