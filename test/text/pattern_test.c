/*
 * pattern_test.c - patterns against regexec(), and what they cost.
 *
 * The C library is the truth for small texts. SEEN_PATTERNS=1000000 compares
 * as many patterns, SEEN_SEED=2 others.
 */
#include "test/test.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text/pattern.h"
#include "lib/text/pattern_list.h"
#include "lib/text/span.h"
#include "test/wall.h"

enum { PATTERNS = 2000, TEXTS = 12, ENOUGH = 1000000000 };

static struct pattern *compiled(const char *text)
{
    struct seen_error why = { .code = SEEN_OK };
    struct pattern *p = NULL;

    if (pattern_new(&p, text, true, &why) != SEEN_OK)
        fail_msg("%s: %s", text, why.text);
    return p;
}

/* "3-7", "3-7 (4-5)" or "none". */
static void describe(char *to, size_t room, const struct pattern_match *m,
                     bool any)
{
    if (!any)
        snprintf(to, room, "none");
    else if (m->grouped)
        snprintf(to, room, "%zu-%zu (%zu-%zu)", m->begin, m->end, m->group,
                 m->group_end);
    else
        snprintf(to, room, "%zu-%zu", m->begin, m->end);
}

/* The first match of a text that is all there is in memory. */
static void search(char *to, size_t room, const struct pattern *p,
                   const char *text)
{
    size_t len = strlen(text);
    struct budget budget = { .left = ENOUGH };
    struct pattern_match m;
    struct pattern_search s;
    bool any;

    pattern_search_init(
        &s, p, (struct seen_span){ len ? walled(text, len) : "", len }, 0,
        &budget);
    assert_int_equal(pattern_search_next(&s, 0, &m, &any), SEEN_OK);
    pattern_search_clear(&s);
    describe(to, room, &m, any);
}

TEST(the_leftmost_match_is_found_and_the_longest_of_these)
{
    static const struct {
        const char *pattern, *text, *match;
    } cases[] = {
        { "b+", "abbbc", "1-4" },
        { "a|ab", "xab", "1-3" },
        { "(a|ab)(c|bcd)", "abcd", "0-4 (0-1)" },
        { "([0-9,]+) views", "it has 1,234 views", "7-18 (7-12)" },
        { "x*", "aaa", "0-0" },
        { "^b", "ab", "none" },
        { "b$", "ab", "1-2" },
        { "a$|^b", "ba", "0-1" },
        { "\\bat\\b", "cat at", "4-6" },
        { "\\Bat", "at cat", "4-6" },
        { "\\<c|t\\>", "at cat", "1-2" },
        { "\\w+\\W\\s\\S", "ab. c", "0-5" },
        { "[^[:digit:]]{2,3}", "1abcd", "1-4" },
        { "[]x]+[^]x]", "a]x]b", "1-5" },
        { "[a-]+", "b-a", "1-3" },
        { "[[.a.]-c[=x=]]+", "zabcx", "1-5" },
        { "a{,2}b", "aaab", "1-4" },
        { "a{2}", "a", "none" },
        { "(a)|b", "b", "0-1" },
        { "(a*)*", "b", "0-0 (0-0)" },
        { "(a*)+b", "aab", "0-3 (0-2)" },
        { ")", "a)", "1-2" },
        { "a|", "b", "0-0" },
        { "\xc3.", "a\xc3\xa9", "1-3" },
        { "a.c", "a\nc", "0-3" },
        { "a|(x", "", NULL },
        { "", "abc", "0-0" },
    };

    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct pattern *p;
        char found[100];

        if (!cases[i].match) {
            assert_int_equal(pattern_new(&p, cases[i].pattern, true, NULL),
                             SEEN_RANGE);
            assert_null(p);
            continue;
        }
        p = compiled(cases[i].pattern);
        search(found, sizeof found, p, cases[i].text);
        if (strcmp(found, cases[i].match) != 0)
            fail_msg("%s on %s: %s", cases[i].pattern, cases[i].text, found);
        pattern_free(p);
    }
}

