/*
 * disk.h - bytes to and from files, whole or with a reason.
 *
 * Everything that is written durably goes through here, so that a test can
 * let the disk be full or fail without being able to break one.
 *
 * Threads: plain functions of their arguments.
 */
#ifndef SEEN_DISK_DISK_H
#define SEEN_DISK_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <seen/error.h>

/* What a test may replace: fdatasync() of files and sync_file_range() of their
   parts, fsync() of folders, whose names fdatasync() need not flush, fstat() of
   disk_open(), and pwrite(). */
extern int (*disk_fdatasync)(int fd);
extern int (*disk_sync_range)(int fd, off_t at, off_t len, unsigned how);
extern int (*disk_fsync)(int fd);
extern int (*disk_fstat)(int fd, struct stat *it);
extern ssize_t (*disk_pwrite)(int fd, const void *from, size_t len, off_t at);

/* All `len` bytes at `at`, or SEEN_CORRUPT where the file ends before. */
enum seen_code disk_read(int fd, void *to, size_t len, uint64_t at,
                         struct seen_error *why);
enum seen_code disk_write(int fd, const void *from, size_t len, uint64_t at,
                          struct seen_error *why);

/* The functions here know no names: put that of the file, or the end of a long
   one, before the words of a failure. Returns `code`; SEEN_OK changes
   nothing. */
enum seen_code disk_named(enum seen_code code, const char *name,
                          struct seen_error *why);

/*
 * From now on disk_write() writes past the system's cache, or through it again.
 * Memory, length and place should be multiples of 4096. Where these or the file
 * system do not allow it, it goes on through the cache. Not for a file that
 * another thread writes to.
 */
void disk_direct(int fd, bool direct);

/*
 * Give a place on the disk to every page that a mapping of these `len` bytes of
 * a file has: a store into a page with a hole needs a free block, and where the
 * disk has none it is a SIGBUS. Holes are filled with zeros, which fails with
 * ENOSPC instead. File systems that do not know their holes are trusted to
 * have none; those that copy on write may need a block for any store.
 */
enum seen_code disk_fill_holes(int fd, uint64_t at, uint64_t len,
                               struct seen_error *why);

/* The same for the first `len` bytes of a new file, which becomes so long. It
   need not write zeros where the file system can promise room. */
enum seen_code disk_reserve(int fd, uint64_t len, struct seen_error *why);

/* Wait until the disk has the bytes of a file, or the names of a folder. */
enum seen_code disk_flush(int fd, struct seen_error *why);

/* Begin to write what disk_flush() will wait for. With several files, begin
   with all of them: the file system writes its own journal once then, which
   took 7 to 15 ms instead of 13 to 22 for the four files of a crawl. */
void disk_flush_begin(int fd);

/* Write these bytes, so that disk_flush() has less to wait for. Only that makes
   them safe; but what fails here, it may not report again. */
enum seen_code disk_flush_part(int fd, uint64_t at, uint64_t len,
                               struct seen_error *why);

enum seen_code disk_flush_folder(const char *folder, struct seen_error *why);
/* The same with the folder that has `path`: after a file was made there. */
enum seen_code disk_flush_name(const char *path, struct seen_error *why);

/*
 * Replace a file so that others find the old one or the new one, also after a
 * power failure: begin an empty file beside it, write, and rename it over the
 * other when it is on the disk.
 *
 *     code = disk_begin("a.json.new", &fd, why);
 *     code = disk_write(fd, text, len, 0, why);
 *     code = disk_swap(fd, "a.json.new", "a.json", NULL, why);
 *     close(fd);
 *
 * The caller makes sure, by a lock, that nobody else uses the name beside it;
 * what a killed writer left there is removed first. If disk_swap() fails
 * before the rename, `next` is removed and `path` is as it was; *swapped,
 * unless NULL, reports whether the rename was done.
 */
enum seen_code disk_begin(const char *next, int *fd, struct seen_error *why);
enum seen_code disk_swap(int fd, const char *next, const char *path,
                         bool *swapped, struct seen_error *why);

/*
 * The same in one step: replace `path` by these bytes, through `path`.new.
 * disk_update() leaves a file that already has these bytes alone, with its
 * date; *changed, unless NULL, reports whether it was replaced.
 */
enum seen_code disk_replace(const char *path, const void *bytes, size_t len,
                            struct seen_error *why);
enum seen_code disk_update(const char *path, const void *bytes, size_t len,
                           bool *changed, struct seen_error *why);

/*
 * Read a whole file of at most `most` bytes into memory, with a zero after
 * it, for the caller to free(). SEEN_IO with errno, ENOENT included;
 * SEEN_RANGE if it is longer, or not a regular file.
 */
enum seen_code disk_load(char **bytes, size_t *len, const char *path,
                         size_t most, struct seen_error *why);

/*
 * The first line of a file of at most 4096 bytes, for the caller to free(): a
 * password. SEEN_RANGE if it is empty or has a zero byte.
 */
enum seen_code disk_password(char **password, const char *path,
                             struct seen_error *why);

/*
 * open() a regular file, without waiting for a FIFO or a device: -1 with
 * EINVAL for anything else, and with the errno of a disk that fails. Add
 * O_NOFOLLOW to refuse links.
 */
int disk_open(const char *path, int flags, mode_t mode);

/* Open an empty file in a folder that nobody finds and that ends with this
   process: -1 with errno. Not all file systems make one without a name; then
   it has one for a moment. */
int disk_temporary(const char *folder);

/* Does `path` lead to the open file? Links are followed. */
bool disk_same(int fd, const char *path);
/* Do two paths lead to one file, which is there? */
bool disk_same_file(const char *a, const char *b);

/* Make the folders that lead to `path`, and flush the names of new ones: a file
   that is flushed to the disk is lost nevertheless if its folder's name is. */
enum seen_code disk_make_folders(const char *path, struct seen_error *why);

/* Copy a whole file to a path where nothing is. */
enum seen_code disk_copy(const char *from, const char *to,
                         struct seen_error *why);

#endif
