/*
 * writer.c - a filter open for writing: from a file to a writer, and back.
 *
 * The lock comes first, so that there is one writer. Then the file is read.
 * If a killed writer left a journal, the changes that the file lacks are
 * applied, and new records are appended to the same journal. Otherwise the
 * first change begins one: until then nothing is written, so a file that is
 * opened and closed keeps its time.
 */
#include "writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <seen/kind.h>

#include "../filter/build.h"
#include "../filter/tree.h"
#include "../disk/disk.h"
#include "../disk/lock.h"
#include "grow.h"
#include "meta.h"
#include "reader.h"
#include "sieve.h"

/* Seal the file; then its journal is no longer needed. */
static enum seen_code finish(struct store_writer *w, struct seen_error *why)
{
    enum seen_code code;

    store_writer_stop(w);
    store_writer_exclude(w);
    if (store_grow_due(w) || store_grow_full(w))
        store_grow_swap(w, NULL); /* or the next writer does */
    store_grow_cancel(w);
    code = store_checkpoint(w, true, why);
    if (code == SEEN_OK)
        store_sieve_end(w);
    if (code == SEEN_OK)
        unlink(w->paths.journal); /* one that belonged to another file */
    store_writer_admit(w);
    return code;
}

static void writer_free(struct store_writer *w)
{
    int system = errno;

    store_writer_stop(w);
    store_grow_cancel(w);
    store_sieve_cancel(w);
    if (w->f)
        store_cells_unmap(w->f, &w->map);
    store_blocks_free(w->blocks);
    journal_close(&w->journal);
    store_keys_close(&w->keys);
    if (w->fd >= 0)
        close(w->fd);
    lock_release(w->lock, w->paths.lock);
    store_paths_clear(&w->paths);
    free(w->text);
    store_meta_free(w->metas);
    pthread_cond_destroy(&w->tick);
    pthread_cond_destroy(&w->idle);
    pthread_mutex_destroy(&w->flushing);
    pthread_mutex_destroy(&w->growing);
    pthread_mutex_destroy(&w->mutex);
    free(w);
    errno = system;
}

static void release(struct seen_storage *s, struct seen_filter *f)
{
    struct store_writer *w = (struct store_writer *)s;

    (void)f;
    finish(w, NULL);
    writer_free(w);
}

static enum seen_code check(struct seen_storage *s,
                            const struct seen_filter *f,
                            const struct seen_key *key, size_t n, bool under,
                            struct seen_error *why)
{
    struct store_blocks *blocks = ((struct store_writer *)s)->blocks;

    if (!blocks)
        return SEEN_OK;
    return key ? store_blocks_check(blocks, f, key, n, under, why)
               : store_blocks_check_all(blocks, f, why);
}

static struct store_writer *writer_of(const struct seen_filter *f)
{
    if (!f->storage || f->storage->release != release)
        return NULL;
    return (struct store_writer *)f->storage;
}

static struct store_writer *writer_new(void)
{
    struct store_writer *w = calloc(1, sizeof *w);
    pthread_condattr_t clock;

    if (!w)
        return NULL;
    w->storage.before = store_writer_before;
    w->storage.after = store_writer_after;
    w->storage.check = check;
    w->storage.release = release;
    w->lock = w->fd = w->next = w->journal.fd = w->keys.fd = -1;
    pthread_mutex_init(&w->mutex, NULL);
    pthread_mutex_init(&w->flushing, NULL);
    pthread_mutex_init(&w->growing, NULL);
    pthread_cond_init(&w->idle, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&w->tick, &clock);
    pthread_condattr_destroy(&clock);
    return w;
}

/* Bits only, and no part will be added: setting a bit twice is harmless. */
static bool only_sets_bits(const struct seen_filter *f)
{
    if (!f->kind->combines)
        return f->cell_bits == 1 && f->traits & SEEN_CAN_ADD;
    for (unsigned i = 0; i < f->parts; i++)
        if (!only_sets_bits(f->part[i]))
            return false;
    return f->parts == f->room;
}

