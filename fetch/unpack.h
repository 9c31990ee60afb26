/*
 * unpack.h - undo gzip as the bytes come, and only once.
 *
 *     unpack_init(&u, UNPACK_GUESS);
 *     while there are bytes:
 *         unpack_feed(&u, bytes, n, room, sizeof room, take, owner, &why);
 *     unpack_end(&u, take, owner, &why);
 *     unpack_clear(&u);
 *
 * How much comes out is for take() to count: it is called for every piece,
 * and stops the rest with any code but SEEN_OK. Nothing is unpacked ahead of
 * it: memory is one window, whatever the other side sends.
 *
 * Threads: an unpacker belongs to one.
 */
#ifndef SEEN_FETCH_UNPACK_H
#define SEEN_FETCH_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seen/error.h>

enum unpack_how {
    UNPACK_NOT,   /* bytes are passed on as they are */
    UNPACK_GUESS, /* gzip if they begin like it, else as they are */
    UNPACK_GZIP   /* nothing but gzip, one member or more, or nothing */
};

typedef enum seen_code unpack_take(void *owner, const void *bytes, size_t n,
                                   struct seen_error *why);

struct inflate_state;

struct unpack {
    enum unpack_how how;
    struct inflate_state *inflate;
    uint8_t first[3]; /* of a member, until there are three */
    unsigned held;
    bool inside; /* a member that is not at its end */
};

void unpack_init(struct unpack *u, enum unpack_how how);
void unpack_clear(struct unpack *u);

/* SEEN_CORRUPT for what is no gzip, SEEN_NOMEM, or what take() returned. */
enum seen_code unpack_feed(struct unpack *u, const void *bytes, size_t n,
                           void *room, size_t size, unpack_take *take,
                           void *owner, struct seen_error *why);

/* There is no more: SEEN_CORRUPT if there should be. */
enum seen_code unpack_end(struct unpack *u, unpack_take *take, void *owner,
                          struct seen_error *why);

#endif
