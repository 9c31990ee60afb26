/*
 * ranges.c - a filter whose blocks are fetched when keys need them.
 *
 *     read 0..128 KiB ──> head, text, table, checked          opening
 *     keys ──> index() of each leaf ──> blocks, first         a question
 *          ──> reach() of each leaf ──> blocks
 *              without those that were found to be sound
 *              without those that are in the kept file
 *              with the decoys of the others
 *          ──> ranges ──> read() ──> checksum of the table ──> kept file
 *
 * The kept file is the file of the filter with holes: what was fetched is in its
 * place, and the rest is zeros. No list says what is there; the checksums do,
 * as a hole has the wrong one. So it may be shared by processes, cut by a power
 * failure or damaged, and at worst a block is fetched again. (A block of zeros
 * that the filter really has is found in a hole, and is right.) The cells are a
 * mapping of this file, so that the kinds read them as ever.
 *
 * The first block that does not fit ends the question. It is not fetched again
 * here: the caller knows whether it came from a cache, or whether the whole file
 * was replaced, and opens the filter again.
 */
#include <seen/ranges.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../disk/disk.h"
#include "../filter/storage.h"
#include "../text/array.h"
#include "../text/memory.h"
#include "blocks.h"
#include "cells.h"
#include "decoys.h"

enum { FRONT_MOST = 32 << 20 };

/* A filter's storage that is elsewhere. */
struct store_distant {
    struct seen_storage storage; /* first: a filter's storage is this */
    struct seen_ranges ranges;
    struct store_head head;
    struct store_blocks *blocks;
    struct store_mapping map;
    struct store_decoys decoys;
    bool able;             /* the kind says which cells a key needs */
    int fd;                /* of the kept file */
    pthread_mutex_t mutex; /* one question at a time reads */
    unsigned char *bytes;  /* room for a call of read() */
};

static void distant_free(struct store_distant *d)
{
    if (!d)
        return;
    store_blocks_free(d->blocks);
    if (d->fd >= 0)
        close(d->fd);
    pthread_mutex_destroy(&d->mutex);
    if (d->ranges.close)
        d->ranges.close(d->ranges.of);
    explicit_bzero(&d->ranges, sizeof d->ranges);
    explicit_bzero(&d->decoys, sizeof d->decoys);
    free(d->bytes);
    free(d);
}

static void release(struct seen_storage *s, struct seen_filter *f)
{
    struct store_distant *d = (struct store_distant *)s;

    store_cells_unmap(f, &d->map);
    distant_free(d);
}

static struct store_distant *distant_of(const struct seen_filter *f)
{
    if (!f->storage || f->storage->release != release)
        return NULL;
    return (struct store_distant *)f->storage;
}

/* --- reading -------------------------------------------------------------- */

/* Read ranges that must be there, of a file of a known length. */
static enum seen_code read_ranges(struct store_distant *d,
                                  struct seen_range *range, size_t n,
                                  struct seen_error *why)
{
    size_t len[SEEN_RANGES_MOST];
    uint64_t length = d->head.length;
    enum seen_code code;

    for (size_t i = 0; i < n; i++)
        len[i] = range[i].len;
    code = d->ranges.read(d->ranges.of, range, n, &length, why);
    if (code == SEEN_OK && length != d->head.length)
        code = seen_fail(why, SEEN_MISMATCH, 0,
                         "was replaced while it was asked: it has %llu bytes "
                         "instead of %llu",
                         (unsigned long long)length,
                         (unsigned long long)d->head.length);
    for (size_t i = 0; i < n && code == SEEN_OK; i++)
        if (range[i].len != len[i])
            code = seen_fail(why, SEEN_CORRUPT, range[i].from,
                             "ends before byte %llu; it was cut short",
                             (unsigned long long)(range[i].from + len[i]));
    return code;
}

/* Read and check blocks, which are one after the other in memory. */
static enum seen_code read_blocks(struct store_distant *d,
                                  const uint64_t *block, size_t count,
                                  struct seen_range *range, size_t n,
                                  struct seen_error *why)
{
    enum seen_code code = read_ranges(d, range, n, why);
    const unsigned char *from = d->bytes;

    for (size_t i = 0; i < count && code == SEEN_OK; i++) {
        code = store_blocks_put(d->blocks, block[i], from, why);
        from += store_block_len(&d->head, block[i]);
    }
    return code;
}

/* How many of these blocks are one range. */
static size_t run_of(const uint64_t *block, size_t count)
{
    size_t n = 1;

    while (n < count && block[n] == block[0] + n)
        n++;
    return n;
}

