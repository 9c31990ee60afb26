/*
 * spool.c - a buffer in front of write() and of a checksum.
 *
 * Whoever writes a file flushes it at the end, and waits for the disk to
 * write what it could have written meanwhile. So it is told to begin, a few
 * megabytes at a time; a pipe refuses, and nothing is lost. A text of 342 MB
 * took 2.0 instead of 2.4 seconds.
 */
#define _GNU_SOURCE /* sync_file_range */
#include "spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

void spool_open(struct spool *to, int fd, struct sha256 *sum)
{
    memset(to, 0, sizeof *to);
    to->fd = fd;
    to->sum = sum;
    to->text = malloc(SPOOL_ROOM);
    if (!to->text)
        to->failed = ENOMEM;
}

enum { BEGIN = 8 << 20 };

static void begin_writing(const struct spool *to, uint64_t now)
{
    uint64_t from = to->all / BEGIN, end = now / BEGIN;
    int system = errno;

    if (to->fd >= 0 && end > from)
        sync_file_range(to->fd, (off_t)(from * BEGIN),
                        (off_t)((end - from) * BEGIN), SYNC_FILE_RANGE_WRITE);
    errno = system;
}

void spool_flush(struct spool *to)
{
    size_t done = 0;

    if (to->sum && !to->failed)
        sha256_add(to->sum, to->text, to->len);
    while (to->fd >= 0 && !to->failed && done < to->len) {
        ssize_t n = write(to->fd, to->text + done, to->len - done);

        if (n > 0)
            done += (size_t)n;
        else if (errno != EINTR)
            to->failed = errno ? errno : EIO;
    }
    begin_writing(to, to->all + to->len);
    to->all += to->len;
    to->len = 0;
}

enum seen_code spool_close(struct spool *to, struct seen_error *why)
{
    bool memory = to->text;

    if (memory)
        spool_flush(to);
    free(to->text);
    to->text = NULL;
    errno = to->failed;
    if (!memory)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a text");
    if (to->failed)
        return seen_fail(why, SEEN_IO, 0, "cannot be written");
    return SEEN_OK;
}

void spool_put(struct spool *to, const char *text, size_t len)
{
    while (len) {
        size_t some = len < SPOOL_ROOM ? len : SPOOL_ROOM;
        char *at = spool_room(to, some);

        if (!at)
            return;
        memcpy(at, text, some);
        to->len += some;
        text += some;
        len -= some;
    }
}

size_t spool_digits(char *to, uint64_t number)
{
    char digit[20];
    size_t n = 0;

    do
        digit[n++] = (char)('0' + number % 10);
    while (number /= 10);
    for (size_t i = 0; i < n; i++)
        to[i] = digit[n - 1 - i];
    return n;
}

void spool_number(struct spool *to, uint64_t number)
{
    char digits[20];

    spool_put(to, digits, spool_digits(digits, number));
}
