/* Which links belong to a crawl, and what key a URL has. */
#include "crawl/page/scope.h"

#include <string.h>

#include "test/test.h"

static struct seen_span span(const char *text)
{
    return (struct seen_span){ text, strlen(text) };
}

static bool has(const struct crawl_settings *s, const char *url,
                unsigned depth, bool *trap)
{
    struct crawl_scope *scope;
    enum crawl_scope_out out;
    char reason[CRAWL_REASON];
    bool answer;

    assert_int_equal(crawl_scope_new(&scope, s, NULL), SEEN_OK);
    assert_int_equal(
        crawl_scope_start(scope, span("http://a.example/x"), NULL), SEEN_OK);
    answer = crawl_scope_has(scope, span(url), depth, false, NULL, &out,
                             reason);
    *trap = out == CRAWL_OUT_TRAP;
    crawl_scope_free(scope);
    return answer;
}

TEST(links_to_the_hosts_of_start_urls_are_followed)
{
    struct crawl_settings s = { .max_depth = 50 };
    bool trap;

    assert_true(has(&s, "http://a.example/", 1, &trap));
    assert_true(has(&s, "https://a.example:8443/", 1, &trap));
    assert_false(has(&s, "http://b.example/", 1, &trap));
    assert_false(trap);
    assert_false(has(&s, "http://www.a.example/", 1, &trap));
    s.everywhere = true;
    assert_true(has(&s, "http://b.example/", 1, &trap));
}

TEST(domains_prefixes_and_patterns_widen_and_narrow_the_scope)
{
    struct crawl_settings s = { .max_depth = 50 };
    bool trap;

    s.domains = (struct texts){ 1, { "b.example" } };
    s.prefixes = (struct texts){ 1, { "http://c.example/news/" } };
    assert_true(has(&s, "http://b.example/", 1, &trap));
    assert_true(has(&s, "http://www.b.example/", 1, &trap));
    assert_false(has(&s, "http://notb.example/", 1, &trap));
    assert_true(has(&s, "http://c.example/news/1", 1, &trap));
    assert_false(has(&s, "http://c.example/old/1", 1, &trap));
    s.exclude = (struct texts){ 1, { "\\.pdf$" } };
    assert_false(has(&s, "http://b.example/a.pdf", 1, &trap));
    s.include = (struct texts){ 1, { "/news/" } };
    assert_false(has(&s, "http://b.example/", 1, &trap));
    assert_true(has(&s, "http://b.example/news/1", 1, &trap));
}

TEST(what_patterns_cannot_decide_is_not_fetched)
{
    struct crawl_settings s = { .max_depth = 50,
                                .everywhere = true,
                                .order = CRAWL_PRIORITY,
                                .include = { 1, { "x*y" } },
                                .exclude = { 1, { "/a.*b" } },
                                .priorities = { 1, { "news=5" } } };
    const struct seen_span url = span("http://a.example/news/xxxxxxxxxxxxxxy");
    const struct seen_span list = span("http://a.example/a/list/b");
    struct crawl_scope *scope;
    enum crawl_scope_out out;
    char reason[CRAWL_REASON];
    unsigned decided = 0, named = 0;

    assert_int_equal(crawl_scope_new(&scope, &s, NULL), SEEN_OK);
    for (uint64_t steps = 1; steps <= 1000; steps++) {
        struct budget budget = { .left = steps }, rest = { .left = steps };
        int64_t priority;

        if (!crawl_scope_has(scope, url, 1, false, &budget, &out, reason)) {
            assert_int_equal(out, CRAWL_OUT_COSTLY);
            assert_int_equal(budget.left, 0);
            assert_int_equal(decided, 0);
            named |= strstr(reason, "here: --include x*y") ? 1u : 2u;
        } else {
            decided++;
        }
        assert_false(crawl_scope_list(scope, list, &rest, &out, reason));
        assert_true(out == CRAWL_OUT_COSTLY || !strncmp(reason, "matches", 7));
        rest.left = steps;
        priority = crawl_scope_priority(scope, &s, url, 1, &rest);
        assert_true(priority == -4000 || (priority == 1000 && !rest.left));
    }
    assert_true(decided && named == 3);
    assert_true(crawl_scope_has(scope, url, 1, false, NULL, &out, reason));
    assert_int_equal(crawl_scope_priority(scope, &s, url, 1, NULL), -4000);
    crawl_scope_free(scope);
}

