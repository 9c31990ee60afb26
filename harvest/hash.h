/* hash.h - SHA-256 as ResourceSync writes it: sha-256:64 hex digits. */
#ifndef SEEN_HARVEST_HASH_H
#define SEEN_HARVEST_HASH_H

#include <stdbool.h>
#include <stddef.h>

#include <seen/share.h>
#include <seen/span.h>

struct harvest_hash {
    bool known;
    unsigned char digest[SEEN_DIGEST];
};

enum { HARVEST_HASH = 8 + 2 * SEEN_DIGEST + 1 }; /* bytes as text */

/* Read the SHA-256 from a list of hashes with spaces between them. */
void harvest_hash_read(struct harvest_hash *h, struct seen_span text);
void harvest_hash_write(char text[HARVEST_HASH], const struct harvest_hash *h);

/* Both known, and equal? */
bool harvest_hash_same(const struct harvest_hash *a,
                       const struct harvest_hash *b);

#endif
