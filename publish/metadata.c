/*
 * metadata.c - archive.json and filters, as Dublin Core.
 *
 * An element has its value from the first of these that has one:
 *
 *     archive.json, the file's entry      what a librarian wrote of this file
 *     the filter's own metadata           what seen build --meta wrote
 *     archive.json, the archive           what holds for all files
 *     derived                             from name, plan and rate
 *
 * "" in archive.json leaves an element out, which is how a default is refused.
 * Elements are in the order of names[]. `format` and `extent` are always
 * derived: typed by hand they would be wrong after the next version.
 */
#include "metadata.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"
#include "sitemap.h"
#include "../lib/text/json_tree.h"

/* In the order in which they are written; `format`, `extent` and, without
   metadata, `date` are derived. All but `extent`, a later term, are among the
   fifteen elements. */
static const char *const names[] = { "title",       "creator",    "publisher",
                                     "description", "date",       "coverage",
                                     "rights",      "identifier", NULL };

struct publish_metadata {
    json_t *root;
};

/* --- archive.json ------------------------------------------------------- */

static bool known(const char *name)
{
    for (int i = 0; names[i]; i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

struct publish_check {
    void (*tell)(void *whose, const char *name, const char *why);
    void *whose;
    struct seen_error *why;
};

static enum seen_code check_object(const struct publish_check *c, json_t *o,
                                   const char *where, const char *besides)
{
    const char *name;
    char said[160];
    json_t *v;

    if (!json_is_object(o))
        return seen_fail(c->why, SEEN_CORRUPT, 0, "%s is not an object: {...}",
                         *where ? where : "it");
    json_object_foreach(o, name, v)
    {
        if (besides && !strcmp(name, besides))
            continue;
        if (!known(name)) {
            snprintf(said, sizeof said, "%s%s%s: unknown name", where,
                     *where ? ": " : "", name);
            c->tell(c->whose, "archive.json", said);
        } else if (!json_is_string(v)) {
            return seen_fail(c->why, SEEN_CORRUPT, 0, "%s%s%s is not a string",
                             where, *where ? ": " : "", name);
        }
    }
    return SEEN_OK;
}

static enum seen_code check_root(const struct publish_check *c, json_t *root)
{
    enum seen_code code = check_object(c, root, "", "files");
    json_t *files = json_object_get(root, "files"), *v;
    const char *name;

    if (code != SEEN_OK || !files)
        return code;
    if (!json_is_object(files))
        return seen_fail(c->why, SEEN_CORRUPT, 0,
                         "files is not an object: {\"NAME.seen\": {...}}");
    json_object_foreach(files, name, v)
    {
        code = check_object(c, v, name, NULL);
        if (code != SEEN_OK)
            return code;
    }
    return SEEN_OK;
}

enum seen_code publish_metadata_load(
    struct publish_metadata **out, const char *path,
    void (*tell)(void *whose, const char *name, const char *why), void *whose,
    struct seen_error *why)
{
    const struct publish_check c = { tell, whose, why };
    int fd;
    enum seen_code code = publish_open(&fd, path, why);
    json_error_t error;

    *out = calloc(1, sizeof **out);
    if (code == SEEN_OK && !*out)
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for metadata");
    if (code == SEEN_OK && fd >= 0) {
        code = json_tree_read_file(&(*out)->root, fd, JSON_REJECT_DUPLICATES,
                                   &error, why);
        if (code == SEEN_OK)
            code = check_root(&c, (*out)->root);
        else if (code == SEEN_CORRUPT)
            code = seen_fail(why, SEEN_CORRUPT, (uint64_t)error.line,
                             "line %d, column %d: %s", error.line,
                             error.column, error.text);
    }
    if (fd >= 0)
        close(fd);
    if (code != SEEN_OK) {
        publish_metadata_free(*out);
        *out = NULL;
    }
    return code;
}

void publish_metadata_free(struct publish_metadata *m)
{
    if (!m)
        return;
    json_decref(m->root);
    free(m);
}

/* --- the filter --------------------------------------------------------- */

static bool take(char **to, const char *text)
{
    *to = text ? publish_shown(text) : NULL;
    return *to || !text;
}

enum seen_code publish_about_read(struct publish_about *a,
                                  const struct seen_filter *f,
                                  struct seen_error *why)
{
    const struct seen_plan *plan = seen_filter_plan(f);

    memset(a, 0, sizeof *a);
    a->entries = seen_filter_entries(f);
    a->rate = seen_filter_rate(f);
    a->keyed = plan->keyed;
    if (!isfinite(a->entries))
        a->entries = -1; /* so full that there is no estimate */
    if (take(&a->kind, plan->kind) &&
        take(&a->profile, *plan->profile ? plan->profile : "raw") &&
        take(&a->title, seen_meta_get(f, "title")) &&
        take(&a->holder, seen_meta_get(f, "holder")) &&
        take(&a->description, seen_meta_get(f, "description")) &&
        take(&a->as_of, seen_meta_get(f, "as-of")))
        return SEEN_OK;
    publish_about_clear(a);
    return seen_fail(why, SEEN_NOMEM, 0, "no memory for metadata");
}

/* --- both --------------------------------------------------------------- */

/* 1,234,567 */
static void put_grouped(struct buffer *to, double count)
{
    char digits[32];
    int len = snprintf(digits, sizeof digits, "%.0f", count);

    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            buffer_byte(to, ',');
        buffer_byte(to, digits[i]);
    }
}

static void put_extent(struct buffer *to, const struct publish_item *item)
{
    buffer_text(to, "    <dcterms:extent>");
    put_grouped(to, (double)item->length);
    buffer_text(to, " bytes");
    if (item->about.entries >= 0) {
        buffer_text(to, "; about ");
        put_grouped(to, item->about.entries);
        buffer_text(to, " URLs");
    }
    buffer_text(to, "</dcterms:extent>\n");
}

static void put_format(struct buffer *to, const struct publish_about *a)
{
    buffer_text(to, "    <dc:format>" PUBLISH_FILTER_TYPE "; kind=");
    publish_sitemap_text(to, a->kind);
    buffer_text(to, "; profile=");
    publish_sitemap_text(to, a->profile);
    buffer_text(to, "</dc:format>\n");
}

/* The number of URLs per false positive, with two digits: 1 in 1,300. */
static double one_in(double rate)
{
    double all = 1 / rate, unit = pow(10, floor(log10(all)) - 1);

    return unit > 1 ? round(all / unit) * unit : round(all);
}

/* For people who find a filter without a description. */
static char *sentence(const struct publish_about *a)
{
    struct buffer to = { .bytes = NULL };

    buffer_format(&to, "A filter of URLs: kind %s, profile %s%s%s.", a->kind,
                  a->profile, a->as_of ? ", as of " : "",
                  a->as_of ? a->as_of : "");
    if (a->rate > 0) {
        buffer_text(&to, " Of URLs that it has not seen, it takes one in ");
        put_grouped(&to, one_in(a->rate));
        buffer_text(&to, " for seen.");
    }
    if (a->keyed)
        buffer_text(&to, " It is keyed: it answers those who have its key, "
                         "which its holder hands out.");
    return buffer_take(&to);
}

/* The value in archive.json, of the file or of the archive. */
static const char *said(const struct publish_metadata *m, const char *path,
                        const char *name)
{
    json_t *o = m->root;

    if (path)
        o = json_object_get(json_object_get(o, "files"), path);
    return json_string_value(json_object_get(o, name));
}

static const char *itself(const struct publish_about *a, const char *name)
{
    if (!strcmp(name, "title"))
        return a->title;
    if (!strcmp(name, "creator") || !strcmp(name, "publisher"))
        return a->holder;
    if (!strcmp(name, "description"))
        return a->description;
    if (!strcmp(name, "date"))
        return a->as_of;
    return NULL;
}

/* The default value. */
static char *derived(const struct publish_item *item, const char *name)
{
    const char *base = publish_base(item->path);
    char when[PUBLISH_TIME];

    if (!strcmp(name, "title"))
        return strndup(base, strlen(base) - strlen(".seen"));
    if (!strcmp(name, "description"))
        return sentence(&item->about);
    if (!strcmp(name, "date")) {
        publish_sitemap_time(when, item->lastmod);
        return strndup(when, strlen("2026-11-16"));
    }
    return NULL;
}

void publish_metadata_print(const struct publish_metadata *m,
                            const struct publish_item *item, const char *base,
                            struct buffer *to)
{
    for (int i = 0; names[i]; i++) {
        const char *text = said(m, item->path, names[i]);
        char element[32], *made = NULL;

        if (!text)
            text = itself(&item->about, names[i]);
        if (!text)
            text = said(m, NULL, names[i]);
        if (!text)
            text = made = derived(item, names[i]);
        if (!strcmp(names[i], "rights")) { /* the order of the guide */
            put_format(to, &item->about);
            put_extent(to, item);
        }
        snprintf(element, sizeof element, "dc:%s", names[i]);
        if (text && *text) { /* "" leaves it out */
            publish_sitemap_element(to, element, text);
        } else if (!text && !strcmp(names[i], "identifier")) {
            buffer_text(to, "    <dc:identifier>");
            publish_sitemap_url(to, base, item->path);
            buffer_text(to, "</dc:identifier>\n");
        }
        free(made);
    }
}
