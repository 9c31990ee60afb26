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
#include "json.h"
#include "output.h"
#include "urls.h"

extern const struct command cmd_remove;

struct removal {
    const char *sync;
    bool count, json;
    struct access_how access;
    struct urls_how how;

    struct seen_filter *filter;
    uint64_t sum[2];            /* how many were absent, how many removed */
};

static const struct option options[] = {
    { "count", 0, FLAG, NULL, offsetof(struct removal, count),
      "print only how many" },
    { "sync", 0, TEXT, "always|everysec|no", offsetof(struct removal, sync),
      "when a removal is safe from a power failure: before it is printed "
      "(default), about a second later, or when the system writes it" },
    { "json", 0, FLAG, NULL, offsetof(struct removal, json),
      "print a JSON object a line: {\"url\": ..., \"removed\": true}" },
    ACCESS_OPTIONS(struct removal, access),
    URLS_OPTIONS(struct removal, how),
    { .name = NULL }
};

static void show(struct removal *r, const struct batch *batch, size_t from,
                 size_t to, bool removed)
{
    r->sum[removed] += to - from;
    for (size_t i = from; i < to && !r->count; i++) {
        if (r->json) {
            json_open(NULL, '{');
            json_text("url", batch->url[i].text, batch->url[i].len);
            json_flag("removed", removed);
            json_shut('}');
        } else {
            output_text(removed ? "removed\t" : "absent\t");
            output_bytes(batch->url[i].text, batch->url[i].len);
            output_bytes("\n", 1);
        }
    }
}

/* Remove a batch; what stops at an absent key goes on behind it. */
static enum seen_code remove_batch(struct removal *r,
                                   const struct batch *batch,
                                   struct seen_error *why)
{
    enum seen_code code;

    for (size_t done = 0; done < batch->n;) {
        size_t n;

        code = seen_filter_remove(r->filter, batch->key + done,
                                  batch->n - done, why);
        if (code != SEEN_OK && code != SEEN_RANGE)
            return code;
        n = code == SEEN_OK ? batch->n - done : (size_t)why->at;
        show(r, batch, done, done + n, true);
        done += n;
        if (code == SEEN_RANGE) {
            show(r, batch, done, done + 1, false);
            done++;
        }
    }
    return SEEN_OK;
}

static enum outcome remove_all(struct removal *r, struct urls *u,
                               const char *path)
{
    struct seen_error why;

    while (urls_next(u))
        if (remove_batch(r, &u->batch, &why) != SEEN_OK)
            return trouble_with(path, &why);
    if (r->count && r->json) {
        json_open(NULL, '{');
        json_count("removed", r->sum[1]);
        json_count("absent", r->sum[0]);
        json_shut('}');
    } else if (r->count) {
        output_format("removed\t%llu\nabsent\t%llu\n",
                      (unsigned long long)r->sum[1],
                      (unsigned long long)r->sum[0]);
    }
    return r->sum[0] ? NO : YES;
}

static enum outcome run(char **argv)
{
    struct removal *r = calloc(1, sizeof *r);
    enum outcome out = TROUBLE;
    struct seen_error why;
    struct urls *u;
    char **operand;

    if (!r)
        return trouble("no memory for %zu bytes", sizeof *r);
    operand = options_read(&cmd_remove, r, argv);
    if (!operand)
        goto free_removal;
    r->filter = access_write(operand[0], &r->access, access_sync(r->sync),
                             false);
    if (!r->filter)
        goto free_removal;
    u = urls_open(&r->how, operand + 1, seen_filter_plan(r->filter)->profile);
    if (u)
        out = urls_close(u, remove_all(r, u, operand[0]));
    if (seen_store_close(r->filter, &why) != SEEN_OK)
        out = trouble_with(operand[0], &why);
    out = finish(out);
free_removal:
    free(r);
    return out;
}

const struct command cmd_remove = {
    .name = "remove",
    .summary = "take URLs back out of a counting filter",
    .synopsis = "FILTER [URL...]",
    .operands = 1,
    .most = -1,
    .options = options,
    .about =
        "Takes URLs back that were added before, once for each time that they "
        "are given, and says of each removed or absent, a tab, and the URL. "
        "It takes a filter of kind counting, or routed or spatial over one.\n"
        "\n"
        "Remove only what was added. A URL whose count is 0 was not, and is "
        "left alone: absent. But one that was never added may share all its "
        "counters with others, and removing it then takes theirs.\n",
    .exits = "0 if all URLs were removed, 1 if at least one is absent, 2 if "
             "something went wrong.",
    .examples = "$ seen build -o pages.seen --kind counting:8 pages.txt\n"
                "$ seen remove pages.seen http://a.example/gone\n",
    .run = run,
};
