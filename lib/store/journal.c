/*
 * journal.c - numbered records in an append-only file.
 *
 *     head     magic, versions, identity, base, checksum
 *              flushed, checksum                             of version 2
 *     record   mark  change  length  first  count  flushed | keys | checksum
 *     record   ...
 *
 * Where does a journal end if its writer was killed? At the first incomplete
 * record, which was never acknowledged. But a byte that changed in the middle
 * must not be mistaken for the end. Each record says how much of the journal
 * was known to be on the disk when it was written (`flushed`). A complete
 * record behind the bad place which says that this place was flushed proves
 * damage. One that does not say so proves nothing: a power failure may keep a
 * later page and lose an earlier one.
 *
 * No record follows the last one, so the head has the flushed length as well.
 * It is written after each flush and before the changes are acknowledged:
 *
 *     record  |  flushed length  |  acknowledged      (| is a flush for the
 *                                                      first, an order for
 *                                                      the second)
 *
 * A bad place before that length is damage, also in the last record, and a
 * shorter file was cut. If the writer was killed, the length is exact. After
 * a power failure it may be that of the flush before, because it is on the
 * disk only with the next one: then the last records are as safe as they are
 * without it, since they were flushed, but damage to the last of them cannot
 * be told from a torn end. The same holds for records that were acknowledged
 * before they were flushed (SEEN_SYNC_EVERYSEC, SEEN_SYNC_NO). So bytes
 * behind the last complete record are counted (`left`) and reported
 * (seen_store_warning). The length has a checksum of its own. If that is
 * wrong, the length is not used: it was being written.
 *
 * A batch is one record, so half a batch is never a complete record.
 * Checksums are seeded with the identity of the file. Authors of URLs do not
 * know it, so the text of a URL cannot be mistaken for a record.
 */
#include "journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../disk/disk.h"
#include "../text/little.h"

static const unsigned char magic[8] = { 0x89, 's', 'e',  'e',
                                        'n',  'j', '\r', '\n' };

enum {
    SLOT = JOURNAL_HEAD - JOURNAL_HEAD_1, /* flushed length, checksum */
    MARK = 0x64726372, /* "rcrd" */
    TEXT_FLAG = 0x100,
    WINDOW = 1 << 20, /* read at a time */
    GUESSES = 1000    /* records tried behind a bad place */
};

static unsigned char *put(unsigned char *at, uint64_t x)
{
    little_put_64(at, x);
    return at + sizeof x;
}

static unsigned char *put_half(unsigned char *at, uint32_t x)
{
    little_put_32(at, x);
    return at + sizeof x;
}

static enum seen_code make_room(struct journal *j, size_t room,
                                struct seen_error *why)
{
    unsigned char *more;

    if (room <= j->room)
        return SEEN_OK;
    more = realloc(j->buffer, room);
    if (!more)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a record");
    j->buffer = more;
    j->room = room;
    return SEEN_OK;
}

static size_t head_len(const struct journal *j)
{
    return j->version > 1 ? JOURNAL_HEAD : JOURNAL_HEAD_1;
}

static void put_slot(unsigned char slot[SLOT], uint64_t flushed,
                     uint64_t identity)
{
    put(slot, flushed);
    put(slot + 8, store_checksum_seeded(slot, 8, identity));
}

bool journal_is_lazy(const struct journal *j, const struct store_head *h)
{
    return j->fd >= 0 && j->version == JOURNAL_LAZY &&
           h->identity == store_head_identity(h);
}

static enum seen_code write_head(void *whose, int fd, struct seen_error *why)
{
    const struct journal *j = whose;
    unsigned char head[JOURNAL_HEAD], *at = head + sizeof magic;

    memcpy(head, magic, sizeof magic);
    at = put_half(at, j->version);
    at = put_half(at, HASH_VERSION);
    at = put(at, j->identity);
    at = put(at, j->base);
    put(at, store_checksum(head, (size_t)(at - head)));
    put_slot(head + JOURNAL_HEAD_1, head_len(j), j->identity);
    return disk_write(fd, head, head_len(j), 0, why);
}

