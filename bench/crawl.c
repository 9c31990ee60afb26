/*
 * crawl.c - seen bench crawl: pages per second, beside other crawlers.
 *
 * Crawlers take turns on the same generated sites, each in an empty folder;
 * a figure is the median of its turns. Client and server share the machine, so
 * the clock measures both; CPU time and memory are those of the crawler alone.
 *
 *     seen       with WARC files, an index, page records, a log and a state
 *                that survives kill -9; one request per host at a time
 *     wget       with --warc-file; one request at a time
 *     wget2      writes no WARC; five requests at a time, its default
 *     wget2-16   the same with as many as there are hosts, as we have
 *     scrapy     one request per host at a time; writes nothing; it gets fewer
 *                pages, because it is slow
 *
 * Where perf is installed, one more turn reports which share of the time each
 * library takes.
 */
#include "site.h"

#include <ftw.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/disk/walk.h"

enum { TURNS_MOST = 25, ARGUMENTS = 40, SCRAPY_SHARE = 20, SHARES = 24 };

struct crawl_options {
    uint64_t pages, size, links, hosts, turns;
    const char *only;
    bool json, help;
    char seen[PATH_ROOM];
};

struct crawler {
    const char *name, *program;
    /* Fill in the arguments that follow the program; texts live in `room`. */
    void (*arguments)(const struct crawl_options *s,
                      const struct bench_site *site, const char **argv,
                      char room[4][PATH_ROOM]);
    uint64_t (*count)(const char *folder); /* pages that it got */
    uint64_t share;                        /* one of this many pages */
    double asked; /* our rate by its rate, at least; NAN: information */
    /* measured */
    bool left_out;
    double rate[TURNS_MOST], cpu[TURNS_MOST], memory[TURNS_MOST];
};

static void start_url(const struct bench_site *site, char *to)
{
    snprintf(to, PATH_ROOM, "http://127.0.0.1:%d/p0.html", site->nginx.port);
}

/* --- seen --- */

static void seen_arguments(const struct crawl_options *s,
                           const struct bench_site *site, const char **argv,
                           char room[4][PATH_ROOM])
{
    const char *const more[] = {
        "crawl", "--into",          room[0],   "--everywhere", "--delay",
        "0",     "--allow-private", "--quiet", room[1],        NULL
    };

    (void)s;
    process_path(room[0], "out");
    start_url(site, room[1]);
    memcpy(argv, more, sizeof more);
}

static uint64_t count_lines(const char *path)
{
    FILE *file = fopen(path, "re");
    char bytes[65536];
    uint64_t lines = 0;
    size_t n;

    while (file && (n = fread(bytes, 1, sizeof bytes, file)))
        for (size_t i = 0; i < n; i++)
            lines += bytes[i] == '\n';
    if (file)
        fclose(file);
    return lines;
}

static uint64_t seen_count(const char *folder)
{
    char path[PATH_ROOM];

    snprintf(path, sizeof path, "%.400s/pages.jsonl", folder);
    return count_lines(path);
}

/* --- wget, wget2 --- */

static void wget_arguments(const struct crawl_options *s,
                           const struct bench_site *site, const char **argv,
                           char room[4][PATH_ROOM])
{
    const char *const more[] = { "--no-config", "-q",    "-r", "-l",
                                 "inf",         "-H",    "-P", room[0],
                                 room[2],       room[1], NULL };

    (void)s;
    process_path(room[0], "out");
    start_url(site, room[1]);
    snprintf(room[2], PATH_ROOM, "--warc-file=%.400s/archive", room[0]);
    memcpy(argv, more, sizeof more);
}

static void wget2_arguments(const struct crawl_options *s,
                            const struct bench_site *site, const char **argv,
                            char room[4][PATH_ROOM])
{
    const char *const more[] = { "--no-config", "-q", "-r",    "-l",    "0",
                                 "-H",          "-P", room[0], room[1], NULL };

    (void)s;
    process_path(room[0], "out");
    start_url(site, room[1]);
    memcpy(argv, more, sizeof more);
}

