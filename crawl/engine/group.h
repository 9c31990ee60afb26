/*
 * group.h - what one commit collects, and its parts.
 *
 *     commit.c          the order of the steps, and the thread
 *     commit_links.c    which links are new, and their rows
 *     commit_page.c     the files and rows of a page
 *     commit_robots.c   what a robots.txt means for its hosts
 *
 * Threads: the committing one only.
 */
#ifndef SEEN_CRAWL_GROUP_H
#define SEEN_CRAWL_GROUP_H

#include "engine.h"

struct crawl_group {
    struct crawl *c;
    struct map keys; /* of new links, by their 16 bytes */
    struct seen_key *key; /* added after the commit */
    char (*bytes)[16];
    size_t n, room, bytes_room;
    int64_t last; /* number of the journal */
    int64_t counts[CRAWL_OUTCOMES], left[CRAWL_LEFT_LINKS], fresh, recovered;
    int64_t unasked; /* see engine.h */
    int64_t costly;  /* pages */
    int64_t saved; /* bytes, by conditional requests */
    int64_t *host; /* that got rows; one after the other may be the same */
    size_t hosts, host_room;
};

enum seen_code crawl_group_no_memory(struct seen_error *why);

/* --- links --- */

enum { CRAWL_PATH = 64 };

/* The row of a link that was found on a page, without via and host. */
struct frontier_page crawl_link_row(const struct crawl_page *page,
                                    const struct crawl_link *link,
                                    char path[CRAWL_PATH]);

/* Do more than `most` pages differ in their query only, with this one? */
bool crawl_link_is_endless(struct map *queries, uint64_t most,
                           struct seen_span url);
void crawl_queries_clear(struct map *queries);

/* Which links of a page are new, to the cache and to the group? Mark all
   others as seen. */
enum seen_code crawl_group_sift(struct crawl_group *g,
                                const struct crawl_page *page, bool *seen,
                                struct seen_error *why);

/* Rows for the links that are not marked, found on the page `via`; and counts
   of those that are not followed, with rows for what `seen crawl why` says. */
enum seen_code crawl_group_insert_links(struct crawl_group *g,
                                        struct crawl_page *page,
                                        const bool *seen, int64_t via,
                                        struct seen_error *why);
enum seen_code crawl_group_leave_out(struct crawl_group *g,
                                     const struct crawl_page *page,
                                     int64_t via, struct seen_error *why);

/* --- pages --- */

/* The page is not to be tried again; and there was a request for it. */
bool crawl_page_is_final(const struct crawl_page *page);
bool crawl_page_was_fetched(const struct crawl_page *page);

/* The row of a page that is to be tried again. */
struct frontier_page crawl_page_again(const struct crawl_page *page);

/* With the lock held: a page that asks for less puts its host off. */
void crawl_page_put_off(struct crawl *c, const struct crawl_page *page);
/* So does one whose links became many rows, unless they were charged when it
   was read. */
void crawl_page_charge_rows(struct crawl *c, const struct crawl_page *page);

/* Step 2 of a commit, for one page: what the files get. It was found on the
   page `via`, or "". */
enum seen_code crawl_group_write_files(struct crawl *c,
                                       struct crawl_page *page,
                                       const char *via,
                                       struct seen_error *why);

/* Step 3, for one page. */
enum seen_code crawl_group_write_rows(struct crawl_group *g,
                                      struct crawl_page *page,
                                      const bool *seen,
                                      struct seen_error *why);

/* --- robots.txt --- */

/* If it is a redirect that can be followed, page->onward is the next page. */
enum seen_code crawl_robots_redirect(struct crawl_page *page,
                                     struct seen_error *why);

/* Is this what robots.txt says, for a day? Not a redirect, which would allow
   everything to a crawl that is killed before it is followed; and not a
   failure. */
bool crawl_robots_is_answer(const struct crawl_page *page);

/* What is kept of it: as much as counts, and a byte more that says that there
   is more, so that the line that it cuts does not count later. */
struct seen_span crawl_robots_text(const struct crawl_page *page);

/* Did another host answer? Its name. */
bool crawl_robots_is_abroad(const struct crawl_page *page,
                            struct seen_span *name);

/* In the transaction: keep the answer; and, if it came from another host, that
   host's due time. */
enum seen_code crawl_robots_keep(struct crawl *c, struct crawl_page *page,
                                 struct seen_error *why);
enum seen_code crawl_robots_put_off(struct crawl *c,
                                    const struct crawl_page *page,
                                    struct seen_error *why);

/* After it, with the lock held: the hosts that wait for it may go on. */
enum seen_code crawl_robots_settle(struct crawl *c, struct crawl_page *page,
                                   struct seen_error *why);

#endif
