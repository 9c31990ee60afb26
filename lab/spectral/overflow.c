/*
 * overflow.c - counters that are full, by their width.
 *
 * A counter of W bits ends at 2^W - 1. One that gets there stays there, since
 * what came after was not counted and cannot be subtracted. Two streams of
 * repeated URLs, one with all URLs alike and one by Zipf's law, fill filters
 * of each width; stuck counters are counted at several lengths of the stream.
 * At the end everything is removed.
 *
 * Theory, for the counts c_i that the URLs have then (zipf.c): with X the
 * value of a counter and T = 2^W - 1, P(X >= T) are stuck. A URL that was
 * taken back is still found if all its k counters are stuck, so with chance
 * P(X >= T - c_i)^k, as the others bring what it does not itself.
 *
 * The band. With the counts known, only where the probes fall is chance, and
 * that varies less than m independent trials would: vary.c. Where it varies by
 * few counters these are rare events, collisions mostly, that may make the
 * number larger or smaller: the band is as wide, on both sides, as a Poisson
 * variable of that variance reaches above its mean.
 */
#include "spectral.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../band.h"

enum { CELLS = 10 /* a URL */, WIDTHS = 4, STREAMS = 2 };
static const unsigned width[WIDTHS] = { 4, 8, 16, 32 };
static const double exponent[STREAMS] = { 0, 1 };
static const char *const stream_name[STREAMS] = { "alike", "Zipf" };
/* Visits to a URL, on average, at which counters are looked at. */
static const unsigned visits[] = { 1, 2, 5, 10, 30, 100, 300 };
enum { TIMES = sizeof visits / sizeof *visits };

/* What one filter came to. */
struct trial {
    double stuck[TIMES], theory[TIMES]; /* shares of all counters */
    double varies[TIMES];               /* the variance of their number */
    double left;                        /* not 0 when all is taken back */
    double found, found_theory;         /* of the URLs, then */
    double found_varies;                /* the variance of their number */
};

struct overflow {
    struct lab *lab;
    uint64_t n;
    unsigned runs;
    struct trial *trial; /* by stream, width and run */
};

static uint64_t full(unsigned w)
{
    return (UINT64_C(1) << width[w]) - 1;
}

/* The share of counters that are stuck; W divides 64. */
static double stuck_share(const struct seen_filter *f, unsigned w,
                          uint64_t cells)
{
    const uint64_t *word = (const void *)seen_filter_memory(f);
    uint64_t stuck = 0;

    for (uint64_t i = 0; i < cells; i++) {
        uint64_t bit = i * width[w];

        stuck += (word[bit / 64] >> bit % 64 & full(w)) == full(w);
    }
    return (double)stuck / (double)cells;
}

/* P(X >= t) for t up to T; no stream here is long enough for 32 bits. */
static double *tail_of(const struct zipf *s, unsigned w, uint64_t cells)
{
    double *tail;

    if (width[w] > 16)
        return NULL;
    tail = lab_memory(full(w) + 1, sizeof *tail);
    zipf_tail(s->count, s->n, (double)cells, notes_probes(CELLS), full(w),
              tail);
    return tail;
}

/* What theory says of URLs found after all were taken back. */
static void expect_found(struct trial *t, const struct zipf *s, unsigned w,
                         uint64_t cells, const double *tail)
{
    double k = notes_probes(CELLS), n = (double)s->n;

    for (uint64_t i = 0; i < s->n && tail; i++) {
        double g = s->count[i] < full(w) ? tail[full(w) - s->count[i]] : 1;

        if (!s->count[i])
            g = tail[full(w)];
        t->found_theory += pow(g, k) / n;
    }
    if (tail)
        t->found_varies = vary_found(s, (double)cells, k, full(w), tail);
}

/* Take back every visit there was. */
static void take_back(struct seen_filter *f, const struct zipf *s)
{
    enum { BATCH = 256 };
    struct seen_key key[BATCH];

    for (uint64_t i = 0; i < s->n; i++) {
        for (unsigned j = 0; j < BATCH && j < s->count[i]; j++)
            key[j] = s->urls.key[i];
        for (uint64_t done = 0, some; done < s->count[i]; done += some) {
            some = s->count[i] - done < BATCH ? s->count[i] - done : BATCH;
            keys_remove(f, key, some);
        }
    }
}

