/*
 * blocks.h - blocks of cells that are checked when a key first needs them.
 *
 * The table of a file has a checksum per block of 64 KiB, so one question
 * need not read the whole file. A block is
 *
 *     unread     until a key needs it; then it is checked, or refused
 *     sound      its bytes were those of the table
 *     changed    a change since the file was sealed reaches it. A writer has
 *                checked it before and gives it a new checksum when the file
 *                is sealed. Other blocks keep theirs, so that damage that
 *                nobody has read is still found later.
 *
 * Which cells a key needs is what a kind's reach() says. If a kind has none,
 * store_blocks_able() is false and the file is checked as a whole.
 *
 * Threads: any number may check and mark. The owner opens and frees it.
 */
#ifndef SEEN_STORE_BLOCKS_H
#define SEEN_STORE_BLOCKS_H

#include "cells.h"
#include "paths.h"

struct store_blocks;

/* Do all leaves of f have a reach()? If not, say so of a file that was changed
   as if they had. */
bool store_blocks_able(const struct seen_filter *f);
enum seen_code store_blocks_unable(const struct seen_filter *f,
                                   struct seen_error *why);

/*
 * Begin with all blocks unread, for the cells of f, which were mapped or read
 * from an fd that stays open. `paths` is for a reader, whose file may be
 * changed by a writer meanwhile: a block that differs is compared with the
 * table and the journal of that moment. NULL: nobody else changes the file.
 */
enum seen_code store_blocks_new(struct store_blocks **out, int fd,
                                const struct store_front *front,
                                const struct seen_filter *f,
                                const struct store_paths *paths,
                                struct seen_error *why);
void store_blocks_free(struct store_blocks *b);

/*
 * Check the blocks that keys read, or that prefixes do (`under`). SEEN_CORRUPT
 * with the number of the first one that is damaged.
 */
enum seen_code store_blocks_check(struct store_blocks *b,
                                  const struct seen_filter *f,
                                  const struct seen_key *key, size_t n,
                                  bool under, struct seen_error *why);

/*
 * For a file whose blocks are fetched when keys need them (ranges.c). The numbers
 * of the blocks that keys read, without those that were found to be sound: in
 * ascending order, each once. Of no keys: of all blocks. The list belongs to the
 * caller. *index: they only say which blocks keys need, as some kinds have a
 * table of that among their cells; ask again when they are here.
 */
enum seen_code store_blocks_unread(struct store_blocks *b,
                                   const struct seen_filter *f,
                                   const struct seen_key *key, size_t n,
                                   bool under, uint64_t **block, size_t *count,
                                   bool *index, struct seen_error *why);

/* Has the file the bytes of this block that the table says? */
bool store_blocks_here(struct store_blocks *b, uint64_t i);

/* These bytes came for it: compare them with the table, and write them. */
enum seen_code store_blocks_put(struct store_blocks *b, uint64_t i,
                                const unsigned char *bytes,
                                struct seen_error *why);

/* Check all that are unread. After that nothing is checked any more. */
enum seen_code store_blocks_check_all(struct store_blocks *b,
                                      const struct seen_filter *f,
                                      struct seen_error *why);

/*
 * Keys are about to change the blocks that they reach: check these first. In a file that was `changing` when it was read, the
 * changes may be in its cells already, so they are not checked there.
 */
enum seen_code store_blocks_change(struct store_blocks *b,
                                   const struct seen_filter *f,
                                   const struct seen_key *key, size_t n,
                                   struct seen_error *why);

/* The same without a check, for changes that are in the cells already. */
enum seen_code store_blocks_mark(struct store_blocks *b,
                                 const struct seen_filter *f,
                                 const struct seen_key *key, size_t n,
                                 struct seen_error *why);

/* Were all checked? */
bool store_blocks_whole(const struct store_blocks *b);

/*
 * The table for the cells as they are now: new checksums for blocks that were
 * changed, the old ones for all others. It belongs to b.
 */
const uint64_t *store_blocks_table(struct store_blocks *b,
                                   const struct store_layout *l);

#endif
