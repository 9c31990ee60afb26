/* Rules in memory: which ones are forgotten, and how they come back. */
#include "crawl/engine/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text/span.h"
#include "test/crawl/locked.h"

enum { HOSTS = 200, LONG = 500 << 10, UNTIL = 1000 };

/* As long as a robots.txt may be. */
static char *long_text(void)
{
    static const char rule[] = "User-agent: *\nDisallow: /x\n";
    static char text[LONG];

    memset(text, '#', LONG);
    memcpy(text, rule, sizeof rule - 1);
    return text;
}

static struct crawl_host *add(struct crawl *c, int64_t id)
{
    char name[40];
    int len = snprintf(name, sizeof name, "h%d.example", (int)id);
    struct crawl_host *host = crawl_host_add(
        &c->hosts, id, (struct seen_span){ name, (size_t)len }, 0);
    struct crawl_origin *o;

    assert_non_null(host);
    crawl_hosts_pop(&c->hosts, host);
    len = snprintf(name, sizeof name, "http://h%d.example", (int)id);
    o = crawl_host_origin(host, (struct seen_span){ name, (size_t)len });
    assert_non_null(o);
    host->asked = o;
    return host;
}

static struct crawl_host *know(struct crawl *c, int64_t id,
                               struct seen_span text)
{
    struct crawl_host *host = add(c, id);

    assert_int_equal(
        crawl_origin_know(host, host->asked, 200, text, UNTIL, NULL), SEEN_OK);
    return host;
}

static void push(struct crawl_host *host, const char *path)
{
    char url[80];
    const struct frontier_page row = {
        .id = 1,
        .url = { url, (size_t)snprintf(url, sizeof url, "%s%s",
                                       host->asked->name, path) },
        .path = { "", 0 },
        .type = { "", 0 },
    };
    struct crawl_page *page = crawl_page_new(&row);

    assert_non_null(page);
    page->host = host;
    crawl_host_push(host, page, false);
}

/* What is counted is what is there. */
static void check(const struct crawl *c)
{
    const struct crawl_host *host;
    size_t sum = 0;

    for (size_t at = 0; (host = map_next(&c->hosts.by_id, &at));) {
        const struct crawl_origin *o = host->asked;

        sum += o->text.room + (o->rules ? web_robots_size(o->rules) : 0);
        assert_true(o->state != CRAWL_ROBOTS_KEPT ||
                    !(o->text.len || o->rules));
        assert_true(o->state != CRAWL_ROBOTS_KNOWN || o->text.len || o->rules);
    }
    assert_int_equal(sum, c->hosts.rules_size);
    assert_true(sum <= CRAWL_RULES_MOST);
}

TEST(texts_of_all_hosts_are_bounded_and_small_ones_stay)
{
    struct crawl *c = begin();
    struct crawl_host *small = know(c, 1, span_of("User-agent: *\nAllow: /"));
    unsigned kept = 0;

    for (int64_t id = 2; id < HOSTS; id++) {
        know(c, id, (struct seen_span){ long_text(), LONG });
        check(c);
    }
    assert_int_equal(small->asked->state, CRAWL_ROBOTS_KNOWN);
    for (int64_t id = 2; id < HOSTS; id++)
        kept += crawl_host_get(&c->hosts, id)->asked->state ==
                CRAWL_ROBOTS_KEPT;
    assert_int_equal(kept, c->hosts.forgotten);
    assert_in_range(HOSTS - kept, CRAWL_RULES_MOST / (2 * LONG),
                    CRAWL_RULES_MOST / LONG + 2);
    /* The last ones are those that are there. */
    assert_int_equal(crawl_host_get(&c->hosts, HOSTS - 1)->asked->state,
                     CRAWL_ROBOTS_KNOWN);
    assert_int_equal(crawl_host_get(&c->hosts, 2)->asked->state,
                     CRAWL_ROBOTS_KEPT);
    end(c);
}

TEST(hosts_that_leave_memory_take_their_rules_along)
{
    struct crawl *c = begin();

    for (int64_t id = 1; id < HOSTS; id++)
        know(c, id, (struct seen_span){ long_text(), id % 2 ? LONG : 100 });
    for (int64_t id = 1; id < HOSTS; id++) {
        crawl_host_remove(&c->hosts, crawl_host_get(&c->hosts, id));
        check(c);
    }
    assert_int_equal(c->hosts.rules_size, 0);
    assert_null(c->hosts.rules[0].first);
    assert_null(c->hosts.rules[1].first);
    end(c);
}

static unsigned reads;

/* The committing thread, as it finds a robots.txt in the state. */
static enum seen_code read_long(struct crawl *c, struct crawl_host *host,
                                struct crawl_origin *o, struct seen_error *why)
{
    enum seen_code code;

    reads++;
    pthread_mutex_lock(&c->lock);
    code = crawl_origin_know(
        host, o, 200, (struct seen_span){ long_text(), LONG }, o->until, why);
    pthread_mutex_unlock(&c->lock);
    return code;
}

