/*
 * evenness.c - how evenly hash functions fall, and what they cost.
 *
 * Section 3.3.3 of the thesis demands evenly distributed hash values; section
 * 6.2 doubts that what holds for URLs holds for names and dates. Three tests
 * of each function on each of the three:
 *
 *   even          chi-square of values over B buckets, summed over S salts
 *   independent   chi-square of pairs of values under two salts over a grid:
 *                 a salt that only shifts all values alike fails here
 *   rate          false positives of a filter against the formula
 *
 * For n even values the sum of (seen - n/B)^2 / (n/B) is distributed as
 * chi-square with B - 1 degrees of freedom. Much more is uneven, much less is
 * more even than chance, which a function of consecutive days may well be.
 */
#include "thesis.h"

#include <stdlib.h>
#include <string.h>

#include "../band.h"
#include "about.h"
#include "grid.h"
#include "hashing.h"

enum { SALTS = 8, SIDE = 5 }; /* a grid of 32 by 32 */

struct tested {
    double even, independent; /* chi-squares */
    double rate;
};

struct evenness {
    struct lab *lab;
    struct corpus in[ABOUTS], out[ABOUTS];
    uint64_t n;
    unsigned bits; /* 2^bits buckets */
    struct tested of[ABOUTS][HASHINGS];
    double once[ABOUTS][HASHINGS], ten[ABOUTS][HASHINGS]; /* ns per text */
    uint64_t *hash;                                       /* for the clock */
};

static double chi_square(const uint32_t *count, size_t buckets, double n)
{
    double expected = n / (double)buckets, sum = 0;

    for (size_t i = 0; i < buckets; i++)
        sum += pow(count[i] - expected, 2) / expected;
    return sum;
}

/* Values under each salt over the buckets. */
static double even(const uint64_t *hash, size_t n, unsigned bits,
                   uint32_t *count)
{
    size_t buckets = (size_t)1 << bits;
    double sum = 0;

    for (unsigned j = 0; j < SALTS; j++) {
        for (size_t b = 0; b < buckets; b++)
            count[b] = 0;
        for (size_t i = 0; i < n; i++)
            count[hash[i * SALTS + j] >> (64 - bits)]++;
        sum += chi_square(count, buckets, (double)n);
    }
    return sum;
}

/* Values under two salts, as points of a grid. */
static double independent(const uint64_t *hash, size_t n)
{
    double sum = 0;

    for (unsigned j = 0; j < SALTS; j += 2) {
        uint32_t count[1 << 2 * SIDE] = { 0 };

        for (size_t i = 0; i < n; i++)
            count[(hash[i * SALTS + j] >> (64 - SIDE)) << SIDE |
                  hash[i * SALTS + j + 1] >> (64 - SIDE)]++;
        sum += chi_square(count, 1 << 2 * SIDE, (double)n);
    }
    return sum;
}

static const struct thesis_shape filter = { 3, 2.0 };

static double rate(const struct evenness *e, enum topic about, unsigned which)
{
    struct seen_plan plan = { .capacity = e->n,
                              .probes = filter.k,
                              .multiplier = filter.M,
                              .seed = e->lab->seed,
                              .over = true };
    struct seen_error why;
    struct seen_filter *f;
    bool *seen = lab_memory(e->n, sizeof *seen);
    uint64_t lost = 0;

    if (!hashing_kind(which)) {
        free(seen);
        return NAN;
    }
    snprintf(plan.kind, sizeof plan.kind, "%s", hashing_kind(which));
    f = lab_filter(&plan);
    lab_must(seen_filter_add(f, e->in[about].key, e->n, NULL, &why), &why);
    lab_must(seen_filter_has(f, e->out[about].key, e->n, seen, &why), &why);
    for (uint64_t i = 0; i < e->n; i++)
        lost += seen[i];
    seen_filter_free(f);
    free(seen);
    return (double)lost / (double)e->n;
}

static void test_one(void *of, unsigned i)
{
    struct evenness *e = of;
    enum topic about = i / HASHINGS;
    unsigned which = i % HASHINGS;
    struct tested *c = &e->of[about][which];
    uint64_t *hash = lab_memory(e->n * SALTS, sizeof *hash);
    uint32_t *count = lab_memory((size_t)1 << e->bits, sizeof *count);

    hashing_all(which, &e->in[about], e->lab->seed, SALTS, hash);
    c->even = even(hash, e->n, e->bits, count);
    c->independent = independent(hash, e->n);
    c->rate = rate(e, about, which);
    free(count);
    free(hash);
}

