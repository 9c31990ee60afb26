/*
 * head.c - status line and headers: RFC 9110 and 9112, from the other side.
 *
 * Lines that say how long a body is, or which part of a whole, are strict:
 * what is odd there is how one answer is passed off as another. For the rest
 * the first line of a name counts, and a value that does not fit, or has
 * control bytes, is as if it had not been sent.
 */
#include "head.h"

#include <limits.h>
#include <string.h>

struct text {
    const char *at;
    size_t len;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

/* `small` is in lower case. */
static bool same(struct text t, const char *small)
{
    size_t i = 0;

    while (i < t.len && small[i] && lower(t.at[i]) == small[i])
        i++;
    return i == t.len && !small[i];
}

static struct text trim(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    while (at < end && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    return (struct text){ at, (size_t)(end - at) };
}

static bool plain(const char *at, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (((unsigned char)at[i] < 32 && at[i] != '\t') || at[i] == 127)
            return false;
    return true;
}

bool head_value(const char *text)
{
    size_t len = strlen(text);

    return len && len <= HEAD_URL && plain(text, len) && *text != ' ' &&
           *text != '\t';
}

/* The number at t, of which it is taken; false if there is none, or it does
   not fit. */
static bool take_number(struct text *t, uint64_t *value)
{
    uint64_t n = 0;
    size_t i = 0;

    for (; i < t->len && is_digit(t->at[i]); i++) {
        unsigned digit = (unsigned)(t->at[i] - '0');

        if (n > (UINT64_MAX - 1 - digit) / 10)
            return false;
        n = n * 10 + digit;
    }
    t->at += i;
    t->len -= i;
    *value = n;
    return i > 0;
}

static bool take_char(struct text *t, char c)
{
    if (!t->len || *t->at != c)
        return false;
    t->at++;
    t->len--;
    return true;
}

void head_init(struct head *h)
{
    memset(h, 0, sizeof *h);
    h->says = (struct fetch_head){ .url = "",
                                   .etag = h->etag,
                                   .modified = h->modified,
                                   .type = h->type,
                                   .length = FETCH_UNKNOWN,
                                   .total = FETCH_UNKNOWN };
}

/* Another status line: what a provisional answer said does not count. */
static void forget(struct head *h)
{
    size_t bytes = h->bytes;
    unsigned lines = h->lines;
    const char *url = h->says.url;

    head_init(h);
    h->bytes = bytes;
    h->lines = lines;
    h->says.url = url;
}

/* HTTP/1.1 200 OK */
static enum seen_code read_status(struct head *h, struct text t,
                                  struct seen_error *why)
{
    const char *p = t.at;

    forget(h);
    if (t.len < 12 || memcmp(p, "HTTP/1.", 7) || !is_digit(p[7]) ||
        p[8] != ' ' || p[9] < '1' || p[9] > '5' || !is_digit(p[10]) ||
        !is_digit(p[11]) || (t.len > 12 && p[12] != ' '))
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "the answer does not begin as HTTP does");
    h->says.status = (p[9] - '0') * 100 + (p[10] - '0') * 10 + (p[11] - '0');
    if (h->says.status == 101)
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "switches to a protocol that nobody asked for");
    h->inside = true;
    return SEEN_OK;
}

/* --- the headers that we know --- */

static void keep(char *to, size_t room, struct text value)
{
    if (*to || value.len >= room || !plain(value.at, value.len))
        return;
    memcpy(to, value.at, value.len);
    to[value.len] = '\0';
}

static enum seen_code on_length(struct head *h, struct text v,
                                struct seen_error *why)
{
    uint64_t n;

    if (!take_number(&v, &n) || v.len ||
        (h->says.length != FETCH_UNKNOWN && h->says.length != n))
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "its Content-Length is no number, or two");
    h->says.length = n;
    return SEEN_OK;
}

/* bytes 5-9/10, bytes 5-9/ and a star, or for 416 a star and /10. */
static enum seen_code on_range(struct head *h, struct text v,
                               struct seen_error *why)
{
    uint64_t from = 0, last = 0, total = FETCH_UNKNOWN;
    bool ranged = false, good;

    good = v.len > 6 && same((struct text){ v.at, 6 }, "bytes ");
    if (good) {
        v = trim(v.at + 6, v.at + v.len);
        if (!take_char(&v, '*')) {
            ranged = true;
            good = take_number(&v, &from) && take_char(&v, '-') &&
                   take_number(&v, &last) && from <= last;
        }
        good = good && take_char(&v, '/') &&
               ((ranged && take_char(&v, '*')) || take_number(&v, &total)) &&
               !v.len && (!ranged || last < total);
    }
    if (!good || (h->ranged && (h->says.from != from || h->last != last ||
                                h->says.total != total)))
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "its Content-Range makes no sense");
    h->ranged = ranged;
    h->says.from = from;
    h->last = last;
    h->says.total = total;
    return SEEN_OK;
}

