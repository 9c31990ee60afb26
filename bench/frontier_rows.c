/*
 * frontier_rows.c - seen bench frontier --rows: the frontier of one machine's
 * crawl alone, up to sizes that a crawl of an hour does not reach.
 *
 * What a crawl does to its frontier, without the web and without a filter: it
 * asks for the next pages of hosts, which are done by the next commit, and adds
 * the links of each. Three of five lead to the host of the page, the others to
 * any host, so that a commit touches thousands of them. The paths of the URLs,
 * which have 40 bytes, have nothing in common but their beginning. At each size
 * of a list the last million is shown; then the frontier is opened again and
 * gives the first pages of a thousand hosts.
 */
#include "frontier_rows.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <seen/key.h>

#include "../frontier/frontier.h"
#include "../lib/text/span.h"
#include "bench.h"
#include "process.h"

enum {
    LINKS = 100,      /* new, per page */
    PAGES = 160,      /* per commit: of 0.2 s, at 80,000 links per second */
    LAST = 1000000,   /* links that are measured before each size */
    CACHE = 16 << 20, /* bytes, as a crawl has */
    FIRST = 1000      /* hosts that are asked for pages, at the end */
};

/* A page that is done: its number, or 0, and its host. */
struct rows_page {
    uint64_t own;
    int64_t host, id;
};

struct frontier_rows {
    const struct frontier_rows_options *with;
    struct sql *db;
    struct frontier *f;
    struct seen_error why;
    uint64_t made, done, random;
    int64_t journal;
    /* a page that was taken */
    int64_t id;
    bool taken;
};

static uint64_t next_random(struct frontier_rows *r)
{
    return seen_mix(r->random += UINT64_C(0x9e3779b97f4a7c15));
}

static void name_host(char to[32], uint64_t host)
{
    snprintf(to, 32, "h%08llu.example", (unsigned long long)host);
}

static enum seen_code add_link(struct frontier_rows *r, uint64_t host,
                               int64_t via, int64_t depth)
{
    char name[32], url[96];
    struct frontier_page page = { .via = via,
                                  .priority = depth,
                                  .depth = (unsigned)depth,
                                  .path = { "LLLLLLLL", (size_t)depth },
                                  .type = { "", 0 } };
    enum seen_code code;

    name_host(name, host);
    snprintf(url, sizeof url, "http://%s/page/%011llx", name,
             (unsigned long long)seen_mix(++r->made) & 0xfffffffffff);
    page.url = span_of(url);
    code = frontier_host_id(r->f, span_of(name), &page.host, &r->why);
    return code == SEEN_OK ? frontier_add(r->f, &page, &r->journal, &r->why)
                           : code;
}

static bool take_page(void *owner, const struct frontier_page *page)
{
    struct frontier_rows *r = owner;

    r->id = page->id;
    r->taken = true;
    return false;
}

/* The page that comes next at a host, if one waits there. */
static enum seen_code choose_page(struct frontier_rows *r,
                                  struct rows_page *page)
{
    char name[32];
    enum seen_code code;

    page->own = next_random(r) % r->with->hosts;
    name_host(name, page->own);
    r->taken = false;
    code = frontier_host_id(r->f, span_of(name), &page->host, &r->why);
    if (code == SEEN_OK)
        code = frontier_next(r->f, page->host, 8, take_page, r, &r->why);
    page->id = r->taken ? r->id : 0;
    return code;
}

/* It is done, and its links are added. */
static enum seen_code do_page(struct frontier_rows *r,
                              const struct rows_page *page)
{
    const uint64_t number = r->made / LINKS;
    enum seen_code code = SEEN_OK;

    if (page->id) {
        code = frontier_remove(r->f, page->host, page->id, &r->why);
        r->done++;
    }
    for (int i = 0; code == SEEN_OK && i < LINKS; i++)
        code = add_link(
            r, i % 5 < 3 ? page->own : next_random(r) % r->with->hosts,
            (int64_t)number, 1 + (int64_t)(number % 4));
    return code;
}

/* Some hosts may come twice: each has its next page done once. */
static void drop_repeated(struct rows_page *page)
{
    for (int i = 1; i < PAGES; i++)
        for (int k = 0; page[i].id && k < i; k++)
            if (page[k].id == page[i].id)
                page[i].id = 0;
}

static enum seen_code commit(struct frontier_rows *r)
{
    struct rows_page page[PAGES];
    enum seen_code code = sql_begin(r->db, &r->why);

    /* Hosts are made here that a crawl has from its links. */
    for (int i = 0; code == SEEN_OK && i < PAGES; i++)
        code = choose_page(r, &page[i]);
    if (code == SEEN_OK)
        drop_repeated(page);
    for (int i = 0; code == SEEN_OK && i < PAGES; i++)
        code = do_page(r, &page[i]);
    if (code == SEEN_OK)
        code = frontier_flush(r->f, &r->why);
    if (code == SEEN_OK && r->made % LAST < PAGES * LINKS)
        code = frontier_journal_cut(r->f, r->journal, &r->why);
    return sql_end(r->db, code, &r->why);
}

