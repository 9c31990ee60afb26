/*
 * head.c - the first 128 bytes of a file, and all before the cells.
 *
 * Every byte is either covered by a checksum or must be zero, and every
 * offset follows from three lengths, so an altered byte is always noticed,
 * before anything is allocated on its word.
 */
#define _POSIX_C_SOURCE 200809L         /* fstat */
#include "format.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "../disk/disk.h"

/* Like PNG's: a high bit, a name, and a line end that text modes damage. */
static const unsigned char magic[8] = { 0x89, 's',  'e',  'e',
                                        'n',  '\r', '\n', 0x1a };

static void put32(unsigned char *at, uint32_t x)
{
    memcpy(at, &x, sizeof x);   /* disk.h refuses other byte orders */
}

static void put64(unsigned char *at, uint64_t x)
{
    memcpy(at, &x, sizeof x);
}

static uint32_t get32(const unsigned char *at)
{
    uint32_t x;

    memcpy(&x, at, sizeof x);
    return x;
}

static uint64_t get64(const unsigned char *at)
{
    uint64_t x;

    memcpy(&x, at, sizeof x);
    return x;
}

uint64_t checksum(const void *bytes, size_t len)
{
    return XXH3_64bits(bytes, len);
}

uint64_t checksum_seeded(const void *bytes, size_t len, uint64_t seed)
{
    return XXH3_64bits_withSeed(bytes, len, seed);
}

static uint64_t next(uint64_t at, uint64_t multiple)
{
    return (at + multiple - 1) / multiple * multiple;
}

void head_arrange(struct head *h)
{
    h->blocks = next(h->cells_len, h->block) / h->block;
    h->table_at = next(HEAD + h->text_len, 8);
    h->cells_at = next(h->table_at + 8 * (h->leaves + h->blocks), CELLS_ALIGN);
    h->length = h->cells_at + h->cells_len;
}

uint64_t head_identity(const struct head *h)
{
    const uint64_t of[] = { h->text_sum, h->table_sum, h->applied,
                            h->offered };

    return checksum(of, sizeof of);
}

void head_put(unsigned char bytes[HEAD], const struct head *h)
{
    const uint64_t wide[] = { h->identity, h->applied,   h->offered,
                              h->text_len, h->text_sum,  h->leaves,
                              h->blocks,   h->table_at,  h->table_sum,
                              h->cells_at, h->cells_len, h->length };

    memcpy(bytes, magic, sizeof magic);
    put32(bytes + 8, h->format);
    put32(bytes + 12, h->hashing);
    put32(bytes + 16, h->state);
    put32(bytes + 20, h->block);
    memcpy(bytes + 24, wide, sizeof wide);
    put64(bytes + 120, checksum(bytes, 120));
}

void head_take(struct head *h, const unsigned char bytes[HEAD])
{
    h->format = get32(bytes + 8);
    h->hashing = get32(bytes + 12);
    h->state = get32(bytes + 16);
    h->block = get32(bytes + 20);
    h->identity = get64(bytes + 24);
    h->applied = get64(bytes + 32);
    h->offered = get64(bytes + 40);
    h->text_len = get64(bytes + 48);
    h->text_sum = get64(bytes + 56);
    h->leaves = get64(bytes + 64);
    h->blocks = get64(bytes + 72);
    h->table_at = get64(bytes + 80);
    h->table_sum = get64(bytes + 88);
    h->cells_at = get64(bytes + 96);
    h->cells_len = get64(bytes + 104);
    h->length = get64(bytes + 112);
}

