/*
 * writer_add.c - adding to a file: journal first, cells after it.
 *
 * A thread is adding from store_writer_before() to store_writer_after(). A
 * checkpoint lets no thread begin and waits until none is adding, so that all
 * records are in the cells before they are dropped from the journal. If
 * several threads wait for a flush of the journal, one flush serves all whose
 * records were written by then.
 *
 * A thread that must not wait holds the writer first: it counts as adding from
 * then on, so no checkpoint begins. One that is about to begin waits for it,
 * and it does not wait for that one (is_held()).
 *
 * A failed flush is final. The system may have dropped the pages that it could
 * not write, so that a second flush succeeds and proves nothing. From then on
 * every change is refused, and file and journal stay as they are on the disk
 * for the next writer.
 */
#include "writer.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

#include "../disk/disk.h"
#include "../filter/cells.h"
#include "grow.h"
#include "sieve.h"

enum { FEW = 1024 }; /* keys, in the middle of which nothing need grow */

enum seen_code store_writer_refuse(struct store_writer *w,
                                   struct seen_error *why)
{
    errno = w->failed;
    return seen_fail(why, SEEN_IO, 0,
                     "is read-only since a flush to the disk failed");
}

/* Flush the first `end` bytes of the journal, or all if it is shorter. The
   journal is not replaced while `flushing` is held. */
static enum seen_code flush_to(struct store_writer *w, uint64_t end,
                               struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    uint64_t written, flushed;
    int failed;

    pthread_mutex_lock(&w->flushing);
    pthread_mutex_lock(&w->mutex);
    written = w->journal.end;
    flushed = w->journal.flushed;
    failed = w->failed;
    pthread_mutex_unlock(&w->mutex);

    if (failed) {
        code = store_writer_refuse(w, why);
    } else if (flushed < (end < written ? end : written)) {
        code = disk_flush(w->journal.fd, why);
        if (code == SEEN_OK)
            code = journal_promise(&w->journal, written, why);
        pthread_mutex_lock(&w->mutex);
        if (code == SEEN_OK)
            w->journal.flushed = written;
        else
            w->failed = errno ? errno : EIO;
        pthread_mutex_unlock(&w->mutex);
    }
    pthread_mutex_unlock(&w->flushing);
    return code;
}

static void leave(struct store_writer *w)
{
    if (--w->adding == 0)
        pthread_cond_broadcast(&w->idle);
}

/* Is the leaf full that gets this key? Of several, if all are. */
static bool full(const struct seen_filter *f, const struct seen_key *key)
{
    unsigned parts = seen_filter_parts(f), part = 0;
    bool all = parts;

    if (!f->kind->combines)
        return (f->kind->filled ? f->kind->filled(f) : set_cells(f)) >=
               f->limit;
    switch (f->kind->target) {
    case SEEN_TO_ONE:
        return f->kind->route &&
               f->kind->route(f, key, 1, &part, NULL) == SEEN_OK &&
               part < parts && full(f->part[part], key);
    case SEEN_TO_LAST:
        return parts && parts == f->room && full(f->part[parts - 1], key);
    case SEEN_TO_ALL:
        for (unsigned i = 0; i < parts && all; i++)
            all = full(f->part[i], key);
    }
    return all;
}

/*
 * Refuse what the filter would refuse as a whole, before anything is written:
 * a change that it cannot make must not reach the journal, and one that would
 * be undone at once costs a record, a flush and the time of the file. If only
 * a later key of the batch is refused, the filter says so.
 */
static enum seen_code check_first(const struct store_writer *w, bool remove,
                                  const struct seen_key *key, size_t n,
                                  struct seen_error *why)
{
    const struct seen_filter *f = w->f;
    bool seen = true;

    if (!seen_filter_can(f, remove ? SEEN_CAN_REMOVE : SEEN_CAN_ADD))
        return seen_fail(why, SEEN_UNABLE, 0, "%s cannot be changed like this",
                         f->plan.kind);
    if (!n || (!remove && !full(f, key)) ||
        f->kind->has(f, key, 1, &seen, NULL) != SEEN_OK || seen)
        return SEEN_OK;
    if (remove)
        return seen_fail(why, SEEN_ABSENT, 0, "the count of the key is 0");
    if (w->keys.kept) /* and not whole: one that is has no limit */
        return seen_fail(why, SEEN_FULL, 0,
                         "the filter holds all it was planned for, and "
                         "cannot grow: %s",
                         w->keys.lost.text);
    return seen_fail(why, SEEN_FULL, 0,
                     "the filter holds all it was planned for");
}

