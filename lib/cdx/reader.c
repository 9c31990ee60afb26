/*
 * reader.c - the lines of a piece.
 *
 * A piece has the lines that begin after its first byte, up to and including
 * one that begins where the next piece does. The first piece of a file also
 * has the first line. So no line is read twice or left out, and a reader can
 * begin at a gzip member without knowing what comes before it.
 */
#include "reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "line.h"

enum { PAGE = 4096, ROOM = PADDING + PAGE + PIPE_PIECE + PADDING };

enum seen_code seen_reader_new(struct seen_reader **out, struct seen_source *s,
                               enum seen_detail detail, struct seen_error *why)
{
    struct seen_reader *r = calloc(1, sizeof *r);

    *out = NULL;
    if (r) {
        r->source = s;
        r->detail = detail;
        r->fd = -1;
        r->scan = cdx_scanner_fastest();
        r->memory = calloc(1, ROOM);
        r->buffer = r->memory ? r->memory + PADDING : NULL;
        r->room = malloc(BLOCK + PADDING);
    }
    if (!r || !r->memory || !r->room) {
        seen_reader_free(r);
        return seen_fail(why, SEEN_NOMEM, 0, "no memory to read");
    }
    *out = r;
    return SEEN_OK;
}

static void let_go(struct seen_reader *r)
{
    if (r->fd >= 0)
        close(r->fd);
    r->fd = -1;
}

void seen_reader_free(struct seen_reader *r)
{
    if (!r)
        return;
    let_go(r);
    cdx_stream_clear(&r->stream);
    free(r->memory);
    free(r->room);
    free(r);
}

const struct seen_piece *seen_reader_piece(const struct seen_reader *r)
{
    return &r->piece;
}

void cdx_reader_fail(struct seen_reader *r, enum seen_code code,
                     const char *text)
{
    r->over = true;
    r->stream.code = seen_fail(&r->stream.why, code, 0, "%s", text);
}

enum seen_code seen_reader_end(const struct seen_reader *r,
                               struct seen_error *why)
{
    if (r->stream.code != SEEN_OK && why)
        *why = r->stream.why;
    return r->stream.code;
}

/* --- taking a piece --- */

static bool stops_at(void *to, uint64_t at)
{
    struct seen_reader *r = to;
    uint64_t i = at / GZIP_PIECE - r->file->base / GZIP_PIECE;

    return i != r->index && i < r->file->pieces &&
           cdx_file_start(r->file, i) == at;
}

static struct cdx_raw raw_of(struct seen_reader *r, int fd, uint64_t at)
{
    struct cdx_file *f = r->file;

    return (struct cdx_raw){ .fd = f->failed ? -1 : fd,
                             .failed = f->failed,
                             .seeks = f->seeks,
                             .at = at,
                             .end = f->end,
                             .least = f->seeks ? f->size : 0,
                             .crc = f->crc,
                             .head = f->head,
                             .head_len = f->head_len };
}

/* Set the stream to the beginning of the piece. */
static enum seen_code begin(struct seen_reader *r, struct seen_error *why)
{
    struct cdx_file *f = r->file;
    bool lines = !cdx_has_records(&f->layout);
    uint64_t at = f->base;
    enum seen_code code;
    int fd;

    if (f->seeks && f->packing == CDX_GZIP) {
        at = r->start = cdx_file_start(f, r->index);
        if (at == CDX_NOWHERE || (r->source->options.in_order &&
                                  cdx_void(r->source, f, r->index, at))) {
            r->over = true; /* no member begins here, or it was read */
            return SEEN_OK;
        }
    } else if (f->seeks && f->packing == CDX_PLAIN && lines) {
        at += r->index * PLAIN_PIECE;
    }
    fd = cdx_file_open(f);
    if (fd < 0)
        return seen_fail(why, SEEN_IO, 0, "cannot be read");
    r->fd = fd == f->fd ? -1 : fd;
    code = cdx_stream_begin(&r->stream, f->packing, raw_of(r, fd, at), why);
    if (code != SEEN_OK)
        return code;
    r->dropping = lines && r->index;
    if (f->seeks && f->packing == CDX_GZIP) {
        r->stream.stop = stops_at;
        r->stream.to = r;
    } else if (f->seeks && f->packing == CDX_PLAIN && lines &&
               r->index + 1 < f->pieces) {
        r->stream.end = PLAIN_PIECE;
    }
    return SEEN_OK;
}

