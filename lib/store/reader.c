/*
 * reader.c - a filter to read: copied into memory or mapped, and brought up
 * to date later.
 *
 * A reader takes no lock, so a writer may open the file, checkpoint or seal
 * it at any moment. The reader reads in this order, and starts over if the
 * head has changed at the end:
 *
 *     head, text, table    the cells    the journal    the head again
 *
 * Cells that a writer changes meanwhile only gain bits, and changes that they
 * lack are in the journal. So if the head did not change, the filter has
 * everything that was acknowledged when reading began. A mapping is private,
 * so that the journal can be applied to its cells; pages that the journal
 * does not change are still those of the file.
 *
 * A lazy reader checks the blocks that keys need, when they need them
 * (blocks.c). The journal is a list of such keys, too.
 *
 * A refresh mostly finds nothing, or some records at the end of the journal.
 * If the head or the journal is another one, a writer has opened the file,
 * checkpointed or closed it, and the file is read again. The filter keeps its
 * address, and gets the cells and parts of the new reading.
 */
#include "reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../disk/disk.h"
#include "../filter/storage.h"
#include "../filter/tree.h"
#include "blocks.h"
#include "cells.h"
#include "journal.h"
#include "keys.h"
#include "text.h"

enum { TRIES = 1000 };
static const struct timespec moment = { .tv_nsec = 1000000 };

struct store_reader {
    struct seen_storage storage;  /* first: a filter's storage is a reader's */
    char *path;                 /* as it was given: a link may change */
    struct store_paths paths;
    bool mapped;                /* if not, the cells were copied */
    bool unverified, lazy;
    struct store_blocks *blocks; /* NULL: nothing is left to be checked */
    bool changed;               /* its owner has changed the copy */
    struct store_mapping map;
    int fd;
    unsigned char bytes[HEAD];  /* the first head when cells were read */
    struct store_head head;     /* the first head, or the second one */
    bool damaged;               /* one of the two heads was */
    struct journal journal;     /* as far as it was applied */
    uint64_t counted;           /* number of the change up to which the cells
                                   were counted; */
    bool uncounted;             /* they were not since the file was read */
};

/* --- a filter's reader -------------------------------------------------- */

/* Release what was read, but not the reader itself. */
static void reader_clear(struct store_reader *r, struct seen_filter *f)
{
    if (f)
        store_cells_unmap(f, &r->map);
    store_blocks_free(r->blocks);
    r->blocks = NULL;
    journal_close(&r->journal);
    if (r->fd >= 0)
        close(r->fd);
    r->fd = -1;
    store_paths_clear(&r->paths);
}

static void reader_free(struct store_reader *r)
{
    int system = errno;

    reader_clear(r, NULL);
    free(r->path);
    free(r);
    errno = system;
}

static void release(struct seen_storage *s, struct seen_filter *f)
{
    struct store_reader *r = (struct store_reader *)s;

    reader_clear(r, f);
    reader_free(r);
}

/* The owner of a copy may add to it; from then on it differs from the file. */
static enum seen_code before(struct seen_storage *s, bool remove,
                             const struct seen_key *key, size_t n,
                             uint64_t *first, struct seen_error *why)
{
    struct store_reader *r = (struct store_reader *)s;

    (void)remove, (void)key, (void)n, (void)first, (void)why;
    __atomic_store_n(&r->changed, true, __ATOMIC_RELAXED);
    return SEEN_OK;
}

static void after(struct seen_storage *s, uint64_t first, size_t n,
                  size_t done)
{
    (void)s, (void)first, (void)n, (void)done;
}

static enum seen_code check(struct seen_storage *s,
                            const struct seen_filter *f,
                            const struct seen_key *key, size_t n, bool under,
                            struct seen_error *why)
{
    struct store_blocks *blocks = ((struct store_reader *)s)->blocks;

    if (!blocks)
        return SEEN_OK;
    return key ? store_blocks_check(blocks, f, key, n, under, why)
               : store_blocks_check_all(blocks, f, why);
}

static struct store_reader *reader_of(const struct seen_filter *f)
{
    if (!f->storage || f->storage->release != release)
        return NULL;
    return (struct store_reader *)f->storage;
}

uint64_t store_reader_applied(const struct seen_filter *f)
{
    const struct store_reader *r = reader_of(f);

    if (!r)
        return f->applied;
    if (__atomic_load_n(&r->changed, __ATOMIC_RELAXED))
        return 0;
    return r->journal.fd >= 0 && r->journal.last > r->head.applied
               ? r->journal.last
               : r->head.applied;
}

