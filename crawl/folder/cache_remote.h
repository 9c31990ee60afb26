/*
 * cache_remote.h - the URL cache of a visit on a server: --cache redis://...,
 * bf://..., or spatial: of several of one of them.
 *
 * The filter of visit N is at the address with "-N" at the end of its name,
 * and has a seed of its own. One rule holds as for a file: the crawl decides by
 * what the filter says, so the filter must have every row. Redis may lose what
 * it acknowledged. The rows do not: all URLs of a visit are in the frontier, in
 * the table of pages, or among the keys that were kept out. So:
 *
 *     before the commit     ask; then see whether the server is still the same
 *     after the commit      add the new keys, in one batch
 *     now and then          record "has every row up to N" and the identity of
 *                           the server (remote/identity.h) in the state
 *     next run              same identity: add the rows above N
 *
 *     anything else         the filter is made again from the rows, in memory,
 *                           and the crawl goes on with that. It is copied to
 *                           the server as soon as the server takes it.
 *
 * "Anything else" is a chunk that is missing (FLUSHALL, eviction), another
 * process or another replica at the address, and a server that does not
 * answer for the timeout= of the address. No answer that may be wrong reaches
 * the frontier, so nothing is fetched twice.
 *
 * bf:// differs in three points. No metadata can say whose a filter is: the
 * name does, which ends with "-N-TOKEN", a random token of the crawl. No cells
 * can be copied: the server reserves an empty filter, and the URLs of all rows
 * are added to it. Keys that were kept out have no URLs, so such a link may get
 * a second row; the rule that kept it out does so again. And the identity of
 * the server does not matter, but what the filter says of the last keys that
 * were added to it: a server has the adds of one client up to some moment,
 * whether it was restarted, failed over or got an older copy. So a filter that
 * has the last eight keys has all of them, except by chance: the rate to the
 * power of eight. They are asked before each commit and after each add, and
 * recorded in the state for the next run.
 *
 * Threads: one at a time, as cache.h.
 */
#ifndef SEEN_CRAWL_CACHE_REMOTE_H
#define SEEN_CRAWL_CACHE_REMOTE_H

#include "cache.h"

/*
 * Open the filter of the visit. *rebuild: it has to be made from the rows. If
 * the visit begins, the server must be there, and the name must be free.
 */
enum seen_code crawl_remote_open(struct crawl_cache *c, bool fresh,
                                 bool *rebuild, struct seen_error *why);

/* Ask it, with the keys that are not yet added. *rebuild: it does not know. */
enum seen_code crawl_remote_ask(struct crawl_cache *c,
                                const struct seen_key *key, size_t n,
                                bool *seen, bool *rebuild,
                                struct seen_error *why);

/* Does everything that was asked since the last call hold? */
enum seen_code crawl_remote_confirm(struct crawl_cache *c, bool *rebuild,
                                    struct seen_error *why);

/* Remember keys until they are added; or those that are remembered, to a
   filter in memory. */
enum seen_code crawl_remote_keep(struct crawl_cache *c,
                                 const struct seen_key *key, size_t n,
                                 struct seen_error *why);
enum seen_code crawl_remote_pour(struct crawl_cache *c,
                                 struct seen_error *why);

/* Copy a filter in memory to the server if that is due; add what is
   remembered; record how far it is. */
enum seen_code crawl_remote_save(struct crawl_cache *c, bool now,
                                 bool *rebuild, struct seen_error *why);

/* The filter of the visit before; NULL if there is none. */
void crawl_remote_earlier(struct crawl_cache *c);

void crawl_remote_close(struct crawl_cache *c);

/* For reports: kind and rate of the visit's filter when they were last
   recorded, and its address, for the caller to free. False: it is in a file. */
bool crawl_remote_facts(struct crawl_state *s, char *kind, size_t room,
                        double *rate, char **address);

#endif
