/*
 * meta.c - seen meta: print and change the metadata of a filter.
 *
 *     $ seen meta haw.seen title='Croatian Web Archive' as-of=2026-11-15
 *     $ seen meta haw.seen
 *     as-of=2026-11-15
 *     title=Croatian Web Archive
 *
 * The text of a file has no second copy, so it is never overwritten: a torn
 * write would lose the plan with it. A writer of the store puts a new file
 * with the same cells beside the old one and swaps them, with what a journal
 * has; checkpoint.c of lib/store has the argument. All changes of a command
 * are made by one swap.
 */
#include "command.h"

#include <stdlib.h>
#include <string.h>

#include <seen/store.h>

#include "access.h"
#include "json.h"
#include "output.h"

struct meta {
    bool json, forget;
    struct wait wait;
};

static const struct option options[] = {
    JSON_OPTION(struct meta, json,
                "print a JSON object of all metadata, after a change also"),
    { "forget-keys", 0, FLAG, NULL, offsetof(struct meta, forget),
      "remove the log of keys of a filter that grows (FILTER.keys): it does "
      "not grow any more" },
    WAIT_OPTION(struct meta, wait),
    { .name = NULL }
};

static void show_all(const struct meta *m, const struct seen_filter *f)
{
    const char *name, *value;

    if (m->json)
        cmd_json_open(NULL, '{');
    for (size_t i = 0; seen_meta_at(f, i, &name, &value); i++)
        if (m->json) {
            cmd_json_word(name, value);
        } else {
            output_text(name);
            output_text("=");
            output_text(value);
            output_text("\n");
        }
    if (m->json)
        cmd_json_shut('}');
}

/* The values of these names; NO if one has none. */
static enum outcome show_some(const struct meta *m,
                              const struct seen_filter *f, char **name)
{
    enum outcome out = YES;

    if (m->json)
        cmd_json_open(NULL, '{');
    for (; *name; name++) {
        const char *value = seen_meta_get(f, *name);

        if (!value)
            out = NO;
        if (m->json && value) {
            cmd_json_word(*name, value);
        } else if (m->json) {
            cmd_json_null(*name);
        } else if (value) {
            output_text(value);
            output_text("\n");
        }
    }
    if (m->json)
        cmd_json_shut('}');
    return out;
}

static enum outcome print(const struct meta *m, const char *path, char **name)
{
    const struct seen_access unverified = { .unverified = true };
    struct seen_filter *f;
    struct seen_error why;
    enum outcome out = YES;

    if (access_map(&f, path, &unverified, NULL, &why) != SEEN_OK)
        return trouble_with(path, &why);
    if (*name)
        out = show_some(m, f, name);
    else
        show_all(m, f);
    seen_filter_free(f);
    return out;
}

/* NAME=VALUE sets, NAME= removes. */
static enum outcome set(struct seen_filter *f, const char *pair)
{
    const char *equals = strchr(pair, '=');
    char *name = strndup(pair, (size_t)(equals - pair));
    struct seen_error why;
    enum outcome out = YES;

    if (!name)
        return trouble("no memory for a name");
    if (seen_meta_set(f, name, equals[1] ? equals + 1 : NULL, &why) != SEEN_OK)
        out = trouble_with(name, &why);
    free(name);
    return out;
}

/* All pairs, or none of them: before the filter is closed nothing is
   written. */
static enum outcome change(struct meta *m, const char *path, char **pair)
{
    struct seen_filter *f;
    struct seen_error why;
    enum seen_code code;
    enum outcome out = YES;

    if (access_is_remote(path))
        return trouble("%s: metadata of a filter in Redis cannot be changed; "
                       "set it before the filter is copied there",
                       path);
    do
        code = seen_store_open(&f, path, NULL, &why);
    while (wait_again(&m->wait, code));
    if (code != SEEN_OK)
        return trouble_with(path, &why);
    access_warn(f, path);
    for (; *pair && out == YES; pair++)
        out = set(f, *pair);
    if (out == YES && m->forget && seen_store_forget_keys(f, &why) != SEEN_OK)
        out = trouble_with(path, &why);
    if (out != YES) {
        seen_store_abandon(f);
        return out;
    }
    code = seen_store_checkpoint(f, &why);
    if (code == SEEN_OK && m->json)
        show_all(m, f);
    if (code == SEEN_OK)
        code = seen_store_close(f, &why);
    else
        seen_store_abandon(f);
    return code == SEEN_OK ? YES : trouble_with(path, &why);
}

static enum outcome run(void *settings, char **operand)
{
    struct meta *m = settings;
    size_t n = 1, pairs = 0;

    for (; operand[n]; n++)
        pairs += strchr(operand[n], '=') != NULL;
    if ((pairs || m->forget) && pairs < n - 1)
        return trouble("either names, which are printed, or NAME=VALUE; "
                       "usage: seen meta %s",
                       cmd_meta.synopsis);
    return pairs || m->forget ? change(m, operand[0], operand + 1)
                              : print(m, operand[0], operand + 1);
}

const struct command cmd_meta = {
    .name = "meta",
    .summary = "print or change the metadata of a filter",
    .synopsis = "FILTER [NAME...|NAME=VALUE...]",
    .operands = 1,
    .most = -1,
    .filters = 1,
    .settings = sizeof(struct meta),
    .options = options,
    .about =
        "Without operands it prints all metadata, a line NAME=VALUE each; for "
        "each NAME it prints the value. NAME=VALUE sets a value, and NAME= "
        "removes it. seen publish, seen serve and other archives use title, "
        "holder, description, as-of, and the templates timemap and timegate, "
        "such as https://a.example/timemap/link/{url}; other names are "
        "yours.\n"
        "\n"
        "All changes of one command are made together or not at all, and the "
        "URLs of the filter stay as they are. The file is replaced, so the "
        "disk needs room for a second one. Journals are taken over. A filter "
        "that another process adds to is refused after --wait seconds. Keyed "
        "filters need no key.\n"
        "\n"
        "as-of is the date of the collection. If it is a date, as 2026-11-15, "
        "2026-11 or 2026, it follows adds and removals: seen add, dedup, remove "
        "and serve set it to the day of the last one (UTC), unless it is later "
        "already. seen merge takes the latest.\n",
    .exits = "0 if it was printed or changed, 1 if a NAME has no value, 2 if "
             "something went wrong.",
    .examples = "$ seen meta haw.seen title='Croatian Web Archive'\n"
                "$ seen meta haw.seen title\n"
                "Croatian Web Archive\n"
                "$ seen meta haw.seen description=\n",
    .run = run,
};
