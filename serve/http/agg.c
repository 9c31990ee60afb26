/*
 * agg.c - look up one URL in every archive.
 *
 *     GET /agg/<URL>             JSON; HTML for browsers; or, by Accept, the
 *     GET /timemap/link/<URL>    index TimeMap of RFC 7089, section 5.1.3
 *     GET /timegate/<URL>        a redirect to the best archive
 *
 * The last two are those of aggregate.c with --aggregate. Without it: a filter
 * has no dates, so the TimeMap lists other TimeMaps and never a
 * memento. The best archive is the one with the lowest false-positive rate
 * among those that have a TimeGate.
 *
 * An archive that cannot answer, or whose profile refuses the URL, is null in
 * JSON and "cannot answer" in HTML. A TimeMap or TimeGate that has nothing to
 * offer is 404 only if every archive was asked, and 503 otherwise.
 */
#include "request.h"

#include <stdlib.h>

#include "../../lib/text/json.h"
#include "../../lib/text/percent.h"
#include "../../lib/text/xml.h"
#include "../memento/memento_list.h"
#include "members.h"
#include "webpage.h"

struct http_answers {
    struct archive_lookup lookup;
    size_t archives, held_by, unknown, silent;
    unsigned char *answer; /* the first row of a batch: archive_lookup.h */
};

/* How answers are written. */
typedef void http_form(struct conn *c, const struct http_request *r,
                       const struct http_answers *it);

/* A template of the metadata ("https://a.example/timemap/{url}") for a URL;
   false if there is none. */
static bool put_link(struct buffer *o, const struct archive *a,
                     const char *name, struct seen_span url)
{
    const char *template = archive_meta(a, name);

    if (!template || !*template)
        return false;
    memento_template_fill(o, template, url);
    return true;
}

static enum archive_answer answer_of(const struct http_answers *it, size_t i)
{
    return it->answer[i * ARCHIVE_BATCH];
}

static void count_answers(struct http_answers *it)
{
    it->held_by = it->unknown = it->silent = 0;
    for (size_t i = 0; i < it->archives; i++) {
        const enum archive_answer answer = answer_of(it, i);

        it->held_by += answer == ARCHIVE_YES;
        it->unknown += archive_unknown(answer);
        it->silent += answer == ARCHIVE_SILENT;
    }
}

/* Why an archive has not answered. */
static const char *why_unknown(const struct archive *a,
                               enum archive_answer answer)
{
    if (answer == ARCHIVE_REFUSES)
        return "it does not accept this URL";
    return a->filter ? "it was not asked in time" : a->why.text;
}

/* Count the answers, and write them; or reply that it is not a URL. */
static void finish(struct conn *c, const struct http_request *r,
                   struct http_answers *it, http_form *form)
{
    if (it->lookup.bad) {
        struct seen_error why = { .text = "not a URL" };
        struct seen_span url = it->lookup.url;
        struct seen_key key;
        char text[SEEN_KEY_TEXT];

        if (url.len)
            seen_key_make(&key, text, url.text, url.len, "surt", &why);
        reply_error(c, r, 400, "bad-url", "%s", why.text);
        return;
    }
    count_answers(it);
    form(c, r, it);
}

/* Archives may have come and gone since the question was asked. */
static void finish_aside(struct conn *c, const struct http_request *r,
                         const struct archive_question *q, http_form *form)
{
    struct archive_view *v = c->loop->view;
    struct http_answers it = { .lookup = q->lookup[0],
                               .archives = archive_view_count(v) };

    it.answer = malloc((it.archives + 1) * ARCHIVE_BATCH);
    if (!it.answer || q->code == SEEN_NOMEM) {
        reply_error(c, r, 503, NULL, "no memory");
    } else {
        for (size_t i = 0; i < it.archives; i++)
            it.answer[i * ARCHIVE_BATCH] = (unsigned char)
                archive_question_answer(q, archive_view_at(v, i)->name, 0);
        finish(c, r, &it, form);
    }
    free(it.answer);
}

/* Look a URL up in all archives, now or off the loop, and answer. */
static void ask(struct conn *c, const struct http_request *r,
                struct seen_span url, http_form *form, http_answered *answered)
{
    struct archive_counts counts = { 0 };
    struct loop *l = c->loop;
    struct http_answers it = { .lookup = { .url = url },
                               .archives = archive_view_count(l->view) };

