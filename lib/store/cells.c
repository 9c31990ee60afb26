/*
 * cells.c - cells to and from a file, in memory or mapped.
 *
 * Blocks are independent of leaves. A block is copied out of the leaves, then
 * hashed and written from the copy, so that keys which other threads add
 * meanwhile never make a checksum wrong. Threads may also append parts: a
 * file has the parts of one moment (nodes.h) and all keys that were added
 * before it. It may have some of the keys that were added later; to exclude
 * them, all threads that add would have to wait until the last cell is
 * written.
 *
 * A filter for many keys that has few is mostly zeros. If memory says that
 * most of its pages were never touched, these are not read; and the blocks are
 * written past the system's cache, which would have to copy them, in large
 * pieces. Why not leave holes? The file would fall into thousands of pieces on
 * the disk, which took seconds to free when it was replaced, and a writer that
 * maps it would need the room for them. A thousand keys into a filter for 100
 * million took 130 ms of CPU time, and 25 this way.
 */
#include "cells.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../disk/disk.h"
#include "../filter/cells.h"
#include "../filter/storage.h"
#include "../filter/tree.h"
#include "blocks.h"
#include "fault.h"
#include "text.h"

static void lay_out(struct store_layout *l)
{
    for (size_t i = 0; i < l->nodes.n; i++) {
        const struct seen_filter *f = l->nodes.node[i].f;

        if (f->kind->combines)
            continue;
        l->length = (l->length + LINE - 1) / LINE * LINE;
        l->leaf[l->leaves].f = f;
        l->leaf[l->leaves++].at = l->length;
        l->length += f->size;
    }
}

enum seen_code store_layout_init(struct store_layout *l,
                                 const struct seen_filter *f,
                                 struct seen_error *why)
{
    enum seen_code code;

    memset(l, 0, sizeof *l);
    if (f->traits & SEEN_CELLS_ELSEWHERE)
        return seen_fail(why, SEEN_UNABLE, 0,
                         "the cells are on a server: load the filter first");
    code = store_nodes_init(&l->nodes, f, why);
    if (code != SEEN_OK)
        return code;
    l->leaf = calloc(l->nodes.n, sizeof *l->leaf);
    if (!l->leaf) {
        store_nodes_clear(&l->nodes);
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for %zu parts",
                         l->nodes.n);
    }
    lay_out(l);
    return SEEN_OK;
}

void store_layout_clear(struct store_layout *l)
{
    for (size_t i = 0; l->leaf && i < l->leaves; i++)
        free(l->leaf[i].touched);
    store_nodes_clear(&l->nodes);
    free(l->leaf);
    l->leaf = NULL;
}

