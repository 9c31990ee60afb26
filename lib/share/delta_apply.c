/*
 * delta_apply.c - make the next version of a file.
 *
 *     old cells  ──64 KiB──>  changed  ──>  hashed  ──>  new cells
 *                                ^             |
 *     changes of the delta ──────┘             └──>  the new table
 *
 * A delta comes from the web. It is read once for its checksum. Anyone can
 * compute a checksum, so each number is then compared with its limit before
 * it is used. Changes are in ascending order, so one pass over the cells is
 * enough. The result is accepted only if it has the promised SHA-256.
 */
#include <seen/share.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../disk/disk.h"
#include "../store/paths.h"
#include "delta.h"
#include "rice.h"

/* --- changes, one after another ----------------------------------------- */

struct delta_changes {
    const struct delta *delta;
    struct rice_reader *from;
    uint64_t cells, lines; /* how many there are */
    uint64_t count;        /* cells or lines that are still to come */

    bool any;           /* there is a next change */
    bool bad;           /* the delta is invalid here */
    uint64_t cell;      /* the cell that changes next */
    uint64_t line;      /* if changes come by line: the line of this cell */
    unsigned in_line;   /* cells of that line which change after this one */
    uint64_t within;    /* where in the line the next gap begins */
    uint64_t next_cell; /* where gaps begin */
    uint64_t next_line;
};

static bool next_line(struct delta_changes *c)
{
    uint64_t gap;

    if (c->next_line >= c->lines ||
        !rice_get(c->from, c->delta->gap, c->lines - 1 - c->next_line, &gap))
        return false;
    c->line = c->next_line + gap;
    c->next_line = c->line + 1;
    return true;
}

static bool next_cell(struct delta_changes *c)
{
    uint64_t gap;

    if (c->next_cell >= c->cells ||
        !rice_get(c->from, c->delta->gap, c->cells - 1 - c->next_cell, &gap))
        return false;
    c->cell = c->next_cell + gap;
    c->next_cell = c->cell + 1;
    return true;
}

static bool next_in_line(struct delta_changes *c)
{
    const uint64_t each = 8 * DELTA_LINE / c->delta->width;
    uint64_t many, gap;

    if (!c->in_line) {
        if (!next_line(c) ||
            !rice_get(c->from, c->delta->many, each - 1, &many))
            return false;
        c->in_line = (unsigned)many + 1;
        c->within = 0;
    }
    if (c->within >= each ||
        !rice_get(c->from, c->delta->within, each - 1 - c->within, &gap))
        return false;
    c->within += gap + 1;
    c->cell = c->line * each + c->within - 1;
    c->in_line--;
    return c->cell < c->cells; /* the last line may be short */
}

static void advance(struct delta_changes *c)
{
    c->any = c->count || c->in_line;
    if (!c->any)
        return;
    if (!c->in_line)
        c->count--;
    switch (c->delta->coding) {
    case BY_CELL: c->bad = !next_cell(c); break;
    case BY_LINE: c->bad = !next_line(c); break;
    case IN_LINES: c->bad = !next_in_line(c); break;
    }
}

/* Where the next change begins, in bytes of cells. */
static uint64_t change_at(const struct delta_changes *c)
{
    return c->delta->coding == BY_LINE ? c->line * DELTA_LINE
                                       : c->cell * c->delta->width / 8;
}

static bool change_line(struct delta_changes *c, unsigned char *block,
                        uint64_t at, size_t len)
{
    size_t from = (size_t)(c->line * DELTA_LINE - at);
    uint64_t byte;

    for (size_t i = from; i < len && i < from + DELTA_LINE; i++) {
        if (!rice_take(c->from, 8, &byte))
            return false;
        block[i] = (unsigned char)byte;
    }
    return true;
}

static bool change_cell(struct delta_changes *c, unsigned char *block,
                        uint64_t at)
{
    const unsigned width = c->delta->width;
    uint64_t i = c->cell - 8 * at / width, step = 0;

    if (width > 1 &&
        !rice_get(c->from, c->delta->step, step_most(width), &step))
        return false;
    cell_put(block, i, width, step_by(cell_get(block, i, width), step, width));
    return true;
}

