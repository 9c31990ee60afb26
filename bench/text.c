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
#include "bench.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seen/build.h>
#include <seen/share.h>

#include "process.h"

enum { ROUNDS = 5, PIECE = 1 << 20 };

static char file[PATH_ROOM], text[PATH_ROOM], other[PATH_ROOM];

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
                seen_csv_save(f, text, NULL) == SEEN_OK;

    seen_filter_free(f);
    return good;
}

static bool from_text(void)
{
    struct seen_filter *f;
    bool good = seen_csv_load(&f, text, NULL, NULL) == SEEN_OK &&
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
    const char *argv[] = { "base64", "-w", "256", file, NULL };
    double seconds;

    return process_run(argv, "other", NULL, &seconds);
}

static bool peer_decode(void)
{
    const char *argv[] = { "sh", "-c", "base64 -w 256 \"$0\" | base64 -d",
                           file, NULL };
    double seconds;

    return process_run(argv, "other", NULL, &seconds);
}

static struct text_run {
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
            double from = bench_ns();

            if (!runs[i].run()) {
                fprintf(stderr, "seen: bench: %s failed in %s\n", runs[i].name,
                        process_folder());
                return false;
            }
            runs[i].ns[round] = bench_ns() - from;
            unlink(other);
        }
    return true;
}

static void show(uint64_t bytes, bool json)
{
    double limit = bench_median(runs[2].ns, ROUNDS);

    if (!json)
        bench_show_cpu();
    if (json)
        printf("{\"bytes\": %llu", (unsigned long long)bytes);
    else
        printf("%llu bytes of cells, medians of %d\n%-19s %8s %13s\n",
               (unsigned long long)bytes, ROUNDS, "", "seconds",
               "times a copy");
    for (int i = 0; i < RUNS; i++) {
        double ns = bench_median(runs[i].ns, ROUNDS);

        if (json)
            printf(", \"%s\": %.4f", runs[i].what, ns / 1e9);
        else
            printf("%-19s %8.3f %13.2f\n", runs[i].name, ns / 1e9, ns / limit);
    }
    if (json)
        puts("}");
}

struct text_options {
    uint64_t bytes;
    bool json, help;
};

static const struct option options[] = {
    { "bytes", 0, COUNT, "N", offsetof(struct text_options, bytes),
      "of cells (default 246000000)" },
    { "json", 0, FLAG, NULL, offsetof(struct text_options, json),
      "print JSON instead of a table" },
    { "help", 0, FLAG, NULL, offsetof(struct text_options, help),
      "print this" },
    { .name = NULL },
};

static int run_all(void *with)
{
    const struct text_options *set = with;

    process_path(file, "f.seen");
    process_path(text, "f.csv");
    process_path(other, "other");
    if (!make_file(set->bytes) || !measure())
        return 2;
    show(set->bytes, set->json);
    return 0;
}

int bench_text(char **argv)
{
    struct text_options set = { .bytes = 246000000 };
    int status;

    if (!bench_options(options, "text",
                       "Seconds from file to file, beside copying the text "
                       "and base64.\n",
                       &set, &set.help, argv, &status))
        return status;
    if (set.bytes < 64 || set.bytes > UINT64_C(1) << 40) {
        fputs("seen: bench: --bytes takes a number from 64 to 2^40\n", stderr);
        return 2;
    }
    return process_guard(run_all, &set, "/dev/shm");
}
