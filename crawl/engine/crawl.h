/*
 * crawl.h - the engine of a crawl, as its caller sees it.
 *
 * A crawl is opened, run and closed by its store: folder/folder.h for one
 * process with a folder, team/team.h for one of many workers. The engine is the
 * same for both. It knows its store by a table of functions only (store.h).
 *
 * Four kinds of threads, each with what belongs to it:
 *
 *     fetching    one, the caller's: the HTTP client and the due times
 *     readers     parse, extract, compress (reader.h)
 *     lookers     look up the names of hosts, which may take long
 *     committing  one: rows and files (commit.c, store.h)
 *
 * Pages go round: the committing thread reads rows and gives them to hosts,
 * the fetching thread starts what is due, readers make of each answer what is
 * to be stored, and the committing thread stores groups of them.
 *
 * Threads: crawl_stop() may be called from any thread, and from signal
 * handlers.
 */
#ifndef SEEN_CRAWL_H
#define SEEN_CRAWL_H

#include <signal.h>

#include <stdint.h>

#include <seen/error.h>
#include <seen/span.h>

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

/* End the run soon: requests under way are given up. */
void crawl_stop(struct crawl *c);

#endif
