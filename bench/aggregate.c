/*
 * aggregate.c - seen bench aggregate: the experiments of the aggregation paper.
 *
 * Experiment 1 has two columns: minutes to aggregate pages of some websites,
 * and seconds to classify them against a lookup of 100,000. Here a generated
 * web on the loopback is crawled without delays, and `seen classify` reads
 * what came of it, with a state that knows 100,000 pages. The paper's minutes
 * are those of the web of 2016 and are no measure of a crawler; its seconds
 * are of Python on two CPUs. Both stand beside ours, as published.
 *
 * Experiment 2, and time per record by size, are in aggregate_lookup.c.
 */
#include "aggregate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/disk/walk.h"
#include "bench.h"
#include "site.h"

enum { LOOKUP = 100000, PAGE_BYTES = 3000, LINKS = 10 };

struct aggregate_options {
    uint64_t pages, most, words;
    const char *only;
    bool grown, json, help;
    char seen[PATH_ROOM];
};

/* papers: Content aggregation, Experiment 1. */
static const struct {
    uint64_t pages, websites;
    double minutes, seconds;
} published[] = {
    { 1000, 2, 15, 10 },    { 5000, 10, 30, 42 },    { 10000, 13, 45, 85 },
    { 20000, 17, 75, 175 }, { 50000, 30, 180, 427 },
};
enum { PUBLISHED = sizeof published / sizeof *published };

/* A state that knows LOOKUP pages, in the folder "known". */
static bool make_state(const struct aggregate_options *s)
{
    char list[PATH_ROOM], state[PATH_ROOM];
    const char *argv[] = { s->seen, "classify", "--state", state,
                           "-i",    list,       "--quiet", NULL };
    struct buffer b = { .bytes = NULL };
    double seconds;
    bool good;
    FILE *file;

    process_path(list, "known.jsonl");
    process_path(state, "known");
    file = fopen(list, "we");
    for (uint64_t i = 0; file && i < LOOKUP; i++) {
        b.len = 0;
        bench_record_line(&b, i, 0, (unsigned)s->words);
        fwrite(b.bytes, 1, b.len, file);
    }
    good = file && !b.failed && !ferror(file) && !fclose(file) &&
           process_run(argv, NULL, "known.err", &seconds);
    if (!good) {
        fprintf(stderr, "seen: bench: the lookup cannot be made\n");
        process_show("known.err");
    }
    buffer_clear(&b);
    return good;
}

static bool classify_pages(const struct aggregate_options *s, double *seconds)
{
    char known[PATH_ROOM], state[PATH_ROOM], pages[PATH_ROOM];
    const char *copy[] = { "cp", "-r", known, state, NULL };
    const char *argv[] = { s->seen, "classify", "--state", state,
                           "-i",    pages,      "--json",  NULL };
    double copying;

    process_path(known, "known");
    process_path(state, "state");
    process_path(pages, "out/pages.jsonl");
    walk_remove(state);
    if (process_run(copy, NULL, "classify.err", &copying) &&
        process_run(argv, "results", "classify.err", seconds))
        return true;
    fprintf(stderr, "seen: bench: seen classify failed\n");
    process_show("classify.err");
    return false;
}

static bool crawl_pages(const struct aggregate_options *s,
                        const struct bench_site *site, double *seconds)
{
    char into[PATH_ROOM], url[PATH_ROOM];
    const char *argv[] = {
        s->seen,        "crawl",   "--into", into,
        "--everywhere", "--delay", "0",      "--allow-private",
        "--quiet",      url,       NULL
    };

    process_path(into, "out");
    walk_remove(into);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/p0.html", site->nginx.port);
    if (process_run(argv, NULL, "crawl.err", seconds))
        return true;
    fprintf(stderr, "seen: bench: seen crawl failed\n");
    process_show("crawl.err");
    return false;
}

