/*
 * state.c - the state as JSON; one table of names to write and to read it.
 *
 * A field is one row: its name in JSON, its type, its place in the struct, and
 * whether a state of an earlier version may lack it. Writing, reading and
 * copying go through the table, so that no field is written and not read, and
 * no text is copied by its pointer.
 *
 * Items are in the order of their paths. Reading proves that, since finding is
 * by bisection. Whatever else is wrong makes the whole state SEEN_CORRUPT: half
 * a state would announce the other half as deleted.
 */
#include "state.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/disk/disk.h"
#include "../lib/text/array.h"
#include "../lib/text/buffer.h"
#include "../lib/text/hex.h"
#include "../lib/text/json_tree.h"
#include "file.h"

enum publish_type { TEXT, WHOLE, REAL, FLAG, DIGEST };

struct publish_field {
    const char *name;
    enum publish_type type;
    size_t at;
    bool may_lack;
};

static const struct publish_field item_fields[] = {
    { "path", TEXT, offsetof(struct publish_item, path), false },
    { "sha256", DIGEST, offsetof(struct publish_item, digest), false },
    { "length", WHOLE, offsetof(struct publish_item, length), false },
    { "lastmod", WHOLE, offsetof(struct publish_item, lastmod), false },
    { "seconds", WHOLE, offsetof(struct publish_item, seconds), false },
    { "nanos", WHOLE, offsetof(struct publish_item, nanos), false },
    { "inode", WHOLE, offsetof(struct publish_item, inode), false },
    { "held", FLAG, offsetof(struct publish_item, held), false },
    { "kind", TEXT, offsetof(struct publish_item, about.kind), false },
    { "profile", TEXT, offsetof(struct publish_item, about.profile), false },
    { "title", TEXT, offsetof(struct publish_item, about.title), true },
    { "holder", TEXT, offsetof(struct publish_item, about.holder), true },
    { "description", TEXT, offsetof(struct publish_item, about.description),
      true },
    { "as-of", TEXT, offsetof(struct publish_item, about.as_of), true },
    { "entries", REAL, offsetof(struct publish_item, about.entries), false },
    { "rate", REAL, offsetof(struct publish_item, about.rate), false },
    { "keyed", FLAG, offsetof(struct publish_item, about.keyed), false },
    { "text", FLAG, offsetof(struct publish_item, text.made), true },
    { "text-sha256", DIGEST, offsetof(struct publish_item, text.digest),
      true },
    { "text-length", WHOLE, offsetof(struct publish_item, text.length), true },
    { .name = NULL }
};

static const struct publish_field change_fields[] = {
    { "path", TEXT, offsetof(struct publish_change, path), false },
    { "when", WHOLE, offsetof(struct publish_change, when), false },
    { "lastmod", WHOLE, offsetof(struct publish_change, lastmod), false },
    { "sha256", DIGEST, offsetof(struct publish_change, digest), false },
    { "length", WHOLE, offsetof(struct publish_change, length), false },
    { "patched", FLAG, offsetof(struct publish_change, patched), false },
    { "from", DIGEST, offsetof(struct publish_change, from), false },
    { "patch", DIGEST, offsetof(struct publish_change, patch), false },
    { "patch-length", WHOLE, offsetof(struct publish_change, patch_length),
      false },
    { .name = NULL }
};

static const char *const kind_names[] = { "created", "updated", "deleted" };

/* --- memory --------------------------------------------------------------- */

void publish_about_clear(struct publish_about *a)
{
    free(a->kind);
    free(a->profile);
    free(a->title);
    free(a->holder);
    free(a->description);
    free(a->as_of);
    memset(a, 0, sizeof *a);
}

void publish_item_clear(struct publish_item *i)
{
    free(i->path);
    publish_about_clear(&i->about);
    memset(i, 0, sizeof *i);
}

bool publish_item_copy(struct publish_item *to,
                       const struct publish_item *from)
{
    bool good = true;

    *to = *from;
    for (const struct publish_field *f = item_fields; f->name; f++) {
        char **text = (char **)(void *)((char *)to + f->at);

        if (f->type == TEXT && *text) {
            *text = strdup(*text);
            good = good && *text;
        }
    }
    return good;
}

void publish_state_clear(struct publish_state *s)
{
    for (size_t i = 0; i < s->items; i++)
        publish_item_clear(&s->item[i]);
    for (size_t i = 0; i < s->changes; i++)
        free(s->change[i].path);
    free(s->item);
    free(s->change);
    free(s->url);
    memset(s, 0, sizeof *s);
}

struct publish_item *publish_state_add_item(struct publish_state *s)
{
    struct publish_item *item = array_grow(s->item, &s->item_room,
                                           s->items + 1, sizeof *item);

    if (!item)
        return NULL;
    s->item = item;
    memset(&item[s->items], 0, sizeof *item);
    return &item[s->items++];
}

struct publish_change *publish_state_add_change(struct publish_state *s)
{
    struct publish_change *change = array_grow(s->change, &s->change_room,
                                               s->changes + 1, sizeof *change);

    if (!change)
        return NULL;
    s->change = change;
    memset(&change[s->changes], 0, sizeof *change);
    return &change[s->changes++];
}

static int by_path(const void *path, const void *item)
{
    return strcmp(path, ((const struct publish_item *)item)->path);
}

const struct publish_item *publish_state_find(const struct publish_state *s,
                                              const char *path)
{
    if (!s->items)
        return NULL;
    return bsearch(path, s->item, s->items, sizeof *s->item, by_path);
}

