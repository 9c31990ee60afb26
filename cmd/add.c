/*
 * add.c - seen add: remember these URLs, durably.
 *
 *     $ seen add crawl.seen http://a.example/ http://b.example/
 *     2 URLs: 1 new, 1 seen; rate now 0.0031, 41.2 % of capacity
 *
 * A file that is not there is made: a filter that keeps its keys and grows, so
 * that nobody has to know how many URLs will come.
 *
 * URLs that were added survive a kill at any moment and, with --sync always
 * (the default), a power failure. --ack prints each URL when it is safe.
 *
 * Each call of seen_filter_add() ends with a flush of the journal. Without --ack
 * no URL is reported by itself, so the keys of a list are gathered, as long as
 * more of it comes without waiting: 2 million URLs took 37 flushes instead of
 * 2,200.
 */
#include "command.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seen/kind.h>

#include "../lib/text/number.h"
#include "access.h"
#include "ingest.h"
#include "json.h"
#include "output.h"
#include "secret.h"
#include "select.h"

enum { GATHERED = 1 << 16 }; /* keys */

struct add {
    const char *sync;
    uint64_t capacity; /* of a new filter */
    double rate;       /* of a new filter; 0: not given */
    bool over, ack, json;
    struct access_options access;
    struct cmd_inputs inputs;
    struct select_options conditions;
    struct wait wait;

    struct seen_filter *filter;
    const char *path;
    struct seen_ingest in;
    struct select *select;
    uint64_t sum[2]; /* how many were seen, how many new */
    bool *fresh;
    struct seen_key *gathered; /* or NULL: none are */
    size_t gathers;
    struct seen_error failed; /* when there was nobody to tell */
};

static const struct option options[] = {
    { "sync", 0, TEXT, "always|everysec|no", offsetof(struct add, sync),
      "when URLs are safe from a power failure: before they are acknowledged "
      "(default), about a second later, or when the system writes them; a "
      "killed process loses nothing in any case" },
    { "over", 0, FLAG, NULL, offsetof(struct add, over),
      "go on past the capacity, with a rising rate" },
    { "capacity", 0, COUNT, "N", offsetof(struct add, capacity),
      "of a new filter: distinct URLs to begin with; it grows; default 20000" },
    { "rate", 0, RATE, "RATE", offsetof(struct add, rate),
      "of a new filter: share of wrong answers, whatever its size; default "
      "1%" },
    { "ack", 0, FLAG, NULL, offsetof(struct add, ack),
      "print each URL when it is safe, and an empty line for a bad one; the "
      "summary goes to standard error" },
    JSON_OPTION(
        struct add, json,
        "print the summary as a JSON object; with --ack also each URL: "
        "{\"url\": ..., \"new\": true}"),
    VERIFY_OPTION(struct add, access),
    ACCESS_OPTIONS(struct add, access),
    INPUT_OPTIONS(struct add, inputs),
    KEYS_OPTION(struct add, inputs),
    WAIT_OPTION(struct add, wait),
    SELECT_OPTIONS(struct add, conditions),
    { .name = NULL }
};

/* The share of the capacity that is used; 0 for filters that grow. */
static double share(const struct seen_filter *f)
{
    const struct seen_plan *p = seen_filter_plan(f);

    if (seen_filter_can(f, SEEN_CAN_GROW) || !p->capacity ||
        seen_store_grows(f, NULL))
        return 0;
    return seen_filter_entries(f) / (double)p->capacity;
}

static void acknowledge(const struct add *a, const struct seen_batch *batch,
                        size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (a->json) {
            cmd_json_open(NULL, '{');
            cmd_json_text("url", batch->url[i].text, batch->url[i].len);
            cmd_json_flag("new", a->fresh[i]);
            cmd_json_shut('}');
        } else {
            output_bytes(batch->url[i].text, batch->url[i].len);
            output_bytes("\n", 1);
        }
    }
    output_flush();
}

/* Every line gets one line, so that nobody waits for one that does not come. */
static void acknowledge_bad(void *to, struct seen_span line, const char *cause)
{
    struct add *a = to;

    if (a->json)
        cmd_answer_bad(true, "new", line, cause);
    else
        output_bytes("\n", 1);
    output_flush();
}

/* Add n keys; of those that do not fit, what does. *done is their number. */
static enum seen_code add_keys(struct add *a, const struct seen_key *key,
                               size_t n, size_t *done, struct seen_error *why)
{
    enum seen_code code = seen_filter_add(a->filter, key, n, a->fresh, why);

    *done = code == SEEN_OK ? n : code == SEEN_FULL ? (size_t)why->at : 0;
    for (size_t i = 0; i < *done; i++)
        a->sum[a->fresh[i]]++;
    return code;
}

