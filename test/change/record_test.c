/* Page records: what is read, and what is refused with which words. */
#include "change/record.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/text/span.h"
#include "test/test.h"

/* A copy that ends at a page that cannot be read. */
static enum seen_code read_at_edge(struct change_record *r, struct seen_span s,
                                   struct seen_error *why)
{
    static char *edge;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), room = 16 * page;

    if (!edge) {
        edge = mmap(NULL, room + page, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(edge != MAP_FAILED);
        assert_int_equal(mprotect(edge + room, page, PROT_NONE), 0);
        edge += room;
    }
    assert_true(s.len < room);
    memcpy(edge - s.len, s.text, s.len);
    return change_record_read(r, (struct seen_span){ edge - s.len, s.len },
                              why);
}

TEST(all_members_of_a_record_are_read)
{
    struct change_record r = { .field = NULL };

    assert_int_equal(
        read_at_edge(
            &r,
            span_of("{\"_v\": 1, \"_id\": \"5a\", \"_url\": "
                    "\"HTTP://A.example/x#y\", \"_template\": \"42\","
                    " \"_type\": \"t\", \"_visit\": \"n@7\", "
                    "\"_fetched_at\": \"2026-01-02T03:04:05.678Z\", "
                    "\"_status\": 404, \"_turn\": 3, \"_skeleton\": "
                    "\"00000000000000ff\", \"_other\": [{\"a\": "
                    "null}], \"b\": [\"x\\u00e9\\ud83d\\ude00\", 2.5],"
                    " \"a\": \"one\"}\r\n"),
            NULL),
        SEEN_OK);
    assert_true(span_is(r.id, "5a"));
    assert_true(span_is(r.url, "http://a.example/x"));
    assert_true(span_is(r.visit, "n@7"));
    assert_true(span_is(r.type, "t"));
    assert_true(span_is(r.template, "42"));
    assert_int_equal(r.fetched, 1767323045678);
    assert_int_equal(r.status, 404);
    assert_int_equal(r.turn, 3);
    assert_true(r.has_skeleton);
    assert_int_equal(r.skeleton, 255);
    assert_int_equal(r.fields, 2);
    assert_true(span_is(r.field[0].name, "a"));
    assert_int_equal(r.field[0].n, 1);
    assert_int_equal(r.field[1].n, 2);
    assert_true(
        span_is(r.value[r.field[1].first], "x\xc3\xa9\xf0\x9f\x98\x80"));
    assert_true(span_is(r.value[r.field[1].first + 1], "2.5"));
    assert_string_equal(r.fault, "");
    change_record_clear(&r);
}

TEST(the_papers_record_needs_only_a_url)
{
    struct change_record r = { .field = NULL };

    assert_int_equal(
        read_at_edge(&r, span_of("{\"_url\": \"http://a/\"}"), NULL), SEEN_OK);
    assert_int_equal(r.id.len, 0);
    assert_int_equal(r.status, 200);
    assert_int_equal(r.fetched, 0);
    change_record_clear(&r);
}

TEST(the_end_of_a_visit_is_read)
{
    struct change_record r = { .field = NULL };

    assert_int_equal(
        read_at_edge(&r,
                     span_of("{\"_v\": 1, \"_id\": \"e\", \"_end\": true, "
                             "\"_visit\": \"n@7\", \"_shard\": 2, "
                             "\"_records\": 12, \"_missed\": 3}"),
                     NULL),
        SEEN_OK);
    assert_true(r.end);
    assert_int_equal(r.shard, 2);
    assert_int_equal(r.records, 12);
    assert_int_equal(r.missed, 3);
    change_record_clear(&r);
}

#define URL "\"_url\": \"http://a.example/\""

