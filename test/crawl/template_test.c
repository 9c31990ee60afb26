/* template_test.c - what templates extract and follow, and how URLs are
   cleaned. Which templates are refused is in test/crawl/template_test.py. */
#include "test/test.h"
#include "test/wall.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crawl/page/record.h"
#include "crawl/template/template.h"
#include "crawl/template/inside.h"
#include "lib/text/span.h"

static struct crawl_template *read_template(const char *text)
{
    struct crawl_template *t = NULL;
    struct seen_error why;
    size_t len = strlen(text);

    if (crawl_template_new(&t, walled(text, len), len, NULL, NULL, &why) !=
        SEEN_OK)
        fail_msg("line %llu: %s", (unsigned long long)why.at, why.text);
    return t;
}

static struct web_tree *parse(const char *text)
{
    struct web_tree *tree = NULL;

    assert_int_equal(web_tree_new(&tree, text, strlen(text), NULL, NULL), 0);
    return tree;
}

/* --- start URLs --- */

TEST(ranges_stand_for_start_urls)
{
    static const struct {
        const char *start;
        uint64_t n, i;
        const char *url;
    } list[] = {
        { "http://a.example/[1-50]", 50, 0, "http://a.example/1" },
        { "http://a.example/[1-50]", 50, 49, "http://a.example/50" },
        { "http://a.example/[01-50]", 50, 4, "http://a.example/05" },
        { "http://a.example/[08-10]", 3, 2, "http://a.example/10" },
        { "http://a.example/[0-100:10]/", 11, 10, "http://a.example/100/" },
        { "http://a.example/[1-3]/[7-8]", 6, 3, "http://a.example/2/8" },
        { "http://a.example/[5-5]", 1, 0, "http://a.example/5" },
        { "http://[::1]:8080/[a-z]", 1, 0, "http://[::1]:8080/[a-z]" },
        { "HTTP://A.example?x=[1-2]&utm_a=1", 2, 1, "http://a.example/?x=2" },
    };

    for (size_t i = 0; i < LENGTH(list); i++) {
        char text[200], url[SEEN_KEY_TEXT];
        struct crawl_template *t;
        size_t len;

        snprintf(text, sizeof text,
                 "{\"start\": \"%s\", \"clean\": {\"strip\": \"utm_*\"}}",
                 list[i].start);
        t = read_template(text);
        assert_int_equal(crawl_template_starts(t), list[i].n);
        assert_int_equal(crawl_template_start(t, list[i].i, url, &len, NULL),
                         SEEN_OK);
        url[len] = 0;
        assert_string_equal(url, list[i].url);
        assert_int_equal(crawl_template_start(t, list[i].n, url, &len, NULL),
                         SEEN_RANGE);
        crawl_template_free(t);
    }
}

TEST(parameters_are_stripped)
{
    static const struct {
        const char *url, *clean;
    } list[] = {
        { "http://a/", "http://a/" },
        { "http://a/?b=1", "http://a/?b=1" },
        { "http://a/?utm_source=x", "http://a/" },
        { "http://a/?b=1&utm_source=x&c=2", "http://a/?b=1&c=2" },
        { "http://a/?UTM_X&b", "http://a/?b" },
        { "http://a/?sessionid=1&sessionid2=2", "http://a/?sessionid2=2" },
        { "http://a/b;jsessionid=12?c", "http://a/b?c" },
        { "http://a/b;v=1;jsessionid=12/d", "http://a/b;v=1/d" },
        { "http://a/?", "http://a/" },
        { "http://a/?b&&c", "http://a/?b&&c" },
        { "http://a/?xyz=1&xz=1&y=1", "http://a/?y=1" },
        { "http://a/?b=utm_source=1", "http://a/?b=utm_source=1" },
    };
    struct crawl_template *t = read_template(
        "{\"start\": \"http://a/\", \"clean\": {\"strip\": "
        "[\"utm_*\", \"sessionid\", \"jsessionid\", "
        "\"x*z\"]}}");

    for (size_t i = 0; i < LENGTH(list); i++) {
        char room[SEEN_KEY_TEXT];
        size_t len = strlen(list[i].url);

        memcpy(room, list[i].url, len);
        crawl_template_clean(t, room, &len, room, len);
        room[len] = 0;
        assert_string_equal(room, list[i].clean);
    }
    crawl_template_free(t);
}