/* The next member that begins after `from`, in its piece or a later one. */
static uint64_t member_after(struct seen_reader *r, uint64_t from)
{
    struct cdx_file *f = r->file;
    struct cdx_raw raw = raw_of(r, r->stream.raw.fd, from + 1);
    uint64_t end = (raw.at / GZIP_PIECE + 1) * GZIP_PIECE, at;
    uint64_t i = end / GZIP_PIECE - f->base / GZIP_PIECE;

    at = cdx_member_find(raw, end < f->size ? end : f->size,
                         cdx_file_magic(f));
    for (; at == CDX_NOWHERE && i < f->pieces; i++)
        at = cdx_file_start(f, i);
    return at;
}

bool cdx_reader_restart(struct seen_reader *r)
{
    const struct cdx_file *f = r->file;
    struct cdx_stream *s = &r->stream;
    uint64_t from = s->member, at;

    if (s->code != SEEN_CORRUPT || s->packing != CDX_GZIP || !f->seeks ||
        s->raw.failed)
        return false;
    snprintf(r->text, sizeof r->text, "%s", s->why.text);
    at = member_after(r, from);
    if (at == CDX_NOWHERE)
        return false;
    if (cdx_stream_begin(s, CDX_GZIP, raw_of(r, s->raw.fd, at), &s->why) !=
        SEEN_OK) {
        s->code = SEEN_NOMEM;
        return false;
    }
    s->stop = stops_at;
    s->to = r;
    r->piece.damaged++;
    r->piece.skipped += at - from;
    r->at = r->whole = r->have = 0;
    r->passed = r->content = 0;
    r->cause = NULL;
    r->last = false;
    if (stops_at(r, at)) { /* the next piece reads on from there */
        s->met = at;
        r->over = true;
    }
    return true;
}

/* Find the next piece there is; false at the end. The lock is held. */
static bool advance(struct seen_source *s, struct seen_reader *r)
{
    while (s->next < s->files && s->piece >= s->file[s->next].pieces) {
        s->next++;
        s->piece = 0;
    }
    if (s->next == s->files)
        return false;
    r->file = &s->file[s->next];
    r->index = s->piece++;
    r->piece = (struct seen_piece){ .number = s->number++,
                                    .file = s->next,
                                    .input = r->file->title,
                                    .format = r->file->layout.format,
                                    .first = !r->index };
    return true;
}

/* The buffer has new lines, from r->at on. */
static void begin_lines(struct seen_reader *r)
{
    cdx_lines_begin(&r->lines, r->at);
    r->cuts = 0;
    r->before.len = 0;
}

/* Pipes are read under the lock, so that pieces are in order. */
static enum seen_code take_pipe(struct seen_source *s, struct seen_reader *r,
                                struct seen_error *why)
{
    struct cdx_file *f = r->file;
    size_t n;

    if (f->late) {
        enum seen_code code = cdx_open_late(s, f, why);

        if (code != SEEN_OK) {
            f->pieces = 1;
            return code;
        }
    }
    if (f->packing != CDX_PLAIN || cdx_has_records(&f->layout)) {
        f->pieces = 1;
        return begin(r, why);
    }
    n = cdx_pipe_lines(s, f, r->buffer);
    if (n == SIZE_MAX || n == 0)
        f->pieces = 0;
    r->have = r->whole = n == SIZE_MAX ? 0 : n;
    r->last = true;
    r->piece.bytes = r->have;
    if (n == SIZE_MAX) {
        cdx_reader_fail(r, SEEN_IO, "cannot be read");
        return seen_fail(why, SEEN_IO, 0, "cannot be read");
    }
    r->over = !n;
    r->at = r->index ? 0 : cdx_mark(r->buffer, r->have);
    begin_lines(r);
    return SEEN_OK;
}