static void wget2_many_arguments(const struct crawl_options *s,
                                 const struct bench_site *site,
                                 const char **argv, char room[4][PATH_ROOM])
{
    size_t n = 0;

    wget2_arguments(s, site, argv + 1, room);
    snprintf(room[2], PATH_ROOM, "--max-threads=%llu",
             (unsigned long long)s->hosts);
    argv[n] = room[2];
}

static uint64_t files;

static int on_file(const char *path, const struct stat *st, int kind,
                   struct FTW *at)
{
    (void)st;
    files += kind == FTW_F && path[at->base] == 'p' && strstr(path, ".html");
    return 0;
}

static uint64_t count_files(const char *folder)
{
    files = 0;
    nftw(folder, on_file, 16, FTW_PHYS);
    return files;
}

/* --- Scrapy --- */

static void scrapy_arguments(const struct crawl_options *s,
                             const struct bench_site *site, const char **argv,
                             char room[4][PATH_ROOM])
{
    const char *const more[] = { "runspider", "--nolog", room[0], NULL };
    char pages[PATH_ROOM];
    FILE *file;

    process_path(room[0], "spider.py");
    process_path(pages, "out/urls");
    start_url(site, room[1]);
    file = fopen(room[0], "we");
    if (file) { /* each robots.txt counts as a page, too */
        fprintf(file,
                "import scrapy\n"
                "\n"
                "class Links(scrapy.Spider):\n"
                "    name = 'links'\n"
                "    start_urls = ['%s']\n"
                "    custom_settings = {\n"
                "        'CONCURRENT_REQUESTS': %llu,\n"
                "        'CONCURRENT_REQUESTS_PER_DOMAIN': 1,\n"
                "        'CLOSESPIDER_PAGECOUNT': %llu,\n"
                "        'ROBOTSTXT_OBEY': True,\n"
                "        'TELNETCONSOLE_ENABLED': False,\n"
                "    }\n"
                "    out = open('%s', 'w')\n"
                "\n"
                "    def parse(self, response):\n"
                "        self.out.write(response.url + '\\n')\n"
                "        self.out.flush()\n"
                "        yield from response.follow_all(css='a')\n",
                room[1], (unsigned long long)s->hosts,
                (unsigned long long)(s->pages / SCRAPY_SHARE + s->hosts),
                pages);
        fclose(file);
    }
    memcpy(argv, more, sizeof more);
}

static uint64_t scrapy_count(const char *folder)
{
    char path[PATH_ROOM];

    snprintf(path, sizeof path, "%.400s/urls", folder);
    return count_lines(path);
}

static struct crawler crawlers[] = {
    { .name = "seen",
      .program = NULL,
      .arguments = seen_arguments,
      .count = seen_count,
      .share = 1,
      .asked = NAN },
    { .name = "wget",
      .program = "wget",
      .arguments = wget_arguments,
      .count = count_files,
      .share = 1,
      .asked = 2 },
    { .name = "wget2",
      .program = "wget2",
      .arguments = wget2_arguments,
      .count = count_files,
      .share = 1,
      .asked = 1.2 },
    { .name = "wget2-16",
      .program = "wget2",
      .arguments = wget2_many_arguments,
      .count = count_files,
      .share = 1,
      .asked = NAN },
    { .name = "scrapy",
      .program = "scrapy",
      .arguments = scrapy_arguments,
      .count = scrapy_count,
      .share = SCRAPY_SHARE,
      .asked = NAN },
};
enum { CRAWLERS = sizeof crawlers / sizeof *crawlers };

/* --- turns --- */

static bool empty_folder(char path[PATH_ROOM])
{
    process_path(path, "out");
    walk_remove(path);
    return !mkdir(path, 0700);
}

