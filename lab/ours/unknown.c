/*
 * unknown.c - a filter for an unknown number of URLs.
 *
 * The thesis leaves open how to size the filter of a crawl whose number of URLs
 * nobody knows (7.2.1). The answers that are compared:
 *
 *     known       the filter that was planned for exactly these URLs
 *     keeps keys  a filter with a log of its keys on the disk, from which a
 *                 larger one is built when it is full (seen_store_keep_keys)
 *     growing     one more filter, twice as large, when the last one is full
 *     dynamic     one more filter of the same size; the largest number of all
 *                 sizes has to be known
 *     doubled     tables of fingerprints: when one is full, a bit of each
 *                 fingerprint moves into its place in a table of twice the size
 *
 * Tables that double are not built here. A taffy cuckoo filter [1] has elements
 * of F + V bits, F for the fingerprint, keeps its rate below 2^-(F-2), and is
 * full at nine tenths, so with the V of its implementation
 *
 *     bits per URL, full    (log2(1/p) + 2 + V) / 0.9
 *
 * with the fingerprint rounded up to whole bits. After doubling it is twice
 * that, and in the mean over all numbers between two doublings 2 ln 2 times. An
 * InfiniFilter [2] was measured by its authors, and its rate rises with each
 * doubling. Whatever grows without the keys needs at least
 *
 *     log2(1/p) + log2(log2 n)
 *
 * bits per URL, up to terms that vanish for many URLs and small p [3].
 *
 * [1] J. Apple: Stretching your data with taffy filters. arXiv 2109.01947, 2021.
 * [2] InfiniFilter: Expanding filters to infinity and beyond. SIGMOD 2023.
 * [3] M. Liu, Y. Yin, H. Yu: Succinct filters for sets of unknown sizes. ICALP
 *     2020, who improve the bound of R. Pagh, G. Segev, U. Wieder (FOCS 2013).
 */
#include "ours.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <seen/kind.h>
#include <seen/store.h>

#include "../band.h"
#include "../corpus.h"
#include "../paper_table.h"

enum { SIZES = 4, DRAWN = 256 };

enum way { KNOWN, KEEPS_KEYS, GROWING, EQUAL_PARTS, WAYS };
static const char *const way_name[WAYS] = { "known", "keeps keys", "growing",
                                            "dynamic" };

/* One filter of one way, planned for a rate. */
struct trial_of_growth {
    enum way way;
    const char *kind;
    double rate;
    uint64_t n, most; /* URLs; the most of all trials of this table */
    struct measured m;
    unsigned lines;   /* that a question reads at most */
    double disk;      /* bytes of files per URL */
    double bits_mean,
        bits_most; /* from `begin` URLs on, while it was filled */
    struct {
        double n, bits;
    } point[DRAWN];
    unsigned points;
    uint64_t begin, last; /* of the mean: URLs */
    double sum;           /* of bits per URL, for each URL */
};

struct unknown_number {
    struct lab *lab;
    unsigned sizes;
    uint64_t n[SIZES], asked;
    struct trial_of_growth *usual; /* at 1 %, by size and way */
    struct trial_of_growth *low;   /* at 1e-6, the largest size, by way */
    struct trial_of_growth *theirs; /* at rates that InfiniFilter has */
    unsigned row, rows; /* of them: the first, and how many */
};

static const double ONE_PERCENT = 0.01, ONE_MILLIONTH = 1e-6;

/* One line cannot hold the bits for a low rate; three lines can. */
static const char *const usual_kind[WAYS] = { "blocked", "blocked",
                                              "growing/blocked",
                                              "dynamic:64/blocked" };
static const char *const low_kind[WAYS] = { "spatial:3/blocked",
                                            "spatial:3/blocked",
                                            "growing/bloom",
                                            "dynamic:64/bloom" };

/* --- one trial --- */

