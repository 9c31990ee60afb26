/* clock.h - a clock that never goes back, for measuring and for deadlines. */
#ifndef SEEN_DISK_CLOCK_H
#define SEEN_DISK_CLOCK_H

#include <stdint.h>

/* Since some fixed moment. */
double clock_seconds(void);
uint64_t clock_ms(void);

#endif
