/*
 * filters.c - seen bench filters: every kind, libbloom, and the limits.
 *
 * First `blocked` beside its peers (batches.c), then, with --full or for one
 * kind, all kinds, and peers of some. A row of those is a filter, a number of keys, what they are
 * made from, and a number of threads. Keys are prepared outside the timed
 * parts, CHUNKS chunks at a time: when URLs were formatted between single
 * chunks, that drove the filter out of the cache, and a lookup took 40 %
 * longer. Hashing URLs is timed. Slices of adding, of asking and of the
 * machine's limit alternate, so that a slow second of the machine affects all
 * of them.
 *
 * Figures are CPU time, but those of builds by two threads, which wait for each
 * other. With two threads a figure is the time of the slower one divided by the
 * keys of both: half of one thread's is perfect. Two threads add to a shared
 * filter, with its locks.
 */
#include "bench.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <seen/kind.h>

enum {
    MOST_ASKED = 20000000,
    MOST_LIMIT = 1000000,
    IN_CACHE = 10000000, /* keys; fewer would be driven out of the cache by
                            the limit's buffer if the two took turns */
    BUILDS = 5           /* at most, and no more after BUILD_TIME */
};
static const double BUILD_TIME = 30e9;

static const uint64_t absent = UINT64_C(1) << 40; /* numbers never added */

struct filter_row {
    const char *filter;
    uint64_t keys;
    bool urls;
    unsigned threads;
    /* Nanoseconds; NAN: not measured. */
    double limit, insert, bulk, present, missing, one;
    double bits, rate;
};

struct filters_options {
    uint64_t keys, threads;
    const char *filter, *input, *simd;
    bool full, json, help;
};

/* Two threads do the same to their own halves of a slice. */
struct filter_worker {
    struct contender *s;
    void (*act)(struct contender *s, struct chunk *c, bool urls);
    uint64_t first, count, yes;
    bool urls;
    double ns;
    struct chunk *chunk;
};

static void *act(void *argument)
{
    struct filter_worker *w = argument;

    w->ns = 0;
    for (uint64_t i = 0; i < w->count;) {
        struct chunk *c = w->chunk;
        unsigned n = 0;
        double begin;

        for (; n < CHUNKS && i < w->count; n++, i += CHUNK)
            chunk_make(&c[n], w->first + i, w->urls);
        begin = bench_cpu_ns();
        for (unsigned j = 0; j < n; j++)
            w->act(w->s, &c[j], w->urls);
        w->ns += bench_cpu_ns() - begin;
        for (unsigned j = 0; j < n * CHUNK; j++)
            w->yes += c[j / CHUNK].answer[j % CHUNK];
    }
    return NULL;
}

/* ns per key of `what` on count keys from `first` on, by all workers. */
static double run(struct filter_worker *w, unsigned threads,
                  void (*what)(struct contender *, struct chunk *, bool),
                  uint64_t first, uint64_t count)
{
    uint64_t share = count / threads / CHUNK * CHUNK;
    pthread_t thread[MOST_THREADS];
    double slowest = 0;

    for (unsigned i = 0; i < threads; i++) {
        w[i].act = what;
        w[i].first = first + i * share;
        w[i].count = share;
    }
    if (threads == 1)
        act(&w[0]);
    for (unsigned i = 0; threads > 1 && i < threads; i++)
        pthread_create(&thread[i], NULL, act, &w[i]);
    for (unsigned i = 0; threads > 1 && i < threads; i++)
        pthread_join(thread[i], NULL);
    for (unsigned i = 0; i < threads; i++)
        slowest = fmax(slowest, w[i].ns);
    return slowest / (double)(share * threads);
}

static uint64_t sum_yes(struct filter_worker *w, unsigned threads)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < threads; i++) {
        sum += w[i].yes;
        w[i].yes = 0;
    }
    return sum;
}

