/*
 * css.c - the tokens of a style sheet, as far as URLs need them.
 *
 * Where a string or url() stands decides whether it is loaded, and for that
 * three facts are enough, so nothing is parsed into a tree:
 *
 *     rule     the at-rule that began last: @import loads, @namespace does not
 *     depth    how many parentheses are open
 *     set      the depth inside image-set(): strings there are loaded
 *
 * ";", "{" and "}" end all three. That a sheet is broken never matters for
 * longer than until the next of them.
 *
 * Each byte is read once, and one URL is in memory at a time. A url() that the
 * standard calls bad is skipped to its ")", as browsers do: what follows in it
 * would else look like the next token.
 */
#include "css.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "../lib/text/hex.h"
#include "../lib/text/space.h"
#include "../lib/text/utf8.h"

enum at_rule { NONE, IMPORT, NAMESPACE };

struct css {
    const char *at, *end;
    void (*take)(void *owner, struct seen_span url, bool import);
    void *owner;
    enum at_rule rule; /* the at-rule that is being read */
    unsigned depth;    /* how many parentheses are open */
    unsigned set;      /* the depth inside of image-set(), or 0 */
    size_t len;        /* bytes in `text` */
    bool cut;          /* the URL was longer than that */
    char text[WEB_CSS_URL];
};

static bool newline(char c)
{
    return c == '\n' || c == '\f' || c == '\r';
}

static bool name(char c)
{
    return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
           (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           (unsigned char)c >= 0x80;
}

static void add(struct css *c, const char *bytes, size_t n)
{
    if (n > sizeof c->text - c->len) {
        c->cut = true;
        return;
    }
    memcpy(c->text + c->len, bytes, n);
    c->len += n;
}

/* After a backslash: up to six digits, or the character itself. */
static void read_escape(struct css *c)
{
    uint32_t code = 0;
    char utf8[4];
    int n = 0;

    for (; n < 6 && c->at < c->end && hex_digit(*c->at) >= 0; n++)
        code = code * 16 + (uint32_t)hex_digit(*c->at++);
    if (!n) {
        if (c->at < c->end)
            add(c, c->at++, 1);
        return;
    }
    if (c->at < c->end && space_html(*c->at)) {
        if (*c->at == '\r' && c->end - c->at > 1 && c->at[1] == '\n')
            c->at++;
        c->at++;
    }
    if (!code || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        code = 0xfffd;
    add(c, utf8, utf8_write(utf8, code));
}

static bool escape(const struct css *c)
{
    return *c->at == '\\' && c->end - c->at > 1 && !newline(c->at[1]);
}

static void begin(struct css *c)
{
    c->len = 0;
    c->cut = false;
}

static void give(struct css *c)
{
    if (c->len && !c->cut && c->rule != NAMESPACE)
        c->take(c->owner, (struct seen_span){ c->text, c->len },
                c->rule == IMPORT);
    if (c->rule == IMPORT)
        c->rule = NONE; /* what follows are conditions */
}

/* A string into c->text; false if a line ends before it. */
static bool read_string(struct css *c)
{
    char quote = *c->at++;

    begin(c);
    while (c->at < c->end && *c->at != quote) {
        if (newline(*c->at))
            return false;
        if (escape(c)) {
            c->at++;
            read_escape(c);
        } else if (*c->at == '\\') { /* continues on the next line */
            c->at++;
            if (c->end - c->at > 1 && c->at[0] == '\r' && c->at[1] == '\n')
                c->at++;
            if (c->at < c->end)
                c->at++;
        } else {
            add(c, c->at++, 1);
        }
    }
    if (c->at < c->end)
        c->at++;
    return true;
}

/* What is left of a wrong url( ) */
static void skip_url(struct css *c)
{
    while (c->at < c->end && *c->at != ')') {
        if (escape(c))
            c->at++;
        c->at++;
    }
    if (c->at < c->end)
        c->at++;
}

/* After "url(": false if it is wrong. */
static bool read_url(struct css *c)
{
    while (c->at < c->end && space_html(*c->at))
        c->at++;
    if (c->at < c->end && (*c->at == '"' || *c->at == '\'')) {
        bool good = read_string(c);

        c->depth++; /* it ends as a function does */
        return good;
    }
    begin(c);
    for (; c->at < c->end && *c->at != ')';) {
        if (space_html(*c->at)) {
            while (c->at < c->end && space_html(*c->at))
                c->at++;
            if (c->at == c->end || *c->at == ')')
                break;
            skip_url(c);
            return false;
        }
        if (*c->at == '"' || *c->at == '\'' || *c->at == '(' ||
            (unsigned char)*c->at < 0x20 || *c->at == 0x7f ||
            (*c->at == '\\' && !escape(c))) {
            skip_url(c);
            return false;
        }
        if (*c->at == '\\') {
            c->at++;
            read_escape(c);
        } else {
            add(c, c->at++, 1);
        }
    }
    if (c->at < c->end)
        c->at++;
    return true;
}

static bool text_is(const struct css *c, const char *word)
{
    return c->len == strlen(word) && !c->cut &&
           !strncasecmp(c->text, word, c->len);
}

static void read_name(struct css *c)
{
    begin(c);
    while (c->at < c->end && (name(*c->at) || escape(c))) {
        if (*c->at == '\\') {
            c->at++;
            read_escape(c);
        } else {
            add(c, c->at++, 1);
        }
    }
}

static void read_word(struct css *c)
{
    read_name(c);
    if (c->at == c->end || *c->at != '(')
        return;
    c->at++;
    if (text_is(c, "url")) {
        if (read_url(c))
            give(c);
        return;
    }
    c->depth++;
    if (!c->set &&
        (text_is(c, "image-set") || text_is(c, "-webkit-image-set")))
        c->set = c->depth;
}

static void read_at_rule(struct css *c)
{
    c->at++;
    read_name(c);
    c->rule = text_is(c, "import")      ? IMPORT
              : text_is(c, "namespace") ? NAMESPACE
                                        : NONE;
}

static void read_mark(struct css *c)
{
    switch (*c->at++) {
    case '(': c->depth++; break;
    case ')':
        if (c->set == c->depth)
            c->set = 0;
        if (c->depth)
            c->depth--;
        break;
    case '{':
    case '}':
    case ';':
        c->rule = NONE;
        c->depth = c->set = 0;
        break;
    default: break;
    }
}

static void skip_comment(struct css *c)
{
    for (c->at += 2; c->at < c->end; c->at++)
        if (*c->at == '*' && c->end - c->at > 1 && c->at[1] == '/') {
            c->at += 2;
            return;
        }
}

void web_css_read(const char *text, size_t len,
                  void (*take)(void *owner, struct seen_span url, bool import),
                  void *owner)
{
    struct css c;

    c.at = text;
    c.end = text + len;
    c.take = take;
    c.owner = owner;
    c.rule = NONE;
    c.depth = c.set = 0;
    begin(&c);
    while (c.at < c.end) {
        if (*c.at == '/' && c.end - c.at > 1 && c.at[1] == '*') {
            skip_comment(&c);
        } else if (*c.at == '"' || *c.at == '\'') {
            if (read_string(&c) &&
                (c.rule == IMPORT || (c.set && c.set == c.depth)))
                give(&c);
        } else if (*c.at == '@') {
            read_at_rule(&c);
        } else if (name(*c.at) || escape(&c)) {
            read_word(&c);
        } else {
            read_mark(&c);
        }
    }
}
