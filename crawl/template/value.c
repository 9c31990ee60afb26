/*
 * value.c - numbers and dates in the texts of pages.
 *
 * A number is read as it is written in English: "1,234.50". Dates are read in
 * the forms that machines write (ISO 8601, RFC 9110) and with English names of
 * months. What cannot be told apart, as 3/4/2016, is not a date.
 */
#include "inside.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "../../lib/text/ascii.h"
#include "../../lib/text/calendar.h"
#include "../../lib/text/span.h"

/* --- numbers --- */

static char byte_at(struct seen_span s, size_t at)
{
    return at < s.len ? s.text[at] : 0;
}

/* "1,234": a comma belongs to a number if three digits follow, and no more. */
static bool groups(struct seen_span s, size_t at)
{
    return byte_at(s, at) == ',' && ascii_digit(byte_at(s, at + 1)) &&
           ascii_digit(byte_at(s, at + 2)) &&
           ascii_digit(byte_at(s, at + 3)) && !ascii_digit(byte_at(s, at + 4));
}

bool crawl_value_number(struct buffer *to, struct seen_span text)
{
    enum { MOST = 30 }; /* digits */
    size_t at = 0, digits = 0;
    bool zero = true;

    while (at < text.len && !ascii_digit(text.text[at]))
        at++;
    if (at == text.len)
        return false;
    if (at && text.text[at - 1] == '-' &&
        (at == 1 || !strchr("0123456789-", text.text[at - 2])))
        buffer_byte(to, '-');
    for (; ascii_digit(byte_at(text, at)) || groups(text, at); at++) {
        if (text.text[at] == ',' || (zero && text.text[at] == '0'))
            continue;
        zero = false;
        if (++digits > MOST)
            return false;
        buffer_byte(to, text.text[at]);
    }
    if (zero)
        buffer_byte(to, '0');
    if (byte_at(text, at) == '.' && ascii_digit(byte_at(text, at + 1))) {
        buffer_byte(to, '.');
        for (at++; ascii_digit(byte_at(text, at)) && digits++ <= MOST; at++)
            buffer_byte(to, text.text[at]);
    }
    return true;
}

/* --- dates --- */

struct value_date {
    unsigned year, month, day;
    bool timed;
    unsigned hour, minute, second;
    char zone[7]; /* "Z", "+02:00" or "" */
};

/* One to `most` digits. */
static bool take_number(struct seen_span *s, size_t least, size_t most,
                        unsigned *n)
{
    return span_digits(s, least, most, n) &&
           !(s->len && ascii_digit(s->text[0]));
}

static void skip(struct seen_span *s, const char *bytes)
{
    while (s->len && s->text[0] && strchr(bytes, s->text[0]))
        s->text++, s->len--;
}

/* The month of a word that begins with one: Jan, January, Sept. */
static bool take_month(struct seen_span *s, unsigned *month)
{
    static const char *const names[] = { "january", "february", "march",
                                         "april",   "may",      "june",
                                         "july",    "august",   "september",
                                         "october", "november", "december" };
    size_t len = 0;

    while (len < s->len && (s->text[len] | 0x20) >= 'a' &&
           (s->text[len] | 0x20) <= 'z')
        len++;
    for (unsigned i = 0; i < 12 && len >= 3; i++)
        if (len <= strlen(names[i]) && !strncasecmp(s->text, names[i], len)) {
            *month = i + 1;
            s->text += len;
            s->len -= len;
            return true;
        }
    return false;
}

static void take_zone(struct seen_span *s, struct value_date *d)
{
    struct seen_span r = *s;
    unsigned hours, minutes = 0;
    char sign;

    skip(&r, " ");
    if (span_begins(r, "Z") || span_begins(r, "GMT") ||
        span_begins(r, "UTC")) {
        strcpy(d->zone, "Z");
        return;
    }
    if (!r.len || (r.text[0] != '+' && r.text[0] != '-'))
        return;
    sign = r.text[0];
    r.text++;
    r.len--;
    if (r.len < 2 || !ascii_digit(r.text[0]) || !ascii_digit(r.text[1]))
        return;
    hours = 10u * (unsigned)(r.text[0] - '0') + (unsigned)(r.text[1] - '0');
    r.text += 2;
    r.len -= 2;
    span_take(&r, ':');
    if (r.len >= 2 && ascii_digit(r.text[0]) && ascii_digit(r.text[1]))
        minutes = 10u * (unsigned)(r.text[0] - '0') +
                  (unsigned)(r.text[1] - '0');
    if (hours > 14 || minutes > 59)
        return;
    if (hours || minutes)
        snprintf(d->zone, sizeof d->zone, "%c%02u:%02u", sign, hours % 100,
                 minutes % 100);
    else
        strcpy(d->zone, "Z");
}