enum seen_code head_get(struct head *h, const unsigned char bytes[HEAD],
                        uint64_t length, struct seen_error *why)
{
    struct head derived;

    if (memcmp(bytes, magic, sizeof magic))
        return seen_fail(why, SEEN_CORRUPT, 0, "is not a filter of seen");
    head_take(h, bytes);
    if (h->format > FORMAT_VERSION || h->hashing > HASH_VERSION)
        return seen_fail(why, SEEN_MISMATCH, 8,
                         "has format version %u and hash version %u; this "
                         "program knows %d and %d",
                         h->format, h->hashing, FORMAT_VERSION, HASH_VERSION);
    if (get64(bytes + 120) != checksum(bytes, 120))
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "checksum differs in the head; the file was changed");
    if (h->length != length)
        return seen_fail(why, SEEN_CORRUPT, length,
                         "has %llu bytes instead of %llu; the file was %s",
                         (unsigned long long)length,
                         (unsigned long long)h->length,
                         length < h->length ? "cut short" : "added to");
    derived = *h;
    if (h->format != FORMAT_VERSION || h->hashing != HASH_VERSION ||
        h->state > CHANGING || h->block != BLOCK || h->text_len > TEXT_MOST ||
        h->leaves > h->text_len || h->cells_len > length)
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "has a head that makes no sense");
    head_arrange(&derived);
    if (memcmp(&derived, h, sizeof *h))
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "has a head that makes no sense");
    return SEEN_OK;
}

static bool all_zero(const unsigned char *from, const unsigned char *to)
{
    while (from < to && !*from)
        from++;
    return from == to;
}

static enum seen_code front_check(const struct front *front, size_t len,
                                  struct seen_error *why)
{
    const struct head *h = &front->head;
    const unsigned char *text_end = front->rest + h->text_len;
    const unsigned char *table = front->rest + (h->table_at - HEAD);
    const unsigned char *table_end = table + 8 * (h->leaves + h->blocks);

    if (checksum(front->rest, (size_t)h->text_len) != h->text_sum)
        return seen_fail(why, SEEN_CORRUPT, HEAD,
                         "checksum differs in the text; the file was changed");
    if (!all_zero(text_end, table) || !all_zero(table_end, front->rest + len))
        return seen_fail(why, SEEN_CORRUPT, HEAD + h->text_len,
                         "has bytes where there should be none; the file "
                         "was changed");
    if (h->state == SEALED &&
        (checksum(table, (size_t)(table_end - table)) != h->table_sum ||
         head_identity(h) != h->identity))
        return seen_fail(
            why, SEEN_CORRUPT, h->table_at,
            "checksum differs in the table; the file was changed");
    if (memchr(front->rest, '\0', (size_t)h->text_len))
        return seen_fail(why, SEEN_CORRUPT, HEAD, "has a zero in its text");
    return SEEN_OK;
}

enum seen_code front_read(struct front *front, int fd, struct seen_error *why)
{
    struct stat it;
    enum seen_code code;
    size_t len;

    memset(front, 0, sizeof *front);
    if (fstat(fd, &it))
        return seen_fail(why, SEEN_IO, 0, "cannot be looked at");
    if (it.st_size < HEAD)
        return seen_fail(why, SEEN_CORRUPT, (uint64_t)it.st_size,
                         "is too short for a filter of seen");
    code = disk_read(fd, front->bytes, HEAD, 0, why);
    if (code == SEEN_OK)
        code = head_get(&front->head, front->bytes, (uint64_t)it.st_size, why);
    if (code != SEEN_OK)
        return code;
    len = (size_t)(front->head.cells_at - HEAD);
    front->rest = malloc(len);
    front->text = malloc((size_t)front->head.text_len + 1);
    if (!front->rest || !front->text)
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for %zu bytes", len);
    if (code == SEEN_OK)
        code = disk_read(fd, front->rest, len, HEAD, why);
    if (code == SEEN_OK)
        code = front_check(front, len, why);
    if (code != SEEN_OK) {
        front_clear(front);
        return code;
    }
    memcpy(front->text, front->rest, (size_t)front->head.text_len);
    front->text[front->head.text_len] = '\0';
    /* table_at is a multiple of 8, and so is HEAD: the words are aligned. */
    front->table = (uint64_t *)(void *)(front->rest +
                                        (front->head.table_at - HEAD));
    return SEEN_OK;
}

void front_clear(struct front *front)
{
    free(front->text);
    free(front->rest);
    front->text = NULL;
    front->rest = NULL;
    front->table = NULL;
}
