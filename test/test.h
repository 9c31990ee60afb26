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

/* A test that fails frees nothing. A report of leaks behind its message would
   only hide it, so LeakSanitizer looks for leaks if all tests passed. */
#ifdef __SANITIZE_ADDRESS__
static int test_failures;

#define _cmocka_run_group_tests(...) \
    (test_failures = (_cmocka_run_group_tests)(__VA_ARGS__))

__attribute__((visibility("default"))) int __lsan_is_turned_off(void);
__attribute__((visibility("default"))) int __lsan_is_turned_off(void)
{
    return test_failures != 0;
}
#endif

#endif
