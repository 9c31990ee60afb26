/*
 * agg.c - one URL, every archive.
 *
 *     GET /agg/<URL>             JSON; HTML for browsers; or, by Accept, the
 *     GET /timemap/link/<URL>    index TimeMap of RFC 7089, section 5.1.3
 *     GET /timegate/<URL>        a redirect to the best archive
 *
 * A filter knows no dates, so the TimeMap lists other TimeMaps and never a
 * memento. The best archive is the one whose "yes" is wrong least often and
 * that has somewhere to go to.
 */
#define _GNU_SOURCE
#include "request.h"

#include <stdlib.h>

#include "ask.h"
#include "page.h"
#include "../percent.h"

struct answers {
    struct question q;
    size_t archives, held_by;
    bool *held; /* one a batch of each archive: see ask.h */
};

bool archive_link(struct out *o, const struct archive *a, const char *name,
                  struct span url)
{
    const char *template = archive_meta(a, name), *at;

    if (!template || !*template)
        return false;
    at = strstr(template, "{url}");
    if (!at) {
        out_text(o, template);
        out_bytes(o, url.text, url.len);
        return true;
    }
    out_bytes(o, template, (size_t)(at - template));
    out_bytes(o, url.text, url.len);
    out_text(o, at + 5);
    return true;
}

/* Ask, or answer why that cannot be done. */
static bool ask(struct conn *c, const struct http_request *r,
                struct answers *it, struct span url)
{
    struct loop *l = c->loop;

    it->q.url = url;
    for (it->archives = 0; shelf_at(l->shelf, it->archives);)
        it->archives++;
    it->held = malloc((it->archives + 1) * LOOP_BATCH);
    if (!it->held) {
        reply_error(c, r, 503, NULL, "no memory");
        return false;
    }
    ask_all(l, &it->q, 1, it->archives, it->held);
    if (it->q.fault && it->archives) {
        struct seen_error why = { .text = "no URL" };
        struct seen_key key;
        char text[SEEN_KEY_TEXT];

        if (url.len)
            seen_key_make(&key, text, url.text, url.len, "surt", &why);
        free(it->held);
        reply_error(c, r, 400, "bad-url", "%s", why.text);
        return false;
    }
    it->held_by = 0;
    for (size_t i = 0; i < it->archives; i++)
        it->held_by += it->held[i * LOOP_BATCH];
    return true;
}

static bool held(const struct answers *it, size_t i)
{
    return it->held[i * LOOP_BATCH];
}

/* One of several forms: a cache has to keep them apart. */
static void reply_as(struct conn *c, const struct http_request *r,
                     const char *type, struct out *body)
{
    reply_begin(c, r, 200);
    out_text(conn_out(c), "Vary: Accept\r\n");
    reply_end(c, r, type, body->len);
    if (r->method != HTTP_HEAD_ONLY)
        out_bytes(conn_out(c), body->bytes, body->len);
    out_clear(body);
}

/* --- as JSON --- */

static void json_or_null(struct out *o, const char *name, const char *value)
{
    out_format(o, ", \"%s\": ", name);
    if (value)
        out_json(o, value, strlen(value));
    else
        out_text(o, "null");
}

static void json_link(struct out *o, const char *name, const struct archive *a,
                      struct span url)
{
    struct out link = { .bytes = NULL };

    out_format(o, ", \"%s\": ", name);
    if (archive_link(&link, a, name, url))
        out_json(o, link.bytes, link.len);
    else
        out_text(o, "null");
    out_clear(&link);
}

static void json_archive(struct out *o, const struct archive *a, bool seen,
                         struct span url)
{
    static const char *const state[] = { "ready", "checking", "withdrawn" };

    out_text(o, "{\"name\": ");
    out_json(o, a->name, strlen(a->name));
    json_or_null(o, "title", archive_meta(a, "title"));
    json_or_null(o, "state", state[a->state]);
    if (a->filter) {
        out_format(o, ", \"seen\": %s, \"rate\": %.3g",
                   seen ? "true" : "false", a->rate);
        json_or_null(o, "as_of", a->as_of);
        json_link(o, "timemap", a, url);
        json_link(o, "timegate", a, url);
    } else {
        out_text(o, ", \"seen\": null");
        json_or_null(o, "why", a->why.text);
    }
    out_text(o, "}");
}

