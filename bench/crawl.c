/*
 * crawl.c - seen bench crawl: pages per second, beside other crawlers.
 *
 * Crawlers take turns on the same sites, each in an empty folder; a figure is
 * the median of its turns. Client and server share the machine, so the clock
 * measures both; CPU time and memory are those of the crawler alone. The sites
 * are
 *
 *     generated      pages of one size, on many addresses
 *     documentation  what Debian's packages have: some 5,000 pages of 1 kB to
 *                    2.5 MB, each package on an address of its own
 *
 * and the crawlers
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

enum {
    TURNS_MOST = 25,
    ARGUMENTS = 40,
    SCRAPY_SHARE = 20,
    SHARES = 24,
    PACKAGES = 4,
    ROOM = 4 + PACKAGES /* texts of arguments */
};

struct crawl_options {
    uint64_t pages, size, links, hosts, turns;
    const char *only, *sites, *docs;
    bool json, help;
    char seen[PATH_ROOM];
};

/* Sites that are crawled together. */
struct crawl_web {
    const char *name;
    struct bench_site site;
    size_t starts;  /* one, or one per host that links do not leave */
    uint64_t pages; /* that a crawler has to get, at least */
    uint64_t bytes;
};

struct crawler {
    const char *name, *program;
    const char *starter; /* that starts the program; NULL: itself */
    /* Fill in the arguments that follow the program; texts live in `room`. */
    void (*arguments)(const struct crawl_web *web, const char **argv,
                      char room[ROOM][PATH_ROOM]);
    uint64_t (*count)(const char *folder); /* pages that it got */
    uint64_t share;                        /* one of this many pages */
    double asked; /* our rate by its rate, at least; NAN: information */
    bool generated; /* for such pages alone */
    /* measured */
    bool left_out;
    double rate[TURNS_MOST], cpu[TURNS_MOST], memory[TURNS_MOST];
};

/* Start URLs as the last arguments, which end with NULL. */
static void put_starts(const struct crawl_web *web, const char **argv,
                       char room[ROOM][PATH_ROOM])
{
    char address[16];

    for (size_t i = 0; i < web->starts; i++) {
        bench_site_address(i, address);
        snprintf(room[4 + i], PATH_ROOM, "http://%s:%d/%s", address,
                 web->site.nginx.port,
                 web->site.root ? "index.html" : "p0.html");
        argv[i] = room[4 + i];
    }
    argv[web->starts] = NULL;
}

/* --- seen --- */

/* The hosts of start URLs are in scope without an option. */
static void seen_arguments(const struct crawl_web *web, const char **argv,
                           char room[ROOM][PATH_ROOM])
{
    const char *const more[] = { "crawl",   "--into", room[0],
                                 "--delay", "0",      "--allow-private",
                                 "--quiet", NULL };
    size_t n = 0;

    process_path(room[0], "out");
    for (; more[n]; n++)
        argv[n] = more[n];
    if (web->starts < web->site.hosts)
        argv[n++] = "--everywhere";
    put_starts(web, argv + n, room);
}

/* Lines of a file in which there is this text; a line may be long. */
static uint64_t count_lines(const char *folder, const char *name,
                            const char *with)
{
    char path[PATH_ROOM], *line = NULL;
    uint64_t lines = 0;
    size_t room = 0;
    FILE *file;

    snprintf(path, sizeof path, "%.400s/%s", folder, name);
    file = fopen(path, "re");
    while (file && getline(&line, &room, file) > 0)
        lines += strstr(line, with) != NULL;
    free(line);
    if (file)
        fclose(file);
    return lines;
}

/* Others do not count the answers that say 404. */
static uint64_t seen_count(const char *folder)
{
    return count_lines(folder, "pages.jsonl", "\"_status\": 200");
}

/* --- wget, wget2 --- */

static void wget_arguments(const struct crawl_web *web, const char **argv,
                           char room[ROOM][PATH_ROOM])
{
    const char *const more[] = { "--no-config", "-q", "-r",    "-l",
                                 "inf",         "-P", room[0], room[1] };
    size_t n = sizeof more / sizeof *more;

    process_path(room[0], "out");
    snprintf(room[1], PATH_ROOM, "--warc-file=%.400s/archive", room[0]);
    memcpy(argv, more, sizeof more);
    if (web->starts < web->site.hosts)
        argv[n++] = "-H";
    put_starts(web, argv + n, room);
}

/* This version waits for ever after one of several hosts is done, unless all
   of them end together: each start URL has a process of its own. */
