/* rows_test.c - lines at the borders of the buffers that they go through. */
#include "test/filter/cases.h"
#include "test/wall.h"

#include <unistd.h>

#include "lib/share/rows.h"
#include "lib/share/text_form.h"

static char path[] = "/tmp/seen-rows-XXXXXX";

static int enter(void **state)
{
    int fd = mkstemp(path);

    (void)state;
    return fd < 0 ? -1 : close(fd);
}

static int leave(void **state)
{
    (void)state;
    return unlink(path);
}

/* A row of `before` letters unless it is 0, then one of `len`, as a,1111,
   with `end` behind it. */
static void spill(size_t before, size_t len, const char *end)
{
    char *ones = malloc(len + 1 > before ? len + 1 : before);
    FILE *to = fopen(path, "wb");

    assert_non_null(ones);
    assert_non_null(to);
    memset(ones, '1', len + 1 > before ? len + 1 : before);
    if (before) {
        assert_int_equal(fwrite(ones, 1, before, to), before);
        fputc('\n', to);
    }
    memcpy(ones, "a,", 2);
    assert_int_equal(fwrite(ones, 1, len, to), len);
    fputs(end, to);
    assert_int_equal(fclose(to), 0);
    free(ones);
}

/* The row of spill(), taken apart in room for the longest. */
static enum seen_code taken(size_t before, size_t len, const char *end,
                            struct seen_error *why)
{
    static char *wall;
    const char *value;
    struct rows from;
    struct seen_span row;
    enum seen_code code;
    char *to;

    if (!wall)
        wall = wall_new(LINE_MOST + 1);
    to = wall - (LINE_MOST + 1);
    spill(before, len, end);
    code = rows_open(&from, path, why);
    if (code == SEEN_OK && before)
        code = rows_next(&from, &row, true, why);
    assert_int_equal(code, SEEN_OK);
    code = rows_next(&from, &row, true, why);
    if (code == SEEN_OK) {
        assert_int_equal(row.len, len);
        assert_true(rows_split(&row, to, LINE_MOST + 1, &value));
        assert_string_equal(to, "a");
        assert_int_equal(strlen(value), len - 2);
    }
    rows_close(&from);
    return code;
}

/* Wherever a row lies in the buffer, with its end in it or not. */
TEST(the_longest_row_is_taken_and_a_longer_one_is_not)
{
    static const size_t before[] = { 0, 6, LINE_MOST - 1, LINE_MOST };
    static const size_t len[] = {
        2,
        LINE_MOST - 1,
        LINE_MOST,
        LINE_MOST + 1,
        LINE_MOST + LINE_MOST / 2,
        2 * LINE_MOST - 2,
        2 * LINE_MOST - 1,
        2 * LINE_MOST,
        2 * LINE_MOST + 1,
        4 * LINE_MOST,
    };
    struct seen_error why;

    for (size_t i = 0; i < LENGTH(before); i++)
        for (size_t j = 0; j < LENGTH(len); j++) {
            bool fits = len[j] <= LINE_MOST;
            enum seen_code whole = taken(before[i], len[j], "\nb,1\n", &why);

            assert_int_equal(whole, fits ? SEEN_OK : SEEN_CORRUPT);
            if (!fits)
                assert_non_null(strstr(why.text, "longer than any row"));
            assert_int_equal(taken(before[i], len[j], "", &why), SEEN_CORRUPT);
            assert_non_null(strstr(why.text, fits ? "cut short" : "longer"));
            assert_int_equal(why.at, before[i] ? 2 : 1);
        }
}

TEST(a_row_is_not_taken_apart_where_it_has_no_room)
{
    static const char *const rows[] = { "name,value", "name,\"va\"\"lue\"",
                                        "n,", "n" };

    char *wall = wall_new(100);

    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct seen_span row = { .text = rows[i], .len = strlen(rows[i]) };

        for (size_t room = 0; room <= row.len + 1; room++) {
            bool fits = row.len < room && strchr(rows[i], ',');
            const char *value;

            assert_int_equal(rows_split(&row, wall - room, room, &value),
                             fits);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_longest_row_is_taken_and_a_longer_one_is_not),
        cmocka_unit_test(a_row_is_not_taken_apart_where_it_has_no_room),
    };

    return cmocka_run_group_tests(tests, enter, leave);
}
