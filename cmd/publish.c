/*
 * publish.c - seen publish: put the filters of a folder on the web.
 *
 *     $ seen publish /srv/haw --url https://haw.nsk.hr/bloom-filter/
 *
 * publish/ does the work; this command prints the results.
 */
#include "command.h"

#include <stdio.h>
#include <string.h>

#include "../lib/text/number.h"
#include "../publish/publish.h"
#include "json.h"
#include "output.h"
#include "registry.h"

struct announcement {
    const char *url, *text;
    uint64_t deltas;
    bool page, rehash, allow_empty, registry, dry, json, quiet;
};

static const struct option options[] = {
    { "url", 0, TEXT, "URL", offsetof(struct announcement, url),
      "where the folder is on the web; default: as the last time" },
    { "deltas", 0, COUNT_OR_NONE, "N", offsetof(struct announcement, deltas),
      "keep N deltas per filter, and a copy of it; default: as the last "
      "time, and 0 the first time" },
    { "text", 0, TEXT, "yes|no", offsetof(struct announcement, text),
      "write the text form, NAME.csv, beside each filter, too; default: as "
      "the last time, and no the first time" },
    { "page", 0, FLAG, NULL, offsetof(struct announcement, page),
      "also write index.html, on which people ask the filters in their "
      "browsers; one that is there is kept up to date" },
    { "rehash", 0, FLAG, NULL, offsetof(struct announcement, rehash),
      "also read files that look unchanged" },
    { "allow-empty", 0, FLAG, NULL, offsetof(struct announcement, allow_empty),
      "also announce new filters that hold no URL" },
    { "registry", 0, FLAG, NULL, offsetof(struct announcement, registry),
      "only write an overview of archives and their filters: registry.html "
      "and registry.txt" },
    { "dry-run", 'n', FLAG, NULL, offsetof(struct announcement, dry),
      "report what would change, and write nothing" },
    JSON_OPTION(struct announcement, json,
                "print the report as a JSON object"),
    QUIET_OPTION(struct announcement, quiet),
    { .name = NULL }
};

static const char *const words[] = { "new",       "changed", "unchanged",
                                     "withdrawn", "left",    "refused",
                                     "note" };

/* --- each file ---------------------------------------------------------- */

static void print_json(const struct publish_event *e)
{
    cmd_json_open(NULL, '{');
    cmd_json_word("file", e->path);
    cmd_json_word("what", words[e->what]);
    if (e->length)
        cmd_json_count("bytes", e->length);
    if (e->delta)
        cmd_json_count("delta", e->delta);
    if (e->text)
        cmd_json_word("why", e->text);
    cmd_json_shut('}');
}

static void print_event(const struct publish_event *e)
{
    if (e->what == PUBLISH_SAME)
        return;
    output_format("%s: %s, %s", e->path, words[e->what],
                  show_bytes(e->length));
    if (e->delta)
        output_format(", delta %s", show_bytes(e->delta));
    else if (e->text)
        output_format(", %s", e->text);
    output_text("\n");
}

static void on_event(void *whose, const struct publish_event *e)
{
    const struct announcement *o = whose;

    switch (e->what) {
    case PUBLISH_LEFT:
        warning("%s: %s; it is announced as before, if it was", e->path,
                e->text);
        break;
    case PUBLISH_REFUSED:
        warning("%s: %s; it is not announced", e->path, e->text);
        break;
    case PUBLISH_NOTE: /* the same in each run: --quiet leaves it out */
        if (!o->quiet)
            warning("%s: %s", e->path, e->text);
        break;
    default:
        if (!o->json && !o->quiet)
            print_event(e);
    }
    if (o->json)
        print_json(e);
}

/* --- all of them -------------------------------------------------------- */

static void print_totals_json(const struct publish_totals *totals)
{
    cmd_json_open("sum", '{');
    cmd_json_word("url", totals->url);
    cmd_json_count("filters", totals->files);
    cmd_json_count("bytes", totals->bytes);
    cmd_json_count("new", totals->fresh);
    cmd_json_count("changed", totals->changed);
    cmd_json_count("unchanged", totals->same);
    cmd_json_count("withdrawn", totals->withdrawn);
    cmd_json_count("left", totals->left);
    cmd_json_count("refused", totals->refused);
    cmd_json_count("deltas", totals->made);
    cmd_json_count("delta_bytes", totals->made_bytes);
    cmd_json_count("instead_of", totals->instead);
    cmd_json_count("lists_written", totals->written);
    cmd_json_shut('}');
}

/* The length of the URL up to its path. */
static size_t host_len(const char *url)
{
    return (size_t)(strchr(strstr(url, "//") + 2, '/') - url);
}

