/*
 * checkpoint.c - bring the file of a writer up to date.
 *
 * A filter of bits is changed in place, in a shared mapping of its file. Its
 * bits are only ever set, and setting one again has no effect. So whichever
 * pages reached the disk before a crash, replaying the journal completes the
 * filter. The order in which things reach the disk:
 *
 *     begin        journal, empty   |  heads: changing
 *     add          record           |  cells, at any time
 *     checkpoint   cells            |  heads: applied up to n  |  new journal
 *     close        cells and table  |  heads: sealed           |  no journal
 *
 * where | is a flush. Between `changing` and `sealed` neither cells nor table
 * are trusted, and the journal must exist.
 *
 * This does not work for counters (adding twice counts twice) and for filters
 * that grow. They are changed in private memory, and a checkpoint writes a
 * whole new file beside the old one. The new file records the last change it
 * has, and has another identity:
 *
 *     begin        journal, empty          |  heads: open
 *     add          record
 *     checkpoint   crawl.seen.new, sealed  |  renamed  |  no journal
 *     close        the same
 *
 * The next change begins again: until then the file is complete, and can be
 * copied, published and downloaded. If the old journal survives the rename, it
 * is ignored, because it names the old identity, and the new file has all of
 * its changes. `open` says only that the cells lack changes: a copy of the
 * file without its journal is refused instead of answering without them. The
 * identity does not change with the state, so the journal fits both.
 *
 * The same is done when metadata has changed, and with it the length of the
 * text. That includes the metadata `as-of`, which follows changes: a file
 * that has it is rewritten by the first checkpoint after a change on a new
 * day. If that fails, as on a disk that has no room for a second file, the
 * date stays as it is and the file is brought up to date without it. A file of version 1 has no state `open`: it is rewritten before its
 * first change, unless it is changed in place, as version 1 was.
 *
 * Lazy writers check a block before they change it, and no others (blocks.c).
 * Then damage may be in the file that they have not seen, and it must stay
 * damage: no block may get a new checksum that was neither checked nor
 * computed from checked cells.
 *
 * close: only blocks that were changed get new checksums. The rest of the
 * table is that of the sealed file, whose checksum was right.
 *
 * A checkpoint in place drops records whose changes are in the cells; and a
 * new file has new checksums only. So both check all blocks first, and fail
 * if one is damaged. Nothing is lost then: the records stay.
 *
 * A crash leaves the file `changing`, and the next writer would trust all
 * cells, count them and compute all checksums. But until the first checkpoint
 * the journal has all changes since the seal, so their keys say which blocks
 * may have changed; every other one must have the checksum of the table. The
 * next writer refuses the file otherwise, and readers do the same. Whether
 * there was a checkpoint is seen from the identity, which is that of the
 * sealed head, with its number of changes. The table may be torn, if the
 * crash came while it was written: the entries of blocks that did not change
 * are the same in the old one and in the new one. This holds if records are
 * flushed before cells change, so writers with another `sync` are not lazy:
 * after a power failure they may leave changed cells without a record. The
 * version of the journal, 3, says that its writer was lazy; programs that do
 * not know the rule refuse it.
 *
 * Two heads. "heads" above means: the second head | the first head. A reader
 * takes the first one, or the second if the first one's checksum is wrong. At
 * each moment of a change from state A to state B, with a torn write at any
 * byte:
 *
 *     second   first    is read as
 *     torn     A        A      the first is whole, the second is not read
 *     B        A        A      killed between the two
 *     B        torn     B      the second is whole, it was flushed before
 *     B        B        B
 *
 * So it remains to show that A and B are both right at all these moments.
 * begin: A is sealed, cells have not changed, and the journal is empty and
 * matches both. checkpoint: the journal still has all records from before A,
 * and those up to n are in cells that were flushed; A applies them again,
 * which is harmless in place, and B skips them. close: cells and table were
 * flushed; A ignores the table and applies the journal again, B has another
 * identity and ignores the journal. No cell changes between the two writes,
 * since adding threads are excluded; so the other head is never needed later
 * than that, but for damage. For this it must not be stale: a killed writer
 * can leave (B, A), and then the next one changes cells under A. It first
 * makes the two equal (store_head_repair), so that the second head always
 * describes the same cells as the first.
 *
 * The two are in different sectors, and the second is in no page of the
 * mapping, so the system does not write it along with cells. The first shares
 * its sector with the text, which never changes: a torn write mixes equal
 * bytes. The text has no second copy; a sector that cannot be read at all is
 * not repaired.
 */
