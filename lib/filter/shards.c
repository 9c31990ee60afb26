/*
 * shards.c - ribbons of 64 KiB, each for an equal share of the keys.
 *
 * A filter to publish. Who asks for one key over a network wants one range of
 * bytes; a question to one large ribbon reads places all over the file, and
 * tells the server more. So the keys are put in the order of a hash, and every
 * K of them get a ribbon (ribbon.c) of their own, with all its layers and
 * bumping bits, in exactly one block of the file:
 *
 *     hashes of keys   0 ........................................ 2^64
 *                       |   K     |   K      |  K     | ... | rest |
 *     cells            +---------+----------+--------+-----+------+-------+
 *                      | 64 KiB  | 64 KiB   | 64 KiB | ... |      | table |
 *                      +---------+----------+--------+-----+------+-------+
 *
 * The table has the first hash of each shard and the shape of its ribbon, 16
 * bytes per 64 KiB. The hashes are random, so a shard is where it would be if
 * all were equally wide, or next to that. K is chosen such that most shards
 * fit; one that does not is tried again with another seed. So the table and
 * what stays unused behind the ribbons take 0.3 % more bits than one ribbon.
 *
 * What it gains besides: shards are solved in the cache, each by one thread,
 * and always with the same result; 10 million keys take 60 to 67 ns of CPU
 * time each, and one ribbon 54 to 100. What it costs: a question reads the
 * table, too: 15 and 19 ns with 1 and 10 million keys where one ribbon takes 8
 * and 12.
 */
#include "shards.h"

#include <math.h>
#include <string.h>

#include "ribbon_parity.h"

enum { BATCH = 128 };

/* --- the place of a key --- */

/* Shards that are asked. */
struct shards_view {
    const uint64_t *cells;
    const struct shard_entry *table;
    uint64_t count, last; /* shards, and words of the last one */
    uint64_t salt, scale, first, seed;
    unsigned columns;
};

static inline struct shards_view view_of(const struct shards *f)
{
    return (struct shards_view){
        .cells = (const uint64_t *)(const void *)f->base.cells,
        .table = shards_table(f),
        .count = f->base.shape[SHARDS_COUNT],
        .last = f->base.shape[SHARDS_LAST],
        .salt = f->salt,
        .scale = f->scale,
        .first = f->first,
        .seed = f->base.plan.seed,
        .columns = f->columns,
    };
}

