/*
 * main.c - seen-bench: how fast is this, on this machine?
 *
 *     $ seen bench                     list the benchmarks
 *     $ seen bench filters --json      run one
 */
#include "bench.h"
#include "serve.h"

#include <string.h>

static const struct {
    const char *name, *what;
    int (*run)(char **argv);
} benches[] = {
    { "filters", "all kinds and libbloom against memory's limit",
      bench_filters },
    { "cdx", "an archive's index into a filter, against wc and igzip",
      bench_cdx },
    { "serve", "the server, against nginx and redis-server", bench_serve },
    { "text", "a filter into text and back, against base64 and a copy",
      bench_text },
};

int main(int argc, char **argv)
{
    const size_t count = sizeof benches / sizeof benches[0];

    if (argc < 2 || !strcmp(argv[1], "--help")) {
        puts("Usage: seen bench NAME [OPTION]...\n");
        for (size_t i = 0; i < count; i++)
            printf("  %-10s %s\n", benches[i].name, benches[i].what);
        puts("\nseen bench NAME --help tells the options of one.");
        return 0;
    }
    for (size_t i = 0; i < count; i++)
        if (!strcmp(argv[1], benches[i].name))
            return benches[i].run(argv + 2);
    fprintf(stderr, "seen: bench: there is no benchmark named %s\n", argv[1]);
    return 2;
}
