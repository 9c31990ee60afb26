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
#include "../noise.h"
#include "../corpus.h"

enum {
    SIZES = 5,
    STRUCTURES = 6,
    FIRST_FILTER = 3,
    MOST_TIMED = 20000,
    ROUNDS = 5
};

static const char *const names[STRUCTURES - 1] = {
    "linear search", "binary search", "hash set", "bloom", "bloom:murmur3",
};

struct times {
    struct lab *lab;
    bool adding; /* or asking */
    uint64_t most;
    double rate;
    unsigned k, layers;
    char structure[STRUCTURES][32];
    double seconds[SIZES][STRUCTURES][ROUNDS]; /* found */
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

/* Half of the questions are for URLs that are there, from all places. */
static const struct seen_key *question(const struct corpus *in,
                                       const struct corpus *out, size_t i)
{
    return i & 1 ? &out->key[i / 2 % out->n] : &in->key[seen_mix(i) % in->n];
}

static double time_list(const struct times *t, const struct exact *l,
                        const struct corpus *in, const struct corpus *out,
                        unsigned which)
{
    size_t n = timed(in->n, which, false), found = 0;
    double begin = lab_cpu_clock();

    for (size_t i = 0; i < n; i++) {
        const struct seen_key *url = question(in, out, i);

        found += exact_has(l, url->text, url->len);
    }
    if (found != (n + 1) / 2)
        lab_fail("%s: found %zu of %zu URLs", t->structure[which], found,
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
                         unsigned round, const struct corpus *in,
                         const struct corpus *out)
{
    struct exact l = { .way = (enum exact_way)which };

    exact_reserve(&l, in->n + (t->adding ? out->n : 0),
                  in->bytes + (t->adding ? out->bytes : 0));
    exact_fill(&l, in->key, in->n);
    t->bytes[size][which] = l.used + l.n * sizeof *l.item +
                            l.slots * sizeof *l.slot;
    t->seconds[size][which][round] = t->adding
                                         ? time_list_add(&l, in, out, which)
                                         : time_list(t, &l, in, out, which);
    exact_clear(&l);
}

/* The same questions, for a filter; it may say yes too often. */
static double time_filter(const struct times *t, const struct seen_filter *f,
                          const struct corpus *in, const struct corpus *out,
                          unsigned which)
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
        lab_fail("%s: a filter has lost URLs", t->structure[which]);
    return (lab_cpu_clock() - begin) / (double)n;
}

static void measure_filter(struct times *t, unsigned size, unsigned which,
                           unsigned round, const struct corpus *in,
                           const struct corpus *out)
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
    snprintf(plan.kind, sizeof plan.kind, "%s", t->structure[which]);
    f = lab_filter(&plan);
    corpus_add(in, f, 256);
    t->bytes[size][which] = seen_filter_bytes(f);
    t->seconds[size][which][round] = t->adding
                                         ? corpus_add(out, f, 1)
                                         : time_filter(t, f, in, out, which);
    seen_filter_free(f);
}

/* Rounds lie apart in time, so that what disturbs the machine for a while does
   not disturb one structure alone. */
static void measure(void *of, unsigned i)
{
    struct times *t = of;
    unsigned size = i / STRUCTURES % SIZES, which = i % STRUCTURES;
    unsigned round = i / STRUCTURES / SIZES;
    size_t n = urls_of(t, size);
    struct corpus in, out;

    corpus_init(&in, t->lab->urls, 0, n);
    corpus_init(&out, t->lab->urls, t->most, n < MOST_TIMED ? n : MOST_TIMED);
    if (which < FIRST_FILTER)
        measure_list(t, size, which, round, &in, &out);
    else
        measure_filter(t, size, which, round, &in, &out);
    corpus_clear(&in);
    corpus_clear(&out);
}

static void begin(struct times *t, struct lab *lab, struct section *s)
{
    t->lab = lab;
    t->rate = authors("target_rate");
    t->k = (unsigned)authors("k");
    t->most = corpus_enough(
        lab, s,
        lab_n(lab, 160000, 800000,
              (uint64_t)data_set(1, "bloom", "rows", NULL)),
        2, authors_least(t->rate) << (SIZES - 1));
    t->layers = authors_layers(lab, t->most);
    for (unsigned i = 0; i < STRUCTURES - 1; i++)
        snprintf(t->structure[i], sizeof t->structure[i], "%s", names[i]);
    snprintf(t->structure[STRUCTURES - 1], sizeof t->structure[0],
             "layered:%u,published", t->layers);
    lab_alone(lab, t->adding ? "times of adding" : "times of questions",
              ROUNDS * SIZES * STRUCTURES, measure, t);
}

static struct noisy time_of(const struct times *t, unsigned size,
                            unsigned which)
{
    return noise_times(t->seconds[size][which], ROUNDS);
}

