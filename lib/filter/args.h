/*
 * args.h - the arguments of a kind, as numbers and words.
 *
 * "counting:4,minimal" has a number and a word. Unknown arguments are refused
 * with a reason, because they may be typing errors.
 */
#ifndef SEEN_FILTER_ARGS_H
#define SEEN_FILTER_ARGS_H

#include <stdbool.h>

#include <seen/kind_writer.h>

/*
 * Argument i of the outermost kind of `text` as a number from low to high,
 * in decimal digits. If there is none: `otherwise` or, if that is 0,
 * SEEN_RANGE.
 */
enum seen_code arg_number(const char *text, unsigned i, unsigned low,
                          unsigned high, unsigned otherwise, unsigned *number,
                          struct seen_error *why);

/*
 * Argument i, the last one, is `word` or missing: *given is set to which. With
 * a NULL word it must be missing.
 */
enum seen_code arg_last(const char *text, unsigned i, const char *word,
                        bool *given, struct seen_error *why);

#endif
