/* secret_test.c - what is kept of a secret. */
#include "test/test.h"

#include <string.h>

#include "lib/key/secret.h"

TEST(a_check_tells_secrets_apart_and_a_secret_of_zeros_is_none)
{
    static const unsigned char none[SEEN_SECRET],
        one[SEEN_SECRET] = { 1 }, other[SEEN_SECRET] = { [15] = 1 };

    assert_false(key_secret_known(none));
    assert_true(key_secret_known(one) && key_secret_known(other));
    assert_true(key_secret_check(one) != key_secret_check(other));
    assert_true(key_secret_check(one) != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            a_check_tells_secrets_apart_and_a_secret_of_zeros_is_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