/* --- against the C library --- */

static uint64_t chance = 88172645463325252;

static unsigned below(unsigned n)
{
    chance ^= chance << 13;
    chance ^= chance >> 7;
    chance ^= chance << 17;
    return (unsigned)((chance >> 20) % n);
}

static const char *one_of(const char *const *list, unsigned n)
{
    return list[below(n)];
}

/* A random pattern of few bytes, so that texts match often. With many anchors
   in a long one, regcomp() takes forever. */
static void grow_pattern(char *to, unsigned depth, unsigned *anchors)
{
    static const char *const atoms[] = { "a",   "a",   "a",    "b",    "b",
                                         "c",   ".",   "[ab]", "[^a]", " ",
                                         "\\w", "\\W", "\n" };
    static const char *const places[] = { "^",   "$",   "\\b", "\\B",
                                          "\\<", "\\>", "\\`", "\\'" };
    static const char *const repeats[] = { "*",     "+",    "?",
                                           "{0}",   "{2}",  "{1,}",
                                           "{2,3}", "{,2}", "{0,3}" };

    for (unsigned n = 1 + below(3); n--;) {
        unsigned what = below(20);

        if (what < 3 && *anchors) {
            --*anchors;
            strcat(to, one_of(places, LENGTH(places)));
            continue;
        }
        if (what < 8 && depth < 4) {
            strcat(to, "(");
            if (below(12))
                grow_pattern(to, depth + 1, anchors);
            strcat(to, ")");
        } else {
            strcat(to, one_of(atoms, LENGTH(atoms)));
        }
        if (!below(2))
            strcat(to, one_of(repeats, LENGTH(repeats)));
        if (n && !below(5))
            strcat(to, "|");
    }
}

static void grow_text(char *to, size_t *len)
{
    *len = below(16);
    for (size_t i = 0; i < *len; i++)
        to[i] = "aaabbbc  \n_"[below(11)];
    to[*len] = '\0';
}

/* Of an empty match that is not where the search begins, the C library may
   report a later place than the one that it has found. */
static bool is_moved(const struct pattern_match *m, size_t begin, size_t end)
{
    return begin == end && m->begin == m->end && m->begin < begin;
}

/* All matches of a text, as the users of patterns look for them. */
static void compare(const regex_t *truth, const struct pattern *p,
                    const char *pattern, const char *text, size_t len,
                    int flags, unsigned search_flags)
{
    struct budget budget = { .left = ENOUGH };
    bool groups = truth->re_nsub && !(search_flags & PATTERN_NO_GROUP);
    struct pattern_search s;
    struct pattern_match m;
    bool any = true;

    search_flags |= (flags & REG_NOTBOL ? PATTERN_NO_BEGIN : 0u) |
                    (flags & REG_NOTEOL ? PATTERN_NO_END : 0u);
    pattern_search_init(&s, p, (struct seen_span){ text, len }, search_flags,
                        &budget);
    for (size_t from = 0; any && from <= len; from = m.end + (m.end == from)) {
        enum seen_code code = pattern_search_next(&s, from, &m, &any);
        regmatch_t match[2];
        bool found = code == SEEN_OK &&
                     !regexec(truth, text + from, groups ? 2 : 1, match,
                              flags | (from ? REG_NOTBOL : 0));
        struct pattern_match t = { 0, 0, false, 0, 0 };
        char ours[100], theirs[100];

        if (code == SEEN_RANGE)
            break; /* regexec() goes in circles in the match, for ever */
        assert_int_equal(code, SEEN_OK);
        if (found) {
            t.begin = from + (size_t)match[0].rm_so;
            t.end = from + (size_t)match[0].rm_eo;
            t.grouped = groups && match[1].rm_so >= 0;
        }
        if (found && any && is_moved(&m, t.begin, t.end))
            break;
        if (t.grouped) {
            t.group = from + (size_t)match[1].rm_so;
            t.group_end = from + (size_t)match[1].rm_eo;
        }
        describe(ours, sizeof ours, &m, any);
        describe(theirs, sizeof theirs, &t, found);
        if (strcmp(ours, theirs) != 0)
            fail_msg("/%s/ on '%s' from %zu, flags %d: %s, regexec() %s",
                     pattern, text, from, flags, ours, theirs);
    }
    pattern_search_clear(&s);
}

