/*
 * html_test.c - which tags count, as the HTML standard parses a page.
 *
 * The answers were compared with those of html5lib, apart from templates, which
 * it does not know, <select> and </p> in SVG, where it follows an older
 * standard, and <frame> outside of a <frameset>.
 */
#include "test/web/linked.h"

#include <stdlib.h>
#include <time.h>

#include "web/html.h"
#include "web/reference.h"

#define CHECK(cases) linked_check(cases, LENGTH(cases), linked)

TEST(attributes_are_read_as_the_standard_says)
{
    static const struct linked_case cases[] = {
        { "<a href=x>", "a /d/x" },
        { "<A HREF='x'>", "a /d/x" },
        { "<a href = \"x\" href=y>", "a /d/x" },
        { "<a/href=x>", "a /d/x" },
        { "<a x='1'href=x>", "a /d/x" },
        { "<a href=x/>", "a /d/x/" },
        { "<a href=\"x>y\">", "a /d/x%3Ey" },
        { "<a =href=x href=y>", "a /d/y" },
        { "<a href>", "a /d/p?q" },
        { "<a href=>", "a /d/p?q" },
        { "<a hrefx=x>", "" },
        { "<a href=x", "" }, /* the input ends in a tag */
        { "<a href='x>", "" },
        { "<a href", "" },
        { "<a", "" },
        { "<ahref=x>", "" },
        { "< a href=x>", "" },
        { "<a\nhref\n=\nx\n>", "a /d/x" },
        { "<a href=a\"b'c>", "a /d/a%22b'c" },
        { "</a href=x>", "" },
    };

    CHECK(cases);
}

TEST(space_around_and_line_ends_inside_are_not_part_of_a_url)
{
    static const struct linked_case cases[] = {
        { "<a href=' \t\n x\n\ty \x01'>", "a /d/xy" },
        { "<a href='ht\ntp://b/'>", "a http://b/" },
        { "<a href='java\nscript:x'>", "" },
        { "<a href='#f'>", "a /d/p?q" },
        { "<a href='x#f'>", "a /d/x" },
        { "<a href=\\\\b\\c>", "a http://b/c" },
        { "<a href='http://[x'>", "" },
        { "<a href=mailto:a@b><a href=ftp://b/><a href=data:,x>", "" },
        { "<a href='HTTPS://B.example:443/../x y'>",
          "a https://b.example/x%20y" },
    };

    CHECK(cases);
}

TEST(character_references_are_those_of_html_5)
{
    static const struct linked_case cases[] = {
        { "<a href='?a&amp;b'>", "a /d/p?a&b" },
        { "<a href='?a&ampb'>", "a /d/p?a&ampb" },
        { "<a href='?a&amp'>", "a /d/p?a&" },
        { "<a href='?a=1&copy=2'>", "a /d/p?a=1&copy=2" },
        { "<a href='?a=1&copy;'>", "a /d/p?a=1%C2%A9" },
        { "<a href='?&notit;'>", "a /d/p?&notit;" },
        { "<a href='?&not;&notin;'>", "a /d/p?%C2%AC%E2%88%89" },
        { "<a href='&#x2f;x&#47y&#0;'>", "a /x/y%EF%BF%BD" },
        { "<a href='&#x80;&#xd800;&#99999999999;'>",
          "a /d/%E2%82%AC%EF%BF%BD%EF%BF%BD" },
        { "<a href='&#;&#x;&;&x;&'>", "a /d/&" },
        { "<a href='x&CounterClockwiseContourIntegral;'>", "a /d/x%E2%88%B3" },
        { "<a href='x&fjlig;'>", "a /d/xfj" },
        { "<a href=x>&lt;b&gt; &eacute &notit; &copy2</a>",
          "a /d/x '<b> \xc3\xa9 \xc2\xacit; \xc2\xa9"
          "2'" },
        { "<a href=&sol;x&period;y>", "a /x.y" },
    };

    CHECK(cases);
}

TEST(comments_end_where_browsers_end_them)
{
    static const struct linked_case cases[] = {
        { "<!--<a href=x>--><a href=y>", "a /d/y" },
        { "<!--><a href=y></a>-->", "a /d/y" },
        { "<!---><a href=y></a>-->", "a /d/y" },
        { "<!--<a href=x>--!><a href=y>", "a /d/y" },
        { "<!--<a href=x>-- ><a href=z>--><a href=y>", "a /d/y" },
        { "<!--<!--><a href=y></a>-->", "a /d/y" },
        { "<!--<a href=x>", "" },
        { "<!a href='>'><a href=y>", "a /d/y" },
        { "<?a href='><a href=y>", "a /d/y" },
        { "</ a href='><a href=y>", "a /d/y" },
        { "</><a href=y>", "a /d/y" },
        { "<![CDATA[<a href=y></a>]]>", "" },
        { "<![CDATA[x><a href=y></a>]]>", "a /d/y" },
        { "<!doctype html SYSTEM \"><a href=y>", "a /d/y" },
        { "<!-<a href=x>-><a href=y>", "a /d/y" },
    };

    CHECK(cases);
}

