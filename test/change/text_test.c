/* Words, folding, ignored text, differences. */
#include "change/text.h"

#include <stdlib.h>
#include <string.h>

#include "change/diff.h"
#include "lib/text/span.h"
#include "test/test.h"

static char *joined(const struct change_words *w, bool shown)
{
    struct buffer b = { .bytes = NULL };

    for (size_t i = 0; i < w->n; i++) {
        if (i)
            buffer_byte(&b, '|');
        buffer_span(&b, shown ? w->shown[i] : w->word[i]);
    }
    return buffer_take(&b);
}

static void check(const char *text, const struct change_rule *rule,
                  const char *folded, const char *shown)
{
    struct change_words w = { .word = NULL };
    char *all;

    change_words_read(&w, span_of(text), rule, 1000);
    assert_false(w.failed);
    all = joined(&w, false);
    assert_string_equal(all, folded);
    free(all);
    all = joined(&w, true);
    assert_string_equal(all, shown);
    free(all);
    change_words_clear(&w);
}

TEST(white_space_and_case_make_no_difference)
{
    check("", NULL, "", "");
    check(" \t\n", NULL, "", "");
    check("The  PRICE:\n3 EUR", NULL, "the|price:|3|eur", "The|PRICE:|3|EUR");
    check("a\xc2\xa0"
          "b\xe3\x80\x80"
          "c",
          NULL, "a|b|c", "a|b|c");
    check("ÄÖÜ ŠKODA ΣΊΣΥΦΟΣ МОСКВА ÿ Ÿ", NULL, "äöü|škoda|σίσυφοσ|москва|ÿ|ÿ",
          "ÄÖÜ|ŠKODA|ΣΊΣΥΦΟΣ|МОСКВА|ÿ|Ÿ");
}

TEST(characters_of_scripts_without_spaces_are_words)
{
    check("東京 tower", NULL, "東|京|tower", "東|京|tower");
}

TEST(ignored_text_is_gone)
{
    const char *const dates[] = { "[0-9]+ minutes ago", "^Views: [0-9]+",
                                  NULL };
    struct change_rules *rules = change_rules_new();
    struct change_record r = { .template = { "42", 2 }, .type = { "t", 1 } };
    const struct change_rule *rule;

    assert_int_equal(
        change_rules_add(rules, "42", "t", "f", true, dates, NULL), SEEN_OK);
    rule = change_rules_find(rules, &r, span_of("f"));
    assert_true(change_rule_compared(rule));
    check("Views: 17 Asked 3 minutes ago, 12 minutes ago", rule, "asked|,",
          "Asked|,");
    check("17 Views: 17", rule, "17|views:|17", "17|Views:|17");
    assert_null(change_rules_find(rules, &r, span_of("g")));
    r.type = span_of("other");
    assert_null(change_rules_find(rules, &r, span_of("f")));
    change_rules_free(rules);
}

/* Each "a" is a match, and each is looked for to the end of the window. */
TEST(a_pattern_that_costs_too_much_ignores_nothing_and_the_others_do)
{
    const char *const ignore[] = { "[0-9]+", "a(.*b)?", "[.]", NULL };
    struct change_rules *rules = change_rules_new();
    struct change_record r = { .line = { "", 0 } };
    struct change_words w = { .word = NULL };
    const struct change_rule *rule;
    char text[15001];

    assert_int_equal(change_rules_add(rules, "", "", "f", true, ignore, NULL),
                     SEEN_OK);
    rule = change_rules_find(rules, &r, span_of("f"));
    memset(text, 'a', sizeof text);
    memcpy(text + sizeof text - 9, " 17 . x.", 9);
    r.text = sizeof text;
    for (int i = 0; i < 2; i++) {
        change_words_read(&w, span_of(text), rule, change_rules_share(&r));
        assert_false(w.failed);
        assert_string_equal(w.costly, ignore[1]);
        assert_int_equal(w.n, 2);
        assert_int_equal(w.word[0].len, sizeof text - 9);
        assert_true(span_is(w.word[1], "x"));
    }
    /* It costs little in a short text, however large the record is. */
    r.text = CHANGE_RECORD_MOST;
    change_words_read(&w, span_of("1 ab x"), rule, change_rules_share(&r));
    assert_null(w.costly);
    assert_int_equal(w.n, 1);
    change_words_clear(&w);
    change_rules_free(rules);
}