static bool is_fast(const struct seen_reader *r, const struct seen_layout *l)
{
    if (r->detail != SEEN_DETAIL_KEY &&
        !(r->proves && r->detail == SEEN_DETAIL_URL))
        return false;
    return l->format == SEEN_FORMAT_CDXJ ||
           (l->format == SEEN_FORMAT_CDX && l->key == 0 && l->timestamp == 1 &&
            (!r->proves || l->url == 2));
}

enum seen_code seen_source_next(struct seen_source *s, struct seen_reader *r,
                                bool *more, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    if (s->options.in_order && r->unfolded)
        seen_source_fold(s, r);
    let_go(r);
    r->at = r->whole = r->have = r->used = 0;
    r->passed = r->content = 0;
    r->dropping = r->last = r->over = false;
    r->start = CDX_NOWHERE;
    r->before.len = 0;
    r->cause = NULL;
    r->stream.code = SEEN_OK;
    r->stream.end = r->stream.met = CDX_NOWHERE;
    pthread_mutex_lock(&s->lock);
    *more = advance(s, r);
    if (*more && !r->file->seeks)
        code = take_pipe(s, r, why);
    pthread_mutex_unlock(&s->lock);
    if (!*more)
        return SEEN_OK;
    r->unfolded = true;
    if (r->file->seeks)
        code = begin(r, why);
    if (code != SEEN_OK) {
        r->over = true;
        r->stream.code = code;
        r->stream.why = *why;
    }
    r->counted = r->file->layout.format == SEEN_FORMAT_CDX
                     ? r->file->layout.delimiter
                     : '\n';
    r->fast = is_fast(r, &r->file->layout);
    return code;
}

bool seen_source_fold(struct seen_source *s, struct seen_reader *r)
{
    const struct cdx_file *f = r->file;

    s->folded++;
    r->unfolded = false;
    if (!f->seeks || f->packing != CDX_GZIP)
        return true;
    if (cdx_void(s, f, r->index, r->start))
        return false;
    /* A reader that met no later piece read to the end of the file. After
       damage any piece may be valid. */
    s->expected = r->stream.met;
    if (s->expected == CDX_NOWHERE && r->stream.code == SEEN_OK)
        s->expected = CDX_NOWHERE - 1;
    return true;
}

/* --- lines --- */

/* Drop the rest of a line that belongs to another piece or is too long. */
static void drop_line(struct seen_reader *r)
{
    const char *end = memchr(r->buffer, '\n', r->have);

    r->at = end ? (size_t)(end - r->buffer) + 1 : r->have;
    r->dropping = !end;
}

static size_t wanted(const struct seen_reader *r)
{
    const struct cdx_stream *s = &r->stream;
    uint64_t left = s->end - s->out; /* not far past the end of the piece */
    size_t room = BLOCK - r->have;

    if (s->packing == CDX_PLAIN && s->end != CDX_NOWHERE && s->out <= s->end &&
        left + 4096 < room)
        return (size_t)left + 4096;
    return room;
}

/* Where does what we have of whole lines end? */
static void find_whole(struct seen_reader *r)
{
    r->whole = r->have;
    if (r->last && r->stream.code == SEEN_OK)
        return;
    while (r->whole > r->at && r->buffer[r->whole - 1] != '\n')
        r->whole--;
    if (r->have - r->whole > SEEN_LINE_TEXT) {
        r->whole = r->have; /* returned as it is: it is too long anyway */
        r->dropping = true;
    } else if (r->last) {
        r->have = r->whole; /* of a line that was cut nothing is right */
    }
}

/*
 * Where the buffer begins, if `have` bytes are in it and more are read from
 * `at` of the file: the kernel copies them from there in its page to the same
 * place of a page here. An AMD EPYC (Zen 3) takes four times as long for a
 * copy to a place up to 63 bytes further on in the page.
 */
