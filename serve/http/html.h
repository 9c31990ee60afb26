/*
 * html.h - what the pages have in common that the server writes by itself.
 *
 * Names, URLs and texts on them come from the web and from disks: html_put()
 * escapes them.
 */
#ifndef SEEN_SERVE_HTTP_HTML_H
#define SEEN_SERVE_HTTP_HTML_H

#include "../../lib/text/buffer.h"

struct conn;
struct http_request;

void html_put(struct buffer *o, const char *text);

/* <time datetime="2026-11-17T06:30:00Z">2026-11-17 06:30:00 UTC</time>; a dash
   for 0. */
void html_date(struct buffer *o, int64_t ms);

/* The beginning of a page, up to its heading. `up` leads to the --base, and is
   "" or "../"; `style` is the name of a style sheet besides page.css, `script`
   that of a script, or NULL. */
struct html_page {
    const char *up, *title, *style, *script;
    bool crawls, search; /* the server has these pages */
};
void html_begin(struct buffer *o, const struct html_page *page);

/* The end; `json` leads to the same for programs, `more` are words on it. */
void html_end(struct buffer *o, const char *json, const char *more);

/* Answer with a page, for no other origin to read, and clear `body`. */
void html_reply(struct conn *c, const struct http_request *r, int status,
                struct buffer *body);

#endif
