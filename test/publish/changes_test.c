/*
 * changes_test.c - which versions the change list has.
 *
 * A version is a letter; its digest is 32 of them. Changes are shown as
 * "a:A- a:B+", the path, the version, and whether there is a delta to it; in
 * lower case what is gone: "a:x".
 */
#include "test/publish/folder.h"

#include "publish/changes.h"

static struct publish_state s;

static void begin(uint64_t deltas)
{
    publish_state_clear(&s);
    s.deltas = deltas;
}

/* Items are given in order of paths; a delta takes so many bytes. */
static void forget_items(void)
{
    for (size_t i = 0; i < s.items; i++)
        publish_item_clear(&s.item[i]);
    s.items = 0;
}

static void put(const char *path, char version, char from, uint64_t bytes)
{
    struct publish_item *item = publish_state_add_item(&s);

    item->path = strdup(path);
    item->length = 1000;
    memset(item->digest, version, SEEN_DIGEST);
    item->patch.made = from;
    memset(item->patch.from, from, SEEN_DIGEST);
    item->patch.length = bytes;
}

/* Publish a single file. */
static void publish_one(char version, char from, uint64_t bytes, int64_t now)
{
    forget_items();
    if (version)
        put("a", version, from, bytes);
    assert_int_equal(publish_changes_update(&s, now, NULL), SEEN_OK);
}

static const char *shown(void)
{
    static char text[512];
    size_t len = 0;

    *text = '\0';
    for (size_t i = 0; i < s.changes; i++) {
        const struct publish_change *c = &s.change[i];

        len += (size_t)snprintf(text + len, sizeof text - len, "%s%s:%c%s",
                                i ? " " : "", c->path,
                                c->kind == DELETED ? 'x' : c->digest[0],
                                c->kind == DELETED ? ""
                                : c->patched       ? "+"
                                                   : "-");
        if (i)
            assert_true(c->when >= s.change[i - 1].when);
    }
    return text;
}

TEST(versions_are_joined_by_deltas)
{
    begin(3);
    publish_one('A', 0, 0, 10);
    assert_string_equal(shown(), "a:A-");
    assert_int_equal(s.change[0].kind, CREATED);
    publish_one('A', 0, 0, 20); /* nothing has changed */
    assert_string_equal(shown(), "a:A-");
    publish_one('B', 'A', 10, 30);
    assert_string_equal(shown(), "a:A- a:B+");
    assert_int_equal(s.change[1].kind, UPDATED);
    publish_one('C', 'B', 10, 40);
    publish_one('D', 'C', 10, 50);
    assert_string_equal(shown(), "a:A- a:B+ a:C+ a:D+");
}

TEST(no_more_deltas_are_kept_than_asked_for)
{
    begin(2);
    publish_one('A', 0, 0, 10);
    publish_one('B', 'A', 10, 20);
    publish_one('C', 'B', 10, 30);
    publish_one('D', 'C', 10, 40);
    assert_string_equal(shown(), "a:B- a:C+ a:D+");
    s.deltas = 1;
    publish_one('D', 0, 0, 50);
    assert_string_equal(shown(), "a:C- a:D+");
    s.deltas = 0;
    publish_one('D', 0, 0, 60);
    assert_string_equal(shown(), "");
}

TEST(a_version_without_a_delta_begins_anew)
{
    begin(5);
    publish_one('A', 0, 0, 10);
    publish_one('B', 'A', 10, 20);
    publish_one('C', 0, 0, 30);
    assert_string_equal(shown(), "a:C-");
    publish_one('D', 'A', 10, 40); /* from what nobody was told of */
    assert_string_equal(shown(), "a:D-");
}

TEST(deltas_that_are_longer_than_the_file_are_not_kept)
{
    begin(5);
    publish_one('A', 0, 0, 10);
    publish_one('B', 'A', 600, 20);
    publish_one('C', 'B', 300, 30);
    assert_string_equal(shown(), "a:A- a:B+ a:C+");
    publish_one('D', 'C', 300, 40);
    assert_string_equal(shown(), "a:B- a:C+ a:D+");
}

TEST(what_is_gone_is_told_once_and_may_come_back)
{
    begin(5);
    publish_one('A', 0, 0, 10);
    publish_one('B', 'A', 10, 20);
    publish_one(0, 0, 0, 30);
    assert_string_equal(shown(), "a:x");
    publish_one(0, 0, 0, 40);
    assert_string_equal(shown(), "a:x");
    publish_one('B', 0, 0, 30); /* in the second in which it went */
    assert_string_equal(shown(), "a:B-");
    assert_int_equal(s.change[0].kind, CREATED);
    assert_true(s.change[0].when > 30);
}

TEST(a_clock_that_goes_back_does_not_change_the_order)
{
    begin(5);
    publish_one('A', 0, 0, 100);
    publish_one('B', 'A', 10, 50);
    assert_string_equal(shown(), "a:A- a:B+");
    assert_int_equal(s.change[1].when, 101);
}

TEST(filters_do_not_mix)
{
    begin(2);
    put("a", 'A', 0, 0);
    put("a/b", 'M', 0, 0);
    put("b", 'X', 0, 0);
    assert_int_equal(publish_changes_update(&s, 10, NULL), SEEN_OK);
    assert_string_equal(shown(), "a:A- a/b:M- b:X-");
    forget_items();
    put("a", 'B', 'A', 5);
    put("b", 'Y', 'X', 5);
    put("c", 'Q', 0, 0);
    assert_int_equal(publish_changes_update(&s, 20, NULL), SEEN_OK);
    assert_string_equal(shown(), "a:A- b:X- a:B+ a/b:x b:Y+ c:Q-");
}

/* A publisher that replaces a filter a second does not fill the list. */
TEST(of_what_is_gone_the_latest_thousand_are_told)
{
    char path[16];

    begin(1);
    for (int i = 0; i < 1200; i++) {
        forget_items();
        snprintf(path, sizeof path, "%04d", i);
        put(path, 'A', 0, 0);
        if (i % 100 == 99 || i > 1190)
            assert_int_equal(publish_changes_update(&s, i, NULL), SEEN_OK);
    }
    forget_items();
    for (int i = 0; i < 1500; i++) {
        snprintf(path, sizeof path, "%04d", i);
        put(path, 'A', 0, 0);
    }
    assert_int_equal(publish_changes_update(&s, 5000, NULL), SEEN_OK);
    forget_items();
    assert_int_equal(publish_changes_update(&s, 6000, NULL), SEEN_OK);
    assert_int_equal(s.changes, 1000);
    assert_string_equal(s.change[0].path, "0500");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_are_joined_by_deltas),
        cmocka_unit_test(no_more_deltas_are_kept_than_asked_for),
        cmocka_unit_test(a_version_without_a_delta_begins_anew),
        cmocka_unit_test(deltas_that_are_longer_than_the_file_are_not_kept),
        cmocka_unit_test(what_is_gone_is_told_once_and_may_come_back),
        cmocka_unit_test(a_clock_that_goes_back_does_not_change_the_order),
        cmocka_unit_test(filters_do_not_mix),
        cmocka_unit_test(of_what_is_gone_the_latest_thousand_are_told),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    publish_state_clear(&s);
    return failed;
}
