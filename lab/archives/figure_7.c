/*
 * figure_7.c - the first hex digit of the MD5 chooses one of 16 filters.
 *
 * Is each filter as likely? Chi-square over the filters shows it, for the
 * report's rule (routed:16,md5) and for ours, the top bits of the key. And
 * what does a lookup cost, compared with one filter and with an array in which
 * all are asked?
 */
#include "archives.h"

#include <string.h>

#include "../corpus.h"

enum { PARTS = 16, BATCH = 256, TIMED = 20000, KINDS = 4 };

struct figure {
    struct lab *lab;
    uint64_t n;
    uint64_t count[2][PARTS]; /* md5, ours */
    struct corpus in, out;
    double seconds[KINDS][2];
};

static const char *const rule[2] = { "routed:16,md5/bloom",
                                     "routed:16/bloom" };
static const char *const kind[KINDS] = { "bloom", "routed:16,md5/bloom",
                                         "routed:16/bloom",
                                         "dynamic:16/bloom" };

static struct seen_filter *make(const struct figure *f, const char *of)
{
    struct seen_plan plan = { .profile = "raw",
                              .capacity = f->n,
                              .rate = said("figure_5_single_rate", NULL),
                              .seed = f->lab->seed,
                              .over = true };

    snprintf(plan.kind, sizeof plan.kind, "%s", of);
    return lab_filter(&plan);
}

static unsigned route(const struct seen_filter *f, const char *url, size_t len)
{
    struct seen_key key;
    struct seen_error why;
    unsigned part;

    seen_key_hash(&key, url, len);
    lab_must(seen_filter_route(f, &key, &part, &why), &why);
    return part;
}

static void count(void *of, unsigned i)
{
    struct figure *f = of;
    struct seen_filter *filter = make(f, rule[i]);
    char url[URL_MOST];

    for (uint64_t j = 0; j < f->n; j++) {
        size_t len = urls_get(f->lab->urls, j, url);

        f->count[i][route(filter, url, len)]++;
    }
    seen_filter_free(filter);
}

static void measure_time(void *of, unsigned i)
{
    struct figure *f = of;
    struct seen_filter *filter = make(f, kind[i]);

    lab_add(filter, f->lab->urls, 0, f->n, NULL);
    f->seconds[i][0] = corpus_ask(&f->in, filter, 1);
    f->seconds[i][1] = corpus_ask(&f->out, filter, 1);
    seen_filter_free(filter);
}

static double chi_square(const uint64_t *count, double n)
{
    double sum = 0, each = n / PARTS;

    for (unsigned i = 0; i < PARTS; i++)
        sum += ((double)count[i] - each) * ((double)count[i] - each) / each;
    return sum;
}

static void put(const struct figure *f, struct section *s)
{
    struct table *t = section_table(s, "archives-figure-7",
                                    "Figure 7: where %s URLs go",
                                    lab_count((double)f->n));
    struct band band = band_chi_square(PARTS - 1);

    table_columns(t, "filter", "by MD5", "from the mean, %", "by the key",
                  "from the mean, %", NULL);
    for (unsigned i = 0; i < PARTS; i++) {
        table_text(t, "%x", i);
        for (int j = 0; j < 2; j++) {
            table_number(t, (double)f->count[j][i], 0);
            table_number(
                t, 100 * ((double)f->count[j][i] * PARTS / (double)f->n - 1),
                3);
        }
    }
    t = section_table(s, "archives-figure-7-even",
                      "Figure 7: chi-square of %u filters", PARTS);
    table_columns(t, "rule", COMPARED, NULL);
    for (int j = 0; j < 2; j++) {
        struct finding finding = band_finding(
            PARTS - 1, band, chi_square(f->count[j], (double)f->n), 2);

        table_text(t, "%s", rule[j]);
        table_finding(t, &finding);
    }
    t = section_table(s, "archives-figure-7-time",
                      "Nanoseconds per question, one URL at a time, %s URLs",
                      lab_count((double)f->n));
    table_columns(t, "structure", "held", "absent", NULL);
    for (unsigned i = 0; i < KINDS; i++) {
        table_text(t, "%s", kind[i]);
        table_number(t, 1e9 * f->seconds[i][0], 0);
        table_number(t, 1e9 * f->seconds[i][1], 0);
    }
}

