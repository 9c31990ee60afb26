/* text_test.c - spans, buffers, UTF-8, hex, percent, JSON, XML, arrays,
   memory, budgets. */
#include "test/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/text/array.h"
#include "lib/text/ascii.h"
#include "lib/text/budget.h"
#include "lib/text/buffer.h"
#include "lib/text/calendar.h"
#include "lib/text/hex.h"
#include "lib/text/json.h"
#include "lib/text/json_cursor.h"
#include "lib/text/little.h"
#include "lib/text/memory.h"
#include "lib/text/percent.h"
#include "lib/text/space.h"
#include "lib/text/span.h"
#include "lib/text/utf8.h"
#include "lib/text/xml.h"
#include "test/wall.h"

static void assert_span(struct seen_span s, const char *text)
{
    assert_int_equal(s.len, strlen(text));
    assert_memory_equal(s.text, text, s.len);
}

/* --- spans --- */

TEST(spans_compare_by_bytes_and_like_ignores_ascii_case)
{
    struct seen_span s = span_of("Host"), none = { NULL, 0 };

    assert_true(span_is(s, "Host") && !span_is(s, "host"));
    assert_true(span_like(s, "hOST") && !span_like(s, "hos"));
    assert_true(span_begins(s, "Ho") && !span_begins(s, "Hosts"));
    assert_true(span_ends(s, "ost") && !span_ends(s, "xHost"));
    assert_true(span_is(none, "") && span_like(none, ""));
    assert_true(span_begins(none, "") && span_ends(none, ""));
    assert_true(span_equal(none, span_of("")));
    assert_span(span_trim(span_of(" \ta b\t ")), "a b");
    assert_int_equal(span_trim(span_of(" \t ")).len, 0);
}

TEST(digits_and_letters_are_those_of_ascii)
{
    for (int c = 0; c < 256; c++) {
        bool upper = c >= 'A' && c <= 'Z', lower = c >= 'a' && c <= 'z';

        assert_int_equal(ascii_digit((char)c), c >= '0' && c <= '9');
        assert_int_equal(ascii_letter((char)c), upper || lower);
        assert_int_equal(ascii_lower((char)c), (char)(upper ? c + 32 : c));
    }
}

TEST(white_space_is_that_of_html_or_of_xml)
{
    static const char zero[] = "\0a";

    for (int c = 0; c < 256; c++) {
        assert_int_equal(space_xml((char)c), c && strchr(" \t\r\n", c));
        assert_int_equal(space_html((char)c), c && strchr(" \t\r\n\f", c));
    }
    assert_span(space_trim_xml(span_of("\r\n \fa b\t\n")), "\fa b");
    assert_span(space_trim_html(span_of("\r\n \fa b\f\n")), "a b");
    assert_int_equal(space_trim_html(span_of(" \f")).len, 0);
    assert_int_equal(space_trim_html((struct seen_span){ zero, 2 }).len, 2);
}

TEST(bytes_and_digits_are_taken_from_the_front)
{
    struct seen_span rest = span_of("2026-1x"), none = { NULL, 0 };
    unsigned n;

    assert_true(span_digits(&rest, 4, 4, &n) && n == 2026);
    assert_true(!span_take(&rest, '+') && span_take(&rest, '-'));
    assert_true(!span_digits(&rest, 2, 2, &n) && n == 1);
    assert_span(rest, "x");
    assert_true(span_digits(&rest, 0, 9, &n) && !n);
    assert_true(!span_take(&none, 'x') && !span_digits(&none, 1, 9, &n));
    assert_true(span_order(span_of("a"), span_of("ab")) < 0);
    assert_true(span_order(span_of("\xff"), span_of("a")) > 0);
    assert_true(span_order(none, span_of("")) == 0);
}

TEST(dates_are_written_up_to_the_year_9999)
{
    char text[CALENDAR_TEXT], stamp[CALENDAR_STAMP];

    calendar_write(text, 951782400001); /* 2000-02-29 */
    assert_string_equal(text, "2000-02-29T00:00:00.001Z");
    calendar_stamp(stamp, UINT64_MAX);
    assert_string_equal(stamp, "99991231235959");
    calendar_write(text, UINT64_MAX);
    assert_string_equal(text, "9999-12-31T23:59:59.615Z");
    calendar_stamp(stamp, 0);
    assert_string_equal(stamp, "19700101000000");
}