static void run_one(void *of, unsigned i)
{
    struct overflow *o = of;
    struct trial *t = &o->trial[i];
    unsigned run = i % o->runs, w = i / o->runs % WIDTHS;
    unsigned kind = i / o->runs / WIDTHS;
    uint64_t cells = o->n * CELLS, drawn = 0, seed = o->lab->seed + run;
    struct seen_filter *f;
    struct zipf s;
    char name[32];
    double *tail;

    snprintf(name, sizeof name, "counting:%u", width[w]);
    f = keys_filter(name, o->n, cells, width[w], notes_probes(CELLS), seed);
    zipf_init(&s, o->lab, o->n * run, o->n, exponent[kind], seed);
    for (unsigned at = 0; at < TIMES; at++) {
        zipf_into(&s, &f, 1, visits[at] * o->n - drawn);
        drawn = visits[at] * o->n;
        t->stuck[at] = stuck_share(f, w, cells);
        tail = tail_of(&s, w, cells);
        t->theory[at] = tail ? tail[full(w)] : 0;
        t->varies[at] = tail ? vary_stuck(&s, (double)cells,
                                          notes_probes(CELLS), full(w), tail)
                             : 0;
        if (at == TIMES - 1)
            expect_found(t, &s, w, cells, tail);
        free(tail);
    }
    take_back(f, &s);
    t->left = (double)seen_filter_cells_set(f) / (double)cells;
    t->found = (double)keys_ask(f, s.urls.key, s.n, NULL) / (double)s.n;
    zipf_clear(&s);
    seen_filter_free(f);
}

/* The mean of all runs of a stream and a width; of variances, the sum. */
static struct trial mean_of(const struct overflow *o, unsigned kind,
                            unsigned w)
{
    struct trial mean = { .left = 0 };

    for (unsigned run = 0; run < o->runs; run++) {
        const struct trial *t = &o->trial[(kind * WIDTHS + w) * o->runs + run];

        for (unsigned at = 0; at < TIMES; at++) {
            mean.stuck[at] += t->stuck[at] / o->runs;
            mean.theory[at] += t->theory[at] / o->runs;
            mean.varies[at] += t->varies[at];
        }
        mean.left += t->left / o->runs;
        mean.found += t->found / o->runs;
        mean.found_theory += t->found_theory / o->runs;
        mean.found_varies += t->found_varies;
    }
    return mean;
}

/* The band of a share, given the variance of the number. The half allows for
   theory's own rounding: its cells are Poisson variables. */
static struct band band_of(const struct overflow *o, double share,
                           double variance, double of)
{
    const double many = 1e12; /* rare events, as Poisson has them */
    double reach = many * band_share(variance / many, many, 0, 0).high -
                   variance;
    double e = (fmax(0, reach) + 0.5 * o->runs) / (of * o->runs);

    return (struct band){ fmax(0, share - e), fmin(1, share + e) };
}

static void show_stuck(struct section *s, const struct overflow *o)
{
    struct table *t = section_table(
        s, "spectral-overflow-stuck",
        "Counters that are stuck at 2^W - 1, in percent of all, by the visits "
        "to a URL on average");

    table_columns(t, "stream", "W", "visits", COMPARED, NULL);
    for (unsigned kind = 0; kind < STREAMS; kind++)
        for (unsigned w = 0; w < WIDTHS; w++) {
            struct trial mean = mean_of(o, kind, w);

            for (unsigned at = 0; at < TIMES; at++) {
                struct finding f = band_percent(mean.theory[at],
                                                band_of(o, mean.theory[at],
                                                        mean.varies[at],
                                                        (double)o->n * CELLS),
                                                mean.stuck[at], 4);

                table_text(t, "%s", stream_name[kind]);
                table_number(t, width[w], 0);
                table_number(t, visits[at], 0);
                table_finding(t, &f);
            }
        }
}

static void show_plot(struct section *s, const struct overflow *o)
{
    struct plot *p = section_plot(
        s, "spectral-overflow", "visits to a URL, on average",
        "stuck counters, percent", LOG_X | LOG_Y,
        "Counters of W bits that are stuck, measured (points) and by theory");

    for (unsigned kind = 0; kind < STREAMS; kind++)
        for (unsigned w = 0; w < WIDTHS; w++) {
            struct trial mean = mean_of(o, kind, w);
            double least = 0.5 / ((double)o->n * CELLS * o->runs);

            if (!(mean.stuck[TIMES - 1] > 0))
                continue;
            plot_series(p, POINTS, "%s, W = %u", stream_name[kind], width[w]);
            for (unsigned at = 0; at < TIMES; at++)
                plot_point(p, visits[at], 100 * mean.stuck[at]);
            plot_series(p, LINES, "%s", "");
            for (unsigned at = 0; at < TIMES; at++)
                if (mean.theory[at] > least) /* half a counter */
                    plot_point(p, visits[at], 100 * mean.theory[at]);
        }
}

