/*
 * xpath.h - XPath 1.0: an expression as a tree, and what it selects.
 *
 *     text ──> xpath_parse.c ──> nodes ──┐
 *                                        ├──> xpath.c ──> a value
 *     page ──> xpath_rows.c ───> rows ───┘
 *
 * The rows number all nodes of a page in document order, so a node set is a
 * sorted array of numbers, what is below a node is a range, and the text of an
 * element is a part of one long text. Nothing is copied to be compared.
 *
 *     struct web_xpath *x;
 *     struct web_xpath_value v;
 *
 *     code = web_xpath_parse(&x, text, len, &why);
 *     code = web_xpath_rows_make(tree, linked, &budget, &why);
 *     code = web_xpath_evaluate(x, tree, linked, &budget, &v, &why);
 *     web_xpath_value_clear(&v);
 *     web_xpath_free(x);
 *
 * An expression of XPath has no variables here, so the type of each part is
 * known when it is parsed.
 *
 * Threads: a parsed expression does not change and may be used by several
 * threads at once, each with a tree of its own.
 */
#ifndef SEEN_WEB_XPATH_H
#define SEEN_WEB_XPATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libxml/tree.h>

#include <seen/error.h>
#include <seen/span.h>

#include "../lib/text/budget.h"
#include "../lib/text/buffer.h"

struct web_tree;

/* --- expressions --- */

enum web_xpath_type {
    WEB_XPATH_SET,
    WEB_XPATH_STRING,
    WEB_XPATH_NUMBER,
    WEB_XPATH_BOOLEAN
};

enum web_xpath_op {
    WEB_XPATH_OR,
    WEB_XPATH_AND,
    WEB_XPATH_COMPARE,  /* by `order` */
    WEB_XPATH_PLUS,
    WEB_XPATH_MINUS,
    WEB_XPATH_TIMES,
    WEB_XPATH_DIV,
    WEB_XPATH_MOD,
    WEB_XPATH_NEGATE,
    WEB_XPATH_UNION,
    WEB_XPATH_LITERAL,  /* of type string or number */
    WEB_XPATH_CALL,     /* of a function */
    WEB_XPATH_TOP,      /* the document */
    WEB_XPATH_HERE,     /* the context node */
    WEB_XPATH_STEP,
    WEB_XPATH_FILTER    /* predicates of something that is not a step */
};

enum web_xpath_order {
    WEB_XPATH_EQUAL,
    WEB_XPATH_UNEQUAL,
    WEB_XPATH_LESS,
    WEB_XPATH_AT_MOST,
    WEB_XPATH_MORE,
    WEB_XPATH_AT_LEAST
};

enum web_xpath_axis {
    WEB_XPATH_ANCESTOR,
    WEB_XPATH_ANCESTOR_OR_SELF,
    WEB_XPATH_ATTRIBUTE,
    WEB_XPATH_CHILD,
    WEB_XPATH_DESCENDANT,
    WEB_XPATH_DESCENDANT_OR_SELF,
    WEB_XPATH_FOLLOWING,
    WEB_XPATH_FOLLOWING_SIBLING,
    WEB_XPATH_NAMESPACE, /* no page has nodes there */
    WEB_XPATH_PARENT,
    WEB_XPATH_PRECEDING,
    WEB_XPATH_PRECEDING_SIBLING,
    WEB_XPATH_SELF
};

enum web_xpath_test {
    WEB_XPATH_NAMED, /* of the kind of the axis */
    WEB_XPATH_ANY,   /* *: likewise */
    WEB_XPATH_NODE,
    WEB_XPATH_TEXT,
    WEB_XPATH_COMMENT,
    WEB_XPATH_INSTRUCTION /* with a name, or any */
};