static void read_again(struct crawl *c, crawl_read_rules *read)
{
    pthread_mutex_unlock(&c->lock);
    assert_int_equal(crawl_allow_read(c, read, NULL), SEEN_OK);
    pthread_mutex_lock(&c->lock);
}

static void answer(struct crawl *c)
{
    struct crawl_host *host;
    uint64_t steps;

    while ((host = crawl_allow_next(c))) {
        assert_int_equal(crawl_allow_answer(c, host, 0, &steps, NULL),
                         SEEN_OK);
        check(c);
    }
}

TEST(rules_that_were_forgotten_are_read_again_some_at_a_time)
{
    struct crawl *c = begin();
    unsigned asked = 0;

    reads = 0;
    for (int64_t id = 1; id < HOSTS; id++) {
        push(know(c, id, (struct seen_span){ long_text(), LONG }), "/x");
    }
    for (int64_t id = 1; id < HOSTS; id++) {
        struct crawl_host *host = crawl_host_get(&c->hosts, id);

        if (host->asked->state != CRAWL_ROBOTS_KEPT)
            continue;
        crawl_allow_recall(c, host);
        assert_false(crawl_host_is_idle(host));
        asked++;
    }
    for (unsigned n = 0; n < asked; n += CRAWL_RECALLS) {
        unsigned most = asked < n + CRAWL_RECALLS ? asked : n + CRAWL_RECALLS;

        read_again(c, read_long);
        read_again(c, read_long); /* readers do not keep up */
        assert_int_equal(reads, most);
        assert_int_equal(c->recalled, most - n);
        answer(c);
        assert_int_equal(c->recalled, 0);
    }
    assert_int_equal(c->asking, 0);
    for (int64_t id = 1; id < HOSTS; id++) {
        struct crawl_host *host = crawl_host_get(&c->hosts, id);

        if (host->recalls) { /* whether its rules are still there or not */
            assert_int_equal(host->first->asked, UNTIL);
            assert_int_equal(host->first->line, 2);
        }
    }
    end(c);
}

static enum seen_code find_none(struct crawl *c, struct crawl_host *host,
                                struct crawl_origin *o, struct seen_error *why)
{
    (void)c, (void)host, (void)why;
    o->state = CRAWL_ROBOTS_UNKNOWN;
    return SEEN_OK;
}

TEST(a_host_whose_rules_are_nowhere_comes_up_again_and_asks_for_them)
{
    struct crawl *c = begin();
    struct crawl_host *host = add(c, 1);

    push(host, "/x");
    host->asked->state = CRAWL_ROBOTS_KEPT;
    crawl_allow_recall(c, host);
    read_again(c, find_none);
    answer(c);
    assert_int_equal(host->first->asked, 0);
    assert_true(host->place && !crawl_host_is_asking(host));
    end(c);
}

TEST(the_crawl_delay_outlives_the_rules)
{
    struct crawl *c = begin();
    struct crawl_host *host = know(
        c, 1, span_of("User-agent: *\nCrawl-delay: 7\nDisallow: /x\n"));

    push(host, "/x");
    crawl_allow_ask(c, host);
    answer(c);
    crawl_rules_drop(host, host->asked);
    assert_null(host->asked->rules);
    assert_true(host->asked->delay == 7);
    end(c);
}

TEST(hosts_that_wait_for_rules_are_forgotten_with_the_others)
{
    struct crawl *c = begin();
    struct crawl_host *one = add(c, 1), *two = add(c, 2);

    one->asked->state = CRAWL_ROBOTS_KEPT;
    crawl_allow_recall(c, one);
    crawl_allow_ask(c, two);
    crawl_allow_forget(c);
    assert_int_equal(c->asking, 0);
    assert_false(crawl_host_is_asking(one) || crawl_host_is_asking(two));
    end(c);
}

TEST(hosts_with_rules_that_are_read_again_have_more_pages_at_hand)
{
    struct crawl *c = begin();
    struct crawl_host *host = add(c, 1);

    assert_int_equal(crawl_host_at_hand(c, host, 8), 8);
    host->recalls = true;
    assert_int_equal(crawl_host_at_hand(c, host, 8), CRAWL_ALLOW_PAGES);
    for (int64_t id = 2; id < 4000; id++)
        add(c, id);
    assert_int_equal(crawl_host_at_hand(c, host, 2), 2);
    end(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_of_all_hosts_are_bounded_and_small_ones_stay),
        cmocka_unit_test(hosts_that_leave_memory_take_their_rules_along),
        cmocka_unit_test(
            rules_that_were_forgotten_are_read_again_some_at_a_time),
        cmocka_unit_test(
            a_host_whose_rules_are_nowhere_comes_up_again_and_asks_for_them),
        cmocka_unit_test(the_crawl_delay_outlives_the_rules),
        cmocka_unit_test(
            hosts_that_wait_for_rules_are_forgotten_with_the_others),
        cmocka_unit_test(
            hosts_with_rules_that_are_read_again_have_more_pages_at_hand),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