#include "writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../disk/disk.h"
#include "grow.h"
#include "meta.h"
#include "sieve.h"
#include "text.h"

struct store_renewal {
    struct store_writer *w;
    struct store_head head; /* of the new file */
};

/* After such a failure nobody knows what is on the disk: refuse all changes. */
static enum seen_code fail_for_good(struct store_writer *w,
                                    enum seen_code code)
{
    if (code != SEEN_OK && !w->failed)
        w->failed = errno ? errno : EIO;
    return code;
}

static void set_head(struct store_writer *w, const struct store_head *head)
{
    pthread_mutex_lock(&w->mutex); /* seen_store_current() reads it */
    w->head = *head;
    pthread_mutex_unlock(&w->mutex);
}

static enum seen_code write_head(struct store_writer *w,
                                 const struct store_head *head,
                                 struct seen_error *why)
{
    enum seen_code code = store_head_write(w->fd, head, why);

    if (code == SEEN_OK)
        set_head(w, head);
    return fail_for_good(w, code);
}

/* The number of the last change. */
static uint64_t last_change(const struct store_writer *w)
{
    return w->journal.fd >= 0 ? w->journal.last : w->head.applied;
}

static enum seen_code flush_cells(struct store_writer *w,
                                  struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    if (w->map.base && msync(w->map.base, w->map.len, MS_SYNC))
        code = seen_fail(why, SEEN_IO, 0, "cannot be flushed to the disk");
    if (code == SEEN_OK)
        code = disk_flush(w->fd, why);
    code = store_cells_kept(&w->map, code, why); /* or the file lacks cells */
    return fail_for_good(w, code);
}

enum seen_code store_checkpoint_journal(struct store_writer *w,
                                        struct seen_error *why)
{
    int old = w->journal.fd;
    bool lazy = w->blocks && !store_blocks_whole(w->blocks);
    enum seen_code code = journal_begin(
        &w->journal, &w->paths, lazy ? JOURNAL_LAZY : w->head.format,
        w->head.identity, w->head.applied, why);

    if (code != SEEN_OK && w->journal.fd != old)
        fail_for_good(w, code);         /* a crash may leave either */
    return code;
}

static enum seen_code check_rest(struct store_writer *w,
                                 struct seen_error *why)
{
    return w->blocks ? store_blocks_check_all(w->blocks, w->f, why) : SEEN_OK;
}

enum seen_code store_checkpoint_settle(struct store_writer *w,
                                       struct seen_error *why)
{
    struct store_head head = w->head;
    enum seen_code code = check_rest(w, why);

    if (code == SEEN_OK)
        code = flush_cells(w, why);
    if (code != SEEN_OK)
        return code;
    w->sealable = false;
    head.applied = w->journal.last;
    head.offered = seen_filter_offered(w->f);
    code = store_keys_move(&w->keys, w->f, &w->journal, &head, why);
    if (code != SEEN_OK)
        return code;
    code = write_head(w, &head, why);
    if (code == SEEN_OK)
        store_keys_commit(&w->keys);
    return code == SEEN_OK ? store_checkpoint_journal(w, why) : code;
}

/* The keys of the journal move to the log, before the file has the head that
   drops the journal. */
static enum seen_code move_keys(void *whose, const struct store_head *head,
                                struct seen_error *why)
{
    struct store_writer *w = whose;

    return store_keys_move(&w->keys, w->f, &w->journal, head, why);
}

static enum seen_code seal(struct store_writer *w, struct seen_error *why)
{
    struct store_head head = w->head;
    enum seen_code code;

    head.state = SEALED;
    if (w->sealable && w->journal.last == w->head.applied)
        return write_head(w, &head, why);       /* nothing was added */
    code = flush_cells(w, why);
    head.applied = w->journal.last;
    if (code == SEEN_OK)
        code = store_file_seal(w->fd, w->f, w->blocks, &head, move_keys, w,
                               why);
    if (code == SEEN_OK) {
        set_head(w, &head);
        store_keys_commit(&w->keys);
    }
    return code;
}

/* Map the cells of the new file at the same addresses. */
static enum seen_code map_again(struct store_writer *w, struct seen_error *why)
{
    if (!w->map.base)
        return SEEN_OK;
    if (mmap(w->map.base, w->map.len, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_FIXED, w->fd,
             (off_t)w->head.cells_at) == MAP_FAILED)
        return seen_fail(why, SEEN_IO, 0, "cannot be mapped");
    return SEEN_OK;
}

/* Write the next file, and let seen_store_current() know it before it has the
   name of the old one. */
