/*
 * filter_times.c - Tables A.1 to A.6: milliseconds per million URLs of
 * filters.
 *
 * Texts are in memory before the clock starts, which is that of the
 * processor. What can be compared with the thesis is the shape, which it
 * claims to be linear in the number of hash functions: t = a + b k is fitted
 * to its times and to ours, of filters by hand as it wrote them, of the same
 * filters in the library, and of the library's own.
 */
#include "thesis.h"

#include <stdio.h>
#include <stdlib.h>

#include "../byhand.h"
#include "../corpus.h"
#include "grid.h"
#include "larger.h"

enum { ASK, ADD, WHATS };
enum { BY_HAND, LIBRARY, ONCE, WAYS };
enum { MOST_FILTERS = 3 };

static const char *const way_name[WAYS] = { "by hand", "bloom:jenkins",
                                            "bloom, hashed once" };

struct times {
    double t[WHATS][WAYS];
};

struct timed {
    struct grid published[WHATS][MOST_FILTERS];
    struct corpus in, out;
    unsigned tries;
    struct times *of; /* by filters and cell */
    bool *answer;
};

static double per_million(double begin, size_t n)
{
    return (lab_cpu_clock() - begin) * 1e9 / (double)n;
}

static void time_by_hand(const struct timed *w, const struct thesis_shape *c,
                         unsigned filters, struct times *best)
{
    const struct seen_key *in = w->in.key, *out = w->out.key;
    size_t n = w->in.n;
    /* The times of the thesis are those of all hashes: so it computed them
       all, whatever its Algorithm 2 says of leaving the loop. */
    struct byhand b = {
        .whole = true, .filters = filters, .k = c->k, .m = shape_bits(c, n)
    };
    double begin;

    byhand_init(&b, 1);
    begin = lab_cpu_clock();
    for (size_t i = 0; i < n; i++)
        byhand_add(&b, in[i].text, in[i].len);
    best->t[ADD][BY_HAND] = fmin(best->t[ADD][BY_HAND], per_million(begin, n));
    begin = lab_cpu_clock();
    for (size_t i = 0; i < n; i++)
        w->answer[i] = byhand_has(&b, out[i].text, out[i].len);
    best->t[ASK][BY_HAND] = fmin(best->t[ASK][BY_HAND], per_million(begin, n));
    byhand_clear(&b);
}

/* The library's, with keys hashed anew where that is the hash it takes. */
static void time_library(const struct timed *w, const struct thesis_shape *c,
                         unsigned filters, int way, struct times *best)
{
    struct seen_plan plan = {
        .capacity = w->in.n, .probes = c->k, .multiplier = c->M, .over = true
    };
    struct seen_key *in = w->in.key, *out = w->out.key;
    struct seen_filter *f;
    struct seen_error why;
    size_t n = w->in.n;
    double begin;
    int used = 0;

    if (filters > 1)
        used = snprintf(plan.kind, sizeof plan.kind, "spatial:%u/", filters);
    snprintf(plan.kind + used, sizeof plan.kind - (size_t)used, "%s",
             way == ONCE ? "bloom" : "bloom:jenkins");
    f = lab_filter(&plan);
    begin = lab_cpu_clock();
    for (size_t i = 0; i < n && way == ONCE; i++)
        seen_key_hash(&in[i], in[i].text, in[i].len);
    lab_must(seen_filter_add(f, in, n, w->answer, &why), &why);
    best->t[ADD][way] = fmin(best->t[ADD][way], per_million(begin, n));
    begin = lab_cpu_clock();
    for (size_t i = 0; i < n && way == ONCE; i++)
        seen_key_hash(&out[i], out[i].text, out[i].len);
    lab_must(seen_filter_has(f, out, n, w->answer, &why), &why);
    best->t[ASK][way] = fmin(best->t[ASK][way], per_million(begin, n));
    seen_filter_free(f);
}

/* One try of one cell. The tries of a cell lie apart in time, so that what
   disturbs the machine for a while does not disturb all of them. */
static void time_cell(void *of, unsigned i)
{
    struct timed *w = of;
    size_t cells = w->published[ADD][0].cells;
    size_t at = i % (MOST_FILTERS * cells);
    const struct thesis_shape *c = &w->published[ADD][0].cell[at % cells];
    unsigned filters = (unsigned)(at / cells) + 1;

    time_by_hand(w, c, filters, &w->of[at]);
    time_library(w, c, filters, LIBRARY, &w->of[at]);
    time_library(w, c, filters, ONCE, &w->of[at]);
}

/* --- lines --- */

/* t = a + b k by least squares, and how much of the variance that explains. */
struct fit {
    double a, b, r2;
};

