/*
 * store.h - the store of a crawl in a folder: see engine/store.h.
 *
 *     commit.c    what a commit writes, with rows.c
 *     hosts.c     hosts and pages that come into memory
 *
 * Threads: the committing one.
 */
#ifndef SEEN_CRAWL_FOLDER_STORE_H
#define SEEN_CRAWL_FOLDER_STORE_H

#include "../engine/store.h"

extern const struct crawl_store crawl_folder_store;

/* Functions of that table. */
enum seen_code crawl_folder_hosts(struct crawl *c, struct seen_error *why);
enum seen_code crawl_folder_pages(struct crawl *c,
                                  const struct crawl_host *host, unsigned most,
                                  crawl_take_row *take, void *owner,
                                  struct seen_error *why);
enum seen_code crawl_folder_prepare(struct crawl *c, struct crawl_page *page,
                                    struct seen_error *why);
enum seen_code crawl_folder_origin(struct crawl *c,
                                   struct frontier_shared_origin *origin,
                                   struct seen_error *why);
enum seen_code crawl_folder_robots(struct crawl *c, struct seen_span origin,
                                   size_t most, struct crawl_kept_robots *kept,
                                   struct seen_error *why);

#endif