enum web_xpath_function {
    WEB_XPATH_FN_BOOLEAN,
    WEB_XPATH_FN_CEILING,
    WEB_XPATH_FN_CONCAT,
    WEB_XPATH_FN_CONTAINS,
    WEB_XPATH_FN_COUNT,
    WEB_XPATH_FN_FALSE,
    WEB_XPATH_FN_FLOOR,
    WEB_XPATH_FN_ID,
    WEB_XPATH_FN_LANG,
    WEB_XPATH_FN_LAST,
    WEB_XPATH_FN_LOCAL_NAME,
    WEB_XPATH_FN_NAME,
    WEB_XPATH_FN_NAMESPACE_URI,
    WEB_XPATH_FN_NORMALIZE_SPACE,
    WEB_XPATH_FN_NOT,
    WEB_XPATH_FN_NUMBER,
    WEB_XPATH_FN_POSITION,
    WEB_XPATH_FN_ROUND,
    WEB_XPATH_FN_STARTS_WITH,
    WEB_XPATH_FN_STRING,
    WEB_XPATH_FN_STRING_LENGTH,
    WEB_XPATH_FN_SUBSTRING,
    WEB_XPATH_FN_SUBSTRING_AFTER,
    WEB_XPATH_FN_SUBSTRING_BEFORE,
    WEB_XPATH_FN_SUM,
    WEB_XPATH_FN_TRANSLATE,
    WEB_XPATH_FN_TRUE
};

#define WEB_XPATH_NONE UINT32_MAX

/* A part of an expression; others are named by their place in the array. */
struct web_xpath_node {
    enum web_xpath_op op;
    enum web_xpath_type type;
    uint16_t depth;         /* of the tree below it */
    bool positional;        /* it asks for position() or last() */
    union {
        enum web_xpath_order order;
        enum web_xpath_function function;
        struct {
            enum web_xpath_axis axis;
            enum web_xpath_test test;
        } step;
    };
    uint32_t left, right;   /* operands; of a step and a filter: what is
                               before it, and its first predicate; of a call:
                               its first argument */
    uint32_t next;          /* predicate or argument */
    double number;
    char *text;             /* a literal or a name, with a zero */
    size_t len;
};

struct web_xpath {
    struct web_xpath_node *node;
    size_t n, room;
    uint32_t top;
};

/* SEEN_RANGE with the byte in why->at and, from 1, in the text; SEEN_NOMEM. */
enum seen_code web_xpath_parse(struct web_xpath **out, const char *text,
                               size_t len, struct seen_error *why);
void web_xpath_free(struct web_xpath *x);

/* --- pages --- */

struct web_xpath_row {
    xmlNode *node;
    uint32_t parent, previous; /* rows; previous: the sibling before */
    uint32_t end;              /* the row after the last one below it */
    uint32_t begin, finish;    /* where its text is in web_xpath_rows.text */
};

struct web_xpath_rows {
    struct web_xpath_row *row; /* the first one is the document */
    size_t n, room;
    uint32_t *of_element; /* row of an element of the source */
    struct buffer text;
    bool made;
};

/* Number the nodes, once per tree and form: `linked` says whether the bodies
   that a browser makes are in the tree now. SEEN_NOMEM; SEEN_RANGE if the budget
   is spent. */
enum seen_code web_xpath_rows_make(struct web_tree *tree, bool linked,
                                   struct budget *budget,
                                   struct seen_error *why);
void web_xpath_rows_clear(struct web_xpath_rows *r);

/* --- values --- */

struct web_xpath_set {
    uint32_t *row; /* in document order, each once */
    size_t n, room;
    bool unsorted; /* the rows are still being collected */
};

struct web_xpath_value {
    enum web_xpath_type type;
    bool truth;
    double number;
    struct seen_span text;
    char *own; /* the bytes of `text` if they are not the page's */
    struct web_xpath_set set;
};

/*
 * Evaluate for the root element. The value is valid as long as the tree.
 * SEEN_RANGE, "takes too long on this page", if the budget is spent; SEEN_NOMEM.
 */
enum seen_code web_xpath_evaluate(const struct web_xpath *x,
                                  struct web_tree *tree, bool linked,
                                  struct budget *budget,
                                  struct web_xpath_value *v,
                                  struct seen_error *why);
void web_xpath_value_clear(struct web_xpath_value *v);

/* The string of a value, as string() has it; *v becomes that string. False
   without memory. */
bool web_xpath_to_string(const struct web_xpath_rows *rows,
                         struct web_xpath_value *v);

#endif