TEST(bad_records_are_refused_with_the_reason)
{
    static const struct {
        const char *line, *reason;
    } cases[] = {
        { "", "byte 0: expected an object" },
        { "not json", "byte 0: expected an object" },
        { "[]", "byte 0: expected an object" },
        { "{}", "no _url" },
        { "{\"a\": [1]}", "no _url" },
        { "{" URL, "expected , or }" },
        { "{" URL "} x", "something follows the object" },
        { "{\"_url\": 7}", "\"_url\": expected a text" },
        { "{\"_url\": \"nothing\"}", "_url: " },
        { "{" URL ", \"a\": {\"b\": 1}}", "expected a list of texts" },
        { "{" URL ", \"a\": [[1]]}", "expected a list of texts" },
        { "{" URL ", \"a\": null}", "expected a list of texts" },
        { "{" URL ", \"a\": [true]}", "expected a list of texts" },
        { "{" URL ", \"a\": [1], \"a\": [2]}", "\"a\" is there twice" },
        { "{" URL ", " URL "}", "\"_url\" is there twice" },
        { "{" URL ", \"\\u0061\": 1, \"a\": 2}", "\"a\" is there twice" },
        { "{" URL ", \"a\": [\"\xff\"]}", "not UTF-8" },
        { "{" URL ", \"a\": [\"\x01\"]}", "a control character" },
        { "{" URL ", \"a\": [\"\\x\"]}", "an escape that is not" },
        { "{" URL ", \"a\": [\"\\u12\"]}", "\\u without four digits" },
        { "{" URL ", \"a\": [\"b", "a text that does not end" },
        { "{" URL ", \"a\": [01]}", "expected , or ]" },
        { "{" URL ", \"a\": [1.]}", "expected a number" },
        { "{" URL ", \"_status\": \"200\"}", "expected a number" },
        { "{" URL ", \"_status\": 99}", "not a status" },
        { "{" URL ", \"_status\": -200}", "expected a count" },
        { "{" URL ", \"_fetched_at\": \"today\"}", "not a time" },
        { "{" URL ", \"_fetched_at\": \"2026-13-02T03:04:05Z\"}",
          "not a time" },
        { "{" URL ", \"_skeleton\": \"xyz\"}", "expected 16 digits" },
        { "{" URL ", \"_v\": 2}", "a version that is not known" },
        { "{\"_end\": true}", "the end of a visit without" },
    };
    struct change_record r = { .field = NULL };
    struct seen_error why;

    for (size_t i = 0; i < LENGTH(cases); i++) {
        assert_int_equal(read_at_edge(&r, span_of(cases[i].line), &why),
                         SEEN_CORRUPT);
        if (!strstr(why.text, cases[i].reason))
            fail_msg("%s: %s", cases[i].line, why.text);
        assert_string_equal(r.fault, why.text);
    }
    change_record_clear(&r);
}

TEST(deep_nesting_and_long_texts_are_refused)
{
    struct change_record r = { .field = NULL };
    struct buffer line = { .bytes = NULL };
    struct seen_error why;

    buffer_text(&line, "{" URL ", \"_x\": ");
    for (int i = 0; i < 100000; i++)
        buffer_byte(&line, '[');
    assert_int_equal(change_record_read(
                         &r, (struct seen_span){ line.bytes, line.len }, &why),
                     SEEN_CORRUPT);
    assert_non_null(strstr(why.text, "nested too deeply"));
    line.len = 0;
    buffer_text(&line, "{" URL ", \"a\": [\"");
    for (int i = 0; i <= CHANGE_TEXT_MOST; i++)
        buffer_byte(&line, 'x');
    buffer_text(&line, "\"]}");
    assert_int_equal(change_record_read(
                         &r, (struct seen_span){ line.bytes, line.len }, &why),
                     SEEN_CORRUPT);
    assert_non_null(strstr(why.text, "a text of more than 4 MiB"));
    buffer_clear(&line);
    change_record_clear(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_members_of_a_record_are_read),
        cmocka_unit_test(the_papers_record_needs_only_a_url),
        cmocka_unit_test(the_end_of_a_visit_is_read),
        cmocka_unit_test(bad_records_are_refused_with_the_reason),
        cmocka_unit_test(deep_nesting_and_long_texts_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
