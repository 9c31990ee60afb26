/*
 * tuned.c - a hash that was chosen on one crawl, tested on the next.
 *
 * Section 7.2.2 of the thesis proposes to breed a hash function that has few
 * collisions on the URLs of one crawl, and presumes that it has few on those
 * of the next. The simplest such search is to try S seeds and keep the one
 * that loses the fewest URLs of the first crawl. What can be had: losses vary
 * by a standard deviation from seed to seed, and the best of S lies some two
 * of them below the mean. What can be kept: new URLs are not those that were
 * chosen for, so nothing; a little less than that, since a filter that lost
 * fewer has more bits set (crawled.h).
 *
 * Functions that see the structure of URLs are another matter: structured.h.
 * What serves the idea is a structure made for a known set: see known.h.
 */
#include "thesis.h"

#include <stdlib.h>

#include "../band.h"
#include "crawled.h"
#include "grid.h"
#include "known.h"
#include "structured.h"

static const struct thesis_shape tuned = { 3, 2.0 };

struct search {
    struct lab *lab;
    uint64_t n;
    unsigned seeds, runs;
    uint64_t *known, *fresh; /* lost of each crawl, by run and seed */
};

/* One seed on one pair of crawls. */
static void try_seed(void *of, unsigned i)
{
    const struct search *x = of;
    const struct urls *urls = x->lab->urls;
    uint64_t from = i / x->seeds * 2 * x->n;
    struct seen_plan plan = { .kind = "bloom:jenkins",
                              .capacity = x->n,
                              .probes = tuned.k,
                              .multiplier = tuned.M,
                              .seed = seen_mix(x->lab->seed + i),
                              .over = true };
    struct seen_filter *f = lab_filter(&plan);

    x->known[i] = lab_add(f, urls, from, from + x->n, NULL);
    x->fresh[i] = lab_ask(f, urls, from + x->n, from + 2 * x->n, NULL);
    seen_filter_free(f);
}

/* Shares that are lost: of all seeds, and of the best of each run. */
struct gain {
    double known, fresh, best_known, best_fresh, correlation;
    struct finding next, together; /* of the best on new URLs; correlation */
};

static struct gain weigh(const struct search *x)
{
    struct gain g = { 0 };
    double all = (double)x->seeds * x->runs, kk = 0, ff = 0, kf = 0;

    for (unsigned r = 0; r < x->runs; r++) {
        const uint64_t *known = x->known + r * x->seeds;
        const uint64_t *fresh = x->fresh + r * x->seeds;
        double k = 0, f = 0;
        unsigned best = 0;

        for (unsigned i = 0; i < x->seeds; i++) {
            best = known[i] < known[best] ? i : best;
            k += (double)known[i] / x->seeds;
            f += (double)fresh[i] / x->seeds;
        }
        for (unsigned i = 0; i < x->seeds; i++) {
            kk += pow((double)known[i] - k, 2);
            ff += pow((double)fresh[i] - f, 2);
            kf += ((double)known[i] - k) * ((double)fresh[i] - f);
        }
        g.known += k * x->seeds / all / (double)x->n;
        g.fresh += f * x->seeds / all / (double)x->n;
        g.best_known += (double)known[best] / (double)x->n / x->runs;
        g.best_fresh += (double)fresh[best] / (double)x->n / x->runs;
    }
    g.correlation = kk > 0 && ff > 0 ? kf / sqrt(kk * ff) : 0;
    return g;
}

static void one_row(struct table *t, const char *seed, const char *crawl,
                    const struct finding *f, struct tally *all)
{
    table_text(t, "%s", seed);
    table_text(t, "%s", crawl);
    table_finding(t, f);
    tally_add(all, f, "%s", seed);
}

/* A share of a crawl's URLs, the mean of `crawls` crawls. */
static struct finding crawl_finding(double measured, double n, double crawls)
{
    double m = n * tuned.k * tuned.M;
    struct band b = crawled_band(tuned.k, tuned.M, 1, false, n, crawls);

    return band_percent(theory_incremental(n, m, tuned.k, 1, 1), b, measured,
                        2);
}

/* A correlation r of N pairs has the deviation (1 - r^2) / sqrt(N); each run
   takes one of them for its mean. */
static struct finding correlate(struct section *s, const struct search *x,
                                double measured, struct tally *all)
{
    double r = crawled_correlation(tuned.k, tuned.M, (double)x->n);
    double pairs = (double)(x->seeds - 1) * x->runs;
    struct finding f = band_finding(r, band_mean(r, 1 - r * r, pairs),
                                    measured, 3);
    struct table *t = section_table(
        s, "tuned-correlation",
        "How losses of the two crawls correlate over seeds");

    table_columns(t, "seeds", "pairs of crawls", COMPARED, NULL);
    table_number(t, x->seeds, 0);
    table_number(t, x->runs, 0);
    table_finding(t, &f);
    tally_add(all, &f, "the correlation");
    return f;
}

