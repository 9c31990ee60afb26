/*
 * searches.c - the page to search crawls, and the same for programs.
 *
 *     GET /search?q=WORDS             HTML, or JSON by Accept
 *     GET /search.json?q=WORDS        JSON
 *
 * A request is pending while a thread of the crawl asks its index
 * (search/search.h). The question goes there as a message (mailbox.h), so it
 * outlives the exchange, which a client that goes away takes along: then `gone`
 * tells the thread not to go on. One that is late is answered without it.
 */
#include "searches.h"

#include <stdlib.h>
#include <time.h>

#include "../../lib/text/json.h"
#include "../../lib/text/number.h"
#include "../../lib/text/percent.h"
#include "../mailbox.h"
#include "html.h"
#include "http.h"
#include "request.h"

enum { PATIENCE = 20000 }; /* ms */

struct http_searching {
    struct search_asking asking; /* first */
    struct serve_message message;
    struct pending pending;
    bool json;
    bool back; /* the loop has it */
    struct searches_form form;
    struct buffer words;
};

struct http_search_exchange {
    struct http_exchange exchange;
    struct http_searching *searching;
    bool asked; /* it has an end of its own */
};

/* --- texts --- */

/* Controls and spaces become one space: U+0080 to U+009F are controls, too. */
static size_t fold(struct buffer *line, const char *text)
{
    const unsigned char c = (unsigned char)*text,
                        next = (unsigned char)text[1];

    if (c == 0xc2 && next >= 0x80 && next < 0xa0)
        return 2;
    if (c > ' ' && c != 0x7f)
        buffer_byte(line, *text);
    else if (!line->len || line->bytes[line->len - 1] != ' ')
        buffer_byte(line, ' ');
    return 1;
}

void searches_cut(const char *text, searches_take *take, void *owner)
{
    struct buffer part = { .bytes = NULL };
    bool found = false;

    while (*text) {
        if (*text == (found ? SEARCH_END : SEARCH_BEGIN)) {
            take(owner,
                 (struct seen_span){ part.len ? part.bytes : "", part.len },
                 found);
            part.len = 0;
            found = !found;
            text++;
        } else {
            text += fold(&part, text);
        }
    }
    if (part.len)
        take(owner, (struct seen_span){ part.bytes, part.len }, found);
    buffer_clear(&part);
}

void searches_copy(struct buffer *o, const struct search_page *page)
{
    const int64_t ms = page->stored > 0 ? page->stored : page->fetched;
    const time_t at = (time_t)(ms / 1000);
    char date[32] = "";
    struct tm tm;

    if (!gmtime_r(&at, &tm) ||
        !strftime(date, sizeof date, "%Y%m%d%H%M%S", &tm))
        strcpy(date, "19700101000000");
    buffer_format(o, "memento/%s/", date);
    percent_encode(o, page->url, strlen(page->url), PERCENT_NAME);
}

/* --- what is asked for --- */

/* A zero would hide what follows it. False if there is no room. */
static bool read_text(struct seen_span field, char *to, size_t room)
{
    char text[HTTP_TARGET];
    size_t n;

    if (field.len > sizeof text)
        return false;
    for (size_t i = 0; i < field.len; i++)
        text[i] = field.text[i] == '+' ? ' ' : field.text[i];
    n = percent_decode_lenient(text, text, field.len);
    if (n >= room)
        return false;
    for (size_t i = 0; i < n; i++)
        to[i] = text[i] ? text[i] : ' ';
    to[n] = '\0';
    return true;
}

static bool read_number(struct seen_span field, int64_t most, int64_t *to)
{
    char text[32];
    uint64_t n;

    if (!read_text(field, text, sizeof text))
        return false;
    if (!*text)
        return true; /* a field that was left empty */
    if (number_count(text, &n) || !n || n > (uint64_t)most)
        return false;
    *to = (int64_t)n;
    return true;
}

/* 2026-01-31, or what number_moment() reads. With `end` it is the end of the
   day. */
static bool read_moment(const char *text, bool end, int64_t *ms)
{
    struct tm tm = { .tm_sec = 0 };
    char again[32];
    uint64_t seconds;
    const char *rest = strptime(text, "%Y-%m-%d", &tm);

    if (rest && !*rest && tm.tm_year >= 70 && tm.tm_year < 8100) {
        seconds = (uint64_t)timegm(&tm) + (end ? 86400 : 0);
        if (!strftime(again, sizeof again, "%Y-%m-%d", &tm) ||
            strcmp(again, text))
            return false;
    } else if (number_moment(text, &seconds)) {
        return false;
    } else {
        seconds += end; /* that second, too */
    }
    *ms = (int64_t)seconds * 1000;
    return true;
}