/* Kinds that count cells to know when they are full read all of them. */
static bool counts_itself(const struct seen_filter *f)
{
    bool counts = f->kind->filled;

    for (unsigned i = 0; i < f->parts && !counts; i++)
        counts = counts_itself(f->part[i]);
    return counts;
}

/*
 * May blocks be checked one by one? checkpoint.c explains why changes must be
 * flushed one by one then, and why a journal must not be there yet.
 */
static bool lazily(const struct store_writer *w,
                   const struct seen_access *options)
{
    return options && options->lazy && !options->unverified &&
           options->sync == SEEN_SYNC_ALWAYS && w->head.format > 1 &&
           w->head.state == SEALED && store_blocks_able(w->f) &&
           !counts_itself(w->f) && access(w->paths.journal, F_OK);
}

/* Read plan and cells. Filters that are not changed in place are copied. */
static enum seen_code read_file(struct store_writer *w,
                                const struct store_front *front,
                                const struct seen_access *options,
                                struct seen_error *why)
{
    bool check = !(options && options->unverified) &&
                 front->head.state != CHANGING;
    enum seen_code code = store_plan_read(&w->f, front, options, why);
    bool lazy;

    if (code != SEEN_OK)
        return code;
    w->in_place = only_sets_bits(w->f) && sysconf(_SC_PAGESIZE) <= CELLS_ALIGN;
    if (!w->in_place && front->head.state == CHANGING)
        return seen_fail(why, SEEN_UNABLE, 0,
                         "was changed in place on another machine, and must "
                         "be sealed there");
    if (!w->in_place)
        return store_cells_copy(w->f, w->fd, front, check, why);
    lazy = lazily(w, options);
    if (check && !lazy)
        code = store_cells_read(w->fd, front, true, NULL, why);
    if (code == SEEN_OK)
        code = disk_fill_holes(w->fd, front->head.cells_at,
                               front->head.cells_len, why);
    if (code == SEEN_OK)
        code = store_cells_map(w->f, w->fd, front, PROT_READ | PROT_WRITE,
                               MAP_SHARED, &w->map, why);
    if (code == SEEN_OK && lazy && w->map.base)
        madvise(w->map.base, w->map.len, MADV_RANDOM);
    if (code == SEEN_OK && lazy)
        code = store_blocks_new(&w->blocks, w->fd, front, w->f, NULL, why);
    return code;
}

/* Continue the journal behind its last complete record. */
static enum seen_code continue_journal(struct store_writer *w,
                                       struct seen_error *why)
{
    enum seen_code code;

    if (w->journal.last < w->head.applied) /* its end never reached the disk */
        return store_checkpoint_journal(w, why);
    if (ftruncate(w->journal.fd, (off_t)w->journal.end))
        return seen_fail(why, SEEN_IO, 0, "its journal cannot be truncated");
    code = disk_flush(w->journal.fd, why);
    if (code == SEEN_OK)
        code = journal_promise(&w->journal, w->journal.end, why);
    w->journal.flushed = w->journal.end;
    return code;
}

/*
 * After a lazy writer: its journal says which blocks it changed. All others
 * must be sound, or they would get new checksums when the file is sealed.
 */
static enum seen_code note_blocks(struct store_writer *w,
                                  const struct store_front *front,
                                  struct seen_error *why)
{
    if (!journal_is_lazy(&w->journal, &w->head))
        return SEEN_OK;
    if (!store_blocks_able(w->f))
        return store_blocks_unable(w->f, why);
    return store_blocks_new(&w->blocks, w->fd, front, w->f, NULL, why);
}

static enum seen_code check_rest(struct store_writer *w,
                                 struct seen_error *why)
{
    enum seen_code code = store_blocks_check_all(w->blocks, w->f, why);

    store_blocks_free(w->blocks);
    w->blocks = NULL;
    return code;
}

/* Apply the journal that a killed writer left. If there is none, the first
   change begins one. */
static enum seen_code take_journal(struct store_writer *w,
                                   const struct store_front *front,
                                   struct seen_error *why)
{
    enum seen_code code = journal_open(&w->journal, &w->paths, &w->head,
                                       O_RDWR, why);
    struct stat journal;
    bool lazy;

