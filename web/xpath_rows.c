/*
 * xpath_rows.c - number the nodes of a page.
 *
 * In document order: an element, its attributes, what is in it.
 *
 *     <p id=x>a<b>c</b></p>     row   node   parent  end   text "ac"
 *                                1    p           0    6   0 to 2
 *                                2    @id         1    3
 *                                3    "a"         1    4   0 to 1
 *                                4    b           1    6   1 to 2
 *                                5    "c"         4    6   1 to 2
 */
#include "xpath.h"

#include <stdlib.h>

#include "../lib/text/array.h"
#include "selector.h"
#include "view.h"

static bool is_node(const xmlNode *node)
{
    switch (node->type) {
    case XML_HTML_DOCUMENT_NODE:
    case XML_DOCUMENT_NODE:
    case XML_ELEMENT_NODE:
    case XML_ATTRIBUTE_NODE:
    case XML_TEXT_NODE:
    case XML_CDATA_SECTION_NODE:
    case XML_COMMENT_NODE:
    case XML_PI_NODE: return true;
    default: return false; /* a DOCTYPE */
    }
}

static bool append(struct web_xpath_rows *r, xmlNode *node, uint32_t parent)
{
    struct web_xpath_row *more = array_grow(r->row, &r->room, r->n + 1,
                                            sizeof *more);

    if (!more || r->n >= WEB_XPATH_NONE - 1)
        return false;
    r->row = more;
    more[r->n++] = (struct web_xpath_row){
        .node = node,
        .parent = parent,
        .previous = WEB_XPATH_NONE,
        .end = (uint32_t)r->n,
        .begin = (uint32_t)r->text.len,
        .finish = (uint32_t)r->text.len,
    };
    return true;
}

/* An element without what is in it, or another node. *row: where it is. */
static bool append_node(struct web_xpath_rows *r, xmlNode *node,
                        uint32_t parent, uint32_t *row)
{
    *row = (uint32_t)r->n;
    if (!append(r, node, parent))
        return false;
    if (node->type == XML_ELEMENT_NODE) {
        if (node->_private)
            r->of_element[(uintptr_t)node->_private - 1] = *row;
        for (xmlAttr *a = node->properties; a; a = a->next)
            if (!append(r, (xmlNode *)a, *row))
                return false;
    } else if ((node->type == XML_TEXT_NODE ||
                node->type == XML_CDATA_SECTION_NODE) &&
               node->content) {
        buffer_text(&r->text, (const char *)node->content);
        r->row[*row].finish = (uint32_t)r->text.len;
    }
    return !r->text.failed;
}

/* All that is below a row has come. Returns its parent. */
static uint32_t finish(struct web_xpath_rows *r, uint32_t row)
{
    r->row[row].end = (uint32_t)r->n;
    r->row[row].finish = (uint32_t)r->text.len;
    return r->row[row].parent;
}

static bool number(struct web_xpath_rows *r, xmlDoc *doc)
{
    xmlNode *top = (xmlNode *)doc;
    uint32_t open = 0, row;

    if (!append(r, top, WEB_XPATH_NONE))
        return false;
    for (xmlNode *at = web_node_next(top, top); at;
         at = web_node_next(top, at)) {
        if (!is_node(at))
            continue;
        while (r->row[open].node != at->parent)
            open = finish(r, open);
        if (!append_node(r, at, open, &row))
            return false;
        if (at->type == XML_ELEMENT_NODE)
            open = row;
    }
    while (open != WEB_XPATH_NONE)
        open = finish(r, open);
    return true;
}

static void link_siblings(struct web_xpath_rows *r)
{
    for (uint32_t i = 0; i < r->n; i++) {
        uint32_t before = WEB_XPATH_NONE;

        for (uint32_t k = i + 1; k < r->row[i].end; k = r->row[k].end) {
            if (r->row[k].node->type == XML_ATTRIBUTE_NODE)
                continue;
            r->row[k].previous = before;
            before = k;
        }
    }
}

enum seen_code web_xpath_rows_make(struct web_tree *tree, bool linked,
                                   struct budget *budget,
                                   struct seen_error *why)
{
    struct web_xpath_rows *r = &tree->rows[linked];

    if (r->made)
        return SEEN_OK;
    r->of_element = calloc(tree->source.n + 1, sizeof *r->of_element);
    if (!r->of_element || !number(r, tree->doc)) {
        web_xpath_rows_clear(r);
        return seen_fail(why, SEEN_NOMEM, 0, "out of memory");
    }
    link_siblings(r);
    r->made = true;
    if (!budget_spend(budget, 16 * r->n + r->text.len))
        return web_select_costly(why);
    return SEEN_OK;
}

void web_xpath_rows_clear(struct web_xpath_rows *r)
{
    free(r->row);
    free(r->of_element);
    buffer_clear(&r->text);
    *r = (struct web_xpath_rows){ .n = 0 };
}
