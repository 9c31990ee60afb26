/*
 * write.c - a filter open for writing: journal first, cells after it.
 *
 * A filter of bits is changed in place, in a shared mapping of its file. Its
 * bits are only ever set, and setting one again does nothing, so whatever
 * part of the pages reached the disk before a crash, the journal applied
 * once more makes it whole. The order of what reaches the disk:
 *
 *     open         journal, empty   |  head: changing
 *     add          record           |  cells, some day
 *     checkpoint   cells            |  head: applied up to n  |  new journal
 *     close        cells and table  |  head: sealed           |  no journal
 *
 * where | is a flush. A head is 128 bytes at the start of a sector, which a
 * disk writes whole or not at all. Between `changing` and `sealed` neither
 * cells nor table are believed, and the journal must be there.
 *
 * Counters are not like that (adding twice counts twice), nor is what grows.
 * Those are changed in private memory, and a checkpoint writes a whole new
 * file beside, which says how far it is and has another identity:
 *
 *     checkpoint   crawl.seen.new   |  renamed  |  new journal
 *
 * so that the old journal, should it outlive the rename, is ignored: it
 * holds nothing that the new file lacks.
 *
 * Threads: whoever adds is inside from before() to after(); a checkpoint
 * bars the door and waits until nobody is. Of those who wait for a flush of
 * the journal, the first one's serves all whose records were written by
 * then.
 */
#define _DEFAULT_SOURCE                 /* mmap flags, pthread clocks */
#include <seen/store.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../filter/keeper.h"
#include "disk.h"
#include "journal.h"
#include "read.h"
#include "replay.h"
#include "save.h"
#include "text.h"

struct writer {
    struct seen_keeper keeper;  /* first: a filter's keeper is a writer's */
    struct seen_filter *f;
    struct place place;
    int lock, fd;
    struct head head;           /* as it is in the file, */
    char *text;                 /* and the text as well */
    bool in_place;
    bool sealable;              /* the table is that of the cells */
    struct mapping map;
    enum seen_sync sync;

    pthread_mutex_t turn;       /* for what follows */
    pthread_cond_t calm;        /* nobody inside, or no bar any more */
    unsigned inside;
    bool barred;
    int failed;                 /* errno of the flush that failed for good */
    struct journal journal;
    uint64_t most;              /* bytes of journal before a checkpoint */

    pthread_mutex_t flushing;   /* taken before `turn` */
    pthread_t ticker;
    pthread_cond_t tick;
    bool ticking, stop;
};

static enum seen_code read_only(struct writer *w, struct seen_error *why)
{
    errno = w->failed;
    return seen_fail(why, SEEN_IO, 0,
                     "is read-only since a flush to the disk failed");
}

/* --- adding ----------------------------------------------------------- */

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
        code = read_only(w, why);
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

static enum seen_code before(struct seen_keeper *k, bool remove,
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
        code = read_only(w, why);
    else
        code = journal_append(&w->journal, remove, w->f->reads_text, key, n,
                              why);
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

static void bar(struct writer *w)
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

static void unbar(struct writer *w)
{
    pthread_mutex_unlock(&w->flushing);
    pthread_mutex_lock(&w->turn);
    w->barred = false;
    pthread_cond_broadcast(&w->calm);
    pthread_mutex_unlock(&w->turn);
}

static enum seen_code checkpoint(struct writer *w, bool closing,
                                 struct seen_error *why);

/*
 * How long a journal may get. What is written anew at a checkpoint is as
 * long as the filter, so that a byte of journal costs a byte of file.
 */
static void choose_most(struct writer *w)
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

    bar(w);
    end = w->journal.end;
    if (end > w->most && !w->failed) {
        choose_most(w);                 /* the filter may have grown */
        if (end > w->most && checkpoint(w, false, NULL) != SEEN_OK)
            w->most = 2 * end;
    }
    unbar(w);
}

static void after(struct seen_keeper *k, uint64_t first, size_t n, size_t done)
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

static enum seen_code start_ticker(struct writer *w, struct seen_error *why)
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

static void stop_ticker(struct writer *w)
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

/* --- checkpoints: nobody is inside ------------------------------------ */

