/*
 * css.h - what a style sheet loads: @import, url(), image-set().
 *
 *     static void take(void *owner, struct seen_span url, bool import) ...
 *
 *     web_css_read(text, len, take, owner);
 *
 * Also for <style> elements and style attributes. By the tokens of CSS Syntax
 * level 3: comments and strings hide what looks like a URL, escapes are undone,
 * and the name of a @namespace is not loaded. An @import counts at any place.
 * URLs of more than WEB_CSS_URL bytes are left out.
 *
 * Threads: no state.
 */
#ifndef SEEN_WEB_CSS_H
#define SEEN_WEB_CSS_H

#include <stdbool.h>
#include <stddef.h>

#include <seen/span.h>

enum { WEB_CSS_URL = 8192 };

/* The URL given to `take` lives during the call; it is not empty. */
void web_css_read(const char *text, size_t len,
                  void (*take)(void *owner, struct seen_span url, bool import),
                  void *owner);

#endif
