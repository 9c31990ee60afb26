/*
 * which.c - which structure should I use?
 *
 * Every structure is planned for the same rate, filled at several sizes, and
 * asked; then its abilities are tried. Times are measured one after the other,
 * with nothing else running. For the figure of bits and rates the drawn ones
 * are filled again for other rates, on all CPUs.
 */
#include "ours.h"

#include <math.h>
#include <stdlib.h>

#include "../band.h"

static const double RATE = 0.01;
static const double rates[] = { 0.1, 0.03, 0.01, 0.003, 0.001, 0.0003 };
enum { RATES = sizeof rates / sizeof *rates, SIZES = 5, MOST_ROUNDS = 100 };

struct which {
    struct lab *lab;
    unsigned subjects, sizes;
    uint64_t n[SIZES], asked, sweep; /* URLs */
    struct measured *at;             /* by size and subject */
    struct measured *again;          /* the large size, by round and subject */
    unsigned rounds;
    struct measured *curve;          /* by subject and rate */
    struct choice *choice;
};

static void measure_one(void *of, unsigned i)
{
    struct which *w = of;

    subject_measure(w->lab, &subjects[i % w->subjects], w->n[i / w->subjects],
                    RATE, w->asked, &w->at[i]);
}

/* The large size once more: rounds of all subjects, so that what disturbs the
   machine for a while does not disturb one of them alone. */
static void measure_again(void *of, unsigned i)
{
    struct which *w = of;

    subject_measure(w->lab, &subjects[i % w->subjects], w->n[w->sizes - 1],
                    RATE, w->asked, &w->again[i]);
}

/* Can the subject be planned for this rate at all? */
static bool reaches(const struct subject *of, double rate)
{
    struct seen_plan plan = { .capacity = 1000, .rate = rate };
    struct seen_filter *f;
    enum seen_code code;

    snprintf(plan.kind, sizeof plan.kind, "%s", of->kind);
    code = seen_filter_new(&f, &plan, NULL);
    seen_filter_free(f);
    return code == SEEN_OK || code == SEEN_UNABLE;
}

static void curve_one(void *of, unsigned i)
{
    struct which *w = of;
    const struct subject *subject = &subjects[i / RATES];
    double rate = rates[i % RATES];

    if (subject->drawn && reaches(subject, rate))
        subject_measure(w->lab, subject, w->sweep, rate, w->asked,
                        &w->curve[i]);
}

/* The sizes: tenfold from small to large; two of them are reported. */
static void plan_sizes(struct which *w)
{
    struct lab *lab = w->lab;
    uint64_t largest = lab_fit(lab, lab_n(lab, 1000000, 10000000, 100000000),
                               2);
    bool given = lab->n || lab->list;
    uint64_t n = given ? largest / 100 + !(largest / 100) : 10000;

    for (w->sizes = 0; w->sizes < SIZES - 1 && n < largest; n *= 10)
        w->n[w->sizes++] = n;
    w->n[w->sizes++] = largest;
    w->asked = lab->size == QUICK ? 200000 : 1000000;
    if (given && largest < w->asked)
        w->asked = largest;
    w->sweep = largest < 100000 ? largest : 100000;
}

/* The smaller of the two reported sizes: a million of a hundred million, and
   a tenth of less. */
static unsigned reported(const struct which *w)
{
    for (unsigned i = 0; i + 1 < w->sizes; i++)
        if (w->n[i] == 1000000 && w->n[w->sizes - 1] > 1000000)
            return i;
    return w->sizes > 1 ? w->sizes - 2 : 0;
}

/* --- tables --- */

static void show_size(struct section *s, const struct which *w, unsigned size)
{
    bool large = size == w->sizes - 1;
    struct table *t = section_table(
        s, large ? "which-large" : "which-small",
        "%s URLs, planned for %g %%: bits per URL, and for each halving of "
        "the rate; the rate measured, in percent; ns from a URL's text to its "
        "being added, to the answer for a new one and for one that is held, "
        "and for a new one alone",
        lab_count((double)w->n[size]), 100 * RATE);

    table_columns(t, "structure", "bits", "a halving", "rate", "add",
                  "ask new", "ask held", "ask one", "filled by", NULL);
    for (unsigned i = 0; i < w->subjects; i++) {
        const struct measured *m = &w->at[size * w->subjects + i];

        table_text(t, "%s", subjects[i].name);
        table_number(t, m->bits, 2);
        table_number(t, m->bits / -log2(m->expected), 2);
        table_number(t, 100 * m->rate, 4);
        table_number(t, m->add, 1);
        table_number(t, m->ask_new, 1);
        table_number(t, m->ask_held, 1);
        table_number(t, m->ask_one, 1);
        table_text(t, "%s", m->built ? "building" : "adding");
    }
}

