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
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../disk/disk.h"
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

struct seen_claim {
    struct place place;
    int lock;
};

enum seen_code seen_store_claim(struct seen_claim **out, const char *path,
                                struct seen_error *why)
{
    struct seen_claim *c = calloc(1, sizeof *c);
    enum seen_code code;

    *out = NULL;
    if (!c)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a path");
    code = place_init(&c->place, path, why);
    if (code == SEEN_OK)
        code = place_lock(&c->place, &c->lock, why);
    if (code == SEEN_OK) {
        *out = c;
    } else {
        int system = errno;

        place_clear(&c->place);
        free(c);
        errno = system;
    }
    return code;
}

enum seen_code seen_claim_save(const struct seen_filter *f,
                               struct seen_claim *c, struct seen_error *why)
{
    struct head head = { .applied = f->applied };
    struct seen_error unasked;
    enum seen_code code;
    int fd;

    why = why ? why : &unasked;
    code = save_whole(&c->place, f, &head, &fd, why);
    if (fd >= 0) {
        unlink(c->place.journal);
        close(fd);
    }
    if (code == SEEN_IO)
        errno = why->system; /* the calls above may have changed it */
    return code;
}

enum seen_code seen_claim_swap(struct seen_claim *c, const char *from,
                               struct seen_error *why)
{
    int fd = place_open(from, O_RDONLY, 0), system;
    enum seen_code code;

    if (fd < 0)
        return seen_fail(why, SEEN_IO, 0, "what replaces it cannot be read");
    code = disk_flush(fd, why);
    if (code == SEEN_OK && rename(from, c->place.path))
        code = seen_fail(why, SEEN_IO, 0, "cannot be replaced");
    if (code == SEEN_OK) {
        unlink(c->place.journal);
        code = disk_flush_folder(c->place.folder, why);
    }
    system = errno;
    close(fd);
    errno = system;
    return code;
}

void seen_claim_free(struct seen_claim *c)
{
    int system = errno;

    if (!c)
        return;
    place_unlock(&c->place, c->lock);
    place_clear(&c->place);
    free(c);
    errno = system;
}

enum seen_code seen_store_save(const struct seen_filter *f, const char *path,
                               struct seen_error *why)
{
    struct seen_claim *c;
    enum seen_code code = seen_store_claim(&c, path, why);

    if (code == SEEN_OK)
        code = seen_claim_save(f, c, why);
    seen_claim_free(c);
    return code;
}

enum seen_code seen_store_create(const struct seen_filter *f, const char *path,
                                 struct seen_error *why)
{
    struct seen_claim *c;
    enum seen_code code = seen_store_claim(&c, path, why);

    if (code == SEEN_OK && !access(c->place.path, F_OK)) {
        errno = EEXIST;
        code = seen_fail(why, SEEN_IO, 0, "is there already");
    }
    if (code == SEEN_OK)
        code = seen_claim_save(f, c, why);
    seen_claim_free(c);
    return code;
}
