/*
 * checkpoint.c - bring the file of a writer up to date.
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
 * holds nothing that the new file lacks. The same is done when metadata has
 * changed, and with it the length of the text.
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

/* Keep the code of a failure that leaves us not knowing what is on disk. */
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
        fail_for_good(w, code);         /* which of the two a crash leaves? */
    return code;
}

/* In place: what the file holds, it says; the journal begins anew. */
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

/* The cells are now those of a new file; the addresses stay. */
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

/* Write a whole new file; takes `text`. */
static enum seen_code replace(struct store_writer *w, char *text, bool closing,
                              struct seen_error *why)
{
    struct store_head head = { .applied = w->journal.last };
    int fd;
    enum seen_code code = store_save_whole(&w->paths, w->f, &head, &fd, why);

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
