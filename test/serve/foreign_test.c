/* foreign_test.c - a kind from outside the library is served like our own. */
#include "test/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/disk/walk.h"
#include "serve/archives/archive_change.h"
#include "test/filter/foreign.h"

static char folder[] = "/tmp/seen-foreign-XXXXXX";
static struct archive_set *set;
static struct archive_view *view;

static void describe(struct archive *a)
{
    (void)a;
}

static void store(const char *name, const char *kind)
{
    struct seen_plan plan = { .profile = "raw", .capacity = 50, .rate = 0.01 };
    struct seen_filter *f;
    char path[64];

    snprintf(plan.kind, sizeof plan.kind, "%s", kind);
    snprintf(path, sizeof path, "%s/%s.seen", folder, name);
    assert_int_equal(seen_filter_new(&f, &plan, NULL), SEEN_OK);
    assert_int_equal(seen_store_save(f, path, NULL), SEEN_OK);
    seen_filter_free(f);
}

static int open_set(void **state)
{
    const char *operand = folder;
    struct archive_set_options options = { .operand = &operand,
                                           .operands = 1,
                                           .writable = true,
                                           .sync = SEEN_SYNC_NO };

    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(seen_kind_register(&mine, NULL), SEEN_OK);
    store("counts", "mine");
    store("parts", "routed:4/mine");
    store("grows", "growing/mine");
    assert_int_equal(archive_set_open(&set, &options, NULL), SEEN_OK);
    assert_int_equal(archive_view_new(&view, set, describe, NULL), SEEN_OK);
    return 0;
}

static int close_set(void **state)
{
    (void)state;
    archive_view_free(view);
    assert_int_equal(archive_set_close(set, NULL), SEEN_OK);
    return !walk_remove(folder);
}

static struct archive *find(const char *name)
{
    struct archive *a;

    archive_view_refresh(view);
    a = archive_view_find(view, span_of(name));
    assert_non_null(a);
    assert_non_null(a->filter);
    return a;
}

static struct seen_key key_of(int i, char text[32])
{
    struct seen_key key;
    int len = snprintf(text, 32, "http://a.example/%d", i);

    seen_key_hash(&key, text, (size_t)len);
    return key;
}

/* Change n items; returns how many were new, or were removed. */
static size_t change(const char *name, enum archive_change_kind kind, int n)
{
    struct archive_change c;
    size_t sum = 0;

    assert_int_equal(archive_change_begin(&c, set, kind, find(name),
                                          span_of(name), NULL, NULL),
                     SEEN_OK);
    for (int i = 0; i < n; i++) {
        char text[32];
        struct seen_key key = key_of(i, text);

        assert_int_equal(
            archive_change_add(&c, (struct seen_span){ text, key.len },
                               ARCHIVE_URL, NULL),
            SEEN_OK);
    }
    archive_change_run(&c);
    if (c.code != SEEN_OK)
        fail_msg("%s: %s", name, c.why.text);
    for (size_t i = 0; i < c.n; i++)
        sum += c.result[i] == ARCHIVE_NEW;
    archive_change_clear(&c);
    return sum;
}

static size_t found(const char *name, int n)
{
    struct archive *a = find(name);
    size_t sum = 0;

    for (int i = 0; i < n; i++) {
        char text[32];
        struct seen_key key = key_of(i, text);
        bool seen = false;

        assert_int_equal(archive_has(a, &key, 1, &seen, NULL), SEEN_OK);
        sum += seen;
    }
    return sum;
}

TEST(it_is_added_to_counted_and_removed_from)
{
    static const char *const name[] = { "counts", "parts" };
    struct archive *a;
    char text[32];
    struct seen_key key = key_of(3, text);
    uint64_t count;

    for (int i = 0; i < 2; i++) {
        assert_in_range(change(name[i], ARCHIVE_ADD, 40), 35, 40);
        assert_int_equal(found(name[i], 40), 40);
        assert_int_equal(change(name[i], ARCHIVE_ADD, 40), 0);
        a = find(name[i]);
        assert_true(
            seen_filter_can(a->filter, SEEN_CAN_COUNT | SEEN_CAN_REMOVE));
        assert_int_equal(archive_count(a, &key, &count, NULL), SEEN_OK);
        assert_in_range(count, 2, 4);
        assert_int_equal(change(name[i], ARCHIVE_REMOVE, 40), 40);
        assert_int_equal(change(name[i], ARCHIVE_REMOVE, 40), 40);
        assert_int_equal(found(name[i], 40), 0);
    }
}

TEST(it_grows_past_its_capacity)
{
    assert_true(change("grows", ARCHIVE_ADD, 400) > 380);
    assert_int_equal(found("grows", 400), 400);
    assert_true(seen_filter_can(find("grows")->filter, SEEN_CAN_GROW));
    assert_false(seen_filter_can(find("grows")->filter, SEEN_CAN_COUNT));
    assert_true(seen_filter_parts(find("grows")->filter) > 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_added_to_counted_and_removed_from),
        cmocka_unit_test(it_grows_past_its_capacity),
    };

    return cmocka_run_group_tests(tests, open_set, close_set);
}