    if (code != SEEN_OK || w->journal.fd < 0)
        return code;
    if (w->head.state == CHANGING) {
        code = note_blocks(w, front, why);
        store_cells_recount(w->f);
    }
    if (code == SEEN_OK && w->in_place) /* then this changes the file */
        code = store_checkpoint_begin(w, why);
    if (code == SEEN_OK)
        code = journal_replay(&w->journal, w->f, w->head.applied, w->blocks,
                              why);
    code = store_cells_kept(&w->map, code, why); /* before it is dropped */
    w->dropped = w->journal.left;
    if (code == SEEN_OK && w->journal.last > w->head.applied &&
        !fstat(w->journal.fd, &journal))
        w->changed_at = (int64_t)journal.st_mtime;
    lazy = w->journal.version == JOURNAL_LAZY;
    if (code == SEEN_OK && w->blocks)
        code = check_rest(w, why);
    if (code == SEEN_OK)
        code = continue_journal(w, why);
    if (code == SEEN_OK)
        code = store_checkpoint_begin(w, why);
    return code == SEEN_OK && lazy ? store_checkpoint_settle(w, why) : code;
}

static enum seen_code open_at(struct store_writer *w, const char *path,
                              const struct seen_access *options,
                              struct seen_error *why)
{
    struct store_front front;
    enum seen_code code = store_paths_init(&w->paths, path, why);

    if (code != SEEN_OK)
        return code;
    if (access(w->paths.path, F_OK)) /* before a lock file is made */
        return seen_fail(why, SEEN_IO, 0, "cannot be opened");
    code = store_lock(&w->paths, &w->lock, why);
    if (code != SEEN_OK)
        return code;
    w->fd = open(w->paths.path, O_RDWR | O_CLOEXEC);
    if (w->fd < 0)
        return seen_fail(why, SEEN_IO, 0, "cannot be opened for writing");
    code = store_front_read(&front, w->fd, why);
    if (code != SEEN_OK)
        return code;
    w->head = front.head;
    w->sealable = front.head.state != CHANGING;
    w->damaged = front.damaged;
    w->text = strdup(front.text);
    if (!w->text)
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for a text");
    if (code == SEEN_OK)
        code = read_file(w, &front, options, why);
    if (code == SEEN_OK)
        code = store_keys_open(&w->keys, &w->paths, w->f, &w->head, why);
    if (code == SEEN_OK)
        code = take_journal(w, &front, why);
    if (code == SEEN_OK)
        store_keys_follow(&w->keys, w->f, &w->journal, NULL); /* or later */
    store_front_clear(&front);
    code = store_cells_kept(&w->map, code, why);
    if (code != SEEN_OK)
        return code;
    w->storage.lost = store_cells_lost(&w->map);
    store_writer_limit(w);
    w->settled = (w->journal.fd >= 0 ? w->journal.last : w->head.applied) +
                 w->f->plan.capacity / 64;
    w->over = options && options->over;
    if (w->over || (w->keys.kept && w->keys.whole))
        filter_lift(w->f);
    w->sync = options ? options->sync : SEEN_SYNC_ALWAYS;
    return w->sync == SEEN_SYNC_EVERYSEC ? store_writer_tick(w, why) : SEEN_OK;
}

enum seen_code seen_store_open(struct seen_filter **out, const char *path,
                               const struct seen_access *options,
                               struct seen_error *why)
{
    struct store_writer *w = writer_new();
    struct seen_filter *f;
    enum seen_code code;

    *out = NULL;
    if (!w)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a writer");
    code = open_at(w, path, options, why);
    f = w->f;
    if (code != SEEN_OK) {
        int system = errno;

        writer_free(w);
        seen_filter_free(f);
        errno = system;
        return code;
    }
    f->storage = &w->storage;
    *out = f;
    return SEEN_OK;
}

enum seen_code seen_store_checkpoint(struct seen_filter *f,
                                     struct seen_error *why)
{
    struct store_writer *w = writer_of(f);
    enum seen_code code;

