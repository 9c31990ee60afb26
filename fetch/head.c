/*
 * head.c - status line and headers of an answer: RFC 9110 and 9112.
 *
 * Headers that give the length of a body, or its part of a whole, are read
 * strictly: oddities there are used to pass one answer off as another. Of the
 * others the first one of a name counts, and a value that is too long or has
 * control bytes is ignored.
 */
#include "head.h"

#include <limits.h>
#include <string.h>

#include "../lib/text/ascii.h"
#include "../lib/text/span.h"

static bool plain(const char *at, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (((unsigned char)at[i] < 32 && at[i] != '\t') || at[i] == 127)
            return false;
    return true;
}

bool fetch_head_value(const char *text)
{
    size_t len = strlen(text);

    return len && len <= FETCH_HEAD_URL && plain(text, len) && *text != ' ' &&
           *text != '\t';
}

/* Remove a number from the front; false if there is none, or it is too
   large. */
static bool take_number(struct seen_span *t, uint64_t *value)
{
    uint64_t n = 0;
    size_t i = 0;

    for (; i < t->len && ascii_digit(t->text[i]); i++) {
        unsigned digit = (unsigned)(t->text[i] - '0');

        if (n > (UINT64_MAX - 1 - digit) / 10)
            return false;
        n = n * 10 + digit;
    }
    t->text += i;
    t->len -= i;
    *value = n;
    return i > 0;
}

/* Texts are not zeroed, only ended: a head has 9 kB of them. */
void fetch_head_init(struct fetch_head *h)
{
    h->says = (struct fetch_response){ .url = "",
                                       .etag = h->etag,
                                       .modified = h->modified,
                                       .type = h->type,
                                       .media = h->media,
                                       .length = FETCH_UNKNOWN,
                                       .total = FETCH_UNKNOWN,
                                       .address = "",
                                       .tls = "" };
    h->raw = h->whole = h->chunked = h->ranged = h->inside = false;
    h->last = 0;
    h->coding = FETCH_CODED_NOT;
    h->etag[0] = h->modified[0] = h->type[0] = '\0';
    h->media[0] = h->location[0] = '\0';
    h->bytes = h->lines = 0;
}

/* Another status line: the provisional answer before it does not count. */
static void forget(struct fetch_head *h)
{
    size_t bytes = h->bytes;
    unsigned lines = h->lines;
    const char *url = h->says.url;
    bool raw = h->raw;

    fetch_head_init(h);
    h->raw = raw;
    h->bytes = bytes;
    h->lines = lines;
    h->says.url = url;
}

/* HTTP/1.1 200 OK */
static enum seen_code read_status(struct fetch_head *h, struct seen_span t,
                                  struct seen_error *why)
{
    const char *p = t.text;

    forget(h);
    if (t.len < 12 || memcmp(p, "HTTP/1.", 7) || !ascii_digit(p[7]) ||
        p[8] != ' ' || p[9] < '1' || p[9] > (h->raw ? '9' : '5') ||
        !ascii_digit(p[10]) || !ascii_digit(p[11]) ||
        (t.len > 12 && p[12] != ' '))
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "the answer does not begin as HTTP does");
    h->says.http = true;
    h->says.status = (p[9] - '0') * 100 + (p[10] - '0') * 10 + (p[11] - '0');
    if (h->says.status == 101)
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "switches to a protocol that was not asked for");
    h->inside = true;
    return SEEN_OK;
}

/* --- the headers that we know --- */

static void keep(char *to, size_t room, struct seen_span value)
{
    if (*to || value.len >= room || !plain(value.text, value.len))
        return;
    memcpy(to, value.text, value.len);
    to[value.len] = '\0';
}

static enum seen_code on_length(struct fetch_head *h, struct seen_span v,
                                struct seen_error *why)
{
    uint64_t n;

    if (!take_number(&v, &n) || v.len ||
        (h->says.length != FETCH_UNKNOWN && h->says.length != n))
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "its Content-Length is not one number");
    h->says.length = n;
    return SEEN_OK;
}

/* bytes 5-9/10, bytes 5-9/ and a star, or for 416 a star and /10. */
static enum seen_code on_range(struct fetch_head *h, struct seen_span v,
                               struct seen_error *why)
{
    uint64_t from = 0, last = 0, total = FETCH_UNKNOWN;
    bool ranged = false, good;

