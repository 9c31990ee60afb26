/*
 * whatwg_base.c - URLs that lean on another one, and files, which lean most.
 *
 *     base   https://host/a/b?c
 *     //d/e  https://d/e             a copy up to the scheme
 *     /d     https://host/d          up to the authority
 *     d      https://host/a/d        up to the path, shortened
 *     ?d     https://host/a/b?d      up to the query
 *
 * For files the drive ("C:") is kept as well.
 */
#include "whatwg.h"

#include <string.h>

/* --- relative URLs --- */

static void copy_authority(struct url *u)
{
    const struct url *b = u->base;
    size_t end = b->path;

    /* "/." before a path is neither the one nor the other. */
    if (!b->authority)
        end = b->scheme_end;
    sink_put(&u->to, b->to.text + b->scheme_end, end - b->scheme_end);
    u->authority = b->authority;
    u->path = u->to.len;
}

static size_t path_end(const struct url *b)
{
    return b->query ? b->query : b->to.len;
}

static void copy_path(struct url *u)
{
    const struct url *b = u->base;

    u->opaque = b->opaque;
    sink_put(&u->to, b->to.text + b->path, path_end(b) - b->path);
}

/* "", "#f", "?q": the path of the base, and its query if there is none. */
static void stay(struct url *u, const char *p)
{
    const struct url *b = u->base;

    whatwg_end_path(u, p);
    if (!u->query && b->query) {
        u->query = u->to.len;
        sink_put(&u->to, b->to.text + b->query, b->to.len - b->query);
    }
}

void whatwg_relative(struct url *u, const char *p)
{
    if (slash(u, p) && slash(u, p + 1)) {
        if (u->scheme == OTHER)
            whatwg_authority(u, p + 2);
        else
            whatwg_slashes(u, p + 2);
        return;
    }
    copy_authority(u);
    if (slash(u, p)) {
        whatwg_path(u, p + 1);
        return;
    }
    copy_path(u);
    if (ends(u, p)) {
        stay(u, p);
    } else {
        whatwg_shorten(u);
        whatwg_path(u, p);
    }
}

/* --- files --- */

static bool begins_with_drive(const struct url *u, const char *p)
{
    return u->end - p >= 2 && whatwg_drive(p, 2) &&
           (u->end - p == 2 || p[2] == '/' || p[2] == '\\' || ends(u, p + 2));
}

static void read_file_host(struct url *u, const char *p)
{
    const char *end = p;
    size_t from;

    while (!ends(u, end) && !slash(u, end))
        end++;
    u->authority = true;
    sink_put(&u->to, "//", 2);
    from = u->path = u->to.len;
    if (whatwg_drive(p, (size_t)(end - p))) {
        whatwg_path(u, p);
        return;
    }
    if (p < end)
        whatwg_host(u, p, end);
    if (u->fault)
        return;
    if (url_word_is(u->to.text + from, u->to.len - from, "localhost"))
        u->to.len = from;
    whatwg_start_path(u, end);
}

void whatwg_file(struct url *u, const char *p)
{
    const struct url *b = u->base;

    if (slash(u, p) && slash(u, p + 1)) {
        read_file_host(u, p + 2);
        return;
    }
    if (b && b->scheme == FILES) {
        copy_authority(u);
    } else {
        b = NULL;
        u->authority = true;
        sink_put(&u->to, "//", 2);
        u->path = u->to.len;
    }
    if (slash(u, p)) {
        const char *first = b ? b->to.text + b->path : NULL;

        /* The drive of the base is kept, unless another one is named. */
        if (b && !begins_with_drive(u, p + 1) && path_end(b) - b->path >= 3 &&
            whatwg_drive(first + 1, 2) && first[2] == ':' &&
            (path_end(b) - b->path == 3 || first[3] == '/'))
            sink_put(&u->to, first, 3);
        whatwg_path(u, p + 1);
        return;
    }
    if (!b) {
        whatwg_path(u, p);
        return;
    }
    if (ends(u, p)) {
        copy_path(u);
        stay(u, p);
        return;
    }
    if (!begins_with_drive(u, p)) {
        copy_path(u);
        whatwg_shorten(u);
    }
    whatwg_path(u, p);
}
