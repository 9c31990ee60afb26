/*
 * proof.h - is this key the SURT of that URL, seen without making it?
 *
 *     com,example)/a/b?c=d        the key: a SURT of our form (scan.h)
 *     └── 1 ────┘└──── 2 ────┘
 *     http://www.Example.com/A/b/?c=d
 *
 * 1. The scheme is http or https, and the labels of the host are those of the
 *    key in reverse order, after a "www." that our form drops. The lines of an
 *    index are sorted, so mostly this was proved for the line before, and two
 *    comparisons show it.
 * 2. What follows is the same text but for upper case, and is written as our
 *    form has it: escapes that must be there and no others, no "//" or "/." in
 *    the path, a query in order and without a session.
 *
 * "False" only means that it was not proved: ports, sessions, sorted queries,
 * odd escapes and other rare things are for seen_url_surt(). What is proved is
 * right for certain: test/cdx/proof_test.c asks seen_url_surt() about random
 * URLs in all the ways in which other tools write keys.
 */
#ifndef SEEN_CDX_PROOF_H
#define SEEN_CDX_PROOF_H

#include <seen/url.h>

#include "../text/hex.h"
#include "../url/surt.h"
#include "scan.h"

/* What a path has that must be looked at once more. */
enum { PATH_ODD = 1, PATH_ESCAPES = 2, PATH_AND = 4 };

/* Compare `len` bytes of the path and query of a key with those of a URL.
   `query` is where in them the "?" is, or `len`. */
typedef unsigned same_path(const char *key, size_t len, size_t query,
                           const char *url);

static inline unsigned proof_path_portable(const char *key, size_t len,
                                           size_t query, const char *url)
{
    unsigned found = 0;
    char before = 0;

    for (size_t i = 0; i < len; before = key[i++]) {
        char c = key[i];

        if (lower(url[i]) != c || !is_visible(c) || c == '#' || c == '(' ||
            c == '\\' ||
            (i < query && before == '/' && (c == '/' || c == '.')))
            return PATH_ODD;
        found |= c == '%' ? PATH_ESCAPES : c == '&' ? PATH_AND : 0;
    }
    return found;
}

/*
 * The length of "http://www.example.com", if its host in reverse order is that
 * of the key, and a slash follows; or 0. A host whose name ends with a number
 * may be an address, of which there are several forms.
 */
static inline size_t proof_host(const char *key, size_t host, const char *url,
                                const char *end)
{
    const char *p = url, *www;

    if (end - p < 10 || memcmp(p, "http", 4) || is_digit(*key))
        return 0;
    p += p[4] == 's' ? 5 : 4;
    if (memcmp(p, "://", 3))
        return 0;
    p += 3;
    if (p[0] == 'w' && p[1] == 'w' && p[2] == 'w') {
        for (www = p + 3; www < end && is_digit(*www); www++)
            ;
        if (www < end && *www == '.')
            p = www + 1;
    }
    if ((size_t)(end - p) <= host || p[host] != '/')
        return 0;
    for (size_t from = 0, at = 0; at < host; from = ++at) {
        while (at < host && key[at] != ',')
            at++;
        if (at == from || at + 1 == host ||
            (at < host && p[host - at - 1] != '.'))
            return 0;
        for (size_t i = from; i < at; i++)
            if (key[i] != p[host - at + i - from] || key[i] == '.')
                return 0;
    }
    return (size_t)(p - url) + host;
}

/* Are all escapes lower case, and of bytes that must be escaped? Those of "%"
   are left to others, since they may be a part of another escape. */
static inline bool proof_escapes(const char *key, size_t len)
{
    const char *end = key + len;

    while ((key = memchr(key, '%', (size_t)(end - key)))) {
        int high = end - key < 3 ? -1 : hex_digit(key[1]);
        int low = end - key < 3 ? -1 : hex_digit(key[2]);
        char c;

        if (high < 0 || low < 0)
            return false;
        c = (char)(high << 4 | low);
        if (is_visible(c) && c != '#')
            return false;
        key += 3;
    }
    return true;
}

/* May there be a session in a query? All that session.c knows have "sid=",
   "sessionid" or "cfid=" in them. */
static inline bool proof_session(const char *query, size_t len)
{
    const char *p = query, *end = query + len;

    if (len < 16)
        return false;
    while ((p = memchr(p, 'd', (size_t)(end - p)))) {
        if (p - query >= 2 && p[-1] == 'i' &&
            (p[-2] == 's' || p[-2] == 'n' || p[-2] == 'f'))
            return true;
        p++;
    }
    return false;
}

/* Is it in order, without a session, and not empty? */
static inline bool proof_query(const char *query, size_t len, bool several)
{
    return len && !proof_session(query, len) &&
           (!several || surt_query_sorted(query, len));
}

/* --- a line --- */

/* The host of a line before, and the beginning of its URL. */
struct proof_origin {
    const char *key, *url;
    size_t host, len; /* without the ")" and "/" behind them; 0: none */
};

/*
 * Is the key, of which `k` was found by a scanner, that of the URL that begins
 * at `url` and ends at `stop`, at `end` or at a carriage return before that?
 * *len is its length then. Up to PADDING bytes past the end may be looked at.
 */
static inline __attribute__((always_inline)) bool proof_line(
    struct proof_origin *o, const char *key, const struct cdx_key_scan *k,
    const char *url, const char *end, char stop, size_t *len,
    bool (*same)(const char *, const char *, size_t), same_path *path)
{
    size_t n = k->len - k->close - 1, query = n, at;
    unsigned found;

    if (!k->surt || k->controls)
        return false;
    if (o->len && o->host == k->close && (size_t)(end - url) > o->len &&
        same(key, o->key, k->close + 1) && same(url, o->url, o->len + 1)) {
        at = o->len;
    } else {
        at = proof_host(key, k->close, url, end);
        if (!at)
            return false;
        *o = (struct proof_origin){ key, url, k->close, at };
    }
    if ((size_t)(end - url) < at + n)
        return false;
    if (k->query < k->len)
        query = k->query - k->close - 1;
    found = path(key + k->close + 1, n, query, url + at);
    if (found & PATH_ODD ||
        (found & PATH_ESCAPES && !proof_escapes(key + k->close + 1, n)) ||
        (query < n && !proof_query(key + k->query + 1, k->len - k->query - 1,
                                   found & PATH_AND)))
        return false;
    at += n;
    if (query == n && n > 1 && url + at < end && url[at] == '/')
        at++;
    *len = at;
    return url + at < end
               ? url[at] == stop || (url[at] == '\r' && url + at + 1 == end)
               : url + at == end;
}

#endif
