/* json.c - a strict cursor over JSON. */
#include "json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/text/hex.h"
#include "../lib/text/json.h"
#include "../lib/text/utf8.h"

bool change_json_fail(struct change_json *j, const char *wrong)
{
    if (!j->wrong)
        j->wrong = wrong;
    return false;
}

bool change_json_begin(struct change_json *j, struct seen_span text,
                       struct buffer *bytes)
{
    *j = (struct change_json){ .begin = text.text,
                               .at = text.text,
                               .end = text.text + text.len,
                               .bytes = bytes };
    bytes->len = 0;
    if (!buffer_room(bytes, text.len + 1))
        return change_json_fail(j, "no memory");
    return utf8_valid(text.text, text.len) || change_json_fail(j, "not UTF-8");
}

static void skip_space(struct change_json *j)
{
    while (j->at < j->end && (*j->at == ' ' || *j->at == '\n' ||
                              *j->at == '\r' || *j->at == '\t'))
        j->at++;
}

char change_json_peek(struct change_json *j)
{
    if (j->wrong)
        return 0;
    skip_space(j);
    if (j->at == j->end)
        return 0;
    return *j->at == '-' || (*j->at >= '0' && *j->at <= '9') ? '0' : *j->at;
}

static bool take(struct change_json *j, char byte, const char *wrong)
{
    if (j->wrong)
        return false;
    skip_space(j);
    if (j->at == j->end || *j->at != byte)
        return change_json_fail(j, wrong);
    j->at++;
    return true;
}

bool change_json_open(struct change_json *j, char bracket)
{
    j->first = true;
    return take(j, bracket,
                bracket == '{' ? "expected an object" : "expected a list");
}

bool change_json_next(struct change_json *j, char bracket)
{
    bool first = j->first;

    j->first = false;
    if (j->wrong)
        return false;
    skip_space(j);
    if (j->at < j->end && *j->at == bracket) {
        j->at++;
        return false;
    }
    return first ||
           take(j, ',',
                bracket == '}' ? "expected , or }" : "expected , or ]");
}

/* The bytes of a text that need a look: quotes, backslashes, controls. */
static const char *plain_end(const char *at, const char *end)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t high = UINT64_C(0x8080808080808080);

    while (end - at >= 8) {
        uint64_t x, quote, slash, control;

        memcpy(&x, at, sizeof x);
        quote = x ^ (ones * '"');
        slash = x ^ (ones * '\\');
        quote = (quote - ones) & ~quote;
        slash = (slash - ones) & ~slash;
        control = (x - ones * 0x20) & ~x;
        if ((quote | slash | control) & high)
            break;
        at += 8;
    }
    while (at < end && *at != '"' && *at != '\\' && (unsigned char)*at >= 0x20)
        at++;
    return at;
}

static bool skip_escape(struct change_json *j)
{
    if (j->end - j->at < 2 || !strchr("\"\\/bfnrtu", j->at[1]) || !j->at[1])
        return change_json_fail(j, "an escape that is not one of JSON");
    if (j->at[1] != 'u') {
        j->at += 2;
        return true;
    }
    for (int i = 2; i < 6; i++)
        if (j->end - j->at <= i || hex_digit(j->at[i]) < 0)
            return change_json_fail(j, "\\u without four digits");
    j->at += 6;
    return true;
}

bool change_json_text(struct change_json *j, struct seen_span *text)
{
    const char *begin;
    bool escaped = false;
    size_t len;

    if (!take(j, '"', "expected a text"))
        return false;
    begin = j->at;
    for (;;) {
        j->at = plain_end(j->at, j->end);
        if (j->at == j->end)
            return change_json_fail(j, "a text that does not end");
        if (*j->at == '"')
            break;
        if (*j->at != '\\')
            return change_json_fail(j, "a control character in a text");
        escaped = true;
        if (!skip_escape(j))
            return false;
    }
    len = (size_t)(j->at++ - begin);
    *text = (struct seen_span){ begin, len };
    if (escaped) {
        char *to = j->bytes->bytes + j->bytes->len;

        *text = (struct seen_span){ to, json_unescape(to, begin, len) };
        j->bytes->len += text->len;
    }
    return true;
}

