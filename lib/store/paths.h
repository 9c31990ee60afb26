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
 * For the holder of the lock: write a new file beside, with the owner and
 * mode of p->path, flush it and rename it over `over`, which is `path` or
 * `journal`. *fd, unless NULL, is the new file, open to read and write, or -1
 * if the old one is still there; it may be open on failure, too, when only
 * the flush of the folder failed.
 */
typedef enum seen_code store_write(void *whose, int fd,
                                   struct seen_error *why);
enum seen_code store_replace(const struct store_paths *p, const char *over,
                             store_write *write, void *whose, int *fd,
                             struct seen_error *why);

#endif
