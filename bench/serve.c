/*
 * serve.c - seen bench serve: how does the server do, beside good ones?
 *
 * Servers are started on loopback, ours and a peer, and loaded in turns; a
 * figure is the median of its turns, and a ratio is the median of the ratios of
 * turns that followed each other: what else the machine does changes from
 * second to second, and by more than servers differ. So short turns are better,
 * down to what a server needs to get warm (serve_http.c).
 *
 * Client and server share the machine, and the clock says little: what counts
 * is how many requests a server answers per second of its CPU time, which is
 * read before and after each load. With several threads that is the sum over
 * them.
 */
#include "serve.h"

#include <string.h>
#include <sys/resource.h>

static const struct {
    const char *name, *what;
    bool (*run)(const struct load_options *s);
    const char *needs[2]; /* programs */
} rows[] = {
    { "http",
      "lookups on 64 connections, against nginx's return 200",
      row_http,
      { "nginx" } },
    { "http-16",
      "the same, 16 requests at a time on each",
      row_pipelined,
      { "nginx" } },
    { "exists-64",
      "BF.EXISTS, 64 at a time on 50 connections, against GETBIT",
      row_exists,
      { "redis-benchmark", "redis-server" } },
    { "exists-1",
      "the same, one at a time",
      row_exists_one,
      { "redis-benchmark", "redis-server" } },
    { "promises",
      "BF.ADD and BF.EXISTS one at a time, against SET and GET: --sync and AOF",
      row_promises,
      { "redis-benchmark", "redis-server" } },
    { "sets",
      "BF.ADD and BF.EXISTS against SADD and SISMEMBER; memory of both",
      row_sets,
      { "redis-benchmark", "redis-server" } },
    { "mexists",
      "BF.MEXISTS with 100 URLs per command",
      row_mexists,
      { "redis-benchmark" } },
    { "agg",
      "a list of a million URLs, asked of three archives",
      row_agg,
      { NULL } },
    { "latency",
      "at half of the load that the slower one bears, against nginx",
      row_latency,
      { "nginx" } },
    { "idle",
      "memory of 10,000 idle connections, and latency beside them",
      row_idle,
      { "nginx" } },
    { "reload",
      "the filter is replaced 20 times under load",
      row_reload,
      { NULL } },
};
enum {
    ROWS = sizeof rows / sizeof rows[0],
    MANY_FILES = 16384 /* open at a time */
};

/* --- showing --- */

/* 152300 as 152.3 k: four digits, more or less. */
static const char *brief(char *to, size_t room, double x)
{
    if (isnan(x))
        snprintf(to, room, "-");
    else if (x >= 999.95e3)
        snprintf(to, room, "%.2f M", x / 1e6);
    else if (x >= 9999.5)
        snprintf(to, room, "%.1f k", x / 1e3);
    else
        snprintf(to, room, "%.*f", x < 100 && x != floor(x) ? 2 : 0, x);
    return to;
}

static double ratio_of(const struct serve_row *r)
{
    return r->ratio > 0 ? r->ratio : r->ours / r->theirs;
}

static double judged(const struct serve_row *r)
{
    return r->alone ? r->ours : ratio_of(r);
}

static bool missed(const struct serve_row *r)
{
    return !isnan(r->asked) &&
           (r->most ? !(judged(r) <= r->asked) : !(judged(r) >= r->asked));
}

static void show_title(void)
{
    bench_show_cpu();
    printf("%-15s %-20s %9s %9s %-15s %6s %9s %6s %9s %9s\n", "row", "unit",
           "ours", "peer", "", "ratio", "asked", "", "ours/s", "peer/s");
}

static void show_json(const struct load_options *s, const struct serve_row *r)
{
    printf("{\"bench\": \"serve\", \"row\": \"%s\", \"unit\": \"%s\", ",
           r->name, r->unit);
    bench_json("ours", r->ours, ", ");
    if (r->peer)
        printf("\"peer\": \"%s\", ", r->peer);
    else
        printf("\"peer\": null, ");
    bench_json("theirs", r->theirs, ", ");
    bench_json("ratio", ratio_of(r), ", ");
    bench_json("ours_per_second", r->ours_rate, ", ");
    bench_json("theirs_per_second", r->theirs_rate, ", ");
    bench_json("ours_per_cpu_second", r->ours_each > 0 ? r->ours_each : NAN,
               ", ");
    bench_json("theirs_per_cpu_second",
               r->theirs_each > 0 ? r->theirs_each : NAN, ", ");
    bench_json("limit_per_cpu_second", r->limit ? r->limit_each : NAN, ", ");
    bench_json("limit_ratio", r->limit ? r->limit_ratio : NAN, ", ");
    bench_json("ratio_low", r->high > 0 ? r->low : NAN, ", ");
    bench_json("ratio_high", r->high > 0 ? r->high : NAN, ", ");
    printf("\"asked_of\": \"%s\", ", r->alone ? "ours" : "ratio");
    bench_json(r->most ? "at_most" : "at_least", r->asked, ", ");
    printf("\"missed\": %s, \"note\": \"%s\", \"capacity\": %llu, "
           "\"threads\": %u}\n",
           missed(r) ? "true" : "false", r->note,
           (unsigned long long)s->capacity, (unsigned)s->threads);
}