TEST(a_domain_includes_its_subdomains)
{
    static const struct {
        const char *url;
        bool within;
    } list[] = {
        { "http://a.example/", true },
        { "https://a.example:8080/x", true },
        { "http://b.a.example/", true },
        { "http://ba.example/", false },
        { "http://example/", false },
        { "http://a.example.org/", false },
        { "http://u:p@a.example/", true },
        { "http://a.example@b.example/", false },
        { "http://xn--bcher-kva.example/", true },
    };
    struct crawl_template *t = read_template(
        "{\"start\": \"http://x.example/\", \"domains\": [\"A.example\", "
        "\"b\xc3\xbc"
        "cher.example\"]}");

    for (size_t i = 0; i < LENGTH(list); i++)
        if (crawl_template_within(t, list[i].url, strlen(list[i].url)) !=
            list[i].within)
            fail_msg("%s", list[i].url);
    crawl_template_free(t);
}

/* --- rules --- */

static const char rules[] =
    "{\"start\": \"http://a.example/\", \"follow\": ["
    "  {\"css\": \"#list\", \"allow\": \"/[0-9]+$\", \"deny\": \"/13$\","
    "   \"type\": \"story\", \"revisit\": \"6h\", \"priority\": 5},"
    "  {\"xpath\": \"//a[@rel='next']/@href\", \"type\": \"list\"},"
    "  {\"allow\": [\"/about\"], \"from\": \"list\"}],"
    " \"pages\": {\"story\": {\"url\": \"/s/\"}, \"list\": {}}}";

TEST(the_first_rule_that_takes_a_link_decides)
{
    static const struct {
        const char *url, *from;
        bool follow;
        enum crawl_reason reason;
        unsigned rule;
        const char *type;
    } list[] = {
        { "http://a.example/1", NULL, true, CRAWL_BY_RULE, 0, "story" },
        { "http://a.example/2", NULL, false, CRAWL_UNRULED, 0, NULL },
        { "http://a.example/13", NULL, false, CRAWL_DENIED, 0, NULL },
        { "http://a.example/p2", NULL, true, CRAWL_BY_RULE, 1, "list" },
        { "http://a.example/about", NULL, false, CRAWL_UNRULED, 0, NULL },
        { "http://a.example/about", "list", true, CRAWL_BY_RULE, 2, NULL },
        { "http://b.example/1", NULL, false, CRAWL_OUTSIDE, 0, NULL },
        { "mailto:a@a.example", NULL, false, CRAWL_NOT_HTTP, 0, NULL },
    };
    struct crawl_template *t = read_template(rules);
    struct web_tree *tree = parse(
        "<base href=http://a.example/x><div id=list><p><a href=1>1</a>"
        "<a href=13>13</a></p><a href=http://b.example/1>b</a></div>"
        "<a href=2>2</a><a rel=next href=p2>next</a><a href=about>x</a>");
    struct crawl_areas *areas;
    struct crawl_verdict v;

    assert_int_equal(
        crawl_areas_new(&areas, t, tree, "http://a.example/", 17, NULL),
        SEEN_OK);
    for (size_t i = 0; i < LENGTH(list); i++) {
        crawl_template_follow(t, areas, list[i].from, list[i].url,
                              strlen(list[i].url), NULL, &v);
        if (v.follow != list[i].follow || v.reason != list[i].reason ||
            v.rule != list[i].rule ||
            strcmp(v.type ? v.type : "", list[i].type ? list[i].type : ""))
            fail_msg("%s: %d %d %u %s", list[i].url, v.follow, v.reason,
                     v.rule, v.type ? v.type : "-");
    }
    crawl_template_follow(t, areas, NULL, "http://a.example/1", 18, NULL, &v);
    assert_int_equal(v.revisit, 6 * 3600 * 1000);
    assert_int_equal(v.priority, 5);
    crawl_areas_free(areas);

    /* Links from elsewhere are in no area. */
    crawl_template_follow(t, NULL, NULL, "http://a.example/1", 18, NULL, &v);
    assert_false(v.follow);
    web_tree_free(tree);
    crawl_template_free(t);
}

