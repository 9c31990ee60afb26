/*
 * cdx_measure.c - an index made, read by a peer, and built into a filter.
 *
 * For each chunk: make it, let the peer read it, read it ourselves. Only
 * reading is timed, and finishing the filter at the end. CPU time is measured
 * over the same parts.
 */
#include "cdx.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <seen/build.h>
#include <seen/ingest.h>
#include <seen/store.h>

#include "process.h"

enum { ASK = 4000000 }; /* questions about what is not there */

/* --- reading and building --- */

static enum seen_code add(void *to, unsigned thread, struct seen_batch *batch,
                          struct seen_error *why)
{
    return seen_build_add(to, thread, batch->key, batch->n, why);
}

static enum seen_code flush(void *to, unsigned thread, struct seen_error *why)
{
    return seen_build_flush(to, thread, why);
}

/* As `seen build` reads a file: after the last one each thread fills in the
   keys that it still has. */
static bool read_chunk(unsigned threads, const char *path, bool last,
                       struct seen_build *build, struct cdx_row *r)
{
    double begun = clock_seconds();
    struct seen_ingest in = { .keying.profile = "surt",
                              .threads = threads,
                              .keys = add,
                              .end = last ? flush : NULL,
                              .to = build };
    struct seen_error why;
    enum seen_code code = seen_source_open(&in.source, &path, 1, NULL, &why);

    if (code == SEEN_OK)
        code = seen_ingest_run(&in, &why);
    seen_source_close(in.source);
    r->lines += in.tally.lines;
    r->urls += in.tally.urls;
    r->read += clock_seconds() - begun;
    if (code != SEEN_OK)
        fprintf(stderr, "seen: bench: %s\n", why.text);
    return code == SEEN_OK;
}

/* Seconds of processor time of this process, or of its children. */
static double spent(int who)
{
    struct rusage u;

    getrusage(who, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
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

/* All chunks: made, read by the peer, and added to the filter. */
static bool read_all(struct cdx_row *r, const struct cdx_options *s,
                     struct seen_build *build)
{
    char path[PATH_ROOM];
    bool good = true;

    process_path(path, "chunk");
    for (uint64_t at = 0; at < s->lines && good; at += CHUNK_LINES) {
        uint64_t end = at + CHUNK_LINES < s->lines ? at + CHUNK_LINES
                                                   : s->lines;
        double took;

        if (!write_chunk(path, r, at, end, s->captures)) {
            perror("seen: bench");
            return false;
        }
        r->other_spent -= spent(RUSAGE_CHILDREN);
        took = peer(r, path);
        r->other_spent += spent(RUSAGE_CHILDREN);
        r->other = took > 0 ? r->other + took : -1e300;
        r->spent -= spent(RUSAGE_SELF);
        good = read_chunk((unsigned)s->threads, path, end == s->lines, build,
                          r);
        r->spent += spent(RUSAGE_SELF);
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
    struct seen_build *build = NULL;
    struct seen_filter *f = NULL;
    struct seen_error why;
    char out[PATH_ROOM];
    struct rusage used;
    double begun;
    bool good;

    if (seen_build_new(&build, &s->plan, (unsigned)s->threads, &why) !=
        SEEN_OK) {
        fprintf(stderr, "seen: bench: %s\n", why.text);
        return false;
    }
    if (!read_all(r, s, build)) {
        seen_build_free(build);
        return false;
    }
    begun = clock_seconds();
    r->spent -= spent(RUSAGE_SELF);
    good = seen_build_finish(build, &f, &why) == SEEN_OK;
    r->spent += spent(RUSAGE_SELF);
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
    seen_filter_free(f);
    return good;
}