/* Keep the code of a failure that leaves us not knowing what is on disk. */
static enum seen_code fail_for_good(struct writer *w, enum seen_code code)
{
    if (code != SEEN_OK && !w->failed)
        w->failed = errno ? errno : EIO;
    return code;
}

static enum seen_code write_head(struct writer *w, const struct head *head,
                                 struct seen_error *why)
{
    unsigned char bytes[HEAD];
    enum seen_code code;

    head_put(bytes, head);
    code = disk_write(w->fd, bytes, HEAD, 0, why);
    if (code == SEEN_OK)
        code = disk_flush(w->fd, why);
    if (code == SEEN_OK)
        w->head = *head;
    return fail_for_good(w, code);
}

static enum seen_code flush_cells(struct writer *w, struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    if (w->map.base && msync(w->map.base, w->map.len, MS_SYNC))
        code = seen_fail(why, SEEN_IO, 0, "cannot be flushed to the disk");
    if (code == SEEN_OK)
        code = disk_flush(w->fd, why);
    return fail_for_good(w, code);
}

static enum seen_code new_journal(struct writer *w, struct seen_error *why)
{
    int old = w->journal.fd;
    enum seen_code code = journal_begin(
        &w->journal, &w->place, w->head.identity, w->head.applied, why);

    if (code != SEEN_OK && w->journal.fd != old)
        fail_for_good(w, code);         /* which of the two a crash leaves? */
    return code;
}

/* In place: what the file holds, it says; the journal begins anew. */
static enum seen_code settle(struct writer *w, struct seen_error *why)
{
    struct head head = w->head;
    enum seen_code code = flush_cells(w, why);

    if (code != SEEN_OK)
        return code;
    w->sealable = false;
    head.applied = w->journal.last;
    head.offered = seen_filter_offered(w->f);
    code = write_head(w, &head, why);
    return code == SEEN_OK ? new_journal(w, why) : code;
}

static enum seen_code seal(struct writer *w, struct seen_error *why)
{
    struct head head = w->head;
    enum seen_code code;

    head.state = SEALED;
    if (w->sealable && w->journal.last == w->head.applied)
        return write_head(w, &head, why);       /* nothing was added */
    code = flush_cells(w, why);
    head.applied = w->journal.last;
    if (code == SEEN_OK)
        code = format_seal(w->fd, w->f, &head, why);
    if (code == SEEN_OK)
        w->head = head;
    return code;
}

/* The cells are now those of a new file; the addresses stay. */
static enum seen_code map_again(struct writer *w, struct seen_error *why)
{
    if (!w->map.base)
        return SEEN_OK;
    if (mmap(w->map.base, w->map.len, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_FIXED, w->fd,
             (off_t)w->head.cells_at) == MAP_FAILED)
        return seen_fail(why, SEEN_IO, 0, "cannot be mapped");
    return SEEN_OK;
}

static enum seen_code say_changing(struct writer *w, struct seen_error *why)
{
    struct head head = w->head;

    if (!w->in_place || head.state == CHANGING)
        return SEEN_OK;
    head.state = CHANGING;
    return write_head(w, &head, why);
}

/* Write a whole new file; takes `text`. */
static enum seen_code replace(struct writer *w, char *text, bool closing,
                              struct seen_error *why)
{
    struct head head = { .applied = w->journal.last };
    int fd;
    enum seen_code code = save_whole(&w->place, w->f, &head, &fd, why);

    if (fd < 0) {
        free(text);
        return code;            /* the old file and its journal are there */
    }
    close(w->fd);
    free(w->text);
    w->fd = fd;
    w->head = head;
    w->text = text;
    w->sealable = true;
    if (code != SEEN_OK)
        return fail_for_good(w, code);
    if (closing)
        return SEEN_OK;
    code = map_again(w, why);
    if (code == SEEN_OK)
        code = new_journal(w, why);
    if (code == SEEN_OK)
        code = say_changing(w, why);
    return fail_for_good(w, code);
}

static enum seen_code checkpoint(struct writer *w, bool closing,
                                 struct seen_error *why)
{
    bool same, changed = w->journal.last != w->head.applied;
    enum seen_code code;
    char *text;
    size_t len;

