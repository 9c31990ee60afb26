/*
 * fast.c - a fast path: most URLs are canonical already, or nearly.
 *
 * A table has for each byte where it may stand unchanged. A URL is read once,
 * byte by byte, and left to the slow path at the first byte that is not
 * simple. Both paths must give the same result; tests compare them.
 *
 * Measured on 4096 different http URLs of 67 bytes, the best of 30 rounds over
 * all of them, on a shared Xeon with gcc 12 -O2 and hardening flags: whatwg
 * 49 ns, surt 59 ns, surt of the SURTs of these 35 ns. On one URL again and
 * again it is 38, 45 and 27 ns. The slow ways take 500 to 800 ns.
 */
#include "fast.h"

#include <stdbool.h>
#include <string.h>

#include <seen/url.h>

#include "scan.h"
#include "surt.h"

enum {
    HOST = 1,  /* in a host, in lower case */
    PATH = 2,  /* in a path of whatwg, but for "/" and what follows it */
    QUERY = 4, /* in a query of whatwg */
    UPPER = 8,
    KEY = 16 /* in the path of a SURT, but for "/" and "(" */
};

#define REST (PATH | QUERY | KEY)
#define NAME (HOST | REST)
#define BIG (UPPER | REST)

/* clang-format off */
static const unsigned char class[256] = {
    ['a'] = NAME, ['b'] = NAME, ['c'] = NAME, ['d'] = NAME, ['e'] = NAME,
    ['f'] = NAME, ['g'] = NAME, ['h'] = NAME, ['i'] = NAME, ['j'] = NAME,
    ['k'] = NAME, ['l'] = NAME, ['m'] = NAME, ['n'] = NAME, ['o'] = NAME,
    ['p'] = NAME, ['q'] = NAME, ['r'] = NAME, ['s'] = NAME, ['t'] = NAME,
    ['u'] = NAME, ['v'] = NAME, ['w'] = NAME, ['x'] = NAME, ['y'] = NAME,
    ['z'] = NAME, ['0'] = NAME, ['1'] = NAME, ['2'] = NAME, ['3'] = NAME,
    ['4'] = NAME, ['5'] = NAME, ['6'] = NAME, ['7'] = NAME, ['8'] = NAME,
    ['9'] = NAME, ['-'] = NAME, ['_'] = NAME,
    ['A'] = BIG, ['B'] = BIG, ['C'] = BIG, ['D'] = BIG, ['E'] = BIG,
    ['F'] = BIG, ['G'] = BIG, ['H'] = BIG, ['I'] = BIG, ['J'] = BIG,
    ['K'] = BIG, ['L'] = BIG, ['M'] = BIG, ['N'] = BIG, ['O'] = BIG,
    ['P'] = BIG, ['Q'] = BIG, ['R'] = BIG, ['S'] = BIG, ['T'] = BIG,
    ['U'] = BIG, ['V'] = BIG, ['W'] = BIG, ['X'] = BIG, ['Y'] = BIG,
    ['Z'] = BIG,
    ['.'] = NAME, ['!'] = REST, ['$'] = REST, ['&'] = REST, ['*'] = REST,
    ['+'] = REST, [','] = REST, [':'] = REST, [';'] = REST, ['='] = REST,
    ['@'] = REST, ['['] = REST, [']'] = REST, ['|'] = REST, ['~'] = REST,
    ['\''] = PATH | KEY, [')'] = REST, ['('] = PATH | QUERY,
    ['%'] = PATH | QUERY, ['/'] = QUERY, ['?'] = QUERY,
    ['\\'] = QUERY | KEY, ['^'] = QUERY | KEY, ['`'] = QUERY | KEY,
    ['{'] = QUERY | KEY, ['}'] = QUERY | KEY,
    ['"'] = KEY, ['<'] = KEY, ['>'] = KEY,
};
/* clang-format on */

static bool is(const char *p, unsigned which)
{
    return class[(unsigned char)*p] & which;
}

/* Past "http://" or "https://", or NULL. */
static const char *past_scheme(const char *p, size_t len)
{
    if (len < 10 || memcmp(p, "http", 4))
        return NULL;
    p += p[4] == 's' ? 5 : 4;
    return memcmp(p, "://", 3) ? NULL : p + 3;
}

enum { LONGEST = 63 }; /* host, in bytes, that is looked at here */

/*
 * The end of the host at p, if it is a name of ordinary labels and none of
 * them is empty, encoded, or, at the end, a number; NULL if not. `label` is
 * set to where each begins, and `*labels` to how many there are. There is one
 * branch, for the end of the host.
 */