void store_reader_flaws(const struct seen_filter *f, bool *damaged,
                        uint64_t *left)
{
    const struct store_reader *r = reader_of(f);

    if (r) {
        *damaged = r->damaged;
        *left = r->journal.fd >= 0 ? r->journal.left : 0;
    }
}

/* --- reading ------------------------------------------------------------ */

/*
 * The table of a file that is being changed is not valid, so its cells are
 * counted once. After that, a mapping shows the bits that a writer sets in
 * place before their record is read, so replaying the record does not count
 * them. Counting again takes a pass over all cells; it waits until a
 * hundredth of the keys is new.
 */
static void count_again(struct store_reader *r, struct seen_filter *f)
{
    uint64_t since = r->journal.last - r->counted;

    if (r->uncounted ||
        (r->mapped && since && since >= seen_filter_offered(f) / 100)) {
        store_cells_recount(f);
        r->counted = r->journal.last;
        r->uncounted = false;
    }
}

static enum seen_code catch_up(struct store_reader *r, struct seen_filter *f,
                               struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    if (r->journal.fd < 0)
        return SEEN_OK;
    if (r->map.base &&
        mprotect(r->map.base, r->map.len, PROT_READ | PROT_WRITE))
        return seen_fail(why, SEEN_IO, 0, "cannot be mapped");
    for (int tries = 0; tries < 3; tries++) {
        code = journal_replay(&r->journal, f, r->head.applied, r->blocks, why);
        if (code != SEEN_CORRUPT)
            break;
        nanosleep(&moment, NULL);        /* a writer may be undoing a record */
    }
    if (r->map.base && mprotect(r->map.base, r->map.len, PROT_READ))
        return seen_fail(why, SEEN_IO, 0, "cannot be mapped");
    if (code == SEEN_OK && r->head.state == CHANGING && !r->lazy)
        count_again(r, f);
    return code;
}

/* The counts of a file that is being changed are those of its last seal, or
   torn; a lazy reader does not count, but no part has more than all cells. */
static void bound_counts(struct seen_filter *f)
{
    if (!f->kind->combines && f->set > leaf_cells(f))
        f->set = leaf_cells(f);
    for (unsigned i = 0; i < f->parts; i++)
        bound_counts(f->part[i]);
}

/* Which blocks must be checked later, if any? */
static enum seen_code note_blocks(struct store_reader *r,
                                  const struct store_front *front,
                                  struct seen_filter *f,
                                  struct seen_error *why)
{
    if (r->unverified)
        return SEEN_OK;
    if (front->head.state == CHANGING ? !journal_is_lazy(&r->journal, &r->head)
                                      : !r->lazy)
        return SEEN_OK;
    if (!store_blocks_able(f))
        return store_blocks_unable(f, why);
    return store_blocks_new(&r->blocks, r->fd, front, f, &r->paths, why);
}

/* Read once, from head to journal. */
static enum seen_code read_once(struct store_reader *r,
                                struct seen_filter **out,
                                const struct seen_access *options,
                                struct seen_error *why)
{
    struct store_front front;
    struct seen_filter *f = NULL;
    enum seen_code code = store_paths_init(&r->paths, r->path, why);
    bool check;

    if (code != SEEN_OK)
        return code;
    r->fd = open(r->paths.path, O_RDONLY | O_CLOEXEC);
    if (r->fd < 0)
        return seen_fail(why, SEEN_IO, 0, "cannot be opened");
    code = store_front_read(&front, r->fd, why);
    memcpy(r->bytes, front.bytes, HEAD);
    r->head = front.head;
    r->damaged = front.damaged;
    if (code != SEEN_OK)
        return code;
    check = !r->unverified && front.head.state != CHANGING;
    code = store_plan_read(&f, &front, options, why);
    r->lazy = code == SEEN_OK && r->mapped && options && options->lazy &&
              !r->unverified && store_blocks_able(f);
    if (code == SEEN_OK && r->mapped && check && !r->lazy)
        code = store_cells_read(r->fd, &front, true, NULL, why);
    if (code == SEEN_OK && r->mapped)
        code = store_cells_map(f, r->fd, &front, PROT_READ,
                               MAP_PRIVATE | MAP_NORESERVE, &r->map, why);
    else if (code == SEEN_OK)
        code = store_cells_copy(f, r->fd, &front, check, why);
    if (code == SEEN_OK && r->lazy && r->map.base)
        madvise(r->map.base, r->map.len, MADV_RANDOM);
    r->uncounted = true;
    if (code == SEEN_OK)
        code = journal_open(&r->journal, &r->paths, &front.head, O_RDONLY,
                            why);
    if (code == SEEN_OK)
        code = note_blocks(r, &front, f, why);
    if (code == SEEN_OK && r->lazy)
        bound_counts(f);
    if (code == SEEN_OK)
        code = catch_up(r, f, why);
    if (code == SEEN_OK && r->blocks && !r->lazy)
        code = store_blocks_check_all(r->blocks, f, why);
    store_front_clear(&front);
    *out = f;
    return store_cells_kept(&r->map, code, why);
}

