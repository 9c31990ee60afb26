/* crew.h - the same step of some work, in several threads. */
#ifndef SEEN_FILTER_CREW_H
#define SEEN_FILTER_CREW_H

#include <stddef.h>

enum { MOST_THREADS = 32 };

/* Call step() for each of n shares, up to MOST_THREADS, of `size` bytes: in
   threads of their own, or one after another where there are none. */
void crew_run(void (*step)(void *share), void *shares, size_t size,
              unsigned n);

#endif
