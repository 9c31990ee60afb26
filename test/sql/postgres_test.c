/* postgres_test.c - a PostgreSQL server that is lost, refuses, or is in the
   way. */
#include "test/servers/servers.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "lib/disk/clock.h"
#include "test/folder.h"

static struct seen_error why;
static char url[512], database[64];

#define GOOD(call) \
    do { \
        if ((call) != SEEN_OK) \
            fail_msg("%s: %s", #call, why.text); \
    } while (0)

static int make(void **state)
{
    struct sql *db;

    if (folder_make(state))
        return -1;
    snprintf(url, sizeof url, "%s", shared_postgres("postgres_test"));
    snprintf(database, sizeof database, "postgres_test_%d", getpid());
    GOOD(sql_connect(&db, url, SQL_WRITE, &why));
    GOOD(sql_run(db, "CREATE TABLE t (n {number} PRIMARY KEY, v {number})",
                 &why));
    sql_close(db);
    return 0;
}

static struct sql *opened(const char *where)
{
    struct sql *db;

    GOOD(sql_connect(&db, where, SQL_WRITE, &why));
    return db;
}

/* With the table empty, or with two rows. */
static struct sql *fresh(bool rows)
{
    struct sql *db = opened(url);

    GOOD(sql_run(db, "DELETE FROM t", &why));
    if (rows)
        GOOD(sql_run(db, "INSERT INTO t VALUES (1, 0), (2, 0)", &why));
    return db;
}

static int64_t number_of(struct sql *db, const char *text)
{
    struct sql_statement *st;
    int64_t number;
    bool row;

    GOOD(sql_prepare(&st, db, text, &why));
    GOOD(sql_step(st, &row, &why));
    number = sql_number(st, 0);
    sql_reset(st);
    return number;
}

/* End the server's process of this connection. */
static void terminate(struct sql *admin, int64_t pid)
{
    char text[64];

    snprintf(text, sizeof text, "SELECT pg_terminate_backend(%d, 5000)",
             (int)pid);
    assert_int_equal(number_of(admin, text), 1);
}

static void assert_lost(enum seen_code code)
{
    assert_int_equal(code, SEEN_IO);
    assert_non_null(strstr(why.text, "PostgreSQL at 127.0.0.1:"));
}

/* --- connections that are lost --- */

TEST(a_connection_that_was_lost_while_nothing_was_asked_is_made_again)
{
    struct sql *db = fresh(true), *admin = opened(url);
    struct sql_statement *st;
    bool row;

    GOOD(sql_prepare(&st, db, "SELECT COUNT(*) FROM t WHERE n > ?1", &why));
    for (int i = 0; i < 3; i++) {
        sql_bind_number(st, 1, 1);
        GOOD(sql_step(st, &row, &why));
        assert_int_equal(sql_number(st, 0), 1);
        sql_reset(st);
        terminate(admin, number_of(db, "SELECT pg_backend_pid()"));
    }
    GOOD(sql_begin(db, &why));
    GOOD(sql_commit(db, &why));
    sql_close(admin);
    sql_close(db);
}

TEST(a_lost_transaction_needs_no_rollback)
{
    struct sql *db = fresh(true), *admin = opened(url);
    const char *name = sql_name(db);

    GOOD(sql_begin(db, &why));
    terminate(admin, number_of(db, "SELECT pg_backend_pid()"));
    assert_lost(sql_run(db, "DELETE FROM t", &why));
    assert_lost(sql_commit(db, &why));
    GOOD(sql_begin(db, &why));
    GOOD(sql_run(db, "UPDATE t SET v = 1", &why));
    GOOD(sql_run(db, "SELECT 1", &why));
    assert_int_equal(sql_changes(db), 2);
    GOOD(sql_commit(db, &why));
    assert_ptr_equal(sql_name(db), name);
    sql_close(admin);
    sql_close(db);
}

struct step {
    int times;         /* that work() was run */
    struct sql *admin; /* ends the connection, the first time */
    struct sql_statement *in, *other;
};

static enum seen_code insert(void *owner, struct sql *db, struct seen_error *w)
{
    struct step *s = owner;
    enum seen_code code;

    s->times++;
    sql_bind_number(s->in, 1, 7);
    code = sql_do(s->in, w);
    if (code == SEEN_OK && s->times == 1 && s->admin) {
        terminate(s->admin, number_of(db, "SELECT pg_backend_pid()"));
        assert_lost(sql_run(db, "SELECT 1", w));
        assert_lost(sql_do(s->in, w));
        code = sql_do(s->in, w);
    }
    return code;
}

TEST(work_is_repeated_on_a_new_connection)
{
    struct sql *db = fresh(false), *admin = opened(url);
    struct step s = { .admin = admin };

    GOOD(sql_prepare(&s.in, db,
                     "INSERT INTO t (n) VALUES (?1) ON CONFLICT DO NOTHING",
                     &why));
    GOOD(sql_transact(db, insert, &s, 5000, &why));
    assert_int_equal(s.times, 2);
    assert_int_equal(number_of(admin, "SELECT COUNT(*) FROM t"), 1);
    s.times = 0;
    assert_lost(sql_transact(db, insert, &s, 0, &why));
    assert_int_equal(s.times, 1);
    sql_close(admin);
    sql_close(db);
}

#define IDLE \
    "&options=-cidle_in_transaction_session_timeout%3D200ms" \
    "%20-clock_timeout%3D5s"

static enum seen_code stay(void *owner, struct sql *db, struct seen_error *w)
{
    struct step *s = owner;
    enum seen_code code = sql_run(db, "UPDATE t SET v = v + 1", w);

    if (++s->times == 1)
        poll(NULL, 0, 600);
    return code;
}

TEST(a_process_that_was_stopped_for_longer_than_its_patience_goes_on)
{
    struct sql *db = fresh(true);
    struct step s = { .times = 0 };

    sql_close(db);
    db = opened(shared_postgres_url(shared_postgres_port(), database, IDLE));
    GOOD(sql_transact(db, stay, &s, 300, &why));
    assert_int_equal(s.times, 2);
    assert_int_equal(number_of(db, "SELECT SUM(v) FROM t"), 2);
    sql_close(db);
}

static void bind_row(void *owner, struct sql_statement *st, size_t i)
{
    (void)owner;
    sql_bind_number(st, 1, (int64_t)i + 1);
}

/* Change row 1 and then row 2, which the parent has. */
static void change_rows(void)
{
    struct sql *db = opened(
        shared_postgres_url(shared_postgres_port(), database, IDLE));
    struct sql_statement *st;

    GOOD(sql_prepare(&st, db, "UPDATE t SET v = 9 WHERE n = ?1", &why));
    GOOD(sql_begin(db, &why));
    sql_do_many(st, bind_row, NULL, 2, NULL, &why);
    _exit(0);
}

TEST(a_process_that_is_stopped_among_many_rows_keeps_no_locks)
{
    struct sql *db = fresh(true);
    pid_t child;

    sql_close(db);
    db = opened(shared_postgres_url(shared_postgres_port(), database,
                                    "&options=-clock_timeout%3D3s"));
    GOOD(sql_begin(db, &why));
    GOOD(sql_run(db, "UPDATE t SET v = 1 WHERE n = 2", &why));
    child = fork();
    if (child == 0)
        change_rows();
    while (!number_of(db, "SELECT COUNT(*) FROM pg_locks WHERE NOT granted AND"
                          " pg_backend_pid() = ANY(pg_blocking_pids(pid))"))
        poll(NULL, 0, 10);
    kill(child, SIGSTOP);
    GOOD(sql_commit(db, &why));
    GOOD(sql_run(db, "UPDATE t SET v = 2 WHERE n = 1", &why));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_int_equal(number_of(db, "SELECT SUM(v) FROM t"), 3);
    sql_close(db);
}

TEST(a_commit_whose_connection_is_cut_is_repeated)
{
    struct sql *db = fresh(false), *witness = opened(url);
    struct proxy proxy = proxy_start(shared_postgres_port());
    static const struct {
        const char *order;
        int64_t committed; /* when the connection was cut */
    } cases[] = { { "before COMMIT", 0 }, { "after COMMIT", 1 } };

    sql_close(db);
    db = opened(shared_postgres_url(proxy.port, database, ""));
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct step s = { .times = 0 };

        /* By hand: the commit fails, and its outcome is as ordered. */
        GOOD(sql_run(witness, "DELETE FROM t", &why));
        GOOD(sql_prepare(&s.in, db,
                         "INSERT INTO t (n) VALUES (?1)"
                         " ON CONFLICT DO NOTHING",
                         &why));
        GOOD(sql_begin(db, &why));
        sql_bind_number(s.in, 1, 5);
        GOOD(sql_do(s.in, &why));
        proxy_order(&proxy, cases[i].order);
        assert_lost(sql_commit(db, &why));
        sql_rollback(db);
        assert_int_equal(number_of(witness, "SELECT COUNT(*) FROM t"),
                         cases[i].committed);

        /* Repeated: once in the table, whatever happened. */
        GOOD(sql_run(witness, "DELETE FROM t", &why));
        proxy_order(&proxy, cases[i].order);
        GOOD(sql_transact(db, insert, &s, 5000, &why));
        assert_int_equal(s.times, 2);
        assert_int_equal(number_of(witness, "SELECT COUNT(*) FROM t"), 1);
    }
    sql_close(db);
    sql_close(witness);
    proxy_stop(&proxy);
}