/* --- to JSON ------------------------------------------------------------ */

static json_t *value_of(const struct publish_field *f, const void *whose)
{
    const char *at = (const char *)whose + f->at;
    char hex[PUBLISH_DIGEST_TEXT];

    switch (f->type) {
    case TEXT: return json_string(*(char *const *)(const void *)at);
    case WHOLE: return json_integer(*(const int64_t *)(const void *)at);
    case REAL: return json_real(*(const double *)(const void *)at);
    case FLAG: return json_boolean(*(const bool *)at);
    case DIGEST: hex_write(hex, at, SEEN_DIGEST); return json_string(hex);
    }
    return NULL;
}

static json_t *object_of(const struct publish_field *f, const void *whose)
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

static json_t *whole_of(const struct publish_state *s)
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

static int append(const char *text, size_t len, void *to)
{
    buffer_bytes(to, text, len);
    return 0;
}

enum seen_code publish_state_save(const struct publish_state *s,
                                  const char *path, struct seen_error *why)
{
    json_t *root = whole_of(s);
    struct buffer text = { .failed = !root };
    enum seen_code code;

    if (root && json_dump_callback(root, append, &text, JSON_INDENT(1)))
        text.failed = true;
    buffer_byte(&text, '\n');
    if (text.failed)
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for the state");
    else
        code = disk_update(path, text.bytes, text.len, NULL, why);
    buffer_clear(&text);
    json_decref(root);
    return code;
}

/* --- from JSON ---------------------------------------------------------- */

/* *no_memory tells a lack of memory from a text that is missing. */
static char *copy(const json_t *text, bool *no_memory)
{
    char *to = json_is_string(text) ? strdup(json_string_value(text)) : NULL;

    *no_memory |= json_is_string(text) && !to;
    return to;
}

static bool take(const struct publish_field *f, json_t *v, void *whose,
                 bool *no_memory)
{
    char *at = (char *)whose + f->at;

    if (!v)
        return f->may_lack;
    switch (f->type) {
    case TEXT:
        *(char **)(void *)at = copy(v, no_memory);
        return *(char **)(void *)at;
    case WHOLE:
        *(int64_t *)(void *)at = json_integer_value(v);
        return json_is_integer(v);
    case REAL:
        *(double *)(void *)at = json_number_value(v);
        return json_is_number(v);
    case FLAG: *(bool *)at = json_is_true(v); return json_is_boolean(v);
    case DIGEST:
        return json_is_string(v) &&
               json_string_length(v) == PUBLISH_DIGEST_TEXT - 1 &&
               hex_read(at, SEEN_DIGEST, json_string_value(v), false);
    }
    return false;
}

static bool take_all(const struct publish_field *f, json_t *from, void *whose,
                     bool *no_memory)
{
    for (; f->name; f++)
        if (!take(f, json_object_get(from, f->name), whose, no_memory))
            return false;
    return true;
}

static bool take_change(struct publish_change *c, json_t *from,
                        bool *no_memory)
{
    const char *kind = json_string_value(json_object_get(from, "change"));

    if (!take_all(change_fields, from, c, no_memory) || !kind)
        return false;
    for (int i = 0; i < 3; i++)
        if (!strcmp(kind, kind_names[i])) {
            c->kind = (enum publish_change_kind)i;
            return true;
        }
    return false;
}

static bool take_state(struct publish_state *s, json_t *root, bool *no_memory)
{
    const json_t *url = json_object_get(root, "url");
    json_t *files = json_object_get(root, "files"), *v;
    json_t *changes = json_object_get(root, "changes");
    size_t i;

    if (json_integer_value(json_object_get(root, "version")) != 1 ||
        !json_is_string(url) || !json_is_array(files) ||
        !json_is_array(changes))
        return false;
    s->url = copy(url, no_memory);
    s->deltas = (uint64_t)json_integer_value(json_object_get(root, "deltas"));
    s->text = json_is_true(json_object_get(root, "text"));
    s->at = json_integer_value(json_object_get(root, "at"));
    s->parts[0] = (unsigned)json_integer_value(
        json_object_get(root, "sitemaps"));
    s->parts[1] = (unsigned)json_integer_value(
        json_object_get(root, "changelists"));
    json_array_foreach(files, i, v)
    {
        struct publish_item *item = publish_state_add_item(s);

        *no_memory |= !item;
        if (!item || !take_all(item_fields, v, item, no_memory) ||
            (i && strcmp(s->item[i - 1].path, item->path) >= 0))
            return false;
    }
    json_array_foreach(changes, i, v)
    {
        struct publish_change *change = publish_state_add_change(s);

        *no_memory |= !change;
        if (!change || !take_change(change, v, no_memory))
            return false;
    }
    return s->url;
}

enum seen_code publish_state_load(struct publish_state *s, const char *path,
                                  struct seen_error *why)
{
    int fd;
    enum seen_code code = publish_open(&fd, path, why);
    bool good, no_memory = false;
    json_t *root;

    memset(s, 0, sizeof *s);
    if (code != SEEN_OK || fd < 0)
        return code;
    code = json_tree_read_file(&root, fd, 0, NULL, why);
    close(fd);
    good = code == SEEN_OK && take_state(s, root, &no_memory);
    json_decref(root);
    if (good)
        return SEEN_OK;
    publish_state_clear(s);
    if (code == SEEN_NOMEM || no_memory)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for the state");
    return seen_fail(why, SEEN_CORRUPT, 0,
                     "was not written by seen publish; without this file "
                     "all filters are announced as new");
}