static void show_able(struct section *s, const struct which *w)
{
    struct table *t = section_table(s, "which-able",
                                    "What each can do, found by trying");

    table_columns(t, "structure", NULL);
    for (int i = 0; i < ABLE; i++)
        table_column(t, "%s", able_name[i]);
    for (unsigned i = 0; i < w->subjects; i++) {
        table_text(t, "%s", subjects[i].name);
        for (int j = 0; j < ABLE; j++)
            table_text(t, "%s", w->choice[i].able[j] ? "yes" : "no");
    }
}

/* A layered filter computes the rate for URLs whose segments are all known;
   most new ones have an unknown segment, and err less. */
static struct finding judge(const struct which *w, unsigned i, unsigned size)
{
    const struct measured *m = &w->at[size * w->subjects + i];
    struct band b = band_share(m->expected, (double)m->asked, m->spread, 1);
    struct finding f = band_percent(m->expected, b, m->rate, 4);

    f.bound = w->choice[i].able[PREFIX];
    return f;
}

static void show_rates(struct section *s, const struct which *w)
{
    struct table *t = section_table(
        s, "which-rates",
        "False positives, in percent: as planned, by the load that there is "
        "(of layers: the most that it can be), and measured; and URLs that "
        "were added and are denied");

    table_columns(t, "structure", "URLs", "planned", COMPARED, "asked",
                  "denied", NULL);
    for (unsigned size = reported(w); size < w->sizes; size++) {
        if (size != reported(w) && size != w->sizes - 1)
            continue;
        for (unsigned i = 0; i < w->subjects; i++) {
            const struct measured *m = &w->at[size * w->subjects + i];
            struct finding f = judge(w, i, size);

            table_text(t, "%s", subjects[i].name);
            table_number(t, (double)m->n, 0);
            table_number(t, 100 * m->planned, 4);
            table_finding(t, &f);
            table_number(t, (double)m->asked, 0);
            table_number(t, (double)m->lost, 0);
        }
    }
}

/*
 * A plan promises at most its rate at capacity. By chance a filter has more
 * bits set than expected, so its own rate deviates: as far as that of the
 * smallest Bloom filter of the rate, or less.
 */
static struct finding judge_promise(const struct measured *m)
{
    double n = (double)m->n, p = m->planned, k = -log2(p),
           bits = n * k / log(2);
    double spread = hypot(m->spread, theory_spread(n, bits, k));
    struct band b = band_share(p, (double)m->asked, spread, 1);
    struct finding f = band_percent(p, b, m->rate, 4);

    f.bound = true;
    return f;
}

static void show_kept(struct section *s, const struct which *w)
{
    struct table *t = section_table(
        s, "which-kept",
        "False positives, in percent: as asked for, as the plan then promises "
        "(theory), and measured, which may be less. Where errors of parts add "
        "up a plan promises more than what was asked for");

    table_columns(t, "structure", "URLs", "asked for", COMPARED,
                  "promises what was asked for", NULL);
    for (unsigned i = 0; i < w->subjects; i++) {
        const struct measured *m = &w->choice[i].large;
        struct finding f = judge_promise(m);

        table_text(t, "%s", subjects[i].name);
        table_number(t, (double)m->n, 0);
        table_number(t, 100 * RATE, 4);
        table_finding(t, &f);
        table_text(t, "%s", m->planned <= RATE * (1 + 1e-9) ? "yes" : "no");
    }
}

/* A URL that was added and is denied is a bug, whatever the rate. */
static void show_denied(struct section *s, const struct which *w)
{
    struct finding f = band_finding(0, (struct band){ 0, 0 }, 0, 0);
    struct table *t = section_table(s, "which-denied",
                                    "At all sizes, what must not occur");

    for (unsigned i = 0; i < w->sizes * w->subjects; i++)
        f.measured += (double)w->at[i].lost;
    table_columns(t, "of", COMPARED, NULL);
    table_text(t, "URLs that were added and are denied");
    table_finding(t, &f);
}

/* --- figures --- */

