/*
 * blocked_loops.h - the loops over keys, for one width of SIMD.
 *
 * blocked.c and blocked_x86.c include this once per width. They define
 *
 *     WIDTH(name)     a name of this width's own
 *     TARGET          the attribute that allows its instructions
 *     VIEW_OF(cells, k)  what IN and SET need to know about cells, a VIEW
 *     IN, SET         test or set the bits of one mark in its line
 *     SUM, START(n), TOTAL  a sum of bits that were clear, before and after n
 *                     keys
 *
 * The line of a key is prefetched AHEAD keys before it is probed, one line
 * per step: in bursts of 32 the memory was idle between bursts. What counts
 * next is the number of instructions per key, also where the speed of memory
 * decides: a CPU looks only a few hundred instructions ahead, and prefetches
 * that are not among them cannot begin. 45 of them per key took 1.30 times
 * what the memory needs, 28 took 1.04, and now there are 26 (AVX2, 100 million
 * keys). So a mark is kept as the products gave it, steps are unrolled by
 * eight, and all k <= 8 run the same code: `two` is a constant that says
 * whether k > 8.
 *
 * How far ahead? 32 keys pass in 40 ns, and memory takes 150 to answer. So with
 * 32 lines on their way the CPU waited for each of them, where cells are larger
 * than the caches: calls of 4,096 and of 256 keys took 5.9 and 6.4 ns per key
 * of 100 million (EPYC, Zen 5). 64 ahead: 3.9 and 4.6; 96: 3.2 and 3.9; 128:
 * 2.8 and 3.7; 256: 3.1 and 3.7. In the cache each key of `distance` costs its
 * share of the slower loops before and after: 1.3 and 1.5 ns with 128, 1.2 and
 * 1.3 with 32.
 */
#define LOOP \
    TARGET \
    static inline __attribute__((always_inline))

LOOP void WIDTH(has_as)(const struct blocked *b, const struct seen_key *key,
                        size_t n, bool *seen, bool two, const size_t distance)
{
    const struct marker by = marker_of(b);
    unsigned char *cells = b->base.cells;
    const VIEW view = VIEW_OF(cells, b->base.plan.probes);
    struct mark ring[FAR_AHEAD];
    size_t i = 0, ahead = n < distance ? n : distance;

#pragma GCC unroll 4
    for (size_t j = 0; j < ahead; j++)
        ring[j] = fetch_mark(&by, &key[j], cells, false);
    for (; i + distance + 8 <= n; i += 8) {
        struct mark *m = &ring[i % distance];

#pragma GCC unroll 8
        for (unsigned u = 0; u < 8; u++) {
            seen[i + u] = IN(&view, m + u, two);
            m[u] = fetch_mark(&by, &key[i + distance + u], cells, false);
        }
    }
    for (; i + ahead < n; i++) {
        struct mark *m = &ring[i % distance];

        seen[i] = IN(&view, m, two);
        *m = fetch_mark(&by, &key[i + distance], cells, false);
    }
#pragma GCC unroll 4
    for (; i < n; i++) {
        const struct mark *m = &ring[i % distance];

        seen[i] = IN(&view, m, two);
    }
}

/* One key and k <= 8: without a ring there are fewer instructions, so that
   calls for several keys overlap. */
TARGET
static enum seen_code WIDTH(has_one)(const struct seen_filter *f,
                                     const struct seen_key *key, bool *seen)
{
    const struct marker by = marker_of((const struct blocked *)f);
    const VIEW view = VIEW_OF(f->cells, f->plan.probes);
    const struct mark m = mark_of(&by, key);

    *seen = IN(&view, &m, false);
    return SEEN_OK;
}

LOOP uint64_t WIDTH(add_as)(struct blocked *b, const struct seen_key *key,
                            size_t n, bool *fresh, bool two,
                            const size_t distance)
{
    const struct marker by = marker_of(b);
    unsigned char *cells = b->base.cells;
    const VIEW view = VIEW_OF(cells, b->base.plan.probes);
    struct mark ring[FAR_AHEAD];
    size_t i = 0, ahead = n < distance ? n : distance;
    SUM more = START(n);
    bool miss;

#pragma GCC unroll 4
    for (size_t j = 0; j < ahead; j++)
        ring[j] = fetch_mark(&by, &key[j], cells, true);
    for (; i + distance + 8 <= n; i += 8) {
        struct mark *m = &ring[i % distance];

#pragma GCC unroll 8
        for (unsigned u = 0; u < 8; u++) {
            miss = SET(&view, m + u, two, &more);
            if (fresh)
                fresh[i + u] = miss;
            m[u] = fetch_mark(&by, &key[i + distance + u], cells, true);
        }
    }
    for (; i < n; i++) {
        struct mark *m = &ring[i % distance];

        miss = SET(&view, m, two, &more);
        if (fresh)
            fresh[i] = miss;
        if (i + ahead < n)
            *m = fetch_mark(&by, &key[i + distance], cells, true);
    }
    return TOTAL(more);
}

/* The same for an insert; true, so that the kind can end with a jump here. */
TARGET
static bool WIDTH(add_one)(struct blocked *b, const struct seen_key *key,
                           bool *fresh)
{
    const struct marker by = marker_of(b);
    const VIEW view = VIEW_OF(b->base.cells, b->base.plan.probes);
    const struct mark m = mark_of(&by, key);
    SUM more = START(1);
    bool miss = SET(&view, &m, false, &more);

    if (fresh)
        *fresh = miss;
    b->base.set += TOTAL(more);
    return true;
}

