/*
 * cache.h - filters of visits that all workers share: seen work --cache
 * redis://... or bf://...
 *
 * The filter of a visit is at the address with "-VISIT-TOKEN" at the end of its
 * name; the token is one of the frontier, so that a filter that another
 * database left behind is never asked. A visit that was pruned may come again
 * under its name: the metadata says which row of the frontier the filter is of,
 * and on bf://, which has no metadata, the number of the row follows the token.
 * The worker that meets the visit first makes it, and the one that ends the
 * visit removes it.
 *
 * The unique index of the frontier decides, and the filter only spares
 * questions. So a server that does not answer is no trouble: links are asked of
 * the frontier until it does. It is tried again after ten times as long as the
 * last try took, and its timeout is an eighth of the lease at most: a worker
 * that waits for Redis keeps its lease, and nine tenths of its time.
 *
 * Threads: the committing one only.
 */
#ifndef SEEN_CRAWL_TEAM_CACHE_H
#define SEEN_CRAWL_TEAM_CACHE_H

#include "inside.h"

/* Read or make the token of the frontier. */
enum seen_code crawl_team_token(struct crawl_team *t, struct seen_error *why);

enum seen_code crawl_team_cache_open(struct crawl *c, struct seen_error *why);
void crawl_team_cache_close(struct crawl_team *t);

/* Do keys need their texts? */
bool crawl_team_cache_reads(const struct crawl_team *t);

/* Which links of a page does the filter of its visit have? None, if it cannot
   be asked. */
void crawl_team_cache_ask(struct crawl *c, struct crawl_team_visit *visit,
                          const struct seen_key *key, size_t n, bool *seen);

/* Add keys whose rows are there, if that is possible now. */
void crawl_team_cache_add(struct crawl *c, struct crawl_team_visit *visit,
                          const struct seen_key *key, size_t n);

/* The visit has ended. */
void crawl_team_cache_remove(struct crawl *c, int64_t id, const char *visit);

#endif
