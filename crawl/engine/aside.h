/*
 * aside.h - pages, and robots.txt, that kill the process that reads them: from
 * a suspicion to what is not read any more.
 *
 *     waits ──> read, and the process dies ──> suspect ──> read alone ──> done
 *       ^                                        ^  │
 *       │                                        │  └─ the process dies: a death
 *       └── --retry-aside ── aside <── three ────┘
 *
 * When a process dies, each page that one of its readers had is a suspect:
 * reading.h. Most of them did nothing. So a suspect is fetched as any page, and
 * read while the other readers wait. If that succeeds, it is done like any page
 * and nothing of this is left. If the process dies again, only the page that
 * was read alone gets a death. So kill -9, the end of a machine and deploys set
 * nothing aside: they would have to meet the same page three times in the
 * milliseconds in which it is read alone.
 *
 * Where it is written: the row of the page has a bit for the suspicion and two
 * for the deaths, in its flags (frontier/frontier.h). So every process that
 * takes the row knows them, and they are gone when the row is. A page
 * that was set aside has a row in a table of its own, "aside", by its key:
 * later visits find the page again, and do not ask for it.
 *
 * A robots.txt is treated alike. It has no row, so the name of its origin is
 * kept in a table "suspect_robots", with its deaths of a month; after three it
 * has a row in "aside". Nothing of an origin is requested then, as if its
 * robots.txt could not be fetched (RFC 9309, 2.3.1.4). Two kinds of work count:
 * to read the answer, and to ask its rules about pages (allow.c).
 *
 *     crawl/folder/aside.c    the table of a folder
 *     crawl/team/aside.c      notes and table of a team
 *
 * What else could be done: count the requests that each row began, which is a
 * commit before each request; or suspect all pages that a host had at hand,
 * which are some hundred per host, and a database that is asked for each of
 * them. A process per page costs more than the page.
 *
 * Threads: the committing one.
 */
#ifndef SEEN_CRAWL_ASIDE_H
#define SEEN_CRAWL_ASIDE_H

#include "engine.h"

/* The bytes of a key, as tables have them. */
enum { CRAWL_ASIDE_KEY = 16 };
void crawl_aside_key(unsigned char to[CRAWL_ASIDE_KEY], uint64_t lo,
                     uint64_t hi);

/* Keys of pages that were set aside, in memory: mostly none. False without
   memory. */
bool crawl_aside_add(struct crawl *c, struct seen_span key);
void crawl_aside_forget(struct crawl *c);

/* Origins whose robots.txt is suspect, in memory, too. */
enum { CRAWL_SUSPECT_DAYS = 30 };
bool crawl_aside_suspect(struct crawl *c, struct seen_span origin);

/* The key of a robots.txt; and whether it is one of these. */
void crawl_aside_robots_key(unsigned char to[CRAWL_ASIDE_KEY],
                            struct seen_span origin);
enum crawl_trust crawl_aside_trust(const struct crawl *c,
                                   struct seen_span origin);

/* If the page is one of them it is not requested: crawl_page_is_aside(). */
void crawl_aside_mark(const struct crawl *c, struct crawl_page *page);

#endif
