/*
 * stream.c - unpack gzip and zstd, member by member.
 *
 *     between members --- next_member() ---> inside --- unpack() ---> between
 *           │
 *           └── end of the file, zeros, or other bytes
 *
 * A member is a place where another thread may begin: s->member is where the
 * last one began, and the caller's stop() says where a part of the file ends.
 * Bytes after a member that are no member are damage, zeros included: a crash
 * leaves a hole of zeros, and to take it for the end would lose what follows
 * without a word.
 *
 * To cut a file into parts, cdx_member_find() looks for a member from any byte
 * on. Ten bytes of a head look right by chance about once in 2^38, and packed
 * data may hold packed data; so a candidate must also unpack, for 64 KiB, to
 * what the caller expects. That costs one memchr() over the bytes and a trial
 * per candidate.
 */
#include "stream.h"

#include <errno.h>
#include <isa-l/crc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

enum { INPUT = 1 << 18, HEADER = 18 };

enum cdx_packing cdx_packing_of(const char *head, size_t len)
{
    const unsigned char *h = (const unsigned char *)head;

    if (inflate_is_gzip(head, len))
        return CDX_GZIP;
    if (len >= 4 && h[1] == 0xb5 && h[2] == 0x2f && h[3] == 0xfd &&
        h[0] == 0x28)
        return CDX_ZSTD;
    if (len >= 4 && (h[0] & 0xf0) == 0x50 && h[1] == 0x2a && h[2] == 0x4d &&
        h[3] == 0x18)
        return CDX_ZSTD; /* a frame to skip, as pzstd writes first */
    return CDX_PLAIN;
}

