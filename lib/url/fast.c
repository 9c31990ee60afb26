/*
 * fast.c - a fast path: most URLs are canonical already, or nearly.
 *
 * A table has for each byte where it may stand unchanged. A URL is read once,
 * byte by byte, and left to the slow path at the first byte that is not
 * simple. Both paths must give the same result; tests compare them.
 *
 * This is the portable version. Those of fast_x86.c read 64 bytes at a time,
 * and come here for a URL with an escape or a fragment.
 */
#include "fast.h"

#include <stdbool.h>
#include <string.h>

#include <seen/url.h>

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

const char *fast_past_scheme(const char *url, size_t len)
{
    if (len < 10 || memcmp(url, "http", 4))
        return NULL;
    url += url[4] == 's' ? 5 : 4;
    return memcmp(url, "://", 3) ? NULL : url + 3;
}

/*
 * The end of the host at p, if it is a name of ordinary labels and none of
 * them is empty, encoded, or, at the end, a number; NULL if not. `label` is
 * set to where each begins, and `*labels` to how many there are. There is one
 * branch, for the end of the host.
 */
static const char *past_host(const char *p, const char *end,
                             const char *label[FAST_HOST + 1],
                             unsigned *labels)
{
    const char *most = end - p > FAST_HOST ? p + FAST_HOST : end;
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

size_t fast_whatwg_rest(const char *url, const char *p, const char *end)
{
    while (*p == '/') {
        if (dotted(++p, end))
            return 0;
        while (p < end && is(p, PATH))
            p++;
        if (p == end)
            return (size_t)(p - url);
    }
    if (*p == '?')
        do
            p++;
        while (p < end && is(p, QUERY));
    return p == end || *p == '#' ? (size_t)(p - url) : 0;
}

static size_t whatwg_portable(const char *url, size_t len)
{
    const char *end = url + len, *p = fast_past_scheme(url, len);
    const char *label[FAST_HOST + 1];
    unsigned labels;

    if (!p || len > SEEN_KEY_TEXT)
        return 0;
    p = past_host(p, end, label, &labels);
    if (!p || (p < end && *p != '/'))
        return 0;
    return p == end ? len + 1 : fast_whatwg_rest(url, p, end);
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

/*
 * An escape at p, which is a "%". What it stands for is written if it may
 * stand there, or else the escape in lower case. False: take the slow path,
 * for what is no escape, one of "%", and in a path one of what divides it.
 */
static bool put_escape(char **to, const char *p, const char *end, bool path)
{
    int high = end - p < 3 ? -1 : hex_digit(p[1]);
    int low = high < 0 ? -1 : hex_digit(p[2]);
    char c = (char)(low < 0 ? '%' : high << 4 | low);

    if (c == '%' || (path && c && strchr("/.?(", c)))
        return false;
    if (is_visible(c) && c != '#') {
        *(*to)++ = ascii_lower(c);
        return true;
    }
    hex_write(*to + 1, &c, 1);
    **to = '%';
    *to += 3;
    return true;
}

/* Copy what may stand in a SURT, in lower case, which differs from upper in
   one bit; `*to` is past what was written, the result past what was read. */
static const char *put_small(char **to, const char *p, const char *end,
                             bool path)
{
    for (; p < end; p++) {
        unsigned what = class[(unsigned char)*p];

        if (*p == '%' && put_escape(to, p, end, path))
            p += 2;
        else if (what & KEY)
            *(*to)++ = (char)(*p | (char)((what & UPPER) * (32 / UPPER)));
        else
            break;
    }
    return p;
}

size_t fast_surt_rest(char *path, size_t *query, const char *p,
                      const char *end)
{
    char *to = path;

    *query = 0;
    while (p < end && *p == '/') {
        *to++ = '/';
        if (++p < end && (*p == '/' || *p == '.'))
            return 0;
        p = put_small(&to, p, end, true);
    }
    if (p < end && *p == '?') {
        *to++ = *p++;
        *query = (size_t)(to - path);
        while ((p = put_small(&to, p, end, false)) < end &&
               (*p == '/' || *p == '?' || *p == '('))
            *to++ = *p++;
    }
    return p == end || *p == '#' ? (size_t)(to - path) : 0;
}

static void marks_portable(struct surt_marks *m, const char *query, size_t len)
{
    memset(m, 0, sizeof *m);
    for (size_t i = 0; i < len; i++) {
        m->amp[i / 64] |= (uint64_t)(query[i] == '&') << i % 64;
        m->equal[i / 64] |= (uint64_t)(query[i] == '=') << i % 64;
    }
}

size_t fast_finish(char *text, size_t host, size_t n, size_t query,
                   fast_marks *find)
{
    char *at = text + host + query;
    size_t len = n - query;
    struct surt_marks marks;

    if (!query)
        return host + n - (n > 1 && text[host + n - 1] == '/');
    if (query > 2 && at[-2] == '/') {
        at--;
        memmove(at - 1, at, len + 1);
    }
    if (len < SURT_QUERY && at - text < SEEN_KEY_TEXT - 2 * SURT_QUERY) {
        find(&marks, at, len);
        len = surt_tidy_query(at, len, &marks);
    } else {
        len = surt_strip_query(at, len);
        surt_sort_query(at, len);
    }
    return (size_t)(at - text) + len - !len;
}

static size_t surt_portable(char *text, const char *url, size_t len)
{
    const char *end = url + len, *p = fast_past_scheme(url, len);
    const char *label[FAST_HOST + 1];
    size_t host, n, query;
    unsigned labels;

    if (!p || len > SEEN_KEY_TEXT)
        return 0;
    p = past_host(p, end, label, &labels);
    if (!p || (p < end && *p != '/') || p - label[0] < 4)
        return 0;
    host = put_host(text, label, labels, p);
    if (p == end) {
        text[host] = '/';
        return host + 1;
    }
    n = fast_surt_rest(text + host, &query, p, end);
    return n ? fast_finish(text, host, n, query, marks_portable) : 0;
}

/* --- which version --- */

const struct fast_way fast_portable = { "portable", whatwg_portable,
                                        surt_portable };

const struct fast_way *fast_ways(unsigned i)
{
#if defined __x86_64__ && !defined SEEN_PORTABLE
    if (__builtin_cpu_supports("avx2") && !i--)
        return &fast_avx2;
    if (!i--)
        return &fast_sse2;
#endif
    return i ? NULL : &fast_portable;
}

/* This is on the way of every URL: the call is direct. */
size_t fast_whatwg(const char *url, size_t len)
{
    return fast_ways(0)->whatwg(url, len);
}

size_t fast_surt(char *text, const char *url, size_t len)
{
    return fast_ways(0)->surt(text, url, len);
}
