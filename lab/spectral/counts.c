/*
 * counts.c - how wrong are counts? Minimum selection and minimal increase.
 *
 * A stream of URLs by Zipf's law goes into two filters with the same m, k
 * and seed, one that raises all k counters of a URL and one that raises only
 * the smallest (counting.c). Then the count of every URL that came is asked
 * for, and compared with the truth.
 *
 * Theory, for minimum selection. The count of a URL is too high by t or more
 * if the other URLs brought t or more to each of its k counters. With X what
 * they bring to one (zipf.c),
 *
 *     P(error >= t) = P(X >= t)^k      P(wrong) = P(X >= 1)^k
 *                                               = (1 - e^(-kn/m))^k
 *
 * for n URLs that came: a count is wrong as often as a Bloom filter is. The
 * mean error is the sum of P(X >= t)^k over t = 1, 2, ..., and the mean of
 * error / count is that times the mean of 1 / count, as the two have nothing
 * to do with each other.
 *
 * The band of that mean: the errors of u URLs deviate around what the filter
 * at hand gives on average, and that deviates from filter to filter by at
 * most the sum over t of k P(X >= t)^(k-1) sd, sd^2 = k P (1 - P) / m, since
 * counters are full k at a time.
 *
 * Minimal increase has no such formula; it can only be lower.
 */
#include "spectral.h"

#include <math.h>
#include <stdlib.h>

#include "../band.h"

enum {
    LENGTH = 10,   /* of the stream, in visits to a URL on average */
    TOP = 1 << 13, /* errors that theory sums up: beyond, (k/m)^k and less */
    CLASSES = 4,   /* of URLs by their count: 1, 2 to 9, 10 to 99, more */
    WAYS = 2       /* of counting */
};
static const char *const way_name[WAYS] = { "minimum selection",
                                            "minimal increase" };
static const char *const way_kind[WAYS] = { "counting:32",
                                            "counting:32,minimal" };
static const char *const class_name[CLASSES] = { "1", "2 to 9", "10 to 99",
                                                 "100 and more" };

/* Counters per URL, and the exponent of Zipf's law. */
static const struct setting {
    unsigned cells;
    double exponent;
} settings[] = {
    { 4, 1 },  { 6, 1 }, { 8, 1 },   { 10, 1 },  { 12, 1 },
    { 16, 1 }, { 8, 0 }, { 8, 0.5 }, { 8, 0.8 }, { 8, 1.2 },
};
enum { SETTINGS = sizeof settings / sizeof *settings, SWEEP = 6, SHOWN = 2 };

/* Errors of some URLs. */
struct errors {
    double urls, wrong, sum, relative, most;
};

struct trial {
    struct errors class[WAYS][CLASSES];
    double below[WAYS];       /* counts under the truth */
    double above;             /* of minimal increase over minimum selection */
    double wrong, relative;   /* by theory */
    double relative_variance; /* of a URL's relative error, by theory */
    double wrong_spread, relative_spread; /* of filters */
};

struct count_runs {
    struct lab *lab;
    uint64_t n;
    unsigned runs;
    struct trial *trial; /* by setting and run */
};

static unsigned class_of(uint64_t count)
{
    return count < 2 ? 0 : count < 10 ? 1 : count < 100 ? 2 : 3;
}

static void note(struct errors *e, uint64_t truth, uint64_t count)
{
    double error = (double)count - (double)truth;

    e->urls++;
    e->wrong += count != truth;
    e->sum += error;
    e->relative += error / (double)truth;
    e->most = fmax(e->most, error);
}

static void expect(struct trial *t, const struct zipf *s, double m, double k)
{
    double *tail = lab_memory(TOP + 1, sizeof *tail);
    double urls = 0, mean = 0, square = 0, spread = 0, once = 0, twice = 0;

    for (uint64_t i = 0; i < s->n; i++) {
        double count = (double)s->count[i];

        urls += count > 0;
        once += count > 0 ? 1 / count : 0;
        twice += count > 0 ? 1 / (count * count) : 0;
    }
    zipf_tail(s->count, s->n, m, k, TOP, tail);
    for (double x = 1; x <= TOP; x++) {
        double p = tail[(size_t)x];

        mean += pow(p, k);
        square += (2 * x - 1) * pow(p, k);
        spread += k * pow(p, k - 1) * sqrt(k * p * (1 - p) / m);
    }
    once /= urls;
    twice /= urls;
    t->wrong = theory_rate(urls, m, k);
    t->wrong_spread = theory_spread(urls, m, k);
    t->relative = mean * once;
    t->relative_variance = square * twice - mean * once * mean * once;
    t->relative_spread = spread * once;
    free(tail);
}

static void compare(struct trial *t, const struct zipf *s,
                    struct seen_filter *const *f)
{
    struct seen_error why;

