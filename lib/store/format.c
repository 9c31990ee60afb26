/*
 * format.c - the cells of a tree of filters as one run of bytes, and back.
 *
 *     leaf 0            leaf 1    leaf 2
 *     |================|==========|===================|
 *     +-------+-------+-------+-------+-------+-------+
 *     block 0   1       2       3       4       5
 *
 * Blocks know nothing of leaves. A block is copied out of the leaves, then
 * hashed and written from the copy, so that what other threads add meanwhile
 * never makes a checksum wrong. They may also append parts: a file has those
 * of one moment (shape.h), and all that was added before that moment. Of
 * what is added later it may have some; a filter without that would stop
 * everyone who adds until its last cell is written.
 */
#include "format.h"

#include <stdlib.h>
#include <string.h>

#include "../filter/cells.h"
#include "../disk/disk.h"
#include "text.h"

static void lay_out(struct layout *l)
{
    for (size_t i = 0; i < l->shape.nodes; i++) {
        const struct seen_filter *f = l->shape.node[i].f;

        if (f->kind->combines)
            continue;
        l->length = (l->length + LINE - 1) / LINE * LINE;
        l->span[l->leaves].leaf = f;
        l->span[l->leaves++].at = l->length;
        l->length += f->size;
    }
}

enum seen_code layout_init(struct layout *l, const struct seen_filter *f,
                           struct seen_error *why)
{
    enum seen_code code;

    memset(l, 0, sizeof *l);
    code = shape_init(&l->shape, f, why);
    if (code != SEEN_OK)
        return code;
    l->span = calloc(l->shape.nodes, sizeof *l->span);
    if (!l->span) {
        shape_clear(&l->shape);
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for %zu parts",
                         l->shape.nodes);
    }
    lay_out(l);
    return SEEN_OK;
}

void layout_clear(struct layout *l)
{
    shape_clear(&l->shape);
    free(l->span);
    l->span = NULL;
}

