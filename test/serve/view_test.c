/* view_test.c - files that change, between the last look and a lookup, too. */
#include "test/folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "serve/archives/view.h"

enum { KEYS = 100 };

static char path[64], next[64], texts[KEYS + 1][32];
static struct seen_key keys[KEYS + 1]; /* the last one is never added */
static struct archive_set *set;
static struct archive_view *view;

/* A filter of all keys but the last, as it was an hour ago: times of files are
   those of the last tick of a clock, and tests are faster than that. */
static void make_for(uint64_t capacity, const char *to, const char *kind,
                     uint64_t seed)
{
    const struct timespec times[2] = { { .tv_sec = time(NULL) - 3600 },
                                       { .tv_sec = time(NULL) - 3600 } };
    struct seen_plan plan = {
        .profile = "raw", .capacity = capacity, .rate = 0.001, .seed = seed
    };
    struct seen_filter *f;

    snprintf(plan.kind, sizeof plan.kind, "%s", kind);
    for (int i = 0; i <= KEYS; i++) {
        int n = snprintf(texts[i], sizeof texts[i], "http://%d.example/", i);

        seen_key_hash(&keys[i], texts[i], (size_t)n);
    }
    assert_int_equal(seen_filter_new(&f, &plan, NULL), SEEN_OK);
    assert_int_equal(seen_filter_add(f, keys, KEYS, NULL, NULL), SEEN_OK);
    assert_int_equal(seen_store_save(f, to, NULL), SEEN_OK);
    seen_filter_free(f);
    assert_int_equal(utimensat(AT_FDCWD, to, times, 0), 0);
}

static void make(const char *to, const char *kind, uint64_t seed)
{
    make_for(KEYS, to, kind, seed);
}

static int open_view(void **state)
{
    const char *operand = folder;
    const struct archive_set_options options = { .operand = &operand,
                                                 .operands = 1,
                                                 .cost = UINT64_MAX };

    (void)state;
    snprintf(path, sizeof path, "%s/a.seen", folder);
    snprintf(next, sizeof next, "%s/next", folder);
    make(path, "blocked", 0);
    make(next, "blocked", 7);
    assert_int_equal(archive_set_open(&set, &options, NULL), SEEN_OK);
    assert_int_equal(archive_view_new(&view, set, NULL, NULL), SEEN_OK);
    archive_view_refresh(view);
    return 0;
}

static int close_view(void **state)
{
    (void)state;
    archive_view_free(view);
    return archive_set_close(set, NULL) != SEEN_OK;
}

static struct archive *archive(void)
{
    return archive_view_find(view, span_of("a"));
}

/* How many keys are denied; -1 if the archive does not answer. */
static int denied(void)
{
    bool seen[KEYS + 1];
    int sum = 0;

    if (archive_has(archive(), keys, KEYS + 1, seen, NULL) != SEEN_OK)
        return -1;
    for (int i = 0; i <= KEYS; i++)
        sum += !seen[i];
    return sum;
}

static void wait_for_filter(void)
{
    for (int i = 0; i < 1000 && !archive()->filter; i++) {
        usleep(10000);
        archive_view_refresh(view);
    }
    assert_non_null(archive()->filter);
}

TEST(a_no_from_a_file_that_was_overwritten_meanwhile_is_not_given)
{
    char bytes[1 << 16];
    int from = open(next, O_RDONLY), to = open(path, O_WRONLY);
    ssize_t n = read(from, bytes, sizeof bytes);

    assert_int_equal(denied(), 1);
    assert_int_equal(pwrite(to, bytes, (size_t)n, 0), n);
    assert_int_equal(denied(), -1);
    assert_null(archive()->filter);
    wait_for_filter();
    assert_int_equal(denied(), 1);
    close(from);
    close(to);
}

TEST(a_replaced_file_answers_as_it_was)
{
    assert_int_equal(rename(next, path), 0);
    assert_int_equal(denied(), 1);
    archive_view_refresh(view);
    assert_int_equal(denied(), 1);
}

TEST(a_writer_of_ours_may_come_and_go_meanwhile)
{
    struct seen_filter *f;

    assert_int_equal(seen_store_open(&f, path, NULL, NULL), SEEN_OK);
    assert_int_equal(seen_filter_add(f, &keys[KEYS], 1, NULL, NULL), SEEN_OK);
    assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
    keys[KEYS].lo ^= 1;
    assert_int_equal(denied(), 1);
    archive_view_refresh(view);
    assert_int_equal(denied(), 1);
    keys[KEYS].lo ^= 1;
    assert_int_equal(denied(), 0);
}

/* What archives.json says from now on. */
static void say(const char *text)
{
    char to[64], from[64];
    FILE *file;

    snprintf(from, sizeof from, "%s/said", folder);
    snprintf(to, sizeof to, "%s/archives.json", folder);
    file = fopen(from, "w");
    fputs(text, file);
    fclose(file);
    assert_int_equal(rename(from, to), 0);
}

