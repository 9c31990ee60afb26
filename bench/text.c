/*
 * text.c - seen bench text: a filter into text and back.
 *
 *     $ seen bench text --bytes 246000000
 *
 * What `seen convert` does, from file to file, on the memory's own file
 * system or where TMPDIR says: the machine's limit is to copy the text, and
 * the peer is base64 of coreutils, which writes letters without offsets,
 * plan or checksums. All take turns.
 */
#define _DEFAULT_SOURCE
#include "bench.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seen/build.h>
#include <seen/share.h>

enum { ROUNDS = 5, PIECE = 1 << 20 };

static char folder[256], file[300], text[300], other[300];

static bool make_file(uint64_t bytes)
{
    struct seen_plan plan = { .kind = "bloom",
                              .capacity = bytes,
                              .bits = 8 * bytes,
                              .over = true,
                              .seed = 7 };
    struct seen_filter *f = NULL;
    struct seen_build *b;
    struct seen_key key[256];
    bool good = seen_build_new(&b, &plan, 1, NULL) == SEEN_OK;

    if (!good)
        return false;
    for (uint64_t i = 0; i < bytes && good; i += 256) { /* half full */
        for (unsigned j = 0; j < 256; j++)
            seen_key_number(&key[j], i + j);
        good = seen_build_add(b, 0, key, 256, NULL) == SEEN_OK;
    }
    if (good)
        good = seen_build_finish(b, &f, NULL) == SEEN_OK &&
               seen_store_save(f, file, NULL) == SEEN_OK;
    else
        seen_build_free(b);
    seen_filter_free(f);
    return good;
}

static bool to_text(void)
{
    struct seen_filter *f;
    bool good = seen_store_load(&f, file, NULL, NULL) == SEEN_OK &&
                seen_text_save(f, text, NULL) == SEEN_OK;

    seen_filter_free(f);
    return good;
}

static bool from_text(void)
{
    struct seen_filter *f;
    bool good = seen_text_load(&f, text, NULL, NULL) == SEEN_OK &&
                seen_store_save(f, other, NULL) == SEEN_OK;

    seen_filter_free(f);
    return good;
}

static bool copy(void)
{
    int from = open(text, O_RDONLY);
    int to = open(other, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    char *piece = malloc(PIECE);
    ssize_t n = from < 0 || to < 0 || !piece ? -1 : 1;

    while (n > 0) {
        n = read(from, piece, PIECE);
        if (n > 0 && write(to, piece, (size_t)n) != n)
            n = -1;
    }
    if (!n && fdatasync(to))
        n = -1;
    free(piece);
    close(from);
    close(to);
    return !n;
}

static bool peer_encode(void)
{
    char line[1000];

    snprintf(line, sizeof line, "base64 -w 256 '%s' >'%s'", file, other);
    return !system(line);
}

static bool peer_decode(void)
{
    char line[1000];

    snprintf(line, sizeof line, "base64 -w 256 '%s' | base64 -d >'%s'", file,
             other);
    return !system(line);
}

static struct run {
    const char *name, *what;
    bool (*run)(void);
    double ns[ROUNDS];
} runs[] = {
    { .name = "to text", .what = "to_text", .run = to_text },
    { .name = "from text", .what = "from_text", .run = from_text },
    { .name = "copying the text", .what = "copy", .run = copy },
    { .name = "base64", .what = "base64", .run = peer_encode },
    { .name = "base64 | base64 -d", .what = "base64_d", .run = peer_decode },
};
enum { RUNS = sizeof runs / sizeof runs[0] };

static bool measure(void)
{
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < RUNS; i++) {
            double from = clock_now();

            if (!runs[i].run()) {
                fprintf(stderr, "seen: bench: %s failed in %s\n", runs[i].name,
                        folder);
                return false;
            }
            runs[i].ns[round] = clock_now() - from;
            unlink(other);
        }
    return true;
}

static void show(uint64_t bytes, bool json)
{
    double limit = median(runs[2].ns, ROUNDS);

    if (json)
        printf("{\"bytes\": %llu", (unsigned long long)bytes);
    else
        printf("%llu bytes of cells, medians of %d\n%-19s %8s %13s\n",
               (unsigned long long)bytes, ROUNDS, "", "seconds",
               "times a copy");
    for (int i = 0; i < RUNS; i++) {
        double ns = median(runs[i].ns, ROUNDS);

        if (json)
            printf(", \"%s\": %.4f", runs[i].what, ns / 1e9);
        else
            printf("%-19s %8.3f %13.2f\n", runs[i].name, ns / 1e9, ns / limit);
    }
    if (json)
        puts("}");
}

int bench_text(char **argv)
{
    const char *temp = getenv("TMPDIR");
    unsigned long long bytes = 246000000;
    bool json = false, good;
    char none[] = "", *end = none;

    for (; *argv && !*end; argv++) {
        if (!strcmp(*argv, "--json")) {
            json = true;
        } else if (!strcmp(*argv, "--bytes") && argv[1]) {
            bytes = strtoull(*++argv, &end, 10);
        } else {
            puts("Usage: seen bench text [--bytes N] [--json]");
            return strcmp(*argv, "--help") ? 2 : 0;
        }
    }
    if (*end || bytes < 64 || bytes > 1ull << 40) {
        fputs("seen: bench: --bytes takes a number from 64 on\n", stderr);
        return 2;
    }
    snprintf(folder, sizeof folder, "%s/seen-bench-XXXXXX",
             temp && *temp ? temp : "/dev/shm");
    if (!mkdtemp(folder)) {
        perror("seen: bench: TMPDIR");
        return 2;
    }
    snprintf(file, sizeof file, "%s/f.seen", folder);
    snprintf(text, sizeof text, "%s/f.csv", folder);
    snprintf(other, sizeof other, "%s/other", folder);
    good = make_file(bytes) && measure();
    if (good)
        show(bytes, json);
    unlink(file);
    unlink(text);
    unlink(other);
    rmdir(folder);
    return good ? 0 : 2;
}
