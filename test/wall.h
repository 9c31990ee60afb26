/*
 * wall.h - bytes that end where memory does.
 *
 * A parser that reads or writes one byte too many dies at the wall, a page
 * that cannot be touched:
 *
 *     char *end = wall_new(100);           the 100 bytes before `end` are ours
 *
 *     parse(walled(text, len), len);       a copy that ends at a wall
 *
 * The memory is kept until the program ends.
 */
#ifndef TEST_WALL_H
#define TEST_WALL_H

#include "test/test.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static inline char *wall_new(size_t room)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t whole = (room + page - 1) / page * page;
    char *memory = mmap(NULL, whole + page, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_true(memory != MAP_FAILED);
    assert_int_equal(mprotect(memory + whole, page, PROT_NONE), 0);
    return memory + whole;
}

/* The bytes, ending at a wall; they are there until the next call. */
static inline void *walled(const void *bytes, size_t len)
{
    enum { MOST = 1 << 18 };
    static char *wall;

    if (!wall)
        wall = wall_new(MOST);
    assert_true(len <= MOST);
    return memcpy(wall - len, bytes, len);
}

#endif
