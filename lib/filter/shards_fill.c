/*
 * shards_fill.c - the keys of a set in shards, and a ribbon for each.
 *
 * The hashes are sorted once; then threads take one shard after the other. A
 * shard is solved under the seed of the filter. If its ribbon, with the keys
 * that happen to be bumped, takes more than 64 KiB, other seeds are tried.
 */
#include "shards.h"

#include <math.h>
#include <string.h>

#include "crew.h"
#include "ribbon.h"

/* The share of keys that a layer bumps is 3.2 %, and rarely more than this. */
static const double BUMPED = 0.033, LAST = 1.05;

struct shard_filler {
    struct shards *f;
    const uint64_t *hash; /* sorted */
    size_t n, per_shard;
    uint64_t *next; /* shared: the next shard */
    uint64_t *head; /* of each */
    uint64_t *room; /* for the hashes of one */
    struct seen_error why;
};

/* The words that the ribbon of n keys takes, about. The last layer gets some
   more slots than keys. */
static double words_for(const struct shards *f, double n)
{
    const double low = fmax(0, ldexp(f->base.plan.rate, (int)f->columns) - 1);
    double words = 0, columns = f->columns - low;

    for (; n > 1024; n *= BUMPED, columns = f->columns) {
        words += ceil(0.97 * n / WIDTH) * columns;
        words += ceil(0.97 * n / BUCKET / 32);
    }
    return words + ceil(LAST * n / WIDTH) * columns;
}

