/*
 * crawl_frontier.c - seen bench frontier: what do millions of URLs cost?
 *
 * A real crawl of pages that have nothing but links, thousands on each, to
 * pages that no other page links to, whose URLs of 40 bytes have nothing in
 * common but their beginning. It ends when the pages are fetched, and their
 * links wait: parsed, judged, asked of the filter, added as rows, journalled
 * and committed in groups, with the filter's checkpoints. What is measured:
 * links per second, of all and of the first and the last million, by a thread
 * that looks at the state ten times per second; the most memory that the
 * process had, the filter's apart; the bytes of the state; and how long the
 * same command takes that goes on with the crawl and fetches one page more.
 */
#include "frontier_rows.h"
#include "frontier_shared.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>

#include "../sql/sql.h"
#include "site.h"

enum { LINKS = 2000, MILLION = 1000000 };

struct frontier_options {
    uint64_t urls, hosts;
    const char *at;
    bool rows, json, help;
    char seen[PATH_ROOM];
};

/* What a crawl was and did. */
struct frontier_run {
    struct process_cost cost, again;
    double urls, first, last; /* and links per second */
    double state, filter;     /* bytes of files */
};

/* --- progress --- */

struct progress {
    char state[PATH_ROOM]; /* the database */
    double urls;
    _Atomic bool ended;
    /* when, and how many links there were: at the beginning, at a million, at
       a million less than all, and now */
    double at[4], links[4];
};

static double count_links(const char *state)
{
    struct sql_statement *st;
    int64_t links = 0;
    struct sql *db;

    if (sql_open(&db, state, SQL_READ, 1 << 16, NULL) != SEEN_OK)
        return 0;
    if (sql_prepare(&st, db, "SELECT sum(n) FROM counts WHERE name = 'fresh'",
                    NULL) == SEEN_OK)
        sql_first(st, &links, NULL);
    sql_close(db);
    return (double)links;
}

static void note(struct progress *p, int i, double links)
{
    if (p->at[i] > 0 && i < 3)
        return;
    p->at[i] = clock_seconds();
    p->links[i] = links;
}

static void *watch(void *with)
{
    struct progress *p = with;

    while (!p->ended) {
        double links = count_links(p->state);

        if (links > 0)
            note(p, 0, links);
        if (links >= MILLION)
            note(p, 1, links);
        if (links >= p->urls - MILLION)
            note(p, 2, links);
        if (links > p->links[3])
            note(p, 3, links);
        process_sleep(100);
    }
    return NULL;
}

static double rate_between(const struct progress *p, int from, int to)
{
    return p->at[to] > p->at[from]
               ? (p->links[to] - p->links[from]) / (p->at[to] - p->at[from])
               : NAN;
}

/* Run the crawl, and look at it. */
static bool run_crawl(const char *const *argv, struct frontier_run *run)
{
    struct progress p = { .urls = run->urls };
    pthread_t thread;
    bool watched, good;

    process_path(p.state, "out/state.db");
    watched = !pthread_create(&thread, NULL, watch, &p);
    good = process_measure(argv, "crawl.out", "crawl.err", &run->cost);
    p.ended = true;
    if (watched)
        pthread_join(thread, NULL);
    run->first = rate_between(&p, 0, 1);
    run->last = rate_between(&p, 2, 3);
    return good;
}

/* --- all --- */

static double bytes_of(const char *name)
{
    char path[PATH_ROOM];
    struct stat st;

    process_path(path, name);
    return stat(path, &st) ? 0 : (double)st.st_size;
}

static const char *verdict(bool reached)
{
    return reached ? "" : "  missed";
}

static void show(const struct frontier_options *s,
                 const struct frontier_run *run)
{
    const double rate = run->urls / run->cost.seconds;
    const double memory = run->cost.memory - run->filter;
    const double disk = run->state / run->urls;

    if (s->json) {
        printf("{\"bench\": \"frontier\", ");
        bench_json("urls", run->urls, ", ");
        bench_json("links_per_second", rate, ", ");
        bench_json("first_million", run->first, ", ");
        bench_json("last_million", run->last, ", ");
        bench_json("cpu_us_per_link", 1e6 * run->cost.cpu / run->urls, ", ");
        bench_json("bytes_per_url", disk, ", ");
        bench_json("memory", run->cost.memory, ", ");
        bench_json("filter", run->filter, ", ");
        bench_json("restart_seconds", run->again.seconds, "}\n");
        return;
    }
    printf("%.0f URLs wait\n%10.0f links/s        >= 80000%s\n", run->urls,
           rate, verdict(rate >= 80000));
    if (run->first > 0 && run->last > 0)
        printf("%10.0f in the first million\n%10.0f in the last million\n",
               run->first, run->last);
    printf("%10.2f us CPU per link\n%10.1f bytes per URL  <= 50%s\n",
           1e6 * run->cost.cpu / run->urls, disk, verdict(disk <= 50));
    printf("%10.1f MB of memory   <= 300%s\n%10.1f MB more: the filter\n",
           memory / 1e6, verdict(memory <= 300e6), run->filter / 1e6);
    printf("%10.2f s to go on     <= 2%s\n", run->again.seconds,
           verdict(run->again.seconds <= 2));
}

static int run_frontier(void *with)
{
    const struct frontier_options *s = with;
    struct bench_site site = { .pages = (s->urls + LINKS - 1) / LINKS,
                               .links = LINKS,
                               .hosts = 16,
                               .leaves = true };
    struct frontier_run run = { .urls = (double)site.pages * LINKS };
    char folder[PATH_ROOM], list[PATH_ROOM], pages[24], more[24], capacity[24];
    const char *argv[] = { s->seen,      "crawl",
                           "--into",     folder,
                           "--input",    list,
                           "--pages",    pages,
                           "--delay",    "0",
                           "--threads",  "2",
                           "--quiet",    "--allow-private",
                           "--capacity", capacity,
                           NULL };
    const char *again[] = { s->seen,   "crawl", "--into",  folder,
                            "--pages", more,    "--quiet", NULL };
    bool good;

    process_path(folder, "out");
    process_path(list, "urls.txt");
    snprintf(pages, sizeof pages, "%llu", (unsigned long long)site.pages);
    snprintf(more, sizeof more, "%llu", (unsigned long long)site.pages + 1);
    /* A filter that is nearly full has a larger one beside it. */
    snprintf(capacity, sizeof capacity, "%llu",
             (unsigned long long)(s->urls + s->urls / 2));
    if (!process_room(s->urls * 200) || !bench_site_make(&site) ||
        !bench_site_serve(&site))
        return 2;
    good = run_crawl(argv, &run);
    run.state = bytes_of("out/state.db") + bytes_of("out/state.db-wal");
    run.filter = bytes_of("out/cache-1.seen");
    good = good &&
           process_measure(again, "crawl.out", "crawl.err", &run.again);
    bench_site_end(&site);
    if (!good) {
        fprintf(stderr, "seen: bench: the crawl failed\n");
        process_show("crawl.err");
        return 2;
    }
    show(s, &run);
    return 0;
}

static const char about[] =
    "A crawl that finds many URLs and fetches few: links accepted per second, "
    "memory, bytes on the disk, and how long it takes to go on.\nWith --at, the frontier of many workers in a database: links "
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
