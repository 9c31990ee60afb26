/*
 * build.c - seen build: a filter from the index of an archive, or a list.
 *
 *     $ seen build -o crawl.seen urls.txt
 *     seen: crawl.seen: 1,000,000 lines, about 998,120 distinct URLs, in ...
 *     seen: crawl.seen: blocked, 1.3 MB, 10.2 bits per URL, rate 0.98 %
 *
 * Without a capacity keys are kept and counted as they come, and the filter is
 * made when their number is known (<seen/key_log.h>), so that every input is
 * read once. The same input, plan and seed give the same bytes, with any number
 * of threads, from a file or from a pipe.
 */
#include "build.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../lib/disk/clock.h"
#include "../lib/disk/disk.h"
#include "access.h"
#include "progress.h"

enum { MEMORY = 64000000 }; /* for keys that wait for their number */

static const struct option options[] = {
    { "output", 'o', PATH, "FILTER", offsetof(struct build, output),
      "write the filter to this file, which is replaced at the end, if "
      "everything went well" },
    { "kind", 'k', TEXT, "KIND", offsetof(struct build, kind),
      "blocked (default), spatial:3/blocked (the same below 0.01%), bloom, "
      "counting:8, fuse, ribbon, shards, layered:4, "
      "growing/KIND, routed:N/KIND, spatial:N/KIND, dynamic:N/KIND; see seen help --kinds" },
    { "rate", 0, RATE, "RATE", offsetof(struct build, rate),
      "rate of false positives at capacity: 0.01, 1% or 1e-2; default 1% "
      "unless bits are given" },
    { "capacity", 0, COUNT, "N", offsetof(struct build, capacity),
      "number of distinct URLs; default: they are counted" },
    { "bits", 0, COUNT, "N", offsetof(struct build, bits),
      "size of the filter in bits, instead of a rate or a capacity" },
    { "probes", 0, COUNT, "N", offsetof(struct build, probes),
      "probes per URL; default: the best number" },
    /* bits = capacity * probes * M, as a paper has it. */
    { "multiplier", 0, FACTOR, "M", offsetof(struct build, multiplier), NULL },
    { "profile", 0, TEXT, "P", offsetof(struct build, profile),
      "how URLs become keys: surt (default), as in the indexes of archives; "
      "whatwg, as in browsers; raw, the bytes as given" },
    { "keys", 0, TEXT, "trusted|derived|auto", offsetof(struct build, keys),
      "how lines of an index become keys: as its key column says, whatever "
      "its URL column has, or (derived, and auto, the default) always those of "
      "the URLs; recorded in the filter" },
    { "seed", 0, SEED, "N", offsetof(struct build, seed),
      "filters of different seeds err on different URLs; default 0" },
    { "hostile", 0, FLAG, NULL, offsetof(struct build, hostile),
      "meet the rate even if an attacker chooses the URLs that are added; the "
      "default kind is then bloom" },
    { "keyed", 0, PATH, "KEYFILE", offsetof(struct build, keyed),
      "hash with the secret in this file: 16 bytes or 32 hexadecimal "
      "digits" },
    { "over", 0, FLAG, NULL, offsetof(struct build, over),
      "go on past the capacity, with a rising rate" },
    SELECT_OPTIONS(struct build, conditions),
    { "exclude", 0, PATH, "FILE", offsetof(struct build, exclude),
      "leave out the URLs listed in this file; a line that ends with * "
      "leaves out all URLs that begin with the text before it" },
    { "rejects", 0, PATH, "FILE", offsetof(struct build, rejects),
      "write the bad lines to this file; a line is cut after 65536 bytes and "
      "then ends with \" [cut]\"" },
    { "partial", 0, FLAG, NULL, offsetof(struct build, partial),
      "write the filter although parts of the input could not be read; it is "
      "marked with partial=..." },
    { "allow-empty", 0, FLAG, NULL, offsetof(struct build, allow_empty),
      "write the filter although there are no URLs; without a capacity it is "
      "one that grows" },
    { "meta", 0, TEXTS, "NAME=VALUE", offsetof(struct build, meta),
      "store this with the filter, for example title=Crawl; may be given "
      "many times" },
    { "threads", 0, COUNT, "N", offsetof(struct build, threads),
      "number of threads; default: one per CPU" },
    { "memory", 0, COUNT_OR_NONE, "BYTES", offsetof(struct build, memory),
      "without a capacity: how much memory URLs may take until all were read, "
      "before they go to a temporary file; default 64M" },
    { "resume", 0, FLAG, NULL, offsetof(struct build, resume),
      "continue a build that was stopped, from FILTER.checkpoint" },
    /* Seconds between two checkpoints (60): for tests. */
    { "checkpoint", 0, FACTOR, "SECONDS", offsetof(struct build, checkpoint),
      NULL },
    { "strict", 0, FLAG, NULL, offsetof(struct build, strict),
      "stop at the first bad line, with exit code 2" },
    JSON_OPTION(struct build, json,
                "print the report as a JSON object on standard output"),
    WAIT_OPTION(struct build, wait),
    QUIET_OPTION(struct build, quiet),
    { .name = NULL }
};

