/*
 * select_parse.c - the grammar of CSS selectors, level 3.
 *
 *     group     complex [ "," complex ]*
 *     complex   compound [ combinator compound ]* [ "::" ... ]
 *     compound  [ type | "*" ] [ #id | .class | [attribute] | :pseudo ]*
 *
 * Section 10 of "Selectors Level 3" (W3C, 2018), with identifiers, escapes and
 * strings of "CSS Syntax Level 3", section 4. What the grammar does not have
 * is refused with its place: a selector with a mistake should not quietly
 * match nothing.
 *
 * Accepted besides: [a!=v], which is :not([a=v]); [a=v i] and [a=v s] of level
 * 4; :contains("text"); and, at the end of a complex selector, ::text and ::attr(name). No name spaces can be
 * declared, so that "ns|a" is refused; "*|a" is a, and "|a" matches nothing,
 * since every element of HTML has a name space.
 */
#include "selector.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/text/array.h"
#include "../lib/text/hex.h"
#include "../lib/text/memory.h"
#include "../lib/text/space.h"
#include "../lib/text/utf8.h"
#include "view.h"

struct css {
    const char *text;
    size_t len, at;
    struct selector_alternative *to; /* the one that is being read */
    struct seen_error *why;
};

/* --- failures --- */

static enum seen_code refuse_at(struct css *c, size_t at, const char *what)
{
    return seen_fail(c->why, SEEN_RANGE, at, "byte %zu: %s", at + 1, what);
}

static enum seen_code refuse(struct css *c, const char *what)
{
    return refuse_at(c, c->at, what);
}

/* --- characters --- */

static int peek_at(const struct css *c, size_t ahead)
{
    return c->at + ahead < c->len ? (unsigned char)c->text[c->at + ahead] : -1;
}

static int peek(const struct css *c)
{
    return peek_at(c, 0);
}

static bool is_digit(int b)
{
    return b >= '0' && b <= '9';
}

