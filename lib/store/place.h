/*
 * place.h - a filter's file and the files beside it.
 *
 *     crawl.seen             the filter
 *     crawl.seen.journal     what was added since, while a writer has it
 *     crawl.seen.lock        who may write
 *     crawl.seen.new         the next file while it is written
 *
 * Symbolic links are followed once, so that a filter has one lock whatever
 * name it is opened by; also one that leads to where nothing is yet.
 */
#ifndef SEEN_STORE_PLACE_H
#define SEEN_STORE_PLACE_H

#include <stdbool.h>
#include <sys/types.h>

#include <seen/error.h>

struct place {
    char *path, *journal, *lock, *next, *folder;
};

/* Find where `path` is. The file need not exist; SEEN_RANGE if it is there
   and is not a regular one. */
enum seen_code place_init(struct place *p, const char *path,
                          struct seen_error *why);
void place_clear(struct place *p);

/* open() for what lies beside, without waiting or following links: -1 with
   EINVAL for what is not a regular file. */
int place_open(const char *path, int flags, mode_t mode);

/*
 * Become the only writer, and remove what one that was killed left of its
 * next file. The lock is held by the open file, so that process has given it
 * up. SEEN_BUSY: another has it.
 */
enum seen_code place_lock(const struct place *p, int *lock,
                          struct seen_error *why);
void place_unlock(const struct place *p, int lock);

/*
 * For the holder of the lock: begin an empty p->next to be renamed over
 * `path` or `journal`, and end it so: flush, rename, flush the folder.
 * place_swap() closes nothing; on failure before the rename p->next is gone.
 * *swapped, unless NULL, tells whether the rename was done.
 */
enum seen_code place_begin(const struct place *p, int *fd,
                           struct seen_error *why);
enum seen_code place_swap(const struct place *p, int fd, const char *over,
                          bool *swapped, struct seen_error *why);

#endif