/* 16 s with regexec() for 256 kB of x. */
TEST(long_texts_are_compared_without_what_is_ignored)
{
    const char *const ignore[] = { "x*y", "a.*x.{0,60}y", "[0-9]+ views",
                                   NULL };
    const struct change_rule *rule;
    struct change_rules *rules = change_rules_new();
    struct change_record r = { .text = 1 << 20 };
    struct change_words w = { .word = NULL };
    struct buffer text = { .bytes = NULL };
    size_t left = 0;

    assert_int_equal(change_rules_add(rules, "", "", "f", true, ignore, NULL),
                     SEEN_OK);
    rule = change_rules_find(rules, &r, span_of("f"));
    while (text.len < 1 << 20)
        buffer_text(&text, text.len % 3 ? "x" : "a x 12 views ");
    change_words_read(&w, (struct seen_span){ text.bytes, text.len }, rule,
                      change_rules_share(&r));
    assert_false(w.failed);
    assert_null(w.costly);
    for (size_t i = 0; i < w.n; i++)
        left += span_is(w.word[i], "views");
    assert_true(left < 2 * (1 << 20) / 16384); /* where windows meet */
    buffer_clear(&text);
    change_words_clear(&w);
    change_rules_free(rules);
}

TEST(the_most_specific_rule_wins)
{
    struct change_rules *rules = change_rules_new();
    struct change_record r = { .template = { "42", 2 }, .type = { "t", 1 } };

    assert_int_equal(change_rules_add(rules, "", "", "f", false, NULL, NULL),
                     SEEN_OK);
    assert_int_equal(change_rules_add(rules, "42", "t", "f", true, NULL, NULL),
                     SEEN_OK);
    assert_true(
        change_rule_compared(change_rules_find(rules, &r, span_of("f"))));
    r.template = span_of("43");
    assert_false(
        change_rule_compared(change_rules_find(rules, &r, span_of("f"))));
    change_rules_free(rules);
}

TEST(a_pattern_that_is_not_one_is_refused)
{
    const char *const bad[] = { "a(", NULL };
    struct change_rules *rules = change_rules_new();
    struct seen_error why;

    assert_int_equal(change_rules_add(rules, "", "", "", true, bad, &why),
                     SEEN_RANGE);
    change_rules_free(rules);
}

/* --- diff.h --- */

/* The length of the longest common subsequence, by the textbook's table. */
static size_t common(const uint32_t *a, size_t m, const uint32_t *b, size_t n)
{
    static size_t table[65][65];

    for (size_t i = 0; i <= m; i++)
        for (size_t j = 0; j <= n; j++)
            if (!i || !j)
                table[i][j] = 0;
            else if (a[i - 1] == b[j - 1])
                table[i][j] = table[i - 1][j - 1] + 1;
            else
                table[i][j] = table[i - 1][j] > table[i][j - 1]
                                  ? table[i - 1][j]
                                  : table[i][j - 1];
    return table[m][n];
}

TEST(a_diff_is_the_shortest_and_is_true)
{
    uint32_t a[64], b[64], gone[65], seed = 1;
    bool fresh[64], cut;

    for (int round = 0; round < 5000; round++) {
        size_t m, n, added = 0, removed = 0, at = 0;

        seed = seed * 1103515245 + 12345;
        m = seed >> 16 & 63;
        seed = seed * 1103515245 + 12345;
        n = seed >> 16 & 63;
        for (size_t i = 0; i < 64; i++) {
            seed = seed * 1103515245 + 12345;
            a[i] = seed >> 16 & 7;
            seed = seed * 1103515245 + 12345;
            b[i] = seed >> 16 & 7;
        }
        assert_true(change_diff(a, m, b, n, fresh, gone, &cut));
        assert_false(cut);
        for (size_t i = 0; i <= n; i++) {
            removed += gone[i];
            at += gone[i]; /* what is left of a is b without fresh words */
            if (i < n && fresh[i])
                added++;
            else if (i < n)
                assert_int_equal(a[at++], b[i]);
        }
        assert_int_equal(at, m);
        assert_int_equal(added, n - common(a, m, b, n));
        assert_int_equal(removed, m - common(a, m, b, n));
    }
}

TEST(a_text_that_is_all_new_is_not_compared_word_by_word)
{
    enum { N = 5000 };
    uint32_t *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b);
    uint32_t *gone = malloc((N + 1) * sizeof *gone);
    bool *fresh = malloc(N), cut;

    for (uint32_t i = 0; i < N; i++) {
        a[i] = i;
        b[i] = i + N;
    }
    a[0] = b[0] = 7;
    assert_true(change_diff(a, N, b, N, fresh, gone, &cut));
    assert_true(cut);
    assert_false(fresh[0]);
    assert_true(fresh[1] && fresh[N - 1]);
    assert_int_equal(gone[1], N - 1);
    free(a);
    free(b);
    free(gone);
    free(fresh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(white_space_and_case_make_no_difference),
        cmocka_unit_test(characters_of_scripts_without_spaces_are_words),
        cmocka_unit_test(ignored_text_is_gone),
        cmocka_unit_test(
            a_pattern_that_costs_too_much_ignores_nothing_and_the_others_do),
        cmocka_unit_test(long_texts_are_compared_without_what_is_ignored),
        cmocka_unit_test(the_most_specific_rule_wins),
        cmocka_unit_test(a_pattern_that_is_not_one_is_refused),
        cmocka_unit_test(a_diff_is_the_shortest_and_is_true),
        cmocka_unit_test(a_text_that_is_all_new_is_not_compared_word_by_word),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
