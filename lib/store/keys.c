/*
 * keys.c - all keys of a filter, in a file that is only appended to.
 *
 *         0  +----------------------+
 *            | head, 24 bytes       |  magic, versions, checksum
 *      4096  +----------------------+
 *            | slot 0, 40 bytes     |  identity, applied, count, sum, checksum
 *      8192  +----------------------+
 *            | slot 1, 40 bytes     |
 *     12288  +----------------------+
 *            | keys, 16 bytes each  |  lo, hi, in the order of the changes
 *            +----------------------+
 *
 * A log that lacks one key would make a filter that denies it. So which log is
 * complete? The file decides, not the log. Its head has an identity, which is
 * a checksum of its content, and the number of the last change in its cells
 * (`applied`). A slot names both. The log is complete if one of its slots
 * names both as the head has them: then it has `count` keys, and those are all
 * that were ever added up to that change. In any other case the filter answers
 * as ever and cannot grow: it says so, and is full at its capacity. Therefore
 *
 *   - an older version, which knows nothing of logs, may add keys: closing the
 *     file changes its identity, and no slot has the new one;
 *   - the log of another filter, an old log beside a file from a backup, or a
 *     file that was changed as a copy, is never used;
 *   - a union that replaces the file has another identity. (seen_claim_save()
 *     also removes the log.)
 *
 * The order of writes, where | is a flush:
 *
 *     add                record in the journal  |  cells; keys
 *     checkpoint         cells  |  keys, slot  |  heads: applied  |  new journal
 *     close              cells, table  |  keys, slot  |  heads: sealed  |
 *                        no journal
 *     new file, grown    cells, text of NAME.new; keys, slot  |  NAME.new  |
 *     or not             renamed  |  no journal
 *
 * Each key is written twice, to be safe at once and to be kept. To copy the
 * journal into the log at each checkpoint took 15 ns per key, to read it, check
 * it and make keys of it; to append to both takes 4. Until the next slot is
 * written, what was appended has no meaning, so that it need not be flushed.
 *
 * `slot` is always the one that does not name the file as it is. Killed before
 * the heads are written, or before the rename, the file is the old one: the
 * old slot names it, the journal still has all changes after it, and what was
 * appended behind its `count` keys is appended again. Killed after that, the
 * new slot names the file. Both slots are never wrong at once, because a slot
 * is written only after the other one was flushed along with a file that it
 * names. If a power failure keeps a slot and loses its keys, this was before
 * the flush; then the file does not have what the slot names.
 *
 * A sealed file without any key needs no log. Before its first change the log
 * is begun anew, whatever is there, with a slot that names the empty file.
 *
 * Damage. Keys have no checksums of their own. `sum` is that of
 * mix(lo ^ mix(hi)) over all keys, modulo 2^64, so that appending needs no look at
 * what is there, and reading all, which is done once per growth, proves all.
 *
 * Keys that are added again are logged again: the filter cannot tell one that it
 * has from one that it takes for another by mistake, and a larger filter would
 * deny the latter. When a log is four times as long as it need be, another one
 * replaces it (sieve.c).
 *
 * Who may read it? Hashes of URLs can be guessed, so the log has mode 0600,
 * whatever the file has, and nothing publishes or serves it. Of a keyed filter
 * it has keyed hashes.
 */
#include "keys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <seen/kind_writer.h>

#include "../disk/disk.h"
#include "../text/little.h"

static const unsigned char magic[8] = { 0x89, 's', 'e',  'e',
                                        'n',  'k', '\r', '\n' };

enum {
    HEAD_LEN = 24,
    SLOT_LEN = 40,
    SOME = 4096, /* keys at a time */
    TAIL = STORE_KEYS_TAIL
};

bool store_keys_suit(const struct seen_filter *f)
{
    if (f->traits & SEEN_READS_TEXT)
        return false;
    if (!f->kind->combines)
        return f->cell_bits == 1 && f->traits & SEEN_CAN_ADD &&
               f->plan.capacity && f->plan.rate > 0 && !f->plan.hostile;
    for (unsigned i = 0; i < f->parts; i++)
        if (!store_keys_suit(f->part[i]))
            return false;
    return f->parts == f->room && f->kind->target != SEEN_TO_LAST;
}

