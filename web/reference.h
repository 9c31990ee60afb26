/*
 * reference.h - character references: &amp; &#233; &#xe9; &copy
 *
 * By the HTML standard, section 13.2.5.72: the longest of 2,231 names, some of
 * which need no semicolon. In an attribute these do not count before a letter, a
 * digit or "=", so that <a href="?a=1&copy=2"> keeps its parameter.
 *
 *     struct buffer text = { .bytes = NULL };
 *     struct budget page = { .left = 1000000 };
 *
 *     web_reference_decode(&text, "a&amp;b", 7, true, &page);   a&b
 *
 * The time is linear in the text: some hundred steps per "&" (budget.h).
 *
 * Threads: no state.
 */
#ifndef SEEN_WEB_REFERENCE_H
#define SEEN_WEB_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>

#include "../lib/text/budget.h"
#include "../lib/text/buffer.h"

/* Append the text with its references replaced, as long as the budget lasts;
   the rest is appended as it is. */
void web_reference_decode(struct buffer *to, const char *text, size_t len,
                          bool attribute, struct budget *budget);

#endif
