/*
 * select.h - find parts of a page by a selector.
 *
 *     struct web_selector *links;
 *
 *     web_selector_new(&links, "#list > li a::attr(href)", 24, false, &why);
 *     web_select(links, tree, take, owner, &why);
 *     web_selector_free(links);
 *
 * A selector is CSS level 3 (type, class, id, attributes, combinators, groups,
 * :not() and the structural pseudo-classes), with :contains("text"), ::text
 * and ::attr(name), or it is an expression of XPath 1.0. doc/web.md,
 * "Selectors", is the reference.
 *
 * CSS is matched in one walk, in time proportional to the page times the
 * selector (select_match.c). XPath may ask for more (xpath.c). Both count their
 * steps and are stopped after WEB_SELECT_STEPS, some two seconds, or earlier if
 * the page has a budget that is spent (web_tree_limit()).
 *
 * Threads: a selector may be used by several threads at once, each with a tree
 * of its own.
 */
#ifndef SEEN_WEB_SELECT_H
#define SEEN_WEB_SELECT_H

#include <stdbool.h>
#include <stddef.h>

#include <seen/error.h>
#include <seen/span.h>

#include "../lib/text/buffer.h"
#include "tree.h"

enum {
    WEB_SELECTOR = 16384,         /* bytes of a selector */
    WEB_SELECT_STEPS = 1000000000 /* that it may take on a page (budget.h) */
};

struct web_selector;
struct _xmlNode;

/* Does the text begin as XPath does: with "/", "./" or "("? */
bool web_selector_is_xpath(const char *text, size_t len);

/*
 * Compile a selector. It is XPath if `xpath` is set or if it begins so.
 * SEEN_RANGE, with the byte in why->at and in the text, counted from 1 there;
 * SEEN_NOMEM.
 */
enum seen_code web_selector_new(struct web_selector **out, const char *text,
                                size_t len, bool xpath,
                                struct seen_error *why);
void web_selector_free(struct web_selector *s);

enum web_match_kind {
    WEB_MATCH_ELEMENT,
    WEB_MATCH_TEXT,
    WEB_MATCH_ATTRIBUTE,
    WEB_MATCH_VALUE /* a string, number or boolean of XPath, or a comment */
};

/* What was found; it lives as long as the call that it is given to. */
struct web_match {
    enum web_match_kind kind;
    const char *name;       /* of the element or attribute; else "" */
    struct seen_span value; /* of a text, attribute or value, as it is */
    struct web_tree *tree;
    struct _xmlNode *node;     /* the element, or the one it belongs to */
    const struct web_body *of; /* the tbody that a browser made, or NULL */
};

/*
 * All matches in document order, each once; take() returns false to stop.
 * SEEN_RANGE if an XPath expression takes too long on this page, or fails
 * there; SEEN_NOMEM. What was taken before a failure stays valid.
 */
enum seen_code web_select(const struct web_selector *s, struct web_tree *tree,
                          bool (*take)(void *owner, const struct web_match *m),
                          void *owner, struct seen_error *why);

/* Append the text of an element with all below it, or the value. */
void web_match_text(struct buffer *to, const struct web_match *m);

/* Append an element as HTML, with its tags, as the HTML standard serialises
   it; of a text the escaped form; else the value. */
void web_match_html(struct buffer *to, const struct web_match *m);

/* The value of an attribute of an element, or NULL. */
const char *web_match_attribute(const struct web_match *m, const char *name);

/* Is an element inside of another one, or the same? */
bool web_match_within(const struct web_match *m,
                      const struct web_match *other);

/*
 * The values of href and src that a browser would follow from here: of a, area,
 * iframe and frame elements, from the element down; else the value itself.
 * They are as they stand in the page.
 */
void web_match_links(const struct web_match *m,
                     void (*take)(void *owner, struct seen_span href),
                     void *owner);

#endif