    if (!loop_affords(l, archive_view_cost(l->view))) {
        http_ask_aside(c, r, NULL, false, url, answered);
        return;
    }
    it.answer = malloc((it.archives + 1) * ARCHIVE_BATCH);
    if (!it.answer) {
        reply_error(c, r, 503, NULL, "no memory");
        return;
    }
    archive_lookup_all(archive_view_all(l->view), it.archives, &l->keys,
                       &it.lookup, 1, it.answer, &counts);
    http_lookup_count(l, &counts);
    finish(c, r, &it, form);
    free(it.answer);
}

/* The answer has several forms: caches must keep them apart. */
static void reply_as(struct conn *c, const struct http_request *r,
                     const char *type, struct buffer *body)
{
    reply_body(c, r, 200, "Vary: Accept\r\n", type, body);
}

/* --- as JSON --- */

static void json_link(struct buffer *o, const char *name,
                      const struct archive *a, struct seen_span url)
{
    struct buffer link = { .bytes = NULL };

    http_member(o, name);
    if (put_link(&link, a, name, url))
        buffer_json(o, link.bytes, link.len);
    else
        buffer_text(o, "null");
    o->failed |= link.failed;
    buffer_clear(&link);
}

static void json_archive(struct buffer *o, const struct archive *a,
                         enum archive_answer answer, struct seen_span url)
{
    buffer_text(o, "{\"name\": ");
    buffer_json(o, a->name, strlen(a->name));
    http_member_text(o, "title", archive_meta(a, "title"));
    http_member_text(o, "state", archive_state_names[a->state]);
    buffer_format(o, ", \"seen\": %s",
                  archive_unknown(answer) ? "null"
                  : answer == ARCHIVE_YES ? "true"
                                          : "false");
    if (archive_unknown(answer))
        http_member_text(o, "why", why_unknown(a, answer));
    if (a->filter) {
        buffer_format(o, ", \"rate\": %.3g", a->rate);
        http_member_text(o, "as_of", a->as_of);
        json_link(o, "timemap", a, url);
        json_link(o, "timegate", a, url);
    }
    buffer_text(o, "}");
}

static void as_json(struct conn *c, const struct http_request *r,
                    const struct http_answers *it)
{
    struct buffer body = { .bytes = NULL };

    buffer_text(&body, "{\"url\": ");
    buffer_json(&body, it->lookup.url.text, it->lookup.url.len);
    buffer_format(&body, ", \"held\": %zu, \"unknown\": %zu, \"archives\": [",
                  it->held_by, it->unknown);
    for (size_t i = 0; i < it->archives; i++) {
        buffer_text(&body, i ? ",\n " : "\n ");
        json_archive(&body, archive_view_at(c->loop->view, i),
                     answer_of(it, i), it->lookup.url);
    }
    buffer_text(&body, "]}\n");
    reply_as(c, r, "application/json", &body);
}

/* --- as HTML, for a browser without JavaScript --- */

/* Only http and https are linked to: metadata may come from anyone. */
static void html_link(struct buffer *o, const struct archive *a,
                      const char *name, const char *words,
                      struct seen_span url)
{
    struct buffer link = { .bytes = NULL };

    if (put_link(&link, a, name, url) && link.len > 8 &&
        (!strncasecmp(link.bytes, "http://", 7) ||
         !strncasecmp(link.bytes, "https://", 8))) {
        buffer_text(o, "<a href=\"");
        buffer_xml(o, link.bytes, link.len);
        buffer_format(o, "\">%s</a> ", words);
    }
    o->failed |= link.failed;
    buffer_clear(&link);
}

static void html_archive(struct buffer *o, const struct archive *a,
                         enum archive_answer answer, struct seen_span url)
{
    const bool seen = answer == ARCHIVE_YES;
    const char *title = archive_meta(a, "title");

    title = title ? title : a->name;
    buffer_text(o, "<tr><th scope=\"row\">");
    buffer_xml(o, title, strlen(title));
    buffer_text(o, "</th><td>");
    if (archive_unknown(answer)) {
        const char *why = why_unknown(a, answer);

        buffer_text(o, "cannot answer: ");
        buffer_xml(o, why, strlen(why));
        buffer_text(o, "</td><td></td><td>");
    } else {
        buffer_format(o, "%s</td><td>",
                      seen ? "may hold it" : "does not hold it");
        if (a->rate > 1e-6)
            buffer_format(o, "wrong once in %.3g</td><td>", 1 / a->rate);
        else
            buffer_text(o, "hardly ever wrong</td><td>");
        if (seen) {
            html_link(o, a, "timemap", "TimeMap", url);
            html_link(o, a, "timegate", "TimeGate", url);
        }
    }
    buffer_text(o, "</td></tr>\n");
}

