/*
 * ask.h - many URLs of many archives.
 *
 * URLs are made keys once for each profile that occurs among the archives,
 * not once for each archive, and then asked in batches.
 */
#ifndef SEEN_SERVE_HTTP_ASK_H
#define SEEN_SERVE_HTTP_ASK_H

#include "../loop.h"

struct question {
    struct span url;
    const char *fault; /* why it is no URL; NULL: it is one */
};

/*
 * Ask n <= LOOP_BATCH URLs of every archive of the loop. held[i] of archive
 * number a is at held[a * LOOP_BATCH + i]; an archive that cannot answer is
 * `withdrawn` afterwards, and its column is no answer. A URL counts as bad
 * if no profile takes it; where only some do the others hold nothing. If all
 * archives are withdrawn none is bad.
 * `held` has room for `archives` columns.
 */
void ask_all(struct loop *l, struct question *q, size_t n, size_t archives,
             bool *held);

#endif
