/*
 * ten_years.c - an archive that grows: four ways to prepare for it.
 *
 *     one        a filter for all that will ever come
 *     routed     the same in 16 parts, the report's proposal
 *     dynamic    a filter more every year, all are asked
 *     growing    a larger, tighter filter when the last is full
 *
 * Memory and rate, year by year, as the collection grows from the report's
 * 800 million URLs by 200 million per year. The lab uses a smaller year. The
 * first two never change, and are planned at the report's size as well, where
 * untouched cells use no memory: the room that routing leaves in each part is
 * five standard deviations, which matters in small filters only. The memory of
 * the others is converted.
 */
#include "archives.h"

#include "../corpus.h"

enum { WAYS = 4, MOST_YEARS = 20 };

static const char *const way[WAYS] = { "one", "routed", "dynamic", "growing" };

struct decade {
    struct lab *lab;
    double first, year; /* the report's */
    double rate;
    unsigned years, filters;
    uint64_t unit, asked, first_absent;
    /* Found: */
    uint64_t wrong[WAYS][MOST_YEARS + 1], bytes[WAYS][MOST_YEARS + 1];
    double expected[WAYS][MOST_YEARS + 1], spread[WAYS][MOST_YEARS + 1];
    unsigned parts[WAYS][MOST_YEARS + 1];
    double whole[2]; /* bytes at the report's size: one, routed */
};

static uint64_t held(const struct decade *d, unsigned year)
{
    return (uint64_t)((d->first / d->year + year) * (double)d->unit);
}

/* The filter of structure i, if the archive grows by `unit` URLs per year. */
static struct seen_filter *make(const struct decade *d, unsigned i,
                                uint64_t unit)
{
    struct seen_plan plan = { .profile = "raw",
                              .capacity = unit * d->filters,
                              .rate = d->rate,
                              .seed = d->lab->seed };

    switch (i) {
    case 0: snprintf(plan.kind, sizeof plan.kind, "bloom"); break;
    case 1:
        snprintf(plan.kind, sizeof plan.kind, "routed:%u,md5/bloom",
                 d->filters);
        break;
    case 2:
        snprintf(plan.kind, sizeof plan.kind, "dynamic:%u/bloom", d->filters);
        plan.tight = true;
        break;
    default:
        snprintf(plan.kind, sizeof plan.kind, "growing/bloom");
        plan.capacity = held(d, 0);
    }
    return lab_filter(&plan);
}

/*
 * What theory expects of the filter now. For `one` and `routed` that is the
 * formula. How many URLs are in each filter of the others depends on earlier
 * false positives, so their set bits are counted.
 */
static double expect(const struct decade *d, const struct seen_filter *f,
                     unsigned i, unsigned year, double *spread)
{
    const struct seen_filter *leaf = i ? seen_filter_part(f, 0) : f;
    const struct seen_plan *p = seen_filter_plan(leaf);
    double n = (double)held(d, year);

    *spread = 0;
    if (i > 1)
        return seen_filter_rate(f);
    if (i)
        n /= d->filters;
    *spread = theory_spread(n, (double)p->bits, p->probes) /
              (i ? sqrt(d->filters) : 1);
    return theory_rate(n, (double)p->bits, p->probes);
}

static void live(void *of, unsigned i)
{
    struct decade *d = of;
    const struct urls *urls = d->lab->urls;
    struct seen_filter *f;
    uint64_t at = 0;

    if (i < 2) {
        f = make(d, i, (uint64_t)d->year);
        d->whole[i] = (double)seen_filter_bytes(f);
        seen_filter_free(f);
    }
    f = make(d, i, d->unit);

    for (unsigned y = 0; y <= d->years; y++) {
        lab_add(f, urls, at, held(d, y), NULL);
        at = held(d, y);
        d->wrong[i][y] = lab_ask(f, urls, d->first_absent,
                                 d->first_absent + d->asked, NULL);
        d->bytes[i][y] = seen_filter_bytes(f);
        d->parts[i][y] = seen_filter_parts(f);
        d->expected[i][y] = expect(d, f, i, y, &d->spread[i][y]);
    }
    seen_filter_free(f);
}

static double rate(const struct decade *d, unsigned i, unsigned year)
{
    return (double)d->wrong[i][year] / (double)d->asked;
}

static double gigabytes(const struct decade *d, unsigned i, unsigned year)
{
    if (i < 2)
        return d->whole[i] / 1e9;
    return (double)d->bytes[i][year] * d->year / (double)d->unit / 1e9;
}

