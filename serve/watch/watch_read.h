/*
 * watch_read.h - read one crawl into a look. Nothing is written anywhere.
 *
 * What cannot be read becomes the `why` of the crawl. A function that returns
 * false lost its database: close and open it again.
 */
#ifndef SEEN_SERVE_WATCH_WATCH_READ_H
#define SEEN_SERVE_WATCH_WATCH_READ_H

#include "../../queue/queue.h"
#include "look.h"

/* Visits, hosts and workers. `runs` is whether a crawl folder is in use. */
bool watch_read_frontier(struct watch_look *look, struct watch_crawl *c,
                         struct frontier_status *status, bool runs);

/* The lengths of queues. */
bool watch_read_queues(struct watch_look *look, struct watch_crawl *c,
                       struct queue *queue);

/* A folder of `seen crawl`, with its last errors. */
void watch_read_folder(struct watch_look *look, struct watch_crawl *c,
                       const char *folder);

#endif