/* Fetch these blocks: neighbours as one range, many ranges per call. */
static enum seen_code fetch(struct store_distant *d, const uint64_t *block,
                            size_t count, struct seen_error *why)
{
    struct seen_range range[SEEN_RANGES_MOST];
    enum seen_code code = SEEN_OK;

    if (!d->bytes)
        d->bytes = malloc(SEEN_RANGES_BYTES);
    if (!d->bytes)
        return no_memory_for(why, "parts of a file");
    for (size_t i = 0, first; i < count && code == SEEN_OK;) {
        size_t used = 0, n = 0;

        for (first = i; i < count && n < SEEN_RANGES_MOST &&
                        used + BLOCK <= SEEN_RANGES_BYTES;
             n++) {
            size_t run = run_of(block + i, count - i), at = used;

            range[n].from = d->head.cells_at + block[i] * BLOCK;
            range[n].to = d->bytes + at;
            for (; run && used + BLOCK <= SEEN_RANGES_BYTES; run--)
                used += store_block_len(&d->head, block[i++]);
            range[n].len = used - at;
        }
        code = read_blocks(d, block + first, i - first, range, n, why);
    }
    return code;
}

/* --- what a question needs -------------------------------------------------- */

/* The blocks of keys that are not here, or those that say which ones these are
   (*index). The list belongs to the caller. */
static enum seen_code missing(struct store_distant *d,
                              const struct seen_filter *f,
                              const struct seen_key *key, size_t n, bool under,
                              uint64_t **block, size_t *count, bool *index,
                              struct seen_error *why)
{
    size_t all, kept = 0;
    enum seen_code code = store_blocks_unread(
        d->blocks, f, d->able ? key : NULL, n, under, block, &all, index, why);

    for (size_t i = 0; i < all && code == SEEN_OK; i++)
        if (!store_blocks_here(d->blocks, (*block)[i]))
            (*block)[kept++] = (*block)[i];
    *count = code == SEEN_OK ? kept : 0;
    return code;
}

static uint64_t bytes_of(const struct store_distant *d, const uint64_t *block,
                         size_t count)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += store_block_len(&d->head, block[i]);
    return sum;
}

static struct seen_ranges_need need_of(const struct store_distant *d,
                                       const uint64_t *block, size_t count,
                                       uint64_t rest)
{
    struct seen_ranges_need need = { .bytes = bytes_of(d, block, count),
                                     .rest = rest };

    for (size_t i = 0; i < count; need.ranges++)
        i += run_of(block + i, count - i);
    return need;
}

/* Bytes of blocks that no question needed yet; some may be kept. */
static enum seen_code rest_of(struct store_distant *d,
                              const struct seen_filter *f, uint64_t *rest,
                              struct seen_error *why)
{
    uint64_t *block;
    size_t count;
    bool index;
    enum seen_code code = store_blocks_unread(d->blocks, f, NULL, 0, false,
                                              &block, &count, &index, why);

    *rest = bytes_of(d, block, count);
    free(block);
    return code;
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Add the rest of each block's group; of a group that is here in part, only
   what is missing, as the server has sent the rest before. */
static enum seen_code add_decoys(struct store_distant *d, uint64_t **block,
                                 size_t *count, struct seen_error *why)
{
    size_t n = *count, room = *count, kept = 0;
    uint64_t *list = *block;

    if (!d->decoys.decoys || !n)
        return SEEN_OK;
    for (size_t i = 0; i < *count; i++) {
        uint64_t size, at = store_decoys_group(&d->decoys, list[i], &size);
        uint64_t *more = array_grow(list, &room, n + (size_t)size,
                                    sizeof *list);

        if (!more)
            return no_memory_for(why, "decoys");
        *block = list = more;
        for (uint64_t j = at; j < at + size; j++) {
            uint64_t one = store_decoys_at(&d->decoys, j);

            if (!store_blocks_here(d->blocks, one))
                list[n++] = one;
        }
    }
    qsort(list, n, sizeof *list, by_number);
    for (size_t i = 0; i < n; i++)
        if (!i || list[i] != list[i - 1])
            list[kept++] = list[i];
    *count = kept;
    return SEEN_OK;
}

/* How much is fetched. */
enum extent {
    INDEX, /* what everybody needs who asks, so that it gives nothing away */
    SOME,
    ALL
};

/* Fetch what is missing: the blocks of the list, which may be none, or all if
   that is better. */
static enum seen_code obtain(struct store_distant *d,
                             const struct seen_filter *f, uint64_t **block,
                             size_t *count, enum extent extent,
                             struct seen_error *why)
{
    bool rather = extent == ALL, index;
    uint64_t rest;
    enum seen_code code = SEEN_OK;