/* The last leaf that begins at or before `at`. */
static size_t leaf_at(const struct layout *l, uint64_t at)
{
    size_t low = 0, high = l->leaves;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (l->span[middle].at <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The bytes of one leaf among `len` at `at`: from *skip on, so many. */
static size_t overlap(const struct span *s, uint64_t at, size_t len,
                      size_t *skip)
{
    uint64_t from = s->at > at ? s->at : at;
    uint64_t end = s->at + s->leaf->size, to = at + len;

    if (end < to)
        to = end;
    *skip = (size_t)(from - at);
    return from < to ? (size_t)(to - from) : 0;
}

/* Copy out of a leaf; word by word where others may change it meanwhile. */
static void copy_cells(const struct seen_filter *leaf, uint64_t at,
                       unsigned char *to, size_t len)
{
    const unsigned char *from = leaf->cells + at;

    if (leaf->stripes && at % sizeof(uint64_t) == 0)
        for (; len >= sizeof(uint64_t); len -= sizeof(uint64_t)) {
            uint64_t word = __atomic_load_n(
                (const uint64_t *)(const void *)from, __ATOMIC_RELAXED);

            memcpy(to, &word, sizeof word);
            from += sizeof word;
            to += sizeof word;
        }
    memcpy(to, from, len);
}

void layout_get(const struct layout *l, uint64_t at, unsigned char *to,
                size_t len)
{
    size_t skip, some;

    memset(to, 0, len);
    for (size_t i = leaf_at(l, at); i < l->leaves; i++) {
        const struct span *s = &l->span[i];

        if (s->at >= at + len)
            break;
        some = overlap(s, at, len, &skip);
        if (some)
            copy_cells(s->leaf, at + skip - s->at, to + skip, some);
    }
}

void layout_put(const struct layout *l, uint64_t at, const unsigned char *from,
                size_t len)
{
    size_t skip, some;

    for (size_t i = leaf_at(l, at); i < l->leaves; i++) {
        const struct span *s = &l->span[i];

        if (s->at >= at + len)
            break;
        some = overlap(s, at, len, &skip);
        if (some)
            memcpy(s->leaf->cells + (at + skip - s->at), from + skip, some);
    }
}

static size_t block_len(const struct head *h, uint64_t i)
{
    uint64_t left = h->cells_len - i * h->block;

    return (size_t)(left < h->block ? left : h->block);
}

/* Fill the table from the leaves, and write the blocks unless fd is -1. */
static enum seen_code put_cells(int fd, const struct layout *l,
                                const struct head *h, uint64_t *table,
                                struct seen_error *why)
{
    unsigned char *block = malloc(h->block);
    enum seen_code code = SEEN_OK;

    if (!block)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a block");
    for (size_t i = 0; i < l->leaves; i++) {
        uint64_t set = set_cells(l->span[i].leaf);
        uint64_t most = leaf_cells(l->span[i].leaf);

        table[i] = set < most ? set : most; /* no reader takes more */
    }
    for (uint64_t i = 0; i < h->blocks && code == SEEN_OK; i++) {
        size_t len = block_len(h, i);

        layout_get(l, i * h->block, block, len);
        table[l->leaves + i] = checksum(block, len);
        if (fd >= 0)
            code = disk_write(fd, block, len, h->cells_at + i * h->block, why);
    }
    free(block);
    return code;
}

static enum seen_code check_cells(const struct layout *l,
                                  struct seen_error *why)
{
    for (size_t i = 0; i < l->leaves; i++)
        if (l->span[i].leaf->size && !l->span[i].leaf->cells)
            return seen_fail(why, SEEN_UNABLE, i,
                             "%s keeps its cells elsewhere",
                             l->span[i].leaf->plan.kind);
    return SEEN_OK;
}

enum seen_code format_write(int fd, const struct seen_filter *f,
                            struct head *head, struct seen_error *why)
{
    unsigned char *front = NULL;
    char *text = NULL;
    size_t text_len = 0;
    struct layout l;
    enum seen_code code = layout_init(&l, f, why);

    if (code != SEEN_OK)
        return code;
    code = check_cells(&l, why);
    if (code == SEEN_OK)
        code = text_of(&l.shape, false, &text, &text_len, why);
    if (code != SEEN_OK)
        goto clear_layout;

    head->format = FORMAT_VERSION;
    head->hashing = HASH_VERSION;
    head->state = SEALED;
    head->block = BLOCK;
    head->offered = seen_filter_offered(f);
    head->text_len = text_len;
    head->text_sum = checksum(text, text_len);
    head->leaves = l.leaves;
    head->cells_len = l.length;
    head_arrange(head);

    front = calloc(1, (size_t)head->cells_at);
    if (!front) {
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for %llu bytes",
                         (unsigned long long)head->cells_at);
        goto clear_layout;
    }
    memcpy(front + HEAD, text, text_len);
    code = put_cells(fd, &l, head,
                     (uint64_t *)(void *)(front + head->table_at), why);
    if (code != SEEN_OK)
        goto clear_layout;
    head->table_sum = checksum(front + head->table_at,
                               8 * (size_t)(head->leaves + head->blocks));
    head->identity = head_identity(head);
    head_put(front, head);
    code = disk_write(fd, front, (size_t)head->cells_at, 0, why);

clear_layout:
    free(front);
    free(text);
    layout_clear(&l);
    return code;
}

enum seen_code format_seal(int fd, const struct seen_filter *f,
                           struct head *head, struct seen_error *why)
{
    size_t len = 8 * (size_t)(head->leaves + head->blocks);
    uint64_t *table = malloc(len ? len : 1);
    unsigned char bytes[HEAD];
    struct layout l = { 0 };
    enum seen_code code;

    if (!table)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a table");
    code = layout_init(&l, f, why);
    if (code == SEEN_OK)
        code = put_cells(-1, &l, head, table, why);
    if (code == SEEN_OK)
        code = disk_write(fd, table, len, head->table_at, why);
    if (code == SEEN_OK)
        code = disk_flush(fd, why); /* cells and table, then the seal */
    if (code == SEEN_OK) {
        head->state = SEALED;
        head->offered = seen_filter_offered(f);
        head->table_sum = checksum(table, len);
        head->identity = head_identity(head);
        head_put(bytes, head);
        code = disk_write(fd, bytes, HEAD, 0, why);
    }
    if (code == SEEN_OK)
        code = disk_flush(fd, why);
    layout_clear(&l);
    free(table);
    return code;
}

enum seen_code format_cells(int fd, const struct front *front, bool check,
                            const struct layout *to, struct seen_error *why)
{
    const struct head *h = &front->head;
    unsigned char *block = malloc(h->block);
    enum seen_code code = SEEN_OK;

    if (!block)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a block");
    for (uint64_t i = 0; i < h->blocks && code == SEEN_OK; i++) {
        size_t len = block_len(h, i);
        uint64_t at = h->cells_at + i * h->block;

        code = disk_read(fd, block, len, at, why);
        if (code == SEEN_OK && check &&
            checksum(block, len) != front->table[h->leaves + i])
            code = seen_fail(why, SEEN_CORRUPT, at,
                             "checksum differs in block %llu; the file was "
                             "changed",
                             (unsigned long long)i);
        if (code == SEEN_OK && to)
            layout_put(to, i * h->block, block, len);
    }
    free(block);
    return code;
}
