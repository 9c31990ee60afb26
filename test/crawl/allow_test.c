/* What robots.txt says about the pages at hand: turns, their cost, rules that
   change. */
#include "crawl/engine/engine.h"

#include <stdlib.h>
#include <string.h>

#include "lib/text/span.h"
#include "test/crawl/locked.h"

/* Long texts that are nearly what a rule with stars wants. */
#define TEN(text) text text text text text text text text text text

/* A host whose robots.txt is known, with pages "PREFIX0", "PREFIX1" ... */
static struct crawl_host *host_of(struct crawl *c, int64_t id,
                                  const char *rules, const char *prefix,
                                  int pages)
{
    struct crawl_host *host = crawl_host_add(&c->hosts, id,
                                             span_of("a.example"), 0);
    struct crawl_origin *o;

    assert_non_null(host);
    crawl_hosts_pop(&c->hosts, host);
    o = crawl_host_origin(host, span_of("http://a.example"));
    assert_non_null(o);
    assert_int_equal(
        crawl_origin_know(host, o, 200, span_of(rules), 1000, NULL), SEEN_OK);
    host->asked = o;
    for (int i = 0; i < pages; i++) {
        char url[2048];
        const struct frontier_page row = {
            .id = i + 1,
            .url = { url,
                     (size_t)snprintf(url, sizeof url, "http://a.example%s%d",
                                      prefix, i) },
            .path = { "", 0 },
            .type = { "", 0 },
        };
        struct crawl_page *page = crawl_page_new(&row);

        assert_non_null(page);
        page->host = host;
        crawl_host_push(host, page, false);
    }
    return host;
}

/* A turn of the host; returns how many pages have a verdict by these rules. */
static unsigned turn(struct crawl *c, struct crawl_host *host, int64_t until,
                     uint64_t *steps)
{
    unsigned n = 0;

    crawl_allow_ask(c, host);
    assert_true(crawl_host_is_asking(host));
    assert_ptr_equal(crawl_allow_next(c), host);
    assert_int_equal(crawl_allow_answer(c, host, 0, steps, NULL), SEEN_OK);
    assert_true(host->place && !crawl_host_is_asking(host) && !c->asking &&
                !c->to_ask);
    crawl_hosts_pop(&c->hosts, host);
    for (struct crawl_page *p = host->first; p; p = p->next)
        n += p->asked == until;
    return n;
}

TEST(a_turn_is_a_bounded_number_of_pages_and_the_host_comes_up_again)
{
    struct crawl *c = begin();
    struct crawl_host *host = host_of(c, 1, "User-agent: *\nDisallow: /x\n",
                                      "/x", 200);
    uint64_t steps;

    assert_int_equal(turn(c, host, 1000, &steps), CRAWL_ALLOW_PAGES);
    assert_int_equal(host->owed, steps / 2 + 27 * CRAWL_RULE_BYTE_STEPS);
    assert_int_equal(turn(c, host, 1000, &steps), 2 * CRAWL_ALLOW_PAGES);
    assert_int_equal(turn(c, host, 1000, &steps), 3 * CRAWL_ALLOW_PAGES);
    assert_int_equal(turn(c, host, 1000, &steps), 200);
    for (struct crawl_page *p = host->first; p; p = p->next)
        assert_int_equal(p->line, 2);
    end(c);
}

TEST(a_turn_is_a_bounded_number_of_steps)
{
    const char *url = TEN(TEN("/aaaaaaaaaaaaaaaaab"));
    struct buffer rules = { .bytes = NULL };
    struct crawl *c = begin();
    struct crawl_host *host;
    uint64_t steps, one = 1100 * 2048;
    unsigned before = 0, n;

    buffer_text(&rules, "User-agent: *\n");
    for (int i = 0; i < 2000; i++)
        buffer_format(&rules, "Disallow: /*a*a*a*a*%dx\n", i);
    buffer_byte(&rules, '\0');
    host = host_of(c, 1, rules.bytes, url, CRAWL_ALLOW_PAGES);
    while (before < CRAWL_ALLOW_PAGES) {
        n = turn(c, host, 1000, &steps);
        assert_true(n > before);
        assert_true(steps <= CRAWL_ALLOW_STEPS + one);
        before = n;
    }
    buffer_clear(&rules);
    end(c);
}

TEST(hosts_take_turns)
{
    struct crawl *c = begin();
    struct crawl_host *one = host_of(c, 1, "User-agent: *\nAllow: /\n", "/",
                                     1);
    struct crawl_host *two = host_of(c, 2, "User-agent: *\nAllow: /\n", "/",
                                     1);
    uint64_t steps;

    crawl_allow_ask(c, one);
    crawl_allow_ask(c, two);
    assert_int_equal(c->asking, 2);
    assert_ptr_equal(crawl_allow_next(c), one);
    assert_int_equal(crawl_allow_answer(c, one, 0, &steps, NULL), SEEN_OK);
    crawl_hosts_pop(&c->hosts, one);
    crawl_allow_ask(c, one);
    assert_ptr_equal(crawl_allow_next(c), two);
    crawl_allow_forget(c);
    assert_false(crawl_host_is_asking(one));
    assert_null(crawl_allow_next(c));
    end(c);
}

