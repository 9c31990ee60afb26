/*
 * shards.h - what the files of the kind `shards` share.
 *
 *     shards.c  -->  shards_fill.c  -->  ribbon_solve.c
 *     questions      places of keys      one ribbon
 */
#ifndef SEEN_FILTER_SHARDS_H
#define SEEN_FILTER_SHARDS_H

#include "ribbon_inside.h"

enum {
    SHARD_WORDS = 8192, /* 64 KiB: a block of a file */
    SHARD_LAYERS = 3,
    SHARD_TRIES = 32
};

/* What `shape` records: bits per slot, the number of shards, the words of the
   last one, and the keys of each of the others. */
enum { SHARDS_COLUMNS, SHARDS_COUNT, SHARDS_LAST, SHARDS_KEYS };

/*
 * Behind all shards is the table, an entry for each. `head` is, from its lowest
 * bits on: the blocks of layer 0, 14 bits, of layer 1, 12, and of layer 2, 8; the
 * blocks of layer 0 with one bit less, 14; the attempt of the last layer, 8,
 * and the try of the shard, 8. After the last entry comes a word of ones.
 */
struct shard_entry {
    uint64_t first; /* the lowest hash; 0 for the first shard */
    uint64_t head;
};

enum { HEAD_0 = 14, HEAD_1 = 12, HEAD_2 = 8, HEAD_LOW = 14, HEAD_BYTE = 8 };

static inline uint64_t head_blocks(uint64_t head, unsigned layer)
{
    return layer == 0   ? head & ((1 << HEAD_0) - 1)
           : layer == 1 ? head >> HEAD_0 & ((1 << HEAD_1) - 1)
                        : head >> (HEAD_0 + HEAD_1) & ((1 << HEAD_2) - 1);
}

static inline uint64_t head_low(uint64_t head)
{
    return head >> (HEAD_0 + HEAD_1 + HEAD_2) & ((1 << HEAD_LOW) - 1);
}

static inline unsigned head_attempt(uint64_t head)
{
    return head >> 48 & 0xff;
}

static inline unsigned head_again(uint64_t head)
{
    return (unsigned)(head >> 56);
}

struct shards {
    struct seen_filter base;
    unsigned columns;
    uint64_t salt;  /* keys are put in the order of seen_mix(lo ^ salt) */
    uint64_t scale; /* 65536 times the shards that keys would fill */
    uint64_t first; /* salt of layer 0 in try 0 */
};

/* The seed of the ribbon of a shard, in try `again`. */
static inline uint64_t shard_seed(uint64_t seed, unsigned again)
{
    return seed + again * UINT64_C(1024) * UINT64_C(0x9e3779b97f4a7c15);
}

static inline struct shard_entry *shards_table(const struct shards *f)
{
    uint64_t *word = (uint64_t *)(void *)f->base.cells;

    return (struct shard_entry *)(void *)(word +
                                          (f->base.shape[SHARDS_COUNT] - 1) *
                                              SHARD_WORDS +
                                          f->base.shape[SHARDS_LAST]);
}

/* Take the numbers of shards and of words in the last one: set the size. */
enum seen_code shards_take_shape(struct shards *f, uint64_t *bits,
                                 struct seen_error *why);

/*
 * Fill a filter that was made without a size, from the `lo` of n keys, which
 * may have duplicates. The blocks have HASH_BLOCK hashes each, and are used as
 * scratch space. Beside them it takes 8 bytes per key, and the cells.
 */
enum seen_code shards_fill(struct seen_filter *f, uint64_t *const *block,
                           size_t n, unsigned threads, struct seen_error *why);

/* Look up n keys; false if a shard is none. Versions as ribbon_version(). */
typedef bool shards_look_up(const struct shards *f, const struct seen_key *key,
                            size_t n, bool *seen);
shards_look_up *shards_version(unsigned i);

extern const struct seen_kind filter_shards;

#endif