#define DAMAGED UINT64_MAX /* the number of keys of such a log */

static uint64_t slot_at(unsigned slot)
{
    return KEYS_SLOT * (uint64_t)(slot + 1);
}

static uint64_t key_at(uint64_t i)
{
    return KEYS_HEAD + KEY_BYTES * i;
}

/* --- opening ----------------------------------------------------------- */

/* The log cannot be used; the file can. */
static enum seen_code lose(struct store_keys_log *k, const char *what)
{
    if (k->fd >= 0)
        close(k->fd);
    k->fd = -1;
    k->whole = k->damaged = false;
    seen_fail(&k->lost, SEEN_MISMATCH, 0, "%s", what);
    return SEEN_OK;
}

/* Is the file shorter, that is damage. Other failures are those of the disk. */
static enum seen_code read_some(const struct store_keys_log *k,
                                unsigned char *bytes, size_t len, uint64_t at,
                                struct seen_error *why)
{
    enum seen_code code = disk_read(k->fd, bytes, len, at, why);

    if (code == SEEN_CORRUPT)
        memset(bytes, 0, len);
    return code == SEEN_CORRUPT ? SEEN_OK : code;
}

/* *named: is it a slot, and of the file with head h? */
static enum seen_code read_slot(const struct store_keys_log *k, unsigned slot,
                                const struct store_head *h,
                                struct store_keys_slot *s, bool *named,
                                struct seen_error *why)
{
    unsigned char bytes[SLOT_LEN];
    enum seen_code code = read_some(k, bytes, SLOT_LEN, slot_at(slot), why);

    s->identity = little_64(bytes);
    s->applied = little_64(bytes + 8);
    s->count = little_64(bytes + 16);
    s->sum = little_64(bytes + 24);
    *named = code == SEEN_OK &&
             little_64(bytes + 32) == store_checksum(bytes, 32) &&
             s->identity == h->identity && s->applied == h->applied;
    return code;
}

/* Nothing is known of what comes after the slot. */
static void forget_tail(struct store_keys_log *k)
{
    k->next = k->now;
    k->noted = k->now.applied;
    k->tail_n = 0;
}

static enum seen_code read_log(struct store_keys_log *k,
                               const struct store_head *h,
                               struct seen_error *why)
{
    unsigned char head[HEAD_LEN];
    enum seen_code code = read_some(k, head, sizeof head, 0, why);
    bool named = false;
    struct stat it;

    if (code == SEEN_OK && fstat(k->fd, &it))
        code = seen_fail(why, SEEN_IO, 0, "its log of keys cannot be read");
    if (code != SEEN_OK)
        return code;
    if (memcmp(head, magic, sizeof magic) ||
        little_64(head + 16) != store_checksum(head, 16))
        return lose(k, "its log of keys is damaged");
    if (little_32(head + 8) != KEYS_VERSION ||
        little_32(head + 12) != HASH_VERSION)
        return lose(k, "its log of keys has a later version");
    for (unsigned slot = 0; slot < 2 && code == SEEN_OK && !named; slot++) {
        k->at = slot;
        code = read_slot(k, slot, h, &k->now, &named, why);
    }
    if (code != SEEN_OK)
        return code;
    if (!named)
        return lose(k, "its log of keys is that of another file, or an older "
                       "version or another program has changed the filter");
    if (k->now.count == DAMAGED) {
        k->whole = false;
        k->damaged = true;
        seen_fail(&k->lost, SEEN_MISMATCH, 0, "its log of keys is damaged");
        forget_tail(k);
        return SEEN_OK;
    }
    if (k->now.count > (uint64_t)INT64_MAX / KEY_BYTES / 2 ||
        (k->now.count && (uint64_t)it.st_size < key_at(k->now.count)))
        return lose(k, "its log of keys was cut short");
    forget_tail(k);
    return SEEN_OK;
}

