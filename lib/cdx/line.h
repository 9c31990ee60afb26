/* line.h - what the readers of lines share. */
#ifndef SEEN_CDX_LINE_H
#define SEEN_CDX_LINE_H

#include <seen/cdx.h>
#include <seen/key.h>

/* Does the line begin as a legend does, " CDX "? */
bool cdx_line_is_legend(const char *line, size_t len);

/* Does a legend say what `layout` says? What was only guessed need not have
   the letters of columns that are not used. */
bool cdx_legend_agrees(const struct seen_layout *layout, const char *line,
                       size_t len);

/* How many columns there are; the first `most` are found. */
unsigned cdx_line_split(const char *line, size_t len, char delimiter,
                        struct seen_span *column, unsigned most);

/* 4 to 17 digits? */
bool cdx_is_time(const char *text, size_t len);

/*
 * Find fields of a JSON object, in one pass: value[i] is that of name[i], or
 * empty. Of a string it is what stands between the quotes. Returns a set of
 * those that have escapes, or -1 if `text` is not an object or is cut short.
 */
int cdx_json_fields(const char *text, size_t len, const char *const *name,
                    unsigned names, struct seen_span *value);


/* Record headers: find the value of one by its name, of any case. */
bool cdx_header_find(const char *text, size_t len, const char *name,
                     struct seen_span *value);

#endif