TEST(text_that_is_not_markup_hides_tags)
{
    static const struct linked_case cases[] = {
        { "<script><a href=x></script><a href=y>", "a /d/y" },
        { "<script>'</scriptx><a href=x>'</script\n><a href=y>", "a /d/y" },
        { "<script><!-- <script> </script> <a href=x> --></script><a href=y>",
          "a /d/y" },
        { "<script><!-- </script><a href=y>", "a /d/y" },
        { "<script><!--<script></script><a href=x>", "" },
        { "<script><!--><script></script><a href=y>", "a /d/y" },
        { "<script/><a href=x></script><a href=y>", "a /d/y" },
        { "<style><a href=x></style><a href=y>", "a /d/y" },
        { "<title><a href=x></title><a href=y>", "a /d/y" },
        { "<textarea><a href=x><!--</textarea><a href=y>", "a /d/y" },
        { "<xmp><a href=x></XMP><a href=y>", "a /d/y" },
        { "<iframe><a href=x></iframe><a href=y>", "a /d/y" },
        { "<noembed><a href=x></noembed><a href=y>", "a /d/y" },
        { "<noframes><a href=x></noframes><a href=y>", "a /d/y" },
        { "<noscript><a href=x></noscript><a href=y>", "a /d/x; a /d/y" },
        { "<head><noscript><link rel=next href=x></noscript>", "link /d/x" },
        { "<plaintext></plaintext><a href=x>", "" },
        { "<title><a href=x>", "" },
        { "<template><a href=x><template></template><a href=x></template>"
          "<a href=y>",
          "a /d/y" },
        { "<template><a href=x>", "" },
        { "</template><a href=x>", "a /d/x" },
        { "<template><base href=/e/></template><a href=x>", "a /d/x" },
        { "<select><a href=x><option><a href=y></select>", "a /d/x; a /d/y" },
    };

    CHECK(cases);
}

TEST(svg_and_mathml_have_their_own_rules)
{
    static const struct linked_case cases[] = {
        { "<svg><a href=x></a><a xlink:href=y></a></svg>", "a /d/x; a /d/y" },
        { "<svg><title><a href=x></title></svg>", "a /d/x" },
        { "<svg><style><a href=x></style></svg>", "a /d/x" },
        { "<svg><script><a href=x></script></svg>", "a /d/x" },
        { "<svg><![CDATA[<a href=x>]]></svg><a href=y>", "a /d/y" },
        { "<svg><base href=/e/><link rel=next href=x></svg><a href=y>",
          "a /d/y" },
        { "<svg><p><base href=/e/><title><a href=x></title><a href=y>",
          "a /e/y" },
        { "<svg><foreignObject><title><a href=x></title><a href=y>",
          "a /d/y" },
        { "<svg/><title><a href=x></title>", "" },
        { "<svg></p><title><a href=x></title>", "" },
        { "<div><svg></div><title><a href=x></title>", "" },
        { "<svg></div><title><a href=x></title>", "a /d/x" },
        { "<math><mi><textarea><a href=x></textarea></mi>"
          "<title><a href=y></title></math>",
          "" },
        { "<math><annotation-xml encoding=text/html><a href=x>"
          "<title><a href=n></title>",
          "a /d/x" },
        { "<math><a href=x></a></math>", "" },
        { "<svg><font><title><a href=x></title>", "a /d/x" },
        { "<svg><font color=x><title><a href=x></title>", "" },
        { "<svg><template><a href=x></a></template>", "a /d/x" },
    };

    CHECK(cases);
}

TEST(tags_that_a_parser_ignores_are_no_links)
{
    static const struct linked_case cases[] = {
        { "<form action=x><form action=y></form><form action=z>",
          "form /d/x; form /d/z" },
        { "<form action=x><template><form action=y></form></template>",
          "form /d/x" },
        { "<frameset><frame src=x><a href=y><frame src=z></frameset>"
          "<a href=w>",
          "frame /d/x; frame /d/z" },
        { "<p>x<frameset><a href=y>", "a /d/y" },
        { "<image src=x><table><a href=y><tr><td><a href=z></table>",
          "a /d/y; a /d/z" },
    };

    CHECK(cases);
}

