/* decoys.c - a secret shuffle of blocks. */
#include "decoys.h"

#include "../text/sip.h"

enum { ROUNDS = 8 };

static uint64_t mix(const struct store_decoys *d, unsigned round,
                    uint64_t half)
{
    const uint64_t of[] = { round, half, d->blocks };
    uint64_t lo, hi;

    sip_hash(d->secret, of, sizeof of, &lo, &hi);
    return lo;
}

/* Half the bits of the numbers that are shuffled. */
static unsigned half_bits(const struct store_decoys *d)
{
    unsigned bits = 1;

    while (bits < 31 && (uint64_t)1 << 2 * bits < d->blocks)
        bits++;
    return bits;
}

/* One pass, or the same backwards. */
static uint64_t shuffle(const struct store_decoys *d, uint64_t x, bool back)
{
    const unsigned bits = half_bits(d);
    const uint64_t mask = ((uint64_t)1 << bits) - 1;
    uint64_t left = x >> bits, right = x & mask;

    for (unsigned i = 0; i < ROUNDS; i++) {
        uint64_t was = left;

        if (back) {
            left = right ^ (mix(d, ROUNDS - 1 - i, left) & mask);
            right = was;
        } else {
            left = right;
            right = was ^ (mix(d, i, right) & mask);
        }
    }
    return left << bits | right;
}

static uint64_t walk(const struct store_decoys *d, uint64_t x, bool back)
{
    do
        x = shuffle(d, x, back);
    while (x >= d->blocks);
    return x;
}

uint64_t store_decoys_at(const struct store_decoys *d, uint64_t place)
{
    return d->decoys ? walk(d, place, true) : place;
}

uint64_t store_decoys_group(const struct store_decoys *d, uint64_t block,
                            uint64_t *size)
{
    const uint64_t each = (uint64_t)d->decoys + 1;
    uint64_t groups = d->blocks / each, group;

    if (!d->decoys) {
        *size = 1;
        return block;
    }
    if (!groups) {
        *size = d->blocks;
        return 0;
    }
    group = walk(d, block, false) / each;
    if (group >= groups)
        group = groups - 1;
    *size = group + 1 < groups ? each : d->blocks - group * each;
    return group * each;
}