/* The last shard whose first hash is not above this one, by halves. */
static uint64_t find_far(const struct shards_view *v, uint64_t hash)
{
    uint64_t low = 0, high = v->count;

    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;

        if (v->table[middle].first <= hash)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Where it would be if all were equally wide. */
INLINE uint64_t guess_shard(const struct shards_view *v, uint64_t hash)
{
    const uint64_t guess = reduce(hash, v->scale) >> 16;

    return guess < v->count ? guess : v->count - 1;
}

/* The same as find_far(), beginning with a guess. */
INLINE uint64_t find(const struct shards_view *v, uint64_t hash,
                     uint64_t guess)
{
    const struct shard_entry *entry = v->table + guess;

    return __builtin_expect((entry[0].first <= hash) & (entry[1].first > hash),
                            1)
               ? guess
               : find_far(v, hash);
}

INLINE const uint64_t *shard_at(const struct shards_view *v, uint64_t shard)
{
    return v->cells + shard * SHARD_WORDS;
}

/* The words of a shard. */
INLINE uint64_t shard_words(const struct shards_view *v, uint64_t shard)
{
    return shard + 1 < v->count ? SHARD_WORDS : v->last;
}

/* The places of windows in a layer with these blocks. */
INLINE uint64_t starts_in(uint64_t blocks)
{
    return blocks * WIDTH - (WIDTH - 1);
}

/* Where the bumping bits of layer 0 begin. */
INLINE uint64_t bumps_at(uint64_t head, unsigned columns)
{
    return (head_blocks(head, 0) + head_blocks(head, 1) +
            head_blocks(head, 2)) *
               columns -
           head_low(head);
}

/* Is a window that begins there bumped? */
INLINE bool bumps_start(const uint64_t *word, uint64_t start)
{
    return start % BUCKET < bumped_slots[bump_get(word, start / BUCKET)];
}

/* A window in a shard: where its block begins, the slot in it, and the bits
   of a slot. */
struct shard_window {
    uint64_t hash, word;
    unsigned offset, width;
};

/* The window that begins at `start` of the layer that begins at word `at`. */
INLINE void set_window(struct shard_window *w, uint64_t hash, uint64_t start,
                       uint64_t at, uint64_t low, unsigned columns)
{
    const uint64_t block = start / WIDTH;

    w->hash = hash;
    w->word = at + block * columns - (block < low ? block : low);
    w->offset = start % WIDTH;
    w->width = columns - (block < low);
}

/* The window of a key that layer 0 has bumped, or if there is no other layer.
   False if the layers are not within the shard. */
static bool find_window(const struct shards_view *v, const uint64_t *shard,
                        uint64_t head, uint64_t words, uint64_t hash,
                        struct shard_window *w)
{
    const uint64_t seed = shard_seed(v->seed, head_again(head));
    uint64_t at = 0, bumps = bumps_at(head, v->columns);

    for (unsigned i = 0; i < SHARD_LAYERS; i++) {
        const uint64_t blocks = head_blocks(head, i);
        const uint64_t low = i ? 0 : head_low(head);
        const bool last = i + 1 == SHARD_LAYERS || !head_blocks(head, i + 1);
        uint64_t start;

        if (low >= blocks)
            return false;
        if (i)
            hash = seen_mix(hash ^ hash_salt(seed, i));
        if (last)
            hash = seen_mix(hash ^
                            hash_salt(seed, i + 1 + head_attempt(head)));
        start = reduce(hash, starts_in(blocks));
        if (!last && bumps + start / BUCKET / 32 >= words)
            return false;
        if (last || !bumps_start(shard + bumps, start)) {
            set_window(w, hash, start, at, low, v->columns);
            return true;
        }
        at += blocks * v->columns - low;
        bumps += (starts_in(blocks) + BUCKET * 32 - 1) / (BUCKET * 32);
    }
    return false;
}

/* Begin to fetch a word. If the table is damaged it may be anywhere. */
INLINE void expect_word(const uint64_t *shard, uint64_t word)
{
    __builtin_prefetch((const void *)((uintptr_t)shard + word * 8));
}

/* --- questions --- */

#define WIDTH_OF(name) name##_portable
#define TARGET
#define DIFFERING(q, columns) differing(q, 0, columns)
#include "shards_loops.h"

#if RIBBON_X86
#define WIDTH_OF(name) name##_popcnt
#define TARGET __attribute__((target("popcnt")))
#define DIFFERING(q, columns) differing(q, 0, columns)
#include "shards_loops.h"

#define WIDTH_OF(name) name##_avx2
#define TARGET AVX2
#define DIFFERING differing_avx2
#include "shards_loops.h"
#endif

shards_look_up *shards_version(unsigned i)
{
#if RIBBON_X86
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
        !i--)
        return look_up_avx2;
    if (__builtin_cpu_supports("popcnt") && !i--)
        return look_up_popcnt;
#endif
    return i ? NULL : look_up_portable;
}

static enum seen_code shards_has(const struct seen_filter *base,
                                 const struct seen_key *key, size_t n,
                                 bool *seen, struct seen_error *why)
{
    const struct shards *f = (const struct shards *)base;

    if (!base->plan.capacity) { /* made from no keys */
        memset(seen, 0, n * sizeof *seen);
        return SEEN_OK;
    }
    if (!shards_version(0)(f, key, n, seen))
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "a shard has no ribbon: the file was damaged, or "
                         "made by a program that errs");
    return SEEN_OK;
}

/* The table tells where the shard of a key is. */
static void shards_index(const struct seen_filter *base, uint64_t *from,
                         uint64_t *to)
{
    const struct shards *f = (const struct shards *)base;

    *to = base->size;
    *from = (uint64_t)((const unsigned char *)shards_table(f) - base->cells);
}

