/* state.c - the state as JSON, one table of names for both directions. */
#define _POSIX_C_SOURCE 200809L
#include "state.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/share/hex.h"
#include "path.h"
#include "sheet.h"

enum type { TEXT, WHOLE, REAL, FLAG, DIGEST };

struct field {
    const char *name;
    enum type type;
    size_t at;
    bool may_lack;
};

static const struct field item_fields[] = {
    { "path", TEXT, offsetof(struct item, path), false },
    { "sha256", DIGEST, offsetof(struct item, digest), false },
    { "length", WHOLE, offsetof(struct item, length), false },
    { "lastmod", WHOLE, offsetof(struct item, lastmod), false },
    { "seconds", WHOLE, offsetof(struct item, seconds), false },
    { "nanos", WHOLE, offsetof(struct item, nanos), false },
    { "inode", WHOLE, offsetof(struct item, inode), false },
    { "held", FLAG, offsetof(struct item, held), false },
    { "kind", TEXT, offsetof(struct item, about.kind), false },
    { "profile", TEXT, offsetof(struct item, about.profile), false },
    { "title", TEXT, offsetof(struct item, about.title), true },
    { "holder", TEXT, offsetof(struct item, about.holder), true },
    { "description", TEXT, offsetof(struct item, about.description), true },
    { "as-of", TEXT, offsetof(struct item, about.as_of), true },
    { "entries", REAL, offsetof(struct item, about.entries), false },
    { "rate", REAL, offsetof(struct item, about.rate), false },
    { "keyed", FLAG, offsetof(struct item, about.keyed), false },
    { "text", FLAG, offsetof(struct item, text.made), true },
    { "text-sha256", DIGEST, offsetof(struct item, text.digest), true },
    { "text-length", WHOLE, offsetof(struct item, text.length), true },
    { .name = NULL }
};

static const struct field change_fields[] = {
    { "path", TEXT, offsetof(struct change, path), false },
    { "when", WHOLE, offsetof(struct change, when), false },
    { "lastmod", WHOLE, offsetof(struct change, lastmod), false },
    { "sha256", DIGEST, offsetof(struct change, digest), false },
    { "length", WHOLE, offsetof(struct change, length), false },
    { "patched", FLAG, offsetof(struct change, patched), false },
    { "from", DIGEST, offsetof(struct change, from), false },
    { "patch", DIGEST, offsetof(struct change, patch), false },
    { "patch-length", WHOLE, offsetof(struct change, patch_length), false },
    { .name = NULL }
};

static const char *const kind_names[] = { "created", "updated", "deleted" };

/* --- memory --------------------------------------------------------------- */

void about_clear(struct about *a)
{
    free(a->kind);
    free(a->profile);
    free(a->title);
    free(a->holder);
    free(a->description);
    free(a->as_of);
    memset(a, 0, sizeof *a);
}

void item_clear(struct item *i)
{
    free(i->path);
    about_clear(&i->about);
    memset(i, 0, sizeof *i);
}

bool item_copy(struct item *to, const struct item *from)
{
    bool good = true;

    *to = *from;
    for (const struct field *f = item_fields; f->name; f++) {
        char **text = (char **)(void *)((char *)to + f->at);

        if (f->type == TEXT && *text) {
            *text = strdup(*text);
            good = good && *text;
        }
    }
    return good;
}

void state_clear(struct state *s)
{
    for (size_t i = 0; i < s->items; i++)
        item_clear(&s->item[i]);
    for (size_t i = 0; i < s->changes; i++)
        free(s->change[i].path);
    free(s->item);
    free(s->change);
    free(s->url);
    memset(s, 0, sizeof *s);
}

static void *grown(void *list, size_t n, size_t *room, size_t each)
{
    void *more;

    if (n < *room)
        return list;
    more = realloc(list, (*room ? 2 * *room : 64) * each);
    if (more)
        *room = *room ? 2 * *room : 64;
    return more;
}

struct item *state_add(struct state *s)
{
    struct item *item = grown(s->item, s->items, &s->item_room, sizeof *item);

    if (!item)
        return NULL;
    s->item = item;
    memset(&item[s->items], 0, sizeof *item);
    return &item[s->items++];
}

struct change *state_append(struct state *s)
{
    struct change *change = grown(s->change, s->changes, &s->change_room,
                                  sizeof *change);

    if (!change)
        return NULL;
    s->change = change;
    memset(&change[s->changes], 0, sizeof *change);
    return &change[s->changes++];
}

static int by_path(const void *path, const void *item)
{
    return strcmp(path, ((const struct item *)item)->path);
}

const struct item *state_find(const struct state *s, const char *path)
{
    if (!s->items)
        return NULL;
    return bsearch(path, s->item, s->items, sizeof *s->item, by_path);
}

/* --- to JSON ------------------------------------------------------------ */

static json_t *value_of(const struct field *f, const void *whose)
{
    const char *at = (const char *)whose + f->at;
    char hex[DIGEST_TEXT];

    switch (f->type) {
    case TEXT: return json_string(*(char *const *)(const void *)at);
    case WHOLE: return json_integer(*(const int64_t *)(const void *)at);
    case REAL: return json_real(*(const double *)(const void *)at);
    case FLAG: return json_boolean(*(const bool *)at);
    case DIGEST:
        hex_print(hex, (const unsigned char *)at, SEEN_DIGEST);
        return json_string(hex);
    }
    return NULL;
}

static json_t *object_of(const struct field *f, const void *whose)
{
    json_t *o = json_object();

    for (; o && f->name; f++) {
        char *const *text = (char *const *)(const void *)((const char *)whose +
                                                          f->at);

        if (f->type == TEXT && !*text && f->may_lack)
            continue;
        if (json_object_set_new(o, f->name, value_of(f, whose))) {
            json_decref(o);
            return NULL;
        }
    }
    return o;
}

