/* replace.c - beside, flushed, renamed: as the store does it. */
#include "replace.h"

#include <errno.h>
#include <unistd.h>

#include "../disk/disk.h"
#include "../disk/lock.h"
#include "../store/paths.h"

/* For the holder of the lock. */
static enum seen_code replace_locked(const struct store_paths *p,
                                     write_form *form,
                                     const struct seen_filter *f,
                                     struct seen_error *why)
{
    bool swapped = false;
    enum seen_code code;
    int fd, system;

    code = store_begin(p, &fd, why);
    if (code != SEEN_OK)
        return code;
    code = form(f, fd, why);
    if (code == SEEN_OK)
        code = disk_swap(fd, p->next, p->path, &swapped, why);
    system = errno;
    if (swapped)
        unlink(p->journal); /* of a filter that was there before */
    else
        unlink(p->next);
    close(fd);
    errno = system;
    return code;
}

enum seen_code replace(const char *path, write_form *form,
                       const struct seen_filter *f, struct seen_error *why)
{
    struct store_paths p;
    enum seen_code code = store_paths_init(&p, path, why);
    int lock, system;

    if (code != SEEN_OK)
        return code;
    code = store_lock(&p, &lock, why);
    if (code == SEEN_OK) {
        code = replace_locked(&p, form, f, why);
        lock_release(lock, p.lock);
    }
    system = errno;
    store_paths_clear(&p);
    errno = system;
    return code;
}
