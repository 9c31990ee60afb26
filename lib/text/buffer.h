/*
 * buffer.h - bytes that grow as they are written.
 *
 * A zeroed buffer is empty and owns no memory. When memory runs out the
 * buffer remembers it (`failed`) and drops what follows, so that only the
 * code that uses the result has to ask.
 *
 *     struct buffer b = { .bytes = NULL };
 *
 *     buffer_text(&b, "{\"url\": ");
 *     buffer_json(&b, url, len);                          json.h
 *     buffer_byte(&b, '}');
 *     send(b.bytes, b.len), or: char *text = buffer_take(&b);
 *
 * Threads: a buffer belongs to one thread at a time.
 */
#ifndef SEEN_TEXT_BUFFER_H
#define SEEN_TEXT_BUFFER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <seen/span.h>

struct buffer {
    char *bytes;
    size_t len, room;
    bool failed;
};

/* Room for n more bytes, which the caller writes and then adds to b->len;
   NULL if memory ran out, now or before. */
char *buffer_room(struct buffer *b, size_t n);

static inline void buffer_bytes(struct buffer *b, const void *bytes, size_t n)
{
    char *to;

    if (!n)
        return; /* there may be no memory yet */
    to = b->room - b->len >= n && !b->failed ? b->bytes + b->len
                                             : buffer_room(b, n);
    if (to) {
        memcpy(to, bytes, n);
        b->len += n;
    }
}

static inline void buffer_byte(struct buffer *b, char c)
{
    buffer_bytes(b, &c, 1);
}

static inline void buffer_text(struct buffer *b, const char *text)
{
    buffer_bytes(b, text, strlen(text));
}

static inline void buffer_span(struct buffer *b, struct seen_span s)
{
    buffer_bytes(b, s.text, s.len);
}

/* What another buffer has; if that one failed, so does this one. */
static inline void buffer_append(struct buffer *b, const struct buffer *other)
{
    b->failed |= other->failed;
    buffer_bytes(b, other->bytes, other->len);
}

void buffer_number(struct buffer *b, uint64_t number);
void buffer_format(struct buffer *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Remove n bytes from the front. */
void buffer_drop(struct buffer *b, size_t n);

/* The text with a zero at its end, for the caller to free(); the buffer is
   empty then. NULL if memory ran out, now or before. */
char *buffer_take(struct buffer *b);

/* Free the memory; the buffer is empty and may be used again. */
void buffer_clear(struct buffer *b);

#endif