static json_t *whole_of(const struct state *s)
{
    json_t *root = json_object(), *files = json_array(), *list = json_array();
    bool good = root && files && list;

    for (size_t i = 0; good && i < s->items; i++)
        good = !json_array_append_new(files,
                                      object_of(item_fields, &s->item[i]));
    for (size_t i = 0; good && i < s->changes; i++) {
        json_t *o = object_of(change_fields, &s->change[i]);

        good = o &&
               !json_object_set_new(
                   o, "change", json_string(kind_names[s->change[i].kind])) &&
               !json_array_append(list, o);
        json_decref(o);
    }
    good = good && !json_object_set_new(root, "version", json_integer(1)) &&
           !json_object_set_new(root, "url", json_string(s->url)) &&
           !json_object_set_new(root, "deltas",
                                json_integer((json_int_t)s->deltas)) &&
           !json_object_set_new(root, "text", json_boolean(s->text)) &&
           !json_object_set_new(root, "at", json_integer(s->at)) &&
           !json_object_set_new(root, "sitemaps", json_integer(s->parts[0])) &&
           !json_object_set_new(root, "changelists",
                                json_integer(s->parts[1])) &&
           !json_object_set(root, "files", files) &&
           !json_object_set(root, "changes", list);
    json_decref(files);
    json_decref(list);
    if (!good) {
        json_decref(root);
        return NULL;
    }
    return root;
}

enum seen_code state_save(const struct state *s, const char *path,
                          struct seen_error *why)
{
    json_t *root = whole_of(s);
    struct sheet sheet;
    enum seen_code code;

    if (!root)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for the state");
    code = sheet_begin(&sheet, path, why);
    if (code == SEEN_OK) {
        if (json_dumpf(root, sheet.to, JSON_INDENT(1)) ||
            putc('\n', sheet.to) == EOF) {
            code = seen_fail(why, SEEN_IO, 0, "cannot be written");
            sheet_drop(&sheet);
        } else {
            code = sheet_end(&sheet, NULL, why);
        }
    }
    json_decref(root);
    return code;
}

/* --- from JSON ---------------------------------------------------------- */

static bool take(const struct field *f, json_t *v, void *whose)
{
    char *at = (char *)whose + f->at;

    if (!v)
        return f->may_lack;
    switch (f->type) {
    case TEXT:
        *(char **)(void *)at = json_is_string(v) ? strdup(json_string_value(v))
                                                 : NULL;
        return *(char **)(void *)at;
    case WHOLE:
        *(int64_t *)(void *)at = json_integer_value(v);
        return json_is_integer(v);
    case REAL:
        *(double *)(void *)at = json_number_value(v);
        return json_is_number(v);
    case FLAG: *(bool *)at = json_is_true(v); return json_is_boolean(v);
    case DIGEST:
        return json_is_string(v) && json_string_length(v) == DIGEST_TEXT - 1 &&
               hex_parse((unsigned char *)at, SEEN_DIGEST,
                         json_string_value(v), false);
    }
    return false;
}

static bool take_all(const struct field *f, json_t *from, void *whose)
{
    for (; f->name; f++)
        if (!take(f, json_object_get(from, f->name), whose))
            return false;
    return true;
}

static bool take_change(struct change *c, json_t *from)
{
    const char *kind = json_string_value(json_object_get(from, "change"));

    if (!take_all(change_fields, from, c) || !kind)
        return false;
    for (int i = 0; i < 3; i++)
        if (!strcmp(kind, kind_names[i])) {
            c->kind = (enum change_kind)i;
            return true;
        }
    return false;
}

static bool take_state(struct state *s, json_t *root)
{
    const char *url = json_string_value(json_object_get(root, "url"));
    json_t *files = json_object_get(root, "files"), *v;
    json_t *changes = json_object_get(root, "changes");
    size_t i;

    if (json_integer_value(json_object_get(root, "version")) != 1 || !url ||
        !json_is_array(files) || !json_is_array(changes))
        return false;
    s->url = strdup(url);
    s->deltas = (uint64_t)json_integer_value(json_object_get(root, "deltas"));
    s->text = json_is_true(json_object_get(root, "text"));
    s->at = json_integer_value(json_object_get(root, "at"));
    s->parts[0] = (unsigned)json_integer_value(
        json_object_get(root, "sitemaps"));
    s->parts[1] = (unsigned)json_integer_value(
        json_object_get(root, "changelists"));
    json_array_foreach(files, i, v)
    {
        struct item *item = state_add(s);

        if (!item || !take_all(item_fields, v, item) ||
            (i && strcmp(s->item[i - 1].path, item->path) >= 0))
            return false;
    }
    json_array_foreach(changes, i, v)
    {
        struct change *change = state_append(s);

        if (!change || !take_change(change, v))
            return false;
    }
    return s->url;
}

enum seen_code state_load(struct state *s, const char *path,
                          struct seen_error *why)
{
    FILE *from;
    enum seen_code code = path_read(&from, path, why);
    json_error_t error;
    json_t *root;
    bool good;

    memset(s, 0, sizeof *s);
    if (code != SEEN_OK || !from)
        return code;
    root = json_loadf(from, 0, &error);
    fclose(from);
    good = root && take_state(s, root);
    json_decref(root);
    if (good)
        return SEEN_OK;
    state_clear(s);
    return seen_fail(why, SEEN_CORRUPT, 0,
                     "is not as seen publish wrote it; without this file "
                     "all filters are announced as new");
}
