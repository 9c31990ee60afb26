/* date.c - dates of WARC records. */
#include "date.h"

#include <stdio.h>

#include "../lib/text/span.h"

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
