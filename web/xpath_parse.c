/*
 * xpath_parse.c - the grammar of XPath 1.0, by recursive descent.
 *
 * Section 3.7 of the recommendation says when "*", "and" or "div" are names
 * and when they are operators: an operator stands after an operand. Here each
 * function reads an operand first and then looks for its operators, so both are
 * told apart by where they are looked for.
 *
 * "//a" is short for "/descendant-or-self::node()/child::a". It becomes
 * "/descendant::a", which finds the same and visits half as many nodes, unless a
 * predicate asks for positions: "//a[1]" are the first ones of their parents.
 */
#include "xpath.h"

#include <stdlib.h>
#include <string.h>

#include "../lib/text/array.h"
#include "../lib/text/ascii.h"
#include "../lib/text/span.h"

enum { NESTED = 100, DEPTH = 1000 };

struct parsing {
    struct web_xpath *x;
    const char *text;
    size_t len, at;
    unsigned nested;
    enum seen_code code;
    struct seen_error *why;
};

/* --- faults --- */

static uint32_t refuse_at(struct parsing *p, size_t at, const char *what)
{
    if (p->code == SEEN_OK)
        p->code = seen_fail(p->why, SEEN_RANGE, at, "byte %zu: %s", at + 1,
                            what);
    return WEB_XPATH_NONE;
}

static uint32_t refuse(struct parsing *p)
{
    return refuse_at(p, p->at, "not an expression of XPath 1.0");
}

static uint32_t no_memory(struct parsing *p)
{
    if (p->code == SEEN_OK)
        p->code = seen_fail(p->why, SEEN_NOMEM, 0, "out of memory");
    return WEB_XPATH_NONE;
}

/* --- nodes --- */

static struct web_xpath_node *node_at(const struct parsing *p, uint32_t i)
{
    return &p->x->node[i];
}

static unsigned depth_of(const struct parsing *p, uint32_t i)
{
    unsigned most = 0;

    for (; i != WEB_XPATH_NONE; i = node_at(p, i)->next)
        if (node_at(p, i)->depth > most)
            most = node_at(p, i)->depth;
    return most;
}

/* Does it, or one of a row of predicates or arguments, ask for positions? */
static bool is_positional(const struct parsing *p, uint32_t i)
{
    for (; i != WEB_XPATH_NONE; i = node_at(p, i)->next)
        if (node_at(p, i)->positional)
            return true;
    return false;
}

static uint32_t add(struct parsing *p, enum web_xpath_op op,
                    enum web_xpath_type type, uint32_t left, uint32_t right)
{
    unsigned depth;
    void *more;

    if (p->code != SEEN_OK)
        return WEB_XPATH_NONE;
    depth = depth_of(p, left);
    if (depth_of(p, right) > depth)
        depth = depth_of(p, right);
    if (depth >= DEPTH)
        return refuse_at(p, p->at, "nested too deep");
    more = array_grow(p->x->node, &p->x->room, p->x->n + 1,
                      sizeof *p->x->node);
    if (!more)
        return no_memory(p);
    p->x->node = more;
    p->x->node[p->x->n] = (struct web_xpath_node){
        .op = op,
        .type = type,
        .depth = (uint16_t)(depth + 1),
        .left = left,
        .right = right,
        .next = WEB_XPATH_NONE,
    };
    /* The predicates of a step and of a filter have positions of their own. */
    node_at(p, (uint32_t)p->x->n)->positional = is_positional(p, left) ||
                                                (op != WEB_XPATH_STEP &&
                                                 op != WEB_XPATH_FILTER &&
                                                 is_positional(p, right));
    return (uint32_t)p->x->n++;
}

static void set_text(struct parsing *p, uint32_t node, struct seen_span text)
{
    char *copy;

    if (node == WEB_XPATH_NONE)
        return;
    copy = malloc(text.len + 1);
    node_at(p, node)->text = copy;
    node_at(p, node)->len = text.len;
    if (!copy) {
        no_memory(p);
        return;
    }
    memcpy(copy, text.text, text.len);
    copy[text.len] = '\0';
}

/* --- words --- */

static void skip_space(struct parsing *p)
{
    while (p->at < p->len && strchr(" \t\r\n", p->text[p->at]))
        p->at++;
}

static char peek(const struct parsing *p)
{
    return p->at < p->len ? p->text[p->at] : 0;
}

static bool begins_name(char c)
{
    return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_' ||
           (unsigned char)c >= 0x80;
}

