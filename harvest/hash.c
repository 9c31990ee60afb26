/* hash.c - read and write announced hashes. */
#include "hash.h"

#include <string.h>

#include "../lib/text/hex.h"
#include "../lib/text/span.h"

static const char scheme[] = "sha-256:";

void harvest_hash_read(struct harvest_hash *h, struct seen_span text)
{
    const size_t begin = sizeof scheme - 1, all = begin + 2 * SEEN_DIGEST;
    struct seen_span one;
    char digits[2 * SEEN_DIGEST + 1] = "";

    h->known = false;
    while (!h->known && span_cut(&text, ' ', &one)) {
        if (one.len != all || !span_begins(one, scheme))
            continue;
        memcpy(digits, one.text + begin, 2 * SEEN_DIGEST);
        h->known = hex_read(h->digest, SEEN_DIGEST, digits, true);
    }
}

void harvest_hash_write(char text[HARVEST_HASH], const struct harvest_hash *h)
{
    memcpy(text, scheme, sizeof scheme);
    hex_write(text + sizeof scheme - 1, h->digest, SEEN_DIGEST);
}

bool harvest_hash_same(const struct harvest_hash *a,
                       const struct harvest_hash *b)
{
    return a->known && b->known && !memcmp(a->digest, b->digest, SEEN_DIGEST);
}
