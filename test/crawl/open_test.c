/* How a crawl begins, and what is left if it does not. */
#include "crawl/folder/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "lib/disk/lock.h"
#include "lib/text/span.h"
#include "test/folder.h"

/* What is removed below the folder of the test, and whether the crawl's lock
   was held then. */
static int removals, unlocked;
static char lock[64];

__attribute__((visibility("default"))) int unlink(const char *path)
{
    if (*lock && strstr(path, "/c/")) {
        removals++;
        unlocked += !lock_held(lock);
    }
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

static char *path_of(const char *name)
{
    static char path[64];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static bool is_there(const char *name)
{
    struct stat st;

    return !lstat(path_of(name), &st);
}

static char start_url[] = "http://a.example/";
static char *starts[] = { start_url, NULL };

/* The words of a crawl that does not begin. */
static const char *refusal(struct crawl_settings settings, char **start)
{
    static struct seen_error why;
    char into[64];
    struct crawl *c;

    strcpy(into, path_of("c"));
    settings.into = into;
    settings.contact = "https://me.example/";
    assert_int_not_equal(crawl_open(&c, &settings, start, NULL, &why),
                         SEEN_OK);
    assert_null(c);
    return why.text;
}

/* More filters than there are bytes are refused by the cache of the visit, when
   the state is there. */
static const struct crawl_settings too_much = { .capacity = UINT64_C(1)
                                                            << 60 };

TEST(what_a_crawl_made_that_did_not_begin_is_removed_under_its_lock)
{
    strcpy(lock, path_of("c/lock"));
    removals = unlocked = 0;
    assert_non_null(strstr(refusal(too_much, starts), "2^48"));
    assert_true(removals >= 2); /* state.db and the lock */
    assert_int_equal(unlocked, 0);
    assert_false(is_there("c"));
}

TEST(a_folder_that_was_there_stays)
{
    assert_int_equal(mkdir(path_of("c"), 0777), 0);
    refusal(too_much, starts);
    assert_true(is_there("c"));
    assert_false(is_there("c/state.db"));
    assert_false(is_there("c/lock"));
    assert_int_equal(rmdir(path_of("c")), 0);
}

TEST(a_state_that_was_there_stays)
{
    FILE *f;

    /* A crawl was killed as it began. */
    assert_int_equal(mkdir(path_of("c"), 0777), 0);
    f = fopen(path_of("c/state.db"), "w");
    assert_non_null(f);
    fclose(f);
    refusal(too_much, starts);
    assert_true(is_there("c/state.db"));
    assert_true(walk_remove(path_of("c")));
}

/* Where no folder can be made, what is said first tells what came first. */
TEST(settings_are_understood_before_anything_is_made)
{
    static char nowhere[] = "nowhere";
    static char *no_url[] = { nowhere, NULL };
    struct crawl_settings settings = { .include.n = 1 };
    static const struct crawl_settings none;
    FILE *f = fopen(path_of("c"), "w");

    assert_non_null(f);
    fclose(f);
    settings.include.text[0] = "(";
    assert_non_null(strstr(refusal(settings, starts), "--include ("));
    assert_non_null(strstr(refusal(none, no_url), "did you mean"));
    assert_non_null(strstr(refusal(none, NULL), "needs start URLs"));
    settings = (struct crawl_settings){ .list = "none.txt" };
    assert_non_null(strstr(refusal(settings, NULL), "none.txt: "));
    settings = (struct crawl_settings){ .ca = "none.pem" };
    assert_non_null(strstr(refusal(settings, starts), "CA certificates"));
    assert_int_equal(unlink(path_of("c")), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            what_a_crawl_made_that_did_not_begin_is_removed_under_its_lock),
        cmocka_unit_test(a_folder_that_was_there_stays),
        cmocka_unit_test(a_state_that_was_there_stays),
        cmocka_unit_test(settings_are_understood_before_anything_is_made),
    };

    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
