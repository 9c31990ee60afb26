/* select_test.c - what selectors find, and which ones are refused. */
#include "test/test.h"
#include "test/wall.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/text/buffer.h"
#include "web/select.h"

static const char page[] =
    "<!DOCTYPE html><html lang=en><head><title>T &amp; x</title></head>"
    "<body class='a  b'>"
    "<h1 id=top>Hello <b>big</b> world</h1>"
    "<ul id=l><li>1<li class=x>2<li>3<li lang=fr-CA data-k='foo bar'>4<p>q</p>"
    "<li data-k=en-US>5</ul>"
    "<table id=t><caption>c</caption><tr><td>a<td>b<tr><td>c<td>d</table>"
    "<table id=u><tbody><tr><td>e</table>"
    "<p></p><p><!-- c --></p><p> </p>"
    "<A HREF=x>L</A><a href=y REL='next foo'>M</a>"
    "<input type=checkbox checked disabled><input type=text>"
    "<div><div class=z><div><span>deep</span></div></div></div>"
    "<i id='1st'>w</i><i id='a.b:c'>v</i><i class='\xc3\xa9t\xc3\xa9'>u</i>"
    "<s title='a\"b'>t</s></body></html>";

struct found {
    struct buffer text;
    size_t n;
};

/* Elements by their names, and their id; all else by its value. */
static bool note(void *owner, const struct web_match *m)
{
    struct found *f = owner;
    const char *id = web_match_attribute(m, "id");

    buffer_text(&f->text, f->n++ ? " " : "");
    if (m->kind == WEB_MATCH_ELEMENT) {
        buffer_text(&f->text, m->name);
        if (id)
            buffer_format(&f->text, "#%s", id);
    } else {
        buffer_byte(&f->text, '\'');
        buffer_span(&f->text, m->value);
        buffer_byte(&f->text, '\'');
    }
    return true;
}

static struct web_tree *parse(const char *text, size_t len)
{
    struct web_tree *tree = NULL;
    struct seen_error why;

    if (web_tree_new(&tree, text, len, NULL, &why) != SEEN_OK)
        fail_msg("%s", why.text);
    return tree;
}

/* What a selector finds, or "! " and why it is refused; for free(). */
static char *find(struct web_tree *tree, const char *selector, bool xpath)
{
    size_t len = strlen(selector);
    struct web_selector *s = NULL;
    struct found f = { .n = 0 };
    struct seen_error why;
    char *text;

    if (web_selector_new(&s, walled(selector, len), len, xpath, &why) !=
            SEEN_OK ||
        web_select(s, tree, note, &f, &why) != SEEN_OK) {
        buffer_format(&f.text, "! %s", why.text);
    }
    web_selector_free(s);
    text = buffer_take(&f.text);
    assert_non_null(text);
    return text;
}

struct example {
    const char *selector, *finds;
};

static void check(const struct example *e, size_t n, bool xpath)
{
    struct web_tree *tree = parse(page, sizeof page - 1);
    unsigned wrong = 0;

    for (size_t i = 0; i < n; i++) {
        char *text = find(tree, e[i].selector, xpath);

        if (strcmp(text, e[i].finds) != 0) {
            wrong++;
            print_error("%s\n    expected %s\n    found    %s\n",
                        e[i].selector, e[i].finds, text);
        }
        free(text);
    }
    web_tree_free(tree);
    assert_int_equal(wrong, 0);
}

