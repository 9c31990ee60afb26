/* cache_test.c - what is kept of distant filters, and what is not believed. */
#include "test/test.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "distant/cache.h"
#include "lib/disk/walk.h"

static char home[64], folder[80];
static const char url[] = "https://a.example/a.seen";

static int enter(void **state)
{
    (void)state;
    strcpy(home, "/tmp/seen-test-XXXXXX");
    if (!mkdtemp(home))
        return -1;
    snprintf(folder, sizeof folder, "%s/deep/seen", home);
    return 0;
}

static int leave(void **state)
{
    (void)state;
    return walk_remove(home) ? 0 : -1;
}

static int sweep(void **state)
{
    (void)state;
    walk_remove(folder);
    return 0;
}

#define FRESH(sentence) cmocka_unit_test_setup(sentence, sweep)

static size_t files(void)
{
    struct walk_names names;
    size_t n = 0;

    if (walk_folder(&names, folder, true, NULL) == SEEN_OK)
        n = names.n;
    walk_clear(&names);
    return n;
}

static void open_entry(struct distant_entry *e, const char *of, bool anew)
{
    struct seen_error why;

    if (distant_entry_open(e, folder, of, anew, &why) != SEEN_OK)
        fail_msg("%s", why.text);
}

/* An entry of so many bytes, used at that time. */
static void keep(const char *of, size_t bytes, const char *etag, time_t used)
{
    struct timespec times[2] = { { .tv_sec = used }, { .tv_sec = used } };
    struct distant_entry e;
    char *fill = calloc(1, bytes + 1);

    open_entry(&e, of, true);
    memset(fill, 'x', bytes);
    assert_int_equal(write(e.fd, fill, bytes), (ssize_t)bytes);
    free(fill);
    strcpy(e.version.etag, etag);
    distant_entry_keep(&e);
    if (used) {
        assert_int_equal(utimensat(AT_FDCWD, e.part, times, 0), 0);
        assert_int_equal(utimensat(AT_FDCWD, e.note, times, 0), 0);
    }
    distant_entry_close(&e);
}

static bool is_kept(const char *of)
{
    struct distant_entry e;
    bool kept;

    open_entry(&e, of, false);
    kept = e.kept;
    distant_entry_close(&e);
    return kept;
}

TEST(what_was_kept_is_found_with_its_version)
{
    struct distant_entry e;

    keep(url, 10, "\"one\"", 0);
    open_entry(&e, url, false);
    assert_true(e.kept);
    assert_string_equal(e.version.etag, "\"one\"");
    assert_true(e.version.checked > 0);
    distant_entry_close(&e);
    assert_false(is_kept("https://a.example/b.seen"));
    assert_int_equal(files(), 2);
}

TEST(what_was_begun_and_not_kept_is_removed)
{
    struct distant_entry e;

    open_entry(&e, url, false);
    assert_false(e.kept);
    assert_int_equal(files(), 1);
    distant_entry_close(&e);
    assert_int_equal(files(), 0);
}

TEST(a_new_version_replaces_the_old_one_which_stays_open)
{
    struct distant_entry old, new;
    char byte;

    keep(url, 10, "\"one\"", 0);
    open_entry(&old, url, false);
    open_entry(&new, url, true);
    assert_false(new.kept);
    strcpy(new.version.etag, "\"two\"");
    distant_entry_keep(&new);
    /* Whoever has the old one says nothing about the new one. */
    distant_entry_keep(&old);
    distant_entry_forget(&old);
    assert_int_equal(pread(old.fd, &byte, 1, 0), 1);
    distant_entry_close(&old);
    distant_entry_close(&new);
    open_entry(&new, url, false);
    assert_true(new.kept);
    assert_string_equal(new.version.etag, "\"two\"");
    distant_entry_forget(&new);
    distant_entry_close(&new);
    assert_int_equal(files(), 0);
}

TEST(a_note_about_another_file_is_not_believed)
{
    struct distant_entry e;
    char *beside;

    keep(url, 10, "\"one\"", 0);
    open_entry(&e, url, false);
    assert_true(asprintf(&beside, "%s.copy", e.part) > 0);
    assert_int_equal(link(e.part, beside), 0);
    assert_int_equal(unlink(e.part), 0);
    close(open(e.part, O_CREAT | O_RDWR, 0600));
    distant_entry_close(&e);
    assert_false(is_kept(url));
    free(beside);
}