/* The report's example; true if its filter is the one in the report. */
static bool example(const struct figure *f, struct section *s)
{
    const struct paper_table *p = paper_table("archives-figures");
    const char *url = paper_text(p, paper_row(p, "figure_7_url"), 1);
    struct seen_filter *filter = make(f, rule[0]);
    unsigned part = route(filter, url, strlen(url));
    double claimed = said("figure_7_filter", NULL);
    struct finding finding = band_finding(
        NAN, (struct band){ claimed, claimed }, part, 0);
    struct table *t = section_table(s, "archives-figure-7-url",
                                    "Figure 7: the filter of one URL");

    finding.published = claimed;
    table_columns(t, "URL", COMPARED, NULL);
    table_text(t, "%s", url);
    table_finding(t, &finding);
    seen_filter_free(filter);
    return part == (unsigned)claimed;
}

static bool even(const struct figure *f, int j)
{
    struct band band = band_chi_square(PARTS - 1);
    double x = chi_square(f->count[j], (double)f->n);

    return x >= band.low && x <= band.high;
}

static void conclude(const struct figure *f, struct section *s, bool same)
{
    double md5 = f->seconds[1][1] - f->seconds[2][1];
    uint64_t most = 0;

    for (unsigned i = 0; i < PARTS; i++)
        most = f->count[0][i] > most ? f->count[0][i] : most;
    section_text(
        s,
        "The report's URL goes %s. The fullest filter by MD5 has %.3f "
        "%% more than its share, and chi-square (%.1f; %.1f for the "
        "key's own bits) is %s. (A plan of ours has room in each part "
        "for five standard deviations more than its share, here %.2f "
        "%%.)",
        same ? "where the report says" : "elsewhere",
        100 * ((double)most * PARTS / (double)f->n - 1),
        chi_square(f->count[0], (double)f->n),
        chi_square(f->count[1], (double)f->n),
        even(f, 0) && even(f, 1) ? "what an even choice gives"
                                 : "not what an even choice gives",
        500 * sqrt(PARTS / (double)f->n));
    section_text(
        s,
        "A lookup goes to one filter of %u: it took %.0f ns for an absent "
        "URL, %.0f ns %s than where the key's own bits choose; one filter for "
        "all took %.0f ns, and the array in which all are asked %.0f.",
        PARTS, 1e9 * f->seconds[1][1], 1e9 * fabs(md5),
        md5 < 0 ? "less" : "more", 1e9 * f->seconds[0][1],
        1e9 * f->seconds[3][1]);
}

void archives_figure_7(struct lab *lab, struct section *s)
{
    struct figure f = { .lab = lab };
    bool same;

    section_text(
        s,
        "%.0f filters; the first hexadecimal digit of a URL's MD5 chooses "
        "one. The report expects equal numbers of URLs in all of them, and "
        "one filter per lookup.",
        said("routed_filters", NULL));
    f.n = corpus_enough(
        lab, s,
        lab_n(lab, 1000000, 10000000, (uint64_t)said("collection_urls", NULL)),
        1.2, LEAST_URLS);
    lab_each(lab, "routing", 2, count, &f);
    corpus_init(&f.in, lab->urls, 0, f.n / 6 < TIMED ? f.n / 6 : TIMED);
    corpus_init(&f.out, lab->urls, f.n, f.in.n);
    lab_alone(lab, "times of routing", KINDS, measure_time, &f);
    same = example(&f, s);
    put(&f, s);
    conclude(&f, s, same);
    corpus_clear(&f.in);
    corpus_clear(&f.out);
}