enum { TEN = 10, TRIES = 3 };

static void note_time(double *best, double begin, size_t n)
{
    double t = (lab_cpu_clock() - begin) * 1e9 / (double)n;

    *best = *best > 0 ? fmin(*best, t) : t;
}

/* One try of one function on one kind of texts. */
static void time_one(void *of, unsigned i)
{
    struct evenness *e = of;
    enum topic about = i / HASHINGS % ABOUTS;
    const struct corpus *t = &e->in[about];
    unsigned which = i % HASHINGS;
    double begin = lab_cpu_clock();

    hashing_all(which, t, e->lab->seed, 1, e->hash);
    note_time(&e->once[about][which], begin, t->n);
    begin = lab_cpu_clock();
    hashing_all(which, t, e->lab->seed, TEN, e->hash);
    note_time(&e->ten[about][which], begin, t->n);
}

/* --- tables --- */

static void name_case(struct table *t, enum topic about, unsigned which)
{
    table_text(t, "%s", about_name[about]);
    table_text(t, "%s", hashing_name(which));
}

/* Of all functions but the bad one, how many were off, and which. */
struct off {
    size_t judged, uneven, too_even, bad_noticed;
    char which[400];
};

/* The name of a chi-square. It describes the function and does not judge
   theory. */
static const char *note(struct off *off, double x, struct band b,
                        enum topic about, unsigned which)
{
    size_t used = strlen(off->which);

    if (which == BAD) {
        off->bad_noticed += x > b.high;
    } else {
        off->judged++;
        off->uneven += x > b.high;
        off->too_even += x < b.low;
        if (x > b.high)
            snprintf(off->which + used, sizeof off->which - used, "%s%s on %s",
                     used ? ", " : "", hashing_name(which), about_name[about]);
    }
    return x > b.high  ? "uneven"
           : x < b.low ? "more even than chance"
                       : "even";
}

static void table_of_squares(struct section *s, const struct evenness *e,
                             bool pairs, struct off *off)
{
    double buckets = pairs ? 1 << 2 * SIDE : ldexp(1, (int)e->bits);
    double degrees = (pairs ? SALTS / 2 : SALTS) * (buckets - 1);
    struct band b = band_chi_square(degrees);
    struct table *t = section_table(
        s, pairs ? "hash-independence" : "hash-evenness",
        pairs ? "Chi-square of %d pairs of salts over %s cells each, %s texts"
              : "Chi-square of %d salts over %s buckets each, %s texts",
        pairs ? SALTS / 2 : SALTS, lab_count(buckets),
        lab_count((double)e->n));

    table_columns(t, "texts", "function", "measured", "expected", "at least",
                  "at most", "is", NULL);
    for (enum topic a = 0; a < ABOUTS; a++)
        for (unsigned h = 0; h < HASHINGS; h++) {
            const struct tested *c = &e->of[a][h];
            double x = pairs ? c->independent : c->even;

            name_case(t, a, h);
            table_number(t, x, 0);
            table_number(t, degrees, 0);
            table_number(t, b.low, 0);
            table_number(t, b.high, 0);
            table_text(t, "%s", note(off, x, b, a, h));
        }
}

static void table_of_rates(struct section *s, const struct evenness *e,
                           struct tally *all)
{
    double n = (double)e->n, m = n * filter.k * filter.M;
    struct table *t = section_table(
        s, "hash-rates", "False positives with k = %u, M = %.1f, in percent",
        filter.k, filter.M);

    table_columns(t, "texts", "function", COMPARED, NULL);
    for (enum topic a = 0; a < ABOUTS; a++)
        for (unsigned h = 0; h < BAD; h++) {
            struct finding f = finding_of_share(
                theory_rate(n, m, filter.k), e->of[a][h].rate, n,
                theory_spread(n, m, filter.k), 1);

            name_case(t, a, h);
            table_finding(t, &f);
            tally_add(all, &f, "%s", hashing_name(h));
        }
}

