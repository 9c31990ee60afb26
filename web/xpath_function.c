/*
 * xpath_function.c - the functions of XPath 1.0, each paid by what it reads.
 *
 * Helpers come first, one or two per function that needs more than a line, and
 * web_xpath_call() is at the end, with a case for each. Arguments are evaluated
 * here and not before, because some functions take the context node instead of
 * a missing one, and id() asks a node set for more than its text.
 *
 * What a function reads is paid for from the budget, and when that
 * has ended, functions stop. The result is a view of the page where that is
 * possible, such as a part of an attribute. It has bytes of its own where the
 * text is new, or where the argument had such bytes: they end with it.
 */
#include "xpath_inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../lib/text/space.h"
#include "../lib/text/span.h"
#include "../lib/text/utf8.h"

/* --- arguments --- */

/* A function without its argument asks the context node. */
static void argument(struct web_xpath_work *e, uint32_t node,
                     const struct web_xpath_place *here,
                     struct web_xpath_value *v)
{
    if (node != WEB_XPATH_NONE) {
        web_xpath_evaluate_part(e, node, here, v);
        return;
    }
    v->type = WEB_XPATH_SET;
    web_xpath_set_add(e, &v->set, here->row);
}

static void text_argument(struct web_xpath_work *e, uint32_t node,
                          const struct web_xpath_place *here,
                          struct web_xpath_value *v)
{
    argument(e, node, here, v);
    web_xpath_make_string(e, v);
}

static double number_argument(struct web_xpath_work *e, uint32_t node,
                              const struct web_xpath_place *here)
{
    struct web_xpath_value v = { .type = WEB_XPATH_BOOLEAN };
    double number;

    web_xpath_evaluate_part(e, node, here, &v);
    number = web_xpath_as_number(e, &v);
    web_xpath_drop(e, &v);
    return number;
}

static double round_half_up(double x)
{
    return isfinite(x) ? floor(x + 0.5) : x;
}

static void normalize(struct web_xpath_work *e, struct web_xpath_value *v)
{
    struct buffer b = { .bytes = NULL };
    struct seen_span text = v->text;

    if (!spend(e, text.len))
        return;
    for (size_t i = 0, n; i < text.len; i += n) {
        for (n = 0; i + n < text.len && space_xml(text.text[i + n]);)
            n++;
        if (n)
            continue;
        while (i + n < text.len && !space_xml(text.text[i + n]))
            n++;
        if (b.len)
            buffer_byte(&b, ' ');
        buffer_bytes(&b, text.text + i, n);
    }
    web_xpath_set_own(e, v, &b);
}

static const char *find_bytes(struct web_xpath_work *e, struct seen_span text,
                              struct seen_span part)
{
    const char *found;

    if (e->code != SEEN_OK)
        return NULL;
    found = memmem(text.text, text.len, part.text, part.len);
    spend(e, 16 + (found ? (size_t)(found - text.text) + part.len : text.len));
    return e->code == SEEN_OK ? found : NULL;
}

/* From the character at `from` on, before that at `end`, both from 1. */
static void substring(struct web_xpath_work *e, struct web_xpath_value *v,
                      double from, double end)
{
    struct seen_span text = v->text;
    struct buffer b = { .bytes = NULL };
    double place = 0;
    size_t first = text.len, last = 0;

    if (!spend(e, text.len))
        return;
    for (size_t i = 0, n; i < text.len; i += n) {
        for (n = 1; i + n < text.len &&
                    ((unsigned char)text.text[i + n] & 0xc0) == 0x80;)
            n++;
        place++;
        if (place >= from && place < end) {
            first = i < first ? i : first;
            last = i + n;
        }
    }
    if (last <= first) {
        web_xpath_set_view(e, v, span_of(""));
    } else if (!v->own) {
        v->text = (struct seen_span){ text.text + first, last - first };
    } else {
        buffer_bytes(&b, text.text + first, last - first);
        web_xpath_set_own(e, v, &b);
    }
}

static void call_substring(struct web_xpath_work *e,
                           const struct web_xpath_node *f,
                           const struct web_xpath_place *here,
                           struct web_xpath_value *v)
{
    uint32_t second = e->x->node[f->left].next;
    uint32_t third = e->x->node[second].next;
    double from, end = INFINITY;

    text_argument(e, f->left, here, v);
    from = round_half_up(number_argument(e, second, here));
    if (third != WEB_XPATH_NONE)
        end = from + round_half_up(number_argument(e, third, here));
    substring(e, v, from, end);
}

static size_t character(struct seen_span s, size_t at)
{
    size_t n = 1;

    while (at + n < s.len && ((unsigned char)s.text[at + n] & 0xc0) == 0x80)
        n++;
    return n;
}

static void translate(struct web_xpath_work *e, struct web_xpath_value *v,
                      struct seen_span from, struct seen_span to)
{
    struct buffer b = { .bytes = NULL };
    struct seen_span text = v->text;