static void wget2_each(const struct crawl_web *web, const char *more,
                       const char **argv, char room[ROOM][PATH_ROOM])
{
    process_path(room[0], "out");
    snprintf(room[1], PATH_ROOM,
             "for url; do wget2 --no-config -q -r -l 0 %s -P \"$0\" "
             "\"$url\" & done; wait",
             more);
    argv[0] = "-c";
    argv[1] = room[1];
    argv[2] = room[0];
    put_starts(web, argv + 3, room);
}

static void wget2_arguments(const struct crawl_web *web, const char **argv,
                            char room[ROOM][PATH_ROOM])
{
    wget2_each(web, web->starts < web->site.hosts ? "-H" : "", argv, room);
}

static void wget2_many_arguments(const struct crawl_web *web,
                                 const char **argv, char room[ROOM][PATH_ROOM])
{
    char more[64];

    snprintf(more, sizeof more, "-H --max-threads=%llu",
             (unsigned long long)web->site.hosts);
    wget2_each(web, more, argv, room);
}

static uint64_t files;

static int on_file(const char *path, const struct stat *st, int kind,
                   struct FTW *at)
{
    (void)st;
    files += kind == FTW_F && strncmp(path + at->base, "archive", 7) != 0;
    return 0;
}

static uint64_t count_files(const char *folder)
{
    files = 0;
    nftw(folder, on_file, 16, FTW_PHYS);
    return files;
}

/* --- Scrapy --- */

static void put_texts(FILE *file, const char *name, const char *const *text)
{
    fprintf(file, "    %s = [", name);
    for (; *text; text++)
        fprintf(file, "'%s', ", *text);
    fputs("]\n", file);
}

static void scrapy_arguments(const struct crawl_web *web, const char **argv,
                             char room[ROOM][PATH_ROOM])
{
    const char *starts[PACKAGES + 1], *allowed[PACKAGES + 1] = { NULL };
    char pages[PATH_ROOM], address[PACKAGES][16];
    FILE *file;

    process_path(room[0], "spider.py");
    process_path(pages, "out/urls");
    put_starts(web, starts, room);
    for (size_t i = 0; i < web->starts && web->starts == web->site.hosts;
         i++) {
        bench_site_address(i, address[i]);
        allowed[i] = address[i];
        allowed[i + 1] = NULL;
    }
    argv[0] = "runspider";
    argv[1] = "--nolog";
    argv[2] = room[0];
    argv[3] = NULL;
    file = fopen(room[0], "we");
    if (!file)
        return; /* it gets no page, and fails */
    fputs("import scrapy\n"
          "\n"
          "class Links(scrapy.Spider):\n"
          "    name = 'links'\n",
          file);
    put_texts(file, "start_urls", starts);
    if (*allowed)
        put_texts(file, "allowed_domains", allowed);
    fprintf(file, /* each robots.txt counts as a page, too */
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
            "        if hasattr(response, 'css'):\n"
            "            yield from response.follow_all(css='a[href]')\n",
            (unsigned long long)web->site.hosts,
            (unsigned long long)(web->pages / SCRAPY_SHARE + web->site.hosts),
            pages);
    fclose(file);
}

