/*
 * surt.c - from a URL to the key that archives file it under.
 *
 *     http://www.Example.com:8080/a/../B%2f/?y=1&X=2#f
 *
 *     host     example.com        no www, in lower case, ...
 *     port     8080               if it is not the scheme's
 *     path     /b                 unescaped, dots resolved, escaped once
 *     query    x=2&y=1            sorted, without session ids
 *
 *     com,example:8080)/b?x=2&y=1
 *
 * The rules are those of the Internet Archive's Python package surt 0.3.1,
 * which pywb and cdxj-indexer use, and which is a port of webarchive-commons;
 * doc/profiles.md lists them, and where we differ. Where the two disagree we
 * follow the first, and the second only if the first gives no key.
 *
 * All the texts together are no longer than the URL, so that pieces of it
 * are worked on in one buffer; only escaping makes them longer.
 */
#include <seen/url.h>

#include <string.h>

#include "fast.h"
#include "host.h"
#include "surt.h"

enum { ROUNDS = 32 }; /* that it may take until nothing changes */

/* --- paths and queries --- */

/* Escape what is no visible ASCII, and "%" and "#"; all in lower case. */
static void put_escaped(struct sink *to, const char *p, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (is_visible(p[i]) && p[i] != '%' && p[i] != '#')
            sink_byte(to, ascii_lower(p[i]));
        else
            surt_put_escape(to, p[i]);
}

/*
 * Resolve "." and "..", and make one slash of several. A ".." above the root
 * stays, and the next one takes it away, as the archives' tools have it. The
 * path begins with a slash; the result does too.
 */
static size_t resolve(char *path, size_t len)
{
    size_t to = 0; /* kept segments: "/a//b", with empty ones */
    size_t slashes = 0;

    for (size_t at = 0, end; at < len; at = end) {
        size_t n;

        for (end = at + 1; end < len && path[end] != '/'; end++)
            ;
        n = end - at - 1;
        if (n == 1 && path[at + 1] == '.')
            continue;
        if (n == 2 && !memcmp(path + at + 1, "..", 2) && to) {
            while (path[--to] != '/')
                ;
            continue;
        }
        memmove(path + to, path + at, n + 1);
        to += n + 1;
    }
    for (size_t i = 0; i < to; i++)
        if (path[i] != '/' || !slashes || path[slashes - 1] != '/')
            path[slashes++] = path[i];
    if (!slashes)
        path[slashes++] = '/';
    return slashes;
}

/* Where a path ends without the slashes at its end, but for the first. */
static size_t trim(const char *path, size_t len)
{
    while (len > 1 && path[len - 1] == '/')
        len--;
    return len;
}

/* A "?" that was escaped ends the path for those who read the key, so that
   slashes go before it as well: see seen_url_surt_key(). */
static void put_path(struct sink *to, char *path, size_t len)
{
    char *text = to->text + to->len, *mark;
    size_t from = to->len, end;

    put_escaped(to, path, len);
    len = trim(text, surt_strip_path(text, to->len - from));
    mark = memchr(text, '?', len);
    if (mark) {
        end = trim(text, (size_t)(mark - text));
        memmove(text + end, mark, (size_t)(text + len - mark));
        len -= (size_t)(mark - text) - end;
    }
    to->len = from + len;
}

static void put_query(struct sink *to, char *query, size_t len)
{
    size_t from = to->len + 1;

    if (!len)
        return;
    sink_byte(to, '?');
    put_escaped(to, query, len);
    if (to->full)
        return;
    len = surt_strip_query(to->text + from, to->len - from);
    surt_sort_query(to->text + from, len);
    to->len = len ? from + len : from - 1;
}

/* --- the whole --- */

static const char *put_hosted(struct sink *to, const struct surt_pieces *u)
{
    char text[SEEN_KEY_TEXT + 1];
    const char *fault = surt_put_host(to, u);
    size_t len = u->path.len;

    if (!fault)
        fault = surt_put_port(to, u);
    if (fault)
        return fault;
    sink_byte(to, ')');
    memcpy(text, len ? u->path.text : "/", len ? len : 1);
    len = url_unescape_all(text, len ? len : 1);
    put_path(to, text, resolve(text, len));
    len = u->query.len;
    memcpy(text, len ? u->query.text : "", len);
    put_query(to, text, url_unescape_all(text, len));
    return NULL;
}

/*
 * What has no host: mailto:, urn:, dns:. Its text is unescaped and escaped
 * like a path, which may uncover a "?".
 */
