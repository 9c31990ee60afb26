/*
 * ribbon_inside.h - what the files of a ribbon share.
 *
 *     ribbon.c  -->  ribbon_solve.c  -->  ribbon_threads.c  -->  ribbon_band.c
 *     questions,     layers, slots        stretches              buckets,
 *     sizes                                                      equations
 */
#ifndef SEEN_FILTER_RIBBON_INSIDE_H
#define SEEN_FILTER_RIBBON_INSIDE_H

#include <seen/kind_writer.h>

#include "cells.h"
#include "hash_sort.h"
#include "probe.h"

enum {
    WIDTH = 64,    /* slots of a window, and of a block */
    BUCKET = 128,  /* slots that are bumped together */
    MOST_BITS = 32,
    LEAD = 4096,   /* words between the first slot and the first hash */
    ATTEMPTS = 256 /* for the last layer */
};

/* A key is bumped if its window begins in the first slots of a bucket. */
static const unsigned char bumped_slots[4] = { 0, 16, 40, BUCKET };

/* What `shape` records: bits per slot, blocks with one bit less, the attempt
   that solved the last layer; then the blocks of each layer. */
enum { COLUMNS, LOW, ATTEMPT, BLOCKS, MOST_LAYERS = SEEN_SHAPE - BLOCKS };

struct layer {
    uint64_t salt, again; /* the last layer hashes twice */
    bool last;
    uint64_t starts; /* where windows can begin */
    uint64_t low;    /* blocks with one bit less */
    uint64_t words;  /* offset of the first block */
    uint64_t bumps;  /* offset of the words with the bumping bits */
};

struct ribbon {
    struct seen_filter base;
    unsigned columns, layers;
    struct layer layer[MOST_LAYERS];
};

static inline uint64_t start_of(const struct layer *l, uint64_t hash)
{
    return reduce(hash, l->starts);
}

/* The first slot of a window always counts. */
static inline uint64_t coefficients(uint64_t hash)
{
    return seen_mix(hash) | 1;
}

/* The first word of a block: low blocks come first. */
static inline uint64_t block_at(const struct ribbon *f, const struct layer *l,
                                uint64_t block)
{
    uint64_t low = block < l->low ? block : l->low;

    return l->words + block * f->columns - low;
}

static inline uint64_t buckets(const struct layer *l)
{
    return (l->starts + BUCKET - 1) / BUCKET;
}

/* Look up n keys in a ribbon that has cells. Version i of those that this CPU
   supports, the widest first; NULL past the last, which is the portable one.
   All give the same answers. */
typedef void ribbon_look_up(const struct ribbon *f, const struct seen_key *key,
                            size_t n, bool *seen);
ribbon_look_up *ribbon_version(unsigned i);

static inline unsigned bump_get(const uint64_t *word, uint64_t bucket)
{
    return word[bucket / 32] >> (bucket % 32 * 2) & 3;
}

/* Layer i as in the shape, but its place. */
void ribbon_set_layer(struct ribbon *f, unsigned i, bool last);

/* The bits per slot: those of "ribbon:8", or as many as the rate needs. It is
   the first argument of any kind that is made of ribbons. */
enum seen_code ribbon_columns(struct seen_filter *base, unsigned *columns,
                              struct seen_error *why);

/* Derive the numbers that lookups need from the shape, and the number of bits
   that it takes. */
enum seen_code ribbon_take_shape(struct ribbon *f, uint64_t *bits,
                                 struct seen_error *why);

/* --- ribbon_band.c --- */

/* The equations of a stretch of slots after elimination: the one whose first
   slot is origin + i, or coefficients of 0. */
struct ribbon_band {
    uint64_t *c;
    uint32_t *print;
    uint64_t origin;
};

/*
 * Sorted hashes, and the coefficients of equations in the same memory:
 *
 *     +---------------------------+---------------+---------------------+
 *     |  coefficients of slots    |       0       |  hashes to come     |
 *     +---------------------------+---------------+---------------------+
 *     0                       slots done     LEAD + keys done
 *
 * There are fewer slots than keys, so slots get ahead of the hashes only if
 * the hashes are not random. Then the hashes to come move to `rest`.
 */
struct ribbon_hashes {
    uint64_t *hash;
    size_t n;
    bool shared; /* with the coefficients */
    uint64_t salt; /* what they were made with, of `given` values in blocks */
    size_t given;
    uint64_t *rest;
    size_t moved, rest_size; /* it begins with hash number `moved` */
};

/* The keys of a bucket that ends before slot `end`. */
static inline size_t keys_before(const struct layer *l, const uint64_t *hash,
                                 size_t n, uint64_t end)
{
    size_t some = 0;

    while (some < n && start_of(l, hash[some]) < end)
        some++;
    return some;
}

/*
 * Insert the keys of a bucket; return how many, of those at its beginning, are
 * bumped. Those that are never bumped alone come first. Within each of the
 * three groups the order does not matter: which slots get an equation, and so
 * the table, depends on the set of keys only. A group that cannot be solved is
 * taken out again, and is bumped with those before it.
 */
size_t ribbon_insert_bucket(const struct layer *l,
                            const struct ribbon_band *band, uint32_t mask,
                            const uint64_t *hash, size_t n, unsigned *bump);

/*
 * Insert the sorted keys, bucket by bucket, and write the bumping bits. Bumped
 * keys are collected in the blocks; *bumped is their number. Without `bumps`,
 * stop at the first that would be bumped. False: no memory.
 */
bool ribbon_insert_all(const struct layer *l, const struct ribbon_band *band,
                       uint32_t mask, struct ribbon_hashes *s, uint64_t *bumps,
                       uint64_t *const *block, size_t *bumped);

/* --- ribbon_threads.c --- */

/* A layer before it has its place among the cells. */
struct ribbon_solved {
    uint64_t *word, *bumps;
    size_t words, bump_words;
};

/* Insert the keys of a layer, in several threads if that is worth it. *bands
   is then the number of stretches in band[]. False: no memory. */
bool ribbon_insert_layer(const struct layer *l, struct ribbon_band *band,
                         unsigned *bands, uint32_t mask, uint64_t slots,
                         struct ribbon_hashes *s, struct ribbon_solved *to,
                         uint64_t *const *block, size_t *bumped,
                         unsigned threads);

#endif
