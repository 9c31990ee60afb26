/*
 * blocks.c - check a block of cells when a key first needs it.
 *
 *     key ──> reach() of each leaf ──> blocks ──> checksums of the table
 *
 * A block is read from the file, not through the mapping: one read of 64 KiB
 * instead of sixteen page faults, and the pages are in the cache when the
 * lookup reads them through the mapping. All blocks of a question are
 * announced to the system first, so that a disk reads them at the same time.
 *
 * If a writer changes the file in place meanwhile, a block may differ from the
 * table that was read at first. A writer changes the heads before the first
 * cell, so the head that is read after the block tells:
 *
 *     the same, and sealed or open   the block is damaged
 *     another, sealed or open        compare with the table of that head
 *     changing, and all changes      damaged, unless a change in the journal
 *     since the seal are in the      reaches the block: records are written
 *     journal (journal_is_lazy)      before cells
 *     changing, otherwise            cannot be checked; its writer has checked
 *                                    all blocks before the first change
 */
#include "blocks.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../disk/disk.h"
#include "../text/array.h"
#include "../text/memory.h"
#include "journal.h"

enum { TRIES = 1000 };
static const struct timespec moment = { .tv_nsec = 1000000 };

enum block_state { UNREAD, SOUND, CHANGED };

struct block_leaf {
    const unsigned char *cells;
    uint64_t at; /* where they begin among all cells of the file */
};

struct store_blocks {
    int fd;
    const struct store_paths *paths;
    bool changing;            /* the file was being changed when it was read */
    struct block_leaf *leaf;  /* sorted by address */
    size_t leaves;
    unsigned char *state;     /* enum block_state of each block */
    bool whole;
    struct store_head head;   /* only its sizes are used */
    pthread_mutex_t mutex;    /* guards what follows */
    uint64_t *table;
    unsigned char *bytes;     /* room for the block that is being checked */
};

bool store_blocks_able(const struct seen_filter *f)
{
    bool able = f->kind->combines || f->kind->reach;

    for (unsigned i = 0; i < f->parts && able; i++)
        able = store_blocks_able(f->part[i]);
    return able;
}

enum seen_code store_blocks_unable(const struct seen_filter *f,
                                   struct seen_error *why)
{
    return seen_fail(why, SEEN_UNABLE, 0,
                     "is being changed by a program that knows more about %s",
                     f->plan.kind);
}

static int by_address(const void *a, const void *b)
{
    const struct block_leaf *x = a, *y = b;

    return (x->cells > y->cells) - (x->cells < y->cells);
}

/* Cells are found by their address, because a refresh swaps filters. */
static enum seen_code note_leaves(struct store_blocks *b,
                                  const struct seen_filter *f,
                                  struct seen_error *why)
{
    struct store_layout l;
    enum seen_code code = store_layout_init(&l, f, why);

    if (code != SEEN_OK)
        return code;
    b->leaf = calloc(l.leaves + 1, sizeof *b->leaf);
    for (size_t i = 0; i < l.leaves && b->leaf; i++)
        if (l.leaf[i].f->cells)
            b->leaf[b->leaves++] = (struct block_leaf){ l.leaf[i].f->cells,
                                                        l.leaf[i].at };
    store_layout_clear(&l);
    if (!b->leaf)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a list of parts");
    qsort(b->leaf, b->leaves, sizeof *b->leaf, by_address);
    return SEEN_OK;
}

static size_t table_len(const struct store_head *h)
{
    return 8 * (size_t)(h->leaves + h->blocks);
}

enum seen_code store_blocks_new(struct store_blocks **out, int fd,
                                const struct store_front *front,
                                const struct seen_filter *f,
                                const struct store_paths *paths,
                                struct seen_error *why)
{
    struct store_blocks *b = calloc(1, sizeof *b);
    enum seen_code code;

    *out = NULL;
    if (!b)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a list of blocks");
    pthread_mutex_init(&b->mutex, NULL);
    b->fd = fd;
    b->paths = paths;
    b->head = front->head;
    b->changing = front->head.state == CHANGING;
    b->state = calloc(1, (size_t)b->head.blocks + 1);
    b->table = malloc(table_len(&b->head) + 1);
    b->bytes = malloc(b->head.block);
    code = b->state && b->table && b->bytes
               ? note_leaves(b, f, why)
               : seen_fail(why, SEEN_NOMEM, 0,
                           "no memory for a list of blocks");
    if (code != SEEN_OK) {
        store_blocks_free(b);
        return code;
    }
    memcpy(b->table, front->table, table_len(&b->head));
    posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
    *out = b;
    return SEEN_OK;
}

