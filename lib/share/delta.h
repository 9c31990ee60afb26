/*
 * delta.h - the bytes of a delta; section 9 of doc/format.md specifies them.
 *
 *        0  +----------------------+
 *           | head, 128 bytes      |  which version becomes which, and how
 *      128  +----------------------+
 *           | the new file's head  |  128 bytes
 *      256  +----------------------+
 *           | the new file's text  |
 *           +----------------------+
 *           | set cells            |  of each leaf, 8 bytes each
 *           +----------------------+
 *           | changes              |  a run of bits
 *           +----------------------+
 *           | checksum             |  of all before
 *   length  +----------------------+
 *
 * The checksums of the blocks are not part of a delta, since they follow from
 * the cells. They would be most of it: 8 bytes for each block of 64 KiB, even
 * if a single bit of the block changed, which takes less than that.
 */
#ifndef SEEN_SHARE_DELTA_H
#define SEEN_SHARE_DELTA_H

#include <seen/share.h>

#include "../store/format.h"

enum { DELTA_HEAD = 128, DELTA_VERSION = 1, DELTA_LINE = 64, DELTA_SUM = 8 };

/* How changes are coded; rice.h has the code of the numbers. */
enum delta_coding {
    BY_CELL = 1, /* gap to the next changed cell, its step */
    BY_LINE = 2, /* gap to the next changed line, its new bytes */
    IN_LINES = 3 /* gap to the next changed line, the number of its
                    changed cells, gaps between them, their steps */
};

struct delta_version {
    uint64_t length;
    unsigned char digest[SEEN_DIGEST];
};

struct delta {
    enum delta_coding coding;
    struct delta_version from, to;
    uint64_t count;  /* cells or lines that change, depending on the coding */
    uint32_t width;  /* bits of a cell: 1, 4, 8, 16, 32 */
    uint64_t length; /* bytes of the delta */
    uint64_t bits;   /* that its changes take */

    /* Rice's parameters: of the gaps, of the number of cells per line, of the
       gaps within a line, and of the steps. */
    unsigned char gap, many, within, step;
};

void delta_put(unsigned char bytes[DELTA_HEAD], const struct delta *d);

/* Read and check the head of a delta of `length` bytes. */
enum seen_code delta_get(struct delta *d,
                         const unsigned char bytes[DELTA_HEAD],
                         uint64_t length, struct seen_error *why);

/* The length of a delta to a file with this head. */
uint64_t delta_length(const struct store_head *to, uint64_t bits);

/* The checksum of the first `length` bytes of an open file. */
enum seen_code delta_sum(int fd, uint64_t length, uint64_t *sum,
                         struct seen_error *why);

/*
 * The step of a counter from one value to another, as a number that is small
 * for small steps: +1, -1, +2, -2 ... are 0, 1, 2, 3 ..., modulo 2^width. A
 * bit has only one step, which takes no space.
 */
static inline uint64_t step_most(unsigned width)
{
    return (UINT64_C(1) << width) - 2;
}

static inline uint64_t step_of(uint64_t old, uint64_t new, unsigned width)
{
    uint64_t all = UINT64_C(1) << width, up = (new - old) & (all - 1);

    return up <= all / 2 ? 2 * (up - 1) : 2 * (all - up) - 1;
}

static inline uint64_t step_by(uint64_t old, uint64_t step, unsigned width)
{
    uint64_t half = step / 2 + 1;

    return (step % 2 ? old - half : old + half) & ((UINT64_C(1) << width) - 1);
}

/* Cell i of `width` bits, in whole bytes or as a part of one. */
static inline uint64_t cell_get(const unsigned char *cells, uint64_t i,
                                unsigned width)
{
    const unsigned char *at = cells + i * width / 8;
    uint64_t v = 0;

    if (width < 8)
        return *at >> i * width % 8 & ((1U << width) - 1);
    for (unsigned j = width / 8; j--;)
        v = v << 8 | at[j];
    return v;
}

static inline void cell_put(unsigned char *cells, uint64_t i, unsigned width,
                            uint64_t v)
{
    unsigned char *at = cells + i * width / 8;
    unsigned shift = (unsigned)(i * width % 8);

    if (width < 8)
        *at = (unsigned char)((*at & ~(((1U << width) - 1) << shift)) |
                              v << shift);
    else
        for (unsigned j = 0; j < width / 8; j++, v >>= 8)
            at[j] = (unsigned char)v;
}

#endif
