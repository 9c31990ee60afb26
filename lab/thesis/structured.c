/*
 * structured.c - a search among functions that see the structure of URLs.
 *
 * A seed of a good hash function cannot fit a crawl: under every seed similar
 * URLs are as different as any. What section 7.2.2 of the thesis hopes for is
 * a function that keeps similar URLs apart because they are similar, as
 *
 *     h = b h + c  for each byte c,      position = h mod m
 *
 * does: /page/17 and /page/18 differ by 1, and never meet. With b = 31 it is
 * Java's. Other multipliers send sites to other places, so there is something
 * to choose: k of them for the k positions. Some sets of multipliers are tried
 * on one crawl, and the best is tried on the next.
 *
 * The best of a run and the mean of its tries saw the same URLs, so they are
 * compared run by run; whether the family as a whole is better or worse than a
 * random function is another question, answered by theory.
 */
#include "structured.h"

#include <stdlib.h>

#include "../corpus.h"
#include "../noise.h"

enum { TRIES = 32, MOST_K = 8 };

struct structured {
    struct lab *lab;
    const struct thesis_shape *shape;
    uint64_t n, m;
    unsigned runs;
    uint64_t *known, *fresh; /* lost of each crawl, by run and try */
};

/* Small and odd, other ones in each run: runs over a short list of the user's
   have the same URLs. */
static uint64_t multiplier(uint64_t seed, unsigned run, unsigned i, unsigned j)
{
    uint64_t number = ((uint64_t)run * TRIES + i) * MOST_K + j;

    return 3 + (seen_mix(seen_mix(seed) + number) & 0xfffe);
}

static void positions(const struct structured *x, const struct seen_key *url,
                      const uint64_t *by, uint64_t *at)
{
    for (unsigned j = 0; j < x->shape->k; j++) {
        uint64_t h = 0;

        for (size_t i = 0; i < url->len; i++)
            h = h * by[j] + (unsigned char)url->text[i];
        at[j] = h % x->m;
    }
}

/* How many of these URLs have all bits set, which are then set if they are
   crawled. */
static uint64_t go_through(const struct structured *x, const struct corpus *t,
                           const uint64_t *by, bool *bit, bool crawl)
{
    uint64_t at[MOST_K], lost = 0;

    for (size_t i = 0; i < t->n; i++) {
        bool all = true;

        positions(x, &t->key[i], by, at);
        for (unsigned j = 0; j < x->shape->k; j++)
            all &= bit[at[j]];
        lost += all;
        for (unsigned j = 0; j < x->shape->k && crawl; j++)
            bit[at[j]] = true;
    }
    return lost;
}

static void one_run(void *of, unsigned run)
{
    struct structured *x = of;
    uint64_t by[MOST_K];
    struct corpus first, next;

    corpus_init(&first, x->lab->urls, run * 2 * x->n, x->n);
    corpus_init(&next, x->lab->urls, run * 2 * x->n + x->n, x->n);
    for (unsigned i = 0; i < TRIES; i++) {
        bool *bit = lab_memory(x->m, sizeof *bit);

        for (unsigned j = 0; j < x->shape->k; j++)
            by[j] = multiplier(x->lab->seed, run, i, j);
        x->known[run * TRIES + i] = go_through(x, &first, by, bit, true);
        x->fresh[run * TRIES + i] = go_through(x, &next, by, bit, false);
        free(bit);
    }
    corpus_clear(&first);
    corpus_clear(&next);
}

/* --- what was found: shares, run by run --- */

struct outcome_of_search {
    struct noisy mean[2], best[2]; /* of the first crawl; of the next */
    struct noisy gain[2];          /* what the best saves, of the mean */
};

static struct outcome_of_search weigh(const struct structured *x)
{
    double *value = lab_memory(6 * x->runs, sizeof *value);
    struct outcome_of_search o;

    for (unsigned r = 0; r < x->runs; r++) {
        unsigned best = 0;
        double sum[2] = { 0, 0 }, top[2];

        for (unsigned i = 0; i < TRIES; i++) {
            best = x->known[r * TRIES + i] < x->known[r * TRIES + best] ? i
                                                                        : best;
            sum[0] += (double)x->known[r * TRIES + i] / TRIES;
            sum[1] += (double)x->fresh[r * TRIES + i] / TRIES;
        }
        top[0] = (double)x->known[r * TRIES + best];
        top[1] = (double)x->fresh[r * TRIES + best];
        for (unsigned c = 0; c < 2; c++) {
            value[(3 * c + 0) * x->runs + r] = sum[c] / (double)x->n;
            value[(3 * c + 1) * x->runs + r] = top[c] / (double)x->n;
            value[(3 * c + 2) * x->runs + r] = 1 - top[c] / sum[c];
        }
    }
    for (unsigned c = 0; c < 2; c++) {
        o.mean[c] = noise_of(value + (3 * c + 0) * x->runs, x->runs);
        o.best[c] = noise_of(value + (3 * c + 1) * x->runs, x->runs);
        o.gain[c] = noise_of(value + (3 * c + 2) * x->runs, x->runs);
    }
    free(value);
    return o;
}

