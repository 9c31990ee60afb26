/* ascii.h - digits and letters of ASCII, whatever the locale. */
#ifndef SEEN_TEXT_ASCII_H
#define SEEN_TEXT_ASCII_H

#include <stdbool.h>

static inline bool ascii_digit(char c)
{
    return c >= '0' && c <= '9';
}

static inline bool ascii_letter(char c)
{
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

static inline char ascii_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

#endif
