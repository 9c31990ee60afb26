/*
 * warc.c - the records of a WARC or ARC file, as captures.
 *
 *     WARC/1.0                                  header: c->line
 *     WARC-Type: response
 *     WARC-Target-URI: http://a.example/        c->url
 *     WARC-Date: 2020-01-02T03:04:05Z           c->timestamp
 *     Content-Length: 1234
 *
 *     HTTP/1.1 200 OK                           c->status
 *     Content-Type: text/html; charset=utf-8    c->mime
 *     ...
 *
 * Records that hold a capture are response, resource and revisit. ARC files,
 * which are older, have one line instead of the header; the first record,
 * filedesc://, is about the file itself:
 *
 *     http://a.example/ 192.0.2.1 20080102030405 text/html 1234
 *     HTTP/1.1 200 OK
 *     ...
 *
 * (version 1; version 2 has status, checksum, location, offset and file name
 * before the length). What is in records is passed over: a plain file's is
 * not even read. A file that has something else at some place is read no
 * further in that piece, since nothing says where the next record begins.
 */
#include "reader.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../text/span.h"
#include "line.h"

enum { HTTP = 4096 }; /* bytes of the content that are looked at */

bool cdx_warc_fill(struct seen_reader *r)
{
    uint64_t before = r->stream.raw.at;

    if (r->over)
        return false;
    r->have -= r->at;
    memmove(r->buffer, r->buffer + r->at, r->have);
    r->passed += r->at;
    r->at = r->whole = 0;
    if (r->content && !r->have && r->file->seeks &&
        r->stream.packing == CDX_PLAIN) {
        cdx_stream_pass(&r->stream, r->content);
        r->passed += r->content;
        r->content = 0;
        before = r->stream.raw.at;
    }
    if (!r->last) {
        r->have += cdx_stream_read(&r->stream, r->buffer + r->have,
                                   BLOCK - r->have);
        r->piece.bytes += r->stream.raw.at - before;
        r->last = r->stream.ended;
    } else if (!r->have) {
        r->over = true;
    }
    return !r->over;
}

/* Past the empty line that ends a header, or NULL. */
static const char *header_end(const char *at, const char *end)
{
    for (;;) {
        const char *line = memchr(at, '\n', (size_t)(end - at));

        if (!line)
            return NULL;
        at = line + 1;
        if (at < end && *at == '\n')
            return at + 1;
        if (end - at >= 2 && at[0] == '\r' && at[1] == '\n')
            return at + 2;
    }
}

static const char *line_end(const char *at, const char *end)
{
    const char *line = memchr(at, '\n', (size_t)(end - at));

    return line ? line + 1 : NULL;
}

static bool read_length(struct seen_span s, uint64_t *n)
{
    *n = 0;
    if (!s.len || s.len > 18)
        return false;
    for (size_t i = 0; i < s.len; i++) {
        if (s.text[i] < '0' || s.text[i] > '9')
            return false;
        *n = 10 * *n + (uint64_t)(s.text[i] - '0');
    }
    return true;
}

static bool content_length(const char *header, size_t len, uint64_t *n)
{
    struct seen_span s = { "", 0 };

    cdx_header_find(header, len, "Content-Length", &s);
    return read_length(s, n);
}

/* Status and type, from the HTTP header that the content begins with. */
static void read_http(struct seen_capture *c, const char *text, size_t len)
{
    const char *space;

    if (len < 12 || memcmp(text, "HTTP/", 5))
        return;
    space = memchr(text, ' ', 12);
    if (space && space + 4 <= text + len)
        c->status = (struct seen_span){ space + 1, 3 };
    if (cdx_header_find(text, len, "Content-Type", &c->mime)) {
        const char *semicolon = memchr(c->mime.text, ';', c->mime.len);

        if (semicolon)
            c->mime.len = (size_t)(semicolon - c->mime.text);
    }
}

/* Fill in the capture; false if the record is of another type. */
static bool read_record(struct seen_capture *c, const char *content,
                        size_t len)
{
    struct seen_span type;

    if (!cdx_header_find(c->line.text, c->line.len, "WARC-Type", &type) ||
        !(span_like(type, "response") || span_like(type, "resource") ||
          span_like(type, "revisit")))
        return false;
    if (!cdx_header_find(c->line.text, c->line.len, "WARC-Target-URI",
                         &c->url) ||
        !c->url.len) {
        c->fault = "a record without a target";
        return true;
    }
    if (c->url.len > 2 && c->url.text[0] == '<' &&
        c->url.text[c->url.len - 1] == '>') { /* as wget once wrote it */
        c->url.text++;
        c->url.len -= 2;
    }
    cdx_header_find(c->line.text, c->line.len, "WARC-Date", &c->timestamp);
    if (span_like(type, "resource"))
        cdx_header_find(c->line.text, c->line.len, "Content-Type", &c->mime);
    else
        read_http(c, content, len);
    c->fault = seen_key_fault(c->url.text, c->url.len);
    return true;
}