static void bind_n(void *owner, struct sql_statement *st, size_t i)
{
    char *text = owner;

    sql_bind_number(st, 1, (int64_t)i);
    snprintf(text, 16, "row %zu.", i);
    sql_bind_text(st, 2, (struct seen_span){ text, strlen(text) });
}

static enum seen_code insert_many(void *owner, struct sql *db,
                                  struct seen_error *w)
{
    struct step *s = owner;
    char text[16];

    (void)db;
    s->times++;
    return sql_do_many(s->in, bind_n, text, 3000, NULL, w);
}

TEST(many_rows_whose_connection_is_cut_are_repeated)
{
    struct sql *db = fresh(false), *witness = opened(url);
    struct proxy proxy = proxy_start(shared_postgres_port());
    static const char *const orders[] = { "before 700.", "after 700." };

    sql_close(db);
    db = opened(shared_postgres_url(proxy.port, database, ""));
    for (size_t i = 0; i < LENGTH(orders); i++) {
        struct step s = { .times = 0 };
        char text[16];

        GOOD(sql_run(witness, "DELETE FROM t", &why));
        GOOD(sql_prepare(&s.in, db,
                         "INSERT INTO t (n, v) VALUES (?1,"
                         " length(?2)) ON CONFLICT DO NOTHING",
                         &why));
        proxy_order(&proxy, orders[i]);
        assert_lost(sql_do_many(s.in, bind_n, text, 3000, NULL, &why));
        assert_int_equal(number_of(witness, "SELECT COUNT(*) FROM t"), 0);
        proxy_order(&proxy, orders[i]);
        GOOD(sql_transact(db, insert_many, &s, 5000, &why));
        assert_int_equal(s.times, 2);
        assert_int_equal(number_of(witness, "SELECT COUNT(*) FROM t"), 3000);
    }
    sql_close(db);
    sql_close(witness);
    proxy_stop(&proxy);
}