static void look(void *of, const struct seen_filter *f, uint64_t n)
{
    struct trial_of_growth *t = of;
    double bits = 8 * (double)seen_filter_bytes(f) / (double)n;

    if (n >= t->begin) {
        t->sum += bits * (double)(n - t->last);
        t->bits_most = fmax(t->bits_most, bits);
        t->last = n;
    }
    if (t->points < DRAWN &&
        (!t->points || (double)n > 1.03 * t->point[t->points - 1].n)) {
        t->point[t->points].n = (double)n;
        t->point[t->points++].bits = bits;
    }
}

/* Lines, or single bits of a bloom filter, that a question reads at most. */
static unsigned lines_of(const struct seen_filter *f)
{
    unsigned parts = seen_filter_parts(f), lines = 0;

    if (!parts)
        return seen_filter_can(f, SEEN_HAS_LINES)
                   ? 1
                   : seen_filter_plan(f)->probes;
    for (unsigned i = 0; i < parts; i++)
        lines += lines_of(seen_filter_part(f, i));
    return lines;
}

static double size_of_file(const char *path)
{
    struct stat st;

    return stat(path, &st) ? 0 : (double)st.st_size;
}

static struct seen_plan plan_of(const struct lab *lab,
                                const struct trial_of_growth *t)
{
    static const enum way unknown_first[] = { KEEPS_KEYS, GROWING };
    struct seen_plan plan = { .capacity = t->n,
                              .rate = t->rate,
                              .seed = lab->seed,
                              .tight = true,
                              .over = true };

    for (size_t i = 0; i < sizeof unknown_first / sizeof *unknown_first; i++)
        if (t->way == unknown_first[i])
            plan.capacity = SEEN_FIRST_KEYS;
    if (t->way == EQUAL_PARTS)
        plan.capacity = t->most;
    snprintf(plan.kind, sizeof plan.kind, "%s", t->kind);
    return plan;
}

static void try_one(const struct unknown_number *u, struct trial_of_growth *t,
                    const char *name)
{
    static const char *const also[] = { "", ".keys", ".journal" };
    struct seen_access options = { .sync = SEEN_SYNC_NO };
    struct seen_plan plan = plan_of(u->lab, t);
    struct seen_filter *f = lab_filter(&plan);
    struct seen_error why;
    char path[1100], file[1200];

    snprintf(path, sizeof path, "%.1000s/%s", u->lab->folder, name);
    if (t->way == KEEPS_KEYS) {
        lab_must(seen_store_keep_keys(f, &why), &why);
        lab_must(seen_store_create(f, path, &why), &why);
        seen_filter_free(f);
        lab_must(seen_store_open(&f, path, &options, &why), &why);
    }
    t->begin = t->n < 2 * SEEN_FIRST_KEYS ? t->n / 2 : SEEN_FIRST_KEYS;
    t->last = t->begin;
    subject_measure_made(u->lab, f, t->n, u->asked, look, t, &t->m);
    t->bits_mean = t->sum / (double)(t->n - t->begin);
    t->lines = lines_of(f);
    if (t->way == KEEPS_KEYS)
        lab_must(seen_store_checkpoint(f, &why), &why);
    else
        lab_must(seen_store_save(f, path, &why), &why);
    for (size_t i = 0; i < sizeof also / sizeof *also; i++) {
        snprintf(file, sizeof file, "%s%s", path, also[i]);
        t->disk += size_of_file(file) / (double)t->n;
        if (t->way != KEEPS_KEYS)
            remove(file);
    }
    seen_filter_free(f);
}

/* --- the trials --- */

static void try_usual(void *of, unsigned i)
{
    struct unknown_number *u = of;
    struct trial_of_growth *t = &u->usual[i];
    char name[32];

    *t = (struct trial_of_growth){ .way = i % WAYS,
                                   .kind = usual_kind[i % WAYS],
                                   .rate = ONE_PERCENT,
                                   .n = u->n[i / WAYS],
                                   .most = u->n[u->sizes - 1] };
    snprintf(name, sizeof name, "usual-%u.seen", i);
    try_one(u, t, name);
}