void store_blocks_free(struct store_blocks *b)
{
    if (!b)
        return;
    pthread_mutex_destroy(&b->mutex);
    free(b->leaf);
    free(b->state);
    free(b->table);
    free(b->bytes);
    free(b);
}

bool store_blocks_whole(const struct store_blocks *b)
{
    return __atomic_load_n(&b->whole, __ATOMIC_ACQUIRE);
}

static enum block_state state_of(const struct store_blocks *b, uint64_t i)
{
    return (enum block_state)__atomic_load_n(&b->state[i], __ATOMIC_ACQUIRE);
}

static void set_state(struct store_blocks *b, uint64_t i,
                      enum block_state state)
{
    __atomic_store_n(&b->state[i], (unsigned char)state, __ATOMIC_RELEASE);
}

/* --- one block ------------------------------------------------------------ */

/* Read it and compare it with the table. */
static enum seen_code compare(struct store_blocks *b, uint64_t i,
                              struct seen_error *why)
{
    size_t len = store_block_len(&b->head, i);
    enum seen_code code = disk_read(b->fd, b->bytes, len,
                                    b->head.cells_at + i * b->head.block, why);

    if (code == SEEN_OK)
        code = store_block_check(&b->head, b->table, i, b->bytes, len, why);
    return code;
}

/* Compare it with a table that was read later, or with the journal. */
static enum seen_code compare_again(struct store_blocks *b,
                                    const struct seen_filter *f, uint64_t i,
                                    const struct store_front *front,
                                    bool *checkable, struct seen_error *why)
{
    const struct store_head *h = &front->head;
    struct journal j = { .fd = -1 };
    enum seen_code code = SEEN_OK;

    *checkable = true;
    if (h->leaves != b->head.leaves || h->cells_len != b->head.cells_len ||
        h->cells_at != b->head.cells_at)
        return seen_fail(why, SEEN_MISMATCH, 0,
                         "was replaced by another filter");
    if (h->state == CHANGING) {
        code = journal_open(&j, b->paths, h, O_RDONLY, why);
        *checkable = code != SEEN_OK || journal_is_lazy(&j, h);
        if (code == SEEN_OK && *checkable)
            code = journal_mark(&j, f, b, why);
        journal_close(&j);
        if (code != SEEN_OK || !*checkable || state_of(b, i) == CHANGED)
            return code;
    }
    memcpy(b->table, front->table, table_len(h));
    return compare(b, i, why);
}

/* Is it damaged, or has a writer changed it? */
static enum seen_code look_again(struct store_blocks *b,
                                 const struct seen_filter *f, uint64_t i,
                                 struct seen_error *why)
{
    enum seen_code code = SEEN_CORRUPT;
    bool checkable = true, again = true;

    for (int tries = 0; code == SEEN_CORRUPT && again; tries++) {
        unsigned char now[HEAD] = { 0 };
        struct store_front front;

        if (tries)
            nanosleep(&moment, NULL);
        code = store_front_read(&front, b->fd, why);
        if (code == SEEN_OK)
            code = compare_again(b, f, i, &front, &checkable, why);
        /* A writer may be undoing a record of its journal. */
        again = disk_read(b->fd, now, HEAD, 0, NULL) != SEEN_OK ||
                        memcmp(now, front.bytes, HEAD)
                    ? tries < TRIES
                    : front.head.state == CHANGING && tries < 2;
        store_front_clear(&front);
    }
    if (code == SEEN_OK && checkable && state_of(b, i) == UNREAD)
        set_state(b, i, SOUND);
    return code;
}

/* One thread at a time: a block that is being checked is not changed. */
static enum seen_code check_block(struct store_blocks *b,
                                  const struct seen_filter *f, uint64_t i,
                                  struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    if (state_of(b, i) != UNREAD)
        return SEEN_OK;
    pthread_mutex_lock(&b->mutex);
    if (state_of(b, i) == UNREAD) {
        code = compare(b, i, why);
        if (code == SEEN_OK)
            set_state(b, i, SOUND);
        else if (code == SEEN_CORRUPT && b->paths)
            code = look_again(b, f, i, why);
    }
    pthread_mutex_unlock(&b->mutex);
    return code;
}

/* --- the blocks of a key ---------------------------------------------------- */

enum block_act { ANNOUNCE, CHECK, CHANGE, LIST };

struct block_list {
    uint64_t *block;
    size_t n, room;
};

