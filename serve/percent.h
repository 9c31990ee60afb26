/* percent.h - bytes that are written %41 in URLs. */
#ifndef SEEN_SERVE_PERCENT_H
#define SEEN_SERVE_PERCENT_H

#include <stdbool.h>
#include <stddef.h>

/* The value of a hexadecimal digit, or -1. */
static inline int percent_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decode once. `to` has room for as many bytes, and may be the text itself.
   False if a % is not followed by two digits. */
static inline bool percent_decode(char *to, size_t *n, const char *text,
                                  size_t len)
{
    *n = 0;
    for (size_t i = 0; i < len; i++) {
        int high, low;

        if (text[i] != '%') {
            to[(*n)++] = text[i];
            continue;
        }
        high = i + 2 < len ? percent_digit(text[i + 1]) : -1;
        low = high >= 0 ? percent_digit(text[i + 2]) : -1;
        if (low < 0)
            return false;
        to[(*n)++] = (char)(high * 16 + low);
        i += 2;
    }
    return true;
}

#endif