static void measure(struct filter_row *r, struct contender *s)
{
    struct filter_worker w[MOST_THREADS] = { { 0 } };
    uint64_t added = r->keys / SLICES / (CHUNK * MOST_THREADS) *
                     (CHUNK * MOST_THREADS);
    uint64_t asked = added < MOST_ASKED / SLICES
                         ? added
                         : (uint64_t)MOST_ASKED / SLICES /
                               (CHUNK * MOST_THREADS) * (CHUNK * MOST_THREADS);
    uint64_t reads = added < MOST_LIMIT ? added : MOST_LIMIT;
    size_t size = (size_t)(r->keys * 10 / 8);
    bool cached = r->keys < IN_CACHE;
    double limit[2 * SLICES], insert[SLICES], present[SLICES], missing[SLICES];
    double one[SLICES];
    void *buffer = limit_buffer(size);
    const char *wrong;

    for (unsigned i = 0; i < r->threads; i++) {
        w[i].s = s;
        w[i].urls = r->urls;
        w[i].chunk = calloc(CHUNKS, sizeof *w[i].chunk);
        if (!w[i].chunk)
            abort();
    }
    r->limit = r->insert = r->bulk = NAN;
    r->present = r->missing = r->one = NAN;
    r->bits = r->rate = NAN;
    if (!buffer)
        goto done;

    wrong = s->open(s, r->filter, r->keys, r->threads);
    for (int i = 0; i < SLICES; i++) {
        if (!wrong && (r->threads == 1 || s->build))
            insert[i] = run(w, r->threads, s->add, added * (unsigned)i, added);
        else if (!wrong)
            run(w, 1, s->add, added * (unsigned)i, added);
        if (!cached)
            limit[i] = limit_line(buffer, size, reads);
    }
    for (int i = 0; i < SLICES && cached; i++)
        limit[i] = limit_line(buffer, size, reads);
    if (!wrong && (r->threads == 1 || s->build))
        r->insert = bench_median(insert, SLICES);
    if (!wrong)
        r->bits = s->bits(s) / (double)r->keys;

    /* A build replaces what was added: the same keys, the same cells. */
    if (s->build) {
        double ns[BUILDS], begin = bench_ns();
        unsigned built = 0;

        while (built < BUILDS && (!built || bench_ns() - begin < BUILD_TIME) &&
               s->build(s, r->filter, added * SLICES, r->urls, r->threads,
                        &ns[built]))
            built++;
        if (built) {
            r->bulk = bench_median(ns, built);
            r->bits = s->bits(s) / (double)(added * SLICES);
            wrong = NULL;
        }
    }
    if (wrong)
        goto done;
    for (int i = 0; i < SLICES; i++) {
        present[i] = run(w, r->threads, s->has, added * (unsigned)i, asked);
        if (!cached)
            limit[SLICES + i] = limit_line(buffer, size, reads);
        one[i] = run(w, r->threads, s->one ? s->one : s->has,
                     added * (unsigned)i, asked);
        sum_yes(w, r->threads);
        missing[i] = run(w, r->threads, s->has, absent + asked * (unsigned)i,
                         asked);
        r->rate = (isnan(r->rate) ? 0 : r->rate) +
                  (double)sum_yes(w, r->threads) /
                      (double)(asked / r->threads / CHUNK * CHUNK *
                               r->threads * SLICES);
    }
    for (int i = 0; i < SLICES && cached; i++)
        limit[SLICES + i] = limit_line(buffer, size, reads);
    r->present = bench_median(present, SLICES);
    r->missing = bench_median(missing, SLICES);
    r->one = bench_median(one, SLICES);
    r->limit = bench_median(limit, 2 * SLICES);
done:
    s->close(s);
    limit_free(buffer, size);
    for (unsigned i = 0; i < r->threads; i++)
        free(w[i].chunk);
}

static void figure(double x, int width, int digits)
{
    if (isnan(x))
        printf(" %*s", width, "-");
    else
        printf(" %*.*f", width, digits, x);
}

static void show_title(void)
{
    printf("%-18s %11s %5s %7s %7s %7s %7s %7s %7s %7s %7s %7s %7s\n",
           "filter", "keys", "input", "threads", "limit", "insert", "bulk",
           "present", "absent", "single", "x limit", "bits", "rate %");
}

