/*
 * fast.h - a fast path: most URLs are canonical already, or nearly.
 */
#ifndef SEEN_URL_FAST_H
#define SEEN_URL_FAST_H

#include <stddef.h>

/* How much of the URL is its canonical text under whatwg (all but the
   fragment); 0 if that is not certain at one look. */
size_t fast_whatwg(const char *url, size_t len);

/* Write the SURT of an ordinary http or https URL to `text`, which has room
   for `len` bytes, and return its length; 0 if it is not that ordinary. */
size_t fast_surt(char *text, const char *url, size_t len);

#endif
