/*
 * ribbon_solve.c - from the keys of a set to the cells of a ribbon.
 *
 * Layer by layer: the hashes are sorted, their equations eliminated
 * (ribbon_threads.c), and from the last slot to the first all bits follow. The
 * keys that were bumped make the next layer.
 */
#include "ribbon.h"

#include <math.h>
#include <string.h>

#include "crew.h"
#include "ribbon_inside.h"

enum { FEW = 1024 }; /* keys of the last layer */
static const double SLOTS_PER_KEY = 0.97;

/* --- the slots --- */

/* Columns that a thread finds, of all stretches. */
struct ribbon_columns {
    const struct ribbon *f;
    const struct layer *l;
    const struct ribbon_band *band;
    unsigned bands, from, to;
    uint64_t *word;
};

/*
 * From the last slot to the first, each slot is determined by its equation and
 * the 63 slots behind it, which `column` holds. Slots without an equation are
 * 0. Columns do not depend on each other.
 */
static void substitute(void *share)
{
    const struct ribbon_columns *s = share;
    const struct layer *l = s->l;
    const struct ribbon_band *band = s->band + s->bands - 1;
    uint64_t column[MOST_BITS] = { 0 };

    for (uint64_t block = (l->starts + WIDTH - 1) / WIDTH; block--;) {
        unsigned kept = s->f->columns - (block < l->low);
        uint64_t *word = s->word + block_at(s->f, l, block);

        while (block * WIDTH < band->origin)
            band--;
        for (uint64_t at = (block + 1) * WIDTH; at-- > block * WIDTH;) {
            uint64_t c = band->c[at - band->origin];
            uint64_t print = c ? band->print[at - band->origin] : 0;

            for (unsigned j = s->from; j < s->to; j++) {
                uint64_t behind = column[j] << 1;

                column[j] = behind |
                            (((uint64_t)__builtin_parityll(behind & c) ^
                              print >> j) &
                             1);
            }
        }
        for (unsigned j = s->from; j < s->to && j < kept; j++)
            word[j] = column[j];
    }
}

static void substitute_all(const struct ribbon *f, const struct layer *l,
                           const struct ribbon_band *band, unsigned bands,
                           uint64_t *word, unsigned threads)
{
    struct ribbon_columns share[MOST_BITS];
    unsigned n = threads < f->columns ? threads : f->columns;

    for (unsigned i = 0; i < n; i++)
        share[i] = (struct ribbon_columns){
            f,   l, band, bands, f->columns * i / n, f->columns * (i + 1) / n,
            word
        };
    crew_run(substitute, share, sizeof *share, n);
}

/* With the coefficients in memory of their own, or before the hashes. */
static bool equations_init(struct ribbon_band *band, uint64_t slots,
                           const struct ribbon_hashes *s)
{
    band->c = s->shared ? s->hash - LEAD : cells_new(slots * sizeof *band->c);
    band->print = cells_new(slots * sizeof *band->print);
    band->origin = 0;
    return band->c && band->print;
}

static void equations_clear(struct ribbon_band *band, uint64_t slots, bool own)
{
    if (own)
        cells_free(band->c, slots * sizeof *band->c);
    cells_free(band->print, slots * sizeof *band->print);
}

/* Set the number of blocks of layer i, of the first also how many are low. */
static void set_blocks(struct ribbon *f, unsigned i, double slots, bool last)
{
    const struct seen_plan *plan = &f->base.plan;
    uint64_t *shape = f->base.shape;
    double share = ldexp(plan->rate, (int)f->columns) - 1, starts;

    shape[BLOCKS + i] = (uint64_t)fmax(1, ceil(slots / WIDTH));
    starts = (double)shape[BLOCKS + i] * WIDTH - (WIDTH - 1);
    if (!i)
        shape[LOW] = (uint64_t)fmax(0, floor(share * starts / WIDTH));
    ribbon_set_layer(f, i, last);
}

/*
 * Solve layer i. Bumped hashes are moved to the blocks, and *bumped is their
 * number. false: no memory.
 */
static bool solve(struct ribbon *f, unsigned i, struct ribbon_hashes *s,
                  uint64_t *const *block, struct ribbon_solved *to,
                  size_t *bumped, unsigned threads)
{
    const struct layer *l = &f->layer[i];
    const uint32_t mask = (uint32_t)((UINT64_C(1) << f->columns) - 1);
    uint64_t slots = f->base.shape[BLOCKS + i] * WIDTH;
    struct ribbon_band band[MOST_THREADS], whole;
    bool own = !s->shared, able = equations_init(&whole, slots, s);
    unsigned bands;

    to->words = slots / WIDTH * f->columns - l->low;
    to->bump_words = l->last ? 0 : (buckets(l) + 31) / 32;
    to->word = cells_new(to->words * sizeof *to->word);
    to->bumps = l->last ? NULL : cells_new(to->bump_words * sizeof *to->bumps);
    able = able && to->word && (l->last || to->bumps);
    band[0] = whole;
    able = able && ribbon_insert_layer(l, band, &bands, mask, slots, s, to,
                                       block, bumped, threads);
    if (able && !(l->last && *bumped))
        substitute_all(f, l, band, bands, to->word, threads);
    equations_clear(&whole, slots, own);
    cells_free(s->rest, s->rest_size);
    return able;
}