static void as_json(struct conn *c, const struct http_request *r,
                    const struct answers *it)
{
    struct out body = { .bytes = NULL };

    out_text(&body, "{\"url\": ");
    out_json(&body, it->q.url.text, it->q.url.len);
    out_format(&body, ", \"held\": %zu, \"archives\": [", it->held_by);
    for (size_t i = 0; i < it->archives; i++) {
        out_text(&body, i ? ",\n " : "\n ");
        json_archive(&body, shelf_at(c->loop->shelf, i), held(it, i),
                     it->q.url);
    }
    out_text(&body, "]}\n");
    reply_as(c, r, "application/json", &body);
}

/* --- as HTML, for a browser without JavaScript --- */

/* A link only to http and https: metadata comes from others. */
static void html_link(struct out *o, const struct archive *a, const char *name,
                      const char *words, struct span url)
{
    struct out link = { .bytes = NULL };

    if (archive_link(&link, a, name, url) && link.len > 8 &&
        (!strncasecmp(link.bytes, "http://", 7) ||
         !strncasecmp(link.bytes, "https://", 8))) {
        out_text(o, "<a href=\"");
        out_html(o, link.bytes, link.len);
        out_format(o, "\">%s</a> ", words);
    }
    out_clear(&link);
}

static void html_archive(struct out *o, const struct archive *a, bool seen,
                         struct span url)
{
    const char *title = archive_meta(a, "title");

    title = title ? title : a->name;
    out_text(o, "<tr><th scope=\"row\">");
    out_html(o, title, strlen(title));
    out_text(o, "</th><td>");
    if (!a->filter) {
        out_text(o, "cannot answer: ");
        out_html(o, a->why.text, strlen(a->why.text));
        out_text(o, "</td><td></td><td>");
    } else {
        out_format(o, "%s</td><td>",
                   seen ? "may hold it" : "does not hold it");
        if (a->rate > 1e-6)
            out_format(o, "wrong once in %.3g</td><td>", 1 / a->rate);
        else
            out_text(o, "hardly ever wrong</td><td>");
        if (seen) {
            html_link(o, a, "timemap", "TimeMap", url);
            html_link(o, a, "timegate", "TimeGate", url);
        }
    }
    out_text(o, "</td></tr>\n");
}

static void as_html(struct conn *c, const struct http_request *r,
                    const struct answers *it)
{
    const char *base = c->loop->server->how.base;
    struct out body = { .bytes = NULL };

    out_format(
        &body,
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\""
        "utf-8\"><meta name=\"viewport\" content=\"width=device-width, "
        "initial-scale=1\"><link rel=\"icon\" href=\"data:,\"><title>seen</title><link rel=\"stylesheet\" "
        "href=\"%s/page.css\"></head><body><main><h1>Have we seen "
        "it?</h1><p>",
        base);
    out_html(&body, it->q.url.text, it->q.url.len);
    out_format(&body,
               "</p><p>%zu of %zu archives may hold it.</p>"
               "<table><thead><tr><th scope=\"col\">Archive</th>"
               "<th scope=\"col\">Answer</th><th scope=\"col\">Its "
               "&ldquo;may&rdquo; is</th><th scope=\"col\">Captures"
               "</th></tr></thead><tbody>\n",
               it->held_by, it->archives);
    for (size_t i = 0; i < it->archives; i++)
        html_archive(&body, shelf_at(c->loop->shelf, i), held(it, i),
                     it->q.url);
    out_format(&body,
               "</tbody></table><p><a href=\"%s/\">Ask for another"
               "</a></p></main></body></html>\n",
               base);
    reply_as(c, r,
             "text/html; charset=utf-8\r\n"
             "Content-Security-Policy: " PAGE_POLICY,
             &body);
}

/* --- as an index of TimeMaps --- */

/* In a link between < and >: what would end it is encoded. */
static void put_uri(struct out *o, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char x = (unsigned char)text[i];

        if (x <= 0x20 || x >= 0x7f || x == '<' || x == '>' || x == '"')
            out_format(o, "%%%02X", x);
        else
            out_bytes(o, text + i, 1);
    }
}

