/*
 * ribbon_band.c - the keys of a ribbon as equations: Gaussian elimination.
 *
 * ribbon.c draws the band. Each bucket is inserted after those before it, and
 * what cannot be solved is bumped.
 */
#include "ribbon_inside.h"

#include <string.h>

enum { AT_ONCE = 3 }; /* equations that are inserted together: 2 to 4 */
#define INLINE static inline __attribute__((always_inline))

/* An equation that is being inserted. Its first coefficient, bit 0 of c, is
   that of slot origin + `at`. A row with c = 0 is done. */
struct ribbon_row {
    uint64_t c, at;
    uint32_t print;
};

/* The slots that got an equation: never more than the windows of the keys of
   a bucket have. */
struct filled {
    size_t n;
    uint64_t slot[BUCKET + WIDTH];
};

/* Subtract the equation of the slot, and go to the first slot that is left. */
INLINE void eliminate(const struct ribbon_band *band, struct ribbon_row *r,
                      uint64_t c)
{
    unsigned zeros;

    r->c ^= c;
    r->print ^= band->print[r->at];
    zeros = (unsigned)__builtin_ctzll(r->c);
    r->c >>= zeros;
    r->at += zeros;
}

/* One step of a row; false if it contradicts the others. */
INLINE bool step(const struct ribbon_band *band, struct ribbon_row *r,
                 struct filled *filled)
{
    uint64_t c = band->c[r->at];

    if (!c) {
        band->c[r->at] = r->c;
        band->print[r->at] = r->print;
        filled->slot[filled->n++] = r->at;
        r->c = 0;
    } else if (c == r->c) { /* it follows from the others, or contradicts */
        r->c = 0;
        return r->print == band->print[r->at];
    } else {
        eliminate(band, r, c);
    }
    return true;
}

/*
 * Insert rows, a few at a time, because each step of a row waits for the one
 * before. Where one row ends, the next takes its place. One row at a time took
 * 90 ns per key, two 72, three 68, and four as much, for want of registers.
 */
static bool insert_rows(const struct ribbon_band *band,
                        const struct ribbon_row *row, size_t n,
                        struct filled *filled)
{
    struct ribbon_row r[AT_ONCE] = { { 0 } };
    size_t next = 0;
    bool full = n >= AT_ONCE, fits = true;

#pragma GCC unroll 4
    for (unsigned i = 0; i < AT_ONCE; i++)
        if (next < n)
            r[i] = row[next++];
    while (full && fits) {
        uint64_t c[AT_ONCE];
        bool go_on = true;

#pragma GCC unroll 4
        for (unsigned i = 0; i < AT_ONCE; i++) {
            c[i] = band->c[r[i].at];
            go_on = go_on & (c[i] != 0) & (c[i] != r[i].c);
        }
        if (__builtin_expect(go_on, true)) {
#pragma GCC unroll 4
            for (unsigned i = 0; i < AT_ONCE; i++)
                eliminate(band, &r[i], c[i]);
            continue;
        }
#pragma GCC unroll 4
        for (unsigned i = 0; i < AT_ONCE; i++) {
            if (r[i].c)
                fits = step(band, &r[i], filled) && fits;
            if (!r[i].c && next < n)
                r[i] = row[next++];
            full = full && r[i].c;
        }
    }
#pragma GCC unroll 4
    for (unsigned i = 0; i < AT_ONCE; i++)
        while (r[i].c && fits)
            fits = step(band, &r[i], filled);
    return fits;
}

/* Insert keys: at their first slots those that find them empty, then the
   others. False if they contradict each other or what is there. */
static bool insert_keys(const struct layer *l, const struct ribbon_band *band,
                        uint32_t mask, const uint64_t *hash, size_t n,
                        struct filled *filled)
{
    struct ribbon_row row[BUCKET];
    bool fits = true;

    for (size_t done = 0; done < n && fits;) {
        size_t end = n - done < BUCKET ? n : done + BUCKET, rows = 0;

        for (; done < end; done++) {
            uint64_t at = start_of(l, hash[done]) - band->origin;
            uint64_t c = coefficients(hash[done]);
            uint32_t print = (uint32_t)hash[done] & mask;
            uint64_t there = band->c[at];

            row[rows] = (struct ribbon_row){ c, at, print };
            rows += there != 0;
            band->c[at] = there ? there : c;
            band->print[at] = there ? band->print[at] : print;
            filled->slot[filled->n] = at;
            filled->n += !there;
        }
        fits = insert_rows(band, row, rows, filled);
    }
    return fits;
}

size_t ribbon_insert_bucket(const struct layer *l,
                            const struct ribbon_band *band, uint32_t mask,
                            const uint64_t *hash, size_t n, unsigned *bump)
{
    size_t end = n;

    for (*bump = 3; *bump; --*bump) {
        struct filled filled;
        size_t from = end;

        filled.n = 0;
        while (from &&
               start_of(l, hash[from - 1]) % BUCKET >= bumped_slots[*bump - 1])
            from--;
        if (!insert_keys(l, band, mask, hash + from, end - from, &filled)) {
            while (filled.n)
                band->c[filled.slot[--filled.n]] = 0;
            return end;
        }
        end = from;
    }
    return 0;
}

/* Make room for the coefficients of all slots; false: no memory. */
static bool move_rest(struct ribbon_hashes *s, size_t done)
{
    size_t size = (s->n - done) * sizeof *s->hash;

    s->rest = cells_new(size);
    if (!s->rest)
        return false;
    s->moved = done;
    s->rest_size = size;
    memcpy(s->rest, s->hash + done, size);
    memset(s->hash + done, 0, size);
    s->shared = false;
    return true;
}

bool ribbon_insert_all(const struct layer *l, const struct ribbon_band *band,
                       uint32_t mask, struct ribbon_hashes *s, uint64_t *bumps,
                       uint64_t *const *block, size_t *bumped)
{
    size_t done = 0;

    *bumped = 0;
    for (uint64_t end = BUCKET; done < s->n; end += BUCKET) {
        const uint64_t *hash;
        size_t some, gone;
        unsigned bump;

        if (s->shared && end + WIDTH > LEAD + done && !move_rest(s, done))
            return false;
        hash = s->rest ? s->rest + (done - s->moved) : s->hash + done;
        some = keys_before(l, hash, s->n - done, end);
        gone = ribbon_insert_bucket(l, band, mask, hash, some, &bump);
        if (gone && !bumps) {
            *bumped = gone;
            return true;
        }
        for (size_t i = 0; i < gone; i++, ++*bumped)
            block[*bumped / HASH_BLOCK][*bumped % HASH_BLOCK] = hash[i];
        if (gone) {
            uint64_t bucket = end / BUCKET - 1;

            bumps[bucket / 32] |= (uint64_t)bump << (bucket % 32 * 2);
        }
        if (s->shared)
            memset(s->hash + done, 0, some * sizeof *s->hash);
        done += some;
    }
    return true;
}
