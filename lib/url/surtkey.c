/*
 * surtkey.c - SURTs that others wrote.
 *
 *     com,example,www:8080)/a/b?c=d
 *     └───── host ───────┘│└ path, query
 *                         └ ends the host, before any "/"
 *
 * Tools differ in two details: some end every label of the host with a comma
 * ("com,example,)/"), some keep the slash at the end of a path. Keys differ
 * from URLs by the parenthesis. A URL may have one in the same place, as in
 * javascript:f()/2, but then "(" or a scheme comes before it; a host with a
 * port looks like a scheme ("localhost:8080)/"), so what follows decides.
 */
#include <seen/url.h>

#include <stdbool.h>
#include <string.h>

#include "../text/ascii.h"
#include "surt.h"

/* Is it an IPv6 address, as a SURT has it: "fe80::1", "4,3,2,::ffff:1"? */
static bool numeric(const char *host, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!ascii_digit(host[i]) && host[i] != ':' && host[i] != ',' &&
            !((host[i] | 32) >= 'a' && (host[i] | 32) <= 'f'))
            return false;
    return true;
}

/* Does a text that ends before the first ")" name a scheme, and no host? */
static bool schemed(const char *host, size_t len)
{
    const char *colon = memchr(host, ':', len);
    const char *end = host + len;

    if (!colon || !ascii_letter(*host))
        return false;
    for (const char *p = host; p < colon; p++)
        if (!ascii_letter(*p) && !ascii_digit(*p) && *p != '+' && *p != '-' &&
            *p != '.')
            return false;
    for (const char *p = colon + 1; p < end; p++)
        if (!ascii_digit(*p))
            return !numeric(host, len);
    return (end - colon < 2 || end - colon > 6) && !numeric(host, len);
}

/* What is dropped at the end of a path: slashes, and the blanks that could
   not be seen at the end of a URL. */
static bool idle(char c)
{
    return c == '/' || c == ' ' || (c >= '\t' && c <= '\r');
}

/* How long a host is without commas at its end. */
static size_t without_commas(const char *host, size_t len)
{
    while (len > 1 && host[len - 1] == ',')
        len--;
    return len;
}

size_t surt_host(const char *key, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        switch (key[i]) {
        case ')':
            if (!i || (i + 1 < len && key[i + 1] != '/') ||
                schemed(key, without_commas(key, i)))
                return 0;
            return i;
        case '/':
        case '?':
        case '#':
        case '(': return 0;
        }
    }
    return 0;
}

enum seen_code seen_url_surt_key(const char **out, size_t *out_len, char *text,
                                 const char *key, size_t len,
                                 struct seen_error *why)
{
    size_t host = surt_host(key, len), keep, path, tail;
    const char *query;

    if (!host)
        return seen_fail(why, SEEN_MISMATCH, 0, "no SURT");
    if (len > SEEN_KEY_TEXT)
        return seen_fail(why, SEEN_BAD_URL, SEEN_KEY_TEXT,
                         "the URL is longer than %d bytes", SEEN_KEY_TEXT);
    keep = without_commas(key, host);
    query = memchr(key + host, '?', len - host);
    path = query ? (size_t)(query - key) : len;
    tail = path;
    while (tail > host + 2 && idle(key[tail - 1]))
        tail--;
    if (keep == host && tail == path) {
        *out = key;
        *out_len = len;
        return SEEN_OK;
    }
    memcpy(text, key, keep);
    memcpy(text + keep, key + host, tail - host);
    memcpy(text + keep + (tail - host), key + path, len - path);
    *out = text;
    *out_len = keep + (tail - host) + (len - path);
    return SEEN_OK;
}

size_t surt_cut(const char *surt, size_t len, unsigned segments)
{
    size_t host = surt_host(surt, len), at;

    if (!host || host + 1 == len)
        return len;
    for (at = host + 2; at < len && surt[at] != '?'; at++)
        if (!segments || (surt[at] == '/' && !--segments))
            break;
    while (at > host + 2 && idle(surt[at - 1]))
        at--;
    return at;
}