/* The library of C agrees, for 800 years. */
TEST(the_calendar_knows_each_day)
{
    for (int64_t day = -146097; day < 146097; day++) {
        time_t seconds = (time_t)(day * 86400);
        struct tm tm;
        unsigned year, month;

        gmtime_r(&seconds, &tm);
        year = (unsigned)tm.tm_year + 1900;
        month = (unsigned)tm.tm_mon + 1;
        assert_true(calendar_since_1970(year, month, (unsigned)tm.tm_mday) ==
                    day);
        assert_true((unsigned)tm.tm_mday <= calendar_days(year, month));
        if (month != 12)
            assert_true(
                calendar_since_1970(year, month, calendar_days(year, month)) +
                    1 ==
                calendar_since_1970(year, month + 1, 1));
    }
}

TEST(lines_end_with_lf_or_crlf_and_the_last_needs_no_end)
{
    struct seen_span rest = span_of("a\r\n\nb\r\nc\rd"), line;

    assert_true(span_line(&rest, &line));
    assert_span(line, "a");
    assert_true(span_line(&rest, &line));
    assert_span(line, "");
    assert_true(span_line(&rest, &line));
    assert_span(line, "b");
    assert_true(span_line(&rest, &line));
    assert_span(line, "c\rd");
    assert_false(span_line(&rest, &line));
}

/* --- buffers --- */

TEST(a_buffer_holds_what_was_written_in_order)
{
    struct buffer b = { .bytes = NULL };
    char *text;

    buffer_text(&b, "a");
    buffer_byte(&b, '-');
    buffer_number(&b, UINT64_MAX);
    buffer_number(&b, 0);
    buffer_format(&b, " %s", "x");
    buffer_span(&b, span_of("yz"));
    buffer_drop(&b, 2);
    text = buffer_take(&b);
    assert_string_equal(text, "184467440737095516150 xyz");
    assert_true(!b.bytes && !b.len && !b.room);
    free(text);
}

TEST(a_buffer_grows_to_any_size)
{
    struct buffer b = { .bytes = NULL };

    for (int i = 0; i < 100000; i++)
        buffer_byte(&b, (char)i);
    assert_int_equal(b.len, 100000);
    for (int i = 0; i < 100000; i++)
        assert_int_equal(b.bytes[i], (char)i);
    buffer_clear(&b);
}

TEST(a_buffer_that_failed_stays_failed_and_gives_nothing)
{
    struct buffer b = { .bytes = NULL };

    buffer_text(&b, "a");
    assert_null(buffer_room(&b, SIZE_MAX / 2));
    buffer_text(&b, "b"); /* there would be room */
    assert_true(b.failed && b.len == 1);
    assert_null(buffer_take(&b));
    assert_true(!b.failed);
}

TEST(an_array_doubles_and_refuses_what_overflows)
{
    size_t room = 0;
    uint64_t *a = array_grow(NULL, &room, 1, sizeof *a), *more;

    assert_true(a && room >= 1);
    more = array_grow(a, &room, room, sizeof *a);
    assert_ptr_equal(more, a);
    assert_null(array_grow(a, &room, SIZE_MAX / 8, sizeof *a));
    more = array_grow(a, &room, 1000, sizeof *a);
    assert_true(more && room >= 1000);
    free(more);
}

/* --- UTF-8 --- */

TEST(an_error_says_what_the_memory_was_for)
{
    struct seen_error why;

    assert_int_equal(no_memory_for(&why, "a path"), SEEN_NOMEM);
    assert_string_equal(why.text, "no memory for a path");
    assert_int_equal(no_memory_for(NULL, "a path"), SEEN_NOMEM);
}

TEST(every_code_point_survives_and_surrogates_do_not)
{
    for (uint32_t c = 0; c < 0x110000; c++) {
        char text[4];
        size_t n = utf8_write(text, c);
        uint32_t back = 0;

        if (c >= 0xd800 && c < 0xe000) {
            assert_int_equal(utf8_read(text, n, &back, NULL), 0);
            continue;
        }
        assert_int_equal(utf8_read(text, n, &back, NULL), n);
        assert_int_equal(back, c);
        for (size_t cut = 0; cut < n; cut++)
            assert_int_equal(utf8_read(text, cut, NULL, NULL), 0);
    }
}

