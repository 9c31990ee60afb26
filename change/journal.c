/* journal.c - append, flush, read back. */
#include "journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <seen/key.h>

#include "../lib/disk/disk.h"
#include "../lib/text/little.h"

enum { HEAD = 16 };

static uint64_t hash_of(const char *bytes, size_t len)
{
    struct seen_key key;

    seen_key_hash(&key, bytes, len);
    return key.lo ^ key.hi;
}

/* The row at an offset of the file, up to `size`: *len becomes its bytes with
   the head, or 0 if it is not whole. It is in j->row. */
static enum seen_code read_row(struct change_journal *j, uint64_t at,
                               uint64_t size, uint64_t *len,
                               struct seen_error *why)
{
    enum seen_code code;
    char head[HEAD], *bytes;
    uint64_t n;

    *len = 0;
    if (size - at < HEAD)
        return SEEN_OK;
    code = disk_read(j->fd, head, HEAD, at, why);
    if (code != SEEN_OK)
        return code;
    n = little_64(head);
    if (n > size - at - HEAD)
        return SEEN_OK;
    j->row.len = 0;
    bytes = buffer_room(&j->row, n);
    if (!bytes)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for the journal");
    code = disk_read(j->fd, bytes, n, at + HEAD, why);
    if (code == SEEN_OK && hash_of(bytes, n) == little_64(head + 8))
        *len = HEAD + n;
    return code;
}

/*
 * Behind the end, a process that died leaves at most the row of one batch: the
 * next one is written after its commit. If there is more, state.db has lost
 * commits: SQLite takes a damaged log for one that ends there. After a cut
 * that was interrupted, all rows are still there, and nothing is known.
 */
static enum seen_code check_rest(struct change_journal *j, uint64_t size,
                                 bool fresh, struct seen_error *why)
{
    uint64_t at = j->end - j->begin, len = 0;
    enum seen_code code = SEEN_OK;

    if (j->begin < j->end || !j->end)
        code = read_row(j, at, size, &len, why);
    j->row.len = 0;
    if (code == SEEN_OK && ((len && at + len < size) || (fresh && size)))
        code = seen_fail(
            why, SEEN_CORRUPT, 0,
            "the journal has rows that state.db has lost: restore "
            "the folder from a copy, or begin another state");
    return code;
}

enum seen_code change_journal_open(struct change_journal *j,
                                   const char *folder, uint64_t begin,
                                   uint64_t end, bool fresh,
                                   struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    struct stat s;
    char *path;

    j->begin = begin;
    j->end = end;
    if (asprintf(&path, "%s/journal", folder) < 0)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a path");
    j->fd = disk_open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    free(path);
    if (j->fd < 0 || fstat(j->fd, &s) != 0)
        return seen_fail(why, SEEN_IO, 0, "the journal cannot be opened");
    if ((uint64_t)s.st_size < end - begin)
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "the journal has %llu bytes, and %llu are expected",
                         (unsigned long long)s.st_size,
                         (unsigned long long)(end - begin));
    code = check_rest(j, (uint64_t)s.st_size, fresh, why);
    if (code != SEEN_OK)
        return code;
    if ((uint64_t)s.st_size > end - begin &&
        ftruncate(j->fd, (off_t)(end - begin)) != 0)
        return seen_fail(why, SEEN_IO, 0, "the journal cannot be cut");
    if (begin == end) /* the file may be new: its name must last, too */
        code = disk_flush_folder(folder, why);
    return code;
}

void change_journal_close(struct change_journal *j)
{
    if (j->fd >= 0)
        close(j->fd);
    j->fd = -1;
    buffer_clear(&j->row);
}

enum seen_code change_journal_write(struct change_journal *j,
                                    struct seen_span entries,
                                    struct seen_error *why)
{
    uint64_t at = j->end - j->begin;
    enum seen_code code;
    char head[HEAD];

    little_put_64(head, entries.len);
    little_put_64(head + 8, hash_of(entries.text, entries.len));
    code = disk_write(j->fd, head, HEAD, at, why);
    if (code == SEEN_OK)
        code = disk_write(j->fd, entries.text, entries.len, at + HEAD, why);
    if (code == SEEN_OK)
        code = disk_flush(j->fd, why);
    if (code == SEEN_OK)
        j->end += HEAD + entries.len;
    return code;
}

static enum seen_code damaged(struct seen_error *why)
{
    return seen_fail(why, SEEN_CORRUPT, 0, "a row of the journal is damaged");
}

enum seen_code change_journal_read(struct change_journal *j,
                                   change_take_row *take, void *owner,
                                   struct seen_error *why)
{
    uint64_t at = j->begin;
    enum seen_code code = SEEN_OK;

    while (code == SEEN_OK && at < j->end) {
        uint64_t len;

        code = read_row(j, at - j->begin, j->end - j->begin, &len, why);
        if (code == SEEN_OK && !len)
            code = damaged(why);
        at += len;
        if (code == SEEN_OK)
            code = take(owner, (struct seen_span){ j->row.bytes, len - HEAD },
                        at, why);
    }
    return code;
}

enum seen_code change_journal_cut(struct change_journal *j,
                                  struct seen_error *why)
{
    j->begin = j->end;
    if (ftruncate(j->fd, 0) != 0)
        return seen_fail(why, SEEN_IO, 0, "the journal cannot be cut");
    return SEEN_OK;
}
