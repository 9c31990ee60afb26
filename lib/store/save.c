/*
 * save.c - replace a stored filter atomically: write beside, flush, rename.
 *
 *     crawl.seen          the old filter, whole until the rename
 *     crawl.seen.new      the new one while it is written
 *
 * The flush comes before the rename, or a crash could leave the new name on
 * cells that never reached the disk; the folder's comes after it, or the
 * rename itself could be lost. Why not O_TMPFILE, which leaves nothing
 * behind when the writer is killed? linkat() cannot replace a file, so the
 * new one would need a second name and a rename all the same.
 *
 * A journal of the old file goes last. Should we be killed before that, it
 * is ignored, since it names another file by its checksums; unless the new
 * file equals the old one in every byte, and then nothing has happened.
 */
#define _POSIX_C_SOURCE 200809L
#include <seen/store.h>

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "save.h"

enum seen_code save_whole(const struct place *p, const struct seen_filter *f,
                          struct head *head, int *fd, struct seen_error *why)
{
    enum seen_code code = place_begin(p, fd, why);
    bool swapped = false;
    int system;

    if (code != SEEN_OK) {
        *fd = -1;
        return code;
    }
    code = format_write(*fd, f, head, why);
    if (code == SEEN_OK)
        code = place_swap(p, *fd, p->path, &swapped, why);
    if (swapped)
        return code;
    system = errno;
    unlink(p->next);
    close(*fd);
    *fd = -1;
    errno = system;
    return code;
}

enum seen_code seen_store_save(const struct seen_filter *f, const char *path,
                               struct seen_error *why)
{
    struct head head = { .applied = 0 };
    struct seen_error unasked;
    struct place p;
    enum seen_code code;
    int lock, fd;

    why = why ? why : &unasked;
    code = place_init(&p, path, why);
    if (code != SEEN_OK)
        return code;
    code = place_lock(&p, &lock, why);
    if (code != SEEN_OK)
        goto clear_place;

    code = save_whole(&p, f, &head, &fd, why);
    if (fd >= 0) {
        unlink(p.journal);
        close(fd);
    }
    place_unlock(&p, lock);
clear_place:
    place_clear(&p);
    if (code == SEEN_IO)
        errno = why->system;    /* the calls above may have changed it */
    return code;
}