TEST(a_server_that_stays_away_is_waited_for_as_long_as_allowed)
{
    struct proxy proxy = proxy_start(shared_postgres_port());
    struct sql *db = opened(shared_postgres_url(proxy.port, database, ""));
    struct step s = { .times = 0 };
    uint64_t began;

    GOOD(sql_prepare(&s.in, db, "SELECT ?1", &why));
    proxy_order(&proxy, "refuse yes");
    proxy_order(&proxy, "cut");
    began = clock_ms();
    assert_lost(sql_transact(db, insert, &s, 300, &why));
    assert_in_range(clock_ms() - began, 300, 30000);
    proxy_order(&proxy, "refuse no");
    GOOD(sql_transact(db, insert, &s, 30000, &why));
    assert_int_equal(s.times, 1);
    sql_close(db);
    proxy_stop(&proxy);
}

static FILE *run_server(const char *verb, const char *mode)
{
    char command[256];
    FILE *f;

    snprintf(command, sizeof command,
             "/usr/bin/python3 test/servers/run %s postgres %s/server %s",
             verb, folder, mode);
    f = popen(command, "re");
    assert_non_null(f);
    return f;
}

static enum seen_code insert_one(void *owner, struct sql *db,
                                 struct seen_error *w)
{
    (void)db;
    return sql_do(owner, w);
}

