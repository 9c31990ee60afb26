/*
 * random.h - random bytes from the system.
 *
 * They never fail and never wait: where the system has none yet, the clock
 * and addresses must do. That is enough for seeds and for hash tables, not for
 * secrets of users.
 */
#ifndef SEEN_TEXT_RANDOM_H
#define SEEN_TEXT_RANDOM_H

#include <stddef.h>
#include <stdint.h>

void random_fill(void *bytes, size_t len);

/* A seed for a filter: not 0, and below 2^53, so that a program that reads
   JSON numbers as floating point keeps it exactly. */
uint64_t random_seed(void);

#endif
