/*
 * dedup.c - seen dedup: each URL the first time only.
 *
 *     $ sort -u < urls.txt        reads all, sorts all, changes the order
 *     $ seen dedup < urls.txt     a few bytes per URL, as fast as it comes
 *
 * The price: a false positive drops a new URL. The default rate is one in ten
 * thousand, lower than that of `seen build`, for this reason.
 *
 * Without --filter a filter of a fixed size is enough, since the keys are kept
 * from which a larger one can be made (dedup_memory.h), and a second thread asks
 * and prints (dedup_lines.h).
 *
 * With --filter URLs are remembered in a file. They are printed first and
 * remembered then: a crash between the two prints a URL twice, but loses none.
 * For a power failure, output to a regular file is flushed before its URLs go
 * to the journal, which is flushed next. Without that order the journal, which
 * is flushed for every batch, remembers URLs whose lines never reached the
 * disk. A pipe has no disk: there the program at its end must keep what it has
 * read.
 *
 * Every new filter has a random seed, so that two crawls err on different
 * URLs: the temporal strategy of the thesis. A URL that is lost in one visit
 * at a rate of p is lost in two visits at a rate of p * p.
 */
#include "command.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seen/kind.h>

#include "../lib/text/number.h"
#include "../lib/text/random.h"
#include "access.h"
#include "dedup_lines.h"
#include "dedup_memory.h"
#include "ingest.h"
#include "json.h"
#include "output.h"

enum { FIRST = 1000000 }; /* URLs that it is for at first without --filter */

struct dedup {
    const char *path, *sync;
    double rate;
    uint64_t capacity;
    uint64_t seed, any; /* the one to use; a random one */
    bool count, strict, verbose, json, keep_bad;
    struct access_options access;
    struct wait wait;

    struct seen_filter *filter;  /* with --filter */
    struct dedup_memory *memory; /* without */
    struct dedup_lines *lines;   /* that the second thread prints; or NULL */
    struct seen_ingest in;
    uint64_t kept, dropped;
    uint64_t remembered; /* of those kept, with --filter */
    double lost;         /* kept ones that were expected to be dropped */
    double rate_now;     /* when `set_then` cells were set */
    uint64_t set_then;
    bool dead; /* nothing can be printed any more */
    bool fresh[DEDUP_KEYS];
    uint64_t recent[4 * SEEN_BATCH][2];  /* hashes of this batch */
    uint64_t stamp[4 * SEEN_BATCH], now; /* of which batch a slot is */
};

static const struct option options[] = {
    { "filter", 'f', PATH, "FILTER", offsetof(struct dedup, path),
      "remember URLs across runs in this filter; created if it is missing" },
    { "capacity", 0, COUNT, "N", offsetof(struct dedup, capacity),
      "distinct URLs to begin with; the filter grows. In Redis it does not; "
      "default there 10M" },
    { "rate", 0, RATE, "RATE", offsetof(struct dedup, rate),
      "share of new URLs that are dropped by mistake; default 0.01%" },
    { "seed", 0, SEED, "N", offsetof(struct dedup, seed),
      "of a new filter: two filters with different seeds drop different URLs "
      "by mistake; default: a random number" },
    { "count", 0, FLAG, NULL, offsetof(struct dedup, count),
      "print only how many were kept and dropped" },
    { "sync", 0, TEXT, "always|everysec|no", offsetof(struct dedup, sync),
      "when URLs in --filter are safe from a power failure; default always" },
    JSON_OPTION(struct dedup, json,
                "print URLs and numbers as JSON objects, one per line"),
    { "verbose", 0, FLAG, NULL, offsetof(struct dedup, verbose),
      "print at the end how many URLs were probably lost, even if standard "
      "error is not a terminal" },
    ACCESS_OPTIONS(struct dedup, access),
    WAIT_OPTION(struct dedup, wait),
    { "keep-bad", 0, FLAG, NULL, offsetof(struct dedup, keep_bad),
      "print bad and empty lines, too, each time" },
    { "strict", 0, FLAG, NULL, offsetof(struct dedup, strict),
      "stop at the first bad line, with exit code 2" },
    { .name = NULL }
};

/* --- the filter --- */

static enum outcome choose(struct dedup *d, struct seen_plan *plan)
{
    struct seen_error why;

    plan->capacity = d->capacity ? d->capacity
                     : d->path   ? SEEN_FIRST_KEYS
                                 : FIRST;
    plan->rate = d->rate > 0 ? d->rate : 0.0001;
    plan->seed = d->seed;
    strcpy(plan->profile, "whatwg");
    if (d->access.profile) {
        if (seen_profile_find(NULL, d->access.profile, &why) != SEEN_OK)
            return trouble_with("--profile", &why);
        strcpy(plan->profile, d->access.profile);
    }
    return YES;
}

