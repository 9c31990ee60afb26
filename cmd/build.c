/*
 * build.c - seen build: a filter from the index of an archive, or a list.
 *
 *     $ seen build -o crawl.seen urls.txt
 *     seen: crawl.seen: 1,000,000 URLs, about 998,120 distinct, in 0.11 s
 *     seen: crawl.seen: blocked, 1.3 MB, 10.2 bits a URL, rate 0.0098
 *
 * Without a capacity the inputs are read twice: once to count, once to
 * build. A pipe cannot be read twice, so from a pipe a filter is built that
 * grows. With a known capacity, the same input, plan and seed give the same
 * bytes, whatever the number of threads.
 */
#define _POSIX_C_SOURCE 200809L /* stat, access, ftruncate */
#include "command.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <seen/build.h>
#include <seen/store.h>

#include "checkpoint.h"
#include "estimate.h"
#include "json.h"
#include "number.h"
#include "output.h"
#include "progress.h"
#include "secret.h"

extern const struct command cmd_build;

enum { GROWING_FROM = 1000000 };

struct build {
    const char *output, *kind, *profile, *keyed, *exclude, *rejects;
    double rate, multiplier, checkpoint;
    uint64_t capacity, bits, probes, seed, threads;
    bool hostile, over, strict, json, quiet;
    bool recanonicalise, resume;
    struct texts meta;
    struct select_how how;

    const char *const *input;
    size_t inputs;
    struct select *select;
    struct seen_plan plan;
    struct pass pass;
    struct exclude without;
    uint64_t excluded;
    struct seen_build *builder;
    struct seen_filter *filter; /* instead, where order matters */
    struct checkpoint point;
    double begun;
};

static const struct option options[] = {
    { "output", 'o', PATH, "FILTER", offsetof(struct build, output),
      "write the filter to this file, which is replaced at the very end, or "
      "not at all" },
    { "kind", 0, TEXT, "KIND", offsetof(struct build, kind),
      "blocked (default), bloom, counting:8, fuse, layered:4, growing/KIND, "
      "routed:N/KIND, spatial:N/KIND, dynamic:N/KIND" },
    { "rate", 0, RATE, "RATE", offsetof(struct build, rate),
      "the rate of false positives at capacity: 0.01, 1% or 1e-2; 0.01 if "
      "bits and multiplier are not given either" },
    { "capacity", 0, COUNT, "N", offsetof(struct build, capacity),
      "distinct URLs to make room for; estimated if not given" },
    { "bits", 0, COUNT, "N", offsetof(struct build, bits),
      "bits of all cells, instead of a rate or a capacity" },
    { "probes", 0, COUNT, "N", offsetof(struct build, probes),
      "probes of a URL, instead of the best number" },
    { "multiplier", 0, FACTOR, "M", offsetof(struct build, multiplier),
      "size the filter as bits = capacity * probes * M" },
    { "profile", 0, TEXT, "P", offsetof(struct build, profile),
      "how URLs become keys: surt (default), as archives file them; whatwg, "
      "as browsers ask for them; raw, the bytes as given" },
    { "recanonicalise", 0, FLAG, NULL, offsetof(struct build, recanonicalise),
      "derive all keys from the URLs, instead of trusting those of an index" },
    { "seed", 0, SEED, "N", offsetof(struct build, seed),
      "filters of different seeds err on different URLs; default 0" },
    { "hostile", 0, FLAG, NULL, offsetof(struct build, hostile),
      "meet the rate even if someone chooses the URLs that are added; the "
      "kind is then bloom by default" },
    { "keyed", 0, PATH, "KEYFILE", offsetof(struct build, keyed),
      "hash under the secret in this file, of 16 bytes or 32 hexadecimal "
      "digits" },
    { "over", 0, FLAG, NULL, offsetof(struct build, over),
      "go on past the capacity, with a rising rate" },
    SELECT_OPTIONS(struct build, how),
    { "exclude", 0, PATH, "FILE", offsetof(struct build, exclude),
      "leave out the URLs listed in this file" },
    { "rejects", 0, PATH, "FILE", offsetof(struct build, rejects),
      "write the bad lines to this file, cut after 8192 bytes" },
    { "meta", 0, TEXTS, "NAME=VALUE", offsetof(struct build, meta),
      "keep this with the filter, as in title=Crawl; may be given many "
      "times" },
    { "threads", 0, COUNT, "N", offsetof(struct build, threads),
      "work with so many threads; default: one a processor" },
    { "resume", 0, FLAG, NULL, offsetof(struct build, resume),
      "go on with a build that was stopped, from FILTER.checkpoint" },
    { "checkpoint", 0, FACTOR, "SECONDS", offsetof(struct build, checkpoint),
      "how often to write what was built so far to FILTER.checkpoint; "
      "default 60" },
    { "strict", 0, FLAG, NULL, offsetof(struct build, strict),
      "stop at the first bad line, with exit code 2" },
    { "json", 0, FLAG, NULL, offsetof(struct build, json),
      "print the report as a JSON object on standard output" },
    { "quiet", 0, FLAG, NULL, offsetof(struct build, quiet),
      "leave the report out" },
    { .name = NULL }
};