struct block_walk {
    struct store_blocks *b;
    const struct seen_filter *root;
    const struct seen_key *key;
    bool under;
    enum block_act act;
    struct block_list *list; /* for LIST */
    bool *index;             /* for LIST: see store_blocks_unread() */
};

static enum seen_code list_block(struct block_list *l, uint64_t i,
                                 struct seen_error *why)
{
    uint64_t *more = array_grow(l->block, &l->room, l->n + 1, sizeof *more);

    if (!more)
        return no_memory_for(why, "a list of blocks");
    l->block = more;
    more[l->n++] = i;
    return SEEN_OK;
}

static enum seen_code visit(const struct block_walk *w, uint64_t i,
                            struct seen_error *why)
{
    const struct store_head *h = &w->b->head;

    if (w->act == ANNOUNCE && state_of(w->b, i) == UNREAD)
        posix_fadvise(w->b->fd, (off_t)(h->cells_at + i * h->block), h->block,
                      POSIX_FADV_WILLNEED);
    if (w->act == CHANGE)
        set_state(w->b, i, CHANGED);
    if (w->act == LIST && state_of(w->b, i) == UNREAD)
        return list_block(w->list, i, why);
    return w->act == CHECK ? check_block(w->b, w->root, i, why) : SEEN_OK;
}

/* NULL for a part that is not in the file: it was made for new keys. */
static const struct block_leaf *find_leaf(const struct store_blocks *b,
                                          const struct seen_filter *f)
{
    const struct block_leaf key = { .cells = f->cells };

    return f->cells ? bsearch(&key, b->leaf, b->leaves, sizeof key, by_address)
                    : NULL;
}

/* What reach() reads: check it, or list it. *here: reach() can be asked. */
static enum seen_code check_index(const struct block_walk *w,
                                  const struct seen_filter *f,
                                  const struct block_leaf *leaf, bool *here,
                                  struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    uint64_t from, to;

    f->kind->index(f, &from, &to);
    for (uint64_t i = (leaf->at + from) / BLOCK;
         i * BLOCK < leaf->at + to && code == SEEN_OK; i++) {
        if (w->act != LIST) {
            code = check_block(w->b, w->root, i, why);
        } else if (state_of(w->b, i) == UNREAD) {
            *here = false;
            *w->index = true;
            code = list_block(w->list, i, why);
        }
    }
    return code;
}

static enum seen_code walk_leaf(const struct block_walk *w,
                                const struct seen_filter *f,
                                struct seen_error *why)
{
    const struct block_leaf *leaf = find_leaf(w->b, f);
    uint64_t at[SEEN_REACH];
    size_t n = 0;
    bool here = true;
    enum seen_code code = SEEN_OK;

    if (leaf && f->kind->index)
        code = check_index(w, f, leaf, &here, why);
    if (leaf && here && code == SEEN_OK)
        code = f->kind->reach(f, w->key, at, &n, why);
    for (size_t i = 0; i < n && code == SEEN_OK; i++)
        code = visit(w, (leaf->at + at[i]) / BLOCK, why);
    return code;
}

/* A prefix is looked up in all parts. */
static enum seen_code walk(const struct block_walk *w,
                           const struct seen_filter *f, struct seen_error *why)
{
    unsigned parts = seen_filter_parts(f), one;
    enum seen_code code = SEEN_OK;

    if (!f->kind->combines)
        return walk_leaf(w, f, why);
    if (!w->under && f->kind->target == SEEN_TO_ONE && f->kind->route) {
        code = f->kind->route(f, w->key, 1, &one, why);
        return code == SEEN_OK ? walk(w, f->part[one], why) : code;
    }
    for (unsigned i = 0; i < parts && code == SEEN_OK; i++)
        code = walk(w, f->part[i], why);
    return code;
}

static enum seen_code walk_all(struct store_blocks *b, enum block_act act,
                               const struct seen_filter *f,
                               const struct seen_key *key, size_t n,
                               bool under, struct seen_error *why)
{
    struct block_walk w = { .b = b, .root = f, .under = under, .act = act };
    enum seen_code code = SEEN_OK;

    for (size_t i = 0; i < n && code == SEEN_OK; i++) {
        w.key = &key[i];
        code = walk(&w, f, why);
    }
    return code;
}

enum seen_code store_blocks_check(struct store_blocks *b,
                                  const struct seen_filter *f,
                                  const struct seen_key *key, size_t n,
                                  bool under, struct seen_error *why)
{
    enum seen_code code;

    if (store_blocks_whole(b))
        return SEEN_OK;
    code = walk_all(b, ANNOUNCE, f, key, n, under, why);
    return code == SEEN_OK ? walk_all(b, CHECK, f, key, n, under, why) : code;
}

