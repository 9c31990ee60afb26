/*
 * choice_of_k.c - five hash functions for one percent?
 *
 * For a rate p the least memory is that of k = -log2 p. What does another k
 * cost: in bytes at the same rate, in rate at the same bytes, and in time?
 */
#include "archives.h"

#include "../corpus.h"

enum { MOST_K = 12, TIMED = 20000 };

struct choice {
    struct lab *lab;
    double capacity, rate;
    unsigned theirs;
    double bits; /* of the k of the report, at the size of the lab */
    uint64_t n, held, asked;
    struct corpus in, out;
    uint64_t size[MOST_K + 1];                     /* bits, at capacity */
    uint64_t wrong[MOST_K + 1], early[MOST_K + 1]; /* full; less so */
    double seconds[MOST_K + 1][2];
};

static void measure(void *of, unsigned i)
{
    struct choice *c = of;
    const struct urls *urls = c->lab->urls;
    unsigned k = i + 1;
    struct seen_plan plan = { .kind = "bloom",
                              .profile = "raw",
                              .capacity = (uint64_t)c->capacity,
                              .rate = c->rate,
                              .probes = k };
    struct seen_filter *f = lab_filter(&plan);

    c->size[k] = seen_filter_plan(f)->bits;
    seen_filter_free(f);
    plan.capacity = c->n;
    plan.rate = 0;
    plan.bits = (uint64_t)c->bits;
    plan.seed = c->lab->seed + i;
    plan.over = true;
    f = lab_filter(&plan);
    lab_add(f, urls, 0, c->held, NULL);
    c->early[k] = lab_ask(f, urls, c->n, c->n + c->asked, NULL);
    lab_add(f, urls, c->held, c->n, NULL);
    c->wrong[k] = lab_ask(f, urls, c->n, c->n + c->asked, NULL);
    seen_filter_free(f);
}

static void measure_time(void *of, unsigned i)
{
    struct choice *c = of;
    unsigned k = i + 1;
    struct seen_plan plan = { .kind = "bloom",
                              .profile = "raw",
                              .capacity = c->n,
                              .rate = c->rate,
                              .probes = k,
                              .seed = c->lab->seed };
    struct seen_filter *f = lab_filter(&plan);

    lab_add(f, c->lab->urls, 0, c->n, NULL);
    c->seconds[k][0] = corpus_ask(&c->in, f, 1);
    c->seconds[k][1] = corpus_ask(&c->out, f, 1);
    seen_filter_free(f);
}

static unsigned least(const struct choice *c)
{
    unsigned k = 1;

    for (unsigned i = 2; i <= MOST_K; i++)
        if (c->size[i] < c->size[k])
            k = i;
    return k;
}

static unsigned lowest(const uint64_t *wrong)
{
    unsigned k = 1;

    for (unsigned i = 2; i <= MOST_K; i++)
        if (wrong[i] < wrong[k])
            k = i;
    return k;
}

static void put_sizes(const struct choice *c, struct section *s)
{
    const struct paper_table *p = paper_table("archives-table-1");
    struct table *t = section_table(
        s, "archives-choice-of-k-size",
        "Megabytes for %.0f URLs at %g %%, and nanoseconds per question at "
        "%s URLs",
        c->capacity, 100 * c->rate, lab_count((double)c->n));
    struct plot *plot;

    table_columns(t, "k", COMPARED, "held, ns", "absent, ns", NULL);
    for (unsigned k = 1; k <= MOST_K; k++) {
        double m = bits_for(c->capacity, c->rate, k);
        struct band lines = { (m - 512) / 8e6, (m + 512) / 8e6 };
        struct finding f = band_finding(m / 8e6, lines,
                                        (double)c->size[k] / 8e6, 2);

        f.their_low = f.their_high = m / 8e6;
        if (k == c->theirs)
            f.published = paper_number(p, paper_row(p, "filter_megabytes"), 3,
                                       &f.step);
        table_number(t, k, 0);
        table_finding(t, &f);
        table_number(t, 1e9 * c->seconds[k][0], 0);
        table_number(t, 1e9 * c->seconds[k][1], 0);
    }
    plot = section_plot(s, "archives-choice-of-k-plot", "hash functions k",
                        "megabytes", LOG_Y, "Size for %.0f URLs at %g %%",
                        c->capacity, 100 * c->rate);
    plot_series(plot, LINES_POINTS, "bloom");
    for (unsigned k = 1; k <= MOST_K; k++)
        plot_point(plot, k, (double)c->size[k] / 8e6);
}

