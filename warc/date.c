/* date.c - dates of WARC records. */
#include "date.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "../lib/text/calendar.h"
#include "../lib/text/span.h"

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

void warc_date_write(char text[WARC_DATE], uint64_t ms)
{
    char *end = put_fields(text, ms, '-', 'T', ':');

    memcpy(put(end, '.', 3, (int)(ms % 1000)), "Z", 2);
}

void warc_date_stamp(char stamp[WARC_STAMP], uint64_t ms)
{
    *put_fields(stamp, ms, 0, 0, 0) = '\0';
}

/* Take n digits, which must be between `least` and `most`. */
static bool number(struct seen_span *rest, unsigned n, unsigned least,
                   unsigned most, unsigned *value)
{
    return span_digits(rest, n, n, value) && *value >= least && *value <= most;
}

static bool fraction(struct seen_span *rest, struct warc_date *date)
{
    const size_t len = rest->len;

    span_digits(rest, 0, 9, &date->nanoseconds);
    date->digits = (unsigned)(len - rest->len);
    for (unsigned i = date->digits; i < 9; i++)
        date->nanoseconds *= 10;
    return date->digits;
}

bool warc_date_read(struct seen_span text, struct warc_date *date)
{
    unsigned f[6] = { 0, 1, 1, 0, 0, 0 };
    struct seen_span rest = text;
    bool good;

    *date = (struct warc_date){ .fields = 1 };
    good = number(&rest, 4, 0, 9999, &f[0]);
    if (good && rest.len) {
        date->fields = 2;
        good = span_take(&rest, '-') && number(&rest, 2, 1, 12, &f[1]);
    }
    if (good && rest.len) {
        date->fields = 3;
        good = span_take(&rest, '-') &&
               number(&rest, 2, 1, calendar_days(f[0], f[1]), &f[2]);
    }
    if (good && rest.len) { /* a time has at least hours and minutes */
        date->fields = 5;
        good = span_take(&rest, 'T') && number(&rest, 2, 0, 23, &f[3]) &&
               span_take(&rest, ':') && number(&rest, 2, 0, 59, &f[4]);
        if (good && span_take(&rest, ':')) {
            date->fields = 6;
            good = number(&rest, 2, 0, 60, &f[5]) && /* 60: a leap second */
                   (!span_take(&rest, '.') || fraction(&rest, date));
        }
        good = good && span_take(&rest, 'Z');
    }
    snprintf(date->stamp, sizeof date->stamp, "%04u%02u%02u%02u%02u%02u",
             f[0] % 10000, f[1] % 100, f[2] % 100, f[3] % 100, f[4] % 100,
             f[5] % 100);
    return good && !rest.len;
}
