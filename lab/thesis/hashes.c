/*
 * hashes.c - Tables 5.1 to 5.8: four hash functions, salted or distinct.
 *
 * All filters are the library's: "bloom:md5" hashes k times with salts,
 * "bloom:jenkins+murmur" takes another function for each probe. A filter is
 * filled by a crawl, which gives the incremental tables, and is then full and
 * asked for as many others, which gives the non-incremental ones: the bits
 * are the same in both.
 */
#include "thesis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../band.h"
#include "../paper_table.h"
#include "crawled.h"
#include "grid.h"

enum { FUNCTIONS = 5, MOST_K = 3, FILTERS = FUNCTIONS * MOST_K };

struct rates {
    struct lab *lab;
    const struct paper_table *p;
    uint64_t n;
    unsigned runs;
    double M;
    uint64_t *crawled, *full; /* lost, by run and filter */
};

/* The kind of a function of the table with k probes; "" if it has none. */
static void kind_of(const struct rates *r, unsigned function, unsigned k,
                    char kind[SEEN_KIND_TEXT])
{
    const char *name = paper_head(r->p, 2 + function);

    if (strcmp(name, "distinct") != 0)
        snprintf(kind, SEEN_KIND_TEXT, "bloom:%s", name);
    else
        strcpy(kind, k == 2   ? "bloom:jenkins+murmur"
                     : k == 3 ? "bloom:jenkins+murmur+sha1"
                              : "");
}

static void one_filter(void *of, unsigned i)
{
    const struct rates *r = of;
    unsigned run = i / FILTERS, k = i % MOST_K + 1;
    uint64_t from = run * 2 * r->n;
    struct seen_plan plan = { .capacity = r->n,
                              .probes = k,
                              .multiplier = r->M,
                              .seed = seen_mix(r->lab->seed + i),
                              .over = true };
    struct seen_filter *f;

    kind_of(r, i % FILTERS / MOST_K, k, plan.kind);
    if (!*plan.kind)
        return;
    f = lab_filter(&plan);
    r->crawled[i] = lab_add(f, r->lab->urls, from, from + r->n, NULL);
    r->full[i] = lab_ask(f, r->lab->urls, from + r->n, from + 2 * r->n, NULL);
    seen_filter_free(f);
}

static double share(const struct rates *r, const uint64_t *lost,
                    unsigned function, unsigned k)
{
    uint64_t sum = 0;

    for (unsigned run = 0; run < r->runs; run++)
        sum += lost[run * FILTERS + function * MOST_K + k - 1];
    return (double)sum / ((double)r->n * r->runs);
}

static double theory(const struct rates *r, bool crawl, double k, double n)
{
    double m = n * k * r->M;

    return crawl ? theory_incremental(n, m, k, 1, 1) : theory_rate(n, m, k);
}

static struct band band_of(const struct rates *r, bool crawl, double k,
                           double n, double runs)
{
    if (crawl)
        return crawled_band(k, r->M, 1, false, n, runs);
    return band_share(theory(r, crawl, k, n), n * runs,
                      theory_spread(n, n * k * r->M, k), runs);
}

/* One of Tables 5.1 to 5.3 and 5.5 to 5.7: a row of the data. */
static void one_table(struct section *s, const struct rates *r, size_t row,
                      struct tally *all)
{
    bool crawl = !strcmp(paper_text(r->p, row, 0), "incremental");
    unsigned k = (unsigned)paper_number(r->p, row, 1, NULL);
    unsigned number = crawl ? k : 4 + k;
    struct band us = band_of(r, crawl, k, (double)r->n, r->runs);
    struct band them = band_of(r, crawl, k, thesis_says("urls"),
                               thesis_says("runs"));
    char name[32], kind[SEEN_KIND_TEXT];
    struct table *t;

    snprintf(name, sizeof name, "table-5.%u", number);
    t = section_table(
        s, name, "Table 5.%u: %u hash function%s, %s, in percent", number, k,
        k > 1 ? "s" : "", crawl ? "incremental" : "non-incremental");
    table_columns(t, "kind", COMPARED, NULL);
    for (unsigned function = 0; function < FUNCTIONS; function++) {
        struct finding f = { .theory = 100 * theory(r, crawl, k, (double)r->n),
                             .low = 100 * us.low,
                             .high = 100 * us.high,
                             .their_low = 100 * them.low,
                             .their_high = 100 * them.high,
                             .digits = 3 };

        kind_of(r, function, k, kind);
        if (!*kind)
            continue;
        f.published = paper_number(r->p, row, 2 + function, &f.step);
        f.measured = 100 * share(r, crawl ? r->crawled : r->full, function, k);
        table_text(t, "%s", kind);
        table_finding(t, &f);
        tally_add(all, &f, "%s in Table 5.%u", kind, number);
        tally_weigh(all, &f, 100 * theory(r, crawl, k, thesis_says("urls")));
    }
}

/* Tables 5.4 and 5.8: ours, beside each other. */
static void overview(struct section *s, const struct rates *r, bool crawl)
{
    char name[32];
    struct table *t;
    unsigned number = crawl ? 4 : 8, least = crawl ? 1 : 2;

    snprintf(name, sizeof name, "table-5.%u", number);
    t = section_table(s, name,
                      "Table 5.%u: salted hash functions, %s, measured by us, "
                      "in percent",
                      number, crawl ? "incremental" : "non-incremental");
    table_column(t, "function");
    for (unsigned k = least; k <= MOST_K; k++)
        table_column(t, "k = %u", k);
    for (unsigned function = 0; function + 1 < FUNCTIONS; function++) {
        table_text(t, "%s", paper_head(r->p, 2 + function));
        for (unsigned k = least; k <= MOST_K; k++)
            table_number(
                t, 100 * share(r, crawl ? r->crawled : r->full, function, k),
                3);
    }
}

