/*
 * out.h - text that is written to a file, a pipe, or only a checksum.
 *
 *     struct share_out to;
 *
 *     share_out_open(&to, fd, NULL);
 *     buffer_text(&to.text, "seen,1\n");         any function of buffer.h
 *     share_out_more(&to);                       now and then
 *     code = share_out_close(&to, why);
 *
 * Only the last call reports errors: after the first one, all text is dropped.
 */
#ifndef SEEN_SHARE_OUT_H
#define SEEN_SHARE_OUT_H

#include "../text/buffer.h"
#include "sha256.h"

enum { SHARE_OUT_ROOM = 256 << 10 };

struct share_out {
    struct buffer text; /* not yet written */
    int fd;             /* -1: nothing is written */
    struct sha256 *sum; /* NULL: nothing is summed */
    uint64_t all;       /* bytes that were written */
    int failed;         /* errno of the first failure */
};

/* Call share_out_close() in any case. */
void share_out_open(struct share_out *to, int fd, struct sha256 *sum);
void share_out_flush(struct share_out *to);
enum seen_code share_out_close(struct share_out *to, struct seen_error *why);

/* Write the buffer if it is full enough. */
static inline void share_out_more(struct share_out *to)
{
    if (to->text.len >= SHARE_OUT_ROOM)
        share_out_flush(to);
}

#endif
