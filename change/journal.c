/*
 * journal.c - append, flush, read back.
 *
 * Where does the journal end if the process was killed? The transaction in
 * state.db says how long it is, and a row is flushed before its transaction:
 *
 *     killed                          found when the state is opened
 *     while a row is written          a torn row past the end: cut off
 *     between flush and commit        a whole row past the end: cut off; the
 *                                     records come again, and so do its keys
 *     between commit and cut          begin = end in state.db, rows in the
 *                                     file: all of them are cut off
 *
 * So at most one whole row can be past the end. Two mean that state.db itself
 * went back, which SQLite does without a word if its log is damaged: then the
 * filters have keys of answers that nobody knows, and the state is refused.
 *
 * A row has a hash, since keys that were read wrong would be added without
 * any sign: every 8 bytes are a valid key.
 */
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

/* Read the row at this offset of a file of `size` bytes into j->row. *len
   becomes its length with the head, or 0 if it is not whole. */
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

/* Is there more past the end than a process that died can leave? After a cut
   that was interrupted all rows are still there, so then this cannot be
   known. */
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
