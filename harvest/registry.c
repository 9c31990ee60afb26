/*
 * registry.c - plain lists, line by line.
 *
 * Anything may come as a list: a page, a picture, a file of one endless line.
 * So a line has a fixed room, a zero byte ends the reading, and after
 * REGISTRY_FAULTS bad lines it is refused as not a list.
 */
#include "registry.h"

#include <string.h>

#include "../lib/text/span.h"

/* The URL in a line; empty if there is none. */
static struct seen_span url_in(const struct registry *r)
{
    static const char field[] = "sitemap";
    struct seen_span rest = { r->text, r->len }, word;

    if (r->line == 1 && span_begins(rest, "\xef\xbb\xbf")) {
        rest.text += 3;
        rest.len -= 3;
    }
    rest = span_trim(rest);
    if (r->robots) {
        if (!span_cut(&rest, ':', &word) || !span_like(span_trim(word), field))
            return (struct seen_span){ "", 0 };
        rest = span_trim(rest);
        if (span_cut(&rest, '#', &word))
            rest = word;
    } else if (span_begins(rest, "#")) {
        return (struct seen_span){ "", 0 };
    }
    /* In a registry a "#" within the URL begins its fragment; after a space
       it begins a comment. */
    for (size_t i = 0; i < rest.len; i++)
        if (rest.text[i] == ' ' || rest.text[i] == '\t')
            rest.len = i;
    return rest;
}

static enum seen_code line_end(struct registry *r, struct seen_error *why)
{
    char url[HARVEST_URL + 1];
    struct seen_error fault = { .code = SEEN_OK };
    struct seen_span text;
    bool bad;

    r->line++;
    text = url_in(r);
    if (r->long_line && (text.len || !r->len))
        seen_fail(&fault, SEEN_RANGE, r->line, "a line is too long");
    else if (text.len)
        harvest_url_read(url, text, &fault);
    bad = fault.code != SEEN_OK;
    r->len = 0;
    r->long_line = false;
    if (bad && ++r->faults >= REGISTRY_FAULTS)
        return seen_fail(why, SEEN_CORRUPT, r->line,
                         "is not a list of URLs: it has %d invalid lines",
                         REGISTRY_FAULTS);
    if (!bad && !text.len)
        return SEEN_OK;
    return r->handle(r->owner, bad ? NULL : url, r->line, bad ? &fault : NULL,
                     why);
}

enum seen_code registry_push(struct registry *r, const void *bytes, size_t n,
                             bool *enough, struct seen_error *why)
{
    const char *at = bytes;
    enum seen_code code = SEEN_OK;

    for (size_t i = 0; i < n && code == SEEN_OK; i++, r->bytes++) {
        bool returned = r->returned;

        if (r->robots && r->bytes >= REGISTRY_ROBOTS) {
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
                             "is not a list of URLs: it has a zero byte");
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
