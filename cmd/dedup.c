/*
 * dedup.c - seen dedup: each URL the first time only.
 *
 *     $ sort -u < urls.txt        reads all, sorts all, changes the order
 *     $ seen dedup < urls.txt     a few bytes per URL, as fast as it comes
 *
 * The price: a false positive drops a new URL. The default rate is one in ten
 * thousand, lower than that of `seen build`, for this reason. Such a rate
 * needs many probes, and each probe is a cache miss; two blocked filters with
 * different seeds, both of which must say yes, reach the same rate with two
 * misses.
 *
 * With --filter URLs are remembered in a file. They are printed first and
 * remembered then: a crash between the two prints a URL twice, but loses none.
 */
#include "command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/text/number.h"
#include "access.h"
#include "ingest.h"
#include "json.h"
#include "output.h"

extern const struct command cmd_dedup;

static const char kind[] = "growing/spatial:2/blocked";

struct dedup {
    const char *path, *sync;
    double rate;
    uint64_t capacity;
    bool count, strict, verbose, json;
    struct access_options access;
    struct wait wait;

    struct seen_filter *filter;
    struct seen_ingest in;
    uint64_t kept, dropped;
    uint64_t remembered; /* of those kept, with --filter */
    double lost;         /* kept ones that were expected to be dropped */
    bool fresh[SEEN_BATCH];
    uint64_t recent[4 * SEEN_BATCH][2];  /* hashes of this batch */
    uint64_t stamp[4 * SEEN_BATCH], now; /* of which batch a slot is */
};

static const struct option options[] = {
    { "filter", 0, PATH, "FILTER", offsetof(struct dedup, path),
      "remember URLs across runs in this filter; created if it is missing" },
    { "capacity", 0, COUNT, "N", offsetof(struct dedup, capacity),
      "distinct URLs to begin with; the filter grows; default 1M" },
    { "rate", 0, RATE, "RATE", offsetof(struct dedup, rate),
      "share of new URLs that are dropped by mistake; default 0.01%" },
    { "count", 0, FLAG, NULL, offsetof(struct dedup, count),
      "print only how many were kept and dropped" },
    { "sync", 0, TEXT, "always|everysec|no", offsetof(struct dedup, sync),
      "when URLs in --filter are safe from a power failure; default always" },
    { "json", 0, FLAG, NULL, offsetof(struct dedup, json),
      "print URLs and numbers as JSON objects, one per line" },
    { "verbose", 0, FLAG, NULL, offsetof(struct dedup, verbose),
      "print at the end how many URLs were probably lost, even if standard "
      "error is not a terminal" },
    ACCESS_OPTIONS(struct dedup, access),
    WAIT_OPTION(struct dedup, wait),
    { "strict", 0, FLAG, NULL, offsetof(struct dedup, strict),
      "stop at the first bad line, with exit code 2" },
    { .name = NULL }
};

/* --- the filter --- */

static enum outcome make(struct dedup *d, struct seen_plan *plan)
{
    struct seen_error why;

    strcpy(plan->kind, kind);
    plan->capacity = d->capacity ? d->capacity : 1000000;
    plan->rate = d->rate > 0 ? d->rate : 0.0001;
    strcpy(plan->profile, "whatwg");
    if (d->access.profile) {
        if (seen_profile_find(NULL, d->access.profile, &why) != SEEN_OK)
            return trouble_with("--profile", &why);
        strcpy(plan->profile, d->access.profile);
    }
    if (seen_filter_new(&d->filter, plan, &why) != SEEN_OK)
        return trouble_with("dedup", &why);
    return YES;
}

static enum outcome there_already(const struct dedup *d)
{
    return trouble("%s: exists; --capacity and --rate are for a new filter",
                   d->path);
}

/* Begin a filter. Another may do so at the same time: then it is that one. */
static enum outcome begin(struct dedup *d)
{
    struct seen_plan plan = { .kind = "" };
    struct wait wait = d->wait;
    struct seen_error why;
    enum seen_code code;
    enum outcome out;

