/*
 * select.c - one interface for CSS and XPath, and what is made of a match.
 *
 * Both find nodes of one tree and give them as struct web_match. Beside
 * elements, attributes and texts there is a match that no node of libxml2
 * stands for: the tbody that a browser puts around rows of a table (view.h).
 * It has the rows from of->first to of->last, and each function here walks
 * them where it would walk one element.
 *
 * Finding is bounded by steps, and so is reading what was found: "div" matches
 * each of a thousand nested elements, and their texts together are quadratic
 * in the page. So reading a match is paid from the tree's budget, per node and
 * per byte.
 */
#include "select.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/text/span.h"
#include "../lib/text/utf8.h"
#include "selector.h"
#include "view.h"

bool web_selector_is_xpath(const char *text, size_t len)
{
    struct seen_span s = { text, len };

    while (s.len && memchr(" \t\r\n", s.text[0], 4))
        s.text++, s.len--;
    return span_begins(s, "/") || span_begins(s, "./") || span_begins(s, "(");
}

/* A text that can be searched by both: UTF-8 without zeros. */
static enum seen_code check_text(const char *text, size_t len,
                                 struct seen_error *why)
{
    if (len > WEB_SELECTOR)
        return seen_fail(why, SEEN_RANGE, WEB_SELECTOR,
                         "byte %d: a selector is not longer than that",
                         WEB_SELECTOR);
    for (size_t at = 0, n; at < len; at += n) {
        n = utf8_read(text + at, len - at, NULL, NULL);
        if (!n || !text[at])
            return seen_fail(why, SEEN_RANGE, at, "byte %zu: %s", at + 1,
                             n ? "a zero" : "not UTF-8");
    }
    return SEEN_OK;
}

enum seen_code web_selector_new(struct web_selector **out, const char *text,
                                size_t len, bool xpath, struct seen_error *why)
{
    enum seen_code code = check_text(text, len, why);
    struct web_selector *s;

    if (code != SEEN_OK)
        return code;
    s = calloc(1, sizeof *s);
    if (!s)
        return seen_fail(why, SEEN_NOMEM, 0, "out of memory");
    if (xpath || web_selector_is_xpath(text, len))
        code = web_xpath_check(s, text, len, why);
    else
        code = web_css_parse(s, text, len, why);
    if (code == SEEN_OK)
        *out = s;
    else
        web_selector_free(s);
    return code;
}

static void free_alternative(struct selector_alternative *a)
{
    /* `deep` took the last compound away, which has no texts. */
    for (size_t i = 0; i < a->n; i++) {
        struct selector_compound *c = &a->compound[i];

        for (size_t k = 0; k < c->n; k++) {
            free(c->simple[k].name);
            free(c->simple[k].value);
        }
        free(c->simple);
        free(c->type);
    }
    free(a->compound);
    free(a->attribute);
}

void web_selector_free(struct web_selector *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++)
        free_alternative(&s->alternative[i]);
    free(s->alternative);
    web_xpath_free(s->xpath);
    free(s);
}

enum seen_code web_select(const struct web_selector *s, struct web_tree *tree,
                          bool (*take)(void *owner, const struct web_match *m),
                          void *owner, struct seen_error *why)
{
    struct budget own = { .left = WEB_SELECT_STEPS };

    if (tree->budget)
        own = budget_lend(tree->budget, own.left);
    tree->lent = own.left;
    return s->xpath ? web_xpath_select(s, tree, &own, take, owner, why)
                    : web_css_select(s, tree, &own, take, owner, why);
}

void web_select_settle(struct web_tree *tree, const struct budget *own)
{
    if (tree->budget)
        budget_settle(tree->budget, own, tree->lent);
}

enum seen_code web_select_costly(struct seen_error *why)
{
    return seen_fail(why, SEEN_RANGE, 0, "takes too long on this page");
}

/* --- what is made of a match --- */

static bool is_text(const xmlNode *node)
{
    return (node->type == XML_TEXT_NODE ||
            node->type == XML_CDATA_SECTION_NODE) &&
           node->content;
}

/* Reading a match costs steps, too. */
static void pay(const struct web_match *m, size_t steps)
{
    if (m->tree && m->tree->budget)
        budget_spend(m->tree->budget, steps);
}

static void append_texts(struct buffer *to, xmlNode *top,
                         const struct web_match *m)
{
    size_t nodes = 0, before = to->len;

    for (xmlNode *at = top; at; at = web_node_next(top, at), nodes++)
        if (is_text(at))
            buffer_text(to, (const char *)at->content);
    pay(m, 4 * nodes + to->len - before);
}

void web_match_text(struct buffer *to, const struct web_match *m)
{
    if (m->kind != WEB_MATCH_ELEMENT) {
        buffer_span(to, m->value);
    } else if (!m->of) {
        append_texts(to, m->node, m);
    } else {
        for (xmlNode *at = m->of->first;; at = at->next) {
            append_texts(to, at, m);
            if (at == m->of->last)
                break;
        }
    }
}

/* "Serializing HTML fragments", section 13.3 of the HTML standard. */
static void escape(struct buffer *to, const char *text, bool attribute)
{
    size_t len = strlen(text);

    for (size_t i = 0; i < len; i++) {
        char c = text[i];

        if (c == '&')
            buffer_text(to, "&amp;");
        else if (c == '\xc2' && text[i + 1] == '\xa0')
            buffer_text(to, "&nbsp;"), i++;
        else if (attribute && c == '"')
            buffer_text(to, "&quot;");
        else if (!attribute && c == '<')
            buffer_text(to, "&lt;");
        else if (!attribute && c == '>')
            buffer_text(to, "&gt;");
        else
            buffer_byte(to, c);
    }
}