static void show_left(struct section *s, const struct overflow *o)
{
    struct table *t = section_table(
        s, "spectral-overflow-left",
        "After %u visits to a URL on average, all of them taken back: "
        "counters that are not 0, in percent (theory: those that were stuck), "
        "and URLs that are still found",
        visits[TIMES - 1]);

    table_columns(t, "stream", "W", "of", COMPARED, NULL);
    for (unsigned kind = 0; kind < STREAMS; kind++)
        for (unsigned w = 0; w < WIDTHS; w++) {
            struct trial mean = mean_of(o, kind, w);
            double stuck = mean.stuck[TIMES - 1];
            struct finding left = band_percent(
                stuck, (struct band){ stuck, stuck }, mean.left, 4);
            struct finding found = band_percent(
                mean.found_theory,
                band_of(o, mean.found_theory, mean.found_varies, (double)o->n),
                mean.found, 4);

            table_text(t, "%s", stream_name[kind]);
            table_number(t, width[w], 0);
            table_text(t, "counters");
            table_finding(t, &left);
            table_text(t, "%s", stream_name[kind]);
            table_number(t, width[w], 0);
            table_text(t, "URLs");
            table_finding(t, &found);
        }
}

/* The widths without a stuck counter, as a text. */
static void list_safe(const struct overflow *o, unsigned kind, char *text,
                      size_t room)
{
    *text = '\0';
    for (unsigned w = 0; w < WIDTHS; w++)
        if (!(mean_of(o, kind, w).stuck[TIMES - 1] > 0)) {
            size_t len = strlen(text);

            snprintf(text + len, room - len, "%s%u", len ? ", " : "",
                     width[w]);
        }
    if (!*text)
        snprintf(text, room, "none");
}

static void conclude(struct section *s, const struct overflow *o)
{
    struct trial alike = mean_of(o, 0, 0), zipf = mean_of(o, 1, 0);
    char safe[STREAMS][32];

    for (unsigned kind = 0; kind < STREAMS; kind++)
        list_safe(o, kind, safe[kind], sizeof safe[kind]);
    section_text(
        s,
        "The notes' arrays of integers have no width, and so cannot overflow. "
        "With one visit to a URL, %.2g %% of the counters of %u bits are "
        "stuck (%.2g %% by Zipf's law, where the first URLs come often "
        "already); with %u visits %.3g %% and %.3g %%. Widths that no counter "
        "filled: %s where all come alike, %s by Zipf's law. A stuck counter "
        "is never lowered, since a count below the truth would deny a URL "
        "that is there; so after everything was removed exactly the stuck "
        "ones are left, and URLs whose counters are all stuck are found "
        "forever: %.3g %% of them with %u bits by Zipf's law. Counters that "
        "must support removal need room for the visits of the most visited "
        "URL; counters that only separate seen from new can be the narrowest.",
        100 * alike.stuck[0], width[0], 100 * zipf.stuck[0], visits[TIMES - 1],
        100 * alike.stuck[TIMES - 1], 100 * zipf.stuck[TIMES - 1], safe[0],
        safe[1], 100 * zipf.found, width[0]);
}

void spectral_overflow(struct lab *lab, struct section *s)
{
    struct overflow o = {
        .lab = lab,
        .n = lab_fit(lab, lab_n(lab, 5000, 50000, 500000), 1),
        .runs = lab_runs(lab, 2, 2, 4),
    };
    unsigned trials = STREAMS * WIDTHS * o.runs;

    o.trial = lab_memory(trials, sizeof *o.trial);
    lab_each(lab, "streams", trials, run_one, &o);
    section_text(
        s,
        "In the notes \"%s\", \"%s\" and \"%s\", without the size of an "
        "integer. Here counters have 4 to 32 bits and stay at the largest "
        "number that they reach. Two streams of %s URLs, %d counters each and "
        "k = %u, in %u runs: one in which all come alike, one by Zipf's law.",
        notes_say("counts"), notes_say("insertion"), notes_say("deletion"),
        lab_count((double)o.n), CELLS, notes_probes(CELLS), o.runs);
    show_stuck(s, &o);
    show_plot(s, &o);
    show_left(s, &o);
    conclude(s, &o);
    free(o.trial);
}
