/*
 * json.h - strings of JSON: written, and read back.
 *
 * Which reader is for what:
 *
 *     json_tree.h      documents of some kilobytes that may nest, such as
 *                      templates, jobs and states: a tree of jansson
 *     json_cursor.h    lines that come by the million, strictly and without a
 *                      tree: page records, indexes that are checked
 *     lib/cdx/json.c   a few fields of a line of CDXJ, with no look at the
 *                      rest: the fastest, and not a check
 *     lib/share/orestes.c, serve/http/list.c   texts of any size, in pieces
 *
 * Writers put structure into a buffer as text and strings with buffer_json();
 * cmd/json.h does it for the output of commands.
 */
#ifndef SEEN_TEXT_JSON_H
#define SEEN_TEXT_JSON_H

#include "buffer.h"

/*
 * Append a JSON string, quotes included. JSON is Unicode and URLs are bytes:
 * what is not UTF-8 becomes U+FFFD. Returns false if there was such a byte,
 * for callers who add the bytes in another form.
 */
bool buffer_json(struct buffer *b, const char *text, size_t len);

/*
 * Undo the escapes of what stands between the quotes of a JSON string. `to`
 * has room for `len` bytes and may be the text itself. Returns the new
 * length. Half of a surrogate pair becomes U+FFFD.
 */
size_t json_unescape(char *to, const char *text, size_t len);

#endif