static double bytes_of(const char *name)
{
    char path[PATH_ROOM];
    struct stat st;

    process_path(path, name);
    return stat(path, &st) ? 0 : (double)st.st_size;
}

static void show(const struct frontier_rows *r, double links, double seconds,
                 double cpu)
{
    const double waiting = (double)(r->made - r->done);
    const double disk = bytes_of("rows.db") + bytes_of("rows.db-wal");
    const double memory = process_memory(getpid());

    if (r->with->json) {
        printf("{\"bench\": \"frontier rows\", ");
        bench_json("urls", (double)r->made, ", ");
        bench_json("hosts", (double)r->with->hosts, ", ");
        bench_json("links_per_second", links / seconds, ", ");
        bench_json("cpu_us_per_link", 1e6 * cpu / links, ", ");
        bench_json("bytes_per_url", disk / waiting, ", ");
        bench_json("memory", memory, "}\n");
    } else {
        printf(
            "%11.0f URLs  %8.0f links/s  %5.2f us CPU per link  %5.1f bytes "
            "per URL  %4.0f MB of memory\n",
            waiting, links / seconds, 1e6 * cpu / links, disk / waiting,
            memory / 1e6);
    }
    fflush(stdout);
}

/* Up to this many links; the last million of them is measured. */
static enum seen_code grow(struct frontier_rows *r, uint64_t upto)
{
    enum seen_code code = SEEN_OK;
    double seconds, cpu, before;

    while (code == SEEN_OK && r->made + LAST < upto)
        code = commit(r);
    before = (double)r->made;
    seconds = clock_seconds();
    cpu = process_cpu(getpid());
    while (code == SEEN_OK && r->made < upto)
        code = commit(r);
    if (code == SEEN_OK)
        show(r, (double)r->made - before, clock_seconds() - seconds,
             process_cpu(getpid()) - cpu);
    return code;
}

static enum seen_code open_rows(struct frontier_rows *r, bool make)
{
    char path[PATH_ROOM];
    enum seen_code code;

    process_path(path, "rows.db");
    code = sql_open(&r->db, path, SQL_CREATE, CACHE, &r->why);
    if (code == SEEN_OK && make)
        code = frontier_create(r->db, &r->why);
    return code == SEEN_OK ? frontier_open(&r->f, r->db, &r->why) : code;
}

static void close_rows(struct frontier_rows *r)
{
    frontier_close(r->f);
    sql_close(r->db);
    r->f = NULL;
    r->db = NULL;
}

struct first_hosts {
    int64_t id[FIRST];
    unsigned n;
};

static bool take_host(void *owner, const struct frontier_host *host)
{
    struct first_hosts *hosts = owner;

    hosts->id[hosts->n++] = host->id;
    return true;
}

static enum seen_code open_again(struct frontier_rows *r)
{
    struct first_hosts hosts = { .n = 0 };
    double begin = clock_seconds();
    int64_t waiting, all;
    enum seen_code code;

    close_rows(r);
    code = open_rows(r, false);
    if (code == SEEN_OK)
        code = frontier_resume(r->f, &r->why);
    if (code == SEEN_OK)
        code = frontier_count(r->f, &waiting, &all, &r->why);
    if (code == SEEN_OK)
        code = frontier_hosts(r->f, false, FIRST, take_host, &hosts, &r->why);
    for (unsigned i = 0; code == SEEN_OK && i < hosts.n; i++)
        code = frontier_next(r->f, hosts.id[i], 1, take_page, r, &r->why);
    if (code != SEEN_OK)
        return code;
    if (r->with->json) {
        printf("{\"bench\": \"frontier rows\", ");
        bench_json("open_seconds", clock_seconds() - begin, "}\n");
    } else {
        printf("%11.2f s to open it again, with pages of %u hosts\n",
               clock_seconds() - begin, hosts.n);
    }
    return code;
}

static int run(void *with)
{
    static const uint64_t sizes[] = { 1, 5, 20, 50, 100, 200, 500, 1000 };
    struct frontier_rows r = { .with = with };
    enum seen_code code;

    if (!process_room(r.with->urls * 60))
        return 2;
    code = open_rows(&r, true);
    for (size_t i = 0; code == SEEN_OK && i < sizeof sizes / sizeof *sizes &&
                       sizes[i] * 1000000 < r.with->urls;
         i++)
        code = grow(&r, sizes[i] * 1000000);
    if (code == SEEN_OK)
        code = grow(&r, r.with->urls);
    if (code == SEEN_OK)
        code = open_again(&r);
    close_rows(&r);
    if (code != SEEN_OK)
        fprintf(stderr, "seen: bench: %s\n", r.why.text);
    return code == SEEN_OK ? 0 : 2;
}

int bench_frontier_rows(const struct frontier_rows_options *with)
{
    struct frontier_rows_options copy = *with;

    return process_guard(run, &copy, "/var/tmp");
}
