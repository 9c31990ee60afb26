/*
 * xpath.c - evaluate an expression of XPath 1.0, in counted steps.
 *
 * XPath can ask for more than any page should cost: "//div[contains(., 'x')]"
 * reads the text of the innermost of 5,000 nested elements 5,000 times. So all
 * that is done for a page is paid from a budget: a step per node that is looked
 * at and per byte that is read, and the evaluation ends when it is spent.
 *
 * What people write is linear or nearly so, since node sets are sorted rows:
 *
 *     descendant::   ranges of rows; one that lies in another is not visited
 *     ancestor::     ends where the ancestors of the node before begin
 *     following::    is what begins behind the first end of all nodes
 *     preceding::    is what precedes the last node
 *     ...-sibling::  ends at a sibling that is in the set itself
 *
 * Only a step with a predicate must be taken for each node by itself, because
 * the predicate may ask for positions.
 *
 * Recursion is bounded by the depth of the expression; pages are walked in
 * loops.
 */
#include "xpath.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../lib/text/array.h"
#include "../lib/text/map.h"
#include "../lib/text/span.h"
#include "../lib/text/utf8.h"
#include "selector.h"
#include "view.h"

enum {
    HELD = 256 << 20, /* bytes of texts and node sets at a time */
    COPY = 4          /* steps per byte that is copied */
};

struct evaluation {
    const struct web_xpath *x;
    const struct web_xpath_row *row;
    const struct web_xpath_rows *rows;
    xmlDoc *doc;
    struct budget *budget;
    size_t held;
    enum seen_code code;
};

/* The node that is asked, and its place among others, from 1. */
struct place {
    uint32_t row;
    size_t position, size;
};

/* --- costs --- */

static bool spend(struct evaluation *e, uint64_t steps)
{
    if (!budget_spend(e->budget, steps) && e->code == SEEN_OK)
        e->code = SEEN_RANGE;
    return e->code == SEEN_OK;
}

static void no_memory(struct evaluation *e)
{
    if (e->code == SEEN_OK)
        e->code = SEEN_NOMEM;
}

/* --- nodes --- */

static xmlElementType kind(const struct evaluation *e, uint32_t row)
{
    return e->row[row].node->type;
}

static bool is_attribute(const struct evaluation *e, uint32_t row)
{
    return kind(e, row) == XML_ATTRIBUTE_NODE;
}

static struct seen_span string_of(const struct web_xpath_rows *r, uint32_t at)
{
    const struct web_xpath_row *row = &r->row[at];
    const xmlNode *node = row->node;

    switch (node->type) {
    case XML_ATTRIBUTE_NODE:
        return span_of(node->children && node->children->content
                           ? (const char *)node->children->content
                           : "");
    case XML_COMMENT_NODE:
    case XML_PI_NODE:
        return span_of(node->content ? (const char *)node->content : "");
    default:
        return (struct seen_span){ r->text.bytes ? r->text.bytes + row->begin
                                                 : "",
                                   row->finish - row->begin };
    }
}

/* --- sets --- */

static bool set_add(struct evaluation *e, struct web_xpath_set *s,
                    uint32_t row)
{
    if (s->n == s->room) {
        size_t room = s->room;
        void *more;

        if (e->held + 4 * (s->n + 1) > HELD)
            return spend(e, UINT64_MAX);
        more = array_grow(s->row, &s->room, s->n + 1, sizeof *s->row);
        if (!more) {
            no_memory(e);
            return false;
        }
        s->row = more;
        e->held += (s->room - room) * sizeof *s->row;
    }
    if (s->n && s->row[s->n - 1] >= row)
        s->unsorted = true;
    s->row[s->n++] = row;
    return true;
}

static void set_clear(struct evaluation *e, struct web_xpath_set *s)
{
    e->held -= s->room * sizeof *s->row;
    free(s->row);
    *s = (struct web_xpath_set){ .n = 0 };
}

