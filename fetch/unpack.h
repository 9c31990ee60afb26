/*
 * unpack.h - undo gzip as the bytes come, and only once.
 *
 *     fetch_unpack_init(&u, FETCH_GUESS);
 *     while there are bytes:
 *         fetch_unpack_feed(&u, bytes, n, room, sizeof room, take, owner,
 *                           &why);
 *     fetch_unpack_end(&u, take, owner, &why);
 *     fetch_unpack_clear(&u);
 *
 * take() is called for every unpacked piece, counts, and stops the rest with
 * any code but SEEN_OK. Nothing is unpacked in advance: memory is one window,
 * whatever the server sends.
 *
 * Threads: an unpacker belongs to one thread at a time.
 */
#ifndef SEEN_FETCH_UNPACK_H
#define SEEN_FETCH_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seen/error.h>

#include "../lib/disk/inflate.h"

enum fetch_packing {
    FETCH_NOT,   /* as they are */
    FETCH_GUESS, /* gzip if they begin like it, else as they are */
    FETCH_GZIP   /* gzip, one member or more, or no bytes at all */
};

typedef enum seen_code fetch_unpack_take(void *owner, const void *bytes,
                                         size_t n, struct seen_error *why);

struct fetch_unpack {
    enum fetch_packing packing;
    struct inflate inflate;
    uint8_t first[3]; /* of a member, until there are three */
    unsigned held;
    bool inside; /* a member that has not ended */
};

void fetch_unpack_init(struct fetch_unpack *u, enum fetch_packing packing);
void fetch_unpack_clear(struct fetch_unpack *u);

/* SEEN_CORRUPT if it is not gzip, SEEN_NOMEM, or what take() returned. */
enum seen_code fetch_unpack_feed(struct fetch_unpack *u, const void *bytes,
                                 size_t n, void *room, size_t size,
                                 fetch_unpack_take *take, void *owner,
                                 struct seen_error *why);

/* No more bytes: SEEN_CORRUPT if there should be more. */
enum seen_code fetch_unpack_end(struct fetch_unpack *u,
                                fetch_unpack_take *take, void *owner,
                                struct seen_error *why);

#endif