TEST(entries_that_were_used_longest_ago_make_room)
{
    char of[4][40];
    struct distant_entry e;

    for (int i = 0; i < 4; i++) {
        snprintf(of[i], sizeof of[i], "https://a.example/%d.seen", i);
        keep(of[i], 100000, "", 1000000 + (i == 1 ? 0 : i + 1));
    }
    open_entry(&e, of[0], false);
    distant_cache_shrink(&e, 250000);
    assert_true(is_kept(of[0])); /* the one that is in use is not counted */
    assert_false(is_kept(of[1]));
    assert_true(is_kept(of[2]));
    assert_true(is_kept(of[3]));
    distant_cache_shrink(&e, 0);
    assert_false(is_kept(of[2]));
    assert_false(is_kept(of[3]));
    assert_int_equal(files(), 2);
    distant_entry_close(&e);
}

TEST(what_a_killed_process_has_begun_goes_after_an_hour)
{
    struct distant_entry e;
    struct timespec old[2] = { { .tv_sec = 1000000 }, { .tv_sec = 1000000 } };
    char path[2][200];

    keep(url, 10, "", 0);
    for (int i = 0; i < 2; i++) {
        snprintf(path[i], sizeof path[i], "%s/x.part.abcde%d", folder, i);
        close(open(path[i], O_CREAT | O_RDWR, 0600));
    }
    assert_int_equal(utimensat(AT_FDCWD, path[0], old, 0), 0);
    open_entry(&e, url, false);
    distant_cache_shrink(&e, 1 << 20);
    distant_entry_close(&e);
    assert_int_equal(access(path[0], F_OK), -1);
    assert_int_equal(access(path[1], F_OK), 0);
}

TEST(a_folder_of_others_is_not_used)
{
    struct distant_entry e;
    struct seen_error why;
    struct stat it;
    char target[100];

    keep(url, 10, "", 0);
    assert_int_equal(stat(folder, &it), 0);
    assert_int_equal(it.st_mode & 0777, 0700);
    assert_int_equal(chmod(folder, 0750), 0);
    assert_int_equal(distant_entry_open(&e, folder, url, false, &why),
                     SEEN_RANGE);
    assert_int_equal(chmod(folder, 0700), 0);
    snprintf(target, sizeof target, "%s/real", home);
    assert_int_equal(rename(folder, target), 0);
    assert_int_equal(symlink(target, folder), 0);
    assert_int_equal(distant_entry_open(&e, folder, url, false, &why),
                     SEEN_RANGE);
    assert_int_equal(unlink(folder), 0);
    walk_remove(target);
}

TEST(the_secret_is_made_once_and_differs_by_url)
{
    unsigned char a[SEEN_SECRET], b[SEEN_SECRET], c[SEEN_SECRET];
    struct seen_error why;
    char path[120];
    struct stat it;
    int fd;

    assert_int_equal(distant_secret(folder, url, a, &why), SEEN_OK);
    assert_int_equal(distant_secret(folder, url, b, &why), SEEN_OK);
    assert_memory_equal(a, b, sizeof a);
    assert_int_equal(distant_secret(folder, "https://b.example/", c, &why),
                     SEEN_OK);
    assert_memory_not_equal(a, c, sizeof a);
    snprintf(path, sizeof path, "%s/decoys", folder);
    assert_int_equal(stat(path, &it), 0);
    assert_int_equal(it.st_mode & 0777, 0600);
    assert_int_equal(files(), 1);
    /* One that was cut is not replaced: the groups would be others. */
    fd = open(path, O_RDWR);
    assert_int_equal(ftruncate(fd, 5), 0);
    close(fd);
    assert_int_equal(distant_secret(folder, url, b, &why), SEEN_RANGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FRESH(what_was_kept_is_found_with_its_version),
        FRESH(what_was_begun_and_not_kept_is_removed),
        FRESH(a_new_version_replaces_the_old_one_which_stays_open),
        FRESH(a_note_about_another_file_is_not_believed),
        FRESH(entries_that_were_used_longest_ago_make_room),
        FRESH(what_a_killed_process_has_begun_goes_after_an_hour),
        FRESH(a_folder_of_others_is_not_used),
        FRESH(the_secret_is_made_once_and_differs_by_url),
    };

    return cmocka_run_group_tests(tests, enter, leave);
}
