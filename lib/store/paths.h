/*
 * paths.h - a filter's file and the files beside it.
 *
 *     crawl.seen             the filter
 *     crawl.seen.journal     changes since, while a writer has it open
 *     crawl.seen.keys        the keys of a filter that keeps them: keys.h
 *     crawl.seen.lock        the lock of the writer
 *     crawl.seen.new         the next file while it is written
 *     crawl.seen.grow        a larger filter while it is filled: grow.c
 *
 * Symbolic links are resolved first, even dangling ones, so that a filter has
 * one lock under all its names.
 */
#ifndef SEEN_STORE_PATHS_H
#define SEEN_STORE_PATHS_H

#include <seen/error.h>

struct store_paths {
    char *path, *journal, *keys, *lock, *next, *grow, *folder;
};

/* Resolve `path`. The file need not exist; SEEN_RANGE if it exists and is not
   a regular file. */
enum seen_code store_paths_init(struct store_paths *p, const char *path,
                                struct seen_error *why);
void store_paths_clear(struct store_paths *p);

/*
 * Become the only writer, and remove the next files of a killed writer. The
 * open file holds the lock, so a process that dies releases it. SEEN_BUSY if
 * another writer has it.
 */
enum seen_code store_lock(const struct store_paths *p, int *lock,
                          struct seen_error *why);
/* lock_release(lock, p->lock) releases it. */

/* For the holder of the lock: make a file beside p->path, with its owner and
   mode. *fd is -1 after a failure. */
enum seen_code store_beside(const struct store_paths *p, const char *name,
                            int *fd, struct seen_error *why);

/*
 * For the holder of the lock: write p->next, with the owner and mode of
 * p->path, flush it and rename it over `over`, which is `path` or `journal`.
 * *fd, unless NULL, is the new file, open to read and write, or -1 if the old
 * one still exists. It may be open after a failure, too: then only the flush
 * of the folder failed.
 */
typedef enum seen_code store_write(void *whose, int fd,
                                   struct seen_error *why);
enum seen_code store_replace(const struct store_paths *p, const char *over,
                             store_write *write, void *whose, int *fd,
                             struct seen_error *why);

#endif