/* Was a plan given? A seed is one if it is not the random one. */
static bool planned(const struct dedup *d)
{
    return d->capacity || d->rate > 0 || d->seed != d->any;
}

static enum outcome there_already(const struct dedup *d)
{
    return trouble("%s: exists; --capacity, --rate and --seed are for a new "
                   "filter",
                   d->path);
}

static enum outcome no_key(const struct dedup *d)
{
    return trouble("%s: does not exist; make a keyed filter with seen build%s",
                   d->path,
                   access_is_remote(d->path) ? "" : " --kind growing/KIND");
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
        return no_key(d);
    out = choose(d, &plan);
    if (out != YES)
        return out;
    dedup_memory_kind(&plan);
    plan.tight = true;
    code = seen_filter_new(&d->filter, &plan, &why);
    if (code == SEEN_OK)
        code = seen_store_keep_keys(d->filter, &why);
    if (code != SEEN_OK)
        return trouble_with("dedup", &why);
    do
        code = seen_store_create(d->filter, d->path, &why);
    while (wait_again(&wait, code));
    seen_filter_free(d->filter);
    d->filter = NULL;
    if (code == SEEN_EXISTS)
        return planned(d) ? there_already(d) : YES;
    return code == SEEN_OK ? YES : trouble_with(d->path, &why);
}

/* Another process makes the filter, too: wait until all its parts are there. */
static enum outcome of_another(struct dedup *d, const struct seen_error *why)
{
    struct wait wait = d->wait;
    struct seen_filter *f = NULL;
    enum seen_code code;

    do
        code = access_map(&f, d->path, NULL, NULL, NULL);
    while (wait_again(&wait, code == SEEN_ABSENT ? SEEN_BUSY : code));
    seen_filter_free(f);
    return code == SEEN_ABSENT ? trouble_with(d->path, why) : YES;
}

/*
 * The same on a server. A filter in Redis does not grow, so it begins with more
 * room; what room that is, is said once, because it ends some day.
 */
static enum outcome begin_on_server(struct dedup *d)
{
    struct seen_plan plan = { .rate = d->rate > 0 ? d->rate : 0.0001,
                              .capacity = d->capacity,
                              .seed = d->seed };
    struct wait wait = d->wait;
    struct seen_error why;
    enum seen_code code;

    if (d->access.keyed)
        return no_key(d);
    if (d->access.profile) {
        if (seen_profile_find(NULL, d->access.profile, &why) != SEEN_OK)
            return trouble_with("--profile", &why);
        strcpy(plan.profile, d->access.profile);
    }
    do
        code = access_create(d->path, &plan, &why);
    while (wait_again(&wait, code));
    if (code == SEEN_EXISTS)
        return planned(d) ? there_already(d) : of_another(d, &why);
    if (code != SEEN_OK)
        return trouble_with(d->path, &why);
    if (!d->capacity && *plan.kind)
        warning("%s: made for %s URLs; it does not grow: --capacity makes it "
                "for more",
                d->path, show_count(plan.capacity));
    return YES;
}

/* Begin the filter if there is none. If that cannot be told, opening it gives
   the reason. */
static enum outcome begin_if_missing(struct dedup *d)
{
    struct seen_filter *f = NULL;
    enum seen_code code;

    if (access_is_distant(d->path))
        return YES;
    if (!access_is_remote(d->path)) {
        if (access(d->path, F_OK) == 0 && planned(d))
            return there_already(d);
        return access(d->path, F_OK) < 0 && errno == ENOENT ? begin(d) : YES;
    }
    code = access_map(&f, d->path, NULL, NULL, NULL);
    seen_filter_free(f);
    if (code == SEEN_ABSENT)
        return begin_on_server(d);
    return code == SEEN_OK && planned(d) ? there_already(d) : YES;
}

static enum outcome open_memory(struct dedup *d)
{
    struct seen_plan plan = { .kind = "" };
    struct seen_error why;
    enum outcome out;

    if (d->access.keyed)
        return trouble("--keyed: needs --filter");
    out = choose(d, &plan);
    if (out == YES && dedup_memory_new(&d->memory, &plan, &why) != SEEN_OK)
        out = trouble_with("dedup", &why);
    return out;
}

/* Open the filter that remembers, or begin one. */
static enum outcome open_filter(struct dedup *d)
{
    enum outcome out;

