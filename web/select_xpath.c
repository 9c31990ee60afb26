/*
 * select_xpath.c - XPath 1.0, as libxml2 evaluates it, within bounds.
 *
 * Some expressions are quadratic or worse on some pages: "//div//div" on
 * 5,000 nested ones compares 60 billion pairs of nodes. libxml2 cannot be
 * given a time limit, but a limit on its steps. A step may be cheap or dear,
 * so the limit is found by trying: the first attempt has 500,000 steps, which
 * is enough for nearly every page; as long as an attempt fails within half a
 * second, the next one has twice as many. The last attempt takes at most some
 * four times as long as the one before it, so that the whole ends within
 * seconds on any page.
 *
 * Paths without predicates, as "//div//div//div", are evaluated by another part
 * of libxml2, which keeps states per level, has no limit at all, and took more
 * than ten minutes for 5,000 levels. An expression in parentheses does not go
 * there.
 *
 * A compiled expression of libxml2 caches functions inside itself and is not
 * for several threads at once. It is therefore compiled for each use, which
 * takes some microseconds.
 */
#include "selector.h"

#include <stdlib.h>
#include <string.h>

#include <libxml/xpath.h>
#include <libxml/xpathInternals.h>

#include "../lib/disk/clock.h"
#include "../lib/text/span.h"
#include "view.h"

enum { STEPS = 500000 };
static const double patience = 0.5; /* seconds */

/* libxml2 would print errors if nobody took them. */
static void be_quiet(void *owner, xmlErrorPtr error)
{
    (void)owner;
    (void)error;
}

static xmlXPathContextPtr context_new(xmlDoc *doc)
{
    xmlXPathContextPtr x = xmlXPathNewContext(doc);

    if (x) {
        x->error = be_quiet;
        x->node = xmlDocGetRootElement(doc);
    }
    return x;
}

static enum seen_code no_memory(struct seen_error *why)
{
    return seen_fail(why, SEEN_NOMEM, 0, "out of memory");
}

/* libxml2 has messages, but does not give them to a handler. */
static const char *describe(const xmlError *e)
{
    switch (e->code - XML_XPATH_EXPRESSION_OK) {
    case XPATH_UNFINISHED_LITERAL_ERROR: return "the string has no end";
    case XPATH_INVALID_PREDICATE_ERROR: return "an invalid predicate";
    case XPATH_UNCLOSED_ERROR: return "a bracket is not closed";
    case XPATH_INVALID_OPERAND: return "an invalid operand";
    case XPATH_INVALID_TYPE: return "an operand of the wrong type";
    case XPATH_INVALID_ARITY: return "the wrong number of arguments";
    case XPATH_RECURSION_LIMIT_EXCEEDED: return "nested too deep";
    case XPATH_OP_LIMIT_EXCEEDED: return "takes too long";
    default: return "not an expression of XPath 1.0";
    }
}

/* --- names --- */

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' ||
           (unsigned char)c >= 0x80;
}

