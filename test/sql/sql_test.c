/* sql_test.c - what sql.h promises, on both databases: each test runs with a
   SQLite file and with a database of the shared PostgreSQL server. */
#include "test/servers/servers.h"

#include <inttypes.h>
#include <math.h>

#include "test/folder.h"

static struct sql *db;
static struct seen_error why;
static char where[2][512];
static bool server; /* which one `db` is */

#define GOOD(call) \
    do { \
        if ((call) != SEEN_OK) \
            fail_msg("%s: %s", #call, why.text); \
    } while (0)

#define SPAN(text) ((struct seen_span){ text, sizeof(text) - 1 })

static int make(void **state)
{
    if (folder_make(state))
        return -1;
    snprintf(where[0], sizeof where[0], "sqlite:%s/test.db", folder);
    snprintf(where[1], sizeof where[1], "%s", shared_postgres("sql_test"));
    return 0;
}

static void opened(bool with_server)
{
    server = with_server;
    GOOD(sql_connect(&db, where[server], SQL_CREATE, &why));
    GOOD(sql_run(db,
                 "DROP TABLE IF EXISTS t;"
                 "CREATE TABLE t (id {id}, n {number}, r {real}, s TEXT,"
                 " b {bytes}, small INTEGER);"
                 "CREATE UNIQUE INDEX t_n ON t (n)",
                 &why));
}

/* A test that runs for both. */
#define BOTH(sentence) \
    static void sentence##_(void); \
    TEST(sentence) \
    { \
        for (int i = 0; i < 2; i++) { \
            opened(i); \
            sentence##_(); \
            sql_close(db); \
        } \
    } \
    static void sentence##_(void)

static struct sql_statement *prepared(const char *text)
{
    struct sql_statement *st;

    GOOD(sql_prepare(&st, db, text, &why));
    return st;
}

/* The first column of the first row; -1 if there is no row. */
static int64_t number_of(const char *text)
{
    struct sql_statement *st = prepared(text);
    int64_t number = -1;
    bool row;

    GOOD(sql_step(st, &row, &why));
    if (row)
        number = sql_number(st, 0);
    sql_reset(st);
    return number;
}

static void assert_span(struct seen_span a, struct seen_span b)
{
    assert_int_equal(a.len, b.len);
    assert_memory_equal(a.text, b.text, b.len);
}

BOTH(what_is_written_is_read_again)
{
    const struct {
        int64_t n;
        double r;
        struct seen_span s, b;
    } cases[] = {
        { 0, 0, { "", 0 }, { NULL, 0 } },
        { 1, 0.1, SPAN("text"), SPAN("bytes") },
        { -1, -1e300, SPAN("'; DROP TABLE t; --"), SPAN("\0\0'\"\\x00") },
        { INT64_MAX, INFINITY, SPAN("\"\\ $1 ?1 {now}"), SPAN("\xff\xfe\0") },
        { INT64_MIN, 5e-324, SPAN("d\xc3\xa9j\xc3\xa0 \xf0\x9f\x90\x98"),
          SPAN("\xc3") },
    };
    struct sql_statement *in = prepared(
        "INSERT INTO t (n, r, s, b) VALUES (?1, ?2, ?3, ?4)");
    struct sql_statement *out = prepared(
        "SELECT n, r, s, b FROM t WHERE n = ?1");
    bool row;

    for (size_t i = 0; i < LENGTH(cases); i++) {
        sql_bind_number(in, 1, cases[i].n);
        sql_bind_real(in, 2, cases[i].r);
        sql_bind_text(in, 3, cases[i].s);
        sql_bind_bytes(in, 4, cases[i].b);
        GOOD(sql_do(in, &why));
        assert_int_equal(sql_changes(db), 1);
        sql_bind_number(out, 1, cases[i].n);
        GOOD(sql_step(out, &row, &why));
        assert_true(row);
        assert_true(sql_number(out, 0) == cases[i].n);
        assert_true(sql_real(out, 1) == cases[i].r);
        assert_span(sql_text(out, 2), cases[i].s);
        assert_span(sql_text(out, 3), cases[i].b);
        assert_false(sql_is_null(out, 3));
        GOOD(sql_step(out, &row, &why));
        assert_false(row);
    }
}

BOTH(what_is_not_bound_is_null_and_types_may_come_later)
{
    struct sql_statement *in = prepared(
        "INSERT INTO t (n, r, s, b, small) VALUES (?1, ?2, ?3, ?4, ?5)");
    struct sql_statement *out = prepared(
        "SELECT n, r, s, b, small FROM t ORDER BY id");
    bool row;

    GOOD(sql_do(in, &why));
    sql_bind_number(in, 1, INT64_C(1) << 40);
    sql_bind_real(in, 2, 1.5);
    sql_bind_text(in, 3, SPAN("s"));
    sql_bind_bytes(in, 4, SPAN("b"));
    sql_bind_number(in, 5, 7);
    GOOD(sql_do(in, &why));
    for (int i = 1; i <= 5; i++)
        sql_bind_null(in, i);
    GOOD(sql_do(in, &why));
    for (int at = 0; at < 3; at++) {
        GOOD(sql_step(out, &row, &why));
        assert_true(row);
        for (int i = 0; i < 5; i++)
            assert_int_equal(sql_is_null(out, i), at != 1);
        assert_int_equal(sql_number(out, 0), at == 1 ? INT64_C(1) << 40 : 0);
        assert_true(sql_real(out, 1) == (at == 1 ? 1.5 : 0));
        assert_int_equal(sql_text(out, 2).len, at == 1);
        assert_int_equal(sql_number(out, 4), at == 1 ? 7 : 0);
    }
    sql_reset(out);
}

BOTH(parameters_without_a_column_have_64_bits)
{
    struct sql_statement *st = prepared(
        "SELECT ?1 + 1, COALESCE(?2, 0), ?3 > 5, ?1 * 2.0");
    bool row;

    sql_bind_number(st, 1, INT64_C(1) << 40);
    sql_bind_number(st, 2, -(INT64_C(1) << 50));
    sql_bind_number(st, 3, INT64_C(1) << 60);
    GOOD(sql_step(st, &row, &why));
    assert_int_equal(sql_number(st, 0), (INT64_C(1) << 40) + 1);
    assert_int_equal(sql_number(st, 1), -(INT64_C(1) << 50));
    assert_int_equal(sql_number(st, 2), 1);
    assert_true(sql_real(st, 3) == ldexp(1, 41));
    sql_reset(st);
}

BOTH(sums_and_averages_are_numbers)
{
    static const struct {
        const char *values;
        int64_t sum;
        double average;
    } cases[] = {
        { "(1)", 1, 1 },
        { "(0)", 0, 0 },
        { "(-7), (-5)", -12, -6 },
        { "(10000), (30000)", 40000, 20000 },
        { "(1), (2)", 3, 1.5 },
        { "(9223372036854775806), (1)", INT64_MAX, 4611686018427387904.0 },
        { "(1000000000000), (0), (0), (0)", 1000000000000, 250000000000.0 },
    };
    char text[256];

    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct sql_statement *st;
        bool row;

        GOOD(sql_run(db, "DELETE FROM t; DROP INDEX IF EXISTS t_n", &why));
        snprintf(text, sizeof text, "INSERT INTO t (n) VALUES %s",
                 cases[i].values);
        GOOD(sql_run(db, text, &why));
        st = prepared("SELECT SUM(n), AVG(n), COUNT(*), MAX(n) > 0 FROM t");
        GOOD(sql_step(st, &row, &why));
        assert_true(sql_number(st, 0) == cases[i].sum);
        assert_true(fabs(sql_real(st, 1) - cases[i].average) <=
                    fabs(cases[i].average) * 1e-15);
        assert_int_equal(sql_number(st, 3), cases[i].sum > 0);
        sql_reset(st);
    }
}

