/*
 * source.c - hand out pieces, and fold them in order.
 *
 * A piece of a gzip file begins where a member seems to begin. Only unpacking
 * everything before it can prove that: a WARC holds files that are gzip
 * themselves, and if they are stored, not packed a second time, their members
 * look like members of the WARC. So the reader of piece i goes on until a
 * member begins where a later piece does, and the pieces between are void:
 *
 *     |=========0==========|                 members, truly
 *     0        1?     2    3                 where pieces seemed to begin
 *     └── read by piece 0 ─┘└── by piece 3
 *
 * The first piece begins at a true member, and so do the members that its
 * reader meets; by induction this holds for all pieces that are not void. The
 * bytes of void pieces are read twice.
 */
#include "source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint64_t seen_source_bytes(const struct seen_source *s)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < s->files; i++)
        if (s->file[i].pieces)
            sum += s->file[i].size - s->file[i].base;
    return sum;
}

bool seen_source_twice(const struct seen_source *s)
{
    for (size_t i = 0; i < s->files; i++)
        if (!s->file[i].seeks)
            return false;
    return true;
}

bool seen_source_file(const struct seen_source *s, size_t i, const char **name,
                      const struct seen_layout **layout, const char **packing)
{
    static const char *const names[] = { "plain", "gzip", "zstd", "deflate" };

    if (i >= s->files)
        return false;
    *name = s->file[i].title;
    *layout = &s->file[i].layout;
    *packing = names[s->file[i].packing];
    return true;
}

bool seen_source_fault(const struct seen_source *s, size_t i,
                       const char **name, const struct seen_error **why)
{
    if (i >= s->faults)
        return false;
    *name = s->fault[i].name;
    *why = &s->fault[i].why;
    return true;
}

size_t seen_source_lost(const struct seen_source *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->faults; i++)
        n += s->fault[i].why.code != SEEN_MISMATCH;
    return n;
}

uint64_t seen_source_print(const struct seen_source *s)
{
    struct seen_key key;
    uint64_t print = s->files;

    for (size_t i = 0; i < s->files; i++) {
        const struct cdx_file *f = &s->file[i];

        seen_key_hash(&key, f->name, strlen(f->name));
        print = seen_mix(print ^ key.lo);
        print = seen_mix(print ^ f->size ^ (uint64_t)f->changed << 1);
        print = seen_mix(print ^ f->base);
    }
    return print;
}

uint64_t cdx_file_start(struct cdx_file *f, uint64_t i)
{
    uint64_t at = __atomic_load_n(&f->start[i], __ATOMIC_RELAXED);
    uint64_t first = f->base / GZIP_PIECE;

    if (at == CDX_NOWHERE - 1) { /* two threads may look: they find the same */
        struct cdx_raw raw = { .fd = cdx_file_open(f),
                               .seeks = true,
                               .at = (first + i) * GZIP_PIECE,
                               .end = f->end };
        uint64_t to = raw.at + GZIP_PIECE;

        at = CDX_NOWHERE;
        if (raw.fd >= 0)
            at = cdx_member_find(raw, f->end && f->end < to ? f->end : to,
                                 cdx_file_magic(f));
        if (raw.fd >= 0 && raw.fd != f->fd)
            close(raw.fd);
        __atomic_store_n(&f->start[i], at, __ATOMIC_RELAXED);
    }
    return at;
}

/* --- pipes --- */

size_t cdx_pipe_read(const struct seen_source *s, int fd, char *to,
                     size_t room)
{
    ssize_t n;

    do {
        if (s->options.wait)
            s->options.wait(s->options.to);
        n = read(fd, to, room);
    } while (n < 0 && errno == EINTR);
    return n < 0 ? SIZE_MAX : (size_t)n;
}

/* From the head, while it lasts; then from the pipe. */
static size_t read_some(struct seen_source *s, struct cdx_file *f, char *to,
                        size_t room)
{
    size_t left = f->head_len - f->head_at;

    if (!left)
        return cdx_pipe_read(s, f->fd, to, room);
    left = left < room ? left : room;
    memcpy(to, f->head + f->head_at, left);
    f->head_at += left;
    return left;
}

/* Drop the rest of a line that was too long; how many bytes are left. */
static size_t skip_line(struct seen_source *s, char *to, size_t len)
{
    const char *end = memchr(to, '\n', len);
    size_t rest = end ? len - (size_t)(end + 1 - to) : 0;

    if (end)
        memmove(to, end + 1, rest);
    s->skipping = !end;
    return rest;
}

/* A read failed: the lines before that count, then the failure. */
static size_t whole_lines(struct cdx_file *f, const char *to, size_t len)
{
    if (!f->failed)
        f->failed = errno;
    while (len && to[len - 1] != '\n')
        len--;
    errno = f->failed;
    return len ? len : SIZE_MAX;
}

size_t cdx_pipe_lines(struct seen_source *s, struct cdx_file *f, char *to)
{
    size_t len = s->carried, whole, n;
    bool enough = false;

    if (!s->carry && !(s->carry = malloc(SEEN_LINE_TEXT + 1))) {
        errno = ENOMEM;
        return SIZE_MAX;
    }
    memcpy(to, s->carry, len);
    s->carried = 0;
    while (len < PIPE_PIECE && !enough) {
        n = f->failed && f->head_at == f->head_len
                ? SIZE_MAX
                : read_some(s, f, to + len, PIPE_PIECE - len);
        if (n == SIZE_MAX)
            return whole_lines(f, to, len);
        if (!n)
            return len; /* the end */
        if (s->skipping)
            n = skip_line(s, to + len, n);
        enough = s->options.wait && memchr(to + len, '\n', n);
        len += n;
    }
    for (whole = len; whole && to[whole - 1] != '\n';)
        whole--;
    if (len - whole > SEEN_LINE_TEXT) {
        s->skipping = true; /* too long, whatever else it says */
        return len;
    }
    memcpy(s->carry, to + whole, len - whole);
    s->carried = len - whole;
    return whole;
}

/* --- folding --- */

bool cdx_void(const struct seen_source *s, const struct cdx_file *f,
              uint64_t index, uint64_t start)
{
    return f->seeks && f->packing == CDX_GZIP && index &&
           (start == CDX_NOWHERE ||
            (s->expected != CDX_NOWHERE && s->expected != start));
}

struct seen_mark seen_source_mark(const struct seen_source *s)
{
    return (struct seen_mark){ s->folded, s->expected };
}

void seen_source_rewind(struct seen_source *s)
{
    s->next = 0;
    s->piece = s->number = s->folded = 0;
    s->expected = CDX_NOWHERE;
}

void seen_source_skip(struct seen_source *s, struct seen_mark mark)
{
    while (s->next < s->files && s->number < mark.piece) {
        uint64_t left = s->file[s->next].pieces - s->piece;
        uint64_t need = mark.piece - s->number;

        if (left > need) {
            s->piece += need;
            s->number += need;
            break;
        }
        s->number += left;
        s->piece = 0;
        s->next++;
    }
    s->folded = mark.piece;
    s->expected = mark.member;
}
