/*
 * kinds.h - the text of a kind: what it can do, and whether it makes sense.
 */
#ifndef SEEN_FILTER_KINDS_H
#define SEEN_FILTER_KINDS_H

#include <seen/kind_writer.h>

/* What follows the first slash of a kind, or NULL. */
const char *kind_inner(const char *text);

/* The traits of a filter of this kind; 0 for an unknown kind. */
unsigned kind_traits(const char *text);

/* SEEN_RANGE for unknown kinds, and for nestings that make no sense. */
enum seen_code kind_check(const char *text, struct seen_error *why);

/*
 * Each part of a growing filter has a lower rate than the one before. If the
 * rate of the leaf is below the bound of its kind, replace the leaf in
 * `text`, the kind of a part.
 */
void kind_lower(char text[SEEN_KIND_TEXT], double rate);

/* Can a filter of kind `outer` have a part of kind `part`? */
bool kind_contains(const char *outer, const char *part);

#endif
