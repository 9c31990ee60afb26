/*
 * sizes.c - the temporal strategy when the number of URLs is not known.
 *
 * Section 7.2.1 of the thesis proposes two ways out, and tests neither: a
 * scalable filter, and a filter that is sized on the second visit by what
 * the first one counted. Both are here, beside a filter that keeps its wrong
 * size. The guess is 0.1 to 10 times the true number.
 */
#include "thesis.h"

#include <stdlib.h>
#include <string.h>

#include "../band.h"
#include "grid.h"
#include "grown.h"

static const double guess[] = { 0.1, 0.2, 0.5, 1, 2, 5, 10 };
static const double planned = 0.01;

enum { GUESSES = sizeof guess / sizeof *guess };
enum way { FIXED, COUNTED, GROWING, WAYS };

static const char *const way_name[WAYS] = {
    "bloom of the size guessed", "bloom, sized anew on visit 2",
    "growing/bloom from the size guessed"
};

/* What two visits of one run gave. */
struct visit_outcome {
    double bits[2];     /* a URL, on each visit */
    double first, both; /* shares that were lost */
    double theory_first, theory_both;
    double spread; /* of a first visit's rate from filter to filter */
};

struct guesses {
    struct lab *lab;
    uint64_t n;
    struct visit_outcome *outcome; /* by guess, way and run */
    unsigned runs;
};

/* One visit: fill, ask, and compute what to expect. */
static struct seen_filter *visit(const struct guesses *g, enum way way,
                                 double capacity, uint64_t from, uint64_t seed,
                                 bool *lost, double *rate, double *theory,
                                 double *spread)
{
    struct seen_plan plan = { .kind = "bloom",
                              .capacity = (uint64_t)fmax(1, round(capacity)),
                              .rate = planned,
                              .seed = seed,
                              .over = true };
    const struct urls *urls = g->lab->urls;
    struct seen_filter *f;
    const struct seen_plan *made;

    if (way == GROWING)
        strcpy(plan.kind, "growing/bloom");
    f = lab_filter(&plan);
    lab_add(f, urls, from, from + g->n, NULL);
    *rate = (double)lab_ask(f, urls, from + g->n, from + 2 * g->n, lost) /
            (double)g->n;
    made = seen_filter_plan(f);
    if (way == GROWING) {
        *theory = grown_rate(f, (double)g->n, spread);
    } else {
        *theory = theory_rate((double)g->n, (double)made->bits, made->probes);
        *spread = theory_spread((double)g->n, (double)made->bits,
                                made->probes);
    }
    return f;
}

static void two_visits(void *of, unsigned i)
{
    const struct guesses *g = of;
    struct visit_outcome *o = &g->outcome[i];
    enum way way = i / g->runs % WAYS;
    unsigned run = i % g->runs;
    double n = (double)g->n, capacity = guess[i / g->runs / WAYS] * n;
    uint64_t from = run * 2 * g->n, both = 0;
    uint64_t seed = seen_mix(g->lab->seed + i);
    bool *one = lab_memory(g->n, sizeof *one);
    bool *two = lab_memory(g->n, sizeof *two);
    double second, theory, spread;
    struct seen_filter *f = visit(g, way, capacity, from, seed, one, &o->first,
                                  &o->theory_first, &o->spread);

    o->bits[0] = 8 * (double)seen_filter_bytes(f) / n;
    if (way == COUNTED)
        capacity = seen_filter_entries(f);
    seen_filter_free(f);
    f = visit(g, way, capacity, from, ~seed, two, &second, &theory, &spread);
    o->bits[1] = 8 * (double)seen_filter_bytes(f) / n;
    for (uint64_t u = 0; u < g->n; u++)
        both += one[u] && two[u];
    o->both = (double)both / n;
    o->theory_both = o->theory_first * theory;
    seen_filter_free(f);
    free(two);
    free(one);
}

static struct visit_outcome mean(const struct guesses *g, size_t guess_at,
                                 enum way way)
{
    const struct visit_outcome *o = g->outcome +
                                    (guess_at * WAYS + way) * g->runs;
    struct visit_outcome sum = { 0 };

    for (unsigned r = 0; r < g->runs; r++) {
        sum.bits[0] += o[r].bits[0] / g->runs;
        sum.bits[1] += o[r].bits[1] / g->runs;
        sum.first += o[r].first / g->runs;
        sum.both += o[r].both / g->runs;
        sum.theory_first += o[r].theory_first / g->runs;
        sum.theory_both += o[r].theory_both / g->runs;
        sum.spread += o[r].spread / g->runs;
    }
    return sum;
}

/* The spread is that of the first visit, and of the second if it has the
   same size; a filter that is sized anew varies much less. */
static struct finding judge(const struct guesses *g,
                            const struct visit_outcome *o, enum way way,
                            int visits)
{
    double trials = (double)g->n * g->runs;
    double share = o->spread / fmax(o->theory_first, 1e-300);

    if (visits == 1)
        return finding_of_share(o->theory_first, o->first, trials, o->spread,
                                g->runs);
    if (way != COUNTED)
        share *= sqrt(2);
    return finding_of_share(o->theory_both, o->both, trials,
                            share * o->theory_both, g->runs);
}

