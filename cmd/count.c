/*
 * count.c - seen count: how often was each URL added?
 *
 *     $ seen count pages.seen http://a.example/ http://b.example/
 *     3       http://a.example/
 *     0       http://b.example/
 */
#include "command.h"

#include <stdlib.h>

#include "access.h"
#include "ingest.h"
#include "json.h"
#include "output.h"

struct count {
    bool json;
    struct access_options access;
    struct cmd_inputs inputs;

    struct seen_filter *filter;
    struct seen_ingest in;
    bool absent; /* at least one was never added */
    bool bad;    /* at least one is not a URL */
    uint64_t count[SEEN_BATCH];
};

static const struct option options[] = {
    JSON_OPTION(
        struct count, json,
        "print one JSON object per line: {\"url\": ..., \"count\": 3}"),
    VERIFY_OPTION(struct count, access),
    ACCESS_OPTIONS(struct count, access),
    INPUT_OPTIONS(struct count, inputs),
    KEYS_OPTION(struct count, inputs),
    { .name = NULL }
};

static void show(const struct count *c, const char *url, size_t len,
                 uint64_t count)
{
    if (c->json) {
        cmd_json_open(NULL, '{');
        cmd_json_text("url", url, len);
        cmd_json_count("count", count);
        cmd_json_shut('}');
        return;
    }
    output_format("%llu\t", (unsigned long long)count);
    output_bytes(url, len);
    output_bytes("\n", 1);
}

static enum seen_code answer(void *to, unsigned thread,
                             struct seen_batch *batch, struct seen_error *why)
{
    struct count *c = to;
    enum seen_code code = seen_filter_count(c->filter, batch->key, batch->n,
                                            c->count, why);

    (void)thread;
    for (size_t i = 0; i < batch->n && code == SEEN_OK; i++) {
        show(c, batch->url[i].text, batch->url[i].len, c->count[i]);
        c->absent |= !c->count[i];
    }
    c->in.stop = output_dead();
    return code;
}

static void answer_bad(void *to, struct seen_span line, const char *cause)
{
    struct count *c = to;

    c->bad = true;
    cmd_answer_bad(c->json, "count", line, cause);
    c->in.stop = output_dead();
}

static enum outcome count(struct count *c, char **operand)
{
    struct seen_error why;
    enum outcome out;

    c->in = (struct seen_ingest){
        .keying = access_keying(c->filter),
        .detail = SEEN_DETAIL_URL,
        .every = true,
        .keys = answer,
        .bad = answer_bad,
        .to = c,
    };
    out = cmd_ingest_urls(&c->in, &c->inputs, operand + 1, &why);
    if (why.code != SEEN_OK)
        return trouble_with(operand[0], &why);
    if (c->bad)
        return TROUBLE; /* the bad lines were reported */
    return out == YES && c->absent ? NO : out;
}

static enum outcome run(void *settings, char **operand)
{
    struct count *c = settings;
    enum outcome out;

    c->filter = access_read(operand[0], &c->access, operand[1]);
    if (!c->filter)
        return TROUBLE;
    out = count(c, operand);
    seen_filter_free(c->filter);
    return out;
}

const struct command cmd_count = {
    .name = "count",
    .summary = "print how often URLs were added",
    .synopsis = "FILTER [URL...]",
    .operands = 1,
    .most = -1,
    .filters = 1,
    .settings = sizeof(struct count),
    .options = options,
    .about =
        "Prints for every URL how often it was added, a tab, and the URL. It "
        "needs a filter of kind counting, or routed or spatial over one. A "
        "count is never too low; it is too high as often as the rate says. "
        "Counters of W bits stop at 2^W - 1. For a line that is empty or not a "
        "URL it prints bad, a tab, and the line.\n"
        "\n"
        "For URLs that are operands, only the parts of the file that they need "
        "are read and verified, as seen check does.\n",
    .exits = "0 if all URLs were added at least once, 1 if one was not, 2 if "
             "a URL was bad or something else went wrong.",
    .examples = "$ seen count pages.seen http://a.example/\n",
    .run = run,
};
