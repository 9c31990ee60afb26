/*
 * choice_of_k.c - five hash functions for one percent?
 *
 * For a rate p the least memory is that of k = -log2 p. What does another k
 * cost: in bytes at the same rate, in rate at the same bytes, and in time?
 */
#include "archives.h"

#include "../corpus.h"
#include "../noise.h"

enum { MOST_K = 12, TIMED = 20000, ROUNDS = 5 };

struct choice {
    struct lab *lab;
    double capacity, rate;
    unsigned theirs;
    double bits; /* of the k of the report, at the size of the lab */
    uint64_t n, held, asked;
    struct corpus in, out;
    uint64_t size[MOST_K + 1];                     /* bits, at capacity */
    uint64_t wrong[MOST_K + 1], early[MOST_K + 1]; /* full; less so */
    double seconds[MOST_K + 1][2][ROUNDS]; /* of present ones, absent ones */
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

/* All k of a round, then the next round: what disturbs the machine for a while
   does not disturb one k alone. */
static void measure_time(void *of, unsigned i)
{
    struct choice *c = of;
    unsigned k = i % MOST_K + 1, round = i / MOST_K;
    struct seen_plan plan = { .kind = "bloom",
                              .profile = "raw",
                              .capacity = c->n,
                              .rate = c->rate,
                              .probes = k,
                              .seed = c->lab->seed };
    struct seen_filter *f = lab_filter(&plan);

    lab_add(f, c->lab->urls, 0, c->n, NULL);
    c->seconds[k][0][round] = corpus_ask(&c->in, f, 1);
    c->seconds[k][1][round] = corpus_ask(&c->out, f, 1);
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

/* The rates of all k, full or less so. */
static void estimate_rates(const struct choice *c, bool full,
                           struct noisy rate[MOST_K])
{
    double n = (double)(full ? c->n : c->held), asked = (double)c->asked;

    for (unsigned k = 1; k <= MOST_K; k++)
        rate[k - 1] = noise_share(
            (double)(full ? c->wrong[k] : c->early[k]) / asked, asked,
            theory_spread(n, floor(c->bits), k), 1);
}

static void describe_lowest(const struct choice *c, bool full, char *to,
                            size_t room)
{
    struct noisy rate[MOST_K];

    estimate_rates(c, full, rate);
    describe_lowest_rate(rate, MOST_K, to, room);
}

static struct noisy time_of(const struct choice *c, unsigned k, int absent)
{
    return noise_times(c->seconds[k][absent], ROUNDS);
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
        table_number(t, 1e9 * time_of(c, k, 0).value, 0);
        table_number(t, 1e9 * time_of(c, k, 1).value, 0);
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

/* What the report's library selects: FilterBuilder.optimalM() and optimalK()
   of github.com/Baqend/Orestes-Bloomfilter, which round both up. */
static unsigned orestes_k(double n, double rate)
{
    return (unsigned)ceil(log(2) * ceil(least_bits(n, rate)) / n);
}

static void describe_orestes(const struct choice *c, struct section *s)
{
    double other = said("figure_3_4_target_rate", NULL);
    unsigned selects = orestes_k(c->capacity, c->rate);

    section_text(
        s,
        "The library's own source (Orestes, FilterBuilder.optimalK) rounds "
        "(m/n) ln 2 up: k = %u for %g %% and %u for the %g %% of Figures 3 "
        "and 4. So the report's k = %u is %s it selects for %g %%, and its "
        "bits would then be %.1f MB, where Table 1 has the %.0f MB that %g %% "
        "takes with k = %u.",
        selects, 100 * c->rate, orestes_k(c->capacity, other), 100 * other,
        c->theirs, selects == c->theirs ? "what" : "not what", 100 * c->rate,
        ceil(least_bits(c->capacity, c->rate)) / 8e6,
        (double)c->size[c->theirs] / 8e6, 100 * c->rate, c->theirs);
}

static const char *compared(const struct noisy *a, const struct noisy *b)
{
    int which = noise_compare(a, b);

    return which < 0   ? "faster, beyond the noise"
           : which > 0 ? "slower, beyond the noise"
                       : NO_DIFFERENCE;
}

static void describe_times(const struct choice *c, struct section *s,
                           unsigned best)
{
    struct noisy one[2], other[2];

    for (int absent = 0; absent < 2; absent++) {
        one[absent] = time_of(c, c->theirs, absent);
        other[absent] = time_of(c, best, absent);
    }
    section_text(
        s,
        "In return it has fewer probes: a lookup of a present URL took %.0f "
        "ns with k = %u and %.0f ns with k = %u (%s), of an absent one %.0f "
        "and %.0f ns (%s). These are means of %u rounds.",
        1e9 * one[0].value, c->theirs, 1e9 * other[0].value, best,
        compared(&one[0], &other[0]), 1e9 * one[1].value, 1e9 * other[1].value,
        compared(&one[1], &other[1]), ROUNDS);
}

static void conclude(const struct choice *c, struct section *s)
{
    double asked = (double)c->asked / 100;
    unsigned best = least(c);
    char full[192], early[192];

    describe_lowest(c, true, full, sizeof full);
    describe_lowest(c, false, early, sizeof early);
    section_text(
        s,
        "At %g %% the least memory is that of k = %u: %.1f MB, where "
        "k = %u takes %.1f, %.1f %% more. So k = %u is %s for %g %%. "
        "(-log2 of the rate is %.2f; of the %g %% of Figure 3, %.2f.)",
        100 * c->rate, best, (double)c->size[best] / 8e6, c->theirs,
        (double)c->size[c->theirs] / 8e6,
        100 * ((double)c->size[c->theirs] / (double)c->size[best] - 1),
        c->theirs, c->theirs == best ? "optimal" : "not optimal",
        100 * c->rate, -log2(c->rate),
        100 * said("figure_3_4_target_rate", NULL),
        -log2(said("figure_3_4_target_rate", NULL)));
    section_text(
        s,
        "In the bits of k = %u that k gives %.3f %% when full; of all k "
        "the lowest is %s. "
        "With the %.0f %% of URLs that the index had it gives %.3f %%; the "
        "lowest is %s.",
        c->theirs, (double)c->wrong[c->theirs] / asked, full,
        100 * (double)c->held / (double)c->n,
        (double)c->early[c->theirs] / asked, early);
    section_headline(
        s,
        "For %g %% the report has k = %u, which takes %.1f %% more memory "
        "than k = %u. Its library's own source would select %u.",
        100 * c->rate, c->theirs,
        100 * ((double)c->size[c->theirs] / (double)c->size[best] - 1), best,
        orestes_k(c->capacity, c->rate));
    describe_orestes(c, s);
    describe_times(c, s, best);
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
    lab_alone(lab, "times by k", ROUNDS * MOST_K, measure_time, &c);
    put_sizes(&c, s);
    put_rates(&c, s, false);
    put_rates(&c, s, true);
    conclude(&c, s);
    corpus_clear(&c.in);
    corpus_clear(&c.out);
}
