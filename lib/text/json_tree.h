/*
 * json_tree.h - read and write trees of jansson, also without memory.
 *
 *     code = json_tree_read(&root, text, JSON_REJECT_DUPLICATES, &e, why);
 *     if (code == SEEN_CORRUPT)
 *         return seen_fail(why, code, 0, "line %d: %s", e.line, e.text);
 *
 * jansson (2.14) takes an allocation that fails for a mistake of the text:
 * json_error_out_of_memory is never set. It may also leave a byte out of a
 * string, so that http://a.example/ is read as http://a.exampe/, or read
 * past its buffer. So programs read texts through here, and never by
 * json_loads() and its like.
 *
 * How: jansson gets its memory from here. An allocation that fails while a
 * text is read ends the reading where it is, by longjmp(). Everything that the
 * reading has is freed: its blocks are in a list until it is done. jansson
 * holds no lock and no file while it allocates.
 *
 * What json_dumps() returns is not for free(): json_tree_text() is.
 *
 * Threads: as jansson.
 */
#ifndef SEEN_TEXT_JSON_TREE_H
#define SEEN_TEXT_JSON_TREE_H

#include <jansson.h>

#include <seen/error.h>
#include <seen/span.h>

/* What a test may replace. */
extern void *(*json_tree_malloc)(size_t size);

/*
 * Read a text, or a file from where it is; *root is for json_decref().
 * SEEN_CORRUPT: *mistake, unless it is NULL, has jansson's words. SEEN_NOMEM.
 */
enum seen_code json_tree_read(json_t **root, struct seen_span text,
                              size_t flags, json_error_t *mistake,
                              struct seen_error *why);
enum seen_code json_tree_read_file(json_t **root, int fd, size_t flags,
                                   json_error_t *mistake,
                                   struct seen_error *why);

/* Write a tree, for free(); NULL without memory. */
char *json_tree_text(const json_t *root, size_t flags);

#endif
