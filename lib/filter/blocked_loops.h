/*
 * blocked_loops.h - the loops over keys, for one width of SIMD.
 *
 * blocked_x86.c includes this once per width, and defines ISA, WIDTH(name),
 * VECTOR and ZERO, and IN, SET and TOTAL of that width for one key. The line
 * of a key is prefetched AHEAD keys before it is probed, one line per step: in
 * bursts of 32 the memory was idle between bursts, and a lookup took 7.2 ns
 * instead of 6.2. Unrolling by four saved a third of a nanosecond. k is a
 * constant in the copy for six probes, which a rate of one percent needs.
 */
INLINE(ISA)
void WIDTH(has_k)(const struct blocked *b, const struct seen_key *key,
                  size_t n, bool *seen, unsigned k)
{
    const struct blocked local = { .salt = b->salt, .lines = b->lines };
    const unsigned char *cells = b->base.cells;
    const struct words words = words_of(k);
    struct mark ring[AHEAD];
    size_t i = 0, ahead = n < AHEAD ? n : AHEAD;

    for (size_t j = 0; j < ahead; j++) {
        ring[j] = mark_of(&local, &key[j]);
        __builtin_prefetch(cells + ring[j].line * LINE);
    }
#pragma GCC unroll 4
    for (; i + ahead < n; i++) {
        struct mark m = ring[i % AHEAD];
        struct mark next = mark_of(&local, &key[i + AHEAD]);

        ring[i % AHEAD] = next;
        __builtin_prefetch(cells + next.line * LINE);
        seen[i] = IN(cells + m.line * LINE, m.bits, &words, k);
    }
    for (; i < n; i++) {
        struct mark m = ring[i % AHEAD];

        seen[i] = IN(cells + m.line * LINE, m.bits, &words, k);
    }
}

INLINE(ISA)
uint64_t WIDTH(add_k)(struct blocked *b, const struct seen_key *key, size_t n,
                      bool *fresh, unsigned k)
{
    const struct blocked local = { .salt = b->salt, .lines = b->lines };
    unsigned char *cells = b->base.cells;
    const struct words words = words_of(k);
    struct mark ring[AHEAD];
    size_t i = 0, ahead = n < AHEAD ? n : AHEAD;
    VECTOR more = ZERO;
    bool miss;

    for (size_t j = 0; j < ahead; j++) {
        ring[j] = mark_of(&local, &key[j]);
        __builtin_prefetch(cells + ring[j].line * LINE, 1);
    }
#pragma GCC unroll 4
    for (; i + ahead < n; i++) {
        struct mark m = ring[i % AHEAD];
        struct mark next = mark_of(&local, &key[i + AHEAD]);

        ring[i % AHEAD] = next;
        __builtin_prefetch(cells + next.line * LINE, 1);
        miss = SET(cells + m.line * LINE, m.bits, &words, k, &more);
        if (fresh)
            fresh[i] = miss;
    }
    for (; i < n; i++) {
        struct mark m = ring[i % AHEAD];

        miss = SET(cells + m.line * LINE, m.bits, &words, k, &more);
        if (fresh)
            fresh[i] = miss;
    }
    return TOTAL(more);
}

INLINE(ISA)
uint64_t WIDTH(fill_k)(unsigned char *region, const uint64_t *entry, size_t n,
                       unsigned k)
{
    const uint64_t mark = (UINT64_C(1) << MARK_BITS) - 1;
    const struct words words = words_of(k);
    VECTOR more = ZERO;
    size_t i = 0;

#pragma GCC unroll 4
    for (; i + AHEAD < n; i++) {
        __builtin_prefetch(region + (entry[i + AHEAD] >> MARK_BITS) * LINE, 1);
        SET(region + (entry[i] >> MARK_BITS) * LINE, entry[i] & mark, &words,
            k, &more);
    }
    for (; i < n; i++)
        SET(region + (entry[i] >> MARK_BITS) * LINE, entry[i] & mark, &words,
            k, &more);
    return TOTAL(more);
}

__attribute__((target(ISA))) static void WIDTH(has)(const struct blocked *b,
                                                    const struct seen_key *key,
                                                    size_t n, bool *seen)
{
    if (b->base.plan.probes == 6)
        WIDTH(has_k)(b, key, n, seen, 6);
    else
        WIDTH(has_k)(b, key, n, seen, b->base.plan.probes);
}

__attribute__((target(ISA))) static uint64_t WIDTH(add)(
    struct blocked *b, const struct seen_key *key, size_t n, bool *fresh)
{
    if (b->base.plan.probes == 6 && !fresh)
        return WIDTH(add_k)(b, key, n, NULL, 6);
    return WIDTH(add_k)(b, key, n, fresh, b->base.plan.probes);
}

__attribute__((target(ISA))) static uint64_t WIDTH(fill)(struct blocked *b,
                                                         unsigned char *region,
                                                         const uint64_t *entry,
                                                         size_t n)
{
    if (b->base.plan.probes == 6)
        return WIDTH(fill_k)(region, entry, n, 6);
    return WIDTH(fill_k)(region, entry, n, b->base.plan.probes);
}

#undef ISA
#undef WIDTH
#undef VECTOR
#undef ZERO
#undef IN
#undef SET
#undef TOTAL