    if (extent == SOME)
        code = add_decoys(d, block, count, why);
    if (code == SEEN_OK && d->ranges.weigh) {
        code = rest_of(d, f, &rest, why);
        if (code == SEEN_OK) {
            struct seen_ranges_need need = need_of(d, *block, *count, rest);

            code = d->ranges.weigh(d->ranges.of, &need, &rather, why);
        }
    }
    if (code == SEEN_OK && rather && extent != ALL) {
        free(*block);
        code = missing(d, f, NULL, 0, false, block, count, &index, why);
    }
    if (code == SEEN_OK)
        code = fetch(d, *block, *count, why);
    return code == SEEN_OK && rather ? rest_of(d, f, &rest, why) : code;
}

static enum seen_code check(struct seen_storage *s,
                            const struct seen_filter *f,
                            const struct seen_key *key, size_t n, bool under,
                            struct seen_error *why)
{
    struct store_distant *d = (struct store_distant *)s;
    uint64_t *block;
    size_t count;
    bool index;
    enum seen_code code;

    if (store_blocks_whole(d->blocks))
        return SEEN_OK;
    code = store_blocks_unread(d->blocks, f, d->able ? key : NULL, n, under,
                               &block, &count, &index, why);
    free(block);
    if (code != SEEN_OK || !count)
        return code;
    pthread_mutex_lock(&d->mutex);
    do {
        code = missing(d, f, key, n, under, &block, &count, &index, why);
        if (code == SEEN_OK && (count || !index))
            code = obtain(d, f, &block, &count,
                          !key || !d->able ? ALL
                          : index          ? INDEX
                                           : SOME,
                          why);
        free(block);
    } while (code == SEEN_OK && index);
    pthread_mutex_unlock(&d->mutex);
    return code;
}

enum seen_code seen_ranges_needed(const struct seen_filter *f,
                                  const struct seen_key *key, size_t n,
                                  struct seen_ranges_need *need,
                                  struct seen_error *why)
{
    struct store_distant *d = distant_of(f);
    uint64_t *block, rest;
    size_t count;
    bool index;
    enum seen_code code;

    memset(need, 0, sizeof *need);
    if (!d)
        return seen_fail(why, SEEN_UNABLE, 0, "is not read by ranges");
    code = missing(d, f, key, n, false, &block, &count, &index, why);
    if (code == SEEN_OK)
        code = rest_of(d, f, &rest, why);
    if (code == SEEN_OK)
        *need = need_of(d, block, count, rest);
    free(block);
    return code;
}

/* --- opening ---------------------------------------------------------------- */

/* Is it a file that can be asked now, with a beginning that is not too long? */
static enum seen_code check_head(const struct seen_ranges *ranges,
                                 const struct store_head *h,
                                 struct seen_error *why)
{
    uint64_t most = ranges->most ? ranges->most : FRONT_MOST;

    if (h->state != SEALED)
        return seen_fail(why, SEEN_BUSY, 0,
                         "is being written; ask when its writer has closed "
                         "it");
    if (h->cells_at > most)
        return seen_fail(why, SEEN_RANGE, h->cells_at,
                         "has a beginning of %llu bytes, more than the %llu "
                         "that are allowed",
                         (unsigned long long)h->cells_at,
                         (unsigned long long)most);
    return SEEN_OK;
}

/* Append what the first range did not have, up to the cells. */
static enum seen_code read_more(struct store_distant *d, unsigned char **bytes,
                                size_t *len, struct seen_error *why)
{
    size_t need = (size_t)d->head.cells_at;
    struct seen_range range = { .from = *len, .len = need - *len };
    unsigned char *more = realloc(*bytes, need);
    enum seen_code code;

    if (!more)
        return no_memory_for(why, "the beginning of a file");
    *bytes = more;
    range.to = more + *len;
    code = read_ranges(d, &range, 1, why);
    *len = need;
    return code;
}

/* The beginning of the file as it came, in *bytes, which is the caller's. */
static enum seen_code read_front(struct store_distant *d,
                                 struct store_front *front,
                                 unsigned char **bytes, size_t *len,
                                 struct seen_error *why)
{
    struct seen_range range = { .len = SEEN_RANGES_FIRST };
    uint64_t length = 0;
    enum seen_code code;

    *bytes = range.to = malloc(range.len);
    if (!*bytes)
        return no_memory_for(why, "the beginning of a file");
    code = d->ranges.read(d->ranges.of, &range, 1, &length, why);
    if (code != SEEN_OK)
        return code;
    *len = range.len;
    if (*len < HEAD || *len > SEEN_RANGES_FIRST)
        return seen_fail(why, SEEN_CORRUPT, *len,
                         "is too short for a seen filter");
    if (!length) {
        store_head_take(&d->head, *bytes);
        length = d->head.length;
    }
    code = store_head_get(&d->head, *bytes, length, why);
    if (code == SEEN_OK)
        code = check_head(&d->ranges, &d->head, why);
    if (code == SEEN_OK && *len < d->head.cells_at)
        code = read_more(d, bytes, len, why);
    return code == SEEN_OK ? store_front_take(front, &d->head, *bytes, why)
                           : code;
}

/*
 * Begin the kept file: its length, both heads, and all that came. Another one may
 * have begun it meanwhile, and have blocks in it that it will not check again. So
 * nothing is taken out, and of the cells only what is sound is put in.
 */
static enum seen_code keep_front(const struct store_distant *d,
                                 const struct store_front *front,
                                 const unsigned char *bytes, size_t len,
                                 struct seen_error *why)
{
    const struct store_head *h = &d->head;
    uint64_t second = store_head_second(h), at = h->cells_at;
    enum seen_code code = SEEN_OK;