    if (w->failed)
        return read_only(w, why);
    code = text_make(w->f, false, &text, &len, why);
    if (code != SEEN_OK)
        return code;
    same = !strcmp(text, w->text);
    if (!same || (changed && !w->in_place))
        return replace(w, text, closing, why);
    free(text);
    if (!w->in_place)
        return closing ? SEEN_OK : new_journal(w, why);
    return closing ? seal(w, why) : settle(w, why);
}

/* --- opening and closing ---------------------------------------------- */

/* Seal the file unless that is impossible, and give everything back. */
static enum seen_code finish(struct writer *w, struct seen_error *why)
{
    struct seen_error unasked;
    enum seen_code code;

    why = why ? why : &unasked;
    stop_ticker(w);
    bar(w);
    code = checkpoint(w, true, why);
    if (code == SEEN_OK)
        unlink(w->place.journal);
    unbar(w);
    return code;
}

static void writer_free(struct writer *w)
{
    int system = errno;

    stop_ticker(w);
    if (w->f)
        read_unmap(w->f, &w->map);
    journal_close(&w->journal);
    if (w->fd >= 0)
        close(w->fd);
    if (w->lock >= 0)
        place_unlock(&w->place, w->lock);
    place_clear(&w->place);
    free(w->text);
    pthread_cond_destroy(&w->tick);
    pthread_cond_destroy(&w->calm);
    pthread_mutex_destroy(&w->flushing);
    pthread_mutex_destroy(&w->turn);
    free(w);
    errno = system;
}

static void release(struct seen_keeper *k, struct seen_filter *f)
{
    struct writer *w = (struct writer *)k;

    (void)f;
    finish(w, NULL);
    writer_free(w);
}

static struct writer *writer_of(const struct seen_filter *f)
{
    if (!f->keeper || f->keeper->release != release)
        return NULL;
    return (struct writer *)f->keeper;
}

static struct writer *writer_new(void)
{
    struct writer *w = calloc(1, sizeof *w);
    pthread_condattr_t clock;

    if (!w)
        return NULL;
    w->keeper.before = before;
    w->keeper.after = after;
    w->keeper.release = release;
    w->lock = w->fd = w->journal.fd = -1;
    pthread_mutex_init(&w->turn, NULL);
    pthread_mutex_init(&w->flushing, NULL);
    pthread_cond_init(&w->calm, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&w->tick, &clock);
    pthread_condattr_destroy(&clock);
    return w;
}

/* Only bits, and no part to come: setting them again does no harm. */
static bool only_sets_bits(const struct seen_filter *f)
{
    if (!f->kind->combines)
        return f->cell_bits == 1 && f->kind->add && !f->kind->once;
    for (unsigned i = 0; i < f->parts; i++)
        if (!only_sets_bits(f->part[i]))
            return false;
    return f->parts == f->room;
}

/* Let it be filled past its capacity, from now until it is closed. What
   grows needs the limits of its parts to know when; but not the last's. */
static void lift_limits(struct seen_filter *f)
{
    bool grows = f->kind->combines && f->room > f->first;
    unsigned i = grows && f->parts < f->room ? f->parts
                 : grows                     ? f->parts - 1
                                             : 0;

    if (!f->kind->combines)
        f->limit = UINT64_MAX;
    else if (i == f->parts)
        f->plan.over = true;            /* the last part will be over */
    for (; i < f->parts; i++)
        lift_limits(f->part[i]);
}

/* Plan and cells. Filters that are not changed in place are copied. */
static enum seen_code read_file(struct writer *w, const struct front *front,
                                const struct seen_access *how,
                                struct seen_error *why)
{
    bool check = !(how && how->unverified) && front->head.state == SEALED;
    enum seen_code code = read_plan(&w->f, front, how, why);

