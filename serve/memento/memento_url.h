/*
 * memento_url.h - URLs of archives: where they lead, whose they are, and
 * that of the page as it was archived.
 *
 * Threads: plain functions of their arguments.
 */
#ifndef SEEN_SERVE_MEMENTO_MEMENTO_URL_H
#define SEEN_SERVE_MEMENTO_MEMENTO_URL_H

#include <stdbool.h>

#include <seen/span.h>

#include "../../lib/text/buffer.h"

/* Make the URL of a link absolute; false if it is none of http or https, or too
   long. Room is SEEN_KEY_TEXT bytes. */
bool memento_url_resolve(struct seen_span *url, const char *base, char *room);

/* Have these two absolute URLs the same host and port? */
bool memento_url_same_host(struct seen_span a, struct seen_span b);

/* Are they the same page for an archive, which cares neither for the scheme
   nor for "www."? */
bool memento_url_same_page(struct seen_span a, struct seen_span b);

/*
 * Append the URL of the page as it was archived, without what the archive has
 * written into it: "/20080101000000id_/" for "/20080101000000/", as MemGator
 * does. One that has other modifiers, or another form, is appended as it is;
 * what looks like a date within the original URL is left alone.
 */
void memento_url_raw(struct buffer *o, struct seen_span url);

#endif
