/*
 * view.c - rows of elements from a tree of libxml2.
 *
 * One walk in document order appends a row per element. In the browser's view
 * a table remembers the tbody that is open in it, as the "in table" mode of
 * the HTML standard does (13.2.6.4.9): the first tr opens one, a caption,
 * colgroup, col, thead, tbody or tfoot closes it, and everything between
 * belongs to it.
 */
#include "view.h"

#include <stdlib.h>
#include <string.h>

#include "../lib/text/array.h"
#include "../lib/text/memory.h"

static bool is(const xmlNode *node, const char *name)
{
    return !strcmp((const char *)node->name, name);
}

bool web_names_body(const char *name)
{
    return !strcmp(name, "tbody");
}

xmlNode *web_node_next(const xmlNode *top, xmlNode *node)
{
    if (node->children && (node->type == XML_ELEMENT_NODE ||
                           node->type == XML_HTML_DOCUMENT_NODE))
        return node->children;
    while (node != top && !node->next)
        node = node->parent;
    return node == top ? NULL : node->next;
}

const char *web_node_value(const xmlNode *node, const char *name)
{
    for (const xmlAttr *a = node->properties; a; a = a->next)
        if (!strcmp((const char *)a->name, name))
            return a->children && a->children->content
                       ? (const char *)a->children->content
                       : "";
    return NULL;
}

uint32_t web_view_name(const struct web_view *v, const char *name)
{
    void *number = map_get(&v->numbers, name, strlen(name));

    return number ? (uint32_t)((uintptr_t)number - 1) : WEB_NONE;
}

/* --- rows --- */

static enum seen_code number_name(struct web_view *v, const xmlNode *node,
                                  uint32_t *number, struct seen_error *why)
{
    const char *name = (const char *)node->name;

    *number = web_view_name(v, name);
    if (*number == WEB_NONE) {
        *number = v->names++;
        if (!map_set(&v->numbers, name, strlen(name),
                     (void *)(uintptr_t)v->names))
            return no_memory_for(why, "a page");
    }
    return SEEN_OK;
}

static enum seen_code append(struct web_view *v, xmlNode *node,
                             uint32_t parent, struct seen_error *why)
{
    struct web_element *more = array_grow(v->element, &v->room, v->n + 1,
                                          sizeof *more);

    if (!more)
        return no_memory_for(why, "a page");
    v->element = more;
    more[v->n] = (struct web_element){ .node = node,
                                       .parent = parent,
                                       .first = WEB_NONE,
                                       .next = WEB_NONE,
                                       .body = WEB_NONE,
                                       .open = WEB_NONE };
    return number_name(v, node, &more[v->n++].name, why);
}

/* The tbody that a row, or what stands between rows, is put into. */
static enum seen_code find_body(struct web_tree *tree, xmlNode *node,
                                uint32_t *parent, struct seen_error *why)
{
    static const char *const closes[] = { "caption", "colgroup", "col",
                                          "thead",   "tbody",    "tfoot" };
    struct web_view *v = &tree->browser;
    uint32_t table = *parent;
    struct web_body *more;
    enum seen_code code;

    for (size_t i = 0; i < sizeof closes / sizeof closes[0]; i++)
        if (is(node, closes[i])) {
            v->element[table].open = WEB_NONE;
            return SEEN_OK;
        }
    if (v->element[table].open == WEB_NONE) {
        if (!is(node, "tr"))
            return SEEN_OK;
        more = array_grow(tree->body, &tree->room, tree->bodies + 1,
                          sizeof *more);
        if (!more)
            return no_memory_for(why, "a page");
        tree->body = more;
        more[tree->bodies] = (struct web_body){
            .node = xmlNewDocNode(tree->doc, NULL, (const xmlChar *)"tbody",
                                  NULL),
            .table = node->parent,
            .first = node,
            .row = (uint32_t)((uintptr_t)node->_private - 1)
        };
        if (!more[tree->bodies].node)
            return no_memory_for(why, "a page");
        if (!more[tree->bodies].node->name) { /* libxml2 had no memory */
            xmlFreeNode(more[tree->bodies].node);
            return no_memory_for(why, "a page");
        }
        /* It has no row in the source's view; this is how it is known. */
        more[tree->bodies].node->psvi = (void *)(tree->bodies + 1);
        tree->bodies++;
        v->element[table].open = (uint32_t)v->n;
        code = append(v, more[tree->bodies - 1].node, table, why);
        if (code != SEEN_OK)
            return code;
        v->element[v->n - 1].body = (uint32_t)(tree->bodies - 1);
    }
    *parent = v->element[table].open;
    tree->body[v->element[*parent].body].last = node;
    return SEEN_OK;
}

