/*
 * memento_list.c - read MemGator's list of archives.
 *
 * The file is read once, when the server starts, and whatever is wrong with it
 * is an error then. Names and URLs of the list become headers and lines of
 * answers, so they have no control bytes.
 */
#include "memento_list.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../../lib/disk/disk.h"
#include "../../lib/text/json_tree.h"

enum { FILE_BYTES = 1 << 20, URL_BYTES = 2048 };

void memento_list_clear(struct memento_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        free(list->archive[i].id);
        free(list->archive[i].name);
        free(list->archive[i].filter);
        free(list->archive[i].timemap);
        free(list->archive[i].timegate);
    }
    free(list->archive);
    *list = (struct memento_list){ .archive = NULL };
}

const char *memento_archive_name(const struct memento_archive *a)
{
    return a->id ? a->id : a->name;
}

static bool is_called(const char *name, const char *other)
{
    return name && !strcasecmp(name, other);
}

size_t memento_list_find(const struct memento_list *list, const char *filter)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct memento_archive *a = &list->archive[i];

        if (a->filter ? is_called(a->filter, filter)
                      : is_called(a->id, filter) || is_called(a->name, filter))
            return i;
    }
    return SIZE_MAX;
}

void memento_template_fill(struct buffer *o, const char *template,
                           struct seen_span url)
{
    const char *at = strstr(template, "{url}");

    if (!at) {
        buffer_text(o, template);
        buffer_bytes(o, url.text, url.len);
        return;
    }
    buffer_bytes(o, template, (size_t)(at - template));
    buffer_bytes(o, url.text, url.len);
    buffer_text(o, at + strlen("{url}"));
}

/* --- reading --- */

/* Names stand in headers and lines. */
static bool is_printable(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return false;
    return true;
}

/* A member that is a string or missing; false if it is another thing. */
static bool read_text(const json_t *entry, const char *name, char **to)
{
    const json_t *value = json_object_get(entry, name);
    const char *text = json_string_value(value);

    if (!value || json_is_null(value))
        return true;
    if (!text || !is_printable(text))
        return false;
    *to = *text ? strdup(text) : NULL;
    return !*text || *to;
}

/* MemGator appends a slash where there is none. What ends as a query does is
   ready for the URL. */
static bool read_template(const char *text, char **to)
{
    const size_t len = text ? strlen(text) : 0;
    struct buffer made = { .bytes = NULL };

    if (!len || len > URL_BYTES || !is_printable(text) ||
        (strncasecmp(text, "http://", 7) && strncasecmp(text, "https://", 8)))
        return false;
    buffer_text(&made, text);
    if (!strstr(text, "{url}") && !strchr("/=", text[len - 1]))
        buffer_byte(&made, '/');
    *to = buffer_take(&made);
    return *to;
}

/* There may be none. */
static bool read_timegate(const json_t *entry, struct memento_archive *a)
{
    const json_t *value = json_object_get(entry, "timegate");
    const char *text = json_string_value(value);

    if (!value || json_is_null(value) || (text && !*text))
        return true;
    return read_template(text, &a->timegate);
}

static const char *read_entry(const json_t *entry, struct memento_archive *a)
{
    const json_t *ignore = json_object_get(entry, "ignore");

    if (!json_is_object(entry))
        return "not an object";
    a->ignore = json_is_true(ignore);
    if (!read_text(entry, "id", &a->id) ||
        !read_text(entry, "name", &a->name) ||
        !read_text(entry, "filter", &a->filter))
        return "id, name and filter are lines of text";
    if (!a->id && !a->name)
        return "it has neither id nor name";
    if (ignore && !json_is_boolean(ignore) && !json_is_null(ignore))
        return "ignore is true or false";
    if (!read_template(json_string_value(json_object_get(entry, "timemap")),
                       &a->timemap) &&
        !a->ignore)
        return "timemap is not an http or https URL";
    if (!read_timegate(entry, a) && !a->ignore)
        return "timegate is not an http or https URL";
    return NULL;
}

static enum seen_code read_all(struct memento_list *list, const json_t *root,
                               struct seen_error *why)
{
    const size_t n = json_array_size(root);
    const char *fault;

    if (!json_is_array(root))
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "a list of archives is an array: [{...}]");
    if (n > MEMENTO_ARCHIVES)
        return seen_fail(why, SEEN_RANGE, 0, "at most %d archives",
                         MEMENTO_ARCHIVES);
    list->archive = calloc(n + 1, sizeof *list->archive);
    if (!list->archive)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for archives");
    while (list->n < n) {
        const size_t i = list->n++;

        fault = read_entry(json_array_get(root, i), &list->archive[i]);
        if (fault)
            return seen_fail(why, SEEN_CORRUPT, i, "archive %zu: %s", i + 1,
                             fault);
    }
    return SEEN_OK;
}

enum seen_code memento_list_read(struct memento_list *list, const char *text,
                                 size_t len, struct seen_error *why)
{
    json_error_t fault;
    json_t *root;
    enum seen_code code = json_tree_read(
        &root, (struct seen_span){ text, len }, 0, &fault, why);

    *list = (struct memento_list){ .archive = NULL };
    if (code == SEEN_CORRUPT)
        seen_fail(why, SEEN_CORRUPT, 0, "line %d: %.80s", fault.line,
                  fault.text);
    if (code != SEEN_OK)
        return code;
    code = read_all(list, root, why);
    json_decref(root);
    if (code != SEEN_OK)
        memento_list_clear(list);
    return code;
}

enum seen_code memento_list_load(struct memento_list *list, const char *path,
                                 struct seen_error *why)
{
    enum seen_code code;
    char *text;
    size_t len;

    *list = (struct memento_list){ .archive = NULL };
    code = disk_load(&text, &len, path, FILE_BYTES, why);
    if (code != SEEN_OK)
        return code;
    code = memento_list_read(list, text, len, why);
    free(text);
    return code;
}
