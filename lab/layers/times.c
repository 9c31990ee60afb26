/*
 * times.c - Figures 4 and 5, and memory: lists, a Bloom filter, layers.
 *
 * Every structure is filled with growing numbers of URLs. Then the time of a
 * lookup is measured, for URLs from all over the list and for absent ones, and
 * the time of adding a URL; one by one, since a crawler waits for each answer.
 * The filters have the authors' rate and k; `bloom:murmur3` hashes as theirs
 * do, once for each probe.
 */
#include "layers.h"

#include <stdlib.h>

#include "../exact.h"
#include "../corpus.h"

enum {
    SIZES = 5,
    STRUCTURES = 6,
    FIRST_FILTER = 3,
    MOST_TIMED = 20000,
    ROUNDS = 3
};

static const char *const structure[STRUCTURES] = {
    "linear search", "binary search", "hash set",
    "bloom",         "bloom:murmur3", "layered:2",
};

struct times {
    struct lab *lab;
    bool adding; /* or asking */
    uint64_t most;
    double rate;
    unsigned k, layers;
    double seconds[SIZES][STRUCTURES]; /* found; 0: not yet */
    uint64_t bytes[SIZES][STRUCTURES];
};

static size_t urls_of(const struct times *t, unsigned size)
{
    return (size_t)(t->most >> (SIZES - 1 - size));
}

/* As many URLs as take about the same time with every structure, but not more
   than there are. */
static size_t timed(size_t n, unsigned which, bool adding)
{
    double most = which == LINEAR && !adding  ? 2e7 / (double)n
                  : which == SORTED && adding ? 1e8 / (double)n
                                              : MOST_TIMED;

    return (size_t)fmin(fmax(16, fmin(most, MOST_TIMED)), (double)n);
}

/* Of several rounds the fastest was disturbed least. */
static void shorten(double *seconds, double round)
{
    if (!(*seconds > 0) || round < *seconds)
        *seconds = round;
}

/* Half of the questions are for URLs that are there, from all places. */
static const struct seen_key *question(const struct corpus *in,
                                       const struct corpus *out, size_t i)
{
    return i & 1 ? &out->key[i / 2 % out->n] : &in->key[seen_mix(i) % in->n];
}

static double time_list(const struct exact *l, const struct corpus *in,
                        const struct corpus *out, unsigned which)
{
    size_t n = timed(in->n, which, false), found = 0;
    double begin = lab_cpu_clock();

    for (size_t i = 0; i < n; i++) {
        const struct seen_key *url = question(in, out, i);

        found += exact_has(l, url->text, url->len);
    }
    if (found != (n + 1) / 2)
        lab_fail("%s: found %zu of %zu URLs", structure[which], found,
                 (n + 1) / 2);
    return (lab_cpu_clock() - begin) / (double)n;
}

static double time_list_add(struct exact *l, const struct corpus *in,
                            const struct corpus *out, unsigned which)
{
    size_t n = timed(in->n, which, true);
    double begin = lab_cpu_clock();

    for (size_t i = 0; i < n; i++)
        exact_add(l, out->key[i].text, out->key[i].len);
    return (lab_cpu_clock() - begin) / (double)n;
}

static void measure_list(struct times *t, unsigned size, unsigned which,
                         const struct corpus *in, const struct corpus *out)
{
    struct exact l = { .way = (enum exact_way)which };

    exact_reserve(&l, in->n + (t->adding ? out->n : 0),
                  in->bytes + (t->adding ? out->bytes : 0));
    exact_fill(&l, in->key, in->n);
    t->bytes[size][which] = l.used + l.n * sizeof *l.item +
                            l.slots * sizeof *l.slot;
    if (t->adding)
        shorten(&t->seconds[size][which], time_list_add(&l, in, out, which));
    else
        for (int i = 0; i < ROUNDS; i++)
            shorten(&t->seconds[size][which], time_list(&l, in, out, which));
    exact_clear(&l);
}

/* The same questions, for a filter; it may say yes too often. */
static double time_filter(const struct seen_filter *f, const struct corpus *in,
                          const struct corpus *out, unsigned which)
{
    size_t n = timed(in->n, which, false), found = 0;
    struct seen_error why;
    double begin = lab_cpu_clock();

    for (size_t i = 0; i < n; i++) {
        const struct seen_key *url = question(in, out, i);
        struct seen_key key;
        bool seen;

        seen_key_hash(&key, url->text, url->len);
        lab_must(seen_filter_has(f, &key, 1, &seen, &why), &why);
        found += seen;
    }
    if (found < (n + 1) / 2)
        lab_fail("%s: a filter has lost URLs", structure[which]);
    return (lab_cpu_clock() - begin) / (double)n;
}

