/*
 * focus.h - how well a page matches what a topical crawl looks for.
 *
 *     score of a link = 0.5 cosine(page, words) + 0.4 cosine(anchor, words)
 *                     + 0.1 share of the words that are in its URL
 *
 * The cosine is that of word counts: 1 for a text with the same words in the
 * same proportions, 0 for one without any of them. Words are runs of letters
 * and digits, with ASCII letters in lower case.
 *
 * Threads: read-only after crawl_focus_new().
 */
#ifndef SEEN_CRAWL_FOCUS_H
#define SEEN_CRAWL_FOCUS_H

#include <seen/error.h>
#include <seen/span.h>

struct crawl_focus;

/* SEEN_RANGE if there are no words in the text. */
enum seen_code crawl_focus_new(struct crawl_focus **out, struct seen_span text,
                               const double weight[3], struct seen_error *why);
void crawl_focus_free(struct crawl_focus *focus);

/* How many different words there are: each is looked for in every text. */
size_t crawl_focus_words(const struct crawl_focus *focus);

/* The cosine between a text and the words. */
double crawl_focus_text(const struct crawl_focus *focus,
                        struct seen_span text);

/* The score of a link on a page with this score. */
double crawl_focus_link(const struct crawl_focus *focus, double page,
                        struct seen_span anchor, struct seen_span url);

#endif
