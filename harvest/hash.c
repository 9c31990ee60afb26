/* hash.c - read and write announced hashes. */
#include "hash.h"

#include <string.h>

#include "../lib/text/hex.h"

static const char name[] = "sha-256:";
enum { NAME = sizeof name - 1, ALL = NAME + 2 * SEEN_DIGEST };

void hash_read(struct hash *h, const char *text, size_t len)
{
    h->known = false;
    for (size_t at = 0; at + ALL <= len && !h->known; at++)
        h->known = (!at || text[at - 1] == ' ') &&
                   !memcmp(text + at, name, NAME) &&
                   (at + ALL == len || text[at + ALL] == ' ') &&
                   hex_read(h->digest, SEEN_DIGEST, text + at + NAME, true);
}

void hash_write(char text[HASH_TEXT], const unsigned char digest[SEEN_DIGEST])
{
    memcpy(text, name, NAME);
    hex_write(text + NAME, digest, SEEN_DIGEST);
}

bool hash_same(const struct hash *a, const struct hash *b)
{
    return a->known && b->known && !memcmp(a->digest, b->digest, SEEN_DIGEST);
}