bool change_json_name(struct change_json *j, struct seen_span *name)
{
    return change_json_text(j, name) && take(j, ':', "expected :");
}

static bool some_digits(struct change_json *j)
{
    const char *begin = j->at;

    while (j->at < j->end && *j->at >= '0' && *j->at <= '9')
        j->at++;
    return j->at > begin;
}

bool change_json_digits(struct change_json *j, struct seen_span *digits)
{
    const char *begin;
    bool good;

    if (change_json_peek(j) != '0')
        return change_json_fail(j, "expected a number");
    begin = j->at;
    j->at += *j->at == '-';
    if (j->at < j->end && *j->at == '0') {
        j->at++;
        good = true;
    } else {
        good = some_digits(j);
    }
    if (good && j->at < j->end && *j->at == '.') {
        j->at++;
        good = some_digits(j);
    }
    if (good && j->at < j->end && (*j->at | 0x20) == 'e') {
        j->at++;
        j->at += j->at < j->end && (*j->at == '+' || *j->at == '-');
        good = some_digits(j);
    }
    *digits = (struct seen_span){ begin, (size_t)(j->at - begin) };
    return good || change_json_fail(j, "expected a number");
}

bool change_json_count(struct change_json *j, uint64_t *count)
{
    struct seen_span digits;

    if (!change_json_digits(j, &digits))
        return false;
    *count = 0;
    for (size_t i = 0; i < digits.len; i++)
        if (digits.text[i] < '0' || digits.text[i] > '9' || i == 18)
            return change_json_fail(j, "expected a count");
        else
            *count = *count * 10 + (uint64_t)(digits.text[i] - '0');
    return true;
}

bool change_json_real(struct change_json *j, double *number)
{
    struct seen_span digits;
    char text[64];

    if (!change_json_digits(j, &digits))
        return false;
    if (digits.len >= sizeof text)
        return change_json_fail(j, "a number with too many digits");
    memcpy(text, digits.text, digits.len);
    text[digits.len] = '\0';
    *number = strtod(text, NULL);
    return isfinite(*number) || change_json_fail(j, "a number too large");
}

static bool word(struct change_json *j, const char *text)
{
    size_t len = strlen(text);

    if ((size_t)(j->end - j->at) < len || memcmp(j->at, text, len) != 0)
        return change_json_fail(j, "expected a value");
    j->at += len;
    return true;
}

bool change_json_flag(struct change_json *j, bool *flag)
{
    *flag = change_json_peek(j) == 't';
    if (!*flag && change_json_peek(j) != 'f')
        return change_json_fail(j, "expected true or false");
    return word(j, *flag ? "true" : "false");
}

static bool skip(struct change_json *j, unsigned depth)
{
    char bracket = change_json_peek(j), end = bracket == '{' ? '}' : ']';
    struct seen_span text;
    bool flag;

    switch (bracket) {
    case '{':
    case '[':
        if (depth == CHANGE_JSON_DEPTH)
            return change_json_fail(j, "nested too deeply");
        change_json_open(j, bracket);
        while (change_json_next(j, end))
            if ((bracket == '{' && !change_json_name(j, &text)) ||
                !skip(j, depth + 1))
                return false;
        return !j->wrong;
    case '"': return change_json_text(j, &text);
    case '0': return change_json_digits(j, &text);
    case 't':
    case 'f': return change_json_flag(j, &flag);
    case 'n': return word(j, "null");
    default: return change_json_fail(j, "expected a value");
    }
}

bool change_json_skip(struct change_json *j)
{
    return !j->wrong && skip(j, 0);
}

bool change_json_done(struct change_json *j)
{
    if (j->wrong)
        return false;
    skip_space(j);
    return j->at == j->end ||
           change_json_fail(j, "something follows the object");
}
