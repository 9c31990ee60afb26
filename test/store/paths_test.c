/* paths_test.c - what lies beside a filter's file, and where that is. */
#include "stored.h"

#include <sys/wait.h>

/* Nobody waits for the other end of a pipe; a minute is a failure. */
TEST(a_fifo_where_a_file_should_be_is_refused_at_once)
{
    static const struct {
        const char *suffix, *text;
    } cases[] = {
        { ".journal", "its journal is not a regular file" },
        { ".lock", "its lock is not a regular file" },
    };

    alarm(60);
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct seen_error why = { .text = "" };
        struct seen_filter *f;
        char name[128];

        store("bloom", 100, 10);
        beside(name, cases[i].suffix);
        assert_int_equal(mkfifo(name, 0666), 0);
        assert_int_equal(seen_store_open(&f, path, NULL, &why), SEEN_RANGE);
        assert_string_equal(why.text, cases[i].text);
        if (!i) {
            assert_int_equal(loads(&why), SEEN_RANGE);
            assert_string_equal(why.text, cases[i].text);
        }
        assert_int_equal(unlink(name), 0);
        assert_int_equal(loads(NULL), SEEN_OK);
    }
    alarm(0);
}

/* A writer with a strict umask is killed: others of the group go on. */
TEST(a_killed_writers_lock_can_be_taken_by_who_may_write_the_filter)
{
    struct seen_filter *f;
    struct stat it;
    char name[128];

    store("bloom", 100, 10);
    assert_int_equal(chmod(path, 0664), 0);
    if (!fork()) {
        umask(077);
        _exit(seen_store_open(&f, path, NULL, NULL) != SEEN_OK ||
              seen_filter_add(f, key, 1, NULL, NULL) != SEEN_OK);
    }
    assert_true(wait(NULL) > 0);
    beside(name, ".lock");
    assert_int_equal(stat(name, &it), 0);
    assert_int_equal(it.st_mode & 0777, 0664);
    beside(name, ".journal");
    assert_int_equal(stat(name, &it), 0);
    assert_int_equal(it.st_mode & 0777, 0664);
    assert_int_equal(seen_store_open(&f, path, NULL, NULL), SEEN_OK);
    assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
    assert_int_equal(files(), 1);
}

/* The link stays, and what it leads to is made; it used to be replaced. */
TEST(a_link_to_what_is_not_there_yet_is_followed)
{
    struct seen_plan plan = plan_of("bloom", 100);
    struct seen_filter *f = holding(&plan, 10);
    struct stat it;
    char link[128], chain[128];

    beside(link, ".link");
    beside(chain, ".chain");
    assert_int_equal(symlink("crawl.seen", link), 0);
    assert_int_equal(symlink(link, chain), 0);
    assert_int_equal(seen_store_save(f, chain, NULL), SEEN_OK);
    assert_int_equal(lstat(link, &it), 0);
    assert_true(S_ISLNK(it.st_mode));
    assert_int_equal(lstat(chain, &it), 0);
    assert_true(S_ISLNK(it.st_mode));
    assert_int_equal(lstat(path, &it), 0);
    assert_true(S_ISREG(it.st_mode));
    assert_int_equal(loads(NULL), SEEN_OK);
    assert_int_equal(files(), 3);

    assert_int_equal(unlink(link), 0);
    assert_int_equal(symlink("nonesuch/crawl.seen", link), 0);
    assert_int_equal(seen_store_save(f, chain, NULL), SEEN_IO);
    assert_int_equal(unlink(link), 0);
    assert_int_equal(symlink(chain, link), 0);
    assert_int_equal(seen_store_save(f, link, NULL), SEEN_IO);
    assert_int_equal(files(), 3);
    seen_filter_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FRESH(a_fifo_where_a_file_should_be_is_refused_at_once),
        FRESH(a_link_to_what_is_not_there_yet_is_followed),
        FRESH(a_killed_writers_lock_can_be_taken_by_who_may_write_the_filter),
    };

    return cmocka_run_group_tests(tests, enter, leave);
}