enum seen_code journal_promise(const struct journal *j, uint64_t flushed,
                               struct seen_error *why)
{
    unsigned char slot[SLOT];

    if (j->version < 2)
        return SEEN_OK;
    put_slot(slot, flushed, j->identity);
    return disk_write(j->fd, slot, SLOT, JOURNAL_HEAD_1, why);
}

/* What the head promises; never less than before. */
static void read_promise(struct journal *j)
{
    unsigned char slot[SLOT];
    uint64_t flushed;

    if (j->version < 2 ||
        disk_read(j->fd, slot, SLOT, JOURNAL_HEAD_1, NULL) != SEEN_OK)
        return;
    flushed = little_64(slot);
    if (little_64(slot + 8) == store_checksum_seeded(slot, 8, j->identity) &&
        flushed > j->promised)
        j->promised = flushed;
}

enum seen_code journal_begin(struct journal *j, const struct store_paths *p,
                             uint32_t version, uint64_t identity,
                             uint64_t base, struct seen_error *why)
{
    struct journal next = { .version = version,
                            .identity = identity,
                            .base = base };
    enum seen_code code;
    int fd, system;

    code = store_replace(p, p->journal, write_head, &next, &fd, why);
    if (fd < 0)
        return code;
    system = errno;
    if (j->fd >= 0)
        close(j->fd);
    errno = system;
    j->fd = fd;
    j->version = version;
    j->identity = identity;
    j->base = j->last = base;
    j->end = j->flushed = j->promised = head_len(j);
    j->left = 0;
    return code;
}

static enum seen_code read_head(struct journal *j, struct seen_error *why)
{
    unsigned char head[JOURNAL_HEAD_1];
    enum seen_code code = disk_read(j->fd, head, sizeof head, 0, why);

    if (code == SEEN_CORRUPT ||
        (code == SEEN_OK && memcmp(head, magic, sizeof magic)))
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "its journal is not a seen journal");
    if (code != SEEN_OK)
        return code;
    if (little_32(head + 8) > JOURNAL_VERSION ||
        little_32(head + 12) > HASH_VERSION)
        return seen_fail(why, SEEN_MISMATCH, 8,
                         "its journal has a later version");
    if (!little_32(head + 8) || little_32(head + 12) != HASH_VERSION ||
        little_64(head + 32) != store_checksum(head, 32))
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "checksum differs in the head of its journal");
    j->version = little_32(head + 8);
    j->identity = little_64(head + 16);
    j->base = j->last = little_64(head + 24);
    j->end = j->flushed = j->promised = head_len(j);
    return SEEN_OK;
}

/* Does it belong to the file with head h? */
static enum seen_code check_owner(struct journal *j,
                                  const struct store_head *h,
                                  struct seen_error *why)
{
    if (j->fd >= 0 && j->identity != h->identity)
        journal_close(j);
    if (j->fd < 0 && h->state != SEALED)
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "a writer has it open or was killed, and its "
                         "journal is missing; to copy a filter in use: seen "
                         "merge -o COPY FILE");
    if (j->fd >= 0 && j->base > h->applied)
        return seen_fail(why, SEEN_CORRUPT, 0,
                         "lacks changes that came before its journal");
    return SEEN_OK;
}

enum seen_code journal_open(struct journal *j, const struct store_paths *p,
                            const struct store_head *h, int flags,
                            struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    memset(j, 0, sizeof *j);
    j->fd = disk_open(p->journal, flags | O_NOFOLLOW, 0);
    if (j->fd < 0 && errno == EINVAL)
        return seen_fail(why, SEEN_RANGE, 0,
                         "its journal is not a regular file");
    if (j->fd < 0 && errno != ENOENT)
        return seen_fail(why, SEEN_IO, 0, "its journal cannot be opened");
    if (j->fd >= 0)
        code = read_head(j, why);
    if (code == SEEN_OK)
        code = check_owner(j, h, why);
    if (code != SEEN_OK)
        journal_close(j);
    return code;
}

