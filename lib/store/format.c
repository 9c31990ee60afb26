/*
 * format.c - the heads of a file, and all before the cells.
 *
 * Every byte is either covered by a checksum or must be zero, and every
 * offset follows from three lengths, so a changed byte is always found before
 * memory is allocated because of it. The second head is used only if the
 * first one's checksum is wrong: after a crash it may be the newer one, and
 * either is right then.
 */
#include "format.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <seen/kind_writer.h>

#include "../disk/disk.h"
#include "../text/little.h"
#include "cells.h"
#include "text.h"

/* Like PNG's: a high bit, a name, and a line end that text modes damage. */
static const unsigned char magic[8] = { 0x89, 's',  'e',  'e',
                                        'n',  '\r', '\n', 0x1a };

uint64_t store_checksum(const void *bytes, size_t len)
{
    return XXH3_64bits(bytes, len);
}

uint64_t store_checksum_seeded(const void *bytes, size_t len, uint64_t seed)
{
    return XXH3_64bits_withSeed(bytes, len, seed);
}

static uint64_t next(uint64_t at, uint64_t multiple)
{
    return (at + multiple - 1) / multiple * multiple;
}

void store_head_arrange(struct store_head *h)
{
    h->blocks = next(h->cells_len, h->block) / h->block;
    h->table_at = next(HEAD + h->text_len, 8);
    h->cells_at = next(h->table_at + 8 * (h->leaves + h->blocks), CELLS_ALIGN);
    h->length = h->cells_at + h->cells_len;
    if (h->format > 1)
        h->length = next(h->length, CELLS_ALIGN) + HEAD;
}

uint64_t store_head_second(const struct store_head *h)
{
    return h->format > 1 ? h->length - HEAD : 0;
}

uint64_t store_head_identity(const struct store_head *h)
{
    const uint64_t of[] = { h->text_sum, h->table_sum, h->applied,
                            h->offered };

    return store_checksum(of, sizeof of);
}

void store_head_put(unsigned char bytes[HEAD], const struct store_head *h)
{
    const uint64_t wide[] = { h->identity, h->applied,   h->offered,
                              h->text_len, h->text_sum,  h->leaves,
                              h->blocks,   h->table_at,  h->table_sum,
                              h->cells_at, h->cells_len, h->length };

    memcpy(bytes, magic, sizeof magic);
    little_put_32(bytes + 8, h->format);
    little_put_32(bytes + 12, h->hashing);
    little_put_32(bytes + 16, h->state);
    little_put_32(bytes + 20, h->block);
    memcpy(bytes + 24, wide, sizeof wide);
    little_put_64(bytes + 120, store_checksum(bytes, 120));
}

void store_head_take(struct store_head *h, const unsigned char bytes[HEAD])
{
    h->format = little_32(bytes + 8);
    h->hashing = little_32(bytes + 12);
    h->state = little_32(bytes + 16);
    h->block = little_32(bytes + 20);
    h->identity = little_64(bytes + 24);
    h->applied = little_64(bytes + 32);
    h->offered = little_64(bytes + 40);
    h->text_len = little_64(bytes + 48);
    h->text_sum = little_64(bytes + 56);
    h->leaves = little_64(bytes + 64);
    h->blocks = little_64(bytes + 72);
    h->table_at = little_64(bytes + 80);
    h->table_sum = little_64(bytes + 88);
    h->cells_at = little_64(bytes + 96);
    h->cells_len = little_64(bytes + 104);
    h->length = little_64(bytes + 112);
}

static bool sum_differs(const unsigned char bytes[HEAD])
{
    return little_64(bytes + 120) != store_checksum(bytes, 120);
}

enum seen_code store_head_get(struct store_head *h,
                              const unsigned char bytes[HEAD], uint64_t length,
                              struct seen_error *why)
{
    struct store_head derived;

    if (memcmp(bytes, magic, sizeof magic))
        return seen_fail(why, SEEN_CORRUPT, 0, "is not a seen filter");
    store_head_take(h, bytes);
    if (h->format > FORMAT_VERSION || h->hashing > HASH_VERSION)
        return seen_fail(why, SEEN_MISMATCH, 8,
                         "has format version %u and hash version %u; this "
                         "program knows %d and %d",
                         h->format, h->hashing, FORMAT_VERSION, HASH_VERSION);
    if (sum_differs(bytes))
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "checksum differs in the head; the file was changed");
    if (h->length != length)
        return seen_fail(why, SEEN_CORRUPT, length,
                         "has %llu bytes instead of %llu; the file was %s",
                         (unsigned long long)length,
                         (unsigned long long)h->length,
                         length < h->length ? "cut short" : "added to");
    derived = *h;
    if (!h->format || h->hashing != HASH_VERSION ||
        h->state > (h->format > 1 ? OPEN : CHANGING) || h->block != BLOCK ||
        h->text_len > TEXT_MOST || h->leaves > h->text_len ||
        h->cells_len > length)
        return seen_fail(why, SEEN_CORRUPT, 0, "has an invalid head");
    store_head_arrange(&derived);
    if (memcmp(&derived, h, sizeof *h))
        return seen_fail(why, SEEN_CORRUPT, 0, "has an invalid head");
    return SEEN_OK;
}

