/*
 * crawl_run.h - what `seen crawl` and `seen work` do while they fetch: show
 * progress, print warnings, and end well on a signal.
 */
#ifndef SEEN_CRAWL_RUN_H
#define SEEN_CRAWL_RUN_H

#include "../crawl/engine/crawl.h"

extern const struct crawl_hooks cmd_crawl_hooks;

/*
 * Run a crawl under a name for the progress shown. The first SIGTERM or SIGINT
 * stops it well; the second ends the process at once, which loses nothing
 * either: what was not finished is done again, by this crawl or by others.
 */
enum seen_code cmd_crawl_run(struct crawl *c, const char *name,
                             enum seen_code (*run)(struct crawl *c,
                                                   struct seen_error *why),
                             struct seen_error *why);

#endif