/* Was no key ever added to the file? Then its log need not be there. */
static bool empty(const struct seen_filter *f, const struct store_head *h)
{
    return h->state != CHANGING && !h->applied && !h->offered &&
           !seen_filter_cells_set(f);
}

static enum seen_code open_log(struct store_keys_log *k,
                               const struct store_paths *p,
                               const struct seen_filter *f,
                               const struct store_head *h, int flags,
                               struct seen_error *why)
{
    const char *value = seen_meta_get(f, KEYS_META);

    memset(k, 0, sizeof *k);
    k->fd = -1;
    k->kept = value && store_keys_suit(f); /* another kind was made of it */
    if (!k->kept)
        return SEEN_OK;
    k->whole = true;
    if (strcmp(value, "1") != 0)
        return lose(k, "a later version keeps them in another way");
    if (empty(f, h)) {
        k->now.identity = h->identity;
        forget_tail(k);
        return SEEN_OK;
    }
    k->fd = disk_open(p->keys, flags | O_NOFOLLOW, 0);
    if (k->fd < 0 && errno == ENOENT)
        return lose(k, "its log of keys is missing");
    if (k->fd < 0 && (errno == EINVAL || errno == ELOOP))
        return lose(k, "its log of keys is not a regular file");
    if (k->fd < 0)
        return seen_fail(why, SEEN_IO, 0, "its log of keys cannot be opened");
    return read_log(k, h, why);
}

enum seen_code store_keys_open(struct store_keys_log *k,
                               const struct store_paths *p,
                               const struct seen_filter *f,
                               const struct store_head *h,
                               struct seen_error *why)
{
    return open_log(k, p, f, h, O_RDWR, why);
}

bool store_keys_look(const struct store_paths *p, const struct seen_filter *f,
                     const struct store_head *h, struct seen_error *lost)
{
    struct store_keys_log k;
    enum seen_code code = open_log(&k, p, f, h, O_RDONLY, lost);

    if (code == SEEN_OK && !k.kept)
        seen_fail(lost, SEEN_UNABLE, 0, "the filter does not keep its keys");
    else if (code == SEEN_OK && !k.whole && lost)
        *lost = k.lost;
    store_keys_close(&k);
    return code == SEEN_OK && k.whole;
}

void store_keys_close(struct store_keys_log *k)
{
    int system = errno;

    if (k->fd >= 0)
        close(k->fd);
    k->fd = -1;
    free(k->tail);
    k->tail = NULL;
    k->tail_n = 0;
    errno = system;
}

/* --- writing ----------------------------------------------------------- */

static enum seen_code write_slot(const struct store_keys_log *k, unsigned slot,
                                 const struct store_keys_slot *s,
                                 struct seen_error *why)
{
    unsigned char bytes[SLOT_LEN];

    little_put_64(bytes, s->identity);
    little_put_64(bytes + 8, s->applied);
    little_put_64(bytes + 16, s->count);
    little_put_64(bytes + 24, s->sum);
    little_put_64(bytes + 32, store_checksum(bytes, 32));
    return disk_write(k->fd, bytes, SLOT_LEN, slot_at(slot), why);
}

static enum seen_code write_first(const struct store_keys_log *k,
                                  struct seen_error *why)
{
    unsigned char head[HEAD_LEN];
    enum seen_code code;

    memcpy(head, magic, sizeof magic);
    little_put_32(head + 8, KEYS_VERSION);
    little_put_32(head + 12, HASH_VERSION);
    little_put_64(head + 16, store_checksum(head, 16));
    code = disk_write(k->fd, head, sizeof head, 0, why);
    if (code == SEEN_OK)
        code = write_slot(k, k->at, &k->now, why);
    return code == SEEN_OK ? disk_flush(k->fd, why) : code;
}

/* The log belongs to the owner of the filter, if we may give it away. */
static void give_owner(int fd, const char *path)
{
    struct stat it;

    if (!stat(path, &it) && it.st_uid != geteuid() &&
        fchown(fd, it.st_uid, (gid_t)-1))
        return; /* then it belongs to whoever adds */
}

