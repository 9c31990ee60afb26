/*
 * disk.h - bytes to and from files, whole or with a reason.
 *
 * Everything that the store writes or flushes goes through here, so that a
 * test can let the disk be full or fail without being able to break one.
 */
#ifndef SEEN_STORE_DISK_H
#define SEEN_STORE_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <seen/error.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "files are little endian and are mapped as they are"
#endif

/* What a test may replace: fdatasync() of files, fsync() of folders, whose
   names fdatasync() need not flush, pwrite() and posix_fallocate(). */
extern int (*disk_fdatasync)(int fd);
extern int (*disk_fsync)(int fd);
extern ssize_t (*disk_pwrite)(int fd, const void *from, size_t len, off_t at);
extern int (*disk_fallocate)(int fd, off_t at, off_t len);

/* All `len` bytes at `at`, or SEEN_CORRUPT where the file ends before. */
enum seen_code disk_read(int fd, void *to, size_t len, uint64_t at,
                         struct seen_error *why);
enum seen_code disk_write(int fd, const void *from, size_t len, uint64_t at,
                          struct seen_error *why);

/*
 * Have room on the disk for `len` bytes at `at` that the file has already:
 * where it has holes, a mapping of it could get SIGBUS on a full disk. File
 * systems that cannot promise that are believed to have it.
 */
enum seen_code disk_reserve(int fd, uint64_t at, uint64_t len,
                            struct seen_error *why);

/* Wait until the disk has the bytes of a file, or the names of a folder. */
enum seen_code disk_flush(int fd, struct seen_error *why);
enum seen_code disk_flush_folder(const char *folder, struct seen_error *why);

/*
 * Replace a file so that others find the old one or the new one, also after a
 * power failure: begin an empty file beside it, write, and rename it over the
 * other when the disk has it.
 *
 *     code = disk_begin("a.json.new", &fd, why);
 *     code = disk_write(fd, text, len, 0, why);
 *     code = disk_swap(fd, "a.json.new", "a.json", NULL, why);
 *     close(fd);
 *
 * The name beside is one writer's alone, by a lock; what a killed one left
 * there is removed first. If disk_swap() fails before the rename, `next` is
 * gone and `path` is as it was; *swapped, unless NULL, tells if it was done.
 */
enum seen_code disk_begin(const char *next, int *fd, struct seen_error *why);
enum seen_code disk_swap(int fd, const char *next, const char *path,
                         bool *swapped, struct seen_error *why);

#endif
