/*
 * shared.h - what the pages of a visit have in common: what it asks for.
 *
 * A crawl in a folder has one at a time; a worker of a team has one per visit
 * that goes on. Readers only look at it, so any number of them may.
 *
 * Threads: read-only while pages refer to it, except for `pages`, which is
 * atomic, and `queries`, which belongs to the committing thread.
 */
#ifndef SEEN_CRAWL_SHARED_H
#define SEEN_CRAWL_SHARED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct crawl_focus;
struct crawl_queries;
struct crawl_scope;
struct crawl_settings;
struct crawl_template;

struct crawl_shared {
    const struct crawl_settings *settings;
    const struct crawl_scope *scope;
    const struct crawl_template *template; /* or NULL */
    const struct crawl_focus *focus;       /* or NULL */
    const char *folder; /* in which stored copies are, or NULL */
    const char *visit;  /* its name */
    int64_t visit_id;
    struct crawl_queries
        *queries;         /* the visit's pages per path with a query */
    atomic_size_t *pages; /* the visit's pages in memory; or NULL */
    void *owned_by_store; /* what else the store knows of the visit */
    bool no_warc;         /* nothing is packed */
    bool digests;         /* they are wanted all the same */
};

#endif
