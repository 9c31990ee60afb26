/* links_test.c - which references are links, and how they are resolved. */
#include "test/web/linked.h"

#include <stdlib.h>

#define CHECK(cases) linked_check(cases, LENGTH(cases), linked)
#define CHECK_ALL(cases) linked_check(cases, LENGTH(cases), linked_all)

TEST(the_first_base_with_an_href_is_the_base)
{
    static const struct linked_case cases[] = {
        { "<a href=x>", "a /d/x" },
        { "<base href=/e/><a href=x>", "a /e/x" },
        { "<base href=e/><base href=/f/><a href=x>", "a /d/e/x" },
        { "<base target=x><base href=/e/><a href=x>", "a /e/x" },
        { "<a href=x></a><base href=/e/>", "a /e/x" },
        { "<body><p><base href=/e/><a href=x>", "a /e/x" },
        { "<base href=''><a href=x>", "a /d/x" },
        { "<base href=//b/c/d><a href=x>", "a http://b/c/x" },
        { "<base href=data:,x><base href=/e/><a href=x>", "a /d/x" },
        { "<base href=javascript:x><a href=x>", "a /d/x" },
        { "<base href='http://['><base href=/e/><a href=x>", "a /d/x" },
        { "<base href=ftp://b/><a href=x><a href=//c/>", "" },
        { "<base href=mailto:x><a href=x><a href=http://c/>", "a http://c/" },
        { "<base href='http://b/?x'><a href='#y'><a href='?z'>",
          "a http://b/?x; a http://b/?z" },
    };

    CHECK(cases);
}

TEST(links_are_followed_and_requisites_are_not)
{
    static const struct linked_case cases[] = {
        { "<a href=1></a><area href=2><iframe src=3></iframe><form action=4>",
          "a /d/1; area /d/2; frame /d/3; form /d/4" },
        { "<form method=GET action=1></form><form method=post action=2></form>"
          "<form></form><form method=x action=3></form>"
          "<form method=dialog action=4></form><form action=''></form>",
          "form /d/1; form /d/3" },
        { "<form><button formaction=1></button><input type=submit formaction=2>"
          "<input type=image formaction=3><button type=x formaction=4></button>"
          "<button type=reset formaction=n></button><input formaction=n>"
          "<button type=button formaction=n></button><button formaction=''>"
          "</button><button formmethod=post formaction=n></button>"
          "<button form=other formaction=n></button></form>"
          "<button formaction=n></button>",
          "form /d/1; form /d/2; form /d/3; form /d/4" },
        { "<form method=post><button formaction=n></button>"
          "<button formmethod=get formaction=1></button>"
          "<button formmethod=dialog formaction=n></button>"
          "<button formmethod='' formaction=2></button></form>"
          "<form><button formaction=3>",
          "form /d/1; form /d/2; form /d/3" },
        { "<link rel=canonical href=1><link rel='next x' href=2>"
          "<link href=3><link rel=alternate href=4><link rel=amphtml href=5>",
          "link /d/1; link /d/2; link /d/4; link /d/5" },
        { "<link rel=stylesheet href=1><link rel='shortcut icon' href=2>"
          "<link rel=preload href=3><link rel='alternate stylesheet' href=4>"
          "<link rel=dns-prefetch href=//5><link rel=preconnect href=//6>",
          "" },
        { "<img src=1><script src=2></script><video src=3 poster=4>"
          "<object data=5><embed src=6><body background=7 style='a:url(8)'>"
          "<style>@import '9'</style><input type=image src=10>",
          "" },
        { "<iframe src=''></iframe><frame>", "" },
    };

    CHECK(cases);
}