    if (!d->path)
        return open_memory(d);
    out = begin_if_missing(d);
    if (out != YES)
        return out;
    d->filter = access_write(d->path, &d->access, false, access_sync(d->sync),
                             false, d->wait);
    if (!d->filter)
        return TROUBLE;
    /* Before anything is printed that could not be remembered. */
    if (!seen_filter_can(d->filter, SEEN_CAN_ADD))
        return trouble("%s: %s cannot be added to: it is built once; name "
                       "another FILTER, which is made if it is missing",
                       d->path, seen_filter_plan(d->filter)->kind);
    return YES;
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

/* The same of a block: adjacent new lines are printed at once. */
static void show_lines(struct dedup *d, const struct dedup_block *block)
{
    const char *text = block->lines.bytes;
    size_t from = 0, to = 0, fresh = 0;

    for (size_t i = 0; i < block->n; i++) {
        fresh += d->fresh[i];
        if (d->count)
            continue;
        if (!d->fresh[i]) {
            output_bytes(text + from, to - from);
            from = block->end[i];
        }
        to = block->end[i];
    }
    if (to > from)
        output_bytes(text + from, to - from);
    d->kept += fresh;
    d->dropped += block->n - fresh;
}

/* --sync no promises nothing after a power failure. */
static int print_out(const struct dedup *d)
{
    return access_sync(d->sync) == SEEN_SYNC_NO ? output_flush()
                                                : output_sync();
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
    if (print_out(d))
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

/*
 * Count what was probably lost among n that were kept. The rate of now is a
 * long sum, so that of one percent fewer cells is taken for it. The cells of a
 * server are counted nowhere, and RedisBloom does not say its rate.
 */
static void count_lost(struct dedup *d, const struct seen_filter *f,
                       uint64_t n)
{
    uint64_t set = seen_filter_cells_set(f);

    if (!set || set < d->set_then || set - d->set_then > d->set_then / 100) {
        d->rate_now = seen_filter_rate(f);
        d->set_then = set;
    }
    if (!isnan(d->rate_now))
        d->lost += (double)n * d->rate_now;
}

/* Without --filter: a block of lines, in the second thread if there is one. */
static enum seen_code dedup_block(void *to, struct dedup_block *block,
                                  struct seen_error *why)
{
    struct dedup *d = to;
    uint64_t kept = d->kept;
    enum seen_code code = dedup_memory_add(d->memory, block->key, block->n,
                                           d->fresh, why);

    if (code != SEEN_OK)
        return code;
    show_lines(d, block);
    count_lost(d, dedup_memory_filter(d->memory), d->kept - kept);
    __atomic_store_n(&d->dead, output_dead(), __ATOMIC_RELAXED);
    return SEEN_OK;
}

static enum seen_code dedup_batch(void *to, unsigned thread,
                                  struct seen_batch *batch,
                                  struct seen_error *why)
{
    struct dedup *d = to;
    uint64_t kept = d->kept;
    enum seen_code code;

    (void)thread;
    if (d->lines) {
        code = dedup_lines_add(d->lines, batch, !d->count, why);
        d->in.stop = __atomic_load_n(&d->dead, __ATOMIC_RELAXED);
        return code;
    }
    if (d->path) {
        code = print_first(d, batch, why);
    } else {
        code = dedup_memory_add(d->memory, batch->key, batch->n, d->fresh,
                                why);
        if (code == SEEN_OK)
            show(d, batch);
    }
    if (code == SEEN_OK || d->path)
        count_lost(d, d->path ? d->filter : dedup_memory_filter(d->memory),
                   d->kept - kept);
    d->in.stop = output_dead();
    return code;
}

/* The reader is about to wait for more of a pipe. A failure here is found again
   when the next line comes, or at the end. */
static void before_wait(void *to)
{
    struct dedup *d = to;

    if (d->lines)
        dedup_lines_drain(d->lines, NULL);
    output_flush();
}

static void keep_bad(void *to, struct seen_span line, const char *cause)
{
    struct dedup *d = to;

    if (d->count)
        return;
    if (d->lines)
        dedup_lines_drain(d->lines, NULL);
    if (d->json) {
        cmd_answer_bad(true, NULL, line, cause);
    } else {
        output_bytes(line.text, line.len);
        output_bytes("\n", 1);
    }
    d->in.stop = output_dead();
}

/* The legend of CDX files goes first, if all inputs have the same one. */
static void print_legend(const struct dedup *d)
{
    const struct seen_layout *first, *l;
    const char *name, *packing;

    if (d->count || d->json ||
        !seen_source_file(d->in.source, 0, &name, &first, &packing))
        return;
    for (size_t i = 0; seen_source_file(d->in.source, i, &name, &l, &packing);
         i++)
        if (l->format != SEEN_FORMAT_CDX || !l->legend ||
            l->delimiter != first->delimiter || l->columns != first->columns ||
            memcmp(l->letter, first->letter, l->columns))
            return;
    output_format("%cCDX", first->delimiter);
    for (unsigned i = 0; i < first->columns; i++)
        output_format("%c%c", first->delimiter, first->letter[i]);
    output_text("\n");
}

static enum outcome dedup(struct dedup *d, char **file)
{
    static const char *const standard_input[] = { "-" };
    const struct seen_source_options way = { .in_order = true,
                                             .wait = before_wait,
                                             .to = d };
    struct seen_error why = { .code = SEEN_OK };
    size_t files = 0;
    enum outcome out;

    while (file[files])
        files++;
    d->in = (struct seen_ingest){
        .keying = access_keying(d->path ? d->filter
                                        : dedup_memory_filter(d->memory)),
        .detail = d->json ? SEEN_DETAIL_URL : SEEN_DETAIL_KEY,
        .every = true,
        .strict = d->strict,
        .keys = dedup_batch,
        .bad = d->keep_bad ? keep_bad : NULL,
        .to = d,
    };
    cmd_keys_choose(&d->in.keying, NULL);
    out = cmd_source_open(&d->in.source,
                          files ? (const char *const *)file : standard_input,
                          files ? files : 1, &way, d->strict);
    if (out == YES && !d->path && !d->json) {
        d->lines = dedup_lines_new(dedup_block, d);
        if (!d->lines)
            out = trouble("no memory for lines");
    }
    if (out == YES) {
        print_legend(d);
        out = cmd_ingest_run(&d->in, "reading", &why);
        if (d->lines && why.code == SEEN_OK &&
            dedup_lines_drain(d->lines, &why) != SEEN_OK)
            out = TROUBLE;
        if (why.code == SEEN_FULL)
            trouble_full(d, &why);
        else if (why.code == SEEN_IO && !d->path)
            trouble("dedup: %s; TMPDIR can name a folder with more room",
                    why.text);
        else if (why.code != SEEN_OK)
            trouble_with(d->path ? d->path : "dedup", &why);
        cmd_rejects_report(&d->in);
        cmd_left_out_report(d->in.source);
        if (cmd_keys_report(&d->in, NULL) != YES || cmd_ingest_lost(&d->in) ||
            (d->in.rejects.count && !d->in.tally.urls))
            out = TROUBLE; /* not read to the end, or every line was bad */
        report(d);
    }
    seen_source_close(d->in.source);
    return out;
}

static void set_seed(void *settings)
{
    struct dedup *d = settings;

    d->seed = d->any = random_seed();
}

static enum outcome run(void *settings, char **operand)
{
    struct dedup *d = settings;
    enum outcome out = TROUBLE;
    struct seen_error why;

    if (open_filter(d) == YES)
        out = dedup(d, operand);
    if (d->filter && seen_store_close(d->filter, &why) != SEEN_OK)
        out = trouble_with(d->path, &why);
    dedup_lines_free(d->lines);
    dedup_memory_free(d->memory);
    return out;
}

const struct command cmd_dedup = {
    .name = "dedup",
    .summary = "print each URL the first time only",
    .synopsis = "[FILE...]",
    .most = -1,
    .settings = sizeof(struct dedup),
    .options = options,
    .about =
        "Prints the lines of the files, or of standard input, without those "
        "whose URL came before: uniq for URLs, without sorting, in the order of "
        "the input, with three to ten bytes of memory per distinct URL, and 16 "
        "bytes in a temporary file in $TMPDIR or /var/tmp for those past the "
        "first million. A FILE "
        "is a list of URLs or anything else that seen build reads; of WARC and "
        "ARC records the URL is printed, and the legend of CDX files is "
        "kept. Empty and bad lines are left out, "
        "unless --keep-bad is given.\n"
        "\n"
        "A new URL is dropped by mistake as often as the rate says, one in ten "
        "thousand by default. When the filter is full, one for twice as many is made "
        "of the keys in the temporary file, so that the rate is kept. A "
        "new filter has a random seed, so that another run, or the filter of "
        "the next crawl, drops other URLs by mistake.\n"
        "\n"
        "With --filter URLs are remembered across runs. A file that is made "
        "grows: FILTER.keys has the keys, 16 bytes each. Each is printed first "
        "and remembered then, so a run that is killed may print a URL again, "
        "but loses none. If standard output is a regular file, this also holds "
        "for a power failure, unless --sync no is given: the file is flushed "
        "before its URLs are remembered. At the end of a pipe, the reader has "
        "to save what it has read.\n"
        "\n"
        "FILTER may be an address on a server, and such a filter is made, too: "
        "in Redis for --capacity URLs, of a kind that can live there, behind "
        "BF commands as one that grows. doc/remote.md has the addresses.\n",
    .exits =
        "0 if everything was read and printed, 2 if not, or if every line "
        "was bad.",
    .examples = "$ seen dedup found.txt >once.txt\n"
                "$ crawler | seen dedup --filter crawl.seen | fetcher\n",
    .begin = set_seed,
    .run = run,
};
