/* address.c - canonical http and https URLs, and their pieces. */
#include "address.h"

#include <stdio.h>
#include <string.h>

#include <seen/url.h>

static bool space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* "http" and "//" must be there as they are: a relative text is not made
   absolute, and "http:path" is not guessed at. */
static bool absolute(const char *text, size_t len)
{
    static const char *const scheme[] = { "https://", "http://" };

    for (int i = 0; i < 2; i++) {
        size_t n = strlen(scheme[i]), at = 0;

        while (at < n && at < len &&
               (text[at] | (text[at] >= 'A' && text[at] <= 'Z' ? 0x20 : 0)) ==
                   scheme[i][at])
            at++;
        if (at == n)
            return true;
    }
    return false;
}

enum seen_code address_read(char out[ADDRESS_MOST + 1], const char *text,
                            size_t len, struct seen_error *why)
{
    char room[SEEN_KEY_TEXT];
    const char *url, *host, *path;
    enum seen_code code;
    size_t n;

    while (len && space(*text)) {
        text++;
        len--;
    }
    while (len && space(text[len - 1]))
        len--;
    if (!len)
        return seen_fail(why, SEEN_RANGE, 0, "a URL is missing");
    if (len > ADDRESS_MOST)
        return seen_fail(why, SEEN_RANGE, len, "a URL has more than %d bytes",
                         ADDRESS_MOST);
    if (!absolute(text, len))
        return seen_fail(why, SEEN_RANGE, 0, "is no http or https URL");
    code = seen_url_whatwg(&url, &n, room, text, len, NULL, 0, why);
    if (code != SEEN_OK)
        return code;
    if (n > ADDRESS_MOST)
        return seen_fail(why, SEEN_RANGE, n, "a URL has more than %d bytes",
                         ADDRESS_MOST);
    memcpy(out, url, n);
    out[n] = '\0';
    if (!absolute(out, n) || strlen(out) != n)
        return seen_fail(why, SEEN_RANGE, 0, "is no http or https URL");
    host = address_host(out);
    path = address_path(out);
    if (memchr(host, '@', (size_t)(path - host)))
        return seen_fail(why, SEEN_RANGE, 0,
                         "a URL carries a user or password");
    return SEEN_OK;
}

const char *address_host(const char *url)
{
    return strstr(url, "://") + 3;
}

const char *address_path(const char *url)
{
    const char *host = address_host(url);

    return host + strcspn(host, "/?");
}

bool address_same_host(const char *a, const char *b)
{
    const char *x = address_host(a), *y = address_host(b);
    size_t n = (size_t)(address_path(a) - x);

    return n == (size_t)(address_path(b) - y) && !memcmp(x, y, n);
}

size_t address_path_len(const char *url)
{
    return strcspn(address_path(url), "?");
}

bool address_ends(const char *url, const char *ending)
{
    size_t len = address_path_len(url), n = strlen(ending);

    return len >= n && !memcmp(address_path(url) + len - n, ending, n);
}

static enum seen_code join(char out[ADDRESS_MOST + 1], const char *url,
                           size_t len, const char *name,
                           struct seen_error *why)
{
    const char *slash = len && url[len - 1] == '/' ? "" : "/";
    int n = snprintf(out, ADDRESS_MOST + 1, "%.*s%s%s", (int)len, url, slash,
                     name);

    if (n < 0 || n > ADDRESS_MOST)
        return seen_fail(why, SEEN_RANGE, 0, "a URL has more than %d bytes",
                         ADDRESS_MOST);
    return SEEN_OK;
}

enum seen_code address_under(char out[ADDRESS_MOST + 1], const char *url,
                             const char *name, struct seen_error *why)
{
    size_t len = (size_t)(address_path(url) - url) + address_path_len(url);

    return join(out, url, len, name, why);
}

enum seen_code address_rooted(char out[ADDRESS_MOST + 1], const char *url,
                              const char *name, struct seen_error *why)
{
    return join(out, url, (size_t)(address_path(url) - url), name, why);
}