void journal_close(struct journal *j)
{
    int system = errno;

    if (j->fd >= 0)
        close(j->fd);
    free(j->buffer);
    memset(j, 0, sizeof *j);
    j->fd = -1;
    errno = system;
}

/* --- writing ---------------------------------------------------------- */

static size_t padded(size_t len)
{
    return (len + 7) / 8 * 8;
}

/* Begin a record in the buffer; its keys follow. */
static unsigned char *record_head(struct journal *j, uint32_t change,
                                  size_t length, uint64_t first,
                                  uint64_t count)
{
    unsigned char *at = j->buffer;

    j->window_len = 0;
    at = put_half(at, MARK);
    at = put_half(at, change);
    at = put(at, length);
    at = put(at, first);
    at = put(at, count);
    return put(at, j->flushed);
}

static enum seen_code record_write(struct journal *j, size_t length,
                                   struct seen_error *why)
{
    enum seen_code code;

    put(j->buffer + length - 8,
        store_checksum_seeded(j->buffer, length - 8, j->identity));
    code = disk_write(j->fd, j->buffer, length, j->end, why);
    if (code != SEEN_OK) {
        int system = errno;

        if (ftruncate(j->fd, (off_t)j->end))
            errno = system; /* the next record is written over it */
        errno = system;
        return code;
    }
    j->end += length;
    return SEEN_OK;
}

enum seen_code journal_append(struct journal *j, bool remove, bool text,
                              const struct seen_key *key, size_t n,
                              struct seen_error *why)
{
    size_t length = RECORD_LEAST;
    unsigned char *at;
    enum seen_code code;

    for (size_t i = 0; i < n && length < RECORD_MOST; i++) {
        if (text && key[i].len > RECORD_MOST)
            length = RECORD_MOST;
        else
            length += 16 + (text ? 8 + padded(key[i].len) : 0);
    }
    if (length >= RECORD_MOST)
        return seen_fail(why, SEEN_RANGE, 0,
                         "more than a gigabyte of keys at once");
    code = make_room(j, length, why);
    if (code != SEEN_OK)
        return code;
    at = record_head(j, (remove ? REMOVED : ADDED) | (text ? TEXT_FLAG : 0),
                     length, j->last + 1, n);
    for (size_t i = 0; i < n; i++) {
        at = put(put(at, key[i].lo), key[i].hi);
        if (text) {
            at = put(at, key[i].len);
            memset(at, 0, padded(key[i].len));
            memcpy(at, key[i].text, key[i].len);
            at += padded(key[i].len);
        }
    }
    code = record_write(j, length, why);
    if (code == SEEN_OK)
        j->last += n;
    return code;
}

enum seen_code journal_undo(struct journal *j, uint64_t first, uint64_t count,
                            struct seen_error *why)
{
    enum seen_code code = make_room(j, RECORD_LEAST, why);

    if (code != SEEN_OK)
        return code;
    record_head(j, UNDONE, RECORD_LEAST, first, count);
    return record_write(j, RECORD_LEAST, why);
}

/* --- reading ---------------------------------------------------------- */

void journal_rewind(struct journal *j)
{
    j->end = head_len(j);
    j->last = j->base;
    j->window_len = 0;
}

void journal_look(struct journal *j)
{
    j->window_len = 0;
    read_promise(j);
}

/* Read at least `len` bytes at `at` into the buffer. */
static enum seen_code view(struct journal *j, uint64_t at, size_t len,
                           uint64_t size, const unsigned char **bytes,
                           struct seen_error *why)
{
    uint64_t left = size - at;
    size_t some = len > WINDOW ? len : WINDOW;
    enum seen_code code;

    if (at < j->window_at || at - j->window_at > j->window_len ||
        j->window_len - (at - j->window_at) < len) {
        some = some < left ? some : (size_t)left;
        code = make_room(j, some, why);
        j->window_len = 0;
        if (code == SEEN_OK)
            code = disk_read(j->fd, j->buffer, some, at, why);
        if (code != SEEN_OK)
            return code;
        j->window_at = at;
        j->window_len = some;
    }
    *bytes = j->buffer + (at - j->window_at);
    return SEEN_OK;
}

