/* registry.c - plain lists, line by line. */
#include "registry.h"

#include <string.h>
#include <strings.h>

/* The address in a line, or NULL if there is none to find. */
static const char *address_in(const struct registry *r, size_t *len)
{
    const char *at = r->text;
    size_t n = r->len;
    const char *comment;

    if (r->line == 1 && n >= 3 && !memcmp(at, "\xef\xbb\xbf", 3)) {
        at += 3;
        n -= 3;
    }
    while (n && (*at == ' ' || *at == '\t')) {
        at++;
        n--;
    }
    if (r->robots) {
        if (n < 7 || strncasecmp(at, "sitemap", 7))
            return NULL;
        at += 7;
        n -= 7;
        while (n && (*at == ' ' || *at == '\t')) {
            at++;
            n--;
        }
        if (!n || *at != ':')
            return NULL;
        at++;
        n--;
        while (n && (*at == ' ' || *at == '\t')) {
            at++;
            n--;
        }
        comment = memchr(at, '#', n);
        if (comment)
            n = (size_t)(comment - at);
    } else if (n && *at == '#') {
        return NULL;
    }
    /* In a registry a "#" within the URL begins its fragment; behind a space
       it begins a comment. */
    for (size_t i = 0; i < n; i++)
        if (at[i] == ' ' || at[i] == '\t')
            n = i;
    *len = n;
    return n ? at : NULL;
}

static enum seen_code line_end(struct registry *r, struct seen_error *why)
{
    char url[ADDRESS_MOST + 1];
    struct seen_error fault = { .code = SEEN_OK };
    const char *at;
    size_t len;

    r->line++;
    at = address_in(r, &len);
    if (r->long_line && (at || !r->len))
        seen_fail(&fault, SEEN_RANGE, r->line, "a line is too long");
    else if (at)
        address_read(url, at, len, &fault);
    r->len = 0;
    r->long_line = false;
    if (fault.code != SEEN_OK && ++r->faults >= REGISTRY_FAULTS)
        return seen_fail(why, SEEN_CORRUPT, r->line,
                         "is no list of URLs: %d lines of it are none",
                         REGISTRY_FAULTS);
    if (fault.code != SEEN_OK)
        return r->take(r->owner, NULL, r->line, &fault, why);
    return at ? r->take(r->owner, url, r->line, NULL, why) : SEEN_OK;
}

enum seen_code registry_push(struct registry *r, const void *bytes, size_t n,
                             bool *enough, struct seen_error *why)
{
    const char *at = bytes;
    enum seen_code code = SEEN_OK;

    for (size_t i = 0; i < n && code == SEEN_OK; i++, r->bytes++) {
        bool returned = r->returned;

        if (r->robots && r->bytes >= ROBOTS_MOST) {
            if (enough)
                *enough = true;
            return SEEN_OK;
        }
        r->returned = at[i] == '\r';
        if (at[i] == '\n' && returned)
            continue;
        if (at[i] == '\n' || at[i] == '\r')
            code = line_end(r, why);
        else if (!at[i])
            code = seen_fail(why, SEEN_CORRUPT, r->line + 1,
                             "is no list of URLs: it has a zero byte");
        else if (r->len < sizeof r->text)
            r->text[r->len++] = at[i];
        else
            r->long_line = true;
    }
    return code;
}

enum seen_code registry_end(struct registry *r, struct seen_error *why)
{
    return r->len ? line_end(r, why) : SEEN_OK;
}