static void put(const struct times *t, struct section *s, const char *name,
                const char *title)
{
    char drawn[64];
    struct table *table = section_table(s, name, "%s, in nanoseconds", title);
    struct plot *p;

    table_columns(table, "URLs", NULL);
    for (unsigned i = 0; i < STRUCTURES; i++)
        table_column(table, "%s", t->structure[i]);
    for (unsigned size = 0; size < SIZES; size++) {
        table_number(table, (double)urls_of(t, size), 0);
        for (unsigned i = 0; i < STRUCTURES; i++)
            table_number(table, 1e9 * time_of(t, size, i).value, 0);
    }
    snprintf(drawn, sizeof drawn, "%s-plot", name);
    p = section_plot(s, drawn, "URLs", "nanoseconds per URL", LOG_X | LOG_Y,
                     "%s", title);
    for (unsigned i = 0; i < STRUCTURES; i++) {
        plot_series(p, LINES_POINTS, "%s", t->structure[i]);
        for (unsigned size = 0; size < SIZES; size++)
            plot_point(p, (double)urls_of(t, size),
                       1e9 * time_of(t, size, i).value);
    }
}

/* How many times as long the last size takes as the first. */
static double growth(const struct times *t, unsigned which)
{
    return time_of(t, SIZES - 1, which).value / time_of(t, 0, which).value;
}

static double last(const struct times *t, unsigned which)
{
    return 1e9 * time_of(t, SIZES - 1, which).value;
}

static int compare(const struct times *t, unsigned a, unsigned b)
{
    struct noisy one = time_of(t, SIZES - 1, a);
    struct noisy two = time_of(t, SIZES - 1, b);

    return noise_compare(&one, &two);
}

/* Which of the paper's two statements the times of layers and of a Bloom
   filter support. Times that noise cannot tell apart need not be equal, so
   they support none. */
static const char *compared(const struct times *t)
{
    int layers_are = compare(t, 5, 3);

    return layers_are > 0 ? "more, beyond the noise, as in the paper's figure "
                            "and not as in its conclusion"
           : layers_are < 0
               ? "less, beyond the noise, as neither its figure nor its "
                 "conclusion has it"
               : NO_DIFFERENCE ", which decides for neither its figure nor "
                               "its conclusion";
}

/* The repository's seconds, which are Python's; what can be compared is how
   many times the layers take. */
static void put_repository(const struct times *t, struct section *s,
                           const char *name)
{
    const char *column = t->adding ? "insert_s" : "query_s";
    double ratio[DATA_SETS];
    struct table *table = section_table(
        s, name,
        "The repository's seconds to %s its three data sets, and how many "
        "times those of a Bloom filter the layers take",
        t->adding ? "add" : "ask for");

    table_columns(table, "data set", "rows", "bloom", "layered", "times",
                  NULL);
    for (unsigned i = 1; i <= DATA_SETS; i++) {
        double bloom = data_set(i, "bloom", column, NULL);
        double layered = data_set(i, "layered", column, NULL);

        ratio[i - 1] = layered / bloom;
        table_number(table, i, 0);
        table_number(table, data_set(i, "bloom", "rows", NULL), 0);
        table_number(table, bloom, 4);
        table_number(table, layered, 4);
        table_number(table, layered / bloom, 2);
    }
    section_text(s,
                 "In the repository the layers take %.1f, %.1f and %.1f times "
                 "as long as a Bloom filter to %s, as in the paper's figure: "
                 "its conclusion, the same time, is not what it measured. "
                 "Ours, with %u layers, take %.1f times as long as a filter "
                 "that hashes as the authors do, once for each probe.",
                 ratio[0], ratio[1], ratio[2], t->adding ? "add" : "ask",
                 t->layers, last(t, 5) / last(t, 4));
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
                 compared(&t), last(&t, 4), last(&t, 2),
                 compare(&t, 2, 3) < 0
                     ? "what speaks for filters is memory (layers-memory)"
                     : "the Bloom filter is not slower beyond the noise, and "
                       "takes less memory (layers-memory)");
    put_repository(&t, s, "layers-figure-4-repository");
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
        last(&t, 3), last(&t, 4), compared(&t), last(&t, 2), last(&t, 1),
        growth(&t, 1), (double)urls_of(&t, SIZES - 1) / (double)urls_of(&t, 0),
        last(&t, 0));
    put_repository(&t, s, "layers-figure-5-repository");
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
            table_text(table, "%s", t.structure[i]);
            table_finding(table, &f);
        }
    p = section_plot(s, "layers-memory-plot", "URLs", "megabytes",
                     LOG_X | LOG_Y, "Memory");
    for (unsigned i = 0; i < STRUCTURES; i++) {
        plot_series(p, LINES_POINTS, "%s", t.structure[i]);
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