    if (d->access.keyed)
        return trouble("%s: does not exist; make a keyed filter with seen "
                       "build --kind growing/KIND",
                       d->path);
    out = make(d, &plan);
    if (out != YES)
        return out;
    do
        code = seen_store_create(d->filter, d->path, &why);
    while (wait_again(&wait, code));
    seen_filter_free(d->filter);
    d->filter = NULL;
    if (code == SEEN_EXISTS)
        return d->capacity || d->rate > 0 ? there_already(d) : YES;
    return code == SEEN_OK ? YES : trouble_with(d->path, &why);
}

/* Open the filter that remembers, or begin one. */
static enum outcome open_filter(struct dedup *d)
{
    struct seen_plan plan = { .kind = "" };
    enum outcome out;

    if (!d->path && d->access.keyed)
        return trouble("--keyed: needs --filter");
    if (!d->path)
        return make(d, &plan);
    if (access(d->path, F_OK) == 0 && (d->capacity || d->rate > 0))
        return there_already(d);
    if (access(d->path, F_OK) < 0 && errno == ENOENT) {
        out = begin(d);
        if (out != YES)
            return out;
    }
    d->filter = access_write(d->path, &d->access, access_sync(d->sync), false,
                             d->wait);
    return d->filter ? YES : TROUBLE;
}

/* --- the work --- */

/* Was the key in this batch before? A small table forgets by stamps. */
static bool repeated(struct dedup *d, const struct seen_key *key)
{
    const size_t slots = sizeof d->stamp / sizeof d->stamp[0];
    size_t at = key->hi % slots;

    for (; d->stamp[at] == d->now; at = (at + 1) % slots)
        if (d->recent[at][0] == key->lo && d->recent[at][1] == key->hi)
            return true;
    d->stamp[at] = d->now;
    d->recent[at][0] = key->lo;
    d->recent[at][1] = key->hi;
    return false;
}

static void show(struct dedup *d, const struct seen_batch *batch)
{
    for (size_t i = 0; i < batch->n; i++) {
        d->kept += d->fresh[i];
        d->dropped += !d->fresh[i];
        if (!d->fresh[i] || d->count)
            continue;
        if (d->json) {
            cmd_json_open(NULL, '{');
            cmd_json_text("url", batch->url[i].text, batch->url[i].len);
            cmd_json_shut('}');
        } else {
            output_bytes(batch->line[i].text, batch->line[i].len);
            output_bytes("\n", 1);
        }
    }
}

/* Ask, print, and only then remember. */
static enum seen_code print_first(struct dedup *d, struct seen_batch *batch,
                                  struct seen_error *why)
{
    enum seen_code code = seen_filter_has(d->filter, batch->key, batch->n,
                                          d->fresh, why);
    size_t n = 0;

    if (code != SEEN_OK)
        return code;
    d->now++;
    for (size_t i = 0; i < batch->n; i++)
        d->fresh[i] = !d->fresh[i] && !repeated(d, &batch->key[i]);
    show(d, batch);
    if (output_flush())
        return SEEN_OK; /* not printed: do not remember them */
    for (size_t i = 0; i < batch->n; i++)
        if (d->fresh[i])
            batch->key[n++] = batch->key[i];
    if (n)
        code = seen_filter_add(d->filter, batch->key, n, NULL, why);
    d->remembered += code == SEEN_OK ? n : code == SEEN_FULL ? why->at : 0;
    return code;
}

/* The last few were printed before the filter said that it is full. */
static enum outcome trouble_full(const struct dedup *d,
                                 const struct seen_error *why)
{
    if (!d->path)
        return trouble_with("dedup", why);
    return trouble("%s: %s; %s URLs were printed, and %s of them are "
                   "remembered",
                   d->path, why->text, show_count(d->kept),
                   show_count(d->remembered));
}

