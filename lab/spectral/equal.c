/*
 * equal.c - bits and counters at equal m and k: "the same error".
 *
 * A Bloom filter of m bits and counting filters of m counters, with the same
 * k probes and the same seed, get the same n URLs and are asked for n others.
 * A counter is above 0 exactly where the bit is set, so not only the rates
 * are equal: every single answer is.
 *
 * On the way, the rate by k at a fixed m/n: "large K, less false positive",
 * which holds up to the best k and not beyond.
 */
#include "spectral.h"

#include <stdio.h>
#include <stdlib.h>

#include "../band.h"
#include "../paper_table.h"

enum { CELLS = 10 /* a URL */, WIDTHS = 4 };
static const unsigned width[WIDTHS] = { 4, 8, 16, 32 };
static const unsigned probes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16 };
enum { PROBES = sizeof probes / sizeof *probes };

/* What one run of one k found. */
struct tally {
    uint64_t bloom, counting[WIDTHS]; /* false positives */
    uint64_t differ[WIDTHS];          /* answers */
    uint64_t bloom_bytes, bytes[WIDTHS];
};

struct equal {
    struct lab *lab;
    uint64_t n;
    unsigned runs;
    struct tally *tally; /* run by run of a k, k by k */
};

static void run_width(const struct equal *e, struct tally *t, unsigned w,
                      unsigned k, uint64_t seed, const struct seen_key *key,
                      const bool *seen)
{
    bool *mark = lab_memory(2 * e->n, 1);
    struct seen_filter *f;
    char kind[32];

    snprintf(kind, sizeof kind, "counting:%u", width[w]);
    f = keys_filter(kind, e->n, e->n * CELLS, width[w], k, seed);
    keys_add(f, key, e->n);
    keys_ask(f, key, 2 * e->n, mark);
    for (uint64_t i = 0; i < 2 * e->n; i++) {
        t->counting[w] += i >= e->n && mark[i];
        t->differ[w] += mark[i] != seen[i];
    }
    t->bytes[w] = seen_filter_bytes(f);
    seen_filter_free(f);
    free(mark);
}

static void run_one(void *of, unsigned i)
{
    struct equal *e = of;
    struct tally *t = &e->tally[i];
    uint64_t run = i % e->runs, seed = e->lab->seed + run;
    unsigned k = probes[i / e->runs];
    struct corpus urls;
    struct seen_key *key;
    bool *seen = lab_memory(2 * e->n, 1);
    struct seen_filter *f = keys_filter("bloom", e->n, e->n * CELLS, 1, k,
                                        seed);

    corpus_init(&urls, e->lab->urls, 2 * e->n * run, 2 * e->n);
    key = urls.key;
    keys_add(f, key, e->n);
    keys_ask(f, key, e->n, seen);
    t->bloom = keys_ask(f, key + e->n, e->n, seen + e->n);
    t->bloom_bytes = seen_filter_bytes(f);
    seen_filter_free(f);
    for (unsigned w = 0; w < WIDTHS; w++)
        if (!w || k == notes_probes(CELLS))
            run_width(e, t, w, k, seed, key, seen);
    free(seen);
    corpus_clear(&urls);
}

/* All runs of a k. */
static struct tally sum_of(const struct equal *e, unsigned at)
{
    struct tally sum = { 0 };

    for (unsigned run = 0; run < e->runs; run++) {
        const struct tally *t = &e->tally[at * e->runs + run];

        sum.bloom += t->bloom;
        sum.bloom_bytes += t->bloom_bytes;
        for (unsigned w = 0; w < WIDTHS; w++) {
            sum.counting[w] += t->counting[w];
            sum.differ[w] += t->differ[w];
            sum.bytes[w] += t->bytes[w];
        }
    }
    return sum;
}

/* A rate, in percent, beside the notes' formula. */
static struct finding judge_rate(const struct equal *e, unsigned k,
                                 uint64_t hits)
{
    double n = (double)e->n, m = CELLS * n, asked = n * e->runs;
    double p = theory_rate(n, m, k);
    struct band b = band_share(p, asked, theory_spread(n, m, k), e->runs);

    return band_percent(p, b, (double)hits / asked, 4);
}

static void show_rates(struct section *s, const struct equal *e)
{
    struct table *t = section_table(
        s, "spectral-equal-rates",
        "False positives by k, in percent, with %d cells per URL; answers of "
        "counting:%u that are not those of bloom",
        CELLS, width[0]);
    struct plot *p;

    table_columns(t, "k", COMPARED, "answers", "other answers", NULL);
    for (unsigned i = 0; i < PROBES; i++) {
        struct tally sum = sum_of(e, i);
        struct finding f = judge_rate(e, probes[i], sum.bloom);

        table_number(t, probes[i], 0);
        table_finding(t, &f);
        table_number(t, 2.0 * (double)e->n * e->runs, 0);
        table_number(t, (double)sum.differ[0], 0);
    }
    p = section_plot(s, "spectral-equal", "hash functions k",
                     "false positives, percent", LOG_Y,
                     "False positives by k with %d cells per URL, measured "
                     "(points) and by theory",
                     CELLS);
    plot_series(p, POINTS, "measured");
    for (unsigned i = 0; i < PROBES; i++)
        plot_point(p, probes[i],
                   judge_rate(e, probes[i], sum_of(e, i).bloom).measured);
    plot_series(p, LINES, "%s", "");
    for (unsigned i = 0; i < PROBES; i++)
        plot_point(p, probes[i], judge_rate(e, probes[i], 0).theory);
}