BOTH(numbers_can_be_read_as_text_and_texts_as_numbers)
{
    struct sql_statement *st = prepared(
        "SELECT ?1, 1, CAST('42' AS TEXT), 0.5, CAST(-2.5 AS {real})");
    bool row;

    sql_bind_number(st, 1, -12);
    GOOD(sql_step(st, &row, &why));
    assert_span(sql_text(st, 0), SPAN("-12"));
    assert_span(sql_text(st, 1), SPAN("1"));
    assert_int_equal(sql_number(st, 2), 42);
    assert_true(sql_real(st, 2) == 42);
    assert_span(sql_text(st, 3), SPAN("0.5"));
    assert_true(sql_real(st, 3) == 0.5);
    assert_int_equal(sql_number(st, 4), -2);
    assert_span(sql_text(st, 4), SPAN("-2.5"));
    sql_reset(st);
}

static void bind_n(void *owner, struct sql_statement *st, size_t i)
{
    const int64_t *from = owner;

    sql_bind_number(st, 1, from ? from[i] : (int64_t)i);
}

BOTH(rows_come_one_by_one_and_other_statements_between_them)
{
    struct sql_statement *in = prepared("INSERT INTO t (n) VALUES (?1)");
    struct sql_statement *all = prepared("SELECT n FROM t ORDER BY n");
    struct sql_statement *mark = prepared(
        "UPDATE t SET small = 1 WHERE n = ?1");
    int64_t found = 0;
    bool row;

    GOOD(sql_do_many(in, bind_n, NULL, 100, NULL, &why));
    while (sql_step(all, &row, &why) == SEEN_OK && row) {
        assert_int_equal(sql_number(all, 0), found++);
        sql_bind_number(mark, 1, sql_number(all, 0));
        GOOD(sql_do(mark, &why));
        assert_int_equal(sql_changes(db), 1);
    }
    assert_int_equal(found, 100);
    assert_int_equal(number_of("SELECT COUNT(*) FROM t WHERE small = 1"), 100);
    GOOD(sql_step(all, &row, &why));
    GOOD(sql_step(all, &row, &why));
    sql_reset(all);
    GOOD(sql_step(all, &row, &why));
    assert_int_equal(sql_number(all, 0), 0);
    sql_reset(all);
}

