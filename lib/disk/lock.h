/*
 * lock.h - one process at a time, by an flock() on a file.
 *
 * The lock is held by the open file, so that a process that dies gives it
 * up. It may be given to several threads of a process, but keeps out only
 * other openings of the file.
 */
#ifndef SEEN_DISK_LOCK_H
#define SEEN_DISK_LOCK_H

#include <stdbool.h>

#include <seen/error.h>

/*
 * Take the lock at `path`, which is made if it is missing. SEEN_BUSY, with
 * `busy` as its words, if another process has it; SEEN_RANGE if `path` is a
 * link or not a regular file; SEEN_IO. *fd is -1 on failure.
 */
enum seen_code lock_take(int *fd, const char *path, const char *busy,
                         struct seen_error *why);

/*
 * Does a process have the lock at `path`? False if there is no such file, or
 * it cannot be read. It is asked for by a shared lock of an instant, which
 * lock_take() outwaits.
 */
bool lock_held(const char *path);

/* Give it back; -1 is accepted. With `path` not NULL the file is removed
   first, which is safe: others who wait for it notice. Keeps errno. */
void lock_release(int fd, const char *path);

#endif
