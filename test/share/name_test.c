/* name_test.c - names of filters, characters, and digits of digests. */
#include "test/filter/cases.h"

#include <seen/share.h>

#include "lib/share/hex.h"
#include "lib/share/name.h"

/* Without the zero behind it, where a sanitizer sees who reads further. */
static const char *fault(const char *name)
{
    size_t len = strlen(name);
    char *exact = malloc(len ? len : 1);
    const char *wrong;

    memcpy(exact, name, len);
    wrong = seen_share_name_fault(exact, len);
    free(exact);
    return wrong;
}

TEST(plain_names_are_taken_and_others_are_not)
{
    static const char *const good[] = {
        "haw.seen",          "a-b_c.1.seen", "\u017e\u0161.seen",
        "\u4e2d\u6587.seen", "0.seen",       "\U0001f41d.seen"
    };
    static const char *const bad[] = { ".seen",         "haw",
                                       "haw.SEEN",      "..seen",
                                       "-x.seen",       ".x.seen",
                                       "a/b.seen",      "a\\b.seen",
                                       "a..b.seen",     "a b.seen",
                                       "a\nb.seen",     "a\x7f.seen",
                                       "a\xff.seen",    "a\u00a0.seen",
                                       "a\u200b.seen",  "a\u202e.seen",
                                       "a\u2066.seen",  "a\ufeff.seen",
                                       "a\xc3.seen",    "",
                                       "a\u00ad.seen",  "a\xed\xa0\x80.seen",
                                       "a\xc0\xaf.seen" };
    char most[SEEN_SHARE_NAME_MOST + 2];

    for (size_t i = 0; i < LENGTH(good); i++)
        if (fault(good[i]))
            fail_msg("%s: %s", good[i], fault(good[i]));
    for (size_t i = 0; i < LENGTH(bad); i++)
        if (!fault(bad[i]))
            fail_msg("%s is taken", bad[i]);
    memset(most, 'x', sizeof most);
    strcpy(most + SEEN_SHARE_NAME_MOST - 5, ".seen");
    assert_null(fault(most));
    strcpy(most + SEEN_SHARE_NAME_MOST - 4, ".seen");
    assert_non_null(fault(most));
}

/* Against the table of Unicode: each character as it is made, and none of
   what is one bit away from its lead or short of it. */
TEST(every_character_is_read_as_it_was_written)
{
    for (uint32_t c = 0; c <= 0x10ffff; c++) {
        char text[4];
        size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
        uint32_t got = 0, rest = c;

        for (size_t i = n; i-- > 1; rest >>= 6)
            text[i] = (char)(0x80 | (rest & 0x3f));
        text[0] = (char)(n == 1 ? rest : (0xf00u >> n & 0xff) | rest);
        if (c >= 0xd800 && c < 0xe000) {
            assert_int_equal(utf8_char(text, n, &got), 0);
            continue;
        }
        if (utf8_char(text, n, &got) != n || got != c)
            fail_msg("U+%04x is U+%04x", c, got);
        assert_int_equal(utf8_char(text, n - 1, &got), 0);
    }
}

TEST(what_is_too_long_or_too_high_is_no_character)
{
    static const char *const bad[] = { "\x80",
                                       "\xc1\xbf",
                                       "\xe0\x9f\xbf",
                                       "\xf0\x8f\xbf\xbf",
                                       "\xf4\x90\x80\x80",
                                       "\xf5\x80\x80\x80",
                                       "\xff" };
    uint32_t c;

    for (size_t i = 0; i < LENGTH(bad); i++)
        assert_int_equal(utf8_char(bad[i], strlen(bad[i]), &c), 0);
}

TEST(digits_are_read_as_they_were_written)
{
    unsigned char bytes[256], back[256];
    char text[513];

    for (int i = 0; i < 256; i++)
        bytes[i] = (unsigned char)i;
    hex_print(text, bytes, 256);
    assert_int_equal(strlen(text), 512);
    assert_true(hex_parse(back, 256, text, false));
    assert_memory_equal(bytes, back, 256);
    assert_false(hex_parse(back, 2, "0", false));
    assert_false(hex_parse(back, 2, "012", false));
    assert_false(hex_parse(back, 1, "0g", true));
    assert_false(hex_parse(back, 1, "aB", false));
    assert_true(hex_parse(back, 1, "aB", true));
    assert_int_equal(back[0], 0xab);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_names_are_taken_and_others_are_not),
        cmocka_unit_test(every_character_is_read_as_it_was_written),
        cmocka_unit_test(what_is_too_long_or_too_high_is_no_character),
        cmocka_unit_test(digits_are_read_as_they_were_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