    if (ftruncate(d->fd, (off_t)h->length))
        return seen_fail(why, SEEN_IO, 0, "its parts cannot be kept");
    if (second)
        code = disk_write(d->fd, bytes, HEAD, second, why);
    for (uint64_t i = 0; i < h->blocks && code == SEEN_OK; i++) {
        size_t some = store_block_len(h, i);

        if (at + some > len)
            break;
        if (store_block_check(h, front->table, i, bytes + at, some, NULL) ==
            SEEN_OK)
            code = disk_write(d->fd, bytes + at, some, at, why);
        at += some;
    }
    return code == SEEN_OK
               ? disk_write(d->fd, bytes, (size_t)h->cells_at, 0, why)
               : code;
}

/* What was kept by an earlier one, or else what is read now. */
static enum seen_code have_front(struct store_distant *d,
                                 struct store_front *front,
                                 struct seen_error *why)
{
    unsigned char *bytes = NULL;
    size_t len = 0;
    enum seen_code code;

    if (d->ranges.kept && store_front_read(front, d->fd, NULL) == SEEN_OK) {
        d->head = front->head;
        if (check_head(&d->ranges, &d->head, NULL) == SEEN_OK)
            return SEEN_OK;
        store_front_clear(front);
    }
    code = read_front(d, front, &bytes, &len, why);
    if (code == SEEN_OK) {
        code = keep_front(d, front, bytes, len, why);
        if (code != SEEN_OK)
            store_front_clear(front);
    }
    free(bytes);
    return code;
}

static enum seen_code distant_new(struct store_distant **out,
                                  const struct seen_ranges *ranges,
                                  struct seen_error *why)
{
    struct store_distant *d = calloc(1, sizeof *d);

    *out = d;
    if (!d) {
        if (ranges->close)
            ranges->close(ranges->of);
        return no_memory_for(why, "a reader of ranges");
    }
    pthread_mutex_init(&d->mutex, NULL);
    d->ranges = *ranges;
    d->storage.release = release;
    d->storage.check = check;
    d->fd = ranges->kept ? fcntl(*ranges->kept, F_DUPFD_CLOEXEC, 0)
                         : memfd_create("seen-ranges", MFD_CLOEXEC);
    if (d->fd < 0)
        return seen_fail(why, SEEN_IO, 0, "its parts cannot be kept");
    return SEEN_OK;
}

static enum seen_code open_front(struct store_distant *d,
                                 struct seen_filter **f,
                                 const struct store_front *front,
                                 const struct seen_access *options,
                                 struct seen_error *why)
{
    enum seen_code code = store_plan_read(f, front, options, why);

    if (code == SEEN_OK)
        code = store_cells_map(*f, d->fd, front, PROT_READ,
                               MAP_SHARED | MAP_NORESERVE, &d->map, why);
    if (code != SEEN_OK)
        return code;
    if (d->map.base)
        madvise(d->map.base, d->map.len, MADV_RANDOM);
    d->storage.lost = store_cells_lost(&d->map);
    d->able = store_blocks_able(*f);
    d->decoys.decoys = d->ranges.decoys;
    d->decoys.blocks = d->head.blocks;
    memcpy(d->decoys.secret, d->ranges.secret, SEEN_SECRET);
    return store_blocks_new(&d->blocks, d->fd, front, *f, NULL, why);
}

enum seen_code seen_ranges_open(struct seen_filter **out,
                                const struct seen_ranges *ranges,
                                const struct seen_access *options,
                                struct seen_error *why)
{
    struct store_distant *d;
    struct store_front front;
    struct seen_filter *f = NULL;
    enum seen_code code = distant_new(&d, ranges, why);

    *out = NULL;
    if (code == SEEN_OK)
        code = have_front(d, &front, why);
    if (code == SEEN_OK) {
        code = open_front(d, &f, &front, options, why);
        store_front_clear(&front);
    }
    if (code == SEEN_OK) {
        f->storage = &d->storage;
        *out = f;
        return SEEN_OK;
    }
    if (f)
        store_cells_unmap(f, &d->map);
    seen_filter_free(f);
    distant_free(d);
    return code;
}