static bool is_name_start(int b)
{
    return (b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z') || b == '_' ||
           b >= 0x80;
}

static bool is_escape(const struct css *c, size_t ahead)
{
    int next = peek_at(c, ahead + 1);

    return peek_at(c, ahead) == '\\' && next >= 0 && next != '\n' &&
           next != '\r' && next != '\f';
}

static bool is_identifier(const struct css *c)
{
    int next;

    if (peek(c) != '-')
        return is_name_start(peek(c)) || is_escape(c, 0);
    next = peek_at(c, 1);
    return is_name_start(next) || next == '-' || is_escape(c, 1);
}

/* Comments may stand wherever a token ends. */
static bool skip_comments(struct css *c)
{
    while (peek(c) == '/' && peek_at(c, 1) == '*') {
        const char *end = memmem(c->text + c->at + 2, c->len - c->at - 2, "*/",
                                 2);

        if (!end)
            return false;
        c->at = (size_t)(end - c->text) + 2;
    }
    return true;
}

/* Skip white space; true if there was some. */
static bool skip_space(struct css *c)
{
    bool some = false;

    while (skip_comments(c) && space_html((char)peek(c))) {
        c->at++;
        some = true;
    }
    return some;
}

/* --- tokens --- */

/* An escape, which is there, as UTF-8. */
static void read_escape(struct css *c, struct buffer *to)
{
    uint32_t code = 0;
    char utf8[4];
    int digits = 0;

    c->at++;
    while (digits < 6 && peek(c) >= 0 && hex_digit((char)peek(c)) >= 0) {
        code = 16 * code + (uint32_t)hex_digit((char)peek(c));
        c->at++;
        digits++;
    }
    if (!digits) {
        size_t n = utf8_read(c->text + c->at, c->len - c->at, NULL, NULL);

        buffer_bytes(to, c->text + c->at, n);
        c->at += n;
        return;
    }
    if (peek(c) == '\r' && peek_at(c, 1) == '\n')
        c->at++;
    if (space_html((char)peek(c)))
        c->at++;
    if (!code || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        code = 0xfffd;
    buffer_bytes(to, utf8, utf8_write(utf8, code));
}

static enum seen_code take_text(struct css *c, struct buffer *from, char **to)
{
    *to = buffer_take(from);
    return *to ? SEEN_OK : no_memory_for(c->why, "a selector");
}

static enum seen_code read_identifier(struct css *c, char **name,
                                      const char *expected)
{
    struct buffer b = { .bytes = NULL };

    if (!is_identifier(c))
        return refuse(c, expected);
    for (;;) {
        int byte = peek(c);

        if (is_escape(c, 0)) {
            read_escape(c, &b);
        } else if (is_name_start(byte) || is_digit(byte) || byte == '-') {
            buffer_byte(&b, (char)byte);
            c->at++;
        } else {
            break;
        }
    }
    return take_text(c, &b, name);
}

static enum seen_code read_string(struct css *c, char **value)
{
    struct buffer b = { .bytes = NULL };
    size_t begin = c->at;
    int quote = peek(c);

    for (c->at++; peek(c) != quote;) {
        int byte = peek(c);

        if (byte < 0 || byte == '\n' || byte == '\r' || byte == '\f') {
            buffer_clear(&b);
            return refuse_at(c, begin, "the string has no end");
        }
        if (byte == '\\' && !is_escape(c, 0)) {
            c->at++; /* a line that goes on */
            if (peek(c) == '\r' && peek_at(c, 1) == '\n')
                c->at++;
            c->at += peek(c) >= 0;
        } else if (byte == '\\') {
            read_escape(c, &b);
        } else {
            buffer_byte(&b, (char)byte);
            c->at++;
        }
    }
    c->at++;
    return take_text(c, &b, value);
}

static enum seen_code read_value(struct css *c, char **value,
                                 const char *expected)
{
    if (peek(c) == '"' || peek(c) == '\'')
        return read_string(c, value);
    return read_identifier(c, value, expected);
}

/* Names of HTML are the same in upper and lower case. */
static void lower(char *text)
{
    for (; *text; text++)
        if (*text >= 'A' && *text <= 'Z')
            *text |= 0x20;
}

/* --- simple selectors --- */

static bool read_word(struct css *c, const char *word)
{
    size_t n = strlen(word);

    if (c->len - c->at < n || strncasecmp(c->text + c->at, word, n))
        return false;
    c->at += n;
    if (is_name_start(peek(c)) || is_digit(peek(c)) || peek(c) == '-' ||
        is_escape(c, 0)) {
        c->at -= n;
        return false;
    }
    return true;
}

/* Attributes whose values have no case, by the HTML standard, 4.16.2. */
static bool is_folded(const char *name)
{
    static const char *const names[] = {
        "accept",    "accept-charset", "align",     "alink",    "axis",
        "bgcolor",   "charset",        "checked",   "clear",    "codetype",
        "color",     "compact",        "declare",   "defer",    "dir",
        "direction", "disabled",       "enctype",   "face",     "frame",
        "hreflang",  "http-equiv",     "lang",      "language", "link",
        "media",     "method",         "multiple",  "nohref",   "noresize",
        "noshade",   "nowrap",         "readonly",  "rel",      "rev",
        "rules",     "scope",          "scrolling", "selected", "shape",
        "target",    "text",           "type",      "valign",   "valuetype",
        "vlink",
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

static enum seen_code read_attribute(struct css *c, struct selector_simple *s)
{
    static const char operators[] = "~|^$*!";
    enum seen_code code;
    int byte;

    s->test = TEST_ATTRIBUTE;
    c->at++;
    skip_space(c);
    if ((peek(c) == '*' && peek_at(c, 1) == '|') ||
        (peek(c) == '|' && peek_at(c, 1) != '='))
        c->at += peek(c) == '*' ? 2 : 1;
    code = read_identifier(c, &s->name, "expected the name of an attribute");
    if (code != SEEN_OK)
        return code;
    lower(s->name);
    if (peek(c) == '|' && peek_at(c, 1) != '=')
        return refuse(c, "name spaces cannot be declared here");
    skip_space(c);
    byte = peek(c);
    if (byte == ']') {
        c->at++;
        return SEEN_OK;
    }
    if (byte > 0 && strchr(operators, byte) && peek_at(c, 1) == '=')
        c->at++;
    else if (byte != '=')
        return refuse(c, "expected ] or one of = ~= |= ^= $= *= !=");
    s->compare = (char)byte;
    c->at++;
    skip_space(c);
    code = read_value(c, &s->value,
                      "expected a value; if it is not a name, quote it");
    if (code != SEEN_OK)
        return code;
    s->fold = is_folded(s->name);
    skip_space(c);
    if (read_word(c, "i"))
        s->fold = true;
    else if (read_word(c, "s"))
        s->fold = false;
    skip_space(c);
    if (peek(c) != ']')
        return refuse(c, "expected ]");
    c->at++;
    return SEEN_OK;
}

/* A number without sign; enough for any page. */
static bool read_digits(struct css *c, int32_t *number)
{
    int32_t n = 0;

    if (!is_digit(peek(c)))
        return false;
    for (; is_digit(peek(c)); c->at++)
        n = n < 100000000 ? 10 * n + (peek(c) - '0') : n;
    *number = n;
    return true;
}

/* an+b, odd or even. Between the sign and the digits of b there may be white
   space, but not between the sign and a, nor between a and n. */
static enum seen_code read_nth(struct css *c, struct selector_simple *s)
{
    static const char expected[] = "expected odd, even, or a formula as 2n+1";
    int sign = 1, b_sign;
    bool digits, space;

    skip_space(c);
    if (read_word(c, "odd")) {
        s->a = 2, s->b = 1;
    } else if (read_word(c, "even")) {
        s->a = 2, s->b = 0;
    } else {
        if (peek(c) == '+' || peek(c) == '-')
            sign = c->text[c->at++] == '-' ? -1 : 1;
        digits = read_digits(c, &s->b);
        if (peek(c) == 'n' || peek(c) == 'N') {
            c->at++;
            s->a = sign * (digits ? s->b : 1);
            s->b = 0;
            space = skip_space(c);
            if (peek(c) == '+' || peek(c) == '-') {
                b_sign = c->text[c->at++] == '-' ? -1 : 1;
                skip_space(c);
                if (!read_digits(c, &s->b))
                    return refuse(c, expected);
                s->b *= b_sign;
            } else if (!space && peek(c) != ')') {
                return refuse(c, expected);
            }
        } else if (digits) {
            s->b *= sign;
        } else {
            return refuse(c, expected);
        }
    }
    skip_space(c);
    return peek(c) == ')' ? SEEN_OK : refuse(c, expected);
}

static const struct css_pseudo {
    const char *name;
    enum selector_test test;
    bool takes, typed, from_end;
    int b; /* of an+b, without argument */
} pseudos[] = {
    { "nth-child", TEST_NTH, true, false, false, 0 },
    { "nth-last-child", TEST_NTH, true, false, true, 0 },
    { "nth-of-type", TEST_NTH, true, true, false, 0 },
    { "nth-last-of-type", TEST_NTH, true, true, true, 0 },
    { "first-child", TEST_NTH, false, false, false, 1 },
    { "last-child", TEST_NTH, false, false, true, 1 },
    { "first-of-type", TEST_NTH, false, true, false, 1 },
    { "last-of-type", TEST_NTH, false, true, true, 1 },
    { "only-child", TEST_ONLY, false, false, false, 0 },
    { "only-of-type", TEST_ONLY, false, true, false, 0 },
    { "empty", TEST_EMPTY, false, false, false, 0 },
    { "root", TEST_ROOT, false, false, false, 0 },
    { "contains", TEST_CONTAINS, true, false, false, 0 },
    { "lang", TEST_LANG, true, false, false, 0 },
    { "link", TEST_LINK, false, false, false, 0 },
    { "enabled", TEST_ENABLED, false, false, false, 0 },
    { "disabled", TEST_DISABLED, false, false, false, 0 },
    { "checked", TEST_CHECKED, false, false, false, 0 },
    { "visited", TEST_NEVER, false, false, false, 0 },
    { "hover", TEST_NEVER, false, false, false, 0 },
    { "active", TEST_NEVER, false, false, false, 0 },
    { "focus", TEST_NEVER, false, false, false, 0 },
    { "target", TEST_NEVER, false, false, false, 0 },
};

static enum seen_code read_argument(struct css *c, struct selector_simple *s)
{
    enum seen_code code;

    if (s->test == TEST_NTH)
        return read_nth(c, s);
    skip_space(c);
    if (s->test == TEST_LANG)
        code = read_identifier(c, &s->value, "expected a language");
    else
        code = read_value(c, &s->value, "expected a text in quotes");
    if (code != SEEN_OK)
        return code;
    skip_space(c);
    return peek(c) == ')' ? SEEN_OK : refuse(c, "expected )");
}

/* A pseudo-class other than :not; `c` is past its colon. */
static enum seen_code read_pseudo(struct css *c, struct selector_simple *s)
{
    const struct css_pseudo *p = NULL;
    size_t begin = c->at;
    enum seen_code code;
    char *name;

    code = read_identifier(c, &name, "expected the name of a pseudo-class");
    if (code != SEEN_OK)
        return code;
    for (size_t i = 0; i < sizeof pseudos / sizeof pseudos[0]; i++)
        if (!strcasecmp(pseudos[i].name, name))
            p = &pseudos[i];
    free(name);
    if (!p)
        return refuse_at(c, begin, "no such pseudo-class");
    if (p->takes && peek(c) != '(')
        return refuse(c, "expected ( and an argument");
    if (!p->takes && peek(c) == '(')
        return refuse(c, "this pseudo-class takes no argument");
    s->test = p->test;
    s->typed = p->typed;
    s->from_end = p->from_end;
    s->b = p->b;
    c->to->types |= p->typed;
    c->to->texts |= p->test == TEST_CONTAINS;
    if (!p->takes)
        return SEEN_OK;
    c->at++;
    code = read_argument(c, s);
    if (code == SEEN_OK)
        c->at++;
    return code;
}

/* The type, or *; with what may stand for a name space before it. *never: it
   is in no name space. */
static enum seen_code read_type(struct css *c, char **type, bool *never)
{
    *type = NULL;
    *never = false;
    if (peek(c) == '*' && peek_at(c, 1) == '|' && peek_at(c, 2) != '=') {
        c->at += 2;
    } else if (peek(c) == '|') {
        c->at++;
        *never = true;
    }
    if (peek(c) == '*') {
        c->at++;
    } else {
        enum seen_code code = read_identifier(
            c, type, "expected the name of an element or *");

        if (code != SEEN_OK)
            return code;
        lower(*type);
        c->to->body |= web_names_body(*type);
    }
    if (peek(c) == '|' && peek_at(c, 1) != '=')
        return refuse(c, "name spaces cannot be declared here");
    return SEEN_OK;
}

static bool is_type(const struct css *c)
{
    return is_identifier(c) || peek(c) == '*' || peek(c) == '|';
}

/* Any simple selector but a type, * and :not. */
static enum seen_code read_simple(struct css *c, struct selector_simple *s)
{
    switch (peek(c)) {
    case '#':
        c->at++;
        s->test = TEST_ID;
        return read_identifier(c, &s->value, "expected an id");
    case '.':
        c->at++;
        s->test = TEST_CLASS;
        return read_identifier(c, &s->value, "expected a class");
    case '[': return read_attribute(c, s);
    default: c->at++; return read_pseudo(c, s);
    }
}

static enum seen_code read_not(struct css *c, struct selector_simple *s)
{
    enum seen_code code;
    bool never;

    skip_space(c);
    s->negated = true;
    if (is_type(c)) {
        s->test = TEST_TYPE;
        code = read_type(c, &s->name, &never);
        if (never)
            s->test = TEST_NEVER;
    } else if (peek(c) == ':' && peek_at(c, 1) == ':') {
        return refuse(c, "a pseudo-element cannot be negated");
    } else if (peek(c) > 0 && strchr("#.[:", peek(c))) {
        if (c->len - c->at > 5 && !strncasecmp(c->text + c->at, ":not(", 5))
            return refuse(c, ":not() cannot be negated");
        code = read_simple(c, s);
    } else {
        return refuse(c, "expected a simple selector");
    }
    if (code != SEEN_OK)
        return code;
    skip_space(c);
    if (peek(c) != ')')
        return refuse(c, ":not() takes one simple selector; expected )");
    c->at++;
    return SEEN_OK;
}

/* --- compounds --- */

static struct selector_simple *add_simple(struct selector_compound *to)
{
    struct selector_simple *more = array_grow(to->simple, &to->room, to->n + 1,
                                              sizeof *more);

    if (!more)
        return NULL;
    to->simple = more;
    more[to->n] = (struct selector_simple){ .test = TEST_NEVER };
    return &more[to->n++];
}

/* ::text or ::attr(name); `c` is at its first colon. */
static enum seen_code read_pseudo_element(struct css *c)
{
    struct selector_alternative *to = c->to;
    size_t begin = c->at;
    enum seen_code code;

    c->at += 2;
    if (read_word(c, "text")) {
        to->gives = GIVES_TEXT;
        return SEEN_OK;
    }
    if (!read_word(c, "attr") || peek(c) != '(')
        return refuse_at(c, begin, "expected ::text or ::attr(name)");
    c->at++;
    skip_space(c);
    code = read_identifier(c, &to->attribute,
                           "expected the name of an attribute");
    if (code != SEEN_OK)
        return code;
    lower(to->attribute);
    to->gives = GIVES_ATTRIBUTE;
    skip_space(c);
    if (peek(c) != ')')
        return refuse(c, "expected )");
    c->at++;
    return SEEN_OK;
}

static bool is_not(const struct css *c)
{
    return c->len - c->at > 4 && !strncasecmp(c->text + c->at, ":not(", 5);
}

/* *ended: a pseudo-element was read, and nothing may follow. */
static enum seen_code read_compound(struct css *c, char combinator,
                                    bool *ended)
{
    struct selector_alternative *to = c->to;
    struct selector_compound *more;
    struct selector_simple *simple;
    enum seen_code code = SEEN_OK;
    size_t begin = c->at;
    bool never = false;

    if (to->n == SELECTOR_COMPOUNDS)
        return refuse(c, "more than 64 steps");
    more = array_grow(to->compound, &to->room, to->n + 1, sizeof *more);
    if (!more)
        return no_memory_for(c->why, "a selector");
    to->compound = more;
    more += to->n++;
    *more = (struct selector_compound){ .combinator = combinator };
    if (is_type(c))
        code = read_type(c, &more->type, &never);
    if (code == SEEN_OK && never && !add_simple(more))
        return no_memory_for(c->why, "a selector");
    while (code == SEEN_OK && skip_comments(c) && peek(c) > 0 &&
           strchr("#.[:", peek(c))) {
        if (peek(c) == ':' && peek_at(c, 1) == ':') {
            *ended = true;
            return read_pseudo_element(c);
        }
        simple = add_simple(more);
        if (!simple)
            return no_memory_for(c->why, "a selector");
        if (is_not(c)) {
            c->at += 5;
            code = read_not(c, simple);
        } else {
            code = read_simple(c, simple);
        }
    }
    if (code == SEEN_OK && c->at == begin)
        code = refuse(c, c->at == c->len ? "expected a selector"
                                         : "a selector cannot begin so");
    return code;
}

/*
 * "p ::text" are all texts of p, at any depth, those that stand directly in p
 * included: this is what everybody means by it, and what Scrapy's selectors
 * do, although "p *" alone does not match p.
 */
static void mark_deep(struct selector_alternative *to)
{
    struct selector_compound *last = &to->compound[to->n - 1];

    if (to->gives != GIVES_ELEMENT && last->combinator == ' ' && !last->type &&
        !last->n) {
        to->deep = true;
        to->n--;
    }
}

static enum seen_code read_complex(struct css *c)
{
    bool ended = false;
    enum seen_code code = read_compound(c, 0, &ended);

    while (code == SEEN_OK) {
        bool space = skip_space(c);
        int byte = peek(c);

        if (byte < 0 || byte == ',')
            break;
        if (ended)
            return refuse(c, "nothing may follow a pseudo-element");
        if (byte == '>' || byte == '+' || byte == '~') {
            c->at++;
            skip_space(c);
        } else if (space) {
            byte = ' ';
        } else {
            return refuse(c, "expected a combinator, a comma or the end");
        }
        code = read_compound(c, (char)byte, &ended);
    }
    if (code == SEEN_OK)
        mark_deep(c->to);
    return code;
}

enum seen_code web_css_parse(struct web_selector *s, const char *text,
                             size_t len, struct seen_error *why)
{
    struct css c = { .text = text, .len = len, .why = why };
    enum seen_code code = SEEN_OK;

    for (bool more = true; more && code == SEEN_OK; c.at += more) {
        struct selector_alternative *to;

        if (s->n == SELECTOR_ALTERNATIVES)
            return refuse(&c, "more than 64 alternatives");
        to = array_grow(s->alternative, &s->room, s->n + 1, sizeof *to);
        if (!to)
            return no_memory_for(c.why, "a selector");
        s->alternative = to;
        c.to = to + s->n++;
        *c.to = (struct selector_alternative){ .gives = GIVES_ELEMENT };
        skip_space(&c);
        code = read_complex(&c);
        more = peek(&c) == ',';
    }
    return code;
}
