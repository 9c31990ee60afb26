/*
 * tuned.c - a hash that was chosen on one crawl, tested on the next.
 *
 * Section 7.2.2 of the thesis proposes to breed a hash function that has few
 * collisions on the URLs of one crawl, and presumes that it has few on those
 * of the next. The simplest such search is to try S seeds and keep the one
 * that loses the fewest URLs of the first crawl. What can be had: losses vary
 * by a standard deviation from seed to seed, and the best of S lies some two
 * of them below the mean. What can be kept: new URLs are not those that were
 * chosen for, so nothing.
 *
 * What serves the idea, a structure made for a known set, is a `fuse`; beside
 * it a growing filter takes the URLs that come later.
 */
#include "thesis.h"

#include <stdlib.h>
#include <string.h>

#include <seen/build.h>

#include "../band.h"
#include "../urls.h"
#include "grid.h"

static const struct cell tuned = { 3, 2.0 };

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

static struct finding judge(double p, double measured, double trials,
                            double spread, double filters)
{
    struct band b = band_share(p, trials, spread, filters);

    return (struct finding){ .published = NAN,
                             .step = NAN,
                             .theory = 100 * p,
                             .measured = 100 * measured,
                             .low = 100 * b.low,
                             .high = 100 * b.high,
                             .their_low = NAN,
                             .their_high = NAN,
                             .digits = 4 };
}

static void one_row(struct table *t, const char *seed, const char *crawl,
                    const struct finding *f, struct tally *all)
{
    table_text(t, "%s", seed);
    table_text(t, "%s", crawl);
    table_finding(t, f);
    tally_add(all, f, NULL, "%s", seed);
}

static struct gain search(struct lab *lab, struct sheet *s, struct search *x,
                          struct tally *all)
{
    double n = (double)x->n, m = n * tuned.k * tuned.M;
    double crawl = theory_incremental(n, m, tuned.k, 1, 1);
    double full = theory_rate(n, m, tuned.k);
    double spread = theory_spread(n, m, tuned.k);
    struct finding f;
    struct gain g;
    struct table *t;
    size_t tries = (size_t)x->seeds * x->runs;

    x->known = thesis_memory(tries, sizeof *x->known);
    x->fresh = thesis_memory(tries, sizeof *x->fresh);
    lab_each(lab, "seeds to choose from", (unsigned)tries, try_seed, x);
    g = weigh(x);
    t = sheet_table(s, "tuned-hash",
                    "URLs lost with k = %u, M = %.1f, in percent: %u pairs "
                    "of crawls, %u seeds to choose from",
                    tuned.k, tuned.M, x->runs, x->seeds);
    table_columns(t, "seed", "URLs", COMPARED, NULL);
    f = judge(crawl, g.known, n * (double)tries, spread, (double)tries);
    one_row(t, "any", "of the first crawl", &f, all);
    f = judge(crawl, g.best_known, n * x->runs, spread, x->runs);
    f.low = f.high = NAN; /* it was chosen for this */
    one_row(t, "best on the first crawl", "of the first crawl", &f, all);
    f = judge(full, g.fresh, n * (double)tries, spread, (double)tries);
    one_row(t, "any", "new in the next crawl", &f, all);
    f = judge(full, g.best_fresh, n * x->runs, spread, x->runs);
    one_row(t, "best on the first crawl", "new in the next crawl", &f, all);
    free(x->known);
    free(x->fresh);
    return g;
}

/* --- a structure for the known part --- */

struct made {
    struct lab *lab;
    uint64_t n, more;                 /* known, and added later */
    double bits[2], rate[2], lost[2]; /* fuse and growing; one bloom */
};

static struct seen_filter *make_fuse(const struct made *d)
{
    enum { SOME = 256 };
    struct seen_plan plan = { .kind = "fuse", .seed = d->lab->seed };
    struct seen_key key[SOME];
    struct seen_build *build;
    struct seen_filter *f;
    struct seen_error why;
    char *text = thesis_memory(SOME, URL_MOST);

    lab_must(seen_build_new(&build, &plan, 1, &why), &why);
    for (uint64_t i = 0; i < d->n; i += SOME) {
        size_t some = d->n - i < SOME ? (size_t)(d->n - i) : SOME;

        urls_keys(d->lab->urls, i, some, key, text);
        lab_must(seen_build_add(build, 0, key, some, &why), &why);
    }
    lab_must(seen_build_finish(build, &f, &why), &why);
    free(text);
    return f;
}

/* Ask for as many URLs as are known, none of which was added. */
static uint64_t asked_from(const struct made *d)
{
    return d->n + d->more;
}

