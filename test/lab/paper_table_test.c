/* paper_table_test.c - published numbers are read as they were printed. */
#include "test/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab/data.h"
#include "lab/paper_table.h"

TEST(a_cell_is_what_the_file_says)
{
    const struct paper_table *p = paper_table(
        "thesis-5.09-non-incremental-1-filter");
    double step;

    assert_int_equal(paper_rows(p), 8);
    assert_int_equal(paper_columns(p), 7);
    assert_string_equal(paper_head(p, 0), "k");
    assert_string_equal(paper_head(p, 6), "5.0");
    assert_string_equal(paper_text(p, 0, 1), "8.7927");
    assert_true(paper_number(p, 0, 1, &step) == 8.7927);
    assert_true(fabs(step - 0.00005) < 1e-12);
    assert_true(paper_number(p, 7, 6, &step) == 0.000004);
    assert_true(fabs(step - 0.0000005) < 1e-12);
    assert_true(paper_number(p, 2, 0, &step) == 5);
    assert_true(step == 0.5);
    assert_int_equal(paper_row(p, "10"), 7);
}

TEST(what_is_no_number_is_not_one)
{
    const struct paper_table *p = paper_table(
        "thesis-5.01-to-5.08-hash-functions");
    double step;

    assert_true(isnan(paper_number(p, 0, 0, &step))); /* incremental */
    assert_true(isnan(step));
    assert_true(isnan(paper_number(p, 0, 6, NULL))); /* a gap */
    assert_string_equal(paper_text(p, 0, 6), "");
}

TEST(a_table_of_names_has_values)
{
    const struct paper_table *p = paper_table("archives-figures");

    assert_true(paper_value(p, "figure_3_4_bits") == 1247044840);
    assert_true(isnan(paper_value(p, "figure_6_hash")));
}

/* Every file has a head, rows of its width, and says where it comes from. */
TEST(all_files_can_be_read)
{
    char name[256];

    assert_true(data_count >= 24);
    for (size_t i = 0; i < data_count; i++) {
        const struct paper_table *p;

        snprintf(name, sizeof name, "%s", data_files[i].name);
        *strrchr(name, '.') = '\0';
        p = paper_table(name);
        assert_true(paper_rows(p) > 0);
        assert_true(paper_columns(p) > 1);
        assert_true(data_files[i].bytes[0] == '#');
    }
}

/* The exit code of a child that does this. */
static int outcome(void (*act)(void))
{
    int status = 0;
    pid_t pid = fork();

    if (!pid) {
        if (!freopen("/dev/null", "w", stderr))
            _exit(9);
        act();
        _exit(0);
    }
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void no_file(void)
{
    paper_table("thesis-5.9");
}

static void no_row(void)
{
    paper_row(paper_table("archives-figures"), "figure_99");
}

static void no_column(void)
{
    paper_number(paper_table("archives-figures"), 0, 99, NULL);
}

static void nothing(void)
{
}

TEST(what_is_not_there_ends_the_lab)
{
    assert_int_equal(outcome(no_file), 2);
    assert_int_equal(outcome(no_row), 2);
    assert_int_equal(outcome(no_column), 2);
    assert_int_equal(outcome(nothing), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cell_is_what_the_file_says),
        cmocka_unit_test(what_is_no_number_is_not_one),
        cmocka_unit_test(a_table_of_names_has_values),
        cmocka_unit_test(all_files_can_be_read),
        cmocka_unit_test(what_is_not_there_ends_the_lab),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
