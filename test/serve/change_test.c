/* change_test.c - changes of several clients that are made together. */
#include "test/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/archives/archive_change.h"

/* A filter with http://0.example/ and as many others as it takes. */
static void make_full(const char *path)
{
    struct seen_plan plan = {
        .kind = "blocked", .profile = "raw", .capacity = 1, .rate = 0.01
    };
    enum seen_code code = SEEN_OK;
    struct seen_filter *f;
    struct seen_key key;
    char url[64];

    assert_int_equal(seen_filter_new(&f, &plan, NULL), SEEN_OK);
    for (int i = 0; code == SEEN_OK; i++) {
        int n = snprintf(url, sizeof url, "http://%d.example/", i);

        seen_key_hash(&key, url, (size_t)n);
        code = seen_filter_add(f, &key, 1, NULL, NULL);
    }
    assert_int_equal(code, SEEN_FULL);
    assert_int_equal(seen_store_save(f, path, NULL), SEEN_OK);
    seen_filter_free(f);
}

TEST(a_filter_that_is_full_for_one_client_is_not_for_another)
{
    static const char *const url[] = { "http://new.example/",
                                       "http://0.example/",
                                       "http://other.example/" };
    static const enum seen_code is[] = { SEEN_FULL, SEEN_OK, SEEN_FULL };
    const char *operand[] = { folder };
    const struct archive_set_options options = { .operand = operand,
                                                 .operands = 1,
                                                 .writable = true };
    struct archive a = { .profile = { SEEN_RAW, -1 } };
    struct archive_change change[3];
    struct archive_set *set;
    char path[64];

    snprintf(path, sizeof path, "%s/full.seen", folder);
    make_full(path);
    assert_int_equal(archive_set_open(&set, &options, NULL), SEEN_OK);
    a.name = (char[]){ "full" };
    a.path = path;
    /* Each of the three is once the first, whose job it is. */
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < 3; i++) {
            struct archive_change *c = &change[i];

            assert_int_equal(archive_change_begin(c, set, ARCHIVE_ADD, &a,
                                                  span_of("full"), NULL, NULL),
                             SEEN_OK);
            assert_int_equal(archive_change_add(c,
                                                span_of(url[(turn + i) % 3]),
                                                ARCHIVE_URL, NULL),
                             SEEN_OK);
            c->next = i < 2 ? c + 1 : NULL;
        }
        archive_change_run(change);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(change[i].code, is[(turn + i) % 3]);
            assert_int_equal(change[i].result[0], is[(turn + i) % 3] == SEEN_OK
                                                      ? ARCHIVE_OLD
                                                      : ARCHIVE_REFUSED);
            archive_change_clear(&change[i]);
        }
    }
    assert_int_equal(archive_set_close(set, NULL), SEEN_OK);
}

/* After some refusals no new key is tried, but keys that are there count. */
TEST(known_keys_behind_many_refused_ones_are_found)
{
    const char *operand[] = { folder };
    const struct archive_set_options options = { .operand = operand,
                                                 .operands = 1,
                                                 .writable = true };
    struct archive a = { .profile = { SEEN_RAW, -1 } };
    struct archive_change c;
    struct archive_set *set;
    char path[256], url[64];

    snprintf(path, sizeof path, "%s/full.seen", folder);
    make_full(path);
    assert_int_equal(archive_set_open(&set, &options, NULL), SEEN_OK);
    a.name = (char[]){ "full" };
    a.path = path;
    assert_int_equal(archive_change_begin(&c, set, ARCHIVE_ADD, &a,
                                          span_of("full"), NULL, NULL),
                     SEEN_OK);
    for (int i = 0; i <= 100; i++) {
        snprintf(url, sizeof url, "http://%s%d.example/", i < 100 ? "new" : "",
                 i % 100);
        assert_int_equal(
            archive_change_add(&c, span_of(url), ARCHIVE_URL, NULL), SEEN_OK);
    }
    archive_change_run(&c);
    assert_int_equal(c.code, SEEN_FULL);
    for (int i = 0; i < 100; i++) /* OLD: a false positive */
        assert_true(c.result[i] != ARCHIVE_NEW);
    assert_int_equal(c.result[100], ARCHIVE_OLD);
    archive_change_clear(&c);
    assert_int_equal(archive_set_close(set, NULL), SEEN_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            a_filter_that_is_full_for_one_client_is_not_for_another),
        cmocka_unit_test(known_keys_behind_many_refused_ones_are_found),
    };

    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
