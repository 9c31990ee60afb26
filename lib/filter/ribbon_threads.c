/*
 * ribbon_threads.c - the buckets of a ribbon, solved in several threads.
 *
 * The buckets of a layer in stretches, one for each thread. What a bucket
 * takes from those before it are the equations whose first slot is one of its
 * own first 64, at most. A thread does not know those of the stretch before,
 * so it begins ribbon_warm_up buckets earlier, with none:
 *
 *     stretch 0   |-------------------------------|edge
 *     stretch 1                          warm up  |before----------------|
 *
 * Two bands that begin with other equations mostly span the same space after
 * some buckets, as a bucket that is too full bumps what they differ in. Of 40
 * layers 22 still differed after 50 buckets, 11 after 100, and 0, 1 and 0
 * after 200, 300 and 400. Which slots get an equation, which keys are bumped
 * and the table depend on the space only. So in the end `edge` is compared
 * with `before`: if they span the same, the result is that of one thread. If
 * not, one thread does all again, with hashes that are sorted once more.
 *
 * The hashes of a warm-up are copied, as two threads read them. The
 * coefficients of the next stretch begin where they were: see struct
 * ribbon_hashes.
 *
 * CPU time per key of the thread that takes longest, EPYC, Zen 5: with 20
 * million keys 51 ns for one thread, 30 for two, and 52 for two that shared
 * the sorting only.
 */
#include "ribbon_inside.h"

#include <stdlib.h>
#include <string.h>

#include "crew.h"
#include "ribbon.h"

unsigned ribbon_warm_up = 1024;

enum { STRETCH = 8 }; /* times the warm-up: less is not worth a thread */

/* Equations that reach into the next bucket, by their first slot in it. */
struct ribbon_overhang {
    uint64_t c[WIDTH];
    uint32_t print[WIDTH];
};

/* One bucket, and what reaches behind it. */
struct ribbon_window {
    uint64_t c[BUCKET + WIDTH];
    uint32_t print[BUCKET + WIDTH];
};

struct ribbon_stretch {
    const struct layer *layer;
    struct ribbon_band band;
    uint32_t mask;
    uint64_t first, last; /* buckets */
    uint64_t *hash;       /* behind `lead` words that are 0 */
    size_t n, lead;
    uint64_t *warm, *tail; /* hashes before the first one, and those of the
                              last buckets */
    size_t warm_n, tail_n;
    uint64_t *bumps;
    struct ribbon_overhang before, edge;
    uint64_t *bumped;
    size_t bumps_n, room;
    bool failed;
};

static void set_overhang(struct ribbon_window *w,
                         const struct ribbon_overhang *o)
{
    memset(w, 0, sizeof *w);
    memcpy(w->c, o->c, sizeof o->c);
    memcpy(w->print, o->print, sizeof o->print);
}

static void get_overhang(struct ribbon_overhang *o, const uint64_t *c,
                         const uint32_t *print)
{
    memcpy(o->c, c, sizeof o->c);
    memcpy(o->print, print, sizeof o->print);
}

/* Reduce equations until none has the first slot of another. What is left
   depends on the space only. A slot without an equation has c = 0. */
static void reduce_overhang(struct ribbon_overhang *o, u128 row[WIDTH])
{
    for (unsigned i = 0; i < WIDTH; i++)
        row[i] = (u128)o->c[i] << i;
    for (unsigned i = WIDTH; i--;)
        for (unsigned j = 0; j < i && o->c[i]; j++)
            if (row[j] >> i & 1) {
                row[j] ^= row[i];
                o->print[j] ^= o->print[i];
            }
}

static bool same_overhang(const struct ribbon_overhang *one,
                          const struct ribbon_overhang *other)
{
    struct ribbon_overhang a = *one, b = *other;
    u128 row[WIDTH], row2[WIDTH];

    reduce_overhang(&a, row);
    reduce_overhang(&b, row2);
    for (unsigned i = 0; i < WIDTH; i++)
        if (row[i] != row2[i] || (row[i] && a.print[i] != b.print[i]))
            return false;
    return true;
}

/* Insert a bucket beside its band, with what reaches into it; *o becomes what
   reaches into the next one. */
static size_t insert_aside(const struct ribbon_stretch *s,
                           struct ribbon_window *w, uint64_t bucket,
                           struct ribbon_overhang *o, const uint64_t *hash,
                           size_t n, unsigned *bump)
{
    const struct ribbon_band band = { w->c, w->print, bucket * BUCKET };
    size_t gone;

    set_overhang(w, o);
    gone = ribbon_insert_bucket(s->layer, &band, s->mask, hash, n, bump);
    get_overhang(o, w->c + BUCKET, w->print + BUCKET);
    return gone;
}