/* The examples of the Unicode standard, tables 3-8 to 3-11. */
TEST(bad_bytes_are_replaced_by_maximal_subparts)
{
    static const struct {
        const char *text;
        unsigned parts[10];
    } is[] = {
        { "\xc0\xaf\xe0\x80\xbf\xf0\x81\x82\x41",
          { 1, 1, 1, 1, 1, 1, 1, 1, 0 } },
        { "\xed\xa0\x80\xed\xbf\xbf\xed\xaf\x41",
          { 1, 1, 1, 1, 1, 1, 1, 1, 0 } },
        { "\xf4\x91\x92\x93\xff\x41\x80\xbf\x42",
          { 1, 1, 1, 1, 1, 0, 1, 1, 0 } },
        { "\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41", { 2, 1, 3, 2, 0 } },
    };

    for (size_t i = 0; i < LENGTH(is); i++) {
        const char *at = is[i].text, *end = at + strlen(at);

        for (int k = 0; at < end; k++) {
            size_t part, n = utf8_read(at, (size_t)(end - at), NULL, &part);

            assert_int_equal(n ? 0 : part, is[i].parts[k]);
            at += n ? n : part;
        }
    }
    assert_true(utf8_valid("", 0) && utf8_valid("\xc3\xa4", 2));
    assert_false(utf8_valid("a\xc3", 2));
}

/* --- hex --- */

TEST(hex_is_read_back_and_upper_case_only_on_request)
{
    unsigned char all[256], back[256];
    char text[513];

    for (int i = 0; i < 256; i++)
        all[i] = (unsigned char)i;
    hex_write(text, all, 256);
    assert_true(hex_read(back, 256, text, false));
    assert_memory_equal(all, back, 256);
    assert_true(hex_read(back, 2, "aBCd", true));
    assert_memory_equal(back, "\xab\xcd", 2);
    assert_false(hex_read(back, 2, "aBCd", false));
    assert_false(hex_read(back, 2, "abc", true));
    assert_false(hex_read(back, 1, "g0", true));
    for (int c = 0; c < 256; c++)
        assert_int_equal(hex_digit((char)c) >= 0,
                         c && strchr("0123456789abcdefABCDEF", c) != NULL);
}

TEST(little_endian_numbers_need_no_alignment)
{
    unsigned char bytes[16] = { 0 };

    little_put_64(bytes + 1, UINT64_C(0x0807060504030201));
    for (int i = 0; i < 8; i++)
        assert_int_equal(bytes[1 + i], i + 1);
    assert_int_equal(little_16(bytes + 1), 0x0201);
    assert_int_equal(little_32(bytes + 1), 0x04030201);
    assert_true(little_64(bytes + 1) == UINT64_C(0x0807060504030201));
    little_put_32(bytes + 3, 0xffffffff);
    assert_true(little_64(bytes + 1) == UINT64_C(0x0807ffffffff0201));
}

/* --- percent --- */

/* The sets as the URL standard and RFC 3986 write them, each in full. */
TEST(percent_sets_have_the_characters_of_their_standards)
{
    static const struct {
        enum percent_set set;
        const char *have;
    } is[] = {
        { PERCENT_CONTROL, "" },
        { PERCENT_FRAGMENT, " \"<>`" },
        { PERCENT_QUERY, " \"#<>" },
        { PERCENT_SPECIAL_QUERY, " \"#<>'" },
        { PERCENT_PATH, " \"#<>?^`{}" },
        { PERCENT_USERINFO, " \"#<>?^`{}/:;=@[\\]|" },
        { PERCENT_COMPONENT, " \"#<>?^`{}/:;=@[\\]|$%&+," },
        { PERCENT_SPACE, " " },
        { PERCENT_LINK, " \"<>" },
        { PERCENT_NAME, " \"#<>?^`{}/:;=@[\\]|$%&+,!'()*" },
        { PERCENT_SEGMENTS, " \"#<>?^`{}:;=@[\\]|$%&+,!'()*" },
    };

    for (size_t i = 0; i < LENGTH(is); i++)
        for (int c = 0; c < 256; c++)
            assert_int_equal(percent_has(is[i].set, (char)c),
                             c < 0x20 || c > 0x7e ||
                                 strchr(is[i].have, c) != NULL);
}

TEST(what_is_percent_encoded_is_decoded_to_the_same_bytes)
{
    struct buffer b = { .bytes = NULL };
    char all[256], back[1024];
    size_t n;

    for (int i = 0; i < 256; i++)
        all[i] = (char)i;
    percent_encode(&b, all, 256, PERCENT_COMPONENT);
    assert_true(percent_decode(back, &n, b.bytes, b.len));
    assert_int_equal(n, 256);
    assert_memory_equal(back, all, 256);
    assert_int_equal(percent_decode_lenient(b.bytes, b.bytes, b.len), 256);
    assert_memory_equal(b.bytes, all, 256);
    buffer_clear(&b);
    percent_encode(&b, "a/b c", 5, PERCENT_SEGMENTS);
    assert_span((struct seen_span){ b.bytes, b.len }, "a/b%20c");
    buffer_clear(&b);
}