static void print_totals(const struct publish_totals *totals, bool dry)
{
    size_t host = host_len(totals->url);

    output_format("%sfilters: %zu, %s; %zu new, %zu changed, %zu unchanged, "
                  "%zu withdrawn\n",
                  dry ? "dry run: " : "", totals->files,
                  show_bytes(totals->bytes), totals->fresh, totals->changed,
                  totals->same, totals->withdrawn);
    if (totals->made)
        output_format("deltas: %zu, %s instead of %s\n", totals->made,
                      show_bytes(totals->made_bytes),
                      show_bytes(totals->instead));
    if (dry || !totals->moved) /* it is done once per URL */
        return;
    output_format("for %.*s/robots.txt:\n    Sitemap: %ssitemap.xml\n",
                  (int)host, totals->url, totals->url);
    if (totals->url[host + 1])
        output_format("for ResourceSync clients, redirect "
                      "%.*s/.well-known/resourcesync to\n"
                      "    %s.well-known/resourcesync\n",
                      (int)host, totals->url, totals->url);
}

/* --registry writes two files, and publishes nothing. */
static enum outcome write_registry(const struct announcement *o, char **folder)
{
    if (o->url || o->text || o->deltas || o->page || o->rehash ||
        o->allow_empty)
        return trouble("--registry only writes an overview; publish the "
                       "filters of %s by another run",
                       *folder);
    return cmd_registry_write(*folder, folder + 1, o->dry, o->json, o->quiet);
}

static enum outcome run(void *settings, char **folder)
{
    const struct announcement *o = settings;
    struct publish_options publishing = { .each = on_event,
                                          .whose = settings };
    struct publish_totals totals;
    struct seen_error why;
    enum seen_code code;

    if (o->registry)
        return write_registry(o, folder);
    if (folder[1])
        return trouble("%s: one operand too many; lists are for --registry",
                       folder[1]);
    publishing.folder = *folder;
    publishing.url = o->url;
    publishing.deltas = o->deltas ? o->deltas - 1 : PUBLISH_AS_BEFORE;
    if (o->text)
        publishing.text = *o->text == 'y' ? PUBLISH_TEXT : PUBLISH_NO_TEXT;
    publishing.page = o->page;
    publishing.rehash = o->rehash;
    publishing.allow_empty = o->allow_empty;
    publishing.dry = o->dry;
    if (o->json) {
        cmd_json_open(NULL, '{');
        cmd_json_open("files", '[');
    }
    code = publish(&publishing, &totals, &why);
    if (o->json) {
        cmd_json_shut(']');
        if (code == SEEN_OK)
            print_totals_json(&totals);
        cmd_json_shut('}');
    } else if (code == SEEN_OK && !o->quiet) {
        print_totals(&totals, o->dry);
    }
    publish_totals_clear(&totals);
    if (code != SEEN_OK)
        return trouble_with(*folder, &why);
    return totals.left || totals.refused ? TROUBLE : YES;
}

const struct command cmd_publish = {
    .name = "publish",
    .summary = "put the filters of a folder on the web",
    .synopsis = "DIR [--url URL], or DIR --registry [LIST...]",
    .operands = 1,
    .most = -1,
    .settings = sizeof(struct announcement),
    .options = options,
    .about =
        "Writes, beside the filters of a folder and its subfolders (*.seen), "
        "the lists that others need to find and fetch them: sitemap.xml, "
        "which is also a ResourceSync resource list, capabilitylist.xml and "
        ".well-known/resourcesync. Any web server can then serve the folder.\n"
        "\n"
        "Titles and other metadata come from the filter (seen build --meta) "
        "and from DIR/archive.json, an optional file that people write. "
        "Filters whose content has not changed keep their date, and lists "
        "that have not changed are not touched. Run it after each change, or "
        "from cron.\n"
        "\n"
        "With --deltas N, changelist.xml offers the changes from one version "
        "to the next, for the last N versions, so that others need not fetch "
        "the whole file. This takes a copy of each filter, in DIR/.publish.\n"
        "\n"
        "With --page a person can ask for one address or for a list, on any "
        "web server: index.html, filters.json and the folder seen-page. The "
        "browser fetches blocks of the filters, and no address leaves it. "
        "Remove index.html to end that.\n"
        "\n"
        "A filter that is being written is announced as before; one that is "
        "broken is not announced, and neither is one that holds no URL, "
        "unless --allow-empty is given. doc/sharing.md has the details, with "
        "settings for nginx and Apache.\n"
        "\n"
        "With --registry nothing is published. Instead an overview of the "
        "archives that publish filters is written into DIR, with their hosts "
        "and locations: registry.html for people, and registry.txt, which "
        "seen harvest reads. It has the places that are in each LIST, a text "
        "with one URL per line, as seen harvest reads it; those that the "
        "filters in DIR were harvested from; and DIR, if it was published.\n",
    .exits = "0 if all filters are announced as they are, 2 if one is not, or "
             "if nothing could be written.",
    .examples =
        "$ seen build -o /srv/haw/haw.seen --meta title=HAW urls.txt\n"
        "$ seen publish /srv/haw --url https://haw.nsk.hr/bloom-filter/\n"
        "$ seen publish /srv/haw --deltas 8 --page --quiet\n"
        "$ seen publish /srv/mirror --registry archives.txt\n",
    .run = run,
};
