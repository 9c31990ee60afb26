/*
 * batch.h - a batch of URLs and their keys, made from a block of lines.
 *
 * Filters take batches, since the cells of one key are fetched while the
 * next is hashed. A batch points into its block: use it before the block is
 * filled anew.
 */
#ifndef SEEN_BATCH_H
#define SEEN_BATCH_H

#include "lines.h"
#include "rejects.h"

enum { BATCH = 1024, BATCH_TEXT = 1 << 18 };

struct batch {
    size_t n;
    struct seen_key key[BATCH];
    struct {
        const char *text;       /* as it was given */
        size_t len;
    } url[BATCH];
    size_t used;
    char text[BATCH_TEXT];      /* canonical URLs that differ from those */
};

/* How lines become keys. */
struct reading {
    const char *profile;
    bool strict;                /* take no more after the first bad line */
    bool keep;                  /* the bad lines themselves as well */
};

/* Make a key of one URL, and append it; or say what is wrong with it. */
enum seen_code batch_add(struct batch *batch, const char *url, size_t len,
                         const char *profile, struct seen_error *why);

/*
 * Make keys of the next lines of the block, as many as fit; bad lines go to
 * `r`, numbered from 1 within the block. The batch is empty at the block's
 * end, or, when reading is strict, after a bad line.
 */
void batch_fill(struct batch *batch, struct block *block,
                const struct reading *how, struct rejects *r);

#endif