static void solved_clear(struct ribbon_solved *s)
{
    cells_free(s->word, s->words * sizeof *s->word);
    cells_free(s->bumps, s->bump_words * sizeof *s->bumps);
    memset(s, 0, sizeof *s);
}

/*
 * Solve the last layer: each attempt has other hashes and 1/128 more slots
 * than the one before, beginning with one slot per key.
 */
static enum seen_code solve_last(struct ribbon *f, unsigned i,
                                 const uint64_t *hash, size_t n,
                                 uint64_t *const *block,
                                 struct ribbon_solved *to,
                                 struct seen_error *why)
{
    size_t bumped = 1, room = (n + 1) * sizeof(uint64_t);
    uint64_t *again = cells_new(room);
    bool able = again;

    for (unsigned a = 0; able && bumped && a < ATTEMPTS; a++) {
        struct ribbon_hashes sorted = { .hash = again };

        solved_clear(to);
        f->base.shape[ATTEMPT] = a;
        set_blocks(f, i, (double)n * (1 + a / 128.0), true);
        for (size_t j = 0; j < n; j++)
            block[j / HASH_BLOCK][j % HASH_BLOCK] = hash[j];
        able = hash_sort(block, again, &n, f->layer[i].again, UINT64_MAX, 1);
        sorted.n = n;
        able = able && solve(f, i, &sorted, block, to, &bumped, 1);
    }
    cells_free(again, room);
    if (!able)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory");
    return bumped ? seen_fail(why, SEEN_RANGE, 0,
                              "no arrangement of %zu keys was found", n)
                  : SEEN_OK;
}

/* Lay the solved layers out as cells. */
static enum seen_code assemble(struct ribbon *f,
                               const struct ribbon_solved *solved,
                               struct seen_error *why)
{
    uint64_t *word, bits;
    enum seen_code code = ribbon_take_shape(f, &bits, why);

    if (code == SEEN_OK && bits > SEEN_BITS)
        code = seen_fail(why, SEEN_RANGE, 0,
                         "a ribbon of more than 2^48 bits is too large");
    if (code != SEEN_OK)
        return code;
    f->base.plan.bits = bits;
    word = cells_new(f->base.size);
    if (!word)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory");
    f->base.cells = (unsigned char *)word;
    for (unsigned i = 0; i < f->layers; i++) {
        const struct layer *l = &f->layer[i];

        memcpy(word + l->words, solved[i].word, solved[i].words * 8);
        if (!l->last)
            memcpy(word + l->bumps, solved[i].bumps, solved[i].bump_words * 8);
    }
    f->base.set = cells_count(word, f->base.size);
    return SEEN_OK;
}

enum seen_code ribbon_fill(struct seen_filter *base, uint64_t *const *block,
                           size_t n, unsigned threads, struct seen_error *why)
{
    struct ribbon *f = (struct ribbon *)base;
    struct ribbon_solved solved[MOST_LAYERS] = { 0 };
    size_t given = n, room = (LEAD + n + 1) * sizeof(uint64_t);
    uint64_t *memory = cells_new(room), *hash = memory ? memory + LEAD : NULL;
    enum seen_code code = SEEN_OK;
    bool able = memory, last = false;

    base->shape[COLUMNS] = f->columns;
    for (unsigned i = 0; able && !last && code == SEEN_OK; i++) {
        uint64_t salt = hash_salt(base->plan.seed, i);
        size_t sort_n = n;

        able = hash_sort(block, hash, &n, salt, UINT64_MAX, threads);
        if (!i)
            base->plan.capacity = n;
        last = n <= FEW || i + 1 == MOST_LAYERS;
        if (able && last)
            code = solve_last(f, i, hash, n, block, &solved[i], why);
        if (able && !last) {
            struct ribbon_hashes sorted = { hash, n, .shared = !i,
                                            .given = sort_n, .salt = salt };

            set_blocks(f, i, (double)n * SLOTS_PER_KEY, false);
            able = solve(f, i, &sorted, block, &solved[i], &n, threads);
        }
    }
    cells_free(memory, room);
    if (able && code == SEEN_OK)
        code = assemble(f, solved, why);
    for (unsigned i = 0; i < MOST_LAYERS; i++)
        solved_clear(&solved[i]);
    if (!able || code == SEEN_NOMEM)
        return seen_fail(why, SEEN_NOMEM, 0,
                         "no memory for a ribbon of %zu keys", given);
    return code;
}