static enum seen_code write_heads(int fd, const struct store_head *h,
                                  bool flushed, struct seen_error *why)
{
    const uint64_t second = store_head_second(h);
    enum seen_code code = SEEN_OK;
    unsigned char bytes[HEAD];

    store_head_put(bytes, h);
    if (second)
        code = disk_write(fd, bytes, HEAD, second, why);
    if (code == SEEN_OK && second && flushed)
        code = disk_flush(fd, why);
    if (code == SEEN_OK)
        code = disk_write(fd, bytes, HEAD, 0, why);
    return code == SEEN_OK && flushed ? disk_flush(fd, why) : code;
}

enum seen_code store_head_write(int fd, const struct store_head *h,
                                struct seen_error *why)
{
    return write_heads(fd, h, true, why);
}

enum seen_code store_head_lay(int fd, const struct store_head *h,
                              struct seen_error *why)
{
    return write_heads(fd, h, false, why);
}

static enum seen_code repair(int fd, const unsigned char right[HEAD],
                             uint64_t at, struct seen_error *why)
{
    unsigned char bytes[HEAD];
    enum seen_code code = disk_read(fd, bytes, HEAD, at, why);

    if (code != SEEN_OK || !memcmp(bytes, right, HEAD))
        return code;
    code = disk_write(fd, right, HEAD, at, why);
    return code == SEEN_OK ? disk_flush(fd, why) : code;
}

/* The first head comes first here: if it is damaged, the second is the only
   one, and otherwise it is left alone. */
enum seen_code store_head_repair(int fd, const struct store_head *h,
                                 struct seen_error *why)
{
    const uint64_t second = store_head_second(h);
    unsigned char right[HEAD];
    enum seen_code code;

    if (!second)
        return SEEN_OK;
    store_head_put(right, h);
    code = repair(fd, right, 0, why);
    return code == SEEN_OK ? repair(fd, right, second, why) : code;
}

static bool all_zero(const unsigned char *from, const unsigned char *to)
{
    while (from < to && !*from)
        from++;
    return from == to;
}

static enum seen_code front_check(const struct store_front *front, size_t len,
                                  struct seen_error *why)
{
    const struct store_head *h = &front->head;
    const unsigned char *text_end = front->rest + h->text_len;
    const unsigned char *table = front->rest + (h->table_at - HEAD);
    const unsigned char *table_end = table + 8 * (h->leaves + h->blocks);

    if (store_checksum(front->rest, (size_t)h->text_len) != h->text_sum)
        return seen_fail(why, SEEN_CORRUPT, HEAD,
                         "checksum differs in the text; the file was changed");
    if (!all_zero(text_end, table) || !all_zero(table_end, front->rest + len))
        return seen_fail(why, SEEN_CORRUPT, HEAD + h->text_len,
                         "has bytes in a gap; the file was changed");
    if (h->state != CHANGING &&
        (store_checksum(table, (size_t)(table_end - table)) != h->table_sum ||
         store_head_identity(h) != h->identity))
        return seen_fail(
            why, SEEN_CORRUPT, h->table_at,
            "checksum differs in the table; the file was changed");
    if (memchr(front->rest, '\0', (size_t)h->text_len))
        return seen_fail(why, SEEN_CORRUPT, HEAD, "has a zero in its text");
    return SEEN_OK;
}

/* The first head of a file of `size` bytes, or the second if that is sound
   and the first is not. */
static enum seen_code heads_read(struct store_front *front, int fd,
                                 uint64_t size, struct seen_error *why)
{
    unsigned char second[HEAD];
    struct store_head h;
    bool whole;
    enum seen_code code = disk_read(fd, front->bytes, HEAD, 0, why);

    if (code != SEEN_OK)
        return code;
    code = store_head_get(&front->head, front->bytes, size, why);
    if (code == SEEN_OK ? front->head.format == 1
                        : !sum_differs(front->bytes) || size < 2 * HEAD)
        return code;
    whole = disk_read(fd, second, HEAD, size - HEAD, NULL) == SEEN_OK &&
            store_head_get(&h, second, size, NULL) == SEEN_OK && h.format > 1;
    if (code == SEEN_OK) {
        front->damaged = !whole;
    } else if (whole) {
        front->head = h;
        front->damaged = true;
        code = SEEN_OK;
    }
    return code;
}

/* The bytes between the cells and the second head. */
static enum seen_code gap_check(const struct store_head *h, int fd,
                                struct seen_error *why)
{
    const uint64_t second = store_head_second(h);
    const uint64_t at = h->cells_at + h->cells_len;
    unsigned char gap[CELLS_ALIGN];
    enum seen_code code = SEEN_OK;

