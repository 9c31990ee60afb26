/*
 * work.c - seen bench work: do workers scale?
 *
 * A generated web of many hosts on addresses of loopback, each with its own
 * limit of one request at a time. A job asks for all of it, and workers share
 * it:
 *
 *     workers   1, 2, 4, 8 of them, with a delay between requests to a host,
 *               and at most a fixed number of hosts per worker: each is as fast as a
 *               small machine, and more of them are faster
 *     busy      the same without delay and limit: what the machine can do, and
 *               what a page costs when more workers share it
 *     threads   one worker with 1, 2, 4 threads that parse, without delay
 *     attach    one worker, then four, then two, during one visit
 *     paper     pages and sites of a published experiment
 *
 * on each place: sqlite (one file), postgresql (one database), rabbitmq
 * (frontier on PostgreSQL, queues on RabbitMQ). With --databases the frontier
 * is spread over several of one server, whose CPU time is that of all of them.
 *
 * Metrics are those of J. Cho and H. Garcia-Molina, Parallel Crawlers, WWW
 * 2002, section 4, measured so:
 *
 *     overlap        (N - I) / I, where N is the number of requests for pages
 *                    in the web server's log, and I that of distinct pages
 *     coverage       I / U, where U is the number of pages of the web
 *     communication  URLs that workers exchange per page that is fetched: here
 *                    links that they send to the frontier, since no filter of
 *                    theirs has seen them
 *
 * Their fourth, quality, is about crawls that stop early, and these do not.
 * Coverage must be 1, and every page one record on the queue.
 *
 * Client, web server and database share the machine, so that pages per second
 * without delay are limited by its CPUs; CPU time per page is what to compare.
 */
#include "work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const places[] = { "sqlite", "postgresql", "rabbitmq" };
enum { PLACES = sizeof places / sizeof *places };

/* --- places --- */

bool work_place_make(const struct work_options *s,
                     struct work_servers *servers, struct work_place *place,
                     const char *name)
{
    char database[32], file[PATH_ROOM], url[PATH_ROOM];
    size_t len = 0;

    place->name = name;
    snprintf(database, sizeof database, "run%u", ++servers->made);
    if (!strcmp(name, "sqlite")) {
        process_path(file, database);
        snprintf(place->queue, sizeof place->queue, "sqlite:%.480s.db", file);
        memcpy(place->frontier, place->queue, sizeof place->queue);
        return true;
    }
    if (!servers->postgres.server.pid &&
        !bench_postgres_start(&servers->postgres))
        return false;
    for (uint64_t i = 0; i < s->databases; i++) {
        if (i)
            snprintf(database, sizeof database, "run%u", ++servers->made);
        if (!bench_postgres_new(&servers->postgres, database, url))
            return false;
        if (!i)
            memcpy(place->queue, url, sizeof place->queue);
        len += (size_t)snprintf(place->frontier + len,
                                sizeof place->frontier - len, "%s%s",
                                i ? "," : "", url);
    }
    if (!strcmp(name, "postgresql"))
        return true;
    /* A queue that holds the records of the last run would be read, too. */
    bench_rabbit_stop(&servers->rabbit);
    if (!bench_rabbit_start(&servers->rabbit))
        return false;
    memcpy(place->queue, servers->rabbit.url, sizeof place->queue);
    return true;
}

/* --- showing --- */

static void show_head(const struct work_options *s, const char *title)
{
    if (s->json)
        return;
    printf("\n%s\n%-11s %7s %7s %8s %6s %23s %5s %8s %8s %7s %6s %7s\n", title,
           "", "workers", "threads", "pages/s", "times",
           "us CPU per page: worker", "base", "broker", "overlap", "cover",
           "links", "gap, s");
}