static void measure_filter(struct times *t, unsigned size, unsigned which,
                           const struct corpus *in, const struct corpus *out)
{
    double n = (double)in->n, bits = authors_bits(n, t->rate);
    struct seen_plan plan = { .profile = "raw",
                              .capacity = in->n,
                              .probes = t->k,
                              .seed = t->lab->seed,
                              .over = true };
    struct seen_filter *f;

    if (which == STRUCTURES - 1)
        bits *= t->layers + 1;
    plan.bits = (uint64_t)bits;
    snprintf(plan.kind, sizeof plan.kind, "%s", structure[which]);
    f = lab_filter(&plan);
    corpus_add(in, f, 256);
    t->bytes[size][which] = seen_filter_bytes(f);
    if (t->adding)
        shorten(&t->seconds[size][which], corpus_add(out, f, 1));
    else
        for (int i = 0; i < ROUNDS; i++)
            shorten(&t->seconds[size][which], time_filter(f, in, out, which));
    seen_filter_free(f);
}

static void measure(void *of, unsigned i)
{
    struct times *t = of;
    unsigned size = i / STRUCTURES, which = i % STRUCTURES;
    size_t n = urls_of(t, size);
    struct corpus in, out;

    corpus_init(&in, t->lab->urls, 0, n);
    corpus_init(&out, t->lab->urls, t->most, n < MOST_TIMED ? n : MOST_TIMED);
    /* A URL can be added only once: each round fills a new one. */
    for (int round = 0; round < (t->adding ? ROUNDS : 1); round++)
        if (which < FIRST_FILTER)
            measure_list(t, size, which, &in, &out);
        else
            measure_filter(t, size, which, &in, &out);
    corpus_clear(&in);
    corpus_clear(&out);
}

static void begin(struct times *t, struct lab *lab, struct section *s)
{
    t->lab = lab;
    t->rate = authors("target_rate");
    t->k = (unsigned)authors("k");
    t->layers = (unsigned)authors("layers");
    t->most = corpus_enough(
        lab, s, lab_n(lab, 160000, 800000, (uint64_t)authors("rows")), 2,
        authors_least(t->rate) << (SIZES - 1));
    lab_alone(lab, t->adding ? "times of adding" : "times of questions",
              SIZES * STRUCTURES, measure, t);
}

static void put(const struct times *t, struct section *s, const char *name,
                const char *title)
{
    char drawn[64];
    struct table *table = section_table(s, name, "%s, in nanoseconds", title);
    struct plot *p;

    table_columns(table, "URLs", NULL);
    for (unsigned i = 0; i < STRUCTURES; i++)
        table_column(table, "%s", structure[i]);
    for (unsigned size = 0; size < SIZES; size++) {
        table_number(table, (double)urls_of(t, size), 0);
        for (unsigned i = 0; i < STRUCTURES; i++)
            table_number(table, 1e9 * t->seconds[size][i], 0);
    }
    snprintf(drawn, sizeof drawn, "%s-plot", name);
    p = section_plot(s, drawn, "URLs", "nanoseconds", LOG_X | LOG_Y, "%s",
                     title);
    for (unsigned i = 0; i < STRUCTURES; i++) {
        plot_series(p, LINES_POINTS, "%s", structure[i]);
        for (unsigned size = 0; size < SIZES; size++)
            plot_point(p, (double)urls_of(t, size), 1e9 * t->seconds[size][i]);
    }
}

/* How many times as long the last size takes as the first. */
static double growth(const struct times *t, unsigned which)
{
    return t->seconds[SIZES - 1][which] / t->seconds[0][which];
}

static double last(const struct times *t, unsigned which)
{
    return 1e9 * t->seconds[SIZES - 1][which];
}

/* Which of the paper's two statements a ratio of times supports; less than a
   tenth counts as the same. */
static const char *compared(double ratio)
{
    return ratio > 1.1   ? "as in the paper's figure, and not as in its "
                           "conclusion"
           : ratio > 0.9 ? "the same up to a tenth, as in the paper's "
                           "conclusion"
                         : "less, as neither its figure nor its conclusion "
                           "has it";
}

void layers_figure_4(struct lab *lab, struct section *s)
{
    struct times t = { .adding = false };

    section_text(
        s,
        "In its figure the paper finds that a lookup in a multi-layer filter "
        "takes longer than in a Bloom filter, since more hash functions are "
        "involved; its conclusion says that both take the same time. Both are "
        "faster than lists: a linear search looks at all of %s URLs.",
        lab_count(authors("problem_urls")));
    begin(&t, lab, s);
    put(&t, s, "layers-figure-4", "Figure 4: the time of a lookup");
    section_text(s,
                 "For %.0f times the URLs a linear search takes %.0f times as "
                 "long, a binary search %.1f times, a hash set %.1f times, a "
                 "Bloom filter %.1f times and the layers %.1f times. At %s "
                 "URLs the layers take %.2f times the time of a Bloom filter "
                 "with the same hash (%.0f ns against %.0f): %s. The authors' "
                 "way to hash, once for each probe, takes %.0f ns, and a hash "
                 "set %.0f ns: %s.",
                 (double)urls_of(&t, SIZES - 1) / (double)urls_of(&t, 0),
                 growth(&t, 0), growth(&t, 1), growth(&t, 2), growth(&t, 3),
                 growth(&t, 5), lab_count((double)t.most),
                 last(&t, 5) / last(&t, 3), last(&t, 5), last(&t, 3),
                 compared(last(&t, 5) / last(&t, 3)), last(&t, 4), last(&t, 2),
                 last(&t, 2) < last(&t, 3)
                     ? "what speaks for filters is memory (layers-memory)"
                     : "the Bloom filter is not slower, and takes less memory "
                       "(layers-memory)");
}

