/*
 * calendar.h - the Gregorian calendar.
 *
 * Dates in documents have months and days; we compare and store seconds or
 * milliseconds since 1970. timegm() does that, too, but takes locks, and turns
 * the 30th of February into the 2nd of March without a word.
 */
#ifndef SEEN_TEXT_CALENDAR_H
#define SEEN_TEXT_CALENDAR_H

#include <stdint.h>

enum {
    CALENDAR_TEXT = 32, /* room for a date, and a zero */
    CALENDAR_STAMP = 15 /* 14 digits, and a zero */
};

/* 2026-01-02T03:04:05.678Z of milliseconds since 1970. Years above 9999 become
   9999. */
void calendar_write(char text[CALENDAR_TEXT], uint64_t ms);

/* The same as 20260102030405, which indexes of archives have. */
void calendar_stamp(char stamp[CALENDAR_STAMP], uint64_t ms);

/* How many days a month has, from 1 to 12. */
static inline unsigned calendar_days(unsigned year, unsigned month)
{
    static const unsigned char days[] = { 31, 28, 31, 30, 31, 30,
                                          31, 31, 30, 31, 30, 31 };
    unsigned leap = year % 4 == 0 && (year % 100 || year % 400 == 0);

    return days[month - 1] + (month == 2 ? leap : 0);
}

/* Days since 1970 of a date from the year 1 on. Here years begin in March, so
   that a leap day is the last one of its year. */
static inline int64_t calendar_since_1970(unsigned year, unsigned month,
                                          unsigned day)
{
    const unsigned y = month > 2 ? year : year - 1;
    const unsigned m = month > 2 ? month - 3 : month + 9;

    return (int64_t)y * 365 + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 +
           day - 719469;
}

#endif
