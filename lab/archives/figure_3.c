/*
 * figure_3.c - how many hash functions?
 *
 * The rate (1 - e^(-kn/m))^k has its minimum at k = (m/n) ln 2, so which k is
 * best depends on how many URLs are in the filter when it is asked. The same
 * bits are measured with the URLs of the report's index, and when full.
 */
#include "archives.h"

#include <stdlib.h>

#include "../corpus.h"
#include "../noise.h"

enum { MOST_K = 10, TIMED = 20000 };

static const char *const kind[] = { "bloom", "bloom:murmur3" };
enum { KINDS = sizeof kind / sizeof *kind };

struct figure {
    struct lab *lab;
    uint64_t held, full, asked;
    double bits;
    unsigned runs;
    uint64_t (*wrong)[MOST_K][2]; /* by run: of those asked, when held */
    struct corpus in, out;
    double seconds[MOST_K][KINDS][2]; /* a question: held, absent */
};

static struct seen_filter *make(const struct figure *f, const char *of,
                                unsigned k, uint64_t seed)
{
    struct seen_plan plan = { .profile = "raw",
                              .capacity = f->full,
                              .bits = (uint64_t)f->bits,
                              .probes = k,
                              .seed = seed,
                              .over = true };

    snprintf(plan.kind, sizeof plan.kind, "%s", of);
    return lab_filter(&plan);
}

static void measure(void *of, unsigned i)
{
    struct figure *f = of;
    const struct urls *urls = f->lab->urls;
    unsigned k = i % MOST_K, run = i / MOST_K;
    struct seen_filter *filter = make(f, kind[0], k + 1, f->lab->seed + i);

    lab_add(filter, urls, 0, f->held, NULL);
    f->wrong[run][k][0] = lab_ask(filter, urls, f->full, f->full + f->asked,
                                  NULL);
    lab_add(filter, urls, f->held, f->full, NULL);
    f->wrong[run][k][1] = lab_ask(filter, urls, f->full, f->full + f->asked,
                                  NULL);
    seen_filter_free(filter);
}

static void measure_time(void *of, unsigned i)
{
    struct figure *f = of;
    unsigned k = i / KINDS, j = i % KINDS;
    struct seen_filter *filter = make(f, kind[j], k + 1, f->lab->seed);

    lab_add(filter, f->lab->urls, 0, f->full, NULL);
    f->seconds[k][j][0] = corpus_ask(&f->in, filter, 1);
    f->seconds[k][j][1] = corpus_ask(&f->out, filter, 1);
    seen_filter_free(filter);
}

static double measured(const struct figure *f, unsigned k, int when)
{
    double sum = 0;

    for (unsigned run = 0; run < f->runs; run++)
        sum += (double)f->wrong[run][k - 1][when];
    return sum / ((double)f->runs * (double)f->asked);
}

static double theory(const struct figure *f, unsigned k, int when)
{
    return theory_rate((double)(when ? f->full : f->held), f->bits, k);
}

static unsigned best(const struct figure *f, int when,
                     double (*rate)(const struct figure *, unsigned, int))
{
    unsigned k = 1;

    for (unsigned i = 2; i <= MOST_K; i++)
        if (rate(f, i, when) < rate(f, k, when))
            k = i;
    return k;
}

static void put_rates(const struct figure *f, struct section *s, int when)
{
    uint64_t n = when ? f->full : f->held;
    double asked = (double)f->asked * f->runs;
    struct table *t = section_table(
        s, when ? "archives-figure-3-full" : "archives-figure-3-held",
        "Figure 3: percent of false positives, %s URLs in %.0f bits",
        lab_count((double)n), f->bits);

    table_columns(t, "k", COMPARED, NULL);
    for (unsigned k = 1; k <= MOST_K; k++) {
        double p = theory(f, k, when);
        struct band band = band_share(
            p, asked, theory_spread((double)n, f->bits, k), f->runs);
        struct finding finding = band_percent(p, band, measured(f, k, when),
                                              3);

        table_number(t, k, 0);
        table_finding(t, &finding);
    }
}

static void put_plots(const struct figure *f, struct section *s)
{
    static const char *const asked[] = { "held", "absent" };
    struct plot *p = section_plot(
        s, "archives-figure-3-rate-plot", "hash functions k",
        "false positives, percent", LOG_Y,
        "Figure 3: the rate by k, measured (points) and by theory");

    for (int when = 0; when < 2; when++) {
        plot_series(p, POINTS, "%s URLs",
                    lab_count((double)(when ? f->full : f->held)));
        for (unsigned k = 1; k <= MOST_K; k++)
            plot_point(p, k, 100 * measured(f, k, when));
        plot_series(p, LINES, "%s", ""); /* theory */
        for (unsigned k = 1; k <= MOST_K; k++)
            plot_point(p, k, 100 * theory(f, k, when));
    }
    p = section_plot(s, "archives-figure-3-time-plot", "hash functions k",
                     "nanoseconds per URL", 0,
                     "Figure 3: the response time by k, one URL at a time");
    for (unsigned j = 0; j < KINDS; j++)
        for (int out = 0; out < 2; out++) {
            plot_series(p, LINES_POINTS, "%s, URLs that are %s", kind[j],
                        asked[out]);
            for (unsigned k = 0; k < MOST_K; k++)
                plot_point(p, k + 1, 1e9 * f->seconds[k][j][out]);
        }
}

static void put_times(const struct figure *f, struct section *s)
{
    struct table *t = section_table(
        s, "archives-figure-3-time",
        "Figure 3: nanoseconds per question, from the URL's text to the "
        "answer");

    table_columns(t, "k", "bloom, held", "bloom, absent", "murmur3, held",
                  "murmur3, absent", NULL);
    for (unsigned k = 0; k < MOST_K; k++) {
        table_number(t, k + 1, 0);
        for (unsigned j = 0; j < KINDS; j++)
            for (int out = 0; out < 2; out++)
                table_number(t, 1e9 * f->seconds[k][j][out], 0);
    }
}