static void show_json(const struct work_run *run, const char *part,
                      unsigned workers, uint64_t databases,
                      const struct work_figures *f, double times)
{
    printf("{\"bench\": \"work\", \"part\": \"%s\", \"place\": \"%s\", "
           "\"workers\": %u, \"threads\": %llu, \"delay\": %s, ",
           part, run->place->name, workers, (unsigned long long)run->threads,
           run->delay);
    bench_json("pages_per_second", f->rate, ", ");
    printf("\"databases\": %llu, ", (unsigned long long)databases);
    bench_json("times", times, ", ");
    bench_json("seconds", f->seconds, ", ");
    bench_json("worker_us_per_page", 1e6 * f->workers_cpu / f->distinct, ", ");
    bench_json("database_us_per_page", 1e6 * f->database_cpu / f->distinct,
               ", ");
    bench_json("broker_us_per_page", 1e6 * f->broker_cpu / f->distinct, ", ");
    bench_json("memory", f->memory, ", ");
    bench_json("overlap", (f->requests - f->distinct) / f->distinct, ", ");
    bench_json("links_per_page", f->links / f->distinct, ", ");
    bench_json("sent_per_page", f->sent / f->distinct, ", ");
    bench_json("commits_per_page", f->commits / f->distinct, ", ");
    bench_json("share_in_database", f->in_database, ", ");
    bench_json("share_in_queue", f->in_queue, ", ");
    bench_json("records", f->records, ", ");
    bench_json("least_gap", f->gap, "}\n");
}

static void show(const struct work_options *s, const struct work_run *run,
                 const char *part, unsigned workers, uint64_t pages,
                 const struct work_figures *f, double times)
{
    char threads[24] = "-";

    if (s->json) {
        show_json(run, part, workers, s->databases, f, times);
        return;
    }
    if (run->threads)
        snprintf(threads, sizeof threads, "%llu",
                 (unsigned long long)run->threads);
    printf("%-11s %7u %7s %8.0f %6.2f %23.0f %5.0f %8.0f %8.4f %7.4f %6.2f "
           "%7.3f\n",
           run->place->name, workers, threads, f->rate, times,
           1e6 * f->workers_cpu / f->distinct,
           1e6 * f->database_cpu / f->distinct,
           1e6 * f->broker_cpu / f->distinct,
           (f->requests - f->distinct) / f->distinct,
           f->distinct / (double)pages, f->sent / f->distinct, f->gap);
}

/* Was every page fetched, and is it one record? */
static bool is_complete(const struct bench_site *site,
                        const struct work_run *run,
                        const struct work_figures *f)
{
    double pages = (double)site->pages;
    bool exact = strcmp(run->place->name, "rabbitmq") != 0;

    if (f->distinct < pages || f->records < pages ||
        (exact && f->records > pages)) {
        fprintf(stderr,
                "seen: bench: %s: of %.0f pages %.0f were fetched, and there "
                "are %.0f records\n",
                run->place->name, pages, f->distinct, f->records);
        return false;
    }
    return true;
}

/* --- parts --- */

struct work_part {
    const char *name;
    bool (*run)(const struct work_options *s, struct bench_site *site,
                struct work_servers *servers, const char *place);
};

/* One run on an empty place; *first is the rate to compare with, 0: this is
   the first. */
static bool run_one(const struct work_options *s, struct bench_site *site,
                    struct work_servers *servers, const char *place_name,
                    const char *part, struct work_run *run, double *first,
                    struct work_figures *f)
{
    struct work_place place;

    if (!work_place_make(s, servers, &place, place_name))
        return false;
    run->place = &place;
    if (!work_run(s, site, servers, run, f))
        return false;
    if (*first <= 0)
        *first = f->rate;
    show(s, run, part, run->step[0].workers, site->pages, f, f->rate / *first);
    fflush(stdout);
    return is_complete(site, run, f);
}

static bool scale(const struct work_options *s, struct bench_site *site,
                  struct work_servers *servers, const char *place,
                  const char *part, const char *delay, uint64_t own)
{
    struct work_figures f;
    double first = 0;

    for (unsigned workers = 1; workers <= 8; workers *= 2) {
        struct work_run run = { .delay = delay,
                                .own = own,
                                .threads = 1,
                                .step = { { 0, workers } },
                                .steps = 1 };

        if (!run_one(s, site, servers, place, part, &run, &first, &f))
            return false;
    }
    return true;
}

