/*
 * figure_5.c - an array of equal filters that are all asked.
 *
 * A lookup is wrong if any of N filters is: 1 - (1 - p)^N. `dynamic:N` is such
 * an array, kept for comparison. It is measured when exactly N of its filters
 * are full. `growing`, whose filters get tighter one after the other, is
 * measured beside it with as many URLs.
 */
#include "archives.h"

#include <stdlib.h>

#include "../corpus.h"

enum { MOST = 64, BATCH = 64 };

struct array {
    struct lab *lab;
    uint64_t each, asked, first_absent;
    unsigned filters;
    double rate;
    /* Found, with 1 to `filters` of them full: */
    uint64_t urls[MOST], wrong[MOST], bytes[MOST];
    unsigned parts[MOST];
    double bits;
    unsigned k;
};

static void look(struct array *a, const struct seen_filter *f, unsigned i,
                 uint64_t urls)
{
    a->urls[i] = urls;
    a->wrong[i] = lab_ask(f, a->lab->urls, a->first_absent,
                          a->first_absent + a->asked, NULL);
    a->bytes[i] = seen_filter_bytes(f);
    a->parts[i] = seen_filter_parts(f);
}

/* Fill one filter after the other: one is full when the next begins. */
static void fill_dynamic(struct array *a)
{
    struct seen_plan plan = { .profile = "raw",
                              .capacity = a->each * (a->filters + 1),
                              .rate = a->rate,
                              .seed = a->lab->seed,
                              .tight = true };
    const struct seen_plan *part;
    struct seen_filter *f;
    uint64_t at = 0;

    snprintf(plan.kind, sizeof plan.kind, "dynamic:%u/bloom", a->filters + 1);
    f = lab_filter(&plan);
    part = seen_filter_plan(seen_filter_part(f, 0));
    a->bits = (double)part->bits;
    a->k = part->probes;
    for (unsigned i = 0; i < a->filters; i++) {
        for (; seen_filter_parts(f) == i + 1; at += BATCH) {
            if (at + BATCH > a->first_absent)
                lab_fail("%u filters of %llu URLs are not full after %llu",
                         i + 1, (unsigned long long)a->each,
                         (unsigned long long)at);
            lab_add(f, a->lab->urls, at, at + BATCH, NULL);
        }
        look(a, f, i, at);
    }
    seen_filter_free(f);
}

static void fill_growing(struct array *a)
{
    struct seen_plan plan = { .kind = "growing/bloom",
                              .profile = "raw",
                              .capacity = a->each,
                              .rate = a->rate,
                              .seed = a->lab->seed };
    struct seen_filter *f = lab_filter(&plan);
    uint64_t at = 0;

    for (unsigned i = 0; i < a->filters; i++) {
        uint64_t to = a->each * (i + 1);

        lab_add(f, a->lab->urls, at, to, NULL);
        at = to;
        look(a, f, i, at);
    }
    seen_filter_free(f);
}

static void fill(void *of, unsigned i)
{
    struct array *a = of;

    if (i)
        fill_growing(&a[1]);
    else
        fill_dynamic(&a[0]);
}

/* The rate of N full filters, and how far it may be from that. */
static double theory(const struct array *a, unsigned filters,
                     struct band *band)
{
    double p = theory_rate((double)a->each, a->bits, a->k);
    double all = -expm1(filters * log1p(-p));
    double spread = theory_spread((double)a->each, a->bits, a->k) *
                    sqrt(filters) * pow(1 - p, filters - 1);

    *band = band_share(all, (double)a->asked, spread, 1);
    return all;
}

static double rate(const struct array *a, unsigned i)
{
    return (double)a->wrong[i] / (double)a->asked;
}