static void try_low(void *of, unsigned i)
{
    struct unknown_number *u = of;
    struct trial_of_growth *t = &u->low[i];
    char name[32];

    *t = (struct trial_of_growth){ .way = i,
                                   .kind = low_kind[i],
                                   .rate = ONE_MILLIONTH,
                                   .n = u->n[u->sizes - 1],
                                   .most = u->n[u->sizes - 1] };
    snprintf(name, sizeof name, "low-%u.seen", i);
    try_one(u, t, name);
}

static void try_theirs(void *of, unsigned i)
{
    const struct paper_table *p = paper_table("infinifilter");
    struct unknown_number *u = of;
    struct trial_of_growth *t = &u->theirs[i];
    unsigned row = u->row + i;
    char name[32];

    *t = (struct trial_of_growth){ .way = KEEPS_KEYS,
                                   .kind = usual_kind[KEEPS_KEYS],
                                   .rate = paper_number(p, row, 2, NULL),
                                   .n = (uint64_t)paper_number(p, row, 0,
                                                               NULL) };
    snprintf(name, sizeof name, "theirs-%u.seen", i);
    try_one(u, t, name);
}

static void plan_sizes(struct unknown_number *u)
{
    struct lab *lab = u->lab;
    const struct paper_table *p = paper_table("infinifilter");
    uint64_t largest = lab_fit(lab, lab_n(lab, 100000, 10000000, 10000000), 2);
    bool given = lab->n || lab->list;
    uint64_t n = given ? largest / 100 + !(largest / 100) : 10000;

    corpus_must(largest, 1000);
    for (; u->sizes < SIZES - 1 && n < largest; n *= 10)
        u->n[u->sizes++] = n;
    u->n[u->sizes++] = largest;
    u->asked = lab->size == QUICK ? 200000 : 1000000;
    if (given && largest < u->asked)
        u->asked = largest;
    for (unsigned row = 0; row < paper_rows(p); row++) {
        double entries = paper_number(p, row, 0, NULL);

        u->row += entries < SEEN_FIRST_KEYS;
        u->rows += entries >= SEEN_FIRST_KEYS && entries <= (double)largest;
    }
}

/* --- tables --- */

static double taffy(const char *name)
{
    return paper_value(paper_table("growing-text"), name);
}

/* Bits per URL of a taffy cuckoo filter that is full. */
static double taffy_bits(double rate)
{
    double value = taffy("taffy_element") - taffy("taffy_fingerprint");

    return (ceil(-log2(rate) + taffy("taffy_halvings")) + value) /
           taffy("taffy_load");
}

/* In the mean over all numbers between two doublings, of 1 when full. */
static double doubling_mean(void)
{
    return 2 * log(2);
}

/* The rate that was asked for is a limit, whatever the number of URLs; but
   rates of equal parts add up, as their plan says. */
static struct finding judge(const struct trial_of_growth *t)
{
    double limit = t->way == EQUAL_PARTS ? t->m.planned : t->rate;
    struct band b = band_share(limit, (double)t->m.asked, t->m.spread, 1);
    struct finding f = band_percent(limit, b, t->m.rate, 5);

    f.bound = true;
    return f;
}

static void put_trials(struct section *s, const struct trial_of_growth *t,
                       unsigned count, const char *name, double rate)
{
    struct table *table = section_table(
        s, name,
        "Planned for %g %%: bits of memory per URL now, and while they were "
        "added, in the mean over all numbers and at most; bytes of files per "
        "URL; places that a question reads at most; ns of CPU time from a "
        "URL's text to its being added, to the answer for a new one and for "
        "one that is held; the rate (theory: the limit), in percent",
        100 * rate);

    table_columns(table, "way", "kind", "URLs", "bits", "mean", "most", "disk",
                  "places", "add", "ask new", "ask held", COMPARED, NULL);
    for (unsigned i = 0; i < count; i++) {
        struct finding f = judge(&t[i]);

        table_text(table, "%s", way_name[t[i].way]);
        table_text(table, "%s", t[i].kind);
        table_number(table, (double)t[i].n, 0);
        table_number(table, t[i].m.bits, 2);
        table_number(table, t[i].way == KNOWN ? NAN : t[i].bits_mean, 2);
        table_number(table, t[i].way == KNOWN ? NAN : t[i].bits_most, 2);
        table_number(table, t[i].disk, 2);
        table_number(table, t[i].lines, 0);
        table_number(table, t[i].m.add, 1);
        table_number(table, t[i].m.ask_new, 1);
        table_number(table, t[i].m.ask_held, 1);
        table_finding(table, &f);
    }
}