static bool run_workers(const struct work_options *s, struct bench_site *site,
                        struct work_servers *servers, const char *place)
{
    char title[160];

    snprintf(
        title, sizeof title,
        "workers: %s s between requests to a host, at most %llu hosts per "
        "worker",
        s->delay, (unsigned long long)s->own);
    show_head(s, title);
    return scale(s, site, servers, place, "workers", s->delay, s->own);
}

static bool run_busy(const struct work_options *s, struct bench_site *site,
                     struct work_servers *servers, const char *place)
{
    show_head(s, "busy: no delay, no limit");
    return scale(s, site, servers, place, "busy", "0", 0);
}

static bool run_threads(const struct work_options *s, struct bench_site *site,
                        struct work_servers *servers, const char *place)
{
    struct work_figures f;
    double first = 0;

    show_head(s, "threads: one worker, no delay");
    for (uint64_t threads = 1; threads <= 4; threads *= 2) {
        struct work_run run = {
            .delay = "0", .threads = threads, .step = { { 0, 1 } }, .steps = 1
        };

        if (!run_one(s, site, servers, place, "threads", &run, &first, &f))
            return false;
    }
    return true;
}

/* Steps are as long as two of three workers need for a sixth of the pages. */
static bool run_attach(const struct work_options *s, struct bench_site *site,
                       struct work_servers *servers, const char *place)
{
    double each = (double)s->own / strtod(s->delay, NULL); /* pages per s */
    double step = (double)s->pages / each / 10;
    struct work_run run = { .delay = s->delay,
                            .own = s->own,
                            .threads = 1,
                            .step = { { 0, 1 }, { step, 4 }, { 2 * step, 2 } },
                            .steps = 3 };
    struct work_figures f;
    double first = each;

    show_head(s, "attach: 1 worker, then 4, then 2");
    if (!run_one(s, site, servers, place, "attach", &run, &first, &f))
        return false;
    if (s->json)
        printf("{\"bench\": \"work\", \"part\": \"attach\", \"place\": "
               "\"%s\", \"rates\": [%.10g, %.10g, %.10g]}\n",
               place, f.step[0], f.step[1], f.step[2]);
    else
        printf("pages/s     1 worker %.0f, 4 workers %.0f, 2 workers %.0f\n",
               f.step[0], f.step[1], f.step[2]);
    return true;
}

static const struct work_part parts[] = {
    { "workers", run_workers },
    { "busy", run_busy },
    { "threads", run_threads },
    { "attach", run_attach },
};
enum { PARTS = sizeof parts / sizeof *parts };

static bool is_wanted(const char *only, const char *name)
{
    return !only || !strcmp(only, name);
}

static bool run_parts(const struct work_options *s,
                      struct work_servers *servers)
{
    struct bench_site site = { .pages = s->pages,
                               .size = s->size,
                               .links = s->links,
                               .hosts = s->hosts,
                               .log = true };

    if (s->part && !strcmp(s->part, "paper"))
        return true;
    if (!process_room(s->pages * s->size * 4) || !bench_site_make(&site))
        return false;
    for (size_t i = 0; i < PARTS; i++)
        for (size_t k = 0; k < PLACES; k++)
            if (is_wanted(s->part, parts[i].name) &&
                is_wanted(s->only, places[k]) &&
                !parts[i].run(s, &site, servers, places[k]))
                return false;
    return true;
}

static int run_all(void *with)
{
    const struct work_options *s = with;
    struct work_servers servers = { .made = 0 };
    bool good;

    if (!s->json) {
        bench_show_cpu();
        printf("%llu pages of %.1f kB with %llu links on %llu hosts\n",
               (unsigned long long)s->pages, (double)s->size / 1e3,
               (unsigned long long)s->links, (unsigned long long)s->hosts);
    }
    good = run_parts(s, &servers);
    for (size_t k = 0; good && k < PLACES; k++)
        if (is_wanted(s->part, "paper") && is_wanted(s->only, places[k]))
            good = work_paper(s, &servers, places[k]);
    bench_rabbit_stop(&servers.rabbit);
    bench_postgres_stop(&servers.postgres);
    return good ? 0 : 2;
}

