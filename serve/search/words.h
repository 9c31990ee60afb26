/*
 * words.h - what people type into a search box, as a question for FTS5.
 *
 *     red roses         both words, anywhere in the page
 *     "red tulips"      next to each other, in this order
 *     tul*              words that begin so
 *
 * Nothing else has a meaning: AND, NEAR, title: and -word are words, since
 * everything is given to FTS5 in quotes. A quote without a second one reaches
 * to the end.
 *
 *     struct buffer question = { .bytes = NULL };
 *
 *     if (search_words(&question, typed, &why) == SEEN_OK)
 *         ask(question.bytes, question.len);      "red" "tul" *
 *     else
 *         show(why.text);
 *
 * Threads: free of state.
 */
#ifndef SEEN_SERVE_SEARCH_WORDS_H
#define SEEN_SERVE_SEARCH_WORDS_H

#include <seen/error.h>
#include <seen/span.h>

#include "../../lib/text/buffer.h"

/* What a question may have. Each different word of it reads the index anew. */
enum {
    SEARCH_BYTES = 500,
    SEARCH_WORDS = 32, /* or phrases; those that come again do not count */
    SEARCH_STARS = 4   /* words of which only the beginning is known */
};

/* SEEN_RANGE: it is too long, not UTF-8, or has no word at all. */
enum seen_code search_words(struct buffer *question, struct seen_span typed,
                            struct seen_error *why);

#endif
