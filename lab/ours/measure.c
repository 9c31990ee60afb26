/*
 * measure.c - bits, rate and times of one structure at one size.
 *
 * URLs are made 4,096 at a time. Times are from texts to answers, with
 * hashing: some kinds hash the text themselves, and would otherwise be
 * compared with kinds that get their keys for free. They are CPU times of this
 * thread: other processes may slow it down, but their time is not counted.
 *
 * The expected rate is what the filter computes from its load. For bits placed
 * anywhere that is exact; for bits in lines (blocked) it is the mean over
 * filters of this load, and a filter of L lines deviates from it as the mean
 * of L lines does, each with the rate of its own bits.
 */
#include "ours.h"

#include <math.h>
#include <stdlib.h>

#include <seen/build.h>
#include <seen/kind.h>
#include <seen/url.h>

#include "../urls.h"

enum { BATCH = 4096, ONES = 20000 /* asked for one by one */ };

struct timed_batch {
    const struct lab *lab;
    struct seen_key *key;
    char *text;
    bool *seen;
};

static void batch_init(struct timed_batch *b, const struct lab *lab)
{
    b->lab = lab;
    b->key = lab_memory(BATCH, sizeof *b->key);
    b->text = lab_memory(BATCH, URL_MOST);
    b->seen = lab_memory(BATCH, sizeof *b->seen);
}

static void batch_clear(struct timed_batch *b)
{
    free(b->key);
    free(b->text);
    free(b->seen);
}

static size_t batch_take(struct timed_batch *b, uint64_t from, uint64_t to)
{
    size_t n = to - from < BATCH ? (size_t)(to - from) : BATCH;

    urls_keys(b->lab->urls, from, n, b->key, b->text);
    return n;
}

/* The keys of texts that are there: once more, within the time. */
static void batch_hash(struct timed_batch *b, size_t from, size_t n)
{
    for (size_t i = from; i < from + n; i++)
        seen_key_hash(&b->key[i], b->key[i].text, b->key[i].len);
}

/* --- what layers hold --- */

/*
 * The distinct segments of each layer, for which `layered` is sized: by a
 * bit for each in 16 times as many as there are URLs, which is a filter of
 * one probe, and estimates how many it has.
 */
static void count_segments(struct timed_batch *b, unsigned layers, uint64_t n,
                           struct seen_plan *plan)
{
    struct seen_plan one = { .kind = "bloom",
                             .capacity = n,
                             .bits = 16 * n,
                             .probes = 1,
                             .over = true };
    struct seen_filter *seen[SEEN_LAYERS];
    struct seen_error why;

    for (unsigned i = 0; i < layers; i++)
        seen[i] = lab_filter(&one);
    for (uint64_t from = 0, some; from < n; from += some) {
        some = batch_take(b, from, n);
        for (size_t j = 0; j < some; j++) {
            size_t end[SEEN_LAYERS], begin = 0;
            unsigned have = seen_url_segments(b->key[j].text, b->key[j].len,
                                              end, layers);

            for (unsigned i = 0; i < have; begin = end[i++] + 1) {
                struct seen_key key;

                seen_key_hash(&key, b->key[j].text + begin, end[i] - begin);
                lab_must(seen_filter_add(seen[i], &key, 1, NULL, &why), &why);
            }
        }
    }
    for (unsigned i = 0; i < layers; i++) {
        plan->segments[i] = (uint64_t)(1.01 * seen_filter_entries(seen[i])) +
                            100;
        seen_filter_free(seen[i]);
    }
}

/* --- filling --- */

/* Add all; returns the seconds that it took. */
static double add_all(struct timed_batch *b, struct seen_filter *f, uint64_t n,
                      subject_look *look, void *of)
{
    struct seen_error why;
    double sum = 0;

    for (uint64_t from = 0, some; from < n; from += some) {
        double begin;

        some = batch_take(b, from, n);
        begin = lab_cpu_clock();
        batch_hash(b, 0, (size_t)some);
        lab_must(seen_filter_add(f, b->key, (size_t)some, b->seen, &why),
                 &why);
        sum += lab_cpu_clock() - begin;
        if (look)
            look(of, f, from + some);
    }
    return sum;
}

