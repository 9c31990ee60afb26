/*
 * cdx.c - seen bench cdx: how fast does an archive's index become a filter?
 *
 * Made-up indexes (corpus.c) are written chunk by chunk to a folder of
 * $TMPDIR, where the page cache has them, and each chunk is read by `wc -l`
 * (of gzip: by `igzip -d`) and by us, one after the other. So any size can
 * be measured, up to the 180,379,433 lines of the archives report, in the
 * space of one chunk. What is timed is reading, keying and building; at the
 * end, what it takes to finish the filter. What is not: making the chunks.
 *
 * wc has one core and so has igzip; what they are compared with is told for
 * all of our threads together, and for gzip a thread. On a machine that has
 * other work to do, the processor time tells more than the clock: the second
 * ratio is what the first would be if nobody else had been there.
 */
#define _DEFAULT_SOURCE /* mkdtemp */
#include "cdx.h"

#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { LANES = 64 }; /* threads, at most */

static const uint64_t paper_lines = 180379433;

/* --- showing --- */

static void show_row(const struct row *r, const struct settings *s)
{
    double took = r->read + r->finish, bytes = (double)r->bytes;
    double ratio = r->other > 0 ? r->other / took : 0;
    double beyond = (double)r->memory - (double)r->cells;

    if (r->as == CORPUS_GZIP)
        ratio /= s->threads;
    if (s->json) {
        printf("{\"bench\": \"cdx\", \"input\": \"%s\", \"lines\": %llu, "
               "\"urls\": %llu, \"threads\": %u, \"bytes\": %llu, "
               "\"stored\": %llu, \"seconds\": %.4f, \"lines_per_second\": "
               "%.0f, \"bytes_per_second\": %.0f, \"peer\": \"%s\", "
               "\"peer_seconds\": %.4f, \"ratio\": %.3f, "
               "\"processor_seconds\": %.4f, \"peer_processor_seconds\": "
               "%.4f, \"kind\": \"%s\", "
               "\"filter_bytes\": %llu, \"rate\": %.6f, "
               "\"memory_beyond\": %.0f}\n",
               r->name, (unsigned long long)r->lines,
               (unsigned long long)r->urls, s->threads,
               (unsigned long long)r->bytes, (unsigned long long)r->stored,
               took, (double)r->lines / took, bytes / took, r->peer,
               r->other > 0 ? r->other : 0, ratio, r->spent, r->other_spent,
               s->plan.kind, (unsigned long long)r->cells, r->rate, beyond);
        return;
    }
    printf("%-6s %11llu %9.2f s %7.1f M %7.2f  %6.2f x %-9s %5.0f ns %6.2f x "
           "%6.0f MB %7.3f %%\n",
           r->name, (unsigned long long)r->lines, took,
           (double)r->lines / took / 1e6, bytes / took / 1e9, ratio, r->peer,
           1e9 * r->spent / (double)r->lines,
           r->other_spent / r->spent * (r->as == CORPUS_GZIP ? 1 : s->threads),
           beyond / 1e6, 100 * r->rate);
}

/* Table 1 of the archives report, and this run beside it. */
static void show_paper(const struct row *r, const struct settings *s)
{
    static const char *const table[][5] = {
        { "ingested entries", "180379433", "180379433", "180379433",
          "180379433" },
        { "time to ingest, s", "7273.6", "10759.2", "1382.7", "1505.5" },
        { "size, MB", "246", "246", "246", "246" },
        { "query, ms", "0.033", "0.051", "0.0008", "0.0008" },
        { "rate, %", "0.66", "0.66", "0.66", "0.66" },
        { "serialise, s", "16.8", "17.8", "2.6", "3.4" },
    };
    double ours[] = { (double)r->urls,        r->read + r->finish,
                      (double)r->cells / 1e6, 1e3 * r->question,
                      100 * r->rate,          r->save };

    if (s->json)
        return;
    printf("\n%-18s %11s %11s %11s %11s %14s\n", "Table 1", "Redis LANL",
           "Redis HAW", "memory LANL", "memory HAW", "seen, here");
    for (int i = 0; i < 6; i++)
        printf("%-18s %11s %11s %11s %11s %14.*f\n", table[i][0], table[i][1],
               table[i][2], table[i][3], table[i][4],
               i == 3            ? 6
               : i == 0          ? 0
               : i == 1 || i > 3 ? 2
                                 : 0,
               ours[i]);
    if (s->lines != paper_lines)
        printf("(with %llu lines instead of the report's; a whole run takes "
               "--paper alone)\n",
               (unsigned long long)s->lines);
    puts("serialise: theirs is text, ours the file, flushed to disk");
}

/* --- settings --- */

static bool number_of(const char *text, uint64_t *n)
{
    char *end;
    double x = strtod(text, &end);
    static const char suffix[] = "kMG";

    if (*end && strchr(suffix, *end)) {
        for (long i = strchr(suffix, *end) - suffix; i >= 0; i--)
            x *= 1000;
        end++;
    }
    if (*end || !(x >= 1 && x < 1e15))
        return false;
    *n = (uint64_t)x;
    return true;
}