/* "12:30", "12:30:01.5", with a zone; not there: a date without time. */
static void take_time(struct seen_span s, struct value_date *d)
{
    unsigned fraction;

    skip(&s, " T,");
    if (span_begins(s, "at "))
        s.text += 3, s.len -= 3;
    if (!take_number(&s, 1, 2, &d->hour) || !span_take(&s, ':') ||
        !take_number(&s, 2, 2, &d->minute) || d->hour > 23 || d->minute > 59)
        return;
    if (span_take(&s, ':') &&
        (!take_number(&s, 2, 2, &d->second) || d->second > 60))
        return;
    if (span_take(&s, '.'))
        take_number(&s, 1, 9, &fraction);
    d->timed = true;
    take_zone(&s, d);
}

static bool is_date(const struct value_date *d)
{
    return d->year >= 1000 && d->year <= 9999 && d->month >= 1 &&
           d->month <= 12 && d->day >= 1 &&
           d->day <= calendar_days(d->year, d->month);
}

/* 2016-02-01, 2016/02/01 */
static bool read_iso(struct seen_span *s, struct value_date *d)
{
    char between;

    if (!take_number(s, 4, 4, &d->year) || !s->len)
        return false;
    between = s->text[0];
    return (between == '-' || between == '/') && span_take(s, between) &&
           take_number(s, 2, 2, &d->month) && span_take(s, between) &&
           take_number(s, 2, 2, &d->day);
}

/* 1 February 2016, 01-Feb-2016, 1st of February, 2016 */
static bool read_day_first(struct seen_span *s, struct value_date *d)
{
    if (!take_number(s, 1, 2, &d->day))
        return false;
    if (span_begins(*s, "st") || span_begins(*s, "nd") ||
        span_begins(*s, "rd") || span_begins(*s, "th"))
        s->text += 2, s->len -= 2;
    skip(s, " -");
    if (span_begins(*s, "of "))
        s->text += 3, s->len -= 3;
    if (!take_month(s, &d->month))
        return false;
    skip(s, " -.,");
    return take_number(s, 4, 4, &d->year);
}

/* February 1, 2016; Feb. 1st 2016 */
static bool read_month_first(struct seen_span *s, struct value_date *d)
{
    if (!take_month(s, &d->month))
        return false;
    skip(s, " .");
    if (!take_number(s, 1, 2, &d->day))
        return false;
    if (span_begins(*s, "st") || span_begins(*s, "nd") ||
        span_begins(*s, "rd") || span_begins(*s, "th"))
        s->text += 2, s->len -= 2;
    skip(s, " ,");
    return take_number(s, 4, 4, &d->year);
}

bool crawl_value_date(struct buffer *to, struct seen_span text)
{
    static bool (*const forms[])(struct seen_span *, struct value_date *) = {
        read_iso, read_day_first, read_month_first
    };
    enum { LOOK = 200 };

    for (size_t at = 0; at < text.len && at < LOOK; at++) {
        bool word = at && (ascii_digit(text.text[at - 1]) ||
                           ((text.text[at - 1] | 0x20) >= 'a' &&
                            (text.text[at - 1] | 0x20) <= 'z'));

        for (size_t k = 0; k < 3 && !word; k++) {
            struct seen_span s = { text.text + at, text.len - at };
            struct value_date d = { .year = 0 };

            if (!forms[k](&s, &d) || !is_date(&d))
                continue;
            take_time(s, &d);
            buffer_format(to, "%04u-%02u-%02u", d.year, d.month, d.day);
            if (d.timed)
                buffer_format(to, "T%02u:%02u:%02u%s", d.hour, d.minute,
                              d.second, d.zone);
            return true;
        }
    }
    return false;
}
