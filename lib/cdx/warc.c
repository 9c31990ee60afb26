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
 * not even read.
 *
 * A file that has something else at some place is damaged there. The reader
 * then looks for the next record: the next gzip member that unpacks, or the
 * next line that begins a record. What is passed over is counted.
 */
#include "reader.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../text/number.h"
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

static bool content_length(const char *header, size_t len, uint64_t *n)
{
    struct seen_span s = { "", 0 };

    cdx_header_find(header, len, "Content-Length", &s);
    return number_digits(s, n);
}

/*
 * Is this the header of one record? If one was cut short, the next begins in
 * the middle of its line, and headers that each record has once are there
 * twice; or what was left of the first one has no colon.
 */
static bool one_header(const char *at, const char *end)
{
    static const char *const once[] = { "WARC-Type:", "WARC-Record-ID:",
                                        "WARC-Date:", "Content-Length:" };
    unsigned found = 0;

    while ((at = line_end(at, end))) { /* the first has the version */
        size_t len = (size_t)(end - at);
        const char *stop = memchr(at, '\n', len);

        len = stop ? (size_t)(stop - at) : len;
        if (memmem(at, len, "WARC/", 5) && !memchr(at, ':', len))
            return false;
        for (unsigned i = 0; i < sizeof once / sizeof once[0]; i++) {
            size_t n = strlen(once[i]);

            if (len < n || strncasecmp(at, once[i], n))
                continue;
            if (found >> i & 1)
                return false;
            found |= 1u << i;
        }
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

/* The columns of the line, from its end: URLs may have spaces. */
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
    return rest.len && number_digits(column[l->columns - 1], length);
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
 * before it and goes on after it shows that members are not records here:
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

/* --- after damage --- */

/*
 * Does a record begin at `at`? 1: yes. 0: no. -1: more bytes must be known. A
 * page about WARC files may have such a line, too, so the first headers count.
 */
static int begins_record(const struct seen_layout *l, const char *at,
                         const char *end, bool last)
{
    struct seen_capture c = { .layout = l };
    struct seen_span type;
    const char *stop;
    uint64_t length;
    size_t left = (size_t)(end - at);

    if (l->format == SEEN_FORMAT_ARC) {
        stop = line_end(at, end);
        c.line = (struct seen_span){ at, stop ? (size_t)(stop - at) : 0 };
        if (!stop)
            return last || left > SEEN_LINE_TEXT ? 0 : -1;
        return read_arc(&c, l, &length) && c.timestamp.len == 14 &&
               cdx_is_time(c.timestamp.text, 14) &&
               memchr(c.url.text, ':', c.url.len);
    }
    if (memcmp(at, "WARC/", left < 5 ? left : 5))
        return 0;
    stop = header_end(at, end);
    if (!stop)
        return last || left > SEEN_LINE_TEXT ? 0 : -1;
    return content_length(at, (size_t)(stop - at), &length) &&
           cdx_header_find(at, (size_t)(stop - at), "WARC-Type", &type);
}

/* Pass over n bytes on the way to the next record. */
static void skip(struct seen_reader *r, size_t n)
{
    r->at += n;
    r->skipped += n;
}

/* Look for a record from the next line on; true if one begins at r->at. */
static bool find_record(struct seen_reader *r)
{
    const char *end = r->buffer + r->have;

    if (r->stream.end != CDX_NOWHERE && r->stream.end < r->passed + r->have)
        end = r->buffer + (r->stream.end - r->passed);
    while (r->buffer + r->at < end) {
        const char *at = r->buffer + r->at;
        const char *line = memchr(at, '\n', (size_t)(end - at));
        int found;

        if (!line || line + 1 == end) { /* it may begin a record: keep it */
            skip(r, (size_t)((line ? line : end) - at));
            break;
        }
        found = begins_record(&r->file->layout, line + 1, end, r->last);
        skip(r, (size_t)(line - at));
        if (found < 0)
            return false;
        skip(r, 1);
        if (found > 0)
            return true;
    }
    if (end < r->buffer + r->have) { /* where the next piece begins */
        skip(r, (size_t)(end - r->buffer) - r->at);
        return true;
    }
    return false;
}

/* The bytes at r->at are not what they should be. */
static void search(struct seen_reader *r, const char *cause)
{
    r->cause = cause;
    r->content = r->skipped = 0;
}

/* Report what was passed over as a bad line. */
static bool report_gap(struct seen_reader *r, struct seen_capture *c,
                       const char *cause)
{
    *c = (struct seen_capture){ .fault = cause, .layout = &r->file->layout };
    r->piece.lines++;
    return true;
}

/*
 * There are no more bytes, in a record or on the way to one. True if another
 * member can be read instead.
 */
static bool end_early(struct seen_reader *r, struct seen_capture *c,
                      const char *cause)
{
    if (cdx_reader_restart(r))
        return report_gap(r, c, r->text);
    if (r->stream.code == SEEN_OK && cause)
        cdx_reader_fail(r, SEEN_CORRUPT, cause);
    r->over = true;
    return false;
}

static const char cut_short[] = "the last record is cut short";

/* Go on with the search; true if `c` says how it ended. */
static bool search_on(struct seen_reader *r, struct seen_capture *c)
{
    const char *cause = r->cause;

    if (find_record(r)) {
        r->cause = NULL;
        r->piece.damaged++;
        r->piece.skipped += r->skipped;
        return report_gap(
            r, c,
            cause == cut_short ? "a record is longer than the file" : cause);
    }
    return r->last && end_early(r, c, cause);
}

/* A record that ends past the file has a wrong length, or was cut short. */
static bool too_long(const struct seen_reader *r, size_t left)
{
    const struct cdx_file *f = r->file;

    return f->seeks && r->stream.packing == CDX_PLAIN && r->content > left &&
           r->content - left > f->size - r->stream.raw.at;
}

/* Pass over what is left of a record; true if the next one begins at r->at. */
static bool pass_over(struct seen_reader *r)
{
    size_t left;

    if (!r->piece.lines && !r->passed && !r->at)
        r->at = cdx_mark(r->buffer, r->have);
    left = r->have - r->at;
    left = r->content < left ? (size_t)r->content : left;
    r->at += left;
    r->content -= left;
    while (!r->content && r->at < r->have &&
           (r->buffer[r->at] == '\r' || r->buffer[r->at] == '\n'))
        r->at++;
    return !r->content && r->at < r->have;
}

bool cdx_warc_next(struct seen_reader *r, struct seen_capture *c)
{
    const struct seen_layout *l = &r->file->layout;
    bool arc = l->format == SEEN_FORMAT_ARC;

    while (!r->over) {
        const char *at, *end = r->buffer + r->have, *content;
        size_t left, want;
        uint64_t length;

        if (r->cause)
            return search_on(r, c);
        if (!pass_over(r))
            return r->last && end_early(r, c, r->content ? cut_short : NULL);
        if (at_end(r)) {
            cdx_reader_done(r);
            return false;
        }
        at = r->buffer + r->at;
        left = r->have - r->at;
        content = arc ? line_end(at, end) : header_end(at, end);
        if (arc ? (unsigned char)*at < ' '
                : left >= 5 && memcmp(at, "WARC/", 5)) {
            search(r, "bytes after a record are not a record");
            continue;
        }
        if (!content && (r->last || left > SEEN_LINE_TEXT)) {
            search(r, "the header of a record never ends");
            continue;
        }
        if (!content)
            return false; /* fill() has more */
        *c = (struct seen_capture){ .line = { at, (size_t)(content - at) },
                                    .layout = l };
        if (arc ? !read_arc(c, l, &length)
                : !content_length(at, c->line.len, &length)) {
            search(r, "a record does not say how long it is");
            continue;
        }
        if (memchr(at, '\0', (size_t)(content - at))) {
            search(r, "the header of a record has a hole");
            continue;
        }
        if (!arc && !one_header(at, content)) {
            search(r, "the header of a record is cut short");
            continue;
        }
        left = (size_t)(end - content);
        want = length < HTTP ? (size_t)length : HTTP;
        if (r->detail == SEEN_DETAIL_ALL && left < want && !r->last)
            return false;
        r->piece.lines++;
        r->at = (size_t)(content - r->buffer);
        r->content = length;
        if (too_long(r, left))
            search(r, cut_short);
        left = left < want ? left : want;
        if (arc ? arc_capture(c, content, left)
                : read_record(c, content, left))
            return true;
    }
    return false;
}
