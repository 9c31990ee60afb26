/*
 * out.h - bytes that wait to go to a client.
 *
 * A buffer that grows as it is written to and is let go when it is empty, so
 * that a connection that says nothing owns none. Memory that cannot be had
 * is remembered (`failed`) and told once, where the bytes are sent.
 *
 * Threads: belongs to one connection, and so to one loop.
 */
#ifndef SEEN_SERVE_OUT_H
#define SEEN_SERVE_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct out {
    char *bytes;
    size_t len, room;
    bool failed;
};

/* Room for n more bytes, which the caller writes and then adds to o->len;
   NULL if there is none. */
char *out_room(struct out *o, size_t n);

static inline void out_bytes(struct out *o, const void *bytes, size_t n)
{
    char *to;

    if (!n)
        return; /* there may be no buffer yet */
    to = o->room - o->len >= n ? o->bytes + o->len : out_room(o, n);
    if (to) {
        memcpy(to, bytes, n);
        o->len += n;
    }
}

static inline void out_text(struct out *o, const char *text)
{
    out_bytes(o, text, strlen(text));
}

void out_format(struct out *o, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A JSON string, quotes included; bytes that are no UTF-8 become U+FFFD. */
void out_json(struct out *o, const char *text, size_t len);

/* The same for HTML and XML: & < > " ' and control bytes are escaped. */
void out_html(struct out *o, const char *text, size_t len);

void out_clear(struct out *o);

#endif
