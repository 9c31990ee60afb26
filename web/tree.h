/*
 * tree.h - a page as a tree of elements.
 *
 * libxml2 parses the page and repairs what is badly nested; a page is never
 * refused for its markup. Selectors (select.h) search in the tree.
 *
 *     struct web_tree *tree;
 *
 *     if (web_tree_new(&tree, bytes, len, "utf-8", &why) == SEEN_OK) {
 *         web_select(title, tree, print, stdout, &why);
 *         web_tree_free(tree);
 *     }
 *
 * The bytes are first converted to UTF-8. The character encoding is that of
 * the byte order mark, or of the Content-Type header, or of a <meta> element
 * in the first 1,024 bytes; without them a page that is UTF-8 is taken as
 * UTF-8, and any other as windows-1252. What is not a character becomes
 * U+FFFD.
 *
 * A page may be hostile. Parsing stops, and web_tree_cut() says so, at
 * WEB_TREE_NODES elements, at WEB_TREE_DEPTH open elements, and before tags
 * that would keep libxml2 busy for more than about two seconds: it compares
 * each attribute of an element with all others, and each end tag with all open
 * elements. With a budget it stops when that is empty.
 *
 * Threads: a tree belongs to one thread at a time.
 */
#ifndef SEEN_WEB_TREE_H
#define SEEN_WEB_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seen/error.h>
#include <seen/url.h>

#include "../lib/text/budget.h"

enum {
    WEB_TREE_NODES = 1000000,
    WEB_TREE_DEPTH = 10000,
    WEB_TREE_BYTES = 256 << 20 /* of a page; longer ones are SEEN_RANGE */
};

struct web_tree;

/*
 * Parse a page. `charset` is the one of the Content-Type header, or NULL; an
 * unknown one is ignored. The bytes are not needed afterwards. SEEN_NOMEM,
 * SEEN_RANGE.
 */
enum seen_code web_tree_new(struct web_tree **out, const char *bytes,
                            size_t len, const char *charset,
                            struct seen_error *why);

/* The same, paid from a budget, or from nothing if that is NULL. Parsing stops,
   as at the other bounds, when it is empty. */
enum seen_code web_tree_new_within(struct web_tree **out, const char *bytes,
                                   size_t len, const char *charset,
                                   struct budget *budget,
                                   struct seen_error *why);
void web_tree_free(struct web_tree *tree);

/* From now on what selectors do in the tree is paid from a budget, which must
   live as long as the tree; NULL: each selector has one of its own only. Who
   works on what selectors found pays from it, too. */
void web_tree_limit(struct web_tree *tree, struct budget *budget);
struct budget *web_tree_budget(const struct web_tree *tree);

/* Did parsing stop before the end of the page? */
bool web_tree_cut(const struct web_tree *tree);

/* How many elements it has, html, head and body included. */
size_t web_tree_elements(const struct web_tree *tree);

/*
 * A hash of the tag tree: the names of the elements and how they are nested,
 * without attributes, texts and comments. Two versions of a page with the same
 * skeleton differ in content only. SEEN_NOMEM.
 */
enum seen_code web_tree_skeleton(const struct web_tree *tree, uint64_t *hash,
                                 struct seen_error *why);

/*
 * The URL that relative URLs of the page are relative to: `url`, changed by
 * the first <base href> if that is a URL. `base` gets *base_len bytes; no zero
 * ends them. SEEN_BAD_URL if `url` is not a URL.
 */
enum seen_code web_tree_base(const struct web_tree *tree,
                             char base[SEEN_KEY_TEXT], size_t *base_len,
                             const char *url, size_t len,
                             struct seen_error *why);

#endif