static void compare_has(const regex_t *truth, const struct pattern *p,
                        const char *pattern, const char *text, size_t len)
{
    struct budget budget = { .left = ENOUGH };
    bool found;

    assert_int_equal(
        pattern_has(p, (struct seen_span){ text, len }, &budget, &found),
        SEEN_OK);
    if (found != !regexec(truth, text, 0, NULL, 0))
        fail_msg("/%s/ on '%s': %d", pattern, text, found);
}

static void compare_pattern(const char *pattern)
{
    struct pattern *p = NULL, *alone = NULL;
    regex_t truth, without;
    int refused = regcomp(&truth, pattern, REG_EXTENDED);

    assert_int_equal(pattern_new(&p, pattern, true, NULL) != SEEN_OK,
                     refused != 0);
    if (refused)
        return;
    assert_int_equal(regcomp(&without, pattern, REG_EXTENDED | REG_NOSUB), 0);
    assert_int_equal(pattern_new(&alone, pattern, false, NULL), SEEN_OK);
    assert_int_equal(pattern_groups(p), truth.re_nsub);
    for (int i = 0; i < TEXTS; i++) {
        char text[20];
        size_t len;
        int flags = (below(2) ? REG_NOTBOL : 0) | (below(3) ? 0 : REG_NOTEOL);

        grow_text(text, &len);
        compare(&truth, p, pattern, text, len, flags, 0);
        compare(&truth, p, pattern, text, len, flags, PATTERN_NO_GROUP);
        compare_has(&without, alone, pattern, text, len);
    }
    regfree(&truth);
    regfree(&without);
    pattern_free(p);
    pattern_free(alone);
}

TEST(matches_and_groups_are_those_of_the_c_library)
{
    const char *many = getenv("SEEN_PATTERNS"), *seed = getenv("SEEN_SEED");
    long n = many ? atol(many) : PATTERNS;

    if (seed)
        chance += strtoull(seed, NULL, 10) * UINT64_C(0x9e3779b97f4a7c15);
    for (long i = 0; i < n; i++) {
        char pattern[4000] = "";
        unsigned most = below(2) ? 2 : 0, anchors = most;

        grow_pattern(pattern, 0, &anchors);
        if (strlen(pattern) < (anchors < most ? 24u : 100u))
            compare_pattern(pattern);
    }
}

/* Any bytes are a pattern, or are refused with the words of the C library. */
TEST(the_same_texts_are_patterns)
{
    static const char bytes[] = "ab()[]{}*+?|^$\\.,-:=019w'<1";

    for (int i = 0; i < 15000; i++) {
        char pattern[12], says[100];
        size_t len = 1 + below(sizeof pattern - 1);
        struct seen_error why = { .code = SEEN_OK };
        struct pattern *p = NULL;
        regex_t truth;
        int refused;

        for (size_t k = 0; k < len; k++)
            pattern[k] = bytes[below(sizeof bytes - 1)];
        pattern[len] = '\0';
        if (pattern_new(&p, pattern, true, &why) == SEEN_RANGE &&
            (strstr(why.text, "too much") || strstr(why.text, "reference")))
            continue;
        refused = regcomp(&truth, pattern, REG_EXTENDED);
        if ((p == NULL) != (refused != 0))
            fail_msg("%s: %d, %s", pattern, refused, why.text);
        if (refused) {
            regerror(refused, &truth, says, sizeof says);
            assert_non_null(strstr(why.text, says));
        } else {
            regfree(&truth);
        }
        pattern_free(p);
    }
}

/* --- what is refused --- */