BOTH(a_returned_number_is_that_of_the_row)
{
    struct sql_statement *in = prepared(
        "INSERT INTO t (n) VALUES (?1) ON CONFLICT DO NOTHING"
        " RETURNING id");
    int64_t first;
    bool row;

    sql_bind_number(in, 1, 5);
    GOOD(sql_step(in, &row, &why));
    assert_true(row);
    first = sql_number(in, 0);
    GOOD(sql_step(in, &row, &why));
    assert_false(row);
    assert_int_equal(first, number_of("SELECT id FROM t WHERE n = 5"));
    GOOD(sql_step(in, &row, &why));
    assert_false(row);
}

BOTH(many_rows_have_their_own_counts_of_changes)
{
    enum { N = 10000 };
    static int64_t n[N], changed[N];
    struct sql_statement *in = prepared(
        "INSERT INTO t (n) VALUES (?1) ON CONFLICT DO NOTHING");
    int64_t sum = 0;

    for (int i = 0; i < N; i++)
        n[i] = i / 3;
    GOOD(sql_do_many(in, bind_n, n, 0, changed, &why));
    GOOD(sql_begin(db, &why));
    GOOD(sql_do_many(in, bind_n, n, N, changed, &why));
    GOOD(sql_commit(db, &why));
    for (int i = 0; i < N; i++) {
        assert_int_equal(changed[i], i % 3 == 0);
        sum += changed[i];
    }
    assert_int_equal(number_of("SELECT COUNT(*) FROM t"), sum);
}

