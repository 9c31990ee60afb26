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
 *           +-- next 4096 --------+
 *           | head again           |  from version 2 on
 *   length  +----------------------+
 *
 * Adding keys changes the heads, the table and the cells, but not the text.
 * So a file can be changed in place, and a crash never leaves a text that
 * cannot be read. Gaps must be zero.
 *
 * The second head is in a sector and in a page of its own, so neither a write
 * of cells nor a write of the first head can damage it. store_head_write()
 * writes it and flushes it before the first, so at every moment one of the
 * two is whole on the disk. checkpoint.c has the argument.
 *
 * The files of this folder:
 *
 *     <seen/store.h>                              the bytes of a file
 *     ask by ranges         ranges.c ─────┐         └── decoys.c
 *     load, map, refresh    reader.c ─────┤
 *     open, close           writer.c ─────┤    ┌── format.c   head, table
 *       adding              writer_add.c  ├────┼── text.c      plan as text
 *       checkpoint          checkpoint.c  │    ├── cells.c     cells
 *     save, create, claim   save.c ───────┘    └── blocks.c    checked one by one
 *     metadata              meta.c              the filter at one moment
 *                                               └── nodes.c     its tree
 *     the files beside it
 *     ├── paths.c     their names, the writer's lock, replacing one
 *     ├── journal.c   records of changes, appended and read
 *     ├── replay.c    the same applied to a filter
 *     ├── keys.c      all keys, of a filter that keeps them
 *     ├── grow.c      a larger filter made from them
 *     └── sieve.c     the same keys, each once
 */
#ifndef SEEN_STORE_FORMAT_H
#define SEEN_STORE_FORMAT_H

#include <stdbool.h>

#include <seen/store.h>

enum {
    HEAD = 128,
    FORMAT_VERSION = 2, /* of new files; version 1 has no second head */
    HASH_VERSION = 1,
    BLOCK = 64 << 10,
    CELLS_ALIGN = 4096, /* and of the second head: the largest sector */
    TEXT_MOST = 16 << 20 /* 100,000 parts */
};

enum {
    SEALED = 0,
    CHANGING = 1, /* a writer has or had it open: the checksums of cells
                     and table are not valid, and the journal must exist */
    OPEN = 2      /* the same, but cells and table are as they were sealed;
                     only the journal has the changes (version 2) */
};

struct store_head {
    uint32_t format, hashing, state, block;
    uint64_t identity; /* names its journal */
    uint64_t applied;  /* number of the last change in the cells */
    uint64_t offered;
    uint64_t text_len, text_sum;
    uint64_t leaves, blocks, table_at, table_sum;
    uint64_t cells_at, cells_len, length;
};

void store_head_put(unsigned char bytes[HEAD], const struct store_head *h);

/* The fields of a head, not yet checked. */
void store_head_take(struct store_head *h, const unsigned char bytes[HEAD]);

/* The same, for a file of `length` bytes; every field is checked. */
enum seen_code store_head_get(struct store_head *h,
                              const unsigned char bytes[HEAD], uint64_t length,
                              struct seen_error *why);

/* Where the second head is; 0 if there is none. */
uint64_t store_head_second(const struct store_head *h);

/* Write both heads of a file, or the only one, and flush each. */
enum seen_code store_head_write(int fd, const struct store_head *h,
                                struct seen_error *why);

/* The same without flushing, for a file that nobody else knows yet. */
enum seen_code store_head_lay(int fd, const struct store_head *h,
                              struct seen_error *why);

/* Make both heads of a file equal to the one that was read, h, if one of them
   was damaged, or a writer was killed between the two. */
enum seen_code store_head_repair(int fd, const struct store_head *h,
                                 struct seen_error *why);

/* Derive all offsets from format, text_len, leaves and cells_len. */
void store_head_arrange(struct store_head *h);

/* The identity of a sealed file. */
uint64_t store_head_identity(const struct store_head *h);

/* XXH3-64; with a seed, for records that belong to one file only. */
uint64_t store_checksum(const void *bytes, size_t len);
uint64_t store_checksum_seeded(const void *bytes, size_t len, uint64_t seed);

/* Everything before the cells, checked. */
struct store_front {
    struct store_head head;
    unsigned char bytes[HEAD]; /* at the beginning of the file */
    bool damaged;              /* one of two heads is; `head` is the other */
    char *text;          /* ends with a zero that is not in the file */
    uint64_t *table;     /* leaves, then blocks */
    unsigned char *rest; /* all between head and cells */
};

enum seen_code store_front_read(struct store_front *front, int fd,
                                struct seen_error *why);
void store_front_clear(struct store_front *front);

/* The same of bytes in memory: all from the beginning to the cells, whose head
   was got by store_head_get(). */
enum seen_code store_front_take(struct store_front *front,
                                const struct store_head *h,
                                const unsigned char *bytes,
                                struct seen_error *why);

/* Make the filter, without cells but with the counts of the table. Refuses
   another profile or secret. */
enum seen_code store_plan_read(struct seen_filter **out,
                               const struct store_front *front,
                               const struct seen_access *options,
                               struct seen_error *why);

#endif
