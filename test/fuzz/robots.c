/*
 * robots.c - fuzz robots.txt, and URLs asked of it.
 *
 * The first line of the input is a crawler, the second a URL, and the rest the
 * file. The answer must be that of a matcher that tries everything, written here
 * from RFC 9309 in the plainest way, and a rule that decides is a line of the
 * file.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text/span.h"
#include "web/robots.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A copy of its own, so that reading past it is seen. */
static char *copy(struct seen_span s)
{
    char *text = malloc(s.len + 1);

    if (!text)
        abort();
    if (s.len)
        memcpy(text, s.text, s.len);
    text[s.len] = '\0';
    return text;
}

/* Does a pattern without escapes match a path without escapes? */
static bool plain_match(const char *pattern, size_t p, const char *path,
                        size_t n)
{
    if (!p)
        return true;
    if (p == 1 && *pattern == '$')
        return !n;
    if (*pattern == '*') {
        for (size_t i = 0; i <= n; i++)
            if (plain_match(pattern + 1, p - 1, path + i, n - i))
                return true;
        return false;
    }
    return n && *pattern == *path &&
           plain_match(pattern + 1, p - 1, path + 1, n - 1);
}

/* Letters and slashes, and in a pattern stars and a dollar at the end. */
static bool plain(struct seen_span s, bool pattern)
{
    size_t stars = 0;

    for (size_t i = 0; i < s.len; i++) {
        bool star = s.text[i] == '*', end = s.text[i] == '$';

        stars += star;
        if (!(s.text[i] >= 'a' && s.text[i] <= 'z') && s.text[i] != '/' &&
            !(pattern && (star || (end && i + 1 == s.len))))
            return false;
    }
    return s.len && s.len < 40 && stars < 4 && (pattern || s.text[0] == '/');
}

static void compare(struct seen_span pattern, struct seen_span path)
{
    char text[64] = "User-agent: *\nDisallow: ";
    size_t n = strlen(text);
    struct web_robots_verdict v;
    struct web_robots *r;
    bool matches = pattern.text[0] == '/' || pattern.text[0] == '*';

    matches = matches &&
              plain_match(pattern.text, pattern.len, path.text, path.len);
    memcpy(text + n, pattern.text, pattern.len);
    if (web_robots_new(&r, text, n + pattern.len, "x", NULL) != SEEN_OK)
        abort();
    web_robots_ask(r, path.text, path.len, &v);
    if (v.allowed == matches)
        abort();
    web_robots_free(r);
}

static void check_rule(const struct web_robots_verdict *v, const char *file,
                       size_t len)
{
    if (!v->line) {
        if (!v->allowed || v->rule.len)
            abort();
        return;
    }
    if (!v->rule.len || v->rule.len > WEB_ROBOTS_LINE ||
        !memmem(file, len, v->rule.text, v->rule.len))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct seen_span rest = { (const char *)data, size };
    struct seen_span agent = { "", 0 }, url = { "", 0 }, sitemap;
    char *name, *address, *file;
    struct web_robots_verdict v, again;
    struct web_robots *r;

    span_cut(&rest, '\n', &agent);
    span_cut(&rest, '\n', &url);
    name = copy(agent);
    address = copy(url);
    file = malloc(rest.len ? rest.len : 1);
    if (!file)
        abort();
    memcpy(file, rest.text, rest.len);
    if (web_robots_new(&r, file, rest.len, name, NULL) != SEEN_OK)
        abort();
    web_robots_ask(r, address, url.len, &v);
    web_robots_ask(r, address, url.len, &again);
    if (v.allowed != again.allowed || v.line != again.line)
        abort();
    check_rule(&v, file, rest.len);
    for (size_t i = 0; web_robots_sitemap(r, i, &sitemap); i++)
        if (!sitemap.len || !memmem(file, rest.len, sitemap.text, sitemap.len))
            abort();
    if (web_robots_delay(r) < 0 && web_robots_delay(r) > -1)
        abort();
    if (plain(agent, true) && plain(url, false) && span_begins(url, "/") &&
        !span_begins(url, "//"))
        compare(agent, url);
    web_robots_free(r);
    free(file);
    free(address);
    free(name);
    return 0;
}