/* The cost of one more hash function per lookup, in nanoseconds: a line by
   least squares, whose noise is what it leaves unexplained. */
static struct noisy slope(const struct figure *f, unsigned j, int out)
{
    double x = (MOST_K - 1) / 2.0, y = 0, xx = 0, xy = 0, left = 0;
    struct noisy e = { .degrees = MOST_K - 2 };

    for (unsigned k = 0; k < MOST_K; k++)
        y += 1e9 * f->seconds[k][j][out] / MOST_K;
    for (unsigned k = 0; k < MOST_K; k++) {
        xx += (k - x) * (k - x);
        xy += (k - x) * (1e9 * f->seconds[k][j][out] - y);
    }
    e.value = xy / xx;
    for (unsigned k = 0; k < MOST_K; k++)
        left += pow(1e9 * f->seconds[k][j][out] - y - e.value * (k - x), 2);
    e.error = sqrt(left / e.degrees / xx);
    return e;
}

/* "61.1 ns", or that there is none to speak of. */
static const char *describe_slope(const struct figure *f, unsigned j, int out,
                                  char *to, size_t room)
{
    const struct noisy none = { .degrees = INFINITY };
    struct noisy e = slope(f, j, out);

    if (noise_compare(&e, &none))
        snprintf(to, room, "%.1f ns", e.value);
    else
        snprintf(to, room, "nothing beyond the noise of these runs");
    return to;
}

static void describe_best(const struct figure *f, int when, char *to,
                          size_t room)
{
    double n = (double)(when ? f->full : f->held);
    double asked = (double)f->asked * f->runs;
    struct noisy rate[MOST_K];

    for (unsigned k = 1; k <= MOST_K; k++)
        rate[k - 1] = noise_share(measured(f, k, when), asked,
                                  theory_spread(n, f->bits, k), f->runs);
    describe_lowest_rate(rate, MOST_K, to, room);
}

static void conclude(const struct figure *f, struct section *s)
{
    double claimed = said("figure_3_best_k", NULL);
    unsigned by_theory = best(f, 1, theory);
    char held[192], full[192], cost[4][48];

    describe_best(f, 0, held, sizeof held);
    describe_best(f, 1, full, sizeof full);
    section_text(
        s,
        "With %s URLs, as with that index, the lowest rate that we "
        "measure is %s (theory: k = %u, %.3f %%), and with %s URLs, which "
        "the filter is for, %s (theory: k = %u, %.3f %%). The report's k = %.0f is "
        "%s for the former and %s for the latter: which k is best "
        "depends on how full the filter is when it is asked, "
        "(m/n) ln 2 being %.2f and %.2f, and a filter that is sized "
        "with room to spare needs more hash functions than its plan.",
        lab_count((double)f->held), held, best(f, 0, theory),
        100 * theory(f, best(f, 0, theory), 0), lab_count((double)f->full),
        full, by_theory, 100 * theory(f, by_theory, 1), claimed,
        claimed == best(f, 0, theory) ? "best by theory" : "not best",
        claimed == by_theory ? "best by theory" : "not best",
        f->bits / (double)f->held * log(2),
        f->bits / (double)f->full * log(2));
    section_text(
        s,
        "One more hash function costs a lookup of a present URL %s with "
        "`bloom:murmur3`, which hashes the text once per function, and %s "
        "with `bloom`, which hashes it once; for an absent URL, where the "
        "first clear bit ends the search, %s and %s.",
        describe_slope(f, 1, 0, cost[0], sizeof cost[0]),
        describe_slope(f, 0, 0, cost[1], sizeof cost[1]),
        describe_slope(f, 1, 1, cost[2], sizeof cost[2]),
        describe_slope(f, 0, 1, cost[3], sizeof cost[3]));
}

void archives_figure_3(struct lab *lab, struct section *s)
{
    double capacity = said("figure_3_4_capacity", NULL);
    struct figure f = { .lab = lab };

    section_text(
        s,
        "In a filter of %s bits, for %s URLs and a rate of %g %%, the report "
        "finds that %.0f hash functions give the lowest rate, and that the "
        "response time rises slightly and linearly with their number. The "
        "report does not say what was in it; if it was the index of Table 1, "
        "%s URLs.",
        lab_count(said("figure_3_4_bits", NULL)), lab_count(capacity),
        100 * said("figure_3_4_target_rate", NULL),
        said("figure_3_best_k", NULL), lab_count(said_entries()));
    f.full = corpus_enough(lab, s,
                           lab_n(lab, 400000, 4000000, (uint64_t)capacity), 3,
                           LEAST_URLS);
    f.held = (uint64_t)(said_entries() / capacity * (double)f.full);
    f.bits = floor(said("figure_3_4_bits", NULL) / capacity * (double)f.full);
    f.asked = enough_absent(f.full, 2);
    f.runs = lab_runs(lab, 1, 2, 1);
    f.wrong = lab_memory(f.runs, sizeof *f.wrong);
    lab_each(lab, "rates by k", f.runs * MOST_K, measure, &f);
    corpus_init(&f.in, lab->urls, 0, f.held < TIMED ? f.held : TIMED);
    corpus_init(&f.out, lab->urls, f.full, f.in.n);
    lab_alone(lab, "times by k", MOST_K * KINDS, measure_time, &f);
    put_rates(&f, s, 0);
    put_rates(&f, s, 1);
    put_times(&f, s);
    put_plots(&f, s);
    conclude(&f, s);
    corpus_clear(&f.in);
    corpus_clear(&f.out);
    free(f.wrong);
}