static void draw_bits(struct section *s, const struct which *w)
{
    struct plot *p = section_plot(
        s, "which-bits", "bits per URL", "false positives, percent", LOG_Y,
        "Bits per URL and the rate that they buy, with %s URLs: measured "
        "(points) and by the load (lines; that of layers is the most that it "
        "can be, if all segments of a URL are known, so their points lie "
        "below it)",
        lab_count((double)w->sweep));

    for (unsigned i = 0; i < w->subjects; i++) {
        if (!subjects[i].drawn)
            continue;
        plot_series(p, POINTS, "%s", subjects[i].name);
        for (unsigned r = 0; r < RATES; r++)
            if (w->curve[i * RATES + r].n)
                plot_point(p, w->curve[i * RATES + r].bits,
                           100 * w->curve[i * RATES + r].rate);
        plot_series(p, LINES, "%s", "");
        for (unsigned r = 0; r < RATES; r++)
            if (w->curve[i * RATES + r].n)
                plot_point(p, w->curve[i * RATES + r].bits,
                           100 * w->curve[i * RATES + r].expected);
    }
}

static void draw_times(struct section *s, const struct which *w)
{
    struct plot *p = section_plot(
        s, "which-times", "URLs", "nanoseconds per URL", LOG_X | LOG_Y,
        "What a question takes, by the number of URLs");

    for (unsigned i = 0; i < w->subjects; i++) {
        if (!subjects[i].drawn)
            continue;
        plot_series(p, LINES_POINTS, "%s", subjects[i].name);
        for (unsigned size = 0; size < w->sizes; size++)
            plot_point(p, (double)w->n[size],
                       w->at[size * w->subjects + i].ask_new);
    }
}

/* --- the experiment --- */

static double timing_of(const struct measured *m, enum timing which)
{
    return which == TO_ADD   ? m->add
           : which == TO_ASK ? m->ask_new
                             : m->ask_one;
}

/* What the tables show of the large size are the means of its rounds. */
static void take_rounds(struct which *w, unsigned i)
{
    struct measured *m = &w->at[(w->sizes - 1) * w->subjects + i];
    struct choice *c = &w->choice[i];

    for (enum timing t = 0; t < TIMINGS; t++) {
        double run[MOST_ROUNDS + 1] = { timing_of(m, t) };

        for (unsigned r = 0; r < w->rounds; r++)
            run[r + 1] = timing_of(&w->again[r * w->subjects + i], t);
        c->time[t] = noise_times(run, w->rounds + 1);
    }
    m->add = c->time[TO_ADD].value;
    m->ask_new = c->time[TO_ASK].value;
    m->ask_one = c->time[TO_ASK_ONE].value;
}

static void choose(struct which *w)
{
    for (unsigned i = 0; i < w->subjects; i++) {
        struct choice *c = &w->choice[i];

        take_rounds(w, i);

        c->subject = &subjects[i];
        subject_able(w->lab, &subjects[i], c->able);
        c->small = w->at[reported(w) * w->subjects + i];
        c->large = w->at[(w->sizes - 1) * w->subjects + i];
    }
}

void ours_which(struct lab *lab, struct section *s)
{
    struct which w = { .lab = lab, .subjects = subjects_count() };

    plan_sizes(&w);
    w.at = lab_memory(w.sizes * w.subjects, sizeof *w.at);
    w.rounds = lab_runs(lab, 5, 5, 3) - 1;
    w.rounds = w.rounds < MOST_ROUNDS ? w.rounds : MOST_ROUNDS;
    w.again = lab_memory(w.rounds * w.subjects, sizeof *w.again);
    w.curve = lab_memory(RATES * w.subjects, sizeof *w.curve);
    w.choice = lab_memory(w.subjects, sizeof *w.choice);
    lab_alone(lab, "structures", w.sizes * w.subjects, measure_one, &w);
    lab_alone(lab, "structures again", w.rounds * w.subjects, measure_again,
              &w);
    lab_each(lab, "rates", RATES * w.subjects, curve_one, &w);
    choose(&w);
    section_text(
        s,
        "The papers each have a structure of their own and measure it alone, "
        "or beside one other. Here all of them and ours are planned for a "
        "rate of %g %%, filled with %s and with %s URLs, and asked. Those "
        "that grow are planned for a tenth of the URLs; layers know how many "
        "segments there will be. Times are CPU times of one thread, from the "
        "text of a URL on: they include its hash. The largest size is "
        "measured %u times, all structures in turn; what is said of times "
        "exceeds the noise of these runs.",
        100 * RATE, lab_count((double)w.n[reported(&w)]),
        lab_count((double)w.n[w.sizes - 1]), w.rounds + 1);
    if (reported(&w) != w.sizes - 1)
        show_size(s, &w, reported(&w));
    show_size(s, &w, w.sizes - 1);
    show_able(s, &w);
    show_rates(s, &w);
    show_kept(s, &w);
    show_denied(s, &w);
    draw_bits(s, &w);
    draw_times(s, &w);
    advise(s, w.choice, w.subjects, RATE);
    free(w.at);
    free(w.again);
    free(w.curve);
    free(w.choice);
}