static enum seen_code shards_reach(const struct seen_filter *base,
                                   const struct seen_key *key, uint64_t *at,
                                   size_t *n, struct seen_error *why)
{
    const struct shards_view v = view_of((const struct shards *)base);
    const uint64_t hash = seen_mix(key->lo ^ v.salt);
    uint64_t shard;

    (void)why;
    *n = 0;
    if (!base->plan.capacity)
        return SEEN_OK;
    shard = find(&v, hash, guess_shard(&v, hash));
    at[(*n)++] = shard * SHARD_WORDS * 8;
    at[(*n)++] = (shard * SHARD_WORDS + shard_words(&v, shard)) * 8 - 1;
    return SEEN_OK;
}

/* --- shape --- */

enum seen_code shards_take_shape(struct shards *f, uint64_t *bits,
                                 struct seen_error *why)
{
    const uint64_t *shape = f->base.shape, most = SEEN_BITS / 64 / SHARD_WORDS;
    const uint64_t capacity = f->base.plan.capacity, keys = shape[SHARDS_KEYS];
    uint64_t words;

    if (shape[SHARDS_COLUMNS] != f->columns || !shape[SHARDS_COUNT] ||
        shape[SHARDS_COUNT] >= most || !shape[SHARDS_LAST] ||
        shape[SHARDS_LAST] > SHARD_WORDS || !keys || keys > SHARD_WORDS * 64)
        return seen_fail(why, SEEN_RANGE, 0, "the shape of shards is wrong");
    f->scale = (capacity / keys << 16) + (capacity % keys << 16) / keys;
    words = (shape[SHARDS_COUNT] - 1) * SHARD_WORDS + shape[SHARDS_LAST] +
            2 * shape[SHARDS_COUNT] + 1;
    *bits = words * 64;
    f->base.size = (words * 8 + LINE - 1) / LINE * LINE;
    return SEEN_OK;
}

static enum seen_code shards_make(struct seen_filter *base,
                                  struct seen_error *why)
{
    struct shards *f = (struct shards *)base;
    struct seen_plan *plan = &base->plan;
    enum seen_code code = ribbon_columns(base, &f->columns, why);
    uint64_t bits = 0;

    if (code != SEEN_OK)
        return code;
    f->salt = hash_salt(plan->seed, 1023);
    f->first = hash_salt(plan->seed, 0);
    base->cell_bits = 1;
    base->limit = UINT64_MAX;
    plan->probes = (2 * f->columns * 8 + LINE - 1) / LINE + 2;
    if (base->recorded)
        code = shards_take_shape(f, &bits, why);
    if (base->recorded && code == SEEN_OK && plan->bits != bits)
        code = seen_fail(why, SEEN_RANGE, 0, "the shape of shards is wrong");
    return code;
}

/*
 * The share of the places of windows that have one bit less: those of layer 0,
 * and few keys are in other layers. Of a file that lies elsewhere the table may
 * not be here yet, and reads as zeros: then only the plan is known.
 */
static double shards_rate(const struct seen_filter *base)
{
    const struct shards_view v = view_of((const struct shards *)base);
    double low = 0, all = 0;

    if (!base->plan.capacity)
        return 0;
    for (uint64_t i = 0; i < v.count; i++) {
        const uint64_t blocks = head_blocks(v.table[i].head, 0);
        const uint64_t some = head_low(v.table[i].head);

        if (some < blocks) {
            low += (double)some * WIDTH;
            all += (double)starts_in(blocks);
        }
    }
    return all > 0 ? ldexp(1 + low / all, -(int)v.columns) : base->plan.rate;
}

static double shards_entries(const struct seen_filter *base)
{
    return (double)base->plan.capacity;
}

const struct seen_kind filter_shards = {
    .name = "shards",
    .synopsis = "shards[:BITS]",
    .summary = "ribbons of 64 KiB, to be asked by ranges of a file",
    .traits = SEEN_BUILT_ONCE | SEEN_SIZES_ITSELF,
    .state = sizeof(struct shards),
    .make = shards_make,
    .has = shards_has,
    .rate = shards_rate,
    .entries = shards_entries,
    .index = shards_index,
    .reach = shards_reach,
};
