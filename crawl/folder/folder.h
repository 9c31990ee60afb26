/*
 * folder.h - a crawl in a folder: fetch politely what has not been seen, lose
 * nothing.
 *
 *     code = crawl_open(&c, &settings, starts, &hooks, &why);  new, or go on
 *     code = crawl_run(c, &why);                     until the visit ends
 *     crawl_close(c);
 *
 * One process has the folder, its database and its files. The engine that
 * fetches and reads is that of engine/crawl.h. What a visit did is read from
 * the folder: report.h.
 *
 * Threads: a crawl belongs to one thread; crawl_stop() may be called from any
 * and from signal handlers.
 */
#ifndef SEEN_CRAWL_FOLDER_H
#define SEEN_CRAWL_FOLDER_H

#include "../engine/crawl.h"

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

#endif
