/*
 * cdx_measure.c - an index made, read by a peer, and built into a filter.
 *
 * Per chunk, in turns: make it, let the peer read it, read it ourselves. The
 * clock runs while reading only; at the end it runs once more, to finish the
 * filter. Processor time is that of the same stretches.
 */
#define _DEFAULT_SOURCE /* getrusage, waitpid */
#include "cdx.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <seen/build.h>
#include <seen/cdx.h>
#include <seen/store.h>

enum { ASK = 4000000 }; /* questions about what is not there */

struct lane {
    pthread_t thread;
    unsigned number;
    struct seen_source *source;
    struct seen_build *build;
    struct seen_reader *reader;
    struct seen_key key[256];
    uint64_t lines, urls;
    enum seen_code code;
    struct seen_error why;
};

/* --- reading and building --- */

static void hand_over(struct lane *l, size_t *n)
{
    if (*n && l->code == SEEN_OK)
        l->code = seen_build_add(l->build, l->number, l->key, *n, &l->why);
    l->urls += *n;
    *n = 0;
}

static void *work(void *given)
{
    static const struct seen_keying how = { "surt", false };
    struct lane *l = given;
    struct seen_span last = { "", 0 };
    char text[SEEN_KEY_TEXT], before[SEEN_KEY_TEXT];
    struct seen_capture c;
    enum seen_made made;
    size_t n = 0;
    bool more;

    while (l->code == SEEN_OK &&
           seen_source_next(l->source, l->reader, &more, &l->why) == SEEN_OK &&
           more) {
        while (seen_reader_fill(l->reader)) {
            while (seen_reader_next(l->reader, &c)) {
                if (c.fault || (c.key.len == last.len &&
                                (c.key.text == last.text ||
                                 !memcmp(c.key.text, last.text, last.len))))
                    continue;
                if (seen_capture_key(&l->key[n], text, &c, &how, &made,
                                     NULL) != SEEN_OK)
                    continue;
                last = c.key;
                if (++n == sizeof l->key / sizeof l->key[0])
                    hand_over(l, &n);
            }
            hand_over(l, &n);
            if (last.text != before && last.len <= sizeof before) {
                memcpy(before, last.text, last.len);
                last.text = before;
            }
        }
        l->lines += seen_reader_piece(l->reader)->lines;
        last.len = 0;
    }
    return NULL;
}

static bool read_chunk(struct lane *lane, unsigned threads, const char *path,
                       struct seen_build *build, struct row *r)
{
    double begun = clock_now();
    struct seen_source *s = NULL;
    struct seen_error why;
    bool good = seen_source_open(&s, &path, 1, NULL, &why) == SEEN_OK;

    for (unsigned i = 0; i < threads && good; i++) {
        lane[i].number = i;
        lane[i].source = s;
        lane[i].build = build;
        lane[i].lines = lane[i].urls = 0;
        lane[i].code = SEEN_OK;
        good = seen_reader_new(&lane[i].reader, s, SEEN_DETAIL_KEY, &why) ==
               SEEN_OK;
    }
    if (good) {
        for (unsigned i = 1; i < threads; i++)
            pthread_create(&lane[i].thread, NULL, work, &lane[i]);
        work(&lane[0]);
        for (unsigned i = 1; i < threads; i++)
            pthread_join(lane[i].thread, NULL);
    }
    for (unsigned i = 0; i < threads; i++) {
        seen_reader_free(lane[i].reader);
        lane[i].reader = NULL;
        r->lines += lane[i].lines;
        r->urls += lane[i].urls;
        good = good && lane[i].code == SEEN_OK;
        if (lane[i].code != SEEN_OK)
            fprintf(stderr, "seen: bench: %s\n", lane[i].why.text);
    }
    seen_source_close(s);
    r->read += (clock_now() - begun) / 1e9;
    return good;
}

