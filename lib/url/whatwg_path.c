/*
 * whatwg_path.c - the path of a URL, and the query that follows it.
 *
 *     segment     a      .      b       ..     c       of /a/./b/../c
 *     path        /a     /a     /a/b    /a     /a/c
 */
#include "whatwg.h"

#include <string.h>

bool whatwg_drive(const char *p, size_t len)
{
    return len == 2 && ascii_letter(p[0]) && (p[1] == ':' || p[1] == '|');
}

/* How many dots a segment is that means "here" or "up"; 0 if it is a name.
   A dot may be escaped. */
static int dots(const char *p, size_t len)
{
    int n = 0;

    while (len) {
        size_t dot = *p == '.'                              ? 1
                     : len >= 3 && url_word_is(p, 3, "%2e") ? 3
                                                            : 0;

        if (!dot || ++n > 2)
            return 0;
        p += dot;
        len -= dot;
    }
    return n;
}

void whatwg_shorten(struct url *u)
{
    const char *path = u->to.text + u->path;
    size_t len = u->to.len - u->path;

    if (u->scheme == FILES && len == 3 && whatwg_drive(path + 1, 2))
        return;
    while (len && path[--len] != '/')
        ;
    u->to.len = u->path + len;
}

static void read_query(struct url *u, const char *p)
{
    const char *hash = memchr(p, '#', (size_t)(u->end - p));

    u->query = u->to.len;
    sink_byte(&u->to, '?');
    sink_encode(&u->to, p, (size_t)((hash ? hash : u->end) - p),
                u->scheme == OTHER ? PERCENT_QUERY : PERCENT_SPECIAL_QUERY);
}

/*
 * The path is whole. Without a host, one that begins with two slashes would
 * be read as a host: "/." keeps them apart, and is not part of the path.
 */
void whatwg_end_path(struct url *u, const char *p)
{
    if (!u->authority && !u->opaque && u->to.len - u->path >= 2 &&
        !memcmp(u->to.text + u->path, "//", 2)) {
        sink_insert(&u->to, u->path, "/.", 2);
        u->path += 2;
    }
    if (p < u->end && *p == '?')
        read_query(u, p + 1);
}

void whatwg_path(struct url *u, const char *p)
{
    for (;; p++) {
        const char *start = p;
        size_t from = u->to.len;
        int up;

        while (!ends(u, p) && !slash(u, p))
            p++;
        up = dots(start, (size_t)(p - start));
        if (up == 2)
            whatwg_shorten(u);
        if (!up || !slash(u, p))
            sink_byte(&u->to, '/');
        if (!up) {
            sink_encode(&u->to, start, (size_t)(p - start), PERCENT_PATH);
            if (u->scheme == FILES && from == u->path &&
                whatwg_drive(start, (size_t)(p - start)) && !u->to.full)
                u->to.text[from + 2] = ':';
        }
        if (!slash(u, p))
            break;
    }
    whatwg_end_path(u, p);
}

void whatwg_start_path(struct url *u, const char *p)
{
    u->path = u->to.len;
    if (slash(u, p))
        whatwg_path(u, p + 1);
    else if (u->scheme != OTHER)
        whatwg_path(u, p);
    else
        whatwg_end_path(u, p);
}

/* Only the last space before what follows is escaped: it would be lost. */
void whatwg_opaque(struct url *u, const char *p)
{
    const char *start = p;

    u->opaque = true;
    u->path = u->to.len;
    while (!ends(u, p))
        p++;
    if (p < u->end && p > start && p[-1] == ' ') {
        sink_encode(&u->to, start, (size_t)(p - 1 - start), PERCENT_CONTROL);
        sink_put(&u->to, "%20", 3);
    } else {
        sink_encode(&u->to, start, (size_t)(p - start), PERCENT_CONTROL);
    }
    whatwg_end_path(u, p);
}
