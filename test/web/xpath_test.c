/*
 * xpath_test.c - XPath finds what libxml2's own finds, in counted steps.
 *
 * libxml2's evaluator is the model: expressions made from a fixed seed are asked
 * of both. It differs from the standard, and is not followed, where it prints
 * numbers as 1e+10, takes "1e3" for a number, and has a node on the axis
 * namespace:: (expressions without these are compared).
 */
#include "test/test.h"
#include "test/wall.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libxml/xpath.h>
#include <libxml/xpathInternals.h>

#include "lib/text/buffer.h"
#include "web/select.h"
#include "web/view.h"

static const char page[] =
    "<!DOCTYPE html><html lang=en><head><title>T &amp; x</title></head>"
    "<body class='a b'><!-- first --><h1 id=top class=a>Hello <b>big</b>"
    " world</h1><?target data?>"
    "<ul id=l><li>1<li class=a id=two>2<li>3<li lang=fr data-k='12'>4<p>q</p>"
    "<li data-k=7>  5  x </ul>"
    "<table id=t><caption>c</caption><tr><td>a<td>b<tr><td>c<td>-3.5</table>"
    "<table id=u><tbody><tr><td>12</table><p></p><p><!-- c --></p><p> </p>"
    "<a HREF=x class=b>L</A><a href=y>7</a>"
    "<div class=a><div class=b>x<div><a href=x>deep</a>"
    "<i>w</i></div>y</div><i>\xc3\xa9t\xc3\xa9</i></div>"
    "<script>if (a < b) c();</script></body></html>";

static struct web_tree *parse(const char *text, size_t len)
{
    struct web_tree *tree = NULL;
    struct seen_error why;

    if (web_tree_new(&tree, text, len, NULL, &why) != SEEN_OK)
        fail_msg("%s", why.text);
    return tree;
}

/* --- expressions at random --- */

static uint64_t seed = 20261118;

static unsigned pick(unsigned n)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (unsigned)(seed >> 33) % n;
}

static const char *one(const char *const *list, unsigned n)
{
    return list[pick(n)];
}

