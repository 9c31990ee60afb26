/*
 * ranges.h - ask a filter where it lies, without fetching all of it.
 *
 * A file begins with its plan and with a checksum for every 64 KiB of cells,
 * and a key needs few cells. So a filter on a web server is asked by parts of
 * its file: the beginning once, then the blocks that keys need. The library has
 * no network. The caller gives a function that reads bytes, over HTTP or from
 * anywhere:
 *
 *     struct seen_ranges where = { .read = over_http, .of = &connection };
 *
 *     if (seen_ranges_open(&f, &where, NULL, &why) == SEEN_OK) {
 *         code = seen_filter_has(f, key, n, seen, &why);
 *         seen_filter_free(f);
 *     }
 *
 * Give seen_filter_has() many keys at once: what they need is read together,
 * and neighbours as one range. Of `blocked` a key needs one block, of other
 * kinds several; seen_ranges_needed() tells how many.
 *
 * Nothing that is read is trusted. The beginning has checksums, and each block
 * is compared with the table before a key is answered from it. So if the file is
 * replaced meanwhile, or a server sends other bytes than it was asked for, a
 * question fails with SEEN_CORRUPT, and no answer comes from two files. Then open
 * it again. The checksums show accidents, not malice: who publishes a filter
 * decides what it answers.
 *
 * Threads: any number may ask. While one waits for read(), others that need
 * blocks wait, too.
 */
#ifndef SEEN_RANGES_H
#define SEEN_RANGES_H

#include <seen/store.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* The first range is a guess of how long the beginning is: enough for 1 GB. A
   call of read() asks for at most so many ranges and bytes after that. */
enum {
    SEEN_RANGES_FIRST = 128 << 10,
    SEEN_RANGES_MOST = 64,
    SEEN_RANGES_BYTES = 8 << 20
};

/* Bytes of the file, and where they go. */
struct seen_range {
    uint64_t from;
    size_t len;
    void *to;
};

/* What some keys need that is not here yet. Bytes of all ranges are together;
   those of the whole file may be fewer. */
struct seen_ranges_need {
    uint64_t ranges, bytes; /* of these keys */
    uint64_t rest;          /* bytes of all blocks that are not here */
};

struct seen_ranges {
    /*
     * Read n ranges, in ascending order, of one version of the file. If the
     * file ends inside a range, `len` becomes what there is. *length becomes
     * the length of the whole file, if it is known.
     */
    enum seen_code (*read)(void *of, struct seen_range *range, size_t n,
                           uint64_t *length, struct seen_error *why);
    /*
     * Called before keys are answered from blocks that were not used before. It
     * may refuse; or set *all, to have all that is missing read now; or, where
     * need->ranges is 0 because all of them were kept, find out whether they are
     * still right. NULL: read what is needed.
     */
    enum seen_code (*weigh)(void *of, const struct seen_ranges_need *need,
                            bool *all, struct seen_error *why);
    /* Called when the filter is freed, or could not be opened; or NULL. */
    void (*close)(void *of);
    void *of;
    /*
     * An open file of the caller's where the parts are kept, each in its place,
     * and found again by the next one who opens it so. It may be empty, and is
     * never trusted. Who has another version of the filter must begin another
     * file. NULL: parts are kept in memory.
     */
    const int *kept;
    uint64_t most; /* bytes of the beginning [32 MiB, for 256 GiB of cells] */
    /*
     * With each block read the others of its group, of decoys + 1 blocks. The
     * groups are a secret permutation of the blocks: always the same ones, and
     * the same ones for each member, so that repeated questions do not tell
     * which block is meant.
     */
    unsigned decoys;
    unsigned char secret[SEEN_SECRET];
};

/*
 * Open the filter. It can be asked and saved (seen_store_save() reads all of
 * it), not changed.
 *
 * SEEN_CORRUPT, SEEN_MISMATCH: as seen_store_map(); also if the parts do not fit
 * together. SEEN_BUSY: a writer has the file open. SEEN_RANGE: its beginning is
 * longer than `most`. Else the code of read().
 */
enum seen_code seen_ranges_open(struct seen_filter **out,
                                const struct seen_ranges *ranges,
                                const struct seen_access *options,
                                struct seen_error *why);

/* What would have to be read to ask for these keys, without decoys. If the kind
   has a table of places that is not here yet, it is what the table takes.
   SEEN_UNABLE: f was not opened by seen_ranges_open(). */
enum seen_code seen_ranges_needed(const struct seen_filter *f,
                                  const struct seen_key *key, size_t n,
                                  struct seen_ranges_need *need,
                                  struct seen_error *why);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
