/* papers_test.c - the lists of experiments are fit to be typed and read. */
#include "test/test.h"

#include <stdbool.h>
#include <string.h>

#include "lab/lab.h"

/* How often a name stands for something that can be run. */
static int meanings(const char *name)
{
    int n = !strcmp(name, "all");

    for (const struct paper *p = papers; p->name; p++) {
        n += !strcmp(name, p->name);
        for (const struct experiment *e = p->experiment; e->name; e++)
            n += !strcmp(name, e->name);
    }
    return n;
}

TEST(every_name_means_one_thing)
{
    for (const struct paper *p = papers; p->name; p++) {
        assert_int_equal(meanings(p->name), 1);
        for (const struct experiment *e = p->experiment; e->name; e++)
            assert_int_equal(meanings(e->name), 1);
    }
}

/* Names are typed, and are parts of addresses in the report. */
TEST(names_are_plain_and_titles_have_no_full_stop)
{
    for (const struct paper *p = papers; p->name; p++)
        for (const struct experiment *e = p->experiment; e->name; e++) {
            assert_int_equal(strspn(e->name, "abcdefghijklmnopqrstuvwxyz"
                                             "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                             "0123456789-."),
                             strlen(e->name));
            assert_true(*e->place && *e->title);
            assert_true(e->title[strlen(e->title) - 1] != '.');
            assert_non_null(e->run);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_name_means_one_thing),
        cmocka_unit_test(names_are_plain_and_titles_have_no_full_stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