TEST(a_percent_without_two_digits_is_refused_or_kept)
{
    static const char *const bad[] = { "%", "%4", "%4g", "a%", "%%41" };
    char back[16];
    size_t n;

    for (size_t i = 0; i < LENGTH(bad); i++)
        assert_false(percent_decode(back, &n, bad[i], strlen(bad[i])));
    n = percent_decode_lenient(back, "%4g%41%", 7);
    assert_span((struct seen_span){ back, n }, "%4gA%");
    n = percent_decode_lenient(back, "%2541", 5);
    assert_span((struct seen_span){ back, n }, "%41"); /* once */
}

/* --- JSON and XML --- */

TEST(json_strings_are_unicode_whatever_the_bytes)
{
    static const struct {
        const char *text, *json;
        bool whole;
    } is[] = {
        { "", "\"\"", true },
        { "a\"b\\c", "\"a\\\"b\\\\c\"", true },
        { "\x01\x7f\n", "\"\\u0001\\u007f\\u000a\"", true },
        { "\xc3\xa4", "\"\xc3\xa4\"", true },
        { "a\xe9z", "\"a\xef\xbf\xbdz\"", false },
        { "\xe2\x82", "\"\xef\xbf\xbd\xef\xbf\xbd\"", false },
    };

    for (size_t i = 0; i < LENGTH(is); i++) {
        struct buffer b = { .bytes = NULL };

        assert_int_equal(buffer_json(&b, is[i].text, strlen(is[i].text)),
                         is[i].whole);
        assert_span((struct seen_span){ b.bytes, b.len }, is[i].json);
        buffer_clear(&b);
    }
}

TEST(json_escapes_are_undone_in_place)
{
    static const struct {
        const char *json, *text;
    } is[] = {
        { "a\\/b\\\\\\\"", "a/b\\\"" },
        { "\\u00e4\\u20AC", "\xc3\xa4\xe2\x82\xac" },
        { "\\ud83d\\ude00", "\xf0\x9f\x98\x80" },
        { "\\ud83dx\\ude00", "\xef\xbf\xbdx\xef\xbf\xbd" },
        { "\\b\\f\\n\\r\\t", "\b\f\n\r\t" },
        { "\\u12", "u12" },
        { "\\", "\\" },
    };

    for (size_t i = 0; i < LENGTH(is); i++) {
        char text[64];
        size_t n;

        strcpy(text, is[i].json);
        n = json_unescape(text, text, strlen(text));
        assert_span((struct seen_span){ text, n }, is[i].text);
    }
}

/* Every byte at every place of a text of 24 bytes, behind UTF-8 and before. */
TEST(a_cursor_takes_texts_up_to_a_quote_a_backslash_or_a_control)
{
    struct buffer bytes = { .bytes = NULL };
    struct json_cursor j;
    struct seen_span text;

    for (int at = 1; at < 25; at++)
        for (int c = 1; c < 0x80; c++) {
            char line[] = "\"\u00e9-----------------\u00e9--\" ";

            if (line[at] != '-')
                continue;
            line[at] = (char)c;
            assert_true(json_cursor_begin(
                &j, (struct seen_span){ walled(line, 26), 26 }, &bytes));
            assert_int_equal(json_cursor_text(&j, &text),
                             c >= 0x20 && c != '\\');
            assert_int_equal(json_cursor_done(&j),
                             c >= 0x20 && c != '\\' && c != '"');
        }
    buffer_clear(&bytes);
}

TEST(a_cursor_reads_what_is_json_and_says_what_is_not)
{
    static const struct {
        const char *text, *wrong;
    } cases[] = {
        { " {\"a\": [1, -2.5e+3, {}, []], \"b\\u0041\": null}\n", NULL },
        { "{\"a\": 1,}", "expected a text" },
        { "{\"a\" 1}", "expected :" },
        { "{\"a\": 01}", "expected , or }" },
        { "{\"a\": 1} x", "something follows the object" },
        { "{\"a\": tru}", "expected a value" },
        { "{\"a\": \"\\x\"}", "an escape that is not one of JSON" },
        { "{\"a\": \"x", "a text that does not end" },
        { "{\"\xff\": 1}", "not UTF-8" },
    };
    struct buffer bytes = { .bytes = NULL };
    struct json_cursor j;

    for (size_t i = 0; i < LENGTH(cases); i++) {
        size_t len = strlen(cases[i].text);

        json_cursor_begin(
            &j, (struct seen_span){ walled(cases[i].text, len), len }, &bytes);
        json_cursor_skip(&j);
        assert_int_equal(json_cursor_done(&j), !cases[i].wrong);
        if (cases[i].wrong)
            assert_string_equal(j.wrong, cases[i].wrong);
    }
    buffer_clear(&bytes);
}