TEST(css_level_3_selects_what_the_standard_says)
{
    static const struct example list[] = {
        { "h1", "h1#top" },
        { "H1", "h1#top" },
        { "*|h1", "h1#top" },
        { "|h1", "" },
        { ":not(|h1)#top", "h1#top" },
        { "h1, title", "title h1#top" },
        { "title,title , title", "title" },
        { "#top", "h1#top" },
        { "li.x::text", "'2'" },
        { ".a.b > h1", "h1#top" },
        { "[REL]::attr(HREF)", "'y'" },
        { "a[rel~=foo]::text", "'M'" },
        { "a[rel~='next foo']::text", "" },
        { "[data-k|=en]::text", "'5'" },
        { "[data-k|=foo]::text", "" },
        { "[data-k^=foo]::text", "'4'" },
        { "[data-k^='']::text", "" },
        { "[data-k$=bar]::text", "'4'" },
        { "[data-k*='o b']::text", "'4'" },
        { "[data-k*='']::text", "" },
        { "a[href!=x]::text", "'M'" },
        { "li[data-k!=en-US]::text", "'1' '2' '3' '4'" },
        { "[ data-k = \"en-US\" ]::text", "'5'" },
        { "ul li", "li li li li li" },
        { "ul>li>p", "p" },
        { "li.x + li::text", "'3'" },
        { "li.x ~ li::text", "'3' '4' '5'" },
        { "li:first-child::text", "'1'" },
        { "li:last-child::text", "'5'" },
        { "span:only-child::text", "'deep'" },
        { "li:nth-child(2)::text", "'2'" },
        { "li:nth-child(2n)::text", "'2' '4'" },
        { "li:nth-child( 2N + 1 )::text", "'1' '3' '5'" },
        { "li:nth-child(odd)::text", "'1' '3' '5'" },
        { "li:nth-child(EVEN)::text", "'2' '4'" },
        { "li:nth-child(-n+2)::text", "'1' '2'" },
        { "li:nth-child(n+4)::text", "'4' '5'" },
        { "li:nth-child(+3n - 2)::text", "'1' '4'" },
        { "li:nth-child(0n+3)::text", "'3'" },
        { "li:nth-child(-3)::text", "" },
        { "li:nth-last-child(-n+2)::text", "'4' '5'" },
        { "table:nth-of-type(2)", "table#u" },
        { "table:nth-last-of-type(2)", "table#t" },
        { "table:first-of-type", "table#t" },
        { "table:last-of-type", "table#u" },
        { "h1:only-of-type", "h1#top" },
        { "body > :only-of-type", "h1#top ul#l div s" },
        { "p:empty", "p p" },
        { ":root", "html" },
        { "b:contains('big')", "b" },
        { "b:contains(\"\")", "b" },
        { "h1:contains('Hello big')", "h1#top" },
        { "span:contains('eep'), i:contains(nope)", "span" },
        { "li:lang(fr)::text", "'4'" },
        { "h1:lang(en)", "h1#top" },
        { "a:link::text", "'L' 'M'" },
        { "a:hover", "" },
        { "a:not(:hover)::text", "'L' 'M'" },
        { "input:checked", "input" },
        { "input:disabled", "input" },
        { "input:enabled::attr(type)", "'text'" },
        { "li:not(.x):not(:first-child)::text", "'3' '4' '5'" },
        { "li:not( [data-k] )::text", "'1' '2' '3'" },
        { "ul :not(li)", "p" },
        { "div div div span", "span" },
        { "div > div > div > div span", "" },
        { "div.z span, div > div > div", "div span" },
        { "ul/* b */>/* c */li.x/**/::text", "'2'" },
        { "\t h1 \n", "h1#top" },
    };

    check(list, LENGTH(list), false);
}

TEST(values_have_case_unless_html_or_the_selector_says_otherwise)
{
    static const struct example list[] = {
        { "input[type=CHECKBOX]", "input" },
        { "input[TYPE='CheckBox']", "input" },
        { "input[type='CheckBox' s]", "" },
        { "input[type=checkbox s]", "input" },
        { "a[rel~=FOO]::text", "'M'" },
        { "a[rel^=NEXT]::text", "'M'" },
        { "a[rel$=FOO]::text", "'M'" },
        { "a[rel*='XT F']::text", "'M'" },
        { "a[rel!='Next Foo']::text", "'L'" },
        { "li[lang|=FR]::text", "'4'" },
        { "[lang=FR]", "" },
        { "a[href=X]::text", "" },
        { "a[href=X i]::text", "'L'" },
        { "a[ href = 'X' I ]::text", "'L'" },
        { "a[href='X'i]::text", "'L'" },
        { "[data-k*='O B' i]::text", "'4'" },
        { "[data-k|=EN i]::text", "'5'" },
        { "li:not([data-k='EN-us' i])[data-k]::text", "'4'" },
        { "[id=TOP]", "" },
        { "#TOP", "" },
        { ".X::text", "" },
        { "[href=x j]", "! byte 9: expected ]" },
        { "[href=x ii]", "! byte 9: expected ]" },
        { "[href=x i s]", "! byte 11: expected ]" },
        { "[href i]", "! byte 7: expected ] or one of = ~= |= ^= $= *= !=" },
    };

    check(list, LENGTH(list), false);
}

TEST(names_and_strings_may_be_escaped)
{
    static const struct example list[] = {
        { "#\\31 st", "i#1st" },
        { "#\\000031st", "i#1st" },
        { "#a\\.b\\:c", "i#a.b:c" },
        { "#a\\2e b\\3a c", "i#a.b:c" },
        { ".\xc3\xa9t\xc3\xa9::text", "'u'" },
        { ".\\e9t\\E9::text", "'u'" },
        { "[title='a\"b']::text", "'t'" },
        { "[title=\"a\\\"b\"]::text", "'t'" },
        { "[title='a\\22 b']::text", "'t'" },
        { "[title='a\\\n\\22 b']::text", "'t'" },
        { "\\48 1", "h1#top" },
        { "#-x, #--x, #_x", "" },
        { "#\\0", "" },
    };

    check(list, LENGTH(list), false);
}