BOTH(many_rows_outside_of_a_transaction_are_all_or_none)
{
    static int64_t n[2000];
    struct sql_statement *in = prepared("INSERT INTO t (n) VALUES (?1)");

    for (int i = 0; i < 2000; i++)
        n[i] = i == 1500 ? 3 : i;
    why.at = 0;
    assert_int_equal(sql_do_many(in, bind_n, n, 2000, NULL, &why),
                     SEEN_UNABLE);
    assert_int_equal(why.at, 1500);
    assert_int_equal(number_of("SELECT COUNT(*) FROM t"), 0);
    n[1500] = 1500;
    GOOD(sql_do_many(in, bind_n, n, 2000, NULL, &why));
    assert_int_equal(number_of("SELECT COUNT(*) FROM t"), 2000);
}

BOTH(many_rows_of_a_wrong_statement_fail_and_leave_the_rest_in_order)
{
    struct sql_statement *st = NULL;
    enum seen_code code = sql_prepare(
        &st, db, "INSERT INTO missing (n) VALUES (?1)", &why);

    if (code == SEEN_OK)
        code = sql_do_many(st, bind_n, NULL, 200, NULL, &why);
    assert_int_equal(code, SEEN_UNABLE);
    assert_int_equal(number_of("SELECT 5"), 5);
    st = prepared("INSERT INTO t (n) VALUES (?1)");
    GOOD(sql_do_many(st, bind_n, NULL, 200, NULL, &why));
    GOOD(sql_begin(db, &why));
    assert_int_equal(sql_do_many(st, bind_n, NULL, 200, NULL, &why),
                     SEEN_UNABLE);
    assert_int_equal(why.at, 0);
    sql_rollback(db);
    assert_int_equal(number_of("SELECT COUNT(*) FROM t"), 200);
}

static void bind_some(void *owner, struct sql_statement *st, size_t i)
{
    (void)owner;
    sql_bind_number(st, 1, (int64_t)i);
    sql_bind_null(st, 2);
    sql_bind_null(st, 3);
    if (i % 7 == 6)
        sql_bind_text(st, 2, SPAN("seven"));
    if (i % 50 == 49)
        sql_bind_real(st, 3, 0.5);
}

BOTH(values_of_many_rows_may_be_null_now_and_then)
{
    struct sql_statement *in = prepared(
        "INSERT INTO t (n, s, r) VALUES (?1, ?2, ?3)");

    GOOD(sql_do_many(in, bind_some, NULL, 700, NULL, &why));
    assert_int_equal(number_of("SELECT COUNT(*) FROM t"), 700);
    assert_int_equal(number_of("SELECT COUNT(s) FROM t"), 100);
    assert_int_equal(number_of("SELECT COUNT(r) FROM t"), 14);
}

struct returned {
    int64_t rows, sum;
};

static void bind_row(void *owner, struct sql_statement *st, size_t i)
{
    static char text[32]; /* it lives until the next row */

    (void)owner;
    sql_bind_number(st, 1, (int64_t)i);
    snprintf(text, sizeof text, "row %zu", i);
    if (i % 7 == 6)
        sql_bind_text(st, 2, (struct seen_span){ text, strlen(text) });
    else
        sql_bind_null(st, 2);
    if (i % 50 == 49)
        sql_bind_real(st, 3, 0.5);
    else
        sql_bind_null(st, 3);
    sql_bind_bytes(st, 4, (struct seen_span){ "\0\xff", i % 3 });
    sql_bind_number(st, 5, 9);
}

static void take_row(void *owner, struct sql_statement *st)
{
    struct returned *r = owner;

    r->rows++;
    r->sum += sql_number(st, 0);
}