static void show(const struct filter_row *r)
{
    printf("%-18s %11llu %5s %7u", r->filter, (unsigned long long)r->keys,
           r->urls ? "url" : "key", r->threads);
    figure(r->limit, 7, 2);
    figure(r->insert, 7, 2);
    figure(r->bulk, 7, 2);
    figure(r->present, 7, 2);
    figure(r->missing, 7, 2);
    figure(r->one, 7, 2);
    figure(r->present / r->limit, 7, 2);
    figure(r->bits, 7, 2);
    figure(100 * r->rate, 7, 4);
    putchar('\n');
    fflush(stdout);
}

static void show_json(const struct filter_row *row, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct filter_row *r = &row[i];

        printf("%s\n  {\"filter\": \"%s\", \"keys\": %llu, \"input\": \"%s\", "
               "\"threads\": %u, ",
               i ? "," : "", r->filter, (unsigned long long)r->keys,
               r->urls ? "url" : "key", r->threads);
        bench_json("random_line_ns", r->limit, ", ");
        bench_json("insert_ns", r->insert, ", ");
        bench_json("bulk_ns", r->bulk, ", ");
        bench_json("query_present_ns", r->present, ", ");
        bench_json("query_absent_ns", r->missing, ", ");
        bench_json("query_single_ns", r->one, ", ");
        bench_json("bits_per_key", r->bits, ", ");
        bench_json("rate", r->rate, "}");
    }
}

static const char about[] =
    "Nanoseconds per key, next to this machine's limits: CPU time, but by\n"
    "the clock for builds by two threads. First blocked and its peers,\n"
    "in turns: the smallest, the median and the largest of 11.\n\n"
    "limit       a random line of memory of 10 bits per key: read for\n"
    "            lookups, read and written back for inserts\n"
    "limit, hashes  the line of each of an array of 8-byte hashes, in calls\n"
    "limit, keys  the same for keys of 32 bytes, as blocked gets them\n"
    "batch       keys per call\n"
    "expected    one key per call, 32 of them expected before (see\n"
    "            seen_filter_expect() in <seen/filter.h>)\n"
    "URL lookup  of 67 bytes, hashed; XXH3 inline: what it takes at least\n"
    "2 threads   inserts into one filter, time divided by the keys of both\n"
    "bulk build  of a new filter from all keys, memory included\n"
    "FastLocalBloom  the filter of RocksDB, in the same loop, with 8-byte\n"
    "            hashes\n\n"
    "Then, with --full or --filter, all kinds: the median of 25 slices.\n\n"
    "limit    a read of a random line in a buffer of 10 bits per key\n"
    "insert   adding in random order, in batches of 256\n"
    "bulk     building from all keys at once, memory included\n"
    "present, absent  asking for keys that were added, and that were not\n"
    "single   asking for keys that were added, one per call\n"
    "plain-fuse  a peer: the binary fuse filter of its paper, one 8-byte key\n"
    "         after the other\n"
    "x limit  present divided by limit\n";

static const struct option options[] = {
#define AT(name) offsetof(struct filters_options, name)
    { "keys", 0, COUNT, "N", AT(keys),
      "only for N keys (default: 1000000 and 100000000)" },
    { "filter", 0, TEXT, "KIND", AT(filter),
      "only this kind, or libbloom or plain-fuse" },
    { "input", 0, TEXT, "key|url", AT(input),
      "only from 64-bit keys, or from URLs of 67 bytes" },
    { "threads", 0, COUNT, "N", AT(threads), "only with 1 or 2 threads" },
    { "simd", 0, TEXT, "NAME", AT(simd),
      "avx512, avx2 or portable (default: the widest)" },
    { "full", 0, FLAG, NULL, AT(full), "all kinds, which takes long" },
    { "json", 0, FLAG, NULL, AT(json), "print JSON instead of a table" },
    { "help", 0, FLAG, NULL, AT(help), "print this" },
    { .name = NULL },
#undef AT
};

/* False with the exit code. */
static bool read_options(struct filters_options *set, char **argv, int *status)
{
    if (!bench_options(options, "filters", about, set, &set->help, argv,
                       status))
        return false;
    *status = 2;
    if (set->keys && (set->keys < 25600 || set->keys > 4000000000u))
        fputs("seen: bench: --keys takes a number from 25600 to 4000000000\n",
              stderr);
    else if (set->threads > MOST_THREADS)
        fputs("seen: bench: --threads takes 1 or 2\n", stderr);
    else
        return true;
    return false;
}

