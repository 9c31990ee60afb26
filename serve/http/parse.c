/*
 * parse.c - the head of a request: RFC 9112, sections 2 to 6.
 *
 * The head is read once, from left to right, and the first error decides. So
 * the beginning of a request is refused as the whole request would be, and a
 * complete head stays complete whatever follows. test/fuzz/http.c checks this
 * at each byte.
 *
 *     \r\n                                     at most once
 *     GET /haw/http://haw.nsk.hr/en HTTP/1.1\r\n
 *     |   target                    minor
 *     method
 *     Host: seen.example\r\n                   name, value
 *     \r\n
 *
 * The headers that decide where a message ends, and for which host it is, are
 * recognised by their length first: most other headers need no comparison.
 */
#include "parse.h"

#include "scan.h"

enum {
    METHOD = 32,    /* bytes of a method, at most (501) */
    HOST_NAME = 255 /* bytes of a host, without its port */
};

/* The bytes of a head so far. `short_of` is returned if they end too early. */
struct http_head {
    const char *begin, *at, *end;
    int short_of;
    bool tab; /* around the last value */
};

/*
 * Is p, of the length of `small`, equal to it if the case of letters is
 * ignored? `small` has letters, digits, "-", ":" and "/" only. Setting bit 5
 * in all bytes of p turns only control bytes into one of these, and they are
 * refused before. With a constant `small` this compares two or three words.
 */
static inline __attribute__((always_inline)) bool same(const char *p,
                                                       const char *small,
                                                       size_t n)
{
    uint64_t a, b, differ = 0;

    for (size_t i = 0; i + 8 < n; i += 8) {
        memcpy(&a, p + i, 8);
        memcpy(&b, small + i, 8);
        differ |= (a | UINT64_C(0x2020202020202020)) ^ b;
    }
    if (n >= 8) {
        memcpy(&a, p + n - 8, 8);
        memcpy(&b, small + n - 8, 8);
        return !(differ | ((a | UINT64_C(0x2020202020202020)) ^ b));
    }
    for (size_t i = 0; i < n; i++)
        differ |= (uint64_t)(unsigned char)((p[i] | 32) ^ small[i]);
    return !differ;
}

#define SAME(span, small) \
    ((span).len == sizeof(small) - 1 && \
     same((span).text, small, sizeof(small) - 1))

static struct seen_span between(const char *p, const char *end)
{
    return (struct seen_span){ p, (size_t)(end - p) };
}

/* CRLF, and nothing else. */
static int read_end(struct http_head *h)
{
    if (h->at == h->end)
        return h->short_of;
    if (*h->at != '\r')
        return 400;
    if (h->at + 1 == h->end)
        return h->short_of;
    if (h->at[1] != '\n')
        return 400;
    h->at += 2;
    return HTTP_WHOLE;
}

/* --- hosts --- */

/* Past an address in brackets. It is checked just enough to be sure that it
   is not a name, a path or a second host. */
static const char *past_brackets(const char *p, const char *end)
{
    unsigned colons = 0;

    for (p++; p < end && *p != ']'; p++) {
        colons += *p == ':';
        if (!is_digit(*p) && *p != ':' && *p != '.' &&
            !((*p | 32) >= 'a' && (*p | 32) <= 'f'))
            return NULL;
    }
    return p < end && colons >= 2 ? p + 1 : NULL;
}

/*
 * In names of hosts: "reg-name" of RFC 3986. No DNS that we know has more than
 * letters, digits, "-", "_" and ".", but a name that is allowed is somebody's.
 * Of what is allowed "," is refused: two Host headers that a proxy has joined
 * look so. So is "%", which would give one host many names.
 */
static bool is_name(char c)
{
    return is_alnum(c) || c == '.' || c == '-' ||
           (c && strchr("_~!$&'()*+;=", c));
}

/* Past labels. No label is empty, but a dot at the end is allowed. */
static const char *past_name(const char *p, const char *end)
{
    char last = '.';

    for (; p < end && is_name(*p); last = *p++)
        if (*p == '.' && last == '.')
            return NULL;
    return p;
}

/* Is it a valid host, with or without a port? */
static bool is_host(struct seen_span s)
{
    const char *end = s.text + s.len, *p;
    unsigned port = 0;

    if (!s.len)
        return false;
    p = *s.text == '[' ? past_brackets(s.text, end) : past_name(s.text, end);
    if (!p || p == s.text || p - s.text > HOST_NAME)
        return false;
    if (p == end)
        return true;
    if (*p++ != ':')
        return false;
    for (; p < end && is_digit(*p) && port <= UINT16_MAX; p++)
        port = port * 10 + (unsigned)(*p - '0');
    return p == end && port <= UINT16_MAX;
}

/* --- the request line --- */

