/*
 * as_counted.c - the authors' count on a list as it stands, with what is repeated.
 *
 * Their program reads rows, not distinct URLs. A URL that is in both halves is
 * claimed by both filters, rightly, and counts as a false positive all the
 * same. With the list at hand these are known, and the rest is theory: of the
 * Bloom filter its rate, of layers the segments and XORs that are there
 * (apart.h).
 *
 * Their XOR is of positions, taken modulo the bits m again, where ours is of
 * hashes that are reduced once. Siblings that meet in a layer then meet in the
 * XOR for certain, and the positions below 2^b - m get twice their share, for
 * the least 2^b above m. That is counted by hand, with an array for each
 * layer.
 */
#include "as_counted.h"

#include <stdlib.h>

#include <seen/url.h>

#include "../exact.h"
#include "../urls.h"
#include "apart.h"
#include "layers.h"

enum { BLOOM, LAYERED, POSITIONS, STRUCTURES };

struct row_count {
    struct lab *lab;
    uint64_t rows, half; /* rows; of the first half, which are asked for */
    unsigned k, layers, runs;
    double rate, bits; /* of every layer */
    uint64_t in_both;  /* rows of the first half that the second has, too */
    char kind[STRUCTURES][32];
    uint64_t claimed[STRUCTURES];                    /* of all runs */
    double expected[STRUCTURES], spread[STRUCTURES]; /* of one run */
};

static size_t row_url(const struct row_count *c, uint64_t row, char *url)
{
    return urls_get(c->lab->urls, urls_row(c->lab->urls, row), url);
}

static struct seen_filter *fill(const struct row_count *c, unsigned which,
                                uint64_t seed)
{
    double bits = c->bits * (which == LAYERED ? c->layers + 1 : 1);
    struct seen_plan plan = { .profile = "raw",
                              .capacity = c->half,
                              .bits = (uint64_t)bits,
                              .probes = c->k,
                              .seed = seed,
                              .over = true };
    struct seen_filter *f;

    snprintf(plan.kind, sizeof plan.kind, "%s", c->kind[which]);
    f = lab_filter(&plan);
    for (uint64_t row = c->half; row < c->rows; row++) {
        uint64_t i = urls_row(c->lab->urls, row);

        lab_add(f, c->lab->urls, i, i + 1, NULL);
    }
    return f;
}

/* --- by hand: positions are XORed --- */

struct by_position {
    const struct row_count *c;
    uint64_t m, seed;
    bool *layer; /* m bits of each, those of the XOR last */
};

/* Set the bits of a URL, or see whether they are. */
static bool use_positions(struct by_position *b, const char *url, size_t len,
                          bool set)
{
    const struct row_count *c = b->c;
    size_t end[SEEN_LAYERS], from = 0;
    unsigned n = seen_url_segments(url, len, end, c->layers);
    uint64_t tie[64] = { 0 };
    bool all = true;

    for (unsigned i = 0; i <= n; i++) {
        bool *at = b->layer + (i < n ? i : c->layers) * b->m;
        struct seen_key key = { .lo = 0 };

        if (i < n)
            seen_key_hash(&key, url + from, end[i] - from);
        for (unsigned j = 0; j < c->k; j++) {
            uint64_t x = i < n ? seen_mix(key.lo ^ seen_mix(b->seed + j))
                               : tie[j];
            uint64_t position = x % b->m;

            tie[j] ^= position;
            all &= at[position];
            at[position] |= set;
        }
        from = i < n ? end[i] + 1 : from;
    }
    return all;
}

static uint64_t claim_by_position(const struct row_count *c, uint64_t seed)
{
    struct by_position b = { .c = c, .m = (uint64_t)c->bits, .seed = seed };
    char url[URL_MOST];
    uint64_t claimed = 0;

    b.layer = lab_memory(b.m * (c->layers + 1), sizeof *b.layer);
    for (uint64_t row = c->half; row < c->rows; row++)
        use_positions(&b, url, row_url(c, row, url), true);
    for (uint64_t row = 0; row < c->half; row++)
        claimed += use_positions(&b, url, row_url(c, row, url), false);
    free(b.layer);
    return claimed;
}

/* --- the count --- */

/* The filter of the first half claims all of its own: what both claim is what
   that of the second half does. */
