/*
 * kinds.h - the text of a kind: what it can do, and whether it makes sense.
 */
#ifndef SEEN_FILTER_KINDS_H
#define SEEN_FILTER_KINDS_H

#include <seen/kind_writer.h>

/* What follows the first slash of a kind, or NULL. */
const char *kind_inner(const char *text);

/* What the whole of a kind can do; 0 for one that is not known. */
unsigned kind_traits(const char *text);

/* SEEN_RANGE for kinds that are not known, or nested without sense. */
enum seen_code kind_check(const char *text, struct seen_error *why);

/*
 * The parts of a growing filter get ever lower rates. Where that of the leaf
 * falls below what its kind is for, replace the leaf in `text` (of a part).
 */
void kind_lower(char text[SEEN_KIND_TEXT], double rate);

/* Can a filter of kind `outer` have a part of kind `part`? */
bool kind_contains(const char *outer, const char *part);

#endif
