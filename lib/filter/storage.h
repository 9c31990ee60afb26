/*
 * storage.h - what a filter and the file where its cells are stored say to
 * each other.
 *
 * The store sits above filters, so a filter knows only this much of it: what
 * to call before cells change, and when the filter is freed.
 */
#ifndef SEEN_FILTER_STORAGE_H
#define SEEN_FILTER_STORAGE_H

#include <seen/kind_writer.h>

struct seen_storage {
    /*
     * Keys, already hashed under the secret, are about to be added or
     * removed: make that durable, or refuse. On SEEN_OK after() follows once
     * the cells have changed; it gets what *first became, and how many of
     * the n keys were added before the filter refused one. NULL: read-only.
     */
    enum seen_code (*before)(struct seen_storage *s, bool remove,
                             const struct seen_key *key, size_t n,
                             uint64_t *first, struct seen_error *why);
    void (*after)(struct seen_storage *s, uint64_t first, size_t n,
                  size_t done);

    bool copied; /* the cells are a copy in memory, free to change */

    /*
     * The filter is being freed: give back what is not from cells_new(),
     * setting `cells` of those leaves to NULL, and the storage itself.
     */
    void (*release)(struct seen_storage *s, struct seen_filter *f);
};

#endif
