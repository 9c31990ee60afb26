/*
 * cdx.c - seen bench cdx: how fast does an archive's index become a filter?
 *
 * Made-up indexes (index.c) are written chunk by chunk to a folder of
 * $TMPDIR, where the page cache has them, and each chunk is read by `wc -l`
 * (of gzip: by `igzip -d`) and by us, one after the other. So any size can
 * be measured, up to the 180,379,433 lines of the archives report, in the
 * space of one chunk. What is timed is reading, keying and building; at the
 * end, what it takes to finish the filter. What is not: making the chunks.
 *
 * wc and igzip use one CPU; they are compared with all of our threads
 * together, and for gzip with one thread. On a busy machine CPU time says more
 * than the clock: the second ratio is what the first would be on an idle
 * machine.
 */
#include "cdx.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "process.h"

enum { LANES = 64 }; /* threads, at most */

static const uint64_t paper_lines = 180379433;

/* --- showing --- */

static void show_row(const struct cdx_row *r, const struct cdx_options *s)
{
    double took = r->read + r->finish, bytes = (double)r->bytes;
    double ratio = r->other > 0 ? r->other / took : 0;
    double beyond = (double)r->memory - (double)r->cells;

    if (r->as == INDEX_GZIP)
        ratio /= (double)s->threads;
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
               (unsigned long long)r->urls, (unsigned)s->threads,
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
           r->other_spent / r->spent *
               (r->as == INDEX_GZIP ? 1 : (double)s->threads),
           beyond / 1e6, 100 * r->rate);
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
      "of the filter (default: the URLs, at least 100M)" },
    { "kind", 0, TEXT, "KIND", AT(kind), "of the filter (default blocked)" },
    { "probes", 0, COUNT, "N", AT(probes), "of the filter" },
    { "bits", 0, COUNT, "N", AT(bits), "of the filter" },
    { "threads", 0, COUNT, "N", AT(threads), "default: one per CPU" },
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
    uint64_t urls;

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
    if (!s->lines)
        s->lines = s->paper ? paper_lines : 12000000;
    urls = s->lines / s->captures + 1;
    snprintf(s->plan.kind, sizeof s->plan.kind, "%s", s->kind);
    strcpy(s->plan.profile, "surt");
    s->plan.bits = s->bits;
    s->plan.probes = (unsigned)s->probes;
    s->plan.capacity = s->capacity        ? s->capacity
                       : urls > 100000000 ? urls
                                          : 100000000;
    if (!s->bits)
        s->plan.rate = 0.01;
}

static int run_rows(void *with)
{
    struct cdx_options *s = with;
    struct cdx_row rows[] = {
        { .name = "plain", .as = INDEX_CDX, .peer = "wc -l" },
        { .name = "gzip", .as = INDEX_GZIP, .peer = "igzip -d" },
        { .name = "cdxj", .as = INDEX_CDXJ, .peer = "wc -l" },
    };
    uint64_t lines = s->lines < CHUNK_LINES ? s->lines : CHUNK_LINES;

    if (!process_room(lines * 400 + (UINT64_C(1) << 30)))
        return 2;
    if (!s->json)
        bench_show_cpu();
    if (!s->json)
        printf("%s, %u threads, %llu captures per URL\n%-6s %11s %11s %9s "
               "%7s  %18s %17s %9s %9s\n",
               s->plan.kind, (unsigned)s->threads,
               (unsigned long long)s->captures, "input", "lines", "time",
               "lines/s", "GB/s", "against", "CPU per line", "beyond", "rate");
    for (int i = 0; i < 3; i++) {
        if (s->only && strcmp(s->only, rows[i].name))
            continue;
        if (!bench_cdx_measure(&rows[i], s))
            return 2;
        show_row(&rows[i], s);
        if (s->paper)
            show_paper(&rows[i], s);
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
