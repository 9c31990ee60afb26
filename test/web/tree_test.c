/* tree_test.c - how pages become trees, and when they do not. */
#include "test/test.h"
#include "test/wall.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/text/buffer.h"
#include "web/select.h"
#include "web/view.h"

static struct web_tree *parse_as(const char *text, size_t len,
                                 const char *charset)
{
    struct web_tree *tree = NULL;
    struct seen_error why;

    if (web_tree_new(&tree, walled(text, len), len, charset, &why) != SEEN_OK)
        fail_msg("%s", why.text);
    return tree;
}

static struct web_tree *parse(const char *text)
{
    return parse_as(text, strlen(text), NULL);
}

static bool add_text(void *owner, const struct web_match *m)
{
    web_match_text(owner, m);
    return true;
}

static bool add_html(void *owner, const struct web_match *m)
{
    web_match_html(owner, m);
    return true;
}

static char *all(struct web_tree *tree, const char *selector,
                 bool (*add)(void *owner, const struct web_match *m))
{
    struct buffer b = { .bytes = NULL };
    struct web_selector *s;
    char *text;

    assert_int_equal(
        web_selector_new(&s, selector, strlen(selector), false, NULL), 0);
    assert_int_equal(web_select(s, tree, add, &b, NULL), 0);
    web_selector_free(s);
    text = buffer_take(&b);
    assert_non_null(text);
    return text;
}

#define CAFE "caf\xc3\xa9"

TEST(the_charset_is_that_of_mark_header_and_meta_in_that_order)
{
    static const struct {
        const char *bytes;
        size_t len;
        const char *charset, *text;
    } list[] = {
#define BYTES(b) b, sizeof b - 1
        { BYTES("<p>caf\xc3\xa9"), NULL, CAFE },
        { BYTES("<p>caf\xe9"), NULL, CAFE },
        { BYTES("<p>caf\xe9"), "iso-8859-1", CAFE },
        { BYTES("<p>caf\xe9"), "no-such-charset", CAFE },
        { BYTES("<p>caf\xc3\xa9"), "utf-8", CAFE },
        { BYTES("\xef\xbb\xbf<p>caf\xc3\xa9"), "iso-8859-1", CAFE },
        { BYTES("\xff\xfe<\0p\0>\0c\0a\0f\0\xe9\0"), "utf-8", CAFE },
        { BYTES("\xfe\xff\0<\0p\0>\0c\0a\0f\0\xe9"), NULL, CAFE },
        { BYTES("<meta charset=iso-8859-2><p>\xb1"), NULL, "\xc4\x85" },
        { BYTES("<meta charset='iso-8859-2'><p>\xb1"), "iso-8859-1",
          "\xc2\xb1" },
        { BYTES("<meta http-equiv=content-type content='text/html; "
                "charset=windows-1251'><p>\xe6"),
          NULL, "\xd0\xb6" },
        { BYTES("<p>a\xff z"), "utf-8", "a\xef\xbf\xbd z" },
        { BYTES("<p>a\0b"), NULL, "ab" },
    };

    for (size_t i = 0; i < LENGTH(list); i++) {
        struct web_tree *tree = parse_as(list[i].bytes, list[i].len,
                                         list[i].charset);
        char *text = all(tree, "p", add_text);

        if (strcmp(text, list[i].text) != 0)
            fail_msg("case %zu: %s", i, text);
        free(text);
        web_tree_free(tree);
    }
}

TEST(badly_nested_markup_is_repaired)
{
    static const struct {
        const char *page, *body;
    } list[] = {
        { "", "" },
        { "text", "<body><p>text</p></body>" },
        { "<ul><li>a<li>b", "<body><ul><li>a</li><li>b</li></ul></body>" },
        { "<p>a<p>b", "<body><p>a</p><p>b</p></body>" },
        { "<br><img src=a>", "<body><br><img src=\"a\"></body>" },
        { "<p title='<&quot;'>&lt;&nbsp;&amp;",
          "<body><p title=\"<&quot;\">&lt;&nbsp;&amp;</p></body>" },
        { "<body><script>a < b && c</script>",
          "<body><script>a < b && c</script></body>" },
        { "<p><!-- a --></p></div></span>", "<body><p><!-- a --></p></body>" },
    };

    for (size_t i = 0; i < LENGTH(list); i++) {
        struct web_tree *tree = parse(list[i].page);
        char *text = all(tree, "body", add_html);

        assert_string_equal(text, list[i].body);
        free(text);
        web_tree_free(tree);
    }
}

static uint64_t skeleton(const char *page)
{
    struct web_tree *tree = parse(page);
    uint64_t hash = 0;

    assert_int_equal(web_tree_skeleton(tree, &hash, NULL), SEEN_OK);
    web_tree_free(tree);
    return hash;
}

TEST(the_skeleton_is_about_tags_alone)
{
    uint64_t one = skeleton("<body><p class=a>x<b>y</b></p></body>");

    assert_true(one ==
                skeleton("<body><p id=b><b>other</b> text<!-- c --></p>"));
    assert_true(one != skeleton("<body><p>x</p><b>y</b></body>"));
    assert_true(one != skeleton("<body><p>x<i>y</i></p></body>"));
    assert_true(skeleton("<div><b></b></div><i></i>") !=
                skeleton("<div><b></b><i></i></div>"));
    /* Records keep it, so it never changes. */
    assert_true(skeleton("<p>a<b>c") == UINT64_C(0x95ffe8318f0ada88));
}