/* Add all, or build; returns the seconds that it took. */
static double fill(struct timed_batch *b, const struct seen_plan *plan,
                   uint64_t n, struct seen_filter **f, bool *built)
{
    struct seen_build *build = NULL;
    struct seen_error why;
    enum seen_code code = seen_filter_new_keyed(f, plan, subject_secret(plan),
                                                &why);
    double sum = 0, begin;

    *built = code == SEEN_UNABLE;
    if (code == SEEN_OK)
        return add_all(b, *f, n, NULL, NULL);
    if (*built)
        code = seen_build_new_keyed(&build, plan, subject_secret(plan), 1,
                                    &why);
    for (uint64_t from = 0, some; from < n && code == SEEN_OK; from += some) {
        some = batch_take(b, from, n);
        begin = lab_cpu_clock();
        batch_hash(b, 0, (size_t)some);
        code = seen_build_add(build, 0, b->key, (size_t)some, &why);
        sum += lab_cpu_clock() - begin;
    }
    begin = lab_cpu_clock();
    if (code == SEEN_OK)
        code = seen_build_finish(build, f, &why);
    if (code != SEEN_OK)
        lab_fail("%s: %s", plan->kind, why.text);
    return sum + lab_cpu_clock() - begin;
}

/* --- asking --- */

/* The time of each batch, in ns per URL. The median counts, so a batch that
   was disturbed does not matter. */
struct times {
    double *each;
    size_t n;
};

