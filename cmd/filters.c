/* filters.c - from operands to a list of filters. */
#include "filters.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../lib/disk/walk.h"
#include "../lib/text/array.h"
#include "../lib/text/percent.h"
#include "../lib/text/span.h"
#include "access.h"
#include "command.h"

bool cmd_filters_folder(const char *path)
{
    struct stat it;

    return !access_is_remote(path) && !stat(path, &it) && S_ISDIR(it.st_mode);
}

/* Name and path belong to the list then. */
static bool append(struct cmd_filters *list, char *name, char *path,
                   bool found)
{
    struct cmd_filter *more = NULL;

    if (name && path)
        more = array_grow(list->filter, &list->room, list->n + 1,
                          sizeof *more);
    if (!more) {
        free(name);
        free(path);
        trouble("no memory for a list of filters");
        return false;
    }
    list->filter = more;
    more[list->n++] = (struct cmd_filter){ name, path, found };
    return true;
}

/* The name of the file at a path: percent-encoded bytes are decoded, as the
   server does. */
static char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    struct seen_span name = span_of(slash ? slash + 1 : path);
    char *out = malloc(name.len + 1);

    if (!out)
        return NULL;
    if (span_ends(name, ".seen"))
        name.len -= 5;
    name.len = percent_decode_lenient(out, name.text, name.len);
    out[name.len] = '\0';
    return out;
}

static bool add_folder(struct cmd_filters *list, const char *folder)
{
    const size_t before = list->n;
    struct walk_names files;
    struct seen_error why;
    bool good = true;

    if (walk_folder(&files, folder, false, &why) != SEEN_OK) {
        trouble_with(folder, &why);
        return false;
    }
    for (size_t i = 0; i < files.n && good; i++)
        if (span_ends(span_of(files.name[i]), ".seen"))
            good = append(list, name_of(files.name[i]),
                          walk_path(folder, files.name[i]), true);
    walk_clear(&files);
    if (good && list->n == before) {
        trouble("%s: the folder has no filters, files named *.seen", folder);
        return false;
    }
    return good;
}

bool cmd_filters_add(struct cmd_filters *list, const char *operand)
{
    const char *equals = strchr(operand, '=');
    struct stat it;

    if (cmd_filters_folder(operand))
        return add_folder(list, operand);
    if (equals && equals > operand && !access_is_remote(operand) &&
        !access_is_distant(operand) && stat(operand, &it))
        return append(list, strndup(operand, (size_t)(equals - operand)),
                      strdup(equals + 1), false);
    return append(list, name_of(operand), strdup(operand), false);
}

bool cmd_filters_distinct(const struct cmd_filters *list)
{
    for (size_t i = 0; i < list->n; i++)
        for (size_t j = 0; j < i; j++)
            if (!strcmp(list->filter[i].name, list->filter[j].name)) {
                trouble("%s and %s: both are named %s; give one another name: "
                        "NAME=FILTER",
                        list->filter[j].path, list->filter[i].path,
                        list->filter[i].name);
                return false;
            }
    return true;
}

void cmd_filters_clear(struct cmd_filters *list)
{
    for (size_t i = 0; i < list->n; i++) {
        free(list->filter[i].name);
        free(list->filter[i].path);
    }
    free(list->filter);
    memset(list, 0, sizeof *list);
}
