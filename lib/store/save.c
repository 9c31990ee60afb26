/*
 * save.c - replace a stored filter atomically: write beside, flush, rename.
 *
 *     crawl.seen          the old filter, complete until the rename
 *     crawl.seen.new      the new one while it is written
 *
 * The file is flushed before the rename: otherwise a crash could leave a file
 * whose cells never reached the disk. The folder is flushed after it:
 * otherwise the rename could be lost. Why not O_TMPFILE, which leaves nothing
 * behind when the writer is killed? linkat() cannot replace a file, so the
 * new one would need a second name and a rename anyway.
 *
 * The journal of the old file is removed last. If we are killed before that,
 * it is ignored, since it names another file by its checksums. Only if the
 * new file equals the old one in every byte does the journal belong to it,
 * and then nothing has changed.
 */
#include <seen/store.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../disk/disk.h"
#include "../disk/lock.h"
#include "cells.h"
#include "save.h"

struct store_saving {
    const struct seen_filter *f;
    struct store_head *head;
};

static enum seen_code write_filter(void *whose, int fd, struct seen_error *why)
{
    struct store_saving *s = whose;

    return store_file_write(fd, s->f, s->head, why);
}

struct seen_claim {
    struct store_paths paths;
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
    code = store_paths_init(&c->paths, path, why);
    if (code == SEEN_OK)
        code = store_lock(&c->paths, &c->lock, why);
    if (code == SEEN_OK) {
        *out = c;
    } else {
        int system = errno;

        store_paths_clear(&c->paths);
        free(c);
        errno = system;
    }
    return code;
}

/* The journal of the old file and its log of keys are removed. */
static enum seen_code claim_replace(struct seen_claim *c, store_write *write,
                                    void *whose, struct seen_error *why)
{
    int fd, system;
    enum seen_code code = store_replace(&c->paths, c->paths.path, write, whose,
                                        &fd, why);

    system = errno;
    if (fd >= 0) {
        unlink(c->paths.journal);
        unlink(c->paths.keys);
        close(fd);
    }
    errno = system;
    return code;
}

enum seen_code seen_claim_save(const struct seen_filter *f,
                               struct seen_claim *c, struct seen_error *why)
{
    struct store_head head = { .applied = f->applied };
    struct store_saving s = { f, &head };

    return claim_replace(c, write_filter, &s, why);
}

enum seen_code store_save_as(const char *path, store_write *write, void *whose,
                             struct seen_error *why)
{
    struct seen_claim *c;
    enum seen_code code = seen_store_claim(&c, path, why);

    if (code == SEEN_OK)
        code = claim_replace(c, write, whose, why);
    seen_claim_free(c);
    return code;
}

enum seen_code seen_claim_swap(struct seen_claim *c, const char *from,
                               struct seen_error *why)
{
    int fd = disk_open(from, O_RDONLY | O_NOFOLLOW, 0), system;
    enum seen_code code;

    if (fd < 0)
        return seen_fail(why, SEEN_IO, 0,
                         "the file that replaces it cannot be read");
    code = disk_flush(fd, why);
    if (code == SEEN_OK && rename(from, c->paths.path))
        code = seen_fail(why, SEEN_IO, 0, "cannot be replaced");
    if (code == SEEN_OK) {
        unlink(c->paths.journal);
        unlink(c->paths.keys);
        code = disk_flush_folder(c->paths.folder, why);
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
    lock_release(c->lock, c->paths.lock);
    store_paths_clear(&c->paths);
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

    if (code == SEEN_OK && !access(c->paths.path, F_OK))
        code = seen_fail(why, SEEN_EXISTS, 0, "exists already");
    if (code == SEEN_OK)
        code = seen_claim_save(f, c, why);
    seen_claim_free(c);
    return code;
}