    for (uint64_t i = 0; i < s->n; i++) {
        uint64_t truth = s->count[i], count[WAYS];

        if (!truth)
            continue;
        for (unsigned way = 0; way < WAYS; way++) {
            lab_must(seen_filter_count(f[way], &s->urls.key[i], 1, &count[way],
                                       &why),
                     &why);
            t->below[way] += count[way] < truth;
            note(&t->class[way][class_of(truth)], truth, count[way]);
        }
        t->above += count[1] > count[0];
    }
}

static void run_one(void *of, unsigned i)
{
    struct count_runs *c = of;
    const struct setting *set = &settings[i / c->runs];
    unsigned run = i % c->runs, k = notes_probes(set->cells);
    uint64_t seed = c->lab->seed + run, cells = c->n * set->cells;
    struct seen_filter *f[WAYS];
    struct zipf s;

    for (unsigned way = 0; way < WAYS; way++)
        f[way] = keys_filter(way_kind[way], c->n, cells, 32, k, seed);
    zipf_init(&s, c->lab, c->n * run, c->n, set->exponent, seed);
    zipf_into(&s, f, WAYS, LENGTH * c->n);
    compare(&c->trial[i], &s, f);
    expect(&c->trial[i], &s, (double)cells, k);
    zipf_clear(&s);
    for (unsigned way = 0; way < WAYS; way++)
        seen_filter_free(f[way]);
}

/* Sums over runs; what theory says is averaged. */
static struct trial all_runs(const struct count_runs *c, unsigned setting)
{
    struct trial all = { .above = 0 };

    for (unsigned run = 0; run < c->runs; run++) {
        const struct trial *t = &c->trial[setting * c->runs + run];

        for (unsigned way = 0; way < WAYS; way++) {
            for (unsigned i = 0; i < CLASSES; i++) {
                struct errors *to = &all.class[way][i];
                const struct errors *from = &t->class[way][i];

                to->urls += from->urls;
                to->wrong += from->wrong;
                to->sum += from->sum;
                to->relative += from->relative;
                to->most = fmax(to->most, from->most);
            }
            all.below[way] += t->below[way];
        }
        all.above += t->above;
        all.wrong += t->wrong / c->runs;
        all.wrong_spread += t->wrong_spread / c->runs;
        all.relative += t->relative / c->runs;
        all.relative_variance += t->relative_variance / c->runs;
        all.relative_spread += t->relative_spread / c->runs;
    }
    return all;
}

static struct errors all_classes(const struct trial *t, unsigned way)
{
    struct errors all = { 0 };

    for (unsigned i = 0; i < CLASSES; i++) {
        all.urls += t->class[way][i].urls;
        all.wrong += t->class[way][i].wrong;
        all.sum += t->class[way][i].sum;
        all.relative += t->class[way][i].relative;
        all.most = fmax(all.most, t->class[way][i].most);
    }
    return all;
}

static void show_theory(struct section *s, const struct count_runs *c)
{
    struct table *t = section_table(
        s, "spectral-counts-theory",
        "Minimum selection: counts that are wrong, and the mean of error / "
        "count, in percent");

    table_columns(t, "exponent", "counters per URL", "k", "of", COMPARED,
                  NULL);
    for (unsigned i = 0; i < SETTINGS; i++) {
        struct trial all = all_runs(c, i);
        struct errors e = all_classes(&all, 0);
        double sd = sqrt(all.relative_variance + all.relative_spread *
                                                     all.relative_spread *
                                                     e.urls / c->runs);
        struct finding wrong = band_percent(
            all.wrong,
            band_share(all.wrong, e.urls, all.wrong_spread, c->runs),
            e.wrong / e.urls, 4);
        struct finding mean = band_percent(all.relative,
                                           band_mean(all.relative, sd, e.urls),
                                           e.relative / e.urls, 4);

        for (unsigned of = 0; of < 2; of++) {
            table_number(t, settings[i].exponent, 1);
            table_number(t, settings[i].cells, 0);
            table_number(t, notes_probes(settings[i].cells), 0);
            table_text(t, of ? "error" : "wrong");
            table_finding(t, of ? &mean : &wrong);
        }
    }
}

static void show_ways(struct section *s, const struct count_runs *c)
{
    struct table *t = section_table(
        s, "spectral-counts-ways",
        "The two ways to count: share of wrong counts and mean of error / "
        "count, in percent; the mean error where there is one, the largest, "
        "and counts below the truth, which must not occur");

    table_columns(t, "exponent", "counters per URL", "way", "wrong", "error",
                  "if wrong", "largest", "below", NULL);
    for (unsigned i = 0; i < SETTINGS; i++) {
        struct trial all = all_runs(c, i);

        for (unsigned way = 0; way < WAYS; way++) {
            struct errors e = all_classes(&all, way);

            table_number(t, settings[i].exponent, 1);
            table_number(t, settings[i].cells, 0);
            table_text(t, "%s", way_name[way]);
            table_number(t, 100 * e.wrong / e.urls, 4);
            table_number(t, 100 * e.relative / e.urls, 4);
            table_number(t, e.wrong > 0 ? e.sum / e.wrong : NAN, 2);
            table_number(t, e.most, 0);
            table_number(t, all.below[way], 0);
        }
    }
}