/* libcurl would undo gzip here, too, whether or not it was asked for. */
static enum seen_code on_transfer(struct head *h, struct text v,
                                  struct seen_error *why)
{
    if (same(v, "identity"))
        return SEEN_OK;
    if (!same(v, "chunked") || h->chunked)
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "comes in a Transfer-Encoding that nobody asked for");
    h->chunked = true;
    return SEEN_OK;
}

static enum seen_code on_coding(struct head *h, struct text v,
                                struct seen_error *why)
{
    (void)why;
    if (!v.len || same(v, "identity"))
        return SEEN_OK;
    if (h->coding == CODED_NOT && (same(v, "gzip") || same(v, "x-gzip")))
        h->coding = CODED_GZIP;
    else
        h->coding = CODED_OTHERWISE;
    return SEEN_OK;
}

static enum seen_code on_type(struct head *h, struct text v,
                              struct seen_error *why)
{
    const char *end = memchr(v.at, ';', v.len);

    (void)why;
    if (end)
        v = trim(v.at, end);
    keep(h->type, sizeof h->type, v);
    for (char *p = h->type; *p; p++)
        *p = lower(*p);
    return SEEN_OK;
}

static enum seen_code on_etag(struct head *h, struct text v,
                              struct seen_error *why)
{
    (void)why;
    keep(h->etag, sizeof h->etag, v);
    return SEEN_OK;
}

static enum seen_code on_modified(struct head *h, struct text v,
                                  struct seen_error *why)
{
    (void)why;
    keep(h->modified, sizeof h->modified, v);
    return SEEN_OK;
}

static enum seen_code on_location(struct head *h, struct text v,
                                  struct seen_error *why)
{
    if (v.len > HEAD_URL || !plain(v.at, v.len))
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "its Location is too long, or has control bytes");
    keep(h->location, sizeof h->location, v);
    return SEEN_OK;
}

/* Seconds; a date, which is as good, is hardly ever sent. */
static enum seen_code on_after(struct head *h, struct text v,
                               struct seen_error *why)
{
    uint64_t n;

    (void)why;
    if (take_number(&v, &n) && !v.len)
        h->says.after = n < UINT_MAX ? (unsigned)n : UINT_MAX;
    return SEEN_OK;
}

static const struct {
    const char *name;
    enum seen_code (*read)(struct head *h, struct text value,
                           struct seen_error *why);
} known[] = {
    { "content-length", on_length },      { "content-range", on_range },
    { "transfer-encoding", on_transfer }, { "content-encoding", on_coding },
    { "content-type", on_type },          { "etag", on_etag },
    { "last-modified", on_modified },     { "location", on_location },
    { "retry-after", on_after },
};

/* A line that continues the one before is none that we know. */
static enum seen_code read_header(struct head *h, struct text t,
                                  struct seen_error *why)
{
    const char *colon = memchr(t.at, ':', t.len);
    struct text name;

    if (!colon || *t.at == ' ' || *t.at == '\t')
        return SEEN_OK;
    name = (struct text){ t.at, (size_t)(colon - t.at) };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (same(name, known[i].name))
            return known[i].read(h, trim(colon + 1, t.at + t.len), why);
    return SEEN_OK;
}

static enum seen_code end_head(struct head *h)
{
    h->inside = false;
    if (h->says.status < 200)
        return SEEN_OK;
    if (h->chunked)
        h->says.length = FETCH_UNKNOWN;
    h->whole = true;
    return SEEN_OK;
}

enum seen_code head_line(struct head *h, const char *line, size_t len,
                         struct seen_error *why)
{
    struct text t = { line, len };

    h->bytes += len;
    h->lines++;
    if (h->bytes > HEAD_BYTES || h->lines > HEAD_LINES)
        return seen_fail(why, SEEN_RANGE, h->bytes,
                         "the head of the answer is longer than %d lines "
                         "or %d bytes",
                         HEAD_LINES, HEAD_BYTES);
    if (t.len && t.at[t.len - 1] == '\n')
        t.len--;
    if (t.len && t.at[t.len - 1] == '\r')
        t.len--;
    if (h->whole)
        return SEEN_OK;
    if (!h->inside)
        return read_status(h, t, why);
    return t.len ? read_header(h, t, why) : end_head(h);
}

bool head_leads_on(const struct head *h)
{
    int s = h->says.status;

    return *h->location &&
           (s == 301 || s == 302 || s == 303 || s == 307 || s == 308);
}