/* --- before any work --- */

static bool same_file(const char *a, const char *b)
{
    struct stat s, t;

    return !stat(a, &s) && !stat(b, &t) && s.st_dev == t.st_dev &&
           s.st_ino == t.st_ino;
}

/* What is written must not be what is read. */
static enum outcome check_files(const struct build *b)
{
    const char *path = b->output, *slash = strrchr(path, '/');
    char folder[PATH_MAX];
    const struct seen_layout *layout;
    const char *input, *packing;
    struct stat s;

    if (!stat(path, &s) && S_ISDIR(s.st_mode))
        return trouble("%s: is a folder", path);
    snprintf(folder, sizeof folder, "%.*s",
             slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    if (access(folder, W_OK) < 0)
        return trouble("%s: no file can be written there: %s", path,
                       strerror(errno));
    for (size_t i = 0;
         seen_source_file(b->pass.source, i, &input, &layout, &packing); i++) {
        if (same_file(path, input))
            return trouble("%s: is an input, and would be replaced", path);
        if (b->rejects && same_file(b->rejects, input))
            return trouble("%s: is an input, and would be replaced",
                           b->rejects);
    }
    return YES;
}

static enum outcome make_plan(struct build *b)
{
    struct seen_plan *p = &b->plan;

    if (!b->kind) /* a hostile one would fill single lines */
        b->kind = b->hostile ? "bloom" : "blocked";
    if (strlen(b->kind) >= sizeof p->kind)
        return trouble("--kind: is longer than %zu bytes", sizeof p->kind - 1);
    if (b->profile && strlen(b->profile) >= sizeof p->profile)
        return trouble("--profile: no profile is named %s", b->profile);
    if (b->probes > UINT_MAX)
        return trouble("--probes: %s are too many", show_count(b->probes));
    strcpy(p->kind, b->kind);
    b->pass.every = strstr(b->kind, "counting") != NULL;
    strcpy(p->profile, b->profile ? b->profile : "surt");
    p->capacity = b->capacity;
    p->rate = b->rate;
    p->bits = b->bits;
    p->probes = (unsigned)b->probes;
    p->multiplier = b->multiplier;
    p->seed = b->seed;
    p->hostile = b->hostile;
    p->over = b->over;
    p->keyed = b->keyed;
    if (!p->bits && !(p->rate > 0) && !(p->multiplier > 0))
        p->rate = 0.01;
    return !b->keyed || secret_read(b->keyed, p->secret) ? YES : TROUBLE;
}

/* NAME=VALUE, set on a filter. */
static enum outcome set_meta(const struct build *b, struct seen_filter *f)
{
    for (size_t i = 0; i < b->meta.n; i++) {
        const char *text = b->meta.text[i], *equals = strchr(text, '=');
        struct seen_error why;
        char name[256];

        if (!equals || equals == text ||
            (size_t)(equals - text) >= sizeof name)
            return trouble("--meta: %s is not NAME=VALUE", text);
        snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
        if (seen_meta_set(f, name, equals + 1, &why) != SEEN_OK)
            return trouble("--meta: %s: %s", name, why.text);
    }
    return YES;
}

/*
 * Mistakes are told before an hour of work, not after it: metadata is tried
 * on a small filter, and a plan that lacks its capacity with a small one.
 */
static enum outcome rehearse(const struct build *b)
{
    struct seen_plan small = { .kind = "bloom", .capacity = 1, .rate = 0.5 };
    struct seen_filter *f = NULL;
    struct seen_build *trial;
    struct seen_error why;
    enum outcome out;