    if (!w)
        return seen_fail(why, SEEN_UNABLE, 0,
                         "the filter is not open for writing");
    store_writer_exclude(w);
    code = store_checkpoint(w, false, why);
    store_writer_admit(w);
    return code;
}

enum seen_code seen_store_keep_keys(struct seen_filter *f,
                                    struct seen_error *why)
{
    if (f->storage || seen_filter_offered(f) || seen_filter_cells_set(f))
        return seen_fail(why, SEEN_UNABLE, 0,
                         "keys are kept from the beginning: the filter must "
                         "be empty and not be in a file");
    if (!store_keys_suit(f))
        return seen_fail(why, SEEN_UNABLE, 0,
                         "%s cannot keep its keys: only filters of bits with "
                         "a capacity and a rate that get no new parts and "
                         "read no text can",
                         f->plan.kind);
    return seen_meta_set(f, KEYS_META, "1", why);
}

bool seen_store_keeps(const struct seen_filter *f)
{
    return seen_meta_get(f, KEYS_META) != NULL;
}

bool seen_store_grows(const struct seen_filter *f, struct seen_error *why)
{
    struct store_writer *w = f ? writer_of(f) : NULL;
    struct seen_error lost;

    if (f && !w)
        return store_reader_grows(f, why);
    if (!w || !w->keys.kept) {
        seen_fail(why, SEEN_UNABLE, 0, "the filter does not keep its keys");
        return false;
    }
    pthread_mutex_lock(&w->mutex);
    lost = w->keys.lost;
    pthread_mutex_unlock(&w->mutex);
    if (lost.code != SEEN_OK && why)
        *why = lost;
    return lost.code == SEEN_OK;
}

enum seen_code seen_store_grow(struct seen_filter *f, bool *grown,
                               struct seen_error *why)
{
    struct store_writer *w = writer_of(f);
    enum seen_code code = SEEN_OK;
    bool wanted;

    if (grown)
        *grown = false;
    if (!w)
        return seen_fail(why, SEEN_UNABLE, 0,
                         "the filter is not open for writing");
    store_writer_exclude(w);
    wanted = store_grow_due(w) || store_grow_full(w);
    if (wanted)
        code = store_grow_swap(w, why);
    store_writer_admit(w);
    if (grown)
        *grown = wanted && code == SEEN_OK;
    return code;
}

bool seen_store_outgrown(const struct seen_filter *f)
{
    struct store_writer *w = f ? writer_of(f) : NULL;
    bool wanted = false;

    if (!w || !w->keys.kept)
        return false;
    pthread_mutex_lock(&w->mutex);
    wanted = !w->exclusive && store_grow_due(w);
    pthread_mutex_unlock(&w->mutex);
    return wanted;
}

enum seen_code seen_store_keys(struct seen_filter *f, seen_key_taker take,
                               void *to, struct seen_error *why)
{
    struct store_writer *w = writer_of(f);
    enum seen_code code;

    if (!w || !w->keys.kept || !w->keys.whole)
        return seen_fail(why, SEEN_UNABLE, 0, "%s",
                         w && w->keys.kept
                             ? w->keys.lost.text
                             : "the filter does not keep its keys");
    store_writer_exclude(w);
    code = store_keys_each(&w->keys, w->f, &w->journal, take, to, why);
    store_writer_admit(w);
    return code;
}

/* Keys on their way to a builder, which has not counted them. */
struct store_rebuild {
    struct seen_build *build;
    uint64_t offered;
};

static enum seen_code give(void *to, const struct seen_key *key, size_t n,
                           struct seen_error *why)
{
    struct store_rebuild *r = to;

    r->offered += filter_build_offered(key, n);
    return filter_build_hashed(r->build, 0, key, n, why);
}

enum seen_code seen_store_rebuild(struct seen_filter *f,
                                  const struct seen_plan *plan,
                                  struct seen_filter **out,
                                  struct seen_error *why)
{
    const unsigned char *secret = filter_secret(f);
    struct store_rebuild r = { NULL, 0 };
    enum seen_code code;

