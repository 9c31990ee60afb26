/*
 * crawl.h - the crawler: fetch politely what has not been seen, lose nothing.
 *
 *     code = crawl_open(&c, &settings, starts, &why);   new, or where it ended
 *     code = crawl_run(c, &why);                        until the visit ends
 *     crawl_report(c, &report);
 *     crawl_close(c);
 *
 * Four kinds of threads, each with what belongs to it:
 *
 *     fetching    one, the caller's: the HTTP client and the due times
 *     readers     parse, extract, compress (reader.h)
 *     lookers     look up the names of hosts, which may take long
 *     committing  one: state, cache, files (commit.h)
 *
 * Pages go round: the committing thread reads rows and gives them to hosts,
 * the fetching thread starts what is due, readers make of each answer what is
 * to be stored, and the committing thread stores groups of them.
 *
 * Threads: a crawl belongs to one thread; crawl_stop() may be called from any
 * and from signal handlers.
 */
#ifndef SEEN_CRAWL_H
#define SEEN_CRAWL_H

#include <signal.h>

#include "page.h"
#include "../page/settings.h"

struct crawl;

/* What a run shows while it goes on. */
struct crawl_progress {
    uint64_t pages, waiting, active, bytes;
};

struct crawl_hooks {
    void (*progress)(void *owner, const struct crawl_progress *p);
    void (*warn)(void *owner, const char *message);
    void *owner;
};

/*
 * Open the folder settings->into, which is made if it is missing, with the
 * settings that it has and those that are given. `start` are URLs, ended by
 * NULL; a new crawl needs some, or a list or a template. The settings must
 * live as long as the crawl.
 */
enum seen_code crawl_open(struct crawl **out, struct crawl_settings *settings,
                          char **start, const struct crawl_hooks *hooks,
                          struct seen_error *why);
void crawl_close(struct crawl *c);

/* --revisit began no visit, because no page is due. *next is when the first one
   is, INT64_MAX if none ever is; *now is the crawl's time. */
bool crawl_found_nothing_due(const struct crawl *c, int64_t *now,
                             int64_t *next);

/* Crawl until everything is fetched, a budget is spent, or it is stopped.
   Everything that was fetched is committed when it returns. */
enum seen_code crawl_run(struct crawl *c, struct seen_error *why);

/* End the run soon: requests under way are given up. */
void crawl_stop(struct crawl *c);

#endif