BOTH(rows_of_one_statement_are_written_and_returned)
{
    struct sql_statement *in = prepared(
        "INSERT INTO t (n, s, r, b, small) SELECT column1, column2, column3, "
        "column4, ?5 FROM {rows number text real bytes} WHERE true ON "
        "CONFLICT DO NOTHING RETURNING n");
    struct sql_statement *up = prepared(
        "UPDATE t SET small = column1 + ?2 FROM {rows number} WHERE n = "
        "column1 AND n < 10 RETURNING n");
    struct returned r = { .rows = 0 };

    GOOD(sql_do_rows(in, bind_row, &r, 0, take_row, &why));
    assert_int_equal(r.rows, 0);
    GOOD(sql_do_rows(in, bind_row, &r, 350, take_row, &why));
    assert_int_equal(r.rows, 350);
    assert_int_equal(r.sum, 350 * 349 / 2);
    GOOD(sql_do_rows(in, bind_row, &r, 700, take_row, &why));
    assert_int_equal(r.rows, 700);
    assert_int_equal(r.sum, 700 * 699 / 2);
    assert_int_equal(number_of("SELECT COUNT(*) FROM t WHERE small = 9"), 700);
    assert_int_equal(number_of("SELECT COUNT(s) FROM t"), 100);
    assert_int_equal(number_of("SELECT COUNT(r) FROM t"), 14);
    assert_int_equal(number_of("SELECT COUNT(*) FROM t WHERE s = 'row 13' AND "
                               "n = 13"),
                     1);
    assert_int_equal(number_of("SELECT SUM(length(b)) FROM t"), 699);

    sql_bind_number(up, 2, 100);
    r = (struct returned){ .rows = 0 };
    GOOD(sql_do_rows(up, bind_n, NULL, 50, NULL, &why));
    assert_int_equal(number_of("SELECT SUM(small) FROM t WHERE n < 10"),
                     10 * 100 + 45);
}

/* What text formats of arrays have to escape. */
static const char *const odd_texts[] = {
    "'", "\"", "\\", "{}", "a,b", "NULL", "", "\xc3\xa4\n\t$1 ?1"
};

static void bind_odd(void *owner, struct sql_statement *st, size_t i)
{
    const char *text = owner ? owner : odd_texts[i % LENGTH(odd_texts)];

    sql_bind_number(st, 1, (int64_t)i);
    sql_bind_text(st, 2, (struct seen_span){ text, strlen(text) });
}

BOTH(rows_may_be_one_or_65536_and_have_any_text)
{
    struct sql_statement *in = prepared(
        "INSERT INTO t (n, s) SELECT column1, column2 FROM {rows number "
        "text} WHERE true ON CONFLICT DO NOTHING");
    struct sql_statement *get = prepared("SELECT s FROM t WHERE n = ?1");
    char not_utf8[] = "\xff";
    bool row;

    if (server) {
        assert_int_not_equal(
            sql_do_rows(in, bind_odd, not_utf8, 9, NULL, &why), SEEN_OK);
        assert_int_equal(number_of("SELECT COUNT(*) FROM t"), 0);
    }
    GOOD(sql_do_rows(in, bind_odd, NULL, 1, NULL, &why));
    assert_int_equal(number_of("SELECT COUNT(*) FROM t"), 1);
    GOOD(sql_do_rows(in, bind_odd, NULL, 65536, NULL, &why));
    assert_int_equal(number_of("SELECT COUNT(*) FROM t"), 65536);
    for (size_t i = 0; i < LENGTH(odd_texts); i++) {
        sql_bind_number(get, 1, (int64_t)i);
        GOOD(sql_step(get, &row, &why));
        assert_true(row);
        assert_span(sql_text(get, 0),
                    (struct seen_span){ odd_texts[i], strlen(odd_texts[i]) });
        sql_reset(get);
    }
}

BOTH(rows_that_fail_leave_nothing)
{
    struct sql_statement *in = prepared(
        "INSERT INTO t (n) SELECT column1 FROM {rows number}");
    int64_t twice[] = { 1, 2, 3, 2 };

    assert_int_equal(sql_do_rows(in, bind_n, twice, 4, NULL, &why),
                     SEEN_UNABLE);
    assert_int_equal(number_of("SELECT COUNT(*) FROM t"), 0);
    GOOD(sql_do_rows(in, bind_n, twice, 3, NULL, &why));
    assert_int_equal(number_of("SELECT COUNT(*) FROM t"), 3);
}