/* --- files --- */

/* What is written must not be what is read. */
static enum outcome check_files(const struct build *b)
{
    const char *path = b->output, *slash = strrchr(path, '/');
    char folder[PATH_MAX];
    const struct seen_layout *layout;
    const char *input, *packing;
    struct stat s;

    if (access_is_remote(path))
        return YES;
    if (!stat(path, &s) && S_ISDIR(s.st_mode))
        return trouble("%s: is a folder", path);
    snprintf(folder, sizeof folder, "%.*s",
             slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    if (access(folder, W_OK) < 0)
        return trouble("%s: no file can be written there: %s", path,
                       strerror(errno));
    for (size_t i = 0;
         seen_source_file(b->in.source, i, &input, &layout, &packing); i++) {
        if (disk_same_file(path, input))
            return trouble("%s: is an input, and would be replaced", path);
        if (b->rejects && disk_same_file(b->rejects, input))
            return trouble("%s: is an input, and would be replaced",
                           b->rejects);
    }
    return YES;
}

static void keep_lines(void *to, const char *lines, size_t len)
{
    const struct build *b = to;

    fwrite(lines, 1, len, b->kept);
}

/* Begin the file of bad lines, or go on where it was at the checkpoint. */
static enum outcome open_rejects(struct build *b)
{
    b->kept = fopen(b->rejects, b->point.written ? "r+e" : "we");
    if (!b->kept)
        return trouble("%s: %s", b->rejects, strerror(errno));
    if (b->point.written &&
        (ftruncate(fileno(b->kept), (off_t)b->point.kept) < 0 ||
         fseek(b->kept, 0, SEEK_END) < 0))
        return trouble("%s: %s", b->rejects, strerror(errno));
    b->in.rejected = keep_lines;
    return YES;
}

/* --- the command --- */

static bool selected(void *to, const struct seen_capture *c)
{
    const struct build *b = to;

    return select_takes(b->select, c);
}

static enum outcome build(struct build *b)
{
    enum outcome out;

    if (!b->output)
        return trouble("-o FILTER is missing; usage: seen build %s",
                       cmd_build.synopsis);
    out = cmd_source_open(&b->in.source, b->input, b->inputs, NULL, b->strict);
    if (out == YES) /* now, not after an hour of reading */
        out = build_whole(b, &b->in);
    if (out == YES)
        out = check_files(b);
    if (out == YES)
        out = select_new(&b->select, &b->conditions);
    if (out == YES)
        out = build_plan(b);
    if (out == YES)
        out = build_rehearse(b);
    b->in.keying = (struct seen_keying){ b->plan.profile, b->asked };
    if (out == YES && b->exclude &&
        !exclude_read(&b->without, b->exclude, &b->in.keying))
        out = TROUBLE;
    b->in.to = b;
    if (b->select) {
        b->in.select = selected;
        b->in.detail = select_detail(b->select);
    }
    b->in.strict = b->strict;
    b->in.threads = cmd_ingest_threads(b->threads);
    if (out == YES)
        out = build_points(b);
    if (out == YES && access_is_remote(b->output) && !b->sizes)
        out = access_rehearse(b->output, &b->plan);
    if (out == YES && b->rejects)
        out = open_rejects(b);
    if (out == YES)
        out = build_fill(b);
    if (b->kept && (ferror(b->kept) | fclose(b->kept)))
        out = trouble("%s: could not be written", b->rejects);
    return out;
}

static enum outcome run(void *settings, char **operand)
{
    struct build *b = settings;
    enum outcome out;