TEST(anchors_have_their_text_also_if_badly_nested)
{
    static const struct linked_case cases[] = {
        { "<a href=x> a \n b </a>c", "a /d/x 'a b'" },
        { "<a href=x>a<b>b</b><i> c</a>d", "a /d/x 'ab c'" },
        { "<a href=x>a<p>b</a>c</p>", "a /d/x 'a b'" },
        { "<p><a href=x>a</p>b</a>c", "a /d/x 'a b'" },
        { "<a href=x>a<a href=y>b</a>c", "a /d/x 'a'; a /d/y 'b'" },
        { "<a href=x>a<a name=y>b</a>c", "a /d/x 'a'" },
        { "<table><td><a href=x>a<td>b</table>c", "a /d/x 'a'" },
        { "<a href=x>a<script>no</script><style>no</style><!-- no -->b</a>",
          "a /d/x 'ab'" },
        { "<a href=x><img alt='a &amp; b'>c</a>", "a /d/x 'a & b c'" },
        { "<a href=x>a<br>b<div>c</div>d</a>", "a /d/x 'a b c d'" },
        { "<a href=x>a&nbsp;\xc2\xa0 b</a>", "a /d/x 'a b'" },
        { "<a href=x>a\xff\xc3z\xe2\x82</a>",
          "a /d/x 'a\xc3\xbf\xc3\x83z\xc3\xa2\xe2\x80\x9a'" },
        { "<meta charset=utf-8><a href=x>a\xff\xc3z\xe2\x82</a>",
          "a /d/x 'a\xef\xbf\xbd\xef\xbf\xbdz\xef\xbf\xbd'" },
        { "<a href=x>a", "a /d/x 'a'" },
        { "<map><area href=x alt=' the  area '>", "area /d/x 'the area'" },
        { "<svg><a href=x><text>a</text></a>b</svg>", "a /d/x 'a'" },
    };

    CHECK(cases);
}

TEST(the_text_of_an_anchor_ends_with_a_character)
{
    char html[4096] = "<meta charset=utf-8><a href=x>";
    const char *text;

    for (int i = 0; i < 600; i++)
        strcat(html, i % 2 ? "\xe2\x82\xac" : "x");
    text = strchr(linked(html), '\'') + 1;
    assert_int_equal(strlen(text) - 1, 512 - 512 % 4);
    strcpy(html, "<meta charset=utf-8><a href=x>xx");
    for (int i = 0; i < 600; i++)
        strcat(html, "\xe2\x82\xac");
    text = strchr(linked(html), '\'') + 1;
    assert_int_equal(strlen(text) - 1, 512);
    strcpy(html, "<meta charset=utf-8><a href=x>");
    for (int i = 0; i < 600; i++)
        strcat(html, "\xe2\x82\xac");
    text = strchr(linked(html), '\'') + 1;
    assert_int_equal(strlen(text) - 1, 510);
}

/* --- hostile pages --- */

static void count(void *owner, const struct web_link *link)
{
    size_t *n = owner;

    (void)link;
    ++*n;
}

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Read a page of `before`, n times `part`, and `after`. */
static size_t read_many(const char *before, size_t n, const char *part,
                        const char *after)
{
    size_t len = strlen(part), at = strlen(before);
    char *page = malloc(at + n * len + strlen(after) + 1);
    struct web_document doc = {
        .bytes = page, .url = "http://h/", .url_len = 9, .requisites = true
    };
    size_t links = 0;

    assert_non_null(page);
    strcpy(page, before);
    for (size_t i = 0; i < n; i++, at += len)
        memcpy(page + at, part, len);
    strcpy(page + at, after);
    doc.len = at + strlen(after);
    assert_int_equal(web_links_read(&doc, NULL, count, &links, NULL), SEEN_OK);
    free(page);
    return links;
}

/*
 * Each takes some 20 ms. What is quadratic would take minutes; 5 s of CPU time
 * for each is far from both, also with sanitizers.
 */
