/* registry.c - what is known of other archives, for publish/overview.h. */
#include "registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <seen/store.h>

#include "../harvest/record.h"
#include "../lib/disk/disk.h"
#include "../lib/disk/lock.h"
#include "../lib/disk/walk.h"
#include "../lib/text/number.h"
#include "../lib/text/percent.h"
#include "../lib/text/span.h"
#include "../publish/overview.h"
#include "../publish/publish.h"
#include "../publish/state.h"
#include "json.h"
#include "output.h"

enum { LIST = 50 << 20 }; /* bytes of a file, as for harvest */

/* --- lists --- */

/* The comment behind the URL of a line. */
static struct seen_span note_of(struct seen_span rest)
{
    rest = span_trim(rest);
    while (rest.len && rest.text[0] == '#')
        rest.text++, rest.len--;
    return span_trim(rest);
}

static enum seen_code take_line(struct publish_overview *o,
                                struct seen_span line, struct seen_error *why)
{
    char url[HARVEST_URL + 1], *note;
    size_t n = 0;
    enum seen_code code;

    line = span_trim(line);
    if (!line.len || line.text[0] == '#')
        return SEEN_OK;
    while (n < line.len && line.text[n] != ' ' && line.text[n] != '\t')
        n++;
    code = harvest_url_read(url, (struct seen_span){ line.text, n }, why);
    if (code != SEEN_OK)
        return code;
    line = note_of((struct seen_span){ line.text + n, line.len - n });
    note = strndup(line.text, line.len);
    code = note ? publish_overview_place(o, url, note, why)
                : seen_fail(why, SEEN_NOMEM, 0, "no memory for a line");
    free(note);
    return code;
}

/* Bad lines are reported and skipped, as by harvest: *bad. */
static enum outcome take_list(struct publish_overview *o, const char *path,
                              bool *bad)
{
    struct seen_span rest, line;
    struct seen_error why;
    char *text;

    if (disk_load(&text, &rest.len, path, LIST, &why) != SEEN_OK)
        return trouble_with(path, &why);
    rest.text = text;
    if (span_begins(rest, "\xef\xbb\xbf")) {
        rest.text += 3;
        rest.len -= 3;
    }
    for (size_t i = 1; span_line(&rest, &line); i++)
        if (take_line(o, line, &why) != SEEN_OK) {
            trouble("%s: line %zu: %s", path, i, why.text);
            *bad = true;
        }
    free(text);
    return YES;
}

/* --- what was harvested --- */

static enum seen_code take_record(struct publish_overview *o,
                                  const struct harvest_folder *folder,
                                  const char *name, struct seen_error *why)
{
    char path[HARVEST_PATH];
    struct harvest_record r;
    struct seen_filter *f = NULL;
    struct seen_access options = { .unverified = true };
    struct publish_overview_filter filter = {
        .url = r.loc, .name = name, .changed = r.file.lastmod, .entries = -1
    };
    enum seen_code code = harvest_record_load(&r, folder, name, why);

    if (code != SEEN_OK || !r.file.there || !*r.loc || !*r.source)
        return code;
    harvest_folder_file(folder, path, name);
    filter.length = harvest_version_length(&r.file);
    if (seen_store_map(&f, path, &options, NULL) == SEEN_OK) {
        filter.title = seen_meta_get(f, "title");
        filter.holder = seen_meta_get(f, "holder");
        filter.as_of = seen_meta_get(f, "as-of");
        filter.entries = seen_filter_entries(f);
    }
    code = publish_overview_filter(o, r.source, &filter, why);
    seen_filter_free(f);
    return code;
}

static enum outcome take_harvested(struct publish_overview *o,
                                   const char *path)
{
    struct harvest_folder folder;
    struct walk_names names;
    struct seen_error why;
    enum outcome out = YES;

    if (harvest_folder_open(&folder, path, true, &why) != SEEN_OK)
        return trouble_with(path, &why);
    /* Without a folder .harvest nothing was harvested. */
    harvest_folder_records(&folder, &names, NULL);
    for (size_t i = 0; i < names.n; i++)
        if (take_record(o, &folder, names.name[i], &why) != SEEN_OK)
            out = trouble_with(names.name[i], &why);
    walk_clear(&names);
    harvest_folder_close(&folder);
    return out;
}