static bool among(const char *name, const char *const *list)
{
    for (; *list; list++)
        if (!strcmp(*list, name))
            return true;
    return false;
}

static bool is_void(const xmlNode *node)
{
    static const char *const list[] = { "area",  "base", "basefont", "bgsound",
                                        "br",    "col",  "embed",    "frame",
                                        "hr",    "img",  "input",    "keygen",
                                        "link",  "meta", "param",    "source",
                                        "track", "wbr",  NULL };

    return among((const char *)node->name, list);
}

static bool is_raw(const xmlNode *parent)
{
    static const char *const list[] = { "style",     "script",  "xmp",
                                        "iframe",    "noembed", "noframes",
                                        "plaintext", NULL };

    return parent && parent->type == XML_ELEMENT_NODE &&
           among((const char *)parent->name, list);
}

static void open_tag(struct buffer *to, const xmlNode *node)
{
    buffer_byte(to, '<');
    buffer_text(to, (const char *)node->name);
    for (const xmlAttr *a = node->properties; a; a = a->next) {
        buffer_byte(to, ' ');
        buffer_text(to, (const char *)a->name);
        buffer_text(to, "=\"");
        if (a->children && a->children->content)
            escape(to, (const char *)a->children->content, true);
        buffer_byte(to, '"');
    }
    buffer_byte(to, '>');
}

static void close_tag(struct buffer *to, const xmlNode *node)
{
    if (is_void(node))
        return;
    buffer_text(to, "</");
    buffer_text(to, (const char *)node->name);
    buffer_byte(to, '>');
}

static void append_node(struct buffer *to, const xmlNode *node)
{
    if (node->type == XML_ELEMENT_NODE) {
        open_tag(to, node);
    } else if (is_text(node) && is_raw(node->parent)) {
        buffer_text(to, (const char *)node->content);
    } else if (is_text(node)) {
        escape(to, (const char *)node->content, false);
    } else if (node->type == XML_COMMENT_NODE && node->content) {
        buffer_text(to, "<!--");
        buffer_text(to, (const char *)node->content);
        buffer_text(to, "-->");
    }
}

static void append_html(struct buffer *to, xmlNode *top,
                        const struct web_match *m)
{
    size_t before = to->len;
    xmlNode *at = top;

    for (;;) {
        append_node(to, at);
        if (at->type == XML_ELEMENT_NODE && at->children) {
            at = at->children;
            continue;
        }
        if (at->type == XML_ELEMENT_NODE)
            close_tag(to, at);
        while (at != top && !at->next) {
            at = at->parent;
            close_tag(to, at);
        }
        if (at == top)
            break;
        at = at->next;
    }
    pay(m, 4 * (to->len - before));
}

void web_match_html(struct buffer *to, const struct web_match *m)
{
    char *text;

    if (m->kind == WEB_MATCH_ELEMENT && m->of) {
        buffer_text(to, "<tbody>");
        for (xmlNode *at = m->of->first;; at = at->next) {
            append_html(to, at, m);
            if (at == m->of->last)
                break;
        }
        buffer_text(to, "</tbody>");
    } else if (m->kind == WEB_MATCH_ELEMENT) {
        append_html(to, m->node, m);
    } else if (m->kind == WEB_MATCH_TEXT) {
        text = strndup(m->value.text, m->value.len);
        if (text)
            escape(to, text, false);
        else
            to->failed = true;
        free(text);
    } else {
        buffer_span(to, m->value);
    }
}

const char *web_match_attribute(const struct web_match *m, const char *name)
{
    return m->kind == WEB_MATCH_ELEMENT ? web_node_value(m->node, name) : NULL;
}

static uint32_t row_of(const xmlNode *node)
{
    return (uint32_t)((uintptr_t)node->_private - 1);
}

bool web_match_within(const struct web_match *m, const struct web_match *other)
{
    const xmlNode *at = m->of ? m->of->table : m->node;

    if (m->node == other->node)
        return true;
    for (; at && at->type == XML_ELEMENT_NODE; at = at->parent) {
        if (at == other->node)
            return true;
        if (other->of && at->parent == other->of->table &&
            row_of(at) >= other->of->row &&
            row_of(at) <= row_of(other->of->last))
            return true;
    }
    return false;
}

static void take_links(const struct web_match *m, xmlNode *top,
                       void (*take)(void *, struct seen_span), void *owner)
{
    static const char *const by_href[] = { "a", "area", NULL };
    static const char *const by_src[] = { "iframe", "frame", NULL };

    for (xmlNode *at = top; at; at = web_node_next(top, at)) {
        const char *name = (const char *)at->name, *value = NULL;

        if (at->type != XML_ELEMENT_NODE)
            continue;
        if (among(name, by_href))
            value = web_node_value(at, "href");
        else if (among(name, by_src))
            value = web_node_value(at, "src");
        if (value)
            take(owner, span_of(value));
        pay(m, 4);
    }
}

void web_match_links(const struct web_match *m,
                     void (*take)(void *owner, struct seen_span href),
                     void *owner)
{
    if (m->kind != WEB_MATCH_ELEMENT) {
        take(owner, m->value);
    } else if (!m->of) {
        take_links(m, m->node, take, owner);
    } else {
        for (xmlNode *at = m->of->first;; at = at->next) {
            take_links(m, at, take, owner);
            if (at == m->of->last)
                break;
        }
    }
}