TEST(xml_is_escaped_and_has_no_other_characters)
{
    struct buffer b = { .bytes = NULL };

    buffer_xml(&b, "<a b='\"&'>\x01\xff", 12);
    assert_span((struct seen_span){ b.bytes, b.len },
                "&lt;a b=&#39;&quot;&amp;&#39;&gt;"
                "\xef\xbf\xbd\xef\xbf\xbd");
    buffer_clear(&b);
    buffer_xml_chars(&b, "<\x1b[1m", 5);
    assert_span((struct seen_span){ b.bytes, b.len }, "<\xef\xbf\xbd[1m");
    buffer_clear(&b);
    assert_true(xml_valid("\xc3\xa4", 2));
    assert_false(xml_valid("a\xef\xbf\xbf", 4));
    assert_int_equal(xml_char("", 0), 0);
}

/* --- eight bytes at a time --- */

enum { TEXTS = 20000, TEXT_MOST = 48 };

/* A random text that is mostly plain, with what needs care here and there,
   broken UTF-8 included; it ends at a wall. */
static const char *random_text(unsigned *seed, size_t *len)
{
    static const char *const rare[] = {
        " ",    "  ",   "\"",       "\\",           "\n",
        "\x7f", "\x1f", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80",
        "\xff", "\xc3", "\xe2\x82", "\xc2\xa0",     "!",
        "~",    "\x80",
    };
    char text[TEXT_MOST + 8];
    size_t n = 0, most;

    *seed = *seed * 1103515245 + 12345;
    most = (*seed >> 16) % TEXT_MOST;
    while (n < most) {
        *seed = *seed * 1103515245 + 12345;
        if ((*seed >> 16) % 12) {
            text[n++] = (char)('a' + (*seed >> 20) % 26);
        } else {
            const char *more = rare[(*seed >> 20) % LENGTH(rare)];

            memcpy(text + n, more, strlen(more));
            n += strlen(more);
        }
    }
    *len = n;
    return walled(text, n);
}

TEST(utf8_is_counted_and_cut_by_characters)
{
    assert_int_equal(utf8_count("a\u00e9\u20ac\U0001f600", 10), 4);
    assert_int_equal(utf8_cut("a\u20ac", 4, 3), 1);
    assert_int_equal(utf8_cut("a\u20ac", 4, 4), 4);
}

TEST(utf8_is_valid_if_each_of_its_characters_is)
{
    unsigned seed = 1;

    for (int i = 0; i < TEXTS; i++) {
        size_t len, at = 0, n = 1;
        const char *text = random_text(&seed, &len);

        while (at < len && (n = utf8_read(text + at, len - at, NULL, NULL)))
            at += n;
        assert_int_equal(utf8_valid(text, len), at == len);
    }
}

/* Characters by themselves are too short for the fast path. */
TEST(a_json_string_is_what_its_characters_are_by_themselves)
{
    struct buffer whole = { .bytes = NULL }, parts = { .bytes = NULL };
    unsigned seed = 2;

    for (int i = 0; i < TEXTS; i++) {
        size_t len, n;
        const char *text = random_text(&seed, &len);
        bool good = true;

        whole.len = parts.len = 0;
        buffer_byte(&parts, '"');
        for (size_t at = 0; at < len; at += n) {
            n = utf8_read(text + at, len - at, NULL, NULL);
            n += !n;
            good &= buffer_json(&whole, text + at, n);
            buffer_bytes(&parts, whole.bytes + 1, whole.len - 2);
            whole.len = 0;
        }
        buffer_byte(&parts, '"');
        assert_int_equal(buffer_json(&whole, text, len), good);
        assert_int_equal(whole.len, parts.len);
        assert_memory_equal(whole.bytes, parts.bytes, whole.len);
    }
    buffer_clear(&whole);
    buffer_clear(&parts);
}

/* --- budgets --- */