/* Does this thread hold the writer? The mutex is locked. */
static bool is_held(const struct store_writer *w)
{
    return w->held && pthread_equal(w->holder, pthread_self());
}

/* Lock the mutex when nobody is excluded and the journal has begun. */
static enum seen_code enter(struct store_writer *w, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    pthread_mutex_lock(&w->mutex);
    for (;;) {
        while (w->exclusive && !is_held(w))
            pthread_cond_wait(&w->idle, &w->mutex);
        if (code != SEEN_OK)
            return code;
        if (w->failed)
            return store_writer_refuse(w, why);
        code = store_cells_kept(&w->map, SEEN_OK, why);
        if (code != SEEN_OK)
            return code;
        if (w->begun)
            return SEEN_OK;
        pthread_mutex_unlock(&w->mutex);
        store_writer_exclude(w);
        code = store_checkpoint_begin(w, why);
        store_writer_admit(w);
        pthread_mutex_lock(&w->mutex);
    }
}

enum seen_code store_writer_before(struct seen_storage *s, bool remove,
                                   const struct seen_key *key, size_t n,
                                   uint64_t *first, struct seen_error *why)
{
    struct store_writer *w = (struct store_writer *)s;
    enum seen_code code = SEEN_OK;
    uint64_t end;

    if (w->blocks)
        code = store_blocks_change(w->blocks, w->f, key, n, why);
    if (code == SEEN_OK)
        code = check_first(w, remove, key, n, why);
    if (code != SEEN_OK)
        return code;
    code = enter(w, why);
    *first = w->journal.last + 1;
    if (code == SEEN_OK)
        code = journal_append(&w->journal, remove,
                              w->f->traits & SEEN_READS_TEXT, key, n, why);
    if (code == SEEN_OK && w->keys.kept)
        store_keys_note(&w->keys, *first, key, n);
    end = w->journal.end;
    w->adding += code == SEEN_OK;
    if (code == SEEN_OK)
        w->changed_at = (int64_t)time(NULL);
    pthread_mutex_unlock(&w->mutex);
    if (code != SEEN_OK || w->sync != SEEN_SYNC_ALWAYS)
        return code;

    code = flush_to(w, end, why);
    if (code != SEEN_OK) {
        pthread_mutex_lock(&w->mutex);
        leave(w);
        pthread_mutex_unlock(&w->mutex);
    }
    return code;
}

void store_writer_exclude(struct store_writer *w)
{
    pthread_mutex_lock(&w->mutex);
    while (w->exclusive)
        pthread_cond_wait(&w->idle, &w->mutex);
    w->exclusive = true;
    while (w->adding)
        pthread_cond_wait(&w->idle, &w->mutex);
    pthread_mutex_unlock(&w->mutex);
    pthread_mutex_lock(&w->flushing);
}

void store_writer_admit(struct store_writer *w)
{
    pthread_mutex_unlock(&w->flushing);
    pthread_mutex_lock(&w->mutex);
    w->exclusive = false;
    pthread_cond_broadcast(&w->idle);
    pthread_mutex_unlock(&w->mutex);
}

/*
 * How long a journal may get. If a checkpoint rewrites the file, the limit is
 * the length of the filter, so that a byte of journal costs a byte of file.
 */
void store_writer_limit(struct store_writer *w)
{
    const uint64_t mega = 1 << 20, length = seen_filter_bytes(w->f);

    w->most = 4 * length < 256 * mega ? 4 * length : 256 * mega;
    if (!w->in_place && w->most < length)
        w->most = length;
    if (w->most < mega)
        w->most = mega;
}

/* If the checkpoint fails, the next one comes at twice the length. */
static void shorten(struct store_writer *w)
{
    uint64_t end;

    store_writer_exclude(w);
    end = w->journal.end;
    if (end > w->most && !w->failed) {
        store_writer_limit(w);                 /* the filter may have grown */
        if (end > w->most && store_checkpoint(w, false, NULL) != SEEN_OK)
            w->most = 2 * end;
    }
    store_writer_admit(w);
}