TEST(hostile_pages_take_linear_time)
{
    static const struct {
        const char *before;
        size_t n;
        const char *part, *after;
        size_t links;
    } cases[] = {
        { "", 100000, "<a href=x>y", "", 100000 },
        { "", 1000000, "<b>", "<a href=x>", 1 },
        { "", 300000, "<div>", "<a href=x>", 1 },
        { "<p><button>", 200000, "<span></p>", "<a href=x>", 1 },
        { "<svg>", 300000, "<g>", "</svg><a href=x>", 1 },
        { "<svg>", 200000, "<g></x>", "<a href=x>", 1 },
        { "", 200000, "<table><td>", "<a href=x>", 1 },
        { "", 300000, "<template>", "<a href=x>", 0 },
        { "<a", 1000000, " x=1", " href=x>", 1 },
        { "<a", 1000000, " href=x", ">", 1 },
        { "<a href=", 1000000, "x", ">", 0 },
        { "<a href='", 300000, "&amp;", "'>", 0 },
        { "<a href=x>", 1000000, "&", "</a>", 1 },
        { "<a href=x>", 300000, "&CounterClockwiseContourIntegra ", "", 1 },
        { "", 300000, "<!", "<a href=x>", 0 },
        { "", 300000, "<!--", "<a href=x>", 0 },
        { "", 300000, "<a ", "href=x>", 1 },
        { "<script>", 300000, "<!--<script>", "</script>", 0 },
        { "<title>", 300000, "</title", "", 0 },
        { "<svg>", 300000, "<![CDATA[", "", 0 },
        { "<svg>", 1000000, "]]>", "<a href=x>", 1 },
        { "<img srcset='", 100000, "x 1x,", "'>", 100000 },
        { "<img srcset='", 1000000, "(", "'>", 0 },
        { "<style>", 1000000, "url(", "</style>", 0 },
        { "<style>", 1000000, "/*", "</style>", 0 },
        { "<style>", 200000, "@import '", "</style>", 100000 },
        { "", 100000, "<p style='a:url(x)'>", "", 100000 },
        { "<meta http-equiv=refresh content='0;url=", 1000000, "'", "'>", 1 },
    };

    for (size_t i = 0; i < LENGTH(cases); i++) {
        double begin = seconds();
        size_t links = read_many(cases[i].before, cases[i].n, cases[i].part,
                                 cases[i].after);

        if (links != cases[i].links || seconds() - begin > 5)
            print_error("case %zu: %zu links, %.2f s\n", i, links,
                        seconds() - begin);
        assert_int_equal(links, cases[i].links);
        assert_true(seconds() - begin < 5);
    }
}

/* A search that goes through half of the names for each of them took 150 s
   for 16 MB of "&zzzzzz". */
TEST(a_character_reference_costs_some_hundred_steps)
{
    static const char *const parts[] = {
        "&zzzzzz",
        "&lt;",
        "&Aacut",
        "&",
        "&notin",
        "&zwnj;",
        "&CounterClockwiseContourIntegra;",
        "&#x;",
        "&zzzzzzzzzzzzzz;",
    };
    enum { TIMES = 1000, MOST = 1000 };

    for (size_t i = 0; i < LENGTH(parts); i++) {
        struct buffer text = { .bytes = NULL }, to = { .bytes = NULL };
        struct budget budget = { .left = UINT64_MAX };

        for (int k = 0; k < TIMES; k++)
            buffer_text(&text, parts[i]);
        web_reference_decode(&to, text.bytes, text.len, false, &budget);
        if (UINT64_MAX - budget.left > TIMES * (uint64_t)MOST)
            print_error("%s: %llu steps\n", parts[i],
                        (unsigned long long)(UINT64_MAX - budget.left));
        assert_true(UINT64_MAX - budget.left <= TIMES * (uint64_t)MOST);
        buffer_clear(&text);
        buffer_clear(&to);
    }
}

/* The longest of the names that a text begins with, by the table itself. */
TEST(every_name_of_a_reference_is_found)
{
    char line[128], path[512];
    FILE *f;
    size_t n = 0;

    snprintf(path, sizeof path, "%s/web/data/references.tsv",
             getenv("SEEN_SOURCE") ? getenv("SEEN_SOURCE") : ".");
    f = fopen(path, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        struct buffer one = { .bytes = NULL }, two = { .bytes = NULL };
        struct budget budget = { .left = UINT64_MAX };
        char text[64];
        size_t len = strcspn(line, "\t");

        snprintf(text, sizeof text, "&%.*s", (int)len, line);
        web_reference_decode(&one, text, len + 1, false, &budget);
        assert_true(one.len && (one.bytes[0] != '&' || one.len == 1));
        strcat(text, "~");
        web_reference_decode(&two, text, len + 2, false, &budget);
        assert_true(two.len == one.len + 1 &&
                    !memcmp(one.bytes, two.bytes, one.len));
        buffer_clear(&one);
        buffer_clear(&two);
        n++;
    }
    fclose(f);
    assert_int_equal(n, 2231);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attributes_are_read_as_the_standard_says),
        cmocka_unit_test(
            space_around_and_line_ends_inside_are_not_part_of_a_url),
        cmocka_unit_test(character_references_are_those_of_html_5),
        cmocka_unit_test(comments_end_where_browsers_end_them),
        cmocka_unit_test(text_that_is_not_markup_hides_tags),
        cmocka_unit_test(svg_and_mathml_have_their_own_rules),
        cmocka_unit_test(tags_that_a_parser_ignores_are_no_links),
        cmocka_unit_test(anchors_have_their_text_also_if_badly_nested),
        cmocka_unit_test(the_text_of_an_anchor_ends_with_a_character),
        cmocka_unit_test(hostile_pages_take_linear_time),
        cmocka_unit_test(a_character_reference_costs_some_hundred_steps),
        cmocka_unit_test(every_name_of_a_reference_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