static void as_html(struct conn *c, const struct http_request *r,
                    const struct http_answers *it)
{
    const char *base = c->loop->server->options.base;
    struct buffer body = { .bytes = NULL };

    buffer_format(
        &body,
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\""
        "utf-8\"><meta name=\"viewport\" content=\"width=device-width, "
        "initial-scale=1\"><link rel=\"icon\" href=\"data:,\"><title>seen</title><link rel=\"stylesheet\" "
        "href=\"%s/page.css\"></head><body><main><h1>Have we seen "
        "it?</h1><p>",
        base);
    buffer_xml(&body, it->lookup.url.text, it->lookup.url.len);
    buffer_format(&body, "</p><p>%zu of %zu archives may hold it.",
                  it->held_by, it->archives);
    if (it->unknown)
        buffer_format(&body, " %zu cannot answer.", it->unknown);
    buffer_text(&body, "</p><table><thead><tr><th scope=\"col\">Archive</th>"
                       "<th scope=\"col\">Answer</th><th scope=\"col\">Its "
                       "&ldquo;may&rdquo; is</th><th scope=\"col\">Captures"
                       "</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < it->archives; i++)
        html_archive(&body, archive_view_at(c->loop->view, i),
                     answer_of(it, i), it->lookup.url);
    buffer_format(&body,
                  "</tbody></table><p><a href=\"%s/\">Ask for another"
                  "</a></p></main></body></html>\n",
                  base);
    reply_as(c, r,
             "text/html; charset=utf-8\r\n"
             "Content-Security-Policy: " WEBPAGE_POLICY,
             &body);
}

/* --- as an index of TimeMaps --- */

/* No archive can be named: 404 if that is the answer of all of them. */
static void reply_nobody(struct conn *c, const struct http_request *r,
                         const struct http_answers *it)
{
    if (it->silent)
        reply_error(c, r, 503, "unknown",
                    "%zu of %zu archives cannot answer now", it->silent,
                    it->archives);
    else if (it->held_by)
        reply_error(c, r, 404, "no",
                    "no archive that may hold it has a TimeGate");
    else
        reply_error(c, r, 404, "no", "no archive holds it");
}

static void put_uri(struct buffer *o, const char *text, size_t len)
{
    percent_encode(o, text, len, PERCENT_LINK);
}

static void as_links(struct conn *c, const struct http_request *r,
                     const struct http_answers *it)
{
    struct buffer body = { .bytes = NULL }, origin = { .bytes = NULL };
    struct seen_span url = it->lookup.url;

    if (!it->held_by) {
        reply_nobody(c, r, it);
        return;
    }
    http_origin(c, r, &origin);
    buffer_text(&body, "<");
    put_uri(&body, url.text, url.len);
    buffer_text(&body, ">; rel=\"original\",\n<");
    put_uri(&body, origin.bytes, origin.len);
    buffer_text(&body, "/timegate/");
    put_uri(&body, url.text, url.len);
    buffer_text(&body, ">; rel=\"timegate\",\n<");
    put_uri(&body, origin.bytes, origin.len);
    buffer_text(&body, "/timemap/link/");
    put_uri(&body, url.text, url.len);
    buffer_text(&body, ">; rel=\"self\"; type=\"application/link-format\"");
    for (size_t i = 0; i < it->archives; i++) {
        struct buffer link = { .bytes = NULL };

        if (answer_of(it, i) == ARCHIVE_YES &&
            put_link(&link, archive_view_at(c->loop->view, i), "timemap",
                     url)) {
            buffer_text(&body, ",\n<");
            put_uri(&body, link.bytes, link.len);
            buffer_text(
                &body, ">; rel=\"timemap\"; type=\"application/link-format\"");
        }
        body.failed |= link.failed;
        buffer_clear(&link);
    }
    body.failed |= origin.failed;
    buffer_text(&body, "\n");
    reply_as(c, r, "application/link-format", &body);
    buffer_clear(&origin);
}

/* --- the paths --- */

/* Without JavaScript the form of the page sends /agg/?url=... */
static bool of_form(struct seen_span rest, char *room, struct seen_span *url)
{
    size_t len = 0, n = 0;

    for (size_t i = 5; i < rest.len && rest.text[i] != '&'; i++, len++)
        room[len] = rest.text[i] == '+' ? ' ' : rest.text[i];
    if (!percent_decode(room, &n, room, len))
        return false;
    if (!memchr(room, ':', n)) { /* as people type it */
        memmove(room + 7, room, n);
        memcpy(room, "http://", 7);
        n += 7;
    }
    *url = (struct seen_span){ room, n };
    return true;
}

static void begin(struct conn *c, const struct http_request *r,
                  struct seen_span rest, http_form *form,
                  http_answered *answered)
{
    char room[HTTP_TARGET + 8];
    struct seen_span url;

    if (!(span_begins(rest, "?url=") ? of_form(rest, room, &url)
                                     : http_url(rest, room, &url)))
        reply_error(c, r, 400, "bad-url", "the URL is badly encoded");
    else
        ask(c, r, url, form, answered);
}

static void as_accepted(struct conn *c, const struct http_request *r,
                        const struct http_answers *it)
{
    if (http_prefers(r, "application/link-format", "application/json"))
        as_links(c, r, it);
    else if (http_prefers(r, "text/html", "application/json"))
        as_html(c, r, it);
    else
        as_json(c, r, it);
}

static void agg_answered(struct conn *c, const struct http_request *r,
                         const struct archive_question *q)
{
    finish_aside(c, r, q, as_accepted);
}

void http_agg(struct conn *c, const struct http_request *r,
              const struct http_path *p)
{
    begin(c, r, p->rest, as_accepted, agg_answered);
}

static void timemap_answered(struct conn *c, const struct http_request *r,
                             const struct archive_question *q)
{
    finish_aside(c, r, q, as_links);
}

void http_timemap(struct conn *c, const struct http_request *r,
                  const struct http_path *p)
{
    struct seen_span rest = p->rest;

    if (c->loop->server->memento) {
        http_aggregate_timemap(c, r, rest);
        return;
    }
    if (!span_begins(rest, "link/")) {
        reply_error(c, r, 404, NULL, "the path is /timemap/link/<URL>");
        return;
    }
    rest.text += 5;
    rest.len -= 5;
    begin(c, r, rest, as_links, timemap_answered);
}

static void as_redirect(struct conn *c, const struct http_request *r,
                        const struct http_answers *it)
{
    const struct seen_span url = it->lookup.url;
    struct buffer best = { .bytes = NULL };
    double least = 2;
    int32_t first = ARCHIVE_ORDER_NONE;

    for (size_t i = 0; i < it->archives; i++) {
        struct archive *a = archive_view_at(c->loop->view, i);
        struct buffer link = { .bytes = NULL };

        /* They are in the order of archives.json; the others follow, and of
           those the one that errs least is best. */
        if (answer_of(it, i) == ARCHIVE_YES && first == ARCHIVE_ORDER_NONE &&
            (a->rate < least || archive_order(a) != first) &&
            put_link(&link, a, "timegate", url)) {
            buffer_clear(&best);
            best = link;
            least = a->rate;
            first = archive_order(a);
        } else {
            buffer_clear(&link);
        }
    }
    conn_out(c)->failed |= best.failed;
    if (!best.len) {
        reply_nobody(c, r, it);
    } else {
        reply_begin(c, r, 302);
        buffer_text(conn_out(c), "Vary: accept-datetime\r\nLink: <");
        put_uri(conn_out(c), url.text, url.len);
        buffer_text(conn_out(c), ">; rel=\"original\"\r\nLocation: ");
        put_uri(conn_out(c), best.bytes, best.len);
        buffer_text(conn_out(c), "\r\n");
        reply_end(c, r, NULL, 0);
    }
    buffer_clear(&best);
}

static void timegate_answered(struct conn *c, const struct http_request *r,
                              const struct archive_question *q)
{
    finish_aside(c, r, q, as_redirect);
}

void http_timegate(struct conn *c, const struct http_request *r,
                   const struct http_path *p)
{
    if (c->loop->server->memento)
        http_aggregate_timegate(c, r, p->rest);
    else
        begin(c, r, p->rest, as_redirect, timegate_answered);
}
