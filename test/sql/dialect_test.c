/* dialect_test.c - statements in the words of both databases. */
#include "test/test.h"

#include <stdlib.h>
#include <string.h>

#include "sql/kind.h"

static const struct sql_dialect server = {
    .id = "ID",
    .serial = "SERIAL",
    .number = "NUMBER",
    .real = "REAL",
    .bytes = "BYTES",
    .now = "NOW",
    .lock = " LOCK",
    .skip = " SKIP",
    .arrays = true,
    .parameter = '$',
};
static const struct sql_dialect file = {
    .id = "ID",
    .serial = "SERIAL",
    .number = "NUMBER",
    .real = "REAL",
    .bytes = "BYTES",
    .now = "NOW",
    .parameter = '?',
};

TEST(words_in_braces_and_parameters_are_replaced)
{
    static const struct {
        const char *text, *server, *file;
        unsigned parameters;
    } cases[] = {
        { "", "", "", 0 },
        { "SELECT 1", "SELECT 1", "SELECT 1", 0 },
        { "{id} {serial} {number} {real} {bytes} {now}",
          "ID SERIAL NUMBER REAL BYTES NOW", "ID SERIAL NUMBER REAL BYTES NOW",
          0 },
        { "a{lock}", "a LOCK", "a", 0 },
        { "a{skip}", "a LOCK SKIP", "a", 0 },
        { "a{lock h}", "a LOCK OF h", "a", 0 },
        { "a{skip h}", "a LOCK OF h SKIP", "a", 0 },
        { "?1, ?12,?3", "$1, $12,$3", "?1, ?12,?3", 12 },
        { "a ? b ?", "a ? b ?", "a ? b ?", 0 },
        { "'{now} ?1' ?1", "'{now} ?1' $1", "'{now} ?1' ?1", 1 },
        { "'it''s {x}' ?2", "'it''s {x}' $2", "'it''s {x}' ?2", 2 },
        { "\"{id}?1\"", "\"{id}?1\"", "\"{id}?1\"", 0 },
        { "-- {x} ?1\n?2", "-- {x} ?1\n$2", "-- {x} ?1\n?2", 2 },
        { "/* {x} ' */ ?1", "/* {x} ' */ $1", "/* {x} ' */ ?1", 1 },
        { "'not ended ?1", "'not ended ?1", "'not ended ?1", 0 },
        { "/* not ended ?1", "/* not ended ?1", "/* not ended ?1", 0 },
        { "-- not ended ?1", "-- not ended ?1", "-- not ended ?1", 0 },
        { "5 - 3 / ?1", "5 - 3 / $1", "5 - 3 / ?1", 1 },
        { "{rows number}", "unnest($1::NUMBER[]) AS rows (column1)",
          "(VALUES (?1)) AS rows", 1 },
        { "{rows text bytes real} ?4",
          "unnest($1::text[], $2::BYTES[], $3::REAL[]) AS rows (column1, "
          "column2, column3) $4",
          "(VALUES (?1, ?2, ?3)) AS rows ?4", 4 },
    };

    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct sql_parameters n;
        char *text = sql_expand(&server, cases[i].text, &n, NULL);

        assert_string_equal(text, cases[i].server);
        assert_int_equal(n.highest, cases[i].parameters);
        free(text);
        text = sql_expand(&file, cases[i].text, &n, NULL);
        assert_string_equal(text, cases[i].file);
        assert_int_equal(n.highest, cases[i].parameters);
        free(text);
    }
}

TEST(other_words_and_numbers_are_refused_with_their_place)
{
    static const struct {
        const char *text;
        uint64_t at;
    } cases[] = { { "a {b}", 2 },
                  { "{", 0 },
                  { "{}", 0 },
                  { "{now", 0 },
                  { "{NOW}", 0 },
                  { "{lockh}", 0 },
                  { "{rows}", 0 },
                  { "{rows }", 0 },
                  { "{rows key}", 0 },
                  { "{rows text}{rows text}", 11 },
                  { "{rows text  text}", 0 },
                  { "x ?0", 2 },
                  { "?1001", 0 },
                  { "?99999999999999999999999", 0 } };

    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct seen_error why = { .code = SEEN_OK };
        struct sql_parameters n;

        assert_null(sql_expand(&server, cases[i].text, &n, &why));
        assert_int_equal(why.code, SEEN_RANGE);
        assert_int_equal(why.at, cases[i].at);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_in_braces_and_parameters_are_replaced),
        cmocka_unit_test(other_words_and_numbers_are_refused_with_their_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
