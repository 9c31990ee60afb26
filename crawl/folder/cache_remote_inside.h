/*
 * cache_remote_inside.h - what the files of a filter on a server share.
 *
 *     cache_remote.c    open, ask, confirm, add
 *     cache_record.c    what the state notes, and whether the filter is whole
 *     cache_copy.c      keys that are to be added, and copies to the server
 *
 * Threads: one at a time, as cache.h.
 */
#ifndef SEEN_CRAWL_CACHE_REMOTE_INSIDE_H
#define SEEN_CRAWL_CACHE_REMOTE_INSIDE_H

#include "cache_inside.h"
#include "cache_remote.h"

/* --- the server --- */

/* Report it to the crawl; or at most once per minute. */
void crawl_remote_warn(struct crawl_cache *c, const char *text);
void crawl_remote_warn_again(struct crawl_cache *c, const char *text);

/* May it pass, so that the crawl goes on without the server? Is the filter
   lost? What it does not have, the rows have. */
bool crawl_remote_may_pass(enum seen_code code);
bool crawl_remote_is_lost(enum seen_code code);

/* The filter of a visit: its address, for the caller to free(). NULL and
   SEEN_OK: what is there is not a filter of this crawl, which is an error
   mostly. */
char *crawl_remote_address(const struct crawl_cache *c, int64_t visit);
enum seen_code crawl_remote_open_at(struct crawl_cache *c,
                                    struct seen_filter **out,
                                    const char *address,
                                    struct seen_error *why);
enum seen_code crawl_remote_foreign(const struct crawl_cache *c,
                                    struct seen_error *why);

/* --- the record --- */

enum seen_code crawl_remote_load_token(struct crawl_cache *c,
                                       struct seen_error *why);

/* The filter has every row up to c->last: note it. */
enum seen_code crawl_remote_record(struct crawl_cache *c,
                                   struct seen_error *why);

/* Does it have every row up to the recorded one? */
bool crawl_remote_is_whole(struct crawl_cache *c, const struct seen_filter *f);

/* bf://: remember the last of these keys, which were added just now; and does a
   filter have those that are remembered, and so all keys? */
void crawl_remote_note_last(struct crawl_cache *c, const struct seen_key *key,
                            size_t n);
enum seen_code crawl_remote_has_last(const struct crawl_cache *c,
                                     const struct seen_filter *f, bool *all,
                                     struct seen_error *why);

/* --- keys that are not yet added --- */

bool crawl_remote_is_kept(const struct crawl_cache *c,
                          const struct seen_key *key);
void crawl_remote_forget_kept(struct crawl_cache *c);

/* Call add() with all of them, in batches, and forget them then. */
typedef enum seen_code crawl_remote_add(struct crawl_cache *c,
                                        const struct seen_key *key, size_t n,
                                        bool *rebuild, struct seen_error *why);
enum seen_code crawl_remote_each_kept(struct crawl_cache *c,
                                      crawl_remote_add *add, bool *rebuild,
                                      struct seen_error *why);

/* --- the copy --- */

/* Copy the filter in memory to the server, if it is time for another try, or
   `now`. */
enum seen_code crawl_remote_copy(struct crawl_cache *c, bool now,
                                 struct seen_error *why);

#endif
