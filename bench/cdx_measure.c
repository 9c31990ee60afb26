/*
 * cdx_measure.c - an index made, read by a peer, and built into a filter.
 *
 * For each chunk: make it, let the peer read it, build from it, read it without
 * a filter, let the peer read it again. Only that is timed, and finishing the
 * filter at the end; of the peer it is the mean of the two. CPU time is measured
 * over the same parts.
 *
 * Reading alone takes no new memory. A build does, and the host of a virtual
 * machine may have to find it first: that took 8 to 80 ns per byte, where
 * clearing it takes 0.1. For a filter of 124 MB this is more than all the rest.
 */
#include "cdx.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <seen/build.h>
#include <seen/ingest.h>
#include <seen/key_log.h>
#include <seen/store.h>

#include "process.h"

enum {
    ASK = 4000000,  /* questions about what is not there */
    KEPT = 64000000 /* bytes of keys in memory, as in seen build */
};

/* --- reading and building --- */

/* What keys come to: a log if their number is not known, else a builder. */
struct cdx_fill {
    struct seen_plan plan;
    struct seen_key_log *log;
    struct seen_build *build;
};

static enum seen_code begin(struct cdx_fill *to, const struct cdx_options *s,
                            struct seen_error *why)
{
    const struct seen_key_log_place place = { process_folder(), KEPT };

    to->plan = s->plan;
    if (s->plan.capacity || s->plan.bits)
        return seen_build_new(&to->build, &to->plan, (unsigned)s->threads,
                              why);
    return seen_key_log_new(&to->log, &to->plan, NULL, (unsigned)s->threads,
                            &place, why);
}

static enum seen_code add(void *to, unsigned thread, struct seen_batch *batch,
                          struct seen_error *why)
{
    struct cdx_fill *fill = to;

    return (
        fill->log
            ? seen_key_log_add(fill->log, thread, batch->key, batch->n, why)
            : seen_build_add(fill->build, thread, batch->key, batch->n, why));
}

static enum seen_code flush(void *to, unsigned thread, struct seen_error *why)
{
    struct cdx_fill *fill = to;

    return fill->log ? SEEN_OK : seen_build_flush(fill->build, thread, why);
}

static enum seen_code finish(struct cdx_fill *to, struct seen_filter **out,
                             struct seen_error *why)
{
    struct seen_build *b = to->build;

    if (to->log) {
        seen_key_log_size(to->log, &to->plan);
        return seen_key_log_build(to->log, &to->plan, out, why);
    }
    to->build = NULL;
    return seen_build_finish(b, out, why);
}

static void drop(struct cdx_fill *to)
{
    seen_key_log_free(to->log);
    seen_build_free(to->build);
}

/* For reading alone. */
static enum seen_code ignore(void *to, unsigned thread,
                             struct seen_batch *batch, struct seen_error *why)
{
    (void)to, (void)thread, (void)batch, (void)why;
    return SEEN_OK;
}

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/* Add what this process, or its children, spent so far, `times` over. */
static void add_cpu(struct cdx_cpu *to, int who, double times)
{
    struct rusage u;

    getrusage(who, &u);
    to->user += times * seconds_of(u.ru_utime);
    to->system += times * seconds_of(u.ru_stime);
}

/* Seconds that another program takes to read the file; 0: it failed. */
static double peer(const struct cdx_row *r, const char *path)
{
    const char *wc[] = { "wc", "-l", path, NULL };
    const char *igzip[] = { "igzip", "-d", "-c", path, NULL };
    double seconds;

    return process_run(r->as == INDEX_GZIP ? igzip : wc, NULL, NULL, &seconds)
               ? seconds
               : 0;
}

/* One of the two times that the peer reads a chunk. */
static void run_peer(struct cdx_row *r, const char *path)
{
    double took;

    add_cpu(&r->other_cpu, RUSAGE_CHILDREN, -0.5);
    took = peer(r, path);
    add_cpu(&r->other_cpu, RUSAGE_CHILDREN, 0.5);
    r->other = took > 0 ? r->other + took / 2 : -1e300;
}

/* --- one row --- */

static bool write_chunk(const char *path, struct cdx_row *r, uint64_t from,
                        uint64_t to, uint64_t captures)
{
    FILE *file = fopen(path, "we");
    uint64_t bytes = 0;
    bool good = file && index_write(file, r->as, from, to, captures, &bytes);

    if (file)
        r->stored += (uint64_t)ftell(file);
    r->bytes += bytes;
    if (file && (fflush(file) || fsync(fileno(file)))) /* no writing later */
        good = false;
    if (file && fclose(file))
        good = false;
    return good;
}

