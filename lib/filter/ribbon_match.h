/*
 * ribbon_match.h - the question to one window, for one width of SIMD.
 *
 * ribbon_loops.h and shards_loops.h include this. A file that includes one of
 * them, once per width, defines
 *
 *     WIDTH_OF(name)         a name of this width's own
 *     TARGET                 the attribute that allows its instructions
 *     DIFFERING(q, columns)  bits for the columns of a struct ribbon_question
 *                            that differ from the fingerprint; 0: none does
 */
#define LOOP \
    TARGET \
    static inline __attribute__((always_inline))

/*
 * Do all `columns` parities at this window equal the fingerprint, the low bits
 * of the hash? A window at the first slot of a block does not reach into the
 * next, which may not exist.
 */
LOOP bool WIDTH_OF(matches)(const uint64_t *block, unsigned columns,
                            unsigned offset, uint64_t hash)
{
    uint64_t c = coefficients(hash);
    const struct ribbon_question q = { block, block + (offset ? columns : 0),
                                       c << offset, c >> 1 >> (63 - offset),
                                       hash };

    return !DIFFERING(&q, columns);
}