/* Returns what is wrong, or NULL. Other fields are ignored. */
static const char *read_field(struct searches_form *form,
                              struct seen_span name, struct seen_span field)
{
    int64_t n = 0;

    if (span_is(name, "q") &&
        !read_text(field, form->typed, sizeof form->typed))
        return "the question is too long";
    if (span_is(name, "crawl") &&
        !read_text(field, form->crawl, sizeof form->crawl))
        return "the name of the crawl is too long";
    if (span_is(name, "visit") && !read_number(field, INT64_MAX, &form->visit))
        return "visit is not the number of a visit";
    if ((span_is(name, "from") &&
         !read_text(field, form->from, sizeof form->from)) ||
        (span_is(name, "to") && !read_text(field, form->to, sizeof form->to)))
        return "a date is written 2026-01-31";
    if (span_is(name, "page")) {
        if (!read_number(field, SEARCH_DEEP, &n))
            return "page is not the number of a page of results";
        form->number = n ? (size_t)n : 1;
    }
    if (span_is(name, "most")) {
        if (!read_number(field, SEARCH_MOST, &n))
            return "most is a number from 1 to 100";
        form->most = n ? (size_t)n : SEARCHES_USUAL;
    }
    return NULL;
}

static const char *read_form(struct searches_form *form,
                             struct seen_span query, struct search_question *q)
{
    struct seen_span field, name;
    const char *fault = NULL, *one;

    *form = (struct searches_form){ .number = 1, .most = SEARCHES_USUAL };
    while (span_cut(&query, '&', &field)) {
        if (!span_cut(&field, '=', &name))
            continue;
        one = read_field(form, name, field);
        fault = fault ? fault : one;
    }
    q->visit = form->visit;
    q->from = INT64_MIN;
    q->to = INT64_MAX;
    q->first = (form->number - 1) * form->most;
    q->most = form->most;
    if (fault)
        return fault;
    if ((*form->from && !read_moment(form->from, false, &q->from)) ||
        (*form->to && !read_moment(form->to, true, &q->to)))
        return "a date is written 2026-01-31";
    if (form->number * form->most > SEARCH_DEEP)
        return "only the first 1,000 results can be turned to; add a word";
    return NULL;
}

/* Which crawl; the first one if none is named. */
static bool find_crawl(const struct search_set *s, struct searches_form *form,
                       size_t *crawl)
{
    const char *name;

    for (*crawl = 0; (name = search_name(s, *crawl)); ++*crawl) {
        if (!*form->crawl)
            snprintf(form->crawl, sizeof form->crawl, "%s", name);
        if (!strncmp(form->crawl, name, sizeof form->crawl - 1))
            return true;
    }
    return false;
}

/* --- answers --- */

static bool wants_json(const struct http_request *r, bool json)
{
    return json || http_prefers(r, "application/json", "text/html");
}

/* Not reply_error(): pages of other origins may not read this either. */
static void put_fault(struct buffer *body, const char *fault)
{
    buffer_text(body, "{\"error\": ");
    buffer_json(body, fault, strlen(fault));
    buffer_text(body, "}\n");
}

/* `fault` is why there is nothing, if the status is not 200. */
static void answer(struct conn *c, const struct http_request *r, bool json,
                   int status, const struct searches_form *form,
                   const struct search_found *found, const char *fault)
{
    const struct server *s = c->loop->server;
    struct buffer body = { .bytes = NULL }, origin = { .bytes = NULL };
    struct searches_site site = { .search = s->search,
                                  .crawls = s->watch != NULL,
                                  .archives = archive_view_count(
                                                  c->loop->view) > 0,
                                  .aggregates = s->memento != NULL };

    http_origin(c, r, &origin);
    buffer_byte(&origin, '\0');
    site.origin = origin.failed ? "" : origin.bytes;
    if (wants_json(r, json) && fault)
        put_fault(&body, fault);
    else if (wants_json(r, json))
        searches_json(&body, &site, form, found);
    else
        searches_html(&body, &site, form, found, fault);
    buffer_clear(&origin);
    if (body.failed) {
        buffer_clear(&body);
        reply_error(c, r, 503, NULL, "no memory");
    } else if (wants_json(r, json)) {
        reply_private(c, r, status,
                      "Vary: Accept\r\nCache-Control: no-store\r\n",
                      "application/json", &body);
    } else {
        html_reply(c, r, status, &body);
    }
}

static void answer_found(struct conn *c, const struct http_searching *s)
{
    const struct search_found *found = s->asking.found;
    const struct http_request *r = &c->http->request;

    if (!s->back)
        answer(c, r, s->json, 503, &s->form, NULL,
               "the crawl's index has not answered in time");
    else if (!found)
        answer(c, r, s->json, 503, &s->form, NULL, "the server is too busy");
    else if (found->code != SEEN_OK)
        answer(c, r, s->json, 503, &s->form, found, found->why.text);
    else
        answer(c, r, s->json, 200, &s->form, found, NULL);
}

