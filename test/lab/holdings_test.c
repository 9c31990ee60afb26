/* holdings_test.c - an archive profile counts URLs below prefixes. */
#include "test/test.h"

#include <stdio.h>
#include <string.h>

#include "lab/archives/holdings.h"

static void add(struct holdings *h, const char *prefix, bool fresh)
{
    struct seen_key key;

    seen_key_hash(&key, prefix, strlen(prefix));
    assert_int_equal(holdings_add(h, &key), fresh);
    assert_true(holdings_has(h, &key));
}

static void a_prefix_is_new_once(void **state)
{
    struct holdings h = { .slots = 0 };
    struct seen_key absent;

    (void)state;
    seen_key_hash(&absent, "hr,nsk)/", 8);
    assert_false(holdings_has(&h, &absent));
    add(&h, "hr,vijesti)/sport", true);
    add(&h, "hr,vijesti)/arhiva", true);
    add(&h, "hr,vijesti)/sport", false);
    assert_false(holdings_has(&h, &absent));
    assert_int_equal(h.used, 2);
    holdings_clear(&h);
}

/* A line is the prefix, a blank, its count and a newline. */
static void bytes_are_those_of_the_lines(void **state)
{
    struct holdings h = { .slots = 0 };
    uint64_t bytes, packed;

    (void)state;
    for (int i = 0; i < 12; i++)
        add(&h, "hr,vijesti)/sport", i == 0);
    add(&h, "hr,vijesti)/arhiva", true);
    holdings_write(&h, &bytes, &packed);
    assert_int_equal(bytes, strlen("hr,vijesti)/arhiva 1\n"
                                   "hr,vijesti)/sport 12\n"));
    assert_true(packed > 0);
    assert_int_equal(h.used, 0);
}

static void the_table_grows(void **state)
{
    struct holdings h = { .slots = 0 };
    uint64_t bytes, packed, expected = 0;
    char text[32];

    (void)state;
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 5000; i++) {
            snprintf(text, sizeof text, "com,h%d)/", i);
            add(&h, text, !round);
            expected += round ? 0 : strlen(text) + strlen(" 2\n");
        }
    assert_int_equal(h.used, 5000);
    holdings_write(&h, &bytes, &packed);
    assert_int_equal(bytes, expected);
    assert_true(packed < bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_prefix_is_new_once),
        cmocka_unit_test(bytes_are_those_of_the_lines),
        cmocka_unit_test(the_table_grows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