static const char *past_host(const char *p, const char *end,
                             const char *label[LONGEST + 1], unsigned *labels)
{
    const char *most = end - p > LONGEST ? p + LONGEST : end;
    bool odd = false;
    char last = '.';
    unsigned n = 1;

    label[0] = p;
    for (; p < most && is(p, HOST); last = *p++) {
        bool dot = *p == '.';

        odd |= (last == '.') & dot;
        odd |= (last == '-') & (*p == '-');
        label[n] = p + 1;
        n += dot;
    }
    *labels = n;
    return odd || last == '.' || ascii_digit(*label[n - 1]) ? NULL : p;
}

/* Does the segment at p begin with a dot, be it escaped? */
static bool dotted(const char *p, const char *end)
{
    return p < end && (*p == '.' || (*p == '%' && end - p >= 3 &&
                                     p[1] == '2' && (p[2] | 32) == 'e'));
}

size_t fast_whatwg(const char *url, size_t len)
{
    const char *end = url + len, *p = past_scheme(url, len);
    const char *label[LONGEST + 1];
    unsigned labels;

    if (!p || len > SEEN_KEY_TEXT)
        return 0;
    p = past_host(p, end, label, &labels);
    if (!p || p == end || *p != '/')
        return 0;
    if (end - p >= SCAN && scan_whatwg(p, end))
        return len;
    while (*p == '/') {
        if (dotted(++p, end))
            return 0;
        while (p < end && is(p, PATH))
            p++;
        if (p == end)
            return len;
    }
    if (*p == '?')
        do
            p++;
        while (p < end && is(p, QUERY));
    return p == end || *p == '#' ? (size_t)(p - url) : 0;
}

/* --- surt --- */

static size_t put_host(char *to, const char *const *label, unsigned labels,
                       const char *end)
{
    const char *p = label[0];
    unsigned first = 0;
    size_t n = 0;

    if (labels > 1 && !memcmp(p, "www", 3)) {
        for (p += 3; ascii_digit(*p); p++)
            ;
        first = *p == '.';
    }
    while (labels-- > first) {
        for (p = label[labels]; p < end; p++)
            to[n++] = *p;
        end = label[labels] - 1;
        to[n++] = ',';
    }
    to[n - 1] = ')';
    return n;
}

/* Copy what may stand in a SURT, in lower case, which differs from upper in
   one bit; `text` is past what was written, the result past what was read. */
static const char *put_small(char **text, const char *p, const char *end)
{
    char *to = *text;

    for (; p < end; p++) {
        unsigned what = class[(unsigned char)*p];

        if (!(what & KEY))
            break;
        *to++ = (char)(*p | (char)((what & UPPER) * (32 / UPPER)));
    }
    *text = to;
    return p;
}

/* The query at the end of a SURT, without sessions and in order. */
static size_t finish(char *text, char *query, char *end)
{
    size_t n = surt_strip_query(query, (size_t)(end - query));

    if (!n)
        return (size_t)(query - 1 - text);
    surt_sort_query(query, n);
    return (size_t)(query - text) + n;
}

/* Byte by byte, from the first slash on, which goes to `path`. */
static size_t closer(char *text, char *path, const char *p, const char *end)
{
    char *to = path, *query;

    while (p < end && *p == '/') {
        *to++ = '/';
        if (++p < end && (*p == '/' || *p == '.'))
            return 0;
        p = put_small(&to, p, end);
    }
    if (to[-1] == '/' && to - 1 > path)
        to--;
    if (p == end || *p == '#')
        return (size_t)(to - text);
    if (*p++ != '?')
        return 0;
    *to++ = '?';
    query = to;
    while ((p = put_small(&to, p, end)) < end &&
           (*p == '/' || *p == '?' || *p == '('))
        *to++ = *p++;
    return p == end || *p == '#' ? finish(text, query, to) : 0;
}

size_t fast_surt(char *text, const char *url, size_t len)
{
    const char *end = url + len, *p = past_scheme(url, len);
    const char *label[LONGEST + 1];
    char *path, *mark;
    unsigned labels;
    size_t n;

    if (!p)
        return 0;
    p = past_host(p, end, label, &labels);
    if (!p || p == end || *p != '/' || p - label[0] < 4)
        return 0;
    path = text + put_host(text, label, labels, p);
    n = (size_t)(end - p);
    if (n < SCAN || !scan_surt(path, p, end))
        return closer(text, path, p, end);
    mark = memchr(path, '?', n);
    if (!mark)
        return (size_t)(path - text) + n - (path[n - 1] == '/');
    if (mark[-1] == '/' && mark - 1 > path)
        return closer(text, path, p, end);
    return finish(text, mark + 1, path + n);
}