static struct gain search(struct lab *lab, struct section *s, struct search *x,
                          struct tally *all)
{
    double n = (double)x->n, m = n * tuned.k * tuned.M;
    double full = theory_rate(n, m, tuned.k);
    double spread = theory_spread(n, m, tuned.k);
    struct finding f;
    struct gain g;
    struct table *t;
    size_t tries = (size_t)x->seeds * x->runs;

    x->known = lab_memory(tries, sizeof *x->known);
    x->fresh = lab_memory(tries, sizeof *x->fresh);
    lab_each(lab, "seeds to choose from", (unsigned)tries, try_seed, x);
    g = weigh(x);
    thesis_sizes(lab, s, x->n, x->runs);
    t = section_table(s, "tuned-hash",
                      "URLs lost with k = %u, M = %.1f, in percent: %u pairs "
                      "of crawls, %u seeds to choose from",
                      tuned.k, tuned.M, x->runs, x->seeds);
    table_columns(t, "seed", "URLs", COMPARED, NULL);
    f = crawl_finding(g.known, n, (double)tries);
    one_row(t, "any", "of the first crawl", &f, all);
    f = crawl_finding(g.best_known, n, x->runs);
    f.low = f.high = NAN; /* it was chosen for this */
    one_row(t, "best on the first crawl", "of the first crawl", &f, all);
    f = finding_of_share(full, g.fresh, n * (double)tries, spread,
                         (double)tries);
    one_row(t, "any", "new in the next crawl", &f, all);
    g.next = finding_of_share(full, g.best_fresh, n * x->runs, spread,
                              x->runs);
    one_row(t, "best on the first crawl", "new in the next crawl", &g.next,
            all);
    g.together = correlate(s, x, g.correlation, all);
    free(x->known);
    free(x->fresh);
    return g;
}

static void describe_gain(struct section *s, const struct search *x,
                          const struct gain *g)
{
    const struct finding *next = &g->next, *both = &g->together;

    section_text(s,
                 "The best of %u seeds loses %.2f %% fewer URLs of the crawl "
                 "that it was chosen on, and %.2f %% %s of the next, where "
                 "chance gives up to %.2f %% either way: %s.",
                 x->seeds, 100 * (1 - g->best_known / g->known),
                 100 * fabs(1 - g->best_fresh / g->fresh),
                 g->best_fresh < g->fresh ? "fewer" : "more",
                 100 * (next->high - next->low) / 2 / next->theory,
                 finding_judge(next, THEORY) == AGREES
                     ? "no gain is found that differs from chance"
                     : "more than chance");
    section_text(
        s,
        "Over all seeds, losses of the two crawls correlate by %.3f, "
        "where theory says %.3f and chance gives %.3f to %.3f. %s",
        both->measured, both->theory, both->low, both->high,
        finding_judge(both, THEORY) == AGREES
            ? "In theory a seed that is good for some URLs is a little worse "
              "for others: the fewer URLs are lost, the more bits are set."
            : "So theory misses something.");
}

static void describe_known(struct section *s, const struct known *k,
                           const struct tally *all)
{
    section_text(
        s,
        "A structure that is made for a known set does exist: a fuse. "
        "It holds the first crawl in %.1f bits per URL, beside a growing "
        "filter for what comes later with %.1f bits for each of "
        "those; together %.1f, and %.3f %% of new URLs are lost. A "
        "growing filter for all of them, planned for the rate that is "
        "expected of those two, takes %.1f bits and loses %.3f %%. One "
        "Bloom filter of %.1f bits loses %.3f %%, but had to know the "
        "number of all URLs in advance. Of %zu numbers %zu agree with "
        "theory, and of %zu plans %zu are kept.",
        k->fuse_bits, k->rest_bits, k->bits[TOGETHER], 100 * k->lost[TOGETHER],
        k->bits[GROWING], 100 * k->lost[GROWING], k->bits[BLOOM],
        100 * k->lost[BLOOM], all->judged, all->agree, all->bounds, all->kept);
}

void tuned_hash(struct lab *lab, struct section *s)
{
    struct search x = { .lab = lab,
                        .seeds = 32,
                        .runs = lab_runs(lab, 8, 8, 20) };
    struct known known;
    struct tally all = { 0 };
    struct gain g;

    section_text(
        s,
        "The thesis proposes to generate a hash function that is close to "
        "perfect for the URLs of one crawl, and presumes that on the next "
        "crawl, whose URLs are similar, it would yield a number of collisions "
        "close to zero (section 7.2.2). Here a seed is chosen that loses the "
        "fewest URLs of one crawl, and is tried on new URLs of the same sort; "
        "then multipliers of a function that sees the structure of URLs. "
        "These are searches, but not the genetic programming that the thesis "
        "has in mind, which might fit the first crawl better: they have %u "
        "candidates of each kind, and the question is whether the fit of the "
        "best helps on the next crawl.",
        x.seeds);
    x.n = thesis_n(lab, 50000, 200000, 1000000);
    g = search(lab, s, &x, &all);
    known = known_part(lab, s, x.n, &all);
    describe_gain(s, &x, &g);
    structured_search(lab, s, &tuned, x.n, x.runs);
    describe_known(s, &known, &all);
}