/* --- options --- */

static const char about[] =
    "Workers that share a generated web of many hosts: pages per second with "
    "1, 2, 4 and 8\nof them, with and without delay, with more threads, and "
    "attached and detached in the\nmiddle; CPU time; overlap, coverage and "
    "links sent per page. It starts nginx,\nPostgreSQL and RabbitMQ, and stops "
    "them. What is measured is the program $SEEN, or the\none beside "
    "seen-bench.\n";

static const struct option options[] = {
#define AT(name) offsetof(struct work_options, name)
    { "pages", 0, COUNT, "N", AT(pages), "of the web (default 5k)" },
    { "size", 0, COUNT, "BYTES", AT(size), "of a page (default 10k)" },
    { "links", 0, COUNT, "N", AT(links), "of a page (default 20)" },
    { "hosts", 0, COUNT, "N", AT(hosts), "addresses (default 256)" },
    { "delay", 0, TEXT, "SECONDS", AT(delay),
      "between requests to a host (default 0.25)" },
    { "per-worker", 0, COUNT, "N", AT(own),
      "hosts per worker, where there is a delay (default 32)" },
    { "databases", 0, COUNT, "N", AT(databases),
      "of a frontier on PostgreSQL (default 1)" },
    { "only", 0, TEXT, "PLACE", AT(only),
      "only this one: sqlite, postgresql, rabbitmq" },
    { "part", 0, TEXT, "NAME", AT(part),
      "only this one: workers, busy, threads, attach, paper" },
    { "json", 0, FLAG, NULL, AT(json), "a JSON object per run" },
    { "help", 0, FLAG, NULL, AT(help), "print this" },
    { .name = NULL },
#undef AT
};

static const char *fault(const struct work_options *s)
{
    bool place = !s->only, part = !s->part || !strcmp(s->part, "paper");
    char *end;
    double delay = strtod(s->delay, &end);

    for (size_t i = 0; i < PLACES; i++)
        place |= s->only && !strcmp(s->only, places[i]);
    for (size_t i = 0; i < PARTS; i++)
        part |= s->part && !strcmp(s->part, parts[i].name);
    return s->hosts < 2 || s->hosts > BENCH_SITE_HOSTS
               ? "--hosts takes a number from 2 to 256"
           : s->pages < s->hosts || s->pages > 1000000
               ? "--pages takes a number from that of hosts to 1M"
           : s->size > 1000000 ? "--size takes a number up to 1M"
           : s->links < 2 || s->links > 1000
               ? "--links takes a number from 2 to 1000"
           : !s->own ? "--per-worker takes a number from 1"
           : !s->databases || s->databases > WORK_DATABASES
               ? "--databases takes a number from 1 to 4"
           : end == s->delay || *end || !(delay >= 0.01 && delay <= 60)
               ? "--delay takes a number from 0.01 to 60"
           : !place ? "--only takes sqlite, postgresql or rabbitmq"
           : !part  ? "--part takes workers, busy, threads, attach or paper"
                    : NULL;
}

int bench_work(char **argv)
{
    struct work_options s = { .pages = 5000,
                              .size = 10000,
                              .links = 20,
                              .hosts = 256,
                              .own = 32,
                              .databases = 1,
                              .delay = "0.25" };
    const char *wrong;
    int status;

    if (!bench_options(options, "work", about, &s, &s.help, argv, &status))
        return status;
    wrong = fault(&s);
    if (wrong) {
        fprintf(stderr, "seen: bench: %s\n", wrong);
        return 2;
    }
    return process_seen(s.seen) ? process_guard(run_all, &s, "/tmp") : 2;
}