static void warm_up(struct ribbon_stretch *s)
{
    uint64_t bucket = s->first - ribbon_warm_up;
    struct ribbon_window w;
    unsigned bump;

    memset(&s->before, 0, sizeof s->before);
    for (size_t done = 0, some; bucket < s->first; bucket++, done += some) {
        some = keys_before(s->layer, s->warm + done, s->warm_n - done,
                           (bucket + 1) * BUCKET);
        insert_aside(s, &w, bucket, &s->before, s->warm + done, some, &bump);
    }
    memcpy(s->band.c, s->before.c, sizeof s->before.c);
    memcpy(s->band.print, s->before.print, sizeof s->before.print);
}

/* Note the keys of a bucket that are bumped; false: no memory. */
static bool note_bumped(struct ribbon_stretch *s, uint64_t bucket,
                        unsigned bump, const uint64_t *hash, size_t n)
{
    if (s->bumps_n + n > s->room) {
        size_t room = 2 * s->room + BUCKET + n;
        uint64_t *more = realloc(s->bumped, room * sizeof *more);

        if (!more)
            return false;
        s->bumped = more;
        s->room = room;
    }
    if (n)
        memcpy(s->bumped + s->bumps_n, hash, n * sizeof *hash);
    s->bumps_n += n;
    s->bumps[bucket / 32] |= (uint64_t)(n ? bump : 0) << (bucket % 32 * 2);
    return true;
}

/* The last bucket of a stretch: what reaches behind it has no place there. */
static size_t insert_last(struct ribbon_stretch *s, uint64_t bucket,
                          const uint64_t *hash, size_t n, unsigned *bump)
{
    uint64_t at = bucket * BUCKET - s->band.origin;
    struct ribbon_window w;
    size_t gone;

    get_overhang(&s->edge, s->band.c + at, s->band.print + at);
    gone = insert_aside(s, &w, bucket, &s->edge, hash, n, bump);
    memcpy(s->band.c + at, w.c, BUCKET * sizeof *w.c);
    memcpy(s->band.print + at, w.print, BUCKET * sizeof *w.print);
    return gone;
}

static void insert_stretch(void *share)
{
    struct ribbon_stretch *s = share;
    size_t done = 0, done_tail = 0;

    if (s->warm)
        warm_up(s);
    for (uint64_t i = s->first; i < s->last && !s->failed; i++) {
        uint64_t end = (i + 1) * BUCKET;
        bool tail = done == s->n && s->tail;
        uint64_t *hash = s->hash + done;
        const uint64_t *from = tail ? s->tail + done_tail : hash;
        size_t left = tail ? s->tail_n - done_tail : s->n - done, gone;
        size_t some = keys_before(s->layer, from, left, end);
        unsigned bump;

        /* hashes that are not random: see move_rest() */
        s->failed = !tail && end - s->band.origin + WIDTH > s->lead + done;
        if (s->failed)
            return;
        if (i + 1 == s->last && s->tail)
            gone = insert_last(s, i, from, some, &bump);
        else
            gone = ribbon_insert_bucket(s->layer, &s->band, s->mask, from,
                                        some, &bump);
        s->failed = !note_bumped(s, i, bump, from, gone);
        if (!tail)
            memset(hash, 0, some * sizeof *hash);
        done += tail ? 0 : some;
        done_tail += tail ? some : 0;
    }
}

/* Where the stretches of a layer begin and end among its sorted hashes. */
struct ribbon_cut {
    uint64_t bucket;
    size_t key, tail; /* the first ones of the stretch and, of the stretch
                         before, of its last buckets */
    size_t lead;      /* words before its hashes that are its own */
};

/* Choose stretches; returns their number, 1 if it is not worth threads or the
   hashes are not random. */
static unsigned cut_layer(const struct layer *l, const struct ribbon_hashes *s,
                          uint64_t slots, unsigned threads,
                          struct ribbon_cut *cut)
{
    uint64_t all = buckets(l), fewest = STRETCH * (uint64_t)ribbon_warm_up;
    unsigned n = 1;
    bool fits = true;

    while (n < threads && n < MOST_THREADS && all / (n + 1) > fewest + 32)
        n++;
    for (unsigned i = 0; i < n; i++) {
        uint64_t bucket = all * i / n / 32 * 32; /* a word of bumping bits */
        uint64_t warm = bucket - (i ? ribbon_warm_up : 0);
        size_t key = hashes_below(s->hash, s->n, l->starts, bucket * BUCKET);
        size_t tail = hashes_below(s->hash, s->n, l->starts, warm * BUCKET);

        cut[i] = (struct ribbon_cut){ bucket, key, tail,
                                      i && key - tail < LEAD ? key - tail
                                                             : LEAD };
    }
    cut[n] = (struct ribbon_cut){ slots / BUCKET + 1, s->n, s->n, 0 };
    for (unsigned i = 0; i < n; i++)
        fits = fits &&
               (cut[i + 1].bucket - cut[i].bucket) * BUCKET <=
                   cut[i + 1].key - cut[i + 1].lead - cut[i].key + cut[i].lead;
    return fits ? n : 1;
}