static enum seen_code add_gathered(struct add *a, struct seen_error *why)
{
    size_t n = a->gathers, done;

    a->gathers = 0;
    if (a->failed.code != SEEN_OK)
        *why = a->failed;
    if (a->failed.code != SEEN_OK || !n)
        return a->failed.code;
    return add_keys(a, a->gathered, n, &done, why);
}

/* A filter that keeps its keys grows after an add, and must not be far past its
   capacity until then. */
static size_t most(const struct add *a)
{
    uint64_t size = seen_filter_plan(a->filter)->capacity;
    uint64_t offered = seen_filter_offered(a->filter);
    uint64_t n = (size > offered ? size : offered) / 64;

    return n < SEEN_BATCH ? SEEN_BATCH : n < GATHERED ? (size_t)n : GATHERED;
}

/* The texts of keys are gone when they are added. */
static enum seen_code gather(struct add *a, const struct seen_batch *batch,
                             struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    if (a->failed.code != SEEN_OK || a->gathers + batch->n > most(a))
        code = add_gathered(a, why);
    for (size_t i = 0; i < batch->n && code == SEEN_OK; i++)
        a->gathered[a->gathers++] = (struct seen_key){
            .lo = batch->key[i].lo, .hi = batch->key[i].hi
        };
    return code;
}

/* What came so far must not wait for what may come. */
static void before_wait(void *to)
{
    struct add *a = to;
    struct seen_error why = { .code = SEEN_OK };

    if (a->failed.code == SEEN_OK && add_gathered(a, &why) != SEEN_OK)
        a->failed = why;
}

static enum seen_code add_batch(void *to, unsigned thread,
                                struct seen_batch *batch,
                                struct seen_error *why)
{
    struct add *a = to;
    enum seen_code code;
    size_t done;

    (void)thread;
    if (a->gathered)
        return gather(a, batch, why);
    code = add_keys(a, batch->key, batch->n, &done, why);
    if (a->ack)
        acknowledge(a, batch, done);
    return code;
}

static enum outcome refused(const struct add *a, const struct seen_error *why)
{
    const char *kind = seen_filter_plan(a->filter)->kind;
    const char *leaf = strrchr(kind, '/');

    if (why->code == SEEN_FULL && access_is_remote(a->path))
        return trouble(
            "%s: %s after %s of these URLs; %sbuild a larger filter", a->path,
            why->text, show_count(a->sum[0] + a->sum[1]),
            strncmp(a->path, "bf", 2) ? "go on with --over, or " : "");
    if (why->code == SEEN_FULL && seen_kind_can(kind, SEEN_ADDS_PARTS))
        return trouble("%s: %s after %s of these URLs; go on with --over, "
                       "or build a filter of kind growing/%s",
                       a->path, why->text, show_count(a->sum[0] + a->sum[1]),
                       leaf ? leaf + 1 : kind);
    if (why->code == SEEN_FULL)
        return trouble("%s: %s after %s of these URLs; go on with --over, "
                       "or with a second part: seen convert %s --kind "
                       "growing/%s -o OUT",
                       a->path, why->text, show_count(a->sum[0] + a->sum[1]),
                       a->path, kind);
    return trouble_with(a->path, why);
}

static bool selected(void *to, const struct seen_capture *c)
{
    const struct add *a = to;

    return select_takes(a->select, c);
}

/*
 * In the order of the input, because the journal keeps it. Captures of one URL
 * follow each other in an index and need to be added only once, unless the
 * filter counts or each line is to be acknowledged.
 */
static enum outcome add(struct add *a, char **url)
{
    const struct seen_plan *plan = seen_filter_plan(a->filter);
    struct seen_error why;
    enum outcome out;

    a->in = (struct seen_ingest){
        .keying = access_keying(a->filter),
        .detail = a->ack ? SEEN_DETAIL_URL : SEEN_DETAIL_KEY,
        .every = a->ack || !a->inputs.inputs.n ||
                 seen_kind_can(plan->kind, SEEN_CAN_COUNT),
        .keys = add_batch,
        .bad = a->ack ? acknowledge_bad : NULL,
        .to = a,
    };
    out = select_new(&a->select, &a->conditions);
    if (out == YES && a->select) {
        a->in.select = selected;
        if (select_detail(a->select) > a->in.detail)
            a->in.detail = select_detail(a->select);
    }
    if (out == YES) {
        out = cmd_ingest_urls(&a->in, &a->inputs, url, &why);
        if (why.code == SEEN_OK && add_gathered(a, &why) != SEEN_OK)
            out = TROUBLE;
        if (why.code != SEEN_OK)
            refused(a, &why);
        else if (out == YES && a->in.rejects.count && !a->in.tally.urls)
            out = TROUBLE; /* every line was bad: not a list of URLs */
        else if (a->select && !a->in.tally.captures &&
                 a->in.tally.lines > a->in.rejects.count)
            warning("no capture meets the conditions");
    }
    select_free(a->select);
    return out;
}