static void write_rows(struct section *s, const struct guesses *g,
                       struct tally *all)
{
    struct table *t = section_table(
        s, "temporal-sizes",
        "URLs lost when the number of URLs is guessed, in percent; planned: "
        "%g on a visit",
        100 * planned);

    table_columns(t, "guessed / true", "filter", "visits", "bits per URL",
                  COMPARED, NULL);
    for (size_t i = 0; i < GUESSES; i++)
        for (enum way way = 0; way < WAYS; way++)
            for (int visits = 1; visits <= 2; visits++) {
                struct visit_outcome o = mean(g, i, way);
                struct finding f = judge(g, &o, way, visits);

                table_number(t, guess[i], 1);
                table_text(t, "%s", way_name[way]);
                table_number(t, visits, 0);
                table_number(t, o.bits[visits - 1], 1);
                table_finding(t, &f);
                tally_add(all, &f, "%s", way_name[way]);
            }
}

/*
 * What was promised: at most the planned rate, of a filter that grows
 * whatever was guessed, of others if at least as many URLs were guessed as
 * came. This is judged by the plan alone.
 */
static void write_promises(struct section *s, const struct guesses *g,
                           struct tally *all)
{
    struct table *t = section_table(
        s, "temporal-sizes-planned",
        "URLs lost on one visit, in percent, beside the most that was "
        "planned");

    table_columns(t, "guessed / true", "filter", COMPARED, NULL);
    for (size_t i = 0; i < GUESSES; i++)
        for (enum way way = 0; way < WAYS; way++) {
            struct visit_outcome o = mean(g, i, way);
            struct finding f = finding_of_promise(
                planned, o.first, (double)g->n * g->runs, o.spread, g->runs);

            if (way == COUNTED || (way == FIXED && guess[i] < 1))
                continue;
            table_number(t, guess[i], 1);
            table_text(t, "%s", way_name[way]);
            table_finding(t, &f);
            tally_add(all, &f, "%s", way_name[way]);
        }
}

static void draw(struct section *s, const struct guesses *g)
{
    struct plot *p = section_plot(
        s, "plot-sizes", "size guessed / true", "lost on both visits, percent",
        LOG_X | LOG_Y,
        "Two visits, size unknown, measured (points) and by theory");

    for (enum way way = 0; way < WAYS; way++) {
        plot_series(p, POINTS, "%s", way_name[way]);
        for (size_t i = 0; i < GUESSES; i++)
            plot_point(p, guess[i], 100 * mean(g, i, way).both);
        plot_series(p, LINES, "%s", "");
        for (size_t i = 0; i < GUESSES; i++)
            if (mean(g, i, way).theory_both > 1e-9) /* and less is nothing */
                plot_point(p, guess[i], 100 * mean(g, i, way).theory_both);
    }
}

static void conclude(struct section *s, const struct guesses *g,
                     const struct tally *rates, const struct tally *promises)
{
    struct visit_outcome small[WAYS], right = mean(g, 3, FIXED),
                                      large = mean(g, GUESSES - 1, GROWING);

    for (enum way way = 0; way < WAYS; way++)
        small[way] = mean(g, 0, way);
    section_text(s,
                 "Of %zu shares %zu agree with theory: %s. Of %zu rates that "
                 "were planned %zu are kept.",
                 rates->judged, rates->agree,
                 rates->differ
                     ? "not everywhere do two visits lose the product of what "
                       "each loses"
                     : "two visits lose the product of what each loses, "
                       "whatever the filter is. The reduction applies to a "
                       "growing filter as well, which was the question",
                 promises->bounds, promises->kept);
    section_text(
        s,
        "Guessed right, two visits lose %.4f %%, in theory %.4f %%. Guessed "
        "ten times too small, a filter of fixed size is full long before the "
        "end and two visits lose %.1f %%; one that is sized anew by the first "
        "one's count of set bits loses %.3f %%, since its first visit was as "
        "bad; one that grows loses %.5f %%, in theory %.5f %%, with %.1f bits "
        "per URL in place of %.1f. Guessed ten times too large, the first "
        "part of a growing filter is too large as well, %.0f bits per URL: it "
        "is safe, but not small.",
        100 * right.both, 100 * right.theory_both, 100 * small[FIXED].both,
        100 * small[COUNTED].both, 100 * small[GROWING].both,
        100 * small[GROWING].theory_both, small[GROWING].bits[1],
        right.bits[1], large.bits[1]);
}

void temporal_sizes(struct lab *lab, struct section *s)
{
    struct guesses g = { .lab = lab, .runs = lab_runs(lab, 4, 4, 20) };
    struct tally all = { 0 }, promises = { 0 };

    section_text(s, "The thesis leaves open what happens when the number of "
                    "URLs is not known (section 7.2.1), and proposes to test "
                    "the temporal strategy with a scalable Bloom filter, or "
                    "with a filter that is sized on the second visit by what "
                    "the first one counted.");
    g.n = thesis_n(lab, 100000, 500000, 1000000);
    g.outcome = lab_memory((size_t)GUESSES * WAYS * g.runs, sizeof *g.outcome);
    lab_each(lab, "sizes that were guessed", GUESSES * WAYS * g.runs,
             two_visits, &g);
    thesis_sizes(lab, s, g.n, g.runs);
    write_rows(s, &g, &all);
    write_promises(s, &g, &promises);
    draw(s, &g);
    conclude(s, &g, &all, &promises);
    free(g.outcome);
}