/* The standard deviation of a difference of two rates, ours or theirs. */
static double difference(const struct rates *r, bool crawl, unsigned k,
                         double n, double runs)
{
    double z = band_mean(0, 1, 1).high;
    struct band b = band_of(r, crawl, k, n, runs);

    return sqrt(2) * (b.high - b.low) / 2 / z;
}

/* The largest distance between a salted function and distinct ones, in
   standard deviations of a difference. */
static double farthest(const struct rates *r)
{
    double most = 0;

    for (unsigned function = 0; function + 1 < FUNCTIONS; function++)
        for (unsigned k = 2; k <= MOST_K; k++) {
            double d = share(r, r->full, function, k) -
                       share(r, r->full, FUNCTIONS - 1, k);

            most = fmax(most, fabs(d) / difference(r, false, k, (double)r->n,
                                                   r->runs));
        }
    return most;
}

/* The reason for which the thesis takes Jenkins', with its numbers. */
static void describe_choice(struct section *s, const struct rates *r)
{
    enum { JENKINS = 2, MURMUR }; /* columns */
    double urls = thesis_says("urls"), runs = thesis_says("runs");
    double z[MOST_K + 1], most = 0;

    for (unsigned k = 1; k <= MOST_K; k++) {
        double d = paper_number(r->p, k - 1, MURMUR, NULL) -
                   paper_number(r->p, k - 1, JENKINS, NULL);

        z[k] = d / 100 / difference(r, true, k, urls, runs);
        most = fmax(most, fabs(z[k]));
    }
    section_text(
        s,
        "Of Jenkins' and MurmurHash the thesis chooses the one that did "
        "better in the incremental test. With one, two and three hash "
        "functions its MurmurHash loses %+.1f, %+.1f and %+.1f standard "
        "deviations more than Jenkins': %s.",
        z[1], z[2], z[3],
        most < band_mean(0, 1, 1).high
            ? "that is chance, and not a reason to choose"
            : "more than chance for independent runs, but not each "
              "time, and theory knows of no difference");
}

/* Do all rates of ours agree with theory, and with each other? */
static void describe_salts(struct section *s, const struct rates *r,
                           const struct tally *all)
{
    enum { FIVE_1 = 0, FIVE_6 = 4, SHA1 = 5 }; /* rows, a column */
    double most = farthest(r);
    bool alike = most < band_mean(0, 1, 1).high;

    section_text(s,
                 "Salted or distinct, %s: of all functions the one farthest "
                 "from the distinct ones is %.1f standard deviations away. %s "
                 "SHA-1, with %.3f the lowest of Table 5.6 as published, is "
                 "with %.3f the highest of Table 5.1.",
                 alike ? "the rates are the same within chance"
                       : "the rates are not the same",
                 most,
                 all->differ
                     ? "Not all of our rates are where theory says."
                     : "No function is best, since all are where theory says.",
                 paper_number(r->p, FIVE_6, SHA1, NULL),
                 paper_number(r->p, FIVE_1, SHA1, NULL));
}

void tables_5_1_5_8(struct lab *lab, struct section *s)
{
    struct rates r = { .lab = lab,
                       .p = paper_table("thesis-5.01-to-5.08-hash-functions"),
                       .M = thesis_says("hash-functions-M") };
    struct tally all = { 0 };
    const size_t row_5_6 = 4;

    section_text(
        s,
        "Does one hash function, salted k times, do as well as k different "
        "ones, and is one of four functions better than the others? The "
        "thesis finds no difference that matters, and notes that SHA-1 comes "
        "out best each time in the non-incremental test. It discards MD5 and "
        "SHA-1 as too slow, calls Jenkins' and MurmurHash practically equal, "
        "and chooses Jenkins' since it performed best in the incremental test "
        "(section 5.4.3).");
    r.n = thesis_n(lab, 50000, 1000000, 1000000);
    r.runs = lab_runs(lab, 8, 4, 100);
    r.crawled = lab_memory((size_t)r.runs * FILTERS, sizeof *r.crawled);
    r.full = lab_memory((size_t)r.runs * FILTERS, sizeof *r.full);
    lab_each(lab, "hash functions", r.runs * FILTERS, one_filter, &r);
    thesis_sizes(lab, s, r.n, r.runs);
    for (size_t i = 0; i < paper_rows(r.p); i++) {
        one_table(s, &r, i, &all);
        if (i % MOST_K == MOST_K - 1)
            overview(s, &r, i < MOST_K);
    }
    section_text(
        s,
        "Tables 5.4 and 5.8 repeat the others, except that the thesis "
        "prints %.3f for MurmurHash with k = 2 in Table 5.8 and %.3f "
        "in Table 5.6.",
        thesis_says("murmur-k2-overview"),
        paper_number(r.p, row_5_6, 3, NULL));
    describe_salts(s, &r, &all);
    describe_choice(s, &r);
    tally_report(s, &all);
    free(r.full);
    free(r.crawled);
}