    if (seen_filter_new(&f, &small, &why) != SEEN_OK)
        return trouble("%s", why.text);
    out = set_meta(b, f);
    seen_filter_free(f);
    if (out != YES || b->plan.capacity || b->plan.bits)
        return out;
    small = b->plan;
    small.capacity = 1000;
    if (seen_build_new(&trial, &small, 1, &why) != SEEN_OK)
        return trouble_with(b->output, &why);
    seen_build_free(trial);
    return YES;
}

/* Can the capacity be had from bits and what goes with them? */
static bool derivable(const struct seen_plan *p)
{
    return p->bits && !strstr(p->kind, "layered") &&
           (p->rate > 0 || (p->multiplier > 0 && p->probes));
}

static enum outcome find_capacity(struct build *b)
{
    struct seen_plan *p = &b->plan;
    char grown[sizeof p->kind + 8];

    if (p->capacity || derivable(p) || !strncmp(p->kind, "fuse", 4))
        return YES;
    if (seen_source_twice(b->pass.source))
        return estimate(&b->pass, &b->without, p);
    if (p->bits)
        return trouble("--bits: from a pipe, --rate or --capacity is needed "
                       "as well");
    p->capacity = GROWING_FROM;
    if (seen_build_ordered(p->kind) && !strstr(p->kind, "minimal"))
        return YES;
    snprintf(grown, sizeof grown, "growing/%s", p->kind);
    if (strlen(grown) >= sizeof p->kind)
        return trouble("--kind: is too long to grow; give --capacity");
    strcpy(p->kind, grown);
    if (!b->quiet)
        warning("%s: what is not a file cannot be read twice: building %s; "
                "with --capacity it would be %s",
                b->output, grown, b->kind);
    return YES;
}

/* --- the work --- */

static enum seen_code take(void *to, unsigned thread, struct batch *batch,
                           struct seen_error *why)
{
    struct build *b = to;
    size_t n = 0;

    if (b->without.used) {
        for (size_t i = 0; i < batch->n; i++)
            if (!exclude_has(&b->without, &batch->key[i]))
                batch->key[n++] = batch->key[i];
        __atomic_fetch_add(&b->excluded, batch->n - n, __ATOMIC_RELAXED);
        batch->n = n;
    }
    if (b->filter)
        return seen_filter_add(b->filter, batch->key, batch->n, NULL, why);
    return seen_build_add(b->builder, thread, batch->key, batch->n, why);
}

static enum seen_code flush(void *to, unsigned thread, struct seen_error *why)
{
    struct build *b = to;

    return b->filter ? SEEN_OK : seen_build_flush(b->builder, thread, why);
}

/* No thread is at work: write what there is, and begin another part. */
static enum seen_code write_point(void *to, struct seen_error *why)
{
    struct build *b = to;
    struct seen_filter *part = NULL;
    enum seen_code code;

