/*
 * checkpoint.c - bring the file of a writer up to date.
 *
 * A filter of bits is changed in place, in a shared mapping of its file. Its
 * bits are only ever set, and setting one again has no effect. So whichever
 * pages reached the disk before a crash, replaying the journal completes the
 * filter. The order in which things reach the disk:
 *
 *     open         journal, empty   |  head: changing
 *     add          record           |  cells, at any time
 *     checkpoint   cells            |  head: applied up to n  |  new journal
 *     close        cells and table  |  head: sealed           |  no journal
 *
 * where | is a flush. A head is 128 bytes at the start of a sector, which a
 * disk writes as a whole or not at all. Between `changing` and `sealed`
 * neither cells nor table are trusted, and the journal must exist.
 *
 * This does not work for counters (adding twice counts twice) and for filters
 * that grow. They are changed in private memory, and a checkpoint writes a
 * whole new file beside the old one. The new file records the last change it
 * has, and has another identity:
 *
 *     checkpoint   crawl.seen.new   |  renamed  |  new journal
 *
 * If the old journal survives the rename, it is ignored: the new file has all
 * of its changes. The same is done when metadata has changed, and with it the
 * length of the text.
 */
#include "writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../disk/disk.h"
#include "save.h"
#include "text.h"

/* After such a failure nobody knows what is on the disk: refuse all changes. */
static enum seen_code fail_for_good(struct store_writer *w,
                                    enum seen_code code)
{
    if (code != SEEN_OK && !w->failed)
        w->failed = errno ? errno : EIO;
    return code;
}

static enum seen_code write_head(struct store_writer *w,
                                 const struct store_head *head,
                                 struct seen_error *why)
{
    unsigned char bytes[HEAD];
    enum seen_code code;

    store_head_put(bytes, head);
    code = disk_write(w->fd, bytes, HEAD, 0, why);
    if (code == SEEN_OK)
        code = disk_flush(w->fd, why);
    if (code == SEEN_OK)
        w->head = *head;
    return fail_for_good(w, code);
}

static enum seen_code flush_cells(struct store_writer *w,
                                  struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    if (w->map.base && msync(w->map.base, w->map.len, MS_SYNC))
        code = seen_fail(why, SEEN_IO, 0, "cannot be flushed to the disk");
    if (code == SEEN_OK)
        code = disk_flush(w->fd, why);
    return fail_for_good(w, code);
}

enum seen_code store_checkpoint_journal(struct store_writer *w,
                                        struct seen_error *why)
{
    int old = w->journal.fd;
    enum seen_code code = journal_begin(
        &w->journal, &w->paths, w->head.identity, w->head.applied, why);

    if (code != SEEN_OK && w->journal.fd != old)
        fail_for_good(w, code);         /* a crash may leave either */
    return code;
}

/* In place: record in the head what the cells have, and begin a new journal. */
static enum seen_code settle(struct store_writer *w, struct seen_error *why)
{
    struct store_head head = w->head;
    enum seen_code code = flush_cells(w, why);

    if (code != SEEN_OK)
        return code;
    w->sealable = false;
    head.applied = w->journal.last;
    head.offered = seen_filter_offered(w->f);
    code = write_head(w, &head, why);
    return code == SEEN_OK ? store_checkpoint_journal(w, why) : code;
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
        code = store_file_seal(w->fd, w->f, &head, why);
    if (code == SEEN_OK)
        w->head = head;
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

enum seen_code store_checkpoint_begin(struct store_writer *w,
                                      struct seen_error *why)
{
    struct store_head head = w->head;

    if (!w->in_place || head.state == CHANGING)
        return SEEN_OK;
    head.state = CHANGING;
    return write_head(w, &head, why);
}

/* Write a whole new file; `text` belongs to the writer then. */
static enum seen_code replace(struct store_writer *w, char *text, bool closing,
                              struct seen_error *why)
{
    struct store_head head = { .applied = w->journal.last };
    int fd;
    enum seen_code code = store_save_whole(&w->paths, w->f, &head, &fd, why);

    if (fd < 0) {
        free(text);
        return code;            /* old file and journal are unchanged */
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
        code = store_checkpoint_journal(w, why);
    if (code == SEEN_OK)
        code = store_checkpoint_begin(w, why);
    return fail_for_good(w, code);
}

enum seen_code store_checkpoint(struct store_writer *w, bool closing,
                                struct seen_error *why)
{
    bool same, changed = w->journal.last != w->head.applied;
    enum seen_code code;
    char *text;
    size_t len;

    if (w->failed)
        return store_writer_refuse(w, why);
    code = store_text_make(w->f, false, &text, &len, why);
    if (code != SEEN_OK)
        return code;
    same = !strcmp(text, w->text);
    if (!same || (changed && !w->in_place))
        return replace(w, text, closing, why);
    free(text);
    if (!w->in_place)
        return closing ? SEEN_OK : store_checkpoint_journal(w, why);
    return closing ? seal(w, why) : settle(w, why);
}
