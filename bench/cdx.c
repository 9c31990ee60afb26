/*
 * cdx.c - seen bench cdx: how fast does an archive's index become a filter?
 *
 * Made-up indexes (index.c) are written chunk by chunk to a folder of
 * $TMPDIR, where the page cache has them, and each chunk is read by `wc -l`
 * (of gzip: by `igzip -d`), by us, and by the former again. So any size can
 * be measured, up to the 180,379,433 lines of the archives report, in the
 * space of one chunk. What is timed is reading, keying and building; at the
 * end, what it takes to finish the filter. What is not: making the chunks.
 *
 * The rows take turns; the median of their ratios is shown, and the spread. The
 * output of igzip goes to /dev/null.
 *
 * Without a capacity the filter is made as `seen build` makes it: keys are kept,
 * and it gets the size of their number. `seen bench typed` has whole commands.
 *
 * wc and igzip use one CPU; by the clock they are compared with all of our
 * threads. By CPU time they are compared with the sum of all threads: so both
 * columns together say what parallel work gains and what it costs. On a busy
 * machine only CPU time means something. System time is the kernel's: copies
 * out of the page cache, and memory that is cleared.
 */
#include "cdx.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seen/kind.h>

#include "process.h"

enum {
    LANES = 64, /* threads, at most */
    TURNS = 25, /* likewise */
    ROWS = 3
};

static const uint64_t paper_lines = 180379433;

/* --- showing --- */

static double spent(const struct cdx_cpu *c)
{
    return c->user + c->system;
}

/* How fast something of ours that took `seconds` is beside the peer, which took
   `other`; 0 if that failed. */
static double beside(double other, double seconds)
{
    return other > 0 ? other / seconds : 0;
}

static double ratio_of(const struct cdx_row *r)
{
    return beside(r->other, r->read + r->finish);
}

/* The same by CPU time, of all threads together. */
static double cpu_ratio(const struct cdx_row *r, const struct cdx_cpu *ours)
{
    return beside(spent(&r->other_cpu), spent(ours));
}

static void show_row(const struct cdx_row *r, const struct cdx_options *s)
{
    double took = r->read + r->finish, bytes = (double)r->bytes;
    double ratio = ratio_of(r);
    double beyond = (double)r->memory - (double)r->cells;
    double ns = 1e9 / (double)r->lines;

    if (s->json) {
        printf("{\"bench\": \"cdx\", \"input\": \"%s\", \"lines\": %llu, "
               "\"urls\": %llu, \"threads\": %u, \"bytes\": %llu, "
               "\"stored\": %llu, \"seconds\": %.4f, \"lines_per_second\": "
               "%.0f, \"bytes_per_second\": %.0f, \"peer\": \"%s\", "
               "\"peer_seconds\": %.4f, \"ratio\": %.3f, \"ratio_low\": %.3f, "
               "\"ratio_high\": %.3f, \"turns\": %u, "
               "\"processor_seconds\": %.4f, \"system_seconds\": %.4f, "
               "\"peer_processor_seconds\": %.4f, "
               "\"peer_system_seconds\": %.4f, \"reading_seconds\": %.4f, "
               "\"reading_processor_seconds\": %.4f, "
               "\"processor_ratio\": %.3f, \"cpu\": \"%s\", "
               "\"simd\": \"%s\", \"kind\": \"%s\", "
               "\"filter_bytes\": %llu, \"rate\": %.6f, "
               "\"memory_beyond\": %.0f}\n",
               r->name, (unsigned long long)r->lines,
               (unsigned long long)r->urls, (unsigned)s->threads,
               (unsigned long long)r->bytes, (unsigned long long)r->stored,
               took, (double)r->lines / took, bytes / took, r->peer,
               r->other > 0 ? r->other : 0, ratio, r->low, r->high,
               (unsigned)s->turns, spent(&r->cpu), r->cpu.system,
               spent(&r->other_cpu), r->other_cpu.system, r->alone,
               spent(&r->alone_cpu), cpu_ratio(r, &r->cpu), bench_cpu(),
               seen_simd(), s->plan.kind, (unsigned long long)r->cells,
               r->rate, beyond);
        return;
    }
    printf("%-6s %11llu %8.2f s %7.1f M %6.2f %6.2f x %-9s %.2f-%.2f "
           "%5.0f + %-4.0f %5.2f x %5.2f x %4.0f + %-3.0f %5.2f x %4.0f + "
           "%-3.0f %5.0f MB %6.3f %%\n",
           r->name, (unsigned long long)r->lines, took,
           (double)r->lines / took / 1e6, bytes / took / 1e9, ratio, r->peer,
           r->low, r->high, ns * r->cpu.user, ns * r->cpu.system,
           cpu_ratio(r, &r->cpu), beside(r->other, r->alone),
           ns * r->alone_cpu.user, ns * r->alone_cpu.system,
           cpu_ratio(r, &r->alone_cpu), ns * r->other_cpu.user,
           ns * r->other_cpu.system, beyond / 1e6, 100 * r->rate);
}

/* Table 1 of the archives report, and this run beside it. */
static void show_paper(const struct cdx_row *r, const struct cdx_options *s)
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

/* --- options --- */

static const char about[] =
    "An archive's index into a filter, beside wc and igzip.\n";

