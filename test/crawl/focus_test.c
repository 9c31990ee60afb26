/* How well pages and links match words. */
#include "crawl/page/focus.h"

#include <math.h>

#include "lib/text/span.h"
#include "test/test.h"

static const double weight[3] = { 0.5, 0.4, 0.1 };

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-9;
}

TEST(the_cosine_is_that_of_word_counts)
{
    struct crawl_focus *f;

    assert_int_equal(
        crawl_focus_new(&f, span_of("bloom filter"), weight, NULL), SEEN_OK);
    assert_true(near(crawl_focus_text(f, span_of("Filter, BLOOM!")), 1));
    assert_true(near(crawl_focus_text(f, span_of("bloom")), sqrt(0.5)));
    assert_true(near(crawl_focus_text(f, span_of("bloom bloom x y")),
                     2 / (sqrt(6) * sqrt(2))));
    assert_true(near(crawl_focus_text(f, span_of("nothing of that")), 0));
    assert_true(near(crawl_focus_text(f, span_of("")), 0));
    crawl_focus_free(f);
}

TEST(a_link_counts_its_page_its_anchor_and_its_url)
{
    struct crawl_focus *f;

    assert_int_equal(
        crawl_focus_new(&f, span_of("bloom filter"), weight, NULL), SEEN_OK);
    assert_true(near(crawl_focus_link(f, 1, span_of("bloom filter"),
                                      span_of("http://a.example/bloom/"
                                              "filter")),
                     1));
    assert_true(near(crawl_focus_link(f, 0.5, span_of("other"),
                                      span_of("http://a.example/bloom")),
                     0.25 + 0.05));
    crawl_focus_free(f);
}

TEST(words_are_needed)
{
    struct crawl_focus *f;

    assert_int_equal(crawl_focus_new(&f, span_of(" .,- "), weight, NULL),
                     SEEN_RANGE);
    assert_null(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cosine_is_that_of_word_counts),
        cmocka_unit_test(a_link_counts_its_page_its_anchor_and_its_url),
        cmocka_unit_test(words_are_needed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
