/*
 * resp_test.c - commands are read as Redis reads them, in however many
 * pieces they come, and never beyond what came.
 */
#include "test/wall.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "serve/redis/glob.h"
#include "serve/redis/resp.h"

enum { WORDS = 64 };

static const struct resp_limit limit = { WORDS, 1024, 4096 };

/* What reading gave, as one text: words in brackets, or the fault. */
struct result {
    enum resp_state state;
    size_t used;
    char text[8192];
};

static void tell(struct result *x, enum resp_state state,
                 const struct seen_span *word, size_t words, size_t used,
                 const char *fault)
{
    size_t at = 0;

    x->state = state;
    x->used = used;
    x->text[0] = 0;
    if (state == RESP_FAULT)
        snprintf(x->text, sizeof x->text, "%s", fault);
    for (size_t i = 0; state == RESP_WHOLE && i < words; i++) {
        x->text[at++] = '[';
        memcpy(x->text + at, word[i].text, word[i].len);
        at += word[i].len;
        x->text[at++] = ']';
        x->text[at] = 0;
    }
}

/* All of it at once, ending at the wall. */
static struct result whole(const char *text, size_t len,
                           const struct resp_limit *most)
{
    static struct result x;
    struct resp_reader r = { 0 };
    struct seen_span word[WORDS];
    const char *fault = "";
    size_t words = 0, used = 0;
    char *at = walled(text, len);
    enum resp_state state;

    state = resp_parse(&r, at, len, most, word, &words, &used, &fault);
    tell(&x, state, word, words, used, fault);
    return x;
}

/* `step` bytes more at a time, in a buffer that moves, until it is told. */
static struct result pieces(const char *text, size_t len, size_t step,
                            const struct resp_limit *most)
{
    static struct result x;
    struct resp_reader r = { 0 };

    for (size_t n = 0;; n = len - n < step ? len : n + step) {
        struct seen_span word[WORDS];
        const char *fault = "";
        size_t words = 0, used = 0;
        char *at = walled(text, n);
        enum resp_state state;

        state = resp_parse(&r, at, n, most, word, &words, &used, &fault);
        tell(&x, state, word, words, used, fault);
        if (x.state != RESP_PARTIAL || n == len)
            return x;
    }
}