    b->begun = clock_seconds();
    if (!b->memory)
        b->memory = 1 + MEMORY;
    b->input = (const char *const *)operand;
    while (operand[b->inputs])
        b->inputs++;
    out = build(b);
    seen_source_close(b->in.source);
    select_free(b->select);
    checkpoint_clear(&b->point);
    exclude_clear(&b->without);
    explicit_bzero(b->secret, sizeof b->secret);
    return out;
}

const struct command cmd_build = {
    .name = "build",
    .summary = "make a filter from an archive's index or a list of URLs",
    .synopsis = "-o FILTER INPUT...",
    .operands = 1,
    .most = -1,
    .settings = sizeof(struct build),
    .absent = cmd_keys_absent,
    .options = options,
    .about =
        "Reads the files of an archive and writes a filter of their URLs: CDX "
        "with or without a legend, CDXJ, ZipNum clusters, WARC, ARC, WACZ, and "
        "lists with one URL per line; plain, gzip or zstd. The bytes of a file "
        "decide what it is, not its name; what can hold no URLs is refused. An "
        "INPUT is a file, a folder, or - for standard input. In a folder, what "
        "can hold no URLs is left out. It counts as missing unless its name "
        "says what it is, too: page.html, logo.png, old.seen. The filter is "
        "replaced at the end, in one step: a build that fails or is killed "
        "leaves the old one, and --resume continues it.\n"
        "\n"
        "The old filter is also left if the new one would lack something: if "
        "a file or a part of a cluster cannot be read, a file was cut short "
        "or has damaged records, or if there are no URLs at all. With "
        "--partial the filter is made of what could be read, but an INPUT "
        "that cannot be opened is always an error. With --allow-empty an empty "
        "one is written, for example from /dev/null, for URLs to come. Bad "
        "lines alone do not matter.\n"
        "\n"
        "Under the profile surt the keys of an index are hashed as they stand "
        "if they are those of their URLs, which is compared for every line. A "
        "key that differs, for example because its query is not sorted, or "
        "that is not a SURT, is derived from the URL. A comma at the end of "
        "the host or a slash at the end of the path is removed. All three are "
        "counted. The filter records the choice of --keys, and seen add -i "
        "obeys it.\n"
        "\n"
        "For a part of an archive, --status, --mime, --from, --to, --prefix, "
        "--hosts, --language and --where select captures; all that are given "
        "must hold.\n"
        "\n"
        "A plan needs two of capacity, rate and bits. Without a capacity, "
        "URLs are kept as 16 bytes each until all were read, in memory up to "
        "--memory, and then in a temporary file in the folder of FILTER; the "
        "capacity is then the estimated number of distinct ones, plus 2 %. "
        "Kinds that read URLs, such as layered and bloom:md5, keep the text of "
        "each instead.\n"
        "\n"
        "The same inputs, plan and seed give the same bytes with any number of "
        "threads, from files or from a pipe.\n"
        "\n"
        "FILTER may also be the address of a filter in Redis, such as "
        "redis://HOST:PORT/NAME: see doc/remote.md.\n",
    .exits = "0 if the filter was written, 2 if it was not. Bad lines do not "
             "change it unless --strict is given.",
    .examples =
        "$ seen build -o crawl.seen urls.txt\n"
        "$ seen build -o haw.seen --status 200 --from 2019 --to 2020-06 cdx/\n"
        "$ seen build -o small.seen --kind ribbon --meta title=Crawl urls.txt\n"
        "$ zcat *.gz | seen build -o all.seen --capacity 200M --rate 0.1% -\n",
    .run = run,
};
