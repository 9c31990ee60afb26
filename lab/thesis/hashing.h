/*
 * hashing.h - hash functions by name, with salts.
 *
 * The published ones, ours, and one that is bad on purpose: a sum of bytes,
 * to see that the tests of evenness would notice.
 *
 * Threads: any number may hash.
 */
#ifndef SEEN_LAB_THESIS_HASHING_H
#define SEEN_LAB_THESIS_HASHING_H

#include "../corpus.h"

enum { HASHINGS = 7, OURS = 5, BAD = 6 };

const char *hashing_name(unsigned which);
/* The kind of filter that uses it; NULL for the bad one. */
const char *hashing_kind(unsigned which);

/*
 * Hash all texts under `salts` salts, those of byhand_salt(), as filters do:
 * to hash[i * salts + j], with the bits of short hashes at the upper end.
 * Ours hashes a text once and derives the rest.
 */
void hashing_all(unsigned which, const struct corpus *t, uint64_t seed,
                 unsigned salts, uint64_t *hash);

#endif