    if (second)
        code = disk_read(fd, gap, (size_t)(second - at), at, why);
    if (code == SEEN_OK && second && !all_zero(gap, gap + (second - at)))
        code = seen_fail(why, SEEN_CORRUPT, at,
                         "has bytes in a gap; the file was changed");
    return code;
}

/* Room for all between the head, which is known, and the cells. */
static enum seen_code rest_new(struct store_front *front, size_t *len,
                               struct seen_error *why)
{
    *len = (size_t)(front->head.cells_at - HEAD);
    front->rest = malloc(*len);
    front->text = malloc((size_t)front->head.text_len + 1);
    return front->rest && front->text
               ? SEEN_OK
               : seen_fail(why, SEEN_NOMEM, 0, "no memory for %zu bytes",
                           *len);
}

/* It has its bytes, unless `code` says why not: check them. */
static enum seen_code rest_taken(struct store_front *front, size_t len,
                                 enum seen_code code, struct seen_error *why)
{
    if (code == SEEN_OK)
        code = front_check(front, len, why);
    if (code != SEEN_OK) {
        store_front_clear(front);
        return code;
    }
    memcpy(front->text, front->rest, (size_t)front->head.text_len);
    front->text[front->head.text_len] = '\0';
    /* table_at is a multiple of 8, and so is HEAD: the words are aligned. */
    front->table = (uint64_t *)(void *)(front->rest +
                                        (front->head.table_at - HEAD));
    return SEEN_OK;
}

enum seen_code store_front_read(struct store_front *front, int fd,
                                struct seen_error *why)
{
    struct stat it;
    enum seen_code code;
    size_t len;

    memset(front, 0, sizeof *front);
    if (fstat(fd, &it))
        return seen_fail(why, SEEN_IO, 0, "its size cannot be read");
    if (it.st_size < HEAD)
        return seen_fail(why, SEEN_CORRUPT, (uint64_t)it.st_size,
                         "is too short for a seen filter");
    code = heads_read(front, fd, (uint64_t)it.st_size, why);
    if (code == SEEN_OK)
        code = gap_check(&front->head, fd, why);
    if (code != SEEN_OK)
        return code;
    code = rest_new(front, &len, why);
    if (code == SEEN_OK)
        code = disk_read(fd, front->rest, len, HEAD, why);
    return rest_taken(front, len, code, why);
}

enum seen_code store_front_take(struct store_front *front,
                                const struct store_head *h,
                                const unsigned char *bytes,
                                struct seen_error *why)
{
    enum seen_code code;
    size_t len;

    memset(front, 0, sizeof *front);
    front->head = *h;
    memcpy(front->bytes, bytes, HEAD);
    code = rest_new(front, &len, why);
    if (code == SEEN_OK)
        memcpy(front->rest, bytes + HEAD, len);
    return rest_taken(front, len, code, why);
}

void store_front_clear(struct store_front *front)
{
    free(front->text);
    free(front->rest);
    front->text = NULL;
    front->rest = NULL;
    front->table = NULL;
}

/* --- the plan ----------------------------------------------------------- */

/* False if the table has more set cells than there are cells. */
static bool take_counts(struct seen_filter *f, const uint64_t **set)
{
    bool sane = true;

    if (!f->kind->combines) {
        f->set = *(*set)++;
        sane = f->set <= leaf_cells(f);
    }
    for (unsigned i = 0; i < f->parts; i++)
        sane &= take_counts(f->part[i], set);
    return sane;
}

/* The sizes in the head must be those of the plan. */
static enum seen_code check_sizes(const struct seen_filter *f,
                                  const struct store_head *h,
                                  struct seen_error *why)
{
    struct store_layout l;
    enum seen_code code = store_layout_init(&l, f, why);

    if (code == SEEN_OK && (l.leaves != h->leaves || l.length != h->cells_len))
        code = seen_fail(why, SEEN_CORRUPT, 0,
                         "has %llu bytes of cells, but the plan needs %llu",
                         (unsigned long long)h->cells_len,
                         (unsigned long long)l.length);
    store_layout_clear(&l);
    return code;
}

enum seen_code store_plan_read(struct seen_filter **out,
                               const struct store_front *front,
                               const struct seen_access *options,
                               struct seen_error *why)
{
    const uint64_t *set = front->table;
    enum seen_code code = store_text_parse(out, front->text, false, options,
                                           why);

    if (code != SEEN_OK)
        return code;
    code = check_sizes(*out, &front->head, why);
    if (code == SEEN_OK && !take_counts(*out, &set) &&
        front->head.state != CHANGING)
        code = seen_fail(why, SEEN_CORRUPT, front->head.table_at,
                         "has more set cells than cells");
    if (code != SEEN_OK) {
        seen_filter_free(*out);
        *out = NULL;
        return code;
    }
    (*out)->offered = front->head.offered;
    return SEEN_OK;
}