#define ONE(...) \
    one((const char *const[]){ __VA_ARGS__ }, \
        sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static void put_expression(struct buffer *b, unsigned depth);
static void put_path(struct buffer *b, unsigned depth);

static void put_step(struct buffer *b, unsigned depth)
{
    unsigned n = pick(10);

    if (n == 0) {
        buffer_text(b, ONE(".", ".."));
        return;
    }
    if (n == 1) {
        buffer_text(b, ONE("@class", "@*", "@href", "@id", "@data-k"));
    } else {
        if (n < 6)
            buffer_text(
                b, ONE("ancestor::", "ancestor-or-self::", "child::",
                       "descendant::", "descendant-or-self::", "following::",
                       "following-sibling::", "parent::", "preceding::",
                       "preceding-sibling::", "self::", "attribute::"));
        buffer_text(b, ONE("*", "node()", "text()", "comment()", "li", "div",
                           "a", "p", "td", "i", "tr", "b", "body",
                           "processing-instruction()"));
    }
    while (depth && !pick(3)) {
        buffer_byte(b, '[');
        if (pick(3))
            put_expression(b, depth - 1);
        else
            buffer_text(b, ONE("1", "2", "last()", "position() mod 2 = 1",
                               "last() - 1"));
        buffer_byte(b, ']');
    }
}

static void put_path(struct buffer *b, unsigned depth)
{
    unsigned steps = 1 + pick(3);

    switch (pick(5)) {
    case 0: buffer_text(b, "/"); break;
    case 1:
    case 2: buffer_text(b, "//"); break;
    case 3:
        if (depth) {
            buffer_text(b, "(");
            put_path(b, depth - 1);
            buffer_text(b, pick(2) ? ")[2]/" : ")/");
        }
        break;
    default: break;
    }
    for (unsigned i = 0; i < steps; i++) {
        if (i)
            buffer_text(b, pick(3) ? "/" : "//");
        put_step(b, depth);
    }
}

static void put_call(struct buffer *b, unsigned depth)
{
    const char *name = ONE("count", "string", "normalize-space", "number",
                           "boolean", "not", "name", "local-name", "sum",
                           "string-length", "floor", "ceiling", "round");

    buffer_format(b, "%s(", name);
    put_path(b, depth);
    buffer_byte(b, ')');
}

static void put_pair(struct buffer *b, unsigned depth)
{
    buffer_format(b, "%s(",
                  ONE("contains", "starts-with", "substring-before",
                      "substring-after", "concat"));
    put_expression(b, depth);
    buffer_text(b, ", ");
    buffer_text(b, ONE("'a'", "'x'", "''", "string(.)", "'\xc3\xa9'"));
    buffer_byte(b, ')');
}

static void put_expression(struct buffer *b, unsigned depth)
{
    unsigned next = depth ? depth - 1 : 0;

    switch (depth ? pick(10) : pick(3)) {
    case 0:
        buffer_text(b, ONE("'a'", "'12'", "''", "'x'", "7", "2", "0", "-3.5",
                           "true()", "position()", "last()"));
        break;
    case 1:
    case 2:
    case 3: put_path(b, next); break;
    case 4: put_call(b, next); break;
    case 5: put_pair(b, next); break;
    case 6:
        buffer_text(b, "translate(");
        put_path(b, next);
        buffer_text(b, ", 'aex\xc3\xa9', 'AE')");
        break;
    case 7:
        buffer_text(b, "substring(");
        put_path(b, next);
        buffer_format(b, ", %s%s)", ONE("1", "2", "0", "1.5", "-1"),
                      ONE("", ", 2", ", 1.5", ", 100"));
        break;
    case 8:
        buffer_text(b, "(");
        put_path(b, next);
        buffer_text(b, " | ");
        put_path(b, next);
        buffer_text(b, ")");
        break;
    default:
        put_expression(b, next);
        buffer_format(b, " %s ",
                      ONE("=", "!=", "<", "<=", ">", ">=", "and", "or", "+",
                          "-", "*", "div", "mod"));
        put_expression(b, next);
    }
}

/* --- both answers as text --- */

static void put_node(struct buffer *b, const void *node)
{
    buffer_format(b, "%p ", node);
}

static void put_number(struct buffer *b, double n)
{
    if (n == n)
        buffer_format(b, "%.12g", n);
    else
        buffer_text(b, "NaN"); /* of either sign */
}

static bool ours(struct web_tree *tree, const char *text, struct buffer *b)
{
    struct budget budget = { .left = 100000000 };
    struct web_xpath_value v;
    struct web_xpath *x = NULL;
    struct seen_error why;

    if (web_xpath_parse(&x, text, strlen(text), &why) != SEEN_OK) {
        buffer_format(b, "! %s", why.text);
        return false;
    }
    assert_int_equal(web_xpath_rows_make(tree, false, &budget, &why), SEEN_OK);
    assert_int_equal(web_xpath_evaluate(x, tree, false, &budget, &v, &why),
                     SEEN_OK);
    if (v.type == WEB_XPATH_SET) {
        for (size_t i = 0; i < v.set.n; i++)
            put_node(b, tree->rows[0].row[v.set.row[i]].node);
    } else if (v.type == WEB_XPATH_NUMBER) {
        put_number(b, v.number);
    } else {
        assert_true(web_xpath_to_string(&tree->rows[0], &v));
        buffer_span(b, v.text);
    }
    web_xpath_value_clear(&v);
    web_xpath_free(x);
    return true;
}

static void quiet(void *owner, xmlErrorPtr error)
{
    (void)owner;
    (void)error;
}

static bool theirs(struct web_tree *tree, const char *text, struct buffer *b)
{
    xmlXPathContextPtr x = xmlXPathNewContext(tree->doc);
    xmlXPathObjectPtr found;

    assert_non_null(x);
    x->error = quiet;
    x->proximityPosition = x->contextSize = 1; /* else last() is an error */
    x->node = xmlDocGetRootElement(tree->doc);
    found = xmlXPathEval((const xmlChar *)text, x);
    if (!found) {
        xmlXPathFreeContext(x);
        return false;
    }
    if (found->type == XPATH_NODESET) {
        xmlXPathNodeSetSort(found->nodesetval);
        for (int i = 0; found->nodesetval && i < found->nodesetval->nodeNr;
             i++)
            put_node(b, found->nodesetval->nodeTab[i]);
    } else if (found->type == XPATH_NUMBER) {
        put_number(b, found->floatval);
    } else {
        xmlChar *s = xmlXPathCastToString(found);

        buffer_text(b, (const char *)s);
        xmlFree(s);
    }
    xmlXPathFreeObject(found);
    xmlXPathFreeContext(x);
    return true;
}

TEST(any_expression_finds_what_libxml2_finds)
{
    enum { TIMES = 20000 };
    struct web_tree *tree = parse(page, sizeof page - 1);
    unsigned wrong = 0, empty = 0;

    for (int i = 0; i < TIMES && wrong < 20; i++) {
        struct buffer text = { .bytes = NULL }, a = { .bytes = NULL },
                      b = { .bytes = NULL };
        char *expression;

        buffer_byte(&text, '('); /* without, libxml2 may have no bound */
        put_expression(&text, 3);
        buffer_byte(&text, ')');
        expression = buffer_take(&text);
        assert_non_null(expression);
        if (ours(tree, expression, &a) != theirs(tree, expression, &b) ||
            a.len != b.len || (a.len && memcmp(a.bytes, b.bytes, a.len))) {
            wrong++;
            print_error("%s\n    libxml2 %.*s\n    here    %.*s\n", expression,
                        (int)b.len, b.bytes, (int)a.len, a.bytes);
        }
        empty += !a.len;
        free(expression);
        buffer_clear(&a);
        buffer_clear(&b);
    }
    assert_int_equal(wrong, 0);
    assert_true(TIMES - empty > TIMES / 4);
    web_tree_free(tree);
}

/* --- costs --- */

enum { STEPS = 100000000 };

static uint64_t steps_of(struct web_tree *tree, const char *text,
                         size_t *found, enum seen_code *code)
{
    struct budget budget = { .left = STEPS };
    struct web_xpath_value v;
    struct web_xpath *x = NULL;
    struct seen_error why;

    assert_int_equal(web_xpath_parse(&x, text, strlen(text), &why), SEEN_OK);
    assert_int_equal(web_xpath_rows_make(tree, false, &budget, &why), SEEN_OK);
    *code = web_xpath_evaluate(x, tree, false, &budget, &v, &why);
    *found = *code == SEEN_OK ? v.set.n : 0;
    if (*code != SEEN_OK)
        assert_string_equal(why.text, "takes too long on this page");
    web_xpath_value_clear(&v);
    web_xpath_free(x);
    return STEPS - budget.left;
}

static char *repeat(const char *text, size_t n, const char *more, size_t times,
                    size_t *len)
{
    struct buffer b = { .bytes = NULL };

    for (size_t i = 0; i < n; i++)
        buffer_text(&b, text);
    for (size_t i = 0; i < times; i++)
        buffer_text(&b, more);
    *len = b.len;
    return buffer_take(&b);
}

/* These compared 60 billion pairs of nodes, or had no bound at all. */
TEST(ordinary_paths_take_some_steps_per_node_of_any_page)
{
    enum { N = 5000, MOST = 200 };
    static const struct {
        const char *part, *path;
        size_t found;
    } list[] = {
        { "<div>", "//div", N },
        { "<div>", "//div//div//div", N - 2 },
        { "<div>", "//div[@class or not(@class)]//div", N - 1 },
        { "<div>", "//div/ancestor::div", N - 1 },
        { "<div>", "//div/ancestor-or-self::*/..", N + 2 },
        { "<div>", "//div | //div/div", N },
        { "<p>x</p>", "//p/following-sibling::p", N - 1 },
        { "<p>x</p>", "//p/preceding-sibling::p", N - 1 },
        { "<p>x</p>", "//p/following::p", N - 1 },
        { "<p>x</p>", "//p/preceding::text()", N - 1 },
        { "<p>x</p>", "//p[. = 'x']", N },
        { "<p>x</p>", "//p[. = 'x'][last()]", 1 },
        { "<p>x</p>", "//p[1]", 1 },
        { "<p>x</p>", "//body[p = //p]/p", N },
        { "<p>x</p>", "//p/following-sibling::p[1]", N - 1 },
        { "<p>x</p>", "//p[position() mod 2 = 0]", N / 2 },
    };

    for (size_t i = 0; i < LENGTH(list); i++) {
        enum seen_code code;
        size_t len, found;
        char *text = repeat(list[i].part, N, "", 0, &len);
        struct web_tree *tree = parse(text, len);
        uint64_t steps = steps_of(tree, list[i].path, &found, &code);

        if (found != list[i].found || steps > MOST * N)
            print_error("%s: %zu nodes, %llu steps\n", list[i].path, found,
                        (unsigned long long)steps);
        assert_int_equal(found, list[i].found);
        assert_true(code == SEEN_OK && steps <= MOST * N);
        web_tree_free(tree);
        free(text);
    }
}

/* Each of these read or copied gigabytes, for half a minute and longer. */
TEST(an_expression_that_reads_a_text_again_and_again_is_given_up)
{
    static const char *const list[] = {
        "//div[contains(., 'nothing')]",
        "//div[string-length(normalize-space(.)) = 1]",
        "//div[translate(., 'abc', 'xyz') = 'q']",
        "//div[concat(., .) = 'q']",
        "//div[number(.) = 5]",
        "//div[. > 5]",
        "//*[. = //*]",
        "//div[substring-after(., 'q') = 'r']",
        "//div[count(//div) + count(//*) + count(//node()) = 1]",
        "//div/descendant::div[1 = 2]",
    };
    enum seen_code code;
    size_t len, found;
    char *text = repeat("<div>", 5000, "some text here ", 100000, &len);
    struct web_tree *tree = parse(text, len);

    for (size_t i = 0; i < LENGTH(list); i++) {
        uint64_t steps = steps_of(tree, list[i], &found, &code);

        if (code != SEEN_RANGE)
            print_error("%s: %llu steps\n", list[i],
                        (unsigned long long)steps);
        assert_int_equal(code, SEEN_RANGE);
        assert_int_equal(steps, STEPS);
    }
    web_tree_free(tree);
    free(text);
}

TEST(wrong_types_and_numbers_of_arguments_are_refused)
{
    static const struct {
        const char *text, *why;
    } list[] = {
        { "count(1)", "byte 7: an operand of the wrong type" },
        { "1 | //a", "byte 1: an operand of the wrong type" },
        { "//a | 'b'", "byte 6: an operand of the wrong type" },
        { "'a'[1]", "byte 1: an operand of the wrong type" },
        { "concat('a')", "byte 1: the wrong number of arguments" },
        { "//a[not()]", "byte 5: the wrong number of arguments" },
        { "true(1)", "byte 1: the wrong number of arguments" },
        { "//a]", "byte 4: not an expression of XPath 1.0" },
        { "1 +", "byte 4: not an expression of XPath 1.0" },
        { "a b", "byte 3: not an expression of XPath 1.0" },
        { "nowhere::a", "byte 1: not an expression of XPath 1.0" },
        { "1.2.3", "byte 1: not an expression of XPath 1.0" },
        { "", "byte 1: not an expression of XPath 1.0" },
        { "//", "byte 3: not an expression of XPath 1.0" },
    };
    struct web_xpath *x;
    struct seen_error why;
    char deep[1000];

    for (size_t i = 0; i < LENGTH(list); i++) {
        assert_int_equal(
            web_xpath_parse(&x, walled(list[i].text, strlen(list[i].text)),
                            strlen(list[i].text), &why),
            SEEN_RANGE);
        assert_string_equal(why.text, list[i].why);
    }
    memset(deep, '(', sizeof deep);
    assert_int_equal(web_xpath_parse(&x, deep, sizeof deep, &why), SEEN_RANGE);
    assert_string_equal(why.text, "byte 102: nested too deep");
    memset(deep, '-', sizeof deep);
    deep[sizeof deep - 1] = '1';
    assert_int_equal(web_xpath_parse(&x, deep, sizeof deep, &why), SEEN_OK);
    web_xpath_free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_expression_finds_what_libxml2_finds),
        cmocka_unit_test(ordinary_paths_take_some_steps_per_node_of_any_page),
        cmocka_unit_test(
            an_expression_that_reads_a_text_again_and_again_is_given_up),
        cmocka_unit_test(wrong_types_and_numbers_of_arguments_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
