/*
 * filters.c - seen bench filters: every kind, libbloom, and the limits.
 *
 * A row is a filter, a number of keys, what they are made from, and a number
 * of threads. Keys are prepared in chunks outside the clock; of URLs the
 * hash is inside it. Slices of adding, of asking and of the machine's limit
 * take turns, so a slow second of the machine strikes all of them.
 *
 * With two threads a figure is the time of the slower one divided by the
 * keys of both: half of one thread's is perfect. Adds of two threads go to a
 * shared filter, with its locks.
 */
#define _POSIX_C_SOURCE 200809L /* pthread_barrier_t */
#include "bench.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <seen/kind.h>

enum {
    MOST_ASKED = 20000000,
    MOST_LIMIT = 1000000,
    ROWS = 256,
    IN_CACHE = 10000000, /* keys; fewer would be driven out of the cache by
                            the limit's buffer if the two took turns */
    BUILDS = 5           /* at most, and no more after BUILD_TIME */
};
static const double BUILD_TIME = 30e9;

static const uint64_t absent = UINT64_C(1) << 40; /* numbers never added */

struct row {
    const char *filter;
    uint64_t keys;
    bool urls;
    unsigned threads;
    /* Nanoseconds, NAN where there is none. */
    double limit, insert, bulk, present, missing;
    double bits, rate;
};

struct settings {
    uint64_t keys;
    const char *filter, *input;
    unsigned threads;
    bool json;
};

/* Two threads do the same to their own halves of a slice. */
struct worker {
    struct subject *s;
    void (*act)(struct subject *s, struct chunk *c, bool urls);
    uint64_t first, count, yes;
    bool urls;
    double ns;
    struct chunk *chunk;
};

static void *work(void *argument)
{
    struct worker *w = argument;

    w->ns = 0;
    for (uint64_t i = 0; i < w->count; i += CHUNK) {
        double begin;

        chunk_make(w->chunk, w->first + i, w->urls);
        begin = clock_now();
        w->act(w->s, w->chunk, w->urls);
        w->ns += clock_now() - begin;
        for (unsigned j = 0; j < CHUNK; j++)
            w->yes += w->chunk->answer[j];
    }
    return NULL;
}

/* ns a key of `act` on count keys from `first` on, by all workers. */
static double run(struct worker *w, unsigned threads,
                  void (*act)(struct subject *, struct chunk *, bool),
                  uint64_t first, uint64_t count)
{
    uint64_t share = count / threads / CHUNK * CHUNK;
    pthread_t thread[MOST_THREADS];
    double slowest = 0;

    for (unsigned i = 0; i < threads; i++) {
        w[i].act = act;
        w[i].first = first + i * share;
        w[i].count = share;
    }
    if (threads == 1)
        work(&w[0]);
    for (unsigned i = 0; threads > 1 && i < threads; i++)
        pthread_create(&thread[i], NULL, work, &w[i]);
    for (unsigned i = 0; threads > 1 && i < threads; i++)
        pthread_join(thread[i], NULL);
    for (unsigned i = 0; i < threads; i++)
        slowest = fmax(slowest, w[i].ns);
    return slowest / (double)(share * threads);
}

static uint64_t sum_yes(struct worker *w, unsigned threads)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < threads; i++) {
        sum += w[i].yes;
        w[i].yes = 0;
    }
    return sum;
}