static struct fit fit_k(const struct thesis_shape *cell, const double *t,
                        size_t n)
{
    double k = 0, y = 0, kk = 0, ky = 0, yy = 0, count = (double)n;
    struct fit f;

    for (size_t i = 0; i < n; i++) {
        k += cell[i].k / count;
        y += t[i] / count;
    }
    for (size_t i = 0; i < n; i++) {
        kk += pow(cell[i].k - k, 2);
        ky += (cell[i].k - k) * (t[i] - y);
        yy += pow(t[i] - y, 2);
    }
    f.b = ky / kk;
    f.a = y - f.b * k;
    f.r2 = yy > 0 ? ky * ky / (kk * yy) : 1;
    return f;
}

/* Of the published times (way = WAYS), or of ours. */
static struct fit fit_table(const struct timed *w, int what, unsigned filters,
                            int way)
{
    const struct grid *g = &w->published[what][filters - 1];
    double *t = lab_memory(g->cells, sizeof *t);
    struct fit f;

    for (size_t i = 0; i < g->cells; i++)
        t[i] = way == WAYS ? grid_published(g, i, NULL)
                           : w->of[(filters - 1) * g->cells + i].t[what][way];
    f = fit_k(g->cell, t, g->cells);
    free(t);
    return f;
}

/* --- tables --- */

static unsigned number_of(int what, unsigned filters)
{
    return what == ASK ? filters : MOST_FILTERS + filters;
}

static void one_table(struct section *s, const struct timed *w, int what,
                      unsigned filters)
{
    const struct grid *g = &w->published[what][filters - 1];
    unsigned number = number_of(what, filters);
    char name[32];
    struct table *t;

    snprintf(name, sizeof name, "table-A.%u", number);
    t = section_table(s, name,
                      "Table A.%u: to %s a million URLs, %u filter%s, in "
                      "milliseconds",
                      number, what == ASK ? "ask for" : "add", filters,
                      filters > 1 ? "s" : "");
    table_columns(t, "k", "M", "published", NULL);
    for (int way = 0; way < WAYS; way++)
        table_column(t, "%s", way_name[way]);
    for (size_t i = 0; i < g->cells; i++) {
        table_number(t, g->cell[i].k, 0);
        table_number(t, g->cell[i].M, 1);
        table_number(t, grid_published(g, i, NULL), 0);
        for (int way = 0; way < WAYS; way++)
            table_number(t, w->of[(filters - 1) * g->cells + i].t[what][way],
                         1);
    }
}

static void table_of_fits(struct section *s, const struct timed *w)
{
    struct table *t = section_table(
        s, "tables-A-fit",
        "Lines t = a + b k fitted to the six tables: b in "
        "milliseconds per million URLs, and R squared");

    table_columns(t, "table", "what", "filters", "published b", "published R2",
                  NULL);
    for (int way = 0; way < WAYS; way++) {
        table_column(t, "%s b", way_name[way]);
        table_column(t, "%s R2", way_name[way]);
    }
    for (int what = 0; what < WHATS; what++)
        for (unsigned filters = 1; filters <= MOST_FILTERS; filters++) {
            struct fit theirs = fit_table(w, what, filters, WAYS);

            table_text(t, "A.%u", number_of(what, filters));
            table_text(t, "%s", what == ASK ? "ask" : "add");
            table_number(t, filters, 0);
            table_number(t, theirs.b, 1);
            table_number(t, theirs.r2, 4);
            for (int way = 0; way < WAYS; way++) {
                struct fit f = fit_table(w, what, filters, way);

                table_number(t, f.b, 2);
                table_number(t, f.r2, 4);
            }
        }
}

static void draw(struct section *s, const struct timed *w, int what)
{
    const struct grid *g = &w->published[what][0];
    const size_t column = 1;
    struct plot *p = section_plot(
        s, what == ADD ? "times-add" : "times-ask", "hash functions k",
        "nanoseconds per URL", LOG_Y, "To %s URLs, one filter, M = %.1f",
        what == ADD ? "add" : "ask for absent", g->cell[column].M);

    plot_series(p, LINES_POINTS, "published");
    for (size_t i = column; i < g->cells; i += g->columns)
        plot_point(p, g->cell[i].k, grid_published(g, i, NULL));
    for (int way = 0; way < WAYS; way++) {
        plot_series(p, LINES_POINTS, "%s", way_name[way]);
        for (size_t i = column; i < g->cells; i += g->columns)
            plot_point(p, g->cell[i].k, w->of[i].t[what][way]);
    }
}

/* The least R squared of the six tables. */
static double worst(const struct timed *w, int way)
{
    double least = 1;

    for (int what = 0; what < WHATS; what++)
        for (unsigned filters = 1; filters <= MOST_FILTERS; filters++)
            least = fmin(least, fit_table(w, what, filters, way).r2);
    return least;
}