/*
 * Read what may be a record at `at`. Before its checksum is known only its
 * length is used, and only if it ends within the journal.
 */
static enum seen_code fetch(struct journal *j, uint64_t at, uint64_t size,
                            bool *whole, struct journal_record *r,
                            struct seen_error *why)
{
    const unsigned char *head;
    enum seen_code code;
    uint32_t change;

    *whole = false;
    if (size < at || size - at < RECORD_LEAST)
        return SEEN_OK;
    code = view(j, at, RECORD_HEAD, size, &head, why);
    if (code != SEEN_OK)
        return code;
    change = little_32(head + 4);
    r->change = (enum journal_change)(change & ~(uint32_t)TEXT_FLAG);
    r->text = change & TEXT_FLAG;
    r->length = little_64(head + 8);
    r->first = little_64(head + 16);
    r->count = little_64(head + 24);
    r->flushed = little_64(head + 32);
    if (little_32(head) != MARK || r->length < RECORD_LEAST || r->length % 8 ||
        r->length > size - at || r->length > RECORD_MOST)
        return SEEN_OK;
    code = view(j, at, (size_t)r->length, size, &head, why);
    if (code != SEEN_OK)
        return code;
    r->keys = head + RECORD_HEAD;
    r->keys_len = (size_t)r->length - RECORD_LEAST;
    *whole = little_64(head + r->length - 8) ==
             store_checksum_seeded(head, (size_t)r->length - 8, j->identity);
    return SEEN_OK;
}

/* Does a complete record behind `at` say that `at` was on the disk? */
static enum seen_code damaged(struct journal *j, uint64_t at, uint64_t size,
                              bool *proved, struct seen_error *why)
{
    int guesses = 0;

    *proved = false;
    for (uint64_t from = at + 8; from < size && size - from >= RECORD_LEAST;
         from += 8) {
        const unsigned char *mark;
        struct journal_record r;
        bool whole;
        enum seen_code code = view(j, from, sizeof(uint32_t), size, &mark,
                                   why);

        if (code == SEEN_OK && little_32(mark) != MARK)
            continue;
        if (code == SEEN_OK)
            code = fetch(j, from, size, &whole, &r, why);
        if (code != SEEN_OK)
            return code;
        *proved = whole && r.flushed > at;
        if (*proved || ++guesses == GUESSES)
            break;
    }
    return SEEN_OK;
}

enum seen_code journal_next(struct journal *j, uint64_t size, bool *found,
                            struct journal_record *r, struct seen_error *why)
{
    bool proved;
    enum seen_code code = fetch(j, j->end, size, found, r, why);

    if (code != SEEN_OK)
        return code;
    if (*found && r->change == UNDONE) {
        j->end += r->length;
        return SEEN_OK;
    }
    if (*found && r->first == j->last + 1 &&
        (r->change == ADDED || r->change == REMOVED)) {
        j->end += r->length;
        j->last += r->count;
        return SEEN_OK;
    }
    if (*found)
        return seen_fail(why, SEEN_CORRUPT, j->end,
                         "change %llu of kind %d follows %llu in its journal",
                         (unsigned long long)r->first, (int)r->change,
                         (unsigned long long)j->last);
    if (size < j->promised)
        return seen_fail(why, SEEN_CORRUPT, size,
                         "its journal was cut short: it has %llu bytes "
                         "instead of %llu",
                         (unsigned long long)size,
                         (unsigned long long)j->promised);
    proved = j->end < j->promised;
    code = proved ? SEEN_OK : damaged(j, j->end, size, &proved, why);
    if (code == SEEN_OK && proved)
        return seen_fail(why, SEEN_CORRUPT, j->end,
                         "its journal was changed at byte %llu",
                         (unsigned long long)j->end);
    return code;
}