static void ask(const struct seen_filter *f, struct cdx_row *r, uint64_t urls)
{
    uint64_t asked = urls < ASK ? urls : ASK, yes = 0;
    struct seen_key key[256];
    char text[256][INDEX_KEY];
    bool seen[256];
    double begun;

    for (uint64_t i = 0; i < asked; i += 256) {
        for (unsigned j = 0; j < 256; j++)
            seen_key_hash(&key[j], text[j], index_key(text[j], urls + i + j));
        seen_filter_has(f, key, 256, seen, NULL);
        for (unsigned j = 0; j < 256; j++)
            yes += seen[j];
    }
    r->rate = (double)yes / (double)((asked + 255) / 256 * 256);
    begun = clock_seconds();
    for (unsigned j = 0; j < 256; j++)
        for (unsigned i = 0; i < 256; i++) /* one by one, as in the report */
            seen_filter_has(f, &key[i ^ j], 1, seen, NULL);
    r->question = (clock_seconds() - begun) / 65536;
}

static bool read_chunk(struct seen_ingest *in, const char *path,
                       double *seconds, struct cdx_cpu *cpu)
{
    double begun = clock_seconds();
    struct seen_error why;
    enum seen_code code;

    add_cpu(cpu, RUSAGE_SELF, -1);
    code = seen_source_open(&in->source, &path, 1, NULL, &why);
    if (code == SEEN_OK)
        code = seen_ingest_run(in, &why);
    seen_source_close(in->source);
    add_cpu(cpu, RUSAGE_SELF, 1);
    *seconds += clock_seconds() - begun;
    if (code != SEEN_OK)
        fprintf(stderr, "seen: bench: %s\n", why.text);
    return code == SEEN_OK;
}

/* As `seen build` reads a file: after the last one each thread fills in the
   keys that it still has. Then the same without a filter. */
static bool read_both_ways(struct cdx_row *r, unsigned threads,
                           const char *path, bool last, struct cdx_fill *to)
{
    struct seen_ingest fill = { .keying.profile = "surt",
                                .threads = threads,
                                .keys = add,
                                .end = last ? flush : NULL,
                                .to = to };
    struct seen_ingest read = { .keying.profile = "surt",
                                .threads = threads,
                                .keys = ignore };
    bool good = read_chunk(&fill, path, &r->read, &r->cpu) &&
                read_chunk(&read, path, &r->alone, &r->alone_cpu);

    r->lines += fill.tally.lines;
    r->urls += fill.tally.urls;
    return good;
}

/* All chunks: made, read by the peer, and added to the filter. */
static bool read_all(struct cdx_row *r, const struct cdx_options *s,
                     struct cdx_fill *to)
{
    unsigned threads = (unsigned)s->threads;
    char path[PATH_ROOM];
    bool good = true;

    process_path(path, "chunk");
    for (uint64_t at = 0; at < s->lines && good; at += CHUNK_LINES) {
        uint64_t end = at + CHUNK_LINES < s->lines ? at + CHUNK_LINES
                                                   : s->lines;

        if (!write_chunk(path, r, at, end, s->captures)) {
            perror("seen: bench");
            return false;
        }
        run_peer(r, path);
        good = read_both_ways(r, threads, path, end == s->lines, to);
        run_peer(r, path);
        if (!s->json)
            fprintf(stderr, "\r\033[K%s %llu", r->name,
                    (unsigned long long)end);
    }
    if (!s->json)
        fputs("\r\033[K", stderr);
    unlink(path);
    return good;
}

bool bench_cdx_measure(struct cdx_row *r, const struct cdx_options *s)
{
    struct cdx_fill fill = { .log = NULL };
    struct seen_filter *f = NULL;
    struct seen_error why;
    char out[PATH_ROOM];
    struct rusage used;
    double begun;
    bool good;

    if (begin(&fill, s, &why) != SEEN_OK) {
        fprintf(stderr, "seen: bench: %s\n", why.text);
        return false;
    }
    if (!read_all(r, s, &fill)) {
        drop(&fill);
        return false;
    }
    begun = clock_seconds();
    add_cpu(&r->cpu, RUSAGE_SELF, -1);
    good = finish(&fill, &f, &why) == SEEN_OK;
    add_cpu(&r->cpu, RUSAGE_SELF, 1);
    r->finish = clock_seconds() - begun;
    getrusage(RUSAGE_SELF, &used);
    r->memory = used.ru_maxrss * 1024;
    if (good) {
        r->cells = seen_filter_bytes(f);
        ask(f, r, (s->lines + s->captures - 1) / s->captures);
        process_path(out, "filter");
        begun = clock_seconds();
        good = seen_store_save(f, out, &why) == SEEN_OK;
        r->save = clock_seconds() - begun;
        unlink(out);
    }
    if (!good)
        fprintf(stderr, "seen: bench: %s\n", why.text);
    drop(&fill);
    seen_filter_free(f);
    return good;
}
