/* search_words_test.c - what people type, as a question for FTS5. */
#include "test/wall.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text/buffer.h"
#include "serve/search/words.h"

static struct seen_error why;

/* The question; NULL if it is refused. */
static const char *question(const char *typed, size_t len)
{
    static char text[4096];
    struct buffer b = { .bytes = NULL };
    const enum seen_code code = search_words(
        &b, (struct seen_span){ walled(typed, len), len }, &why);

    assert_true(b.len < sizeof text);
    if (b.len)
        memcpy(text, b.bytes, b.len);
    text[b.len] = '\0';
    buffer_clear(&b);
    assert_true(code == SEEN_OK || code == SEEN_RANGE);
    return code == SEEN_OK ? text : NULL;
}

TEST(everything_is_in_quotes)
{
    static const struct {
        const char *typed, *question;
    } cases[] = {
        { "red", "\"red\"" },
        { "  red\troses\n", "\"red\" \"roses\"" },
        { "\"red tulips\" rose", "\"red tulips\" \"rose\"" },
        { "red\"white\"blue", "\"red\" \"white\" \"blue\"" },
        { "tul*", "\"tul\" *" },
        { "\"red tul*\"", "\"red tul\" *" },
        { "\"red tul\"*", "\"red tul\" *" },
        { "tul***", "\"tul\" *" },
        { "a*b", "\"a*b\"" },
        /* A second quote is missing, or a phrase has nothing. */
        { "\"red roses", "\"red roses\"" },
        { "red\"", "\"red\"" },
        { "\"\" red \"", "\"red\"" },
        /* Operators are words. */
        { "NEAR(a b, 5)", "\"NEAR(a\" \"b,\" \"5)\"" },
        { "a OR b AND NOT c", "\"a\" \"OR\" \"b\" \"AND\" \"NOT\" \"c\"" },
        { "title:x -y ^z {w} +v", "\"title:x\" \"-y\" \"^z\" \"{w}\" \"+v\"" },
        { "'; DROP TABLE search; --", "\"DROP\" \"TABLE\" \"search;\"" },
        /* What has no letter cannot be found, and would find nothing. */
        { "red + * \" \" ( roses", "\"red\" \"roses\"" },
        /* What comes again costs the same again, and changes nothing. */
        { "red Red RED red* red*", "\"red\" \"red\" *" },
        /* Typographic quotes and spaces. */
        { "\xe2\x80\x9cred roses\xe2\x80\x9d\xc2\xa0tulips",
          "\"red roses\" \"tulips\"" },
        { "\xe8\xb5\xa4\xe3\x80\x80\xe9\x9d\x92",
          "\"\xe8\xb5\xa4\" \"\xe9\x9d\x92\"" },
    };

    for (size_t i = 0; i < LENGTH(cases); i++)
        assert_string_equal(question(cases[i].typed, strlen(cases[i].typed)),
                            cases[i].question);
    assert_string_equal(question("a\0b", 3), "\"a\" \"b\"");
    assert_string_equal(question("\"a\0b\"", 5), "\"a b\"");
}

/* "..." or "..." *, with one space between them: FTS5 can read nothing else
   into it. */
static bool is_well_formed(const char *question)
{
    for (const char *p = question;; p++) {
        if (*p++ != '"' || *p == '"')
            return false;
        p += strcspn(p, "\"");
        if (!*p++)
            return false;
        if (!strncmp(p, " *", 2))
            p += 2;
        if (!*p)
            return true;
        if (*p != ' ')
            return false;
    }
}

TEST(any_bytes_are_words_or_refused)
{
    static const char *const pieces[] = { "\"",   "*",   " ",
                                          "a",    "b",   "\0",
                                          "(",    "AND", "\xc3\xa4",
                                          ":",    "-",   "\xe2\x80\x9c",
                                          "\xff", "NEAR" };
    size_t asked = 0;
    char typed[64];

    srand(1);
    for (int i = 0; i < 20000; i++) {
        const char *made;
        size_t len = 0;

        for (int n = rand() % 12; n--;) {
            const char *piece = pieces[(size_t)rand() % LENGTH(pieces)];
            const size_t more = *piece ? strlen(piece) : 1;

            memcpy(typed + len, piece, more);
            len += more;
        }
        made = question(typed, len);
        asked += made != NULL;
        assert_true(!made || is_well_formed(made));
    }
    assert_in_range(asked, 5000, 19000);
}

TEST(what_has_no_word_is_refused)
{
    static const char *const typed[] = {
        "", " ", "\"", "\"\"", "*", "- + ()"
    };

    for (size_t i = 0; i < LENGTH(typed); i++) {
        assert_null(question(typed[i], strlen(typed[i])));
        assert_string_equal(why.text, "there is no word to look for");
    }
    assert_null(question("\xff\xfe", 2));
    assert_string_equal(why.text, "the question is not UTF-8");
}

TEST(what_would_cost_too_much_is_refused)
{
    char typed[SEARCH_BYTES + 1];
    size_t len = 0;

    memset(typed, 'a', sizeof typed);
    assert_non_null(question(typed, SEARCH_BYTES));
    assert_null(question(typed, SEARCH_BYTES + 1));
    memset(typed, '"', sizeof typed);
    assert_null(question(typed, SEARCH_BYTES));
    for (int i = 0; i <= SEARCH_WORDS; i++)
        len += (size_t)snprintf(typed + len, sizeof typed - len, "w%d ", i);
    assert_null(question(typed, len));
    assert_non_null(question(typed, len - 4));
    assert_null(question("a* b* c* d* e*", 14));
    assert_non_null(question("a* b* c* d* e", 13));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_in_quotes),
        cmocka_unit_test(any_bytes_are_words_or_refused),
        cmocka_unit_test(what_has_no_word_is_refused),
        cmocka_unit_test(what_would_cost_too_much_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
