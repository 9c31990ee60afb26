/*
 * number.c - read and write numbers.
 *
 * Reading: the C library converts, after the first bytes were looked at, and
 * then the whole text must be used up; a suffix multiplies with a check. Each
 * function returns the words of the fault, so that all programs complain alike.
 *
 * Writing: people compare by digits, so a count is grouped, a share has two
 * digits that matter, and a unit changes where rounding would: 999.6 kB is
 * "1.0 MB" and not "1000 kB". Texts are in a ring of eight per thread, more
 * than a message has numbers.
 */
#include "number.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* --- reading --- */

static bool begins_as_number(const char *text)
{
    return isdigit((unsigned char)text[0]) ||
           (text[0] == '.' && isdigit((unsigned char)text[1]));
}

static bool negative(const char *text)
{
    return text[0] == '-' && begins_as_number(text + 1);
}

const char *number_count(const char *text, uint64_t *count)
{
    static const char suffix[] = "kMGT";
    unsigned long long n;
    char *end;

    if (negative(text))
        return "is negative";
    if (!isdigit((unsigned char)text[0]))
        return "is not a number";
    errno = 0;
    n = strtoull(text, &end, 10);
    if (*end && strchr(suffix, *end)) {
        for (long i = strchr(suffix, *end) - suffix; i >= 0; i--) {
            if (n > UINT64_MAX / 1000)
                errno = ERANGE;
            n *= 1000;
        }
        end++;
    }
    if (*end)
        return "is not a whole number; it may end with k, M, G or T";
    if (errno)
        return "is too large";
    if (!n)
        return "is not above 0";
    *count = n;
    return NULL;
}

const char *number_seed(const char *text, uint64_t *seed)
{
    int base = text[0] == '0' && text[1] == 'x' ? 16 : 10;
    unsigned long long n;
    char *end;

    if (negative(text))
        return "is negative";
    if (!isdigit((unsigned char)text[0]) ||
        (base == 16 && !isxdigit((unsigned char)text[2])))
        return "is not a number";
    errno = 0;
    n = strtoull(text, &end, base);
    if (*end)
        return "is not a whole number";
    if (errno)
        return "is too large";
    *seed = n;
    return NULL;
}

/* A decimal number; whatever follows it is at *end. */
static const char *decimal(const char *text, double *number, char **end)
{
    if (negative(text))
        return "is negative";
    if (!begins_as_number(text) || (text[0] == '0' && tolower(text[1]) == 'x'))
        return "is not a number";
    *number = strtod(text, end);
    return NULL;
}

const char *number_rate(const char *text, double *rate)
{
    double r = 0;
    char *end = NULL;
    const char *wrong = decimal(text, &r, &end);

    if (wrong)
        return wrong;
    if (*end == '%') {
        r /= 100;
        end++;
    }
    if (*end)
        return "is not a rate; write 0.01, 1% or 1e-2";
    if (!(r > 0 && r < 1))
        return "is not between 0 and 1";
    *rate = r;
    return NULL;
}

const char *number_factor(const char *text, double *factor)
{
    double x = 0;
    char *end = NULL;
    const char *wrong = decimal(text, &x, &end);

    if (wrong)
        return wrong;
    if (*end)
        return "is not a number";
    if (!(x > 0))
        return "is not above 0";
    if (!isfinite(x))
        return "is too large";
    *factor = x;
    return NULL;
}

/* 45s, 30m, 6h, 1d: a bare number would leave open of what. */
const char *number_seconds(const char *text, uint64_t *seconds)
{
    static const char unit[] = "smhd";
    static const unsigned worth[] = { 1, 60, 3600, 86400 };
    const uint64_t century = UINT64_C(86400) * 36525;
    unsigned long long n;
    char *end;

    if (negative(text))
        return "is negative";
    if (!isdigit((unsigned char)text[0]))
        return "is not a time";
    errno = 0;
    n = strtoull(text, &end, 10);
    if (!*end || !strchr(unit, *end) || end[1])
        return "is not a time; write 45s, 30m, 6h or 1d";
    if (errno || n > century / worth[strchr(unit, *end) - unit])
        return "is too long";
    if (!n)
        return "is not above 0";
    *seconds = n * worth[strchr(unit, *end) - unit];
    return NULL;
}