TEST(requisites_are_what_a_page_needs)
{
    static const struct linked_case cases[] = {
        { "<img src=1 srcset='2 1x, 3 2x'><input type=Image src=4>"
          "<input src=5><img src=''>",
          "image /d/1; image /d/2; image /d/3; image /d/4" },
        { "<script src=1></script><script>2</script>", "script /d/1" },
        { "<link rel=stylesheet href=1><link rel='Shortcut ICON' href=2>"
          "<link rel=preload as=image href=3 imagesrcset='4 1x'>"
          "<link rel=manifest href=5><link rel=apple-touch-icon href=6>",
          "style /d/1; icon /d/2; preload /d/4; preload /d/3; preload /d/5; "
          "icon /d/6" },
        { "<video src=1 poster=2><source src=3><track src=4></video>"
          "<audio src=5></audio><picture><source srcset='6, 7 2x'></picture>",
          "image /d/2; media /d/1; media /d/3; media /d/4; media /d/5; "
          "image /d/6; image /d/7" },
        { "<object data=1></object><embed src=2>",
          "object /d/1; object /d/2" },
        { "<body background=1><table background=2><td background=3>",
          "image /d/1; image /d/2; image /d/3" },
        { "<style>a{b:url(1)}</style><p style='c:url(&quot;2&quot;)'>",
          "css /d/1; css /d/2" },
        { "<svg><image href=1 /><image xlink:href=2></image><use href='#a'/>"
          "<use href='3#a'/><script href=4 /><style>a{b:url(5)}</style></svg>",
          "image /d/1; image /d/2; image /d/3; script /d/4; css /d/5" },
        { "<a href=1><img src=2 alt=x></a>", "a /d/1 'x'; image /d/2" },
    };

    CHECK_ALL(cases);
}

TEST(a_refresh_is_read_as_the_standard_says)
{
#define REFRESH(content) "<meta http-equiv=Refresh content=\"" content "\">"
    static const struct linked_case cases[] = {
        { REFRESH("0; url=x"), "refresh /d/x" },
        { REFRESH("0;URL='x y'z"), "refresh /d/x%20y" },
        { REFRESH("5 , x"), "refresh /d/x" },
        { REFRESH("5 x"), "refresh /d/x" },
        { REFRESH(".5;x"), "refresh /d/x" },
        { REFRESH("1.5; url = x "), "refresh /d/x" },
        { REFRESH("0; urlx"), "refresh /d/urlx" },
        { REFRESH("0; url='x"), "refresh /d/x" },
        { REFRESH("0; 'x'"), "refresh /d/x" },
        { REFRESH("0; ux"), "refresh /d/ux" },
        { REFRESH("0"), "" },
        { REFRESH("0;"), "" },
        { REFRESH("x; url=x"), "" },
        { REFRESH("; url=x"), "" },
        { REFRESH("0x; url=x"), "" },
        { "<meta http-equiv=refreshed content='0;x'>", "" },
    };

    CHECK(cases);
}

static const char *with_headers(const char *headers, const char *html)
{
    struct web_page page = { .noindex = false };

    return linked_read((struct web_document){ .bytes = html,
                                              .len = strlen(html),
                                              .headers = span_of(headers) },
                       &page);
}

TEST(headers_have_links)
{
    static const struct {
        const char *headers, *links;
    } cases[] = {
        { "Link: <x>; rel=next", "header /d/x" },
        { "HTTP/1.1 200 OK\r\nlink: <x>;rel=\"next\" , </y>; rel='a'\r\n\r\n"
          "Link: <z>; rel=no",
          "header /d/x; header /y" },
        { "Link: <x>; title=\"a, <b>; c\\\"\"; rel=next, <y>;rel=prev",
          "header /d/x; header /d/y" },
        { "Link: <x>; rel=next; rel=stylesheet", "header /d/x" },
        { "Link: <x>; rel=stylesheet, <y>;rel=preload", "" },
        { "Link: <x>", "" },
        { "Link: x; rel=next, <y>;rel=next", "header /d/y" },
        { "Link: <x; rel=next", "" },
        { "Link: <x>; rel=\"next", "header /d/x" },
        { "Link: <x>; rel=canonical; anchor=\"#a\", <y>;rel=up;anchor=/z",
          "header /d/x" },
        { "Link: <x>\n ; rel=next,\r\n\t<y>;rel=next",
          "header /d/x; header /d/y" },
        { "Link: ,,<x>;;rel=next,", "header /d/x" },
        { "Link: <x>; rel=\"next nofollow\"", "header /d/x nofollow" },
        { "Refresh: 3; url=x", "refresh /d/x" },
        { "Refresh: 3", "" },
        { "Links: <x>; rel=next\nnonsense\n: x\n", "" },
    };

    for (size_t i = 0; i < LENGTH(cases); i++)
        assert_string_equal(with_headers(cases[i].headers, "<base href=/no/>"),
                            cases[i].links);
}

