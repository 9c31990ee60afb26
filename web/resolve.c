/* resolve.c - does a reference name a host that is not in ASCII? */
#include "resolve.h"

#include <stdbool.h>
#include <string.h>

enum { URL = 64, BYTE = 2, NAME_BYTE = 200 }; /* steps, of 2 ns each */

static bool is_one_of(char c, const char *signs)
{
    return c && strchr(signs, c);
}

static bool is_of_scheme(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || is_one_of(c, "+-.\t\n\r");
}

/* What may be the name of a host, with user and port: after a scheme, or two
   slashes. URLs are read without their tabs and line ends. */
static struct seen_span find_name(struct seen_span ref)
{
    size_t at = 0, end, slashes = 0;

    while (at < ref.len && (unsigned char)ref.text[at] <= ' ')
        at++;
    for (end = at; end < ref.len && is_of_scheme(ref.text[end]);)
        end++;
    if (end < ref.len && ref.text[end] == ':') {
        at = end + 1;
        slashes = 2;
    }
    for (; at < ref.len && is_one_of(ref.text[at], "/\\\t\n\r"); at++)
        slashes += is_one_of(ref.text[at], "/\\");
    end = at;
    while (slashes >= 2 && end < ref.len && !is_one_of(ref.text[end], "/\\?#"))
        end++;
    return (struct seen_span){ ref.text + at, end - at };
}

uint64_t web_resolve_steps(struct seen_span ref, struct seen_span base)
{
    struct seen_span name = find_name(ref);
    uint64_t steps = URL + BYTE * ((uint64_t)ref.len + base.len);

    for (size_t i = 0; i < name.len; i++)
        if ((unsigned char)name.text[i] >= 0x80 || name.text[i] == '%')
            return steps + NAME_BYTE * (uint64_t)name.len;
    return steps;
}
