/*
 * agg.c - look up one URL in every archive.
 *
 *     GET /agg/<URL>             JSON; HTML for browsers; or, by Accept, the
 *     GET /timemap/link/<URL>    index TimeMap of RFC 7089, section 5.1.3
 *     GET /timegate/<URL>        a redirect to the best archive
 *
 * A filter has no dates, so the TimeMap lists other TimeMaps and never a
 * memento. The best archive is the one with the lowest false-positive rate
 * among those that have a TimeGate.
 */
#include "request.h"

#include <stdlib.h>

#include "../../lib/text/json.h"
#include "../../lib/text/percent.h"
#include "../../lib/text/xml.h"
#include "webpage.h"

struct http_answers {
    struct archive_lookup lookup;
    size_t archives, held_by;
    bool *held; /* the first row of a batch: see archive_lookup_all() */
};

/* A template of the metadata ("https://a.example/timemap/{url}") for a URL;
   false if there is none. A template without {url} gets it appended. */
static bool put_link(struct buffer *o, const struct archive *a,
                     const char *name, struct seen_span url)
{
    const char *template = archive_meta(a, name), *at;

    if (!template || !*template)
        return false;
    at = strstr(template, "{url}");
    if (!at) {
        buffer_text(o, template);
        buffer_bytes(o, url.text, url.len);
        return true;
    }
    buffer_bytes(o, template, (size_t)(at - template));
    buffer_bytes(o, url.text, url.len);
    buffer_text(o, at + 5);
    return true;
}

/* Look it up, or answer why that cannot be done. */
static bool ask(struct conn *c, const struct http_request *r,
                struct http_answers *it, struct seen_span url)
{
    struct archive_counts counts = { 0 };
    struct loop *l = c->loop;

    it->lookup.url = url;
    it->archives = archive_view_count(l->view);
    it->held = malloc((it->archives + 1) * ARCHIVE_BATCH);
    if (!it->held) {
        reply_error(c, r, 503, NULL, "no memory");
        return false;
    }
    archive_lookup_all(l->view, &l->keys, &it->lookup, 1, it->archives,
                       it->held, &counts);
    http_lookup_count(l, &counts);
    if (it->lookup.bad) {
        struct seen_error why = { .text = "not a URL" };
        struct seen_key key;
        char text[SEEN_KEY_TEXT];

        if (url.len)
            seen_key_make(&key, text, url.text, url.len, "surt", &why);
        free(it->held);
        reply_error(c, r, 400, "bad-url", "%s", why.text);
        return false;
    }
    it->held_by = counts.held;
    return true;
}

static bool held(const struct http_answers *it, size_t i)
{
    return it->held[i * ARCHIVE_BATCH];
}

/* The answer has several forms: caches must keep them apart. */
static void reply_as(struct conn *c, const struct http_request *r,
                     const char *type, struct buffer *body)
{
    reply_body(c, r, 200, "Vary: Accept\r\n", type, body);
}

/* --- as JSON --- */

static void json_or_null(struct buffer *o, const char *name, const char *value)
{
    buffer_format(o, ", \"%s\": ", name);
    if (value)
        buffer_json(o, value, strlen(value));
    else
        buffer_text(o, "null");
}

static void json_link(struct buffer *o, const char *name,
                      const struct archive *a, struct seen_span url)
{
    struct buffer link = { .bytes = NULL };

    buffer_format(o, ", \"%s\": ", name);
    if (put_link(&link, a, name, url))
        buffer_json(o, link.bytes, link.len);
    else
        buffer_text(o, "null");
    buffer_clear(&link);
}

static void json_archive(struct buffer *o, const struct archive *a, bool seen,
                         struct seen_span url)
{
    static const char *const state[] = { "ready", "checking", "withdrawn" };

    buffer_text(o, "{\"name\": ");
    buffer_json(o, a->name, strlen(a->name));
    json_or_null(o, "title", archive_meta(a, "title"));
    json_or_null(o, "state", state[a->state]);
    if (a->filter) {
        buffer_format(o, ", \"seen\": %s, \"rate\": %.3g",
                      seen ? "true" : "false", a->rate);
        json_or_null(o, "as_of", a->as_of);
        json_link(o, "timemap", a, url);
        json_link(o, "timegate", a, url);
    } else {
        buffer_text(o, ", \"seen\": null");
        json_or_null(o, "why", a->why.text);
    }
    buffer_text(o, "}");
}

