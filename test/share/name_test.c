/* name_test.c - names of filters. */
#include "test/filter/cases.h"

#include <seen/share.h>


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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_names_are_taken_and_others_are_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