static void known_and_rest(struct made *d)
{
    struct seen_plan plan = { .kind = "growing/bloom",
                              .capacity = d->more / 4 + 1,
                              .seed = d->lab->seed };
    struct seen_filter *fuse = make_fuse(d), *rest;
    const struct urls *urls = d->lab->urls;
    uint64_t asked = d->n - d->more, from = asked_from(d), lost = 0;
    bool *one = thesis_memory(asked, sizeof *one);
    bool *two = thesis_memory(asked, sizeof *two);

    plan.rate = seen_filter_rate(fuse);
    rest = lab_filter(&plan);
    lab_add(rest, urls, d->n, d->n + d->more, NULL);
    lab_ask(fuse, urls, from, from + asked, one);
    lab_ask(rest, urls, from, from + asked, two);
    for (uint64_t i = 0; i < asked; i++)
        lost += one[i] || two[i];
    d->bits[0] = 8 *
                 (double)(seen_filter_bytes(fuse) + seen_filter_bytes(rest)) /
                 (double)(d->n + d->more);
    d->rate[0] = 1 -
                 (1 - seen_filter_rate(fuse)) * (1 - seen_filter_rate(rest));
    d->lost[0] = (double)lost / (double)asked;
    seen_filter_free(fuse);
    seen_filter_free(rest);
    free(one);
    free(two);
}

static void one_bloom(struct made *d)
{
    const struct urls *urls = d->lab->urls;
    uint64_t all = d->n + d->more, asked = d->n - d->more;
    struct seen_plan plan = { .kind = "bloom",
                              .capacity = all,
                              .bits = (uint64_t)(d->bits[0] * (double)all),
                              .seed = d->lab->seed };
    struct seen_filter *f = lab_filter(&plan);

    lab_add(f, urls, 0, all, NULL);
    d->lost[1] = (double)lab_ask(f, urls, all, all + asked, NULL) /
                 (double)asked;
    d->bits[1] = 8 * (double)seen_filter_bytes(f) / (double)all;
    d->rate[1] = seen_filter_rate(f);
    seen_filter_free(f);
}

static void build_both(void *of, unsigned i)
{
    (void)i;
    known_and_rest(of);
    one_bloom(of);
}

static void known_part(struct lab *lab, struct sheet *s, struct made *d,
                       struct tally *all)
{
    static const char *const name[] = { "fuse and growing/bloom",
                                        "one bloom of that memory" };
    struct table *t;

    lab_each(lab, "a fuse for what is known", 1, build_both, d);
    t = sheet_table(s, "known-part",
                    "New URLs lost, in percent: %llu known, %llu added later",
                    (unsigned long long)d->n, (unsigned long long)d->more);
    table_columns(t, "structure", "bits a URL", COMPARED, NULL);
    for (int i = 0; i < 2; i++) {
        struct finding f = judge(d->rate[i], d->lost[i],
                                 (double)(d->n - d->more), 0, 1);

        table_text(t, "%s", name[i]);
        table_number(t, d->bits[i], 2);
        table_finding(t, &f);
        tally_add(all, &f, NULL, "%s", name[i]);
    }
}

void tuned_hash(struct lab *lab, struct sheet *s)
{
    struct search x = { .lab = lab,
                        .seeds = 32,
                        .runs = lab_runs(lab, 4, 4, 20) };
    struct made d = { .lab = lab };
    struct tally all = { 0 };
    struct gain g;

    sheet_text(s, "The thesis proposes to generate a hash function that is "
                  "close to perfect for the URLs of one crawl, and presumes "
                  "that on the next crawl, whose URLs are similar, it would "
                  "yield a number of collisions close to zero (section "
                  "7.2.2). Here a seed is chosen that loses the fewest URLs "
                  "of one crawl, and is tried on new URLs of the same hosts "
                  "and kinds.");
    x.n = thesis_n(lab, 50000, 200000, 1000000);
    d.n = x.n;
    d.more = x.n / 4;
    g = search(lab, s, &x, &all);
    known_part(lab, s, &d, &all);
    sheet_text(s,
               "The best of %u seeds loses %.2f %% fewer URLs of the crawl "
               "that it was chosen on, and %.2f %% %s of the next: what was "
               "gained is gone. Over all seeds, losses of the two crawls "
               "correlate by %.2f; a seed cannot be good in general, and one "
               "that collides less on the first crawl sets more bits for the "
               "second. Similar URLs are no help, since a good hash function "
               "makes similar texts as different as any.",
               x.seeds, 100 * (1 - g.best_known / g.known),
               100 * fabs(1 - g.best_fresh / g.fresh),
               g.best_fresh < g.fresh ? "fewer" : "more", g.correlation);
    sheet_text(s,
               "A structure that is made for a known set does exist: a fuse "
               "of the first crawl and a growing filter for what comes later "
               "lose %.3f %% of new URLs with %.2f bits a URL, where one "
               "Bloom filter of that memory, which had to know the number of "
               "all URLs in advance, loses %.3f %%. Of %zu rates %zu agree "
               "with theory.",
               100 * d.lost[0], d.bits[0], 100 * d.lost[1], all.judged,
               all.agree);
}