TEST(texts_and_attributes_come_in_document_order_and_once)
{
    static const struct example list[] = {
        { "h1::text", "'Hello ' ' world'" },
        { "h1 ::text", "'Hello ' 'big' ' world'" },
        { "h1 *::text", "'Hello ' 'big' ' world'" },
        { "h1 > ::text", "'big'" },
        { "h1::text, b::text", "'Hello ' 'big' ' world'" },
        { "h1 ::text, h1::text", "'Hello ' 'big' ' world'" },
        { "b, h1::text", "'Hello ' b ' world'" },
        { "a::attr(rel), a::attr(href), a::text",
          "'x' 'L' 'y' 'next foo' 'M'" },
        { "ul ::attr(data-k)", "'foo bar' 'en-US'" },
        { "#l::attr(id)", "'l'" },
        { "div ::text", "'deep'" },
    };

    check(list, LENGTH(list), false);
}

TEST(a_tbody_that_only_browsers_have_matches)
{
    static const struct example list[] = {
        { "#t > tbody > tr > td::text", "'a' 'b' 'c' 'd'" },
        { "#t > tr > td::text", "'a' 'b' 'c' 'd'" },
        { "#t > tbody > tr:nth-child(2) > td:nth-child(1)::text", "'c'" },
        { "#t > tr:nth-child(2) > td::text", "'a' 'b'" },
        { "table > tbody > tr > td::text", "'a' 'b' 'c' 'd' 'e'" },
        { "table > tr td::text, table > tbody > tr td::text",
          "'a' 'b' 'c' 'd' 'e'" },
        { "caption + tbody", "tbody" },
        { "tbody:only-child td::text", "'e'" },
        { "tbody:contains('bc') td:first-child::text", "'a' 'c'" },
        { "#u > tr", "" },
        { "#t *:not(tbody) > td::text", "'a' 'b' 'c' 'd'" },
    };
    static const struct example paths[] = {
        { "//*[@id='t']/tbody/tr[2]/td[1]/text()", "'c'" },
        { "//*[@id='t']/tr[2]/td[1]/text()", "'c'" },
        { "/html/body/table/tbody/tr/td[1]/text()", "'a' 'c' 'e'" },
        { "//tbody", "tbody tbody" },
        { "//table/tr/td[1]/text()", "'a' 'c'" },
    };

    check(list, LENGTH(list), false);
    check(paths, LENGTH(paths), false);
}

TEST(a_tbody_of_a_browser_has_text_html_and_links)
{
    static const char text[] =
        "<table><thead><tr><td>h</thead>\n<tr><td><a href=1>a</a>\n<tr><td>b"
        "<tfoot><tr><td><a href=2>f</a></table>";
    struct web_tree *tree = parse(text, sizeof text - 1);
    char *found = find(tree, "table > tbody > tr:nth-child(2) > td::text",
                       false);

    assert_string_equal(found, "'b'");
    free(found);
    web_tree_free(tree);
}

TEST(xpath_is_evaluated_as_it_is)
{
    static const struct example list[] = {
        { "//li[2]/text()", "'2'" },
        { "(//li)[last()]/text()", "'5'" },
        { "/html/body/h1/@id", "'top'" },
        { "./body/h1", "h1#top" },
        { "//li[@data-k and not(@lang)]/text()", "'5'" },
        { "//a | //h1", "h1#top a a" },
        { "//comment()", "' c '" },
        { "//li[contains(., 'q')]/@lang", "'fr-CA'" },
        { "//nothing", "" },
    };
    static const struct example forced[] = {
        { "count(//li)", "'5'" },
        { "string(//title)", "'T & x'" },
        { "concat('a:b', \"$c\")", "'a:b$c'" },
        { "1 = 1", "'true'" },
        { "html/body", "" },
        { "body/h1", "h1#top" },
    };

    check(list, LENGTH(list), false);
    check(forced, LENGTH(forced), true);
}