static void put_published(struct section *s, const struct unknown_number *u)
{
    double n = (double)u->n[u->sizes - 1];
    const struct trial_of_growth *at[] = { &u->usual[(u->sizes - 1) * WAYS],
                                           u->low };
    struct table *t = section_table(
        s, "unknown-published",
        "Bits of memory per URL of what grows, full and in the mean over all "
        "numbers: published for tables that double, the least without the "
        "keys, and ours with %s URLs",
        lab_count(n));

    table_columns(t, "rate: percent", "taffy, full", "taffy, mean",
                  "least without keys", "known", "keeps keys, mean",
                  "growing, mean", NULL);
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        double rate = at[i][KNOWN].rate;

        table_number(t, 100 * rate, 4);
        table_number(t, taffy_bits(rate), 1);
        table_number(t, taffy_bits(rate) * doubling_mean(), 1);
        table_number(t, -log2(rate) + log2(log2(n)), 1);
        table_number(t, at[i][KNOWN].m.bits, 1);
        table_number(t, at[i][KEEPS_KEYS].bits_mean, 1);
        table_number(t, at[i][GROWING].bits_mean, 1);
    }
}

static void put_theirs(struct section *s, const struct unknown_number *u)
{
    const struct paper_table *p = paper_table("infinifilter");
    struct table *t = section_table(
        s, "unknown-infinifilter",
        "An InfiniFilter as its authors measured it, each time full, and ours "
        "of so many URLs that keeps its keys, planned for the same rate: bits "
        "of memory per URL, and in the mean for each halving of the rate");

    table_columns(t, "URLs", "rate: percent", "theirs, full", "theirs, mean",
                  "a halving", "ours, mean", "ours, most", "ours: rate", NULL);
    for (unsigned i = 0; i < u->rows; i++) {
        const struct trial_of_growth *o = &u->theirs[i];
        double bits = paper_number(p, u->row + i, 1, NULL);

        table_number(t, (double)o->n, 0);
        table_number(t, 100 * o->rate, 4);
        table_number(t, bits, 2);
        table_number(t, bits * doubling_mean(), 2);
        table_number(t, bits * doubling_mean() / -log2(o->rate), 2);
        table_number(t, o->bits_mean, 2);
        table_number(t, o->bits_most, 2);
        table_number(t, 100 * o->m.rate, 4);
    }
}

/* A URL that was added and is denied is a bug, whatever the way. */
static void put_denied(struct section *s, const struct unknown_number *u)
{
    struct finding f = band_finding(0, (struct band){ 0, 0 }, 0, 0);
    struct table *t = section_table(s, "unknown-denied",
                                    "Of all trials, what must not occur");

    for (unsigned i = 0; i < u->sizes * WAYS; i++)
        f.measured += (double)u->usual[i].m.lost;
    for (unsigned i = 0; i < WAYS; i++)
        f.measured += (double)u->low[i].m.lost;
    for (unsigned i = 0; i < u->rows; i++)
        f.measured += (double)u->theirs[i].m.lost;
    table_columns(t, "of", COMPARED, NULL);
    table_text(t, "URLs that were added and are denied");
    table_finding(t, &f);
}