static void put_rates(const struct choice *c, struct section *s, bool full)
{
    uint64_t n = full ? c->n : c->held;
    struct table *t = section_table(
        s, full ? "archives-choice-of-k-rate" : "archives-choice-of-k-held",
        "Percent of false positives in the bits of k = %u, with %s URLs",
        c->theirs, lab_count((double)n));

    table_columns(t, "k", COMPARED, NULL);
    for (unsigned k = 1; k <= MOST_K; k++) {
        uint64_t wrong = full ? c->wrong[k] : c->early[k];
        struct finding f = band_percent(
            theory_rate((double)n, floor(c->bits), k),
            rate_band((double)n, floor(c->bits), k, (double)c->asked),
            (double)wrong / (double)c->asked, 3);

        table_number(t, k, 0);
        table_finding(t, &f);
    }
}

static void conclude(const struct choice *c, struct section *s)
{
    double asked = (double)c->asked / 100;
    unsigned best = least(c), lower = lowest(c->wrong);
    unsigned early = lowest(c->early);

    section_text(
        s,
        "At %g %% the least memory is that of k = %u: %.1f MB, where "
        "k = %u takes %.1f, %.1f %% more. In the bits of the latter "
        "k = %u gives %.3f %% when full, and the best measured, k = %u, "
        "%.3f %%; with the %.0f %% of URLs that the index had, it is "
        "%.3f %% against %.3f %% with k = %u. So k = %u is %s for "
        "%g %%. (-log2 of the rate is %.2f; of the %g %% of Figure 3, "
        "%.2f.)",
        100 * c->rate, best, (double)c->size[best] / 8e6, c->theirs,
        (double)c->size[c->theirs] / 8e6,
        100 * ((double)c->size[c->theirs] / (double)c->size[best] - 1),
        c->theirs, (double)c->wrong[c->theirs] / asked, lower,
        (double)c->wrong[lower] / asked, 100 * (double)c->held / (double)c->n,
        (double)c->early[c->theirs] / asked, (double)c->early[early] / asked,
        early, c->theirs, c->theirs == best ? "optimal" : "not optimal",
        100 * c->rate, -log2(c->rate),
        100 * said("figure_3_4_target_rate", NULL),
        -log2(said("figure_3_4_target_rate", NULL)));
    section_text(
        s,
        "In return it has fewer probes: a lookup of a present URL took %.0f "
        "ns with k = %u and %.0f ns with k = %u, of an absent one %.0f and "
        "%.0f ns.",
        1e9 * c->seconds[c->theirs][0], c->theirs, 1e9 * c->seconds[best][0],
        best, 1e9 * c->seconds[c->theirs][1], 1e9 * c->seconds[best][1]);
}

void archives_choice_of_k(struct lab *lab, struct section *s)
{
    struct choice c = { .lab = lab,
                        .capacity = said_in_text("table_1_capacity"),
                        .rate = said_in_text("table_1_rate"),
                        .theirs = (unsigned)said_in_text("table_1_k") };

    section_text(s,
                 "For %s URLs at %g %% the report's library selected %u hash "
                 "functions \"for optimal operation\".",
                 lab_count(c.capacity), 100 * c.rate, c.theirs);
    c.n = corpus_enough(lab, s,
                        lab_n(lab, 400000, 4000000, (uint64_t)c.capacity), 3,
                        LEAST_URLS);
    c.held = (uint64_t)(said_entries() / c.capacity * (double)c.n);
    c.asked = enough_absent(c.n, 2);
    c.bits = bits_for((double)c.n, c.rate, c.theirs);
    lab_each(lab, "rates by k", MOST_K, measure, &c);
    corpus_init(&c.in, lab->urls, 0, c.n < TIMED ? c.n : TIMED);
    corpus_init(&c.out, lab->urls, c.n, c.in.n);
    lab_alone(lab, "times by k", MOST_K, measure_time, &c);
    put_sizes(&c, s);
    put_rates(&c, s, false);
    put_rates(&c, s, true);
    conclude(&c, s);
    corpus_clear(&c.in);
    corpus_clear(&c.out);
}
