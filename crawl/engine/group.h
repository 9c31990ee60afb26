/*
 * group.h - what one commit collects: pages, links that are new, and what
 * happened at hosts.
 *
 *     commit.c    the order of the steps, for any store
 *     robots.c    what a robots.txt means for its hosts
 *     store.h     what a store does with a group
 *
 * Threads: the committing one only.
 */
#ifndef SEEN_CRAWL_GROUP_H
#define SEEN_CRAWL_GROUP_H

#include "../../frontier/frontier.h"
#include "engine.h"

/* A link that neither the filter nor the group had. */
struct crawl_found {
    struct crawl_page *page;
    const struct crawl_link *link;
    bool endless; /* it becomes no row: --max-queries */
    bool fresh;   /* it is a row now, and was none before */
};

/* A page of the group: found[first] to found[end - 1] were found on it. */
struct crawl_part {
    struct crawl_page *page;
    size_t first, end;
    bool refused; /* its rows were not written: the lease had ended */
};

struct crawl_group {
    struct crawl *c;
    struct crawl_page *pages;
    unsigned database; /* of the frontier, that all their hosts are of */
    struct crawl_part *part;
    size_t parts;
    struct crawl_found *found;
    size_t founds;
    struct map keys; /* of the links that were found, with their visits */
    char (*key)[16];

    /* hosts with news, and their origins; times are relative to `now` */
    int64_t now;
    struct frontier_asked *asked;
    struct crawl_host **host; /* of asked[i] */
    size_t askeds;
    struct frontier_origin *origin;
    struct crawl_origin **origin_of; /* origin[i] */
    size_t origins, origin_room, origin_of_room;

    uint64_t length[CRAWL_FILES]; /* of the files, before */
    bool tried; /* nobody knows whether a commit that failed was done */
    void *rows; /* of the store */
};

enum seen_code crawl_group_no_memory(struct seen_error *why);

/* Commit pages, and free them, also on failure: a group per database of the
   frontier. NULL: only what hosts of one have to say. SEEN_ABSENT: the lease
   has ended. */
enum seen_code crawl_commit(struct crawl *c, struct crawl_page *pages,
                            struct seen_error *why);
/* What hosts have to say, all of them. */
enum seen_code crawl_commit_news(struct crawl *c, struct seen_error *why);

/* --- links --- */

enum { CRAWL_PATH = 64 };

/* The row of a link that was found on a page, without via and host. */
struct frontier_page crawl_link_row(const struct crawl_page *page,
                                    const struct crawl_link *link,
                                    char path[CRAWL_PATH]);

/* --- pages --- */

/* The page is not to be tried again; and there was a request for it. */
bool crawl_page_is_final(const struct crawl_page *page);
bool crawl_page_was_fetched(const struct crawl_page *page);

/* The row of a page that is to be tried again. */
struct frontier_page crawl_page_again(const struct crawl_page *page);

/* --- robots.txt --- */

/* If it is a redirect that can be followed, page->onward is the next page. */
enum seen_code crawl_robots_redirect(struct crawl_page *page,
                                     struct seen_error *why);

/* Is this what robots.txt says, for a day? Not a redirect, which would allow
   everything to a crawl that is killed before it is followed; and not a
   failure. */
bool crawl_robots_is_answer(const struct crawl_page *page);

/* The part of a robots.txt that is kept: as much as counts, and one byte more if
   there is more, so that a line that was cut does not count later. */
struct seen_span crawl_robots_text(const struct crawl_page *page);

/* After the commit, with the lock held: the hosts that wait for it may go
   on. */
enum seen_code crawl_robots_settle(struct crawl *c, struct crawl_page *page,
                                   struct seen_error *why);

/*
 * A robots.txt that was moved to another host is requested there, by that
 * host's politeness, address and checks. If that host is not in memory, the
 * request waits in a list until the store has brought the host. If another
 * worker has that one, the host of the origin goes to that worker.
 *
 *     answer 3xx ──> c->moved ──> host->moved ──> request ──> its origin
 *                      a list        a list
 *
 * The lock is not held.
 */
enum seen_code crawl_robots_place(struct crawl *c, struct seen_error *why);
/* A host leaves memory before it was asked: its list goes back. The lock is
   held. */
void crawl_robots_unplace(struct crawl *c, struct crawl_host *host);

#endif