static void measure(struct row *r, struct subject *s)
{
    struct worker w[MOST_THREADS] = { { 0 } };
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
    void *buffer = limit_buffer(size);
    const char *wrong;

    for (unsigned i = 0; i < r->threads; i++) {
        w[i].s = s;
        w[i].urls = r->urls;
        w[i].chunk = calloc(1, sizeof *w[i].chunk);
        if (!w[i].chunk)
            abort();
    }
    r->limit = r->insert = r->bulk = r->present = r->missing = NAN;
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
        r->insert = median(insert, SLICES);
    if (!wrong)
        r->bits = s->bits(s) / (double)r->keys;

    /* A build replaces what was added: the same keys, the same cells. */
    if (s->build) {
        double ns[BUILDS], begin = clock_now();
        unsigned built = 0;

        while (built < BUILDS &&
               (!built || clock_now() - begin < BUILD_TIME) &&
               s->build(s, r->filter, added * SLICES, r->urls, r->threads,
                        &ns[built]))
            built++;
        if (built) {
            r->bulk = median(ns, built);
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
    r->present = median(present, SLICES);
    r->missing = median(missing, SLICES);
    r->limit = median(limit, 2 * SLICES);
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
    printf("%-18s %11s %5s %7s %7s %7s %7s %7s %7s %7s %7s %7s\n", "filter",
           "keys", "input", "threads", "limit", "insert", "bulk", "present",
           "absent", "x limit", "bits", "rate %");
}

static void show(const struct row *r)
{
    printf("%-18s %11llu %5s %7u", r->filter, (unsigned long long)r->keys,
           r->urls ? "url" : "key", r->threads);
    figure(r->limit, 7, 2);
    figure(r->insert, 7, 2);
    figure(r->bulk, 7, 2);
    figure(r->present, 7, 2);
    figure(r->missing, 7, 2);
    figure(r->present / r->limit, 7, 2);
    figure(r->bits, 7, 2);
    figure(100 * r->rate, 7, 4);
    putchar('\n');
    fflush(stdout);
}

static void number(const char *name, double x, const char *after)
{
    if (isnan(x))
        printf("\"%s\": null%s", name, after);
    else
        printf("\"%s\": %.6g%s", name, x, after);
}

static void show_json(const struct row *row, size_t n, double line,
                      double hash)
{
    printf("{\"limits\": {");
    number("random_line_ns", line, ", ");
    number("xxh3_128_url_ns", hash, "},\n \"rows\": [");
    for (size_t i = 0; i < n; i++) {
        const struct row *r = &row[i];

        printf("%s\n  {\"filter\": \"%s\", \"keys\": %llu, \"input\": \"%s\", "
               "\"threads\": %u, ",
               i ? "," : "", r->filter, (unsigned long long)r->keys,
               r->urls ? "url" : "key", r->threads);
        number("random_line_ns", r->limit, ", ");
        number("insert_ns", r->insert, ", ");
        number("bulk_ns", r->bulk, ", ");
        number("query_present_ns", r->present, ", ");
        number("query_absent_ns", r->missing, ", ");
        number("bits_per_key", r->bits, ", ");
        number("rate", r->rate, "}");
    }
    puts("\n ]}");
}

static const char usage[] =
    "Usage: seen bench filters [OPTION]...\n"
    "Nanoseconds a key, median of slices, next to this machine's limits.\n\n"
    "  --keys N         only for N keys (default: 1000000 and 100000000)\n"
    "  --filter KIND    only this kind, or libbloom\n"
    "  --input key|url  only from 64-bit keys, or from URLs of 67 bytes\n"
    "  --threads N      only with 1 or 2 threads\n"
    "  --json           print JSON instead of a table\n"
    "  --help           print this\n\n"
    "limit    a read of a random line in a buffer of 10 bits a key\n"
    "insert   adding in random order, in batches of 256\n"
    "bulk     building from all keys at once, memory included\n"
    "present, absent  asking for keys that were added, and that were not\n"
    "x limit  present divided by limit\n";

/* The value of --name VALUE at *argv, or NULL; moves on to the value. */
static const char *value_of(char ***argv, const char *name)
{
    if (strcmp(**argv, name) || !(*argv)[1])
        return NULL;
    return *++*argv;
}

/* 0 to go on, or what to exit with after a message. */
static int read_settings(struct settings *set, char **argv)
{
    for (; *argv; argv++) {
        const char *value;
        char *end = NULL;

        if ((value = value_of(&argv, "--keys"))) {
            set->keys = strtoull(value, &end, 10);
            if (*end || set->keys < 25600 || set->keys > 4000000000u) {
                fprintf(stderr, "seen: bench: --keys takes a number from "
                                "25600 to 4000000000\n");
                return 2;
            }
        } else if ((value = value_of(&argv, "--filter"))) {
            set->filter = value;
        } else if ((value = value_of(&argv, "--input"))) {
            set->input = value;
        } else if ((value = value_of(&argv, "--threads"))) {
            set->threads = (unsigned)strtoul(value, &end, 10);
        } else if (!strcmp(*argv, "--json")) {
            set->json = true;
        } else if (!strcmp(*argv, "--help")) {
            fputs(usage, stdout);
            return 1;
        } else {
            fprintf(stderr,
                    "seen: bench: %s is no option, or its value is "
                    "missing\n",
                    *argv);
            return 2;
        }
    }
    if (set->input && strcmp(set->input, "key") && strcmp(set->input, "url")) {
        fprintf(stderr, "seen: bench: --input takes key or url\n");
        return 2;
    }
    if (set->threads > MOST_THREADS) {
        fprintf(stderr, "seen: bench: --threads takes 1 or 2\n");
        return 2;
    }
    return 0;
}

int bench_filters(char **argv)
{
    static const char *const every[] = {
        "blocked",           "bloom",           "fuse",
        "counting:4",        "growing/blocked", "routed:16/blocked",
        "spatial:2/blocked", "layered:3",       "libbloom",
    };
    static const uint64_t sizes[] = { 1000000, 100000000 };
    struct settings set = { 0 };
    static struct row row[ROWS];
    size_t n = 0;
    double hash;
    int out = read_settings(&set, argv);

    if (out)
        return out == 1 ? 0 : out;
    hash = limit_hash();
    if (!set.json) {
        printf("XXH3-128 of a URL: %.2f ns\n", hash);
        show_title();
    }
    for (size_t i = 0; i < (set.keys ? 1 : 2); i++)
        for (size_t j = 0; j < (set.filter ? 1 : sizeof every / sizeof *every);
             j++)
            for (int urls = 0; urls < 2; urls++)
                for (unsigned threads = 1; threads <= MOST_THREADS;
                     threads++) {
                    struct row *r = &row[n];
                    struct subject s = subject_ours;

                    r->filter = set.filter ? set.filter : every[j];
                    r->keys = set.keys ? set.keys : sizes[i];
                    r->urls = urls;
                    r->threads = threads;
                    if ((set.threads && threads != set.threads) ||
                        (set.input && urls != !strcmp(set.input, "url")) ||
                        (!urls && seen_kind_can(r->filter, SEEN_READS_TEXT)))
                        continue;
                    if (!strcmp(r->filter, "libbloom"))
                        s = subject_libbloom;
                    measure(r, &s);
                    if (isnan(r->present)) {
                        fprintf(stderr,
                                "seen: bench: %s: cannot be made for "
                                "%llu keys\n",
                                r->filter, (unsigned long long)r->keys);
                        return 2;
                    }
                    if (!set.json)
                        show(r);
                    n++;
                }
    if (set.json)
        show_json(row, n, n ? row[n - 1].limit : NAN, hash);
    return 0;
}
