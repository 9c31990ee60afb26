/* mman.h - what a reader maps, which files.c reads as it is asked for. There
   are no huge pages: MADV_HUGEPAGE is not defined. */
#ifndef JS_MMAN_H
#define JS_MMAN_H

#include <stddef.h>
#include <sys/types.h>

enum {
    PROT_READ = 1,
    PROT_WRITE = 2,
    MAP_PRIVATE = 2,
    MAP_FIXED = 16,
    MAP_ANONYMOUS = 32,
    MAP_NORESERVE = 64,
    MADV_RANDOM = 1
};
#define MAP_FAILED ((void *)-1)

void *mmap(void *at, size_t len, int protection, int flags, int fd,
           off_t from);
int munmap(void *at, size_t len);
int mprotect(void *at, size_t len, int protection);
int madvise(void *at, size_t len, int advice);

#endif