static const struct option options[] = {
#define AT(name) offsetof(struct cdx_options, name)
    { "lines", 0, COUNT, "N", AT(lines),
      "how many lines (default 12M; the report's: 180379433)" },
    { "captures", 0, COUNT, "K", AT(captures),
      "captures of each URL (default 3)" },
    { "capacity", 0, COUNT, "N", AT(capacity),
      "of the filter (default: they are counted, as in seen build)" },
    { "kind", 0, TEXT, "KIND", AT(kind), "of the filter (default blocked)" },
    { "probes", 0, COUNT, "N", AT(probes), "of the filter" },
    { "bits", 0, COUNT, "N", AT(bits), "of the filter" },
    { "threads", 0, COUNT, "N", AT(threads), "default: one per CPU" },
    { "turns", 0, COUNT, "N", AT(turns),
      "of each row, of which the median is shown (default 3)" },
    { "only", 0, TEXT, "plain|gzip|cdxj", AT(only), "only this row" },
    { "paper", 0, FLAG, NULL, AT(paper),
      "the case of the archives report beside its Table 1: plain, distinct "
      "URLs,\n                   bloom, 5 probes, 1968000000 bits" },
    { "json", 0, FLAG, NULL, AT(json), "a JSON object per row" },
    { "help", 0, FLAG, NULL, AT(help), "print this" },
    { .name = NULL },
#undef AT
};

/* The plan, and what was not given. */
static void complete(struct cdx_options *s)
{
    if (s->threads > LANES)
        s->threads = LANES;
    if (s->paper) {
        s->only = "plain";
        s->captures = 1;
        s->kind = "bloom";
        s->probes = 5;
        s->bits = 1968000000;
        s->capacity = 200000000;
        s->plan.over = true;
    }
    if (!s->turns)
        s->turns = s->paper ? 1 : 3;
    if (s->turns > TURNS)
        s->turns = TURNS;
    if (!s->lines)
        s->lines = s->paper ? paper_lines : 12000000;
    snprintf(s->plan.kind, sizeof s->plan.kind, "%s", s->kind);
    strcpy(s->plan.profile, "surt");
    s->plan.bits = s->bits;
    s->plan.probes = (unsigned)s->probes;
    s->plan.capacity = s->capacity;
    if (!s->bits)
        s->plan.rate = 0.01;
}

static void show_head(const struct cdx_options *s)
{
    bench_show_cpu();
    printf(
        "SIMD: %s; %s, %u threads, %llu captures per URL, median of %u turns\n"
        "CPU is user + system ns per line; reading is without a filter; "
        "x is the ratio to the peer, by the clock and by CPU\n"
        "%-6s %11s %10s %9s %6s %18s %9s %12s %7s %17s %9s %10s %8s "
        "%8s\n",
        seen_simd(), s->plan.kind, (unsigned)s->threads,
        (unsigned long long)s->captures, (unsigned)s->turns, "input", "lines",
        "time", "lines/s", "GB/s", "against", "spread", "CPU", "x",
        "reading x CPU", "x", "peer CPU", "beyond", "rate");
}

/* The turn of a row whose ratio is the median, with the spread of them all. */
static struct cdx_row *median_turn(struct cdx_row *turn,
                                   const struct cdx_options *s)
{
    double ratio[TURNS], median;
    size_t best = 0;

    for (size_t i = 0; i < s->turns; i++)
        ratio[i] = ratio_of(&turn[i]);
    median = bench_median(ratio, s->turns); /* which sorts them */
    for (size_t i = 1; i < s->turns; i++)
        if (fabs(ratio_of(&turn[i]) - median) <
            fabs(ratio_of(&turn[best]) - median))
            best = i;
    turn[best].low = ratio[0];
    turn[best].high = ratio[s->turns - 1];
    return &turn[best];
}

static int run_rows(void *with)
{
    static const struct cdx_row rows[ROWS] = {
        { .name = "plain", .as = INDEX_CDX, .peer = "wc -l" },
        { .name = "gzip", .as = INDEX_GZIP, .peer = "igzip -d" },
        { .name = "cdxj", .as = INDEX_CDXJ, .peer = "wc -l" },
    };
    static struct cdx_row turn[ROWS][TURNS];
    struct cdx_options *s = with;
    uint64_t lines = s->lines < CHUNK_LINES ? s->lines : CHUNK_LINES;

    if (!process_room(lines * 400 + (UINT64_C(1) << 30)))
        return 2;
    for (size_t t = 0; t < s->turns; t++)
        for (int i = 0; i < ROWS; i++) {
            turn[i][t] = rows[i];
            if ((!s->only || !strcmp(s->only, rows[i].name)) &&
                !bench_cdx_measure(&turn[i][t], s))
                return 2;
        }
    if (!s->json)
        show_head(s);
    for (int i = 0; i < ROWS; i++) {
        struct cdx_row *r = median_turn(turn[i], s);

        if (s->only && strcmp(s->only, r->name))
            continue;
        show_row(r, s);
        if (s->paper)
            show_paper(r, s);
    }
    return 0;
}

int bench_cdx(char **argv)
{
    struct cdx_options s = { .captures = 3, .kind = "blocked" };
    int status;

    s.threads = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
    if (!bench_options(options, "cdx", about, &s, &s.help, argv, &status))
        return status;
    complete(&s);
    return process_guard(run_rows, &s, "/tmp");
}