TEST(patterns_that_cost_too_much_are_refused)
{
    static const char *const too_much[] = {
        "((a{1,255}){1,255}){1,255}",
        "a++++++++++++++++++++++++++++++++++++++++",
        "((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((a))))"
        "))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))",
    };
    struct seen_error why;
    struct pattern *p;

    for (size_t i = 0; i < LENGTH(too_much); i++) {
        assert_true(pattern_size(too_much[i]) > PATTERN_SIZE);
        assert_int_equal(pattern_new(&p, too_much[i], true, &why), SEEN_RANGE);
        assert_string_equal(why.text, "the pattern repeats too much");
    }
    assert_int_equal(pattern_new(&p, "(a)\\1", true, &why), SEEN_RANGE);
    assert_string_equal(why.text, "the pattern has a back reference");
    assert_int_equal(pattern_new(&p, "[\\1]", true, &why), SEEN_OK);
    pattern_free(p);
}

/* regcomp() does not come back from this one. */
TEST(anchors_in_repetitions_are_understood_in_time)
{
    struct pattern *p = compiled(
        " ?(\\B[^a]?^)?((\\`$(\\'(a{0,2}){0,}\\b)+)+.)*b");
    char found[100];

    search(found, sizeof found, p, "a b");
    assert_string_equal(found, "1-3");
    pattern_free(p);
}

/* The C library never leaves the loop for the group. */
TEST(empty_rounds_of_a_repetition_end)
{
    struct pattern *p = compiled("((\n?|a*)*)+");
    struct budget budget = { .left = ENOUGH };
    struct pattern_search s;
    struct pattern_match m;
    bool any;

    pattern_search_init(&s, p, span_of("a\ncbba a ba"), 0, &budget);
    assert_int_equal(pattern_search_next(&s, 0, &m, &any), SEEN_RANGE);
    assert_false(any);
    pattern_search_clear(&s);
    pattern_free(p);
}

/* --- what a search costs --- */

static char *repeat(const char *unit, size_t len)
{
    char *text = malloc(len + 1);
    size_t n = strlen(unit);

    assert_non_null(text);
    for (size_t i = 0; i < len; i++)
        text[i] = unit[i % n];
    text[len] = '\0';
    return text;
}

/* The steps of a search; again, when everything is known, as many. */
static uint64_t steps_of(const char *pattern, const char *text, size_t len)
{
    struct pattern *p = compiled(pattern);
    uint64_t steps[2];

    for (size_t i = 0; i < 2; i++) {
        struct budget budget = { .left = 100 * (uint64_t)ENOUGH };
        uint64_t before = budget.left;
        struct pattern_search s;
        struct pattern_match m;
        bool any;

        pattern_search_init(&s, p, (struct seen_span){ text, len }, 0,
                            &budget);
        assert_int_equal(pattern_search_next(&s, 0, &m, &any), SEEN_OK);
        pattern_search_clear(&s);
        steps[i] = before - budget.left;
    }
    assert_int_equal(steps[0], steps[1]);
    pattern_free(p);
    return steps[0];
}

/* regexec() needs 16 s for 256 kB of x and "x*y", four times as long for
   twice as much. */
TEST(a_text_twice_as_long_costs_twice_as_much)
{
    static const struct {
        const char *pattern, *unit;
        uint64_t most; /* steps per byte */
    } cases[] = {
        { "x*y", "x", 10 },
        { "(x+x+)+y", "x", 10 },
        { "a.*x.{0,60}y", "a x ", 10 },
        { "a.*x.{0,60}y", "a xy ", 500 },
        { "(a|b)*a(a|b){20}c", "aababbbabaabbba", 100 },
        { "((a|b)*a(a|b){20}).*", "aababbbabaabbba", 500 },
        { "(a.*)*b", "a", 10 },
        { "(.*)(.*)(.*)x", "ax", 100 },
        { "\\b(.+)\\b.*$", "ab c ", 100 },
    };

    for (size_t i = 0; i < LENGTH(cases); i++) {
        char *text = repeat(cases[i].unit, 1 << 18);
        uint64_t half = steps_of(cases[i].pattern, text, 1 << 17);
        uint64_t whole = steps_of(cases[i].pattern, text, 1 << 18);

        if (whole > half * 21 / 10 || whole > cases[i].most << 18)
            fail_msg("%s: %llu steps for 128 kB, %llu for 256 kB",
                     cases[i].pattern, (unsigned long long)half,
                     (unsigned long long)whole);
        free(text);
    }
}

