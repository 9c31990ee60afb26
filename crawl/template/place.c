/*
 * place.c - where in a JSON text a value stands.
 *
 * jansson reports the line of a syntax error, but keeps no lines of values.
 * A mistake is rare and a template short, so the text is read again to find
 * the line. It is known to be JSON.
 */
#include "inside.h"

#include <stdlib.h>
#include <string.h>

#include "../../lib/text/json.h"
#include "../../lib/text/span.h"

struct place_text {
    const char *text;
    size_t len;
};

static size_t skip_space(struct place_text t, size_t at)
{
    while (at < t.len && memchr(" \t\r\n,:", t.text[at], 6))
        at++;
    return at;
}

/* Behind the string that begins at `at`. */
static size_t skip_string(struct place_text t, size_t at)
{
    for (at++; at < t.len && t.text[at] != '"'; at++)
        if (t.text[at] == '\\')
            at++;
    return at + 1;
}

/* Behind the value that begins at `at`. */
static size_t skip_value(struct place_text t, size_t at)
{
    size_t depth = 0;

    while (at < t.len) {
        char c = t.text[at];

        if (c == '"') {
            at = skip_string(t, at);
        } else if (c == '{' || c == '[') {
            depth++;
            at++;
        } else if (c == '}' || c == ']') {
            depth--;
            at++;
        } else {
            at++;
            if (depth || (at < t.len && !memchr(" \t\r\n,]}", t.text[at], 7)))
                continue;
        }
        if (!depth)
            break;
    }
    return at;
}

static bool is_name(struct place_text t, size_t begin, size_t end,
                    const char *name)
{
    size_t len = end - begin - 2;
    char *room = malloc(len + 1);
    bool same = false;

    if (room) {
        len = json_unescape(room, t.text + begin + 1, len);
        same = span_is((struct seen_span){ room, len }, name);
    }
    free(room);
    return same;
}

static size_t find(const struct crawl_place *at, struct place_text t)
{
    size_t begin, byte, index = 0;

    if (!at->up)
        return skip_space(t, 0);
    begin = find(at->up, t);
    byte = skip_space(t, begin + 1);
    while (byte < t.len && t.text[byte] != '}' && t.text[byte] != ']') {
        if (at->name && t.text[begin] == '{') {
            size_t end = skip_string(t, byte);
            bool found = end <= t.len && is_name(t, byte, end, at->name);

            byte = skip_space(t, end);
            if (found)
                return byte;
        } else if (index++ == at->index) {
            return byte;
        }
        byte = skip_space(t, skip_value(t, byte));
    }
    return begin;
}

uint64_t crawl_place_line(const struct crawl_place *at, const char *text,
                          size_t len)
{
    size_t end = find(at, (struct place_text){ text, len });
    uint64_t line = 1;

    for (size_t i = 0; i < end && i < len; i++)
        line += text[i] == '\n';
    return line;
}

void crawl_place_name(struct buffer *to, const struct crawl_place *at)
{
    if (!at->up)
        return;
    crawl_place_name(to, at->up);
    if (!at->name) {
        buffer_format(to, "[%zu]", at->index);
        return;
    }
    if (at->up->up)
        buffer_byte(to, '.');
    buffer_text(to, at->name);
}
