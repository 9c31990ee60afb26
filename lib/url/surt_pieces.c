/*
 * surt_pieces.c - a URL cut up for its SURT.
 *
 *     http://user:pw@host:8080/a/b?c=d#e
 *     scheme         host port path query
 *
 * It is cut as the archives' tools do it, not as browsers do: schemes may be
 * repeated or missing, and slashes be too many or too few.
 */
#include "surt.h"

#include <string.h>

static struct piece piece(const char *from, const char *to)
{
    return (struct piece){ from, (size_t)(to - from) };
}

/* The host and port of user:password@host:port. */
static void split_authority(struct pieces *u, const char *p, const char *end)
{
    const char *at = end, *colon, *close;

    while (at > p && at[-1] != '@')
        at--;
    p = at;
    while (end > p && end[-1] == ':')
        end--;
    u->port = piece(end, end);
    u->brackets = p < end && *p == '[';
    if (u->brackets) {
        close = memchr(p, ']', (size_t)(end - p));
        u->host = close ? piece(p + 1, close) : piece(p, end);
        if (close && close + 1 < end)
            u->port = piece(close + 2, end);
        return;
    }
    colon = memchr(p, ':', (size_t)(end - p));
    u->host = piece(p, colon ? colon : end);
    if (colon)
        u->port = piece(colon + 1, end);
}

bool pieces_web(const struct pieces *u)
{
    return u->scheme.len >= 4 && same_word(u->scheme.text, 4, "http");
}

/* Past the "http://" or "https://" at p, or NULL. */
static const char *past_web(const char *p, const char *end)
{
    const char *colon = find_scheme(p, end);
    size_t len = colon ? (size_t)(colon - p) : 0;

    return colon && end - colon >= 3 && colon[1] == '/' && colon[2] == '/' &&
                   (same_word(p, len, "http") || same_word(p, len, "https"))
               ? colon + 3
               : NULL;
}

void pieces_split(struct pieces *u, const char *p, const char *end)
{
    static const char http[] = "http";
    const char *web, *colon, *cut, *slash;
    bool authority = true;

    /* http://https://a.example/ */
    while ((web = past_web(p, end)) && past_web(web, end))
        p = web;
    colon = find_scheme(p, end);
    memset(u, 0, sizeof *u);
    u->scheme = piece(http, http + 4);
    if (colon) {
        u->scheme = piece(p, colon);
        p = colon + 1;
        authority = end - p >= 2 && p[0] == '/' && p[1] == '/';
        if (authority)
            p += 2;
    }
    cut = memchr(p, '#', (size_t)(end - p));
    if (cut)
        end = cut;
    cut = memchr(p, '?', (size_t)(end - p));
    if (cut) {
        u->query = piece(cut + 1, end);
        end = cut;
    }
    if (authority) {
        slash = memchr(p, '/', (size_t)(end - p));
        split_authority(u, p, slash ? slash : end);
        p = slash ? slash : end;
    }
    /* http:///a.example/ and http:a.example/ */
    if (pieces_web(u) && !u->host.len) {
        while (p < end && *p == '/')
            p++;
        slash = memchr(p, '/', (size_t)(end - p));
        split_authority(u, p, slash ? slash : end);
        p = slash ? slash : end;
    }
    u->path = piece(p, end);
}
