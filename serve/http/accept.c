/*
 * accept.c - which type a client prefers: RFC 9110, section 12.5.1.
 *
 *     Accept: text/html, application/json;q=0.5
 *
 * The most exact range that a type is in decides its quality. Parameters
 * other than q are ignored: we have one form of each type.
 */
#include "parse.h"

/* How much a type is preferred. */
struct http_preference {
    unsigned exact;   /* 0: in no range, 1: any type, 2: any
                         subtype, 3: this type */
    unsigned quality; /* in thousandths */
};

/* The first `what` from p on that is not within quotes, or `end`. */
static const char *find_plain(const char *p, const char *end, char what)
{
    bool quoted = false;

    for (; p < end; p++) {
        if (quoted && *p == '\\' && p + 1 < end)
            p++;
        else if (*p == '"')
            quoted = !quoted;
        else if (*p == what && !quoted)
            break;
    }
    return p;
}

static struct seen_span between(const char *p, const char *end)
{
    return span_trim((struct seen_span){ p, (size_t)(end - p) });
}

/* "1", "0.5", "0.125" in thousandths; 0 for anything else. */
static unsigned thousandths(struct seen_span s)
{
    unsigned n, unit = 100;

    if (!s.len || s.len > 5 || (s.text[0] != '0' && s.text[0] != '1') ||
        (s.len > 1 && s.text[1] != '.'))
        return 0;
    n = (unsigned)(s.text[0] - '0') * 1000;
    for (size_t i = 2; i < s.len; i++, unit /= 10) {
        if (s.text[i] < '0' || s.text[i] > '9')
            return 0;
        n += (unsigned)(s.text[i] - '0') * unit;
    }
    return n > 1000 ? 0 : n;
}

/* The quality in ";charset=utf-8;q=0.5". */
static unsigned quality_of(const char *p, const char *end)
{
    while (p < end) {
        const char *next = find_plain(p + 1, end, ';');
        struct seen_span s = between(p + 1, next);

        if (s.len >= 2 && (s.text[0] | 32) == 'q' && s.text[1] == '=')
            return thousandths((struct seen_span){ s.text + 2, s.len - 2 });
        p = next;
    }
    return 1000;
}

/* How exactly does the range name the type? As in `exact`. */
static unsigned range_fits(struct seen_span range, const char *type)
{
    size_t kind = (size_t)(strchr(type, '/') - type) + 1; /* "text/" */

    if (span_is(range, "*/*"))
        return 1;
    if (range.len == kind + 1 && range.text[kind] == '*' &&
        !strncasecmp(range.text, type, kind))
        return 2;
    return span_like(range, type) ? 3 : 0;
}

static void prefer(struct http_preference *most, struct seen_span range,
                   unsigned quality, const char *type)
{
    unsigned exact = range_fits(range, type);

    if (exact > most->exact)
        *most = (struct http_preference){ exact, quality };
}

bool http_prefers(const struct http_request *r, const char *type,
                  const char *other)
{
    struct http_preference a = { 0, 0 }, b = { 0, 0 };

    for (unsigned i = 0; i < r->headers; i++) {
        struct seen_span value = r->header[i].value;
        const char *p = value.text, *end = p + value.len;

        if (!span_like(r->header[i].name, "accept"))
            continue;
        while (p < end) {
            const char *comma = find_plain(p, end, ',');
            const char *semicolon = find_plain(p, comma, ';');
            struct seen_span range = between(p, semicolon);
            unsigned quality = quality_of(semicolon, comma);

            prefer(&a, range, quality, type);
            prefer(&b, range, quality, other);
            p = comma < end ? comma + 1 : end;
        }
    }
    return a.quality > b.quality ||
           (a.quality == b.quality && a.quality && a.exact > b.exact);
}