size_t cdx_raw_read(struct cdx_raw *r, char *to, size_t room)
{
    size_t done;

    if (r->end && r->at >= r->end)
        room = 0;
    else if (r->end && r->end - r->at < room)
        room = (size_t)(r->end - r->at);
    done = r->head_len < room ? r->head_len : room;
    if (done) {
        memcpy(to, r->head, done);
        r->head += done;
        r->head_len -= done;
        r->at += done;
    }
    while (done < room && r->fd >= 0) {
        ssize_t n = r->seeks
                        ? pread(r->fd, to + done, room - done, (off_t)r->at)
                        : read(r->fd, to + done, room - done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            r->failed = errno;
        else if (!n && r->at < r->least)
            r->failed = CDX_SHORTER;
        if (n <= 0)
            break;
        done += (size_t)n;
        r->at += (uint64_t)n;
    }
    return done;
}

enum seen_code cdx_stream_begin(struct cdx_stream *s, enum cdx_packing packing,
                                struct cdx_raw raw, struct seen_error *why)
{
    s->packing = packing;
    s->raw = raw;
    s->began = raw.at;
    s->in_at = s->in_len = 0;
    s->in_end = s->inside = s->ended = false;
    s->code = SEEN_OK;
    s->out = 0;
    s->end = s->met = CDX_NOWHERE;
    s->stop = NULL;
    if (packing != CDX_PLAIN && !s->in)
        s->in = malloc(INPUT);
    if (packing == CDX_ZSTD && !s->zstd)
        s->zstd = ZSTD_createDStream();
    if ((packing != CDX_PLAIN && !s->in) || (packing == CDX_ZSTD && !s->zstd))
        return seen_fail(why, SEEN_NOMEM, 0, "no memory to unpack");
    if (packing == CDX_ZSTD)
        ZSTD_initDStream(s->zstd);
    s->crc = 0;
    s->inside = packing == CDX_DEFLATE; /* which has no header */
    return s->inside ? inflate_begin(&s->inflate, INFLATE_RAW, why) : SEEN_OK;
}

void cdx_stream_clear(struct cdx_stream *s)
{
    free(s->in);
    inflate_clear(&s->inflate);
    ZSTD_freeDStream(s->zstd);
    memset(s, 0, sizeof *s);
}

static void end_by(struct cdx_stream *s, enum seen_code code, const char *text)
{
    s->ended = true;
    s->code = seen_fail(&s->why, code, s->raw.at - (s->in_len - s->in_at),
                        "%s", text);
}

/* There are no more bytes: because a read failed, or the file was cut short,
   which `text` says, or because this is its end. */
static void run_out(struct cdx_stream *s, const char *text)
{
    if (s->raw.failed == CDX_SHORTER) {
        end_by(s, SEEN_CORRUPT, "the file became shorter while it was read");
    } else if (s->raw.failed) {
        errno = s->raw.failed;
        end_by(s, SEEN_IO, "cannot be read");
    } else if (text) {
        end_by(s, SEEN_CORRUPT, text);
    }
    s->ended = true;
}

/* Make sure that `least` packed bytes are in memory, unless the file ends. */
static void refill(struct cdx_stream *s, size_t least)
{
    size_t left = s->in_len - s->in_at, n;

    if (left >= least || s->in_end)
        return;
    memmove(s->in, s->in + s->in_at, left);
    s->in_at = 0;
    s->in_len = left;
    n = cdx_raw_read(&s->raw, s->in + left, INPUT - left);
    s->in_len += n;
    s->in_end = s->in_len < INPUT;
}

/* --- gzip --- */

/* Between members: the end, zeros up to the end, or another member. */
static void next_member(struct cdx_stream *s)
{
    bool zeros = false;
    uint64_t at;

    refill(s, HEADER);
    while (s->out && s->in_at < s->in_len && !s->in[s->in_at]) {
        if (!zeros)
            s->member = s->raw.at - (s->in_len - s->in_at);
        zeros = true;
        s->in_at++;
        refill(s, HEADER);
    }
    if (s->in_at == s->in_len) {
        run_out(s, NULL);
        return;
    }
    if (zeros) { /* a hole, as a crash leaves where data was */
        end_by(s, SEEN_CORRUPT, "there are zeros between gzip members");
        return;
    }
    at = s->member = s->raw.at - (s->in_len - s->in_at);
    if (cdx_packing_of(s->in + s->in_at, s->in_len - s->in_at) != CDX_GZIP) {
        if (s->raw.failed && s->in_len - s->in_at < HEADER)
            run_out(s, NULL);
        else
            end_by(s, SEEN_CORRUPT, "bytes after a gzip member are not gzip");
        return;
    }
    if (s->stop && s->end == CDX_NOWHERE && at != s->began &&
        s->stop(s->to, at)) {
        s->end = s->out;
        s->met = at;
    }
    s->inside = inflate_begin(&s->inflate, INFLATE_GZIP, &s->why) == SEEN_OK;
    if (!s->inside)
        end_by(s, SEEN_NOMEM, "no memory to unpack");
}

/* A member of a zip file has its checksum elsewhere. */
static void end_deflate(struct cdx_stream *s)
{
    s->ended = true;
    if (s->crc != s->raw.crc)
        end_by(s, SEEN_CORRUPT, "the deflated data is damaged");
}

static size_t unpack(struct cdx_stream *s, char *to, size_t room)
{
    const void *in;
    size_t made, left;
    enum inflate_result result;

    refill(s, 1);
    in = s->in + s->in_at;
    left = s->in_len - s->in_at;
    result = inflate_some(&s->inflate, &in, &left, to, room, &made);
    if (s->packing == CDX_DEFLATE)
        s->crc = crc32_gzip_refl(s->crc, (unsigned char *)to, made);
    if (result == INFLATE_MORE && !made && s->in_end &&
        left == s->in_len - s->in_at) {
        run_out(s, "the packed data is cut short");
        return 0;
    }
    s->in_at = s->in_len - left;
    s->inside = result == INFLATE_MORE;
    if (result == INFLATE_DAMAGE)
        end_by(s, SEEN_CORRUPT, "the packed data is damaged");
    else if (result == INFLATE_END && s->packing == CDX_DEFLATE)
        end_deflate(s);
    return made;
}

/* --- zstd --- */

static size_t decompress_some(struct cdx_stream *s, char *to, size_t room)
{
    ZSTD_outBuffer out = { to, room, 0 };
    ZSTD_inBuffer in;
    size_t code;

    refill(s, 1);
    if (!s->inside && s->in_at == s->in_len) {
        run_out(s, NULL);
        return 0;
    }
    in = (ZSTD_inBuffer){ s->in + s->in_at, s->in_len - s->in_at, 0 };
    code = ZSTD_decompressStream(s->zstd, &out, &in);
    s->in_at += in.pos;
    s->inside = code != 0;
    if (ZSTD_isError(code))
        end_by(s, SEEN_CORRUPT, "the zstd data is damaged");
    else if (s->inside && !out.pos && !in.pos && s->in_end)
        run_out(s, "the zstd data is cut short");
    return out.pos;
}

size_t cdx_stream_read(struct cdx_stream *s, char *to, size_t room)
{
    size_t done = 0;

    if (s->packing == CDX_PLAIN && !s->ended) {
        done = cdx_raw_read(&s->raw, to, room);
        if (done < room)
            run_out(s, NULL);
        s->out += done;
        return done;
    }
    while (done < room && !s->ended) {
        size_t n = 0;

        if (s->packing == CDX_ZSTD)
            n = decompress_some(s, to + done, room - done);
        else if (s->inside)
            n = unpack(s, to + done, room - done);
        else
            next_member(s);
        done += n;
        s->out += n;
    }
    return done;
}

void cdx_stream_pass(struct cdx_stream *s, uint64_t n)
{
    s->raw.at += n;
    s->out += n;
}

/* --- finding members --- */

enum { WINDOW = 1 << 16, TRIAL = 1 << 16 };

/* Bytes that begin a gzip member almost certainly: the method is 8, no
   reserved flag is set, and level and system are among those there are. */
static bool looks_so(const unsigned char *h)
{
    return h[0] == 0x1f && h[1] == 0x8b && h[2] == 8 && !(h[3] & 0xe0) &&
           (h[8] == 0 || h[8] == 2 || h[8] == 4) &&
           (h[9] <= 13 || h[9] == 255);
}

static bool unpacks(struct cdx_raw raw, const char *magic)
{
    struct cdx_stream s = { .packing = CDX_PLAIN };
    size_t len = strlen(magic), n = 0;
    char *out = malloc(TRIAL);
    bool good = false;

    if (out && cdx_stream_begin(&s, CDX_GZIP, raw, NULL) == SEEN_OK) {
        n = cdx_stream_read(&s, out, TRIAL);
        good = s.code == SEEN_OK && n > 0 && n >= len &&
               !memcmp(out, magic, len);
    }
    cdx_stream_clear(&s);
    free(out);
    return good;
}

uint64_t cdx_member_find(struct cdx_raw raw, uint64_t to, const char *magic)
{
    char *window = malloc(WINDOW + HEADER);
    uint64_t from = raw.at, found = CDX_NOWHERE;

    while (window && from < to && found == CDX_NOWHERE) {
        size_t n, i = 0;

        raw.at = from;
        n = cdx_raw_read(&raw, window, WINDOW + HEADER);
        if (n < HEADER)
            break;
        for (n -= HEADER; i <= n && found == CDX_NOWHERE; i++) {
            const char *at = memchr(window + i, 0x1f, n + 1 - i);

            if (!at)
                break;
            i = (size_t)(at - window);
            raw.at = from + i;
            if (raw.at >= to)
                break;
            if (looks_so((const unsigned char *)at) && unpacks(raw, magic))
                found = raw.at;
        }
        from += n + 1;
    }
    free(window);
    return found;
}