/* Make all changes in a block of `len` bytes that begins at `at`. */
static bool change(struct delta_changes *c, unsigned char *block, uint64_t at,
                   size_t len)
{
    while (c->any && !c->bad && change_at(c) < at + len) {
        if (c->delta->coding == BY_LINE)
            c->bad = !change_line(c, block, at, len);
        else
            c->bad = !change_cell(c, block, at);
        if (!c->bad)
            advance(c);
    }
    return !c->bad;
}

/* --- the delta's own bytes ---------------------------------------------- */

struct delta_patch {
    int fd;
    struct delta delta;
    struct store_head head; /* of the new file */
    unsigned char bytes[HEAD];
};

static enum seen_code invalid(struct seen_error *why)
{
    return seen_fail(why, SEEN_CORRUPT, 0, "is an invalid delta");
}

static enum seen_code patch_open(struct delta_patch *p, const char *path,
                                 struct seen_error *why)
{
    unsigned char head[DELTA_HEAD + HEAD];
    uint64_t sum = 0, told = 0;
    enum seen_code code;
    struct stat it;

    p->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (p->fd < 0 || fstat(p->fd, &it))
        return seen_fail(why, SEEN_IO, 0, "cannot be opened");
    if (!S_ISREG(it.st_mode) || (uint64_t)it.st_size < sizeof head + DELTA_SUM)
        return seen_fail(why, SEEN_CORRUPT, 0, "is too short for a delta");
    code = disk_read(p->fd, head, sizeof head, 0, why);
    if (code == SEEN_OK)
        code = delta_get(&p->delta, head, (uint64_t)it.st_size, why);
    if (code == SEEN_OK)
        code = delta_sum(p->fd, p->delta.length - DELTA_SUM, &sum, why);
    if (code == SEEN_OK)
        code = disk_read(p->fd, &told, DELTA_SUM, p->delta.length - DELTA_SUM,
                         why);
    if (code == SEEN_OK && sum != told)
        code = seen_fail(why, SEEN_CORRUPT, 0,
                         "checksum differs; the delta was cut short or "
                         "changed");
    memcpy(p->bytes, head + DELTA_HEAD, HEAD);
    if (code == SEEN_OK)
        code = store_head_get(&p->head, p->bytes, p->delta.to.length, why);
    if (code == SEEN_OK &&
        (p->head.state != SEALED ||
         delta_length(&p->head, p->delta.bits) != p->delta.length))
        code = invalid(why);
    return code;
}

/* Is the delta for this file, and does the file have the same cells? */
static enum seen_code check_base(const struct delta_patch *p, const char *from,
                                 int fd, struct store_head *base,
                                 struct seen_error *why)
{
    unsigned char digest[SEEN_DIGEST];
    struct store_front front;
    uint64_t length;
    enum seen_code code = seen_digest_file(from, digest, &length, why);

    if (code != SEEN_OK)
        return code;
    if (length != p->delta.from.length ||
        memcmp(digest, p->delta.from.digest, SEEN_DIGEST))
        return seen_fail(why, SEEN_MISMATCH, 0,
                         "is a delta for another version of the file");
    code = store_front_read(&front, fd, why);
    if (code != SEEN_OK)
        return code;
    *base = front.head;
    store_front_clear(&front);
    if (base->state != SEALED || base->leaves != p->head.leaves ||
        base->cells_len != p->head.cells_len ||
        base->cells_len * 8 / p->delta.width * p->delta.width !=
            base->cells_len * 8)
        return invalid(why);
    return SEEN_OK;
}

/* --- the new file ------------------------------------------------------- */

static enum seen_code write_cells(const struct delta_patch *p, int from,
                                  uint64_t old_at, int to, uint64_t *sums,
                                  struct delta_changes *c,
                                  unsigned char *block, struct seen_error *why)
{
    const struct store_head *h = &p->head;
    enum seen_code code = SEEN_OK;

    advance(c);
    for (uint64_t i = 0; i < h->blocks && code == SEEN_OK; i++) {
        uint64_t at = i * BLOCK, left = h->cells_len - at;
        size_t len = left < BLOCK ? (size_t)left : BLOCK;

        code = disk_read(from, block, len, old_at + at, why);
        if (code == SEEN_OK && !change(c, block, at, len))
            break;
        sums[i] = store_checksum(block, len);
        if (code == SEEN_OK)
            code = disk_write(to, block, len, h->cells_at + at, why);
    }
    if (code == SEEN_OK)
        code = c->from->code; /* the delta could not be read */
    if (code == SEEN_OK &&
        (c->any || c->bad || c->from->left || c->from->hold))
        code = invalid(why);
    return code;
}

