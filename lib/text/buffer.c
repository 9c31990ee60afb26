/* buffer.c - a buffer that grows by doubling. */
#include "buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { BUFFER_FIRST = 512 };

char *buffer_room(struct buffer *b, size_t n)
{
    size_t room = b->room ? b->room : BUFFER_FIRST;
    char *more;

    if (b->failed || n > SIZE_MAX / 4 - b->len) {
        b->failed = true;
        return NULL;
    }
    while (room - b->len < n)
        room *= 2;
    if (room > b->room) {
        more = realloc(b->bytes, room);
        if (!more) {
            b->failed = true;
            return NULL;
        }
        b->bytes = more;
        b->room = room;
    }
    return b->bytes + b->len;
}

void buffer_number(struct buffer *b, uint64_t number)
{
    char digits[20];
    size_t at = sizeof digits;

    do
        digits[--at] = (char)('0' + number % 10);
    while (number /= 10);
    buffer_bytes(b, digits + at, sizeof digits - at);
}

/* Most of what is formatted is short, and fits into the room that there is:
   then once is enough. */
void buffer_format(struct buffer *b, const char *format, ...)
{
    size_t room = b->failed ? 0 : b->room - b->len;
    va_list args, again;
    char *to;
    int n;

    va_start(args, format);
    va_copy(again, args);
    n = vsnprintf(room ? b->bytes + b->len : NULL, room, format, args);
    va_end(args);
    if (n >= 0 && (size_t)n < room) {
        b->len += (size_t)n;
    } else {
        to = n >= 0 ? buffer_room(b, (size_t)n + 1) : NULL;
        if (to) {
            vsnprintf(to, (size_t)n + 1, format, again);
            b->len += (size_t)n;
        }
    }
    va_end(again);
}

void buffer_drop(struct buffer *b, size_t n)
{
    b->len -= n;
    if (b->len)
        memmove(b->bytes, b->bytes + n, b->len);
}

char *buffer_take(struct buffer *b)
{
    char *text = NULL;

    buffer_byte(b, '\0');
    if (!b->failed) {
        text = b->bytes;
        b->bytes = NULL;
    }
    buffer_clear(b);
    return text;
}

void buffer_clear(struct buffer *b)
{
    free(b->bytes);
    memset(b, 0, sizeof *b);
}