/* --- ARC --- */

/* The columns of the line from behind: URLs may have spaces. */
static bool read_arc(struct seen_capture *c, const struct seen_layout *l,
                     uint64_t *length)
{
    struct seen_span column[SEEN_COLUMNS], rest = c->line;

    while (rest.len && (rest.text[rest.len - 1] == '\n' ||
                        rest.text[rest.len - 1] == '\r'))
        rest.len--;
    c->line = rest;
    for (unsigned i = l->columns; --i;) {
        size_t n = rest.len;

        while (n && rest.text[n - 1] != ' ')
            n--;
        if (!n)
            return false;
        column[i] = (struct seen_span){ rest.text + n, rest.len - n };
        rest.len = n - 1;
    }
    c->url = rest;
    c->timestamp = column[l->timestamp];
    c->mime = column[l->mime];
    if (l->status >= 0)
        c->status = column[l->status];
    return rest.len && read_length(column[l->columns - 1], length);
}

/* False if it is about the file, not a capture. */
static bool arc_capture(struct seen_capture *c, const char *content,
                        size_t len)
{
    struct seen_span mime = c->mime;

    if (c->url.len > 9 && !memcmp(c->url.text, "filedesc:", 9))
        return false;
    if (!c->status.len)
        read_http(c, content, len);
    c->mime = mime;
    c->fault = seen_key_fault(c->url.text, c->url.len);
    return true;
}

/* --- both --- */

/*
 * Records that begin where the next piece does are its own. One that began
 * before it and goes on behind it shows that members are not records here:
 * then this reader reads on alone, and what the others read is void.
 */
static bool at_end(struct seen_reader *r)
{
    uint64_t here = r->passed + r->at;

    if (here > r->stream.end) {
        r->stream.end = CDX_NOWHERE;
        r->stream.met = CDX_NOWHERE - 1; /* no piece begins there */
    }
    return here == r->stream.end;
}

bool cdx_warc_next(struct seen_reader *r, struct seen_capture *c)
{
    const struct seen_layout *l = &r->file->layout;
    bool arc = l->format == SEEN_FORMAT_ARC;

    while (!r->over) {
        const char *at, *end = r->buffer + r->have, *content;
        size_t left, want;
        uint64_t length;

        if (r->content) {
            left = r->have - r->at;
            left = r->content < left ? (size_t)r->content : left;
            r->at += left;
            r->content -= left;
        }
        while (!r->content && r->at < r->have &&
               (r->buffer[r->at] == '\r' || r->buffer[r->at] == '\n'))
            r->at++;
        if (r->content || r->at == r->have) {
            if (r->last && r->content)
                cdx_reader_fail(r, SEEN_CORRUPT,
                                "the last record is cut short");
            return false;
        }
        if (at_end(r)) {
            r->over = true;
            return false;
        }
        at = r->buffer + r->at;
        left = r->have - r->at;
        content = arc ? line_end(at, end) : header_end(at, end);
        if (!arc && left >= 5 && memcmp(at, "WARC/", 5)) {
            cdx_reader_fail(r, SEEN_CORRUPT,
                            "bytes after a record are not a record");
            return false;
        }
        if (!content && (r->last || left > SEEN_LINE_TEXT)) {
            cdx_reader_fail(r, SEEN_CORRUPT,
                            "the header of a record never ends");
            return false;
        }
        if (!content)
            return false; /* fill() has more */
        *c = (struct seen_capture){ .line = { at, (size_t)(content - at) },
                                    .layout = l };
        if (arc ? !read_arc(c, l, &length)
                : !content_length(at, c->line.len, &length)) {
            cdx_reader_fail(r, SEEN_CORRUPT,
                            "a record does not say how long it is");
            return false;
        }
        left = (size_t)(end - content);
        want = length < HTTP ? (size_t)length : HTTP;
        if (r->detail == SEEN_DETAIL_ALL && left < want && !r->last)
            return false;
        r->piece.lines++;
        r->at = (size_t)(content - r->buffer);
        r->content = length;
        left = left < want ? left : want;
        if (arc ? arc_capture(c, content, left)
                : read_record(c, content, left))
            return true;
    }
    return false;
}
