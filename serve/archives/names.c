/*
 * names.c - names of archives, and the files that they stand for.
 *
 * An archive of a folder is named after its file: "haw.seen" is "haw". Names
 * may have bytes that file names should not have: these are %41 in the file
 * name.
 */
#include "inside.h"

#include <stdlib.h>

#include "../../lib/disk/walk.h"
#include "../../lib/text/array.h"
#include "../../lib/text/percent.h"

static const char ending[] = ".seen";

const char *archive_name_fault(const struct archive_set *set,
                               struct seen_span name)
{
    if (!name.len)
        return "an archive needs a name";
    if (name.len > ARCHIVE_NAME)
        return "the name is too long";
    if (name.text[0] == '.')
        return "a name cannot begin with a dot";
    for (size_t i = 0; i < name.len; i++)
        if ((unsigned char)name.text[i] < ' ' || name.text[i] == 0x7f)
            return "a name cannot have control bytes";
    if (set->reserved && set->reserved(name))
        return "the name is reserved for a path of the server";
    return NULL;
}

/* Bytes that are special to a shell are encoded, "~" included. */
char *archive_path(const char *folder, struct seen_span name)
{
    struct buffer path = { .bytes = NULL };

    buffer_text(&path, folder);
    buffer_byte(&path, '/');
    for (size_t i = 0; i < name.len; i++) {
        char coded[3];

        if (name.text[i] != '~' && !percent_has(PERCENT_NAME, name.text[i])) {
            buffer_byte(&path, name.text[i]);
            continue;
        }
        percent_write(coded, name.text[i]);
        buffer_bytes(&path, coded, sizeof coded);
    }
    buffer_text(&path, ending);
    return buffer_take(&path);
}

/* The name of the archive whose file is called `file`, allocated. It is NULL
   if there is none: `fault` says why, or is NULL if it is not a filter. */
static enum seen_code name_of(const struct archive_set *set, const char *file,
                              char **found, const char **fault)
{
    struct seen_span name = span_of(file);
    char *out;

    *found = NULL;
    *fault = NULL;
    if (!span_ends(name, ending))
        return SEEN_OK;
    name.len -= sizeof ending - 1;
    out = malloc(name.len + 1);
    if (!out)
        return SEEN_NOMEM;
    name.len = percent_decode_lenient(out, name.text, name.len);
    out[name.len] = '\0';
    name.text = out;
    *fault = archive_name_fault(set, name);
    if (!*fault && strlen(out) != name.len)
        *fault = "a name cannot have control bytes";
    if (*fault)
        free(out);
    else
        *found = out;
    return SEEN_OK;
}

/* Of two with the same name, the one of the earlier operand comes first. */
static int by_name(const void *a, const void *b)
{
    const struct archive_entry *x = a, *y = b;
    int order = strcmp(x->name, y->name);

    if (!order)
        order = (x->folder > y->folder) - (x->folder < y->folder);
    return order ? order : strcmp(x->path, y->path);
}

void archive_list_clear(struct archive_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        free(list->entry[i].name);
        free(list->entry[i].path);
    }
    free(list->entry);
    memset(list, 0, sizeof *list);
}

bool archive_list_append(struct archive_list *list, char *name, char *path,
                         size_t folder)
{
    struct archive_entry *more = NULL;

    if (name && path)
        more = array_grow(list->entry, &list->room, list->n + 1, sizeof *more);
    if (!more) {
        free(name);
        free(path);
        return false;
    }
    list->entry = more;
    more[list->n++] = (struct archive_entry){ name, path, folder };
    return true;
}

static enum seen_code list_folder(const struct archive_set *set, size_t i,
                                  struct archive_list *list,
                                  struct seen_error *why)
{
    struct walk_names files;
    enum seen_code code = walk_folder(&files, set->folder[i], false, why);

    for (size_t j = 0; j < files.n && code == SEEN_OK; j++) {
        const char *fault;
        char *name;

        code = name_of(set, files.name[j], &name, &fault);
        if (name &&
            !archive_list_append(
                list, name, walk_path(set->folder[i], files.name[j]), i + 1))
            code = SEEN_NOMEM;
        if (code != SEEN_OK)
            code = seen_fail(why, SEEN_NOMEM, 0, "no memory for its list");
    }
    walk_clear(&files);
    return code;
}

static void drop_doubles(struct archive_list *list)
{
    struct archive_entry *entry = list->entry;
    size_t kept = 0;

    for (size_t i = 0; i < list->n; i++)
        if (!kept || strcmp(entry[i].name, entry[kept - 1].name)) {
            entry[kept++] = entry[i];
        } else {
            free(entry[i].name);
            free(entry[i].path);
        }
    list->n = kept;
}

enum seen_code archive_list_load(struct archive_list *list,
                                 const struct archive_set *set,
                                 struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    memset(list, 0, sizeof *list);
    for (size_t i = 0; i < set->named.n && code == SEEN_OK; i++)
        if (!archive_list_append(list, strdup(set->named.entry[i].name),
                                 strdup(set->named.entry[i].path), 0))
            code = seen_fail(why, SEEN_NOMEM, 0, "no memory for a list");
    for (size_t i = 0; i < set->folders && code == SEEN_OK; i++)
        code = list_folder(set, i, list, why);
    if (code != SEEN_OK) {
        archive_list_clear(list);
        return code;
    }
    if (list->n)
        qsort(list->entry, list->n, sizeof *list->entry, by_name);
    drop_doubles(list);
    return SEEN_OK;
}

char *archive_find_path(const struct archive_set *set, const char *name)
{
    struct archive_list list;
    char *path = NULL;

    if (archive_list_load(&list, set, NULL) != SEEN_OK)
        return NULL;
    for (size_t i = 0; i < list.n && !path; i++)
        if (!strcmp(list.entry[i].name, name))
            path = strdup(list.entry[i].path);
    archive_list_clear(&list);
    return path;
}

const char *archive_folder(const struct archive_set *set, size_t i)
{
    return i < set->folders ? set->folder[i] : NULL;
}

/* Has another file the name? One that is not in the list came after it. */
static bool is_taken(const struct archive_list *list, const char *name,
                     const char *path)
{
    for (size_t i = 0; i < list->n; i++)
        if (!strcmp(list->entry[i].name, name))
            return strcmp(list->entry[i].path, path);
    return false;
}

/* Report files of folders that are not served: their names cannot be names
   of archives, or belong to another file. */
void archive_report(const struct archive_set *set,
                    void (*report)(const char *path, const char *why))
{
    struct archive_list list;
    const bool listed = archive_list_load(&list, set, NULL) == SEEN_OK;

    for (size_t i = 0; i < set->folders && listed; i++) {
        struct walk_names files;

        walk_folder(&files, set->folder[i], false, NULL);
        for (size_t j = 0; j < files.n; j++) {
            char *name, *path = walk_path(set->folder[i], files.name[j]);
            const char *fault;

            name_of(set, files.name[j], &name, &fault);
            if (name && path && is_taken(&list, name, path))
                fault = "another archive has the same name";
            if (fault && path)
                report(path, fault);
            free(name);
            free(path);
        }
        walk_clear(&files);
    }
    archive_list_clear(&list);
}
