/* Notes of what readers read: what a process leaves when it dies. */
#include "crawl/engine/reading.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crawl/engine/host.h"
#include "lib/text/span.h"
#include "test/folder.h"

static char path[4200];
static struct crawl_suspect suspect[CRAWL_READING_MOST];

static struct crawl_page page_of(int64_t id)
{
    return (struct crawl_page){
        .id = id,
        .visit = 7,
        .key = { .lo = (uint64_t)id * 3, .hi = (uint64_t)id * 5 },
    };
}

/* A process that reads pages 11 and 12, has read 13, and is killed. */
static void die(bool alone)
{
    pid_t child = fork();
    int status;

    if (!child) {
        struct crawl_page a = page_of(11), b = page_of(12), c = page_of(13);
        struct crawl_reading *r;

        if (crawl_reading_open(&r, path, NULL) != SEEN_OK)
            _exit(1);
        crawl_reading_begin(r, 0, &c, false);
        crawl_reading_end(r, 0);
        crawl_reading_begin(r, 3, &a, alone);
        crawl_reading_begin(r, CRAWL_READING_MOST - 1, &b, alone);
        kill(getpid(), SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

static size_t left(void)
{
    struct seen_error why;
    size_t n = 99;

    assert_int_equal(crawl_reading_left(path, suspect, &n, &why), SEEN_OK);
    return n;
}

static void write_at(off_t at, const char *bytes, size_t n)
{
    int fd = open(path, O_WRONLY);

    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, bytes, n, at), n);
    close(fd);
}

TEST(what_was_being_read_outlives_a_kill)
{
    die(false);
    assert_int_equal(left(), 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(suspect[i].id, 11 + i);
        assert_int_equal(suspect[i].visit, 7);
        assert_int_equal(suspect[i].lo, 3 * (11 + i));
        assert_int_equal(suspect[i].hi, 5 * (11 + i));
        assert_false(suspect[i].alone);
    }
}

TEST(alone_counts_while_the_machine_runs)
{
    die(true);
    assert_int_equal(left(), 2);
    assert_true(suspect[0].alone && suspect[1].alone);
    write_at(16, "another boot", 13);
    assert_int_equal(left(), 2);
    assert_false(suspect[0].alone || suspect[1].alone);
}

TEST(a_process_that_ends_leaves_nothing)
{
    struct crawl_page page = page_of(1);
    struct crawl_reading *r;
    struct seen_error why;

    assert_int_equal(left(), 0); /* there is no file */
    die(true);
    assert_int_equal(crawl_reading_open(&r, path, &why), SEEN_OK);
    assert_int_equal(left(), 0); /* it is emptied */
    crawl_reading_begin(r, 0, &page, true);
    assert_int_equal(left(), 1);
    crawl_reading_close(r);
    assert_true(access(path, F_OK));
    crawl_reading_begin(NULL, 0, &page, true);
    crawl_reading_end(NULL, 0);
    crawl_reading_close(NULL);
}

TEST(a_robots_txt_is_noted_by_its_origin)
{
    struct crawl_hosts hosts = { .slow = 0 };
    struct crawl_host *host = crawl_host_add(&hosts, 1, span_of("a.example"),
                                             0);
    struct crawl_page page = page_of(0);
    struct crawl_reading *r;
    struct seen_error why;
    char name[CRAWL_READING_ORIGIN + 1];

    memset(name, 'x', sizeof name);
    page.robots = crawl_host_origin(host, span_of("http://a.example:81"));
    assert_int_equal(crawl_reading_open(&r, path, &why), SEEN_OK);
    crawl_reading_begin(r, 1, &page, true);
    assert_int_equal(left(), 1);
    assert_string_equal(suspect[0].origin, "http://a.example:81");
    assert_true(suspect[0].alone);
    crawl_reading_end(r, 1);
    assert_int_equal(left(), 0);
    crawl_reading_begin_robots(r, 2, page.robots,
                               false); /* while it is asked */
    assert_int_equal(left(), 1);
    assert_false(suspect[0].alone);
    crawl_reading_end(r, 2);
    page.robots = crawl_host_origin(host,
                                    (struct seen_span){ name, sizeof name });
    crawl_reading_begin(r, 1, &page, true);
    assert_int_equal(left(), 0);
    crawl_reading_begin_robots(NULL, 0, page.robots, true);
    crawl_reading_close(r);
    crawl_hosts_clear(&hosts);
}

TEST(a_damaged_file_says_nothing)
{
    die(true);
    assert_int_equal(truncate(path, 4000), 0);
    assert_int_equal(left(), 0);
    die(true);
    write_at(0, "x", 1);
    assert_int_equal(left(), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(left(), 0);
}

static int name_file(void **state)
{
    int code = folder_make(state);

    snprintf(path, sizeof path, "%s/reading", folder);
    return code;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_being_read_outlives_a_kill,
                                        name_file, folder_remove),
        cmocka_unit_test_setup_teardown(alone_counts_while_the_machine_runs,
                                        name_file, folder_remove),
        cmocka_unit_test_setup_teardown(a_process_that_ends_leaves_nothing,
                                        name_file, folder_remove),
        cmocka_unit_test_setup_teardown(a_robots_txt_is_noted_by_its_origin,
                                        name_file, folder_remove),
        cmocka_unit_test_setup_teardown(a_damaged_file_says_nothing, name_file,
                                        folder_remove),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
