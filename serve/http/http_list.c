/*
 * http_list.c - lines, or strings of JSON, from pieces of any size.
 *
 * The first byte that is not white space decides which of the two it is. What a
 * piece ends with may be half a line or half a string: it waits in `part` for
 * the next piece. A line that is whole within a piece is not copied. JSON is
 * not parsed as such: a list of URLs is every string that is not the name of a
 * member.
 */
#include "http_list.h"

#include "../../lib/text/json.h"

enum { LONGEST = 65536 }; /* what is longer is cut: it is not a URL */

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void add_part(struct http_list *l, const char *text, size_t len)
{
    if (l->part.len + len > LONGEST)
        len = LONGEST - l->part.len;
    buffer_bytes(&l->part, text, len);
}

/* --- lines --- */

static void give_line(const char *text, size_t len, http_list_url *each,
                      void *to)
{
    len -= len && text[len - 1] == '\r';
    if (len)
        each(to, (struct seen_span){ text, len });
}

static void read_lines(struct http_list *l, const char *text, size_t len,
                       http_list_url *each, void *to)
{
    const char *end = text + len, *stop;

    while ((stop = memchr(text, '\n', (size_t)(end - text)))) {
        if (l->part.len) {
            add_part(l, text, (size_t)(stop - text));
            give_line(l->part.bytes, l->part.len, each, to);
            l->part.len = 0;
        } else {
            give_line(text, (size_t)(stop - text), each, to);
        }
        text = stop + 1;
    }
    add_part(l, text, (size_t)(end - text));
}

/* --- JSON --- */

/*
 * A string is complete, and what follows shows that it is not a name. An empty
 * one is not a URL, but is answered: clients pair strings and answers by their
 * position.
 */
static void give_string(struct http_list *l, http_list_url *each, void *to)
{
    size_t len;

    l->pending = false;
    if (!l->part.len) {
        each(to, (struct seen_span){ "", 0 });
        return;
    }
    len = memchr(l->part.bytes, '\\', l->part.len)
              ? json_unescape(l->part.bytes, l->part.bytes, l->part.len)
              : l->part.len;
    each(to, (struct seen_span){ l->part.bytes, len });
    l->part.len = 0;
}

static void between(struct http_list *l, char c, http_list_url *each, void *to)
{
    if (is_space(c))
        return;
    if (l->pending && c == ':') {
        l->pending = false;
        l->part.len = 0;
        return;
    }
    if (l->pending)
        give_string(l, each, to);
    if (c == '"')
        l->inside = true;
    else if (c == '[' || c == '{')
        l->depth++;
    else if ((c == ']' || c == '}') && l->depth)
        l->depth--;
    else if (c != ',')
        l->fault = "the JSON is not a list of URLs";
}

static void read_json(struct http_list *l, const char *text, size_t len,
                      http_list_url *each, void *to)
{
    for (size_t i = 0; i < len && !l->fault; i++) {
        size_t from = i;

        if (!l->inside) {
            between(l, text[i], each, to);
            continue;
        }
        while (i < len && (l->escaped || text[i] != '"')) {
            l->escaped = !l->escaped && text[i] == '\\';
            i++;
        }
        add_part(l, text + from, i - from);
        if (i < len) {
            l->inside = false;
            l->pending = true;
        }
    }
}

void http_list_read(struct http_list *l, const char *text, size_t len,
                    http_list_url *each, void *to)
{
    while (!l->begun && len && is_space(*text)) {
        text++;
        len--;
    }
    if (!len || l->fault)
        return;
    if (!l->begun) {
        l->begun = true;
        l->json = *text == '[' || *text == '{';
    }
    if (l->json)
        read_json(l, text, len, each, to);
    else
        read_lines(l, text, len, each, to);
}

void http_list_end(struct http_list *l, http_list_url *each, void *to)
{
    if (!l->begun || l->fault)
        return;
    if (l->json) {
        if (l->inside || l->depth)
            l->fault = "the JSON is cut short";
        else if (l->pending)
            l->fault = "the JSON is not a list of URLs";
    } else if (l->part.len) {
        give_line(l->part.bytes, l->part.len, each, to);
        l->part.len = 0;
    }
}

void http_list_clear(struct http_list *l)
{
    buffer_clear(&l->part);
}
