/*
 * date.h - dates of WARC records: 2026-01-02T03:04:05.678Z.
 *
 *     char text[WARC_DATE];
 *     struct warc_date d;
 *
 *     warc_date_write(text, ms);
 *     warc_date_read(span_of("2026-01"), &d);       d.fields is 2
 *
 * Times are milliseconds since 1970, UTC.
 *
 * Threads: nothing here has state.
 */
#ifndef SEEN_WARC_DATE_H
#define SEEN_WARC_DATE_H

#include <stdbool.h>
#include <stdint.h>

#include <seen/span.h>

enum {
    WARC_DATE = 32, /* room for a date, and a zero */
    WARC_STAMP = 15 /* 14 digits, and a zero */
};

/* With milliseconds, as WARC 1.1 has them. Years above 9999 become 9999. */
void warc_date_write(char text[WARC_DATE], uint64_t ms);

/* 20260102030405, as indexes have it. */
void warc_date_stamp(char stamp[WARC_STAMP], uint64_t ms);

struct warc_date {
    unsigned fields; /* 1: a year ... 5: minutes, 6: seconds */
    unsigned digits; /* of a fraction of seconds, 0 to 9 */
    char stamp[WARC_STAMP];
    uint32_t nanoseconds;
};

/*
 * Read a UTC date of the W3C's profile of ISO 8601, at any precision. False if
 * it is something else, or not a date of the calendar.
 */
bool warc_date_read(struct seen_span text, struct warc_date *date);

#endif