    b->point.excluded = b->excluded;
    if (b->filter)
        return checkpoint_write(&b->point, b->filter, false, &b->pass, why);
    code = seen_build_finish(b->builder, &part, why);
    b->builder = NULL;
    if (code == SEEN_OK)
        code = checkpoint_write(&b->point, part, true, &b->pass, why);
    seen_filter_free(part);
    if (code == SEEN_OK)
        code = seen_build_new(&b->builder, &b->plan, b->pass.threads, why);
    return code;
}

/* All that decides what is built, as one number. */
static uint64_t print_plan(const struct build *b)
{
    const struct seen_plan *p = &b->plan;
    struct seen_key key;
    char text[512];
    int n = snprintf(text, sizeof text,
                     "%s %s %llu %.17g %llu %u %.17g %llu %d %d %d %d %llu",
                     p->kind, p->profile, (unsigned long long)p->capacity,
                     p->rate, (unsigned long long)p->bits, p->probes,
                     p->multiplier, (unsigned long long)p->seed, p->hostile,
                     p->over, p->keyed, b->recanonicalise,
                     (unsigned long long)select_print(b->select));

    seen_key_hash(&key, text, (size_t)n);
    for (size_t i = 0; i < b->without.slots; i++)
        key.lo += seen_mix(b->without.slot[i][0]);
    return key.lo;
}

/* Set up to write checkpoints, and go on from one if that is asked for. */
static enum outcome set_points(struct build *b)
{
    bool ordered = seen_build_ordered(b->plan.kind);
    bool able = seen_source_twice(b->pass.source) &&
                !strstr(b->plan.kind, "fuse");
    enum outcome out;

    if (b->resume && !able)
        return trouble("--resume: %s", seen_source_twice(b->pass.source)
                                           ? "a fuse is made at once, from "
                                             "all URLs"
                                           : "what is not a file cannot be "
                                             "read again");
    if (!able)
        return YES;
    if (!checkpoint_init(&b->point, b->output))
        return trouble("no memory for a path");
    b->point.plan = print_plan(b);
    b->point.access.secret = b->plan.keyed ? b->plan.secret : NULL;
    b->point.access.over = b->plan.over;
    b->pass.pause = write_point;
    b->pass.interval = b->checkpoint > 0 ? b->checkpoint : 60;
    if (!b->resume)
        return YES;
    out = checkpoint_read(&b->point, &b->pass, &b->plan,
                          ordered ? &b->filter : NULL);
    b->excluded = b->point.excluded;
    if (b->quiet || out == TROUBLE)
        return out == NO ? YES : out;
    if (out == NO)
        warning("%s: is not there; starting from the beginning",
                b->point.path);
    else
        warning("%s: going on after %s lines", b->point.path,
                show_count(b->pass.found.lines));
    return YES;
}

static enum outcome refused(const struct build *b,
                            const struct seen_error *why)
{
    if (why->code == SEEN_FULL)
        return trouble("%s: %s (--capacity %s); raise it, or give --over",
                       b->output, why->text, show_count(b->plan.capacity));
    return trouble_with(b->output, why);
}

static void report(const struct build *b, const struct seen_filter *f)
{
    const struct seen_plan *p = seen_filter_plan(f);
    const struct found *n = &b->pass.found;
    double distinct = seen_filter_entries(f), rate = seen_filter_rate(f);
    double took = progress_clock() - b->begun;
    double bits = 8 * (double)seen_filter_bytes(f);
    struct rusage used;

    if (b->json) {
        json_open(NULL, '{');
        json_word("filter", b->output);
        json_word("kind", p->kind);
        json_count("lines", b->pass.found.lines);
        json_count("captures", b->pass.found.captures);
        json_count("urls", b->pass.found.urls);
        json_count("repaired", b->pass.found.repaired);
        json_count("derived", b->pass.found.derived);
        json_count("left_out", b->pass.rejects.count);
        json_count("excluded", b->excluded);
        json_number("distinct", distinct);
        json_count("capacity", p->capacity);
        json_count("bytes", seen_filter_bytes(f));
        json_number("rate", rate);
        json_number("seconds", took);
        json_shut('}');
        return;
    }
    if (b->quiet)
        return;
    if (n->captures != n->urls + b->excluded)
        warning("%s: %s captures of %s URLs, about %s distinct, of %s lines "
                "in %s",
                b->output, show_count(n->captures), show_count(n->urls),
                show_estimate(distinct), show_count(n->lines),
                show_time(took));
    else
        warning("%s: %s URLs, about %s distinct, of %s lines in %s", b->output,
                show_count(n->urls), show_estimate(distinct),
                show_count(n->lines), show_time(took));
    if (n->repaired)
        warning("%s: %s keys put right: a comma ended the host, or a slash "
                "the path",
                b->output, show_count(n->repaired));
    if (n->derived)
        warning("%s: %s keys derived from the URL, since they were no SURTs",
                b->output, show_count(n->derived));
    if (b->excluded)
        warning("%s: %s URLs excluded", b->output, show_count(b->excluded));
    getrusage(RUSAGE_SELF, &used);
    if (strstr(p->kind, "fuse") && used.ru_maxrss > 256 * 1024)
        warning("%s: took %s of memory: a fuse keeps the hashes of all URLs "
                "until it is made",
                b->output, show_bytes((uint64_t)used.ru_maxrss * 1024));
    if (distinct >= 1)
        warning("%s: %s, %s, %.1f bits a URL, rate %s", b->output, p->kind,
                show_bytes(seen_filter_bytes(f)), bits / distinct,
                show_rate(rate));
    else
        warning("%s: %s, %s, empty", b->output, p->kind,
                show_bytes(seen_filter_bytes(f)));
}

static enum outcome fill(struct build *b)
{
    struct seen_filter *f = NULL;
    struct seen_error why;
    enum outcome out;

