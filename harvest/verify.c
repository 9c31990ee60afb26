/* verify.c - length, SHA-256, and the file's own checksums. */
#include "verify.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <seen/store.h>

/* Where they are in the head: doc/format.md, section 1. */
enum { HEAD = 128, STATE = 16, TEXT_LEN = 48 };

static uint64_t little(const unsigned char *at, int bytes)
{
    uint64_t x = 0;

    while (bytes--)
        x = x << 8 | at[bytes];
    return x;
}

/* What must be known before the store reads it. A file that is no filter at
   all is left to it, which says so better. */
static enum seen_code peek(const char *path, struct seen_error *why)
{
    unsigned char head[HEAD];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, head, sizeof head) : -1;

    if (fd >= 0)
        close(fd);
    if (n < 0)
        return seen_fail(why, SEEN_IO, 0, "what was fetched cannot be read");
    if (n < HEAD || memcmp(head, "\x89seen\r\n\x1a", 8))
        return SEEN_OK;
    if (little(head + TEXT_LEN, 8) > VERIFY_TEXT)
        return seen_fail(why, SEEN_RANGE, 0,
                         "has a plan of more than %d bytes", VERIFY_TEXT);
    if (little(head + STATE, 4) != 0)
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "was being written when it was published");
    return SEEN_OK;
}

enum seen_code verify_file(const char *path, uint64_t length,
                           const struct hash *hash, struct hash *found,
                           struct seen_error *why)
{
    struct seen_filter *f;
    uint64_t size;
    enum seen_code code = seen_digest_file(path, found->digest, &size, why);

    found->known = code == SEEN_OK;
    if (code != SEEN_OK)
        return code;
    if (length != UINT64_MAX && size != length)
        return seen_fail(why, SEEN_CORRUPT, size,
                         "has %llu bytes instead of the %llu announced",
                         (unsigned long long)size, (unsigned long long)length);
    if (hash->known && !hash_same(hash, found))
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "its SHA-256 is not the one announced");
    code = peek(path, why);
    if (code != SEEN_OK)
        return code;
    code = seen_store_map(&f, path, NULL, why);
    seen_filter_free(f);
    return code;
}