static char *place_buffer(const struct seen_reader *r, uint64_t at,
                          size_t have)
{
    uint64_t place = at - have - (uintptr_t)(r->memory + PADDING);

    return r->memory + PADDING + place % PAGE;
}

/* Move the rest after the whole lines to the front, and read more. */
static void read_on(struct seen_reader *r)
{
    uint64_t before = r->stream.raw.at;
    size_t n, room;
    char *to;

    r->have -= r->whole;
    to = place_buffer(r, before, r->have);
    memmove(to, r->buffer + r->whole, r->have);
    r->buffer = to;
    r->passed += r->whole;
    r->at = r->whole = 0;
    room = wanted(r);
    n = cdx_stream_read(&r->stream, r->buffer + r->have, room);
    r->piece.bytes += r->stream.raw.at - before;
    r->have += n;
    r->last = r->stream.ended;
    if (!r->index && !r->passed && r->have == n)
        r->at = cdx_mark(r->buffer, r->have);
    if (r->dropping)
        drop_line(r);
    find_whole(r);
    begin_lines(r);
}

bool seen_reader_fill(struct seen_reader *r)
{
    if (cdx_has_records(&r->file->layout))
        return cdx_warc_fill(r);
    r->used = 0;
    while (!r->over && r->at >= r->whole) {
        if (r->last)
            r->over = true;
        else
            read_on(r);
    }
    return !r->over;
}

/* Take the next line: `line` is where it begins, and the result where it
   ends. There is one. */
static inline size_t take_line(struct seen_reader *r, unsigned *cuts)
{
    struct cdx_lines *l = &r->lines;
    const struct cdx_line_end *end;

    while (l->next == l->n)
        r->scan->lines(l, r->buffer, r->whole, r->counted);
    end = &l->end[l->next++];
    *cuts = end->cuts - r->cuts;
    r->cuts = end->cuts;
    r->at = (size_t)end->at + 1;
    return end->at;
}

/* The columns of CDX, as cdx_good() wants them. */
static inline unsigned columns_of(const struct seen_layout *l)
{
    return l->format == SEEN_FORMAT_CDX ? l->columns : 0;
}

/* Does a line begin with the key of the line before? */
static inline bool repeats(const struct seen_reader *r, const char *line,
                           size_t len)
{
    size_t key = r->before.len;

    return key && key < len && line[key] == r->file->layout.delimiter &&
           cdx_same(line, r->before.text, key);
}

/* The URL of a line that cdx_good() likes, if it is found at once. */
static bool find_url(const struct seen_reader *r, struct seen_capture *c,
                     size_t key)
{
    const struct seen_layout *l = c->layout;
    const char *end = c->line.text + c->line.len, *to;
    char stop = cdx_url_stop(columns_of(l), l->delimiter);
    const char *at = cdx_url_at(columns_of(l), c->line.text, key, end,
                                l->delimiter);

    if (!r->proves)
        return true;
    to = at ? memchr(at, stop, (size_t)(end - at)) : NULL;
    if (at && !to && stop != '"')
        to = end;
    if (!to || (stop == '"' && memchr(at, '\\', (size_t)(to - at))))
        return false;
    c->url = (struct seen_span){ at, (size_t)(to - at) };
    c->url.len -= to == end && c->url.len && to[-1] == '\r';
    return true;
}

/*
 * Captures of one URL follow each other: a key that is that of the line before
 * is not looked at again, and has that one's address, by which a caller sees
 * at once that it is the same.
 */
static bool next_key(struct seen_reader *r, struct seen_capture *c)
{
    const struct seen_layout *l = &r->file->layout;
    const char *line = r->buffer + r->at;
    struct cdx_key_scan k = { .len = r->before.len };
    unsigned cuts;
    size_t len = take_line(r, &cuts) - (size_t)(line - r->buffer);
    bool same = repeats(r, line, len), good;
    size_t used;

    if (!same)
        r->scan->key(&k, line, len, l->delimiter);
    good = cdx_good(columns_of(l), line, &len, k.len, cuts);
    c->line = (struct seen_span){ line, len };
    if (!good || !find_url(r, c, k.len)) {
        good = cdx_line_read(c, l, r->detail, line, len, r->room + r->used,
                             &used);
        r->used += used;
        return good;
    }
    c->key = (struct seen_span){ line, k.len };
    if (l->format == SEEN_FORMAT_CDXJ)
        c->json = (struct seen_span){ line + k.len + 16, len - k.len - 16 };
    if (!same && k.controls) {
        c->fault = "a control byte";
        return true;
    }
    if (!same) {
        r->before = c->key;
        r->before_surt = k.surt;
    }
    c->key = r->before;
    c->surt = r->before_surt;
    return true;
}