static void as_json(struct conn *c, const struct http_request *r,
                    const struct http_answers *it)
{
    struct buffer body = { .bytes = NULL };

    buffer_text(&body, "{\"url\": ");
    buffer_json(&body, it->lookup.url.text, it->lookup.url.len);
    buffer_format(&body, ", \"held\": %zu, \"archives\": [", it->held_by);
    for (size_t i = 0; i < it->archives; i++) {
        buffer_text(&body, i ? ",\n " : "\n ");
        json_archive(&body, archive_view_at(c->loop->view, i), held(it, i),
                     it->lookup.url);
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
    buffer_clear(&link);
}

static void html_archive(struct buffer *o, const struct archive *a, bool seen,
                         struct seen_span url)
{
    const char *title = archive_meta(a, "title");

    title = title ? title : a->name;
    buffer_text(o, "<tr><th scope=\"row\">");
    buffer_xml(o, title, strlen(title));
    buffer_text(o, "</th><td>");
    if (!a->filter) {
        buffer_text(o, "cannot answer: ");
        buffer_xml(o, a->why.text, strlen(a->why.text));
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
    buffer_format(&body,
                  "</p><p>%zu of %zu archives may hold it.</p>"
                  "<table><thead><tr><th scope=\"col\">Archive</th>"
                  "<th scope=\"col\">Answer</th><th scope=\"col\">Its "
                  "&ldquo;may&rdquo; is</th><th scope=\"col\">Captures"
                  "</th></tr></thead><tbody>\n",
                  it->held_by, it->archives);
    for (size_t i = 0; i < it->archives; i++)
        html_archive(&body, archive_view_at(c->loop->view, i), held(it, i),
                     it->lookup.url);
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

static void put_uri(struct buffer *o, const char *text, size_t len)
{
    percent_encode(o, text, len, PERCENT_LINK);
}

static void as_links(struct conn *c, const struct http_request *r,
                     const struct http_answers *it)
{
    struct buffer body = { .bytes = NULL }, origin = { .bytes = NULL };
    struct seen_span url = it->lookup.url;

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

        if (held(it, i) && put_link(&link, archive_view_at(c->loop->view, i),
                                    "timemap", url)) {
            buffer_text(&body, ",\n<");
            put_uri(&body, link.bytes, link.len);
            buffer_text(
                &body, ">; rel=\"timemap\"; type=\"application/link-format\"");
        }
        buffer_clear(&link);
    }
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

static bool begin(struct conn *c, const struct http_request *r,
                  struct seen_span rest, char *room, struct http_answers *it)
{
    struct seen_span url;

    if (!(span_begins(rest, "?url=") ? of_form(rest, room, &url)
                                     : http_url(rest, room, &url))) {
        reply_error(c, r, 400, "bad-url", "the URL is badly encoded");
        return false;
    }
    return ask(c, r, it, url);
}

void http_agg(struct conn *c, const struct http_request *r,
              const struct http_path *p)
{
    char room[HTTP_TARGET + 8];
    struct http_answers it;

    if (!begin(c, r, p->rest, room, &it))
        return;
    if (http_prefers(r, "application/link-format", "application/json"))
        as_links(c, r, &it);
    else if (http_prefers(r, "text/html", "application/json"))
        as_html(c, r, &it);
    else
        as_json(c, r, &it);
    free(it.held);
}

void http_timemap(struct conn *c, const struct http_request *r,
                  const struct http_path *p)
{
    struct seen_span rest = p->rest;
    char room[HTTP_TARGET + 8];
    struct http_answers it;

    if (!span_begins(rest, "link/")) {
        reply_error(c, r, 404, NULL, "the path is /timemap/link/<URL>");
        return;
    }
    rest.text += 5;
    rest.len -= 5;
    if (!begin(c, r, rest, room, &it))
        return;
    as_links(c, r, &it);
    free(it.held);
}

void http_timegate(struct conn *c, const struct http_request *r,
                   const struct http_path *p)
{
    struct buffer best = { .bytes = NULL };
    char room[HTTP_TARGET + 8];
    double least = 2;
    struct http_answers it;

    if (!begin(c, r, p->rest, room, &it))
        return;
    for (size_t i = 0; i < it.archives; i++) {
        struct archive *a = archive_view_at(c->loop->view, i);
        struct buffer link = { .bytes = NULL };

        if (held(&it, i) && a->rate < least &&
            put_link(&link, a, "timegate", it.lookup.url)) {
            buffer_clear(&best);
            best = link;
            least = a->rate;
        } else {
            buffer_clear(&link);
        }
    }
    if (!best.len) {
        reply_error(c, r, 404, "no",
                    it.held_by ? "no archive that may hold it has a TimeGate"
                               : "no archive holds it");
    } else {
        reply_begin(c, r, 302);
        buffer_text(conn_out(c), "Vary: accept-datetime\r\nLink: <");
        put_uri(conn_out(c), it.lookup.url.text, it.lookup.url.len);
        buffer_text(conn_out(c), ">; rel=\"original\"\r\nLocation: ");
        put_uri(conn_out(c), best.bytes, best.len);
        buffer_text(conn_out(c), "\r\n");
        reply_end(c, r, NULL, 0);
    }
    buffer_clear(&best);
    free(it.held);
}
