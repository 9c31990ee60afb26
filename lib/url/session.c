/*
 * session.c - session ids, which make one page look like many.
 *
 * The archives' tools know five in queries and two in paths, by regular
 * expressions (URLRegexTransformer of webarchive-commons, and its port in the
 * Internet Archive's surt):
 *
 *     jsessionid=[0-9a-z]{32}              /(s(24 of [0-9a-z]))/x.aspx
 *     phpsessid=[0-9a-z]{32}               /(24 of [0-9a-z])/x.aspx
 *     sid=[0-9a-z]{32}
 *     aspsessionid[a-z]{8}=[a-z]{24}
 *     cfid=[^&]+&cftoken=[^&]+
 *
 * Each is tried once, in this order, and takes away its last occurrence that
 * an "&" or the end follows, together with that "&". A name may end with the
 * word ("my_sid="): what is before it then stays. All this is kept as it is,
 * since archives have filed their captures under the result.
 */
#include <string.h>

#include "surt.h"

static bool alnum(char c)
{
    return ascii_digit(c) || ascii_letter(c);
}

/* How many bytes at p, `n` at most, are letters, or digits if these count. */
static size_t run(const char *p, const char *end, size_t n, bool digits)
{
    size_t i = 0;

    while (i < n && p + i < end && (digits ? alnum(p[i]) : ascii_letter(p[i])))
        i++;
    return i;
}

static bool starts(const char *p, const char *end, const char *word)
{
    size_t len = strlen(word);

    return (size_t)(end - p) >= len && !memcmp(p, word, len);
}

static size_t cut(char *text, size_t len, const char *from, const char *to)
{
    memmove(text + (from - text), to, (size_t)(text + len - to));
    return len - (size_t)(to - from);
}

/* --- queries --- */

static const char *named(const char *p, const char *end, const char *word)
{
    if (!starts(p, end, word))
        return NULL;
    p += strlen(word);
    return run(p, end, 32, true) == 32 ? p + 32 : NULL;
}

static const char *jsessionid(const char *p, const char *end)
{
    return named(p, end, "jsessionid=");
}

static const char *phpsessid(const char *p, const char *end)
{
    return named(p, end, "phpsessid=");
}

static const char *sid(const char *p, const char *end)
{
    return named(p, end, "sid=");
}

static const char *aspsessionid(const char *p, const char *end)
{
    if (!starts(p, end, "aspsessionid"))
        return NULL;
    p += 12;
    if (run(p, end, 8, false) < 8 || p + 8 == end || p[8] != '=')
        return NULL;
    p += 9;
    return run(p, end, 24, false) == 24 ? p + 24 : NULL;
}

/* Past the value at p, or NULL if it is empty. */
static const char *value(const char *p, const char *end)
{
    const char *and = memchr(p, '&', (size_t)(end - p));

    if (!and)
        and = end;
    return and > p ? and : NULL;
}

static const char *cold_fusion(const char *p, const char *end)
{
    if (!starts(p, end, "cfid="))
        return NULL;
    p = value(p + 5, end);
    if (!p || !starts(p, end, "&cftoken="))
        return NULL;
    return value(p + 9, end);
}

static const struct {
    char first;   /* the letter that a session id of this sort begins with */
    size_t least; /* how many bytes it has at least */
    /* The end of the session id that begins at p, or NULL if none does. */
    const char *(*match)(const char *p, const char *end);
} known[] = {
    { 'j', 11 + 32, jsessionid },
    { 'p', 10 + 32, phpsessid },
    { 's', 4 + 32, sid },
    { 'a', 12 + 8 + 1 + 24, aspsessionid },
    { 'c', 5 + 1 + 9 + 1, cold_fusion },
};

size_t surt_strip_query(char *query, size_t len)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const char *end = query + len, *to;

        if (len < known[i].least)
            continue;
        for (size_t at = len - known[i].least + 1; at--;) {
            if (query[at] != known[i].first)
                continue;
            to = known[i].match(query + at, end);
            if (!to || (to < end && *to != '&'))
                continue;
            len = cut(query, len, query + at, to < end ? to + 1 : to);
            break;
        }
    }
    return len;
}

/* --- paths --- */

/* The rest of the path must name an .aspx, and not as a query. */
static bool aspx(const char *p, const char *end)
{
    const char *start = p;

    for (; p < end && *p != '?'; p++)
        if (p > start && starts(p, end, ".aspx"))
            return true;
    return false;
}

/* Past "(24)/" at p, or "(x(24)y(24))/" if it is nested; NULL if not there. */
static const char *segment(const char *p, const char *end, bool nested)
{
    int n = 0;

    if (p == end || *p++ != '(')
        return NULL;
    for (; nested && p < end && ascii_letter(*p); n++) {
        if (p + 1 == end || p[1] != '(' || run(p + 2, end, 24, true) < 24 ||
            p + 26 == end || p[26] != ')')
            return NULL;
        p += 27;
    }
    if (!nested)
        n = run(p, end, 24, true) == 24, p += n ? 24 : 0;
    return n && starts(p, end, ")/") ? p + 2 : NULL;
}

size_t surt_strip_path(char *path, size_t len)
{
    if (!memchr(path, '(', len))
        return len;
    for (int nested = 1; nested >= 0; nested--) {
        const char *end = path + len, *p = end, *to;

        while (p > path) {
            if (*--p != '/')
                continue;
            to = segment(p + 1, end, nested);
            if (!to || !aspx(to, end))
                continue;
            len = cut(path, len, p + 1, to);
            break;
        }
    }
    return len;
}