/* A server of its own, which is stopped and started while rows are inserted,
   one per transaction. */
TEST(restarts_of_the_server_lose_nothing)
{
    static const char *const modes[] = { "fast", "immediate" };
    struct sql_statement *in;
    struct sql *db;
    char line[256];
    int64_t n = 0;
    FILE *f = run_server("start", "");

    assert_non_null(fgets(line, sizeof line, f));
    assert_int_equal(pclose(f), 0);
    line[strcspn(line, "\n")] = 0;
    db = opened(line);
    GOOD(sql_run(db, "CREATE TABLE t (n {number} PRIMARY KEY)", &why));
    GOOD(sql_prepare(
        &in, db, "INSERT INTO t VALUES (?1) ON CONFLICT DO NOTHING", &why));
    for (size_t i = 0; i < LENGTH(modes); i++) {
        struct pollfd ended;

        f = run_server("restart", modes[i]);
        ended = (struct pollfd){ .fd = fileno(f), .events = POLLIN };
        do {
            sql_bind_number(in, 1, n++);
            GOOD(sql_transact(db, insert_one, in, 20000, &why));
        } while (poll(&ended, 1, 0) == 0);
        assert_int_equal(pclose(f), 0);
        assert_int_equal(number_of(db, "SELECT COUNT(*) FROM t"), n);
    }
    sql_close(db);
    assert_int_equal(pclose(run_server("stop", "")), 0);
}

/* --- others in the way --- */

static enum seen_code race(void *owner, struct sql *db, struct seen_error *w)
{
    struct step *s = owner;
    enum seen_code code = sql_run(
        db, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ", w);

    if (code == SEEN_OK)
        number_of(db, "SELECT v FROM t WHERE n = 1");
    if (s->times++ == 0)
        GOOD(sql_run(s->admin, "UPDATE t SET v = v + 10 WHERE n = 1", w));
    if (code == SEEN_OK)
        code = sql_run(db, "UPDATE t SET v = v + 1 WHERE n = 1", w);
    return code;
}

TEST(work_is_repeated_after_a_serialisation_failure)
{
    struct sql *db = fresh(true), *admin = opened(url);
    struct step s = { .admin = admin };

    GOOD(sql_transact(db, race, &s, 5000, &why));
    assert_int_equal(s.times, 2);
    assert_int_equal(number_of(db, "SELECT v FROM t WHERE n = 1"), 11);
    s.times = 0;
    assert_int_equal(sql_transact(db, race, &s, 0, &why), SEEN_BUSY);
    sql_close(admin);
    sql_close(db);
}

static pthread_barrier_t both;

static enum seen_code cross(void *owner, struct sql *db, struct seen_error *w)
{
    struct step *s = owner;
    enum seen_code code = sql_do(s->in, w);

    (void)db;
    if (s->times++ == 0)
        pthread_barrier_wait(&both);
    return code == SEEN_OK ? sql_do(s->other, w) : code;
}

static void *crossing(void *backwards)
{
    struct sql *db = opened(url);
    struct step *s = calloc(1, sizeof *s);

    GOOD(sql_run(db, "SET deadlock_timeout = '50ms'", &why));
    GOOD(sql_prepare(&s->in, db, "UPDATE t SET v = v + 1 WHERE n = ?1", &why));
    GOOD(sql_prepare(&s->other, db, "UPDATE t SET v = v + 1 WHERE n = ?1",
                     &why));
    sql_bind_number(s->in, 1, backwards ? 2 : 1);
    sql_bind_number(s->other, 1, backwards ? 1 : 2);
    GOOD(sql_transact(db, cross, s, 10000, NULL));
    sql_close(db);
    return s;
}

TEST(after_a_deadlock_both_get_done)
{
    struct sql *db = fresh(true);
    struct step *a, *b;
    pthread_t thread;
    void *result;

    pthread_barrier_init(&both, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, crossing, db), 0);
    a = crossing(NULL);
    pthread_join(thread, &result);
    b = result;
    assert_in_range(a->times + b->times, 3, 20); /* 3, or both look at once */
    assert_int_equal(number_of(db, "SELECT SUM(v) FROM t"), 4);
    free(a);
    free(b);
    pthread_barrier_destroy(&both);
    sql_close(db);
}

