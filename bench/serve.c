/*
 * serve.c - seen bench serve: how does the server do, beside good ones?
 *
 * Servers are started on loopback, ours and a peer, and loaded in turns; a
 * figure is the median of its turns. Client and server share the machine, so
 * the clock tells little: what counts is how many requests a server answers
 * in a second of its processor time, read from /proc before and after each
 * load. With threads, that is the sum of all of them.
 */
#define _GNU_SOURCE
#include "serve.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

static const struct {
    const char *name, *what;
    bool (*run)(const struct settings *s);
    const char *needs[2]; /* programs */
} rows[] = {
    { "http",
      "lookups on 64 connections, against nginx's return 200",
      row_http,
      { "wrk", "nginx" } },
    { "http-16",
      "the same, 16 requests at a time on each",
      row_pipelined,
      { "wrk", "nginx" } },
    { "exists-64",
      "BF.EXISTS, 64 at a time on 50 connections, against GETBIT",
      row_exists,
      { "redis-benchmark", "redis-server" } },
    { "exists-1",
      "the same, one at a time",
      row_exists_one,
      { "redis-benchmark", "redis-server" } },
    { "sets",
      "BF.ADD and BF.EXISTS against SADD and SISMEMBER; memory of both",
      row_sets,
      { "redis-benchmark", "redis-server" } },
    { "mexists",
      "BF.MEXISTS with 100 URLs a command",
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

static double judged(const struct row *r)
{
    return r->alone ? r->ours : r->ours / r->theirs;
}

static bool missed(const struct row *r)
{
    return !isnan(r->asked) &&
           (r->most ? !(judged(r) <= r->asked) : !(judged(r) >= r->asked));
}

static void show_title(void)
{
    printf("%-15s %-20s %9s %9s %-15s %6s %9s %6s %9s %9s\n", "row", "unit",
           "ours", "peer", "", "ratio", "asked", "", "ours/s", "peer/s");
}

static void number(const char *name, double x)
{
    if (isfinite(x))
        printf("\"%s\": %.10g, ", name, x);
    else
        printf("\"%s\": null, ", name);
}

static void show_json(const struct settings *s, const struct row *r)
{
    printf("{\"bench\": \"serve\", \"row\": \"%s\", \"unit\": \"%s\", ",
           r->name, r->unit);
    number("ours", r->ours);
    if (r->peer)
        printf("\"peer\": \"%s\", ", r->peer);
    else
        printf("\"peer\": null, ");
    number("theirs", r->theirs);
    number("ratio", r->ours / r->theirs);
    number("ours_per_second", r->ours_rate);
    number("theirs_per_second", r->theirs_rate);
    number("ours_per_cpu_second", r->ours_each > 0 ? r->ours_each : NAN);
    number("theirs_per_cpu_second", r->theirs_each > 0 ? r->theirs_each : NAN);
    printf("\"asked_of\": \"%s\", ", r->alone ? "ours" : "ratio");
    number(r->most ? "at_most" : "at_least", r->asked);
    printf("\"missed\": %s, \"note\": \"%s\", \"capacity\": %llu, "
           "\"threads\": %u}\n",
           missed(r) ? "true" : "false", r->note,
           (unsigned long long)s->capacity, s->threads);
}

void show(const struct settings *s, const struct row *r)
{
    char a[16], b[16], c[16], d[16], ratio[16] = "-", asked[24] = "-", e[16];

    if (s->json) {
        show_json(s, r);
        fflush(stdout);
        return;
    }
    if (isfinite(r->ours / r->theirs))
        snprintf(ratio, sizeof ratio, "%.2f", r->ours / r->theirs);
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

struct turns {
    double each[TURNS], rate[TURNS]; /* per second of processor, of clock */
};

static bool take(const struct settings *s, const struct turn *t,
                 struct turns *of, int i)
{
    struct load load;

    if (!t->run(s, t->peer, t->with, &load))
        return false;
    of->rate[i] = load.requests / load.seconds;
    of->each[i] = load.spent > 0 ? load.requests / load.spent : NAN;
    return true;
}

bool fill_turns(const struct settings *s, struct row *r,
                const struct turn *ours, const struct turn *theirs)
{
    double factor = r->factor > 0 ? r->factor : 1;
    struct turns us, them;

    for (int i = 0; i < TURNS; i++)
        if (!take(s, ours, &us, i) || (theirs && !take(s, theirs, &them, i)))
            return false;
    if (!r->unit)
        r->unit = "requests/cpu-s";
    r->ours_each = factor * median(us.each, TURNS);
    r->ours_rate = factor * median(us.rate, TURNS);
    r->theirs_each = theirs ? factor * median(them.each, TURNS) : NAN;
    r->theirs_rate = theirs ? factor * median(them.rate, TURNS) : NAN;
    r->ours = r->clock ? r->ours_rate : r->ours_each;
    r->theirs = r->clock ? r->theirs_rate : r->theirs_each;
    if (r->clock)
        snprintf(r->note, sizeof r->note, "%.2f M/cpu-s", r->ours_each / 1e6);
    return true;
}

bool show_turns(const struct settings *s, struct row *r,
                const struct turn *ours, const struct turn *theirs)
{
    bool good = fill_turns(s, r, ours, theirs);

    if (good)
        show(s, r);
    return good;
}

/* --- settings --- */

static int usage(void)
{
    puts("Usage: seen bench serve [OPTION]...\n"
         "The server beside nginx and redis-server, on loopback: what each "
         "answers in a\nsecond of its processor time, and how soon.\n\n"
         "  --capacity N   of the filters (default 800M, at 1 %: 1 GB)\n"
         "  --seconds N    of every load (default 3)\n"
         "  --threads N    of every server (default 1)\n"
         "  --only NAME    rows whose names begin so\n"
         "  --json         a JSON object a row\n"
         "  --help         print this\n");
    for (size_t i = 0; i < ROWS; i++)
        printf("  %-12s %s\n", rows[i].name, rows[i].what);
    puts("\nThe loads are made by wrk, redis-benchmark and a client of our "
         "own. Rows whose\ntools are not installed are left out. What is "
         "measured is the program $SEEN, or\nthe one beside seen-bench.");
    return 0;
}

static bool number_of(const char *text, double most, double *to)
{
    static const char suffix[] = "kMG";
    char *end;

    *to = strtod(text, &end);
    if (*end && strchr(suffix, *end)) {
        for (long i = strchr(suffix, *end) - suffix; i >= 0; i--)
            *to *= 1000;
        end++;
    }
    return end != text && !*end && *to >= 1 && *to <= most;
}

static bool read_settings(struct settings *s, char **argv)
{
    double x;

    for (; *argv; argv++) {
        if (!strcmp(*argv, "--json")) {
            s->json = true;
            continue;
        }
        if (!argv[1])
            return false;
        if (!strcmp(*argv, "--only")) {
            s->only = *++argv;
        } else if (!strcmp(*argv, "--capacity")) {
            if (!number_of(*++argv, 1e11, &x) || x < 1000)
                return false;
            s->capacity = (uint64_t)x;
        } else if (!strcmp(*argv, "--seconds")) {
            if (!number_of(*++argv, 60, &s->seconds))
                return false;
        } else if (!strcmp(*argv, "--threads")) {
            if (!number_of(*++argv, 64, &x))
                return false;
            s->threads = (unsigned)x;
        } else {
            return false;
        }
    }
    return true;
}

static bool wanted(const struct settings *s, size_t i)
{
    return !s->only || !strncmp(rows[i].name, s->only, strlen(s->only));
}

static bool has_tools(size_t i)
{
    bool all = true;

    for (int j = 0; j < 2; j++)
        all = (!rows[i].needs[j] || keep_tool(rows[i].needs[j])) && all;
    return all;
}

/* $SEEN, or what is beside this program. */
static bool find_seen(struct settings *s)
{
    const char *given = getenv("SEEN");
    ssize_t len;
    char *slash;

    if (given && *given) {
        snprintf(s->seen, sizeof s->seen, "%s", given);
    } else {
        len = readlink("/proc/self/exe", s->seen, sizeof s->seen - 8);
        s->seen[len > 0 ? len : 0] = '\0';
        slash = strrchr(s->seen, '/');
        if (slash)
            strcpy(slash + 1, "seen");
    }
    if (!access(s->seen, X_OK))
        return true;
    fprintf(stderr, "seen: bench: %s: not found; set SEEN\n", s->seen);
    return false;
}

static bool enough_room(const struct settings *s)
{
    uint64_t need = s->capacity * 2 * 3 + (UINT64_C(64) << 20);
    struct statvfs disk;

    if (statvfs(s->folder, &disk) || disk.f_bavail * disk.f_frsize > need)
        return true;
    fprintf(stderr, "seen: bench: %s has no room for %llu MB; set TMPDIR\n",
            s->folder, (unsigned long long)need / 1000000);
    return false;
}

static int run_rows(struct settings *s)
{
    struct rlimit files;
    int status = 0;

    if (!getrlimit(RLIMIT_NOFILE, &files)) {
        const struct rlimit more = { MANY_FILES, MANY_FILES };

        /* The servers inherit it. */
        files.rlim_cur = files.rlim_max;
        if (files.rlim_max >= MANY_FILES || setrlimit(RLIMIT_NOFILE, &more))
            setrlimit(RLIMIT_NOFILE, &files);
    }
    if (!enough_room(s))
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
    struct settings s = { .capacity = 800000000, .seconds = 3, .threads = 1 };
    bool any = false;

    if (*argv && !strcmp(*argv, "--help"))
        return usage();
    if (!read_settings(&s, argv)) {
        fputs("seen: bench: see seen bench serve --help\n", stderr);
        return 2;
    }
    for (size_t i = 0; i < ROWS; i++)
        any = any || wanted(&s, i);
    if (!any) {
        fprintf(stderr, "seen: bench: there is no row named %s\n", s.only);
        return 2;
    }
    if (!find_seen(&s))
        return 2;
    return keep(run_rows, &s);
}