static const struct {
    const char *text;
    enum resp_state state;
    const char *gives;
    size_t used; /* 0: all of it */
} cases[] = {
    { "*1\r\n$4\r\nPING\r\n", RESP_WHOLE, "[PING]", 0 },
    { "*3\r\n$9\r\nBF.EXISTS\r\n$3\r\nhaw\r\n$18\r\nhttp://haw.nsk.hr/\r\n",
      RESP_WHOLE, "[BF.EXISTS][haw][http://haw.nsk.hr/]", 0 },
    { "*2\r\n$4\r\nECHO\r\n$0\r\n\r\n", RESP_WHOLE, "[ECHO][]", 0 },
    { "*2\r\n$4\r\nECHO\r\n$4\r\n\r\n$1\r\n", RESP_WHOLE, "[ECHO][\r\n$1]",
      0 },
    { "*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nPING\r\n", RESP_WHOLE, "[PING]", 14 },
    { "*0\r\nrest", RESP_EMPTY, "", 4 },

    /* not whole */
    { "", RESP_PARTIAL, "", 0 },
    { "*", RESP_PARTIAL, "", 0 },
    { "*1", RESP_PARTIAL, "", 0 },
    { "*1\r", RESP_PARTIAL, "", 0 },
    { "*1\r\n", RESP_PARTIAL, "", 0 },
    { "*1\r\n$", RESP_PARTIAL, "", 0 },
    { "*1\r\n$4\r\nPING", RESP_PARTIAL, "", 0 },
    { "*1\r\n$4\r\nPING\r", RESP_PARTIAL, "", 0 },
    { "*64\r\n$1024\r\n", RESP_PARTIAL, "", 0 },
    { "PING", RESP_PARTIAL, "", 0 },

    /* lengths that cannot be, told before their line ends */
    { "*-1\r\n", RESP_FAULT, "invalid multibulk length", 0 },
    { "*-", RESP_FAULT, "invalid multibulk length", 0 },
    { "*65", RESP_FAULT, "invalid multibulk length", 0 },
    { "*99999999999999999999999999", RESP_FAULT, "invalid multibulk length",
      0 },
    { "*18446744073709551617\r\n", RESP_FAULT, "invalid multibulk length", 0 },
    { "*\r\n", RESP_FAULT, "invalid multibulk length", 0 },
    { "*01\r\n", RESP_FAULT, "invalid multibulk length", 0 },
    { "*1\n", RESP_FAULT, "invalid multibulk length", 0 },
    { "*1\rx", RESP_FAULT, "invalid multibulk length", 0 },
    { "* 1\r\n", RESP_FAULT, "invalid multibulk length", 0 },
    { "*1\r\n$-1\r\n", RESP_FAULT, "invalid bulk length", 0 },
    { "*1\r\n$1025", RESP_FAULT, "invalid bulk length", 0 },
    { "*1\r\n$4294967297\r\n", RESP_FAULT, "invalid bulk length", 0 },
    { "*1\r\n$00\r\n", RESP_FAULT, "invalid bulk length", 0 },
    { "*1\r\n$x\r\n", RESP_FAULT, "invalid bulk length", 0 },
    { "*1\r\n$4\r\nPINGS", RESP_FAULT, "invalid bulk length", 0 },
    { "*1\r\n$4\r\nPING\r\r", RESP_FAULT, "invalid bulk length", 0 },
    { "*1\r\n+PING\r\n", RESP_FAULT, "expected '$', got '+'", 0 },
    { "*1\r\n\r\n", RESP_FAULT, "expected '$', got ' '", 0 },
    { "*2\r\n$4\r\nECHO\r\n:1\r\n", RESP_FAULT, "expected '$', got ':'", 0 },

    /* typed by hand */
    { "PING\r\n", RESP_WHOLE, "[PING]", 0 },
    { "PING\nrest", RESP_WHOLE, "[PING]", 5 },
    { "  bf.exists\thaw  http://haw.nsk.hr/ \r\n", RESP_WHOLE,
      "[bf.exists][haw][http://haw.nsk.hr/]", 0 },
    { "ECHO \"a b\" 'c d'\r\n", RESP_WHOLE, "[ECHO][a b][c d]", 0 },
    { "ECHO \"\" ''\n", RESP_WHOLE, "[ECHO][][]", 0 },
    { "ECHO a\"b c\"\n", RESP_WHOLE, "[ECHO][ab c]", 0 },
    { "ECHO \"\\x41\\n\\r\\t\\b\\a\\\\\\\"\\q\\xg\"\n", RESP_WHOLE,
      "[ECHO][A\n\r\t\b\a\\\"qxg]", 0 },
    { "ECHO 'a\\'b\\n'\n", RESP_WHOLE, "[ECHO][a'b\\n]", 0 },
    { "ECHO a\\n\n", RESP_WHOLE, "[ECHO][a\\n]", 0 },
    { "\r\n", RESP_EMPTY, "", 0 },
    { "  \nPING", RESP_EMPTY, "", 3 },
    { "$4\r\nPING\r\n", RESP_WHOLE, "[$4]", 4 },
    { "ECHO \"a\n", RESP_FAULT, "unbalanced quotes in request", 0 },
    { "ECHO 'a\n", RESP_FAULT, "unbalanced quotes in request", 0 },
    { "ECHO \"a\"b\n", RESP_FAULT, "unbalanced quotes in request", 0 },
    { "ECHO \"a\\\n", RESP_FAULT, "unbalanced quotes in request", 0 },
};

