/* overlay_test.c - archives.json: what it says, and where it is wrong. */
#include "test/wall.h"

#include <stdio.h>
#include <stdlib.h>

#include "serve/archives/overlay.h"

static enum seen_code parse(struct archive_overlay *out, const char *text,
                            struct seen_error *why)
{
    return archive_overlay_parse(out, walled(text, strlen(text)), strlen(text),
                                 why);
}

static void what_the_file_says_is_found_by_name(void **state)
{
    static const char text[] =
        "{\n \"haw\": {\"title\": \"Hrvatski \\u0161\\\"\\/\",\r\n"
        "\t\"timemap\": \"https://haw.nsk.hr/tm/{url}\", \"order\": 12},\n"
        " \"i,a\": {\"timegate\": \"http://ia.example/\"}, \"e\": {} }\n";
    const struct archive_note *note;
    struct archive_overlay o;

    (void)state;
    assert_int_equal(parse(&o, text, NULL), SEEN_OK);
    assert_int_equal(o.n, 3);
    note = archive_overlay_find(&o, "haw");
    assert_string_equal(note->title, "Hrvatski \xc5\xa1\"/");
    assert_string_equal(note->timemap, "https://haw.nsk.hr/tm/{url}");
    assert_null(note->timegate);
    assert_int_equal(note->order, 12);
    note = archive_overlay_find(&o, "i,a");
    assert_string_equal(note->timegate, "http://ia.example/");
    assert_int_equal(note->order, ARCHIVE_ORDER_NONE);
    assert_null(archive_overlay_find(&o, "e")->title);
    assert_null(archive_overlay_find(&o, "nonesuch"));
    archive_overlay_clear(&o);
    assert_int_equal(parse(&o, " {} ", NULL), SEEN_OK);
    assert_int_equal(o.n, 0);
}

static void mistakes_are_named_with_their_line(void **state)
{
    static const struct {
        const char *text;
        unsigned line;
        const char *what;
    } bad[] = {
        { "", 1, "does not begin with {" },
        { "[]", 1, "does not begin with {" },
        { "{", 1, "the name of an archive is missing" },
        { "{}\n\nx", 3, "something follows" },
        { "{\"a\"\n{}}", 2, "a colon is missing" },
        { "{\"a\": {}\n\"b\": {}}", 2, "a comma or } is missing" },
        { "{\"a\": {},\n}", 2, "the name of an archive is missing" },
        { "{\"a\": 1}", 1, "is not an object" },
        { "{\"a\": {},\n\n\"a\": {}}", 3, "a: is given twice" },
        { "{\"a\": {\"titel\": \"x\"}}", 1, "did you mean title?" },
        { "{\"a\": {\n\"zzzzzzzz\": \"x\"}}", 2, "there are title" },
        { "{\"a\": {\"title\":\n 5}}", 2, "a string is missing" },
        { "{\"a\": {\"title\": null}}", 1, "a string is missing" },
        { "{\"a\": {\"title\": \"x\",\n\"title\": \"y\"}}", 2, "twice" },
        { "{\"a\": {\"title\": \"x\ny\"}}", 1, "control byte" },
        { "{\"a\": {\"title\": \"x\\ny\"}}", 1, "control byte" },
        { "{\"a\": {\"title\": \"x\\qy\"}}", 1, "bad escape" },
        { "{\"a\": {\"title\": \"x\\u12", 1, "bad escape" },
        { "{\"a\": {\"title\": \"x\\", 1, "bad escape" },
        { "{\"a\": {\"title\": \"x", 1, "does not end" },
        { "{\"a\": {\"title\": \"\xff\"}}", 1, "not UTF-8" },
        { "{\"a\": {\n\n\"timemap\": \"ftp://x/\"}}", 3, "timemap: is not" },
        { "{\"a\": {\"timegate\": \"http://x/ y\"}}", 1, "has a space" },
        { "{\"a\": {\"order\": -1}}", 1, "order: is not a whole number" },
        { "{\"a\": {\"order\": 1.5}}", 1, "order: is not a whole number" },
        { "{\"a\": {\"order\": \"1\"}}", 1, "order: is not a whole number" },
        { "{\"a\": {\"order\": 99999999999999999999}}", 1, "1000000" },
        { "{\"a\": {\"order\": 1,\n\"order\": 1}}", 2, "order: is given" },
        { "{\"a\": {\"order\": 1", 1, "a comma or } is missing" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct archive_overlay o;
        struct seen_error why;
        char line[32];

        if (parse(&o, bad[i].text, &why) == SEEN_OK)
            fail_msg("%s: was accepted", bad[i].text);
        assert_int_equal(o.n, 0);
        assert_null(o.note);
        assert_int_equal(why.at, bad[i].line);
        snprintf(line, sizeof line, "archives.json, line %u: ", bad[i].line);
        assert_non_null(strstr(why.text, line));
        if (!strstr(why.text, bad[i].what))
            fail_msg("%s: '%s' is not '%s'", bad[i].text, why.text,
                     bad[i].what);
    }
}

static void a_file_that_ends_anywhere_is_refused(void **state)
{
    static const char text[] =
        "{\"a\": {\"title\": \"\\u0161 x\", \"timemap\": "
        "\"http://x/\", \"order\": 3}, \"b\": {}}";

    (void)state;
    for (size_t len = 0; len < sizeof text - 1; len++) {
        struct archive_overlay o;

        assert_int_not_equal(
            archive_overlay_parse(&o, walled(text, len), len, NULL), SEEN_OK);
        assert_int_equal(o.n, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_file_says_is_found_by_name),
        cmocka_unit_test(mistakes_are_named_with_their_line),
        cmocka_unit_test(a_file_that_ends_anywhere_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
