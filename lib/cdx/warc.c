/*
 * warc.c - the records of a WARC file, as captures.
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
 * Records that hold a capture are response, resource and revisit. What is in
 * them is passed over: a plain file's is not even read. A file that is no
 * WARC any more at some place is read no further in that piece, since
 * nothing tells where the next record begins.
 */
#include "reader.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

static bool same(struct seen_span s, const char *word)
{
    return s.len == strlen(word) && !strncasecmp(s.text, word, s.len);
}

static bool content_length(const char *header, size_t len, uint64_t *n)
{
    struct seen_span s;

    *n = 0;
    if (!cdx_header_find(header, len, "Content-Length", &s) || !s.len ||
        s.len > 18)
        return false;
    for (size_t i = 0; i < s.len; i++) {
        if (s.text[i] < '0' || s.text[i] > '9')
            return false;
        *n = 10 * *n + (uint64_t)(s.text[i] - '0');
    }
    return true;
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

/* Fill in what a record holds; false if it is no capture. */
static bool read_record(struct seen_capture *c, const char *content,
                        size_t len)
{
    struct seen_span type;

    if (!cdx_header_find(c->line.text, c->line.len, "WARC-Type", &type) ||
        !(same(type, "response") || same(type, "resource") ||
          same(type, "revisit")))
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
    if (same(type, "resource"))
        cdx_header_find(c->line.text, c->line.len, "Content-Type", &c->mime);
    else
        read_http(c, content, len);
    c->fault = seen_key_fault(c->url.text, c->url.len);
    return true;
}

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
        content = header_end(at, end);
        if (left >= 5 && memcmp(at, "WARC/", 5)) {
            cdx_reader_fail(r, SEEN_CORRUPT, "what follows a record is none");
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
                                    .layout = &r->file->layout };
        if (!content_length(at, c->line.len, &length)) {
            cdx_reader_fail(r, SEEN_CORRUPT,
                            "a record does not say how long "
                            "it is");
            return false;
        }
        left = (size_t)(end - content);
        want = length < HTTP ? (size_t)length : HTTP;
        if (r->detail == SEEN_DETAIL_ALL && left < want && !r->last)
            return false;
        r->piece.lines++;
        r->at = (size_t)(content - r->buffer);
        r->content = length;
        if (read_record(c, content, left < want ? left : want))
            return true;
    }
    return false;
}