static enum seen_code write_next(void *whose, int fd, struct seen_error *why)
{
    struct store_renewal *r = whose;
    enum seen_code code = store_file_write(fd, r->w->f, &r->head, why);

    if (code == SEEN_OK)
        code = move_keys(r->w, &r->head, why);
    pthread_mutex_lock(&r->w->mutex);
    r->w->next = fd;
    pthread_mutex_unlock(&r->w->mutex);
    return code;
}

void store_checkpoint_sealed(struct store_writer *w)
{
    journal_close(&w->journal);
    unlink(w->paths.journal);
    w->begun = false;
}

/* Write a whole new file; `text` belongs to the writer then. */
static enum seen_code replace(struct store_writer *w, char *text,
                              struct seen_error *why)
{
    struct store_renewal r = { .w = w, .head.applied = last_change(w) };
    int fd = -1;
    enum seen_code code = check_rest(w, why);

    store_grow_cancel(w); /* it has another text */
    if (code == SEEN_OK)
        code = store_replace(&w->paths, w->paths.path, write_next, &r, &fd,
                             why);
    pthread_mutex_lock(&w->mutex);
    w->next = -1;
    if (fd >= 0) {
        close(w->fd);
        w->fd = fd;
        w->head = r.head;
    }
    pthread_mutex_unlock(&w->mutex);
    if (fd < 0) {
        free(text);
        return code;            /* old file and journal are unchanged */
    }
    free(w->text);
    w->text = text;
    w->sealable = true;
    store_keys_commit(&w->keys);
    if (code == SEEN_OK) {
        store_checkpoint_sealed(w);
        code = map_again(w, why);
    }
    return fail_for_good(w, code);
}

/* Version 1 cannot say that a file is open. */
static enum seen_code upgrade(struct store_writer *w, struct seen_error *why)
{
    char *text = strdup(w->text);

    if (!text)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a text");
    return replace(w, text, why);
}

enum seen_code store_checkpoint_begin(struct store_writer *w,
                                      struct seen_error *why)
{
    struct store_head head;
    enum seen_code code = SEEN_OK;

    if (w->begun)
        return SEEN_OK;
    if (!w->in_place && w->head.format == 1)
        code = upgrade(w, why);
    if (code == SEEN_OK)
        code = store_keys_begin(&w->keys, &w->paths, why);
    if (code == SEEN_OK && w->journal.fd < 0)
        code = store_checkpoint_journal(w, why);
    if (code != SEEN_OK)
        return code;
    head = w->head;
    head.state = w->in_place ? CHANGING : OPEN;
    code = fail_for_good(w, store_head_repair(w->fd, &w->head, why));
    if (code == SEEN_OK && w->head.state != head.state)
        code = write_head(w, &head, why);
    w->begun = code == SEEN_OK;
    return code;
}

static enum seen_code update(struct store_writer *w, bool closing,
                             struct seen_error *why)
{
    struct store_head sealed = w->head;
    bool same, changed = last_change(w) != w->head.applied;
    enum seen_code code;
    char *text;
    size_t len;

    code = store_text_make(w->f, false, &text, &len, why);
    if (code != SEEN_OK)
        return code;
    same = !strcmp(text, w->text);
    if (!same || (changed && !w->in_place))
        return replace(w, text, why);
    free(text);
    if (!w->begun)
        return SEEN_OK;
    if (w->in_place && !closing)
        return store_checkpoint_settle(w, why);
    if (w->in_place) {
        code = seal(w, why);
    } else {
        sealed.state = SEALED;
        code = write_head(w, &sealed, why);
    }
    if (code == SEEN_OK)
        store_checkpoint_sealed(w);
    return code;
}

enum seen_code store_checkpoint(struct store_writer *w, bool closing,
                                struct seen_error *why)
{
    struct seen_meta *was = NULL;
    enum seen_code code;

    if (w->failed)
        return store_writer_refuse(w, why);
    code = store_cells_kept(&w->map, SEEN_OK, why);
    if (code != SEEN_OK)
        return code;
    if (w->changed_at)
        store_meta_follow(w->f, w->changed_at, &was, NULL);
    code = update(w, closing, why);
    if (code != SEEN_OK && was && !w->failed) {
        was = store_meta_undo(w->f, was);
        code = update(w, closing, why);
    }
    if (was)
        store_meta_keep(&w->metas, was);
    if (code == SEEN_OK)
        w->changed_at = 0;
    if (code == SEEN_OK)
        store_sieve_look(w);
    return code;
}
