/* lines.c - blocks of whole lines, from files and pipes. */
#define _POSIX_C_SOURCE 200809L         /* open, fstat */
#include "lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output.h"

static const char *const standard_input[] = { "-" };

static bool is_stdin(const char *name)
{
    return !strcmp(name, "-");
}

/* What to call an input in messages. */
static const char *title(const char *name)
{
    return is_stdin(name) ? "standard input" : name;
}

static int look(const char *name, struct stat *s)
{
    return is_stdin(name) ? fstat(STDIN_FILENO, s) : stat(name, s);
}

static enum seen_code unreadable(struct seen_error *why)
{
    return seen_fail(why, SEEN_IO, 0, "cannot be read");
}

enum seen_code lines_open(struct lines *l, const char *const *input, size_t n,
                          const char **name, struct seen_error *why)
{
    struct stat s;

    memset(l, 0, sizeof *l);
    l->fd = -1;
    l->start = lseek(STDIN_FILENO, 0, SEEK_CUR);
    l->input = n ? input : standard_input;
    l->inputs = n ? n : 1;
    for (size_t i = 0; i < l->inputs; i++) {
        *name = title(l->input[i]);
        if (look(l->input[i], &s) < 0)
            return unreadable(why);
        if (S_ISDIR(s.st_mode)) {
            errno = EISDIR;
            return unreadable(why);
        }
        if (!is_stdin(l->input[i]) && access(l->input[i], R_OK) < 0)
            return unreadable(why);
        if (S_ISREG(s.st_mode))
            l->total += (uint64_t)s.st_size;
    }
    return SEEN_OK;
}

void lines_close(struct lines *l)
{
    if (l->fd > STDIN_FILENO)
        close(l->fd);
    l->fd = -1;
}

bool lines_twice(const char *const *input, size_t n)
{
    struct stat s;

    for (size_t i = 0; i < n; i++)
        if (look(input[i], &s) < 0 || !S_ISREG(s.st_mode))
            return false;
    return n > 0;
}

void lines_rewind(const struct lines *l)
{
    if (l->start >= 0)
        lseek(STDIN_FILENO, l->start, SEEK_SET);
}

enum seen_code block_init(struct block *b, struct seen_error *why)
{
    memset(b, 0, sizeof *b);
    b->data = malloc(BLOCK);
    if (!b->data)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for %d bytes", BLOCK);
    return SEEN_OK;
}

void block_clear(struct block *b)
{
    free(b->data);
    memset(b, 0, sizeof *b);
}

/* --- filling a block --- */

static enum seen_code open_next(struct lines *l, struct seen_error *why)
{
    const char *name = l->input[l->next];
    struct stat s;

    l->fd = is_stdin(name) ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
    if (l->fd < 0 || fstat(l->fd, &s) < 0)
        return unreadable(why);
    l->regular = S_ISREG(s.st_mode);
    l->begun = true;
    l->next++;
    return SEEN_OK;
}

/*
 * Append what can be read to the block: all there is room for, or, eagerly,
 * up to the first line that is whole. *ended tells of the end of the input.
 */
static enum seen_code gather(struct lines *l, struct block *b, bool *ended,
                             struct seen_error *why)
{
    *ended = false;
    while (b->len < BLOCK && !*ended) {
        ssize_t n;

        if (l->eager && !l->regular)
            output_flush();     /* who asks line by line gets an answer */
        n = read(l->fd, b->data + b->len, BLOCK - b->len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return unreadable(why);
        *ended = n == 0;
        l->bytes += (uint64_t)n;
        b->len += (size_t)n;
        if (l->eager && n &&
            memchr(b->data + b->len - (size_t)n, '\n', (size_t)n))
            break;
    }
    return SEEN_OK;
}

/* Pass over the rest of a line whose beginning was handed out as too long. */
static void pass_over(struct lines *l, struct block *b, bool ended)
{
    const char *end = memchr(b->data, '\n', b->len);

    b->at = end ? (size_t)(end - b->data) + 1 : b->len;
    l->skipping = !end && !ended;
}

/* Keep what follows the last whole line for the next block. */
static void carry_over(struct lines *l, struct block *b)
{
    size_t whole = b->len;

    while (whole > b->at && b->data[whole - 1] != '\n')
        whole--;
    if (b->len - whole > sizeof l->carry) {
        l->skipping = true;     /* too long, whatever else it says */
        return;
    }
    l->carried = b->len - whole;
    memcpy(l->carry, b->data + whole, l->carried);
    b->len = whole;
}

enum seen_code lines_next(struct lines *l, struct block *b, const char **name,
                          struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    bool ended;

    do {
        b->len = b->at = 0;
        b->line = 0;
        if (l->fd < 0 && l->next == l->inputs)
            return SEEN_OK;
        if (l->fd < 0) {
            *name = title(l->input[l->next]);
            code = open_next(l, why);
            if (code != SEEN_OK)
                return code;
        }
        *name = title(l->input[l->next - 1]);
        memcpy(b->data, l->carry, l->carried);
        b->len = l->carried;
        l->carried = 0;
        code = gather(l, b, &ended, why);
        if (code != SEEN_OK)
            return code;
        if (l->skipping)
            pass_over(l, b, ended);
        if (ended)
            lines_close(l);
        else
            carry_over(l, b);
    } while (b->at == b->len);
    b->input = l->inputs > 1 ? *name : NULL;
    b->first = l->begun;
    l->begun = false;
    return SEEN_OK;
}

/* --- taking it apart --- */

bool block_line(struct block *b, const char **line, size_t *len)
{
    while (b->at < b->len) {
        const char *start = b->data + b->at;
        const char *end = memchr(start, '\n', b->len - b->at);
        size_t n = end ? (size_t)(end - start) : b->len - b->at;

        b->at += n + (end != NULL);
        b->line++;
        if (n && start[n - 1] == '\r')
            n--;
        if (n) {
            *line = start;
            *len = n;
            return true;
        }
    }
    return false;
}
