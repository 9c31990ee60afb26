/*
 * unpack.c - gzip in pieces of any size, by isa-l.
 *
 *     bytes -> first three -> 1f 8b 08? -> inflate -> 1f 8b 08? -> ...
 *                               no: as they are         no: corrupt
 *
 * The first three bytes of each member are collected before anything else,
 * because they decide and may come one by one. Only then a member begins, and
 * it gets them back as if they had come together.
 */
#include "unpack.h"

#include <isa-l/igzip_lib.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t magic[3] = { 0x1f, 0x8b, 8 };

void unpack_init(struct unpack *u, enum unpack_how how)
{
    memset(u, 0, sizeof *u);
    u->how = how;
}

void unpack_clear(struct unpack *u)
{
    free(u->inflate);
    u->inflate = NULL;
}

struct pieces {
    uint8_t *room;
    size_t size;
    unpack_take *take;
    void *owner;
};

/*
 * Unpack until the bytes are used up, or the member is. isa-l keeps what it
 * cannot use yet, and returns 0 without progress when it needs more; should
 * it ever do so while there is more, it would do so for good.
 */
static enum seen_code inflate_some(struct unpack *u, const uint8_t **at,
                                   size_t *n, const struct pieces *to,
                                   struct seen_error *why)
{
    struct inflate_state *z = u->inflate;
    enum seen_code code = SEEN_OK;
    size_t made;

    z->next_in = (uint8_t *)(uintptr_t)*at;
    z->avail_in = (uint32_t)*n;
    do {
        uint32_t left = z->avail_in;

        z->next_out = to->room;
        z->avail_out = (uint32_t)to->size;
        if (isal_inflate(z) < 0)
            return seen_fail(why, SEEN_CORRUPT, 0, "the gzip data is damaged");
        made = to->size - z->avail_out;
        u->inside = z->block_state != ISAL_BLOCK_FINISH;
        if (u->inside && !made && left && z->avail_in == left)
            return seen_fail(why, SEEN_CORRUPT, 0, "the gzip data is damaged");
        if (made)
            code = to->take(to->owner, to->room, made, why);
    } while (code == SEEN_OK && u->inside && (z->avail_in || !z->avail_out));
    *at += *n - z->avail_in;
    *n = z->avail_in;
    return code;
}

static enum seen_code begin_member(struct unpack *u, const struct pieces *to,
                                   struct seen_error *why)
{
    const uint8_t *at = u->first;
    size_t n = sizeof magic;

    if (!u->inflate)
        u->inflate = malloc(sizeof *u->inflate);
    if (!u->inflate)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory to unpack");
    isal_inflate_init(u->inflate);
    u->inflate->crc_flag = ISAL_GZIP;
    u->inside = true;
    u->held = 0;
    u->how = UNPACK_GZIP;
    return inflate_some(u, &at, &n, to, why);
}

/* Between members, or before the first. */
static enum seen_code look(struct unpack *u, const uint8_t **at, size_t *n,
                           const struct pieces *to, struct seen_error *why)
{
    size_t more = sizeof magic - u->held;

    more = more < *n ? more : *n;
    memcpy(u->first + u->held, *at, more);
    u->held += (unsigned)more;
    *at += more;
    *n -= more;
    if (!memcmp(u->first, magic, u->held)) {
        if (u->held < sizeof magic)
            return SEEN_OK;
        return begin_member(u, to, why);
    }
    if (u->how == UNPACK_GZIP)
        return seen_fail(why, SEEN_CORRUPT, 0,
                         u->inflate ? "what follows the gzip data is none"
                                    : "this is no gzip, though it says so");
    u->how = UNPACK_NOT;
    return to->take(to->owner, u->first, u->held, why);
}

enum seen_code unpack_feed(struct unpack *u, const void *bytes, size_t n,
                           void *room, size_t size, unpack_take *take,
                           void *owner, struct seen_error *why)
{
    const struct pieces to = { room, size, take, owner };
    const uint8_t *at = bytes;
    enum seen_code code = SEEN_OK;

    while (n && code == SEEN_OK) {
        if (u->how == UNPACK_NOT)
            return take(owner, at, n, why);
        if (u->inside)
            code = inflate_some(u, &at, &n, &to, why);
        else
            code = look(u, &at, &n, &to, why);
    }
    return code;
}

enum seen_code unpack_end(struct unpack *u, unpack_take *take, void *owner,
                          struct seen_error *why)
{
    if (u->inside || (u->how == UNPACK_GZIP && u->held))
        return seen_fail(why, SEEN_CORRUPT, 0, "the gzip data is cut short");
    if (u->how == UNPACK_GUESS && u->held)
        return take(owner, u->first, u->held, why);
    return SEEN_OK;
}