/*
 * Past its capacity a filter may still err less than planned: cells come in
 * whole lines, and parts are planned with some room to spare.
 */
static void warn_if_full(const struct add *a, double full)
{
    const struct seen_filter *f = a->filter;
    double left = (double)seen_filter_plan(f)->capacity -
                  seen_filter_entries(f);
    bool above = seen_filter_rate(f) > seen_filter_planned(f);
    struct seen_error why;

    if (seen_store_keeps(f) && !seen_store_grows(f, &why))
        warning("%s: cannot grow: %s", a->path, why.text);
    if (above && full > 0)
        warning("%s: %s full; the rate is above the planned one", a->path,
                show_percent(full));
    else if (above)
        warning("%s: the rate is above the planned one", a->path);
    else if (full > 1)
        warning("%s: %s full; the rate is not yet above the planned one",
                a->path, show_percent(full));
    else if (full >= 0.9)
        warning("%s: %s full; there is room for about %s more", a->path,
                show_percent(full), show_estimate(left));
}

static void report(const struct add *a)
{
    const struct seen_filter *f = a->filter;
    double full = share(f), rate = seen_filter_rate(f);
    uint64_t all = a->sum[0] + a->sum[1];

    warn_if_full(a, full);
    if (a->json) {
        cmd_json_open(NULL, '{');
        cmd_json_count("urls", all);
        cmd_json_count("new", a->sum[1]);
        cmd_json_count("seen", a->sum[0]);
        cmd_json_number("entries", seen_filter_entries(f));
        cmd_json_number("rate", rate);
        cmd_json_shut('}');
        return;
    }
    (a->ack ? warning : output_format)(
        "%s: %s new, %s seen%s%s%s%s%s", show_counted(all, "URL"),
        show_count(a->sum[1]), show_count(a->sum[0]),
        isnan(rate) ? "" : "; rate now ", isnan(rate) ? "" : show_rate(rate),
        full > 0 ? ", " : "", full > 0 ? show_percent(full) : "",
        full > 0 ? " of capacity" : "");
    if (!a->ack)
        output_text("\n");
}

/* Operands are few. Keys that are hashed with their texts cannot be gathered
   without these, and a server has no journal. */
static bool make_room(struct add *a, bool few)
{
    const struct seen_plan *plan = seen_filter_plan(a->filter);
    bool gathers = !few && !a->ack && !plan->keyed &&
                   !access_is_remote(a->path) &&
                   !seen_filter_can(a->filter, SEEN_READS_TEXT);

    a->inputs.wait = gathers ? before_wait : NULL;
    a->fresh = malloc(gathers ? GATHERED : SEEN_BATCH);
    if (gathers)
        a->gathered = malloc(GATHERED * sizeof *a->gathered);
    return a->fresh && (!gathers || a->gathered);
}

/* --- a new filter --- */

static enum outcome begin(struct add *a)
{
    const char *profile = a->access.profile ? a->access.profile : "surt";
    struct seen_plan plan = { .capacity = SEEN_FIRST_KEYS,
                              .rate = a->rate > 0 ? a->rate : 0.01,
                              .tight = true };
    unsigned char secret[SEEN_SECRET];
    struct wait wait = a->wait;
    struct seen_filter *f;
    struct seen_error why;
    enum seen_code code;

    if (seen_profile_find(NULL, profile, &why) != SEEN_OK)
        return trouble_with("--profile", &why);
    if (a->access.keyed && !secret_read(a->access.keyed, secret))
        return TROUBLE;
    if (a->capacity)
        plan.capacity = a->capacity;
    strcpy(plan.profile, profile);
    seen_kind_for_rate(plan.kind, plan.rate);
    plan.keyed = a->access.keyed;
    code = seen_filter_new_keyed(&f, &plan, plan.keyed ? secret : NULL, &why);
    explicit_bzero(secret, sizeof secret);
    if (code == SEEN_OK)
        code = seen_store_keep_keys(f, &why);
    if (code == SEEN_OK)
        do
            code = seen_store_create(f, a->path, &why);
        while (wait_again(&wait, code));
    seen_filter_free(f);
    if (code == SEEN_EXISTS) /* another process was faster */
        return YES;
    if (code != SEEN_OK)
        return trouble_with(a->path, &why);
    warning("%s: a new filter, of profile %s and a rate of %s; it grows, and "
            "keeps its keys in %s.keys",
            a->path, profile, show_rate(plan.rate), a->path);
    return YES;
}

