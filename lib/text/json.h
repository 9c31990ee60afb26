/* json.h - strings of JSON: written, and read back. */
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
