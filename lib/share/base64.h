/*
 * base64.h - bytes as letters, RFC 4648 section 4, read back strictly.
 *
 *     6 bits   6 bits   6 bits   6 bits
 *     A-Z a-z 0-9 + /, and '=' if the last group has less than three bytes
 *
 * Reading accepts only the text that writing produces: no line breaks, no
 * other letters, '=' only at the end, and unused bits must be zero. So equal
 * bytes have equal texts, and the reverse.
 */
#ifndef SEEN_SHARE_BASE64_H
#define SEEN_SHARE_BASE64_H

#include <stdbool.h>
#include <stddef.h>

/* The number of letters for n bytes. */
static inline size_t base64_length(size_t n)
{
    return (n + 2) / 3 * 4;
}

/* Write the base64_length(n) letters of n bytes, without a zero at the end. */
void base64_encode(char *to, const unsigned char *from, size_t n);

/*
 * Read n letters, a multiple of 4, into `to`, which has room for n / 4 * 3
 * bytes; *len is the number of bytes. False if they are not base64; the
 * content of `to` is undefined then.
 */
bool base64_decode(unsigned char *to, size_t *len, const char *from, size_t n);

#endif