/*
 * Several threads. One lock per key took longer than the rest of its work:
 * not the instruction, but the cache line of the lock, which the other thread
 * had last. So a lock is taken once for up to 16 keys of its group. A key
 * whose group is complete lets it be added and begins the next one; the last
 * key of a group came 16 keys before that on average, so that its line has
 * mostly arrived. Equal keys are in the same group and keep their order.
 *
 * Two threads with 256 keys per call took 10 ns per key, with 100 million
 * keys (EPYC, AVX2). Sorting 128 keys at a time by group took 14.5 ns. 8 keys
 * per lock took 10.6 ns, and 32 groups 11.
 */
LOOP void WIDTH(add_group)(struct blocked *b, const VIEW *view,
                           struct key_group *group, unsigned number,
                           bool *fresh, bool two, SUM *more)
{
    stripe_lock(&b->base, number);
    for (unsigned i = 0; i < group->n; i++) {
        const struct grouped_key *w = &group->of[i];
        bool miss = SET(view, &w->mark, two, more);

        if (fresh)
            fresh[w->key] = miss;
    }
    stripe_unlock(&b->base, number);
    group->n = 0;
}

LOOP uint64_t WIDTH(share_as)(struct blocked *b, const struct seen_key *key,
                              size_t n, bool *fresh, bool two)
{
    const struct marker by = marker_of(b);
    unsigned char *cells = b->base.cells;
    const VIEW view = VIEW_OF(cells, b->base.plan.probes);
    struct key_group group[GROUPS];
    SUM more = START(n);

    for (unsigned g = 0; g < GROUPS; g++)
        group[g].n = 0;
    for (size_t i = 0; i < n; i++) {
        const struct mark m = fetch_mark(&by, &key[i], cells, true);
        unsigned g = group_of(&m);

        if (group[g].n == TOGETHER)
            WIDTH(add_group)(b, &view, &group[g], g, fresh, two, &more);
        group[g].of[group[g].n].mark = m;
        group[g].of[group[g].n++].key = i;
    }
    /* From some group on, so that threads which end together do not wait for
       each other at every group. */
    for (unsigned i = 0; n && i < GROUPS; i++) {
        unsigned g = (unsigned)(key->lo + i) % GROUPS;

        if (group[g].n)
            WIDTH(add_group)(b, &view, &group[g], g, fresh, two, &more);
    }
    return TOTAL(more);
}

LOOP uint64_t WIDTH(fill_as)(const struct blocked *b, unsigned char *region,
                             const uint64_t *entry, size_t n,
                             const struct seen_soon *soon, bool two)
{
    const VIEW view = VIEW_OF(region, b->base.plan.probes);
    struct pace pace = pace_of(soon, n / 8);
    SUM more = START(n);

#pragma GCC unroll 8
    for (size_t i = 0; i < n; i++) {
        const struct mark m = { (entry[i] >> MARK_BITS) * LINE,
                                entry[i] << MARK_SHIFT };

        if (i % 8 == 0)
            fetch_some(&pace);
        if (i + AHEAD < n)
            __builtin_prefetch(region + (entry[i + AHEAD] >> MARK_BITS) * LINE,
                               1);
        SET(&view, &m, two, &more);
    }
    return TOTAL(more);
}

TARGET
__attribute__((noinline)) static enum seen_code WIDTH(has_many)(
    const struct blocked *b, const struct seen_key *key, size_t n, bool *seen)
{
    if (b->base.plan.probes > WORDS)
        WIDTH(has_as)(b, key, n, seen, true, AHEAD);
    else if (b->bytes < FAR_FROM)
        WIDTH(has_as)(b, key, n, seen, false, AHEAD);
    else
        WIDTH(has_as)(b, key, n, seen, false, FAR_AHEAD);
    return SEEN_OK;
}

TARGET
static enum seen_code WIDTH(has)(const struct blocked *b,
                                 const struct seen_key *key, size_t n,
                                 bool *seen)
{
    if (n != 1 || b->base.plan.probes > WORDS)
        return WIDTH(has_many)(b, key, n, seen);
    return WIDTH(has_one)(&b->base, key, seen);
}

TARGET
static uint64_t WIDTH(add)(struct blocked *b, const struct seen_key *key,
                           size_t n, bool *fresh)
{
    if (b->base.plan.probes > WORDS)
        return WIDTH(add_as)(b, key, n, fresh, true, AHEAD);
    if (b->bytes < FAR_FROM)
        return fresh ? WIDTH(add_as)(b, key, n, fresh, false, AHEAD)
                     : WIDTH(add_as)(b, key, n, NULL, false, AHEAD);
    return fresh ? WIDTH(add_as)(b, key, n, fresh, false, FAR_AHEAD)
                 : WIDTH(add_as)(b, key, n, NULL, false, FAR_AHEAD);
}

TARGET
static uint64_t WIDTH(share)(struct blocked *b, const struct seen_key *key,
                             size_t n, bool *fresh)
{
    return b->base.plan.probes <= WORDS
               ? WIDTH(share_as)(b, key, n, fresh, false)
               : WIDTH(share_as)(b, key, n, fresh, true);
}

TARGET
static uint64_t WIDTH(fill)(struct blocked *b, unsigned char *region,
                            const uint64_t *entry, size_t n,
                            const struct seen_soon *soon)
{
    return b->base.plan.probes <= WORDS
               ? WIDTH(fill_as)(b, region, entry, n, soon, false)
               : WIDTH(fill_as)(b, region, entry, n, soon, true);
}

#undef LOOP
#undef WIDTH
#undef TARGET
#undef VIEW
#undef VIEW_OF
#undef IN
#undef SET
#undef SUM
#undef START
#undef TOTAL