static void show_classes(struct section *s, const struct count_runs *c)
{
    struct trial all = all_runs(c, SHOWN);
    struct table *t = section_table(
        s, "spectral-counts-classes",
        "Whose counts are wrong, with %u counters per URL and exponent %g: by "
        "the true count, in percent",
        settings[SHOWN].cells, settings[SHOWN].exponent);

    table_columns(t, "count", "URLs", "way", "wrong", "error", NULL);
    for (unsigned i = 0; i < CLASSES; i++)
        for (unsigned way = 0; way < WAYS; way++) {
            const struct errors *e = &all.class[way][i];

            table_text(t, "%s", class_name[i]);
            table_number(t, e->urls / c->runs, 0);
            table_text(t, "%s", way_name[way]);
            table_number(t, e->urls > 0 ? 100 * e->wrong / e->urls : NAN, 4);
            table_number(t, e->urls > 0 ? 100 * e->relative / e->urls : NAN,
                         4);
        }
}

static void show_plot(struct section *s, const struct count_runs *c)
{
    struct plot *p = section_plot(
        s, "spectral-counts", "counters per URL",
        "mean of error / count, percent", LOG_Y,
        "How wrong counts are on a Zipf stream, measured (points) and by "
        "theory");

    for (unsigned way = 0; way < WAYS; way++) {
        plot_series(p, POINTS, "%s", way_name[way]);
        for (unsigned i = 0; i < SWEEP; i++) {
            struct trial all = all_runs(c, i);
            struct errors e = all_classes(&all, way);

            plot_point(p, settings[i].cells, 100 * e.relative / e.urls);
        }
        if (way)
            break;
        plot_series(p, LINES, "%s", "");
        for (unsigned i = 0; i < SWEEP; i++)
            plot_point(p, settings[i].cells, 100 * all_runs(c, i).relative);
    }
}

static void conclude(struct section *s, const struct count_runs *c)
{
    struct trial shown = all_runs(c, SHOWN);
    struct errors all = all_classes(&shown, 0), few = all_classes(&shown, 1);
    struct table *t = section_table(s, "spectral-counts-exact",
                                    "Over all streams, what must not occur");
    double below = 0, above = 0;

    for (unsigned i = 0; i < SETTINGS; i++) {
        struct trial all_of = all_runs(c, i);

        below += all_of.below[0] + all_of.below[1];
        above += all_of.above;
    }
    table_columns(t, "of", COMPARED, NULL);
    notes_none(t, "counts below the truth", below);
    notes_none(t, "of minimal increase, above minimum selection", above);
    section_text(
        s,
        "A count is wrong exactly if every one of the k counters is shared, "
        "which is as rare as a false positive: with %u counters per URL "
        "theory says %.3g %%, and %.3g %% are. It does not depend on how "
        "often URLs come; how far a wrong count is off does. %.0f counts are "
        "below the truth. Minimal increase raises no counter higher than it "
        "must: %.3g %% are wrong then, and the mean of error / count is %.3g "
        "%% instead of %.3g %%; %.0f of its counts are above those of minimum "
        "selection. It cannot delete, which is its price, and helps URLs that "
        "come often more than those that come once.",
        settings[SHOWN].cells, 100 * shown.wrong, 100 * all.wrong / all.urls,
        below, 100 * few.wrong / few.urls, 100 * few.relative / few.urls,
        100 * all.relative / all.urls, above);
}

void spectral_counts(struct lab *lab, struct section *s)
{
    struct count_runs c = {
        .lab = lab,
        .n = lab_fit(lab, lab_n(lab, 20000, 200000, 1000000), 1),
        .runs = lab_runs(lab, 3, 3, 10),
    };

    c.trial = lab_memory(SETTINGS * c.runs, sizeof *c.trial);
    lab_each(lab, "streams", SETTINGS * c.runs, run_one, &c);
    section_text(
        s,
        "In the notes \"%s\", and a lookup is \"%s\"; they do not say how far "
        "the smallest counter is from the truth, and leave out minimal "
        "increase, which Cohen and Matias have beside minimum selection. Here "
        "%s URLs come %d times each on average, by Zipf's law with several "
        "exponents, in %u runs.",
        notes_say("counts"), notes_say("lookup"), lab_count((double)c.n),
        LENGTH, c.runs);
    show_theory(s, &c);
    show_ways(s, &c);
    show_classes(s, &c);
    show_plot(s, &c);
    conclude(s, &c);
    free(c.trial);
}
