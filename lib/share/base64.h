/*
 * base64.h - bytes as letters, RFC 4648 section 4, and strictly back.
 *
 *     6 bits   6 bits   6 bits   6 bits
 *     A-Z a-z 0-9 + /, and '=' where the last three bytes are fewer
 *
 * Reading takes the one text that writing gives: no line breaks, no other
 * letters, '=' only at the end, and the bits that it leaves over are zero.
 * So equal bytes are equal texts, and the reverse.
 */
#ifndef SEEN_SHARE_BASE64_H
#define SEEN_SHARE_BASE64_H

#include <stdbool.h>
#include <stddef.h>

/* How many letters n bytes take. */
static inline size_t base64_length(size_t n)
{
    return (n + 2) / 3 * 4;
}

/* Write the base64_length(n) letters of n bytes, and no zero behind them. */
void base64_encode(char *to, const unsigned char *from, size_t n);

/*
 * Read n letters, a multiple of 4, into `to`, which has room for n / 4 * 3
 * bytes; *len is how many of them there are. False if they are no base64:
 * then `to` holds anything.
 */
bool base64_decode(unsigned char *to, size_t *len, const char *from, size_t n);

/*
 * The loops over whole groups, of three bytes and four letters each, in one
 * version for each width of SIMD. Each does as many groups as it can and
 * returns how many; decode stops before the first bad group. The portable
 * ones do all that are good.
 */
struct base64_way {
    const char *name;
    size_t (*encode)(char *to, const unsigned char *from, size_t groups);
    size_t (*decode)(unsigned char *to, const char *from, size_t groups);
};

extern const struct base64_way base64_portable;
#if defined __x86_64__ && !defined SEEN_PORTABLE
extern const struct base64_way base64_avx2;
#endif

/* The widest that this machine can do. */
const struct base64_way *base64_best(void);

#endif
