/* hex.h - bytes as hexadecimal digits, and back. */
#ifndef SEEN_TEXT_HEX_H
#define SEEN_TEXT_HEX_H

#include <stdbool.h>
#include <stddef.h>

/* The value of a digit in either case, or -1. */
static inline int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Write 2n lower-case digits and a zero. */
void hex_write(char *to, const void *bytes, size_t n);

/*
 * Read n bytes from the 2n digits that a text begins with. False if these are
 * not digits, or if the text, which ends with a zero, is shorter. Upper-case
 * digits count only if `any_case`.
 */
bool hex_read(void *to, size_t n, const char *text, bool any_case);

#endif