    if (h->raw)
        return SEEN_OK;
    good = v.len > 6 && span_like((struct seen_span){ v.text, 6 }, "bytes ");
    if (good) {
        v = span_trim((struct seen_span){ v.text + 6, v.len - 6 });
        if (!span_take(&v, '*')) {
            ranged = true;
            good = take_number(&v, &from) && span_take(&v, '-') &&
                   take_number(&v, &last) && from <= last;
        }
        good = good && span_take(&v, '/') &&
               ((ranged && span_take(&v, '*')) || take_number(&v, &total)) &&
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

/* libcurl would undo gzip here, too, whether or not it is set to. */
static enum seen_code on_transfer(struct fetch_head *h, struct seen_span v,
                                  struct seen_error *why)
{
    if (span_like(v, "identity"))
        return SEEN_OK;
    if (!span_like(v, "chunked") || h->chunked)
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "has a Transfer-Encoding that was not asked for");
    h->chunked = true;
    return SEEN_OK;
}

static enum seen_code on_coding(struct fetch_head *h, struct seen_span v,
                                struct seen_error *why)
{
    (void)why;
    if (!v.len || span_like(v, "identity"))
        return SEEN_OK;
    if (h->coding == FETCH_CODED_NOT &&
        (span_like(v, "gzip") || span_like(v, "x-gzip")))
        h->coding = FETCH_CODED_GZIP;
    else
        h->coding = FETCH_CODED_OTHER;
    return SEEN_OK;
}

static enum seen_code on_type(struct fetch_head *h, struct seen_span v,
                              struct seen_error *why)
{
    const char *end = memchr(v.text, ';', v.len);

    (void)why;
    keep(h->media, sizeof h->media, v);
    if (end)
        v = span_trim((struct seen_span){ v.text, (size_t)(end - v.text) });
    keep(h->type, sizeof h->type, v);
    for (char *p = h->type; *p; p++)
        *p = *p >= 'A' && *p <= 'Z' ? (char)(*p + 32) : *p;
    return SEEN_OK;
}

static enum seen_code on_etag(struct fetch_head *h, struct seen_span v,
                              struct seen_error *why)
{
    (void)why;
    keep(h->etag, sizeof h->etag, v);
    return SEEN_OK;
}

static enum seen_code on_modified(struct fetch_head *h, struct seen_span v,
                                  struct seen_error *why)
{
    (void)why;
    keep(h->modified, sizeof h->modified, v);
    return SEEN_OK;
}

static enum seen_code on_location(struct fetch_head *h, struct seen_span v,
                                  struct seen_error *why)
{
    if (!h->raw && (v.len > FETCH_HEAD_URL || !plain(v.text, v.len)))
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "its Location is too long, or has control bytes");
    keep(h->location, sizeof h->location, v);
    return SEEN_OK;
}

/* Seconds; a date, which is allowed as well, is hardly ever sent. */
static enum seen_code on_after(struct fetch_head *h, struct seen_span v,
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
    enum seen_code (*read)(struct fetch_head *h, struct seen_span value,
                           struct seen_error *why);
} known[] = {
    { "content-length", on_length },      { "content-range", on_range },
    { "transfer-encoding", on_transfer }, { "content-encoding", on_coding },
    { "content-type", on_type },          { "etag", on_etag },
    { "last-modified", on_modified },     { "location", on_location },
    { "retry-after", on_after },
};

/* A line that continues the one before is ignored. */
static enum seen_code read_header(struct fetch_head *h, struct seen_span t,
                                  struct seen_error *why)
{
    const char *colon = memchr(t.text, ':', t.len);
    struct seen_span name, value;

    if (!colon || *t.text == ' ' || *t.text == '\t')
        return SEEN_OK;
    name = (struct seen_span){ t.text, (size_t)(colon - t.text) };
    value = (struct seen_span){ colon + 1, t.len - name.len - 1 };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (span_like(name, known[i].name))
            return known[i].read(h, span_trim(value), why);
    return SEEN_OK;
}

static enum seen_code end_head(struct fetch_head *h)
{
    h->inside = false;
    if (h->says.status < 200)
        return SEEN_OK;
    if (h->chunked)
        h->says.length = FETCH_UNKNOWN;
    h->whole = true;
    return SEEN_OK;
}

enum seen_code fetch_head_line(struct fetch_head *h, const char *line,
                               size_t len, struct seen_error *why)
{
    struct seen_span rest = { line, len }, t = { line, 0 };

    unsigned most = h->raw ? FETCH_HEAD_LINES * 10 : FETCH_HEAD_LINES;

    h->bytes += len;
    h->lines++;
    if (h->bytes > FETCH_HEAD_BYTES || h->lines > most)
        return seen_fail(why, SEEN_RANGE, h->bytes,
                         "the head of the answer is longer than %u lines "
                         "or %d bytes",
                         most, FETCH_HEAD_BYTES);
    if (h->whole)
        return SEEN_OK;
    span_line(&rest, &t);
    if (!h->inside)
        return read_status(h, t, why);
    return t.len ? read_header(h, t, why) : end_head(h);
}

bool fetch_head_redirects(const struct fetch_head *h)
{
    int s = h->says.status;

    return *h->location &&
           (s == 301 || s == 302 || s == 303 || s == 307 || s == 308);
}
