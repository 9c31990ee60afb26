/*
 * store.h - where the rows of a crawl live: a table of functions, as a kind of
 * filter is one.
 *
 *     crawl/folder/    one process: files and SQLite; it knows what is new
 *                      before a commit, from its cache
 *     crawl/team/      many workers: SQLite or PostgreSQL, hosts by lease,
 *                      records to a queue; it knows what is new after
 *
 * The order in which they are called is that of commit.c. A function that a
 * store does not have is NULL, which means that there is nothing to do.
 *
 * Threads: the committing one.
 */
#ifndef SEEN_CRAWL_STORE_H
#define SEEN_CRAWL_STORE_H

#include "group.h"

struct crawl_store {
    /* Before anything else of a commit. */
    enum seen_code (*begin)(struct crawl_group *g, struct seen_error *why);

    /* Step 1: which of these links of a page were seen? They have texts if the
       store's filter reads them. Then: does what was asked hold? If not,
       *again, and all of it is asked again. */
    bool (*reads_texts)(const struct crawl *c);
    enum seen_code (*ask)(struct crawl *c, const struct crawl_page *page,
                          const struct seen_key *key, size_t n, bool *seen,
                          struct seen_error *why);
    enum seen_code (*confirm)(struct crawl *c, bool *again,
                              struct seen_error *why);

    /* Step 2: the URL of the page that this one was found on, to be freed; and
       what the files got is flushed. */
    char *(*via)(struct crawl *c, int64_t id);
    enum seen_code (*flush)(struct crawl *c, struct seen_error *why);

    /* Step 3: records to a queue, which has them when it returns. */
    enum seen_code (*publish)(struct crawl_group *g, struct seen_error *why);

    /* Step 4: all rows, in one transaction, or none. Which links became rows,
       and which pages are refused, is noted in the group. */
    enum seen_code (*commit)(struct crawl_group *g, struct seen_error *why);

    /* Instead of what follows, if one of these failed with this code. */
    void (*undo)(struct crawl_group *g, enum seen_code code);

    /* Step 5: what is a row now is added to the filter. */
    enum seen_code (*added)(struct crawl_group *g, struct seen_error *why);

    /* And hosts may go on: before they do, with the lock held. */
    void (*settle)(struct crawl_group *g);

    /* In any case, at the end. */
    void (*clear)(struct crawl_group *g);
};

#endif
