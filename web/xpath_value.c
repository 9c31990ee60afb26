/*
 * xpath_value.c - values of XPath: node sets, texts, numbers, and comparisons.
 *
 * A node set is a sorted array of rows, and the text of a node a part of the
 * page's: nothing is copied to be compared. Two node sets are compared by a
 * hash table of the texts of one of them, or by their extreme numbers, and
 * never by all pairs.
 */
#include "xpath_inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/text/array.h"
#include "../lib/text/map.h"
#include "../lib/text/span.h"

/* --- sets --- */

struct seen_span web_xpath_string_of(const struct web_xpath_rows *r,
                                     uint32_t at)
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

bool web_xpath_set_add(struct web_xpath_work *e, struct web_xpath_set *s,
                       uint32_t row)
{
    if (s->n == s->room) {
        size_t room = s->room;
        void *more;

        if (e->held + 4 * (s->n + 1) > WEB_XPATH_HELD)
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

void web_xpath_set_clear(struct web_xpath_work *e, struct web_xpath_set *s)
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
void web_xpath_set_sort(struct web_xpath_work *e, struct web_xpath_set *s)
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

bool web_xpath_set_has(const struct web_xpath_set *s, uint32_t row)
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

void web_xpath_drop(struct web_xpath_work *e, struct web_xpath_value *v)
{
    if (v->own)
        e->held -= v->text.len;
    web_xpath_set_clear(e, &v->set);
    free(v->own);
    *v = (struct web_xpath_value){ .type = WEB_XPATH_BOOLEAN };
}

void web_xpath_value_clear(struct web_xpath_value *v)
{
    free(v->own);
    free(v->set.row);
    *v = (struct web_xpath_value){ .type = WEB_XPATH_BOOLEAN };
}

void web_xpath_set_boolean(struct web_xpath_work *e, struct web_xpath_value *v,
                           bool truth)
{
    web_xpath_drop(e, v);
    v->type = WEB_XPATH_BOOLEAN;
    v->truth = truth;
}

void web_xpath_set_number(struct web_xpath_work *e, struct web_xpath_value *v,
                          double number)
{
    web_xpath_drop(e, v);
    v->type = WEB_XPATH_NUMBER;
    v->number = number;
}

/* Bytes of the page or of the expression. */
void web_xpath_set_view(struct web_xpath_work *e, struct web_xpath_value *v,
                        struct seen_span text)
{
    web_xpath_drop(e, v);
    v->type = WEB_XPATH_STRING;
    v->text = text;
}

/* The buffer is the value's now. */
void web_xpath_set_own(struct web_xpath_work *e, struct web_xpath_value *v,
                       struct buffer *b)
{
    web_xpath_drop(e, v);
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
    if (e->held > WEB_XPATH_HELD)
        spend(e, UINT64_MAX);
    spend(e, WEB_XPATH_COPY * v->text.len);
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
        s.text = v->set.n ? web_xpath_string_of(rows, v->set.row[0])
                          : span_of("");
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

void web_xpath_make_string(struct web_xpath_work *e, struct web_xpath_value *v)
{
    struct buffer b = { .bytes = NULL };

    if (e->code != SEEN_OK)
        web_xpath_set_view(e, v, span_of(""));
    else if (v->type == WEB_XPATH_SET)
        web_xpath_set_view(e, v,
                           v->set.n
                               ? web_xpath_string_of(e->rows, v->set.row[0])
                               : span_of(""));
    else if (v->type == WEB_XPATH_BOOLEAN)
        web_xpath_set_view(e, v, span_of(v->truth ? "true" : "false"));
    else if (v->type == WEB_XPATH_NUMBER) {
        print_number(&b, v->number);
        web_xpath_set_own(e, v, &b);
    }
}

double web_xpath_read_number(struct web_xpath_work *e, struct seen_span text)
{
    return spend(e, text.len + 16) ? number_of(text) : NAN;
}

double web_xpath_as_number(struct web_xpath_work *e,
                           const struct web_xpath_value *v)
{
    switch (v->type) {
    case WEB_XPATH_NUMBER: return v->number;
    case WEB_XPATH_BOOLEAN: return v->truth;
    case WEB_XPATH_STRING: return web_xpath_read_number(e, v->text);
    default:
        return v->set.n ? web_xpath_read_number(
                              e, web_xpath_string_of(e->rows, v->set.row[0]))
                        : NAN;
    }
}

bool web_xpath_as_boolean(const struct web_xpath_value *v)
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

static bool same_text(struct web_xpath_work *e, struct seen_span a,
                      struct seen_span b)
{
    return spend(e, 1 + (a.len == b.len ? a.len : 0)) && span_equal(a, b);
}

/* Is one of the nodes so? */
static bool compare_set(struct web_xpath_work *e, enum web_xpath_order order,
                        const struct web_xpath_set *s,
                        const struct web_xpath_value *v, bool swapped)
{
    bool texts = v->type == WEB_XPATH_STRING && is_equality(order);
    double number = texts ? 0 : web_xpath_as_number(e, v);

    for (size_t i = 0; i < s->n && spend(e, 1); i++) {
        struct seen_span text = web_xpath_string_of(e->rows, s->row[i]);

        if (texts) {
            if (same_text(e, text, v->text) == (order == WEB_XPATH_EQUAL))
                return e->code == SEEN_OK;
        } else {
            double other = web_xpath_read_number(e, text);

            if (swapped ? is_relation(order, number, other)
                        : is_relation(order, other, number))
                return true;
        }
    }
    return false;
}

/* Is a text of one set one of the other, too? */
static bool meet(struct web_xpath_work *e, const struct web_xpath_set *a,
                 const struct web_xpath_set *b)
{
    struct map texts = { .slot = NULL };
    bool found = false;

    for (size_t i = 0; i < a->n; i++) {
        struct seen_span s = web_xpath_string_of(e->rows, a->row[i]);

        if (!spend(e, 16 + s.len))
            break;
        if (!map_set(&texts, s.text, s.len, e)) {
            no_memory(e);
            break;
        }
    }
    for (size_t i = 0; i < b->n && !found; i++) {
        struct seen_span s = web_xpath_string_of(e->rows, b->row[i]);

        found = spend(e, 16 + s.len) && map_get(&texts, s.text, s.len);
    }
    map_clear(&texts);
    return found;
}

/* Are there two that differ? There are unless all texts are one. */
static bool differ(struct web_xpath_work *e, const struct web_xpath_set *a,
                   const struct web_xpath_set *b)
{
    struct seen_span first;

    if (!a->n || !b->n)
        return false;
    first = web_xpath_string_of(e->rows, a->row[0]);
    for (size_t i = 0; i < b->n && e->code == SEEN_OK; i++)
        if (!same_text(e, first, web_xpath_string_of(e->rows, b->row[i])))
            return e->code == SEEN_OK;
    for (size_t i = 1; i < a->n && e->code == SEEN_OK; i++)
        if (!same_text(e, first, web_xpath_string_of(e->rows, a->row[i])))
            return e->code == SEEN_OK;
    return false;
}

/* The extreme number among the texts; NaN: none is a number. */
static double extreme(struct web_xpath_work *e, const struct web_xpath_set *s,
                      bool most)
{
    double found = NAN;

    for (size_t i = 0; i < s->n && e->code == SEEN_OK; i++) {
        double n = web_xpath_read_number(
            e, web_xpath_string_of(e->rows, s->row[i]));

        if (isnan(found) || (most ? n > found : n < found))
            found = n;
    }
    return found;
}

bool web_xpath_compare(struct web_xpath_work *e, enum web_xpath_order order,
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
            return is_relation(order, web_xpath_as_boolean(a),
                               web_xpath_as_boolean(b));
    } else if (a->type == WEB_XPATH_SET) {
        return compare_set(e, order, &a->set, b, false);
    } else if (b->type == WEB_XPATH_SET) {
        return compare_set(e, order, &b->set, a, true);
    } else if (is_equality(order) && a->type == WEB_XPATH_STRING &&
               b->type == WEB_XPATH_STRING) {
        return same_text(e, a->text, b->text) == (order == WEB_XPATH_EQUAL);
    }
    return is_relation(order, web_xpath_as_number(e, a),
                       web_xpath_as_number(e, b));
}
