/*
 * zip.c - the directory of a zip file, from its end.
 *
 *     | member | member | ... | directory | 64-bit end | locator | end |
 *
 * The last two but one are there if the file or one of its members is longer
 * than 4 GiB [1].
 *
 * [1] PKWARE: APPNOTE.TXT, .ZIP file format specification, 4.3 and 4.5.3.
 */
#include "zip.h"

#include <stdlib.h>
#include <string.h>

#include "../disk/disk.h"
#include "../text/little.h"

enum {
    END = 22,
    LOCATOR = 20,
    LONG_END = 56,
    COMMENT = 65535,
    ENTRY = 46,
    HEADER = 30
};
static const size_t most = 1 << 26; /* bytes of a directory */

/* --- the end --- */

struct cdx_zip_end {
    uint64_t at, len; /* where the directory is, and its bytes */
};

static bool read_long_end(struct cdx_zip_end *e, int fd, uint64_t size,
                          uint64_t at)
{
    unsigned char locator[LOCATOR], end[LONG_END];

    if (at < LOCATOR ||
        disk_read(fd, locator, LOCATOR, at - LOCATOR, NULL) != SEEN_OK ||
        memcmp(locator, "PK\6\7", 4))
        return false;
    at = little_64(locator + 8);
    if (at > size || size - at < LONG_END ||
        disk_read(fd, end, LONG_END, at, NULL) != SEEN_OK ||
        memcmp(end, "PK\6\6", 4))
        return false;
    e->len = little_64(end + 40);
    e->at = little_64(end + 48);
    return true;
}

static bool find_end(struct cdx_zip_end *e, int fd, uint64_t size)
{
    size_t len = size < END + COMMENT ? (size_t)size : END + COMMENT;
    unsigned char *tail = malloc(len ? len : 1), *at = NULL;
    bool good = false;

    if (tail && disk_read(fd, tail, len, size - len, NULL) == SEEN_OK)
        for (size_t i = END; i <= len && !at; i++)
            if (!memcmp(tail + len - i, "PK\5\6", 4))
                at = tail + len - i;
    if (at) {
        e->len = little_32(at + 12);
        e->at = little_32(at + 16);
        good = e->len != UINT32_MAX && e->at != UINT32_MAX;
        if (!good)
            good = read_long_end(e, fd, size,
                                 size - len + (uint64_t)(at - tail));
    }
    free(tail);
    return good && e->at <= size && e->len <= size - e->at;
}

enum seen_code cdx_zip_open(struct cdx_zip *zip, int fd, uint64_t size,
                            struct seen_error *why)
{
    struct cdx_zip_end e;
    enum seen_code code;

    *zip = (struct cdx_zip){ .directory = NULL };
    if (!find_end(&e, fd, size))
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "a zip file without a directory; it was cut short");
    if (e.len > most)
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "a zip file with too large a directory");
    zip->directory = malloc(e.len + 1);
    if (!zip->directory)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a zip file");
    zip->len = e.len;
    zip->size = size;
    code = disk_read(fd, zip->directory, e.len, e.at, why);
    if (code != SEEN_OK)
        cdx_zip_close(zip);
    return code;
}

void cdx_zip_close(struct cdx_zip *zip)
{
    free(zip->directory);
    *zip = (struct cdx_zip){ .directory = NULL };
}

/* --- members --- */

/* What is 2^32 - 1 in an entry stands in its extra field, in this order. */
static bool read_long_sizes(struct seen_span extra, uint64_t *length,
                            uint64_t *packed, uint64_t *at)
{
    uint64_t *const wanted[] = { length, packed, at };

    while (extra.len >= 4) {
        size_t n = little_16(extra.text + 2), used = 4;

        if (n > extra.len - 4)
            return false;
        for (int i = 0; i < 3 && little_16(extra.text) == 1; i++) {
            if (*wanted[i] != UINT32_MAX)
                continue;
            if (used + 8 > n + 4)
                return false;
            *wanted[i] = little_64(extra.text + used);
            used += 8;
        }
        extra.text += n + 4;
        extra.len -= n + 4;
    }
    return *length != UINT32_MAX && *packed != UINT32_MAX && *at != UINT32_MAX;
}

/* Its bytes begin after its own header, whose lengths are its own, too. */
static const char *find_bytes(struct cdx_member *m, int fd, uint64_t size,
                              uint64_t at, uint64_t packed)
{
    unsigned char header[HEADER];

    if (at > size || disk_read(fd, header, HEADER, at, NULL) != SEEN_OK ||
        memcmp(header, "PK\3\4", 4))
        return "the zip file is damaged: it is not where the directory says";
    m->at = at + HEADER + little_16(header + 26) + little_16(header + 28);
    m->end = m->at + packed;
    if (m->end < m->at || m->end > size)
        return "the zip file was cut short";
    return NULL;
}

bool cdx_zip_next(struct cdx_zip *zip, int fd, struct cdx_member *m)
{
    while (zip->len - zip->at >= ENTRY) {
        const char *entry = zip->directory + zip->at;
        size_t name = little_16(entry + 28), extra = little_16(entry + 30);
        size_t comment = little_16(entry + 32);
        unsigned method = little_16(entry + 10);
        uint64_t packed = little_32(entry + 20);
        uint64_t length = little_32(entry + 24), at = little_32(entry + 42);

        if (memcmp(entry, "PK\1\2", 4) ||
            zip->len - zip->at - ENTRY < name + extra + comment)
            return false;
        zip->at += ENTRY + name + extra + comment;
        *m = (struct cdx_member){
            .name = { entry + ENTRY, name },
            .packing = method ? CDX_DEFLATE : CDX_PLAIN,
            .crc = little_32(entry + 16),
        };
        if (!name || m->name.text[name - 1] == '/' || !packed)
            continue;
        if (little_16(entry + 8) & 1)
            m->fault = "it is encrypted";
        else if (method != 0 && method != 8)
            m->fault = "it is packed in a way that is not supported";
        else if (!read_long_sizes(
                     (struct seen_span){ entry + ENTRY + name, extra },
                     &length, &packed, &at))
            m->fault = "the zip file is damaged: it has no size";
        else
            m->fault = find_bytes(m, fd, zip->size, at, packed);
        return true;
    }
    return false;
}

/* Less than an entry may be left only if nothing is. */
bool cdx_zip_damaged(const struct cdx_zip *zip)
{
    return zip->at != zip->len;
}