BOTH(a_transaction_is_kept_or_undone)
{
    GOOD(sql_begin(db, &why));
    GOOD(sql_run(db, "INSERT INTO t (n) VALUES (1)", &why));
    sql_rollback(db);
    assert_int_equal(number_of("SELECT COUNT(*) FROM t"), 0);
    GOOD(sql_begin(db, &why));
    GOOD(sql_run(db, "INSERT INTO t (n) VALUES (1)", &why));
    GOOD(sql_commit(db, &why));
    assert_int_equal(number_of("SELECT COUNT(*) FROM t"), 1);
}

static enum seen_code refuse(void *owner, struct sql *on, struct seen_error *w)
{
    ++*(int *)owner;
    GOOD(sql_run(on, "INSERT INTO t (n) VALUES (8)", w));
    return seen_fail(w, SEEN_ABSENT, 0, "not now");
}

static enum seen_code wrong(void *owner, struct sql *on, struct seen_error *w)
{
    ++*(int *)owner;
    GOOD(sql_run(on, "INSERT INTO t (n) VALUES (8)", w));
    return sql_run(on, "INSERT INTO missing (n) VALUES (8)", w);
}

static enum seen_code insert(void *owner, struct sql *on, struct seen_error *w)
{
    ++*(int *)owner;
    return sql_run(on, "INSERT INTO t (n) VALUES (9) ON CONFLICT DO NOTHING",
                   w);
}

BOTH(work_that_fails_for_good_is_done_once_and_undone)
{
    int times = 0;

    assert_int_equal(sql_transact(db, refuse, &times, 1000, &why),
                     SEEN_ABSENT);
    assert_int_equal(times, 1);
    assert_string_equal(why.text, "not now");
    assert_int_equal(sql_transact(db, wrong, &times, 1000, &why), SEEN_UNABLE);
    assert_int_equal(times, 2);
    assert_int_equal(number_of("SELECT COUNT(*) FROM t"), 0);
    GOOD(sql_transact(db, insert, &times, 1000, &why));
    GOOD(sql_transact(db, insert, &times, 0, &why));
    assert_int_equal(times, 4);
    assert_int_equal(number_of("SELECT COUNT(*) FROM t"), 1);
}

BOTH(errors_have_the_name_of_the_database)
{
    static const char *const bad[] = { "SELEC 1", "SELECT * FROM missing",
                                       "INSERT INTO t (n) VALUES (1), (1)" };

    for (size_t i = 0; i < LENGTH(bad); i++) {
        assert_int_equal(sql_run(db, bad[i], &why), SEEN_UNABLE);
        assert_int_equal(strncmp(why.text, sql_name(db), strlen(sql_name(db))),
                         0);
    }
    assert_int_equal(sql_run(db, "SELECT {what}", &why), SEEN_RANGE);
    assert_int_equal(sql_run(db, "SELECT {what}", NULL), SEEN_RANGE);
    if (server) {
        char name[64];

        snprintf(name, sizeof name, "PostgreSQL at 127.0.0.1:%d/sql_test_%d",
                 shared_postgres_port(), getpid());
        assert_string_equal(sql_name(db), name);
    } else {
        assert_string_equal(sql_name(db), where[0] + 7);
    }
}

BOTH(the_time_goes_on)
{
    int64_t a = number_of("SELECT {now}"), b;

    usleep(20000);
    b = number_of("SELECT {now}");
    assert_in_range(b - a, 20, 10000);
    assert_int_equal(number_of("SELECT COUNT(*) FROM t WHERE n > {now}"), 0);
    assert_int_equal(strlen(sql_epoch(db)), server ? 0 : 36);
}