void layers_figure_5(struct lab *lab, struct section *s)
{
    struct times t = { .adding = true };

    section_text(
        s,
        "In its figure the paper finds that adding to a multi-layer filter "
        "takes longer than adding to a Bloom filter; in its conclusion, the "
        "same time. Adding to a sorted list is said to be costly.");
    begin(&t, lab, s);
    put(&t, s, "layers-figure-5", "Figure 5: the time to add a URL");
    section_text(
        s,
        "At %s URLs the layers take %.2f times the time of a Bloom "
        "filter with the same hash (%.0f ns against %.0f; hashed as "
        "the authors do, %.0f ns), %s; a hash set %.0f ns. Into a sorted "
        "array it is %.0f ns, %.1f times what it is for a %.0fth of the "
        "URLs. To append to a list, without a look whether "
        "the URL is there, takes %.0f ns.",
        lab_count((double)t.most), last(&t, 5) / last(&t, 3), last(&t, 5),
        last(&t, 3), last(&t, 4), compared(last(&t, 5) / last(&t, 3)),
        last(&t, 2), last(&t, 1), growth(&t, 1),
        (double)urls_of(&t, SIZES - 1) / (double)urls_of(&t, 0), last(&t, 0));
}

/* --- memory --- */

/* What the formula gives for a filter, in bytes per URL; or NAN. */
static struct finding size_of(const struct times *t, unsigned size,
                              unsigned which)
{
    double n = (double)urls_of(t, size), bits = authors_bits(n, t->rate);
    struct finding f = band_finding(NAN, (struct band){ NAN, NAN },
                                    (double)t->bytes[size][which] / n, 2);

    if (which < FIRST_FILTER)
        return f;
    if (which == STRUCTURES - 1)
        bits *= t->layers + 1;
    f.theory = bits / 8 / n;
    /* Each array is of whole lines of 64 bytes. */
    f.low = f.theory - 64 * (t->layers + 1) / n;
    f.high = f.theory + 64 * (t->layers + 1) / n;
    return f;
}

void layers_memory(struct lab *lab, struct section *s)
{
    struct times t = { .adding = false };
    struct table *table;
    struct plot *p;
    double n;

    section_text(s,
                 "A hash table needs space for all URLs, the paper says, a "
                 "Bloom filter does not, and a multi-layer filter needs more "
                 "than a Bloom filter; it does not say how much.");
    begin(&t, lab, s);
    n = (double)urls_of(&t, SIZES - 1);
    table = section_table(s, "layers-memory", "Bytes per URL");
    table_columns(table, "URLs", "structure", COMPARED, NULL);
    for (unsigned size = 0; size < SIZES; size++)
        for (unsigned i = 0; i < STRUCTURES; i++) {
            struct finding f = size_of(&t, size, i);

            table_number(table, (double)urls_of(&t, size), 0);
            table_text(table, "%s", structure[i]);
            table_finding(table, &f);
        }
    p = section_plot(s, "layers-memory-plot", "URLs", "megabytes",
                     LOG_X | LOG_Y, "Memory");
    for (unsigned i = 0; i < STRUCTURES; i++) {
        plot_series(p, LINES_POINTS, "%s", structure[i]);
        for (unsigned size = 0; size < SIZES; size++)
            plot_point(p, (double)urls_of(&t, size),
                       (double)t.bytes[size][i] / 1e6);
    }
    section_text(
        s,
        "At %s URLs a Bloom filter of %g %% takes %.2f bytes per URL, "
        "the layers %.2f, and a hash set of the URLs %.1f, %.0f times "
        "a Bloom filter and %.0f times the layers. The layers take %u "
        "times the memory of the Bloom filter that the paper puts "
        "beside them: layers-equal-memory gives both the same.",
        lab_count(n), 100 * t.rate, (double)t.bytes[SIZES - 1][3] / n,
        (double)t.bytes[SIZES - 1][5] / n, (double)t.bytes[SIZES - 1][2] / n,
        (double)t.bytes[SIZES - 1][2] / (double)t.bytes[SIZES - 1][3],
        (double)t.bytes[SIZES - 1][2] / (double)t.bytes[SIZES - 1][5],
        t.layers + 1);
}