/* Has the file changed since it was read? */
static bool moved(const struct store_reader *r)
{
    unsigned char head[HEAD] = { 0 };
    int fd = r->fd >= 0 ? open(r->paths.path, O_RDONLY | O_CLOEXEC) : -1;
    bool same = fd < 0 || disk_read(fd, head, HEAD, 0, NULL) != SEEN_OK ||
                !memcmp(head, r->bytes, HEAD);

    if (fd >= 0)
        close(fd);
    return !same;
}

static enum seen_code read_whole(struct store_reader *r,
                                 struct seen_filter **out,
                                 const struct seen_access *options,
                                 struct seen_error *why)
{
    enum seen_code code;

    r->storage.release = release;
    r->storage.copied = !r->mapped;
    r->storage.before = r->mapped ? NULL : before;
    r->storage.after = after;
    r->storage.check = check;
    r->unverified = options && options->unverified;
    for (int tries = 0;; tries++) {
        bool again;
        int system;

        r->fd = r->journal.fd = -1;
        *out = NULL;
        code = read_once(r, out, options, why);
        system = errno;
        again = tries < TRIES && (code == SEEN_OK || code == SEEN_CORRUPT) &&
                moved(r);
        r->storage.lost = store_cells_lost(&r->map);
        if (!r->blocks) /* nothing waits for a check */
            r->storage.check = NULL;
        if (code == SEEN_OK && !again)
            return code;
        r->storage.check = check;
        reader_clear(r, *out);
        seen_filter_free(*out);
        *out = NULL;
        errno = system;
        if (!again)
            return code;
        nanosleep(&moment, NULL);
    }
}

static enum seen_code have(struct seen_filter **out, const char *path,
                           bool mapped, const struct seen_access *options,
                           struct seen_error *why)
{
    struct store_reader *r = calloc(1, sizeof *r);
    enum seen_code code;

    *out = NULL;
    if (r)
        r->path = strdup(path);
    if (!r || !r->path) {
        free(r);
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a reader");
    }
    r->mapped = mapped;
    code = read_whole(r, out, options, why);
    if (code == SEEN_OK)
        (*out)->storage = &r->storage;
    else
        reader_free(r);
    return code;
}

enum seen_code seen_store_load(struct seen_filter **out, const char *path,
                               const struct seen_access *options,
                               struct seen_error *why)
{
    return have(out, path, false, options, why);
}

enum seen_code seen_store_map(struct seen_filter **out, const char *path,
                              const struct seen_access *options,
                              struct seen_error *why)
{
    return have(out, path, true, options, why);
}

/* --- the checksums ------------------------------------------------------ */

/* The file is read again: the journal was already applied to a mapping. */
static enum seen_code verify_once(const struct store_reader *r, bool *moved_on,
                                  struct seen_error *why)
{
    unsigned char now[HEAD] = { 0 };
    struct store_front front;
    enum seen_code code = store_front_read(&front, r->fd, why);

    if (code == SEEN_OK && front.head.state != CHANGING)
        code = store_cells_read(r->fd, &front, true, NULL, why);
    *moved_on = disk_read(r->fd, now, HEAD, 0, NULL) == SEEN_OK &&
                memcmp(now, front.bytes, HEAD);
    store_front_clear(&front);
    return code;
}

enum seen_code seen_store_verify(const struct seen_filter *f,
                                 struct seen_error *why)
{
    const struct store_reader *r = reader_of(f);
    enum seen_code code = SEEN_OK;
    bool again = r;             /* else there is no file, or a writer has it */

    if (!r || r->blocks)
        return storage_check_all(f, why);
    for (int tries = 0; again && tries < TRIES; tries++) {
        code = verify_once(r, &again, why);
        again = again && code == SEEN_CORRUPT;
    }
    return code;
}

/* --- what writers have added since --------------------------------------- */

