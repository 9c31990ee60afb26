/* advice_test.c - no structure is advised that the runs do not show to be best. */
#include "test/test.h"

#include <string.h>

#include "lab/content.h"
#include "lab/ours/ours.h"

static const struct subject named[] = {
    { .name = "bloom", .kind = "bloom" },
    { .name = "blocked", .kind = "blocked" },
    { .name = "keyed", .kind = "blocked", .keyed = true },
    { .name = "fuse", .kind = "fuse" },
};
enum { BLOOM, BLOCKED, KEYED_ONE, FUSE, NAMED };

static struct choice choice_of(unsigned which, double bits, double ns,
                               double error)
{
    struct choice c = { .subject = &named[which] };

    c.small = c.large = (struct measured){
        .n = 1000000,
        .bits = bits,
        .planned = 0.01,
        .expected = 0.01,
        .rate = 0.01,
        .built = which == FUSE,
        .add = ns,
        .ask_new = ns,
        .ask_one = ns,
    };
    c.able[ADD] = which != FUSE;
    for (enum timing t = 0; t < TIMINGS; t++)
        c.time[t] = (struct noisy){ ns, error, 3 };
    return c;
}

/* The headline for a Bloom filter and a blocked one with these times. */
static struct section *advised(double bloom, double bloom_error,
                               double blocked, double blocked_error)
{
    struct section *s = section_new(NULL, NULL);
    const struct choice choice[NAMED] = {
        choice_of(BLOOM, 9.59, bloom, bloom_error),
        choice_of(BLOCKED, 9.9, blocked, blocked_error),
        /* Faster than all others, but a secret is a special need. */
        choice_of(KEYED_ONE, 9.9, blocked / 2, 0),
        choice_of(FUSE, 9, 10, 0),
    };

    advise(s, choice, NAMED, 0.01);
    assert_non_null(s->headline);
    return s;
}

static const struct table *default_table(const struct section *s)
{
    for (size_t i = 0; i < s->parts; i++)
        if (s->part[i].table &&
            !strcmp(s->part[i].table->name, "which-default"))
            return s->part[i].table;
    fail();
    return NULL;
}

static const char *verdict(const struct section *s, size_t row)
{
    return table_cell(default_table(s), row, 5)->text;
}

TEST(a_clear_difference_of_times_decides_for_the_faster)
{
    struct section *s = advised(56.9, 1, 19.8, 1);

    assert_ptr_equal(strstr(s->headline, "Without special needs choose "
                                         "blocked: 9.90 bits"),
                     s->headline);
    assert_int_equal(table_rows(default_table(s)), 2);
    assert_string_equal(verdict(s, 0), "slower");
    assert_string_equal(verdict(s, 1), "the fastest");
    section_free(s);
}

/* The smaller one was chosen here, since a test with five noisy rounds found
   no difference between 127.6 and 26.8 ns. */
TEST(noise_that_hides_a_difference_does_not_decide_for_the_smaller)
{
    struct section *s = advised(127.6, 30, 26.8, 3);

    assert_null(strstr(s->headline, "choose bloom"));
    assert_non_null(strstr(s->headline, "do not decide between blocked"));
    assert_non_null(strstr(s->headline, "bloom (9.59 bits, "));
    assert_string_equal(verdict(s, 0), "not decided");
    section_free(s);
}

TEST(the_smaller_is_chosen_if_it_is_shown_to_be_as_fast)
{
    struct section *s = advised(20.2, 0.05, 20, 0.05);

    assert_ptr_equal(strstr(s->headline, "Without special needs choose bloom"),
                     s->headline);
    assert_string_equal(verdict(s, 0), "as fast");
    section_free(s);
    s = advised(22.5, 0.05, 20, 0.05); /* an eighth is too much */
    assert_ptr_equal(strstr(s->headline, "Without special needs choose "
                                         "blocked"),
                     s->headline);
    section_free(s);
}

TEST(one_run_decides_nothing)
{
    struct section *s = advised(20, INFINITY, 60, INFINITY);

    assert_non_null(strstr(s->headline, "do not decide between bloom"));
    assert_non_null(strstr(s->headline, "an unknown number of times"));
    section_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clear_difference_of_times_decides_for_the_faster),
        cmocka_unit_test(
            noise_that_hides_a_difference_does_not_decide_for_the_smaller),
        cmocka_unit_test(the_smaller_is_chosen_if_it_is_shown_to_be_as_fast),
        cmocka_unit_test(one_run_decides_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