static void expect_case(const struct result *x, size_t i)
{
    static const char before[] = "ERR Protocol error: ";
    const char *text = x->text;

    assert_int_equal(x->state, cases[i].state);
    if (x->state == RESP_FAULT) {
        assert_memory_equal(text, before, sizeof before - 1);
        text += sizeof before - 1;
    }
    assert_string_equal(text, cases[i].gives);
    if (x->state == RESP_WHOLE || x->state == RESP_EMPTY)
        assert_int_equal(x->used, cases[i].used ? cases[i].used
                                                : strlen(cases[i].text));
}

TEST(commands_are_read_in_redis_own_words)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct result x = whole(cases[i].text, strlen(cases[i].text), &limit);

        expect_case(&x, i);
    }
}

TEST(pieces_give_the_same_as_the_whole)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (size_t step = 1; step < 9; step++) {
            struct result x = pieces(cases[i].text, strlen(cases[i].text),
                                     step, &limit);

            expect_case(&x, i);
        }
}

TEST(a_command_may_be_as_large_as_its_limits_and_no_larger)
{
    static const struct resp_limit small = { 2, 10, 32 };
    struct result x;

    x = whole("*2\r\n$10\r\n0123456789\r\n", 21, &small);
    assert_int_equal(x.state, RESP_PARTIAL);
    x = whole("*2\r\n$10\r\n0123456789\r\n$5\r\n", 25, &small);
    assert_int_equal(x.state, RESP_PARTIAL);
    x = whole("*2\r\n$10\r\n0123456789\r\n$5\r\n01234\r\n", 32, &small);
    assert_int_equal(x.state, RESP_WHOLE);
    x = whole("*2\r\n$10\r\n0123456789\r\n$6\r\n", 25, &small);
    assert_string_equal(x.text, "ERR Protocol error: invalid bulk length");
    x = whole("*3", 2, &small);
    assert_string_equal(x.text,
                        "ERR Protocol error: invalid multibulk length");
    x = whole("a b c\n", 6, &small);
    assert_string_equal(x.text, "ERR Protocol error: too big inline request");
    x = whole("0123456789a\n", 12, &small);
    assert_string_equal(x.text, "ERR Protocol error: too big inline request");
}

TEST(a_line_without_an_end_is_given_up)
{
    static const struct resp_limit large = { WORDS, 1 << 20, 1 << 20 };
    static char line[RESP_INLINE + 1];
    struct result x;

    memset(line, 'a', sizeof line);
    x = whole(line, RESP_INLINE - 1, &large);
    assert_int_equal(x.state, RESP_PARTIAL);
    x = whole(line, RESP_INLINE, &large);
    assert_string_equal(x.text, "ERR Protocol error: too big inline request");
    x = pieces(line, sizeof line, 4096, &large);
    assert_string_equal(x.text, "ERR Protocol error: too big inline request");
}

TEST(many_commands_of_one_reader_follow_one_another)
{
    struct resp_reader r = { 0 };
    char text[4096];
    size_t len = 0, at = 0;

    for (int i = 0; i < 100; i++)
        len += (size_t)sprintf(text + len,
                               "*2\r\n$4\r\nECHO\r\n$2\r\n%02d\r\n", i);
    for (int i = 0; i < 100; i++) {
        struct seen_span word[WORDS];
        const char *fault;
        size_t words, used;
        char number[3];

        assert_int_equal(resp_parse(&r, text + at, len - at, &limit, word,
                                    &words, &used, &fault),
                         RESP_WHOLE);
        sprintf(number, "%02d", i);
        assert_int_equal(words, 2);
        assert_true(span_is(word[1], number));
        at += used;
    }
    assert_int_equal(at, len);
}