TEST(nofollow_is_the_wish_of_a_link_or_of_a_page)
{
    static const struct {
        const char *headers, *html, *links;
        bool noindex;
    } cases[] = {
        { "",
          "<a rel=NoFollow href=1></a><a rel='x ugc' href=2></a>"
          "<a rel=sponsored href=3></a><a rel=follow href=4>",
          "a /d/1 nofollow; a /d/2 nofollow; a /d/3 nofollow; a /d/4", false },
        { "", "<a href=1></a><meta name=ROBOTS content='noindex, NOFOLLOW'>",
          "a /d/1 nofollow", true },
        { "", "<meta name=seen content=none><a href=1>", "a /d/1 nofollow",
          true },
        { "", "<meta name=googlebot content=none><a href=1>", "a /d/1",
          false },
        { "X-Robots-Tag: nofollow", "<a href=1>", "a /d/1 nofollow", false },
        { "X-Robots-Tag: otherbot: nofollow, noindex", "<a href=1>", "a /d/1",
          false },
        { "X-Robots-Tag: otherbot: noindex, Seen: nofollow", "<a href=1>",
          "a /d/1 nofollow", false },
        { "X-Robots-Tag: unavailable_after: 25 Jun 2010 15:00:00 PST, noindex",
          "<a href=1>", "a /d/1", true },
        { "X-Robots-Tag: all\nX-Robots-Tag: none", "<a href=1>",
          "a /d/1 nofollow", true },
        { "", "<template><meta name=robots content=none></template><a href=1>",
          "a /d/1", false },
    };

    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct web_page page = { .noindex = false };

        linked_read(
            (struct web_document){ .bytes = cases[i].html,
                                   .len = strlen(cases[i].html),
                                   .headers = span_of(cases[i].headers) },
            &page);
        assert_string_equal(linked_text, cases[i].links);
        assert_int_equal(page.noindex, cases[i].noindex);
        assert_int_equal(page.nofollow,
                         strstr(cases[i].links, "nofollow") && i);
    }
}

TEST(types_are_read_by_their_own_rules)
{
    static const struct {
        const char *type, *headers, *text, *links;
    } cases[] = {
        { "text/css", "", "@import 'x'; a{b:url(y)}", "css /d/x; css /d/y" },
        { NULL, "Content-Type: text/css; charset=x", "a{b:url(y)}",
          "css /d/y" },
        { "application/xhtml+xml", "",
          "<?xml-stylesheet href='s.css'?><html><title/><script src='1'/>"
          "<a href='2'/><A href='no'/><h:a href='3&amp;4'>t</h:a>"
          "<![CDATA[<a href='no'>]]></html>",
          "style /d/s.css; script /d/1; a /d/2; a /d/3&4 't'" },
        { "application/xhtml+xml", "",
          "<textarea><a href='1'/></textarea>"
          "<template><a href='n'/></template>"
          "<a href='2'>",
          "a /d/1; a /d/2" },
        { "image/svg+xml", "",
          "<svg xmlns='x'><a xlink:href='1'>"
          "<text>t</text></a><image href='2'/></svg>",
          "a /d/1 't'; image /d/2" },
        { "text/plain", "Link: <x>; rel=next", "<a href=1>", "header /d/x" },
        { "TEXT/HTML; charset=utf-8", "", "<a href=1>", "a /d/1" },
        { "", "", "<a href=1>", "a /d/1" },
        { NULL, "Content-Type: image/png", "<a href=1>", "" },
    };

    for (size_t i = 0; i < LENGTH(cases); i++) {
        linked_read(
            (struct web_document){ .bytes = cases[i].text,
                                   .len = strlen(cases[i].text),
                                   .type = cases[i].type,
                                   .headers = span_of(cases[i].headers),
                                   .requisites = true },
            NULL);
        assert_string_equal(linked_text, cases[i].links);
    }
}

TEST(queries_are_in_the_charset_of_the_page)
{
    static const struct linked_case cases[] = {
        { "<meta charset=latin1><a href='\xe9?\xe9#\xe9'>",
          "a /d/%C3%A9?%E9" },
        { "<meta charset=latin1><a href='?&#8364;&#x3b1;'>",
          "a /d/p?%80%26%23945%3B" },
        { "<meta charset=koi8-r><a href='?\xc1'>", "a /d/p?%C1" },
        { "<meta charset=shift_jis><a href='?\x83\x5c&#x20ac;'>",
          "a /d/p?%83\\%26%238364%3B" },
        { "<meta charset=gbk><a href='?&#x4e2d;&#x20ac;'>",
          "a /d/p?%D6%D0%80" },
        { "<meta charset=iso-2022-jp><a href='?q=\x1b$B$\"-!\x1b(B&a \n'>",
          "a /d/p?q=%1B$B$%22-!%1B(B&a" },
        { "<meta charset=iso-2022-jp><a href='?&yen; '>",
          "a /d/p?%1B(J\\%1B(B" },
        { "<meta charset=utf-8><a href='?\xc3\xa9\xff'>",
          "a /d/p?%C3%A9%EF%BF%BD" },
        { "<meta charset=utf-16><a href='?\xc3\xa9'>", "a /d/p?%C3%A9" },
        { "<meta charset=latin1><base href='/e?\xe9'><a href=''>",
          "a /e?%E9" },
    };

    CHECK(cases);
}