TEST(invalid_selectors_are_refused_with_the_byte)
{
    static const struct example list[] = {
        { "", "! byte 1: expected a selector" },
        { "  ", "! byte 3: expected a selector" },
        { "div >", "! byte 6: expected a selector" },
        { "> div", "! byte 1: a selector cannot begin so" },
        { "div,", "! byte 5: expected a selector" },
        { "p, , q", "! byte 4: a selector cannot begin so" },
        { "a >> b", "! byte 4: a selector cannot begin so" },
        { "html/body", "! byte 5: expected a combinator, a comma or the end" },
        { "#", "! byte 2: expected an id" },
        { "#1", "! byte 2: expected an id" },
        { "# a", "! byte 2: expected an id" },
        { ".", "! byte 2: expected a class" },
        { "..a", "! byte 2: expected a class" },
        { ".5", "! byte 2: expected a class" },
        { "-", "! byte 1: a selector cannot begin so" },
        { "a|b", "! byte 2: name spaces cannot be declared here" },
        { "[a|b=c]", "! byte 3: name spaces cannot be declared here" },
        { "[]", "! byte 2: expected the name of an attribute" },
        { "[*]", "! byte 2: expected the name of an attribute" },
        { "[a", "! byte 3: expected ] or one of = ~= |= ^= $= *= !=" },
        { "[a b]", "! byte 4: expected ] or one of = ~= |= ^= $= *= !=" },
        { "[a==b]", "! byte 4: expected a value; if it is not a name, quote "
                    "it" },
        { "[a=1]", "! byte 4: expected a value; if it is not a name, quote "
                   "it" },
        { "[a='b]", "! byte 4: the string has no end" },
        { "[a=b", "! byte 5: expected ]" },
        { "[a]b", "! byte 4: expected a combinator, a comma or the end" },
        { ":nope", "! byte 2: no such pseudo-class" },
        { ":", "! byte 2: expected the name of a pseudo-class" },
        { "a:first-line", "! byte 3: no such pseudo-class" },
        { "a::before", "! byte 2: expected ::text or ::attr(name)" },
        { "a::attr", "! byte 2: expected ::text or ::attr(name)" },
        { "a::attr()", "! byte 9: expected the name of an attribute" },
        { "a::text b", "! byte 9: nothing may follow a pseudo-element" },
        { "a::text::text", "! byte 8: nothing may follow a pseudo-element" },
        { ":nth-child", "! byte 11: expected ( and an argument" },
        { ":nth-child()",
          "! byte 12: expected odd, even, or a formula as 2n+1" },
        { ":nth-child(2n+)",
          "! byte 15: expected odd, even, or a formula as 2n+1" },
        { ":nth-child(+ 2n)",
          "! byte 13: expected odd, even, or a formula as 2n+1" },
        { ":nth-child(2 n)",
          "! byte 14: expected odd, even, or a formula as 2n+1" },
        { ":nth-child(2n1)",
          "! byte 14: expected odd, even, or a formula as 2n+1" },
        { ":nth-child(oddly)",
          "! byte 12: expected odd, even, or a formula as 2n+1" },
        { ":first-child()", "! byte 13: this pseudo-class takes no argument" },
        { ":not()", "! byte 6: expected a simple selector" },
        { ":not(a b)",
          "! byte 8: :not() takes one simple selector; expected )" },
        { ":not(a, b)",
          "! byte 7: :not() takes one simple selector; expected )" },
        { ":not(:not(a))", "! byte 6: :not() cannot be negated" },
        { ":not(a::text)",
          "! byte 7: :not() takes one simple selector; expected )" },
        { ":not(::text)", "! byte 6: a pseudo-element cannot be negated" },
        { ":contains(a b)", "! byte 13: expected )" },
        { ":contains('a'", "! byte 14: expected )" },
        { "a /* b", "! byte 3: a selector cannot begin so" },
        { "a\\", "! byte 2: expected a combinator, a comma or the end" },
        { "foo!", "! byte 4: expected a combinator, a comma or the end" },
        { "\xff", "! byte 1: not UTF-8" },
        { "//a[", "! byte 5: not an expression of XPath 1.0" },
        { "//a[foo()]", "! byte 5: no such function" },
        { "//svg:a", "! byte 3: name spaces cannot be declared here" },
        { "//a[$x]", "! byte 5: there are no variables here" },
        { "//a[@x='", "! byte 9: the string has no end" },
        { "(//a", "! byte 5: not an expression of XPath 1.0" },
    };

    check(list, LENGTH(list), false);
}

TEST(long_selectors_are_refused)
{
    struct web_tree *tree = parse("x", 1);
    struct web_selector *s;
    char text[WEB_SELECTOR + 1];
    struct seen_error why;
    char *found;

    for (size_t i = 0; i < 256; i++)
        memcpy(text + 2 * i, i % 2 ? "a " : "b ", 2);
    text[2 * 65] = 0;
    found = find(tree, text, false);
    assert_string_equal(found, "! byte 129: more than 64 steps");
    free(found);
    memset(text, 'a', sizeof text);
    assert_int_equal(web_selector_new(&s, text, sizeof text, false, &why),
                     SEEN_RANGE);
    web_tree_free(tree);
}

