/*
 * times.c - Tables 5.14, 5.15 and A.1 to A.6: milliseconds a million URLs.
 *
 * Texts and keys are in memory before the clock starts, which is that of the
 * processor: others may use the machine, too. There is no theory
 * to judge by: machines, languages and fifteen years lie between. What can be
 * compared is the shape, which the thesis claims to be linear in the number
 * of hash functions: t = a + b k is fitted to theirs and to ours.
 */
#include "thesis.h"

#include <stdio.h>
#include <stdlib.h>

#include "collections.h"
#include "../published.h"
#include "corpus.h"
#include "grid.h"

/* Milliseconds a million, of so many done since `begin`. */
static double per_million(double begin, double n)
{
    return (thesis_clock() - begin) * 1e9 / n;
}

/* --- Tables 5.14 and 5.15 --- */

struct collection {
    struct corpus in, out;
    size_t queries;        /* of the array */
    double add[2], ask[2]; /* the best so far, of array and set */
    size_t found;          /* so that nothing is optimised away */
};

static void measure_collections(void *of, unsigned run)
{
    struct collection *c = of;
    double n = (double)c->in.n, begin, t;

    for (int is_set = 0; is_set < 2; is_set++) {
        struct strings strings = { 0 };
        size_t queries = is_set ? c->out.n : c->queries;

        begin = thesis_clock();
        for (size_t i = 0; i < c->in.n; i++) {
            if (is_set)
                set_add(&strings, c->in.key[i].text, c->in.key[i].len);
            else
                array_add(&strings, c->in.key[i].text, c->in.key[i].len);
        }
        t = per_million(begin, n);
        c->add[is_set] = run ? fmin(t, c->add[is_set]) : t;
        begin = thesis_clock();
        for (size_t i = 0; i < queries; i++)
            c->found += is_set ? set_has(&strings, c->out.key[i].text,
                                         c->out.key[i].len)
                               : array_has(&strings, c->out.key[i].text,
                                           c->out.key[i].len);
        t = per_million(begin, (double)queries);
        c->ask[is_set] = run ? fmin(t, c->ask[is_set]) : t;
        strings_clear(&strings);
    }
}

void tables_5_14_5_15(struct lab *lab, struct sheet *s)
{
    const struct published *p = published("thesis-5.13-to-5.15-collections");
    static const char *const ours[] = { "array of strings",
                                        "hash set of strings" };
    struct collection c = { .queries = 100 };
    unsigned runs = lab_runs(lab, 3, 3, 10);
    uint64_t n;
    struct table *t;

    sheet_text(s, "How long it takes to add URLs to a list and to a hash set, "
                  "and to ask for as many that are not there. The thesis "
                  "finds the list fast to add to and useless to ask, with a "
                  "hundred questions timed and the rest calculated, and the "
                  "hash set faster than a Bloom filter.");
    n = thesis_n(lab, 100000, 1000000, 1000000);
    corpus_make(&c.in, URLS, lab->urls, 0, (size_t)n);
    corpus_make(&c.out, URLS, lab->urls, n, (size_t)n);
    lab_alone(lab, "an array and a hash set", runs, measure_collections, &c);
    if (c.found)
        lab_fail("a URL that was never added is in an array or a hash set");
    t = sheet_table(s, "tables-5.14-5.15",
                    "Tables 5.14 and 5.15: milliseconds a million URLs, best "
                    "of %u runs with %llu",
                    runs, (unsigned long long)n);
    table_columns(t, "published for", "measured of", "add, published",
                  "add, measured", "ask, published", "ask, measured", NULL);
    for (size_t i = 0; i < 2; i++) {
        table_text(t, "%s", published_text(p, i, 0));
        table_text(t, "%s", ours[i]);
        table_number(t, published_number(p, i, 2, NULL), 0);
        table_number(t, c.add[i], 0);
        table_number(t, published_number(p, i, 3, NULL), 0);
        table_number(t, c.ask[i], 0);
    }
    sheet_text(s,
               "A question to the array takes as long as %.0f to the set "
               "(published: %.0f), and the more the longer the array is; "
               "those of %llu questions that were not asked of it are "
               "calculated here, too. Our array copies each string, which "
               "Java's need not. What the set costs is memory: see "
               "table-5.13.",
               c.ask[0] / c.ask[1],
               published_number(p, 0, 3, NULL) /
                   published_number(p, 1, 3, NULL),
               (unsigned long long)n);
    corpus_clear(&c.in);
    corpus_clear(&c.out);
}

/* --- Tables A.1 to A.6 --- */

enum { MOST_FILTERS = 3 };

struct timed {
    struct grid query[MOST_FILTERS], add[MOST_FILTERS];
    struct corpus in, out;
    unsigned tries;
    double *asked, *added;           /* by filters and cell */
    double *asked_ours, *added_ours; /* of one `bloom`, by cell */
};

