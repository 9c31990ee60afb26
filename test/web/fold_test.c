/* fold_test.c - white space is folded, whole or in pieces. */
#include "test/test.h"

#include <string.h>

#include "test/wall.h"
#include "web/fold.h"

static void assert_folded(const char *text, size_t most, const char *expected)
{
    struct buffer to = { .bytes = NULL };
    struct web_fold f = { .to = &to, .most = most };

    web_fold_add(&f, walled(text, strlen(text)), strlen(text));
    buffer_byte(&to, '\0');
    assert_string_equal(to.bytes, expected);
    buffer_clear(&to);
}

TEST(white_space_becomes_one_space_and_none_at_the_ends)
{
    assert_folded("  one  two\tthree four\n", 100, "one two three four");
    assert_folded("lettersandmore words here", 100,
                  "lettersandmore words here");
    assert_folded("a b c d e f g h i j", 100, "a b c d e f g h i j");
    assert_folded("1234567 1234567 ", 100, "1234567 1234567");
    assert_folded("a\xc2\xa0 \xc3\xa4\xff", 100, "a \xc3\xa4\xef\xbf\xbd");
}

TEST(the_length_is_bounded_at_the_end_of_a_character)
{
    assert_folded("one two three four five", 10, "one two th");
    assert_folded("one two three four five", 8, "one two");
    assert_folded("aaaaaaa\xc3\xa4", 8, "aaaaaaa");
}

/* Pieces of one byte are too short for the fast path. */
TEST(pieces_fold_to_what_the_whole_does)
{
    static const char from[] = "abcdefgh XYZ~!  \n\t\x7f\f";
    struct buffer whole = { .bytes = NULL }, parts = { .bytes = NULL };
    unsigned seed = 3;

    for (int i = 0; i < 20000; i++) {
        struct web_fold f = { .to = &whole, .most = 1000 };
        struct web_fold g = { .to = &parts, .most = 1000 };
        char text[64], *at;
        size_t len;

        seed = seed * 1103515245 + 12345;
        len = (seed >> 16) % sizeof text;
        for (size_t k = 0; k < len; k++) {
            seed = seed * 1103515245 + 12345;
            text[k] = from[(seed >> 16) % (seed >> 30 ? 8 : strlen(from))];
        }
        at = walled(text, len);
        whole.len = parts.len = 0;
        web_fold_add(&f, at, len);
        for (size_t k = 0; k < len; k++)
            web_fold_add(&g, at + k, 1);
        assert_int_equal(whole.len, parts.len);
        if (whole.len)
            assert_memory_equal(whole.bytes, parts.bytes, whole.len);
        assert_int_equal(f.space, g.space);
    }
    buffer_clear(&whole);
    buffer_clear(&parts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(white_space_becomes_one_space_and_none_at_the_ends),
        cmocka_unit_test(the_length_is_bounded_at_the_end_of_a_character),
        cmocka_unit_test(pieces_fold_to_what_the_whole_does),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
