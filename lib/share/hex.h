/*
 * hex.h - bytes as hexadecimal digits, and back: how a digest is written.
 */
#ifndef SEEN_SHARE_HEX_H
#define SEEN_SHARE_HEX_H

#include <stdbool.h>
#include <stddef.h>

/* 2n small digits and a zero. */
void hex_print(char *to, const unsigned char *bytes, size_t n);

/* The n bytes that `text` begins with as 2n digits, small ones or, if `any`,
   of both cases. False if these are no digits, or the text ends before. */
bool hex_parse(unsigned char *to, size_t n, const char *text, bool any);

#endif
