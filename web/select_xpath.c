/*
 * select_xpath.c - selectors that are XPath: between select.h and xpath.h.
 *
 * Why not libxml2's XPath? It has a limit of its steps, but no step knows what
 * it costs: the text of an element is copied for each comparison, node sets
 * are united by comparing all pairs, and paths without predicates are evaluated
 * by a part that has no limit. A time limit around it would give two machines
 * two results.
 */
#include "selector.h"

#include <stdlib.h>
#include <string.h>

#include "../lib/text/span.h"
#include "view.h"
#include "xpath.h"

enum seen_code web_xpath_check(struct web_selector *s, const char *text,
                               size_t len, struct seen_error *why)
{
    enum seen_code code = web_xpath_parse(&s->xpath, text, len, why);

    for (size_t i = 0; code == SEEN_OK && i < s->xpath->n; i++)
        if (s->xpath->node[i].text && strstr(s->xpath->node[i].text, "tbody"))
            s->body = true;
    return code;
}

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

static enum seen_code give(struct web_tree *tree, bool linked,
                           struct web_xpath_value *found, web_taker *take,
                           void *owner, struct seen_error *why)
{
    const struct web_xpath_rows *rows = &tree->rows[linked];

    if (found->type == WEB_XPATH_SET) {
        for (size_t i = 0; i < found->set.n; i++)
            if (!give_node(tree, rows->row[found->set.row[i]].node, take,
                           owner))
                break;
        return SEEN_OK;
    }
    if (!web_xpath_to_string(rows, found))
        return seen_fail(why, SEEN_NOMEM, 0, "out of memory");
    take(owner, &(struct web_match){ .kind = WEB_MATCH_VALUE,
                                     .name = "",
                                     .value = found->text,
                                     .tree = tree });
    return SEEN_OK;
}

enum seen_code web_xpath_select(const struct web_selector *s,
                                struct web_tree *tree, struct budget *budget,
                                web_taker *take, void *owner,
                                struct seen_error *why)
{
    struct web_xpath_value found;
    enum seen_code code = SEEN_OK;

    if (s->body)
        code = web_view_make(tree, true, why);
    if (code != SEEN_OK)
        return code;
    web_tree_link(tree, s->body);
    code = web_xpath_rows_make(tree, s->body, budget, why);
    if (code == SEEN_OK)
        code = web_xpath_evaluate(s->xpath, tree, s->body, budget, &found,
                                  why);
    web_tree_link(tree, false);
    web_select_settle(tree, budget);
    if (code == SEEN_OK) {
        code = give(tree, s->body, &found, take, owner, why);
        web_xpath_value_clear(&found);
    }
    return code;
}