    *out = NULL;
    if (strcmp(plan->profile, f->plan.profile) != 0)
        return seen_fail(why, SEEN_MISMATCH, 0, "its keys have profile %s",
                         f->plan.profile);
    if (f->plan.keyed && !secret)
        return seen_fail(why, SEEN_MISMATCH, 0,
                         "the filter is keyed, and its key was not given");
    if (seen_kind_can(plan->kind, SEEN_READS_TEXT))
        return seen_fail(why, SEEN_UNABLE, 0,
                         "%s needs the text of URLs, and only 16 bytes of "
                         "each are kept",
                         plan->kind);
    code = seen_build_new_keyed(&r.build, plan, f->plan.keyed ? secret : NULL,
                                1, why);
    if (code == SEEN_OK)
        code = seen_store_keys(f, give, &r, why);
    if (code == SEEN_OK) {
        code = seen_build_finish(r.build, out, why);
        r.build = NULL;
    }
    if (code == SEEN_OK)
        (*out)->offered = r.offered;
    seen_build_free(r.build);
    return code;
}

enum seen_code seen_store_forget_keys(struct seen_filter *f,
                                      struct seen_error *why)
{
    struct store_writer *w = writer_of(f);
    enum seen_code code;

    if (!w || !w->keys.kept)
        return seen_fail(why, SEEN_UNABLE, 0,
                         "the filter does not keep its keys");
    store_writer_exclude(w);
    store_grow_cancel(w);
    store_sieve_cancel(w);
    code = store_keys_forget(&w->keys, &w->paths, why);
    if (code == SEEN_OK)
        code = seen_meta_set(f, KEYS_META, NULL, why);
    store_writer_admit(w);
    return code;
}

bool seen_store_current(const struct seen_filter *f)
{
    struct store_writer *w = f ? writer_of(f) : NULL;
    struct stat it;
    bool current;

    if (!w)
        return false;
    /* A checkpoint may be replacing the file: from the rename on, the path
       leads to `next`, and some milliseconds later that is the file. */
    pthread_mutex_lock(&w->mutex);
    current = disk_same(w->fd, w->paths.path)
                  ? !fstat(w->fd, &it) &&
                        (uint64_t)it.st_size >=
                            w->head.cells_at + w->head.cells_len
                  : w->next >= 0 && disk_same(w->next, w->paths.path);
    pthread_mutex_unlock(&w->mutex);
    return current;
}

bool seen_store_hold(struct seen_filter *f, size_t n)
{
    struct store_writer *w = f ? writer_of(f) : NULL;

    return w && store_writer_hold(w, n);
}

void seen_store_release(struct seen_filter *f)
{
    store_writer_release(writer_of(f));
}

bool seen_store_warning(const struct seen_filter *f, struct seen_error *what)
{
    const struct store_writer *w = writer_of(f);
    bool damaged = w && w->damaged;
    uint64_t left = w ? w->dropped : 0;

    if (!w)
        store_reader_flaws(f, &damaged, &left);
    if (left)
        seen_fail(what, SEEN_CORRUPT, 0,
                  "the last %llu bytes of its journal are not a complete "
                  "record and were left out: a change that was not "
                  "acknowledged, or damage",
                  (unsigned long long)left);
    else if (damaged)
        seen_fail(what, SEEN_CORRUPT, 0,
                  "one of its two heads is damaged; the other one is used, "
                  "and the next change repairs it");
    return left || damaged;
}

void seen_store_abandon(struct seen_filter *f)
{
    struct store_writer *w = f ? writer_of(f) : NULL;

    if (w) {
        writer_free(w);
        f->storage = NULL;
    }
    seen_filter_free(f);
}

enum seen_code seen_store_close(struct seen_filter *f, struct seen_error *why)
{
    struct store_writer *w = f ? writer_of(f) : NULL;
    enum seen_code code = SEEN_OK;

    if (w) {
        code = finish(w, why);
        writer_free(w);
        f->storage = NULL;
    }
    seen_filter_free(f);
    return code;
}