static enum http_method method_of(struct seen_span s)
{
    static const struct {
        const char *name;
        enum http_method method;
    } methods[] = {
        { "HEAD", HTTP_HEAD_ONLY },  { "POST", HTTP_POST },
        { "PUT", HTTP_PUT },         { "DELETE", HTTP_DELETE },
        { "OPTIONS", HTTP_OPTIONS }, { "GET", HTTP_GET },
    };

    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
        if (span_is(s, methods[i].name))
            return methods[i].method;
    return HTTP_OTHER;
}

static int read_method(struct http_request *r, struct http_head *h)
{
    const char *p = h->at;
    struct seen_span method;

    if (h->end - p >= 4 && !memcmp(p, "GET ", 4)) {
        r->method = HTTP_GET;
        h->at = p + 4;
        return HTTP_WHOLE;
    }
    while (p < h->end && is_token(*p) && p - h->at <= METHOD)
        p++;
    method = between(h->at, p);
    if (method.len > METHOD)
        return 501;
    if (p == h->end)
        return h->short_of;
    if (*p != ' ' || !method.len)
        return 400;
    if (span_is(method, "CONNECT"))
        return 501; /* we are not a proxy */
    r->method = method_of(method);
    h->at = p + 1;
    return HTTP_WHOLE;
}

/*
 * Split "http://host/path". An empty path is "/", as RFC 9110 4.2.3 says; the
 * slash before the host is used for it.
 */
static bool split_absolute(struct http_request *r)
{
    struct seen_span s = r->target;
    const char *end = s.text + s.len, *host, *path;

    if (s.len > 7 && same(s.text, "http://", 7))
        host = s.text + 7;
    else if (s.len > 8 && same(s.text, "https://", 8))
        host = s.text + 8;
    else
        return false;
    path = memchr(host, '/', (size_t)(end - host));
    r->host = between(host, path ? path : end);
    r->target = path ? between(path, end) : between(host - 1, host);
    return is_host(r->host);
}

static int read_target(struct http_request *r, struct http_head *h)
{
    const char *most = h->end, *p;

    if (most - h->at > HTTP_TARGET)
        most = h->at + HTTP_TARGET + 1;
    p = scan_target(h->begin, h->at, most);
    if (p - h->at > HTTP_TARGET)
        return 414;
    if (p == h->end)
        return h->short_of;
    if (*p != ' ' || p == h->at)
        return 400;
    r->target = between(h->at, p);
    h->at = p + 1;
    if (*r->target.text == '/')
        return HTTP_WHOLE;
    if (span_is(r->target, "*"))
        return r->method == HTTP_OPTIONS ? HTTP_WHOLE : 400;
    return split_absolute(r) ? HTTP_WHOLE : 400;
}

/* A higher minor version includes ours (RFC 9110 2.5). */
static int read_version(struct http_request *r, struct http_head *h)
{
    static const char name[] = "HTTP/";
    const char *p = h->at;
    size_t n = (size_t)(h->end - p);

    if (memcmp(p, name, n < 5 ? n : 5))
        return 400;
    if (n < 8)
        return h->short_of;
    if (!is_digit(p[5]) || p[6] != '.' || !is_digit(p[7]))
        return 400;
    if (p[5] != '1')
        return 505;
    r->minor = p[7] != '0';
    h->at += 8;
    return HTTP_WHOLE;
}

static int read_line(struct http_request *r, struct http_head *h)
{
    const char *line = h->at;
    int status = read_method(r, h);

    if (status == HTTP_WHOLE)
        status = read_target(r, h);
    if (status == HTTP_WHOLE)
        status = read_version(r, h);
    if (status == HTTP_WHOLE)
        status = read_end(h);
    if (status == HTTP_WHOLE)
        r->line = between(line, h->at - 2);
    return status;
}

/* --- the headers that we must understand --- */

/* What they said so far. */
struct http_framing {
    bool host, absolute, close, keep_alive, expect;
};

/* The next element of a list, trimmed and maybe empty; false at the end.
   Begin with *at at the text of the list. */
static bool next_of(struct seen_span list, const char **at,
                    struct seen_span *s)
{
    const char *end = list.text + list.len, *p = *at, *comma;

    if (p > end)
        return false;
    comma = memchr(p, ',', (size_t)(end - p));
    if (!comma)
        comma = end;
    *at = comma + 1;
    *s = span_trim(between(p, comma));
    return true;
}

static void read_connection(struct http_framing *framing,
                            struct seen_span value)
{
    const char *at = value.text;
    struct seen_span s;

    while (next_of(value, &at, &s)) {
        framing->close |= SAME(s, "close");
        framing->keep_alive |= SAME(s, "keep-alive");
    }
}