enum seen_code store_keys_make(int *fd, const char *path,
                               const struct store_paths *p,
                               struct seen_error *why)
{
    *fd = -1;
    if (unlink(path) && errno != ENOENT)
        return seen_fail(why, SEEN_IO, 0, "its log of keys cannot be made");
    *fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (*fd < 0)
        return seen_fail(why, SEEN_IO, 0, "its log of keys cannot be made");
    give_owner(*fd, p->path);
    return SEEN_OK;
}

enum seen_code store_keys_begin(struct store_keys_log *k,
                                const struct store_paths *p,
                                struct seen_error *why)
{
    enum seen_code code;

    if (!k->kept || !k->whole || k->fd >= 0)
        return SEEN_OK;
    code = store_keys_make(&k->fd, p->keys, p, why);
    if (code == SEEN_OK)
        code = write_first(k, why);
    if (code == SEEN_OK)
        code = disk_flush_folder(p->folder, why);
    if (code != SEEN_OK)
        store_keys_close(k);
    return code;
}

uint64_t store_keys_sum(uint64_t lo, uint64_t hi)
{
    return seen_mix(lo ^ seen_mix(hi));
}

static enum seen_code write_tail(struct store_keys_log *k,
                                 struct seen_error *why)
{
    enum seen_code code = disk_write(k->fd, k->tail, k->tail_n * KEY_BYTES,
                                     key_at(k->next.count - k->tail_n), why);

    if (code == SEEN_OK)
        k->tail_n = 0;
    return code;
}

static enum seen_code append(struct store_keys_log *k,
                             const struct seen_key *key, size_t n,
                             struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    if (!k->tail)
        k->tail = malloc(TAIL * KEY_BYTES);
    if (!k->tail)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a log of keys");
    for (size_t done = 0, some; done < n && code == SEEN_OK; done += some) {
        unsigned char *to = k->tail + k->tail_n * KEY_BYTES;

        some = n - done < TAIL - k->tail_n ? n - done : TAIL - k->tail_n;
        for (size_t i = done; i < done + some; i++, to += KEY_BYTES) {
            little_put_64(to, key[i].lo);
            little_put_64(to + 8, key[i].hi);
            k->next.sum += store_keys_sum(key[i].lo, key[i].hi);
        }
        k->next.count += some;
        k->tail_n += some;
        if (k->tail_n == TAIL)
            code = write_tail(k, why);
    }
    return code;
}

void store_keys_note(struct store_keys_log *k, uint64_t first,
                     const struct seen_key *key, size_t n)
{
    int system = errno;

    if (k->fd < 0 || !k->whole || k->noted + 1 != first)
        return;
    if (append(k, key, n, NULL) == SEEN_OK)
        k->noted += n;
    else
        forget_tail(k);
    errno = system;
}

static enum seen_code take(void *whose, const struct seen_key *key, size_t n,
                           struct seen_error *why)
{
    return append(whose, key, n, why);
}

enum seen_code store_keys_follow(struct store_keys_log *k,
                                 const struct seen_filter *f,
                                 struct journal *j, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    if (k->fd < 0 || !k->whole || j->fd < 0 || k->noted >= j->last)
        return SEEN_OK;
    code = journal_each(j, f, k->noted, take, k, why);
    if (code == SEEN_OK)
        k->noted = j->last;
    else
        forget_tail(k);
    return code;
}

enum seen_code store_keys_move(struct store_keys_log *k,
                               const struct seen_filter *f, struct journal *j,
                               const struct store_head *h,
                               struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    k->written = false;
    if (!k->kept || !(k->whole || k->damaged))
        return SEEN_OK;
    k->next.identity = h->identity;
    k->next.applied = h->applied;
    if (k->fd >= 0) { /* or there is no key */
        code = store_keys_write(k, f, j, why);
        if (code == SEEN_OK)
            code = write_slot(k, !k->at, &k->next, why);
        if (code == SEEN_OK)
            code = disk_flush(k->fd, why);
    }
    k->written = code == SEEN_OK;
    return code;
}

void store_keys_commit(struct store_keys_log *k)
{
    if (!k->written)
        return;
    k->at = !k->at;
    k->now = k->next;
    k->noted = k->now.applied;
    k->written = false;
}

