/*
 * srcset.c - parse a srcset attribute as the HTML standard does.
 *
 * A comma may be part of a URL, the end of a candidate, or stand inside
 * parentheses, so splitting at commas would cut URLs of data: and of image
 * services in two. A candidate whose descriptors contradict each other is left
 * out whole, since a browser does not load it.
 */
#include "srcset.h"

#include "../lib/text/ascii.h"
#include "../lib/text/space.h"

/* A number as HTML has them: "12"; if `fraction` also "1.5", "1e3", "-0". */
static bool number(const char *at, size_t len, bool fraction)
{
    const char *end = at + len, *from;
    bool digits = false, nonzero = false, negative;

    negative = fraction && at < end && *at == '-';
    at += negative;
    for (; at < end && ascii_digit(*at); at++) {
        digits = true;
        nonzero = nonzero || *at != '0';
    }
    if (!fraction)
        return at == end && nonzero;
    if (at < end && *at == '.') {
        for (from = ++at; at < end && ascii_digit(*at); at++)
            nonzero = nonzero || *at != '0';
        if (at == from)
            return false;
        digits = true;
    }
    if (digits && at < end && (*at | 0x20) == 'e') {
        if (++at < end && (*at == '-' || *at == '+'))
            at++;
        for (from = at; at < end && ascii_digit(*at); at++)
            ;
        if (at == from)
            return false;
    }
    return digits && at == end && !(negative && nonzero);
}

/* What the descriptors of a candidate have so far. */
struct described {
    bool width, density, height, wrong;
};

static void describe(struct described *d, const char *text, size_t len)
{
    char unit = text[len - 1];

    if (unit == 'w' && !d->width && !d->density) {
        d->wrong |= !number(text, len - 1, false);
        d->width = true;
    } else if (unit == 'x' && !d->width && !d->density && !d->height) {
        d->wrong |= !number(text, len - 1, true);
        d->density = true;
    } else if (unit == 'h' && !d->height && !d->density) {
        d->wrong |= !number(text, len - 1, false);
        d->height = true;
    } else {
        d->wrong = true;
    }
}

/* Read descriptors up to a comma that is not in parentheses. */
static const char *read_descriptors(struct described *d, const char *at,
                                    const char *end)
{
    const char *from = at;
    bool inside = false;

    for (; at < end && (inside || *at != ','); at++) {
        if (inside) {
            inside = *at != ')';
        } else if (*at == '(') {
            inside = true;
        } else if (space_html(*at)) {
            if (at > from)
                describe(d, from, (size_t)(at - from));
            from = at + 1;
        }
    }
    if (at > from)
        describe(d, from, (size_t)(at - from));
    return at < end ? at + 1 : at;
}

bool web_srcset_next(struct seen_span *rest, struct seen_span *url)
{
    const char *at = rest->text, *end = at + rest->len, *from;
    struct described d;

    do {
        d = (struct described){ .wrong = false };
        while (at < end && (space_html(*at) || *at == ','))
            at++;
        for (from = at; at < end && !space_html(*at);)
            at++;
        *url = (struct seen_span){ from, (size_t)(at - from) };
        if (url->len && from[url->len - 1] == ',') {
            while (url->len && from[url->len - 1] == ',')
                url->len--;
        } else {
            at = read_descriptors(&d, at, end);
            d.wrong |= d.height && !d.width;
        }
    } while (url->len && d.wrong);
    *rest = (struct seen_span){ at, (size_t)(end - at) };
    return url->len > 0;
}