uint64_t cdx_reader_picks(struct seen_reader *r, uint64_t most,
                          struct cdx_pick *pick, unsigned *n)
{
    const struct seen_layout *l = &r->file->layout;
    struct cdx_picks p = { .text = r->buffer,
                           .at = r->at,
                           .last = r->stream.end - r->passed,
                           .most = most,
                           .cuts = r->cuts,
                           .columns = columns_of(l),
                           .delimiter = l->delimiter,
                           .proves = r->proves,
                           .before = r->before.text,
                           .before_len = r->before.len,
                           .room = *n,
                           .pick = pick };

    *n = 0;
    if (r->passed > r->stream.end) /* the next piece's */
        return 0;
    if (r->lines.next == r->lines.n && r->at < r->whole)
        r->scan->lines(&r->lines, r->buffer, r->whole, r->counted);
    r->scan->picks(&r->lines, &p);
    *n = p.n;
    r->at = p.at;
    r->cuts = p.cuts;
    if (p.n) {
        r->before = (struct seen_span){ p.before, p.before_len };
        r->before_surt = true;
    }
    r->piece.lines += most - p.most;
    return most - p.most;
}

/* One by one: gcc makes of `*c = (struct seen_capture){ 0 }` a `rep stos`,
   which took 6 % of the time of a build. */
static inline void blank(struct seen_capture *c, const struct seen_layout *l)
{
    static const struct seen_span none;

    c->line = c->key = c->url = none;
    c->timestamp = c->mime = c->status = none;
    c->json = none;
    c->surt = false;
    c->fault = NULL;
    c->layout = l;
}

/* A line of a list, at `line`, is a URL and nothing else. */
static inline bool is_url(struct seen_capture *c, const char *line, size_t len,
                          bool empty_lines)
{
    len -= len && line[len - 1] == '\r';
    c->line = c->url = (struct seen_span){ line, len };
    c->fault = len ? seen_key_fault(line, len) : "an empty line";
    return len || empty_lines;
}

bool seen_reader_next(struct seen_reader *r, struct seen_capture *c)
{
    const struct seen_layout *l = &r->file->layout;

    if (cdx_has_records(l))
        return cdx_warc_next(r, c);
    blank(c, l);
    while (r->at < r->whole) {
        const char *line = r->buffer + r->at, *stop;
        size_t len, used;

        if (r->passed + r->at > r->stream.end) {
            cdx_reader_done(r); /* the next piece's */
            return false;
        }
        if (r->fast) {
            if (r->used + SEEN_LINE_TEXT > BLOCK)
                return false; /* fill() makes room for escapes */
            r->piece.lines++;
            if (next_key(r, c))
                return true;
            continue;
        }
        stop = memchr(line, '\n', r->whole - r->at);
        len = stop ? (size_t)(stop - line) : r->whole - r->at;
        if (l->format == SEEN_FORMAT_URLS) {
            r->piece.lines++;
            r->at += len + 1;
            if (is_url(c, line, len, r->empty_lines))
                return true;
            continue;
        }
        if (r->used + len > BLOCK && r->used)
            return false; /* no room for escapes: fill() makes some */
        r->piece.lines++;
        r->at += len + 1;
        if (len > BLOCK)
            len = SEEN_LINE_TEXT + 1;
        if (cdx_line_read(c, l, r->detail, line, len, r->room + r->used,
                          &used)) {
            r->used += used;
            return true;
        }
    }
    return false;
}