    if (code != SEEN_OK)
        return code;
    w->in_place = only_sets_bits(w->f) && sysconf(_SC_PAGESIZE) <= CELLS_ALIGN;
    if (!w->in_place && front->head.state == CHANGING)
        return seen_fail(why, SEEN_UNABLE, 0,
                         "was changed in place on another machine, and must "
                         "be sealed there");
    if (!w->in_place)
        return read_copy(w->f, w->fd, front, check, why);
    if (check)
        code = format_cells(w->fd, front, true, NULL, why);
    if (code == SEEN_OK)
        code = read_map(w->f, w->fd, front, PROT_READ | PROT_WRITE, MAP_SHARED,
                        &w->map, why);
    return code;
}

/* Have a journal, apply it, and go on with it. */
static enum seen_code take_journal(struct writer *w, struct seen_error *why)
{
    enum seen_code code = replay_open(&w->journal, &w->place, &w->head, O_RDWR,
                                      why);

    if (code == SEEN_OK && w->journal.fd < 0)
        code = new_journal(w, why);
    if (code == SEEN_OK && w->head.state == CHANGING)
        read_recount(w->f);
    if (code == SEEN_OK)
        code = say_changing(w, why);
    if (code == SEEN_OK)
        code = replay(&w->journal, w->f, w->head.applied, why);
    if (code != SEEN_OK)
        return code;
    if (w->journal.last < w->head.applied)      /* its end never got there */
        return new_journal(w, why);
    if (ftruncate(w->journal.fd, (off_t)w->journal.end))
        return seen_fail(why, SEEN_IO, 0, "its journal cannot be cut");
    code = disk_flush(w->journal.fd, why);
    w->journal.flushed = w->journal.end;
    return code;
}

static enum seen_code open_at(struct writer *w, const char *path,
                              const struct seen_access *how,
                              struct seen_error *why)
{
    struct front front;
    enum seen_code code = place_init(&w->place, path, why);

    if (code != SEEN_OK)
        return code;
    if (access(w->place.path, F_OK))    /* before a lock is left beside it */
        return seen_fail(why, SEEN_IO, 0, "cannot be opened");
    code = place_lock(&w->place, &w->lock, why);
    if (code != SEEN_OK)
        return code;
    w->fd = open(w->place.path, O_RDWR | O_CLOEXEC);
    if (w->fd < 0)
        return seen_fail(why, SEEN_IO, 0, "cannot be opened to write");
    code = front_read(&front, w->fd, why);
    if (code != SEEN_OK)
        return code;
    w->head = front.head;
    w->sealable = front.head.state == SEALED;
    w->text = strdup(front.text);
    if (!w->text)
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for a text");
    if (code == SEEN_OK)
        code = read_file(w, &front, how, why);
    front_clear(&front);
    if (code == SEEN_OK)
        code = take_journal(w, why);
    choose_most(w);
    if (code == SEEN_OK && how && how->over)
        lift_limits(w->f);
    w->sync = how ? how->sync : SEEN_SYNC_ALWAYS;
    if (code == SEEN_OK && w->sync == SEEN_SYNC_EVERYSEC)
        code = start_ticker(w, why);
    return code;
}

enum seen_code seen_store_open(struct seen_filter **out, const char *path,
                               const struct seen_access *how,
                               struct seen_error *why)
{
    struct writer *w = writer_new();
    struct seen_filter *f;
    enum seen_code code;

    *out = NULL;
    if (!w)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a writer");
    code = open_at(w, path, how, why);
    f = w->f;
    if (code != SEEN_OK) {
        int system = errno;

        writer_free(w);
        seen_filter_free(f);
        errno = system;
        return code;
    }
    f->keeper = &w->keeper;
    *out = f;
    return SEEN_OK;
}

enum seen_code seen_store_checkpoint(struct seen_filter *f,
                                     struct seen_error *why)
{
    struct writer *w = writer_of(f);
    enum seen_code code;

    if (!w)
        return seen_fail(why, SEEN_UNABLE, 0,
                         "the filter is not open for writing");
    bar(w);
    code = checkpoint(w, false, why);
    unbar(w);
    return code;
}

enum seen_code seen_store_close(struct seen_filter *f, struct seen_error *why)
{
    struct writer *w = f ? writer_of(f) : NULL;
    enum seen_code code = SEEN_OK;

    if (w) {
        code = finish(w, why);
        writer_free(w);
        f->keeper = NULL;
    }
    seen_filter_free(f);
    return code;
}
