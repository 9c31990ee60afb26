/*
 * ribbon_loops.h - questions to a ribbon, for one width of SIMD.
 *
 * ribbon.c includes this once per width: see ribbon_match.h.
 *
 * The number of columns is a constant in the loops for 8, a rate of 1/256. ns
 * per key with a million keys and with ten million, half of them in the
 * filter, 256 per call (EPYC, Zen 5): AVX2 7.1 and 7.9, popcnt 9.7 and 10.6,
 * popcnt without that constant 11.4 and 12.3.
 *
 * A batch is fetched before it is looked at. Of 32 keys memory is idle between
 * two batches: 15.9 ns per key with 40 million, 13.4 with 64, 11.7 with 128; in
 * the cache 128 are 5 % faster than 32.
 */
#include "ribbon_match.h"

/* Look up a key, by its hash in the first layer. */
LOOP bool WIDTH_OF(found)(const struct ribbon *f, uint64_t hash,
                          unsigned columns)
{
    const uint64_t *word = (const uint64_t *)(const void *)f->base.cells;
    const struct layer *l = &f->layer[0];
    uint64_t start = start_of(l, hash);

    while (!l->last && is_bumped(word, l, start)) {
        l++;
        hash = hash_in(l, hash);
        start = start_of(l, hash);
    }
    word += block_at(f, l, start / WIDTH);
    return is_low(l, start)
               ? WIDTH_OF(matches)(word, columns - 1, start % WIDTH, hash)
               : WIDTH_OF(matches)(word, columns, start % WIDTH, hash);
}

LOOP void WIDTH_OF(look_up_as)(const struct ribbon *f,
                               const struct seen_key *key, size_t n,
                               bool *seen, unsigned columns)
{
    const struct layer *first = &f->layer[0];
    const uint64_t *word = (const uint64_t *)(const void *)f->base.cells;
    uint64_t hash[BATCH];

    for (size_t done = 0, some; done < n; done += some) {
        some = n - done < BATCH ? n - done : BATCH;
        for (size_t i = 0; i < some; i++) {
            uint64_t start, at;

            hash[i] = hash_in(first, key[done + i].lo);
            start = start_of(first, hash[i]);
            at = block_at(f, first, start / WIDTH);
            for (unsigned j = 0; j < 2 * columns; j += LINE / 8)
                __builtin_prefetch(word + at + j);
            __builtin_prefetch(word + first->bumps + start / BUCKET / 32);
        }
        for (size_t i = 0; i < some; i++)
            seen[done + i] = WIDTH_OF(found)(f, hash[i], columns);
    }
}

TARGET
static void WIDTH_OF(look_up)(const struct ribbon *f,
                              const struct seen_key *key, size_t n, bool *seen)
{
    if (f->columns == 8)
        WIDTH_OF(look_up_as)(f, key, n, seen, 8);
    else
        WIDTH_OF(look_up_as)(f, key, n, seen, f->columns);
}

#undef LOOP
#undef WIDTH_OF
#undef TARGET
#undef DIFFERING
