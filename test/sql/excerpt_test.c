/* excerpt_test.c - pieces of texts with what was found, and what they cost. */
#include "test/folder.h"

#include <stdio.h>

#include "sql/sql.h"

#include "lib/text/buffer.h"
#include "lib/text/span.h"

static struct sql *db;
static struct seen_error why;

#define GOOD(call) \
    do { \
        if ((call) != SEEN_OK) \
            fail_msg("%s: %s", #call, why.text); \
    } while (0)

static void opened(void)
{
    char path[512];

    snprintf(path, sizeof path, "%s/e.db", folder);
    GOOD(sql_open(&db, path, SQL_CREATE, 1 << 20, &why));
    GOOD(sql_run(db,
                 "DROP TABLE IF EXISTS s;"
                 "CREATE VIRTUAL TABLE s USING fts5 (title, text, tokenize = "
                 "'unicode61 remove_diacritics 2')",
                 &why));
    GOOD(sql_excerpts(db, &why));
}

static void keep(const char *text, size_t len)
{
    struct sql_statement *st;

    GOOD(sql_prepare(&st, db,
                     "INSERT OR REPLACE INTO s (rowid, title, text) VALUES "
                     "(1, 'a title', ?1)",
                     &why));
    sql_bind_text(st, 1, (struct seen_span){ text, len });
    GOOD(sql_do(st, &why));
}

/* The excerpt of the text, with [ and ] for what was found. */
static const char *excerpt(const char *question, int column, int tokens)
{
    static char text[1024];
    struct sql_statement *st;
    struct seen_span found;
    bool row;

    GOOD(sql_prepare(&st, db,
                     "SELECT seen_excerpt(s, ?2, ?3) FROM s WHERE s MATCH ?1",
                     &why));
    sql_bind_text(st, 1, span_of(question));
    sql_bind_number(st, 2, column);
    sql_bind_number(st, 3, tokens);
    GOOD(sql_step(st, &row, &why));
    assert_true(row);
    found = sql_text(st, 0);
    assert_true(found.len < sizeof text);
    for (size_t i = 0; i < found.len; i++)
        text[i] = found.text[i] == SQL_EXCERPT_BEGIN ? '['
                  : found.text[i] == SQL_EXCERPT_END ? ']'
                                                     : found.text[i];
    text[found.len] = '\0';
    sql_reset(st);
    return text;
}

static const char *excerpt_of(const char *text, const char *question)
{
    keep(text, strlen(text));
    return excerpt(question, 1, 12);
}

TEST(what_was_found_is_marked)
{
    static const struct {
        const char *text, *question, *excerpt;
    } cases[] = {
        { "Red roses.", "roses", "Red [roses]." },
        { "Red roses.", "\"red roses\"", "[Red] [roses]." },
        { "(red)", "red", "([red])" },
        { "CAF\xc3\x89 caf\xc3\xa9", "cafe", "[CAF\xc3\x89] [caf\xc3\xa9]" },
        { "tulips", "tul*", "[tulips]" },
        { "nothing here", "title", "nothing here" }, /* it is in the title */
        { "", "title", "" },
        { "a b c d e f g h i j k l m n o p q r s t", "l",
          " ... f g h i j k [l] m n o p q ... " },
        /* The part with the most different words, and of those the first. */
        { "x . . . . . 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 y x 17 18 19 20",
          "x y", " ... 11 12 13 14 15 16 [y] [x] 17 18 19 20" },
        { "x 2 3 4 5 6 7 8 9 10 11 12 13 14 x", "x",
          "[x] 2 3 4 5 6 7 8 9 10 11 12 ... " },
    };

    opened();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(excerpt_of(cases[i].text, cases[i].question),
                            cases[i].excerpt);
    sql_close(db);
}

TEST(a_word_without_an_end_is_cut_between_characters)
{
    struct buffer text = { .bytes = NULL };
    const char *found;

    opened();
    for (int i = 0; i < 1000; i++)
        buffer_text(&text, "\xc3\xa4");
    buffer_text(&text, " red ");
    for (int i = 0; i < 1000; i++)
        buffer_text(&text, "\xc3\xa4");
    keep(text.bytes, text.len);
    found = excerpt("red", 1, 12); /* although 2,000 bytes are before it */
    assert_memory_equal(found, " ... [red] \xc3\xa4", 13);
    assert_true(strlen(found) < 340);
    found = excerpt("a*", 1, 12);
    assert_int_equal(found[0], '[');
    assert_string_equal(found + strlen(found) - 8, "\xc3\xa4] ... ");
    for (size_t i = 1; i + 6 < strlen(found); i += 2)
        assert_memory_equal(found + i, "\xc3\xa4", 2);
    buffer_clear(&text);
    sql_close(db);
}

/* snippet() and highlight() take minutes for this. */
TEST(the_cost_is_linear_in_the_text)
{
    struct budget budget = { .left = 1000000 };
    struct buffer text = { .bytes = NULL };
    uint64_t cost[2];

    opened();
    for (int n = 0; n < 2; n++) {
        for (int i = 0; i < 1 << 18; i++)
            buffer_text(&text, "a ");
        keep(text.bytes, text.len);
        sql_spend(db, &budget);
        cost[n] = budget.left;
        assert_memory_equal(excerpt("a", 1, 12), "[a] [a] [a]", 11);
        cost[n] -= budget.left;
        sql_spend(db, NULL);
    }
    assert_true(cost[0] > 10000 && cost[1] < 5 * cost[0] / 2);
    buffer_clear(&text);
    sql_close(db);
}

TEST(what_cannot_be_paid_is_the_beginning)
{
    struct budget budget = { .left = 1000 };
    struct buffer text = { .bytes = NULL };

    opened();
    for (int i = 0; i < 20000; i++)
        buffer_text(&text, "word ");
    keep(text.bytes, text.len);
    sql_spend(db, &budget);
    assert_memory_equal(excerpt("word", 1, 12), "word word", 9);
    sql_close(db);
    buffer_clear(&text);
}

TEST(a_statement_ends_with_its_budget)
{
    struct budget budget = { .left = 10000 };
    struct sql_statement *st;
    enum seen_code code;
    bool row;

    opened();
    sql_spend(db, &budget);
    GOOD(sql_prepare(&st, db,
                     "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 "
                     "FROM n) SELECT count(*) FROM n",
                     &why));
    code = sql_step(st, &row, &why);
    assert_int_equal(code, SEEN_UNABLE);
    assert_true(budget_empty(&budget));
    sql_spend(db, NULL);
    GOOD(sql_run(db, "SELECT 1", &why));
    sql_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_found_is_marked),
        cmocka_unit_test(a_word_without_an_end_is_cut_between_characters),
        cmocka_unit_test(the_cost_is_linear_in_the_text),
        cmocka_unit_test(what_cannot_be_paid_is_the_beginning),
        cmocka_unit_test(a_statement_ends_with_its_budget),
    };

    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