/* The last leaf that begins at or before `at`. */
static size_t leaf_at(const struct store_layout *l, uint64_t at)
{
    size_t low = 0, high = l->leaves;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (l->leaf[middle].at <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* How many of the `len` bytes at `at` belong to one leaf; they begin at
   *skip. */
static size_t overlap(const struct store_leaf *s, uint64_t at, size_t len,
                      size_t *skip)
{
    uint64_t from = s->at > at ? s->at : at;
    uint64_t end = s->at + s->f->size, to = at + len;

    if (end < to)
        to = end;
    *skip = (size_t)(from - at);
    return from < to ? (size_t)(to - from) : 0;
}

/* How many of the `len` bytes at `at` are in pages of a leaf that are like the
   first of them: touched, or not. */
static size_t alike(const struct store_leaf *s, uint64_t at, size_t len,
                    bool *touched)
{
    uint64_t page = at / CELLS_PAGE;
    size_t n = CELLS_PAGE - at % CELLS_PAGE;

    if (!s->touched) {
        *touched = true;
        return len;
    }
    *touched = s->touched[page / 8] >> page % 8 & 1;
    for (; n < len; n += CELLS_PAGE) {
        page++;
        if ((s->touched[page / 8] >> page % 8 & 1) != *touched)
            break;
    }
    return n < len ? n : len;
}

/* Copy out of a leaf; word by word if other threads may change it. */
static void copy_words(const struct seen_filter *leaf, uint64_t at,
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

/* The same into zeros: pages that were never touched are passed over. */
static void copy_cells(const struct store_leaf *s, uint64_t at,
                       unsigned char *to, size_t len)
{
    bool touched;

    for (size_t some; len; len -= some) {
        some = alike(s, at, len, &touched);
        if (touched)
            copy_words(s->f, at, to, some);
        at += some;
        to += some;
    }
}

void store_layout_get(const struct store_layout *l, uint64_t at,
                      unsigned char *to, size_t len)
{
    size_t skip, some;

    memset(to, 0, len);
    for (size_t i = leaf_at(l, at); i < l->leaves; i++) {
        const struct store_leaf *s = &l->leaf[i];

        if (s->at >= at + len)
            break;
        some = overlap(s, at, len, &skip);
        if (some)
            copy_cells(s, at + skip - s->at, to + skip, some);
    }
}

void store_layout_put(const struct store_layout *l, uint64_t at,
                      const unsigned char *from, size_t len)
{
    size_t skip, some;

    for (size_t i = leaf_at(l, at); i < l->leaves; i++) {
        const struct store_leaf *s = &l->leaf[i];

        if (s->at >= at + len)
            break;
        some = overlap(s, at, len, &skip);
        if (some)
            memcpy(s->f->cells + (at + skip - s->at), from + skip, some);
    }
}

size_t store_block_len(const struct store_head *h, uint64_t i)
{
    uint64_t left = h->cells_len - i * h->block;

    return (size_t)(left < h->block ? left : h->block);
}

enum seen_code store_block_check(const struct store_head *h,
                                 const uint64_t *table, uint64_t i,
                                 const unsigned char *bytes, size_t len,
                                 struct seen_error *why)
{
    if (store_checksum(bytes, len) == table[h->leaves + i])
        return SEEN_OK;
    return seen_fail(why, SEEN_CORRUPT, h->cells_at + i * h->block,
                     "checksum differs in block %llu; the file was changed",
                     (unsigned long long)i);
}

void store_counts_put(const struct store_layout *l, uint64_t *table)
{
    for (size_t i = 0; i < l->leaves; i++) {
        uint64_t set = set_cells(l->leaf[i].f);
        uint64_t most = leaf_cells(l->leaf[i].f);

        table[i] = set < most ? set : most; /* readers refuse more */
    }
}

/* --- cells that were never set ---------------------------------------------- */

/* Find out which pages of the leaves were touched. Are they few? */
static bool find_touched(struct store_layout *l)
{
    uint64_t pages = 0, touched = 0;

    for (size_t i = 0; i < l->leaves; i++) {
        struct store_leaf *s = &l->leaf[i];
        size_t all = (s->f->size + CELLS_PAGE - 1) / CELLS_PAGE;

        if (s->f->zeroed)
            s->touched = malloc((all + 7) / 8);
        pages += all;
        touched += s->touched
                       ? cells_touched(s->f->cells, s->f->size, s->touched)
                       : all;
    }
    return touched < pages / 4;
}

/* Was no cell of the `len` bytes at `at` ever set? */
static bool untouched(const struct store_layout *l, uint64_t at, size_t len)
{
    for (size_t i = leaf_at(l, at); i < l->leaves; i++) {
        const struct store_leaf *s = &l->leaf[i];
        size_t skip, some = overlap(s, at, len, &skip);
        bool touched;

        if (s->at >= at + len)
            break;
        if (some &&
            (alike(s, at + skip - s->at, some, &touched) < some || touched))
            return false;
    }
    return true;
}

/* --- writing -------------------------------------------------------------- */

enum { PIECE_BLOCKS = 32, BLOCK_PAGES = BLOCK / CELLS_PAGE };

/* Blocks that are written together. */
struct piece {
    unsigned char *bytes;
    uint64_t zeros; /* the checksum of a block of zeros */
    bool dirty[PIECE_BLOCKS][BLOCK_PAGES]; /* pages that are not zeros */
};

/* Get the block at `at` into a piece, and return its checksum. Only pages with
   cells are written to; there may be few in a block. */
static uint64_t get_block(struct piece *p, size_t i,
                          const struct store_layout *l, uint64_t at,
                          size_t len)
{
    unsigned char *block = p->bytes + i * BLOCK;
    bool any = len < BLOCK;

    for (size_t from = 0; from < len; from += CELLS_PAGE) {
        size_t some = len - from < CELLS_PAGE ? len - from : CELLS_PAGE;
        bool *dirty = &p->dirty[i][from / CELLS_PAGE];

        if (!untouched(l, at + from, some)) {
            store_layout_get(l, at + from, block + from, some);
            *dirty = any = true;
        } else if (*dirty) {
            memset(block + from, 0, CELLS_PAGE);
            *dirty = false;
        }
    }
    return any ? store_checksum(block, len) : p->zeros;
}

/* Fill the table from the leaves, few of whose pages were touched, and write
   the blocks. */
static enum seen_code put_few_cells(int fd, const struct store_layout *l,
                                    const struct store_head *h,
                                    uint64_t *table, struct seen_error *why)
{
    const size_t size = PIECE_BLOCKS * BLOCK;
    struct piece p = { .bytes = cells_new(size) };
    enum seen_code code = SEEN_OK;

    if (!p.bytes)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for %zu bytes", size);
    p.zeros = store_checksum(p.bytes, BLOCK);
    disk_direct(fd, true);
    for (uint64_t i = 0; i < h->blocks && code == SEEN_OK;) {
        uint64_t at = h->cells_at + i * BLOCK;
        size_t len = 0;

        for (size_t n = 0; n < PIECE_BLOCKS && i < h->blocks; n++, i++) {
            size_t some = store_block_len(h, i);

            table[l->leaves + i] = get_block(&p, n, l, i * BLOCK, some);
            len += some;
        }
        code = disk_write(fd, p.bytes, len, at, why);
    }
    disk_direct(fd, false);
    cells_free(p.bytes, size);
    return code;
}

/* The same through the cache, block by block; or only the table, if fd is
   -1. */
static enum seen_code put_all_cells(int fd, const struct store_layout *l,
                                    const struct store_head *h,
                                    uint64_t *table, struct seen_error *why)
{
    unsigned char *block = malloc(h->block);
    enum seen_code code = SEEN_OK;

    if (!block)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a block");
    for (uint64_t i = 0; i < h->blocks && code == SEEN_OK; i++) {
        size_t len = store_block_len(h, i);

        store_layout_get(l, i * h->block, block, len);
        table[l->leaves + i] = store_checksum(block, len);
        if (fd >= 0)
            code = disk_write(fd, block, len, h->cells_at + i * h->block, why);
    }
    free(block);
    return code;
}

static enum seen_code put_cells(int fd, struct store_layout *l,
                                const struct store_head *h, uint64_t *table,
                                struct seen_error *why)
{
    bool few;

    store_counts_put(l, table); /* first: what is counted must be written */
    few = fd >= 0 && h->block == BLOCK && find_touched(l);
    return (few ? put_few_cells : put_all_cells)(fd, l, h, table, why);
}

static enum seen_code check_cells(const struct store_layout *l,
                                  struct seen_error *why)
{
    for (size_t i = 0; i < l->leaves; i++)
        if (l->leaf[i].f->size && !l->leaf[i].f->cells)
            return seen_fail(why, SEEN_UNABLE, i,
                             "%s does not have its cells in memory",
                             l->leaf[i].f->plan.kind);
    return SEEN_OK;
}

/* All of a head but state, identity and checksum of the table. The text is the
   caller's to free. */
static enum seen_code arrange(const struct seen_filter *f,
                              const struct store_layout *l,
                              struct store_head *head, char **text,
                              struct seen_error *why)
{
    size_t len = 0;
    enum seen_code code = store_text_of(&l->nodes, false, text, &len, why);

    if (code != SEEN_OK)
        return code;
    head->format = FORMAT_VERSION;
    head->hashing = HASH_VERSION;
    head->block = BLOCK;
    head->offered = seen_filter_offered(f);
    head->text_len = len;
    head->text_sum = store_checksum(*text, len);
    head->leaves = l->leaves;
    head->cells_len = l->length;
    store_head_arrange(head);
    return SEEN_OK;
}

static enum seen_code write_sealed(int fd, const struct seen_filter *f,
                                   struct store_layout *l,
                                   struct store_head *head, const char *text,
                                   struct seen_error *why)
{
    unsigned char *front = calloc(1, (size_t)head->cells_at);
    enum seen_code code;

    if (!front)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for %llu bytes",
                         (unsigned long long)head->cells_at);
    memcpy(front + HEAD, text, (size_t)head->text_len);
    code = put_cells(fd, l, head, (uint64_t *)(void *)(front + head->table_at),
                     why);
    code = storage_kept(f, code, why);
    if (code == SEEN_OK) {
        head->state = SEALED;
        head->table_sum = store_checksum(
            front + head->table_at, 8 * (size_t)(head->leaves + head->blocks));
        head->identity = store_head_identity(head);
        store_head_put(front, head);
        code = disk_write(fd, front, (size_t)head->cells_at, 0, why);
    }
    if (code == SEEN_OK && store_head_second(head))
        code = disk_write(fd, front, HEAD, store_head_second(head), why);
    free(front);
    return code;
}

enum seen_code store_file_write(int fd, const struct seen_filter *f,
                                struct store_head *head,
                                struct seen_error *why)
{
    char *text = NULL;
    struct store_layout l;
    enum seen_code code = store_layout_init(&l, f, why);

    if (code != SEEN_OK)
        return code;
    code = check_cells(&l, why);
    if (code == SEEN_OK)
        code = storage_check_all(f, why); /* or damage gets a new checksum */
    if (code == SEEN_OK)
        code = arrange(f, &l, head, &text, why);
    if (code == SEEN_OK)
        code = write_sealed(fd, f, &l, head, text, why);
    free(text);
    store_layout_clear(&l);
    return code;
}

enum seen_code store_file_begin(int fd, const struct seen_filter *f,
                                struct store_head *head,
                                struct seen_error *why)
{
    char *text = NULL;
    struct store_layout l;
    enum seen_code code = store_layout_init(&l, f, why);

    if (code != SEEN_OK)
        return code;
    code = arrange(f, &l, head, &text, why);
    if (code == SEEN_OK)
        code = disk_reserve(fd, head->length, why);
    if (code == SEEN_OK)
        code = disk_write(fd, text, (size_t)head->text_len, HEAD, why);
    if (code == SEEN_OK) {
        head->state = CHANGING;
        head->identity = head->table_sum = 0;
        code = store_head_lay(fd, head, why);
    }
    free(text);
    store_layout_clear(&l);
    return code;
}

enum seen_code store_file_seal(int fd, const struct seen_filter *f,
                               struct store_blocks *blocks,
                               struct store_head *head, store_ready *ready,
                               void *whose, struct seen_error *why)
{
    size_t len = 8 * (size_t)(head->leaves + head->blocks);
    uint64_t *all = NULL;
    const uint64_t *table = NULL;
    struct store_layout l;
    enum seen_code code = store_layout_init(&l, f, why);

    if (code == SEEN_OK && blocks && !store_blocks_whole(blocks)) {
        table = store_blocks_table(blocks, &l);
    } else if (code == SEEN_OK) {
        table = all = malloc(len ? len : 1);
        code = all ? put_cells(-1, &l, head, all, why)
                   : seen_fail(why, SEEN_NOMEM, 0, "no memory for a table");
    }
    code = storage_kept(f, code, why); /* or empty pages get checksums */
    if (code == SEEN_OK)
        code = disk_write(fd, table, len, head->table_at, why);
    if (code == SEEN_OK)
        code = disk_flush(fd, why); /* cells and table, then the seal */
    if (code == SEEN_OK) {
        head->state = SEALED;
        head->offered = seen_filter_offered(f);
        head->table_sum = store_checksum(table, len);
        head->identity = store_head_identity(head);
        code = ready(whose, head, why);
    }
    if (code == SEEN_OK)
        code = store_head_write(fd, head, why);
    store_layout_clear(&l);
    free(all);
    return code;
}

enum seen_code store_cells_read(int fd, const struct store_front *front,
                                bool check, const struct store_layout *to,
                                struct seen_error *why)
{
    const struct store_head *h = &front->head;
    unsigned char *block = malloc(h->block);
    enum seen_code code = SEEN_OK;

    if (!block)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a block");
    for (uint64_t i = 0; i < h->blocks && code == SEEN_OK; i++) {
        size_t len = store_block_len(h, i);
        uint64_t at = h->cells_at + i * h->block;

        code = disk_read(fd, block, len, at, why);
        if (code == SEEN_OK && check)
            code = store_block_check(h, front->table, i, block, len, why);
        if (code == SEEN_OK && to)
            store_layout_put(to, i * h->block, block, len);
    }
    free(block);
    return code;
}

/* --- cells in memory ------------------------------------------------------ */

enum seen_code store_cells_copy(struct seen_filter *f, int fd,
                                const struct store_front *front, bool check,
                                struct seen_error *why)
{
    struct store_layout l;
    enum seen_code code = filter_fill(f, why);

    if (code != SEEN_OK)
        return code;
    code = store_layout_init(&l, f, why);
    if (code == SEEN_OK)
        code = store_cells_read(fd, front, check, &l, why);
    store_layout_clear(&l);
    return code;
}

static void attach(struct seen_filter *f, unsigned char *cells, uint64_t *at)
{
    if (!f->kind->combines) {
        *at = (*at + LINE - 1) / LINE * LINE;
        if (f->size) {
            f->cells = cells + *at;
            f->zeroed = false;
        }
        *at += f->size;
    }
    for (unsigned i = 0; i < f->parts; i++)
        attach(f->part[i], cells, at);
}

enum seen_code store_cells_map(struct seen_filter *f, int fd,
                               const struct store_front *front, int protection,
                               int flags, struct store_mapping *map,
                               struct seen_error *why)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), at = 0;
    uint64_t from = front->head.cells_at / page * page;
    uint64_t skip = front->head.cells_at - from;
    void *base;

    map->base = NULL;
    map->range = NULL;
    map->len = (size_t)(front->head.cells_len + skip);
    if (!front->head.cells_len)
        return SEEN_OK;
    base = mmap(NULL, map->len, protection, flags, fd, (off_t)from);
    if (base == MAP_FAILED)
        return seen_fail(why, SEEN_IO, 0, "cannot be mapped");
    map->range = store_range_new(base, map->len);
    if (!map->range) {
        munmap(base, map->len);
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a mapping");
    }
    map->base = base;
    attach(f, map->base + skip, &at);
    return SEEN_OK;
}

