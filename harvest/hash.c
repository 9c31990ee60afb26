/* hash.c - read and write announced hashes. */
#include "hash.h"

#include <stdio.h>
#include <string.h>

static const char name[] = "sha-256:";
enum { NAME = sizeof name - 1, ALL = NAME + 2 * SEEN_DIGEST };

static int digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static bool digits(struct hash *h, const char *text)
{
    for (size_t i = 0; i < SEEN_DIGEST; i++) {
        int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);

        if (high < 0 || low < 0)
            return false;
        h->digest[i] = (unsigned char)(high * 16 + low);
    }
    return true;
}

void hash_read(struct hash *h, const char *text, size_t len)
{
    h->known = false;
    for (size_t at = 0; at + ALL <= len && !h->known; at++)
        h->known = (!at || text[at - 1] == ' ') &&
                   !memcmp(text + at, name, NAME) &&
                   (at + ALL == len || text[at + ALL] == ' ') &&
                   digits(h, text + at + NAME);
}

void hash_write(char text[HASH_TEXT], const unsigned char digest[SEEN_DIGEST])
{
    memcpy(text, name, NAME);
    for (size_t i = 0; i < SEEN_DIGEST; i++)
        snprintf(text + NAME + 2 * i, 3, "%02x", digest[i]);
}

bool hash_same(const struct hash *a, const struct hash *b)
{
    return a->known && b->known && !memcmp(a->digest, b->digest, SEEN_DIGEST);
}