TEST(a_robots_txt_that_is_suspect_comes_first_and_is_asked_alone)
{
    struct crawl *c = begin();
    struct crawl_host *one = host_of(c, 1, "User-agent: *\nAllow: /\n", "/",
                                     1);
    struct crawl_host *two = host_of(c, 2, "User-agent: *\nAllow: /\n", "/",
                                     1);
    uint64_t steps;

    two->asked->trust = CRAWL_SUSPECT;
    crawl_allow_ask(c, one);
    crawl_allow_ask(c, two);
    assert_ptr_equal(c->to_ask_alone, two);
    assert_ptr_equal(crawl_allow_next(c), two);
    c->alone = true;
    assert_int_equal(crawl_allow_answer(c, two, 0, &steps, NULL), SEEN_OK);
    c->alone = false;
    assert_int_equal(two->asked->trust, CRAWL_TRUSTED);
    crawl_hosts_pop(&c->hosts, two);
    crawl_allow_ask(c, two);
    assert_ptr_equal(crawl_allow_next(c), one);
    crawl_allow_forget(c);
    end(c);
}

TEST(a_verdict_counts_as_long_as_the_rules_that_gave_it)
{
    struct crawl *c = begin();
    struct crawl_host *host = host_of(c, 1, "User-agent: *\nDisallow: /x\n",
                                      "/x", 3);
    struct crawl_origin *o = crawl_host_origin(host,
                                               span_of("http://a.example"));
    uint64_t steps;

    assert_int_equal(turn(c, host, 1000, &steps), 3);
    assert_int_equal(host->first->line, 2);
    assert_int_equal(crawl_origin_know(host, o, 200,
                                       span_of("User-agent: seen\n"
                                               "Disallow: /y\n"),
                                       2000, NULL),
                     SEEN_OK);
    assert_int_equal(turn(c, host, 2000, &steps), 3);
    assert_int_equal(host->first->line, 0);
    end(c);
}

TEST(pages_of_one_origin_are_asked_about_at_a_time)
{
    struct crawl *c = begin();
    struct crawl_host *host = host_of(c, 1, "User-agent: *\nDisallow: /x\n",
                                      "/x", 2);
    const struct frontier_page row = { .id = 9,
                                       .url = span_of("https://a.example/x"),
                                       .path = { "", 0 },
                                       .type = { "", 0 } };
    struct crawl_page *other = crawl_page_new(&row);
    uint64_t steps;

    assert_non_null(other);
    crawl_host_push(host, other, false);
    assert_int_equal(turn(c, host, 1000, &steps), 2);
    assert_int_equal(other->asked, 0);
    end(c);
}

TEST(a_host_whose_pages_were_taken_back_meanwhile_comes_up_again)
{
    struct crawl *c = begin();
    struct crawl_host *host = host_of(c, 1, "User-agent: *\nDisallow: /x\n",
                                      "/x", 3);
    uint64_t steps;

    crawl_host_put_back(host);
    assert_int_equal(turn(c, host, 1000, &steps), 0);
    assert_int_equal(steps, 0);
    end(c);
}

/* Else it leaves memory, and the commit of the answer writes to it. */
TEST(a_host_is_not_idle_while_a_robots_txt_of_another_one_is_under_way)
{
    const struct frontier_page row = {
        .url = span_of("http://a.example/rules"),
        .path = { "", 0 },
        .type = { "", 0 },
    };
    struct crawl *c = begin();
    struct crawl_host *host = host_of(c, 1, "", "/", 0);
    struct crawl_host *other = host_of(c, 2, "", "/", 0);
    struct crawl_page *page = crawl_page_new(&row);

    assert_true(crawl_host_is_idle(host));
    page->robots = other->asked;
    crawl_host_push_robots(host, page);
    assert_false(crawl_host_is_idle(host));
    assert_ptr_equal(crawl_host_pull_robots(host, true), page);
    assert_false(crawl_host_is_idle(host));
    crawl_page_free(page);
    end(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            a_turn_is_a_bounded_number_of_pages_and_the_host_comes_up_again),
        cmocka_unit_test(a_turn_is_a_bounded_number_of_steps),
        cmocka_unit_test(hosts_take_turns),
        cmocka_unit_test(
            a_robots_txt_that_is_suspect_comes_first_and_is_asked_alone),
        cmocka_unit_test(a_verdict_counts_as_long_as_the_rules_that_gave_it),
        cmocka_unit_test(pages_of_one_origin_are_asked_about_at_a_time),
        cmocka_unit_test(
            a_host_whose_pages_were_taken_back_meanwhile_comes_up_again),
        cmocka_unit_test(
            a_host_is_not_idle_while_a_robots_txt_of_another_one_is_under_way),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
