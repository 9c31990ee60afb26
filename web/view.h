/*
 * view.h - the elements of a tree in document order, as selectors see them.
 *
 * There are two views of a page. One is its source. The other is what a
 * browser makes of it: rows that stand directly in a table get a tbody around
 * them. Selectors that were copied from a browser's tools name this tbody,
 * others do not, and both should match:
 *
 *     <table>                  source             browser
 *       <caption>...           table              table
 *       <tr>...                  caption            caption
 *       <tr>...                  tr                 tbody    (not in the source)
 *     </table>                   tr                   tr
 *                                                     tr
 *
 * An element's row has all that a selector may ask about it, so that a match
 * takes constant time: XPath would count the preceding siblings of each of
 * 20,000 siblings for :nth-child().
 *
 *     const struct web_view *v = web_tree_view(tree, false, &why);
 *
 *     for (size_t i = 0; i < v->n; i++)
 *         printf("%s\n", (const char *)v->element[i].node->name);
 *
 * Threads: as the tree.
 */
#ifndef SEEN_WEB_VIEW_H
#define SEEN_WEB_VIEW_H

#include <libxml/tree.h>

#include "../lib/text/buffer.h"
#include "../lib/text/map.h"
#include "tree.h"
#include "xpath.h"

#define WEB_NONE UINT32_MAX

struct web_element {
    xmlNode *node;
    uint32_t parent, first, next; /* rows, or WEB_NONE */
    uint32_t name;                /* number of its tag name, below v->names */
    uint32_t place, last;         /* among its siblings, from 1, and counted
                                     from the last one */
    uint32_t typed, typed_last;   /* the same among siblings of its name */
    uint32_t begin, end;          /* where its text is in v->text */
    uint32_t body;                /* row of tree->body, if a browser made it */
    uint32_t open;                /* while the view is made: the tbody */
};

struct web_view {
    struct web_element *element;
    size_t n, room;
    struct map numbers; /* tag name -> its number + 1 */
    uint32_t names;
    bool made, typed, texts; /* which members are filled in */
    struct buffer text;      /* all texts, one after the other */
};

/* A tbody that is not in the source, with the nodes that belong to it. */
struct web_body {
    xmlNode *node, *table, *first, *last;
    uint32_t row; /* of its first row, in the view of the source */
};

struct web_tree {
    xmlDoc *doc;
    bool cut, linked; /* linked: the bodies are in the tree now */
    struct web_view source, browser;
    struct web_body *body;
    size_t bodies, room;
    struct web_xpath_rows rows[2]; /* without and with the bodies */
    struct budget *budget;         /* of the page, or NULL */
    uint64_t lent; /* steps of the budget that a selector may take */
};

/* Does a text name the element tbody? */
bool web_names_body(const char *name);

/*
 * A view of the tree, made when it is first asked for. web_view_types() fills
 * in `typed`, web_view_texts() the texts. All of them: SEEN_NOMEM.
 */
enum seen_code web_view_make(struct web_tree *tree, bool browser,
                             struct seen_error *why);
enum seen_code web_view_types(struct web_view *v, struct seen_error *why);
enum seen_code web_view_texts(struct web_tree *tree, struct web_view *v,
                              struct seen_error *why);
void web_view_clear(struct web_view *v);

/* Put the bodies of the browser's view into the tree, or take them out again:
   for XPath. The view must be made. */
void web_tree_link(struct web_tree *tree, bool linked);

/* The number of a tag name, or WEB_NONE if the page has no such element. */
uint32_t web_view_name(const struct web_view *v, const char *name);

/*
 * The node after this one in document order, within `top`; NULL at the end.
 * Without recursion: a page may be deep.
 */
xmlNode *web_node_next(const xmlNode *top, xmlNode *node);

/* The value of an attribute, "" if it has none, NULL if it is not there. */
const char *web_node_value(const xmlNode *node, const char *name);

#endif
