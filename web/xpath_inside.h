/*
 * xpath_inside.h - what the evaluation of XPath is made of.
 *
 *     xpath.c            operators, and the way through an expression
 *     xpath_step.c       steps of a path, and predicates
 *     xpath_function.c   functions
 *     xpath_value.c      node sets, texts and numbers, and comparing them
 *
 * A part of an expression is evaluated into a value that is empty before. After
 * the first failure, which is kept in `code`, values are any value.
 *
 * Threads: see xpath.h.
 */
#ifndef SEEN_WEB_XPATH_INSIDE_H
#define SEEN_WEB_XPATH_INSIDE_H

#include "view.h"
#include "xpath.h"

enum {
    WEB_XPATH_HELD = 256 << 20, /* bytes of texts and node sets at a time */
    WEB_XPATH_COPY = 4          /* steps per byte that is copied */
};

struct web_xpath_work {
    const struct web_xpath *x;
    const struct web_xpath_row *row;
    const struct web_xpath_rows *rows;
    xmlDoc *doc;
    struct budget *budget;
    size_t held;
    enum seen_code code;
};

/* The node that is asked, and its place among others, from 1. */
struct web_xpath_place {
    uint32_t row;
    size_t position, size;
};

static inline bool spend(struct web_xpath_work *e, uint64_t steps)
{
    if (!budget_spend(e->budget, steps) && e->code == SEEN_OK)
        e->code = SEEN_RANGE;
    return e->code == SEEN_OK;
}

static inline void no_memory(struct web_xpath_work *e)
{
    if (e->code == SEEN_OK)
        e->code = SEEN_NOMEM;
}

static inline xmlElementType kind(const struct web_xpath_work *e, uint32_t row)
{
    return e->row[row].node->type;
}

static inline bool is_attribute(const struct web_xpath_work *e, uint32_t row)
{
    return kind(e, row) == XML_ATTRIBUTE_NODE;
}

/* --- xpath.c --- */

/* *v is empty, and becomes the value; if the evaluation failed, any value. */
void web_xpath_evaluate_part(struct web_xpath_work *e, uint32_t at,
                             const struct web_xpath_place *here,
                             struct web_xpath_value *v);

/* --- xpath_step.c --- */

void web_xpath_step(struct web_xpath_work *e, const struct web_xpath_node *s,
                    const struct web_xpath_place *here,
                    struct web_xpath_value *v);
/* Keep the nodes for which the predicates hold, one after the other. */
void web_xpath_filter(struct web_xpath_work *e, uint32_t predicate,
                      struct web_xpath_set *s);

/* --- xpath_function.c --- */

void web_xpath_call(struct web_xpath_work *e, const struct web_xpath_node *f,
                    const struct web_xpath_place *here,
                    struct web_xpath_value *v);

/* --- xpath_value.c --- */

struct seen_span web_xpath_string_of(const struct web_xpath_rows *r,
                                     uint32_t at);

/* False if no more may be added. */
bool web_xpath_set_add(struct web_xpath_work *e, struct web_xpath_set *s,
                       uint32_t row);
void web_xpath_set_clear(struct web_xpath_work *e, struct web_xpath_set *s);
/* Document order, and each node once. */
void web_xpath_set_sort(struct web_xpath_work *e, struct web_xpath_set *s);
bool web_xpath_set_has(const struct web_xpath_set *s, uint32_t row);

/* What a value becomes. web_xpath_set_view(): bytes of the page or of the
   expression; web_xpath_set_own(): the buffer is the value's then. */
void web_xpath_drop(struct web_xpath_work *e, struct web_xpath_value *v);
void web_xpath_set_boolean(struct web_xpath_work *e, struct web_xpath_value *v,
                           bool truth);
void web_xpath_set_number(struct web_xpath_work *e, struct web_xpath_value *v,
                          double number);
void web_xpath_set_view(struct web_xpath_work *e, struct web_xpath_value *v,
                        struct seen_span text);
void web_xpath_set_own(struct web_xpath_work *e, struct web_xpath_value *v,
                       struct buffer *b);
void web_xpath_make_string(struct web_xpath_work *e,
                           struct web_xpath_value *v);

double web_xpath_read_number(struct web_xpath_work *e, struct seen_span text);
double web_xpath_as_number(struct web_xpath_work *e,
                           const struct web_xpath_value *v);
bool web_xpath_as_boolean(const struct web_xpath_value *v);
bool web_xpath_compare(struct web_xpath_work *e, enum web_xpath_order order,
                       const struct web_xpath_value *a,
                       const struct web_xpath_value *b);

#endif
