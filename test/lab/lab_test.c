/* lab_test.c - what experiments are given. */
#include "test/test.h"

#include <string.h>

#include "lab/lab.h"
#include "lab/urls.h"

static struct urls *made(void)
{
    struct urls *u;

    assert_int_equal(urls_new(&u, 1, NULL), SEEN_OK);
    return u;
}

TEST(sizes_are_as_asked_or_of_three)
{
    struct lab lab = { .size = USUAL };

    assert_int_equal(lab_n(&lab, 1, 2, 3), 2);
    lab.size = QUICK;
    assert_int_equal(lab_n(&lab, 1, 2, 3), 1);
    assert_int_equal(lab_runs(&lab, 1, 2, 3), 1);
    lab.size = FULL;
    assert_int_equal(lab_runs(&lab, 1, 2, 3), 3);
    lab.n = 7;
    lab.runs = 8;
    assert_int_equal(lab_n(&lab, 1, 2, 3), 7);
    assert_int_equal(lab_runs(&lab, 1, 2, 3), 8);
}

enum { TASKS = 1000 };

static void square(void *of, unsigned i)
{
    unsigned *result = of;

    result[i] += i * i;
}

TEST(every_task_is_done_once_by_any_number_of_threads)
{
    for (unsigned threads = 1; threads <= 4; threads++) {
        struct lab lab = { .threads = threads };
        unsigned result[TASKS] = { 0 };

        lab_each(&lab, "squares", TASKS, square, result);
        for (unsigned i = 0; i < TASKS; i++)
            assert_int_equal(result[i], i * i);
        lab_each(&lab, "nothing", 0, square, result);
        lab_alone(&lab, "squares", TASKS, square, result);
        for (unsigned i = 0; i < TASKS; i++)
            assert_int_equal(result[i], 2 * i * i);
    }
}

/* A number that is no multiple of a batch, all there, few of the others. */
TEST(what_was_added_is_seen)
{
    struct seen_plan plan = { .kind = "bloom",
                              .capacity = 3000,
                              .rate = 0.01 };
    struct seen_filter *f = lab_filter(&plan);
    struct urls *u = made();
    static bool mark[6000];
    uint64_t wrong, counted = 0;

    wrong = lab_add(f, u, 0, 3000, mark);
    assert_in_range(wrong, 0, 30);
    for (int i = 0; i < 3000; i++)
        counted += mark[i];
    assert_int_equal(counted, wrong);
    assert_int_equal(lab_add(f, u, 0, 1000, NULL), 1000);
    memset(mark, 0, sizeof mark);
    wrong = lab_ask(f, u, 0, 6000, mark);
    assert_in_range(wrong, 3000, 3000 + 75); /* 30 are expected */
    counted = 0;
    for (int i = 0; i < 6000; i++) {
        assert_true(mark[i] || i >= 3000);
        counted += mark[i];
    }
    assert_int_equal(counted, wrong);
    seen_filter_free(f);
    urls_free(u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_as_asked_or_of_three),
        cmocka_unit_test(every_task_is_done_once_by_any_number_of_threads),
        cmocka_unit_test(what_was_added_is_seen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
