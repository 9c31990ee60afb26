/*
 * decoys.h - which other blocks are read with a block, so that a server does not
 * learn which one was meant.
 *
 * If decoys were chosen at random each time, the block that comes again would be
 * the one that is meant. If they were a function of the block alone, two
 * questions whose sets overlap would tell, because a block has its own decoys
 * and those of others do not. So the blocks are shuffled by a secret and dealt
 * into groups, and whoever needs one block reads its group:
 *
 *     place    0  1  2  3 | 4  5  6  7 | 8  9 10 11 12     group = place / 4
 *     block   17  3 40 22 | 9 31  0 12 | ...               of 3 decoys
 *
 * Each member of a group leads to the same set. The last group takes the rest.
 * The shuffle is a Feistel network on the numbers below the next power of four,
 * repeated until the number is that of a block [1]; its round function is
 * SipHash.
 *
 * [1] J. Black, P. Rogaway: Ciphers with arbitrary finite domains. CT-RSA 2002.
 */
#ifndef SEEN_STORE_DECOYS_H
#define SEEN_STORE_DECOYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seen/key.h>

struct store_decoys {
    unsigned decoys; /* 0: a group is a block */
    uint64_t blocks;
    unsigned char secret[SEEN_SECRET];
};

/* Where the group of a block begins, and how many places it has. */
uint64_t store_decoys_group(const struct store_decoys *d, uint64_t block,
                            uint64_t *size);

/* The block at a place of the shuffle. */
uint64_t store_decoys_at(const struct store_decoys *d, uint64_t place);

#endif
