/*
 * cache_inside.h - what the files of a URL cache share.
 *
 *     cache.c           open, ask, add, save
 *     cache_plan.c      which filter a visit begins with
 *     cache_audit.c     how often it was wrong, by an exact sample
 *     cache_known.c     a fuse of the pages that are known
 *     cache_remote.c    a filter on a server, with cache_record.c and
 *                       cache_copy.c
 *
 * Threads: one at a time, as cache.h.
 */
#ifndef SEEN_CRAWL_CACHE_INSIDE_H
#define SEEN_CRAWL_CACHE_INSIDE_H

#include "cache.h"

enum { CRAWL_CACHE_BATCH = 256 }; /* keys that are asked about at a time */

/* --- plan --- */

/* Does --cache ask for a fuse of known pages: fuse+KIND? */
bool crawl_cache_has_fuse(const struct crawl_settings *settings);

/* Make an empty filter for the visit, in memory: c->filter. */
enum seen_code crawl_cache_make(struct crawl_cache *c, struct seen_error *why);

/* --- audit --- */

enum seen_code crawl_cache_open_audit(struct crawl_cache *c, double share,
                                      bool fresh, struct seen_error *why);

/* Is the key one of the sample? Then: the sample has it from now on; and was it
   really seen, as the filter says? */
bool crawl_cache_samples(const struct crawl_cache *c,
                         const struct seen_key *key);
enum seen_code crawl_cache_sample(struct crawl_cache *c,
                                  const struct seen_key *key,
                                  struct seen_error *why);
enum seen_code crawl_cache_audit(struct crawl_cache *c,
                                 const struct seen_key *key, bool seen,
                                 struct seen_error *why);

/* Count keys that a part of the filter has although the whole says no. */
enum seen_code crawl_cache_count_parts(struct crawl_cache *c,
                                       const struct seen_key *key, size_t n,
                                       const bool *seen,
                                       struct seen_error *why);

/* --- known pages --- */

enum seen_code crawl_cache_open_known(struct crawl_cache *c, bool fresh,
                                      struct seen_error *why);

/* seen[i] becomes true for keys of known pages. */
enum seen_code crawl_cache_ask_known(struct crawl_cache *c,
                                     const struct seen_key *key, size_t n,
                                     bool *seen, struct seen_error *why);

/* --- the copy --- */

/* Has the copy become old? Then, when it has been written: the journal ends
   where the copy does. */
bool crawl_cache_is_due(const struct crawl_cache *c);
enum seen_code crawl_cache_cut_journal(struct crawl_cache *c,
                                       struct seen_error *why);

/* --- files --- */

/* "FOLDER/WORD-VISIT.seen", for the caller to free(). */
char *crawl_cache_path(struct crawl_state *s, const char *word, int64_t visit);
char *crawl_cache_keys_path(const struct crawl_state *s, int64_t visit);

/* A file cannot be read. The crawl can do without it, but nobody should lose
   it without knowing. */
enum seen_code crawl_cache_refuse(const char *path,
                                  const struct seen_error *detail,
                                  struct seen_error *why);

#endif
