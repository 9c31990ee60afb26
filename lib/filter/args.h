/*
 * args.h - the arguments of a kind, as numbers and words.
 *
 * "counting:4,minimal" has a number and a word. What a kind does not know is
 * refused with a reason: a mistyped argument must not become a filter.
 */
#ifndef SEEN_FILTER_ARGS_H
#define SEEN_FILTER_ARGS_H

#include <stdbool.h>

#include <seen/kind_writer.h>

/*
 * Argument i of the outermost kind of `text` as a number from low to high,
 * in decimal digits; `otherwise` if there is none, and SEEN_RANGE if there
 * must be one (`otherwise` is 0).
 */
enum seen_code arg_number(const char *text, unsigned i, unsigned low,
                          unsigned high, unsigned otherwise, unsigned *number,
                          struct seen_error *why);

/*
 * Argument i, which is the last, is `word` or is not there: *given tells.
 * With a NULL word there must be none.
 */
enum seen_code arg_last(const char *text, unsigned i, const char *word,
                        bool *given, struct seen_error *why);

#endif