static void show(const struct aggregate_options *s, size_t row, double crawl,
                 double classify)
{
    if (s->json) {
        printf("{\"bench\": \"aggregate\", \"experiment\": 1, ");
        bench_json("pages", (double)published[row].pages, ", ");
        bench_json("websites", (double)published[row].websites, ", ");
        bench_json("published_aggregate_s", 60 * published[row].minutes, ", ");
        bench_json("published_classify_s", published[row].seconds, ", ");
        bench_json("aggregate_s", crawl, ", ");
        bench_json("classify_s", classify, "}\n");
        return;
    }
    printf("%8llu %9llu %14.0f %14.0f %12.2f %12.2f %10.0f\n",
           (unsigned long long)published[row].pages,
           (unsigned long long)published[row].websites, published[row].minutes,
           published[row].seconds, crawl, classify,
           published[row].seconds / classify);
}

static bool run_row(const struct aggregate_options *s, size_t row)
{
    struct bench_site site = { .pages = published[row].pages,
                               .size = PAGE_BYTES,
                               .links = LINKS,
                               .hosts = published[row].websites };
    double crawl, classify;
    bool good;

    good = bench_site_make(&site) && bench_site_serve(&site) &&
           crawl_pages(s, &site, &crawl);
    bench_site_end(&site);
    good = good && classify_pages(s, &classify);
    if (good)
        show(s, row, crawl, classify);
    return good;
}

static bool run_experiment_1(const struct aggregate_options *s)
{
    bool good = make_state(s);

    if (good && !s->json)
        printf("Experiment 1: pages of %.1f kB, aggregated and classified "
               "against a lookup of %d\n%8s %9s %14s %14s %12s %12s %10s\n",
               PAGE_BYTES / 1e3, LOOKUP, "pages", "websites", "paper: min",
               "paper: s", "crawl: s", "classify: s", "paper/ours");
    for (size_t i = 0; good && i < PUBLISHED; i++)
        if (published[i].pages <= s->pages)
            good = run_row(s, i);
    return good;
}

static int run_all(void *with)
{
    const struct aggregate_options *s = with;
    bool good = true;

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!process_room(s->pages * PAGE_BYTES * 6 + s->most * 100))
        return 2;
    if (!s->json)
        bench_show_cpu();
    if (!s->only || !strcmp(s->only, "1"))
        good = run_experiment_1(s);
    if (good && (!s->only || !strcmp(s->only, "2")))
        good = bench_lookup_strings(s->most < 1000000 ? s->most : 1000000,
                                    (unsigned)s->words, s->json);
    if (good && (!s->only || !strcmp(s->only, "sizes")))
        good = bench_lookup_sizes(s->most, s->grown, s->json);
    return good ? 0 : 2;
}

int bench_aggregate(char **argv)
{
    static const struct option options[] = {
        { "pages", 0, COUNT, "N", offsetof(struct aggregate_options, pages),
          "the largest row of Experiment 1 (default 50,000)" },
        { "most", 0, COUNT, "N", offsetof(struct aggregate_options, most),
          "the largest lookup of Experiment 2 and of the times by size "
          "(default 10M)" },
        { "words", 0, COUNT, "N", offsetof(struct aggregate_options, words),
          "words of a made-up record of Experiments 1 and 2 (default 40)" },
        { "only", 0, TEXT, "1|2|sizes",
          offsetof(struct aggregate_options, only), "one part of it" },
        { "grown", 0, FLAG, NULL, offsetof(struct aggregate_options, grown),
          "times by size: of states that were made without --capacity" },
        { "json", 'j', FLAG, NULL, offsetof(struct aggregate_options, json),
          "an object per row" },
        { "help", 'h', FLAG, NULL, offsetof(struct aggregate_options, help),
          "print this" },
        { .name = NULL }
    };
    struct aggregate_options s = { .pages = 50000,
                                   .most = 10000000,
                                   .words = 40 };
    int status;

    if (!bench_options(options, "aggregate",
                       "The two experiments of the aggregation paper, beside "
                       "its figures, and time per record\nfrom a lookup of "
                       "1,000 pages to a large one.\n",
                       &s, &s.help, argv, &status))
        return status;
    if (s.words < 1 || s.words > 10000 || s.most < 1000 || s.most > 10000000 ||
        (s.only && strcmp(s.only, "1") && strcmp(s.only, "2") &&
         strcmp(s.only, "sizes"))) {
        fprintf(stderr, "seen: bench: --words is 1 to 10,000, --most 1,000 to "
                        "10M, --only 1, 2 or sizes\n");
        return 2;
    }
    if (!process_seen(s.seen))
        return 2;
    return process_guard(run_all, &s, "/tmp");
}
