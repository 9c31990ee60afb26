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

/* Past a value that is no string, nested or not; or NULL. */
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

static int hex4(const char *at, const char *end)
{
    int x = 0;

    if (end - at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        char c = at[i];

        x <<= 4;
        if (c >= '0' && c <= '9')
            x |= c - '0';
        else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
            x |= (c | 0x20) - 'a' + 10;
        else
            return -1;
    }
    return x;
}

/* At most 3 bytes for the 6 of \uXXXX, 4 for the 12 of a pair. */
static size_t put_utf8(char *to, int x)
{
    if (x < 0x80) {
        to[0] = (char)x;
        return 1;
    }
    if (x < 0x800) {
        to[0] = (char)(0xc0 | x >> 6);
        to[1] = (char)(0x80 | (x & 0x3f));
        return 2;
    }
    if (x < 0x10000) {
        to[0] = (char)(0xe0 | x >> 12);
        to[1] = (char)(0x80 | (x >> 6 & 0x3f));
        to[2] = (char)(0x80 | (x & 0x3f));
        return 3;
    }
    to[0] = (char)(0xf0 | x >> 18);
    to[1] = (char)(0x80 | (x >> 12 & 0x3f));
    to[2] = (char)(0x80 | (x >> 6 & 0x3f));
    to[3] = (char)(0x80 | (x & 0x3f));
    return 4;
}

size_t seen_json_unescape(char *to, const char *text, size_t len)
{
    static const char from[] = "bfnrt", into[] = "\b\f\n\r\t";
    const char *at = text, *end = text + len;
    char *out = to;

    while (at < end) {
        const char *which;
        int x, y;

        if (*at != '\\' || at + 1 == end) {
            *out++ = *at++;
            continue;
        }
        x = at[1] == 'u' ? hex4(at + 2, end) : -1;
        if (x >= 0) {
            at += 6;
            if (x >= 0xd800 && x < 0xdc00 && end - at >= 6 && at[0] == '\\' &&
                at[1] == 'u' && (y = hex4(at + 2, end)) >= 0xdc00 &&
                y < 0xe000) {
                x = 0x10000 + ((x - 0xd800) << 10) + (y - 0xdc00);
                at += 6;
            } else if (x >= 0xd800 && x < 0xe000) {
                x = 0xfffd; /* half of a pair */
            }
            out += put_utf8(out, x);
            continue;
        }
        which = at[1] ? strchr(from, at[1]) : NULL;
        *out++ = which ? into[which - from] : at[1];
        at += 2;
    }
    return (size_t)(out - to);
}