/* --- waiting --- */

static struct http_searching *searching_of(struct serve_message *m)
{
    return (struct http_searching *)((char *)m -
                                     offsetof(struct http_searching, message));
}

static void free_searching(struct serve_message *m)
{
    struct http_searching *s = searching_of(m);

    search_found_free(s->asking.found);
    buffer_clear(&s->words);
    free(s);
}

/* In a thread of the crawl. */
static void found(struct search_asking *a)
{
    serve_message_return(&((struct http_searching *)a)->message);
}

static void searching_done(struct pending *p, bool there)
{
    struct http_searching *s = p->owner;
    const bool back = s->back;

    if (there) {
        answer_found(p->conn, s);
        http_go_on(p->conn);
    }
    if (back) /* otherwise it is freed when it returns */
        free_searching(&s->message);
}

static void searching_arrived(struct serve_message *m, bool back)
{
    searching_of(m)->back = back;
    conn_answer(&searching_of(m)->pending);
}

/* --- the exchange --- */

/* What is refused returns at once, without an answer. */
static void search_end(struct http_exchange *x)
{
    struct http_search_exchange *e = (struct http_search_exchange *)x;
    struct http_searching *s = e->searching;
    struct loop *l = x->conn->loop;

    e->asked = serve_message_await(l->mail, &s->message, l->now + PATIENCE);
    if (!e->asked) {
        answer(x->conn, &x->request, s->json, 503, &s->form, NULL,
               "the server is stopping");
        return;
    }
    conn_wait_for(x->conn, &s->pending);
    if (!search_ask(l->server->search, &s->asking))
        found(&s->asking);
}

/* With its answer, or since the client has gone. */
static void search_free(struct http_exchange *x)
{
    struct http_search_exchange *e = (struct http_search_exchange *)x;

    if (e->asked)
        atomic_store(&e->searching->asking.gone, true);
    else
        free_searching(&e->searching->message);
    free(e);
}

static size_t search_memory(const struct http_exchange *x)
{
    (void)x;
    return sizeof(struct http_search_exchange) +
           sizeof(struct http_searching) + 2 * SEARCH_BYTES;
}

static void start(struct conn *c, const struct http_request *r,
                  struct http_searching *s)
{
    static const struct http_exchange_kind kind = { .end = search_end,
                                                    .free = search_free,
                                                    .memory = search_memory };
    struct http_search_exchange *e = calloc(1, sizeof *e);

    if (!e) {
        free_searching(&s->message);
        reply_error(c, r, 503, NULL, "no memory");
        return;
    }
    e->exchange.kind = &kind;
    e->searching = s;
    s->asking.done = found;
    s->message.arrived = searching_arrived;
    s->message.free = free_searching;
    s->pending.done = searching_done;
    s->pending.owner = s;
    http_exchange_bare(c, r, &e->exchange);
}

/* --- the paths --- */

/* The fault in what is asked for, and its status; or NULL. */
static const char *read_question(struct http_searching *s,
                                 const struct search_set *search,
                                 struct seen_span query, int *status,
                                 struct seen_error *why)
{
    struct search_question *q = &s->asking.question;
    const char *fault = read_form(&s->form, query, q);

    *status = 404;
    if (!find_crawl(search, &s->form, &s->asking.crawl))
        return "no crawl of this name can be searched here";
    *status = 400;
    if (fault || !*s->form.typed)
        return fault;
    if (search_words(&s->words, span_of(s->form.typed), why) != SEEN_OK)
        return why->text;
    q->words = (struct seen_span){ s->words.bytes, s->words.len };
    return NULL;
}

void http_search(struct conn *c, const struct http_request *r,
                 const struct http_path *p)
{
    const struct search_set *search = c->loop->server->search;
    const char *end = r->target.text + r->target.len, *fault;
    const char *mark = p->name.text + p->name.len;
    struct seen_span query = { "", 0 };
    struct http_searching *s;
    struct seen_error why;
    int status;

    if (!search) {
        reply_error(c, r, 404, NULL,
                    "this server searches no crawls; see its option --search");
        return;
    }
    s = calloc(1, sizeof *s);
    if (!s) {
        reply_error(c, r, 503, NULL, "no memory");
        return;
    }
    if (mark < end && *mark == '?')
        query = (struct seen_span){ mark + 1, (size_t)(end - mark - 1) };
    s->json = span_ends(p->name, ".json");
    fault = read_question(s, search, query, &status, &why);
    if (!fault) {
        start(c, r, s);
        return;
    }
    answer(c, r, s->json, status, &s->form, NULL, fault);
    free_searching(&s->message);
}