/* What may stand before "(": functions, tests of nodes and operators. */
static bool is_function(struct seen_span name)
{
    static const char *const names[] = {
        "last",
        "position",
        "count",
        "id",
        "local-name",
        "namespace-uri",
        "name",
        "string",
        "concat",
        "starts-with",
        "contains",
        "substring-before",
        "substring-after",
        "substring",
        "string-length",
        "normalize-space",
        "translate",
        "boolean",
        "not",
        "true",
        "false",
        "lang",
        "number",
        "sum",
        "floor",
        "ceiling",
        "round",
        "comment",
        "text",
        "processing-instruction",
        "node",
        "and",
        "or",
        "mod",
        "div",
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (span_is(name, names[i]))
            return true;
    return false;
}

/*
 * libxml2 notices unknown functions, variables and prefixes only when it
 * comes to them, which may be on another page. They are looked for here.
 */
static enum seen_code check_names(const char *text, struct seen_error *why)
{
    for (size_t at = 0; text[at];) {
        struct seen_span name = { text + at, 0 };
        const char *wrong = NULL;

        if (text[at] == '"' || text[at] == '\'') {
            const char *end = strchr(text + at + 1, text[at]);

            if (!end)
                break; /* libxml2 says it */
            at = (size_t)(end - text) + 1;
            continue;
        }
        while (is_name(name.text[name.len]))
            name.len++;
        if (text[at] == '$')
            wrong = "there are no variables here";
        else if (name.len && name.text[name.len] == ':' &&
                 name.text[name.len + 1] != ':')
            wrong = "name spaces cannot be declared here";
        else if (name.len &&
                 name.text[name.len +
                           strspn(name.text + name.len, " \t\r\n")] == '(' &&
                 !is_function(name))
            wrong = "no such function";
        if (wrong)
            return seen_fail(why, SEEN_RANGE, at, "byte %zu: %s", at + 1,
                             wrong);
        at += name.len;
        at += !name.len ? 1 : text[at] == ':' ? 2 : 0;
    }
    return SEEN_OK;
}

/* --- compiling --- */

/* The wrong number or type of arguments is found by evaluating it. */
static enum seen_code try_out(xmlXPathCompExprPtr compiled,
                              struct seen_error *why)
{
    xmlDoc *doc = xmlNewDoc((const xmlChar *)"1.0");
    xmlXPathContextPtr x = NULL;
    xmlXPathObjectPtr found;
    enum seen_code code = SEEN_OK;
    xmlNode *root;

    if (!doc ||
        !(root = xmlNewDocNode(doc, NULL, (const xmlChar *)"html", NULL))) {
        xmlFreeDoc(doc);
        return no_memory(why);
    }
    xmlDocSetRootElement(doc, root);
    x = context_new(doc);
    if (!x) {
        xmlFreeDoc(doc);
        return no_memory(why);
    }
    x->opLimit = STEPS;
    found = xmlXPathCompiledEval(compiled, x);
    if (!found) {
        code = seen_fail(why, SEEN_RANGE, 0, "byte 1: %s",
                         describe(&x->lastError));
    }
    xmlXPathFreeObject(found);
    xmlXPathFreeContext(x);
    xmlFreeDoc(doc);
    return code;
}

static enum seen_code compile(const char *text, struct seen_error *why)
{
    xmlXPathContextPtr x = xmlXPathNewContext(NULL);
    xmlXPathCompExprPtr compiled;
    enum seen_code code;

    if (!x)
        return no_memory(why);
    x->error = be_quiet;
    compiled = xmlXPathCtxtCompile(x, (const xmlChar *)text);
    if (compiled) {
        code = try_out(compiled, why);
        xmlXPathFreeCompExpr(compiled);
    } else {
        size_t at = x->lastError.int1 > 0 ? (size_t)x->lastError.int1 : 0;

        code = seen_fail(why, SEEN_RANGE, at, "byte %zu: %s", at + 1,
                         describe(&x->lastError));
    }
    xmlXPathFreeContext(x);
    return code;
}

enum seen_code web_xpath_check(struct web_selector *s, const char *text,
                               size_t len, struct seen_error *why)
{
    struct buffer b = { .bytes = NULL };
    enum seen_code code;
    char *plain;

    buffer_bytes(&b, text, len); /* the text need not end with a zero */
    plain = buffer_take(&b);
    if (!plain)
        return no_memory(why);
    code = check_names(plain, why);
    if (code == SEEN_OK)
        code = compile(plain, why);
    s->body = strstr(plain, "tbody");
    free(plain);
    buffer_byte(&b, '(');
    buffer_bytes(&b, text, len);
    buffer_byte(&b, ')');
    s->xpath = buffer_take(&b);
    return code == SEEN_OK && !s->xpath ? no_memory(why) : code;
}

/* --- handing out --- */

static bool give_node(struct web_tree *tree, xmlNode *node, web_taker *take,
                      void *owner)
{
    struct web_match m = { .name = "", .tree = tree, .node = node };

    switch (node->type) {
    case XML_ELEMENT_NODE:
        m.kind = WEB_MATCH_ELEMENT;
        m.name = (const char *)node->name;
        if (!node->_private)
            m.of = &tree->body[(uintptr_t)node->psvi - 1];
        break;
    case XML_ATTRIBUTE_NODE:
        m.kind = WEB_MATCH_ATTRIBUTE;
        m.name = (const char *)node->name;
        m.node = node->parent;
        m.value = span_of(node->children && node->children->content
                              ? (const char *)node->children->content
                              : "");
        break;
    case XML_TEXT_NODE:
    case XML_CDATA_SECTION_NODE:
        m.kind = WEB_MATCH_TEXT;
        m.node = node->parent;
        m.value = span_of(node->content ? (const char *)node->content : "");
        break;
    case XML_COMMENT_NODE:
        m.kind = WEB_MATCH_VALUE;
        m.value = span_of(node->content ? (const char *)node->content : "");
        break;
    default: return true;
    }
    return take(owner, &m);
}

static enum seen_code give(struct web_tree *tree, xmlXPathObjectPtr found,
                           web_taker *take, void *owner,
                           struct seen_error *why)
{
    xmlChar *text;

    if (found->type == XPATH_NODESET) {
        xmlNodeSetPtr set = found->nodesetval;

        for (int i = 0; set && i < set->nodeNr; i++)
            if (!give_node(tree, set->nodeTab[i], take, owner))
                break;
        return SEEN_OK;
    }
    text = xmlXPathCastToString(found);
    if (!text)
        return no_memory(why);
    take(owner, &(struct web_match){ .kind = WEB_MATCH_VALUE,
                                     .name = "",
                                     .value = span_of((const char *)text),
                                     .tree = tree });
    xmlFree(text);
    return SEEN_OK;
}

enum seen_code web_xpath_select(const struct web_selector *s,
                                struct web_tree *tree, web_taker *take,
                                void *owner, struct seen_error *why)
{
    xmlXPathObjectPtr found = NULL;
    enum seen_code code = SEEN_OK;
    bool again = true;

    if (s->body && (code = web_view_make(tree, true, why)) != SEEN_OK)
        return code;
    web_tree_link(tree, s->body);
    for (unsigned long steps = STEPS; again; steps *= 2) {
        xmlXPathContextPtr x = context_new(tree->doc);
        double begun = clock_seconds();

        again = false;
        if (!x) {
            code = no_memory(why);
            break;
        }
        x->opLimit = steps;
        found = xmlXPathEval((const xmlChar *)s->xpath, x);
        if (!found && x->lastError.code ==
                          XML_XPATH_EXPRESSION_OK + XPATH_OP_LIMIT_EXCEEDED) {
            again = clock_seconds() - begun < patience;
            if (!again)
                code = seen_fail(why, SEEN_RANGE, 0,
                                 "takes too long on this page");
        } else if (!found) {
            code = seen_fail(why, SEEN_RANGE, 0, "%s",
                             describe(&x->lastError));
        }
        xmlXPathFreeContext(x);
    }
    web_tree_link(tree, false);
    if (found) {
        code = give(tree, found, take, owner, why);
        xmlXPathFreeObject(found);
    }
    return code;
}
