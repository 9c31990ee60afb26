/*
 * test.h - the common beginning of all cmocka tests.
 *
 *     TEST(what_was_added_is_always_found)
 *     {
 *         assert_true(...);
 *     }
 */
#ifndef TEST_TEST_H
#define TEST_TEST_H

/* cmocka.h needs these four headers before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define TEST(sentence) \
    static void sentence(void **state __attribute__((unused)))

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

#endif