    if (seen_build_ordered(b->plan.kind)) {
        b->pass.threads = 1;
        if (!b->filter &&
            seen_filter_new(&b->filter, &b->plan, &why) != SEEN_OK)
            return refused(b, &why);
    } else if (seen_build_new(&b->builder, &b->plan, b->pass.threads, &why) !=
               SEEN_OK) {
        return refused(b, &why);
    }
    b->pass.what = "building";
    b->pass.take = take;
    b->pass.end = flush;
    b->pass.to = b;
    out = pass_run(&b->pass);
    if (b->pass.code != SEEN_OK)
        refused(b, &b->pass.why);
    rejects_report(&b->pass.rejects, b->strict);
    if (out != YES) {
        seen_build_free(b->builder);
        seen_filter_free(b->filter);
        return out;
    }
    f = b->filter;
    if (!f && (seen_build_finish(b->builder, &f, &why) != SEEN_OK ||
               checkpoint_unite(&b->point, f, &why) != SEEN_OK)) {
        seen_filter_free(f);
        return refused(b, &why);
    }
    out = set_meta(b, f);
    if (out == YES && seen_store_save(f, b->output, &why) != SEEN_OK)
        out = trouble_with(b->output, &why);
    if (out == YES) {
        checkpoint_drop(&b->point);
        report(b, f);
    }
    seen_filter_free(f);
    return out;
}

/* Begin the file of bad lines, or go on where it was at the checkpoint. */
static enum outcome open_rejects(struct build *b)
{
    b->pass.keep = fopen(b->rejects, b->point.written ? "r+e" : "we");
    if (!b->pass.keep)
        return trouble("%s: %s", b->rejects, strerror(errno));
    if (b->point.written &&
        (ftruncate(fileno(b->pass.keep), (off_t)b->point.kept) < 0 ||
         fseek(b->pass.keep, 0, SEEK_END) < 0))
        return trouble("%s: %s", b->rejects, strerror(errno));
    return YES;
}

static enum outcome build(struct build *b)
{
    enum outcome out;

