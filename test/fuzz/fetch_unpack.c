/*
 * fetch_unpack.c - any bytes as gzip, whole and in pieces: both end alike,
 * and as much comes out, with the same checksum.
 */
#include <stdlib.h>
#include <string.h>

#include "fetch/unpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

enum { MOST = 1 << 20 };

struct taken {
    size_t n;
    uint32_t sum;
};

static enum seen_code take(void *owner, const void *bytes, size_t n,
                           struct seen_error *why)
{
    struct taken *t = owner;

    if (!n)
        abort();
    for (size_t i = 0; i < n && t->n < MOST; i++, t->n++)
        t->sum = t->sum * 31 + ((const uint8_t *)bytes)[i];
    return t->n < MOST ? SEEN_OK : seen_fail(why, SEEN_RANGE, 0, "too much");
}

static enum seen_code unpack(struct taken *t, enum fetch_packing how,
                             const uint8_t *bytes, size_t len, size_t piece,
                             size_t room)
{
    static uint8_t out[1 << 16];
    enum seen_code code = SEEN_OK;
    struct fetch_unpack u;

    *t = (struct taken){ 0 };
    fetch_unpack_init(&u, how);
    while (len && code == SEEN_OK) {
        size_t n = piece < len ? piece : len;
        uint8_t *copy = malloc(n);

        if (!copy)
            abort();
        memcpy(copy, bytes, n);
        code = fetch_unpack_feed(&u, copy, n, out, room, take, t, NULL);
        free(copy);
        bytes += n;
        len -= n;
    }
    if (code == SEEN_OK)
        code = fetch_unpack_end(&u, take, t, NULL);
    fetch_unpack_clear(&u);
    return code;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    size_t piece = len ? 1 + bytes[0] % 64 : 1;

    bytes += len > 0;
    len -= len > 0;
    for (int how = FETCH_NOT; how <= FETCH_GZIP; how++) {
        struct taken whole, some;
        enum seen_code code, again;

        code = unpack(&whole, (enum fetch_packing)how, bytes, len, SIZE_MAX,
                      1 << 16);
        again = unpack(&some, (enum fetch_packing)how, bytes, len, piece,
                       1 + piece * 16);
        if (code != again)
            abort();
        if (code == SEEN_OK && (whole.n != some.n || whole.sum != some.sum))
            abort();
    }
    return 0;
}