/* The name that stands here; empty if there is none. */
static struct seen_span name_here(const struct parsing *p)
{
    struct seen_span name = { p->text + p->at, 0 };

    if (p->at >= p->len || !begins_name(*name.text))
        return name;
    while (p->at + name.len < p->len &&
           (begins_name(name.text[name.len]) ||
            ascii_digit(name.text[name.len]) || name.text[name.len] == '-' ||
            name.text[name.len] == '.'))
        name.len++;
    return name;
}

static bool take(struct parsing *p, const char *sign)
{
    size_t n = strlen(sign);

    skip_space(p);
    if (p->len - p->at < n || memcmp(p->text + p->at, sign, n) != 0)
        return false;
    p->at += n;
    return true;
}

static bool take_word(struct parsing *p, const char *word)
{
    skip_space(p);
    if (!span_is(name_here(p), word))
        return false;
    p->at += strlen(word);
    return true;
}

/* What follows a name, after white space? */
static bool followed_by(const struct parsing *p, size_t at, const char *sign)
{
    size_t n = strlen(sign);

    while (at < p->len && strchr(" \t\r\n", p->text[at]))
        at++;
    return p->len - at >= n && !memcmp(p->text + at, sign, n);
}

/* --- operands --- */

static uint32_t parse_or(struct parsing *p);

static uint32_t nested(struct parsing *p)
{
    uint32_t node;

    if (p->nested >= NESTED)
        return refuse_at(p, p->at, "nested too deep");
    p->nested++;
    node = parse_or(p);
    p->nested--;
    return node;
}

static void append(const struct parsing *p, uint32_t *first, uint32_t *last,
                   uint32_t node)
{
    if (*first == WEB_XPATH_NONE)
        *first = node;
    else
        node_at(p, *last)->next = node;
    *last = node;
}

static uint32_t parse_predicates(struct parsing *p)
{
    uint32_t first = WEB_XPATH_NONE, last = first;

    while (p->code == SEEN_OK && take(p, "[")) {
        uint32_t node = nested(p);

        if (node == WEB_XPATH_NONE)
            return node;
        if (!take(p, "]"))
            return refuse(p);
        append(p, &first, &last, node);
    }
    return first;
}

/* Is there a predicate to which the place among the others matters? */
static bool has_place(const struct parsing *p, uint32_t predicate)
{
    for (; predicate != WEB_XPATH_NONE;
         predicate = node_at(p, predicate)->next)
        if (node_at(p, predicate)->type == WEB_XPATH_NUMBER ||
            node_at(p, predicate)->positional)
            return true;
    return false;
}

static uint32_t add_step(struct parsing *p, uint32_t before,
                         enum web_xpath_axis axis, enum web_xpath_test test,
                         uint32_t predicates)
{
    uint32_t node = add(p, WEB_XPATH_STEP, WEB_XPATH_SET, before, predicates);

    if (node != WEB_XPATH_NONE) {
        node_at(p, node)->step.axis = axis;
        node_at(p, node)->step.test = test;
    }
    return node;
}

static bool take_axis(struct parsing *p, enum web_xpath_axis *axis)
{
    static const char *const names[] = {
        [WEB_XPATH_ANCESTOR] = "ancestor",
        [WEB_XPATH_ANCESTOR_OR_SELF] = "ancestor-or-self",
        [WEB_XPATH_ATTRIBUTE] = "attribute",
        [WEB_XPATH_CHILD] = "child",
        [WEB_XPATH_DESCENDANT] = "descendant",
        [WEB_XPATH_DESCENDANT_OR_SELF] = "descendant-or-self",
        [WEB_XPATH_FOLLOWING] = "following",
        [WEB_XPATH_FOLLOWING_SIBLING] = "following-sibling",
        [WEB_XPATH_NAMESPACE] = "namespace",
        [WEB_XPATH_PARENT] = "parent",
        [WEB_XPATH_PRECEDING] = "preceding",
        [WEB_XPATH_PRECEDING_SIBLING] = "preceding-sibling",
        [WEB_XPATH_SELF] = "self",
    };
    struct seen_span name;

    *axis = WEB_XPATH_CHILD;
    if (take(p, "@")) {
        *axis = WEB_XPATH_ATTRIBUTE;
        return true;
    }
    name = name_here(p);
    if (!name.len || !followed_by(p, p->at + name.len, "::"))
        return true;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (span_is(name, names[i])) {
            *axis = (enum web_xpath_axis)i;
            p->at += name.len;
            return take(p, "::");
        }
    refuse(p);
    return false;
}

