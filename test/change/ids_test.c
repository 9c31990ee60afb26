/* ids_test.c - numbers of answers by ids, in tables that grow and go. */
#include "test/test.h"

#include <stdio.h>

#include "change/ids.h"
#include "test/folder.h"

enum { IDS = 150000, BATCH = 1000 };

static struct sql *db;
static struct change_ids ids;

static uint64_t hash_of(int64_t number)
{
    char text[32];
    int len = snprintf(text, sizeof text, "id-%lld", (long long)number);

    return change_ids_hash((struct seen_span){ text, (size_t)len });
}

static void open_ids(void)
{
    struct seen_error why;
    char path[64];

    snprintf(path, sizeof path, "%s/ids.db", folder);
    if (sql_open(&db, path, SQL_CREATE, 1 << 20, &why) != SEEN_OK ||
        sql_run(db, change_ids_schema, &why) != SEEN_OK ||
        change_ids_open(&ids, db, &why) != SEEN_OK)
        fail_msg("%s", why.text);
}

static void close_ids(void)
{
    change_ids_clear(&ids);
    sql_close(db);
}

static void add_ids(int64_t first, int64_t last)
{
    assert_int_equal(sql_begin(db, NULL), SEEN_OK);
    for (int64_t i = first; i <= last; i++) {
        assert_int_equal(change_ids_add(&ids, hash_of(i), i, NULL), SEEN_OK);
        if (i % BATCH == 0 || i == last)
            assert_int_equal(change_ids_note(&ids, NULL), SEEN_OK);
    }
    assert_int_equal(sql_commit(db, NULL), SEEN_OK);
}

/* Is `number` a candidate for its id? *others is how many others there are. */
static bool is_found(int64_t number, unsigned *others)
{
    struct change_ids_at at = change_ids_begin(&ids, hash_of(number));
    bool found = false;
    int64_t other;

    while (change_ids_next(&ids, &at, &other)) {
        found |= other == number;
        *others += other != number;
    }
    return found;
}

/* Slots tell 2^24 hashes apart, and a question sees a few slots per table: of
   300,000 questions, about 300,000 * 10 / 2^24 = 0.2 find another number. */
static void expect_from(int64_t first)
{
    unsigned others = 0, missing = 0;

    for (int64_t i = first; i <= IDS; i++)
        missing += !is_found(i, &others);
    assert_int_equal(missing, 0);
    for (int64_t i = IDS + 1; i <= 2 * IDS; i++)
        assert_false(is_found(i, &others));
    assert_in_range(others, 0, 5);
}

TEST(every_id_is_found_also_after_it_was_read_back)
{
    open_ids();
    add_ids(1, IDS);
    assert_in_range(ids.tables, 3, 4);
    expect_from(1);
    close_ids();
    open_ids();
    expect_from(1);
    close_ids();
}

TEST(forgotten_ids_free_their_tables_and_rows)
{
    unsigned others = 0, tables;

    open_ids();
    tables = ids.tables;
    assert_int_equal(change_ids_forget(&ids, 100500, NULL), SEEN_OK);
    assert_true(ids.tables < tables);
    assert_false(is_found(1, &others));
    expect_from(100501);
    close_ids();
    open_ids();
    assert_false(is_found(100000, &others));
    assert_true(is_found(100001, &others)); /* its row has later ones */
    expect_from(100501);
    close_ids();
}

/* With a bounded number of answers memory is bounded, too. */
TEST(tables_do_not_grow_while_as_many_ids_go_as_come)
{
    uint64_t most = 0, slots;

    open_ids();
    for (int64_t last = IDS; last < 12 * IDS; last += IDS / 3) {
        add_ids(last + 1, last + IDS / 3);
        assert_int_equal(change_ids_forget(&ids, last - IDS / 3, NULL),
                         SEEN_OK);
        slots = 0;
        for (unsigned i = 0; i < ids.tables; i++)
            slots += UINT64_C(1) << ids.table[i].bits;
        most = slots > most ? slots : most;
    }
    assert_in_range(most, IDS, 8 * IDS);
    close_ids();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_id_is_found_also_after_it_was_read_back),
        cmocka_unit_test(forgotten_ids_free_their_tables_and_rows),
        cmocka_unit_test(tables_do_not_grow_while_as_many_ids_go_as_come),
    };

    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