/* Seconds of processor time of this process, or of its children. */
static double spent(int who)
{
    struct rusage u;

    getrusage(who, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

/* --- the others --- */

/* Seconds that a program takes, with its output thrown away; 0: it failed. */
static double run_peer(const char *const *argv)
{
    double begun = clock_now();
    int status = -1;
    pid_t child = fork();

    if (!child) {
        int null = open("/dev/null", O_WRONLY);
        union {
            const char *const *given;
            char *const *wanted;
        } both = { argv };

        dup2(null, STDOUT_FILENO);
        execvp(argv[0], both.wanted);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0 || status)
        return 0;
    return (clock_now() - begun) / 1e9;
}

static double peer(const struct row *r, const char *path)
{
    const char *wc[] = { "wc", "-l", path, NULL };
    const char *igzip[] = { "igzip", "-d", "-c", path, NULL };

    return run_peer(r->as == CORPUS_GZIP ? igzip : wc);
}

/* --- one row --- */

static bool write_chunk(const char *path, struct row *r, uint64_t from,
                        uint64_t to, uint64_t captures)
{
    FILE *file = fopen(path, "we");
    uint64_t bytes = 0;
    bool good = file && corpus_write(file, r->as, from, to, captures, &bytes);

    if (file)
        r->stored += (uint64_t)ftell(file);
    r->bytes += bytes;
    if (file && (fflush(file) || fsync(fileno(file)))) /* no writing later */
        good = false;
    if (file && fclose(file))
        good = false;
    return good;
}

static void ask(const struct seen_filter *f, struct row *r, uint64_t urls)
{
    uint64_t asked = urls < ASK ? urls : ASK, yes = 0;
    struct seen_key key[256];
    char text[256][CORPUS_KEY];
    bool seen[256];
    double begun;

    for (uint64_t i = 0; i < asked; i += 256) {
        for (unsigned j = 0; j < 256; j++)
            seen_key_hash(&key[j], text[j], corpus_key(text[j], urls + i + j));
        seen_filter_has(f, key, 256, seen, NULL);
        for (unsigned j = 0; j < 256; j++)
            yes += seen[j];
    }
    r->rate = (double)yes / (double)((asked + 255) / 256 * 256);
    begun = clock_now();
    for (unsigned j = 0; j < 256; j++)
        for (unsigned i = 0; i < 256; i++) /* one by one, as in the report */
            seen_filter_has(f, &key[i ^ j], 1, seen, NULL);
    r->question = (clock_now() - begun) / 1e9 / 65536;
}

bool cdx_measure(struct row *r, const struct settings *s, const char *folder)
{
    struct lane *lane = calloc(s->threads, sizeof *lane);
    struct seen_build *build = NULL;
    struct seen_filter *f = NULL;
    struct seen_error why = { .text = "no memory" };
    char path[512], out[520];
    struct rusage used;
    bool good;
    double begun;

    snprintf(path, sizeof path, "%s/chunk", folder);
    snprintf(out, sizeof out, "%s/filter", folder);
    good = lane &&
           seen_build_new(&build, &s->plan, s->threads, &why) == SEEN_OK;
    if (!good)
        fprintf(stderr, "seen: bench: %s\n", why.text);
    for (uint64_t at = 0; at < s->lines && good; at += CHUNK_LINES) {
        uint64_t end = at + CHUNK_LINES < s->lines ? at + CHUNK_LINES
                                                   : s->lines;
        double took;

        good = write_chunk(path, r, at, end, s->captures);
        if (!good) {
            perror("seen: bench");
            break;
        }
        r->other_spent -= spent(RUSAGE_CHILDREN);
        took = peer(r, path);
        r->other_spent += spent(RUSAGE_CHILDREN);
        r->other = took > 0 ? r->other + took : -1e300;
        r->spent -= spent(RUSAGE_SELF);
        good = read_chunk(lane, s->threads, path, build, r);
        r->spent += spent(RUSAGE_SELF);
        if (!s->json)
            fprintf(stderr, "\r\033[K%s %llu", r->name,
                    (unsigned long long)end);
    }
    if (!s->json)
        fputs("\r\033[K", stderr);
    unlink(path);
    if (good) {
        begun = clock_now();
        r->spent -= spent(RUSAGE_SELF);
        good = seen_build_finish(build, &f, &why) == SEEN_OK;
        r->spent += spent(RUSAGE_SELF);
        r->finish = (clock_now() - begun) / 1e9;
        getrusage(RUSAGE_SELF, &used);
        r->memory = used.ru_maxrss * 1024;
    } else {
        seen_build_free(build);
    }
    if (good && f) {
        r->cells = seen_filter_bytes(f);
        ask(f, r, (s->lines + s->captures - 1) / s->captures);
        begun = clock_now();
        good = seen_store_save(f, out, &why) == SEEN_OK;
        r->save = (clock_now() - begun) / 1e9;
        unlink(out);
    }
    seen_filter_free(f);
    free(lane);
    return good;
}