/* Copy the hashes of warm-ups out of the way; false: no memory. */
static bool copy_tails(struct ribbon_stretch *stretch, unsigned n,
                       const struct ribbon_cut *cut, uint64_t *hash)
{
    for (unsigned i = 1; i < n; i++) {
        size_t some = cut[i].key - cut[i].tail;
        uint64_t *copy = malloc((some + 1) * sizeof *copy);

        if (!copy)
            return false;
        memcpy(copy, hash + cut[i].tail, some * sizeof *copy);
        stretch[i].warm = stretch[i - 1].tail = copy;
        stretch[i].warm_n = stretch[i - 1].tail_n = some;
    }
    for (unsigned i = 1; i < n; i++)
        memset(hash + cut[i].tail, 0,
               (cut[i].key - cut[i].tail) * sizeof *hash);
    return true;
}

/* Move the bumped keys to the blocks. */
static size_t gather_bumped(const struct ribbon_stretch *stretch, unsigned n,
                            uint64_t *const *block)
{
    size_t at = 0;

    for (unsigned i = 0; i < n; i++)
        for (size_t j = 0; j < stretch[i].bumps_n; j++, at++)
            block[at / HASH_BLOCK][at % HASH_BLOCK] = stretch[i].bumped[j];
    return at;
}

/*
 * As ribbon_insert_all(), in n threads; band[] has the equations of n stretches then.
 * False: it is to be done again by one thread, from the blocks.
 */
static bool insert_shared(const struct layer *l, struct ribbon_band *band,
                          uint32_t mask, struct ribbon_hashes *s,
                          uint64_t *bumps, uint64_t *const *block,
                          size_t *bumped, const struct ribbon_cut *cut,
                          unsigned n)
{
    struct ribbon_stretch *stretch = calloc(n, sizeof *stretch);
    const struct ribbon_band whole = band[0];
    bool able = stretch && copy_tails(stretch, n, cut, s->hash);

    for (unsigned i = 0; i < n && able; i++) {
        struct ribbon_stretch *t = &stretch[i];

        t->layer = l;
        t->mask = mask;
        t->first = cut[i].bucket;
        t->last = i + 1 < n ? cut[i + 1].bucket : buckets(l);
        t->hash = s->hash + cut[i].key;
        t->n = cut[i + 1].tail - cut[i].key;
        t->lead = cut[i].lead;
        t->bumps = bumps;
        band[i].c = t->hash - t->lead;
        band[i].origin = cut[i].bucket * BUCKET;
        band[i].print = whole.print + band[i].origin;
        t->band = band[i];
    }
    if (able)
        crew_run(insert_stretch, stretch, sizeof *stretch, n);
    for (unsigned i = 0; i < n && able; i++)
        able = !stretch[i].failed &&
               (!i || same_overhang(&stretch[i - 1].edge, &stretch[i].before));
    if (able)
        *bumped = gather_bumped(stretch, n, block);
    for (unsigned i = 0; i < n && stretch; i++) {
        free(stretch[i].warm);
        free(stretch[i].bumped);
    }
    free(stretch);
    band[0] = able ? band[0] : whole;
    return able;
}

/* The inverse of seen_mix(). */
static uint64_t unmixed(uint64_t x)
{
    x = (x ^ x >> 31 ^ x >> 62) * UINT64_C(0x319642b2d24d8ec3);
    x = (x ^ x >> 27 ^ x >> 54) * UINT64_C(0x96de1b173f119089);
    return x ^ x >> 30 ^ x >> 60;
}

/* Sort the hashes once more, in the memory of equations that are not wanted;
   false: no memory. */
static bool sort_once_more(struct ribbon_hashes *s, uint64_t *const *block,
                           unsigned threads)
{
    size_t n = s->given;

    memset(s->hash - LEAD, 0, (LEAD + n) * sizeof *s->hash);
    for (size_t i = 0; i < n; i++) {
        uint64_t *value = &block[i / HASH_BLOCK][i % HASH_BLOCK];

        *value = unmixed(*value) ^ s->salt;
    }
    return hash_sort(block, s->hash, &n, s->salt, UINT64_MAX, threads);
}

bool ribbon_insert_layer(const struct layer *l, struct ribbon_band *band,
                         unsigned *bands, uint32_t mask, uint64_t slots,
                         struct ribbon_hashes *s, struct ribbon_solved *to,
                         uint64_t *const *block, size_t *bumped,
                         unsigned threads)
{
    struct ribbon_cut cut[MOST_THREADS + 1];
    unsigned n = s->shared && to->bumps ? cut_layer(l, s, slots, threads, cut)
                                        : 1;

    *bands = n;
    if (n > 1) {
        if (insert_shared(l, band, mask, s, to->bumps, block, bumped, cut, n))
            return true;
        *bands = 1;
        memset(to->bumps, 0, to->bump_words * sizeof *to->bumps);
        if (!sort_once_more(s, block, threads))
            return false;
    }
    return ribbon_insert_all(l, band, mask, s, to->bumps, block, bumped);
}