    for (size_t i = 0, n; i < text.len; i += n) {
        size_t at = 0, other = 0;

        n = character(text, i);
        while (at < from.len &&
               (character(from, at) != n ||
                memcmp(from.text + at, text.text + i, n) != 0)) {
            at += character(from, at);
            if (other < to.len)
                other += character(to, other);
        }
        if (!spend(e, 2 + at))
            break;
        if (at == from.len)
            buffer_bytes(&b, text.text + i, n);
        else if (other < to.len)
            buffer_bytes(&b, to.text + other, character(to, other));
    }
    web_xpath_set_own(e, v, &b);
}

static void call_translate(struct web_xpath_work *e,
                           const struct web_xpath_node *f,
                           const struct web_xpath_place *here,
                           struct web_xpath_value *v)
{
    struct web_xpath_value from = { .type = WEB_XPATH_STRING }, to = from;
    uint32_t second = e->x->node[f->left].next;

    text_argument(e, f->left, here, v);
    text_argument(e, second, here, &from);
    text_argument(e, e->x->node[second].next, here, &to);
    translate(e, v, from.text, to.text);
    web_xpath_drop(e, &from);
    web_xpath_drop(e, &to);
}

static void concat(struct web_xpath_work *e, uint32_t argument,
                   const struct web_xpath_place *here,
                   struct web_xpath_value *v)
{
    struct buffer b = { .bytes = NULL };

    for (; argument != WEB_XPATH_NONE && e->code == SEEN_OK;
         argument = e->x->node[argument].next) {
        struct web_xpath_value part = { .type = WEB_XPATH_STRING };

        text_argument(e, argument, here, &part);
        if (b.len + part.text.len > WEB_XPATH_HELD)
            spend(e, UINT64_MAX);
        else
            buffer_span(&b, part.text);
        web_xpath_drop(e, &part);
    }
    web_xpath_set_own(e, v, &b);
}

/* contains() and its like. */
static void search(struct web_xpath_work *e, const struct web_xpath_node *f,
                   const struct web_xpath_place *here,
                   struct web_xpath_value *v)
{
    struct web_xpath_value part = { .type = WEB_XPATH_STRING };
    struct buffer b = { .bytes = NULL };
    const char *found;
    size_t at;

    text_argument(e, f->left, here, v);
    text_argument(e, e->x->node[f->left].next, here, &part);
    if (f->function == WEB_XPATH_FN_STARTS_WITH) {
        web_xpath_set_boolean(
            e, v,
            spend(e, 1 + part.text.len) && v->text.len >= part.text.len &&
                !memcmp(v->text.text, part.text.text, part.text.len));
        web_xpath_drop(e, &part);
        return;
    }
    found = find_bytes(e, v->text, part.text);
    at = found ? (size_t)(found - v->text.text) : 0;
    if (f->function == WEB_XPATH_FN_CONTAINS) {
        web_xpath_set_boolean(e, v, found);
    } else if (!found) {
        web_xpath_set_view(e, v, span_of(""));
    } else {
        struct seen_span rest = { v->text.text, at };

        if (f->function == WEB_XPATH_FN_SUBSTRING_AFTER) {
            at += part.text.len;
            rest = (struct seen_span){ v->text.text + at, v->text.len - at };
        }
        if (v->own) {
            buffer_span(&b, rest);
            web_xpath_set_own(e, v, &b);
        } else {
            v->text = rest;
        }
    }
    web_xpath_drop(e, &part);
}

static void add_ids(struct web_xpath_work *e, struct web_xpath_set *to,
                    struct seen_span text)
{
    char name[256];

    spend(e, text.len + 1);
    for (size_t i = 0, n; i < text.len && e->code == SEEN_OK; i += n) {
        const xmlAttr *a;

        for (n = 0; i + n < text.len && space_xml(text.text[i + n]);)
            n++;
        if (n)
            continue;
        while (i + n < text.len && !space_xml(text.text[i + n]))
            n++;
        if (n >= sizeof name)
            continue;
        memcpy(name, text.text + i, n);
        name[n] = '\0';
        a = xmlGetID(e->doc, (const xmlChar *)name);
        if (spend(e, 16) && a && a->parent && a->parent->_private)
            web_xpath_set_add(
                e, to,
                e->rows->of_element[(uintptr_t)a->parent->_private - 1]);
    }
}

static void call_id(struct web_xpath_work *e, uint32_t node,
                    const struct web_xpath_place *here,
                    struct web_xpath_value *v)
{
    struct web_xpath_value of = { .type = WEB_XPATH_STRING };

    web_xpath_evaluate_part(e, node, here, &of);
    v->type = WEB_XPATH_SET;
    if (of.type == WEB_XPATH_SET)
        for (size_t i = 0; i < of.set.n && e->code == SEEN_OK; i++)
            add_ids(e, &v->set, web_xpath_string_of(e->rows, of.set.row[i]));
    else {
        web_xpath_make_string(e, &of);
        add_ids(e, &v->set, of.text);
    }
    web_xpath_set_sort(e, &v->set);
    web_xpath_drop(e, &of);
}

