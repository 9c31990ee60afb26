/*
 * robots_match.h - which of many patterns of a robots.txt matches first?
 *
 *     struct web_robots_pattern p[] = { { .text = span_of("/a"), .deny = true },
 *                                       { .text = span_of("/"), .deny = false } };
 *
 *     if ((m = web_robots_matcher_new(bytes, p, 2))) {
 *         i = web_robots_first(m, span_of("/ab"), &steps);        it is 0
 *         web_robots_matcher_free(m);
 *     }
 *
 * A file of 500 KiB may have 50,000 rules, and a page 100,000 links: rules times
 * links is too much. So patterns are compiled once, and a question takes time
 * linear in the text, whatever the patterns are.
 *
 * Patterns and texts are in the spelling of robots.c. STAR is any text; a
 * pattern matches what begins with it, or, if it is anchored, is it.
 *
 * Threads: after web_robots_matcher_new() any number of threads may ask.
 */
#ifndef SEEN_WEB_ROBOTS_MATCH_H
#define SEEN_WEB_ROBOTS_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seen/span.h>

enum {
    WEB_ROBOTS_STAR = 1 /* other control bytes are escaped */
};

/* No pattern matches. */
#define WEB_ROBOTS_NONE SIZE_MAX

struct web_robots_pattern {
    struct seen_span text;
    bool anchored, deny;
};

struct web_robots_matcher;

/* All texts are in `bytes`, which are not copied and less than 4 GB. NULL
   without memory. */
struct web_robots_matcher *web_robots_matcher_new(
    const char *bytes, const struct web_robots_pattern *pattern, size_t n);
void web_robots_matcher_free(struct web_robots_matcher *m);

/* The bytes of memory that it takes; 0 for NULL. */
size_t web_robots_matcher_size(const struct web_robots_matcher *m);

/* The place of the first pattern that matches. What was done is added to
   *steps: a step looks at one byte, or at 64 states. */
size_t web_robots_first(const struct web_robots_matcher *m,
                        struct seen_span text, uint64_t *steps);

/* How many patterns were too many for WEB_ROBOTS_STATES? */
size_t web_robots_coarse(const struct web_robots_matcher *m);

#endif