/* The best of some tries, with keys hashed anew where that is its hash. */
static void time_filter(const struct timed *w, const struct seen_plan *plan,
                        bool hash, double *added, double *asked)
{
    struct seen_key *in = w->in.key, *out = w->out.key;
    size_t n = w->in.n;
    bool *answer = thesis_memory(n, sizeof *answer);
    struct seen_error why;

    *added = *asked = INFINITY;
    for (unsigned try = 0; try < w->tries; try++) {
        struct seen_filter *f = lab_filter(plan);
        double begin = thesis_clock();

        for (size_t i = 0; i < n && hash; i++)
            seen_key_hash(&in[i], in[i].text, in[i].len);
        lab_must(seen_filter_add(f, in, n, answer, &why), &why);
        *added = fmin(*added, per_million(begin, (double)n));
        begin = thesis_clock();
        for (size_t i = 0; i < n && hash; i++)
            seen_key_hash(&out[i], out[i].text, out[i].len);
        lab_must(seen_filter_has(f, out, n, answer, &why), &why);
        *asked = fmin(*asked, per_million(begin, (double)n));
        seen_filter_free(f);
    }
    free(answer);
}

static void time_cell(void *of, unsigned i)
{
    struct timed *w = of;
    size_t cells = w->add[0].cells, filters = i / cells + 1;
    const struct cell *c = &w->add[0].cell[i % cells];
    struct seen_plan plan = { .kind = "bloom:jenkins",
                              .capacity = w->in.n,
                              .probes = c->k,
                              .multiplier = c->M,
                              .over = true };

    if (filters > 1)
        snprintf(plan.kind, sizeof plan.kind, "spatial:%zu/bloom:jenkins",
                 filters);
    time_filter(w, &plan, false, &w->added[i], &w->asked[i]);
    if (filters == 1) {
        snprintf(plan.kind, sizeof plan.kind, "bloom");
        time_filter(w, &plan, true, &w->added_ours[i], &w->asked_ours[i]);
    }
}

/* t = a + b k by least squares, and how much of the variance that explains. */
struct fit {
    double a, b, r2;
};

static struct fit fit_k(const struct cell *cell, const double *t, size_t n)
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

struct shape {
    struct fit theirs, ours;
};

/* One of the six tables, and what lines fit it. */
static struct shape one_table(struct sheet *s, unsigned number,
                              const struct grid *g, const double *ours,
                              unsigned filters)
{
    double *theirs = thesis_memory(g->cells, sizeof *theirs);
    struct shape shape;
    char name[32];
    struct table *t;

    snprintf(name, sizeof name, "table-A.%u", number);
    t = sheet_table(s, name,
                    "Table A.%u: to %s a million URLs, %u filter%s, in "
                    "milliseconds",
                    number, number <= 3 ? "ask for" : "add", filters,
                    filters > 1 ? "s" : "");
    table_columns(t, "k", "M", "published", "measured", "times as fast", NULL);
    for (size_t i = 0; i < g->cells; i++) {
        theirs[i] = grid_published(g, i, NULL);
        table_number(t, g->cell[i].k, 0);
        table_number(t, g->cell[i].M, 1);
        table_number(t, theirs[i], 0);
        table_number(t, ours[i], 1);
        table_number(t, theirs[i] / ours[i], 1);
    }
    shape.theirs = fit_k(g->cell, theirs, g->cells);
    shape.ours = fit_k(g->cell, ours, g->cells);
    free(theirs);
    return shape;
}

static void draw(struct sheet *s, const struct timed *w, bool add)
{
    const struct grid *g = add ? &w->add[0] : &w->query[0];
    const double *salted = add ? w->added : w->asked;
    const double *once = add ? w->added_ours : w->asked_ours;
    struct plot *p = sheet_plot(s, add ? "times-add" : "times-query",
                                "hash functions k",
                                "milliseconds a million URLs", LOG_Y,
                                "To %s URLs, one filter, M = %.1f",
                                add ? "add" : "ask for absent", g->cell[1].M);

    plot_series(p, LINES_POINTS, "published");
    for (size_t i = 1; i < g->cells; i += g->columns)
        plot_point(p, g->cell[i].k, grid_published(g, i, NULL));
    plot_series(p, LINES_POINTS, "bloom:jenkins, k hashes");
    for (size_t i = 1; i < g->cells; i += g->columns)
        plot_point(p, g->cell[i].k, salted[i]);
    plot_series(p, LINES_POINTS, "bloom, hashed once");
    for (size_t i = 1; i < g->cells; i += g->columns)
        plot_point(p, g->cell[i].k, once[i]);
}

static void fit_row(struct table *t, unsigned number, unsigned filters,
                    const struct shape *shape)
{
    table_text(t, "A.%u", number);
    table_text(t, "%s", number <= 3 ? "ask" : "add");
    table_number(t, filters, 0);
    table_number(t, shape->theirs.b, 1);
    table_number(t, shape->theirs.r2, 4);
    table_number(t, shape->ours.b, 2);
    table_number(t, shape->ours.r2, 4);
}

static void read_tables(struct timed *w)
{
    for (unsigned f = 0; f < MOST_FILTERS; f++) {
        char name[64];

        snprintf(name, sizeof name, "thesis-A.%u-query-time-%u-filters", f + 1,
                 f + 1);
        grid_read(&w->query[f], name);
        snprintf(name, sizeof name, "thesis-A.%u-add-time-%u-filters", f + 4,
                 f + 1);
        grid_read(&w->add[f], name);
    }
}

