/*
 * keeper.h - how a filter and the place where its cells are kept talk.
 *
 * The store sits above filters, so a filter knows only this much of it: whom
 * to tell before cells change, and whom to give the cells back to.
 */
#ifndef SEEN_FILTER_KEEPER_H
#define SEEN_FILTER_KEEPER_H

#include <seen/kind_writer.h>

struct seen_keeper {
    /*
     * Keys, already hashed under the secret, are about to be added or
     * removed: make that durable, or refuse. On SEEN_OK after() follows once
     * the cells have changed; it is told what *first became, and how many of
     * the n keys were taken before the filter refused one. NULL: read-only.
     */
    enum seen_code (*before)(struct seen_keeper *k, bool remove,
                             const struct seen_key *key, size_t n,
                             uint64_t *first, struct seen_error *why);
    void (*after)(struct seen_keeper *k, uint64_t first, size_t n,
                  size_t done);

    bool loose; /* the cells are a copy in memory, free to change */

    /*
     * The filter is being freed: give back what is not from cells_new(),
     * setting `cells` of those leaves to NULL, and the keeper itself.
     */
    void (*release)(struct seen_keeper *k, struct seen_filter *f);
};

#endif