/* --- reading ----------------------------------------------------------- */

enum seen_code store_keys_read(const struct store_keys_log *k, uint64_t at,
                               struct seen_key *key, size_t n, uint64_t *sum,
                               struct seen_error *why)
{
    /* A key takes 16 bytes in the log and 32 in memory: they are read into the
       second half, and none is overwritten before it was taken. */
    unsigned char *bytes = (unsigned char *)(key + n) - n * KEY_BYTES;
    enum seen_code code = disk_read(k->fd, bytes, n * KEY_BYTES, key_at(at),
                                    why);

    for (size_t i = 0; i < n && code == SEEN_OK; i++) {
        const uint64_t lo = little_64(bytes + i * KEY_BYTES);
        const uint64_t hi = little_64(bytes + i * KEY_BYTES + 8);

        key[i] = (struct seen_key){ .lo = lo, .hi = hi };
        *sum += store_keys_sum(lo, hi);
    }
    return code;
}

uint64_t store_keys_written(const struct store_keys_log *k)
{
    return k->next.count - k->tail_n;
}

enum seen_code store_keys_write(struct store_keys_log *k,
                                const struct seen_filter *f, struct journal *j,
                                struct seen_error *why)
{
    enum seen_code code = store_keys_follow(k, f, j, why);

    return code == SEEN_OK && k->tail_n ? write_tail(k, why) : code;
}

enum seen_code store_keys_each(struct store_keys_log *k,
                               const struct seen_filter *f, struct journal *j,
                               journal_take *give, void *whose,
                               struct seen_error *why)
{
    struct seen_key *key = malloc(SOME * sizeof *key);
    enum seen_code code = store_keys_write(k, f, j, why);
    uint64_t sum = 0;

    if (!key)
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for a log of keys");
    for (uint64_t done = 0, some; done < k->next.count && code == SEEN_OK;
         done += some) {
        some = k->next.count - done < SOME ? k->next.count - done : SOME;
        code = store_keys_read(k, done, key, (size_t)some, &sum, why);
        if (code == SEEN_OK)
            code = give(whose, key, (size_t)some, why);
    }
    if (code == SEEN_OK && sum != k->next.sum)
        code = seen_fail(why, SEEN_CORRUPT, 0, "its log of keys is damaged");
    free(key);
    return code;
}

void store_keys_condemn(struct store_keys_log *k)
{
    if (!k->whole || k->fd < 0)
        return;
    k->whole = false;
    k->damaged = true;
    seen_fail(&k->lost, SEEN_CORRUPT, 0, "its log of keys is damaged");
    k->now.count = DAMAGED;
    forget_tail(k);
    write_slot(k, k->at, &k->now, NULL); /* or the next writer finds out */
}

/* --- replacing it ------------------------------------------------------- */

enum seen_code store_keys_renew(struct store_keys_log *k,
                                const struct store_paths *p, int *fd,
                                uint64_t fewer, uint64_t less,
                                struct seen_error *why)
{
    struct store_keys_log to = *k;
    bool swapped = false;
    enum seen_code code;

    to.fd = *fd;
    to.at = 0;
    to.now.count -= fewer;
    to.now.sum -= less;
    code = write_first(&to, why);
    if (code == SEEN_OK)
        code = disk_swap(*fd, p->grow, p->keys, &swapped, why);
    if (!swapped)
        return code;
    close(k->fd);
    k->fd = *fd;
    *fd = -1;
    k->at = 0;
    k->now = to.now;
    k->next.count -= fewer;
    k->next.sum -= less;
    k->try_at = 0;
    return code;
}

enum seen_code store_keys_forget(struct store_keys_log *k,
                                 const struct store_paths *p,
                                 struct seen_error *why)
{
    if (!k->kept)
        return SEEN_OK;
    lose(k, "its log of keys was removed");
    if (unlink(p->keys) && errno != ENOENT)
        return seen_fail(why, SEEN_IO, 0, "its log of keys cannot be removed");
    return disk_flush_folder(p->folder, why);
}