/* As many keys as usually fit into a shard. */
static size_t keys_per_shard(const struct shards *f)
{
    size_t low = 1, high = (size_t)SHARD_WORDS * 64;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (words_for(f, (double)middle) <= SHARD_WORDS)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Copy the cells of a ribbon, if there is room for them, and make its head;
   return the words that they take, or 0. */
static uint64_t place(const struct ribbon *r, unsigned again, uint64_t *to,
                      uint64_t *head)
{
    const uint64_t *shape = r->base.shape, words = r->base.plan.bits / 64;

    if (r->layers > SHARD_LAYERS || words > SHARD_WORDS ||
        shape[BLOCKS + 1] >> HEAD_1 || shape[BLOCKS + 2] >> HEAD_2)
        return 0;
    *head = shape[BLOCKS] | shape[BLOCKS + 1] << HEAD_0 |
            shape[BLOCKS + 2] << (HEAD_0 + HEAD_1) |
            shape[LOW] << (HEAD_0 + HEAD_1 + HEAD_2) | shape[ATTEMPT] << 48 |
            (uint64_t)again << 56;
    memcpy(to, r->base.cells, words * 8);
    return words;
}

/* Solve one shard; its words, or 0 with a reason. */
static uint64_t solve_shard(struct shard_filler *s, const uint64_t *hash,
                            size_t n, uint64_t *to, uint64_t *head)
{
    struct ribbon r;
    uint64_t words = 0;

    for (unsigned again = 0; again < SHARD_TRIES && !words; again++) {
        enum seen_code code;

        memset(&r, 0, sizeof r);
        r.base.plan = s->f->base.plan;
        r.base.plan.seed = shard_seed(s->f->base.plan.seed, again);
        r.columns = s->f->columns;
        memcpy(s->room, hash, n * sizeof *hash);
        code = ribbon_fill(&r.base, &s->room, n, 1, &s->why);
        if (code == SEEN_OK)
            words = place(&r, again, to, head);
        cells_free(r.base.cells, r.base.size);
        if (code == SEEN_NOMEM)
            return 0;
    }
    s->why.code = SEEN_OK;
    if (!words)
        seen_fail(&s->why, SEEN_RANGE, 0, "no arrangement of %zu keys fits",
                  n);
    return words;
}

/* The last shard is there already. */
static void fill_some(void *share)
{
    struct shard_filler *s = share;
    uint64_t *cells = (uint64_t *)(void *)s->f->base.cells;
    const uint64_t others = s->f->base.shape[SHARDS_COUNT] - 1;
    uint64_t i;

    while (s->why.code == SEEN_OK &&
           (i = __atomic_fetch_add(s->next, 1, __ATOMIC_RELAXED)) < others)
        solve_shard(s, s->hash + i * s->per_shard, s->per_shard,
                    cells + i * SHARD_WORDS, s->head + i);
}

/* The last shard decides about the size of all cells, so it comes first. */
static enum seen_code fill_last(struct shard_filler *s, struct seen_error *why)
{
    struct shards *f = s->f;
    uint64_t *shape = f->base.shape, *to = cells_new(SHARD_WORDS * 8);
    const uint64_t from = (shape[SHARDS_COUNT] - 1) * s->per_shard;
    enum seen_code code;

    if (!to)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory");
    shape[SHARDS_LAST] = solve_shard(s, s->hash + from, s->n - from, to,
                                     s->head + shape[SHARDS_COUNT] - 1);
    if (shape[SHARDS_LAST]) {
        code = shards_take_shape(f, &f->base.plan.bits, why);
    } else {
        code = s->why.code;
        if (why)
            *why = s->why;
    }
    if (code == SEEN_OK && !(f->base.cells = cells_new(f->base.size)))
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory");
    if (code == SEEN_OK)
        memcpy((uint64_t *)(void *)f->base.cells +
                   (shape[SHARDS_COUNT] - 1) * SHARD_WORDS,
               to, shape[SHARDS_LAST] * 8);
    cells_free(to, SHARD_WORDS * 8);
    return code;
}

/* Solve all shards, in several threads. */
static enum seen_code fill_all(const struct shard_filler *like,
                               unsigned threads, struct seen_error *why)
{
    struct shard_filler filler[MOST_THREADS];
    const uint64_t count = like->f->base.shape[SHARDS_COUNT];
    const size_t room = like->per_shard * sizeof(uint64_t);
    unsigned some = threads < MOST_THREADS ? threads : MOST_THREADS;
    enum seen_code code = SEEN_OK;
    uint64_t next = 0;

    some = some < count ? some : (unsigned)count;
    for (unsigned i = 0; i < some; i++) {
        filler[i] = *like;
        filler[i].next = &next;
        filler[i].room = cells_new(room);
        if (!filler[i].room)
            code = seen_fail(why, SEEN_NOMEM, 0, "no memory");
    }
    if (code == SEEN_OK)
        code = fill_last(&filler[0], why);
    if (code == SEEN_OK)
        crew_run(fill_some, filler, sizeof *filler, some);
    for (unsigned i = 0; i < some; i++) {
        cells_free(filler[i].room, room);
        if (code == SEEN_OK && filler[i].why.code != SEEN_OK) {
            code = filler[i].why.code;
            if (why)
                *why = filler[i].why;
        }
    }
    return code;
}

static void set_table(const struct shards *f, const uint64_t *hash,
                      size_t per_shard, const uint64_t *head)
{
    struct shard_entry *table = shards_table(f);
    const uint64_t count = f->base.shape[SHARDS_COUNT];

    for (uint64_t i = 0; i < count; i++)
        table[i] = (struct shard_entry){ i ? hash[i * per_shard] : 0,
                                         head[i] };
    table[count].first = UINT64_MAX;
}

static enum seen_code fill_sorted(struct shards *f, const uint64_t *hash,
                                  size_t n, unsigned threads,
                                  struct seen_error *why)
{
    struct shard_filler like = { .f = f, .hash = hash, .n = n };
    uint64_t *shape = f->base.shape;
    size_t room = 0, keys = keys_per_shard(f);
    enum seen_code code = SEEN_RANGE;

    f->base.plan.capacity = n;
    shape[SHARDS_COLUMNS] = f->columns;
    /* fewer keys per shard if there is one that never fits */
    for (; code == SEEN_RANGE && keys; keys -= keys / 64 + 1) {
        cells_free(f->base.cells, f->base.size);
        cells_free(like.head, room);
        f->base.cells = NULL;
        like.per_shard = shape[SHARDS_KEYS] = keys;
        shape[SHARDS_COUNT] = n ? (n + keys - 1) / keys : 1;
        room = shape[SHARDS_COUNT] * sizeof *like.head;
        like.head = cells_new(room);
        code = like.head ? fill_all(&like, threads, why)
                         : seen_fail(why, SEEN_NOMEM, 0, "no memory");
    }
    if (code == SEEN_OK) {
        set_table(f, hash, like.per_shard, like.head);
        f->base.set = cells_count((const uint64_t *)(void *)f->base.cells,
                                  f->base.size);
    }
    cells_free(like.head, room);
    return code;
}

enum seen_code shards_fill(struct seen_filter *base, uint64_t *const *block,
                           size_t n, unsigned threads, struct seen_error *why)
{
    struct shards *f = (struct shards *)base;
    const size_t given = n, room = (n + 1) * sizeof(uint64_t);
    uint64_t *hash = cells_new(room);
    enum seen_code code;

    if (hash && hash_sort(block, hash, &n, f->salt, UINT64_MAX, threads))
        code = fill_sorted(f, hash, n, threads, why);
    else
        code = SEEN_NOMEM;
    cells_free(hash, room);
    return code == SEEN_NOMEM
               ? seen_fail(why, SEEN_NOMEM, 0,
                           "no memory for shards of %zu keys", given)
               : code;
}