/* How many times as much per hash function costs with three filters. */
static double thrice(const struct timed *w, int what, int way)
{
    return fit_table(w, what, MOST_FILTERS, way).b /
           fit_table(w, what, 1, way).b;
}

static void conclude(struct section *s, const struct timed *w)
{
    const struct grid *add = &w->published[ADD][0];
    size_t first = grid_find(add, 3, 1.7), ten = grid_find(add, 10, 2.0);
    const struct times *t = &w->of[ten];

    section_text(
        s,
        "By hand, as in the thesis, a line in k explains at least "
        "%.1f %% of the variance (published: %.1f %%)%s, and three "
        "filters cost %.1f times as much per hash function as one to "
        "add to, %.1f times to ask (published: %.1f and %.1f). One "
        "more hash function costs %.0f ns to add, where it cost %.0f.",
        100 * worst(w, BY_HAND), 100 * worst(w, WAYS),
        worst(w, BY_HAND) < 0.95
            ? "; this machine was not quiet enough for more"
            : "",
        thrice(w, ADD, BY_HAND), thrice(w, ASK, BY_HAND), thrice(w, ADD, WAYS),
        thrice(w, ASK, WAYS), fit_table(w, ADD, 1, BY_HAND).b,
        fit_table(w, ADD, 1, WAYS).b);
    section_text(
        s,
        "The library computes eight of these hashes at once, and later ones, "
        "and those of a second filter, only for URLs that passed the first: "
        "with k = %u, M = %.1f it asks in %.0f ns, by hand it takes %.0f. "
        "Its own bloom hashes a URL once and takes %.0f ns. So what the "
        "thesis pays for one more hash function is hashing; whether a filter "
        "is slower than a hash set is in tables-5.14-5.15.",
        add->cell[ten].k, add->cell[ten].M, t->t[ASK][LIBRARY],
        t->t[ASK][BY_HAND], t->t[ASK][ONCE]);
    section_text(
        s,
        "Section 5.6.1 gives %.0f ms for adding with three hash functions, "
        "where Table A.4 has %.0f at M = %.1f and %.0f at M = %.1f: the "
        "number is from Table A.1, which has lookups. Its %.0f ms for four "
        "are from Table A.4.",
        thesis_says("add-k3"), grid_published(add, first, NULL),
        add->cell[first].M, grid_published(add, first + 1, NULL),
        add->cell[first + 1].M, thesis_says("add-k4"));
}

static void read_tables(struct timed *w)
{
    for (unsigned f = 1; f <= MOST_FILTERS; f++) {
        char name[64];

        snprintf(name, sizeof name, "thesis-A.%u-query-time-%u-filters", f, f);
        grid_read(&w->published[ASK][f - 1], name);
        snprintf(name, sizeof name, "thesis-A.%u-add-time-%u-filters",
                 MOST_FILTERS + f, f);
        grid_read(&w->published[ADD][f - 1], name);
    }
}

void tables_A_1_A_6(struct lab *lab, struct section *s)
{
    struct timed w = { .tries = lab_runs(lab, 5, 3, 3) };
    size_t cells;
    uint64_t n = thesis_n(lab, 5000, 100000, 1000000);

    section_text(s, "How long it takes to add a million URLs to one, two and "
                    "three filters, and to ask for a million others. The "
                    "thesis finds times linear in the number of hash "
                    "functions, concludes that a larger M is cheaper than a "
                    "larger k, and that a filter is slower than a hash set.");
    section_text(
        s,
        "Here: n = %s URLs, their time scaled to a million; the best of %u "
        "tries, in CPU time.",
        lab_count((double)n), w.tries);
    read_tables(&w);
    cells = MOST_FILTERS * w.published[ADD][0].cells;
    corpus_init(&w.in, lab->urls, 0, (size_t)n);
    corpus_init(&w.out, lab->urls, n, (size_t)n);
    w.of = lab_memory(cells, sizeof *w.of);
    w.answer = lab_memory((size_t)n, sizeof *w.answer);
    for (size_t i = 0; i < cells * WHATS * WAYS; i++)
        w.of[i / (WHATS * WAYS)].t[i / WAYS % WHATS][i % WAYS] = INFINITY;
    lab_alone(lab, "times of filters", w.tries * (unsigned)cells, time_cell,
              &w);
    for (int what = 0; what < WHATS; what++)
        for (unsigned f = 1; f <= MOST_FILTERS; f++)
            one_table(s, &w, what, f);
    draw(s, &w, ADD);
    draw(s, &w, ASK);
    table_of_fits(s, &w);
    conclude(s, &w);
    larger_k_or_M(lab, s);
    for (int what = 0; what < WHATS; what++)
        for (unsigned f = 0; f < MOST_FILTERS; f++)
            grid_clear(&w.published[what][f]);
    corpus_clear(&w.in);
    corpus_clear(&w.out);
    free(w.answer);
    free(w.of);
}
