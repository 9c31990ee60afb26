/* json.c - JSON, an object a line. */
#include "json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"

static unsigned depth;
static bool first;

/*
 * Bytes of the UTF-8 character at p, or 0 if there is none: no surrogates,
 * nothing above U+10FFFF and nothing longer than it need be (Unicode 15,
 * table 3-7).
 */
static size_t character(const unsigned char *p, size_t len)
{
    size_t n = p[0] < 0x80   ? 1
               : p[0] < 0xc2 ? 0
               : p[0] < 0xe0 ? 2
               : p[0] < 0xf0 ? 3
               : p[0] < 0xf5 ? 4
                             : 0;

    if (!n || n > len)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
        (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
        return 0;
    return n;
}

/* Write a string; false if some of its bytes were no UTF-8. */
static bool quote(const char *text, size_t len)
{
    const unsigned char *p = (const unsigned char *)text;
    bool whole = true;

    output_bytes("\"", 1);
    while (len) {
        size_t n = character(p, len);

        if (!n) {
            output_text("\\ufffd");
            whole = false;
            n = 1;
        } else if (*p == '"' || *p == '\\') {
            output_format("\\%c", *p);
        } else if (*p < 0x20 || *p == 0x7f) {
            output_format("\\u%04x", *p);
        } else {
            output_bytes((const char *)p, n);
        }
        p += n;
        len -= n;
    }
    output_bytes("\"", 1);
    return whole;
}

static void begin(const char *name)
{
    if (depth && !first)
        output_text(", ");
    first = false;
    if (name) {
        quote(name, strlen(name));
        output_text(": ");
    }
}

void json_open(const char *name, char bracket)
{
    begin(name);
    output_bytes(&bracket, 1);
    depth++;
    first = true;
}

void json_shut(char bracket)
{
    output_bytes(&bracket, 1);
    first = false;
    if (!--depth)
        output_text("\n");
}

void json_text(const char *name, const char *text, size_t len)
{
    char hex[64];

    begin(name);
    if (quote(text, len) || !name)
        return;
    snprintf(hex, sizeof hex, "%s_hex", name);
    begin(hex);
    output_text("\"");
    for (size_t i = 0; i < len; i++)
        output_format("%02x", (unsigned char)text[i]);
    output_text("\"");
}

void json_word(const char *name, const char *text)
{
    json_text(name, text, strlen(text));
}

void json_count(const char *name, uint64_t count)
{
    begin(name);
    output_format("%llu", (unsigned long long)count);
}

/* The shortest text that reads back as the same number. */
void json_number(const char *name, double number)
{
    char text[32] = "null";

    for (int digits = 15; digits <= 17 && isfinite(number); digits++) {
        snprintf(text, sizeof text, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
    begin(name);
    output_text(text);
}

void json_flag(const char *name, bool flag)
{
    begin(name);
    output_text(flag ? "true" : "false");
}
