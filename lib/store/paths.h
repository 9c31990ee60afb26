/*
 * paths.h - a filter's file and the files beside it.
 *
 *     crawl.seen             the filter
 *     crawl.seen.journal     what was added since, while a writer has it
 *     crawl.seen.lock        who may write
 *     crawl.seen.new         the next file while it is written
 *
 * Symbolic links are followed once, so that a filter has one lock whatever
 * name it is opened by; also one that leads to where nothing is yet.
 */
#ifndef SEEN_STORE_PATHS_H
#define SEEN_STORE_PATHS_H

#include <seen/error.h>

struct store_paths {
    char *path, *journal, *lock, *next, *folder;
};

/* Find where `path` is. The file need not exist; SEEN_RANGE if it is there
   and is not a regular one. */
enum seen_code store_paths_init(struct store_paths *p, const char *path,
                                struct seen_error *why);
void store_paths_clear(struct store_paths *p);

/*
 * Become the only writer, and remove what one that was killed left of its
 * next file. The lock is held by the open file, so that process has given it
 * up. SEEN_BUSY: another has it.
 */
enum seen_code store_lock(const struct store_paths *p, int *lock,
                          struct seen_error *why);
/* lock_release(lock, p->lock) gives it back. */

/*
 * For the holder of the lock: begin an empty p->next, with the owner and mode
 * of p->path, to be renamed over `path` or `journal` by disk_swap().
 */
enum seen_code store_begin(const struct store_paths *p, int *fd,
                           struct seen_error *why);

#endif