void row_show(const struct load_options *s, const struct serve_row *r)
{
    char a[16], b[16], c[16], d[16], ratio[16] = "-", asked[24] = "-", e[16];

    if (s->json) {
        show_json(s, r);
        fflush(stdout);
        return;
    }
    if (isfinite(ratio_of(r)))
        snprintf(ratio, sizeof ratio, "%.2f", ratio_of(r));
    if (!isnan(r->asked))
        snprintf(asked, sizeof asked, "%s %s",
                 r->most ? "<=" : ">=", brief(e, sizeof e, r->asked));
    printf("%-15s %-20s %9s %9s %-15s %6s %9s %6s %9s %9s%s%s\n", r->name,
           r->unit, brief(a, sizeof a, r->ours), brief(b, sizeof b, r->theirs),
           r->peer ? r->peer : "", ratio, asked, missed(r) ? "missed" : "",
           brief(c, sizeof c, r->ours_rate),
           brief(d, sizeof d, r->theirs_rate), *r->note ? "  " : "", r->note);
    fflush(stdout);
}

/* --- turns --- */

struct turn_times {
    double each[MOST_SLICES], rate[MOST_SLICES]; /* per second of processor, of
                                                    clock */
};

/* The median of the ratios of turns that followed each other; and the
   quartiles, unless `low` is NULL. To be called before medians sort the turns. */
static double pair(const double *ours, const double *theirs, size_t n,
                   double *low, double *high)
{
    double ratio[MOST_SLICES], median;

    for (size_t i = 0; i < n; i++)
        ratio[i] = ours[i] / theirs[i];
    median = bench_median(ratio, n);
    if (low) {
        *low = ratio[n / 4];
        *high = ratio[n - 1 - n / 4];
    }
    return median;
}

static bool run_turn(const struct load_options *s, const struct serve_turn *t,
                     struct turn_times *of, size_t i)
{
    struct serve_load load;

    if (!t)
        return true;
    if (!t->run(s, t->peer, t->with, &load))
        return false;
    of->rate[i] = load.requests / load.seconds;
    of->each[i] = load.spent > 0 ? load.requests / load.spent : NAN;
    return true;
}

bool row_fill(const struct load_options *s, struct serve_row *r,
              const struct serve_turn *ours, const struct serve_turn *theirs)
{
    const struct serve_turn *const turn[] = { ours, theirs, r->limit };
    const double factor = r->factor > 0 ? r->factor : 1;
    const size_t wanted = r->slices ? r->slices : s->turns;
    const size_t turns = wanted < MOST_SLICES ? wanted : MOST_SLICES;
    struct turn_times time[3], *us = &time[0], *them = &time[1];

    for (size_t i = 0; i < 3 * turns; i++) {
        const size_t which = (i + i / 3) % 3; /* each goes first in turns */

        if (!run_turn(s, turn[which], &time[which], i / 3))
            return false;
    }
    if (!r->unit)
        r->unit = "requests/cpu-s";
    if (theirs) {
        r->ratio = pair(r->clock ? us->rate : us->each,
                        r->clock ? them->rate : them->each, turns, &r->low,
                        &r->high);
        snprintf(r->note, sizeof r->note, "half of the turns %.2f-%.2f",
                 r->low, r->high);
    }
    if (r->limit) {
        const size_t len = strlen(r->note);

        r->limit_ratio = pair(time[2].each, them->each, turns, NULL, NULL);
        snprintf(r->note + len, sizeof r->note - len,
                 "; a bare epoll loop: %.2f x %s, ours is %.2f of it",
                 r->limit_ratio, r->peer,
                 pair(us->each, time[2].each, turns, NULL, NULL));
        r->limit_each = factor * bench_median(time[2].each, turns);
    }
    r->ours_each = factor * bench_median(us->each, turns);
    r->ours_rate = factor * bench_median(us->rate, turns);
    r->theirs_each = theirs ? factor * bench_median(them->each, turns) : NAN;
    r->theirs_rate = theirs ? factor * bench_median(them->rate, turns) : NAN;
    r->ours = r->clock ? r->ours_rate : r->ours_each;
    r->theirs = r->clock ? r->theirs_rate : r->theirs_each;
    if (r->clock)
        snprintf(r->note, sizeof r->note, "%.2f M/cpu-s", r->ours_each / 1e6);
    return true;
}