/*
 * Is the file as it was read, except for new records in its journal? The
 * journal is looked for first. If it was looked for last, a writer could
 * close the file between the two: the old file was still there, its journal
 * no longer is, and changes that it acknowledged before are in neither.
 */
static bool unmoved(const struct store_reader *r)
{
    unsigned char head[HEAD] = { 0 };

    return (r->journal.fd < 0 ? access(r->paths.journal, F_OK) != 0
                              : disk_same(r->journal.fd, r->paths.journal)) &&
           disk_same(r->fd, r->path) &&
           disk_read(r->fd, head, HEAD, 0, NULL) == SEEN_OK &&
           !memcmp(head, r->bytes, HEAD);
}

static enum seen_code read_new_records(struct store_reader *r,
                                       struct seen_filter *f, bool *changed,
                                       struct seen_error *why)
{
    struct stat it;
    uint64_t end = r->journal.end;
    enum seen_code code;

    if (r->journal.fd < 0)
        return SEEN_OK;
    if (fstat(r->journal.fd, &it))
        return seen_fail(why, SEEN_IO, 0,
                         "the size of its journal cannot be read");
    if ((uint64_t)it.st_size == end) {
        r->journal.left = 0;
        return SEEN_OK;
    }
    code = catch_up(r, f, why);
    *changed = r->journal.end != end;
    return store_cells_kept(&r->map, code, why);
}

/* A later state of the same filter differs only in cells and parts. */
static enum seen_code check_same(const struct seen_filter *f,
                                 const struct seen_filter *g,
                                 struct seen_error *why)
{
    if (!store_text_alike(f, g) || f->size != g->size)
        return seen_fail(why, SEEN_MISMATCH, 0,
                         "was replaced by another filter");
    return SEEN_OK;
}

/* A writer may be renewing file and log: then nothing is wrong. */
bool store_reader_grows(const struct seen_filter *f, struct seen_error *why)
{
    const struct store_reader *r = reader_of(f);

    if (!r) {
        seen_fail(why, SEEN_UNABLE, 0, "the filter is not in a file");
        return false;
    }
    return store_keys_look(&r->paths, f, &r->head, why) ||
           (seen_store_keeps(f) && !unmoved(r));
}

static void swap(void *a, void *b, size_t len)
{
    unsigned char *x = a, *y = b;

    for (size_t i = 0; i < len; i++) {
        unsigned char t = x[i];

        x[i] = y[i];
        y[i] = t;
    }
}
#define SWAP(a, b) swap(&(a), &(b), sizeof(a))

static void take_over(struct seen_filter *f, struct seen_filter *g)
{
    SWAP(f->cells, g->cells);
    SWAP(f->set, g->set);
    SWAP(f->limit, g->limit);
    SWAP(f->part, g->part);
    SWAP(f->parts, g->parts);
    SWAP(f->offered, g->offered);
    SWAP(f->meta, g->meta);
    SWAP(f->storage, g->storage);
    f->plan.over = g->plan.over;
    f->plan.keys = g->plan.keys;
    f->traits = g->traits;
    if (f->kind->renew)
        f->kind->renew(f);
}

static enum seen_code read_anew(struct store_reader *r, struct seen_filter *f,
                                struct seen_error *why)
{
    struct seen_access options = {
        .secret = filter_secret(f),
        .profile = f->plan.profile,
        .unverified = r->unverified,
        .lazy = r->lazy,
    };
    struct seen_filter *g = NULL;
    enum seen_code code;

    code = (r->mapped ? seen_store_map : seen_store_load)(&g, r->path,
                                                          &options, why);
    if (code == SEEN_OK)
        code = check_same(f, g, why);
    if (code == SEEN_OK && f->stripes)
        code = seen_filter_allow_threads(g, why);
    if (code == SEEN_OK)
        take_over(f, g);
    seen_filter_free(g);
    return code;
}

enum seen_code seen_store_refresh(struct seen_filter *f, bool *changed,
                                  struct seen_error *why)
{
    struct store_reader *r = reader_of(f);
    enum seen_code code;
    bool unasked;

    changed = changed ? changed : &unasked;
    *changed = false;
    if (!r)
        return seen_fail(why, SEEN_UNABLE, 0,
                         "the filter was not read from a file");
    if (r->changed)
        return seen_fail(
            why, SEEN_UNABLE, 0,
            "the copy was changed and no longer follows its file");
    if (unmoved(r)) {
        code = store_cells_kept(&r->map, SEEN_OK, why);
        return code == SEEN_OK ? read_new_records(r, f, changed, why) : code;
    }
    *changed = true;
    return read_anew(r, f, why);
}
