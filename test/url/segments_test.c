/*
 * segments_test.c - where a text is cut, with its last byte before a page
 * that cannot be read.
 */
#include "test/wall.h"

#include <stdio.h>

#include <seen/url.h>

/* Segments are shown with "|" between them, where there was a slash. */
static const struct {
    unsigned most;
    const char *text, *cut;
} rows[] = {
    { 4, "http://a.example/news/2024?p=1/2",
      "http://a.example|news|2024?p=1/2" },
    { 2, "http://a.example/news/2024", "http://a.example|news/2024" },
    { 1, "http://a.example/news/2024", "http://a.example/news/2024" },
    { 3, "http://a.example/news/", "http://a.example|news|" },
    { 3, "http://a.example/", "http://a.example|" },
    { 3, "http://a.example", "http://a.example" },
    { 4, "http://a//b", "http://a||b" },
    { 4, "com,example)/a/b?c=/d", "com,example)|a|b?c=/d" },
    { 4, "com,example:8080)/a", "com,example:8080)|a" },
    { 4, "a.example/http://b/", "a.example|http:||b/" },
    { 4, "a:b://c/d", "a:b:||c|d" }, /* no scheme ends there */
    { 4, "mailto:a/b", "mailto:a|b" },
    { 4, "://", "://" },
    { 4, "?a/b://c", "?a/b://c" },
    { 4, "/", "|" },
    { 4, "", "" },
};

TEST(a_text_is_cut_at_the_slashes_of_its_path)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t len = strlen(rows[i].text), end[16], from = 0;
        char *text = walled(rows[i].text, len);
        char cut[64] = "";
        unsigned n = seen_url_segments(text, len, end, rows[i].most);

        assert_in_range(n, 1, rows[i].most);
        assert_int_equal(end[n - 1], len);
        for (unsigned j = 0; j < n; j++) {
            snprintf(cut + strlen(cut), sizeof cut - strlen(cut), "%s%.*s",
                     j ? "|" : "", (int)(end[j] - from), text + from);
            from = end[j] + 1;
        }
        assert_string_equal(cut, rows[i].cut);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_is_cut_at_the_slashes_of_its_path),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