static bool take_literal(struct parsing *p, struct seen_span *text)
{
    const char *end;
    char quote;

    skip_space(p);
    quote = peek(p);
    if (quote != '"' && quote != '\'')
        return false;
    end = memchr(p->text + p->at + 1, quote, p->len - p->at - 1);
    if (!end) {
        refuse_at(p, p->len, "the string has no end");
        return false;
    }
    *text = (struct seen_span){ p->text + p->at + 1,
                                (size_t)(end - p->text) - p->at - 1 };
    p->at = (size_t)(end - p->text) + 1;
    return true;
}

/* node(), text() and their like; false if it is something else. */
static bool take_kind(struct parsing *p, enum web_xpath_test *test,
                      struct seen_span *name)
{
    static const struct {
        const char *name;
        enum web_xpath_test test;
    } kinds[] = { { "node", WEB_XPATH_NODE },
                  { "text", WEB_XPATH_TEXT },
                  { "comment", WEB_XPATH_COMMENT },
                  { "processing-instruction", WEB_XPATH_INSTRUCTION } };
    struct seen_span word = name_here(p);

    if (!word.len || !followed_by(p, p->at + word.len, "("))
        return false;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (span_is(word, kinds[i].name)) {
            p->at += word.len;
            take(p, "(");
            *test = kinds[i].test;
            if (*test == WEB_XPATH_INSTRUCTION)
                take_literal(p, name);
            if (!take(p, ")"))
                refuse(p);
            return true;
        }
    return false;
}

/* A name of an element or attribute. */
static bool take_name(struct parsing *p, struct seen_span *name)
{
    *name = name_here(p);
    if (!name->len)
        return false;
    if (p->at + name->len < p->len && p->text[p->at + name->len] == ':') {
        refuse_at(p, p->at, "name spaces cannot be declared here");
        return false;
    }
    p->at += name->len;
    return true;
}

/* `deep`: it follows "//". */
static uint32_t parse_step(struct parsing *p, uint32_t before, bool deep)
{
    struct seen_span name = { NULL, 0 };
    enum web_xpath_test test = WEB_XPATH_NODE;
    enum web_xpath_axis axis;
    uint32_t node, predicates = WEB_XPATH_NONE;

    skip_space(p);
    if (take(p, "..")) {
        axis = WEB_XPATH_PARENT;
    } else if (peek(p) == '.' &&
               !(p->at + 1 < p->len && ascii_digit(p->text[p->at + 1]))) {
        p->at++;
        axis = WEB_XPATH_SELF;
    } else {
        if (!take_axis(p, &axis))
            return WEB_XPATH_NONE;
        skip_space(p);
        if (take(p, "*"))
            test = WEB_XPATH_ANY;
        else if (!take_kind(p, &test, &name)) {
            test = WEB_XPATH_NAMED;
            if (!take_name(p, &name))
                return refuse(p);
        }
        predicates = parse_predicates(p);
    }
    if (p->code != SEEN_OK)
        return WEB_XPATH_NONE;
    if (deep && axis == WEB_XPATH_CHILD && !has_place(p, predicates))
        axis = WEB_XPATH_DESCENDANT;
    else if (deep)
        before = add_step(p, before, WEB_XPATH_DESCENDANT_OR_SELF,
                          WEB_XPATH_NODE, WEB_XPATH_NONE);
    node = add_step(p, before, axis, test, predicates);
    if (name.text)
        set_text(p, node, name);
    return node;
}

/* The steps after `before`; the first of them is not read yet. */
static uint32_t parse_steps(struct parsing *p, uint32_t before, bool deep)
{
    before = parse_step(p, before, deep);
    for (;;) {
        if (before == WEB_XPATH_NONE)
            return before;
        if (take(p, "//"))
            before = parse_step(p, before, true);
        else if (take(p, "/"))
            before = parse_step(p, before, false);
        else
            return before;
    }
}

static bool begins_step(const struct parsing *p)
{
    char c = peek(p);

    return c == '.' || c == '@' || c == '*' || begins_name(c);
}

