/*
 * questions.c - what the thesis asks in section 1.5, answered in a page.
 *
 * Three questions, one beside them, and the two problems of section 1.3. Each
 * answer rests on a measurement made here, of the filter that the thesis
 * discusses most, k = 3 and M = 1.7.
 */
#include "thesis.h"

#include <stdio.h>
#include <stdlib.h>

#include "../paper_table.h"
#include "../corpus.h"
#include "grid.h"

enum { ONE, TWICE, SAME, CELLS };

struct thesis_answers {
    struct trial t;
    double set;              /* bytes per URL */
    struct finding salts[2]; /* of one function with salts, of three */
    struct tally all;
};

/* Filters of the library with one function salted, and with three. */
static const char *const kind[] = { "bloom:jenkins",
                                    "bloom:jenkins+murmur+sha1" };

struct pairs {
    struct lab *lab;
    struct thesis_shape shape;
    uint64_t n;
    unsigned runs;
    uint64_t *lost; /* by kind and run */
};

static void one_of_a_pair(void *of, unsigned i)
{
    const struct pairs *p = of;
    unsigned run = i % p->runs;
    uint64_t from = run * 2 * p->n;
    struct seen_plan plan = { .capacity = p->n,
                              .probes = p->shape.k,
                              .multiplier = p->shape.M,
                              .seed = p->lab->seed + i,
                              .over = true };
    struct seen_filter *f;

    snprintf(plan.kind, sizeof plan.kind, "%s", kind[i / p->runs]);
    f = lab_filter(&plan);
    lab_add(f, p->lab->urls, from, from + p->n, NULL);
    p->lost[i] = lab_ask(f, p->lab->urls, from + p->n, from + 2 * p->n, NULL);
    seen_filter_free(f);
}

static void compare_salts(struct lab *lab, struct thesis_answers *a)
{
    struct pairs p = { .lab = lab,
                       .shape = a->t.cell[ONE],
                       .n = a->t.n,
                       .runs = lab_runs(lab, 4, 4, 20) };
    double n = (double)p.n, k = p.shape.k, m = n * k * p.shape.M;

    p.lost = lab_memory(2 * (size_t)p.runs, sizeof *p.lost);
    lab_each(lab, "salts", 2 * p.runs, one_of_a_pair, &p);
    for (unsigned i = 0; i < 2; i++) {
        double lost = 0;

        for (unsigned r = 0; r < p.runs; r++)
            lost += (double)p.lost[i * p.runs + r] / (n * p.runs);
        a->salts[i] = finding_of_share(theory_rate(n, m, k), lost, n * p.runs,
                                       theory_spread(n, m, k), p.runs);
    }
    free(p.lost);
}

/* Bytes per URL, of a hash set. */
static void weigh(struct lab *lab, struct thesis_answers *a)
{
    struct corpus texts;

    corpus_init(&texts, lab->urls, 0, (size_t)a->t.n);
    a->set = (double)thesis_set_bytes(&texts) / (double)texts.n;
    corpus_clear(&texts);
}

static double published_rate(const char *table, unsigned k, double M,
                             double *step)
{
    struct grid g;
    double rate;

    grid_read(&g, table);
    rate = grid_published(&g, grid_find(&g, k, M), step);
    grid_clear(&g);
    return rate;
}

static void one_row(struct table *t, struct thesis_answers *a,
                    const char *what, const char *table, unsigned k,
                    size_t cell, unsigned filters)
{
    double M = a->t.cell[ONE].M, step = NAN, published = NAN;
    struct finding f;

    if (table)
        published = published_rate(table, k, M, &step);
    trial_finding(&a->t, cell, filters, published, step, &f);
    table_text(t, "%s", what);
    table_number(t, a->t.cell[cell].k, 0);
    table_number(t, a->t.cell[cell].M, 2);
    table_finding(t, &f);
    tally_add(&a->all, &f, "%s", what);
}

static void one_table(struct section *s, struct thesis_answers *a)
{
    struct table *t = section_table(s, "questions",
                                    "URLs that are lost, in percent");

    table_columns(t, "strategy", "k", "M", COMPARED, NULL);
    one_row(t, a, "one filter, one visit",
            "thesis-5.09-non-incremental-1-filter", 3, ONE, 1);
    one_row(t, a, "temporal: two visits",
            "thesis-5.16-temporal-non-incremental", 3, ONE, 2);
    one_row(t, a, "spatial: two filters", "thesis-5.18-spatial-2-filters", 3,
            ONE, 2);
    one_row(t, a, "one filter with all their probes",
            "thesis-5.09-non-incremental-1-filter", 6, TWICE, 1);
    one_row(t, a, "one filter of their memory, best k", NULL, 0, SAME, 1);
    one_row(t, a, "spatio-temporal: two filters, two visits",
            "thesis-5.20-spatio-temporal-2-filters", 3, ONE, 4);
    one_row(t, a, "temporal, with all their probes",
            "thesis-5.16-temporal-non-incremental", 6, TWICE, 2);
}

static void table_of_salts(struct section *s, struct thesis_answers *a)
{
    struct table *t = section_table(
        s, "questions-salts",
        "One function with salts, and three functions: URLs that are lost, "
        "in percent");

    table_columns(t, "kind", "k", "M", COMPARED, NULL);
    for (unsigned i = 0; i < 2; i++) {
        table_text(t, "%s", kind[i]);
        table_number(t, a->t.cell[ONE].k, 0);
        table_number(t, a->t.cell[ONE].M, 2);
        table_finding(t, &a->salts[i]);
        tally_add(&a->all, &a->salts[i], "%s", kind[i]);
    }
}