TEST(a_page_has_a_title_and_words)
{
    static const char html[] =
        "<title> A &amp;\n B </title><title>C</title><h1>Head</h1><p>one<b>two"
        "</b><script>no</script><style>no</style> three<br>four<svg><title>no"
        "</title></svg><template>no</template><textarea>five</textarea>";
    struct buffer title = { .bytes = NULL }, text = { .bytes = NULL };
    struct web_page page = { .title = &title,
                             .text = &text,
                             .most_text = 1000 };
    struct web_document doc = { .bytes = html, .len = sizeof html - 1 };

    linked_read(doc, &page);
    assert_int_equal(title.len, 5);
    assert_memory_equal(title.bytes, "A & B", 5);
    buffer_byte(&text, '\0');
    assert_string_equal(text.bytes, "Head onetwo three four five");
    assert_string_equal(page.charset, "utf-8");
    text.len = 0;
    page.most_text = 9;
    linked_read(doc, &page);
    assert_int_equal(text.len, 9);
    buffer_clear(&title);
    buffer_clear(&text);
}

TEST(long_texts_are_read_in_pieces_that_split_nothing)
{
    static char html[20000] = "<meta charset=utf-8>", words[20000];
    struct buffer text = { .bytes = NULL };
    struct web_page page = { .text = &text, .most_text = sizeof words };

    for (size_t shift = 0; shift < 9; shift++) {
        size_t n = 20, m = 0;

        for (size_t i = 0; i < shift; i++)
            html[n++] = words[m++] = 'x';
        while (n < sizeof html - 20) {
            memcpy(html + n, "&eacute;\xe2\x82\xac", 11);
            memcpy(words + m, "\xc3\xa9\xe2\x82\xac", 5);
            n += 11;
            m += 5;
        }
        text.len = 0;
        linked_read((struct web_document){ .bytes = html, .len = n }, &page);
        assert_int_equal(text.len, m);
        assert_memory_equal(text.bytes, words, m);
    }
    buffer_clear(&text);
}

TEST(the_number_of_links_is_bounded)
{
    static const char html[] = "<a href=1></a><a href=2></a><a href=3>";
    struct web_document doc = { .bytes = html,
                                .len = sizeof html - 1,
                                .most = 2 };
    struct web_page page = { .noindex = false };

    assert_string_equal(linked_read(doc, &page), "a /d/1; a /d/2");
    assert_true(page.cut);
    assert_int_equal(page.links, 2);
    doc.most = 3;
    linked_read(doc, &page);
    assert_false(page.cut);
}

TEST(the_url_of_a_document_is_absolute)
{
    struct web_document doc = { .bytes = "", .url = "x", .url_len = 1 };
    struct seen_error why;

    assert_int_equal(web_links_read(&doc, NULL, linked_take, NULL, &why),
                     SEEN_BAD_URL);
    doc.url = "http://h/";
    doc.url_len = 9;
    doc.bytes = NULL;
    assert_int_equal(web_links_read(&doc, NULL, linked_take, NULL, &why),
                     SEEN_OK);
}

/* --- what it may cost --- */

static void count_link(void *owner, const struct web_link *link)
{
    (void)link;
    ++*(size_t *)owner;
}

/* A base of 8 kB and many links that are relative to it: 35 s for 16 MB. */
TEST(links_are_those_that_the_budget_pays_for)
{
    enum { LINKS = 1000 };
    struct buffer page = { .bytes = NULL };
    struct budget budget = { .left = 1000000000 };
    struct web_page facts = { .links = 0 };
    struct web_document doc = { .url = "http://h/",
                                .url_len = 9,
                                .budget = &budget };
    size_t n = 0, before;
    uint64_t took;

    buffer_text(&page, "<base href='/");
    for (int i = 0; i < 4000; i++)
        buffer_text(&page, "b/");
    buffer_text(&page, "'>");
    for (int i = 0; i < LINKS; i++)
        buffer_text(&page, "<a href=../x>x</a>");
    doc.bytes = page.bytes;
    doc.len = page.len;
    assert_int_equal(web_links_read(&doc, &facts, count_link, &n, NULL),
                     SEEN_OK);
    took = 1000000000 - budget.left;
    assert_int_equal(n, LINKS);
    assert_false(facts.costly);
    assert_true(took > (uint64_t)LINKS * 2 * 8000);
    for (int i = 0; i < 2; i++) {
        before = n;
        n = 0;
        budget = (struct budget){ .left = took / 2 };
        assert_int_equal(web_links_read(&doc, &facts, count_link, &n, NULL),
                         SEEN_OK);
        assert_true(facts.costly && budget_empty(&budget));
        assert_in_range(n, LINKS / 3, LINKS / 2);
        assert_true(!i || n == before);
    }
    buffer_clear(&page);
}

