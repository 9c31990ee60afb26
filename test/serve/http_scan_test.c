/* http_scan_test.c - the fast scanners and the plain ones agree. */
#include "test/wall.h"

#include <stdio.h>
#include <stdlib.h>

#include "serve/http/scan.h"

TEST(both_scanners_agree)
{
    char *wall = wall_new(100);
    uint64_t x = 1;

    for (int round = 0; round < 200000; round++) {
        size_t len = (size_t)round % 67, from;
        char *text = wall - len;

        for (size_t i = 0; i < len; i++) {
            x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
            text[i] = x >> 33 & 31 ? (char)('A' + (x >> 60)) : (char)(x >> 40);
        }
        from = len ? x % len : 0;
        assert_ptr_equal(scan_name(text, text + from, wall),
                         scan_name_portable(text + from, wall));
        assert_ptr_equal(scan_target(text, text + from, wall),
                         scan_target_portable(text + from, wall));
        assert_ptr_equal(scan_text(text, text + from, wall),
                         scan_text_portable(text + from, wall));
    }
}

TEST(both_scanners_know_every_byte)
{
    char *wall = wall_new(100);

    for (int c = 0; c < 256; c++)
        for (size_t at = 0; at < 40; at++) {
            char *text = wall - 40;

            memset(text, 'a', 40);
            text[at] = (char)c;
            assert_int_equal(scan_name(text, text, wall) == wall,
                             is_token((char)c));
            assert_int_equal(scan_target(text, text, wall) == wall,
                             is_target((char)c));
            assert_int_equal(scan_text(text, text, wall) == wall,
                             is_text((char)c));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_scanners_agree),
        cmocka_unit_test(both_scanners_know_every_byte),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
