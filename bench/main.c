/*
 * main.c - seen-bench: how fast is this, on this machine?
 *
 *     $ seen bench                     list the benchmarks
 *     $ seen bench filters --json      run one
 */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name, *what;
    int (*run)(char **argv);
} benches[] = {
    { "filters",
      "all kinds, libbloom and RocksDB's filter against memory's limit",
      bench_filters },
    { "urls", "from a URL to its key, against XXH3 and curl's parser",
      bench_urls },
    { "typed",
      "build, add and dedup as they are typed, against wc, igzip and a set",
      bench_typed },
    { "cdx", "an archive's index into a filter, against wc and igzip",
      bench_cdx },
    { "serve", "the server, against nginx and redis-server", bench_serve },
    { "text", "a filter into text and back, against base64 and a copy",
      bench_text },
    { "crawl", "pages per second, against wget, wget2 and Scrapy",
      bench_crawl },
    { "frontier",
      "a crawl that finds millions of URLs: links per second and "
      "memory",
      bench_frontier },
    { "queue", "messages per second, against bare SQLite and librabbitmq",
      bench_queue },
    { "work", "workers that share a web of many hosts: do they scale?",
      bench_work },
    { "aggregate",
      "pages classified, beside the aggregation paper's experiments",
      bench_aggregate },
    { "remote", "filters in Redis and Redis Cluster, against SETBIT",
      bench_remote },
};

/* --- what all of them use --- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double bench_median(double *of, size_t n)
{
    qsort(of, n, sizeof *of, ascending);
    return n % 2 ? of[n / 2] : (of[n / 2 - 1] + of[n / 2]) / 2;
}

void bench_json(const char *name, double x, const char *after)
{
    if (isfinite(x))
        printf("\"%s\": %.10g%s", name, x, after);
    else
        printf("\"%s\": null%s", name, after);
}

const char *bench_cpu(void)
{
    static char line[256], *name;
    FILE *file = name ? NULL : fopen("/proc/cpuinfo", "re");

    while (file && !name && fgets(line, sizeof line, file))
        if (!strncmp(line, "model name", 10) && strchr(line, ':')) {
            line[strcspn(line, "\n")] = '\0';
            name = strchr(line, ':') + 2;
        }
    if (file)
        fclose(file);
    return name ? name : "unknown CPU";
}

void bench_show_cpu(void)
{
    printf("%ld x %s\n", sysconf(_SC_NPROCESSORS_ONLN), bench_cpu());
}

bool bench_options(const struct option *options, const char *name,
                   const char *about, void *into, const bool *help,
                   char **argv, int *status)
{
    char program[32], wrong[OPTION_WRONG];

    snprintf(program, sizeof program, "seen bench %s", name);
    *status = 2;
    if (!option_read_all(options, program, into, argv, wrong)) {
        fprintf(stderr, "seen: bench: %s\n", wrong);
    } else if (*help) {
        printf("Usage: %s [OPTION]...\n%s\n", program, about);
        option_print(stdout, options);
        *status = 0;
    } else if (*argv) {
        fprintf(stderr, "seen: bench: %s: takes no operand: see %s --help\n",
                *argv, program);
    } else {
        return true;
    }
    return false;
}

int main(int argc, char **argv)
{
    const size_t count = sizeof benches / sizeof benches[0];

    if (argc < 2 || !strcmp(argv[1], "--help")) {
        puts("Usage: seen bench NAME [OPTION]...\n");
        for (size_t i = 0; i < count; i++)
            printf("  %-10s %s\n", benches[i].name, benches[i].what);
        puts("\nseen bench NAME --help lists the options of one.");
        return 0;
    }
    for (size_t i = 0; i < count; i++)
        if (!strcmp(argv[1], benches[i].name))
            return benches[i].run(argv + 2);
    fprintf(stderr, "seen: bench: there is no benchmark named %s\n", argv[1]);
    return 2;
}
