/*
 * spool.h - text on its way out: into a file, a pipe, or only a checksum.
 *
 *     struct spool to;
 *
 *     spool_open(&to, fd, NULL);
 *     spool_put(&to, "seen,1\n", 7);
 *     code = spool_close(&to, why);
 *
 * Nobody looks at every call: an error stays, what comes after it is dropped,
 * and spool_close() tells.
 */
#ifndef SEEN_SHARE_SPOOL_H
#define SEEN_SHARE_SPOOL_H

#include <string.h>

#include "sha256.h"

enum { SPOOL_ROOM = 256 << 10 };

struct spool {
    int fd;             /* or -1: to no file */
    struct sha256 *sum; /* or NULL: of nothing */
    char *text;
    size_t len;
    uint64_t all; /* that were handed over */
    int failed;   /* errno of the first failure */
};

/* spool_close() is due whether or not this has failed for want of memory. */
void spool_open(struct spool *to, int fd, struct sha256 *sum);
void spool_flush(struct spool *to);
enum seen_code spool_close(struct spool *to, struct seen_error *why);

/* Room for n letters, at most SPOOL_ROOM, to be written and then told of. */
static inline char *spool_room(struct spool *to, size_t n)
{
    if (to->len + n > SPOOL_ROOM)
        spool_flush(to);
    return to->text ? to->text + to->len : NULL;
}

/* Any number of letters. */
void spool_put(struct spool *to, const char *text, size_t len);

static inline void spool_text(struct spool *to, const char *text)
{
    spool_put(to, text, strlen(text));
}

void spool_number(struct spool *to, uint64_t number);

/* `number` in decimal, without a zero behind it; returns its length. */
size_t spool_digits(char *to, uint64_t number);

#endif
