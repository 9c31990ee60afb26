/*
 * watch.h - crawls that the server watches for its operators: `--crawls`.
 *
 * A place is a crawl folder, a folder of crawl folders, a SQLite file of
 * workers, or the URL of a PostgreSQL server. Each place has a thread of its
 * own, which looks at it when somebody asks, at most once per second and for
 * at most a tenth of the time. So a slow server, a damaged file or a disk
 * that hangs costs its own rows, and no lookup ever waits for it. Nothing is
 * written.
 *
 *     if (!watch_is_fresh(w))
 *         watch_wait(w);                       in a thread that may wait
 *     watch_see(w, &view);
 *     for (size_t i = 0; i < view.crawls; i++)
 *         show(view.crawl[i].crawl);
 *     watch_forget(&view);
 *
 * Why is it in the server, and not a program beside it? It is both: `seen serve
 * --crawls DIR` needs no filter, and then it is the program for operators. What
 * such a program needs is what the server has: addresses and Unix sockets,
 * systemd, --host and proxies, the access log, /metrics, the style of pages. To
 * split them would cost a second copy of that or a library for it, and save
 * nothing at run time: seen-all has the code of databases in any case, since
 * seen work is in it, and without --crawls no thread is started. The price is
 * kept small by the layers: only this folder sees sql/, frontier/ and queue/
 * (search/ sees sql/), it reads, and http/ sees only the structs of look.h.
 *
 * Rates come from the differences between looks of the last minute, so the
 * first look has none.
 *
 * Threads: every function may be called by any thread. A view belongs to one.
 */
#ifndef SEEN_SERVE_WATCH_H
#define SEEN_SERVE_WATCH_H

#include "look.h"

enum { WATCH_PLACES = 64, WATCH_PATIENCE = 2000 /* ms */ };

struct watch;

struct watch_options {
    const char *const *place; /* "[NAME=]DIR", "[NAME=]postgresql://..." */
    size_t places;
    const char *const *queue; /* "[NAME=]amqp://...": queues to count, too */
    size_t queues;
};

/* The options are copied. SEEN_RANGE: there are too many places. */
enum seen_code watch_open(struct watch **out,
                          const struct watch_options *options,
                          struct seen_error *why);

/* Waits for its threads for at most a second: one that hangs is left behind, with
   its memory, as the process is about to end. NULL is welcome. */
void watch_close(struct watch *w);

/* Is there nothing to wait for? Then the last look of each place is new
   enough, or the place is late already. */
bool watch_is_fresh(struct watch *w);

/* Ask for looks, and wait for them, at most WATCH_PATIENCE. */
void watch_wait(struct watch *w);

/* One crawl, as it was `age` ms ago. */
struct watch_seen {
    char *name; /* the crawl's; with "-2" if an earlier one has the same */
    const struct watch_crawl *crawl;
    uint64_t age;
    int64_t unix_ms; /* when that was */
    uint64_t late;   /* ms that the place has not answered for; or 0 */
};

struct watch_view {
    struct watch_seen *crawl; /* in the order of the places */
    size_t crawls;
    struct watch_look *look[WATCH_PLACES];
    size_t looks;
    bool failed; /* no memory for all of it */
};

/* The last looks. */
void watch_see(struct watch *w, struct watch_view *view);
void watch_forget(struct watch_view *view);

/* The crawl of this name; NULL. */
const struct watch_seen *watch_find(const struct watch_view *view,
                                    struct seen_span name);

#endif