/* The least R squared of the six tables, theirs or ours. */
static double worst(const struct shape *ask, const struct shape *add,
                    bool theirs)
{
    double least = 1;

    for (unsigned f = 0; f < MOST_FILTERS; f++) {
        least = fmin(least, theirs ? ask[f].theirs.r2 : ask[f].ours.r2);
        least = fmin(least, theirs ? add[f].theirs.r2 : add[f].ours.r2);
    }
    return least;
}

static void write_tables(struct sheet *s, const struct timed *w)
{
    size_t cells = w->add[0].cells, first = grid_find(&w->add[0], 3, 1.7);
    struct shape ask[MOST_FILTERS], add[MOST_FILTERS];
    struct fit once;
    struct table *t;

    for (unsigned f = 0; f < MOST_FILTERS; f++)
        ask[f] = one_table(s, f + 1, &w->query[f], w->asked + f * cells,
                           f + 1);
    for (unsigned f = 0; f < MOST_FILTERS; f++)
        add[f] = one_table(s, f + 4, &w->add[f], w->added + f * cells, f + 1);
    draw(s, w, true);
    draw(s, w, false);
    t = sheet_table(s, "tables-A-fit",
                    "Lines t = a + b k fitted to the six tables: b in "
                    "milliseconds a million URLs, and R squared");
    table_columns(t, "table", "what", "filters", "published b", "published R2",
                  "measured b", "measured R2", NULL);
    for (unsigned f = 0; f < MOST_FILTERS; f++)
        fit_row(t, f + 1, f + 1, &ask[f]);
    for (unsigned f = 0; f < MOST_FILTERS; f++)
        fit_row(t, f + 4, f + 1, &add[f]);
    once = fit_k(w->add[0].cell, w->added_ours, cells);
    sheet_text(
        s,
        "A line in k explains at least %.1f %% of the variance of the "
        "published times and %.1f %% of that of ours; the rest is M, "
        "and what else the machine did. To add to three filters costs "
        "%.1f (published) and %.1f times as much a hash function as "
        "to one. Asking three filters costs the thesis %.1f times as "
        "much, and us %.1f times, because our spatial filter asks the "
        "next one only for URLs that the one before it claims, and of "
        "absent URLs those are few.",
        100 * worst(ask, add, true), 100 * worst(ask, add, false),
        add[2].theirs.b / add[0].theirs.b, add[2].ours.b / add[0].ours.b,
        ask[2].theirs.b / ask[0].theirs.b, ask[2].ours.b / ask[0].ours.b);
    sheet_text(s,
               "That larger M is cheaper than more hash functions, as the "
               "thesis concludes, is a matter of hashing k times. The "
               "library's own bloom hashes once, and a probe more costs it "
               "%.1f ns, not the %.1f ns of one more Jenkins hash (thesis: "
               "%.0f). Section 5.6.1 gives %.0f ms for adding with three "
               "hash functions, where Table A.4 has %.0f at M = %.1f and "
               "%.0f at M = %.1f: the number is from Table A.1, which is of "
               "questions; its %.0f ms for four are from Table A.4.",
               once.b, add[0].ours.b, add[0].theirs.b, thesis_says("add-k3"),
               grid_published(&w->add[0], first, NULL),
               w->add[0].cell[first].M,
               grid_published(&w->add[0], first + 1, NULL),
               w->add[0].cell[first + 1].M, thesis_says("add-k4"));
}

void tables_A_1_A_6(struct lab *lab, struct sheet *s)
{
    struct timed w = { .tries = lab_runs(lab, 3, 3, 3) };
    size_t cells;
    uint64_t n;

    sheet_text(s, "How long it takes to add a million URLs to one, two and "
                  "three filters, and to ask for a million others. The "
                  "thesis finds times linear in the number of hash "
                  "functions, concludes that a larger M is cheaper than a "
                  "larger k, and that a filter is slower than a hash set.");
    read_tables(&w);
    cells = w.add[0].cells;
    n = thesis_n(lab, 10000, 100000, 1000000);
    corpus_make(&w.in, URLS, lab->urls, 0, (size_t)n);
    corpus_make(&w.out, URLS, lab->urls, n, (size_t)n);
    w.asked = thesis_memory(MOST_FILTERS * cells, sizeof *w.asked);
    w.added = thesis_memory(MOST_FILTERS * cells, sizeof *w.added);
    w.asked_ours = thesis_memory(cells, sizeof *w.asked_ours);
    w.added_ours = thesis_memory(cells, sizeof *w.added_ours);
    lab_alone(lab, "times of filters", (unsigned)(MOST_FILTERS * cells),
              time_cell, &w);
    write_tables(s, &w);
    for (unsigned f = 0; f < MOST_FILTERS; f++) {
        grid_clear(&w.query[f]);
        grid_clear(&w.add[f]);
    }
    corpus_clear(&w.in);
    corpus_clear(&w.out);
    free(w.asked);
    free(w.added);
    free(w.asked_ours);
    free(w.added_ours);
}