static const struct {
    const char *name;
    enum web_xpath_function function;
    enum web_xpath_type type;
    unsigned least, most;
    bool set; /* its arguments are node sets */
} functions[] = {
    { "boolean", WEB_XPATH_FN_BOOLEAN, WEB_XPATH_BOOLEAN, 1, 1, false },
    { "ceiling", WEB_XPATH_FN_CEILING, WEB_XPATH_NUMBER, 1, 1, false },
    { "concat", WEB_XPATH_FN_CONCAT, WEB_XPATH_STRING, 2, UINT32_MAX, false },
    { "contains", WEB_XPATH_FN_CONTAINS, WEB_XPATH_BOOLEAN, 2, 2, false },
    { "count", WEB_XPATH_FN_COUNT, WEB_XPATH_NUMBER, 1, 1, true },
    { "false", WEB_XPATH_FN_FALSE, WEB_XPATH_BOOLEAN, 0, 0, false },
    { "floor", WEB_XPATH_FN_FLOOR, WEB_XPATH_NUMBER, 1, 1, false },
    { "id", WEB_XPATH_FN_ID, WEB_XPATH_SET, 1, 1, false },
    { "lang", WEB_XPATH_FN_LANG, WEB_XPATH_BOOLEAN, 1, 1, false },
    { "last", WEB_XPATH_FN_LAST, WEB_XPATH_NUMBER, 0, 0, false },
    { "local-name", WEB_XPATH_FN_LOCAL_NAME, WEB_XPATH_STRING, 0, 1, true },
    { "name", WEB_XPATH_FN_NAME, WEB_XPATH_STRING, 0, 1, true },
    { "namespace-uri", WEB_XPATH_FN_NAMESPACE_URI, WEB_XPATH_STRING, 0, 1,
      true },
    { "normalize-space", WEB_XPATH_FN_NORMALIZE_SPACE, WEB_XPATH_STRING, 0, 1,
      false },
    { "not", WEB_XPATH_FN_NOT, WEB_XPATH_BOOLEAN, 1, 1, false },
    { "number", WEB_XPATH_FN_NUMBER, WEB_XPATH_NUMBER, 0, 1, false },
    { "position", WEB_XPATH_FN_POSITION, WEB_XPATH_NUMBER, 0, 0, false },
    { "round", WEB_XPATH_FN_ROUND, WEB_XPATH_NUMBER, 1, 1, false },
    { "starts-with", WEB_XPATH_FN_STARTS_WITH, WEB_XPATH_BOOLEAN, 2, 2,
      false },
    { "string", WEB_XPATH_FN_STRING, WEB_XPATH_STRING, 0, 1, false },
    { "string-length", WEB_XPATH_FN_STRING_LENGTH, WEB_XPATH_NUMBER, 0, 1,
      false },
    { "substring", WEB_XPATH_FN_SUBSTRING, WEB_XPATH_STRING, 2, 3, false },
    { "substring-after", WEB_XPATH_FN_SUBSTRING_AFTER, WEB_XPATH_STRING, 2, 2,
      false },
    { "substring-before", WEB_XPATH_FN_SUBSTRING_BEFORE, WEB_XPATH_STRING, 2,
      2, false },
    { "sum", WEB_XPATH_FN_SUM, WEB_XPATH_NUMBER, 1, 1, true },
    { "translate", WEB_XPATH_FN_TRANSLATE, WEB_XPATH_STRING, 3, 3, false },
    { "true", WEB_XPATH_FN_TRUE, WEB_XPATH_BOOLEAN, 0, 0, false },
};

/* The arguments up to ")". */
static uint32_t parse_arguments(struct parsing *p, bool set, unsigned *n)
{
    uint32_t first = WEB_XPATH_NONE, last = first;

    *n = 0;
    if (take(p, ")"))
        return first;
    do {
        size_t at = p->at;
        uint32_t node = nested(p);

        if (node == WEB_XPATH_NONE)
            return node;
        if (set && node_at(p, node)->type != WEB_XPATH_SET)
            return refuse_at(p, at, "an operand of the wrong type");
        append(p, &first, &last, node);
        ++*n;
    } while (take(p, ","));
    return take(p, ")") ? first : refuse(p);
}