/* Every combination of these that is wanted, in this order. */
static const char *const kinds[] = {
    "blocked",
    "bloom",
    "fuse",
    "plain-fuse",
    "ribbon:8",
    "counting:4",
    "growing/blocked",
    "routed:16/blocked",
    "spatial:2/blocked",
    "layered:3",
    "libbloom",
};
static const uint64_t sizes[] = { 1000000, 100000000 };
enum { KINDS = sizeof kinds / sizeof *kinds, SIZES = 2 };

/* Row number i of all; false if it is not wanted. */
static bool choose(const struct filters_options *set, unsigned i,
                   struct filter_row *r)
{
    unsigned kind = i / MOST_THREADS / 2 % KINDS;
    unsigned size = i / MOST_THREADS / 2 / KINDS;

    r->threads = i % MOST_THREADS + 1;
    r->urls = i / MOST_THREADS % 2;
    r->filter = set->filter ? set->filter : kinds[kind];
    r->keys = set->keys ? set->keys : sizes[size];
    return !(set->keys && size) && !(set->filter && kind) &&
           !(set->threads && r->threads != set->threads) &&
           !(set->input && r->urls != !strcmp(set->input, "url")) &&
           (r->urls || !seen_kind_can(r->filter, SEEN_READS_TEXT)) &&
           (strcmp(r->filter, "plain-fuse") || (!r->urls && r->threads == 1));
}

/* The table of kinds; false after a message. */
static bool measure_kinds(const struct filters_options *set)
{
    static struct filter_row row[SIZES * KINDS * 2 * MOST_THREADS];
    size_t n = 0;

    if (!set->json)
        show_title();
    for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
        struct filter_row *r = &row[n];
        struct contender s = contender_ours;

        if (!choose(set, i, r))
            continue;
        if (!strcmp(r->filter, "libbloom"))
            s = contender_libbloom;
        else if (!strcmp(r->filter, "plain-fuse"))
            s = contender_plain_fuse;
        measure(r, &s);
        if (isnan(r->present)) {
            fprintf(stderr, "seen: bench: %s: cannot be made for %llu keys\n",
                    r->filter, (unsigned long long)r->keys);
            return false;
        }
        if (!set->json)
            show(r);
        n++;
    }
    if (set->json)
        show_json(row, n);
    return true;
}

/* blocked and its peers. */
static bool measure_batches(const struct filters_options *set)
{
    if (!set->json)
        printf("%11s  %-10s %-15s %5s %8s %8s %8s %8s\n", "keys", "what",
               "who", "batch", "ns", "median", "most", "x limit");
    for (unsigned i = 0; i < (set->keys ? 1 : SIZES); i++)
        if (!bench_batches(set->keys ? set->keys : sizes[i], set->json,
                           i ? "," : "")) {
            fputs("seen: bench: no memory for filters of this size\n", stderr);
            return false;
        }
    return true;
}

int bench_filters(char **argv)
{
    struct filters_options set = { 0 };
    struct seen_error why;
    bool kinds_too, good = true;
    double hash;
    int status;

    if (!read_options(&set, argv, &status))
        return status;
    if (set.simd && seen_simd_set(set.simd, &why) != SEEN_OK) {
        fprintf(stderr, "seen: bench: --simd %s: %s\n", set.simd, why.text);
        return 2;
    }
    kinds_too = set.full || set.filter || set.input || set.threads;
    hash = limit_hash();
    if (set.json) {
        printf("{\"cpu\": \"%s\", \"simd\": \"%s\", ", bench_cpu(),
               seen_simd());
        bench_json("xxh3_128_url_ns", hash, ",\n \"batches\": [");
    } else {
        bench_show_cpu();
        printf("SIMD: %s; XXH3-128 of a URL: %.2f ns\n\n", seen_simd(), hash);
    }
    if (set.full || !kinds_too)
        good = measure_batches(&set);
    if (set.json)
        printf("\n ],\n \"rows\": [");
    else if (kinds_too)
        putchar('\n');
    if (good && kinds_too)
        good = measure_kinds(&set);
    if (set.json)
        puts("\n ]}");
    return good ? 0 : 2;
}