static bool run_turn(const struct crawl_options *s,
                     const struct bench_site *site, struct crawler *c,
                     size_t turn)
{
    char room[4][PATH_ROOM], folder[PATH_ROOM];
    const char *argv[ARGUMENTS] = { c->program ? c->program : s->seen };
    struct process_cost cost;
    uint64_t pages, wanted = s->pages / c->share;
    bool good;

    if (!empty_folder(folder))
        return false;
    c->arguments(s, site, argv + 1, room);
    /* wget and wget2 exit with 8 because there is no robots.txt. */
    good = process_measure(argv, "crawl.out", "crawl.err", &cost);
    pages = c->count(folder);
    if (pages < wanted) {
        fprintf(stderr, "seen: bench: %s got %llu of %llu pages%s\n", c->name,
                (unsigned long long)pages, (unsigned long long)wanted,
                good ? "" : ", and failed");
        process_show("crawl.err");
        return false;
    }
    c->rate[turn] = (double)pages / cost.seconds;
    c->cpu[turn] = 1e6 * cost.cpu / (double)pages;
    c->memory[turn] = cost.memory;
    return true;
}

/* --- shares --- */

struct share {
    char name[64];
    double percent;
};

static size_t read_shares(struct share *share)
{
    char path[PATH_ROOM], line[256];
    size_t n = 0;
    FILE *file;

    process_path(path, "shares");
    file = fopen(path, "re");
    while (file && n < SHARES && fgets(line, sizeof line, file))
        n += sscanf(line, " %lf%% %63s", &share[n].percent, share[n].name) ==
                 2 &&
             share[n].percent >= 0.5;
    if (file)
        fclose(file);
    return n;
}

/* One more turn below perf, which asks a thousand times per second of CPU
   time where the program is. */
static void show_shares(const struct crawl_options *s,
                        const struct bench_site *site)
{
    char room[4][PATH_ROOM], folder[PATH_ROOM], record[PATH_ROOM];
    const char *argv[ARGUMENTS] = { "perf", "record", "-q", "-F",   "1000",
                                    "-o",   record,   "--", s->seen };
    const char *report[] = { "perf",   "report", "-q",      "-i", record,
                             "--sort", "dso",    "--stdio", NULL };
    struct share share[SHARES];
    double seconds;
    size_t n;

    process_path(record, "perf.data");
    if (!process_find("perf") || !empty_folder(folder))
        return;
    seen_arguments(s, site, argv + 9, room);
    if (!process_run(argv, NULL, "perf.err", &seconds) ||
        !process_run(report, "shares", "perf.err", &seconds)) {
        fprintf(stderr, "seen: bench: perf may not be used here\n");
        return;
    }
    n = read_shares(share);
    if (s->json)
        printf("{\"bench\": \"crawl\", \"shares\": {");
    else
        printf("\nshare of the CPU time of seen, by library:\n");
    for (size_t i = 0; i < n; i++)
        printf(s->json ? "%s\"%s\": %.2f" : "%s  %-24s %5.1f %%\n",
               s->json && i ? ", " : "", share[i].name, share[i].percent);
    if (s->json)
        puts("}}");
}

/* --- showing --- */

static void show(const struct crawl_options *s, struct crawler *c, double ours)
{
    double rate = bench_median(c->rate, s->turns);
    double cpu = bench_median(c->cpu, s->turns);
    double memory = bench_median(c->memory, s->turns);
    bool missed = !isnan(c->asked) && !(ours / rate >= c->asked);

    if (s->json) {
        printf("{\"bench\": \"crawl\", \"crawler\": \"%s\", ", c->name);
        bench_json("pages_per_second", rate, ", ");
        bench_json("cpu_us_per_page", cpu, ", ");
        bench_json("memory", memory, ", ");
        bench_json("ratio", ours / rate, ", ");
        bench_json("at_least", c->asked, ", ");
        printf("\"missed\": %s}\n", missed ? "true" : "false");
        return;
    }
    printf("%-10s %10.0f %10.0f %10.1f", c->name, rate, cpu, memory / 1e6);
    if (c != crawlers)
        printf(" %9.2f", ours / rate);
    if (!isnan(c->asked))
        printf("  >= %.1f%s", c->asked, missed ? "  missed" : "");
    putchar('\n');
}

