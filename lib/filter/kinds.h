/*
 * kinds.h - the text of a kind: what it can do, and whether it makes sense.
 */
#ifndef SEEN_FILTER_KINDS_H
#define SEEN_FILTER_KINDS_H

#include <seen/kind_writer.h>

/*
 * Write the arguments that a kind implies into its text. A `request` gets
 * today's default, the text of a filter or file what it meant when it was
 * written: "layered:3" becomes "layered:3,mixed" or "layered:3,published".
 * SEEN_RANGE if the text becomes too long.
 */
enum seen_code kind_complete(char text[SEEN_KIND_TEXT], bool request,
                             struct seen_error *why);

/* Do two texts, both of filters, mean the same kind? */
bool kind_same(const char *a, const char *b);

/* What follows the first slash of a kind, or NULL. */
const char *kind_inner(const char *text);

/* The traits of a filter of this kind; 0 for an unknown kind. */
unsigned kind_traits(const char *text);

/* Does a part lack a trait that a whole has only if all its parts have it? */
bool kind_lacks(unsigned whole, unsigned part);

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