static void put_opaque(struct sink *to, const struct surt_pieces *u)
{
    char text[SEEN_KEY_TEXT], *p = text, *query;
    size_t len = u->path.len;

    for (size_t i = 0; i < u->scheme.len; i++)
        sink_byte(to, ascii_lower(u->scheme.text[i]));
    sink_byte(to, ':');
    memcpy(text, u->path.text, len);
    if (u->query.len) {
        text[len++] = '?';
        memcpy(text + len, u->query.text, u->query.len);
        len += u->query.len;
    }
    len = url_unescape_all(text, len);
    while (len >= 2 && p[0] == '/' && p[1] == '/') {
        p++;
        len--;
    }
    query = memchr(p, '?', len);
    if (!query)
        query = p + len;
    put_path(to, p, (size_t)(query - p));
    if (query < p + len)
        put_query(to, query + 1, len - 1 - (size_t)(query - p));
}

/* One round: from p to the sink. A text that is a SURT is only tidied. */
static enum seen_code round_of(struct sink *to, bool *again, const char *p,
                               size_t len, struct seen_error *why)
{
    const char *same, *fault = NULL;
    struct surt_pieces u;
    size_t n;

    *again = false;
    to->len = 0;
    if (seen_url_surt_key(&same, &n, to->text, p, len, NULL) == SEEN_OK) {
        if (same == p)
            memcpy(to->text, p, len);
        to->len = n;
        return SEEN_OK;
    }
    surt_split(&u, p, p + len);
    if (u.host.len)
        fault = put_hosted(to, &u);
    else if (surt_web(&u) || u.port.len)
        fault = "a URL needs a host";
    else
        put_opaque(to, &u);
    if (fault)
        return seen_fail(
            why, fault == url_no_memory ? SEEN_NOMEM : SEEN_BAD_URL,
            u.host.len ? (uint64_t)(u.host.text - p) : 0, "%s", fault);
    if (to->full)
        return seen_fail(why, SEEN_BAD_URL, SEEN_KEY_TEXT,
                         "the canonical URL is longer than %d bytes",
                         SEEN_KEY_TEXT);
    *again = !u.host.len && (to->len != len || memcmp(to->text, p, len));
    return SEEN_OK;
}

/* Never inlined: the fast path must not need its stack space. */
__attribute__((noinline)) static enum seen_code slowly(size_t *out_len,
                                                       char *text,
                                                       const char *url,
                                                       size_t len,
                                                       struct seen_error *why)
{
    struct sink to = { text, 0, SEEN_KEY_TEXT, false };
    char clean[SEEN_KEY_TEXT];
    enum seen_code code;
    bool again = true;
    size_t n = url_drop_strays(clean, url, len);

    /* Without a host, unescaping may uncover what looks otherwise: a second
       look settles it, a third is never needed but for what sessions hide. */
    for (int i = 0; again; i++) {
        if (i == ROUNDS)
            return seen_fail(why, SEEN_BAD_URL, 0, "the URL has no end");
        code = round_of(&to, &again, clean, n, why);
        if (code != SEEN_OK)
            return code;
        if (again)
            memcpy(clean, text, n = to.len);
    }
    *out_len = to.len;
    return SEEN_OK;
}

enum seen_code seen_url_surt(const char **out, size_t *out_len, char *text,
                             const char *url, size_t len,
                             struct seen_error *why)
{
    const char *p = url, *end = url + len;
    enum seen_code code;
    size_t n;

    n = len <= SEEN_KEY_TEXT ? fast_surt(text, url, len) : 0;
    if (n) {
        *out = text;
        *out_len = n;
        return SEEN_OK;
    }
    while (p < end && (*p == ' ' || (*p >= '\t' && *p <= '\r')))
        p++;
    while (p < end && (end[-1] == ' ' || (end[-1] >= '\t' && end[-1] <= '\r')))
        end--;
    len = (size_t)(end - p);
    if (!len)
        return seen_fail(why, SEEN_BAD_URL, 0, "the URL is empty");
    if (len > SEEN_KEY_TEXT)
        return seen_fail(why, SEEN_BAD_URL, SEEN_KEY_TEXT,
                         "the URL is longer than %d bytes", SEEN_KEY_TEXT);
    if (seen_url_surt_key(out, out_len, text, p, len, NULL) == SEEN_OK)
        return SEEN_OK;
    if (len >= 8 && !memcmp(p, "filedesc", 8)) {
        *out = p;
        *out_len = len;
        return SEEN_OK;
    }
    code = slowly(&n, text, p, len, why);
    if (code != SEEN_OK) {
        if (why && why->at < SEEN_KEY_TEXT)
            why->at = (uint64_t)(url_find_kept(p, end, (size_t)why->at) - url);
        return code;
    }
    *out = text;
    *out_len = n;
    return SEEN_OK;
}
