/*
 * srcset.h - the images of a `srcset` attribute.
 *
 *     struct seen_span rest = { "a.png 1x, b.png 2x", 18 }, url;
 *
 *     while (web_srcset_next(&rest, &url))
 *         printf("%.*s\n", (int)url.len, url.text);
 *
 * By the HTML standard, section 4.8.4.3.10: a URL may contain commas, and a
 * candidate with a wrong descriptor is left out.
 *
 * Threads: no state.
 */
#ifndef SEEN_WEB_SRCSET_H
#define SEEN_WEB_SRCSET_H

#include <stdbool.h>

#include <seen/span.h>

/* Take the next candidate from the front; false at the end. */
bool web_srcset_next(struct seen_span *rest, struct seen_span *url);

#endif
