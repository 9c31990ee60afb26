/*
 * crawl_frontier.c - seen bench frontier: what do millions of URLs cost?
 *
 * A real crawl of pages that have nothing but links, thousands on each, to
 * pages that no other page links to. It ends when the pages are fetched, and
 * their links wait: parsed, judged, asked of the filter, added as rows,
 * journalled and committed in groups, with the filter's checkpoints. The
 * links per second and the most memory that the process had are measured.
 */
#include "frontier_rows.h"
#include "frontier_shared.h"

#include <math.h>
#include <string.h>

#include "site.h"

enum { LINKS = 2000 };

struct frontier_options {
    uint64_t urls, hosts;
    const char *at;
    bool rows, json, help;
    char seen[PATH_ROOM];
};

static void show(const struct frontier_options *s, double urls,
                 const struct process_cost *cost)
{
    double rate = urls / cost->seconds;

    if (s->json) {
        printf("{\"bench\": \"frontier\", ");
        bench_json("urls", urls, ", ");
        bench_json("links_per_second", rate, ", ");
        bench_json("cpu_us_per_link", 1e6 * cost->cpu / urls, ", ");
        bench_json("memory", cost->memory, "}\n");
        return;
    }
    printf("%.0f URLs wait\n%10.0f links/s        >= 50000%s\n"
           "%10.2f us CPU per link\n%10.1f MB of memory   <= 150%s\n",
           urls, rate, rate >= 50000 ? "" : "  missed", 1e6 * cost->cpu / urls,
           cost->memory / 1e6, cost->memory <= 150e6 ? "" : "  missed");
}

static int run_frontier(void *with)
{
    const struct frontier_options *s = with;
    struct bench_site site = { .pages = (s->urls + LINKS - 1) / LINKS,
                               .links = LINKS,
                               .hosts = 16,
                               .leaves = true };
    char folder[PATH_ROOM], list[PATH_ROOM], pages[24], capacity[24];
    const char *argv[] = { s->seen,      "crawl",
                           "--into",     folder,
                           "--input",    list,
                           "--pages",    pages,
                           "--delay",    "0",
                           "--threads",  "2",
                           "--quiet",    "--allow-private",
                           "--capacity", capacity,
                           NULL };
    struct process_cost cost;
    bool good;

    process_path(folder, "out");
    process_path(list, "urls.txt");
    snprintf(pages, sizeof pages, "%llu", (unsigned long long)site.pages);
    /* Start URLs count, too, and a filter past its capacity grows. */
    snprintf(capacity, sizeof capacity, "%llu",
             (unsigned long long)(s->urls + 2 * site.pages));
    if (!process_room(s->urls * 400) || !bench_site_make(&site) ||
        !bench_site_serve(&site))
        return 2;
    good = process_measure(argv, "crawl.out", "crawl.err", &cost);
    bench_site_end(&site);
    if (!good) {
        fprintf(stderr, "seen: bench: the crawl failed\n");
        process_show("crawl.err");
        return 2;
    }
    show(s, (double)site.pages * LINKS, &cost);
    return 0;
}

static const char about[] =
    "A crawl that finds many URLs and fetches few: links accepted per second, "
    "and memory.\nWith --at, the frontier of many workers in a database: links "
    "and pages per second.\n";

static const struct option options[] = {
#define AT(name) offsetof(struct frontier_options, name)
    { "urls", 0, COUNT, "N", AT(urls), "to find (default 10M)" },
    { "rows", 0, FLAG, NULL, AT(rows),
      "the frontier alone, without a crawl: at 1M, 5M, 20M ... URLs" },
    { "hosts", 0, COUNT, "N", AT(hosts),
      "with --rows: the hosts of the URLs (default 100,000)" },
    { "at", 0, TEXT, "WHERE", AT(at),
      "a frontier of many workers: FILE or postgresql://..." },
    { "json", 0, FLAG, NULL, AT(json), "a JSON object" },
    { "help", 0, FLAG, NULL, AT(help), "print this" },
    { .name = NULL },
#undef AT
};

int bench_frontier(char **argv)
{
    struct frontier_options s = { .urls = 10000000, .hosts = 100000 };
    int status;

    if (!bench_options(options, "frontier", about, &s, &s.help, argv, &status))
        return status;
    if (s.at)
        return bench_frontier_shared(s.at, s.json);
    if (s.urls < LINKS || s.urls > 1000000000) {
        fprintf(stderr, "seen: bench: --urls takes a number from %d to 1G\n",
                LINKS);
        return 2;
    }
    if (s.rows) {
        const struct frontier_rows_options rows = { s.urls, s.hosts, s.json };

        return bench_frontier_rows(&rows);
    }
    return process_seen(s.seen) ? process_guard(run_frontier, &s, "/tmp") : 2;
}
