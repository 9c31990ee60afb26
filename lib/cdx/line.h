/* line.h - what the readers of lines share. */
#ifndef SEEN_CDX_LINE_H
#define SEEN_CDX_LINE_H

#include <seen/cdx.h>
#include <seen/key.h>

/*
 * Find the layout of a file from its first bytes, unpacked. A legend decides;
 * without one each line votes. In doubt it is a list of URLs.
 *
 * The layout holds for the whole file. In files that were concatenated, a
 * second legend that agrees with the first is skipped. One that differs is a
 * bad line, and so are lines after it that do not have the columns of the
 * first. (The new legend cannot take over: pieces are read in parallel, and
 * the reader of a later piece would have to read everything before it to find
 * the legend.)
 */
void cdx_layout_guess(struct seen_layout *layout, const char *text,
                      size_t len);

/* Is it a WARC or an ARC file, which say so at their beginning? If so, fill in
   the layout. */
bool cdx_layout_records(struct seen_layout *layout, const char *text,
                        size_t len);

/*
 * Read one line, without its end, in this layout. False if the line is good
 * but has no capture: it is empty, the legend, or a comment of CDXJ. True for
 * a capture, and for a bad line, whose fault is then set. Spans point into the
 * line, or, for a URL with JSON escapes, into `room`, which needs as many
 * bytes as the line has; *used is how many were used.
 */
bool cdx_line_read(struct seen_capture *c, const struct seen_layout *layout,
                   enum seen_detail detail, const char *line, size_t len,
                   char *room, size_t *used);

/* Does the line begin as a legend does, " CDX "? */
bool cdx_line_is_legend(const char *line, size_t len);

/* Does a legend say what `layout` says? What was only guessed need not have
   the letters of columns that are not used. */
bool cdx_legend_agrees(const struct seen_layout *layout, const char *line,
                       size_t len);

/* How many columns there are; the first `most` are found. */
unsigned cdx_line_split(const char *line, size_t len, char delimiter,
                        struct seen_span *column, unsigned most);

/* Is this a URL that somebody can ask about: one of the web, or with "://"? */
bool cdx_asks(struct seen_span url);

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