static int usage(void)
{
    puts("Usage: seen bench cdx [OPTION]...\n\n"
         "  --lines N      how many lines (default 12M; the report's: "
         "180379433)\n"
         "  --captures K   captures of each URL (default 3)\n"
         "  --capacity N   of the filter (default: the URLs, at least 100M)\n"
         "  --kind KIND    of the filter (default blocked)\n"
         "  --probes N, --bits N\n"
         "  --threads N    default: one a processor\n"
         "  --only NAME    plain, gzip or cdxj\n"
         "  --paper        the case of the archives report beside its Table "
         "1:\n"
         "                 plain, distinct URLs, bloom, 5 probes, 1968000000 "
         "bits\n"
         "  --json         a JSON object a row");
    return 0;
}

static bool read_settings(struct settings *s, char **argv)
{
    uint64_t threads = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN), n;
    bool lines = false;

    strcpy(s->plan.kind, "blocked");
    strcpy(s->plan.profile, "surt");
    s->lines = 12000000;
    s->captures = 3;
    for (; *argv; argv++) {
        uint64_t *to = NULL;

        if (!strcmp(*argv, "--json")) {
            s->json = true;
        } else if (!strcmp(*argv, "--paper")) {
            s->paper = true;
        } else if (!argv[1]) {
            return false;
        } else if (!strcmp(*argv, "--only")) {
            s->only = *++argv;
        } else if (!strcmp(*argv, "--kind")) {
            snprintf(s->plan.kind, sizeof s->plan.kind, "%s", *++argv);
        } else {
            to = !strcmp(*argv, "--lines")      ? &s->lines
                 : !strcmp(*argv, "--captures") ? &s->captures
                 : !strcmp(*argv, "--capacity") ? &s->capacity
                 : !strcmp(*argv, "--bits")     ? &s->plan.bits
                 : !strcmp(*argv, "--threads")  ? &threads
                 : !strcmp(*argv, "--probes")   ? &n
                                                : NULL;
            lines |= to == &s->lines;
            if (!to || !number_of(*++argv, to))
                return false;
            if (to == &n)
                s->plan.probes = (unsigned)n;
        }
    }
    s->threads = threads < LANES ? (unsigned)threads : LANES;
    if (s->paper) {
        s->only = "plain";
        s->captures = 1;
        s->lines = lines ? s->lines : paper_lines;
        strcpy(s->plan.kind, "bloom");
        s->plan.probes = 5;
        s->plan.bits = 1968000000;
        s->plan.over = true;
        s->plan.capacity = 200000000;
    } else {
        n = s->lines / s->captures + 1;
        s->plan.capacity = s->capacity     ? s->capacity
                           : n > 100000000 ? n
                                           : 100000000;
        if (!s->plan.bits)
            s->plan.rate = 0.01;
    }
    return true;
}

static bool enough_room(const char *folder, const struct settings *s)
{
    struct statvfs disk;
    uint64_t lines = s->lines < CHUNK_LINES ? s->lines : CHUNK_LINES;
    uint64_t need = lines * 400 + (UINT64_C(1) << 30);

    if (statvfs(folder, &disk) || disk.f_bavail * disk.f_frsize > need)
        return true;
    fprintf(stderr, "seen: bench: %s has no room for %llu MB; set TMPDIR\n",
            folder, (unsigned long long)need / 1000000);
    return false;
}

int bench_cdx(char **argv)
{
    struct row rows[] = {
        { .name = "plain", .as = CORPUS_CDX, .peer = "wc -l" },
        { .name = "gzip", .as = CORPUS_GZIP, .peer = "igzip -d" },
        { .name = "cdxj", .as = CORPUS_CDXJ, .peer = "wc -l" },
    };
    struct settings s = { .threads = 0 };
    const char *temp = getenv("TMPDIR");
    char folder[256];
    int status = 0;

    if (*argv && !strcmp(*argv, "--help"))
        return usage();
    if (!read_settings(&s, argv)) {
        fputs("seen: bench: see seen bench cdx --help\n", stderr);
        return 2;
    }
    snprintf(folder, sizeof folder, "%s/seen-bench-XXXXXX",
             temp && *temp ? temp : "/tmp");
    if (!mkdtemp(folder) || !enough_room(folder, &s)) {
        rmdir(folder);
        return 2;
    }
    if (!s.json)
        printf("%s, %u threads, %llu captures a URL\n%-6s %11s %11s %9s %7s  "
               "%18s %17s %9s %9s\n",
               s.plan.kind, s.threads, (unsigned long long)s.captures, "input",
               "lines", "time", "lines/s", "GB/s", "against",
               "processor a line", "beyond", "rate");
    for (int i = 0; i < 3 && !status; i++) {
        if (s.only && strcmp(s.only, rows[i].name))
            continue;
        if (!cdx_measure(&rows[i], &s, folder))
            status = 2;
        else
            show_row(&rows[i], &s);
        if (s.paper && !status)
            show_paper(&rows[i], &s);
    }
    rmdir(folder);
    return status;
}
