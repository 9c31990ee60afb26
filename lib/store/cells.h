/*
 * cells.h - the cells of a tree of filters as one run of bytes of a file.
 *
 *     leaf 0            leaf 1    leaf 2
 *     |================|==========|===================|
 *     +-------+-------+-------+-------+-------+-------+
 *     block 0   1       2       3       4       5
 */
#ifndef SEEN_STORE_CELLS_H
#define SEEN_STORE_CELLS_H

#include <seen/kind_writer.h>

#include "format.h"
#include "nodes.h"

/* How many cells a leaf has. */
static inline uint64_t leaf_cells(const struct seen_filter *leaf)
{
    unsigned bits = leaf->cell_bits ? leaf->cell_bits : 1;

    return 8 * (uint64_t)leaf->size / bits;
}

/* Where the cells of each leaf are, relative to the first. */
struct store_layout {
    struct store_nodes nodes;
    struct store_leaf {
        const struct seen_filter *f;
        uint64_t at;
        unsigned char *touched; /* see cells_touched(); NULL: all pages */
    } * leaf;
    size_t leaves;
    uint64_t length;
};

enum seen_code store_layout_init(struct store_layout *l,
                                 const struct seen_filter *f,
                                 struct seen_error *why);
void store_layout_clear(struct store_layout *l);

/* Copy `len` bytes at offset `at` out of the leaves, or into them. */
void store_layout_get(const struct store_layout *l, uint64_t at,
                      unsigned char *to, size_t len);
void store_layout_put(const struct store_layout *l, uint64_t at,
                      const unsigned char *from, size_t len);

/* Write f as a sealed file to an empty fd, without flushing it. `applied` of
   *head is read, the rest becomes what was written. */
enum seen_code store_file_write(int fd, const struct seen_filter *f,
                                struct store_head *head,
                                struct seen_error *why);

/* Write the file of an f without cells, all of which are zero, to an empty fd:
   as one that is changing, with identity and `applied` 0. */
enum seen_code store_file_begin(int fd, const struct seen_filter *f,
                                struct store_head *head,
                                struct seen_error *why);

/*
 * Seal in place: write table and heads for cells that are in the file already.
 * *head is the head of the file and becomes the new one. Only blocks that
 * changed get new checksums; if `blocks` is NULL or whole, all do. When cells
 * and table are on the disk and the new head is known, and before it is
 * written, `ready` is called with it.
 */
struct store_blocks;
typedef enum seen_code store_ready(void *whose, const struct store_head *head,
                                   struct seen_error *why);
enum seen_code store_file_seal(int fd, const struct seen_filter *f,
                               struct store_blocks *blocks,
                               struct store_head *head, store_ready *ready,
                               void *whose, struct seen_error *why);

/* The length of block i; does it have the checksum of the table? */
size_t store_block_len(const struct store_head *h, uint64_t i);
enum seen_code store_block_check(const struct store_head *h,
                                 const uint64_t *table, uint64_t i,
                                 const unsigned char *bytes, size_t len,
                                 struct seen_error *why);

/* Write the numbers of set cells into the table. */
void store_counts_put(const struct store_layout *l, uint64_t *table);

/* Read all cells: compare them with the table if `check`, and copy them
   into the leaves of `to` unless it is NULL. */
enum seen_code store_cells_read(int fd, const struct store_front *front,
                                bool check, const struct store_layout *to,
                                struct seen_error *why);

/* Allocate memory for the leaves and read the cells into it. */
enum seen_code store_cells_copy(struct seen_filter *f, int fd,
                                const struct store_front *front, bool check,
                                struct seen_error *why);

/* Map the cells and point each leaf to its part of the mapping. */
struct store_mapping {
    unsigned char *base; /* on a page */
    size_t len;
    struct store_range *range; /* its addresses, for seen_store_fault() */
};
enum seen_code store_cells_map(struct seen_filter *f, int fd,
                               const struct store_front *front, int protection,
                               int flags, struct store_mapping *map,
                               struct seen_error *why);

/* For the storage of the filter: see there. NULL without a mapping. */
const int *store_cells_lost(const struct store_mapping *map);

/* `code`, unless a page of the mapping was lost. */
enum seen_code store_cells_kept(const struct store_mapping *map,
                                enum seen_code code, struct seen_error *why);

/* Undo store_cells_map(). */
void store_cells_unmap(struct seen_filter *f, struct store_mapping *map);

/* Count the set cells again, after a crash. */
void store_cells_recount(struct seen_filter *f);

#endif
