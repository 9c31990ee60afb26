/*
 * inflate.c - members of gzip, and other deflate, by isa-l.
 *
 * The header of a member is read here. isa-l can do it too, but forgets the
 * flags of a header that comes in two pieces, so that its answer depended on
 * where the pieces end.
 */
#include "inflate.h"

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <stdlib.h>

/* RFC 1952, section 2.3. */
enum { FHCRC = 2, FEXTRA = 4, FNAME = 8, FCOMMENT = 16, RESERVED = 0xe0 };
enum { FIXED = 10 }; /* bytes that every header has */
/* RFC 1950, section 2.2. */
enum { ZLIB_FIXED = 2, FDICT = 0x20 };

bool inflate_is_gzip(const void *head, size_t len)
{
    const unsigned char *h = head;

    return len >= 3 && h[0] == 0x1f && h[1] == 0x8b && h[2] == 8;
}

bool inflate_is_zlib(const void *head, size_t len)
{
    const unsigned char *h = head;

    return len >= ZLIB_FIXED && (h[0] & 15) == 8 && h[0] >> 4 <= 7 &&
           !(h[1] & FDICT) && (h[0] << 8 | h[1]) % 31 == 0;
}

enum seen_code inflate_begin(struct inflate *z, enum inflate_form form,
                             struct seen_error *why)
{
    /* Zeroed: damaged data may lead isa-l to tables that were not filled. */
    if (!z->state)
        z->state = calloc(1, sizeof *z->state);
    if (!z->state)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory to unpack");
    isal_inflate_init(z->state);
    z->state->crc_flag = form == INFLATE_GZIP   ? ISAL_GZIP_NO_HDR_VER
                         : form == INFLATE_ZLIB ? ISAL_ZLIB_NO_HDR_VER
                                                : ISAL_DEFLATE;
    z->form = form;
    z->part = form == INFLATE_RAW ? INFLATE_BODY : INFLATE_FIXED;
    z->count = z->extra = 0;
    return SEEN_OK;
}

/* --- the header --- */

/* The part that follows `part` in a header with these flags. */
static enum inflate_part after(enum inflate_part part, unsigned flags)
{
    switch (part) {
    case INFLATE_FIXED:
        if (flags & FEXTRA)
            return INFLATE_EXTRA;
        /* fall through */
    case INFLATE_EXTRA:
        if (flags & FNAME)
            return INFLATE_NAME;
        /* fall through */
    case INFLATE_NAME:
        if (flags & FCOMMENT)
            return INFLATE_COMMENT;
        /* fall through */
    case INFLATE_COMMENT:
        if (flags & FHCRC)
            return INFLATE_CHECK;
        /* fall through */
    default: return INFLATE_BODY;
    }
}

static bool fixed_byte(struct inflate *z, unsigned char byte)
{
    static const unsigned char magic[] = { 0x1f, 0x8b, 8 };

    if (z->count < sizeof magic)
        return byte == magic[z->count];
    if (z->count == sizeof magic)
        z->flags = byte;
    return !(z->flags & RESERVED) || z->count > sizeof magic;
}

static bool zlib_byte(struct inflate *z, unsigned char byte)
{
    unsigned char head[ZLIB_FIXED] = { (unsigned char)z->flags, byte };

    z->flags = byte;
    if (++z->count < ZLIB_FIXED)
        return true;
    z->part = INFLATE_BODY;
    return inflate_is_zlib(head, sizeof head);
}

/* Take one byte of the header; false if it cannot be one. */
static bool header_byte(struct inflate *z, unsigned char byte)
{
    bool good = true, done = false;

    if (z->form == INFLATE_ZLIB)
        return zlib_byte(z, byte);
    if (z->part == INFLATE_FIXED) {
        good = fixed_byte(z, byte);
        done = z->count == FIXED - 1;
        z->crc = z->count ? z->crc : 0;
    } else if (z->part == INFLATE_EXTRA) { /* its length, then the field */
        if (z->count < 2)
            z->extra |= (unsigned)byte << 8 * z->count;
        done = z->count >= 1 && z->count == z->extra + 1;
    } else if (z->part == INFLATE_CHECK) {
        good = byte == (z->crc >> 8 * z->count & 0xff);
        done = z->count == 1;
    } else {
        done = !byte;
    }
    if (z->part != INFLATE_CHECK)
        z->crc = crc32_gzip_refl(z->crc, &byte, 1);
    z->count++;
    if (done) {
        z->part = after(z->part, z->flags);
        z->count = 0;
    }
    return good;
}

enum inflate_result inflate_some(struct inflate *z, const void **in,
                                 size_t *in_len, void *out, size_t room,
                                 size_t *made)
{
    struct inflate_state *s = z->state;
    int code;

    *made = 0;
    for (; *in_len && z->part != INFLATE_BODY; --*in_len) {
        if (!header_byte(z, *(const unsigned char *)*in))
            return INFLATE_DAMAGE;
        *in = (const char *)*in + 1;
    }
    if (z->part != INFLATE_BODY)
        return INFLATE_MORE;
    s->next_in = (uint8_t *)(uintptr_t)*in;
    s->avail_in = (uint32_t)*in_len;
    s->next_out = out;
    s->avail_out = (uint32_t)room;
    code = isal_inflate(s);
    *made = room - s->avail_out;
    /* A match whose distance is wrong is counted, but not written: what is
       there is memory of something else. */
    if (code == ISAL_INVALID_LOOKBACK || code == ISAL_INVALID_SYMBOL)
        *made -= *made < ISAL_DEF_MAX_MATCH ? *made : ISAL_DEF_MAX_MATCH;
    if (code < 0) /* and s->avail_in may be more than there was */
        return INFLATE_DAMAGE;
    *in = (const char *)*in + (*in_len - s->avail_in);
    *in_len = s->avail_in;
    return s->block_state == ISAL_BLOCK_FINISH ? INFLATE_END : INFLATE_MORE;
}

void inflate_clear(struct inflate *z)
{
    free(z->state);
    z->state = NULL;
}