BOTH(an_index_is_used_for_conditions_on_the_time)
{
    struct sql_statement *st;
    bool row, used = false;

    GOOD(sql_run(db, "INSERT INTO t (n) VALUES (1), (2), (3)", &why));
    if (server)
        GOOD(sql_run(db, "SET enable_seqscan = off", &why));
    st = prepared(server ? "EXPLAIN SELECT n FROM t WHERE n <= {now}"
                         : "EXPLAIN QUERY PLAN SELECT n FROM t WHERE n <= "
                           "{now}");
    while (sql_step(st, &row, &why) == SEEN_OK && row) {
        struct seen_span text = sql_text(st, server ? 0 : 3);

        used |= memmem(text.text, text.len,
                       server ? "Index Cond: (n <=" : "(n<?)",
                       server ? 17 : 5) != NULL;
    }
    assert_true(used);
}

BOTH(readers_change_nothing)
{
    struct sql *reader;

    GOOD(sql_connect(&reader, where[server], SQL_READ, &why));
    assert_int_equal(sql_run(reader, "INSERT INTO t (n) VALUES (1)", &why),
                     SEEN_UNABLE);
    assert_int_equal(sql_run(reader, "DROP TABLE t", &why), SEEN_UNABLE);
    sql_close(reader);
    assert_int_equal(number_of("SELECT COUNT(*) FROM t"), 0);
}

BOTH(locked_rows_can_be_skipped)
{
    struct sql_statement *st;
    struct sql *other;
    bool row;

    GOOD(sql_run(db, "INSERT INTO t (n) VALUES (1), (2)", &why));
    GOOD(sql_begin(db, &why));
    st = prepared("SELECT n FROM t ORDER BY n LIMIT 1 {skip}");
    GOOD(sql_step(st, &row, &why));
    assert_int_equal(sql_number(st, 0), 1);
    sql_reset(st);
    if (server) {
        GOOD(sql_connect(&other, where[1], SQL_WRITE, &why));
        GOOD(sql_begin(other, &why));
        GOOD(sql_prepare(&st, other,
                         "SELECT x.n FROM t x LEFT JOIN t y ON y.n = -1"
                         " ORDER BY x.n LIMIT 1 {skip x}",
                         &why));
        GOOD(sql_step(st, &row, &why));
        assert_int_equal(sql_number(st, 0), 2);
        sql_close(other);
    }
    sql_rollback(db);
}

BOTH(serial_numbers_never_come_again)
{
    GOOD(
        sql_run(db,
                "DROP TABLE IF EXISTS w; CREATE TABLE w (id {serial}, a TEXT);"
                "INSERT INTO w (a) VALUES ('x'), ('y'); DELETE FROM w;"
                "INSERT INTO w (a) VALUES ('z')",
                &why));
    assert_int_equal(number_of("SELECT id FROM w"), 3);
}

/* SQLite stores what it gets; PostgreSQL refuses it. */
BOTH(texts_that_are_not_texts_are_no_disaster)
{
    const struct seen_span bad[] = { SPAN("a\0b"), SPAN("\xff"), SPAN("\xc3"),
                                     SPAN("\xed\xa0\x80") };
    struct sql_statement *in = prepared("INSERT INTO t (s) VALUES (?1)");

    for (size_t i = 0; i < LENGTH(bad); i++) {
        sql_bind_text(in, 1, bad[i]);
        assert_int_equal(sql_do(in, &why), server ? SEEN_UNABLE : SEEN_OK);
    }
    sql_bind_text(in, 1, SPAN("good"));
    GOOD(sql_do(in, &why));
}

BOTH(one_number_one_row_and_one_end_of_a_transaction)
{
    struct sql_statement *add = prepared(
        "INSERT INTO t (n, small) VALUES (?1, ?2)");
    struct sql_statement *find = prepared("SELECT small FROM t WHERE n = ?1");
    int64_t small = 7;
    bool row;

    GOOD(sql_begin(db, &why));
    SQL_NUMBERS(add, 1, INT64_C(1) << 40, 2);
    GOOD(sql_do(add, &why));
    GOOD(sql_end(db, SEEN_OK, &why));
    GOOD(sql_begin(db, &why));
    SQL_NUMBERS(add, 1, 3, 4);
    GOOD(sql_do(add, &why));
    assert_int_equal(sql_end(db, SEEN_NOMEM, &why), SEEN_NOMEM);

    SQL_NUMBERS(find, 1, 3); /* it was rolled back */
    GOOD(sql_has(find, &row, &why));
    assert_false(row);
    GOOD(sql_first(find, &small, &why));
    assert_int_equal(small, 7); /* there is no row */
    SQL_NUMBERS(find, 1, INT64_C(1) << 40);
    GOOD(sql_has(find, &row, &why));
    assert_true(row);
    GOOD(sql_first(find, &small, &why)); /* they were reset */
    assert_int_equal(small, 2);
}