bool row_turns(const struct load_options *s, struct serve_row *r,
               const struct serve_turn *ours, const struct serve_turn *theirs)
{
    bool good = row_fill(s, r, ours, theirs);

    if (good)
        row_show(s, r);
    return good;
}

/* --- options --- */

static const char about[] =
    "The server beside nginx and redis-server, on loopback: what each answers "
    "per second\nof its CPU time, and how soon.\n";

static const struct option options[] = {
#define AT(name) offsetof(struct load_options, name)
    { "capacity", 0, COUNT, "N", AT(capacity),
      "of the filters (default 800M, at 1 %: 1 GB)" },
    { "seconds", 0, COUNT, "N", AT(seconds), "of every load (default 2)" },
    { "threads", 0, COUNT, "N", AT(threads), "of every server (default 1)" },
    { "turns", 0, COUNT, "N", AT(turns),
      "of every server, alternating (default 7)" },
    { "only", 0, TEXT, "NAME", AT(only), "rows whose names begin so" },
    { "json", 0, FLAG, NULL, AT(json), "a JSON object per row" },
    { "help", 0, FLAG, NULL, AT(help), "print this" },
    { .name = NULL },
#undef AT
};

/* What --help prints behind the options. */
static void print_rows(void)
{
    putchar('\n');
    for (size_t i = 0; i < ROWS; i++)
        printf("  %-12s %s\n", rows[i].name, rows[i].what);
    puts("\nThe loads are made by redis-benchmark and a client of our own. "
         "Rows whose tools\nare not installed are left out. What is measured "
         "is the program $SEEN, or the one\nbeside seen-bench.");
}

static const char *fault(const struct load_options *s)
{
    return s->capacity < 1000 || s->capacity > 100000000000
               ? "--capacity takes a number from 1000 to 100G"
           : s->seconds > 60       ? "--seconds takes a number up to 60"
           : s->threads > 64       ? "--threads takes a number up to 64"
           : s->turns > MOST_TURNS ? "--turns takes a number up to 99"
                                   : NULL;
}

static bool wanted(const struct load_options *s, size_t i)
{
    return !s->only || !strncmp(rows[i].name, s->only, strlen(s->only));
}

static bool has_tools(size_t i)
{
    bool all = true;

    for (int j = 0; j < 2; j++)
        all = (!rows[i].needs[j] || process_find(rows[i].needs[j])) && all;
    return all;
}

static int run_rows(void *with)
{
    const struct load_options *s = with;
    struct rlimit files;
    int status = 0;

    if (!getrlimit(RLIMIT_NOFILE, &files)) {
        const struct rlimit more = { MANY_FILES, MANY_FILES };

        /* The servers inherit it. */
        files.rlim_cur = files.rlim_max;
        if (files.rlim_max >= MANY_FILES || setrlimit(RLIMIT_NOFILE, &more))
            setrlimit(RLIMIT_NOFILE, &files);
    }
    if (!process_room(s->capacity * 2 * 3 + (UINT64_C(64) << 20)))
        return 2;
    if (!s->json)
        show_title();
    for (size_t i = 0; i < ROWS; i++) {
        if (!wanted(s, i))
            continue;
        if (!has_tools(i)) {
            fprintf(stderr, "seen: bench: %s is left out\n", rows[i].name);
        } else if (!rows[i].run(s)) {
            fprintf(stderr, "seen: bench: %s failed\n", rows[i].name);
            status = 2;
        }
    }
    return status;
}

int bench_serve(char **argv)
{
    struct load_options s = {
        .capacity = 800000000, .seconds = 2, .threads = 1, .turns = 7
    };
    const char *wrong;
    bool any = false;
    int status;

    if (!bench_options(options, "serve", about, &s, &s.help, argv, &status)) {
        if (s.help && !status)
            print_rows();
        return status;
    }
    wrong = fault(&s);
    if (wrong) {
        fprintf(stderr, "seen: bench: %s\n", wrong);
        return 2;
    }
    for (size_t i = 0; i < ROWS; i++)
        any = any || wanted(&s, i);
    if (!any) {
        fprintf(stderr, "seen: bench: there is no row named %s\n", s.only);
        return 2;
    }
    return process_seen(s.seen) ? process_guard(run_rows, &s, "/tmp") : 2;
}
