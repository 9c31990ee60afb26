/*
 * json_cursor.c - a strict cursor over JSON.
 *
 * UTF-8 is proved at the beginning, so the one pass that follows looks for
 * ASCII only, eight bytes at a time within texts (plain_end()). A text without
 * escapes, as nearly all are, is a view.
 *
 * An unescaped text is never longer than it was with its escapes, so `bytes`
 * gets room for the whole input once and never moves: views into it stay valid.
 *
 * Only skipping a value recurses, to JSON_CURSOR_DEPTH; whatever the caller
 * asks for is as deep as the caller's own code.
 */
#include "json_cursor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eight.h"
#include "hex.h"
#include "json.h"
#include "little.h"
#include "number.h"
#include "space.h"
#include "utf8.h"

bool json_cursor_fail(struct json_cursor *j, const char *wrong)
{
    if (!j->wrong)
        j->wrong = wrong;
    return false;
}

bool json_cursor_begin(struct json_cursor *j, struct seen_span text,
                       struct buffer *bytes)
{
    *j = (struct json_cursor){ .begin = text.text,
                               .at = text.text,
                               .end = text.text + text.len,
                               .bytes = bytes };
    bytes->len = 0;
    if (!buffer_room(bytes, text.len + 1))
        return json_cursor_fail(j, "no memory");
    return utf8_valid(text.text, text.len) || json_cursor_fail(j, "not UTF-8");
}

static void skip_space(struct json_cursor *j)
{
    while (j->at < j->end && space_xml(*j->at))
        j->at++;
}

char json_cursor_peek(struct json_cursor *j)
{
    if (j->wrong)
        return 0;
    skip_space(j);
    if (j->at == j->end)
        return 0;
    return *j->at == '-' || (*j->at >= '0' && *j->at <= '9') ? '0' : *j->at;
}

static bool take(struct json_cursor *j, char byte, const char *wrong)
{
    if (j->wrong)
        return false;
    skip_space(j);
    if (j->at == j->end || *j->at != byte)
        return json_cursor_fail(j, wrong);
    j->at++;
    return true;
}

bool json_cursor_open(struct json_cursor *j, char bracket)
{
    j->first = true;
    return take(j, bracket,
                bracket == '{' ? "expected an object" : "expected a list");
}

bool json_cursor_next(struct json_cursor *j, char bracket)
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
    for (; end - at >= 8; at += 8) {
        uint64_t x = little_64(at);

        if ((eight_equal(x, '"') | eight_equal(x, '\\') |
             eight_below(x, 0x20)) &
            ~x) /* others begin at 0x80 */
            break;
    }
    while (at < end && *at != '"' && *at != '\\' && (unsigned char)*at >= 0x20)
        at++;
    return at;
}

static bool skip_escape(struct json_cursor *j)
{
    if (j->end - j->at < 2 || !strchr("\"\\/bfnrtu", j->at[1]) || !j->at[1])
        return json_cursor_fail(j, "an escape that is not one of JSON");
    if (j->at[1] != 'u') {
        j->at += 2;
        return true;
    }
    for (int i = 2; i < 6; i++)
        if (j->end - j->at <= i || hex_digit(j->at[i]) < 0)
            return json_cursor_fail(j, "\\u without four digits");
    j->at += 6;
    return true;
}

bool json_cursor_text(struct json_cursor *j, struct seen_span *text)
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
            return json_cursor_fail(j, "a text that does not end");
        if (*j->at == '"')
            break;
        if (*j->at != '\\')
            return json_cursor_fail(j, "a control character in a text");
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

bool json_cursor_name(struct json_cursor *j, struct seen_span *name)
{
    return json_cursor_text(j, name) && take(j, ':', "expected :");
}

static bool some_digits(struct json_cursor *j)
{
    const char *begin = j->at;

    while (j->at < j->end && *j->at >= '0' && *j->at <= '9')
        j->at++;
    return j->at > begin;
}

bool json_cursor_digits(struct json_cursor *j, struct seen_span *digits)
{
    const char *begin;
    bool good;

    if (json_cursor_peek(j) != '0')
        return json_cursor_fail(j, "expected a number");
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
    return good || json_cursor_fail(j, "expected a number");
}

bool json_cursor_count(struct json_cursor *j, uint64_t *count)
{
    struct seen_span digits;

    return json_cursor_digits(j, &digits) &&
           (number_digits(digits, count) ||
            json_cursor_fail(j, "expected a count"));
}

bool json_cursor_real(struct json_cursor *j, double *number)
{
    struct seen_span digits;
    char text[64];

    if (!json_cursor_digits(j, &digits))
        return false;
    if (digits.len >= sizeof text)
        return json_cursor_fail(j, "a number with too many digits");
    memcpy(text, digits.text, digits.len);
    text[digits.len] = '\0';
    *number = strtod(text, NULL);
    return isfinite(*number) || json_cursor_fail(j, "a number too large");
}

static bool word(struct json_cursor *j, const char *text)
{
    size_t len = strlen(text);

    if ((size_t)(j->end - j->at) < len || memcmp(j->at, text, len) != 0)
        return json_cursor_fail(j, "expected a value");
    j->at += len;
    return true;
}

bool json_cursor_flag(struct json_cursor *j, bool *flag)
{
    *flag = json_cursor_peek(j) == 't';
    if (!*flag && json_cursor_peek(j) != 'f')
        return json_cursor_fail(j, "expected true or false");
    return word(j, *flag ? "true" : "false");
}

static bool skip(struct json_cursor *j, unsigned depth)
{
    char bracket = json_cursor_peek(j), end = bracket == '{' ? '}' : ']';
    struct seen_span text;
    bool flag;

    switch (bracket) {
    case '{':
    case '[':
        if (depth == JSON_CURSOR_DEPTH)
            return json_cursor_fail(j, "nested too deeply");
        json_cursor_open(j, bracket);
        while (json_cursor_next(j, end))
            if ((bracket == '{' && !json_cursor_name(j, &text)) ||
                !skip(j, depth + 1))
                return false;
        return !j->wrong;
    case '"': return json_cursor_text(j, &text);
    case '0': return json_cursor_digits(j, &text);
    case 't':
    case 'f': return json_cursor_flag(j, &flag);
    case 'n': return word(j, "null");
    default: return json_cursor_fail(j, "expected a value");
    }
}

bool json_cursor_skip(struct json_cursor *j)
{
    return !j->wrong && skip(j, 0);
}

bool json_cursor_done(struct json_cursor *j)
{
    if (j->wrong)
        return false;
    skip_space(j);
    return j->at == j->end ||
           json_cursor_fail(j, "something follows the object");
}
