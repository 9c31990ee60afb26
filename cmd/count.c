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
#include "json.h"
#include "output.h"
#include "urls.h"

extern const struct command cmd_count;

struct count {
    bool json;
    struct access_how access;
    struct urls_how how;
    struct seen_filter *filter;
    uint64_t count[BATCH];
};

static const struct option options[] = {
    { "json", 0, FLAG, NULL, offsetof(struct count, json),
      "print a JSON object a line: {\"url\": ..., \"count\": 3}" },
    ACCESS_OPTIONS(struct count, access),
    URLS_OPTIONS(struct count, how),
    { .name = NULL }
};

static void show(const struct count *c, const char *url, size_t len,
                 uint64_t count)
{
    if (c->json) {
        json_open(NULL, '{');
        json_text("url", url, len);
        json_count("count", count);
        json_shut('}');
        return;
    }
    output_format("%llu\t", (unsigned long long)count);
    output_bytes(url, len);
    output_bytes("\n", 1);
}

static enum outcome count_all(struct count *c, struct urls *u,
                              const char *path)
{
    const struct batch *batch = &u->batch;
    enum outcome out = YES;
    struct seen_error why;

    while (!output_dead() && urls_next(u)) {
        if (seen_filter_count(c->filter, batch->key, batch->n, c->count,
                              &why) != SEEN_OK)
            return trouble_with(path, &why);
        for (size_t i = 0; i < batch->n; i++) {
            show(c, batch->url[i].text, batch->url[i].len, c->count[i]);
            out = c->count[i] ? out : NO;
        }
    }
    return out;
}

static enum outcome run(char **argv)
{
    struct count *c = calloc(1, sizeof *c);
    enum outcome out = TROUBLE;
    struct urls *u;
    char **operand;

    if (!c)
        return trouble("no memory for %zu bytes", sizeof *c);
    operand = options_read(&cmd_count, c, argv);
    if (!operand)
        goto free_count;
    c->filter = access_read(operand[0], &c->access, !operand[1]);
    if (!c->filter)
        goto free_count;
    u = urls_open(&c->how, operand + 1, seen_filter_plan(c->filter)->profile);
    if (u) {
        out = count_all(c, u, operand[0]);
        out = finish(urls_close(u, out));
    }
    seen_filter_free(c->filter);
free_count:
    free(c);
    return out;
}

const struct command cmd_count = {
    .name = "count",
    .summary = "tell how often URLs were added",
    .synopsis = "FILTER [URL...]",
    .operands = 1,
    .most = -1,
    .options = options,
    .about =
        "Prints for every URL how often it was added, a tab, and the URL. It "
        "takes a filter of kind counting, or routed or spatial over one. A "
        "count is never too low; it is too high as often as the rate says, "
        "and counters of W bits stop at 2^W - 1.\n",
    .exits = "0 if all URLs were added at least once, 1 if one was not, 2 if "
             "something went wrong.",
    .examples = "$ seen count pages.seen http://a.example/\n",
    .run = run,
};