TEST(a_long_text_has_its_match)
{
    struct pattern *p = compiled("a.*x.{0,60}y");
    char *text = repeat("a x ", 1 << 20), found[100];
    struct budget budget = { .left = ENOUGH };
    struct pattern_search s;
    struct pattern_match m;
    bool any;

    text[(1 << 20) - 1] = 'y';
    pattern_search_init(&s, p, (struct seen_span){ text, 1 << 20 }, 0,
                        &budget);
    assert_int_equal(pattern_search_next(&s, 3, &m, &any), SEEN_OK);
    describe(found, sizeof found, &m, any);
    assert_string_equal(found, "4-1048576");
    pattern_search_clear(&s);
    pattern_free(p);
    free(text);
}

/* More states than a cache has room for, and group 1 over many blocks. */
TEST(a_pattern_with_millions_of_states_has_its_match)
{
    struct pattern *p = compiled("(b*)((a|b)*a(a|b){20})c");
    enum { LEN = 50000 };
    char text[LEN + 1], found[100];

    for (size_t i = 0; i < LEN; i++)
        text[i] = below(2) || i < 2 ? 'b' : 'a';
    text[LEN - 22] = 'a';
    text[LEN - 1] = 'c';
    text[LEN] = '\0';
    memcpy(text, "bba", 3);
    search(found, sizeof found, p, text);
    assert_string_equal(found, "0-50000 (0-2)");
    pattern_free(p);
}

/* Each start is read to the end of the text: that is what a budget is for. */
TEST(a_search_ends_with_its_budget)
{
    struct pattern *p = compiled("a(.*b)?");
    char *text = repeat("a", 1 << 16);
    struct seen_span span = { text, 1 << 16 };
    struct budget budget = { .left = 10000000 };
    enum seen_code code = SEEN_OK;
    struct pattern_search s;
    struct pattern_match m = { .end = 0 };
    bool any = true;

    pattern_search_init(&s, p, span, 0, &budget);
    while (code == SEEN_OK && any)
        code = pattern_search_next(&s, m.end, &m, &any);
    assert_int_equal(code, SEEN_RANGE);
    assert_false(any);
    assert_true(budget_empty(&budget));
    assert_true(m.end > 1);
    pattern_search_clear(&s);
    assert_int_equal(pattern_has(p, span, &budget, &any), SEEN_RANGE);
    assert_false(any);
    pattern_free(p);
    free(text);
}

/* --- lists --- */

static struct pattern_list listed(const char *const *text, size_t n)
{
    struct pattern_list l = { .n = 0 };

    for (size_t i = 0; i < n; i++)
        assert_int_equal(pattern_list_add(&l, text[i], false, NULL), SEEN_OK);
    assert_int_equal(pattern_list_join(&l, n, NULL), SEEN_OK);
    return l;
}

static void compare_list(const struct pattern_list *l, struct seen_span text)
{
    struct budget budget = { .left = ENOUGH };
    size_t first = 0, at;
    bool found = false;

    for (; first < l->n && !found; first += !found)
        assert_int_equal(pattern_has(l->pattern[first], text, &budget, &found),
                         SEEN_OK);
    assert_int_equal(pattern_list_find(l, text, &budget, &at), SEEN_OK);
    if (at != first)
        fail_msg("of %zu patterns, on '%.*s': %zu, not %zu", l->n,
                 (int)text.len, text.text, at, first);
    assert_int_equal(pattern_list_has(l, text, &budget, &found, &at), SEEN_OK);
    assert_true(found == (first < l->n));
}