TEST(replies_are_those_of_both_versions)
{
    for (int three = 0; three < 2; three++) {
        struct buffer o = { 0 };

        resp_status(&o, "OK");
        resp_error(&o, "ERR unknown command '%s'", "a\r\nb\tc");
        resp_number(&o, 0);
        resp_number(&o, -17);
        resp_number(&o, INT64_MIN);
        resp_number(&o, INT64_MAX);
        resp_flag(&o, true, three);
        resp_flag(&o, false, three);
        resp_double(&o, 0.1, three);
        resp_double(&o, 1.0 / 3, three);
        resp_double(&o, -INFINITY, three);
        resp_double(&o, NAN, three);
        resp_bulk(&o, "a\0b", 3);
        resp_text(&o, "");
        resp_null(&o, three);
        resp_array(&o, 10);
        resp_map(&o, 3, three);
        resp_set(&o, 3, three);
        resp_verbatim(&o, "abc", 3, three);
        buffer_bytes(&o, "", 1);
        assert_false(o.failed);

        static const char common[] =
            "+OK\r\n-ERR unknown command 'a  b c'\r\n:0\r\n:-17\r\n"
            ":-9223372036854775808\r\n:9223372036854775807\r\n";
        static const char two[] =
            ":1\r\n:0\r\n$3\r\n0.1\r\n$18\r\n0.3333333333333333\r\n"
            "$4\r\n-inf\r\n$3\r\nnan\r\n$3\r\na\0b\r\n$0\r\n\r\n$-1\r\n"
            "*10\r\n*6\r\n*3\r\n$3\r\nabc\r\n";
        static const char new[] =
            "#t\r\n#f\r\n,0.1\r\n,0.3333333333333333\r\n,-inf\r\n,nan\r\n"
            "$3\r\na\0b\r\n$0\r\n\r\n_\r\n*10\r\n%3\r\n~3\r\n"
            "=7\r\ntxt:abc\r\n";

        assert_memory_equal(o.bytes, common, sizeof common - 1);
        if (three)
            assert_memory_equal(o.bytes + sizeof common - 1, new, sizeof new);
        else
            assert_memory_equal(o.bytes + sizeof common - 1, two, sizeof two);
        assert_int_equal(o.len, sizeof common - 1 +
                                    (three ? sizeof new : sizeof two));
        buffer_clear(&o);
    }
}

static void patterns_match_as_in_redis(void **state)
{
    static const struct {
        const char *pattern, *text;
        bool matches;
    } row[] = {
        { "", "", true },
        { "", "a", false },
        { "a", "", false },
        { "*", "", true },
        { "*", "abc", true },
        { "a*", "abc", true },
        { "*c", "abc", true },
        { "*b*", "abc", true },
        { "**a**", "a", true },
        { "a*b*c", "aXbYbZc", true },
        { "a*b*c", "aXbYbZ", false },
        { "?", "", false },
        { "a?c", "abc", true },
        { "a?c", "ac", false },
        { "h[ae]llo", "hello", true },
        { "h[ae]llo", "hillo", false },
        { "h[^e]llo", "hallo", true },
        { "h[^e]llo", "hello", false },
        { "h[a-c]llo", "hbllo", true },
        { "h[c-a]llo", "hbllo", true },
        { "h[a-c]llo", "hdllo", false },
        { "[\\]]", "]", true },
        { "[a-]", "-", false },
        { "[a-]", "^", true },
        { "[a", "a", true },
        { "[", "[", false },
        { "[^", "x", true },
        { "\\*", "*", true },
        { "\\*", "a", false },
        { "a\\", "a\\", true },
        { "[!a]", "!", true },
        { "*[0-9]", "a1b", false },
        { "A", "a", false },
        { "\377*", "\377\376", true },
        { "a*a*a*a*a*a*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
          false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
        if (redis_glob(span_of(row[i].pattern), span_of(row[i].text)) !=
            row[i].matches)
            fail_msg("%s on %s", row[i].pattern, row[i].text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_are_read_in_redis_own_words),
        cmocka_unit_test(pieces_give_the_same_as_the_whole),
        cmocka_unit_test(
            a_command_may_be_as_large_as_its_limits_and_no_larger),
        cmocka_unit_test(a_line_without_an_end_is_given_up),
        cmocka_unit_test(many_commands_of_one_reader_follow_one_another),
        cmocka_unit_test(replies_are_those_of_both_versions),
        cmocka_unit_test(patterns_match_as_in_redis),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