static uint32_t parse_call(struct parsing *p)
{
    struct seen_span name = name_here(p);
    uint32_t node, arguments;
    size_t at = p->at, i = 0;
    unsigned n;

    while (i < sizeof functions / sizeof functions[0] &&
           !span_is(name, functions[i].name))
        i++;
    if (i == sizeof functions / sizeof functions[0])
        return refuse_at(p, at, "no such function");
    p->at += name.len;
    take(p, "(");
    arguments = parse_arguments(p, functions[i].set, &n);
    if (p->code == SEEN_OK &&
        (n < functions[i].least || n > functions[i].most))
        return refuse_at(p, at, "the wrong number of arguments");
    node = add(p, WEB_XPATH_CALL, functions[i].type, arguments,
               WEB_XPATH_NONE);
    if (node == WEB_XPATH_NONE)
        return node;
    node_at(p, node)->function = functions[i].function;
    if (functions[i].function == WEB_XPATH_FN_LAST ||
        functions[i].function == WEB_XPATH_FN_POSITION)
        node_at(p, node)->positional = true;
    return node;
}

static uint32_t parse_number(struct parsing *p)
{
    uint32_t node;
    char *end, copy[64];
    size_t n = 0;

    while (p->at + n < p->len &&
           (ascii_digit(p->text[p->at + n]) || p->text[p->at + n] == '.'))
        n++;
    if (n >= sizeof copy)
        return refuse_at(p, p->at, "a number with too many digits");
    memcpy(copy, p->text + p->at, n);
    copy[n] = '\0';
    node = add(p, WEB_XPATH_LITERAL, WEB_XPATH_NUMBER, WEB_XPATH_NONE,
               WEB_XPATH_NONE);
    if (node == WEB_XPATH_NONE)
        return node;
    node_at(p, node)->number = strtod(copy, &end);
    if (*end)
        return refuse(p);
    p->at += n;
    return node;
}

/* What is not a path; *primary: it was one. */
static uint32_t parse_primary(struct parsing *p, bool *primary)
{
    struct seen_span text;
    char c = peek(p);
    uint32_t node;

    *primary = true;
    if (c == '$')
        return refuse_at(p, p->at, "there are no variables here");
    if (c == '"' || c == '\'') {
        if (!take_literal(p, &text))
            return WEB_XPATH_NONE;
        node = add(p, WEB_XPATH_LITERAL, WEB_XPATH_STRING, WEB_XPATH_NONE,
                   WEB_XPATH_NONE);
        set_text(p, node, text);
        return node;
    }
    if (ascii_digit(c) ||
        (c == '.' && p->at + 1 < p->len && ascii_digit(p->text[p->at + 1])))
        return parse_number(p);
    if (take(p, "(")) {
        node = nested(p);
        return node == WEB_XPATH_NONE || take(p, ")") ? node : refuse(p);
    }
    text = name_here(p);
    if (text.len && followed_by(p, p->at + text.len, "(") &&
        !span_is(text, "node") && !span_is(text, "text") &&
        !span_is(text, "comment") && !span_is(text, "processing-instruction"))
        return parse_call(p);
    *primary = false;
    return WEB_XPATH_NONE;
}

static uint32_t parse_path(struct parsing *p)
{
    uint32_t node, predicates;
    bool primary, deep;
    size_t at;

    skip_space(p);
    at = p->at;
    if (take(p, "//") || take(p, "/")) {
        deep = p->at - at == 2;
        node = add(p, WEB_XPATH_TOP, WEB_XPATH_SET, WEB_XPATH_NONE,
                   WEB_XPATH_NONE);
        skip_space(p);
        return deep || begins_step(p) ? parse_steps(p, node, deep) : node;
    }
    node = parse_primary(p, &primary);
    if (!primary) {
        if (!begins_step(p))
            return refuse(p);
        node = add(p, WEB_XPATH_HERE, WEB_XPATH_SET, WEB_XPATH_NONE,
                   WEB_XPATH_NONE);
        return parse_steps(p, node, false);
    }
    predicates = parse_predicates(p);
    if (p->code != SEEN_OK)
        return WEB_XPATH_NONE;
    deep = followed_by(p, p->at, "//");
    if ((predicates != WEB_XPATH_NONE || followed_by(p, p->at, "/")) &&
        node_at(p, node)->type != WEB_XPATH_SET)
        return refuse_at(p, at, "an operand of the wrong type");
    if (predicates != WEB_XPATH_NONE)
        node = add(p, WEB_XPATH_FILTER, WEB_XPATH_SET, node, predicates);
    return take(p, deep ? "//" : "/") ? parse_steps(p, node, deep) : node;
}

