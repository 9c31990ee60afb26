/* surt.h - what the files that make SURTs share. */
#ifndef SEEN_URL_SURT_H
#define SEEN_URL_SURT_H

#include <stddef.h>

/* Where the host of a SURT ends, which is at its ")"; 0 if it is no SURT. */
size_t surt_host(const char *key, size_t len);

#endif
