/*
 * refresh.c - what writers have added since a reader came.
 *
 * Most often that is nothing, or some records at the end of the journal. If
 * the head is another one, or the journal, then a writer came, checkpointed
 * or left, and the file is read anew; the filter keeps its address, and
 * takes over cells and parts of the new reading.
 */
#define _POSIX_C_SOURCE 200809L         /* fstat, strdup */
#include "reader.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../key/secret.h"
#include "../disk/disk.h"
#include "text.h"

static bool same_file(int fd, const char *path)
{
    struct stat open, named;

    if (stat(path, &named))
        return fd < 0;
    return fd >= 0 && !fstat(fd, &open) && open.st_dev == named.st_dev &&
           open.st_ino == named.st_ino;
}

/* Is the file the one that was read, but for records in its journal? */
static bool unmoved(const struct reader *r)
{
    unsigned char head[HEAD] = { 0 };

    return same_file(r->fd, r->path) &&
           disk_read(r->fd, head, HEAD, 0, NULL) == SEEN_OK &&
           !memcmp(head, r->head, HEAD) &&
           same_file(r->journal.fd, r->place.journal);
}

static enum seen_code catch_up(struct reader *r, struct seen_filter *f,
                               bool *changed, struct seen_error *why)
{
    struct stat it;
    uint64_t end = r->journal.end;
    enum seen_code code;

    if (r->journal.fd < 0)
        return SEEN_OK;
    if (fstat(r->journal.fd, &it))
        return seen_fail(why, SEEN_IO, 0, "its journal cannot be looked at");
    if ((uint64_t)it.st_size == end)
        return SEEN_OK;
    code = reader_catch_up(r, f, why);
    *changed = r->journal.end != end;
    return code;
}

/* The same filter, later? Then all but cells and parts is equal. */
static enum seen_code check_same(const struct seen_filter *f,
                                 const struct seen_filter *g,
                                 struct seen_error *why)
{
    if (!text_alike(&f->plan, &g->plan) || f->size != g->size)
        return seen_fail(why, SEEN_MISMATCH, 0,
                         "was replaced by another filter");
    return SEEN_OK;
}

static void swap(void *a, void *b, size_t len)
{
    unsigned char *x = a, *y = b;

    for (size_t i = 0; i < len; i++) {
        unsigned char t = x[i];

        x[i] = y[i];
        y[i] = t;
    }
}
#define SWAP(a, b) swap(&(a), &(b), sizeof(a))

static void take_over(struct seen_filter *f, struct seen_filter *g)
{
    SWAP(f->cells, g->cells);
    SWAP(f->set, g->set);
    SWAP(f->limit, g->limit);
    SWAP(f->part, g->part);
    SWAP(f->parts, g->parts);
    SWAP(f->offered, g->offered);
    SWAP(f->meta, g->meta);
    SWAP(f->keeper, g->keeper);
    f->plan.over = g->plan.over;
    f->traits = g->traits;
    if (f->kind->renew)
        f->kind->renew(f);
}

static enum seen_code read_anew(struct reader *r, struct seen_filter *f,
                                struct seen_error *why)
{
    struct seen_access how = {
        .secret = key_secret_known(f->plan.secret) ? f->plan.secret : NULL,
        .profile = f->plan.profile,
        .unverified = r->unverified,
    };
    struct seen_filter *g = NULL;
    enum seen_code code;

    code = (r->mapped ? seen_store_map : seen_store_load)(&g, r->path, &how,
                                                          why);
    if (code == SEEN_OK)
        code = check_same(f, g, why);
    if (code == SEEN_OK && f->stripes)
        code = seen_filter_share(g, why);
    if (code == SEEN_OK)
        take_over(f, g);
    seen_filter_free(g);
    return code;
}

enum seen_code seen_store_refresh(struct seen_filter *f, bool *changed,
                                  struct seen_error *why)
{
    struct reader *r = reader_of(f);
    bool unasked;

    changed = changed ? changed : &unasked;
    *changed = false;
    if (!r)
        return seen_fail(why, SEEN_UNABLE, 0,
                         "the filter is not read from "
                         "a file");
    if (r->changed)
        return seen_fail(why, SEEN_UNABLE, 0,
                         "the copy was changed and goes its own way");
    if (unmoved(r))
        return catch_up(r, f, changed, why);
    *changed = true;
    return read_anew(r, f, why);
}
