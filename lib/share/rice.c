/*
 * rice.c - bits out to a file and back, in pieces of 64 KiB.
 *
 * Both directions hold up to 64 bits in a word, lowest first. Writing: at most
 * 7 bits wait, so 56 more fit. Reading: refilled to 49 bits or more, so that a
 * code of 32 bits is one shift and a mask.
 *
 * A file from the web may say anything. rice_get() is given the largest number
 * that makes sense, and gives up as soon as the zeros alone exceed it, so a
 * gigabyte of zeros costs a few words. The number of bits is known before the
 * first is read: nothing past them counts, whatever the file has there.
 */
#include "rice.h"

#include <string.h>

#include "../disk/disk.h"

unsigned rice_best(const struct rice_counts *c, uint64_t *bits)
{
    uint64_t least = UINT64_MAX;
    unsigned best = 0;

    for (unsigned k = 0; k <= RICE_MOST; k++) {
        uint64_t all = c->zeros[k] + c->n * (k + 1);

        if (all < least) {
            least = all;
            best = k;
        }
    }
    *bits = least;
    return best;
}

/* --- out -------------------------------------------------------------- */

void rice_begin(struct rice_writer *w, int fd, uint64_t at,
                struct seen_error *why)
{
    w->fd = fd;
    w->at = at;
    w->hold = 0;
    w->have = 0;
    w->len = 0;
    w->code = SEEN_OK;
    w->why = why;
}

static void spill(struct rice_writer *w)
{
    if (w->code == SEEN_OK)
        w->code = disk_write(w->fd, w->bytes, w->len, w->at, w->why);
    w->at += w->len;
    w->len = 0;
}

/* At most 56 bits: with up to 7 waiting bits they fit into a word. */
static void put_some(struct rice_writer *w, uint64_t v, unsigned n)
{
    w->hold |= v << w->have;
    w->have += n;
    while (w->have >= 8) {
        if (w->len == sizeof w->bytes)
            spill(w);
        w->bytes[w->len++] = (unsigned char)w->hold;
        w->hold >>= 8;
        w->have -= 8;
    }
}

void rice_bits(struct rice_writer *w, uint64_t v, unsigned n)
{
    if (n > 32) {
        put_some(w, v & UINT32_MAX, 32);
        v >>= 32;
        n -= 32;
    }
    if (n)
        put_some(w, v & (~UINT64_C(0) >> (64 - n)), n);
}

void rice_put(struct rice_writer *w, uint64_t v, unsigned k)
{
    uint64_t zeros = v >> k;

    for (; zeros >= 32; zeros -= 32)
        put_some(w, 0, 32);
    put_some(w, UINT64_C(1) << zeros, (unsigned)zeros + 1);
    rice_bits(w, v, k);
}

enum seen_code rice_end(struct rice_writer *w)
{
    if (w->have)
        put_some(w, 0, 8 - w->have);
    spill(w);
    return w->code;
}

/* --- in --------------------------------------------------------------- */

void rice_open(struct rice_reader *r, int fd, uint64_t at, uint64_t bits,
               struct seen_error *why)
{
    r->fd = fd;
    r->at = at;
    r->end = at + bits / 8 + (bits % 8 != 0);
    r->left = bits;
    r->hold = 0;
    r->have = 0;
    r->next = r->len = 0;
    r->code = SEEN_OK;
    r->why = why;
}

/* Read until there are at least 49 bits, or all; 56 at most, so that no shift
   is by the width of a word. */
static void refill(struct rice_reader *r)
{
    while (r->have <= 48) {
        if (r->next == r->len) {
            uint64_t left = r->end - r->at;

            r->len = left < sizeof r->bytes ? (size_t)left : sizeof r->bytes;
            r->next = 0;
            if (!r->len || r->code != SEEN_OK)
                break;
            r->code = disk_read(r->fd, r->bytes, r->len, r->at, r->why);
            if (r->code != SEEN_OK)
                break;
            r->at += r->len;
        }
        r->hold |= (uint64_t)r->bytes[r->next++] << r->have;
        r->have += 8;
    }
    if (r->code != SEEN_OK)
        r->left = r->len = r->next = 0;
}

static bool take_some(struct rice_reader *r, unsigned n, uint64_t *v)
{
    if (r->have < n)
        refill(r);
    if (r->left < n || r->have < n)
        return false;
    *v = n ? r->hold & (~UINT64_C(0) >> (64 - n)) : 0;
    r->hold >>= n;
    r->have -= n;
    r->left -= n;
    return true;
}

bool rice_take(struct rice_reader *r, unsigned n, uint64_t *v)
{
    uint64_t high = 0;

    if (n <= 32)
        return take_some(r, n, v);
    if (!take_some(r, 32, v) || !take_some(r, n - 32, &high))
        return false;
    *v |= high << 32;
    return true;
}

bool rice_get(struct rice_reader *r, unsigned k, uint64_t most, uint64_t *v)
{
    uint64_t zeros = 0, low;

    for (;;) {
        unsigned some;

        if (r->have < 8)
            refill(r);
        if (!r->have || !r->left)
            return false;
        some = r->hold ? (unsigned)__builtin_ctzll(r->hold) : r->have;
        if (some > r->have)
            some = r->have;
        if (some >= r->left) /* its final one bit is missing */
            return false;
        zeros += some;
        r->hold >>= some;
        r->have -= some;
        r->left -= some;
        if (zeros > most >> k)
            return false;
        if (r->have)
            break;
    }
    if (!take_some(r, 1, &low) || !rice_take(r, k, &low))
        return false;
    *v = zeros << k | low;
    return *v <= most;
}
