/* json.c - JSON, one object per line. */
#include "json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/text/hex.h"
#include "../lib/text/json.h"
#include "output.h"

static unsigned depth;
static bool first;

/* Write a string; false if some of its bytes are not UTF-8. */
static bool quote(const char *text, size_t len)
{
    static struct buffer quoted;
    bool whole;

    quoted.len = 0;
    whole = buffer_json(&quoted, text, len);
    if (quoted.failed)
        output_no_memory();
    else
        output_bytes(quoted.bytes, quoted.len);
    return whole || quoted.failed;
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

void cmd_json_open(const char *name, char bracket)
{
    begin(name);
    output_bytes(&bracket, 1);
    depth++;
    first = true;
}

void cmd_json_shut(char bracket)
{
    output_bytes(&bracket, 1);
    first = false;
    if (!--depth)
        output_text("\n");
}

void cmd_json_text(const char *name, const char *text, size_t len)
{
    char hex[64];

    begin(name);
    if (quote(text, len) || !name)
        return;
    snprintf(hex, sizeof hex, "%s_hex", name);
    begin(hex);
    output_text("\"");
    for (size_t i = 0; i < len; i++) {
        hex_write(hex, text + i, 1);
        output_bytes(hex, 2);
    }
    output_text("\"");
}

void cmd_json_word(const char *name, const char *text)
{
    cmd_json_text(name, text, strlen(text));
}

void cmd_json_count(const char *name, uint64_t count)
{
    begin(name);
    output_format("%llu", (unsigned long long)count);
}

void cmd_json_known(const char *name, int64_t count)
{
    if (count < 0)
        cmd_json_null(name);
    else
        cmd_json_count(name, (uint64_t)count);
}

/* The shortest text that reads back as the same number. */
void cmd_json_number(const char *name, double number)
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

void cmd_json_flag(const char *name, bool flag)
{
    begin(name);
    output_text(flag ? "true" : "false");
}

void cmd_json_null(const char *name)
{
    begin(name);
    output_text("null");
}