static void as_links(struct conn *c, const struct http_request *r,
                     const struct answers *it)
{
    struct out body = { .bytes = NULL }, origin = { .bytes = NULL };
    struct span url = it->q.url;

    web_origin(c, r, &origin);
    out_text(&body, "<");
    put_uri(&body, url.text, url.len);
    out_text(&body, ">; rel=\"original\",\n<");
    put_uri(&body, origin.bytes, origin.len);
    out_text(&body, "/timegate/");
    put_uri(&body, url.text, url.len);
    out_text(&body, ">; rel=\"timegate\",\n<");
    put_uri(&body, origin.bytes, origin.len);
    out_text(&body, "/timemap/link/");
    put_uri(&body, url.text, url.len);
    out_text(&body, ">; rel=\"self\"; type=\"application/link-format\"");
    for (size_t i = 0; i < it->archives; i++) {
        struct out link = { .bytes = NULL };

        if (held(it, i) &&
            archive_link(&link, shelf_at(c->loop->shelf, i), "timemap", url)) {
            out_text(&body, ",\n<");
            put_uri(&body, link.bytes, link.len);
            out_text(&body,
                     ">; rel=\"timemap\"; type=\"application/link-format\"");
        }
        out_clear(&link);
    }
    out_text(&body, "\n");
    reply_as(c, r, "application/link-format", &body);
    out_clear(&origin);
}

/* --- the paths --- */

/* The form of the page, without JavaScript, asks /agg/?url=... */
static bool of_form(struct span rest, char *room, struct span *url)
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
    *url = (struct span){ room, n };
    return true;
}

static bool begin(struct conn *c, const struct http_request *r,
                  struct span rest, char *room, struct answers *it)
{
    struct span url;

    if (!(span_begins(rest, "?url=") ? of_form(rest, room, &url)
                                     : web_url(rest, room, &url))) {
        reply_error(c, r, 400, "bad-url", "the URL is badly encoded");
        return false;
    }
    return ask(c, r, it, url);
}

void agg_get(struct conn *c, const struct http_request *r, struct span rest)
{
    char room[HTTP_TARGET + 8];
    struct answers it;

    if (!begin(c, r, rest, room, &it))
        return;
    if (http_prefers(r, "application/link-format", "application/json"))
        as_links(c, r, &it);
    else if (http_prefers(r, "text/html", "application/json"))
        as_html(c, r, &it);
    else
        as_json(c, r, &it);
    free(it.held);
}

void agg_timemap(struct conn *c, const struct http_request *r,
                 struct span rest)
{
    char room[HTTP_TARGET + 8];
    struct answers it;

    if (!span_begins(rest, "link/")) {
        reply_error(c, r, 404, NULL, "there is /timemap/link/<URL> only");
        return;
    }
    rest.text += 5;
    rest.len -= 5;
    if (!begin(c, r, rest, room, &it))
        return;
    as_links(c, r, &it);
    free(it.held);
}

void agg_timegate(struct conn *c, const struct http_request *r,
                  struct span rest)
{
    struct out best = { .bytes = NULL };
    char room[HTTP_TARGET + 8];
    double least = 2;
    struct answers it;

    if (!begin(c, r, rest, room, &it))
        return;
    for (size_t i = 0; i < it.archives; i++) {
        struct archive *a = shelf_at(c->loop->shelf, i);
        struct out link = { .bytes = NULL };

        if (held(&it, i) && a->rate < least &&
            archive_link(&link, a, "timegate", it.q.url)) {
            out_clear(&best);
            best = link;
            least = a->rate;
        } else {
            out_clear(&link);
        }
    }
    if (!best.len) {
        reply_error(c, r, 404, "no",
                    it.held_by ? "no archive that may hold it has a TimeGate"
                               : "no archive holds it");
    } else {
        reply_begin(c, r, 302);
        out_text(conn_out(c), "Vary: accept-datetime\r\nLink: <");
        put_uri(conn_out(c), it.q.url.text, it.q.url.len);
        out_text(conn_out(c), ">; rel=\"original\"\r\nLocation: ");
        put_uri(conn_out(c), best.bytes, best.len);
        out_text(conn_out(c), "\r\n");
        reply_end(c, r, NULL, 0);
    }
    out_clear(&best);
    free(it.held);
}
