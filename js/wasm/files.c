/*
 * files.c - the system calls of a reader, on the files of the host.
 *
 * libseen reads files by pread(), and a reader of few keys maps the cells,
 * says which blocks it will need (posix_fadvise), and reads each before its
 * cells are used (lib/store/blocks.c). That is what is here:
 *
 *     open()            three names, see host.h
 *     pread()           asks the host; what is not there yet is EAGAIN
 *     posix_fadvise()   lets the host fetch all blocks of a question at once
 *     mmap()            memory without content; pread() fills the part of it
 *                       that it reads, and nothing else of it is looked at
 *
 * Memory of a mapping is not given back: each filter has an instance of its
 * own, which goes as a whole.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../../lib/disk/disk.h"
#include "host.h"

enum { FIRST = 3, PAGE = 65536 };

static const char *const names[JS_FILES] = { "/filter", "/delta", "/result" };

/* Where read() goes on. */
static uint64_t place[JS_FILES];

/* The mapping: file 0 from `from` on. */
static unsigned char *map;
static uint64_t map_from, map_len;

static int find(const char *path)
{
    for (int i = 0; i < JS_FILES; i++)
        if (!strcmp(path, names[i]) && js_host_size(i) >= 0)
            return i;
    errno = ENOENT;
    return -1;
}

int open(const char *path, int flags, ...)
{
    int file = flags & O_CREAT && !strcmp(path, names[JS_RESULT]) ? JS_RESULT
                                                                  : find(path);

    if (file < 0)
        return -1;
    place[file] = 0;
    return file + FIRST;
}

int close(int fd)
{
    (void)fd;
    return 0;
}

static int describe(int file, struct stat *it)
{
    memset(it, 0, sizeof *it);
    it->st_size = (off_t)js_host_size(file);
    it->st_mode = S_IFREG;
    it->st_ino = (ino_t)file + 1;
    return 0;
}

int fstat(int fd, struct stat *it)
{
    return describe(fd - FIRST, it);
}

int stat(const char *path, struct stat *it)
{
    int file = find(path);

    return file < 0 ? -1 : describe(file, it);
}

int lstat(const char *path, struct stat *it)
{
    return stat(path, it);
}

int access(const char *path, int mode)
{
    (void)mode;
    return find(path) < 0 ? -1 : 0;
}

int unlink(const char *path)
{
    (void)path;
    return 0;
}

char *realpath(const char *path, char *to)
{
    (void)to;
    return find(path) < 0 ? NULL : strdup(path);
}

ssize_t readlink(const char *path, char *to, size_t room)
{
    (void)path, (void)to, (void)room;
    errno = EINVAL;
    return -1;
}

int nanosleep(const struct timespec *time, struct timespec *left)
{
    (void)time, (void)left;
    return 0;
}

/* Copy what was read of the cells to where they are mapped. */
static void fill(uint64_t at, const unsigned char *bytes, size_t len)
{
    uint64_t end = at + len, to = map_from + map_len;

    if (at < map_from) {
        if (end <= map_from)
            return;
        bytes += map_from - at;
        at = map_from;
    }
    if (end > to)
        end = to;
    if (at < end)
        memcpy(map + (at - map_from), bytes, (size_t)(end - at));
}

ssize_t pread(int fd, void *to, size_t len, off_t at)
{
    int n = js_host_read(fd - FIRST, to, (int)len, (double)at);

    if (n < 0)
        errno = EAGAIN;
    else if (map && fd - FIRST == JS_FILTER)
        fill((uint64_t)at, to, (size_t)n);
    return n;
}

ssize_t read(int fd, void *to, size_t len)
{
    ssize_t n = pread(fd, to, len, (off_t)place[fd - FIRST]);

    if (n > 0)
        place[fd - FIRST] += (uint64_t)n;
    return n;
}

/* --- lib/disk/disk.c, which is mostly about writing --- */

enum seen_code disk_read(int fd, void *to, size_t len, uint64_t at,
                         struct seen_error *why)
{
    ssize_t n;

    for (unsigned char *p = to; len; p += n, at += (uint64_t)n) {
        n = pread(fd, p, len, (off_t)at);
        if (n < 0)
            return seen_fail(why, SEEN_IO, at, "cannot be read");
        if (!n)
            return seen_fail(why, SEEN_CORRUPT, at,
                             "ends at byte %llu; the file was cut short",
                             (unsigned long long)at);
        len -= (size_t)n;
    }
    return SEEN_OK;
}

enum seen_code disk_write(int fd, const void *from, size_t len, uint64_t at,
                          struct seen_error *why)
{
    if (js_host_write(fd - FIRST, from, (int)len, (double)at) == (int)len)
        return SEEN_OK;
    return seen_fail(why, SEEN_IO, at, "cannot be written");
}

int disk_open(const char *path, int flags, mode_t mode)
{
    return open(path, flags, mode);
}

enum seen_code disk_flush(int fd, struct seen_error *why)
{
    (void)fd, (void)why;
    return SEEN_OK;
}

/* No file is replaced. */
bool disk_same(int fd, const char *path)
{
    (void)fd, (void)path;
    return true;
}

int posix_fadvise(int fd, off_t at, off_t len, int advice)
{
    if (advice == POSIX_FADV_WILLNEED)
        js_host_want(fd - FIRST, (double)at, (double)len);
    return 0;
}

/* --- mappings --- */

void *mmap(void *at, size_t len, int protection, int flags, int fd, off_t from)
{
    size_t pages = (len + PAGE - 1) / PAGE, first;

    (void)at, (void)protection, (void)flags;
    if (len > SIZE_MAX - PAGE ||
        (first = __builtin_wasm_memory_grow(0, pages)) == SIZE_MAX) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    map = (unsigned char *)(first * PAGE);
    map_from = (uint64_t)from;
    map_len = len;
    (void)fd;
    return map;
}

int munmap(void *at, size_t len)
{
    (void)at, (void)len;
    map = NULL;
    return 0;
}

int mprotect(void *at, size_t len, int protection)
{
    (void)at, (void)len, (void)protection;
    return 0;
}

int madvise(void *at, size_t len, int advice)
{
    (void)at, (void)len, (void)advice;
    return 0;
}