/* Steps for a link a thousand times. */
static uint64_t cost_of(const char *link)
{
    const uint64_t all = 1000000000;
    struct buffer page = { .bytes = NULL };
    struct budget budget = { .left = all };
    struct web_page facts = { .links = 0 };
    struct web_document doc = {
        .url = "http://h/", .url_len = 9, .charset = "utf-8", .budget = &budget
    };
    size_t n = 0;

    for (int i = 0; i < 1000; i++)
        buffer_format(&page, "<a href='%s'>x</a>", link);
    doc.bytes = page.bytes;
    doc.len = page.len;
    assert_int_equal(web_links_read(&doc, &facts, count_link, &n, NULL),
                     SEEN_OK);
    assert_int_equal(n, 1000);
    buffer_clear(&page);
    return all - budget.left;
}

/* 20,000 of them took half a second per page, for nobody's account. */
TEST(names_outside_ascii_cost_what_they_take)
{
    static const char *const names[] = {
        "http://\xc3\xbc\xc3\xbc.test/a",
        "//\xc3\xbc\xc3\xbc.test/a",
        "ht\ttp:\\\\%c3%bc\xc3\xbc.test/",
        " https:\xc3\xbc\xc3\xbc.test",
    };
    static const char *const plain[] = {
        "http://abcd.test/\xc3\xbc\xc3",
        "/\xc3\xbc\xc3\xbc%c3%bc.test/",
        "\xc3\xbc\xc3\xbc.test/aaaaaa",
        "?http://\xc3\xbc.test/",
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_true(cost_of(names[i]) > 1000 * 200 * 9);
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        assert_true(cost_of(plain[i]) < 1000 * 1000);
}

/* What was read to the end of its budget has half of it for its links. */
TEST(a_page_that_is_read_for_too_long_has_the_links_before)
{
    struct buffer page = { .bytes = NULL };
    struct budget budget = { .left = 200000 };
    struct web_page facts = { .links = 0 };
    struct web_document doc = { .url = "http://h/",
                                .url_len = 9,
                                .budget = &budget };
    size_t n = 0;

    buffer_text(&page, "<a href=x>x</a>");
    for (int i = 0; i < 512; i++)
        buffer_text(&page, "<span>");
    for (int i = 0; i < 10000; i++)
        buffer_text(&page, "</x>");
    buffer_text(&page, "<a href=y>x</a>");
    doc.bytes = page.bytes;
    doc.len = page.len;
    assert_int_equal(web_links_read(&doc, &facts, count_link, &n, NULL),
                     SEEN_OK);
    assert_int_equal(n, 1);
    assert_true(facts.costly);
    assert_in_range(budget.left, 50000, 100000);
    buffer_clear(&page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_base_with_an_href_is_the_base),
        cmocka_unit_test(links_are_followed_and_requisites_are_not),
        cmocka_unit_test(requisites_are_what_a_page_needs),
        cmocka_unit_test(a_refresh_is_read_as_the_standard_says),
        cmocka_unit_test(headers_have_links),
        cmocka_unit_test(nofollow_is_the_wish_of_a_link_or_of_a_page),
        cmocka_unit_test(types_are_read_by_their_own_rules),
        cmocka_unit_test(queries_are_in_the_charset_of_the_page),
        cmocka_unit_test(a_page_has_a_title_and_words),
        cmocka_unit_test(long_texts_are_read_in_pieces_that_split_nothing),
        cmocka_unit_test(the_number_of_links_is_bounded),
        cmocka_unit_test(the_url_of_a_document_is_absolute),
        cmocka_unit_test(links_are_those_that_the_budget_pays_for),
        cmocka_unit_test(names_outside_ascii_cost_what_they_take),
        cmocka_unit_test(
            a_page_that_is_read_for_too_long_has_the_links_before),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
