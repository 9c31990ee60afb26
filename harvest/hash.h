/* hash.h - SHA-256 as ResourceSync writes it: sha-256:64 hex digits. */
#ifndef SEEN_HARVEST_HASH_H
#define SEEN_HARVEST_HASH_H

#include <stdbool.h>
#include <stddef.h>

#include <seen/share.h>

/* One that was announced, or none. */
struct hash {
    bool known;
    unsigned char digest[SEEN_DIGEST];
};

enum { HASH_TEXT = 8 + 2 * SEEN_DIGEST + 1 };

/* Of several, with spaces between, the one that is a SHA-256. */
void hash_read(struct hash *h, const char *text, size_t len);
void hash_write(char text[HASH_TEXT], const unsigned char digest[SEEN_DIGEST]);

/* Both known, and the same? */
bool hash_same(const struct hash *a, const struct hash *b);

#endif
