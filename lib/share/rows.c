/*
 * rows.c - lines of a file, from a buffer.
 *
 *     text      summed         at                    end        room
 *      |-----------|------------|---------------------|------------|
 *        in the sum   read        not yet read
 *
 * The sum is brought up to `at` only when the buffer is refilled or bytes are
 * excluded from it: a call per line would double its cost.
 */
#include "rows.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text_form.h"

enum { READ_ROOM = 2 * LINE_MOST };

enum seen_code rows_bad(const struct rows *r, struct seen_error *why,
                        const char *format, ...)
{
    char text[sizeof why->text];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return seen_fail(why, SEEN_CORRUPT, r->line, "line %llu: %s",
                     (unsigned long long)r->line, text);
}

enum seen_code rows_open(struct rows *r, const char *path,
                         struct seen_error *why)
{
    memset(r, 0, sizeof *r);
    r->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (r->fd < 0)
        return seen_fail(why, SEEN_IO, 0, "cannot be opened");
    posix_fadvise(r->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    r->text = malloc(READ_ROOM);
    if (!r->text || !sha256_init(&r->sum))
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a text");
    return SEEN_OK;
}

void rows_close(struct rows *r)
{
    int system = errno;

    sha256_clear(&r->sum);
    free(r->text);
    if (r->fd >= 0)
        close(r->fd);
    errno = system;
}

static void sum_to(struct rows *r, size_t at)
{
    sha256_add(&r->sum, r->text + r->summed, at - r->summed);
    r->summed = at;
}

/* Move what is not yet read to the front, and fill the buffer. */
static enum seen_code refill(struct rows *r, struct seen_error *why)
{
    ssize_t n;

    sum_to(r, r->at);
    memmove(r->text, r->text + r->at, r->end - r->at);
    r->end -= r->at;
    r->at = r->summed = 0;
    do
        n = read(r->fd, r->text + r->end, READ_ROOM - r->end);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return seen_fail(why, SEEN_IO, r->line, "cannot be read");
    r->over = !n;
    r->end += (size_t)n;
    return SEEN_OK;
}

/* Read until the buffer has a whole line; *feed is its end, NULL past the last
   line. The buffer is larger than the longest row, so the end of a row that is
   too long may be in it or not. */
static enum seen_code whole_line(struct rows *r, char **feed,
                                 struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    while (!(*feed = memchr(r->text + r->at, '\n', r->end - r->at))) {
        if (r->over && r->at == r->end)
            return SEEN_OK;
        if (r->over || r->end - r->at > LINE_MOST)
            break;
        code = refill(r, why);
        if (code != SEEN_OK)
            return code;
    }
    r->line++;
    if ((*feed ? *feed : r->text + r->end) - (r->text + r->at) > LINE_MOST)
        return rows_bad(r, why, "is longer than any row");
    if (!*feed)
        return rows_bad(r, why, "ends too soon; the file was cut short");
    return SEEN_OK;
}

enum seen_code rows_next(struct rows *r, struct seen_span *row, bool summed,
                         struct seen_error *why)
{
    char *feed;
    enum seen_code code = whole_line(r, &feed, why);

    row->text = NULL;
    row->len = 0;
    if (code != SEEN_OK || !feed)
        return code;
    row->text = r->text + r->at;
    row->len = (size_t)(feed - row->text);
    if (!summed) {
        sum_to(r, r->at);
        r->summed = (size_t)(feed - r->text) + 1;
    }
    if (row->len && feed[-1] == '\r') {
        row->len--;
        if (summed) {
            sum_to(r, (size_t)(feed - r->text) - 1);
            r->summed++;
        }
    }
    r->at = (size_t)(feed - r->text) + 1;
    return SEEN_OK;
}

bool rows_sum(struct rows *r, unsigned char sum[SEEN_DIGEST])
{
    sum_to(r, r->at);
    return sha256_end(&r->sum, sum);
}

/* Remove the quotes of `len` letters; the new length, or -1 if invalid. */
static ptrdiff_t unquote(char *to, const char *from, size_t len)
{
    char *start = to;
    const char *end = from + len - 1;

    if (len < 2 || *end != '"')
        return -1;
    for (from++; from < end; from++) {
        if (*from == '"' && (++from == end || *from != '"'))
            return -1;
        *to++ = *from;
    }
    return to - start;
}

static bool plain(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            return false;
    return true;
}

bool rows_split(const struct seen_span *row, char *to, size_t room,
                const char **value)
{
    static const char good[] = "abcdefghijklmnopqrstuvwxyz0123456789-.!"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const char *comma = memchr(row->text, ',', row->len), *from;
    size_t name, len;
    ptrdiff_t held;

    if (row->len >= room || !comma || comma == row->text ||
        !plain(row->text, row->len))
        return false;
    name = (size_t)(comma - row->text);
    memcpy(to, row->text, name);
    to[name] = '\0';
    if (strspn(to, good) != name)
        return false;
    from = comma + 1;
    len = row->len - name - 1;
    to += name + 1;
    *value = to;
    if (len && *from == '"') {
        held = unquote(to, from, len);
        if (held < 0)
            return false;
        len = (size_t)held;
    } else {
        if (memchr(from, ',', len) || memchr(from, '"', len))
            return false;
        memcpy(to, from, len);
    }
    to[len] = '\0';
    return true;
}

bool rows_number(const char *text, size_t len, uint64_t *number)
{
    uint64_t x = 0;

    if (!len || len > 20 || (len > 1 && *text == '0'))
        return false;
    for (size_t i = 0; i < len; i++) {
        unsigned digit = (unsigned)(text[i] - '0');

        if (digit > 9 || x > (UINT64_MAX - digit) / 10)
            return false;
        x = 10 * x + digit;
    }
    *number = x;
    return true;
}