    if (!b->output)
        return trouble("-o FILTER is missing; usage: seen build %s",
                       cmd_build.synopsis);
    out = source_open(&b->pass.source, b->input, b->inputs, b->strict);
    if (out == YES)
        out = check_files(b);
    if (out == YES)
        out = select_new(&b->select, &b->how);
    if (out == YES)
        out = make_plan(b);
    if (out == YES)
        out = rehearse(b);
    if (out == YES && b->exclude &&
        !exclude_read(&b->without, b->exclude, b->plan.profile))
        out = TROUBLE;
    b->pass.keying.profile = b->plan.profile;
    b->pass.keying.derive = b->recanonicalise;
    b->pass.select = b->select;
    b->pass.strict = b->strict;
    b->pass.threads = pass_threads(b->threads);
    if (out == YES)
        out = set_points(b);
    if (out == YES && !b->point.written)
        out = find_capacity(b);
    if (out == YES && b->rejects)
        out = open_rejects(b);
    if (out == YES)
        out = fill(b);
    if (b->pass.keep && (ferror(b->pass.keep) | fclose(b->pass.keep)))
        out = trouble("%s: could not be written", b->rejects);
    return out;
}

static enum outcome run(char **argv)
{
    struct build *b = calloc(1, sizeof *b);
    enum outcome out = TROUBLE;
    char **operand;

    if (!b)
        return trouble("no memory for %zu bytes", sizeof *b);
    b->begun = progress_clock();
    operand = options_read(&cmd_build, b, argv);
    if (operand) {
        b->input = (const char *const *)operand;
        while (operand[b->inputs])
            b->inputs++;
        out = finish(build(b));
    }
    pass_clear(&b->pass);
    seen_source_close(b->pass.source);
    select_free(b->select);
    checkpoint_clear(&b->point);
    exclude_clear(&b->without);
    memset(b->plan.secret, 0, sizeof b->plan.secret);
    free(b);
    return out;
}

const struct command cmd_build = {
    .name = "build",
    .summary = "make a filter from an archive's index or a list of URLs",
    .synopsis = "-o FILTER INPUT...",
    .operands = 1,
    .most = -1,
    .options = options,
    .about =
        "Reads what an archive has and writes a filter of its URLs: CDX files "
        "with a legend or without, CDXJ, ZipNum clusters, WARC files, and "
        "lists of URLs, a line each; plain, gzip or zstd. What a file is, its "
        "bytes tell. An INPUT is a file, a folder, or - for standard input. "
        "The filter appears at the very end, whole: a build that fails or is "
        "killed leaves what was there, and --resume goes on with it.\n"
        "\n"
        "Under the profile surt the key of an index is trusted and hashed as "
        "it stands. What is no SURT is derived from the URL; a comma that "
        "ends the host, or a slash that ends the path, is left out; both are "
        "counted. With --recanonicalise all keys are derived.\n"
        "\n"
        "For a collection of an archive, --status, --mime, --from, --to, "
        "--prefix, --hosts, --language and --where say which captures to "
        "take; all that are given must hold.\n"
        "\n"
        "A plan takes two of capacity, rate and bits. Without a capacity, "
        "files are read twice, the first time to estimate how many distinct "
        "URLs they have, with 2 % to spare. A pipe can be read only once, so "
        "the filter becomes one that grows, growing/KIND, from a million "
        "URLs.\n"
        "\n"
        "With a known capacity the same inputs, plan and seed give the same "
        "bytes, whatever the number of threads.\n",
    .exits = "0 if the filter was written, 2 if it was not. Bad lines do not "
             "change the exit code, unless --strict is given.",
    .examples =
        "$ seen build -o crawl.seen urls.txt\n"
        "$ seen build -o haw.seen --status 200 --from 2019 --to 2020-06 cdx/\n"
        "$ seen build -o small.seen --kind fuse --meta title=Crawl urls.txt\n"
        "$ zcat *.gz | seen build -o all.seen --capacity 200M --rate 0.1% -\n",
    .run = run,
};
