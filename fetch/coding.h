/*
 * coding.h - undo one content coding of bytes that are all there.
 *
 *     struct fetch_coders coders = { 0 };
 *     struct fetch_coded step = { .in = bytes, .out = &buffer, .most = most };
 *
 *     fetch_coding_undo(&coders, name, &step, &why);
 *
 * Work and memory are bounded by the input and by `most`, whatever the input
 * claims: windows have the 8 MiB that RFC 9659 gives zstd, and the 16 MiB of
 * RFC 7932.
 *
 * Threads: coders belong to one thread at a time.
 */
#ifndef SEEN_FETCH_CODING_H
#define SEEN_FETCH_CODING_H

#include <stdbool.h>

#include <seen/error.h>
#include <seen/span.h>

#include "../lib/disk/inflate.h"
#include "../lib/text/budget.h"
#include "../lib/text/buffer.h"

/* Memory that the next use needs again. Begins zeroed. */
struct fetch_coders {
    struct inflate inflate;
    struct ZSTD_DCtx_s *zstd;
};

struct fetch_coded {
    struct seen_span in;
    struct buffer *out; /* empty at first; has at most `most` bytes */
    size_t most;
    struct budget *budget; /* or NULL; when it is empty the rest is left out */
    bool cut;          /* there is more, or should be */
    const char *fault; /* what is wrong with the input, or NULL; what came
                          before it was undone */
};

/* Is this one that can be undone: gzip, x-gzip, deflate, br, zstd? */
bool fetch_coding_known(struct seen_span name);

/* The name is a known one. SEEN_NOMEM. */
enum seen_code fetch_coding_undo(struct fetch_coders *coders,
                                 struct seen_span name,
                                 struct fetch_coded *step,
                                 struct seen_error *why);

void fetch_coders_clear(struct fetch_coders *coders);

#endif