static const char *title(struct archive_view *v)
{
    const struct archive *a = archive_view_find(v, span_of("a"));

    return a->note ? a->note->title : "";
}

TEST(views_agree_about_a_wrong_overlay_though_one_of_them_slept)
{
    struct archive_view *sleeps;

    say("{\"a\": {\"title\": \"one\"}}");
    archive_view_refresh(view);
    assert_int_equal(archive_view_new(&sleeps, set, NULL, NULL), SEEN_OK);
    assert_string_equal(title(sleeps), "one");
    say("{\"a\": {\"title\": \"two\"}}");
    archive_view_refresh(view);
    say("{\"a\": {\"titel\": \"three\"}}");
    archive_view_refresh(sleeps);
    archive_view_refresh(view);
    assert_string_equal(title(view), "two");
    assert_string_equal(title(sleeps), "two");
    say("{}");
    archive_view_refresh(sleeps);
    say("nonsense");
    archive_view_refresh(view);
    assert_string_equal(title(view), "");
    archive_view_free(sleeps);
    say("{}");
}

static void add_last_key(const char *to)
{
    struct seen_filter *f;

    assert_int_equal(seen_store_open(&f, to, NULL, NULL), SEEN_OK);
    assert_int_equal(seen_filter_add(f, &keys[KEYS], 1, NULL, NULL), SEEN_OK);
    assert_int_equal(seen_store_close(f, NULL), SEEN_OK);
    archive_view_refresh(view);
}

TEST(the_rate_of_many_parts_is_not_computed_after_each_add)
{
    const double few = archive()->rate;
    double many;

    make(path, "routed:128/blocked", 0);
    archive_view_refresh(view);
    many = archive()->rate;
    assert_true(many != few && !archive()->outdated);
    archive()->rated += 1000; /* however slow this machine is */
    add_last_key(path);
    assert_int_equal(denied(), 0);
    assert_true(archive()->rate == many && archive()->outdated);
    archive()->rated -= 1001; /* 2 ms per part have passed */
    archive_view_poll(view);
    archive_view_refresh(view);
    assert_true(archive()->rate > many && !archive()->outdated);
}

TEST(the_rate_of_few_parts_is_that_of_2_ms_ago)
{
    const double before = archive()->rate;

    archive()->rated += 1000;
    add_last_key(path);
    assert_true(archive()->rate == before && archive()->outdated);
    archive()->rated -= 1000 + 0.002;
    archive_view_poll(view);
    archive_view_refresh(view);
    assert_true(archive()->rate > before && !archive()->outdated);
}

TEST(a_large_file_is_checked_aside_and_found_to_be_good_or_bad)
{
    struct seen_error why;
    struct stat file;
    char byte = 0;
    int fd;

    make_for(10000000, path, "blocked", 0);
    for (int bad = 0; bad < 2; bad++) {
        assert_int_equal(stat(path, &file), 0);
        assert_true(file.st_size > 1 << 23);
        while (archive_condition(set, path, &file, &why) == ARCHIVE_UNCHECKED)
            usleep(1000);
        assert_int_equal(archive_condition(set, path, &file, &why),
                         bad ? ARCHIVE_BAD : ARCHIVE_GOOD);
        fd = open(path, O_RDWR);
        assert_int_equal(pread(fd, &byte, 1, file.st_size / 2), 1);
        byte ^= 1;
        assert_int_equal(pwrite(fd, &byte, 1, file.st_size / 2), 1);
        file.st_mtim.tv_sec += 2; /* however coarse its clock is */
        assert_int_equal(
            futimens(fd, (struct timespec[2]){ file.st_mtim, file.st_mtim }),
            0);
        close(fd);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_no_from_a_file_that_was_overwritten_meanwhile_is_not_given,
            open_view, close_view),
        cmocka_unit_test_setup_teardown(a_replaced_file_answers_as_it_was,
                                        open_view, close_view),
        cmocka_unit_test_setup_teardown(
            a_writer_of_ours_may_come_and_go_meanwhile, open_view, close_view),
        cmocka_unit_test_setup_teardown(
            the_rate_of_many_parts_is_not_computed_after_each_add, open_view,
            close_view),
        cmocka_unit_test_setup_teardown(
            views_agree_about_a_wrong_overlay_though_one_of_them_slept,
            open_view, close_view),
        cmocka_unit_test_setup_teardown(
            the_rate_of_few_parts_is_that_of_2_ms_ago, open_view, close_view),
        cmocka_unit_test_setup_teardown(
            a_large_file_is_checked_aside_and_found_to_be_good_or_bad,
            open_view, close_view),
    };

    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