static bool missing(const char *path)
{
    return !access_is_remote(path) && !access_is_distant(path) &&
           access(path, F_OK) && errno == ENOENT;
}

/* The same command makes the filter once, and adds to it later. */
static enum outcome compare_rate(const struct add *a)
{
    double rate = seen_filter_plan(a->filter)->rate;

    if (!(a->rate > 0) || fabs(rate - a->rate) <= 1e-9 * rate)
        return YES;
    return trouble("%s: exists, with a rate of %s; --rate is for a new filter",
                   a->path, show_rate(rate));
}

static enum outcome run(void *settings, char **operand)
{
    struct add *a = settings;
    struct seen_error why;
    enum outcome out;

    a->path = operand[0];
    if (missing(a->path) && begin(a) != YES)
        return TROUBLE;
    a->filter = access_write(a->path, &a->access, operand[1],
                             access_sync(a->sync), a->over, a->wait);
    if (!a->filter)
        return TROUBLE;
    out = compare_rate(a);
    if (out == YES && !make_room(a, operand[1]))
        out = trouble("no memory for keys");
    if (out == YES)
        out = add(a, operand + 1);
    if (out == YES || a->sum[0] || a->sum[1])
        report(a);
    if (seen_store_close(a->filter, &why) != SEEN_OK)
        out = trouble_with(a->path, &why);
    free(a->gathered);
    free(a->fresh);
    return out;
}

const struct command cmd_add = {
    .name = "add",
    .summary = "add URLs to a filter, durably",
    .synopsis = "FILTER [URL...]",
    .operands = 1,
    .most = -1,
    .filters = 1,
    .settings = sizeof(struct add),
    .absent = cmd_keys_absent,
    .options = options,
    .about =
        "Adds URLs, and prints how many were new and the rate after that. If "
        "FILTER does not exist, it is made, and grows: it begins with room for "
        "20,000 URLs, has the planned rate at every size, and takes at most "
        "twice the memory of a filter that was planned for its URLs. For this "
        "it keeps 16 bytes per URL, which are read only to grow, in the file "
        "FILTER.keys (mode 0600: hashes of URLs can be guessed). A copy of "
        "FILTER alone answers, but does not grow. seen meta FILTER "
        "--forget-keys removes the keys. The "
        "URLs are operands, or come from standard input, or from the files and "
        "folders given by -i: lists of URLs, and all that seen build reads. For "
        "a large index use --sync no, which makes the journal cheap; after a "
        "power failure, add the index again.\n"
        "\n"
        "Every add is written to a journal beside the filter first, so a "
        "command that is killed loses nothing that it acknowledged. One "
        "command at a time can add; others wait for it a few seconds. Any "
        "number can check meanwhile. From 90 % of the capacity on there is a "
        "warning. A full filter refuses more URLs: give --over and let the "
        "rate rise, or convert it to a filter of kind growing/KIND, which is "
        "never full: seen convert FILTER --kind growing/KIND -o OUT.\n"
        "\n"
        "For URLs that are operands, a filter that is changed in place (blocked "
        "and bloom, also spatial and routed) is read and verified only in the "
        "blocks of 64 KiB that they need, with --sync always. A damaged block "
        "that is needed is refused; one that is not stays as it is, and is "
        "still found later. --verify verifies the whole file first, as is "
        "always done for lists.\n"
        "\n"
        "FILTER may also be the address of a filter on a server, such as "
        "redis://HOST:PORT/NAME or bf://HOST:PORT/NAME: see doc/remote.md. There is no journal; "
        "any number of processes may add at once, and URLs are as safe as "
        "the server keeps them.\n",
    .exits =
        "0 if all URLs were added, 2 if not, also if a part of the input "
        "could not be read; bad lines do not change it unless all were bad or "
        "--strict is given.",
    .examples = "$ crawler | seen add new.seen\n"
                "$ seen add crawl.seen http://a.example/ http://b.example/\n"
                "$ crawler | seen add --sync everysec --ack crawl.seen\n",
    .run = run,
};