TEST(a_file_has_one_writer)
{
    struct sql *other;
    int times = 0;

    opened(false);
    GOOD(sql_connect(&other, where[0], SQL_WRITE, &why));
    GOOD(sql_run(other, "PRAGMA busy_timeout = 10", &why));
    GOOD(sql_begin(db, &why));
    assert_int_equal(sql_begin(other, &why), SEEN_BUSY);
    assert_int_equal(sql_transact(other, insert, &times, 100, &why),
                     SEEN_BUSY);
    assert_int_equal(times, 0);
    sql_rollback(db);
    GOOD(sql_transact(other, insert, &times, 100, &why));
    GOOD(sql_relax(other, true, &why));
    sql_close(other);
    sql_close(db);
}

TEST(a_place_is_a_file_or_a_server)
{
    struct sql *none;
    char path[64];

    assert_true(sql_is_url("postgresql://x"));
    assert_true(sql_is_url("postgres://x"));
    assert_false(sql_is_url("postgres:x"));
    assert_false(sql_is_url("sqlite:x"));
    assert_false(sql_is_url(""));
    snprintf(path, sizeof path, "%s/none.db", folder);
    assert_int_equal(sql_connect(&none, path, SQL_WRITE, &why), SEEN_UNABLE);
    assert_null(none);
    assert_int_equal(strncmp(why.text, path, strlen(path)), 0);
    sql_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_again),
        cmocka_unit_test(what_is_not_bound_is_null_and_types_may_come_later),
        cmocka_unit_test(parameters_without_a_column_have_64_bits),
        cmocka_unit_test(sums_and_averages_are_numbers),
        cmocka_unit_test(numbers_can_be_read_as_text_and_texts_as_numbers),
        cmocka_unit_test(
            rows_come_one_by_one_and_other_statements_between_them),
        cmocka_unit_test(a_returned_number_is_that_of_the_row),
        cmocka_unit_test(many_rows_have_their_own_counts_of_changes),
        cmocka_unit_test(many_rows_outside_of_a_transaction_are_all_or_none),
        cmocka_unit_test(
            many_rows_of_a_wrong_statement_fail_and_leave_the_rest_in_order),
        cmocka_unit_test(values_of_many_rows_may_be_null_now_and_then),
        cmocka_unit_test(rows_of_one_statement_are_written_and_returned),
        cmocka_unit_test(rows_may_be_one_or_65536_and_have_any_text),
        cmocka_unit_test(rows_that_fail_leave_nothing),
        cmocka_unit_test(a_transaction_is_kept_or_undone),
        cmocka_unit_test(work_that_fails_for_good_is_done_once_and_undone),
        cmocka_unit_test(errors_have_the_name_of_the_database),
        cmocka_unit_test(the_time_goes_on),
        cmocka_unit_test(an_index_is_used_for_conditions_on_the_time),
        cmocka_unit_test(readers_change_nothing),
        cmocka_unit_test(locked_rows_can_be_skipped),
        cmocka_unit_test(serial_numbers_never_come_again),
        cmocka_unit_test(texts_that_are_not_texts_are_no_disaster),
        cmocka_unit_test(one_number_one_row_and_one_end_of_a_transaction),
        cmocka_unit_test(a_file_has_one_writer),
        cmocka_unit_test(a_place_is_a_file_or_a_server),
    };

    return cmocka_run_group_tests(tests, make, folder_remove);
}