/* "0.773 %, in theory 0.771 %": what filters of a cell lose. */
struct loss_text {
    char text[64];
};

static struct loss_text loss(const struct thesis_answers *a, size_t cell,
                             unsigned filters)
{
    struct finding f;
    struct loss_text loss_of;

    trial_finding(&a->t, cell, filters, NAN, NAN, &f);
    snprintf(loss_of.text, sizeof loss_of.text, "%.*f %%, in theory %.*f %%",
             f.digits, f.measured, f.digits, f.theory);
    return loss_of;
}

static void answer_strategies(struct section *s,
                              const struct thesis_answers *a)
{
    double one = trial_theory(&a->t, ONE, 1);

    section_text(
        s,
        "Can the rate be reduced by other hash functions on a revisit? "
        "Yes, without more memory: one visit loses %s, two visits lose "
        "%s, which is the square. In theory a page waits %.3f visits on "
        "average. Crawled in a new order each time, fewer still are "
        "lost (temporal-visits).",
        loss(a, ONE, 1).text, loss(a, ONE, 2).text, one / (1 - one));
    section_text(
        s,
        "Can it be reduced by several filters with different hash functions? "
        "Only as far as their memory does in one filter: one filter of the "
        "memory and probes of two loses %s, which is what theory says of the "
        "two, and one whose k is the best for that memory %s (free-and-paid). "
        "Two filters at once and two visits are counted together here: they "
        "are the same two filters.",
        loss(a, TWICE, 1).text, loss(a, SAME, 1).text);
    section_text(
        s,
        "Do both together gain more than each alone? More than each: "
        "they lose %s. But in theory the temporal strategy on one "
        "filter of that memory loses as few (measured: %.5f %%): only "
        "the visits gain.",
        loss(a, ONE, 4).text, 100 * trial_share(&a->t, TWICE, 2));
}

static void answer_rest(struct section *s, const struct thesis_answers *a)
{
    const struct paper_table *p = paper_table(
        "thesis-5.13-to-5.15-collections");
    const struct finding *salts = a->salts;
    bool alike = finding_judge(&salts[0], THEORY) == AGREES &&
                 finding_judge(&salts[1], THEORY) == AGREES;

    section_text(
        s,
        "Does one hash function with k salts do as well as k functions? %s: "
        "Jenkins' with three salts loses %.3f %%, three different functions "
        "%.3f %%, and theory says %.3f %% of both. Hashing k times is not "
        "needed either: all of our own filters hash a URL once "
        "(tables-5.1-5.8, hash-evenness).",
        alike ? "Yes" : "Not here", salts[0].measured, salts[1].measured,
        salts[0].theory);
    section_text(s,
                 "How can the loss of pages be limited, and memory saved? By "
                 "a filter whose memory goes to probes rather than to M "
                 "(k-against-M), by visits with new seeds in a new order, and "
                 "by one that grows where the number of URLs is not known "
                 "(temporal-sizes). A hash set of these URLs takes %.0f bytes "
                 "each; the thesis measured %.0f for Java's. A filter takes "
                 "%.2f if in theory %.1f %% may be lost on a visit, %.2f if "
                 "%.2f %% may.",
                 a->set,
                 paper_number(p, paper_row(p, "HashSet"), 1, NULL) * 1024 /
                     thesis_says("urls"),
                 a->t.cell[ONE].k * a->t.cell[ONE].M / 8,
                 100 * trial_theory(&a->t, ONE, 1),
                 a->t.cell[SAME].k * a->t.cell[SAME].M / 8,
                 100 * trial_theory(&a->t, SAME, 1));
    section_text(
        s,
        "Of our %zu rates in the tables %zu agree with theory%s; of %zu "
        "published ones %zu do.",
        a->all.judged, a->all.agree,
        a->all.differ ? ", so that the answers above are to be doubted" : "",
        a->all.published, a->all.published - a->all.theirs);
}

void questions(struct lab *lab, struct section *s)
{
    struct thesis_shape cell[CELLS] = { { 3, 1.7 }, { 6, 1.7 }, { 0 } };
    double bits = cell[TWICE].k * cell[TWICE].M;
    struct thesis_answers a = { .t = { .what = "the questions",
                                       .cell = cell,
                                       .cells = CELLS,
                                       .filters = 4,
                                       .runs = lab_runs(lab, 10, 20, 100) } };

    section_text(s,
                 "The thesis asks three questions about its strategies, and "
                 "a fourth about salted hash functions (section 1.5), to "
                 "solve two problems: pages that are lost, and memory "
                 "(1.3). It answers: yes for the temporal strategy; for the "
                 "spatial one yes, but not compared to one filter with as "
                 "many hash functions; the same for both together; yes for "
                 "salts. Here are the answers with theory and at the same "
                 "memory.");
    cell[SAME].k = (unsigned)round(bits * log(2));
    cell[SAME].M = bits / cell[SAME].k;
    a.t.n = thesis_n(lab, 100000, 1000000, 1000000);
    trial_run(lab, &a.t);
    thesis_sizes(lab, s, a.t.n, a.t.runs);
    compare_salts(lab, &a);
    weigh(lab, &a);
    one_table(s, &a);
    table_of_salts(s, &a);
    answer_strategies(s, &a);
    answer_rest(s, &a);
    trial_clear(&a.t);
}