TEST(the_base_is_that_of_the_first_base_element_with_href)
{
    static const struct {
        const char *page, *base;
    } list[] = {
        { "<p>", "http://a.example/b/c" },
        { "<base target=x><base href=/d/><base href=/e/>",
          "http://a.example/d/" },
        { "<base href='http://[bad'>", "http://a.example/b/c" },
    };
    static const char url[] = "HTTP://A.example/b/c#d";

    for (size_t i = 0; i < LENGTH(list); i++) {
        struct web_tree *tree = parse(list[i].page);
        char base[SEEN_KEY_TEXT];
        size_t len;

        assert_int_equal(
            web_tree_base(tree, base, &len, url, strlen(url), NULL), SEEN_OK);
        assert_int_equal(len, strlen(list[i].base));
        assert_memory_equal(base, list[i].base, len);
        web_tree_free(tree);
    }
}

/* --- hostile pages --- */

static struct web_tree *parse_repeated(const char *before, const char *text,
                                       size_t n, const char *after)
{
    struct buffer b = { .bytes = NULL };
    struct web_tree *tree = NULL;

    buffer_text(&b, before);
    for (size_t i = 0; i < n; i++)
        buffer_text(&b, text);
    buffer_text(&b, after);
    assert_false(b.failed);
    assert_int_equal(web_tree_new(&tree, b.bytes, b.len, NULL, NULL), SEEN_OK);
    buffer_clear(&b);
    return tree;
}

TEST(pages_that_would_take_too_long_are_cut)
{
    static const struct {
        const char *before, *text;
        size_t n;
        bool cut;
    } list[] = {
        { "", "<div>", 9000, false },
        { "", "<div>", 20000, true },
        { "", "<b><p>", 100000, false },
        { "", "<p>a</p>", 100000, false },
        { "<p ", "a b c d e f g h i j ", 20000, true },
        { "", "<p a b c d e f g h i j>", 20000, false },
        { "<script>x<y a=\"</script><p ", "a b c d e f g h i j ", 20000,
          true },
        { "<p a='>' ", "a b c d e f g h i j ", 20000, true },
        { "<p a=\"", "a b c d e f g h i j ", 20000, false },
        { "", "<a", 300000, true },
        { "", "</x>", 300000, false },
        { "", "<!--", 100000, false },
        { "", "<", 300000, false },
        { "", "&amp;", 300000, false },
        { "", "<a href='", 100000, true },
        { "", "<script>", 100000, false },
    };

    for (size_t i = 0; i < LENGTH(list); i++) {
        clock_t begun = clock();
        struct web_tree *tree = parse_repeated(list[i].before, list[i].text,
                                               list[i].n, "");
        double took = (double)(clock() - begun) / CLOCKS_PER_SEC;

        if (web_tree_cut(tree) != list[i].cut || took > 10)
            fail_msg("%s: %s, %.1f s", list[i].text,
                     web_tree_cut(tree) ? "cut" : "not cut", took);
        web_tree_free(tree);
    }
}

TEST(a_tree_is_cut_where_its_budget_ends)
{
    static const struct {
        const char *before, *text;
        uint64_t least, most; /* steps per repetition */
    } list[] = {
        { "", "<p class=x>text</p>", 300, 600 },
        { "", "&zzzzzz", 150, 300 },
        { "<b><b><b>", "</x>", 60, 150 },
    };
    enum { TIMES = 10000 };

    for (size_t i = 0; i < LENGTH(list); i++) {
        struct budget enough = { .left = 1000000000 }, half;
        struct buffer page = { .bytes = NULL };
        struct web_tree *tree;
        uint64_t took;
        size_t n;

        buffer_text(&page, list[i].before);
        for (int k = 0; k < TIMES; k++)
            buffer_text(&page, list[i].text);
        assert_int_equal(web_tree_new_within(&tree, page.bytes, page.len, NULL,
                                             &enough, NULL),
                         SEEN_OK);
        took = 1000000000 - enough.left;
        n = web_tree_elements(tree);
        assert_false(web_tree_cut(tree));
        assert_in_range(took, TIMES * list[i].least, TIMES * list[i].most);
        web_tree_free(tree);
        for (int again = 0; again < 2; again++) {
            half = (struct budget){ .left = took / 2 };
            assert_int_equal(web_tree_new_within(&tree, page.bytes, page.len,
                                                 NULL, &half, NULL),
                             SEEN_OK);
            assert_true(web_tree_cut(tree) && budget_empty(&half));
            assert_true(web_tree_elements(tree) <= n);
            n = web_tree_elements(tree); /* the same again */
            assert_true(!again || web_tree_elements(tree) == n);
            web_tree_free(tree);
        }
        buffer_clear(&page);
    }
}

/* The table of libxml2 does not grow: a million ids took 8 s. */
TEST(ids_are_not_collected)
{
    struct web_tree *tree = parse("<p id=a><a name=b>x</a></p>");
    char *text = all(tree, "#a", add_text);

    assert_null(tree->doc->ids);
    assert_string_equal(text, "x");
    free(text);
    web_tree_free(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            the_charset_is_that_of_mark_header_and_meta_in_that_order),
        cmocka_unit_test(badly_nested_markup_is_repaired),
        cmocka_unit_test(the_skeleton_is_about_tags_alone),
        cmocka_unit_test(the_base_is_that_of_the_first_base_element_with_href),
        cmocka_unit_test(pages_that_would_take_too_long_are_cut),
        cmocka_unit_test(a_tree_is_cut_where_its_budget_ends),
        cmocka_unit_test(ids_are_not_collected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
