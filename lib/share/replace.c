/* replace.c - beside, flushed, renamed: as the store does it. */
#include "replace.h"

#include <errno.h>
#include <unistd.h>

#include "../store/place.h"

/* For the holder of the lock. */
static enum seen_code replace_locked(const struct place *p, write_form *form,
                                     const struct seen_filter *f,
                                     struct seen_error *why)
{
    bool swapped = false;
    enum seen_code code;
    int fd, system;

    code = place_begin(p, &fd, why);
    if (code != SEEN_OK)
        return code;
    code = form(f, fd, why);
    if (code == SEEN_OK)
        code = place_swap(p, fd, p->path, &swapped, why);
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
    struct place p;
    enum seen_code code = place_init(&p, path, why);
    int lock, system;

    if (code != SEEN_OK)
        return code;
    code = place_lock(&p, &lock, why);
    if (code == SEEN_OK) {
        code = replace_locked(&p, form, f, why);
        place_unlock(&p, lock);
    }
    system = errno;
    place_clear(&p);
    errno = system;
    return code;
}