TEST(a_link_that_a_rule_may_deny_is_not_followed)
{
    struct crawl_template *t = read_template(
        "{\"start\": \"http://a.example/\", \"follow\": [{\"allow\": \"x*1\", "
        "\"deny\": [\"y.*y\"]}, {}]}");
    unsigned seen[CRAWL_COSTLY + 1] = { 0 };
    struct crawl_verdict v;

    for (uint64_t steps = 1; steps <= 500; steps++) {
        struct budget budget = { .left = steps };

        crawl_template_follow(t, NULL, NULL, "http://a.example/xxx1", 21,
                              &budget, &v);
        assert_int_equal(v.reason, v.follow ? CRAWL_BY_RULE : CRAWL_COSTLY);
        assert_true(v.follow || !budget.left);
        assert_true(v.follow || (v.rule == 0 && v.pattern && !v.type));
        if (!v.follow)
            seen[*v.pattern == 'y']++;
    }
    assert_true(v.follow && seen[0] && seen[1]);
    crawl_template_free(t);
}

TEST(without_rules_all_links_in_the_domains_are_followed)
{
    struct crawl_template *t = read_template(
        "{\"start\": \"http://a.example/\"}");
    struct crawl_verdict v;

    crawl_template_follow(t, NULL, NULL, "http://a.example/x", 18, NULL, &v);
    assert_true(v.follow);
    assert_int_equal(v.reason, CRAWL_NO_RULES);
    crawl_template_follow(t, NULL, NULL, "http://b.example/x", 18, NULL, &v);
    assert_false(v.follow);
    crawl_template_free(t);
}

TEST(the_type_of_a_page_is_the_rules_or_by_its_url)
{
    struct crawl_template *t = read_template(rules);

    assert_string_equal(
        crawl_template_type(t, "list", "http://a.example/s/1", 20, NULL),
        "list");
    assert_string_equal(
        crawl_template_type(t, NULL, "http://a.example/s/1", 20, NULL),
        "story");
    assert_null(crawl_template_type(t, NULL, "http://a.example/", 17, NULL));
    crawl_template_free(t);
    t = read_template("{\"start\": \"http://a.example/\", \"pages\": "
                      "{\"default\": {}}}");
    assert_string_equal(
        crawl_template_type(t, NULL, "http://a.example/", 17, NULL),
        "default");
    crawl_template_free(t);
}

/* --- fields --- */

static char *extract(const char *fields, const char *page,
                     struct crawl_extracted *result)
{
    struct buffer b = { .bytes = NULL }, text = { .bytes = NULL };
    struct web_tree *tree = parse(page);
    struct crawl_template *t;
    char *made;

    buffer_format(&text,
                  "{\"start\": \"http://a.example/\", \"clean\": {\"strip\": "
                  "\"utm_*\"}, \"pages\": {\"default\": {\"fields\": %s}}}",
                  fields);
    buffer_byte(&text, 0);
    t = read_template(text.bytes);
    buffer_clear(&text);
    assert_int_equal(crawl_template_extract(t, "default", tree,
                                            "http://a.example/b/", 19, &b,
                                            result, NULL),
                     SEEN_OK);
    web_tree_free(tree);
    crawl_template_free(t);
    made = buffer_take(&b);
    assert_non_null(made);
    return made;
}