static int by_time(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void times_init(struct times *t, uint64_t asked)
{
    t->n = 0;
    t->each = lab_memory(asked / BATCH + 2, sizeof *t->each);
}

static double times_median(struct times *t)
{
    double median;

    qsort(t->each, t->n, sizeof *t->each, by_time);
    median = t->each[t->n / 2];
    free(t->each);
    return median;
}

static uint64_t ask(struct timed_batch *b, const struct seen_filter *f,
                    size_t n, struct times *t)
{
    struct seen_error why;
    double begin = lab_cpu_clock();
    uint64_t sum = 0;

    batch_hash(b, 0, n);
    lab_must(seen_filter_has(f, b->key, n, b->seen, &why), &why);
    t->each[t->n++] = 1e9 * (lab_cpu_clock() - begin) / (double)n;
    for (size_t i = 0; i < n; i++)
        sum += b->seen[i];
    return sum;
}

static void ask_new(struct timed_batch *b, const struct seen_filter *f,
                    struct measured *m)
{
    uint64_t hits = 0, end = m->n + m->asked;
    struct times t;

    times_init(&t, m->asked);
    for (uint64_t from = m->n, some; from < end; from += some) {
        some = batch_take(b, from, end);
        hits += ask(b, f, (size_t)some, &t);
    }
    m->rate = (double)hits / (double)m->asked;
    m->ask_new = times_median(&t);
}

/* For those it has, in batches from all over them. */
static void ask_held(struct timed_batch *b, const struct seen_filter *f,
                     struct measured *m)
{
    uint64_t want = m->asked < m->n ? m->asked : m->n;
    uint64_t batches = (want + BATCH - 1) / BATCH;
    struct times t;

    times_init(&t, want);
    for (uint64_t i = 0; i < batches; i++) {
        size_t some = batch_take(b, m->n / batches * i, m->n);

        m->lost += some - ask(b, f, some, &t);
    }
    m->ask_held = times_median(&t);
}

/* New URLs one by one, so that each waits for memory alone. */
static void ask_one(struct timed_batch *b, const struct seen_filter *f,
                    struct measured *m)
{
    uint64_t want = m->asked < ONES ? m->asked : ONES, end = m->n + want;
    struct seen_error why;
    struct times t;

    times_init(&t, want);
    for (uint64_t from = m->n, some; from < end; from += some) {
        double begin;

        some = batch_take(b, from, end);
        begin = lab_cpu_clock();
        for (size_t i = 0; i < some; i++) {
            batch_hash(b, i, 1);
            lab_must(seen_filter_has(f, &b->key[i], 1, &b->seen[i], &why),
                     &why);
        }
        t.each[t.n++] = 1e9 * (lab_cpu_clock() - begin) / (double)some;
    }
    m->ask_one = times_median(&t);
}

/* --- what to expect --- */

/* The deviation of the rate of filters with lines, from that of lines. */
static double spread_of(const struct seen_filter *f)
{
    enum { WORDS = 8 };
    double sum = 0, square = 0, lines = 0, share = 1;
    unsigned part, parts = seen_filter_parts(f);

    if (!parts && seen_filter_can(f, SEEN_HAS_LINES)) {
        const void *cells = seen_filter_memory(f);
        const uint64_t *word = cells;

        for (size_t i = 0; i < seen_filter_bytes(f) / 8; i += WORDS, lines++) {
            int set = 0;
            double rate;

            for (size_t j = i; j < i + WORDS; j++)
                set += __builtin_popcountll(word[j]);
            rate = pow(set / (64.0 * WORDS), seen_filter_plan(f)->probes);
            sum += rate;
            square += rate * rate;
        }
        return sqrt(fmax(0, square / lines - sum * sum / lines / lines) /
                    lines);
    }
    /* Of parts that all are asked errors add up; of those among which the
       key chooses they are shared. */
    if (parts && seen_filter_route(f, &(struct seen_key){ .text = "" }, &part,
                                   NULL) == SEEN_OK)
        share = 1.0 / parts;
    for (unsigned i = 0; i < parts; i++)
        sum += pow(share * spread_of(seen_filter_part(f, i)), 2);
    return sqrt(sum);
}

/* Of a filter that has all of m->n URLs. */
static void ask_all(struct timed_batch *b, const struct seen_filter *f,
                    struct measured *m)
{
    ask_new(b, f, m);
    ask_held(b, f, m);
    ask_one(b, f, m);
    m->bits = 8 * (double)seen_filter_bytes(f) / (double)m->n;
    m->planned = seen_filter_planned(f);
    m->expected = seen_filter_rate(f);
    m->spread = spread_of(f);
}

static void begin(const struct lab *lab, uint64_t n, uint64_t asked,
                  struct measured *m)
{
    uint64_t others = urls_count(lab->urls) - n;

    *m = (struct measured){ .n = n, .asked = asked < others ? asked : others };
}

void subject_measure_made(const struct lab *lab, struct seen_filter *f,
                          uint64_t n, uint64_t asked, subject_look *look,
                          void *of, struct measured *m)
{
    struct timed_batch b;

    begin(lab, n, asked, m);
    batch_init(&b, lab);
    m->add = 1e9 * add_all(&b, f, n, look, of) / (double)n;
    ask_all(&b, f, m);
    batch_clear(&b);
}

void subject_measure(const struct lab *lab, const struct subject *of,
                     uint64_t n, double rate, uint64_t asked,
                     struct measured *m)
{
    struct seen_plan plan = subject_plan(lab, of, n, rate);
    struct seen_filter *f;
    struct timed_batch b;
    char layers[8];

    begin(lab, n, asked, m);
    batch_init(&b, lab);
    if (seen_kind_can(of->kind, SEEN_HAS_LAYERS) &&
        seen_kind_arg(of->kind, 0, layers, sizeof layers))
        count_segments(&b, (unsigned)atoi(layers), n, &plan);
    m->add = 1e9 * fill(&b, &plan, n, &f, &m->built) / (double)n;
    ask_all(&b, f, m);
    seen_filter_free(f);
    batch_clear(&b);
}
