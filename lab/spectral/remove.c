/*
 * remove.c - deletion: what was removed is gone, what was not is found.
 *
 * Of n URLs in a counting filter one quarter after the other is removed. Then
 * a removed URL, like one that was never added, is found only by chance, at
 * the rate of the remaining load; and none of the rest is lost. If no counter
 * is full, the filter gives the same answers as if only the rest had been
 * added.
 *
 * The notes' deletion does not ask whether the URL was there. A false
 * positive that is removed takes 1 from k counters of others. One that was 1
 * belonged to one URL, which is lost: with c = kn/m such a removal loses
 *
 *     k P(X = 1 | X > 0) = k c e^-c / (1 - e^-c)
 *
 * URLs, X being Poisson of mean c.
 */
#include "spectral.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../band.h"

enum { CELLS = 10 /* a URL */, WIDTHS = 4, STAGES = 5, STRANGERS = 10 };
static const unsigned width[WIDTHS] = { 4, 8, 16, 32 };

/* How it stands after a number of quarters was removed. */
struct stage {
    uint64_t lost;   /* of those that stay */
    uint64_t found;  /* of those removed */
    uint64_t others; /* found of those never added */
    uint64_t set;    /* counters above 0 */
    uint64_t differ; /* answers unlike those of a filter of the rest alone */
};

struct removing {
    struct lab *lab;
    uint64_t n;
    unsigned runs;
    struct stage *stage;        /* by width, run and stage */
    uint64_t *strangers, *lost; /* by run: removed though never added */
};

static uint64_t quarter(const struct removing *r, unsigned stage)
{
    return r->n * stage / (STAGES - 1);
}

/* Does a filter to which the rest alone was added answer the same? */
static uint64_t compare(const struct removing *r, const char *kind, unsigned w,
                        uint64_t seed, const struct seen_key *key,
                        uint64_t removed, const struct seen_filter *f)
{
    struct seen_filter *rest = keys_filter(kind, r->n, r->n * CELLS, width[w],
                                           notes_probes(CELLS), seed);
    bool *one = lab_memory(2 * r->n, 1), *two = lab_memory(2 * r->n, 1);
    uint64_t differ = 0;

    keys_add(rest, key + removed, r->n - removed);
    keys_ask(f, key, 2 * r->n, one);
    keys_ask(rest, key, 2 * r->n, two);
    for (uint64_t i = 0; i < 2 * r->n; i++)
        differ += one[i] != two[i];
    seen_filter_free(rest);
    free(one);
    free(two);
    return differ;
}

static void run_stages(struct removing *r, unsigned w, unsigned run,
                       const struct seen_key *key)
{
    struct stage *stage = &r->stage[(w * r->runs + run) * STAGES];
    uint64_t seed = r->lab->seed + run;
    struct seen_filter *f;
    char kind[32];

    snprintf(kind, sizeof kind, "counting:%u", width[w]);
    f = keys_filter(kind, r->n, r->n * CELLS, width[w], notes_probes(CELLS),
                    seed);
    keys_add(f, key, r->n);
    for (unsigned i = 0; i < STAGES; i++) {
        uint64_t gone = quarter(r, i), before = i ? quarter(r, i - 1) : 0;

        keys_remove(f, key + before, gone - before);
        stage[i].lost = r->n - gone -
                        keys_ask(f, key + gone, r->n - gone, NULL);
        stage[i].found = keys_ask(f, key, gone, NULL);
        stage[i].others = keys_ask(f, key + r->n, r->n, NULL);
        stage[i].set = seen_filter_cells_set(f);
        stage[i].differ = compare(r, kind, w, seed, key, gone, f);
    }
    seen_filter_free(f);
}

/* Remove URLs that are false positives, and count the URLs lost. */
static void run_strangers(struct removing *r, unsigned run,
                          const struct seen_key *key)
{
    struct seen_filter *f = keys_filter("counting:16", r->n, r->n * CELLS, 16,
                                        notes_probes(CELLS),
                                        r->lab->seed + run);

    keys_add(f, key, r->n);
    for (uint64_t i = r->n; i < r->n + r->n / STRANGERS; i++)
        if (keys_ask(f, &key[i], 1, NULL)) {
            keys_remove(f, &key[i], 1);
            r->strangers[run]++;
        }
    r->lost[run] = r->n - keys_ask(f, key, r->n, NULL);
    seen_filter_free(f);
}