static enum seen_code wait_briefly(void *owner, struct sql *db,
                                   struct seen_error *w)
{
    struct step *s = owner;
    enum seen_code code = sql_run(db, "SET LOCAL lock_timeout = '20ms'", w);

    if (code == SEEN_OK)
        code = sql_run(db, "UPDATE t SET v = 5 WHERE n = 1", w);
    if (s->times++ == 2)
        sql_rollback(s->admin);
    return code;
}

TEST(a_lock_is_not_waited_for_for_ever)
{
    struct sql *db = fresh(true), *other = opened(url);
    struct step s = { .admin = other };

    GOOD(sql_begin(other, &why));
    GOOD(sql_run(other, "UPDATE t SET v = 4 WHERE n = 1", &why));
    GOOD(sql_transact(db, wait_briefly, &s, 5000, &why));
    assert_int_equal(s.times, 4);
    assert_int_equal(number_of(db, "SELECT v FROM t WHERE n = 1"), 5);
    sql_close(other);
    sql_close(db);
}

static enum seen_code careless(void *owner, struct sql *db,
                               struct seen_error *w)
{
    (void)owner;
    GOOD(sql_run(db, "INSERT INTO t VALUES (3, 3)", w));
    sql_run(db, "INSERT INTO t VALUES (3, 3)", w);
    return SEEN_OK;
}

TEST(a_transaction_with_a_failed_statement_is_not_committed)
{
    struct sql *db = fresh(false);

    assert_int_equal(sql_transact(db, careless, NULL, 1000, &why),
                     SEEN_UNABLE);
    assert_int_equal(number_of(db, "SELECT COUNT(*) FROM t"), 0);
    sql_close(db);
}

/* --- settings --- */

TEST(a_session_has_the_settings_under_which_nothing_is_lost)
{
    static const struct {
        const char *name, *value;
    } cases[] = {
        { "synchronous_commit", "on" },
        { "default_transaction_isolation", "read committed" },
        { "lock_timeout", "10s" },
        { "statement_timeout", "5min" },
        { "idle_in_transaction_session_timeout", "20s" },
        { "default_transaction_read_only", "off" },
        { "client_encoding", "UTF8" },
        { "application_name", "seen" },
        { "jit", "off" },
    };
    struct sql *db = opened(url);
    struct sql_statement *st;
    bool row;

    GOOD(sql_prepare(&st, db, "SELECT current_setting(?1)", &why));
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct seen_span name = { cases[i].name, strlen(cases[i].name) };

        sql_bind_text(st, 1, name);
        GOOD(sql_step(st, &row, &why));
        assert_int_equal(sql_text(st, 0).len, strlen(cases[i].value));
        assert_memory_equal(sql_text(st, 0).text, cases[i].value,
                            strlen(cases[i].value));
        sql_reset(st);
    }
    sql_close(db);
}

TEST(settings_of_the_url_stay)
{
    struct sql *db = opened(
        shared_postgres_url(shared_postgres_port(), database,
                            "&options=-clock_timeout%3D3s"
                            "%20-cdefault_transaction_isolation%3Dserializable"
                            "&application_name=other"));

    assert_int_equal(number_of(db, "SELECT current_setting('lock_timeout')"
                                   " = '3s' AND current_setting("
                                   "'default_transaction_isolation')"
                                   " = 'read committed' AND"
                                   " current_setting('application_name')"
                                   " = 'other'"),
                     1);
    sql_close(db);
}

/* --- who is let in --- */

/* Connect with this part before the @, and this query. */
static enum seen_code let_in(const char *user, const char *query)
{
    char text[700];
    struct sql *db;
    enum seen_code code;

    snprintf(text, sizeof text, "postgresql://%s@127.0.0.1:%d/postgres?%s",
             user, shared_postgres_port(), query);
    code = sql_connect(&db, text, SQL_WRITE, &why);
    sql_close(db);
    return code;
}

