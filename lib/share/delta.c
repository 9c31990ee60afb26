/*
 * delta.c - the head of a delta, and its checksum.
 *
 * One table places the fields, for writing and for reading, so the two cannot
 * differ. What a head says is checked against what is possible before it is
 * used to allocate or to shift: it comes from the web.
 */
#include "delta.h"

#include <stdlib.h>
#include <string.h>

#include "../disk/disk.h"
#include "../text/little.h"
#include "rice.h"

static const unsigned char magic[8] = { 0x89, 's', 'e',  'e',
                                        'n',  'd', '\r', '\n' };

/* Where each field is; writing and reading both use this table. */
static const struct delta_field {
    size_t byte, at, size;
} fields[] = {
#define FIELD(byte, name) \
    { \
        byte, offsetof(struct delta, name), sizeof((struct delta *)0)->name \
    }
    FIELD(12, coding),    FIELD(16, from.length), FIELD(24, from.digest),
    FIELD(56, to.length), FIELD(64, to.digest),   FIELD(96, count),
    FIELD(104, width),    FIELD(108, gap),        FIELD(109, many),
    FIELD(110, within),   FIELD(111, step),       FIELD(112, length),
    FIELD(120, bits),
#undef FIELD
};
enum { FIELDS = sizeof fields / sizeof fields[0] };

_Static_assert(sizeof(enum delta_coding) == 4, "a coding takes four bytes");

void delta_put(unsigned char bytes[DELTA_HEAD], const struct delta *d)
{
    const uint32_t version = DELTA_VERSION;

    memset(bytes, 0, DELTA_HEAD);
    memcpy(bytes, magic, sizeof magic);
    memcpy(bytes + 8, &version, sizeof version);
    for (int i = 0; i < FIELDS; i++) /* little.h refuses other byte orders */
        memcpy(bytes + fields[i].byte, (const char *)d + fields[i].at,
               fields[i].size);
}

static bool sane(const struct delta *d)
{
    return (d->width == 1 || d->width == 4 || d->width == 8 ||
            d->width == 16 || d->width == 32) &&
           d->gap <= RICE_MOST && d->many <= RICE_MOST &&
           d->within <= RICE_MOST && d->step <= RICE_MOST &&
           d->bits / 8 < d->length;
}

enum seen_code delta_get(struct delta *d,
                         const unsigned char bytes[DELTA_HEAD],
                         uint64_t length, struct seen_error *why)
{
    uint32_t version, coding;

    if (memcmp(bytes, magic, sizeof magic))
        return seen_fail(why, SEEN_CORRUPT, 0, "is not a seen delta");
    memcpy(&version, bytes + 8, sizeof version);
    memcpy(&coding, bytes + 12, sizeof coding);
    if (version != DELTA_VERSION || coding < BY_CELL || coding > IN_LINES)
        return seen_fail(
            why, SEEN_MISMATCH, 8,
            "is a delta with version %u and coding %u, which this "
            "program does not know",
            version, coding);
    memset(d, 0, sizeof *d);
    for (int i = 0; i < FIELDS; i++)
        memcpy((char *)d + fields[i].at, bytes + fields[i].byte,
               fields[i].size);
    if (d->length != length)
        return seen_fail(
            why, SEEN_CORRUPT, length, "has %llu bytes instead of %llu",
            (unsigned long long)length, (unsigned long long)d->length);
    if (!sane(d))
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "is a delta with an invalid head");
    return SEEN_OK;
}

uint64_t delta_length(const struct store_head *to, uint64_t bits)
{
    return DELTA_HEAD + HEAD + to->text_len + 8 * to->leaves + bits / 8 +
           (bits % 8 != 0) + DELTA_SUM;
}

/* The seed of each piece is the sum of the pieces before it. */
enum seen_code delta_sum(int fd, uint64_t length, uint64_t *sum,
                         struct seen_error *why)
{
    unsigned char *bytes = malloc(BLOCK);
    enum seen_code code = SEEN_OK;
    uint64_t at = 0;

    if (!bytes)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a block");
    *sum = 0;
    while (at < length && code == SEEN_OK) {
        size_t some = length - at < BLOCK ? (size_t)(length - at) : BLOCK;

        code = disk_read(fd, bytes, some, at, why);
        if (code == SEEN_OK)
            *sum = store_checksum_seeded(bytes, some, *sum);
        at += some;
    }
    free(bytes);
    return code;
}
