/* fault_test.c - what keeps a line from being a URL. */
#include "test/wall.h"

#include <stdbool.h>

#include <seen/key.h>

TEST(every_control_byte_is_found_wherever_it_is)
{
    char *wall = wall_new(100);

    for (size_t len = 1; len < 70; len++) {
        char *line = wall - len;

        memset(line, 'x', len);
        assert_null(seen_key_fault(line, len));
        for (size_t at = 0; at < len; at++) {
            for (int c = 0; c < 256; c++) {
                bool control = c < 0x20 || c == 0x7f;

                line[at] = (char)c;
                assert_int_equal(seen_key_fault(line, len) != NULL, control);
            }
            line[at] = 'x';
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_control_byte_is_found_wherever_it_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