/* Our ratio must be what the notes say, and exactly that; of bytes, up to
   whole cache lines. */
static struct finding judge_ratio(double published, double theory,
                                  double measured, double slack)
{
    return (struct finding){
        .published = published,
        .theory = theory,
        .measured = measured,
        .low = theory - slack,
        .high = theory + slack,
        .their_low = theory,
        .their_high = theory,
        .digits = 4,
    };
}

static void show_widths(struct section *s, const struct equal *e)
{
    double said = paper_value(paper_table("spectral-notes"), "same-error");
    unsigned best = notes_probes(CELLS), at = 0;
    struct tally sum;
    struct table *t;

    while (probes[at] != best)
        at++;
    sum = sum_of(e, at);
    t = section_table(
        s, "spectral-equal-widths",
        "Counters of W bits beside bits, at %d cells per URL and "
        "k = %u: false positives and bytes, as multiples of "
        "those of bloom",
        CELLS, best);
    table_columns(t, "W", "of", COMPARED, "bloom", "counting", NULL);
    for (unsigned w = 0; w < WIDTHS; w++) {
        double m = (double)e->n * CELLS;
        struct finding error = judge_ratio(
            said, 1,
            sum.counting[w] == sum.bloom /* though there be none */
                ? 1
                : (double)sum.counting[w] / (double)sum.bloom,
            0);
        struct finding bytes = judge_ratio(
            NAN, width[w], (double)sum.bytes[w] / (double)sum.bloom_bytes,
            512 * (1 + width[w]) / m);

        table_number(t, width[w], 0);
        table_text(t, "false positives");
        table_finding(t, &error);
        table_number(t, (double)sum.bloom, 0);
        table_number(t, (double)sum.counting[w], 0);
        table_number(t, width[w], 0);
        table_text(t, "bytes");
        table_finding(t, &bytes);
        table_number(t, (double)sum.bloom_bytes / e->runs, 0);
        table_number(t, (double)sum.bytes[w] / e->runs, 0);
    }
}

static void conclude(struct section *s, const struct equal *e)
{
    struct table *t = section_table(
        s, "spectral-equal-exact",
        "Over all widths and k, what must not occur");
    uint64_t differ = 0;
    unsigned least = 0, best = notes_probes(CELLS);

    for (unsigned i = 0; i < PROBES; i++) {
        struct tally sum = sum_of(e, i);

        if (sum.bloom < sum_of(e, least).bloom)
            least = i;
        for (unsigned w = 0; w < WIDTHS; w++)
            differ += sum.differ[w];
    }
    table_columns(t, "of", COMPARED, NULL);
    notes_none(t, "answers of counters unlike those of bits", (double)differ);
    section_text(
        s,
        "%s answers differ: a counter is above 0 exactly where the bit of the "
        "same probe is set, so bits and counters err %s the same URLs, and W "
        "bits per counter add only deletion and counts. Of the k that were "
        "tried, k = %u errs least; the best by the notes' %s is %u. Beyond it "
        "the rate rises again, which \"%s\" leaves out: probes also fill the "
        "filter.",
        lab_count((double)differ), differ ? "not on" : "on", probes[least],
        notes_say("best-probes"), best, notes_say("more-probes"));
}

void spectral_equal(struct lab *lab, struct section *s)
{
    struct equal e = {
        .lab = lab,
        .n = lab_fit(lab, lab_n(lab, 50000, 500000, 1000000), 2),
        .runs = lab_runs(lab, 4, 4, 20),
    };

    e.tally = lab_memory(PROBES * e.runs, sizeof *e.tally);
    lab_each(lab, "runs", PROBES * e.runs, run_one, &e);
    section_text(
        s,
        "About counters in place of bits the notes say: \"%s\"; of a "
        "Bloom filter, that it errs with chance %s, and \"%s\". Here "
        "filters of bits and of counters with equal m, k and seed get "
        "the same %s URLs and are asked for them and for as many "
        "others, in %u runs.",
        notes_say("same-error"), notes_say("rate"), notes_say("more-probes"),
        lab_count((double)e.n), e.runs);
    show_rates(s, &e);
    show_widths(s, &e);
    conclude(s, &e);
    free(e.tally);
}