static void run_one(void *of, unsigned i)
{
    struct removing *r = of;
    unsigned w = i / r->runs, run = i % r->runs;
    struct corpus urls;

    corpus_init(&urls, r->lab->urls, 2 * r->n * run, 2 * r->n);
    if (w < WIDTHS)
        run_stages(r, w, run, urls.key);
    else
        run_strangers(r, run, urls.key);
    corpus_clear(&urls);
}

/* All runs of a width at a stage. */
static struct stage sum_of(const struct removing *r, unsigned w, unsigned at)
{
    struct stage sum = { 0 };

    for (unsigned run = 0; run < r->runs; run++) {
        const struct stage *s = &r->stage[(w * r->runs + run) * STAGES + at];

        sum.lost += s->lost;
        sum.found += s->found;
        sum.others += s->others;
        sum.set += s->set;
        sum.differ += s->differ;
    }
    return sum;
}

/* The rate, in percent, among `asked` URLs when `left` are in the filter. */
static struct finding judge_rate(const struct removing *r, uint64_t left,
                                 uint64_t asked, uint64_t hits)
{
    double n = (double)left, m = CELLS * (double)r->n, k = notes_probes(CELLS);
    double trials = (double)asked * r->runs, p = theory_rate(n, m, k);
    struct band b = band_share(p, trials, theory_spread(n, m, k), r->runs);

    if (!(trials > 0))
        b.low = b.high = NAN;
    return band_percent(p, b, trials > 0 ? (double)hits / trials : NAN, 4);
}

static void show_stages(struct section *s, const struct removing *r)
{
    struct table *t = section_table(
        s, "spectral-remove-stages",
        "After removal: URLs lost, answers unlike those of a filter of the "
        "rest alone, counters that are not 0, and the rate among those "
        "removed, in percent");

    table_columns(t, "W", "removed", "lost", "other answers", "not 0",
                  COMPARED, NULL);
    for (unsigned w = 0; w < WIDTHS; w++)
        for (unsigned i = 1; i < STAGES; i++) {
            struct stage sum = sum_of(r, w, i);
            uint64_t gone = quarter(r, i);
            struct finding f = judge_rate(r, r->n - gone, gone, sum.found);

            table_number(t, width[w], 0);
            table_number(t, (double)gone, 0);
            table_number(t, (double)sum.lost, 0);
            table_number(t, (double)sum.differ, 0);
            table_number(t, (double)sum.set / r->runs, 0);
            table_finding(t, &f);
        }
}

static void show_others(struct section *s, const struct removing *r)
{
    struct table *t = section_table(
        s, "spectral-remove-others",
        "False positives among URLs never added, by how many were removed, "
        "in percent");
    struct plot *p;

    table_columns(t, "removed", COMPARED, NULL);
    for (unsigned i = 0; i < STAGES; i++) {
        uint64_t gone = quarter(r, i);
        struct finding f = judge_rate(r, r->n - gone, r->n,
                                      sum_of(r, 0, i).others);

        table_number(t, (double)gone, 0);
        table_finding(t, &f);
    }
    p = section_plot(s, "spectral-remove", "removed, percent",
                     "false positives, percent", LOG_Y,
                     "False positives as URLs are removed, measured (points) "
                     "and by theory");
    for (unsigned style = 0; style < 2; style++) {
        plot_series(p, style ? LINES : POINTS, "%s", style ? "" : "measured");
        for (unsigned i = 0; i < STAGES; i++) {
            uint64_t gone = quarter(r, i);
            struct finding f = judge_rate(r, r->n - gone, r->n,
                                          sum_of(r, 0, i).others);

            plot_point(p, 100 * (double)gone / (double)r->n,
                       style ? f.theory : f.measured);
        }
    }
}

