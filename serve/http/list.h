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

#include "../out.h"
#include "../span.h"

struct list {
    bool begun, json;
    bool inside, escaped; /* a string; a backslash in it was the last byte */
    bool pending;         /* a string that may yet turn out to be a name */
    unsigned depth;
    const char *fault; /* what is wrong with the JSON; NULL: nothing */
    struct out part;   /* what is not whole yet */
};

/* Called for each URL, which lives for the call alone. */
typedef void list_url(void *to, struct span url);

void list_take(struct list *l, const char *text, size_t len, list_url *take,
               void *to);
void list_end(struct list *l, list_url *take, void *to);
void list_clear(struct list *l);

#endif