TEST(a_password_may_be_in_the_url_the_environment_or_a_file)
{
    char path[64], query[128];
    FILE *f;

    assert_lost(let_in("locked", ""));
    GOOD(let_in("locked:open%20sesame", ""));
    setenv("PGPASSWORD", "open sesame", 1);
    GOOD(let_in("locked", ""));
    unsetenv("PGPASSWORD");
    snprintf(path, sizeof path, "%s/pass", folder);
    f = fopen(path, "w");
    fputs("127.0.0.1:*:*:locked:open sesame\n", f);
    fclose(f);
    chmod(path, 0600);
    snprintf(query, sizeof query, "passfile=%s", path);
    GOOD(let_in("locked", query));
    setenv("PGPASSFILE", path, 1);
    GOOD(let_in("locked", ""));
    unsetenv("PGPASSFILE");
}

TEST(a_password_is_never_shown)
{
    static const char *const urls[] = {
        "postgresql://locked:hunter2@127.0.0.1:%d/postgres",
        "postgresql://hunter2:hunter2@127.0.0.1:%d/postgres",
        "postgresql://locked:hunter2@127.0.0.1:%d/postgres?x=y",
        "postgresql://locked:hunter2%%zz@127.0.0.1:%d/postgres",
        "postgresql://locked:hunter2%%00@127.0.0.1:%d/postgres",
        "postgresql://locked:hunter2@[127.0.0.1:%d/postgres",
        "postgresql://locked:hunter2@[::1]x:%d/postgres",
        "postgresql://locked:hunter2@127.0.0.1:x%d/postgres",
        "postgresql://locked:hunter2@127.0.0.1:%d/postgres?sslmode=hunter2",
        "postgresql://127.0.0.1:%d/postgres?user=locked&password=hunter2=",
        "postgresql://127.0.0.1:%d/postgres?user=locked&password=hunter2",
        "postgresql://127.0.0.1:%d/?passwordhunter2",
        "postgresql://locked:hunter2@host.invalid:%d/postgres",
        "postgres://locked:hunter2@127.0.0.1:1/postgres?x%d",
        "postgresql://locked:a/hunter2@127.0.0.1:%d/postgres",
        "postgresql://locked:a?hunter2@127.0.0.1:%d/postgres",
        "PostgreSQL://locked:hunter2@127.0.0.1:%d/postgres",
        "host=127.0.0.1 port=%d user=locked password=hunter2",
        "amqp://locked:hunter2@127.0.0.1:%d/",
    };
    char text[256];
    struct sql *db;

    for (size_t i = 0; i < LENGTH(urls); i++) {
        memset(&why, 0, sizeof why);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(text, sizeof text, urls[i], shared_postgres_port());
#pragma GCC diagnostic pop
        assert_int_not_equal(sql_connect(&db, text, SQL_WRITE, &why), SEEN_OK);
        assert_null(db);
        assert_true(why.text[0] != 0);
        if (strstr(why.text, "hunter2"))
            fail_msg("%s: %s", text, why.text);
    }
}

TEST(tls_is_checked_as_far_as_the_url_asks)
{
    char query[600], text[700];
    struct sql *db;

    snprintf(query, sizeof query, "sslmode=verify-full&sslrootcert=%s",
             shared_value("SEEN_POSTGRES", "authority"));
    snprintf(text, sizeof text,
             "postgresql://postgres@localhost:%d/postgres?%s",
             shared_postgres_port(), query);
    GOOD(sql_connect(&db, text, SQL_WRITE, &why));
    assert_int_equal(number_of(db, "SELECT ssl FROM pg_stat_ssl"
                                   " WHERE pid = pg_backend_pid()"),
                     1);
    assert_non_null(strstr(sql_name(db), "PostgreSQL at localhost:"));
    sql_close(db);

    assert_lost(let_in("postgres", query)); /* the name is another one */
    snprintf(query, sizeof query, "sslmode=verify-ca&sslrootcert=%s",
             shared_value("SEEN_POSTGRES", "authority"));
    GOOD(let_in("postgres", query));
    assert_lost(let_in("postgres", "sslmode=verify-ca"
                                   "&sslrootcert=/etc/hostname"));
    GOOD(let_in("postgres", "sslmode=require"));
}

