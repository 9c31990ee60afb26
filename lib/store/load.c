/*
 * load.c - having a filter to read: copied into memory, or mapped.
 */
#define _DEFAULT_SOURCE                 /* MAP_NORESERVE */
#include <seen/store.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../filter/keeper.h"
#include "place.h"
#include "read.h"

/* What a reader remembers of its file. */
struct reader {
    struct seen_keeper keeper;  /* first */
    struct place place;
    struct mapping map;         /* empty for a copy */
    int fd;
    unsigned char head[HEAD];   /* as it was when the cells were read */
};

static void reader_free(struct reader *r)
{
    if (r->fd >= 0)
        close(r->fd);
    place_clear(&r->place);
    free(r);
}

static void reader_release(struct seen_keeper *k, struct seen_filter *f)
{
    struct reader *r = (struct reader *)k;

    read_unmap(f, &r->map);
    reader_free(r);
}

static enum seen_code have(struct seen_filter **out, struct reader *r,
                           const struct seen_access *how, bool mapped,
                           struct seen_error *why)
{
    bool check = !(how && how->unverified);
    struct seen_filter *f = NULL;
    struct front front;
    enum seen_code code;

    r->fd = open(r->place.path, O_RDONLY | O_CLOEXEC);
    if (r->fd < 0)
        return seen_fail(why, SEEN_IO, 0, "cannot be opened");
    code = front_read(&front, r->fd, why);
    if (code != SEEN_OK)
        return code;
    memcpy(r->head, front.bytes, HEAD);
    code = read_plan(&f, &front, how, why);
    if (code == SEEN_OK && mapped && check)
        code = format_cells(r->fd, &front, true, NULL, why);
    if (code == SEEN_OK && mapped)
        code = read_map(f, r->fd, &front, PROT_READ,
                        MAP_PRIVATE | MAP_NORESERVE, &r->map, why);
    else if (code == SEEN_OK)
        code = read_copy(f, r->fd, &front, check, why);
    front_clear(&front);
    if (code != SEEN_OK) {
        seen_filter_free(f);
        return code;
    }
    *out = f;
    return SEEN_OK;
}

static enum seen_code have_new(struct seen_filter **out, const char *path,
                               const struct seen_access *how, bool mapped,
                               struct seen_error *why)
{
    struct reader *r = calloc(1, sizeof *r);
    enum seen_code code;

    *out = NULL;
    if (!r)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a reader");
    r->fd = -1;
    code = place_init(&r->place, path, why);
    if (code == SEEN_OK)
        code = have(out, r, how, mapped, why);
    if (code != SEEN_OK) {
        int system = errno;

        reader_free(r);
        errno = system;
        return code;
    }
    r->keeper.release = reader_release;
    if (mapped)
        (*out)->keeper = &r->keeper;
    else
        reader_free(r);
    return SEEN_OK;
}

enum seen_code seen_store_load(struct seen_filter **out, const char *path,
                               const struct seen_access *how,
                               struct seen_error *why)
{
    return have_new(out, path, how, false, why);
}

enum seen_code seen_store_map(struct seen_filter **out, const char *path,
                              const struct seen_access *how,
                              struct seen_error *why)
{
    return have_new(out, path, how, true, why);
}