static uint32_t parse_union(struct parsing *p)
{
    uint32_t node, other;
    size_t at = p->at, after;

    for (node = parse_path(p); node != WEB_XPATH_NONE && take(p, "|");
         node = add(p, WEB_XPATH_UNION, WEB_XPATH_SET, node, other)) {
        after = p->at;
        other = parse_path(p);
        if (other == WEB_XPATH_NONE)
            return other;
        if (node_at(p, node)->type != WEB_XPATH_SET)
            return refuse_at(p, at, "an operand of the wrong type");
        if (node_at(p, other)->type != WEB_XPATH_SET)
            return refuse_at(p, after, "an operand of the wrong type");
    }
    return node;
}

/* --- operators --- */

/* Two signs before an operand cancel each other. */
static uint32_t parse_sign(struct parsing *p)
{
    bool negative = false, any = false;
    uint32_t node;

    while (take(p, "-")) {
        negative = !negative;
        any = true;
    }
    node = parse_union(p);
    if (!any || node == WEB_XPATH_NONE)
        return node;
    node = add(p, WEB_XPATH_NEGATE, WEB_XPATH_NUMBER, node, WEB_XPATH_NONE);
    return negative || node == WEB_XPATH_NONE
               ? node
               : add(p, WEB_XPATH_NEGATE, WEB_XPATH_NUMBER, node,
                     WEB_XPATH_NONE);
}

/* The operator of a level that stands here; false: none. */
static bool take_operator(struct parsing *p, unsigned level,
                          enum web_xpath_op *op, enum web_xpath_order *order)
{
    static const struct {
        unsigned level;
        const char *sign;
        enum web_xpath_op op;
        enum web_xpath_order order;
    } list[] = {
        { 0, "or", WEB_XPATH_OR, 0 },
        { 1, "and", WEB_XPATH_AND, 0 },
        { 2, "=", WEB_XPATH_COMPARE, WEB_XPATH_EQUAL },
        { 2, "!=", WEB_XPATH_COMPARE, WEB_XPATH_UNEQUAL },
        { 3, "<=", WEB_XPATH_COMPARE, WEB_XPATH_AT_MOST },
        { 3, "<", WEB_XPATH_COMPARE, WEB_XPATH_LESS },
        { 3, ">=", WEB_XPATH_COMPARE, WEB_XPATH_AT_LEAST },
        { 3, ">", WEB_XPATH_COMPARE, WEB_XPATH_MORE },
        { 4, "+", WEB_XPATH_PLUS, 0 },
        { 4, "-", WEB_XPATH_MINUS, 0 },
        { 5, "*", WEB_XPATH_TIMES, 0 },
        { 5, "div", WEB_XPATH_DIV, 0 },
        { 5, "mod", WEB_XPATH_MOD, 0 },
    };

    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        if (list[i].level == level &&
            (begins_name(*list[i].sign) ? take_word(p, list[i].sign)
                                        : take(p, list[i].sign))) {
            *op = list[i].op;
            *order = list[i].order;
            return true;
        }
    return false;
}

enum { LEVELS = 6 };

static uint32_t parse_level(struct parsing *p, unsigned level)
{
    enum web_xpath_order order;
    enum web_xpath_op op;
    uint32_t node, other;

    if (level == LEVELS)
        return parse_sign(p);
    node = parse_level(p, level + 1);
    while (node != WEB_XPATH_NONE && take_operator(p, level, &op, &order)) {
        other = parse_level(p, level + 1);
        if (other == WEB_XPATH_NONE)
            return other;
        node = add(p, op, level < 4 ? WEB_XPATH_BOOLEAN : WEB_XPATH_NUMBER,
                   node, other);
        if (node != WEB_XPATH_NONE && op == WEB_XPATH_COMPARE)
            node_at(p, node)->order = order;
    }
    return node;
}

static uint32_t parse_or(struct parsing *p)
{
    return parse_level(p, 0);
}

enum seen_code web_xpath_parse(struct web_xpath **out, const char *text,
                               size_t len, struct seen_error *why)
{
    struct parsing p = { .text = text, .len = len, .why = why };

    *out = NULL;
    p.x = calloc(1, sizeof *p.x);
    if (!p.x)
        return seen_fail(why, SEEN_NOMEM, 0, "out of memory");
    p.x->top = parse_or(&p);
    skip_space(&p);
    if (p.code == SEEN_OK && p.at < len)
        refuse(&p);
    if (p.code == SEEN_OK)
        *out = p.x;
    else
        web_xpath_free(p.x);
    return p.code;
}

void web_xpath_free(struct web_xpath *x)
{
    if (!x)
        return;
    for (size_t i = 0; i < x->n; i++)
        free(x->node[i].text);
    free(x->node);
    free(x);
}