static void measure(void *of, unsigned i)
{
    struct row_count *c = of;
    unsigned which = i % STRUCTURES;
    uint64_t seed = seen_mix(c->lab->seed + i);
    struct seen_filter *f;

    if (which == POSITIONS) {
        c->claimed[which] += claim_by_position(c, seed);
        return;
    }
    f = fill(c, which, seed);
    for (uint64_t row = 0; row < c->half; row++) {
        uint64_t url = urls_row(c->lab->urls, row);

        c->claimed[which] += lab_ask(f, c->lab->urls, url, url + 1, NULL);
    }
    seen_filter_free(f);
}

static void expect(struct row_count *c)
{
    struct seen_filter *sample = fill(c, LAYERED, c->lab->seed);
    double m = (double)seen_filter_layers(sample)[c->layers], n, one;
    struct exact second = { .way = HASHED };
    char url[URL_MOST];
    struct apart a;

    apart_init(&a, c->layers, c->half, seen_filter_layers(sample), c->k,
               c->lab->seed);
    for (uint64_t row = c->half; row < c->rows; row++) {
        size_t len = row_url(c, row, url);

        apart_add(&a, url, len);
        exact_add(&second, url, len);
    }
    apart_settle(&a, m);
    n = (double)second.n;
    one = theory_rate(n, c->bits, c->k);
    for (uint64_t row = 0; row < c->half; row++) {
        size_t len = row_url(c, row, url);
        bool known = exact_has(&second, url, len);

        c->in_both += known;
        c->expected[BLOOM] += known ? 1 : one;
        c->expected[LAYERED] += apart_tied(&a, url, len);
    }
    c->spread[BLOOM] = theory_spread(n, c->bits, c->k) / one;
    c->spread[LAYERED] = apart_spread(&a) +
                         theory_spread((double)a.ties.n, m, c->k) /
                             theory_rate((double)a.ties.n, m, c->k);
    exact_clear(&second);
    apart_clear(&a);
    seen_filter_free(sample);
}

/* --- what was found --- */

/* Rows in both halves are claimed for certain, of the others a share. */
static struct band band_of(const struct row_count *c, unsigned which,
                           double runs)
{
    double both = (double)c->in_both, others = (double)c->half - both;
    double p = (c->expected[which] - both) / others;
    struct band b = band_share(p, others * runs, p * c->spread[which], runs);

    b.low = (both + others * b.low) / (double)c->half;
    b.high = (both + others * b.high) / (double)c->half;
    return b;
}

/* Without a theory: by what was measured, which is as noisy as they are. */
static struct band band_by_measure(const struct row_count *c, double runs)
{
    struct row_count like = *c;

    like.expected[POSITIONS] = (double)c->claimed[POSITIONS] / c->runs;
    like.spread[POSITIONS] = c->spread[LAYERED];
    return band_of(&like, POSITIONS, 1 / (1 / runs + 1.0 / c->runs));
}

/* The data set with as many rows, up to a line of heads; or 0. */
static unsigned same_rows(const struct row_count *c)
{
    for (unsigned i = 1; i <= DATA_SETS; i++)
        if (fabs(data_set(i, "bloom", "rows", NULL) - (double)c->rows) < 1.5)
            return i;
    return 0;
}

static struct finding judge(const struct row_count *c, unsigned which,
                            unsigned like)
{
    double asked = (double)c->half, runs;
    const struct band none = { NAN, NAN };
    bool known = which != POSITIONS;
    struct finding f = band_percent(
        known ? c->expected[which] / asked : NAN,
        known ? band_of(c, which, c->runs) : none,
        (double)c->claimed[which] / asked / c->runs, 3);
    const char *name = which == BLOOM ? "bloom" : "layered";
    struct band theirs;

    if (!like)
        return f;
    runs = data_set(like, name, "runs", NULL);
    theirs = known ? band_of(c, which, runs) : band_by_measure(c, runs);
    f.published = 100 * data_set(like, name, "false_positives", &f.step) /
                  asked;
    f.step *= 100 / asked;
    f.their_low = 100 * theirs.low;
    f.their_high = 100 * theirs.high;
    return f;
}

