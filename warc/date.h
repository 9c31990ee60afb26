/*
 * date.h - read dates of WARC records; calendar_write() writes them.
 *
 *     struct warc_date d;
 *
 *     warc_date_read(span_of("2026-01"), &d);       d.fields is 2
 *
 * Threads: nothing here has state.
 */
#ifndef SEEN_WARC_DATE_H
#define SEEN_WARC_DATE_H

#include <stdbool.h>
#include <stdint.h>

#include <seen/span.h>

#include "../lib/text/calendar.h"

struct warc_date {
    unsigned fields; /* 1: a year ... 5: minutes, 6: seconds */
    unsigned digits; /* of a fraction of seconds, 0 to 9 */
    char stamp[CALENDAR_STAMP];
    uint32_t nanoseconds;
};

/*
 * Read a UTC date of the W3C's profile of ISO 8601, at any precision. False if
 * it is something else, or not a date of the calendar.
 */
bool warc_date_read(struct seen_span text, struct warc_date *date);

#endif