static void put(const struct decade *d, struct section *s)
{
    struct table *t = section_table(
        s, "archives-ten-years",
        "Gigabytes and percent of false positives, %.0f URLs and %.0f more "
        "every year, %g %% planned (measured with %s per year)",
        d->first, d->year, 100 * d->rate, lab_count((double)d->unit));
    struct plot *p;

    table_columns(t, "structure", "year", "URLs, millions", "filters", "GB",
                  COMPARED, NULL);
    for (unsigned i = 0; i < WAYS; i++)
        for (unsigned y = 0; y <= d->years; y++) {
            struct band band = band_share(d->expected[i][y], (double)d->asked,
                                          d->spread[i][y], 1);
            struct finding f = band_percent(d->expected[i][y], band,
                                            rate(d, i, y), 3);

            table_text(t, "%s", way[i]);
            table_number(t, y, 0);
            table_number(t, (d->first + y * d->year) / 1e6, 0);
            table_number(t, d->parts[i][y] ? d->parts[i][y] : 1, 0);
            table_number(t, gigabytes(d, i, y), 2);
            table_finding(t, &f);
        }
    p = section_plot(s, "archives-ten-years-rate-plot", "year",
                     "false positives, percent", LOG_Y,
                     "The rate, year by year");
    for (unsigned i = 0; i < WAYS; i++) {
        plot_series(p, LINES_POINTS, "%s", way[i]);
        for (unsigned y = 0; y <= d->years; y++)
            plot_point(p, y, 100 * rate(d, i, y));
    }
    p = section_plot(s, "archives-ten-years-memory-plot", "year", "gigabytes",
                     0, "Memory, year by year");
    for (unsigned i = 0; i < WAYS; i++) {
        plot_series(p, LINES_POINTS, "%s", way[i]);
        for (unsigned y = 0; y <= d->years; y++)
            plot_point(p, y, gigabytes(d, i, y));
    }
}

static void conclude(const struct decade *d, struct section *s)
{
    unsigned y = d->years;
    double p = rate(d, 1, y);

    section_text(
        s,
        "After %u years the report's %u routed filters are wrong for %.2f %% "
        "of absent URLs, %s what it says, in %.2f GB from the first day on; "
        "one filter for as many has %.2f %% in %.2f GB. What routing costs at "
        "this size is %.3f %% of memory, as each part has room for five "
        "standard deviations more than its share, and the time of its MD5 "
        "(archives-figure-7); in return its files can be moved one by one. The dynamic array begins with %.2f GB, ends "
        "with %.2f GB and is wrong for %.1f %%. `growing` begins with %.2f "
        "GB, ends with %.2f GB, and is wrong for %.2f %% in the last year, "
        "where %g %% is planned for any length: it is %s.",
        y, d->filters, 100 * p,
        p <= said_in_text("growth_high_rate") ? "within" : "not within",
        gigabytes(d, 1, y), 100 * rate(d, 0, y), gigabytes(d, 0, y),
        100 * (gigabytes(d, 1, y) / gigabytes(d, 0, y) - 1),
        gigabytes(d, 2, 0), gigabytes(d, 2, y), 100 * rate(d, 2, y),
        gigabytes(d, 3, 0), gigabytes(d, 3, y), 100 * rate(d, 3, y),
        100 * d->rate,
        rate(d, 3, y) <= d->rate
            ? "paid for in memory, and the right choice if growth "
              "is a guess"
            : "over its plan here");
    section_headline(
        s,
        "For an archive that grows for %u years %u routed filters keep their "
        "promise (%.2f %%), for %.3f %% more memory than one filter. A new "
        "filter each year errs for %.0f %%, `growing` for %.2f %%.",
        y, d->filters, 100 * p,
        100 * (gigabytes(d, 1, y) / gigabytes(d, 0, y) - 1),
        100 * rate(d, 2, y), 100 * rate(d, 3, y));
    section_text(
        s,
        "The room of the %u filters ends at %.0f million URLs, %.0f "
        "years from the start. A second filter for each, %.0f in all, "
        "would then err for up to %.2f %%, since two are asked.",
        d->filters, d->filters * d->year / 1e6,
        d->filters - d->first / d->year, said_in_text("filters_later"),
        100 * -expm1(2 * log1p(-d->rate)));
}

void archives_ten_years(struct lab *lab, struct section *s)
{
    struct decade d = {
        .lab = lab,
        .first = said("collection_urls", NULL),
        .year = said("growth_per_year", NULL),
        .rate = said_in_text("growth_low_rate"),
        .years = (unsigned)fmin(said_in_text("growth_years"), MOST_YEARS),
        .filters = (unsigned)said("routed_filters", NULL),
    };
    double most = d.first / d.year + d.years;

    section_text(
        s,
        "The collection has %s URLs and grows by %s per year. With "
        "%u filters made now, and a URL's MD5 choosing one, the report "
        "expects a rate of %.0f to %.0f %% or less for the next %u "
        "years without any change.",
        lab_count(d.first), lab_count(d.year), d.filters, 100 * d.rate,
        100 * said_in_text("growth_high_rate"), d.years);
    d.unit = corpus_enough(lab, s,
                           lab_n(lab, 60000, 1000000, (uint64_t)d.year),
                           most + 5, LEAST_URLS);
    d.first_absent = held(&d, d.years);
    d.asked = enough_absent(d.unit, 5);
    lab_each(lab, "ten years", WAYS, live, &d);
    put(&d, s);
    conclude(&d, s);
}
