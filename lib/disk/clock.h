/* clock.h - clocks that never go back, for measuring and for deadlines. */
#ifndef SEEN_DISK_CLOCK_H
#define SEEN_DISK_CLOCK_H

#include <stdint.h>

/* Since some fixed moment. */
double clock_seconds(void);
uint64_t clock_ms(void);

/* Milliseconds since the machine was started, those in which it slept
   included: all processes of a machine agree about them. */
int64_t clock_boot_ms(void);
/* For tests: as if so much time had passed. */
void clock_boot_skip(int64_t ms);

#endif