/* Write the cells, and everything before them with the new table. */
static enum seen_code write_file(const struct delta_patch *p, int from,
                                 uint64_t old_at, int to,
                                 struct seen_error *why)
{
    const struct store_head *h = &p->head;
    const uint64_t text_at = DELTA_HEAD + HEAD,
                   sets_at = text_at + h->text_len;
    unsigned char *front = calloc(1, (size_t)h->cells_at);
    unsigned char *block = malloc(BLOCK);
    struct rice_reader *r = malloc(sizeof *r);
    uint64_t *table;
    struct delta_changes c = { .delta = &p->delta,
                               .from = r,
                               .cells = h->cells_len * 8 / p->delta.width,
                               .lines = h->cells_len / DELTA_LINE +
                                        (h->cells_len % DELTA_LINE != 0),
                               .count = p->delta.count };
    enum seen_code code;

    if (!front || !block || !r) {
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for %llu bytes",
                         (unsigned long long)h->cells_at);
        goto free_all;
    }
    memcpy(front, p->bytes, HEAD);
    table = (uint64_t *)(void *)(front + h->table_at);
    code = disk_read(p->fd, front + HEAD, (size_t)h->text_len, text_at, why);
    if (code == SEEN_OK)
        code = disk_read(p->fd, table, 8 * (size_t)h->leaves, sets_at, why);
    if (code != SEEN_OK)
        goto free_all;
    rice_open(r, p->fd, sets_at + 8 * h->leaves, p->delta.bits, why);
    code = write_cells(p, from, old_at, to, table + h->leaves, &c, block, why);
    if (code == SEEN_OK)
        code = disk_write(to, front, (size_t)h->cells_at, 0, why);
    if (code == SEEN_OK && store_head_second(h))
        code = disk_write(to, front, HEAD, store_head_second(h), why);
free_all:
    free(r);
    free(block);
    free(front);
    return code;
}

static enum seen_code check_result(const struct delta_patch *p,
                                   const char *path, struct seen_error *why)
{
    unsigned char digest[SEEN_DIGEST];
    uint64_t length;
    enum seen_code code = seen_digest_file(path, digest, &length, why);

    if (code == SEEN_OK && (length != p->delta.to.length ||
                            memcmp(digest, p->delta.to.digest, SEEN_DIGEST)))
        code = seen_fail(why, SEEN_CORRUPT, 0,
                         "is a delta whose result is not the promised file");
    return code;
}

static enum seen_code make_file(const struct delta_patch *p, int from,
                                uint64_t old_at, const char *path,
                                struct seen_error *why)
{
    int to = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666), system;
    enum seen_code code;

    if (to < 0)
        return seen_fail(why, SEEN_IO, 0, "its result cannot be written");
    code = write_file(p, from, old_at, to, why);
    if (code == SEEN_OK)
        code = disk_flush(to, why);
    if (code == SEEN_OK)
        code = check_result(p, path, why);
    system = errno;
    if (code != SEEN_OK)
        unlink(path);
    close(to);
    errno = system;
    return code;
}

enum seen_code seen_delta_apply(const char *from, const char *delta,
                                const char *path, struct seen_error *why)
{
    struct delta_patch p = { .fd = -1 };
    struct store_head base = { .cells_at = 0 };
    enum seen_code code = patch_open(&p, delta, why);
    int fd = -1, system;

    if (code == SEEN_OK && (fd = open(from, O_RDONLY | O_CLOEXEC)) < 0)
        code = seen_fail(why, SEEN_IO, 0,
                         "the file that it is for cannot be opened");
    if (code == SEEN_OK)
        code = check_base(&p, from, fd, &base, why);
    if (code == SEEN_OK)
        code = make_file(&p, fd, base.cells_at, path, why);
    system = errno;
    if (fd >= 0)
        close(fd);
    if (p.fd >= 0)
        close(p.fd);
    errno = system;
    return code;
}
