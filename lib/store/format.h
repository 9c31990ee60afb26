/*
 * format.h - the bytes of a stored filter; doc/format.md specifies them.
 *
 *        0  +----------------------+
 *           | head, 128 bytes      |  versions, state, sizes, checksums
 *      128  +----------------------+
 *           | text                 |  plan and metadata, name=value lines
 *           +-- next 8 -----------+
 *           | table                |  set cells of each leaf, then the
 *           |                      |  checksum of each block of cells
 *           +-- next 4096 --------+
 *           | cells                |  of all leaves in preorder, each on a
 *           |                      |  line of its own, in blocks of 64 KiB
 *   length  +----------------------+
 *
 * What changes when keys are added is in the head, the table and the cells;
 * the text stays, so that a file can be changed in place and a crash never
 * leaves a text that cannot be read. Gaps are zero, and checked.
 */
#ifndef SEEN_STORE_FORMAT_H
#define SEEN_STORE_FORMAT_H

#include <stdbool.h>

#include <seen/kind_writer.h>

#include "shape.h"

enum {
    HEAD = 128,
    FORMAT_VERSION = 1,
    HASH_VERSION = 1,
    BLOCK = 64 << 10,
    CELLS_ALIGN = 4096,
    TEXT_MOST = 16 << 20 /* 100,000 parts */
};

enum {
    SEALED = 0,
    CHANGING = 1 /* a writer has or had it: cells and table are not what
                       the checksums say, and the journal must be there */
};

struct head {
    uint32_t format, hashing, state, block;
    uint64_t identity; /* which journal belongs to it */
    uint64_t applied;  /* the last numbered change in the cells */
    uint64_t offered;
    uint64_t text_len, text_sum;
    uint64_t leaves, blocks, table_at, table_sum;
    uint64_t cells_at, cells_len, length;
};

void head_put(unsigned char bytes[HEAD], const struct head *h);

/* The fields of a head as they are; what they say is not yet believed. */
void head_take(struct head *h, const unsigned char bytes[HEAD]);

/* The same, for a file of `length` bytes; every field is checked. */
enum seen_code head_get(struct head *h, const unsigned char bytes[HEAD],
                        uint64_t length, struct seen_error *why);

/* Derive all offsets from text_len, leaves and cells_len. */
void head_arrange(struct head *h);

/* What the identity of a sealed file is. */
uint64_t head_identity(const struct head *h);

/* XXH3-64; with a seed, of what belongs to one file only. */
uint64_t checksum(const void *bytes, size_t len);
uint64_t checksum_seeded(const void *bytes, size_t len, uint64_t seed);

/* All that comes before the cells, checked. */
struct front {
    struct head head;
    unsigned char bytes[HEAD];
    char *text;          /* ends with a zero that is not in the file */
    uint64_t *table;     /* leaves, then blocks */
    unsigned char *rest; /* what lies between head and cells */
};

enum seen_code front_read(struct front *front, int fd, struct seen_error *why);
void front_clear(struct front *front);

/* How many cells a leaf has. */
static inline uint64_t leaf_cells(const struct seen_filter *leaf)
{
    unsigned bits = leaf->cell_bits ? leaf->cell_bits : 1;

    return 8 * (uint64_t)leaf->size / bits;
}

/* Where the cells of each leaf are, relative to the first. */
struct layout {
    struct shape shape;
    struct span {
        const struct seen_filter *leaf;
        uint64_t at;
    } * span;
    size_t leaves;
    uint64_t length;
};

enum seen_code layout_init(struct layout *l, const struct seen_filter *f,
                           struct seen_error *why);
void layout_clear(struct layout *l);

/* Copy `len` bytes at `at` out of the leaves, or into them. */
void layout_get(const struct layout *l, uint64_t at, unsigned char *to,
                size_t len);
void layout_put(const struct layout *l, uint64_t at, const unsigned char *from,
                size_t len);

/* Write a sealed file of f to an empty fd, without flushing it. *head is
   what was written; its `applied` is read. */
enum seen_code format_write(int fd, const struct seen_filter *f,
                            struct head *head, struct seen_error *why);

/* Seal in place: table and head for cells that are in the file already.
   *head is the file's, and becomes the new one. */
enum seen_code format_seal(int fd, const struct seen_filter *f,
                           struct head *head, struct seen_error *why);

/* Read all cells: compare them with the table if `check`, and copy them
   into the leaves of `to` unless it is NULL. */
enum seen_code format_cells(int fd, const struct front *front, bool check,
                            const struct layout *to, struct seen_error *why);

#endif
