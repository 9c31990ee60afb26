/* names.c - names of archives, and the files that they stand for. */
#define _GNU_SOURCE /* asprintf, clock waits */
#include "inside.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "../percent.h"

enum { LONGEST_NAME = 200 };

const char *library_name_fault(struct span name)
{
    static const char *const ours[] = {
        "agg",     "timemap",  "timegate",    "prefix",      "archives",
        "info",    "files",    "metrics",     "healthz",     "add",
        "page.js", "page.css", "sitemap.xml", ".well-known", "robots.txt",
    };

    if (!name.len)
        return "an archive needs a name";
    if (name.len > LONGEST_NAME)
        return "the name is too long";
    if (name.text[0] == '.')
        return "a name cannot begin with a point";
    for (size_t i = 0; i < name.len; i++)
        if ((unsigned char)name.text[i] < 0x21 || name.text[i] == 0x7f)
            return "a name cannot have spaces or control bytes";
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
        if (span_is(name, ours[i]))
            return "the name is that of a path of the server";
    return NULL;
}

static bool plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

/* A file name for any name: what a shell might mind is %41. */
char *holding_path(const char *folder, struct span name)
{
    char *path = malloc(strlen(folder) + 3 * name.len + sizeof "/.seen");
    char *at = path;

    if (!path)
        return NULL;
    at += sprintf(at, "%s/", folder);
    for (size_t i = 0; i < name.len; i++)
        at += plain(name.text[i])
                  ? sprintf(at, "%c", name.text[i])
                  : sprintf(at, "%%%02X", (unsigned char)name.text[i]);
    strcpy(at, ".seen");
    return path;
}

/* The name of an archive whose file is called `file`, or NULL. */
static char *name_of(const char *file)
{
    size_t len = strlen(file), n = 0;
    struct span name;
    char *out;

    if (len <= 5 || strcmp(file + len - 5, ".seen") || file[0] == '.')
        return NULL;
    out = malloc(len);
    if (!out)
        return NULL;
    for (size_t i = 0; i < len - 5; i++) {
        int high = file[i] == '%' ? percent_digit(file[i + 1]) : -1;
        int low = high >= 0 ? percent_digit(file[i + 2]) : -1;

        out[n] = file[i];
        if (low >= 0) {
            out[n] = (char)(high * 16 + low);
            i += 2;
        }
        n++;
    }
    out[n] = '\0';
    name = (struct span){ out, n };
    if (strlen(out) != n || library_name_fault(name)) {
        free(out);
        return NULL;
    }
    return out;
}

/* Of one name, the one that was given first comes first. */
static int by_name(const void *a, const void *b)
{
    const struct holding *x = a, *y = b;
    int order = strcmp(x->name, y->name);

    if (!order)
        order = (x->from > y->from) - (x->from < y->from);
    return order ? order : strcmp(x->path, y->path);
}

void holdings_free(struct holding *h, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(h[i].name);
        free(h[i].path);
    }
    free(h);
}

bool holding_append(struct holding **h, size_t *n, char *name, char *path,
                    size_t from)
{
    struct holding *more = NULL;

    if (name && path && !(*n & (*n - 1)))
        more = realloc(*h, (*n ? 2 * *n : 1) * sizeof **h);
    else if (name && path)
        more = *h;
    if (!more) {
        free(name);
        free(path);
        return false;
    }
    *h = more;
    more[(*n)++] = (struct holding){ name, path, from > 0, from };
    return true;
}

bool holding_named(const struct holding *h, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(h[i].name, name))
            return true;
    return false;
}

static enum seen_code list_folder(const char *folder, size_t number,
                                  struct holding **h, size_t *n,
                                  struct seen_error *why)
{
    struct dirent *e;
    DIR *dir = opendir(folder);

    if (!dir)
        return seen_fail(why, SEEN_IO, 0, "cannot be read");
    while ((e = readdir(dir))) {
        char *name = name_of(e->d_name), *path = NULL;

        if (!name)
            continue;
        if (asprintf(&path, "%s/%s", folder, e->d_name) < 0)
            path = NULL;
        if (!holding_append(h, n, name, path, number)) {
            closedir(dir);
            return seen_fail(why, SEEN_NOMEM, 0, "no memory for its list");
        }
    }
    closedir(dir);
    return SEEN_OK;
}

static void drop_doubles(struct holding *h, size_t *n)
{
    size_t kept = 1;

    for (size_t i = 1; i < *n; i++)
        if (strcmp(h[i].name, h[kept - 1].name)) {
            h[kept++] = h[i];
        } else {
            free(h[i].name);
            free(h[i].path);
        }
    *n = kept;
}

enum seen_code library_list(struct library *l, struct holding **out, size_t *n,
                            struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    *out = NULL;
    *n = 0;
    for (size_t i = 0; i < l->names && code == SEEN_OK; i++)
        if (!holding_append(out, n, strdup(l->named[i].name),
                            strdup(l->named[i].path), false))
            code = seen_fail(why, SEEN_NOMEM, 0, "no memory for a list");
    for (size_t i = 0; i < l->folders && code == SEEN_OK; i++)
        code = list_folder(l->folder[i], i + 1, out, n, why);
    if (code != SEEN_OK) {
        holdings_free(*out, *n);
        *out = NULL;
        *n = 0;
        return code;
    }
    if (*n) {
        qsort(*out, *n, sizeof **out, by_name);
        drop_doubles(*out, n);
    }
    return SEEN_OK;
}

const char *library_folder(const struct library *l, size_t i)
{
    return i < l->folders ? l->folder[i] : NULL;
}
