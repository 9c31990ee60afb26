/*
 * keys.c - all keys of a URL cache, in a file that is only appended to.
 *
 *     key 0: lo, hi, 8 bytes each, little-endian
 *     key 1
 *     ...
 *
 * The file has nothing else. How many keys count, and what they sum up to, is
 * in the metadata of the filter that has them ("keys=COUNT SUM"), which replaces
 * the one before it at once, and after the keys are on the disk. So there is
 * always a mark that fits the file, wherever a process is killed or the power
 * goes. The sum is that of mix(lo ^ mix(hi)), modulo 2^64: whoever reads all
 * keys knows whether they are those that were written.
 */
#include "keys.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../lib/disk/disk.h"
#include "../../lib/text/little.h"

enum { KEY = 16, LEAST = 256, MOST = 4096 }; /* bytes; keys in the buffer */

static void init(struct crawl_keys *k, char *path)
{
    *k = (struct crawl_keys){ .path = path, .fd = -1, .kept = path };
}

void crawl_keys_begin(struct crawl_keys *k, char *path)
{
    init(k, path);
}

void crawl_keys_begin_unnamed(struct crawl_keys *k, const char *folder)
{
    init(k, NULL);
    k->folder = folder;
    k->kept = true;
}

void crawl_keys_resume(struct crawl_keys *k, char *path, const char *mark)
{
    struct stat it;

    init(k, path);
    k->kept = path && mark &&
              sscanf(mark, "%" SCNu64 " %" SCNx64, &k->count, &k->sum) == 2 &&
              k->count <= INT64_MAX / KEY;
    k->written = k->count;
    if (!k->kept || !k->count)
        return;
    k->fd = disk_open(path, O_RDWR | O_CLOEXEC, 0);
    if (k->fd < 0 || fstat(k->fd, &it) ||
        (uint64_t)it.st_size < k->count * KEY)
        k->kept = false;
}

uint64_t crawl_keys_sum(uint64_t sum, const struct seen_key *key)
{
    return sum + seen_mix(key->lo ^ seen_mix(key->hi));
}

static enum seen_code write_out(struct crawl_keys *k, struct seen_error *why)
{
    const size_t n = (size_t)(k->count - k->written);
    enum seen_code code;

    if (!n)
        return SEEN_OK;
    if (k->fd < 0)
        k->fd = k->path
                    ? disk_open(k->path,
                                O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)
                    : disk_temporary(k->folder);
    if (k->fd < 0)
        return seen_fail(why, SEEN_IO, 0,
                         "the keys of the cache cannot be kept");
    code = disk_write(k->fd, k->bytes, n * KEY, k->written * KEY, why);
    if (code == SEEN_OK)
        k->written = k->count;
    return code;
}

/* A cache of few keys needs a small buffer, and no file. */
static enum seen_code make_room(struct crawl_keys *k, struct seen_error *why)
{
    const size_t room = k->room ? 2 * k->room : LEAST;
    unsigned char *bytes;

    if (k->room == MOST)
        return write_out(k, why);
    bytes = realloc(k->bytes, room * KEY);
    if (!bytes)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for keys");
    k->bytes = bytes;
    k->room = room;
    return SEEN_OK;
}

enum seen_code crawl_keys_add(struct crawl_keys *k, const struct seen_key *key,
                              size_t n, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    for (size_t i = 0; i < n && k->kept; i++) {
        unsigned char *to;

        if (k->count - k->written == k->room)
            code = make_room(k, why);
        if (code != SEEN_OK && k->path)
            return code;
        if (code != SEEN_OK) {
            k->kept = false; /* it can do without */
            return SEEN_OK;
        }
        to = k->bytes + (k->count - k->written) * KEY;
        little_put_64(to, key[i].lo);
        little_put_64(to + 8, key[i].hi);
        k->sum = crawl_keys_sum(k->sum, &key[i]);
        k->count++;
    }
    return SEEN_OK;
}

/* From the file, or from the buffer. */
enum seen_code crawl_keys_read(struct crawl_keys *k, uint64_t at,
                               struct seen_key *key, size_t n,
                               struct seen_error *why)
{
    unsigned char bytes[64 * KEY];
    enum seen_code code = write_out(k, why);

    for (size_t done = 0, some; done < n && code == SEEN_OK; done += some) {
        some = n - done < 64 ? n - done : 64;
        code = disk_read(k->fd, bytes, some * KEY, (at + done) * KEY, why);
        for (size_t i = 0; i < some && code == SEEN_OK; i++)
            key[done + i] = (struct seen_key){
                .lo = little_64(bytes + i * KEY),
                .hi = little_64(bytes + i * KEY + 8)
            };
    }
    return code;
}

enum seen_code crawl_keys_flush(struct crawl_keys *k,
                                char mark[CRAWL_KEYS_MARK],
                                struct seen_error *why)
{
    enum seen_code code = write_out(k, why);

    if (code == SEEN_OK && k->fd >= 0)
        code = disk_flush(k->fd, why);
    snprintf(mark, CRAWL_KEYS_MARK, "%" PRIu64 " %016" PRIx64, k->count,
             k->sum);
    return code;
}

void crawl_keys_forget(struct crawl_keys *k)
{
    k->kept = false;
    if (k->path)
        unlink(k->path);
}

void crawl_keys_close(struct crawl_keys *k)
{
    if ((k->path || k->folder) && k->fd >= 0)
        close(k->fd);
    free(k->path);
    free(k->bytes);
    init(k, NULL);
}
