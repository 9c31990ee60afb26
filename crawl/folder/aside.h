/*
 * aside.h - pages of a folder that killed their process: engine/aside.h.
 *
 *     DIR/reading     while a crawl runs: which pages its readers have
 *     aside(key, visit, url ...)      tables of the state, made with the first
 *     suspect_robots(origin, deaths)  row, so that older folders need nothing
 *
 *     code = crawl_folder_aside_open(c, &why);         when a visit has begun
 *     code = crawl_folder_aside_keep(c, page, &why);   in a commit
 *
 * Threads: as the state.
 */
#ifndef SEEN_CRAWL_FOLDER_ASIDE_H
#define SEEN_CRAWL_FOLDER_ASIDE_H

#include "../engine/aside.h"
#include "state.h"

/* Note what the last run was reading when it died, read which pages are set
   aside, and begin notes of this run. With settings->retry_aside they are
   queued instead. The visit has begun, or goes on. */
enum seen_code crawl_folder_aside_open(struct crawl *c,
                                       struct seen_error *why);

/* The page is set aside, within a transaction. */
enum seen_code crawl_folder_aside_keep(struct crawl *c,
                                       const struct crawl_page *page,
                                       struct seen_error *why);

/* Is the page set aside? */
enum seen_code crawl_folder_aside_find(struct crawl_state *s,
                                       const struct seen_key *key, bool *found,
                                       struct seen_error *why);

#endif
