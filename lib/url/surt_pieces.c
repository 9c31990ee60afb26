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

static struct seen_span piece(const char *from, const char *to)
{
    return (struct seen_span){ from, (size_t)(to - from) };
}

/* The host and port of user:password@host:port. */
static void split_authority(struct surt_pieces *u, const char *p,
                            const char *end)
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

bool surt_web(const struct surt_pieces *u)
{
    return u->scheme.len >= 4 && url_word_is(u->scheme.text, 4, "http");
}

/* Past the "http://" or "https://" at p, or NULL. */
static const char *past_web(const char *p, const char *end)
{
    const char *colon = url_find_scheme(p, end);
    size_t len = colon ? (size_t)(colon - p) : 0;

    return colon && end - colon >= 3 && colon[1] == '/' && colon[2] == '/' &&
                   (url_word_is(p, len, "http") ||
                    url_word_is(p, len, "https"))
               ? colon + 3
               : NULL;
}

void surt_split(struct surt_pieces *u, const char *p, const char *end)
{
    static const char http[] = "http";
    const char *web, *colon, *cut, *slash;
    bool authority = true;

    /* http://https://a.example/ */
    while ((web = past_web(p, end)) && past_web(web, end))
        p = web;
    colon = url_find_scheme(p, end);
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
    if (surt_web(u) && !u->host.len) {
        while (p < end && *p == '/')
            p++;
        slash = memchr(p, '/', (size_t)(end - p));
        split_authority(u, p, slash ? slash : end);
        p = slash ? slash : end;
    }
    u->path = piece(p, end);
}