static void table_of_costs(struct section *s, const struct evenness *e)
{
    struct table *t = section_table(
        s, "hash-costs", "Nanoseconds per text, for one hash and for %d", TEN);

    table_columns(t, "texts", "bytes", "function", "one", "ten", NULL);
    for (enum topic a = 0; a < ABOUTS; a++)
        for (unsigned h = 0; h < BAD; h++) {
            table_text(t, "%s", about_name[a]);
            table_number(t, (double)e->in[a].bytes / (double)e->n, 0);
            table_text(t, "%s", hashing_name(h));
            table_number(t, e->once[a][h], 1);
            table_number(t, e->ten[a][h], 1);
        }
}

static void describe_costs(struct section *s, const struct evenness *e,
                           const struct off *one, const struct off *two)
{
    enum { JENKINS = 0, MD5 = 3, SHA1 = 4 };
    const double *ten = e->ten[URLS];
    bool even = !strstr(one->which, hashing_name(OURS)) &&
                !strstr(two->which, hashing_name(OURS));
    bool dear = ten[MD5] > ten[JENKINS] && ten[SHA1] > ten[JENKINS];

    section_text(
        s,
        "A filter of ten hash functions spends %.0f ns on the Jenkins "
        "hashes of a URL, %.0f ns on those of SHA-1, and %.0f ns if a "
        "URL is hashed once and the probes are derived from it, which "
        "is %s. MD5 and SHA-1 take %.2f and %.2f times as long as "
        "Jenkins' on URLs: the thesis was %s to leave them for their "
        "cost.",
        ten[JENKINS], ten[SHA1], ten[OURS],
        even ? "even, too" : "not even everywhere", ten[MD5] / ten[JENKINS],
        ten[SHA1] / ten[JENKINS],
        dear ? "right" : "not right, by what was measured here,");
}

static void write_all(struct section *s, const struct evenness *e)
{
    struct off one = { 0 }, two = { 0 };
    struct tally all = { 0 };

    table_of_squares(s, e, false, &one);
    table_of_squares(s, e, true, &two);
    table_of_rates(s, e, &all);
    table_of_costs(s, e);
    section_text(
        s,
        "Under one salt values are uneven in %zu of %zu cases%s%s%s, under "
        "two in %zu%s%s%s; more even than chance in %zu and %zu. The sum of "
        "bytes, bad on purpose, is detected in %zu and %zu of %d cases. What "
        "counts for a filter is the rate, and of %zu rates, on URLs, names "
        "and dates, %zu agree with theory: %s.",
        one.uneven, one.judged, one.uneven ? " (" : "", one.which,
        one.uneven ? ")" : "", two.uneven, two.uneven ? " (" : "", two.which,
        two.uneven ? ")" : "", one.too_even, two.too_even, one.bad_noticed,
        two.bad_noticed, ABOUTS, all.judged, all.agree,
        all.differ ? "the doubt of section 6.2 is partly right"
                   : "salting works on names and dates as it does on "
                     "URLs, whatever section 6.2 doubts");
    describe_costs(s, e, &one, &two);
}

void thesis_hash_evenness(struct lab *lab, struct section *s)
{
    struct evenness *e = lab_memory(1, sizeof *e);

    section_text(
        s,
        "The thesis demands evenly distributed hash values (section 3.3.3) "
        "and finds its four functions equally good for URLs, but expects that "
        "names or dates may give other results (6.2). It later leaves out MD5 "
        "and SHA-1 for their cost, which it does not measure.");
    e->lab = lab;
    e->n = thesis_n(lab, 100000, 500000, 1000000);
    if (e->n > DAYS / 2)
        e->n = DAYS / 2;
    while (e->n >> e->bits > 64)
        e->bits++;
    for (enum topic a = 0; a < ABOUTS; a++) {
        about_texts(&e->in[a], a, lab, 0, (size_t)e->n);
        about_texts(&e->out[a], a, lab, e->n, (size_t)e->n);
    }
    lab_each(lab, "evenness of hash functions", ABOUTS * HASHINGS, test_one,
             e);
    e->hash = lab_memory(e->n * TEN, sizeof *e->hash);
    lab_alone(lab, "cost of hash functions", TRIES * ABOUTS * HASHINGS,
              time_one, e);
    write_all(s, e);
    free(e->hash);
    for (enum topic a = 0; a < ABOUTS; a++) {
        corpus_clear(&e->in[a]);
        corpus_clear(&e->out[a]);
    }
    free(e);
}
