/*
 * wall.h - texts that end where memory does.
 *
 * A parser that reads one byte too many dies at the wall. For tests that say
 * cmocka_run_group_tests(tests, build_wall, drop_wall); ROOM is theirs.
 */
#ifndef TEST_WALL_H
#define TEST_WALL_H

#include "test/test.h"

#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

static char *wall; /* ROOM bytes before it are ours, none after it */

static inline int build_wall(void **state)
{
    char *room = mmap(NULL, ROOM + PAGE, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    *state = room;
    if (room == MAP_FAILED || mprotect(room + ROOM, PAGE, PROT_NONE))
        return -1;
    wall = room + ROOM;
    return 0;
}

static inline int drop_wall(void **state)
{
    (void)state;
    return munmap(wall - ROOM, ROOM + PAGE);
}

/* The bytes, ending at the wall. */
static inline void *walled(const void *bytes, size_t len)
{
    assert_true(len <= ROOM);
    return memcpy(wall - len, bytes, len);
}

#endif
