/*
 * http_list.h - a list of URLs as it arrives: one per line, or JSON.
 *
 *     http://a.example/          ["http://a.example/", "http://b.example/"]
 *     http://b.example/          {"urls": ["http://a.example/"]}
 *
 * The first byte decides which it is. In JSON every string that is not the
 * name of a member is a URL. Pieces may end anywhere; an incomplete line or
 * string is kept until the next piece.
 */
#ifndef SEEN_SERVE_HTTP_HTTP_LIST_H
#define SEEN_SERVE_HTTP_HTTP_LIST_H

#include "../../lib/text/buffer.h"
#include "../../lib/text/span.h"

struct http_list {
    bool begun, json;
    bool inside, escaped; /* a string; a backslash in it was the last byte */
    bool pending;         /* a string that may yet turn out to be a name */
    unsigned depth;
    const char *fault;  /* what is wrong with the JSON; NULL: nothing */
    struct buffer part; /* an incomplete line or string */
};

/* Called for each URL, which lives only during the call. */
typedef void http_list_url(void *to, struct seen_span url);

void http_list_read(struct http_list *l, const char *text, size_t len,
                    http_list_url *each, void *to);
void http_list_end(struct http_list *l, http_list_url *each, void *to);
void http_list_clear(struct http_list *l);

#endif