enum seen_code store_blocks_change(struct store_blocks *b,
                                   const struct seen_filter *f,
                                   const struct seen_key *key, size_t n,
                                   struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    if (store_blocks_whole(b))
        return SEEN_OK;
    if (!b->changing)
        code = store_blocks_check(b, f, key, n, false, why);
    return code == SEEN_OK ? walk_all(b, CHANGE, f, key, n, false, why) : code;
}

enum seen_code store_blocks_mark(struct store_blocks *b,
                                 const struct seen_filter *f,
                                 const struct seen_key *key, size_t n,
                                 struct seen_error *why)
{
    return walk_all(b, CHANGE, f, key, n, false, why);
}

/* --- blocks that are fetched ------------------------------------------------ */

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static enum seen_code list_all(struct store_blocks *b, struct block_list *l,
                               struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    for (uint64_t i = 0; i < b->head.blocks && code == SEEN_OK; i++)
        if (state_of(b, i) == UNREAD)
            code = list_block(l, i, why);
    if (code == SEEN_OK && !l->n)
        __atomic_store_n(&b->whole, true, __ATOMIC_RELEASE);
    return code;
}

enum seen_code store_blocks_unread(struct store_blocks *b,
                                   const struct seen_filter *f,
                                   const struct seen_key *key, size_t n,
                                   bool under, uint64_t **block, size_t *count,
                                   bool *index, struct seen_error *why)
{
    struct block_list l = { .n = 0 };
    struct block_walk w = { .b = b,
                            .root = f,
                            .under = under,
                            .act = LIST,
                            .list = &l,
                            .index = index };
    enum seen_code code = key ? SEEN_OK : list_all(b, &l, why);
    size_t kept = 0;

    *index = false;
    for (size_t i = 0; key && i < n && code == SEEN_OK; i++) {
        w.key = &key[i];
        code = walk(&w, f, why);
    }
    *block = l.block;
    *count = 0;
    if (code != SEEN_OK) {
        free(l.block);
        *block = NULL;
        return code;
    }
    if (l.n)
        qsort(l.block, l.n, sizeof *l.block, by_number);
    for (size_t i = 0; i < l.n; i++)
        if (!i || l.block[i] != l.block[i - 1])
            l.block[kept++] = l.block[i];
    *count = kept;
    return SEEN_OK;
}

bool store_blocks_here(struct store_blocks *b, uint64_t i)
{
    if (state_of(b, i) != UNREAD)
        return true;
    pthread_mutex_lock(&b->mutex);
    if (state_of(b, i) == UNREAD && compare(b, i, NULL) == SEEN_OK)
        set_state(b, i, SOUND);
    pthread_mutex_unlock(&b->mutex);
    return state_of(b, i) != UNREAD;
}

enum seen_code store_blocks_put(struct store_blocks *b, uint64_t i,
                                const unsigned char *bytes,
                                struct seen_error *why)
{
    const struct store_head *h = &b->head;
    size_t len = store_block_len(h, i);
    enum seen_code code = store_block_check(h, b->table, i, bytes, len, why);

    if (code == SEEN_OK)
        code = disk_write(b->fd, bytes, len, h->cells_at + i * h->block, why);
    if (code == SEEN_OK)
        set_state(b, i, SOUND);
    return code;
}

/* --- all blocks ------------------------------------------------------------- */

enum seen_code store_blocks_check_all(struct store_blocks *b,
                                      const struct seen_filter *f,
                                      struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    if (store_blocks_whole(b))
        return SEEN_OK;
    posix_fadvise(b->fd, 0, 0, POSIX_FADV_NORMAL);
    for (uint64_t i = 0; i < b->head.blocks && code == SEEN_OK; i++)
        code = check_block(b, f, i, why);
    if (code == SEEN_OK)
        __atomic_store_n(&b->whole, true, __ATOMIC_RELEASE);
    return code;
}

const uint64_t *store_blocks_table(struct store_blocks *b,
                                   const struct store_layout *l)
{
    store_counts_put(l, b->table);
    for (uint64_t i = 0; i < b->head.blocks; i++) {
        size_t len = store_block_len(&b->head, i);

        if (state_of(b, i) != CHANGED)
            continue;
        store_layout_get(l, i * b->head.block, b->bytes, len);
        b->table[l->leaves + i] = store_checksum(b->bytes, len);
    }
    return b->table;
}
