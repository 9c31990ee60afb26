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

/* The row of a page that waits, its visit, and what is known of the page, or
   NULL. The page takes over the texts of `known`, which is cleared then. False:
   no more rows are wanted. */
typedef bool crawl_take_row(void *owner, const struct frontier_page *row,
                            int64_t visit, struct crawl_known *known);

/* What the committing thread does after a turn. */
enum crawl_next {
    CRAWL_GO_ON,       /* wait for pages that are done */
    CRAWL_AT_ONCE,     /* do not: there is more to do without them */
    CRAWL_NOTHING_LEFT /* end */
};

/* The robots.txt of an origin, from the rows. */
struct crawl_kept_robots {
    bool found;
    int status;
    int64_t until;
    char *body;
    size_t len;
};

/* Does a host come into memory? */
enum crawl_coming {
    CRAWL_CAME,
    CRAWL_NOT_YET, /* another worker has it */
    CRAWL_HANDED_OVER /* and has got the host of the origin, too */
};

struct crawl_store {
    /* Other workers ask hosts, too: those of an address belong to one of them,
       who claims it. */
    bool shares_hosts;

    /* --- a turn of the committing thread, without the lock --- */

    /* May this process go on? SEEN_ABSENT, also of what follows: its lease has
       ended. Then it forgets all that it had, and begins anew. */
    enum seen_code (*renew)(struct crawl *c, struct seen_error *why);
    enum seen_code (*begin_anew)(struct crawl *c, struct seen_error *why);

    /* Visits begin and end, pages become due, jobs come: after a commit, and
       before hosts and pages come into memory. */
    enum seen_code (*tend)(struct crawl *c, struct seen_error *why);

    /* And after that. */
    enum seen_code (*rest)(struct crawl *c, bool closing,
                           enum crawl_next *next, struct seen_error *why);

    /* --- commits: commit.c --- */

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
       what the files got is flushed, or begins to be, so that commit() or undo()
       waits for it. */
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

    /* --- what comes into memory: refill.c. The lock is not held. --- */

    /* Hosts come, and go. */
    enum seen_code (*hosts)(struct crawl *c, struct seen_error *why);
    /* This one comes, with pages or without, for the robots.txt of an origin
       that was moved there. */
    enum seen_code (*host)(struct crawl *c, struct seen_span name,
                           struct crawl_origin *of, enum crawl_coming *coming,
                           struct seen_error *why);

    /* Rows of pages of a host that wait, in order, at most `most`; also those
       that are on their way. */
    enum seen_code (*pages)(struct crawl *c, const struct crawl_host *host,
                            unsigned most, crawl_take_row *take, void *owner,
                            struct seen_error *why);
    /* Give such a page what its visit asks for, page->shared, and what is known
       of the page, if its row came without that. A page that gets no
       page->shared goes on waiting. */
    enum seen_code (*prepare)(struct crawl *c, struct crawl_page *page,
                              struct seen_error *why);

    /* What is known of an origin, by its name. The spans live until the next
       call. */
    enum seen_code (*origin)(struct crawl *c, struct frontier_origin *origin,
                             struct seen_error *why);
    /* Its robots.txt, with a body to be freed, unless that has more bytes than
       `most`. */
    enum seen_code (*robots)(struct crawl *c, struct seen_span origin,
                             size_t most, struct crawl_kept_robots *kept,
                             struct seen_error *why);
};

/* --- of the engine, for stores --- */

/* Hosts that something is to be done for. */
struct crawl_some {
    struct crawl_host **host;
    size_t n, room;
};
enum seen_code crawl_some_add(struct crawl_some *some, struct crawl_host *host,
                              struct seen_error *why);

/* All hosts for which is() is true, with the lock; then act() on each of them,
   without it. */
typedef bool crawl_is_host(struct crawl *c, struct crawl_host *host);
typedef enum seen_code crawl_act_on_host(struct crawl *c,
                                         struct crawl_host *host, void *owner,
                                         struct seen_error *why);
enum seen_code crawl_for_each_host(struct crawl *c, crawl_is_host *is,
                                   crawl_act_on_host *act, void *owner,
                                   struct seen_error *why);

#endif