/* Replace the filter, if only this thread uses it, and the log. */
static void exchange(struct store_writer *w)
{
    store_writer_exclude(w);
    if (store_grow_due(w) && !w->f->stripes)
        store_grow_swap(w, NULL);
    if (store_sieve_due(w))
        store_sieve_swap(w);
    store_writer_admit(w);
}

void store_writer_after(struct seen_storage *s, uint64_t first, size_t n,
                        size_t done)
{
    struct store_writer *w = (struct store_writer *)s;
    bool late, grows, due;

    pthread_mutex_lock(&w->mutex);
    /* If this fails, or the cells are lost, a replay adds them. */
    if (done < n && !w->failed &&
        store_cells_kept(&w->map, SEEN_OK, NULL) == SEEN_OK)
        journal_undo(&w->journal, first + done, n - done, NULL);
    late = w->journal.end > w->most && !is_held(w);
    grows = w->keys.kept && !is_held(w) &&
            (store_grow_wanted(w) || store_sieve_wanted(w));
    if (grows) {
        pthread_mutex_unlock(&w->mutex);
        store_grow_work(w, n);
        pthread_mutex_lock(&w->mutex);
    }
    due = grows &&
          ((!w->f->stripes && store_grow_due(w)) || store_sieve_due(w));
    leave(w);
    pthread_mutex_unlock(&w->mutex);
    if (late)
        shorten(w);
    if (due)
        exchange(w);
}

/* Is there a journal with room for n keys, and is it open for writing? */
static bool has_room(const struct store_writer *w, size_t n)
{
    return w->begun && n < w->most / (2 * sizeof(uint64_t)) &&
           w->journal.end + RECORD_LEAST + n * 2 * sizeof(uint64_t) <= w->most;
}

/*
 * A write to a file that is being flushed may wait for the disk, so it is left
 * to others then; and so is a filter that grows by itself, or should grow
 * first. A flush that begins after this question is not waited for: it has
 * nothing to do with the pages that are written now.
 */
bool store_writer_hold(struct store_writer *w, size_t n)
{
    bool can = w->sync != SEEN_SYNC_ALWAYS && !w->blocks;

    if (!can || pthread_mutex_trylock(&w->flushing))
        return false;
    pthread_mutex_unlock(&w->flushing);
    if (pthread_mutex_trylock(&w->mutex))
        return false;
    can = !w->exclusive && !w->held && !w->failed && has_room(w, n) &&
          (!w->keys.kept || (w->f->stripes && n <= FEW &&
                             !store_grow_wanted(w) && !store_sieve_wanted(w)));
    if (can) {
        w->held = true;
        w->holder = pthread_self();
        w->adding++;
    }
    pthread_mutex_unlock(&w->mutex);
    return can;
}

void store_writer_release(struct store_writer *w)
{
    pthread_mutex_lock(&w->mutex);
    w->held = false;
    leave(w);
    pthread_mutex_unlock(&w->mutex);
}

/* It also flushes the last record of a writer that is idle. */
static void *ticker(void *arg)
{
    struct store_writer *w = arg;
    struct timespec until;

    pthread_mutex_lock(&w->mutex);
    while (!w->stop) {
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec++;
        while (!w->stop &&
               !pthread_cond_timedwait(&w->tick, &w->mutex, &until))
            ;
        pthread_mutex_unlock(&w->mutex);
        flush_to(w, UINT64_MAX, NULL);
        pthread_mutex_lock(&w->mutex);
    }
    pthread_mutex_unlock(&w->mutex);
    return NULL;
}

enum seen_code store_writer_tick(struct store_writer *w,
                                 struct seen_error *why)
{
    sigset_t all, old;
    int failed;

    sigfillset(&all);                   /* signals are for the threads of the program */
    pthread_sigmask(SIG_SETMASK, &all, &old);
    failed = pthread_create(&w->ticker, NULL, ticker, w);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    w->ticking = !failed;
    errno = failed;
    if (failed)
        return seen_fail(why, SEEN_IO, 0, "no thread to flush the journal");
    return SEEN_OK;
}

void store_writer_stop(struct store_writer *w)
{
    if (!w->ticking)
        return;
    pthread_mutex_lock(&w->mutex);
    w->stop = true;
    pthread_cond_signal(&w->tick);
    pthread_mutex_unlock(&w->mutex);
    pthread_join(w->ticker, NULL);
    w->ticking = false;
}
