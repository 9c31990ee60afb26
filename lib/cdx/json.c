/*
 * json.c - a few fields of a JSON object, found without a parser.
 *
 * CDXJ lines hold one flat object, nearly always without a backslash. Names
 * and values are found by looking for quotes; what stands nested is passed
 * over by counting brackets. The object need not be valid elsewhere: a line
 * is refused when it ends too early, not when a number has two points.
 */
#include "line.h"

#include <string.h>

static const char *skip_space(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r'))
        at++;
    return at;
}

/* Past the closing quote of a string that begins at `at`, or NULL. */
static const char *string_end(const char *at, const char *end, bool *escaped)
{
    *escaped = false;
    for (;;) {
        const char *quote = memchr(at, '"', (size_t)(end - at));
        const char *slash;

        if (!quote)
            return NULL;
        slash = memchr(at, '\\', (size_t)(quote - at));
        if (!slash)
            return quote + 1;
        *escaped = true;
        at = slash + 2; /* what is escaped ends nothing */
        if (at > end)
            return NULL;
    }
}

/* Past a value that is not a string, nested or not; or NULL. */
static const char *value_end(const char *at, const char *end)
{
    unsigned depth = 0;
    bool escaped;

    while (at < end) {
        switch (*at) {
        case '"':
            at = string_end(at + 1, end, &escaped);
            if (!at)
                return NULL;
            continue;
        case '{':
        case '[': depth++; break;
        case '}':
        case ']':
            if (!depth)
                return at;
            depth--;
            break;
        case ',':
            if (!depth)
                return at;
            break;
        default: break;
        }
        at++;
    }
    return NULL;
}

int cdx_json_fields(const char *text, size_t len, const char *const *name,
                    unsigned names, struct seen_span *value)
{
    const char *end, *at;
    int escapes = 0;

    memset(value, 0, names * sizeof *value);
    if (!len)
        return -1;
    end = text + len;
    at = skip_space(text, end);
    if (at == end || *at != '{')
        return -1;
    at = skip_space(at + 1, end);
    while (at < end && *at != '}') {
        const char *from, *stop;
        size_t n;
        bool escaped;

        if (*at != '"')
            return -1;
        from = at + 1;
        at = string_end(from, end, &escaped);
        if (!at)
            return -1;
        n = (size_t)(at - 1 - from);
        at = skip_space(at, end);
        if (at == end || *at != ':')
            return -1;
        at = skip_space(at + 1, end);
        escaped = false;
        if (at < end && *at == '"') {
            const char *quote = at + 1;

            at = string_end(quote, end, &escaped);
            if (!at)
                return -1;
            stop = at - 1;
            for (unsigned i = 0; i < names; i++)
                if (strlen(name[i]) == n && !memcmp(name[i], from, n)) {
                    value[i] = (struct seen_span){ quote,
                                                   (size_t)(stop - quote) };
                    escapes |= escaped << i;
                }
        } else {
            const char *begin = at;

            at = stop = value_end(at, end);
            if (!at)
                return -1;
            while (stop > begin && stop[-1] == ' ')
                stop--;
            for (unsigned i = 0; i < names; i++)
                if (strlen(name[i]) == n && !memcmp(name[i], from, n))
                    value[i] = (struct seen_span){ begin,
                                                   (size_t)(stop - begin) };
        }
        at = skip_space(at, end);
        if (at < end && *at == ',')
            at = skip_space(at + 1, end);
        else if (at == end || *at != '}')
            return -1;
    }
    return at < end ? escapes : -1;
}