static bool has_language(struct web_xpath_work *e, uint32_t row,
                         struct seen_span language)
{
    for (; row != WEB_XPATH_NONE && spend(e, 1); row = e->row[row].parent) {
        const xmlNode *node = e->row[row].node;
        const char *value;

        if (node->type != XML_ELEMENT_NODE)
            continue;
        for (const xmlAttr *a = node->properties; a; a = a->next)
            spend(e, 1);
        value = web_node_value(node, "lang");
        if (!value)
            value = web_node_value(node, "xml:lang");
        if (value)
            return strlen(value) >= language.len &&
                   !strncasecmp(value, language.text, language.len) &&
                   (!value[language.len] || value[language.len] == '-');
    }
    return false;
}

static const char *name_of(const struct web_xpath_work *e, uint32_t row)
{
    switch (kind(e, row)) {
    case XML_ELEMENT_NODE:
    case XML_ATTRIBUTE_NODE:
    case XML_PI_NODE: return (const char *)e->row[row].node->name;
    default: return "";
    }
}

static double sum(struct web_xpath_work *e, const struct web_xpath_set *s)
{
    double all = 0;

    for (size_t i = 0; i < s->n && e->code == SEEN_OK; i++)
        all += web_xpath_read_number(e,
                                     web_xpath_string_of(e->rows, s->row[i]));
    return all;
}

void web_xpath_call(struct web_xpath_work *e, const struct web_xpath_node *f,
                    const struct web_xpath_place *here,
                    struct web_xpath_value *v)
{
    switch (f->function) {
    case WEB_XPATH_FN_BOOLEAN:
        web_xpath_evaluate_part(e, f->left, here, v);
        web_xpath_set_boolean(e, v, web_xpath_as_boolean(v));
        break;
    case WEB_XPATH_FN_NOT:
        web_xpath_evaluate_part(e, f->left, here, v);
        web_xpath_set_boolean(e, v, !web_xpath_as_boolean(v));
        break;
    case WEB_XPATH_FN_FALSE: web_xpath_set_boolean(e, v, false); break;
    case WEB_XPATH_FN_TRUE: web_xpath_set_boolean(e, v, true); break;
    case WEB_XPATH_FN_CEILING:
        web_xpath_set_number(e, v, ceil(number_argument(e, f->left, here)));
        break;
    case WEB_XPATH_FN_FLOOR:
        web_xpath_set_number(e, v, floor(number_argument(e, f->left, here)));
        break;
    case WEB_XPATH_FN_ROUND:
        web_xpath_set_number(e, v,
                             round_half_up(number_argument(e, f->left, here)));
        break;
    case WEB_XPATH_FN_NUMBER:
        argument(e, f->left, here, v);
        web_xpath_set_number(e, v, web_xpath_as_number(e, v));
        break;
    case WEB_XPATH_FN_COUNT:
        web_xpath_evaluate_part(e, f->left, here, v);
        web_xpath_set_number(e, v, (double)v->set.n);
        break;
    case WEB_XPATH_FN_SUM:
        web_xpath_evaluate_part(e, f->left, here, v);
        web_xpath_set_number(e, v, sum(e, &v->set));
        break;
    case WEB_XPATH_FN_LAST:
        web_xpath_set_number(e, v, (double)here->size);
        break;
    case WEB_XPATH_FN_POSITION:
        web_xpath_set_number(e, v, (double)here->position);
        break;
    case WEB_XPATH_FN_ID: call_id(e, f->left, here, v); break;
    case WEB_XPATH_FN_LANG:
        text_argument(e, f->left, here, v);
        web_xpath_set_boolean(e, v, has_language(e, here->row, v->text));
        break;
    case WEB_XPATH_FN_LOCAL_NAME:
    case WEB_XPATH_FN_NAME:
        argument(e, f->left, here, v);
        web_xpath_set_view(e, v,
                           span_of(v->set.n ? name_of(e, v->set.row[0]) : ""));
        break;
    case WEB_XPATH_FN_NAMESPACE_URI:
        web_xpath_set_view(e, v, span_of(""));
        break;
    case WEB_XPATH_FN_STRING: text_argument(e, f->left, here, v); break;
    case WEB_XPATH_FN_STRING_LENGTH:
        text_argument(e, f->left, here, v);
        web_xpath_set_number(
            e, v,
            spend(e, v->text.len)
                ? (double)utf8_count(v->text.text, v->text.len)
                : 0);
        break;
    case WEB_XPATH_FN_NORMALIZE_SPACE:
        text_argument(e, f->left, here, v);
        normalize(e, v);
        break;
    case WEB_XPATH_FN_SUBSTRING: call_substring(e, f, here, v); break;
    case WEB_XPATH_FN_TRANSLATE: call_translate(e, f, here, v); break;
    case WEB_XPATH_FN_CONCAT: concat(e, f->left, here, v); break;
    case WEB_XPATH_FN_CONTAINS:
    case WEB_XPATH_FN_STARTS_WITH:
    case WEB_XPATH_FN_SUBSTRING_AFTER:
    case WEB_XPATH_FN_SUBSTRING_BEFORE: search(e, f, here, v); break;
    }
}