const char *number_moment(const char *text, uint64_t *moment)
{
    const uint64_t year_10000 = UINT64_C(253402300800);
    const char *wrong = "is not a time; write 2026-01-31T00:00:00Z, or a Unix "
                        "time";
    struct tm t = { .tm_sec = 0 };
    unsigned long long n;
    char *end, again[32];

    if (!isdigit((unsigned char)text[0]))
        return wrong;
    n = strtoull(text, &end, 10); /* at most ULLONG_MAX, which is too late */
    if (*end) {
        /* strptime() alone would take 2026-1-31 and the 30th of February,
           which timegm() changes. */
        end = strptime(text, "%Y-%m-%dT%H:%M:%SZ", &t);
        if (!end || *end || t.tm_year < 70)
            return wrong;
        n = (unsigned long long)timegm(&t);
        if (!strftime(again, sizeof again, "%Y-%m-%dT%H:%M:%SZ", &t) ||
            strcmp(again, text))
            return wrong;
    }
    if (n >= year_10000)
        return "is too late";
    *moment = n;
    return NULL;
}

bool number_digits(struct seen_span text, uint64_t *number)
{
    uint64_t n = 0;

    *number = 0;
    if (!text.len || text.len > 18)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.text[i] < '0' || text.text[i] > '9')
            return false;
        n = 10 * n + (uint64_t)(text.text[i] - '0');
    }
    *number = n;
    return true;
}

/* --- writing --- */

enum { PLACES = 8, ROOM = 64 };

static char *place(void)
{
    static _Thread_local char text[PLACES][ROOM];
    static _Thread_local unsigned next;

    return text[next++ % PLACES];
}

const char *show_count(uint64_t count)
{
    char plain[24], *text = place(), *to = text;
    int len = snprintf(plain, sizeof plain, "%llu", (unsigned long long)count);

    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            *to++ = ',';
        *to++ = plain[i];
    }
    *to = '\0';
    return text;
}

static uint64_t rounded(double count)
{
    return count > 0 ? (uint64_t)(fmin(count, 0x1p62) + 0.5) : 0;
}

const char *show_estimate(double count)
{
    return show_count(rounded(count));
}

const char *show_counted(uint64_t count, const char *noun)
{
    const char *number = show_count(count);
    char *text = place();
    size_t len = strlen(noun);
    bool hisses = len > 1 && !strcmp(noun + len - 2, "ch");

    snprintf(text, ROOM, "%s %s%s", number, noun,
             count == 1 ? ""
             : hisses   ? "es"
                        : "s");
    return text;
}

const char *show_estimated(double count, const char *noun)
{
    return show_counted(rounded(count), noun);
}

const char *show_rate(double rate)
{
    double percent = 100 * rate;
    char *text = place();

    if (rate > 0 && rate <= 1e-12) /* no list is long enough to show it */
        return "below 1e-10 %";
    snprintf(text, ROOM, percent >= 10 ? "%.0f %%" : "%.2g %%", percent);
    return text;
}

const char *show_percent(double share)
{
    double percent = 100 * share;
    char *text = place();

    snprintf(text, ROOM, percent > 0 && percent < 0.1 ? "%.2g %%" : "%.1f %%",
             percent);
    return text;
}

const char *show_bytes(uint64_t bytes)
{
    static const char *const unit[] = { "kB", "MB", "GB", "TB", "PB", "EB" };
    double n = (double)bytes / 1000;
    char *text = place();
    int i = 0;

    if (bytes < 1000) {
        snprintf(text, ROOM, "%d bytes", (int)bytes);
        return text;
    }
    for (; n >= 999.5 && i < 5; i++)
        n /= 1000;
    snprintf(text, ROOM, n < 9.95 ? "%.1f %s" : "%.0f %s", n, unit[i]);
    return text;
}

const char *show_time(double seconds)
{
    char *text = place();

    if (seconds < 60) {
        snprintf(text, ROOM, seconds < 10 ? "%.2f s" : "%.1f s", seconds);
    } else {
        unsigned long s = (unsigned long)fmin(seconds + 0.5, 1e15);

        if (s < 3600)
            snprintf(text, ROOM, "%lu min %lu s", s / 60, s % 60);
        else
            snprintf(text, ROOM, "%lu h %lu min", s / 3600, s / 60 % 60);
    }
    return text;
}