TEST(fields_are_lists_of_the_wanted_type)
{
    static const char page[] =
        "<h1>\n A &amp;\n  \"b\"&nbsp; <i>c</i> </h1><p>1,234.50 EUR<p>-7<p>x</p>"
        "<time>Mon, 01 Feb 2016 12:30:00 GMT</time>"
        "<a href='c?utm_x=1'>L 1, L 22</a><img src=/i.png>";
    static const struct {
        const char *fields, *made;
    } list[] = {
        { "{\"T\": \"h1\"}", "\"T\": [\"A & \\\"b\\\" c\"]" },
        { "{\"T\": \"h1 ::text\"}", "\"T\": [\"A & \\\"b\\\"\"]" },
        { "{\"T\": {\"css\": \"h1 ::text\", \"many\": true}}",
          "\"T\": [\"A & \\\"b\\\"\", \"c\"]" },
        { "{\"T\": \"//p[2]\"}", "\"T\": [\"-7\"]" },
        { "{\"T\": {\"xpath\": \"count(//p)\", \"type\": \"number\"}}",
          "\"T\": [3]" },
        { "{\"T\": {\"css\": \"p\", \"type\": \"number\", \"many\": true}}",
          "\"T\": [1234.50, -7]" },
        { "{\"T\": {\"css\": \"time\", \"type\": \"date\"}}",
          "\"T\": [\"2016-02-01T12:30:00Z\"]" },
        { "{\"T\": {\"css\": \"a, img\", \"type\": \"url\", \"many\": true}}",
          "\"T\": [\"http://a.example/b/c\", \"http://a.example/i.png\"]" },
        { "{\"T\": {\"css\": \"i\", \"type\": \"html\"}}",
          "\"T\": [\"<i>c</i>\"]" },
        { "{\"T\": {\"css\": \"a\", \"regex\": \"L ([0-9]+)\"}}",
          "\"T\": [\"1\"]" },
        { "{\"T\": {\"css\": \"a\", \"regex\": \"L ([0-9]+)\", \"many\": "
          "true}}",
          "\"T\": [\"1\", \"22\"]" },
        { "{\"T\": {\"css\": \"a\", \"regex\": \"[0-9]*\", \"many\": true}}",
          "\"T\": [\"1\", \"22\"]" },
        { "{\"T\": {\"css\": \"a\", \"regex\": \"^.\", \"many\": true}}",
          "\"T\": [\"L\"]" },
        { "{\"T\": {\"css\": \"a\", \"regex\": \"nope\"}}", "\"T\": []" },
        { "{\"T\": \"h9\", \"U\": \"i\"}", "\"T\": [], \"U\": [\"c\"]" },
        { "{}", "" },
    };

    for (size_t i = 0; i < LENGTH(list); i++) {
        struct crawl_extracted result;
        char *made = extract(list[i].fields, page, &result);

        assert_string_equal(made, list[i].made);
        free(made);
    }
}

TEST(required_fields_are_missed)
{
    struct crawl_extracted result;

    free(extract("{\"A\": {\"css\": \"h1\", \"required\": true}, \"B\": "
                 "{\"css\": \"h2\", \"required\": true}, \"C\": \"h3\"}",
                 "<h1>x</h1>", &result));
    assert_int_equal(result.found, 1);
    assert_int_equal(result.missing, 1);
    free(extract("{\"N\": {\"css\": \"p\", \"type\": \"number\", "
                 "\"required\": true}}",
                 "<p>none", &result));
    assert_int_equal(result.missing, 1);
}

TEST(values_are_bounded)
{
    enum { N = 4 << 20 };
    struct buffer page = { .bytes = NULL };
    struct crawl_extracted result;
    char *made;

    for (int i = 0; i < 3000; i++)
        buffer_text(&page, "<div>");
    for (int i = 0; i < N / 8; i++)
        buffer_text(&page, "text    ");
    buffer_byte(&page, 0);
    made = extract("{\"T\": {\"css\": \"div\", \"many\": true}}", page.bytes,
                   &result);
    assert_true(result.cut);
    assert_true(strlen(made) < 16 << 20);
    free(made);
    buffer_clear(&page);
}

TEST(numbers_and_dates_are_read_from_texts)
{
    static const struct {
        bool date;
        const char *text, *value; /* NULL: there is none */
    } list[] = {
        { false, "219 times", "219" },
        { false, "viewed 1,234,567 times", "1234567" },
        { false, "1,23", "1" },
        { false, "007", "7" },
        { false, "0", "0" },
        { false, "0.50", "0.50" },
        { false, "EUR -3.5", "-3.5" },
        { false, "2016-02", "2016" },
        { false, "12.", "12" },
        { false, "none", NULL },
        { false, "", NULL },
        { true, "2016-02-01", "2016-02-01" },
        { true, "on 2016/02/01 at noon", "2016-02-01" },
        { true, "2016-02-01T12:30:01.5+02:00", "2016-02-01T12:30:01+02:00" },
        { true, "2016-02-01 12:30", "2016-02-01T12:30:00" },
        { true, "Sun, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z" },
        { true, "Feb 1, 2016", "2016-02-01" },
        { true, "February 1st, 2016 at 9:05", "2016-02-01T09:05:00" },
        { true, "1 Sept 2016", "2016-09-01" },
        { true, "29 February 2016", "2016-02-29" },
        { true, "29 February 2015", NULL },
        { true, "31 April 2015", NULL },
        { true, "3/4/2016", NULL },
        { true, "today", NULL },
        { true, "12016-02-01", NULL },
    };

    for (size_t i = 0; i < LENGTH(list); i++) {
        struct buffer b = { .bytes = NULL };
        size_t len = strlen(list[i].text);
        struct seen_span s = { walled(list[i].text, len), len };
        bool made = list[i].date ? crawl_value_date(&b, s)
                                 : crawl_value_number(&b, s);

        buffer_byte(&b, 0);
        if (made != (list[i].value != NULL) ||
            (made && strcmp(b.bytes, list[i].value) != 0))
            fail_msg("%s: %s", list[i].text, made ? b.bytes : "none");
        buffer_clear(&b);
    }
}

