/*
 * remove.c - seen remove: take URLs back out of a counting filter.
 *
 *     $ seen remove crawl.seen http://a.example/ http://b.example/
 *     removed http://a.example/
 *     absent  http://b.example/
 */
#include "command.h"

#include <stdlib.h>

#include "access.h"
#include "ingest.h"
#include "json.h"
#include "output.h"

struct removal {
    const char *sync;
    bool count, json;
    struct access_options access;
    struct cmd_inputs inputs;
    struct wait wait;

    struct seen_ingest in;
    struct seen_filter *filter;
    uint64_t sum[2]; /* how many were absent, how many removed */
    uint64_t bad;    /* lines that are not URLs */
    bool able;       /* the filter can remove: it was tried */
    uint64_t count_of[SEEN_BATCH];
    struct seen_key
        key[SEEN_BATCH];   /* of a batch, the keys that are present */
    size_t at[SEEN_BATCH];           /* and where they are in it */
    size_t n;
};

static const struct option options[] = {
    { "count", 0, FLAG, NULL, offsetof(struct removal, count),
      "print only how many" },
    { "sync", 0, TEXT, "always|everysec|no", offsetof(struct removal, sync),
      "when a removal is safe from a power failure: before it is printed "
      "(default), about a second later, or when the system writes it" },
    JSON_OPTION(
        struct removal, json,
        "print one JSON object per line: {\"url\": ..., \"removed\": true}"),
    ACCESS_OPTIONS(struct removal, access),
    WAIT_OPTION(struct removal, wait),
    INPUT_OPTIONS(struct removal, inputs),
    KEYS_OPTION(struct removal, inputs),
    { .name = NULL }
};

static void show(struct removal *r, const struct seen_batch *batch, size_t i,
                 bool removed)
{
    r->sum[removed]++;
    if (r->count)
        return;
    if (r->json) {
        cmd_json_open(NULL, '{');
        cmd_json_text("url", batch->url[i].text, batch->url[i].len);
        cmd_json_flag("removed", removed);
        cmd_json_shut('}');
    } else {
        output_text(removed ? "removed\t" : "absent\t");
        output_bytes(batch->url[i].text, batch->url[i].len);
        output_bytes("\n", 1);
    }
}

/*
 * Which of the keys from `from` to `to` have a count? The journal records a
 * removal before the filter can refuse it, and takes it back then; so keys that
 * are known to be absent are not passed to it. The first key of all is passed
 * in any case: a filter that cannot remove then returns its own error.
 */
static enum seen_code find_present(struct removal *r,
                                   const struct seen_batch *batch, size_t from,
                                   size_t to, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    if (r->able)
        code = seen_filter_count(r->filter, batch->key + from, to - from,
                                 r->count_of, why);
    r->n = 0;
    for (size_t i = from; i < to && code == SEEN_OK; i++) {
        if (r->able && !r->count_of[i - from])
            continue;
        r->key[r->n] = batch->key[i];
        r->at[r->n++] = i;
    }
    return code;
}

/* Report the keys up to `to`; those in r->at were removed. */
static void show_until(struct removal *r, const struct seen_batch *batch,
                       size_t from, size_t to)
{
    for (size_t i = from, next = 0; i < to; i++) {
        bool removed = next < r->n && r->at[next] == i;

        next += removed;
        show(r, batch, i, removed);
    }
}

/*
 * Remove a batch. A key may come more often than it was added: its count is
 * then 0 half-way, and the rest of the batch is looked up again. After such a
 * stop steps begin with one key and double, so that the journal gets at most
 * about three times the keys, however many stops there are.
 */
static enum seen_code remove_batch(void *to, unsigned thread,
                                   struct seen_batch *batch,
                                   struct seen_error *why)
{
    struct removal *r = to;
    size_t step = r->able ? batch->n : 1;

    (void)thread;
    for (size_t done = 0, end; done < batch->n; done = end) {
        enum seen_code code;

        end = step < batch->n - done ? done + step : batch->n;
        code = find_present(r, batch, done, end, why);
        if (code != SEEN_OK)
            return code;
        if (r->n)
            code = seen_filter_remove(r->filter, r->key, r->n, why);
        if (code != SEEN_OK && code != SEEN_ABSENT)
            return code;
        r->able = true;
        step *= 2;
        if (code == SEEN_ABSENT) {
            r->n = (size_t)why->at;
            end = r->at[r->n] + 1;
            step = 1;
        }
        show_until(r, batch, done, end);
    }
    return SEEN_OK;
}

static void answer_bad(void *to, struct seen_span line, const char *cause)
{
    struct removal *r = to;

    r->bad++;
    if (!r->count)
        cmd_answer_bad(r->json, "removed", line, cause);
}

static enum outcome remove_urls(struct removal *r, char **operand)
{
    struct seen_error why;
    enum outcome out;

    r->in = (struct seen_ingest){
        .keying = access_keying(r->filter),
        .detail = SEEN_DETAIL_URL,
        .every = true,
        .keys = remove_batch,
        .bad = answer_bad,
        .to = r,
    };
    out = cmd_ingest_urls(&r->in, &r->inputs, operand + 1, &why);
    if (why.code != SEEN_OK)
        return trouble_with(operand[0], &why);
    if (out == TROUBLE && !r->sum[0] && !r->sum[1] && !r->bad)
        return out;
    if (r->count && r->json) {
        cmd_json_open(NULL, '{');
        cmd_json_count("removed", r->sum[1]);
        cmd_json_count("absent", r->sum[0]);
        cmd_json_count("bad", r->bad);
        cmd_json_shut('}');
    } else if (r->count) {
        output_format("removed\t%llu\nabsent\t%llu\n",
                      (unsigned long long)r->sum[1],
                      (unsigned long long)r->sum[0]);
        if (r->bad)
            output_format("bad\t%llu\n", (unsigned long long)r->bad);
    }
    if (r->bad)
        return TROUBLE; /* the bad lines were reported */
    return out == YES && r->sum[0] ? NO : out;
}

static enum outcome run(void *settings, char **operand)
{
    struct removal *r = settings;
    struct seen_error why;
    enum outcome out;

    r->filter = access_write(operand[0], &r->access, false,
                             access_sync(r->sync), false, r->wait);
    if (!r->filter)
        return TROUBLE;
    out = remove_urls(r, operand);
    if (seen_store_close(r->filter, &why) != SEEN_OK)
        out = trouble_with(operand[0], &why);
    return out;
}

const struct command cmd_remove = {
    .name = "remove",
    .summary = "take URLs back out of a counting filter",
    .synopsis = "FILTER [URL...]",
    .operands = 1,
    .most = -1,
    .filters = 1,
    .settings = sizeof(struct removal),
    .options = options,
    .about =
        "Removes URLs that were added before, once for each time that they are "
        "given, and prints for each removed or absent, a tab, and the URL; for a "
        "line that is empty or not a URL it prints bad, a tab, and the line. It "
        "needs a filter of kind counting, or routed or spatial over one.\n"
        "\n"
        "Remove only URLs that were added. If the count of a URL is 0 it was "
        "not added, and nothing is removed: absent. But a URL that was never "
        "added may share all its counters with others, and removing it then "
        "removes part of these.\n",
    .exits = "0 if all URLs were removed, 1 if at least one is absent, 2 if "
             "a URL was bad or something else went wrong.",
    .examples = "$ seen build -o pages.seen --kind counting:8 pages.txt\n"
                "$ seen remove pages.seen http://a.example/gone\n",
    .run = run,
};