/* --- hostile pages --- */

static char *repeat(const char *text, size_t n, size_t *len)
{
    struct buffer b = { .bytes = NULL };

    for (size_t i = 0; i < n; i++)
        buffer_text(&b, text);
    *len = b.len;
    return buffer_take(&b);
}

static size_t count_matches(struct web_tree *tree, const char *selector)
{
    char *text = find(tree, selector, false);
    size_t n = *text != 0;

    if (*text == '!')
        fail_msg("%s: %s", selector, text);
    for (const char *at = text; *at; at++)
        n += *at == ' ';
    free(text);
    return n;
}

/* Time of the CPU, which other tests do not take. */
static double seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

TEST(deep_pages_are_searched_within_seconds)
{
    double begun = seconds();
    size_t len;
    char *text = repeat("<div class=a>", 5000, &len);
    struct web_tree *tree = parse(text, len);

    assert_false(web_tree_cut(tree));
    assert_int_equal(web_tree_elements(tree), 5002);
    assert_int_equal(count_matches(tree, "div"), 5000);
    assert_int_equal(count_matches(tree, "div div div div div"), 4996);
    assert_int_equal(
        count_matches(tree, "div > div div > div div > div div ~ div"), 0);
    assert_int_equal(count_matches(tree, "div:only-of-type .a"), 4999);
    assert_int_equal(count_matches(tree, "//div"), 5000);
    assert_int_equal(count_matches(tree, "//div[@class]/@class"), 5000);
    assert_true(seconds() - begun < 20);
    web_tree_free(tree);
    free(text);
}

TEST(wide_pages_are_searched_within_seconds)
{
    double begun = seconds();
    size_t len;
    char *text = repeat("<p>x</p>", 20000, &len);
    struct web_tree *tree = parse(text, len);

    assert_int_equal(count_matches(tree, "p:nth-child(2n)"), 10000);
    assert_int_equal(count_matches(tree, "p:nth-last-of-type(4n)"), 5000);
    assert_int_equal(count_matches(tree, "p ~ p ~ p + p"), 19997);
    assert_int_equal(count_matches(tree, "p:contains(x)::text"), 20000);
    assert_int_equal(count_matches(tree, "//p/text()"), 20000);
    assert_int_equal(count_matches(tree, "//p[position() mod 2 = 0]"), 10000);
    assert_true(seconds() - begun < 20);
    web_tree_free(tree);
    free(text);
}

/* Text that is read once per level, and attributes that are looked through once
   per element and selector. */
TEST(a_selector_that_takes_too_long_is_stopped)
{
    static const struct {
        const char *part;
        size_t n;
        const char *more;
        size_t times;
        const char *selector;
    } list[] = {
        { "<div>", 5000, "some text ", 900000, "//div[contains(., 'q')]" },
        { "<b>", 500, "<i>x</i>", 300000, ":not(:lang(en)):not(:lang(fr))" },
    };

    for (size_t i = 0; i < LENGTH(list); i++) {
        struct budget steps = { .left = 100000000 };
        size_t len, more;
        char *text = repeat(list[i].part, list[i].n, &len), *found;
        char *rest = repeat(list[i].more, list[i].times, &more);
        struct web_tree *tree;

        text = realloc(text, len + more + 1);
        assert_non_null(text);
        memcpy(text + len, rest, more + 1);
        tree = parse(text, len + more);
        web_tree_limit(tree, &steps);
        found = find(tree, list[i].selector, false);
        assert_string_equal(found, "! takes too long on this page");
        assert_int_equal(steps.left, 0);
        free(found);
        web_tree_free(tree);
        free(rest);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(css_level_3_selects_what_the_standard_says),
        cmocka_unit_test(
            values_have_case_unless_html_or_the_selector_says_otherwise),
        cmocka_unit_test(names_and_strings_may_be_escaped),
        cmocka_unit_test(texts_and_attributes_come_in_document_order_and_once),
        cmocka_unit_test(a_tbody_that_only_browsers_have_matches),
        cmocka_unit_test(a_tbody_of_a_browser_has_text_html_and_links),
        cmocka_unit_test(xpath_is_evaluated_as_it_is),
        cmocka_unit_test(invalid_selectors_are_refused_with_the_byte),
        cmocka_unit_test(long_selectors_are_refused),
        cmocka_unit_test(deep_pages_are_searched_within_seconds),
        cmocka_unit_test(wide_pages_are_searched_within_seconds),
        cmocka_unit_test(a_selector_that_takes_too_long_is_stopped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
