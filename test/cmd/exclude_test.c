/* exclude_test.c - the set of URLs to leave out. */
#include "test/test.h"


#include "cmd/exclude.c"

/* What this file needs of the rest of the program. */
enum outcome trouble(const char *format, ...)
{
    (void)format;
    return TROUBLE;
}

enum outcome cmd_ingest_urls(struct seen_ingest *in,
                             const struct cmd_inputs *inputs, char **operand,
                             struct seen_error *why)
{
    (void)in, (void)inputs, (void)operand, (void)why;
    return TROUBLE;
}

TEST(what_is_excluded_is_exactly_what_was_listed)
{
    enum { MANY = 20000 };
    struct exclude e = { 0 };
    struct seen_key key;

    seen_key_number(&key, 0);
    assert_false(exclude_has(&e, &key));
    for (uint64_t i = 0; i < MANY; i++) {
        seen_key_number(&key, i % (MANY / 2));
        assert_true(exclude_add(&e, &key));
    }
    assert_int_equal(e.used, MANY / 2);
    for (uint64_t i = 0; i < MANY; i++) {
        seen_key_number(&key, i);
        assert_int_equal(exclude_has(&e, &key), i < MANY / 2);
    }
    exclude_clear(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_excluded_is_exactly_what_was_listed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