TEST(traps_are_recognised_by_their_form)
{
    static const struct {
        const char *url;
        unsigned depth;
        bool trap;
    } known[] = {
        { "http://a.example/a/b/a/b", 1, false },
        { "http://a.example/a/b/a/b/a/b/a/b", 1, true },
        { "http://a.example/x/x/x", 1, false },
        { "http://a.example/x/x/x/x", 1, true },
        { "http://a.example/1/2/3/4/5/6/7/8/9/10", 1, false },
        { "http://a.example/q?a/a/a/a/a/a", 1, false },
        { "http://a.example/", 51, true },
        { "http://a.example/", 50, false },
    };
    struct crawl_settings s = { .max_depth = 50 };
    char longest[3000] = "http://a.example/";
    bool trap;

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_int_equal(has(&s, known[i].url, known[i].depth, &trap),
                         !known[i].trap);
        assert_int_equal(trap, known[i].trap);
    }
    memset(longest + 17, 'a', 2500);
    assert_false(has(&s, longest, 1, &trap));
    assert_true(trap);
}

TEST(wrong_patterns_and_public_suffixes_are_refused)
{
    struct crawl_settings s = { .max_depth = 50 };
    struct crawl_scope *scope;
    struct seen_error why;

    s.include = (struct texts){ 1, { "(" } };
    assert_int_equal(crawl_scope_new(&scope, &s, &why), SEEN_RANGE);
    s = (struct crawl_settings){ .priorities = { 1, { "news" } } };
    assert_int_equal(crawl_scope_new(&scope, &s, &why), SEEN_RANGE);
    s = (struct crawl_settings){ .domains = { 1, { "com" } } };
    assert_int_equal(crawl_scope_new(&scope, &s, &why), SEEN_RANGE);
}

TEST(parts_of_urls_are_found)
{
    static const struct {
        const char *url, *host, *origin;
    } known[] = {
        { "http://a.example/x", "a.example", "http://a.example" },
        { "http://a.example:8080/x", "a.example", "http://a.example:8080" },
        { "http://[::1]/x", "[::1]", "http://[::1]" },
        { "http://[::1]:80/x", "[::1]", "http://[::1]:80" },
        { "http://127.0.0.1/", "127.0.0.1", "http://127.0.0.1" },
        { "http://127.0.0.1:1/", "127.0.0.1", "http://127.0.0.1:1" },
        { "https://1.example/", "1.example", "https://1.example" },
        { "https://1.example.:8/", "1.example", "https://1.example.:8" },
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct seen_span host = crawl_host_of(span(known[i].url));
        struct seen_span origin = crawl_origin_of(span(known[i].url));

        assert_int_equal(host.len, strlen(known[i].host));
        assert_memory_equal(host.text, known[i].host, host.len);
        assert_int_equal(origin.len, strlen(known[i].origin));
        assert_memory_equal(origin.text, known[i].origin, origin.len);
    }
}

TEST(session_ids_do_not_make_another_page)
{
    static const struct {
        const char *a, *b;
        bool same;
    } known[] = {
        { "http://a.example/x;jsessionid=1A2B", "http://a.example/x", true },
        { "http://a.example/x;jsessionid=1?q=2", "http://a.example/x?q=2",
          true },
        { "http://a.example/x?PHPSESSID=123", "http://a.example/x", true },
        { "http://a.example/x?a=1&sid=9&b=2", "http://a.example/x?a=1&b=2",
          true },
        { "http://a.example/x?aspsessionidABC=1&b=2", "http://a.example/x?b=2",
          true },
        { "http://a.example/x?side=1", "http://a.example/x", false },
        { "http://a.example/x?a=1", "http://a.example/x?a=2", false },
        { "http://a.example/x?", "http://a.example/x", false },
    };
    static char ta[SEEN_KEY_TEXT], tb[SEEN_KEY_TEXT];

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct seen_key a, b;

        crawl_key(&a, ta, span(known[i].a));
        crawl_key(&b, tb, span(known[i].b));
        assert_int_equal(a.lo == b.lo && a.hi == b.hi, known[i].same);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_to_the_hosts_of_start_urls_are_followed),
        cmocka_unit_test(
            domains_prefixes_and_patterns_widen_and_narrow_the_scope),
        cmocka_unit_test(what_patterns_cannot_decide_is_not_fetched),
        cmocka_unit_test(traps_are_recognised_by_their_form),
        cmocka_unit_test(wrong_patterns_and_public_suffixes_are_refused),
        cmocka_unit_test(parts_of_urls_are_found),
        cmocka_unit_test(session_ids_do_not_make_another_page),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
