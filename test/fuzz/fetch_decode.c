/*
 * fetch_decode.c - any head and any body: what comes out is bounded, is the
 * same from new and from used memory, and chunks end at the same byte whole and
 * in pieces. The first byte sets the bounds, an empty line ends the head.
 */
#include <stdlib.h>
#include <string.h>

#include "fetch/chunk.h"
#include "fetch/decode.h"
#include "lib/text/span.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

/* In memory of its own, so that reading beyond it is found. */
static struct seen_span copied(const uint8_t *bytes, size_t len)
{
    char *text = malloc(len ? len : 1);

    if (!text)
        abort();
    memcpy(text, bytes, len);
    return (struct seen_span){ text, len };
}

static void check_headers(struct seen_span head, const char *name)
{
    struct seen_span value = { NULL, 0 };
    const char *before = head.text;

    while (fetch_header(head, name, &value)) {
        if (value.text <= before ||
            value.text + value.len > head.text + head.len ||
            memchr(value.text, '\n', value.len))
            abort();
        before = value.text;
    }
}

/* Where do the chunks end, and how? */
static size_t follow(struct seen_span raw, size_t piece,
                     enum fetch_chunks_result *at)
{
    struct fetch_chunks c = { 0 };
    size_t used = 0;

    *at = FETCH_CHUNKS_MORE;
    while (used < raw.len && *at == FETCH_CHUNKS_MORE) {
        size_t n = piece < raw.len - used ? piece : raw.len - used;
        struct seen_span some = { raw.text + used, n }, got;

        while ((*at = fetch_chunks_next(&c, &some, &got)) ==
               FETCH_CHUNKS_PIECE)
            if (!got.len)
                abort();
        used += n - some.len;
    }
    return used;
}

static void check_chunks(struct seen_span raw, size_t piece)
{
    enum fetch_chunks_result whole, some;

    if (follow(raw, SIZE_MAX, &whole) != follow(raw, piece, &some) ||
        whole != some)
        abort();
}

static void decode(struct fetch_decoded *d, struct seen_span head,
                   struct seen_span raw, size_t most)
{
    struct seen_error why;

    if (fetch_decode(d, head, raw, most, &why) != SEEN_OK ||
        d->body.len > most || d->payload.len > raw.len ||
        !memchr(d->fault, 0, sizeof d->fault))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static struct fetch_decoded used;
    struct fetch_decoded fresh = { .cut = false };
    struct seen_span head, raw;
    const uint8_t *empty;
    size_t bound = len ? bytes[0] : 0, most, n;

    bytes += len > 0;
    len -= len > 0;
    empty = memmem(bytes, len, "\n\r\n", 3);
    n = empty ? (size_t)(empty + 3 - bytes) : len;
    head = copied(bytes, n);
    raw = copied(bytes + n, len - n);
    most = bound & 1 ? bound * 16 : 1 << 18;
    check_headers(head, "Link");
    check_headers(head, "Content-Encoding");
    check_chunks(raw, 1 + bound % 16);
    decode(&fresh, head, raw, most);
    for (int i = 0; i < 2; i++) /* nothing of it may come out */
        if (used.steps[i].room)
            memset(used.steps[i].bytes, 0xaa, used.steps[i].room);
    decode(&used, head, raw, most);
    if (!span_equal(fresh.body, used.body) || fresh.cut != used.cut ||
        !span_equal(fresh.payload, used.payload) ||
        strcmp(fresh.fault, used.fault))
        abort();
    fetch_decoded_clear(&fresh);
    free((void *)(uintptr_t)head.text);
    free((void *)(uintptr_t)raw.text);
    return 0;
}