TEST(a_server_that_is_not_there_is_named)
{
    struct sql *db;

    assert_int_equal(sql_connect(&db, "postgresql://u:p@127.0.0.1:1/frontier",
                                 SQL_WRITE, &why),
                     SEEN_IO);
    assert_null(db);
    assert_string_equal(why.text, "PostgreSQL at 127.0.0.1:1/frontier:"
                                  " Connection refused");
    assert_lost(let_in("postgres", "dbname=missing"));
    assert_non_null(strstr(why.text, "\"missing\" does not exist"));
}

TEST(a_server_that_says_nothing_is_given_up)
{
    struct proxy proxy = proxy_start(shared_postgres_port());
    struct sql *db;
    uint64_t began = clock_ms();

    proxy_order(&proxy, "silent yes");
    assert_lost(sql_connect(
        &db, shared_postgres_url(proxy.port, database, "&connect_timeout=2"),
        SQL_WRITE, &why));
    assert_in_range(clock_ms() - began, 1000, 30000);
    proxy_stop(&proxy);
}

/* --- versions --- */

/* A server that lets everybody in, reports a version, and hangs up. */
static void *pretend(void *version)
{
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), conn;
    struct sockaddr_in at = { .sin_family = AF_INET };
    socklen_t len = sizeof at;
    char text[256];
    size_t n = 0;
    static int port;

    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(listener, (struct sockaddr *)&at, len), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &len), 0);
    port = ntohs(at.sin_port);
    *(int **)version = &port;
    pthread_barrier_wait(&both);
    conn = accept(listener, NULL, NULL);
    assert_true(read(conn, text, sizeof text) > 8);
    memcpy(text, "R\0\0\0\x08\0\0\0\0", n = 9);
    memcpy(text + n,
           "S\0\0\0\x18server_version\0"
           "12.7\0",
           25);
    n += 25;
    memcpy(text + n, "Z\0\0\0\x05I", 6);
    n += 6;
    assert_int_equal(write(conn, text, n), n);
    while (read(conn, text, sizeof text) > 0)
        ;
    close(conn);
    close(listener);
    return NULL;
}

TEST(an_old_server_is_refused_with_words)
{
    pthread_t thread;
    int *port = NULL;
    struct sql *db;

    pthread_barrier_init(&both, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, pretend, &port), 0);
    pthread_barrier_wait(&both);
    assert_int_equal(
        sql_connect(&db, shared_postgres_url(*port, "x", ""), SQL_WRITE, &why),
        SEEN_MISMATCH);
    assert_non_null(
        strstr(why.text, "the server has version 12; 13 or newer is needed"));
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&both);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            a_connection_that_was_lost_while_nothing_was_asked_is_made_again),
        cmocka_unit_test(work_is_repeated_on_a_new_connection),
        cmocka_unit_test(
            a_process_that_was_stopped_for_longer_than_its_patience_goes_on),
        cmocka_unit_test(
            a_process_that_is_stopped_among_many_rows_keeps_no_locks),
        cmocka_unit_test(a_commit_whose_connection_is_cut_is_repeated),
        cmocka_unit_test(many_rows_whose_connection_is_cut_are_repeated),
        cmocka_unit_test(
            a_server_that_stays_away_is_waited_for_as_long_as_allowed),
        cmocka_unit_test(restarts_of_the_server_lose_nothing),
        cmocka_unit_test(a_lost_transaction_needs_no_rollback),
        cmocka_unit_test(work_is_repeated_after_a_serialisation_failure),
        cmocka_unit_test(after_a_deadlock_both_get_done),
        cmocka_unit_test(a_lock_is_not_waited_for_for_ever),
        cmocka_unit_test(
            a_transaction_with_a_failed_statement_is_not_committed),
        cmocka_unit_test(
            a_session_has_the_settings_under_which_nothing_is_lost),
        cmocka_unit_test(settings_of_the_url_stay),
        cmocka_unit_test(
            a_password_may_be_in_the_url_the_environment_or_a_file),
        cmocka_unit_test(a_password_is_never_shown),
        cmocka_unit_test(tls_is_checked_as_far_as_the_url_asks),
        cmocka_unit_test(a_server_that_is_not_there_is_named),
        cmocka_unit_test(a_server_that_says_nothing_is_given_up),
        cmocka_unit_test(an_old_server_is_refused_with_words),
    };

    return cmocka_run_group_tests(tests, make, folder_remove);
}
