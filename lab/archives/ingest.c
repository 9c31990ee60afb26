/*
 * ingest.c - CDX files written, read by all threads, and put in a filter.
 *
 * An index of a billion lines is 200 GB, and a laboratory has no such disk. So
 * it is written and read in rounds of FILES files of FILE_LINES lines, about
 * 800 MB, and the seconds of reading are added up. Lines are made up from their
 * number, with digests and offsets that do not compress away, as long as those
 * of real indexes: what is timed is parsing, canonicalising and hashing.
 */
#include "ingest.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <seen/build.h>
#include <seen/ingest.h>
#include <seen/url.h>

#include "../../lib/disk/clock.h"
#include "../corpus.h"

enum {
    FILE_LINES = 250000, /* of a file: about 50 MB */
    FILES = 16,          /* at a time */
    PATH = 4096
};

/* One round of files. */
struct index_round {
    struct ingest *in;
    uint64_t from, to;
    unsigned files;
    struct seen_build *build;
};

static void name(const struct ingest *in, unsigned i, char path[PATH])
{
    if (snprintf(path, PATH, "%s/index-%u.cdx", in->lab->folder, i) >= PATH)
        lab_fail("%s: the path is too long", in->lab->folder);
}

bool ingest_able(const char *url, size_t len)
{
    char text[SEEN_KEY_TEXT];
    const char *key;
    size_t key_len;

    for (size_t i = 0; i < len; i++)
        if ((unsigned char)url[i] <= ' ' || url[i] == 0x7f)
            return false;
    return seen_url_surt(&key, &key_len, text, url, len, NULL) == SEEN_OK;
}

static bool put_line(FILE *file, const char *url, size_t len, uint64_t i)
{
    static const char base32[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    char text[SEEN_KEY_TEXT], digest[33];
    const char *key;
    size_t key_len;
    uint64_t x = seen_mix(i);

    if (seen_url_surt(&key, &key_len, text, url, len, NULL) != SEEN_OK)
        return true;
    for (int j = 0; j < 32; j++) {
        digest[j] = base32[x >> (5 * (j % 12)) & 31];
        x = j % 12 == 11 ? seen_mix(x) : x;
    }
    digest[32] = '\0';
    return fwrite(key, 1, key_len, file) == key_len &&
           fputs(" 20200314151617 ", file) >= 0 &&
           fwrite(url, 1, len, file) == len &&
           fprintf(file, " text/html 200 %s - - %u %u LAB-%05u.warc.gz\n",
                   digest, (unsigned)(x >> 48), (unsigned)(x >> 16 & 0xffffff),
                   (unsigned)(i / 100000)) > 0;
}

static void write_file(void *of, unsigned i)
{
    struct index_round *r = of;
    uint64_t at = r->from + (uint64_t)i * FILE_LINES;
    uint64_t end = at + FILE_LINES < r->to ? at + FILE_LINES : r->to;
    char path[PATH], url[URL_MOST];
    bool good;
    FILE *file;

    name(r->in, i, path);
    file = fopen(path, "w");
    if (!file)
        lab_fail("%s: %s", path, strerror(errno));
    good = fputs(" CDX N b a m s k r M S V g\n", file) >= 0;
    for (; at < end && good; at++) {
        size_t len = urls_get(r->in->lab->urls, at, url);

        good = !ingest_able(url, len) || put_line(file, url, len, at);
    }
    if (fclose(file) || !good)
        lab_fail("%s: %s", path, strerror(errno));
}

static enum seen_code add(void *to, unsigned thread, struct seen_batch *batch,
                          struct seen_error *why)
{
    return seen_build_add(to, thread, batch->key, batch->n, why);
}

/* For all threads, which take turns. */
static enum seen_code add_into(void *to, unsigned thread,
                               struct seen_batch *batch,
                               struct seen_error *why)
{
    (void)thread;
    return seen_filter_add(to, batch->key, batch->n, NULL, why);
}

static void read_files(struct index_round *r, const char *const *input)
{
    struct ingest *in = r->in;
    struct seen_ingest reading = { .keying.profile = in->plan.profile,
                                   .threads = in->lab->threads,
                                   .every = true,
                                   .keys = in->into ? add_into : add,
                                   .to = in->into ? (void *)in->into
                                                  : (void *)r->build };
    struct seen_error why;

    lab_must(seen_source_open(&reading.source, input, r->files, NULL, &why),
             &why);
    in->bytes += seen_source_bytes(reading.source);
    lab_must(seen_ingest_run(&reading, &why), &why);
    in->lines += reading.tally.urls;
    seen_source_close(reading.source);
}

static void one_round(struct index_round *r)
{
    struct lab *lab = r->in->lab;
    char path[FILES][PATH];
    const char *input[FILES];
    double begin;

    r->files = (unsigned)((r->to - r->from + FILE_LINES - 1) / FILE_LINES);
    lab_each(lab, "writing CDX files", r->files, write_file, r);
    for (unsigned i = 0; i < r->files; i++) {
        name(r->in, i, path[i]);
        input[i] = path[i];
    }
    begin = clock_seconds();
    read_files(r, input);
    r->in->seconds += clock_seconds() - begin;
    for (unsigned i = 0; i < r->files; i++)
        unlink(path[i]);
}

void ingest(struct ingest *in)
{
    struct index_round r = { .in = in };
    struct seen_error why;
    double begin;

    in->lines = in->bytes = 0;
    in->seconds = 0;
    if (!in->into)
        lab_must(seen_build_new(&r.build, &in->plan, in->lab->threads, &why),
                 &why);
    for (; r.from < in->n; r.from = r.to) {
        r.to = r.from + (uint64_t)FILE_LINES * FILES;
        r.to = r.to < in->n ? r.to : in->n;
        one_round(&r);
    }
    in->filter = in->into;
    if (in->into)
        return;
    begin = clock_seconds();
    lab_must(seen_build_finish(r.build, &in->filter, &why), &why);
    in->seconds += clock_seconds() - begin;
}
