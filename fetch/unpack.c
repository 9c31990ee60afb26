/*
 * unpack.c - gzip in pieces of any size.
 *
 *     bytes -> first three -> 1f 8b 08? -> inflate -> 1f 8b 08? -> ...
 *                               no: as they are         no: corrupt
 *
 * The first three bytes of each member are collected first, because they
 * decide and may come one by one. Then the member begins with them, as if they
 * had come together.
 */
#include "unpack.h"

#include <string.h>

static const uint8_t magic[3] = { 0x1f, 0x8b, 8 };

void fetch_unpack_init(struct fetch_unpack *u, enum fetch_packing packing)
{
    memset(u, 0, sizeof *u);
    u->packing = packing;
}

void fetch_unpack_clear(struct fetch_unpack *u)
{
    inflate_clear(&u->inflate);
}

struct fetch_sink {
    uint8_t *room;
    size_t size;
    fetch_unpack_take *take;
    void *owner;
};

/* Unpack until the bytes are used up, or the member ends. */
static enum seen_code inflate_member(struct fetch_unpack *u, const void **at,
                                     size_t *n, const struct fetch_sink *to,
                                     struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    enum inflate_result result;
    size_t made;

    do {
        size_t left = *n;

        result = inflate_some(&u->inflate, at, n, to->room, to->size, &made);
        /* It may ask for more input only once there is none: asking earlier,
           it would do so for ever. */
        if (result == INFLATE_DAMAGE ||
            (result == INFLATE_MORE && !made && left && *n == left))
            return seen_fail(why, SEEN_CORRUPT, 0, "the gzip data is damaged");
        if (made)
            code = to->take(to->owner, to->room, made, why);
    } while (code == SEEN_OK && result == INFLATE_MORE &&
             (*n || made == to->size));
    u->inside = result != INFLATE_END;
    return code;
}

static enum seen_code begin_member(struct fetch_unpack *u,
                                   const struct fetch_sink *to,
                                   struct seen_error *why)
{
    const void *at = u->first;
    size_t n = sizeof magic;
    enum seen_code code = inflate_begin(&u->inflate, INFLATE_GZIP, why);

    if (code != SEEN_OK)
        return code;
    u->held = 0;
    u->packing = FETCH_GZIP;
    return inflate_member(u, &at, &n, to, why);
}

/* Between members, or before the first. */
static enum seen_code look(struct fetch_unpack *u, const void **at, size_t *n,
                           const struct fetch_sink *to, struct seen_error *why)
{
    size_t more = sizeof magic - u->held;

    more = more < *n ? more : *n;
    memcpy(u->first + u->held, *at, more);
    u->held += (unsigned)more;
    *at = (const char *)*at + more;
    *n -= more;
    if (!memcmp(u->first, magic, u->held)) {
        if (u->held < sizeof magic)
            return SEEN_OK;
        return begin_member(u, to, why);
    }
    if (u->packing == FETCH_GZIP)
        return seen_fail(why, SEEN_CORRUPT, 0,
                         u->inflate.state
                             ? "the gzip data is followed by other data"
                             : "this is not gzip, though it says so");
    u->packing = FETCH_NOT;
    return to->take(to->owner, u->first, u->held, why);
}

enum seen_code fetch_unpack_feed(struct fetch_unpack *u, const void *bytes,
                                 size_t n, void *room, size_t size,
                                 fetch_unpack_take *take, void *owner,
                                 struct seen_error *why)
{
    const struct fetch_sink to = { room, size, take, owner };
    const void *at = bytes;
    enum seen_code code = SEEN_OK;

    while (n && code == SEEN_OK) {
        if (u->packing == FETCH_NOT)
            return take(owner, at, n, why);
        if (u->inside)
            code = inflate_member(u, &at, &n, &to, why);
        else
            code = look(u, &at, &n, &to, why);
    }
    return code;
}

enum seen_code fetch_unpack_end(struct fetch_unpack *u,
                                fetch_unpack_take *take, void *owner,
                                struct seen_error *why)
{
    if (u->inside || (u->packing == FETCH_GZIP && u->held))
        return seen_fail(why, SEEN_CORRUPT, 0, "the gzip data is cut short");
    if (u->packing == FETCH_GUESS && u->held)
        return take(owner, u->first, u->held, why);
    return SEEN_OK;
}
