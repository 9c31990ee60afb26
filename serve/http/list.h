/*
 * list.h - a list of URLs as it comes in: a line each, or as JSON.
 *
 *     http://a.example/          ["http://a.example/", "http://b.example/"]
 *     http://b.example/          {"urls": ["http://a.example/"]}
 *
 * Which it is, its first byte tells. Of JSON every string counts that is no
 * name. Pieces may end anywhere; what is not whole is kept for the next.
 */
#ifndef SEEN_SERVE_HTTP_LIST_H
#define SEEN_SERVE_HTTP_LIST_H

#include "../../lib/text/buffer.h"
#include "../../lib/text/span.h"

struct http_list {
    bool begun, json;
    bool inside, escaped; /* a string; a backslash in it was the last byte */
    bool pending;         /* a string that may yet turn out to be a name */
    unsigned depth;
    const char *fault;  /* what is wrong with the JSON; NULL: nothing */
    struct buffer part; /* what is not whole yet */
};

/* Called for each URL, which lives for the call alone. */
typedef void http_list_url(void *to, struct seen_span url);

void http_list_read(struct http_list *l, const char *text, size_t len,
                    http_list_url *each, void *to);
void http_list_end(struct http_list *l, http_list_url *each, void *to);
void http_list_clear(struct http_list *l);

#endif
