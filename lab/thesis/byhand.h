/*
 * byhand.h - Bloom filters as the thesis wrote them (its Algorithms 1 to 4).
 *
 * One or several filters, k salted Jenkins hashes each, one after the other,
 * all of them for every URL; the library hashes under eight salts at once,
 * asks later probes and later filters only where the earlier ones say yes,
 * and is not to be compared by its shape.
 *
 * Threads: one.
 */
#ifndef SEEN_LAB_THESIS_BYHAND_H
#define SEEN_LAB_THESIS_BYHAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct byhand {
    unsigned filters, k;
    uint64_t m;     /* bits of a filter */
    uint64_t *word; /* of all filters */
    uint32_t *salt; /* of all filters */
};

void byhand_init(struct byhand *b, unsigned filters, unsigned k, uint64_t m,
                 uint64_t seed);
void byhand_clear(struct byhand *b);

void byhand_add(struct byhand *b, const char *text, size_t len);
bool byhand_has(const struct byhand *b, const char *text, size_t len);

#endif
