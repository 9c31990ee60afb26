/*
 * sqlite_test.c - what may be at the path of a SQLite file, and who else opens
 * it. A hang would be ended by alarm().
 */
#include "test/folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "sql/sql.h"

enum { CACHE = 1 << 20, BOUND = 240 };

static char path[64];

static int begin(void **state)
{
    alarm(BOUND);
    if (folder_make(state))
        return -1;
    snprintf(path, sizeof path, "%s/state.db", folder);
    return 0;
}

static void make_fifo(const char *name)
{
    assert_int_equal(mkfifo(name, 0600), 0);
}

static void make_folder(const char *name)
{
    assert_int_equal(mkdir(name, 0700), 0);
}

static void make_device(const char *name)
{
    assert_int_equal(symlink("/dev/zero", name), 0);
}

static void make_socket(const char *name)
{
    struct sockaddr_un it = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(it.sun_path, sizeof it.sun_path, "%s", name);
    assert_int_equal(bind(fd, (struct sockaddr *)&it, sizeof it), 0);
    close(fd);
}

static void (*const make[])(const char *) = { make_fifo, make_folder,
                                              make_device, make_socket };

static void make_database(void)
{
    struct sql *db;

    assert_int_equal(sql_open(&db, path, SQL_CREATE, CACHE, NULL), SEEN_OK);
    assert_int_equal(sql_run(db, "CREATE TABLE t (n)", NULL), SEEN_OK);
    sql_close(db);
}

static void assert_refused(const char *words)
{
    for (int access = SQL_CREATE; access <= SQL_READ; access++) {
        struct seen_error why = { .text = "" };
        struct sql *db;

        assert_int_equal(
            sql_open(&db, path, (enum sql_access)access, CACHE, &why),
            SEEN_RANGE);
        assert_null(db);
        assert_string_equal(why.text, words);
        assert_int_equal(sql_connect(&db, path, (enum sql_access)access, &why),
                         SEEN_RANGE);
        assert_int_equal(strncmp(why.text, path, strlen(path)), 0);
    }
}

TEST(what_is_not_a_file_is_no_database)
{
    for (size_t i = 0; i < LENGTH(make); i++) {
        make[i](path);
        assert_refused("the state is not a regular file");
        assert_int_equal(remove(path), 0);
    }
}

TEST(what_is_not_a_file_beside_a_database_is_not_opened)
{
    static const char *const endings[] = { "-wal", "-shm", "-journal" };
    char name[80], words[80];

    make_database();
    for (size_t i = 0; i < LENGTH(endings); i++)
        for (size_t j = 0; j < LENGTH(make); j++) {
            snprintf(name, sizeof name, "%s%s", path, endings[i]);
            snprintf(words, sizeof words,
                     "the state: its %s is not a regular file", endings[i]);
            make[j](name);
            assert_refused(words);
            assert_int_equal(remove(name), 0);
        }
    assert_int_equal(remove(path), 0);
}

/* The log is beside the file, not beside the link. */
TEST(a_reader_through_a_link_sees_what_a_writer_has_committed)
{
    char link[64], log[80];
    struct sql *writer, *reader;
    struct sql_statement *st;
    bool row;

    make_database();
    snprintf(link, sizeof link, "%s/link.db", folder);
    assert_int_equal(symlink(path, link), 0);
    assert_int_equal(sql_open(&writer, path, SQL_WRITE, CACHE, NULL), SEEN_OK);
    assert_int_equal(sql_run(writer, "INSERT INTO t VALUES (7)", NULL),
                     SEEN_OK);
    assert_int_equal(sql_open(&reader, link, SQL_READ, CACHE, NULL), SEEN_OK);
    assert_int_equal(sql_prepare(&st, reader, "SELECT n FROM t", NULL),
                     SEEN_OK);
    assert_int_equal(sql_step(st, &row, NULL), SEEN_OK);
    assert_true(row);
    assert_int_equal(sql_number(st, 0), 7);
    sql_close(reader);

    snprintf(log, sizeof log, "%s-wal", link);
    make_fifo(log); /* of nobody: SQLite looks beside the file */
    assert_int_equal(sql_open(&reader, link, SQL_READ, CACHE, NULL), SEEN_OK);
    sql_close(reader);
    sql_close(writer);
}

/* A process that makes the database when the pipe is closed. */
static pid_t make_at_once(const int start[2])
{
    pid_t child = fork();
    struct sql *db;
    char byte;
    bool made;

    if (child)
        return child;
    alarm(BOUND);
    close(start[1]);
    if (read(start[0], &byte, 1) != 0)
        _exit(1);
    made = sql_open(&db, path, SQL_CREATE, CACHE, NULL) == SEEN_OK;
    sql_close(db);
    _exit(made ? 0 : 2);
}

/* SQLite refused one of two in four of ten turns. */
TEST(processes_that_make_a_file_at_once_all_get_it)
{
    enum { TURNS = 20, PROCESSES = 4 };

    for (int turn = 0; turn < TURNS; turn++) {
        pid_t child[PROCESSES];
        int start[2], status;

        snprintf(path, sizeof path, "%s/new%d.db", folder, turn);
        assert_int_equal(pipe(start), 0);
        for (int i = 0; i < PROCESSES; i++)
            child[i] = make_at_once(start);
        close(start[0]);
        close(start[1]);
        for (int i = 0; i < PROCESSES; i++) {
            assert_true(child[i] > 0);
            assert_int_equal(waitpid(child[i], &status, 0), child[i]);
            assert_int_equal(status, 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_a_file_is_no_database),
        cmocka_unit_test(what_is_not_a_file_beside_a_database_is_not_opened),
        cmocka_unit_test(
            a_reader_through_a_link_sees_what_a_writer_has_committed),
        cmocka_unit_test(processes_that_make_a_file_at_once_all_get_it),
    };

    return cmocka_run_group_tests(tests, begin, folder_remove);
}