const int *store_cells_lost(const struct store_mapping *map)
{
    return map->base ? store_range_lost(map->range) : NULL;
}

enum seen_code store_cells_kept(const struct store_mapping *map,
                                enum seen_code code, struct seen_error *why)
{
    const int *lost = store_cells_lost(map);

    return lost && __atomic_load_n(lost, __ATOMIC_ACQUIRE) ? storage_lost(why)
                                                           : code;
}

static void detach(struct seen_filter *f, const struct store_mapping *map)
{
    if (f->cells && f->cells >= map->base && f->cells < map->base + map->len)
        f->cells = NULL;
    for (unsigned i = 0; i < f->parts; i++)
        detach(f->part[i], map);
}

void store_cells_unmap(struct seen_filter *f, struct store_mapping *map)
{
    if (!map->base)
        return;
    detach(f, map);
    store_range_free(map->range);
    munmap(map->base, map->len);
    map->base = NULL;
}

void store_cells_recount(struct seen_filter *f)
{
    if (!f->kind->combines && f->cells)
        f->set = f->kind->recount ? f->kind->recount(f)
                                  : cells_count(f->cells, f->size);
    if (f->kind->renew)
        f->kind->renew(f);
    for (unsigned i = 0; i < f->parts; i++)
        store_cells_recount(f->part[i]);
}