static void put(const struct array *a, struct section *s)
{
    unsigned claimed = (unsigned)said("figure_5_filters", NULL);
    struct table *t = section_table(
        s, "archives-figure-5",
        "Figure 5: an array of filters of %s URLs and %g %% each; percent "
        "of false positives",
        lab_count((double)a->each), 100 * a->rate);
    struct plot *p;

    table_columns(t, "filters", "URLs", COMPARED, "growing", NULL);
    for (unsigned i = 0; i < a->filters; i++) {
        struct band band;
        double all = theory(a, i + 1, &band), step;
        struct finding f = band_percent(all, band, rate(a, i), 2);

        if (i + 1 == claimed) {
            f.published = 100 * said("figure_5_aggregate_rate", &step);
            f.step = 100 * step;
            /* It was computed, not measured: it should equal theory. */
            f.their_low = f.their_high =
                100 *
                -expm1(claimed * log1p(-said("figure_5_single_rate", NULL)));
        }
        table_number(t, i + 1, 0);
        table_number(t, (double)a->urls[i], 0);
        table_finding(t, &f);
        table_number(t, 100 * rate(&a[1], i), 2);
    }
    p = section_plot(s, "archives-figure-5-plot", "full filters",
                     "false positives, percent", LOG_Y,
                     "Figure 5: the rate of an array of filters");
    plot_series(p, POINTS, "dynamic, measured");
    for (unsigned i = 0; i < a->filters; i++)
        plot_point(p, i + 1, 100 * rate(a, i));
    plot_series(p, LINES, "theory");
    for (unsigned i = 0; i < a->filters; i++) {
        struct band band;

        plot_point(p, i + 1, 100 * theory(a, i + 1, &band));
    }
    plot_series(p, POINTS, "growing, measured");
    for (unsigned i = 0; i < a->filters; i++)
        plot_point(p, i + 1, 100 * rate(&a[1], i));
}

static void conclude(const struct array *a, struct section *s)
{
    unsigned last = a->filters - 1;
    double n = (double)a->filters * (double)a->each;
    double single = -expm1(log1p(-a->rate) / a->filters);

    section_text(
        s,
        "%u full filters are wrong for %.2f %% of absent URLs. To keep %g %% "
        "an array needs %.4f %% in each filter, %.2f bits per URL where %g %% "
        "takes %.2f. `growing` is planned for its rate whatever the number of "
        "URLs (measured: %.2f %% in %u filters) and took %.2f bits for each "
        "of %s URLs, the room in its last filter included.",
        a->filters, 100 * rate(a, last), 100 * a->rate, 100 * single,
        least_bits(1, single), 100 * a->rate, least_bits(1, a->rate),
        100 * rate(&a[1], last), a[1].parts[last],
        8 * (double)a[1].bytes[last] / n, lab_count(n));
    section_text(
        s,
        "Our array took %s URLs until all filters were full, where %s fill "
        "them: a URL that is a false positive of an earlier filter is not "
        "stored again. So an array that is asked first fills more slowly than "
        "by the report's rule, at the price of its false positives.",
        lab_count((double)a->urls[last]), lab_count(n));
}

void archives_figure_5(struct lab *lab, struct section *s)
{
    struct array a[2] = { { .lab = lab } }; /* dynamic, growing */
    double claimed = said("figure_5_filters", NULL);

    section_text(
        s,
        "An array of equal filters, where one gets new URLs and all are "
        "asked, is wrong whenever one filter is: the report estimates %.0f %% "
        "for %.0f filters of %.0f %%.",
        100 * said("figure_5_aggregate_rate", NULL), claimed,
        100 * said("figure_5_single_rate", NULL));
    a[0].filters = (unsigned)fmin(claimed, MOST);
    a[0].rate = said("figure_5_single_rate", NULL);
    a[0].each = corpus_enough(lab, s, lab_n(lab, 40000, 400000, 2000000),
                              2.5 * a[0].filters, LEAST_URLS);
    a[0].first_absent = (uint64_t)(1.5 * (double)a[0].each * a[0].filters);
    a[0].asked = a[0].each * a[0].filters / 2;
    a[1] = a[0];
    lab_each(lab, "arrays of filters", 2, fill, a);
    put(a, s);
    conclude(a, s);
}
