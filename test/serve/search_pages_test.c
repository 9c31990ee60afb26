/* search_pages_test.c - questions to the index of a crawl, and their cost. */
#include "test/folder.h"

#include <stdio.h>
#include <sys/stat.h>

#include "lib/text/span.h"
#include "serve/search/pages.h"
#include "sql/sql.h"

enum { PLENTY = 10000000 };

static struct seen_error why;

#define GOOD(call) \
    do { \
        if ((call) != SEEN_OK) \
            fail_msg("%s: %s", #call, why.text); \
    } while (0)

static const char *inside(const char *name)
{
    static char path[512];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static struct sql *made(const char *name)
{
    struct sql *db;
    char path[600];

    mkdir(inside(name), 0700);
    snprintf(path, sizeof path, "%s/state.db", inside(name));
    GOOD(sql_open(&db, path, SQL_CREATE, 1 << 20, &why));
    return db;
}

/* What a crawl has made of 2,000 pages of two visits: page i says "common",
   its own number and, if that is a multiple of 100, "rare". Page 1 is hostile. */
static void make(const char *name)
{
    struct sql *db = made(name);

    GOOD(sql_run(
        db,
        "PRAGMA user_version = 2;"
        "CREATE VIRTUAL TABLE search USING fts5 (title, text, tokenize = "
        "'unicode61 remove_diacritics 2');"
        "CREATE TABLE fetched (id INTEGER PRIMARY KEY, url TEXT, visit "
        "INTEGER, last INTEGER, stored INTEGER);"
        "CREATE TABLE visits (id INTEGER PRIMARY KEY, began INTEGER, ended "
        "INTEGER);"
        "INSERT INTO visits VALUES (1, 1000, 2000), (2, 3000, 0);"
        "CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL "
        "SELECT i + 1 FROM n WHERE i < 2000) SELECT i FROM n;"
        "INSERT INTO fetched SELECT i, 'http://a.example/' || i, 1 + (i > "
        "1500), i * 10, i FROM n;"
        "INSERT INTO search (rowid, title, text) SELECT i, 'Page ' || i, "
        "'common n' || i || CASE WHEN i % 100 THEN '' ELSE ' rare' END || "
        "CASE WHEN i % 500 THEN '' ELSE ' rare' END FROM n;"
        "UPDATE search SET text = replace(hex(zeroblob(100000)), '00', "
        "'a b ') WHERE rowid = 1",
        &why));
    sql_close(db);
}

static int begin(void **state)
{
    if (folder_make(state))
        return -1;
    make("site");
    return 0;
}

/* The answer, from a budget; *cost becomes what was spent. */
static struct search_found *ask(struct search_question q, const char *words,
                                uint64_t steps, uint64_t *cost)
{
    struct budget budget = { .left = steps };
    struct search_found *found;

    q.words = span_of(words);
    q.most = q.most ? q.most : 10;
    q.to = q.to ? q.to : INT64_MAX;
    found = search_pages(inside("site"), &q, &budget);
    assert_non_null(found);
    assert_int_equal(found->code, SEEN_OK);
    if (cost)
        *cost = steps - budget.left;
    return found;
}

static struct search_found *all(struct search_question q, const char *words)
{
    struct search_found *found = ask(q, words, PLENTY, NULL);

    assert_true(found->complete && !found->costly);
    return found;
}

TEST(the_best_come_first_with_marks)
{
    struct search_found *found = all((struct search_question){ 0 },
                                     "\"rare\"");

    assert_int_equal(found->total, 20);
    assert_int_equal(found->pages, 10);
    /* Those that say it twice; of equal ones those that came last. */
    assert_string_equal(found->page[0].url, "http://a.example/2000");
    assert_string_equal(found->page[3].url, "http://a.example/500");
    assert_string_equal(found->page[4].url, "http://a.example/1900");
    assert_string_equal(found->page[0].title, "Page 2000");
    assert_string_equal(found->page[0].excerpt,
                        "common n2000 \1rare\2 \1rare\2");
    assert_int_equal(found->page[0].visit, 2);
    assert_int_equal(found->page[0].fetched, 20000);
    assert_int_equal(found->page[0].stored, 2000);
    assert_int_equal(found->visits, 2);
    assert_int_equal(found->visit[0].id, 2);
    search_found_free(found);
}

TEST(pages_of_results_follow_each_other)
{
    struct search_found *found[2], *whole;

    whole = all((struct search_question){ .most = 20 }, "\"rare\"");
    assert_int_equal(whole->pages, 20);
    for (size_t i = 0; i < 2; i++) {
        found[i] = all((struct search_question){ .first = 10 * i },
                       "\"rare\"");
        assert_int_equal(found[i]->total, 20);
        for (size_t k = 0; k < 10; k++)
            assert_int_equal(found[i]->page[k].id, whole->page[10 * i + k].id);
        search_found_free(found[i]);
    }
    search_found_free(whole);
    whole = all((struct search_question){ .first = 20 }, "\"rare\"");
    assert_int_equal(whole->pages, 0);
    search_found_free(whole);
}

TEST(visits_and_dates_narrow_it)
{
    static const struct {
        struct search_question q;
        uint64_t total;
    } cases[] = {
        { { .visit = 1 }, 15 },
        { { .visit = 2 }, 5 },
        { { .visit = 3 }, 0 },
        { { .from = 10000 }, 11 }, /* page 1000 was fetched then */
        { { .to = 10000 }, 9 },
        { { .from = 10000, .to = 15001, .visit = 1 }, 6 },
    };

    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct search_found *found = all(cases[i].q, "\"rare\"");

        assert_int_equal(found->total, cases[i].total);
        search_found_free(found);
    }
}

/* The last ones of the crawl, and it says so. */
TEST(a_budget_that_ends_leaves_a_part)
{
    uint64_t cost, dear;
    struct search_found *found = ask((struct search_question){ 0 },
                                     "\"common\"", 20000, &cost);

    assert_false(found->complete);
    assert_false(found->costly);
    assert_in_range(found->total, 100, 1900);
    assert_int_equal(found->pages, 10);
    for (size_t i = 0; i < found->pages; i++) {
        assert_true(found->page[i].id > 2000 - (int64_t)found->total);
        assert_memory_equal(found->page[i].excerpt, "\1common\2", 8);
    }
    assert_true(cost <= 20000);
    search_found_free(found);
    found = ask((struct search_question){ 0 }, "\"common\"", PLENTY, &dear);
    assert_true(found->complete && dear > cost);
    assert_int_equal(found->total, 1999);
    search_found_free(found);
}

TEST(a_budget_for_nothing_says_so)
{
    struct search_found *found = ask((struct search_question){ 0 }, "\"a\"",
                                     200, NULL);

    assert_true(found->costly && !found->complete);
    assert_int_equal(found->total, 0);
    search_found_free(found);
}

/* They are merged before the first page, in memory: see pages.c. */
TEST(words_with_a_star_get_a_part_of_the_budget)
{
    struct search_found *found = ask((struct search_question){ 0 }, "\"a\"",
                                     8000, NULL);

    assert_true(found->complete && found->total == 1);
    search_found_free(found);
    found = ask((struct search_question){ 0 }, "\"a\" *", 8000, NULL);
    assert_true(found->costly);
    search_found_free(found);
    found = ask((struct search_question){ 0 }, "\"a\" *", 160000, NULL);
    assert_true(found->complete && found->total == 1);
    search_found_free(found);
}

/* snippet() of FTS5 would take some minutes. */
TEST(hostile_texts_and_questions_cost_what_they_may)
{
    static const char *const words[] = { "\"a\"", "\"a\" \"b\"",
                                         "\"a b a b a b a b a b a b\"",
                                         "\"a\" * \"b\" *",
                                         "\"a b a b a b\" *" };
    uint64_t cost;

    for (size_t i = 0; i < LENGTH(words); i++) {
        struct search_found *found = ask((struct search_question){ 0 },
                                         words[i], 2000000, &cost);

        assert_true(found->complete && found->total == 1);
        assert_true(cost < 100000);
        assert_int_equal(found->page[0].excerpt[0], SEARCH_BEGIN);
        search_found_free(found);
    }
}

TEST(without_words_there_are_visits)
{
    struct search_found *found = ask((struct search_question){ 0 }, "", 1000,
                                     NULL);

    assert_int_equal(found->visits, 2);
    assert_int_equal(found->pages, 0);
    assert_false(found->running);
    search_found_free(found);
}

static void write_file(const char *name, const char *bytes)
{
    FILE *f = fopen(inside(name), "w");

    assert_non_null(f);
    fputs(bytes, f);
    fclose(f);
}

static void made_by(const char *name, const char *script)
{
    struct sql *db = made(name);

    GOOD(sql_run(db, script, &why));
    sql_close(db);
}

TEST(what_is_not_there_is_named)
{
    static const struct {
        const char *name, *why;
    } cases[] = {
        { "missing", "there is no crawl here now" },
        { "empty", "it is being made" },
        { "file", "there is no crawl here now" },
        { "noise", "the state is damaged: file is not a database" },
        { "other", "not the folder of a crawl" },
        { "later", "a later version of seen made this crawl" },
        { "plain", "this crawl has no index; seen crawl --index keeps one" },
    };
    struct search_question q = { .words = { "\"a\"", 3 }, .most = 10 };

    mkdir(inside("empty"), 0700);
    write_file("empty/state.db", "");
    write_file("file", "x");
    mkdir(inside("noise"), 0700);
    write_file("noise/state.db", "this is not a database, but a long text");
    made_by("other", "CREATE TABLE t (a)");
    made_by("later", "PRAGMA user_version = 3");
    made_by("plain",
            "PRAGMA user_version = 1; CREATE TABLE visits (a); CREATE "
            "TABLE fetched (a)");
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct budget budget = { .left = 1000 };
        struct search_found *found = search_pages(inside(cases[i].name), &q,
                                                  &budget);

        assert_non_null(found);
        assert_int_not_equal(found->code, SEEN_OK);
        assert_string_equal(found->why.text, cases[i].why);
        search_found_free(found);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_come_first_with_marks),
        cmocka_unit_test(pages_of_results_follow_each_other),
        cmocka_unit_test(visits_and_dates_narrow_it),
        cmocka_unit_test(a_budget_that_ends_leaves_a_part),
        cmocka_unit_test(a_budget_for_nothing_says_so),
        cmocka_unit_test(words_with_a_star_get_a_part_of_the_budget),
        cmocka_unit_test(hostile_texts_and_questions_cost_what_they_may),
        cmocka_unit_test(without_words_there_are_visits),
        cmocka_unit_test(what_is_not_there_is_named),
    };

    return cmocka_run_group_tests(tests, begin, folder_remove);
}