TEST(the_classifier_can_ask_which_fields_it_compares)
{
    struct crawl_template *t = read_template(
        "{\"start\": \"http://a.example/\", \"pages\": {\"p\": {\"fields\": "
        "{\"A\": \"h1\", \"B\": {\"css\": \"p\", \"change\": \"off\", "
        "\"ignore\": [\"x\", \"[0-9]+\"]}}}}}");
    struct crawl_field_use use;

    assert_true(crawl_template_field(t, "p", 0, &use));
    assert_true(use.compared);
    assert_null(use.ignore[0]);
    assert_true(crawl_template_field(t, "p", 1, &use));
    assert_string_equal(use.name, "B");
    assert_false(use.compared);
    assert_string_equal(use.ignore[1], "[0-9]+");
    assert_null(use.ignore[2]);
    assert_false(crawl_template_field(t, "p", 2, &use));
    crawl_template_free(t);
}

/* --- records --- */

TEST(a_record_has_the_form_of_the_paper_and_an_id_that_is_not_random)
{
    uint64_t skeleton = 0xabc;
    struct buffer line = { .bytes = NULL }, fields = { .bytes = NULL };
    struct crawl_record r = {
        .url = span_of("http://a.example/"),
        .template = "42073c2a2cd35c84bbabdaff56e72c03c90ef6a4",
        .type = "default",
        .visit = "v@1",
        .fetched = UINT64_C(1767323045678),
        .status = 200,
        .turn = 1,
        .skeleton = &skeleton,
        .fields = &fields
    };

    buffer_text(&fields, "\"Title\": [\"x\"]");
    crawl_record_write(&line, &r);
    buffer_byte(&line, 0);
    /* printf 'v@1\0http://a.example/\0001' | sha256sum */
    assert_string_equal(
        line.bytes,
        "{\"_v\": 1, \"_id\": \"2b2c04b746070e0bd7d1e8b30ebf2392\", "
        "\"_url\": \"http://a.example/\", \"_template\": "
        "\"42073c2a2cd35c84bbabdaff56e72c03c90ef6a4\", \"_type\": "
        "\"default\", \"_fetched_at\": \"2026-01-02T03:04:05.678Z\", "
        "\"_visit\": \"v@1\", \"_status\": 200, \"_skeleton\": "
        "\"0000000000000abc\", \"_turn\": 1, \"Title\": [\"x\"]}\n");
    buffer_clear(&line);

    r.status = 410;
    crawl_record_write(&line, &r);
    buffer_byte(&line, 0);
    assert_null(strstr(line.bytes, "Title"));
    assert_null(strstr(line.bytes, "_skeleton"));
    buffer_clear(&line);
    buffer_clear(&fields);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_stand_for_start_urls),
        cmocka_unit_test(parameters_are_stripped),
        cmocka_unit_test(a_domain_includes_its_subdomains),
        cmocka_unit_test(the_first_rule_that_takes_a_link_decides),
        cmocka_unit_test(a_link_that_a_rule_may_deny_is_not_followed),
        cmocka_unit_test(without_rules_all_links_in_the_domains_are_followed),
        cmocka_unit_test(the_type_of_a_page_is_the_rules_or_by_its_url),
        cmocka_unit_test(fields_are_lists_of_the_wanted_type),
        cmocka_unit_test(required_fields_are_missed),
        cmocka_unit_test(values_are_bounded),
        cmocka_unit_test(numbers_and_dates_are_read_from_texts),
        cmocka_unit_test(the_classifier_can_ask_which_fields_it_compares),
        cmocka_unit_test(
            a_record_has_the_form_of_the_paper_and_an_id_that_is_not_random),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
