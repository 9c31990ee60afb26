/* pattern_set.h - sets of bytes, as "[a-z]" writes them; for pattern_*.c. */
#ifndef SEEN_TEXT_PATTERN_SET_H
#define SEEN_TEXT_PATTERN_SET_H

#include <stdbool.h>
#include <stdint.h>

struct pattern_set {
    uint64_t bits[4];
};

static inline bool pattern_set_has(const struct pattern_set *s,
                                   unsigned char c)
{
    return s->bits[c / 64] >> (c % 64) & 1;
}

static inline void pattern_set_add(struct pattern_set *s, unsigned char c)
{
    s->bits[c / 64] |= UINT64_C(1) << (c % 64);
}

void pattern_set_invert(struct pattern_set *s);

/* Add a class, such as "alpha"; false if there is none of that name. */
bool pattern_set_class(struct pattern_set *s, const char *name);

/* Read what follows a "[", up to its "]". Returns the place after that; NULL if
   it is wrong. */
const char *pattern_set_read(struct pattern_set *s, const char *at);

#endif