static void report(const struct dedup *d)
{
    if (d->count && d->json) {
        cmd_json_open(NULL, '{');
        cmd_json_count("kept", d->kept);
        cmd_json_count("dropped", d->dropped);
        cmd_json_number("lost", d->lost);
        cmd_json_shut('}');
    } else if (d->count) {
        output_format("kept\t%llu\ndropped\t%llu\n",
                      (unsigned long long)d->kept,
                      (unsigned long long)d->dropped);
    }
    if (d->verbose || isatty(STDERR_FILENO))
        warning("%s kept, %s dropped; about %.2g new ones were dropped by "
                "mistake",
                show_counted(d->kept, "URL"), show_count(d->dropped), d->lost);
}

static enum seen_code dedup_batch(void *to, unsigned thread,
                                  struct seen_batch *batch,
                                  struct seen_error *why)
{
    struct dedup *d = to;
    uint64_t kept = d->kept;
    enum seen_code code;

    (void)thread;
    if (d->path) {
        code = print_first(d, batch, why);
    } else {
        code = seen_filter_add(d->filter, batch->key, batch->n, d->fresh, why);
        if (code == SEEN_OK)
            show(d, batch);
    }
    d->lost += (double)(d->kept - kept) * seen_filter_rate(d->filter);
    d->in.stop = output_dead();
    return code;
}

static enum outcome dedup(struct dedup *d, char **file)
{
    static const char *const standard_input[] = { "-" };
    struct seen_error why = { .code = SEEN_OK };
    size_t files = 0;
    enum outcome out;

    while (file[files])
        files++;
    d->in = (struct seen_ingest){
        .keying.profile = seen_filter_plan(d->filter)->profile,
        .detail = d->json ? SEEN_DETAIL_URL : SEEN_DETAIL_KEY,
        .every = true,
        .strict = d->strict,
        .keys = dedup_batch,
        .to = d,
    };
    out = cmd_source_open(&d->in.source,
                          files ? (const char *const *)file : standard_input,
                          files ? files : 1, &cmd_answering, d->strict);
    if (out == YES) {
        out = cmd_ingest_run(&d->in, "reading", &why);
        if (why.code == SEEN_FULL)
            trouble_full(d, &why);
        else if (why.code != SEEN_OK)
            trouble_with(d->path ? d->path : "dedup", &why);
        cmd_rejects_report(&d->in);
        if (d->in.tally.lost && out == YES)
            out = TROUBLE;
        report(d);
    }
    seen_source_close(d->in.source);
    return out;
}

static enum outcome run(char **argv)
{
    struct dedup *d = calloc(1, sizeof *d);
    enum outcome out = TROUBLE;
    struct seen_error why;
    char **operand;

    if (!d)
        return trouble("no memory for %zu bytes", sizeof *d);
    d->wait.seconds = WAIT_SECONDS;
    operand = options_read(&cmd_dedup, d, argv);
    if (operand && open_filter(d) == YES)
        out = dedup(d, operand);
    if (d->filter && d->path && seen_store_close(d->filter, &why) != SEEN_OK)
        out = trouble_with(d->path, &why);
    else if (d->filter && !d->path)
        seen_filter_free(d->filter);
    free(d);
    return finish(out);
}

const struct command cmd_dedup = {
    .name = "dedup",
    .summary = "print each URL the first time only",
    .synopsis = "[FILE...]",
    .most = -1,
    .options = options,
    .about =
        "Prints the lines of the files, or of standard input, without those "
        "whose URL came before: uniq for URLs, without sorting, in the order of "
        "the input, with about three bytes of memory per distinct URL. A FILE "
        "is a list of URLs or anything else that seen build reads; of WARC and "
        "ARC records the URL is printed. Empty and bad lines are left out.\n"
        "\n"
        "A new URL is dropped by mistake as often as the rate says, one in ten "
        "thousand by default. The filter grows as needed and keeps the rate.\n"
        "\n"
        "With --filter URLs are remembered across runs. Each is printed first "
        "and remembered then, so a run that is killed may print a URL again, "
        "but loses none.\n",
    .exits = "0 if everything was read and printed, 2 if not.",
    .examples = "$ seen dedup found.txt >once.txt\n"
                "$ crawler | seen dedup --filter crawl.seen | fetcher\n",
    .run = run,
};