static uint64_t scrapy_count(const char *folder)
{
    return count_lines(folder, "urls", "");
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
      .starter = "sh",
      .arguments = wget2_arguments,
      .count = count_files,
      .share = 1,
      .asked = 1.2 },
    { .name = "wget2-16",
      .program = "wget2",
      .starter = "sh",
      .generated = true,
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
                     const struct crawl_web *web, struct crawler *c,
                     size_t turn)
{
    char room[ROOM][PATH_ROOM], folder[PATH_ROOM];
    const char *argv[ARGUMENTS] = { c->starter   ? c->starter
                                    : c->program ? c->program
                                                 : s->seen };
    struct process_cost cost;
    uint64_t pages, wanted = web->pages / c->share;
    bool good;

    if (!empty_folder(folder))
        return false;
    c->arguments(web, argv + 1, room);
    /* wget and wget2 exit with 8 because there is no robots.txt. */
    good = process_measure(argv, "crawl.out", "crawl.err", &cost);
    pages = c->count(folder);
    if (pages < wanted || !pages) {
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
                        const struct crawl_web *web)
{
    char room[ROOM][PATH_ROOM], folder[PATH_ROOM], record[PATH_ROOM];
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
    seen_arguments(web, argv + 9, room);
    if (!process_run(argv, NULL, "perf.err", &seconds) ||
        !process_run(report, "shares", "perf.err", &seconds)) {
        fprintf(stderr, "seen: bench: perf may not be used here\n");
        return;
    }
    n = read_shares(share);
    if (s->json)
        printf("{\"bench\": \"crawl\", \"sites\": \"%s\", \"shares\": {",
               web->name);
    else
        printf("\nshare of the CPU time of seen, by library:\n");
    for (size_t i = 0; i < n; i++)
        printf(s->json ? "%s\"%s\": %.2f" : "%s  %-24s %5.1f %%\n",
               s->json && i ? ", " : "", share[i].name, share[i].percent);
    if (s->json)
        puts("}}");
}

/* --- showing --- */

static void show(const struct crawl_options *s, const struct crawl_web *web,
                 struct crawler *c, double ours)
{
    double rate = bench_median(c->rate, s->turns);
    double cpu = bench_median(c->cpu, s->turns);
    double memory = bench_median(c->memory, s->turns);
    double asked = web->site.root ? NAN : c->asked;
    bool missed = !isnan(asked) && !(ours / rate >= asked);

    if (s->json) {
        printf(
            "{\"bench\": \"crawl\", \"sites\": \"%s\", \"crawler\": \"%s\", ",
            web->name, c->name);
        bench_json("pages_per_second", rate, ", ");
        bench_json("cpu_us_per_page", cpu, ", ");
        bench_json("memory", memory, ", ");
        bench_json("ratio", ours / rate, ", ");
        bench_json("at_least", asked, ", ");
        printf("\"missed\": %s}\n", missed ? "true" : "false");
        return;
    }
    printf("%-10s %10.0f %10.0f %10.1f", c->name, rate, cpu, memory / 1e6);
    if (c != crawlers)
        printf(" %9.2f", ours / rate);
    if (!isnan(asked))
        printf("  >= %.1f%s", asked, missed ? "  missed" : "");
    putchar('\n');
}

static void show_all(const struct crawl_options *s,
                     const struct crawl_web *web)
{
    double ours = NAN;

    if (!s->json && web->site.root)
        printf("\nabout %llu pages of %.1f kB of documentation packages on "
               "%llu addresses, ",
               (unsigned long long)web->pages * 2,
               (double)web->bytes / (double)web->pages / 2e3,
               (unsigned long long)web->site.hosts);
    else if (!s->json)
        printf("%llu pages of %.1f kB with %llu links on %llu addresses, ",
               (unsigned long long)s->pages, (double)s->size / 1e3,
               (unsigned long long)s->links, (unsigned long long)s->hosts);
    if (!s->json)
        printf("median of %llu turns\n%-10s %10s %10s %10s %9s\n",
               (unsigned long long)s->turns, "", "pages/s", "us CPU/page",
               "MB", "seen by it");
    if (!crawlers[0].left_out)
        ours = bench_median(crawlers[0].rate, s->turns);
    for (size_t i = 0; i < CRAWLERS; i++)
        if (!crawlers[i].left_out)
            show(s, web, &crawlers[i], ours);
}

/* --- sites --- */

static bool crawl_web(const struct crawl_options *s, struct crawl_web *web)
{
    if (!process_room(web->bytes * 6) || !bench_site_make(&web->site) ||
        !bench_site_serve(&web->site))
        return false;
    for (size_t i = 0; i < CRAWLERS; i++) {
        struct crawler *c = &crawlers[i];

        c->left_out = (s->only && strcmp(c->name, s->only)) ||
                      (c->generated && web->site.root);
        if (c->left_out || !c->program || process_find(c->program))
            continue;
        fprintf(stderr, "seen-bench: %s is not installed, and left out\n",
                c->program);
        c->left_out = true;
    }
    for (size_t turn = 0; turn < s->turns; turn++)
        for (size_t i = 0; i < CRAWLERS; i++)
            if (!crawlers[i].left_out && !run_turn(s, web, &crawlers[i], turn))
                return false;
    show_all(s, web);
    if (!crawlers[0].left_out)
        show_shares(s, web);
    bench_site_end(&web->site);
    return true;
}

static bool crawl_generated(const struct crawl_options *s)
{
    struct crawl_web web = { .name = "generated",
                             .site = { .pages = s->pages,
                                       .size = s->size,
                                       .links = s->links,
                                       .hosts = s->hosts },
                             .starts = 1,
                             .pages = s->pages,
                             .bytes = s->pages * s->size };

    return crawl_web(s, &web);
}

static struct crawl_web *counted;

static int on_page(const char *path, const struct stat *st, int kind,
                   struct FTW *at)
{
    (void)at;
    if (kind == FTW_F && strlen(path) > 5 &&
        !strcmp(path + strlen(path) - 5, ".html")) {
        counted->pages++;
        counted->bytes += (uint64_t)st->st_size;
    }
    return 0;
}

/* Not all pages of a package are linked, but most of them are. */
static bool crawl_documentation(const struct crawl_options *s)
{
    static const char *const package[PACKAGES][2] = {
        { "python3.11-doc", "python3.11/html" },
        { "postgresql-doc-15", "postgresql-doc-15/html" },
        { "sqlite3-doc", "sqlite3" },
        { "apache2-doc", "apache2-doc/manual" },
    };
    char folder[PACKAGES][PATH_ROOM], index[PATH_ROOM + 16];
    const char *root[PACKAGES] = { folder[0] };
    struct crawl_web web = { .name = "documentation",
                             .site = { .root = root } };

    counted = &web;
    for (size_t i = 0; i < PACKAGES; i++) {
        char *to = folder[web.site.hosts];

        snprintf(to, PATH_ROOM, "%.400s/%s", s->docs, package[i][1]);
        snprintf(index, sizeof index, "%s/index.html", to);
        if (access(index, R_OK)) {
            fprintf(stderr, "seen-bench: %s is not installed, and left out\n",
                    package[i][0]);
            continue;
        }
        root[web.site.hosts++] = to;
        nftw(to, on_page, 16, FTW_PHYS);
    }
    web.starts = web.site.hosts;
    web.pages /= 2;
    return !web.starts || crawl_web(s, &web);
}

static const struct {
    const char *name;
    bool (*crawl)(const struct crawl_options *s);
} webs[] = {
    { "generated", crawl_generated },
    { "documentation", crawl_documentation },
};
enum { WEBS = sizeof webs / sizeof *webs };

static int run_crawls(void *with)
{
    const struct crawl_options *s = with;

    if (!s->json)
        bench_show_cpu();
    for (size_t i = 0; i < WEBS; i++)
        if ((!s->sites || !strcmp(s->sites, webs[i].name)) &&
            !webs[i].crawl(s))
            return 2;
    return 0;
}

/* --- options --- */

static const char about[] =
    "Crawlers on sites that nginx serves on loopback: pages per second, CPU "
    "time and\nmemory. The sites are generated, and those of Debian's "
    "documentation packages. What\nis not installed is named and left out. "
    "What is measured is the program $SEEN, or\nthe one beside seen-bench.\n";

static const struct option options[] = {
#define AT(name) offsetof(struct crawl_options, name)
    { "pages", 0, COUNT, "N", AT(pages), "to generate (default 10k)" },
    { "size", 0, COUNT, "BYTES", AT(size), "of such a page (default 10k)" },
    { "links", 0, COUNT, "N", AT(links), "of such a page (default 20)" },
    { "hosts", 0, COUNT, "N", AT(hosts), "that have them (default 16)" },
    { "turns", 0, COUNT, "N", AT(turns), "of each crawler (default 3)" },
    { "only", 0, TEXT, "NAME", AT(only),
      "only this one: seen, wget, wget2, wget2-16, scrapy" },
    { "sites", 0, TEXT, "NAME", AT(sites),
      "only these: generated, documentation" },
    { "docs", 0, TEXT, "DIR", AT(docs),
      "where documentation is (default /usr/share/doc)" },
    { "json", 0, FLAG, NULL, AT(json), "a JSON object per crawler" },
    { "help", 0, FLAG, NULL, AT(help), "print this" },
    { .name = NULL },
#undef AT
};

static const char *fault(const struct crawl_options *s)
{
    bool known = !s->only, there = !s->sites;

    for (size_t i = 0; !known && i < CRAWLERS; i++)
        known = !strcmp(crawlers[i].name, s->only);
    for (size_t i = 0; !there && i < WEBS; i++)
        there = !strcmp(webs[i].name, s->sites);
    return s->pages < 20 || s->pages > 1000000
               ? "--pages takes a number from 20 to 1M"
           : s->size > 1000000     ? "--size takes a number up to 1M"
           : s->links > 1000       ? "--links takes a number up to 1000"
           : s->hosts > 200        ? "--hosts takes a number up to 200"
           : s->turns > TURNS_MOST ? "--turns takes a number up to 25"
           : !there                ? "--sites takes generated or documentation"
           : !known ? "--only takes seen, wget, wget2, wget2-16 or scrapy"
                    : NULL;
}

int bench_crawl(char **argv)
{
    struct crawl_options s = { .pages = 10000,
                               .size = 10000,
                               .links = 20,
                               .hosts = 16,
                               .turns = 3,
                               .docs = "/usr/share/doc" };
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
