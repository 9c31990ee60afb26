/* css_test.c - URLs of style sheets, and of srcset attributes. */
#include "test/wall.h"

#include <stdio.h>

#include "web/css.h"
#include "web/srcset.h"

static char found[4096];

static void add(const char *before, struct seen_span url)
{
    size_t used = strlen(found);

    snprintf(found + used, sizeof found - used, "%s%s%.*s", used ? " | " : "",
             before, (int)url.len, url.text);
}

static void take(void *owner, struct seen_span url, bool import)
{
    (void)owner;
    add(import ? "@" : "", url);
}

TEST(css_is_read_by_tokens)
{
    static const char *const cases[][2] = {
        { "a{b:url(x)}", "x" },
        { "a{b:URL(  'x y' )}", "x y" },
        { "a{b:url(\"x\\\"y\")}", "x\"y" },
        { "a{b:url( x\t)}", "x" },
        { "a{b:url(x y)} c{d:url(z)}", "z" },
        { "a{b:url(x\"y)} c{d:url(z)}", "z" },
        { "a{b:url(x(y)} c{d:url(z)}", "z" },
        { "a{b:url(\\78\\ y\\000029)}", "x y)" },
        { "a{b:u\\72l(x)}", "x" },
        { "a{b:myurl(x) url-prefix(y)}", "" },
        { "/* url(x) */ a{b:url(y/*z*/)}", "y/*z*/" },
        { "a{b:'url(x)'; c:url(y)}", "y" },
        { "a{b:'x\n c:url(y)}", "y" },
        { "@import 'x';", "@x" },
        { "@IMPORT url(x) screen;@import url('y') layer(a)", "@x | @y" },
        { "@import \"x\" supports(a: url(y));", "@x | y" },
        { "@namespace url(x); @namespace a 'y'; b{c:url(z)}", "z" },
        { "@charset 'x'; @font-face{src:url(y)format('z')}", "y" },
        { "a{b:image-set('x' 1x, url(y) 2x, 'z' type('no'))}", "x | y | z" },
        { "a{b:-webkit-image-set(\"x\" 1x) 'no'}", "x" },
        { "a{b:url()} c{d:url('')}", "" },
        { "a{b:url(x", "x" },
        { "a{b:url('x", "x" },
        { "a{b:url(", "" },
        { "@import 'x", "@x" },
        { "/* ", "" },
        { "a\\", "" },
        { "@", "" },
    };

    for (size_t i = 0; i < LENGTH(cases); i++) {
        size_t n = strlen(cases[i][0]);

        found[0] = '\0';
        web_css_read(walled(cases[i][0], n), n, take, NULL);
        if (strcmp(found, cases[i][1]) != 0)
            print_error("of: %s\n", cases[i][0]);
        assert_string_equal(found, cases[i][1]);
    }
}

TEST(urls_of_css_are_bounded)
{
    static char text[2 * WEB_CSS_URL + 16] = "url(";

    memset(text + 4, 'x', WEB_CSS_URL + 1);
    memcpy(text + 4 + WEB_CSS_URL + 1, ")url(y)", 8);
    found[0] = '\0';
    web_css_read(text, strlen(text), take, NULL);
    assert_string_equal(found, "y");
}

TEST(srcset_is_read_as_the_standard_says)
{
    static const char *const cases[][2] = {
        { "x", "x" },
        { "x 1x, y 2x", "x | y" },
        { "x 100w,y 200w", "x | y" },
        { "x,y", "x,y" },
        { "x, y", "x | y" },
        { "x,, y", "x | y" },
        { " , x 1x", "x" },
        { "data:,a ( , ) 1x, y", "y" },
        { "x 1q, y", "y" },
        { "x 1x 2x, y", "y" },
        { "x 1w 1h, y 1h, z 0w", "x" },
        { "x 1.5x, y 1e2x, z .5x, w -1x, v 1.x, u x", "x | y | z" },
        { "x -0x, y -0.0e2x, z -0.1x, w -x, v --0x, u -0w", "x | y" },
        { "x\n1x\t,\ny", "x | y" },
        { "x (,) 1x, y 2x", "y" },
        { "", "" },
        { " ,, ", "" },
        { "x (", "" },
    };

    for (size_t i = 0; i < LENGTH(cases); i++) {
        size_t n = strlen(cases[i][0]);
        struct seen_span rest = { walled(cases[i][0], n), n }, url;

        found[0] = '\0';
        while (web_srcset_next(&rest, &url))
            add("", url);
        if (strcmp(found, cases[i][1]) != 0)
            print_error("of: %s\n", cases[i][0]);
        assert_string_equal(found, cases[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(css_is_read_by_tokens),
        cmocka_unit_test(urls_of_css_are_bounded),
        cmocka_unit_test(srcset_is_read_as_the_standard_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