static int by_row(const void *a, const void *b)
{
    uint32_t x, y;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

/* Document order, and each node once: by a bit per row if there are many. */
static void set_sort(struct evaluation *e, struct web_xpath_set *s)
{
    enum { FEW = 64 };
    size_t n = 0, words = e->rows->n / 64 + 1;
    uint64_t *bit;

    if (!s->unsorted)
        return;
    s->unsorted = false;
    if (s->n < e->rows->n / FEW) {
        if (!spend(e, 32 * s->n))
            return;
        qsort(s->row, s->n, sizeof *s->row, by_row);
        for (size_t i = 0; i < s->n; i++)
            if (!n || s->row[n - 1] != s->row[i])
                s->row[n++] = s->row[i];
        s->n = n;
        return;
    }
    if (!spend(e, s->n + words))
        return;
    bit = calloc(words, sizeof *bit);
    if (!bit) {
        no_memory(e);
        return;
    }
    for (size_t i = 0; i < s->n; i++)
        bit[s->row[i] / 64] |= (uint64_t)1 << s->row[i] % 64;
    for (size_t i = 0; i < words; i++)
        for (uint64_t w = bit[i]; w; w &= w - 1)
            s->row[n++] = (uint32_t)(64 * i) + (uint32_t)__builtin_ctzll(w);
    s->n = n;
    free(bit);
}

static bool set_has(const struct web_xpath_set *s, uint32_t row)
{
    size_t low = 0, high = s->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (s->row[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->n && s->row[low] == row;
}

/* --- values --- */

static void clear(struct evaluation *e, struct web_xpath_value *v)
{
    if (v->own)
        e->held -= v->text.len;
    set_clear(e, &v->set);
    free(v->own);
    *v = (struct web_xpath_value){ .type = WEB_XPATH_BOOLEAN };
}

void web_xpath_value_clear(struct web_xpath_value *v)
{
    free(v->own);
    free(v->set.row);
    *v = (struct web_xpath_value){ .type = WEB_XPATH_BOOLEAN };
}

static void set_boolean(struct evaluation *e, struct web_xpath_value *v,
                        bool truth)
{
    clear(e, v);
    v->type = WEB_XPATH_BOOLEAN;
    v->truth = truth;
}

static void set_number(struct evaluation *e, struct web_xpath_value *v,
                       double number)
{
    clear(e, v);
    v->type = WEB_XPATH_NUMBER;
    v->number = number;
}

/* Bytes of the page or of the expression. */
static void set_view(struct evaluation *e, struct web_xpath_value *v,
                     struct seen_span text)
{
    clear(e, v);
    v->type = WEB_XPATH_STRING;
    v->text = text;
}

/* The buffer is the value's now. */
static void set_own(struct evaluation *e, struct web_xpath_value *v,
                    struct buffer *b)
{
    clear(e, v);
    v->type = WEB_XPATH_STRING;
    v->text.len = b->len;
    v->own = buffer_take(b);
    v->text.text = v->own ? v->own : "";
    if (!v->own) {
        v->text.len = 0;
        no_memory(e);
        return;
    }
    e->held += v->text.len;
    if (e->held > HELD)
        spend(e, UINT64_MAX);
    spend(e, COPY * v->text.len);
}

static double number_of(struct seen_span text)
{
    char copy[64], *end;
    double number;
    size_t n;

    while (text.len && strchr(" \t\r\n", *text.text) && *text.text)
        text.text++, text.len--;
    while (text.len && strchr(" \t\r\n", text.text[text.len - 1]) &&
           text.text[text.len - 1])
        text.len--;
    n = text.len < sizeof copy - 1 ? text.len : sizeof copy - 1;
    memcpy(copy, text.text, n);
    copy[n] = '\0';
    /* What strtod() would take besides: +1, 0x1p3, inf, nan. */
    if (!n || strspn(copy, "0123456789.-eE") != n ||
        strchr("eE", copy[copy[0] == '-']) ||
        (copy[0] == '-' && copy[1] == '-'))
        return NAN;
    number = strtod(copy, &end);
    /* Digits beyond the first sixty say nothing more of a fraction. */
    return *end || (n < text.len && !memchr(copy, '.', n)) ? NAN : number;
}

/* As an integer, or with as many digits as are certain; never as 1e+20. */
static void print_number(struct buffer *to, double number)
{
    char text[400];
    size_t n;

    if (isnan(number)) {
        buffer_text(to, "NaN");
    } else if (isinf(number)) {
        buffer_text(to, number > 0 ? "Infinity" : "-Infinity");
    } else if (number == 0) {
        buffer_byte(to, '0');
    } else if (number == floor(number)) {
        buffer_format(to, "%.0f", number);
    } else {
        int digits = 14 - (int)floor(log10(fabs(number)));

        n = (size_t)snprintf(text, sizeof text, "%.*f",
                             digits < 1     ? 1
                             : digits > 340 ? 340
                                            : digits,
                             number);
        while (n && text[n - 1] == '0')
            n--;
        if (n && text[n - 1] == '.')
            n--;
        buffer_bytes(to, text, n);
    }
}

bool web_xpath_to_string(const struct web_xpath_rows *rows,
                         struct web_xpath_value *v)
{
    struct web_xpath_value s = { .type = WEB_XPATH_STRING };
    struct buffer b = { .bytes = NULL };

    switch (v->type) {
    case WEB_XPATH_STRING: return true;
    case WEB_XPATH_BOOLEAN:
        s.text = span_of(v->truth ? "true" : "false");
        break;
    case WEB_XPATH_SET:
        s.text = v->set.n ? string_of(rows, v->set.row[0]) : span_of("");
        break;
    case WEB_XPATH_NUMBER:
        print_number(&b, v->number);
        s.text.len = b.len;
        s.text.text = s.own = buffer_take(&b);
        if (!s.own)
            return false;
        break;
    }
    web_xpath_value_clear(v);
    *v = s;
    return true;
}

static void to_string(struct evaluation *e, struct web_xpath_value *v)
{
    struct buffer b = { .bytes = NULL };

    if (e->code != SEEN_OK)
        set_view(e, v, span_of(""));
    else if (v->type == WEB_XPATH_SET)
        set_view(e, v,
                 v->set.n ? string_of(e->rows, v->set.row[0]) : span_of(""));
    else if (v->type == WEB_XPATH_BOOLEAN)
        set_view(e, v, span_of(v->truth ? "true" : "false"));
    else if (v->type == WEB_XPATH_NUMBER) {
        print_number(&b, v->number);
        set_own(e, v, &b);
    }
}

static double read_number(struct evaluation *e, struct seen_span text)
{
    return spend(e, text.len + 16) ? number_of(text) : NAN;
}

static double as_number(struct evaluation *e, const struct web_xpath_value *v)
{
    switch (v->type) {
    case WEB_XPATH_NUMBER: return v->number;
    case WEB_XPATH_BOOLEAN: return v->truth;
    case WEB_XPATH_STRING: return read_number(e, v->text);
    default:
        return v->set.n ? read_number(e, string_of(e->rows, v->set.row[0]))
                        : NAN;
    }
}

static bool as_boolean(const struct web_xpath_value *v)
{
    switch (v->type) {
    case WEB_XPATH_NUMBER: return v->number != 0 && !isnan(v->number);
    case WEB_XPATH_BOOLEAN: return v->truth;
    case WEB_XPATH_STRING: return v->text.len;
    default: return v->set.n;
    }
}

/* --- comparisons --- */

static bool is_relation(enum web_xpath_order order, double a, double b)
{
    switch (order) {
    case WEB_XPATH_EQUAL: return a == b;
    case WEB_XPATH_UNEQUAL: return a != b;
    case WEB_XPATH_LESS: return a < b;
    case WEB_XPATH_AT_MOST: return a <= b;
    case WEB_XPATH_MORE: return a > b;
    default: return a >= b;
    }
}

static bool is_equality(enum web_xpath_order order)
{
    return order == WEB_XPATH_EQUAL || order == WEB_XPATH_UNEQUAL;
}

static bool same_text(struct evaluation *e, struct seen_span a,
                      struct seen_span b)
{
    return spend(e, 1 + (a.len == b.len ? a.len : 0)) && span_equal(a, b);
}

/* Is one of the nodes so? */
static bool compare_set(struct evaluation *e, enum web_xpath_order order,
                        const struct web_xpath_set *s,
                        const struct web_xpath_value *v, bool swapped)
{
    bool texts = v->type == WEB_XPATH_STRING && is_equality(order);
    double number = texts ? 0 : as_number(e, v);

    for (size_t i = 0; i < s->n && spend(e, 1); i++) {
        struct seen_span text = string_of(e->rows, s->row[i]);

        if (texts) {
            if (same_text(e, text, v->text) == (order == WEB_XPATH_EQUAL))
                return e->code == SEEN_OK;
        } else {
            double other = read_number(e, text);

            if (swapped ? is_relation(order, number, other)
                        : is_relation(order, other, number))
                return true;
        }
    }
    return false;
}

/* Is a text of one set one of the other, too? */
static bool meet(struct evaluation *e, const struct web_xpath_set *a,
                 const struct web_xpath_set *b)
{
    struct map texts = { .slot = NULL };
    bool found = false;

    for (size_t i = 0; i < a->n; i++) {
        struct seen_span s = string_of(e->rows, a->row[i]);

        if (!spend(e, 16 + s.len))
            break;
        if (!map_set(&texts, s.text, s.len, e)) {
            no_memory(e);
            break;
        }
    }
    for (size_t i = 0; i < b->n && !found; i++) {
        struct seen_span s = string_of(e->rows, b->row[i]);

        found = spend(e, 16 + s.len) && map_get(&texts, s.text, s.len);
    }
    map_clear(&texts);
    return found;
}

/* Are there two that differ? There are unless all texts are one. */
static bool differ(struct evaluation *e, const struct web_xpath_set *a,
                   const struct web_xpath_set *b)
{
    struct seen_span first;

    if (!a->n || !b->n)
        return false;
    first = string_of(e->rows, a->row[0]);
    for (size_t i = 0; i < b->n && e->code == SEEN_OK; i++)
        if (!same_text(e, first, string_of(e->rows, b->row[i])))
            return e->code == SEEN_OK;
    for (size_t i = 1; i < a->n && e->code == SEEN_OK; i++)
        if (!same_text(e, first, string_of(e->rows, a->row[i])))
            return e->code == SEEN_OK;
    return false;
}

/* The extreme number among the texts; NaN: none is a number. */
static double extreme(struct evaluation *e, const struct web_xpath_set *s,
                      bool most)
{
    double found = NAN;

    for (size_t i = 0; i < s->n && e->code == SEEN_OK; i++) {
        double n = read_number(e, string_of(e->rows, s->row[i]));

        if (isnan(found) || (most ? n > found : n < found))
            found = n;
    }
    return found;
}

static bool compare(struct evaluation *e, enum web_xpath_order order,
                    const struct web_xpath_value *a,
                    const struct web_xpath_value *b)
{
    bool sets = a->type == WEB_XPATH_SET && b->type == WEB_XPATH_SET;

    if (sets && order == WEB_XPATH_EQUAL)
        return meet(e, &a->set, &b->set);
    if (sets && order == WEB_XPATH_UNEQUAL)
        return differ(e, &a->set, &b->set);
    if (sets) {
        bool less = order == WEB_XPATH_LESS || order == WEB_XPATH_AT_MOST;

        return is_relation(order, extreme(e, &a->set, !less),
                           extreme(e, &b->set, less));
    }
    if (a->type == WEB_XPATH_BOOLEAN || b->type == WEB_XPATH_BOOLEAN) {
        if (is_equality(order) || a->type == WEB_XPATH_SET ||
            b->type == WEB_XPATH_SET)
            return is_relation(order, as_boolean(a), as_boolean(b));
    } else if (a->type == WEB_XPATH_SET) {
        return compare_set(e, order, &a->set, b, false);
    } else if (b->type == WEB_XPATH_SET) {
        return compare_set(e, order, &b->set, a, true);
    } else if (is_equality(order) && a->type == WEB_XPATH_STRING &&
               b->type == WEB_XPATH_STRING) {
        return same_text(e, a->text, b->text) == (order == WEB_XPATH_EQUAL);
    }
    return is_relation(order, as_number(e, a), as_number(e, b));
}

/* --- steps --- */

struct stepping {
    struct evaluation *e;
    const struct web_xpath_node *s;
    struct web_xpath_set *to;
    size_t most; /* no more nodes are needed */
};

static bool passes(const struct stepping *t, uint32_t row)
{
    const struct web_xpath_node *s = t->s;
    const xmlNode *node = t->e->row[row].node;
    xmlElementType own = s->step.axis == WEB_XPATH_ATTRIBUTE
                             ? XML_ATTRIBUTE_NODE
                             : XML_ELEMENT_NODE;

    switch (s->step.test) {
    case WEB_XPATH_NODE: return true;
    case WEB_XPATH_ANY: return node->type == own;
    case WEB_XPATH_NAMED:
        return node->type == own && !strcmp((const char *)node->name, s->text);
    case WEB_XPATH_TEXT:
        return node->type == XML_TEXT_NODE ||
               node->type == XML_CDATA_SECTION_NODE;
    case WEB_XPATH_COMMENT: return node->type == XML_COMMENT_NODE;
    default:
        return node->type == XML_PI_NODE &&
               (!s->text || !strcmp((const char *)node->name, s->text));
    }
}

/* A node of the axis; false: that was enough. */
static bool visit(const struct stepping *t, uint32_t row)
{
    return spend(t->e, 2) && (!passes(t, row) || (set_add(t->e, t->to, row) &&
                                                  t->to->n < t->most));
}

static void walk_range(const struct stepping *t, uint32_t from, uint32_t end)
{
    for (uint32_t i = from; i < end; i++)
        if (is_attribute(t->e, i) ? !spend(t->e, 1) : !visit(t, i))
            return;
}

static void walk_children(const struct stepping *t, uint32_t row)
{
    const struct web_xpath_row *r = t->e->row;

    for (uint32_t i = row + 1; i < r[row].end; i = r[i].end)
        if (is_attribute(t->e, i) ? !spend(t->e, 1) : !visit(t, i))
            return;
}

static void walk_attributes(const struct stepping *t, uint32_t row)
{
    for (uint32_t i = row + 1; i < t->e->row[row].end && is_attribute(t->e, i);
         i++)
        if (!visit(t, i))
            return;
}

/* The siblings behind; `others`: it ends at one of these. */
static void walk_behind(const struct stepping *t, uint32_t row,
                        const struct web_xpath_set *others)
{
    const struct web_xpath_row *r = t->e->row;

    if (is_attribute(t->e, row) || r[row].parent == WEB_XPATH_NONE)
        return;
    for (uint32_t i = r[row].end; i < r[r[row].parent].end; i = r[i].end)
        if (!visit(t, i) || (others && set_has(others, i)))
            return;
}

static void walk_before(const struct stepping *t, uint32_t row,
                        const struct web_xpath_set *others)
{
    const struct web_xpath_row *r = t->e->row;

    for (uint32_t i = r[row].previous; i != WEB_XPATH_NONE; i = r[i].previous)
        if (!visit(t, i) || (others && set_has(others, i)))
            return;
}

static bool is_within(const struct evaluation *e, uint32_t row, uint32_t other)
{
    return row >= other && row < e->row[other].end;
}

/* `before`: ends at an ancestor of this node, or at the node itself, unless
   that is WEB_XPATH_NONE. */
static void walk_up(const struct stepping *t, uint32_t row, bool self,
                    uint32_t before)
{
    uint32_t i = self ? row : t->e->row[row].parent;

    for (; i != WEB_XPATH_NONE; i = t->e->row[i].parent) {
        bool known = before != WEB_XPATH_NONE && is_within(t->e, before, i);

        /* The node before was not among its own ancestors. */
        if (known && (self || i != before))
            return;
        if (!visit(t, i))
            return;
    }
}

/* For following and preceding an attribute stands for its element. */
static uint32_t element_of(const struct evaluation *e, uint32_t row)
{
    return is_attribute(e, row) ? e->row[row].parent : row;
}

/* What comes before a node, without its ancestors; nearest first. */
static void walk_preceding(const struct stepping *t, uint32_t row)
{
    row = element_of(t->e, row);
    for (uint32_t i = row; i--;)
        if (is_attribute(t->e, i) || is_within(t->e, row, i) ? !spend(t->e, 1)
                                                             : !visit(t, i))
            return;
}

static void walk(const struct stepping *t, uint32_t row)
{
    const struct web_xpath_row *r = &t->e->row[row];

    switch (t->s->step.axis) {
    case WEB_XPATH_ANCESTOR:
    case WEB_XPATH_ANCESTOR_OR_SELF:
        walk_up(t, row, t->s->step.axis == WEB_XPATH_ANCESTOR_OR_SELF,
                WEB_XPATH_NONE);
        break;
    case WEB_XPATH_ATTRIBUTE: walk_attributes(t, row); break;
    case WEB_XPATH_CHILD: walk_children(t, row); break;
    case WEB_XPATH_DESCENDANT: walk_range(t, row + 1, r->end); break;
    case WEB_XPATH_DESCENDANT_OR_SELF:
        if (visit(t, row))
            walk_range(t, row + 1, r->end);
        break;
    case WEB_XPATH_FOLLOWING:
        walk_range(t, t->e->row[element_of(t->e, row)].end,
                   (uint32_t)t->e->rows->n);
        break;
    case WEB_XPATH_FOLLOWING_SIBLING: walk_behind(t, row, NULL); break;
    case WEB_XPATH_NAMESPACE: break;
    case WEB_XPATH_PARENT:
        if (r->parent != WEB_XPATH_NONE)
            visit(t, r->parent);
        break;
    case WEB_XPATH_PRECEDING: walk_preceding(t, row); break;
    case WEB_XPATH_PRECEDING_SIBLING: walk_before(t, row, NULL); break;
    case WEB_XPATH_SELF: visit(t, row); break;
    }
}

/* The step from all nodes at once: no predicate looks at what is found. */
static void walk_all(const struct stepping *t,
                     const struct web_xpath_set *from)
{
    struct evaluation *e = t->e;
    enum web_xpath_axis axis = t->s->step.axis;
    uint32_t covered = 0, before = WEB_XPATH_NONE, end = UINT32_MAX, last = 0;

    for (size_t i = 0; i < from->n && spend(e, 1); i++) {
        uint32_t row = from->row[i];

        switch (axis) {
        case WEB_XPATH_DESCENDANT:
        case WEB_XPATH_DESCENDANT_OR_SELF:
            if (row < covered && !is_attribute(e, row))
                break;
            walk(t, row);
            if (e->row[row].end > covered)
                covered = e->row[row].end;
            break;
        case WEB_XPATH_ANCESTOR:
        case WEB_XPATH_ANCESTOR_OR_SELF:
            walk_up(t, row, axis == WEB_XPATH_ANCESTOR_OR_SELF, before);
            before = row;
            break;
        case WEB_XPATH_FOLLOWING_SIBLING: walk_behind(t, row, from); break;
        case WEB_XPATH_PRECEDING_SIBLING: walk_before(t, row, from); break;
        case WEB_XPATH_FOLLOWING:
            if (e->row[element_of(e, row)].end < end)
                end = e->row[element_of(e, row)].end;
            break;
        case WEB_XPATH_PRECEDING:
            if (element_of(e, row) > last)
                last = element_of(e, row);
            break;
        default: walk(t, row); break;
        }
    }
    if (axis == WEB_XPATH_FOLLOWING && end != UINT32_MAX)
        walk_range(t, end, (uint32_t)e->rows->n);
    if (axis == WEB_XPATH_PRECEDING && last)
        walk_preceding(t, last);
}

static void evaluate(struct evaluation *e, uint32_t node,
                     const struct place *here, struct web_xpath_value *v);

/* Keep the nodes for which the predicates hold, one after the other. */
static void filter(struct evaluation *e, uint32_t predicate,
                   struct web_xpath_set *s)
{
    for (; predicate != WEB_XPATH_NONE && e->code == SEEN_OK;
         predicate = e->x->node[predicate].next) {
        size_t kept = 0;

        for (size_t i = 0; i < s->n && spend(e, 4); i++) {
            const struct place place = { s->row[i], i + 1, s->n };
            struct web_xpath_value v = { .type = WEB_XPATH_BOOLEAN };

            evaluate(e, predicate, &place, &v);
            if (v.type == WEB_XPATH_NUMBER ? v.number == (double)(i + 1)
                                           : as_boolean(&v))
                s->row[kept++] = s->row[i];
            clear(e, &v);
        }
        s->n = kept;
    }
}

/* [1] needs no more than one node; other predicates may need all. */
static size_t most_for(const struct evaluation *e, uint32_t predicate)
{
    const struct web_xpath_node *p = &e->x->node[predicate];

    return p->op == WEB_XPATH_LITERAL && p->type == WEB_XPATH_NUMBER &&
                   p->number >= 1 && p->number < 1e9
               ? (size_t)p->number
               : SIZE_MAX;
}

static void step(struct evaluation *e, const struct web_xpath_node *s,
                 const struct place *here, struct web_xpath_value *v)
{
    struct web_xpath_value from = { .type = WEB_XPATH_SET };
    struct web_xpath_set found = { .n = 0 };
    struct stepping t = { .e = e, .s = s, .to = &v->set, .most = SIZE_MAX };

    evaluate(e, s->left, here, &from);
    v->type = WEB_XPATH_SET;
    if (s->right == WEB_XPATH_NONE) {
        walk_all(&t, &from.set);
    } else {
        t.to = &found;
        t.most = most_for(e, s->right);
        for (size_t i = 0; i < from.set.n && spend(e, 4); i++) {
            found.n = 0;
            walk(&t, from.set.row[i]);
            filter(e, s->right, &found);
            for (size_t k = 0; k < found.n; k++)
                if (!set_add(e, &v->set, found.row[k]))
                    break;
        }
        set_clear(e, &found);
    }
    set_sort(e, &v->set);
    clear(e, &from);
}

/* --- functions --- */

/* A function without its argument asks the context node. */
static void argument(struct evaluation *e, uint32_t node,
                     const struct place *here, struct web_xpath_value *v)
{
    if (node != WEB_XPATH_NONE) {
        evaluate(e, node, here, v);
        return;
    }
    v->type = WEB_XPATH_SET;
    set_add(e, &v->set, here->row);
}

static void text_argument(struct evaluation *e, uint32_t node,
                          const struct place *here, struct web_xpath_value *v)
{
    argument(e, node, here, v);
    to_string(e, v);
}

static double number_argument(struct evaluation *e, uint32_t node,
                              const struct place *here)
{
    struct web_xpath_value v = { .type = WEB_XPATH_BOOLEAN };
    double number;

    evaluate(e, node, here, &v);
    number = as_number(e, &v);
    clear(e, &v);
    return number;
}

static double round_half_up(double x)
{
    return isfinite(x) ? floor(x + 0.5) : x;
}

static size_t count_characters(struct seen_span text)
{
    size_t n = 0;

    for (size_t i = 0; i < text.len; i++)
        n += ((unsigned char)text.text[i] & 0xc0) != 0x80;
    return n;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void normalize(struct evaluation *e, struct web_xpath_value *v)
{
    struct buffer b = { .bytes = NULL };
    struct seen_span text = v->text;

    if (!spend(e, text.len))
        return;
    for (size_t i = 0, n; i < text.len; i += n) {
        for (n = 0; i + n < text.len && is_space(text.text[i + n]);)
            n++;
        if (n)
            continue;
        while (i + n < text.len && !is_space(text.text[i + n]))
            n++;
        if (b.len)
            buffer_byte(&b, ' ');
        buffer_bytes(&b, text.text + i, n);
    }
    set_own(e, v, &b);
}

static const char *find_bytes(struct evaluation *e, struct seen_span text,
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
static void substring(struct evaluation *e, struct web_xpath_value *v,
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
        set_view(e, v, span_of(""));
    } else if (!v->own) {
        v->text = (struct seen_span){ text.text + first, last - first };
    } else {
        buffer_bytes(&b, text.text + first, last - first);
        set_own(e, v, &b);
    }
}

static void call_substring(struct evaluation *e,
                           const struct web_xpath_node *f,
                           const struct place *here, struct web_xpath_value *v)
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

static void translate(struct evaluation *e, struct web_xpath_value *v,
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
    set_own(e, v, &b);
}

static void call_translate(struct evaluation *e,
                           const struct web_xpath_node *f,
                           const struct place *here, struct web_xpath_value *v)
{
    struct web_xpath_value from = { .type = WEB_XPATH_STRING }, to = from;
    uint32_t second = e->x->node[f->left].next;

    text_argument(e, f->left, here, v);
    text_argument(e, second, here, &from);
    text_argument(e, e->x->node[second].next, here, &to);
    translate(e, v, from.text, to.text);
    clear(e, &from);
    clear(e, &to);
}

static void concat(struct evaluation *e, uint32_t argument,
                   const struct place *here, struct web_xpath_value *v)
{
    struct buffer b = { .bytes = NULL };

    for (; argument != WEB_XPATH_NONE && e->code == SEEN_OK;
         argument = e->x->node[argument].next) {
        struct web_xpath_value part = { .type = WEB_XPATH_STRING };

        text_argument(e, argument, here, &part);
        if (b.len + part.text.len > HELD)
            spend(e, UINT64_MAX);
        else
            buffer_span(&b, part.text);
        clear(e, &part);
    }
    set_own(e, v, &b);
}

/* contains() and its like. */
static void search(struct evaluation *e, const struct web_xpath_node *f,
                   const struct place *here, struct web_xpath_value *v)
{
    struct web_xpath_value part = { .type = WEB_XPATH_STRING };
    struct buffer b = { .bytes = NULL };
    const char *found;
    size_t at;

    text_argument(e, f->left, here, v);
    text_argument(e, e->x->node[f->left].next, here, &part);
    if (f->function == WEB_XPATH_FN_STARTS_WITH) {
        set_boolean(e, v,
                    spend(e, 1 + part.text.len) &&
                        v->text.len >= part.text.len &&
                        !memcmp(v->text.text, part.text.text, part.text.len));
        clear(e, &part);
        return;
    }
    found = find_bytes(e, v->text, part.text);
    at = found ? (size_t)(found - v->text.text) : 0;
    if (f->function == WEB_XPATH_FN_CONTAINS) {
        set_boolean(e, v, found);
    } else if (!found) {
        set_view(e, v, span_of(""));
    } else {
        struct seen_span rest = { v->text.text, at };

        if (f->function == WEB_XPATH_FN_SUBSTRING_AFTER) {
            at += part.text.len;
            rest = (struct seen_span){ v->text.text + at, v->text.len - at };
        }
        if (v->own) {
            buffer_span(&b, rest);
            set_own(e, v, &b);
        } else {
            v->text = rest;
        }
    }
    clear(e, &part);
}

static void add_ids(struct evaluation *e, struct web_xpath_set *to,
                    struct seen_span text)
{
    char name[256];

    spend(e, text.len + 1);
    for (size_t i = 0, n; i < text.len && e->code == SEEN_OK; i += n) {
        const xmlAttr *a;

        for (n = 0; i + n < text.len && is_space(text.text[i + n]);)
            n++;
        if (n)
            continue;
        while (i + n < text.len && !is_space(text.text[i + n]))
            n++;
        if (n >= sizeof name)
            continue;
        memcpy(name, text.text + i, n);
        name[n] = '\0';
        a = xmlGetID(e->doc, (const xmlChar *)name);
        if (spend(e, 16) && a && a->parent && a->parent->_private)
            set_add(e, to,
                    e->rows->of_element[(uintptr_t)a->parent->_private - 1]);
    }
}

static void call_id(struct evaluation *e, uint32_t node,
                    const struct place *here, struct web_xpath_value *v)
{
    struct web_xpath_value of = { .type = WEB_XPATH_STRING };

    evaluate(e, node, here, &of);
    v->type = WEB_XPATH_SET;
    if (of.type == WEB_XPATH_SET)
        for (size_t i = 0; i < of.set.n && e->code == SEEN_OK; i++)
            add_ids(e, &v->set, string_of(e->rows, of.set.row[i]));
    else {
        to_string(e, &of);
        add_ids(e, &v->set, of.text);
    }
    set_sort(e, &v->set);
    clear(e, &of);
}

static bool has_language(struct evaluation *e, uint32_t row,
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

static const char *name_of(const struct evaluation *e, uint32_t row)
{
    switch (kind(e, row)) {
    case XML_ELEMENT_NODE:
    case XML_ATTRIBUTE_NODE:
    case XML_PI_NODE: return (const char *)e->row[row].node->name;
    default: return "";
    }
}

static double sum(struct evaluation *e, const struct web_xpath_set *s)
{
    double all = 0;

    for (size_t i = 0; i < s->n && e->code == SEEN_OK; i++)
        all += read_number(e, string_of(e->rows, s->row[i]));
    return all;
}

static void call(struct evaluation *e, const struct web_xpath_node *f,
                 const struct place *here, struct web_xpath_value *v)
{
    switch (f->function) {
    case WEB_XPATH_FN_BOOLEAN:
        evaluate(e, f->left, here, v);
        set_boolean(e, v, as_boolean(v));
        break;
    case WEB_XPATH_FN_NOT:
        evaluate(e, f->left, here, v);
        set_boolean(e, v, !as_boolean(v));
        break;
    case WEB_XPATH_FN_FALSE: set_boolean(e, v, false); break;
    case WEB_XPATH_FN_TRUE: set_boolean(e, v, true); break;
    case WEB_XPATH_FN_CEILING:
        set_number(e, v, ceil(number_argument(e, f->left, here)));
        break;
    case WEB_XPATH_FN_FLOOR:
        set_number(e, v, floor(number_argument(e, f->left, here)));
        break;
    case WEB_XPATH_FN_ROUND:
        set_number(e, v, round_half_up(number_argument(e, f->left, here)));
        break;
    case WEB_XPATH_FN_NUMBER:
        argument(e, f->left, here, v);
        set_number(e, v, as_number(e, v));
        break;
    case WEB_XPATH_FN_COUNT:
        evaluate(e, f->left, here, v);
        set_number(e, v, (double)v->set.n);
        break;
    case WEB_XPATH_FN_SUM:
        evaluate(e, f->left, here, v);
        set_number(e, v, sum(e, &v->set));
        break;
    case WEB_XPATH_FN_LAST: set_number(e, v, (double)here->size); break;
    case WEB_XPATH_FN_POSITION:
        set_number(e, v, (double)here->position);
        break;
    case WEB_XPATH_FN_ID: call_id(e, f->left, here, v); break;
    case WEB_XPATH_FN_LANG:
        text_argument(e, f->left, here, v);
        set_boolean(e, v, has_language(e, here->row, v->text));
        break;
    case WEB_XPATH_FN_LOCAL_NAME:
    case WEB_XPATH_FN_NAME:
        argument(e, f->left, here, v);
        set_view(e, v, span_of(v->set.n ? name_of(e, v->set.row[0]) : ""));
        break;
    case WEB_XPATH_FN_NAMESPACE_URI: set_view(e, v, span_of("")); break;
    case WEB_XPATH_FN_STRING: text_argument(e, f->left, here, v); break;
    case WEB_XPATH_FN_STRING_LENGTH:
        text_argument(e, f->left, here, v);
        set_number(e, v,
                   spend(e, v->text.len) ? (double)count_characters(v->text)
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

/* --- operators --- */

static void unite(struct evaluation *e, const struct web_xpath_node *u,
                  const struct place *here, struct web_xpath_value *v)
{
    struct web_xpath_value other = { .type = WEB_XPATH_SET };

    evaluate(e, u->left, here, v);
    evaluate(e, u->right, here, &other);
    for (size_t i = 0; i < other.set.n && spend(e, 1); i++)
        if (!set_add(e, &v->set, other.set.row[i]))
            break;
    set_sort(e, &v->set);
    clear(e, &other);
}

static void combine(struct evaluation *e, const struct web_xpath_node *o,
                    const struct place *here, struct web_xpath_value *v)
{
    struct web_xpath_value b = { .type = WEB_XPATH_BOOLEAN };

    evaluate(e, o->left, here, v);
    if (o->op == WEB_XPATH_OR || o->op == WEB_XPATH_AND) {
        set_boolean(e, v, as_boolean(v));
        if (v->truth == (o->op == WEB_XPATH_OR))
            return;
        evaluate(e, o->right, here, &b);
        set_boolean(e, v, as_boolean(&b));
        clear(e, &b);
        return;
    }
    evaluate(e, o->right, here, &b);
    if (o->op == WEB_XPATH_COMPARE) {
        set_boolean(e, v, compare(e, o->order, v, &b));
    } else {
        double x = as_number(e, v), y = as_number(e, &b);

        switch (o->op) {
        case WEB_XPATH_PLUS: x += y; break;
        case WEB_XPATH_MINUS: x -= y; break;
        case WEB_XPATH_TIMES: x *= y; break;
        case WEB_XPATH_DIV: x /= y; break;
        default: x = fmod(x, y); break;
        }
        set_number(e, v, x);
    }
    clear(e, &b);
}

/* *v is empty, and becomes the value; if the evaluation failed, any value. */
static void evaluate(struct evaluation *e, uint32_t at,
                     const struct place *here, struct web_xpath_value *v)
{
    const struct web_xpath_node *node = &e->x->node[at];

    v->type = node->type;
    if (!spend(e, 8))
        return;
    switch (node->op) {
    case WEB_XPATH_LITERAL:
        if (node->type == WEB_XPATH_NUMBER)
            v->number = node->number;
        else
            v->text = (struct seen_span){ node->text, node->len };
        break;
    case WEB_XPATH_TOP: set_add(e, &v->set, 0); break;
    case WEB_XPATH_HERE: set_add(e, &v->set, here->row); break;
    case WEB_XPATH_STEP: step(e, node, here, v); break;
    case WEB_XPATH_FILTER:
        evaluate(e, node->left, here, v);
        filter(e, node->right, &v->set);
        break;
    case WEB_XPATH_CALL: call(e, node, here, v); break;
    case WEB_XPATH_NEGATE:
        evaluate(e, node->left, here, v);
        set_number(e, v, -as_number(e, v));
        break;
    case WEB_XPATH_UNION: unite(e, node, here, v); break;
    default: combine(e, node, here, v); break;
    }
}

enum seen_code web_xpath_evaluate(const struct web_xpath *x,
                                  struct web_tree *tree, bool linked,
                                  struct budget *budget,
                                  struct web_xpath_value *v,
                                  struct seen_error *why)
{
    const struct web_xpath_rows *rows = &tree->rows[linked];
    struct evaluation e = { .x = x,
                            .row = rows->row,
                            .rows = rows,
                            .doc = tree->doc,
                            .budget = budget };
    const xmlNode *root = xmlDocGetRootElement(tree->doc);
    struct place here = { .position = 1, .size = 1 };

    *v = (struct web_xpath_value){ .type = WEB_XPATH_BOOLEAN };
    if (root && root->_private)
        here.row = rows->of_element[(uintptr_t)root->_private - 1];
    evaluate(&e, x->top, &here, v);
    if (e.code == SEEN_OK)
        return SEEN_OK;
    web_xpath_value_clear(v);
    if (e.code == SEEN_NOMEM)
        return seen_fail(why, SEEN_NOMEM, 0, "out of memory");
    return web_select_costly(why);
}
