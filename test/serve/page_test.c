/* page_test.c - the files of the page are in the program. */
#include "test/test.h"

#include <string.h>

#include "serve/http/webpage.h"

static const struct webpage_file *find(const char *path)
{
    return webpage_find((struct seen_span){ path, strlen(path) });
}

TEST(the_page_is_the_root)
{
    const struct webpage_file *page = find("/");

    assert_non_null(page);
    assert_string_equal(page->type, "text/html; charset=utf-8");
    assert_memory_equal(page->bytes, "<!doctype html>\n", 16);
    assert_memory_equal(page->bytes + page->len - 8, "</html>\n", 8);
}

TEST(its_style_and_its_script_go_by_their_names)
{
    assert_string_equal(find("/page.css")->type, "text/css; charset=utf-8");
    assert_string_equal(find("/page.js")->type,
                        "text/javascript; charset=utf-8");
}

TEST(other_paths_have_no_file)
{
    static const char *const other[] = { "",         "/index.html", "page.css",
                                         "/page.cs", "/page.css/",  "//" };

    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        assert_null(find(other[i]));
}

TEST(every_file_has_an_entity_tag_of_its_own)
{
    for (size_t i = 0; i < webpage_count; i++) {
        const char *tag = webpage_files[i].etag;

        assert_true(strlen(tag) > 8);
        assert_true(tag[0] == '"' && tag[strlen(tag) - 1] == '"');
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(tag, webpage_files[j].etag);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_is_the_root),
        cmocka_unit_test(its_style_and_its_script_go_by_their_names),
        cmocka_unit_test(other_paths_have_no_file),
        cmocka_unit_test(every_file_has_an_entity_tag_of_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
