/*
 * folder.h - a folder below /tmp for the files of a test.
 *
 *     return cmocka_run_group_tests(tests, folder_make, folder_remove);
 */
#ifndef TEST_FOLDER_H
#define TEST_FOLDER_H

#include "test/test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/disk/walk.h"

static char folder[32];

static inline int folder_make(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/seen-test-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

/* The same, and make it the current folder. */
static inline int folder_enter(void **state)
{
    return folder_make(state) || chdir(folder) ? -1 : 0;
}

static inline int folder_remove(void **state)
{
    (void)state;
    return walk_remove(folder) ? 0 : -1;
}

#endif