static void show_all(const struct crawl_options *s)
{
    double ours = NAN;

    if (!s->json) {
        bench_show_cpu();
        printf("%llu pages of %.1f kB with %llu links on %llu addresses, "
               "median of %llu turns\n%-10s %10s %10s %10s %9s\n",
               (unsigned long long)s->pages, (double)s->size / 1e3,
               (unsigned long long)s->links, (unsigned long long)s->hosts,
               (unsigned long long)s->turns, "", "pages/s", "us CPU/page",
               "MB", "seen by it");
    }
    if (!crawlers[0].left_out)
        ours = bench_median(crawlers[0].rate, s->turns);
    for (size_t i = 0; i < CRAWLERS; i++)
        if (!crawlers[i].left_out)
            show(s, &crawlers[i], ours);
}

static int run_crawls(void *with)
{
    const struct crawl_options *s = with;
    struct bench_site site = { .pages = s->pages,
                               .size = s->size,
                               .links = s->links,
                               .hosts = s->hosts };

    if (!process_room(s->pages * s->size * 6) || !bench_site_make(&site) ||
        !bench_site_serve(&site))
        return 2;
    for (size_t i = 0; i < CRAWLERS; i++) {
        struct crawler *c = &crawlers[i];

        c->left_out = s->only && strcmp(c->name, s->only);
        if (c->left_out || !c->program || process_find(c->program))
            continue;
        fprintf(stderr, "seen-bench: %s is not installed, and left out\n",
                c->program);
        c->left_out = true;
    }
    for (size_t turn = 0; turn < s->turns; turn++)
        for (size_t i = 0; i < CRAWLERS; i++)
            if (!crawlers[i].left_out &&
                !run_turn(s, &site, &crawlers[i], turn))
                return 2;
    show_all(s);
    if (!crawlers[0].left_out)
        show_shares(s, &site);
    bench_site_end(&site);
    return 0;
}

/* --- options --- */

static const char about[] =
    "Crawlers on generated sites that nginx serves on loopback: pages per "
    "second, CPU\ntime and memory. Crawlers that are not installed are named "
    "and left out. What is\nmeasured is the program $SEEN, or the one beside "
    "seen-bench.\n";

static const struct option options[] = {
#define AT(name) offsetof(struct crawl_options, name)
    { "pages", 0, COUNT, "N", AT(pages), "of the sites (default 10k)" },
    { "size", 0, COUNT, "BYTES", AT(size), "of a page (default 10k)" },
    { "links", 0, COUNT, "N", AT(links), "of a page (default 20)" },
    { "hosts", 0, COUNT, "N", AT(hosts), "addresses (default 16)" },
    { "turns", 0, COUNT, "N", AT(turns), "of each crawler (default 3)" },
    { "only", 0, TEXT, "NAME", AT(only),
      "only this one: seen, wget, wget2, wget2-16, scrapy" },
    { "json", 0, FLAG, NULL, AT(json), "a JSON object per crawler" },
    { "help", 0, FLAG, NULL, AT(help), "print this" },
    { .name = NULL },
#undef AT
};

static const char *fault(const struct crawl_options *s)
{
    bool known = !s->only;

    for (size_t i = 0; !known && i < CRAWLERS; i++)
        known = !strcmp(crawlers[i].name, s->only);
    return s->pages < 20 || s->pages > 1000000
               ? "--pages takes a number from 20 to 1M"
           : s->size > 1000000     ? "--size takes a number up to 1M"
           : s->links > 1000       ? "--links takes a number up to 1000"
           : s->hosts > 200        ? "--hosts takes a number up to 200"
           : s->turns > TURNS_MOST ? "--turns takes a number up to 25"
           : !known ? "--only takes seen, wget, wget2, wget2-16 or scrapy"
                    : NULL;
}

int bench_crawl(char **argv)
{
    struct crawl_options s = {
        .pages = 10000, .size = 10000, .links = 20, .hosts = 16, .turns = 3
    };
    const char *wrong;
    int status;

    if (!bench_options(options, "crawl", about, &s, &s.help, argv, &status))
        return status;
    wrong = fault(&s);
    if (wrong) {
        fprintf(stderr, "seen: bench: %s\n", wrong);
        return 2;
    }
    return process_seen(s.seen) ? process_guard(run_crawls, &s, "/tmp") : 2;
}
