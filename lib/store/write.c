/*
 * write.c - adding to a file: journal first, cells after it.
 *
 * Whoever adds is inside from write_before() to write_after(); a checkpoint
 * bars the door and waits until nobody is, so that what is in the journal is
 * in the cells when it is dropped from the journal. Of those who wait for a
 * flush of the journal, the first one's serves all whose records were
 * written by then.
 *
 * A flush that failed is final. The system may have dropped the very pages
 * that it could not write, so that a second try succeeds and means nothing;
 * from then on every change is refused, and the file stays as it is on the
 * disk, with its journal, for the next writer.
 */
#define _POSIX_C_SOURCE 200809L         /* pthread clocks, sigset_t */
#include "writer.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

#include "../disk/disk.h"

enum seen_code write_refuse(struct writer *w, struct seen_error *why)
{
    errno = w->failed;
    return seen_fail(why, SEEN_IO, 0,
                     "is read-only since a flush to the disk failed");
}

/* Have the disk hold the first `end` bytes of the journal, or all of it. */
static enum seen_code flush_to(struct writer *w, uint64_t end,
                               struct seen_error *why)
{
    enum seen_code code = SEEN_OK;
    uint64_t written, flushed;
    int fd, failed;

    pthread_mutex_lock(&w->flushing);
    pthread_mutex_lock(&w->turn);
    written = w->journal.end;
    flushed = w->journal.flushed;
    fd = w->journal.fd;
    failed = w->failed;
    pthread_mutex_unlock(&w->turn);

    if (failed) {
        code = write_refuse(w, why);
    } else if (flushed < (end < written ? end : written)) {
        code = disk_flush(fd, why);
        pthread_mutex_lock(&w->turn);
        if (code == SEEN_OK)
            w->journal.flushed = written;
        else
            w->failed = errno ? errno : EIO;
        pthread_mutex_unlock(&w->turn);
    }
    pthread_mutex_unlock(&w->flushing);
    return code;
}

static void leave(struct writer *w)
{
    if (--w->inside == 0)
        pthread_cond_broadcast(&w->calm);
}

enum seen_code write_before(struct seen_keeper *k, bool remove,
                            const struct seen_key *key, size_t n,
                            uint64_t *first, struct seen_error *why)
{
    struct writer *w = (struct writer *)k;
    enum seen_code code;
    uint64_t end;

    pthread_mutex_lock(&w->turn);
    while (w->barred)
        pthread_cond_wait(&w->calm, &w->turn);
    *first = w->journal.last + 1;
    if (w->failed)
        code = write_refuse(w, why);
    else
        code = journal_append(&w->journal, remove,
                              w->f->traits & SEEN_READS_TEXT, key, n, why);
    end = w->journal.end;
    w->inside += code == SEEN_OK;
    pthread_mutex_unlock(&w->turn);
    if (code != SEEN_OK || w->sync != SEEN_SYNC_ALWAYS)
        return code;

    code = flush_to(w, end, why);
    if (code != SEEN_OK) {
        pthread_mutex_lock(&w->turn);
        leave(w);
        pthread_mutex_unlock(&w->turn);
    }
    return code;
}

void write_bar(struct writer *w)
{
    pthread_mutex_lock(&w->turn);
    while (w->barred)
        pthread_cond_wait(&w->calm, &w->turn);
    w->barred = true;
    while (w->inside)
        pthread_cond_wait(&w->calm, &w->turn);
    pthread_mutex_unlock(&w->turn);
    pthread_mutex_lock(&w->flushing);
}

void write_unbar(struct writer *w)
{
    pthread_mutex_unlock(&w->flushing);
    pthread_mutex_lock(&w->turn);
    w->barred = false;
    pthread_cond_broadcast(&w->calm);
    pthread_mutex_unlock(&w->turn);
}

/*
 * How long a journal may get. What is written anew at a checkpoint is as
 * long as the filter, so that a byte of journal costs a byte of file.
 */
void write_limit(struct writer *w)
{
    const uint64_t mega = 1 << 20, length = seen_filter_bytes(w->f);

    w->most = 4 * length < 256 * mega ? 4 * length : 256 * mega;
    if (!w->in_place && w->most < length)
        w->most = length;
    if (w->most < mega)
        w->most = mega;
}

/* A journal that cannot be shortened now is left alone for a while. */
static void shorten(struct writer *w)
{
    uint64_t end;

    write_bar(w);
    end = w->journal.end;
    if (end > w->most && !w->failed) {
        write_limit(w);                 /* the filter may have grown */
        if (end > w->most && checkpoint(w, false, NULL) != SEEN_OK)
            w->most = 2 * end;
    }
    write_unbar(w);
}

void write_after(struct seen_keeper *k, uint64_t first, size_t n, size_t done)
{
    struct writer *w = (struct writer *)k;
    bool late;

    pthread_mutex_lock(&w->turn);
    if (done < n && !w->failed)         /* if this fails, they come back */
        journal_undo(&w->journal, first + done, n - done, NULL);
    late = w->journal.end > w->most;
    leave(w);
    pthread_mutex_unlock(&w->turn);
    if (late)
        shorten(w);
}

/* For SEEN_SYNC_EVERYSEC: an idle writer's last record is flushed, too. */
static void *ticker(void *arg)
{
    struct writer *w = arg;
    struct timespec until;

    pthread_mutex_lock(&w->turn);
    while (!w->stop) {
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec++;
        while (!w->stop && !pthread_cond_timedwait(&w->tick, &w->turn, &until))
            ;
        pthread_mutex_unlock(&w->turn);
        flush_to(w, UINT64_MAX, NULL);
        pthread_mutex_lock(&w->turn);
    }
    pthread_mutex_unlock(&w->turn);
    return NULL;
}

enum seen_code write_tick(struct writer *w, struct seen_error *why)
{
    sigset_t all, old;
    int failed;

    sigfillset(&all);                   /* signals are the program's */
    pthread_sigmask(SIG_SETMASK, &all, &old);
    failed = pthread_create(&w->ticker, NULL, ticker, w);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    w->ticking = !failed;
    errno = failed;
    if (failed)
        return seen_fail(why, SEEN_IO, 0, "no thread to flush the journal");
    return SEEN_OK;
}

void write_stop(struct writer *w)
{
    if (!w->ticking)
        return;
    pthread_mutex_lock(&w->turn);
    w->stop = true;
    pthread_cond_signal(&w->tick);
    pthread_mutex_unlock(&w->turn);
    pthread_join(w->ticker, NULL);
    w->ticking = false;
}