static void draw(struct section *s, const struct unknown_number *u)
{
    const struct trial_of_growth *at = &u->usual[(u->sizes - 1) * WAYS];
    struct plot *p = section_plot(
        s, "unknown-bits", "URLs", "bits of memory per URL", LOG_X | LOG_Y,
        "Bits per URL while URLs are added, planned for %g %%: of a taffy "
        "filter, whose line is computed, between two doublings",
        100 * ONE_PERCENT);

    for (enum way way = KEEPS_KEYS; way < WAYS; way++) {
        plot_series(p, LINES, "%s", way_name[way]);
        for (unsigned i = 0; i < at[way].points; i++)
            plot_point(p, at[way].point[i].n, at[way].point[i].bits);
    }
    plot_series(p, DASHES, "taffy");
    for (unsigned i = 0; i < at[KEEPS_KEYS].points; i++) {
        double n = at[KEEPS_KEYS].point[i].n;
        double places = pow(2, ceil(log2(n / taffy("taffy_load"))));

        plot_point(p, n,
                   places / n * taffy_bits(ONE_PERCENT) * taffy("taffy_load"));
    }
}

/* --- the experiment --- */

void ours_unknown(struct lab *lab, struct section *s)
{
    struct unknown_number u = { .lab = lab };
    const struct trial_of_growth *large, *low;

    section_text(
        s,
        "The thesis leaves open how to size a filter for a number of URLs "
        "that nobody knows (7.2.1). Tables of fingerprints that double give "
        "a bit of each fingerprint away whenever they do, so they keep "
        "spare ones. A filter that has its keys on the disk is built anew "
        "from them.");
    plan_sizes(&u);
    u.usual = lab_memory(u.sizes * WAYS, sizeof *u.usual);
    u.low = lab_memory(WAYS, sizeof *u.low);
    u.theirs = lab_memory(u.rows + 1, sizeof *u.theirs);
    lab_alone(lab, "growing filters", u.sizes * WAYS, try_usual, &u);
    lab_alone(lab, "low rates", WAYS, try_low, &u);
    lab_each(lab, "published rates", u.rows, try_theirs, &u);
    large = &u.usual[(u.sizes - 1) * WAYS];
    low = u.low;
    put_trials(s, u.usual, u.sizes * WAYS, "unknown-usual", ONE_PERCENT);
    put_trials(s, u.low, WAYS, "unknown-low", ONE_MILLIONTH);
    put_published(s, &u);
    if (u.rows)
        put_theirs(s, &u);
    put_denied(s, &u);
    draw(s, &u);
    section_headline(
        s,
        "With its keys on the disk (%.1f bytes per URL) a filter of %s URLs "
        "that grew takes %.1f bits of memory per URL in the mean at %g %%, and "
        "a taffy filter %.1f; at %g %% %.1f and %.1f.",
        large[KEEPS_KEYS].disk, lab_count((double)large->n),
        large[KEEPS_KEYS].bits_mean, 100 * ONE_PERCENT,
        taffy_bits(ONE_PERCENT) * doubling_mean(), 100 * ONE_MILLIONTH,
        low[KEEPS_KEYS].bits_mean,
        taffy_bits(ONE_MILLIONTH) * doubling_mean());
    section_text(
        s,
        "Of %s URLs at %g %%: one that knew their number takes %.1f bits, one "
        "that keeps its keys %.1f in the mean and %.1f at most, growing ones "
        "%.1f in the mean. A question reads %u place at most where keys are "
        "kept, and %u where filters are added.",
        lab_count((double)large->n), 100 * ONE_PERCENT, large[KNOWN].m.bits,
        large[KEEPS_KEYS].bits_mean, large[KEEPS_KEYS].bits_most,
        large[GROWING].bits_mean, large[KEEPS_KEYS].lines,
        large[GROWING].lines);
    section_text(
        s, "Not shown: an Aleph filter (PVLDB 2024), which is an InfiniFilter "
           "with another way to double; no table of its bits for a rate was "
           "found.");
    free(u.usual);
    free(u.low);
    free(u.theirs);
}
