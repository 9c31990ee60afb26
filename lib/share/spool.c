/* spool.c - a buffer in front of write() and of a checksum. */
#define _POSIX_C_SOURCE 200809L
#include "spool.h"

#include <errno.h>
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