TEST(a_budget_that_was_exceeded_is_empty_for_all_who_share_it)
{
    struct budget b = { .left = 10 };

    assert_true(budget_spend(&b, 4) && budget_spend(&b, 0));
    assert_int_equal(b.left, 6);
    assert_false(budget_empty(&b));
    assert_false(budget_spend(&b, 7));
    assert_true(budget_empty(&b));
    assert_false(budget_spend(&b, 1));
    b.left = 6;
    assert_true(budget_spend(&b, 6));
    assert_true(budget_empty(&b));
    assert_false(budget_spend(&b, UINT64_MAX));
}

TEST(a_part_of_a_budget_is_paid_by_the_whole)
{
    struct budget b = { .left = 100 }, part = budget_lend(&b, 40);

    assert_true(budget_spend(&part, 30));
    budget_settle(&b, &part, 40);
    assert_int_equal(b.left, 70);
    part = budget_lend(&b, 1000);
    assert_int_equal(part.left, 70);
    assert_false(budget_spend(&part, 71));
    budget_settle(&b, &part, 70);
    assert_true(budget_empty(&b) && !budget_stopped(&b));
}

TEST(after_a_stop_a_budget_has_its_grace_and_no_more)
{
    atomic_bool stop = false;
    struct budget b = { .left = 1000, .stop = &stop, .grace = 10 }, part;

    assert_true(budget_spend(&b, 100));
    atomic_store(&stop, true);
    assert_true(budget_spend(&b, 4));
    assert_int_equal(b.left, 6);
    assert_false(budget_stopped(&b));
    assert_true(budget_spend(&b, 5)); /* it is not given again */
    assert_false(budget_spend(&b, 2));
    assert_true(budget_stopped(&b));

    /* A part that meets the stop is a stop for the whole. */
    b = (struct budget){ .left = 1000, .stop = &stop, .grace = 10 };
    part = budget_lend(&b, 500);
    assert_true(budget_spend(&part, 7));
    budget_settle(&b, &part, 500);
    assert_int_equal(b.left, 3);
    assert_false(budget_spend(&b, 4));
    assert_true(budget_stopped(&b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_of_a_budget_is_paid_by_the_whole),
        cmocka_unit_test(after_a_stop_a_budget_has_its_grace_and_no_more),
        cmocka_unit_test(spans_compare_by_bytes_and_like_ignores_ascii_case),
        cmocka_unit_test(digits_and_letters_are_those_of_ascii),
        cmocka_unit_test(white_space_is_that_of_html_or_of_xml),
        cmocka_unit_test(bytes_and_digits_are_taken_from_the_front),
        cmocka_unit_test(dates_are_written_up_to_the_year_9999),
        cmocka_unit_test(the_calendar_knows_each_day),
        cmocka_unit_test(lines_end_with_lf_or_crlf_and_the_last_needs_no_end),
        cmocka_unit_test(a_buffer_holds_what_was_written_in_order),
        cmocka_unit_test(a_buffer_grows_to_any_size),
        cmocka_unit_test(a_buffer_that_failed_stays_failed_and_gives_nothing),
        cmocka_unit_test(an_array_doubles_and_refuses_what_overflows),
        cmocka_unit_test(an_error_says_what_the_memory_was_for),
        cmocka_unit_test(every_code_point_survives_and_surrogates_do_not),
        cmocka_unit_test(bad_bytes_are_replaced_by_maximal_subparts),
        cmocka_unit_test(hex_is_read_back_and_upper_case_only_on_request),
        cmocka_unit_test(little_endian_numbers_need_no_alignment),
        cmocka_unit_test(percent_sets_have_the_characters_of_their_standards),
        cmocka_unit_test(what_is_percent_encoded_is_decoded_to_the_same_bytes),
        cmocka_unit_test(a_percent_without_two_digits_is_refused_or_kept),
        cmocka_unit_test(json_strings_are_unicode_whatever_the_bytes),
        cmocka_unit_test(json_escapes_are_undone_in_place),
        cmocka_unit_test(
            a_cursor_takes_texts_up_to_a_quote_a_backslash_or_a_control),
        cmocka_unit_test(a_cursor_reads_what_is_json_and_says_what_is_not),
        cmocka_unit_test(xml_is_escaped_and_has_no_other_characters),
        cmocka_unit_test(utf8_is_counted_and_cut_by_characters),
        cmocka_unit_test(utf8_is_valid_if_each_of_its_characters_is),
        cmocka_unit_test(
            a_json_string_is_what_its_characters_are_by_themselves),
        cmocka_unit_test(
            a_budget_that_was_exceeded_is_empty_for_all_who_share_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