static int read_length(struct http_request *r, struct seen_span value)
{
    uint64_t n = 0;

    if (r->sized || r->chunked || !value.len)
        return 400;
    for (size_t i = 0; i < value.len; i++) {
        if (!is_digit(value.text[i]) || n > INT64_MAX / 10)
            return 400;
        n = n * 10 + (uint64_t)(value.text[i] - '0');
    }
    if (n > INT64_MAX)
        return 400;
    r->sized = true;
    r->length = n;
    return HTTP_WHOLE;
}

static int read_coding(struct http_request *r, struct seen_span value)
{
    const char *at = value.text;
    bool unknown = false;
    struct seen_span s;

    if (!r->minor || r->sized)
        return 400;
    while (next_of(value, &at, &s)) {
        if (!s.len || r->chunked) /* chunked twice, or not last */
            return 400;
        if (SAME(s, "chunked"))
            r->chunked = true;
        else
            unknown = true;
    }
    return unknown ? 501 : HTTP_WHOLE;
}

static int read_host(struct http_request *r, struct http_framing *framing,
                     struct seen_span value)
{
    if (framing->host || !is_host(value))
        return 400;
    framing->host = true;
    if (!framing->absolute)
        r->host = value;
    return HTTP_WHOLE;
}

/*
 * Tabs around a value are allowed, but other programs do not strip them:
 * nginx sees an unknown coding. Where that changes the end of a message it is
 * refused; no honest client writes tabs there.
 */
static int read_header_value(struct http_request *r,
                             struct http_framing *framing,
                             const struct http_header *h, bool tab)
{
    switch (h->name.len) {
    case 4:
        if (SAME(h->name, "host"))
            return read_host(r, framing, h->value);
        break;
    case 6:
        if (SAME(h->name, "expect"))
            framing->expect |= SAME(h->value, "100-continue");
        break;
    case 10:
        if (SAME(h->name, "connection"))
            read_connection(framing, h->value);
        break;
    case 14:
        if (SAME(h->name, "content-length"))
            return tab ? 400 : read_length(r, h->value);
        break;
    case 17:
        if (SAME(h->name, "transfer-encoding"))
            return tab ? 400 : read_coding(r, h->value);
        break;
    default: break;
    }
    return HTTP_WHOLE;
}

/* --- all headers --- */

/* One line, "Name: value". At least one byte of it is there. */
static int read_header(struct http_header *header, struct http_head *h)
{
    const char *p = scan_name(h->begin, h->at, h->end), *value, *end;
    int status;

    if (p == h->end)
        return h->short_of;
    if (*p != ':' || p == h->at)
        return 400; /* folding too, which begins with a space */
    header->name = between(h->at, p);
    h->tab = false;
    for (value = p + 1; value < h->end && is_blank(*value); value++)
        h->tab |= *value == '\t';
    end = h->at = scan_text(h->begin, value, h->end);
    status = read_end(h);
    for (; end > value && is_blank(end[-1]); end--)
        h->tab |= end[-1] == '\t';
    header->value = between(value, end);
    return status;
}

static int read_headers(struct http_request *r, struct http_head *h,
                        struct http_framing *framing)
{
    while (h->at < h->end && *h->at != '\r') {
        struct http_header *header = &r->header[r->headers];
        int status;

        if (r->headers == HTTP_HEADERS)
            return 431;
        status = read_header(header, h);
        if (status == HTTP_WHOLE)
            status = read_header_value(r, framing, header, h->tab);
        if (status != HTTP_WHOLE)
            return status;
        r->headers++;
    }
    return read_end(h);
}

int http_parse(struct http_request *r, const char *text, size_t len,
               size_t *used)
{
    struct http_head h = { text, text, text + len, HTTP_PARTIAL, false };
    struct http_framing framing = { 0 };
    int status = HTTP_WHOLE;

    if (len >= HTTP_HEAD) {
        h.end = text + HTTP_HEAD;
        h.short_of = 431;
    }
    r->host = r->line = between(text, text);
    r->close = r->waits = r->chunked = r->sized = false;
    r->length = 0;
    r->headers = 0;

    if (len && *text == '\r')
        status = read_end(&h);
    if (status == HTTP_WHOLE)
        status = read_line(r, &h);
    if (status != HTTP_WHOLE)
        return status;
    framing.absolute = r->host.len;
    status = read_headers(r, &h, &framing);
    if (status != HTTP_WHOLE)
        return status;
    if (r->minor && !framing.host)
        return 400;
    r->close = framing.close || (!r->minor && !framing.keep_alive);
    r->waits = framing.expect && r->minor && (r->chunked || r->length);
    *used = (size_t)(h.at - text);
    return HTTP_WHOLE;
}

bool http_find(const struct http_request *r, const char *name,
               struct seen_span *value)
{
    for (unsigned i = 0; i < r->headers; i++)
        if (span_like(r->header[i].name, name)) {
            *value = r->header[i].value;
            return true;
        }
    return false;
}
