/*
 * merge.c - seen merge: the union of filters.
 *
 *     $ seen merge -o all.seen monday.seen tuesday.seen
 *
 * Builds are parallel this way over any number of machines: build parts
 * anywhere, with one plan and seed, and merge them.
 */
#include "command.h"

#include <stdlib.h>
#include <string.h>

#include <seen/store.h>

#include "../lib/text/number.h"
#include "access.h"
#include "json.h"
#include "output.h"
#include "wait.h"

struct merge {
    const char *output;
    bool over, json, quiet;
    struct wait wait;
};

static const struct option options[] = {
    { "output", 'o', PATH, "OUT", offsetof(struct merge, output),
      "write the union to this file, which may be one of the filters" },
    { "over", 0, FLAG, NULL, offsetof(struct merge, over),
      "write it though it is past its capacity, with a higher rate" },
    JSON_OPTION(struct merge, json,
                "print the report as a JSON object on standard output"),
    QUIET_OPTION(struct merge, quiet),
    WAIT_OPTION(struct merge, wait),
    { .name = NULL }
};

static void report(const struct merge *m, const struct seen_filter *f,
                   size_t filters)
{
    if (m->json) {
        cmd_json_open(NULL, '{');
        cmd_json_word("filter", m->output);
        cmd_json_count("merged", filters);
        cmd_json_number("entries", seen_filter_entries(f));
        cmd_json_count("capacity", seen_filter_plan(f)->capacity);
        cmd_json_number("rate", seen_filter_rate(f));
        cmd_json_shut('}');
    } else if (!m->quiet) {
        warning("%s: %s, about %s, rate %s", m->output,
                show_counted(filters, "filter"),
                show_estimated(seen_filter_entries(f), "URL"),
                show_rate(seen_filter_rate(f)));
    }
}

/* The seeds of dedup and of the server are random unless they are given. */
static void refuse(const struct seen_filter *f, const struct seen_filter *g,
                   const char *one, const char *other,
                   const struct seen_error *why)
{
    const struct seen_plan *p = seen_filter_plan(f), *q = seen_filter_plan(g);

    if (p->seed == q->seed || strcmp(p->kind, q->kind))
        trouble("%s and %s: %s", one, other, why->text);
    else
        trouble("%s has seed %llu, %s seed %llu; only filters with the same "
                "seed can be merged",
                one, (unsigned long long)p->seed, other,
                (unsigned long long)q->seed);
}

/* The union is as new as the newest of its filters. */
static enum seen_code follow_date(struct seen_filter *f,
                                  const struct seen_filter *other,
                                  struct seen_error *why)
{
    const char *date = seen_meta_get(f, "as-of");
    const char *its = seen_meta_get(other, "as-of");

    if (!date || !its || strcmp(its, date) <= 0)
        return SEEN_OK;
    return seen_meta_set(f, "as-of", its, why);
}

/* Of a union nobody has a log of keys. */
static enum seen_code drop_log(const struct merge *m, struct seen_filter *f,
                               struct seen_error *why)
{
    if (!seen_store_keeps(f))
        return SEEN_OK;
    warning("%s: a union does not grow: the keys of all its filters are not "
            "in one log",
            m->output);
    return seen_meta_set(f, "keys-log", NULL, why);
}

static enum outcome unite(struct merge *m, struct seen_claim *claim,
                          struct seen_filter *f, char **path)
{
    struct seen_filter *other;
    struct seen_error why;
    size_t i = 1;

    access_warn(f, path[0]);
    for (; path[i]; i++) {
        enum seen_code code = access_load(&other, path[i], &why);

        if (code != SEEN_OK)
            return trouble_with(path[i], &why);
        access_warn(other, path[i]);
        code = seen_filter_merge(f, other, &why);
        if (code == SEEN_MISMATCH)
            refuse(f, other, path[0], path[i], &why);
        if (code == SEEN_OK)
            code = follow_date(f, other, &why);
        seen_filter_free(other);
        if (code == SEEN_MISMATCH)
            return TROUBLE;
        if (code != SEEN_OK)
            return trouble_with(path[i], &why);
    }
    if (i > 1 && !m->over && seen_filter_overfull(f)) /* one is a copy */
        return trouble(
            "%s: the union of about %s is past its capacity; its "
            "rate would be %s, not %s; to write it, give --over",
            m->output, show_estimated(seen_filter_entries(f), "URL"),
            show_rate(seen_filter_rate(f)), show_rate(seen_filter_planned(f)));
    if (i > 1 && drop_log(m, f, &why) != SEEN_OK)
        return trouble_with(m->output, &why);
    if ((claim ? seen_claim_save(f, claim, &why)
               : access_save(f, m->output, &why)) != SEEN_OK)
        return trouble_with(m->output, &why);
    report(m, f, i);
    return YES;
}

static enum outcome run(void *settings, char **path)
{
    struct merge *m = settings;
    struct seen_claim *claim = NULL;
    struct seen_filter *f;
    struct seen_error why;
    enum seen_code code = SEEN_OK;
    enum outcome out;

    if (!m->output)
        return trouble("-o OUT is missing; usage: seen merge %s",
                       cmd_merge.synopsis);
    /* Before reading: OUT may be one of the filters, and URLs that are added
       to it after it was read would be lost. */
    if (!access_is_remote(m->output))
        do
            code = seen_store_claim(&claim, m->output, &why);
        while (wait_again(&m->wait, code));
    if (code != SEEN_OK)
        return trouble_with(m->output, &why);
    if (access_load(&f, path[0], &why) != SEEN_OK)
        out = trouble_with(path[0], &why);
    else
        out = unite(m, claim, f, path);
    seen_filter_free(f);
    seen_claim_free(claim);
    return out;
}

const struct command cmd_merge = {
    .name = "merge",
    .summary = "make the union of filters",
    .synopsis = "-o OUT FILTER...",
    .operands = 1,
    .most = -1,
    .filters = -1,
    .settings = sizeof(struct merge),
    .options = options,
    .about =
        "Writes a filter of all URLs that are in at least one of the filters. "
        "They need the same kind, bits, probes, seed, profile and key, like "
        "filters that were built with the same plan and seed; filters that "
        "grow take over each other's parts. A fuse, a ribbon and shards cannot "
        "be merged.\n"
        "\n"
        "With one FILTER it makes a copy, for a backup or to send: complete, "
        "also of a filter that another process adds to.\n"
        "\n"
        "OUT may be one of the filters; it is replaced. No other process can "
        "add to it meanwhile.\n"
        "\n"
        "Metadata is that of the first FILTER, except that as-of, if it has "
        "one, becomes the latest of all.\n"
        "\n"
        "Keyed filters are merged without their key.\n",
    .exits = "0 if the union was written, 2 if it was not.",
    .examples = "$ seen build -o 1.seen --capacity 2M one.txt\n"
                "$ seen build -o 2.seen --capacity 2M two.txt\n"
                "$ seen merge -o both.seen 1.seen 2.seen\n"
                "$ seen merge -o backup.seen live.seen\n",
    .run = run,
};