static double sum_runs(const struct removing *r, const uint64_t *number)
{
    double sum = 0;

    for (unsigned run = 0; run < r->runs; run++)
        sum += (double)number[run];
    return sum;
}

/* How many URLs one removal of a stranger loses. */
static void show_strangers(struct section *s, const struct removing *r)
{
    double k = notes_probes(CELLS), c = k / CELLS;
    double one = c * exp(-c) / -expm1(-c), lost = sum_runs(r, r->lost);
    double strangers = sum_runs(r, r->strangers);
    struct band b = { NAN, NAN };
    struct finding f;
    struct table *t = section_table(
        s, "spectral-remove-strangers",
        "URLs lost for each that was removed though it was never added");

    /* k counters each; each counter is 1 with chance `one`. */
    if (strangers > 0)
        b = band_mean(k * one, sqrt(k * one * (1 - one)), strangers);
    f = band_finding(k * one, b, strangers > 0 ? lost / strangers : NAN, 3);
    table_columns(t, "found by chance, and removed", "lost", COMPARED, NULL);
    table_number(t, strangers, 0);
    table_number(t, lost, 0);
    table_finding(t, &f);
}

static void conclude(struct section *s, const struct removing *r)
{
    struct table *t = section_table(s, "spectral-remove-exact",
                                    "Over all widths, what must not occur");
    uint64_t lost = 0, differ = 0, left = 0;

    for (unsigned w = 0; w < WIDTHS; w++)
        for (unsigned i = 0; i < STAGES; i++) {
            struct stage sum = sum_of(r, w, i);

            lost += sum.lost;
            differ += sum.differ;
            left += i == STAGES - 1 ? sum.set : 0;
        }
    table_columns(t, "of", COMPARED, NULL);
    notes_none(t, "URLs lost that were not removed", (double)lost);
    notes_none(t, "answers unlike those of the rest alone", (double)differ);
    notes_none(t, "counters above 0 when all are removed", (double)left);
    section_text(
        s,
        "%s of the URLs that were not removed are lost, %s answers differ "
        "from those of a filter that never had the removed ones, and with all "
        "removed %s counters are not 0. Deletion %s. But the notes' code "
        "subtracts without a check: %.0f URLs that were found by chance and "
        "removed, though never added, made the filter forget %.0f others. "
        "seen refuses to remove a URL whose count is 0, but cannot detect the "
        "others: remove only what was added.",
        lab_count((double)lost), lab_count((double)differ),
        lab_count((double)left),
        lost || differ || left ? "is not exact" : "is exact",
        sum_runs(r, r->strangers), sum_runs(r, r->lost));
    section_headline(
        s,
        "Deletion from counters %s for URLs that were added. %.0f that were "
        "never added, but found by chance and removed, made a filter forget "
        "%.0f others: remove only what was added.",
        lost || differ || left ? "is not exact" : "is exact",
        sum_runs(r, r->strangers), sum_runs(r, r->lost));
}

void spectral_remove(struct lab *lab, struct section *s)
{
    struct removing r = {
        .lab = lab,
        .n = lab_fit(lab, lab_n(lab, 50000, 500000, 1000000), 2),
        .runs = lab_runs(lab, 4, 4, 20),
    };

    r.stage = lab_memory(WIDTHS * STAGES * r.runs, sizeof *r.stage);
    r.strangers = lab_memory(r.runs, sizeof *r.strangers);
    r.lost = lab_memory(r.runs, sizeof *r.lost);
    lab_each(lab, "runs", (WIDTHS + 1) * r.runs, run_one, &r);
    section_text(
        s,
        "A filter of counters, say the notes, \"%s\": \"%s\" adds a "
        "URL and \"%s\" takes it back. Here %s URLs are added to %d "
        "counters each, k = %u, and taken back a quarter at a time, in "
        "%u runs.",
        notes_say("permits"), notes_say("insertion"), notes_say("deletion"),
        lab_count((double)r.n), CELLS, notes_probes(CELLS), r.runs);
    show_stages(s, &r);
    show_others(s, &r);
    show_strangers(s, &r);
    conclude(s, &r);
    free(r.stage);
    free(r.strangers);
    free(r.lost);
}