/* Where each element stands among its siblings. */
static enum seen_code number_siblings(struct web_view *v,
                                      struct seen_error *why)
{
    /* The last child so far; for elements without a parent in row n. */
    uint32_t *last = malloc((v->n + 1) * sizeof *last);

    if (!last)
        return no_memory_for(why, "a page");
    for (size_t i = 0; i <= v->n; i++)
        last[i] = WEB_NONE;
    for (uint32_t i = 0; i < v->n; i++) {
        uint32_t parent = v->element[i].parent;
        size_t of = parent == WEB_NONE ? v->n : parent;

        v->element[i].place = last[of] == WEB_NONE
                                  ? 1
                                  : v->element[last[of]].place + 1;
        if (last[of] != WEB_NONE)
            v->element[last[of]].next = i;
        else if (parent != WEB_NONE)
            v->element[parent].first = i;
        last[of] = i;
    }
    for (size_t i = 0; i < v->n; i++) {
        uint32_t parent = v->element[i].parent;
        size_t of = parent == WEB_NONE ? v->n : parent;

        v->element[i].last = v->element[last[of]].place - v->element[i].place +
                             1;
    }
    free(last);
    return SEEN_OK;
}

/* libxml2 leaves two pointers per node to its users: the row of an element in
   the source's view, and in the browser's, each plus one. */
static uint32_t row_of(const xmlNode *node, bool browser)
{
    return (uint32_t)((uintptr_t)(browser ? node->psvi : node->_private) - 1);
}

static void set_row(xmlNode *node, bool browser, uint32_t row)
{
    void *value = (void *)((uintptr_t)row + 1);

    if (browser)
        node->psvi = value;
    else
        node->_private = value;
}

enum seen_code web_view_make(struct web_tree *tree, bool browser,
                             struct seen_error *why)
{
    struct web_view *v = browser ? &tree->browser : &tree->source;
    xmlNode *top = (xmlNode *)tree->doc;
    enum seen_code code = SEEN_OK;

    if (v->made)
        return SEEN_OK;
    if (browser && (code = web_view_make(tree, false, why)) != SEEN_OK)
        return code;
    for (xmlNode *at = web_node_next(top, top); at && code == SEEN_OK;
         at = web_node_next(top, at)) {
        uint32_t parent = WEB_NONE;

        if (at->type != XML_ELEMENT_NODE)
            continue;
        if (at->parent && at->parent->type == XML_ELEMENT_NODE)
            parent = row_of(at->parent, browser);
        if (browser && parent != WEB_NONE && is(at->parent, "table"))
            code = find_body(tree, at, &parent, why);
        if (code == SEEN_OK)
            code = append(v, at, parent, why);
        if (code == SEEN_OK)
            set_row(at, browser, (uint32_t)(v->n - 1));
    }
    if (code == SEEN_OK)
        code = number_siblings(v, why);
    v->made = code == SEEN_OK;
    return code;
}

void web_view_clear(struct web_view *v)
{
    free(v->element);
    map_clear(&v->numbers);
    buffer_clear(&v->text);
    *v = (struct web_view){ .made = false };
}

/* --- what few selectors ask for --- */

enum seen_code web_view_types(struct web_view *v, struct seen_error *why)
{
    /* The last child of a name so far, and the parent that this is about. */
    struct web_of {
        uint32_t parent, count;
    } * of;