/* --- what was published --- */

/* A filter of ours; copies of harvested ones are listed where they come
   from. */
static enum seen_code take_item(struct publish_overview *o, const char *folder,
                                const struct publish_state *s,
                                const struct publish_item *item,
                                struct seen_error *why)
{
    struct publish_overview_filter filter = { .name = item->path,
                                              .title = item->about.title,
                                              .holder = item->about.holder,
                                              .as_of = item->about.as_of,
                                              .entries = item->about.entries,
                                              .length = item->length };
    char record[HARVEST_PATH], changed[32];
    struct buffer url = { .bytes = NULL };
    struct stat it;
    time_t when = (time_t)item->lastmod;
    struct tm tm;
    enum seen_code code;
    char *text;

    snprintf(record, sizeof record, "%s/.harvest/%s.json", folder, item->path);
    if (item->held || !lstat(record, &it))
        return SEEN_OK;
    if (gmtime_r(&when, &tm) &&
        strftime(changed, sizeof changed, "%Y-%m-%dT%H:%M:%SZ", &tm))
        filter.changed = changed;
    buffer_text(&url, s->url);
    percent_encode(&url, item->path, strlen(item->path), PERCENT_SEGMENTS);
    filter.url = text = buffer_take(&url);
    code = text ? publish_overview_filter(o, s->url, &filter, why)
                : seen_fail(why, SEEN_NOMEM, 0, "no memory for a URL");
    free(text);
    return code;
}

static enum outcome take_published(struct publish_overview *o,
                                   const char *folder)
{
    struct publish_state s = { .url = NULL };
    char *path = walk_path(folder, ".publish/state.json");
    struct seen_error why;
    enum seen_code code = path ? publish_state_load(&s, path, &why)
                               : seen_fail(&why, SEEN_NOMEM, 0,
                                           "no memory for a path");

    for (size_t i = 0; code == SEEN_OK && s.url && i < s.items; i++)
        code = take_item(o, folder, &s, &s.item[i], &why);
    publish_state_clear(&s);
    free(path);
    return code == SEEN_OK ? YES : trouble_with(folder, &why);
}

/* --- both files --- */

static void report(const struct publish_overview_counts *c, bool dry,
                   bool json)
{
    if (json) {
        cmd_json_open(NULL, '{');
        cmd_json_count("hosts", c->hosts);
        cmd_json_count("places", c->places);
        cmd_json_count("filters", c->filters);
        cmd_json_count("files_written", c->changed);
        cmd_json_shut('}');
        return;
    }
    output_format("%sregistry: %s, ", dry ? "dry run: " : "",
                  show_counted(c->hosts, "host"));
    output_format("%s, ", show_counted(c->places, "place"));
    output_format("%s; %s\n", show_counted(c->filters, "filter"),
                  dry           ? "nothing written"
                  : !c->changed ? "registry.html and registry.txt unchanged"
                                : "registry.html and registry.txt written");
}

/* Collect all that is known. If a part cannot be read, nothing is written,
   since readers of the list would take what is missing for gone. */
static enum outcome collect(struct publish_overview *o, const char *folder,
                            char **lists, bool *bad)
{
    for (; *lists; lists++)
        if (take_list(o, *lists, bad) != YES)
            return TROUBLE;
    if (take_harvested(o, folder) != YES)
        return TROUBLE;
    return take_published(o, folder);
}

enum outcome cmd_registry_write(const char *folder, char **lists, bool dry,
                                bool json, bool quiet)
{
    struct publish_overview *o = publish_overview_new();
    struct publish_overview_counts counts;
    struct seen_error why;
    enum outcome out = YES;
    bool bad = false;
    int lock = -1;

    if (!o)
        return trouble("no memory for an overview");
    if (!dry && publish_lock(&lock, folder, &why) != SEEN_OK)
        out = trouble_with(folder, &why);
    if (out == YES)
        out = collect(o, folder, lists, &bad);
    if (out == YES &&
        publish_overview_write(o, folder, dry, &counts, &why) != SEEN_OK)
        out = trouble_with(folder, &why);
    if (out == YES && (!quiet || json))
        report(&counts, dry, json);
    lock_release(lock, NULL);
    publish_overview_free(o);
    return bad ? TROUBLE : out;
}
