/*
 * glob.h - patterns of KEYS and SCAN.
 *
 * As in Redis: * is any bytes, ? any byte, [a-c] and [^a-c] one of a set, and
 * a backslash takes the next byte as it is. fnmatch() differs in the details
 * ([^, a bracket that is not closed), and takes exponential time for some
 * patterns; this takes at most the product of both lengths.
 */
#ifndef SEEN_SERVE_REDIS_GLOB_H
#define SEEN_SERVE_REDIS_GLOB_H

#include <stdbool.h>

#include "../../lib/text/span.h"

bool redis_glob(struct seen_span pattern, struct seen_span text);

#endif