    if (v->typed)
        return SEEN_OK;
    of = calloc(v->names ? v->names : 1, sizeof *of);
    if (!of)
        return no_memory_for(why, "a page");
    /* Parents are numbered from 1 here: 0 is nobody. Elements without a parent
       are siblings of each other. */
    for (uint32_t p = 0; p <= v->n; p++) {
        uint32_t first = p ? v->element[p - 1].first : v->n ? 0 : WEB_NONE;

        for (uint32_t i = first; i != WEB_NONE; i = v->element[i].next) {
            struct web_of *o = &of[v->element[i].name];

            if (o->parent != p + 1)
                *o = (struct web_of){ .parent = p + 1 };
            v->element[i].typed = ++o->count;
        }
        for (uint32_t i = first; i != WEB_NONE; i = v->element[i].next)
            v->element[i].typed_last = of[v->element[i].name].count -
                                       v->element[i].typed + 1;
    }
    free(of);
    v->typed = true;
    return SEEN_OK;
}

/* The text of a tbody that a browser made ends with its last row. */
static void end_bodies(struct web_view *v)
{
    for (size_t i = 0; i < v->n; i++) {
        struct web_element *e = &v->element[i];

        if (e->body == WEB_NONE)
            continue;
        e->begin = v->element[e->first].begin;
        for (uint32_t c = e->first; c != WEB_NONE; c = v->element[c].next)
            e->end = v->element[c].end;
    }
}

enum seen_code web_view_texts(struct web_tree *tree, struct web_view *v,
                              struct seen_error *why)
{
    xmlNode *top = (xmlNode *)tree->doc, *at = top;
    bool browser = v == &tree->browser;

    if (v->texts)
        return SEEN_OK;
    for (bool down = true;;) {
        struct web_element *e = at->type == XML_ELEMENT_NODE
                                    ? &v->element[row_of(at, browser)]
                                    : NULL;

        if (e && down)
            e->begin = (uint32_t)v->text.len;
        else if (down && at->content && at != top &&
                 (at->type == XML_TEXT_NODE ||
                  at->type == XML_CDATA_SECTION_NODE))
            buffer_text(&v->text, (const char *)at->content);
        if (down && (e || at == top) && at->children) {
            at = at->children;
            continue;
        }
        if (e)
            e->end = (uint32_t)v->text.len;
        if (at == top)
            break;
        down = at->next != NULL;
        at = down ? at->next : at->parent;
    }
    if (v->text.failed) {
        buffer_clear(&v->text);
        return no_memory_for(why, "a page");
    }
    end_bodies(v);
    v->texts = true;
    return SEEN_OK;
}

/* --- the browser's tbody in the tree itself --- */

/* Let the nodes from `first` to `last` have this parent. */
static void move(xmlNode *first, xmlNode *last, xmlNode *parent)
{
    for (xmlNode *at = first;; at = at->next) {
        at->parent = parent;
        if (at == last)
            break;
    }
}

/* Put the row of nodes from `first` to `last` between `left` and `right`, or
   the ends of the list of children if these are NULL. */
static void join(xmlNode *parent, xmlNode *left, xmlNode *first, xmlNode *last,
                 xmlNode *right)
{
    first->prev = left;
    last->next = right;
    if (left)
        left->next = first;
    else
        parent->children = first;
    if (right)
        right->prev = last;
    else
        parent->last = last;
}

void web_tree_link(struct web_tree *tree, bool linked)
{
    if (tree->linked == linked)
        return;
    tree->linked = linked;
    for (size_t i = 0; i < tree->bodies; i++) {
        struct web_body *b = &tree->body[i];

        if (linked) {
            xmlNode *left = b->first->prev, *right = b->last->next;

            move(b->first, b->last, b->node);
            join(b->node, NULL, b->first, b->last, NULL);
            b->node->parent = b->table;
            join(b->table, left, b->node, b->node, right);
        } else {
            xmlNode *left = b->node->prev, *right = b->node->next;

            move(b->first, b->last, b->table);
            join(b->table, left, b->first, b->last, right);
            b->node->parent = NULL;
            b->node->prev = b->node->next = NULL;
            b->node->children = b->node->last = NULL;
        }
    }
}
