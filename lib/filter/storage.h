/*
 * storage.h - the interface between a filter and the file of its cells.
 *
 * The store is above filters, so a filter knows only which functions to call
 * before its cells change and when it is freed.
 */
#ifndef SEEN_FILTER_STORAGE_H
#define SEEN_FILTER_STORAGE_H

#include <errno.h>

#include <seen/kind_writer.h>

struct seen_storage {
    /*
     * Keys, already hashed under the secret, are about to be added or
     * removed: make that durable, or refuse. On SEEN_OK, after() is called
     * once the cells have changed. It gets the value of *first, and how many
     * of the n keys were added before the filter refused one. NULL: read-only.
     */
    enum seen_code (*before)(struct seen_storage *s, bool remove,
                             const struct seen_key *key, size_t n,
                             uint64_t *first, struct seen_error *why);
    void (*after)(struct seen_storage *s, uint64_t first, size_t n,
                  size_t done);

    /*
     * These keys, already hashed under the secret, are about to be looked up,
     * or looked up as prefixes (`under`): check the cells that they read, or
     * refuse. Without keys: all cells are about to be read. Many threads may
     * call it. NULL: the cells need no check.
     */
    enum seen_code (*check)(struct seen_storage *s,
                            const struct seen_filter *f,
                            const struct seen_key *key, size_t n, bool under,
                            struct seen_error *why);

    bool copied; /* the cells are a copy in memory, free to change */

    /* Is nonzero once a page of a mapped file was lost; see storage_kept().
       NULL: the cells are not mapped. */
    const int *lost;

    /*
     * The filter is being freed: release cells that are not from cells_new(),
     * set `cells` of those leaves to NULL, and free the storage.
     */
    void (*release)(struct seen_storage *s, struct seen_filter *f);
};

/* Before the cells of keys are read; before all cells are. */
static inline enum seen_code storage_check(const struct seen_filter *f,
                                           const struct seen_key *key,
                                           size_t n, bool under,
                                           struct seen_error *why)
{
    struct seen_storage *s = f->storage;

    return s && s->check ? s->check(s, f, key, n, under, why) : SEEN_OK;
}

static inline enum seen_code storage_check_all(const struct seen_filter *f,
                                               struct seen_error *why)
{
    return storage_check(f, NULL, 0, false, why);
}

/* A page of mapped cells was lost: nothing that came of them holds. */
__attribute__((cold)) static inline enum seen_code storage_lost(
    struct seen_error *why)
{
    errno = EIO;
    return seen_fail(why, SEEN_IO, 0,
                     "a part of the file is lost: it was cut short while it "
                     "was in use, or its disk is full or fails");
}

/* After cells were read or changed: `code`, unless that was for nothing. */
static inline enum seen_code storage_kept(const struct seen_filter *f,
                                          enum seen_code code,
                                          struct seen_error *why)
{
    const struct seen_storage *s = f->storage;

    return s && s->lost && __atomic_load_n(s->lost, __ATOMIC_ACQUIRE)
               ? storage_lost(why)
               : code;
}

#endif
