/* base64_test.c - RFC 4648, strictly. */
#include "test/wall.h"

#include <stdlib.h>

#include "lib/share/base64.h"

/* RFC 4648, section 10. */
static void the_standard_examples_go_both_ways(void **state)
{
    static const struct {
        const char *bytes, *letters;
    } cases[] = {
        { "", "" },
        { "f", "Zg==" },
        { "fo", "Zm8=" },
        { "foo", "Zm9v" },
        { "foob", "Zm9vYg==" },
        { "fooba", "Zm9vYmE=" },
        { "foobar", "Zm9vYmFy" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t n = strlen(cases[i].bytes), len;
        char letters[16] = "";
        unsigned char bytes[16] = "";

        assert_int_equal(base64_length(n), strlen(cases[i].letters));
        base64_encode(letters, (const unsigned char *)cases[i].bytes, n);
        assert_string_equal(letters, cases[i].letters);
        assert_true(base64_decode(bytes, &len, letters, strlen(letters)));
        assert_int_equal(len, n);
        assert_memory_equal(bytes, cases[i].bytes, n);
    }
}

static void what_writing_never_gives_is_refused(void **state)
{
    static const char *const bad[] = {
        "Z",    "Zg",   "Zg=",      "Zh==",     "Zm9=",    "Zg=a",
        "Z===", "====", "Zg==Zg==", "Zm8=Zm8=", "Zm 9",    "Zm9\n",
        "Zm9-", "Zm9_", "Zm9v=",    "=m9v",     "Zm9\x80", "Zm9vZg==Zm9vZm9v",
    };
    unsigned char to[16];
    size_t len;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(base64_decode(to, &len, bad[i], strlen(bad[i])));
}

/* Also that nothing beyond is touched, on either side. */
static void every_length_comes_back_at_the_edge_of_memory(void **state)
{
    unsigned char *from = (unsigned char *)wall_new(4096);
    unsigned char *back = (unsigned char *)wall_new(4096);
    char *letters = wall_new(4096);

    (void)state;
    srand(7);
    for (size_t n = 0; n <= 600; n++) {
        size_t whole = base64_length(n), len;

        for (size_t i = 0; i < n; i++)
            from[(ptrdiff_t)i - (ptrdiff_t)n] = (unsigned char)rand();
        base64_encode(letters - whole, from - n, n);
        assert_true(
            base64_decode(back - whole / 4 * 3, &len, letters - whole, whole));
        assert_int_equal(len, n);
        assert_memory_equal(back - whole / 4 * 3, from - n, n);
    }
}

/* Each of 256 bytes at each place of 8 letters. */
static void every_byte_is_one_letter_or_refused(void **state)
{
    char letters[9] = "AbCd0+/z", again[9] = "";
    unsigned char bytes[6];
    size_t len;
    int good = 0;

    (void)state;
    for (size_t at = 0; at < 8; at++)
        for (int byte = 0; byte < 256; byte++) {
            char was = letters[at];

            letters[at] = (char)byte;
            if (base64_decode(bytes, &len, letters, 8) && len == 6) {
                base64_encode(again, bytes, len);
                assert_string_equal(again, letters);
                good++;
            }
            letters[at] = was;
        }
    assert_int_equal(good, 8 * 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_standard_examples_go_both_ways),
        cmocka_unit_test(what_writing_never_gives_is_refused),
        cmocka_unit_test(every_length_comes_back_at_the_edge_of_memory),
        cmocka_unit_test(every_byte_is_one_letter_or_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
