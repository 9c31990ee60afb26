/*
 * field.h - named fields, "Name: value", of WARC records and of HTTP.
 *
 *     struct seen_span rest = fields, name, value;
 *
 *     while (warc_field_next(&rest, &name, &value))
 *         if (span_like(name, "content-type"))
 *             ...
 *
 * Threads: nothing here has state.
 */
#ifndef SEEN_WARC_FIELD_H
#define SEEN_WARC_FIELD_H

#include <stdbool.h>

#include <seen/span.h>

/*
 * Take the next field from the front of *rest, with the lines that continue
 * it; white space around the value is left out. A line without a colon has no
 * name, and all of it is the value. False at the end, which is an empty line
 * or the end of the bytes.
 */
bool warc_field_next(struct seen_span *rest, struct seen_span *name,
                     struct seen_span *value);

/* The first field of that name, in any case; false if there is none. */
bool warc_field_find(struct seen_span fields, const char *name,
                     struct seen_span *value);

/*
 * How many bytes a head has, from its first line to the empty one that ends
 * it. 0: it does not end here. Lines end with CRLF or LF. The first `known`
 * bytes were looked at before.
 */
size_t warc_head_length(const char *bytes, size_t len, size_t known);

#endif