TEST(a_list_finds_the_first_pattern_that_one_by_one_would_find)
{
    static const char *const odd[] = { ")b", "", "a|", "(a)|^", "x)|(y", "$" };

    for (int i = 0; i < PATTERNS / 2; i++) {
        struct pattern_list l = { .n = 0 };

        for (size_t k = 4 + below(8); k; k--) {
            char text[4000] = "";
            unsigned anchors = below(2) ? 2 : 0;

            grow_pattern(text, 0, &anchors);
            if (strlen(text) < 24)
                pattern_list_add(&l, text, false, NULL);
            else if (!below(20))
                pattern_list_add(&l, one_of(odd, LENGTH(odd)), false, NULL);
            else
                pattern_list_add(&l, below(2) ? "cbc" : "_b$", false, NULL);
        }
        assert_int_equal(pattern_list_join(&l, l.n, NULL), SEEN_OK);
        assert_true(l.n < 4 || l.any);
        for (int k = 0; k < TEXTS; k++) {
            char text[20];
            size_t len;

            grow_text(text, &len);
            compare_list(&l, (struct seen_span){ text, len });
        }
        pattern_list_clear(&l);
    }
}

TEST(a_thousand_patterns_cost_no_more_than_some)
{
    enum { N = 1000 };
    static const char url[] =
        "http://www.a.example/2024/05/17/some-article-of-the-day.html?page=2";
    static char name[N][40];
    const char *text[N];
    struct budget budget = { .left = ENOUGH };
    struct pattern_list l;
    bool found;
    size_t at;

    for (size_t i = 0; i < N; i++) {
        snprintf(name[i], sizeof name[i], "/section%zu/.*\\.(pdf|zip)$", i);
        text[i] = name[i];
    }
    l = listed(text, N);
    assert_int_equal(pattern_list_has(&l, span_of(url), &budget, &found, &at),
                     SEEN_OK);
    assert_false(found);
    assert_true(ENOUGH - budget.left < 40 * sizeof url);
    assert_int_equal(
        pattern_list_find(&l, span_of("/section777/x.zip"), &budget, &at),
        SEEN_OK);
    assert_int_equal(at, 777);
    pattern_list_clear(&l);
}

TEST(a_list_names_the_pattern_that_is_too_costly)
{
    static const char *const text[] = { "q", "x*y", "d[abc]*a[abc]{200}c", "z",
                                        "w" };
    struct pattern_list l = listed(text, LENGTH(text));
    char *long_text = repeat("aababbcbaabbba", 1 << 12);
    struct budget budget = { .left = 200000 };
    bool found = true;
    size_t at;

    assert_int_equal(pattern_list_has(&l,
                                      (struct seen_span){ long_text, 1 << 12 },
                                      &budget, &found, &at),
                     SEEN_RANGE);
    assert_int_equal(at, 2);
    assert_false(found);
    free(long_text);
    pattern_list_clear(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_leftmost_match_is_found_and_the_longest_of_these),
        cmocka_unit_test(matches_and_groups_are_those_of_the_c_library),
        cmocka_unit_test(the_same_texts_are_patterns),
        cmocka_unit_test(patterns_that_cost_too_much_are_refused),
        cmocka_unit_test(anchors_in_repetitions_are_understood_in_time),
        cmocka_unit_test(empty_rounds_of_a_repetition_end),
        cmocka_unit_test(a_text_twice_as_long_costs_twice_as_much),
        cmocka_unit_test(a_long_text_has_its_match),
        cmocka_unit_test(a_pattern_with_millions_of_states_has_its_match),
        cmocka_unit_test(a_search_ends_with_its_budget),
        cmocka_unit_test(
            a_list_finds_the_first_pattern_that_one_by_one_would_find),
        cmocka_unit_test(a_thousand_patterns_cost_no_more_than_some),
        cmocka_unit_test(a_list_names_the_pattern_that_is_too_costly),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