static void put(const struct structured *x, struct section *s,
                const struct outcome_of_search *o, const double random[2])
{
    static const char *const crawl[2] = { "of the first crawl",
                                          "new in the next crawl" };
    struct table *t = section_table(
        s, "tuned-structured",
        "URLs lost to functions h = b h + c, in percent: %u pairs of crawls, "
        "%u sets of multipliers to choose from",
        x->runs, TRIES);

    table_columns(t, "URLs", "random function, by theory", "mean of all",
                  "best on the first crawl", "gain of the best, percent",
                  NULL);
    for (unsigned c = 0; c < 2; c++) {
        table_text(t, "%s", crawl[c]);
        table_number(t, 100 * random[c], 3);
        table_number(t, 100 * o->mean[c].value, 3);
        table_number(t, 100 * o->best[c].value, 3);
        table_number(t, 100 * o->gain[c].value, 2);
    }
}

/* What is saved, as the interval that the runs leave. */
static const char *gain_words(char text[80], const struct noisy *gain)
{
    struct band b = noise_band(gain);

    if (!isfinite(b.high))
        snprintf(text, 80, "an unknown share");
    else if (b.low > 0)
        snprintf(text, 80, "%.1f to %.1f %% fewer", 100 * b.low, 100 * b.high);
    else if (b.high < 0)
        snprintf(text, 80, "%.1f to %.1f %% more", -100 * b.high,
                 -100 * b.low);
    else
        snprintf(text, 80, "between %.1f %% more and %.1f %% fewer",
                 -100 * b.low, 100 * b.high);
    return text;
}

static void conclude(struct section *s, const struct outcome_of_search *o,
                     const double random[2])
{
    const struct noisy nothing = { .degrees = INFINITY };
    const struct noisy theory = { .value = random[1], .degrees = INFINITY };
    int kept = noise_compare(&o->gain[1], &nothing);
    int family = noise_compare(&o->best[1], &theory);
    char room[80];

    section_headline(
        s,
        "Of %d hash functions the best on one crawl loses %.1f %% fewer of "
        "its URLs, and %s of the next crawl's. More candidates, or bred ones, "
        "were not tried.",
        TRIES, 100 * o->gain[0].value, gain_words(room, &o->gain[1]));

    section_text(
        s,
        "A seed cannot use the structure of URLs. The functions h = b h + c "
        "can: similar URLs differ by little and do not meet. Of %u sets of "
        "multipliers b, the best on the first crawl loses %.1f %% fewer of "
        "its URLs than the mean, and of the next crawl's %s: %s. It then "
        "loses %.2f %% of new URLs, where a random function loses %.2f %%: "
        "%s.%s This says nothing of functions that a longer search would "
        "find.",
        TRIES, 100 * o->gain[0].value, gain_words(room, &o->gain[1]),
        kept > 0   ? "what was fitted carries over in part"
        : kept < 0 ? "what was fitted harms"
                   : NO_DIFFERENCE,
        100 * o->best[1].value, 100 * random[1],
        family < 0   ? "less, beyond the noise"
        : family > 0 ? "more, beyond the noise, since what keeps some URLs "
                       "apart sends others to the same places"
                     : NO_DIFFERENCE,
        o->best[1].value > 0.5 * random[1]
            ? " A number close to zero, as the thesis presumes, is not in "
              "sight."
            : "");
}

void structured_search(struct lab *lab, struct section *s,
                       const struct thesis_shape *shape, uint64_t n,
                       unsigned runs)
{
    struct structured x = { .lab = lab,
                            .shape = shape,
                            .n = n,
                            .m = shape_bits(shape, n),
                            .runs = runs };
    double m = (double)x.m, k = shape->k;
    double random[2] = { theory_incremental((double)n, m, k, 1, 1),
                         theory_rate((double)n, m, k) };
    struct outcome_of_search o;

    x.known = lab_memory((uint64_t)TRIES * runs, sizeof *x.known);
    x.fresh = lab_memory((uint64_t)TRIES * runs, sizeof *x.fresh);
    lab_each(lab, "functions that see structure", runs, one_run, &x);
    o = weigh(&x);
    put(&x, s, &o, random);
    conclude(s, &o, random);
    free(x.known);
    free(x.fresh);
}