static void put(const struct row_count *c, struct section *s, unsigned like)
{
    struct table *t = section_table(
        s, "layers-figure-3-rows",
        "Figure 3, on %s rows of this list as they stand: percent of %s "
        "lookups that both halves' filters claim, rightly or not (%u runs)",
        lab_count((double)c->rows), lab_count((double)c->half), c->runs);

    table_columns(t, "structure", COMPARED, "claimed", "in both halves",
                  "false", NULL);
    for (unsigned i = 0; i < STRUCTURES; i++) {
        struct finding f = judge(c, i, like);
        double claimed = (double)c->claimed[i] / c->runs;

        table_text(t, "%s", c->kind[i]);
        table_finding(t, &f);
        table_number(t, claimed, 1);
        table_number(t, (double)c->in_both, 0);
        table_number(t, claimed - (double)c->in_both, 1);
    }
}

/* How often a row errs that is not in both halves, by theory. */
static double others_err(const struct row_count *c, unsigned which)
{
    double both = (double)c->in_both;

    return (c->expected[which] - both) / ((double)c->half - both);
}

/* Of what a published count has beyond theory for rows that are all different,
   the share that rows in both halves explain. */
static double explained(const struct row_count *c, unsigned which,
                        double published)
{
    double without = (double)c->half * others_err(c, which);

    return (c->expected[which] - without) / (published - without);
}

/* The same beside the repository's data set. */
static void conclude_theirs(const struct row_count *c, struct section *s,
                            unsigned like)
{
    double both = (double)c->in_both;
    double bloom = data_set(like, "bloom", "false_positives", NULL);
    double layered = data_set(like, "layered", "false_positives", NULL);

    section_text(
        s,
        "The repository's data set %u has as many rows: it counts %.0f and "
        "%.0f, we %.0f and %.0f, and theory expects %.0f and %.0f. So %.0f "
        "and %.0f of its own are false. With positions XORed, as its program "
        "does, in place of hashes, we count %.0f. Rows in both halves explain "
        "%.0f %% of what it counts for the Bloom filter beyond theory, and "
        "%.0f %% of what it counts for the layers. What explains the rest is "
        "not known.",
        like, bloom, layered, (double)c->claimed[BLOOM] / c->runs,
        (double)c->claimed[LAYERED] / c->runs, c->expected[BLOOM],
        c->expected[LAYERED], bloom - both, layered - both,
        (double)c->claimed[POSITIONS] / c->runs,
        100 * explained(c, BLOOM, bloom),
        100 * explained(c, LAYERED, layered));
}

static void conclude(const struct row_count *c, struct section *s,
                     unsigned like)
{
    double both = (double)c->in_both, others = (double)c->half - both;

    section_text(
        s,
        "Of the %s rows asked for %s are in the other half as well: both "
        "filters rightly claim them, and the authors' method counts them as "
        "false positives. Without them the Bloom filter errs for %.2f %% and "
        "the layers for %.2f %%.",
        lab_count((double)c->half), lab_count(both),
        100 * ((double)c->claimed[BLOOM] / c->runs - both) / others,
        100 * ((double)c->claimed[LAYERED] / c->runs - both) / others);
    if (like)
        conclude_theirs(c, s, like);
}

void layers_count_rows(struct lab *lab, struct section *s)
{
    struct row_count c = { .lab = lab,
                           .rows = urls_rows(lab->urls),
                           .rate = authors("target_rate"),
                           .k = (unsigned)authors("k"),
                           .runs = lab_runs(lab, 3, 3, 10) };
    unsigned like;

    c.half = c.rows / 2;
    if (c.half < authors_least(c.rate))
        return;
    c.layers = authors_layers(lab, urls_count(lab->urls));
    c.bits = authors_bits((double)c.half, c.rate);
    snprintf(c.kind[BLOOM], sizeof c.kind[BLOOM], "bloom:murmur3");
    snprintf(c.kind[LAYERED], sizeof c.kind[LAYERED], "layered:%u,published",
             c.layers);
    snprintf(c.kind[POSITIONS], sizeof c.kind[POSITIONS],
             "%u layers, positions XORed", c.layers);
    like = same_rows(&c);
    expect(&c);
    lab_alone(lab, "rows as they stand", STRUCTURES * c.runs, measure, &c);
    put(&c, s, like);
    conclude(&c, s, like);
}
