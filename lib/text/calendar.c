/* calendar.c - dates as texts. */
#include "calendar.h"

#include <string.h>
#include <time.h>

static void split(uint64_t ms, struct tm *tm)
{
    const uint64_t last = 253402300799; /* 9999-12-31T23:59:59Z */
    uint64_t seconds = ms / 1000;
    time_t when = (time_t)(seconds < last ? seconds : last);

    gmtime_r(&when, tm);
}

/* A sign, unless it is 0, and the last n digits of a number. By hand, since
   snprintf() takes ten times as long, and each line of a log has two dates. */
static char *put(char *to, char sign, int n, int number)
{
    if (sign)
        *to++ = sign;
    for (int i = n; i--; number /= 10)
        to[i] = (char)('0' + number % 10);
    return to + n;
}

static char *put_fields(char *to, uint64_t ms, char minus, char t, char colon)
{
    struct tm tm;

    split(ms, &tm);
    to = put(to, 0, 4, tm.tm_year + 1900);
    to = put(to, minus, 2, tm.tm_mon + 1);
    to = put(to, minus, 2, tm.tm_mday);
    to = put(to, t, 2, tm.tm_hour);
    to = put(to, colon, 2, tm.tm_min);
    return put(to, colon, 2, tm.tm_sec);
}

void calendar_write(char text[CALENDAR_TEXT], uint64_t ms)
{
    char *end = put_fields(text, ms, '-', 'T', ':');

    memcpy(put(end, '.', 3, (int)(ms % 1000)), "Z", 2);
}

void calendar_stamp(char stamp[CALENDAR_STAMP], uint64_t ms)
{
    *put_fields(stamp, ms, 0, 0, 0) = '\0';
}
