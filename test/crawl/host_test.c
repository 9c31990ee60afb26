/* Hosts in memory: due times, addresses, delays. */
#include "crawl/engine/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text/span.h"
#include "test/test.h"

static struct crawl_host *add(struct crawl_hosts *h, int64_t id,
                              const char *name, int64_t due)
{
    struct crawl_host *host = crawl_host_add(h, id, span_of(name), due);

    assert_non_null(host);
    return host;
}

TEST(hosts_come_in_the_order_of_their_times)
{
    enum { N = 1000 };
    struct crawl_hosts h = { .per_address = 1 };
    unsigned short seed[3] = { 1, 2, 3 };
    int64_t last = 0;

    for (int i = 1; i <= N; i++)
        add(&h, i, "a.example", nrand48(seed) % 5000);
    for (int i = 1; i <= N; i += 3) /* some change their minds */
        crawl_host_set_due(&h, crawl_host_get(&h, i), nrand48(seed) % 5000);
    for (int i = 2; i <= N; i += 3)
        crawl_hosts_pop(&h, crawl_host_get(&h, i));
    for (int left = N - (N + 1) / 3; left; left--) {
        struct crawl_host *host = crawl_hosts_first(&h);

        assert_non_null(host);
        assert_true(host->due >= last);
        last = host->due;
        crawl_hosts_pop(&h, host);
    }
    assert_null(crawl_hosts_first(&h));
    crawl_hosts_clear(&h);
}

static bool enter(struct crawl_hosts *h, struct crawl_host *host)
{
    if (!crawl_host_may_enter(h, host))
        return false;
    crawl_host_enter(h, host);
    return true;
}

TEST(an_address_has_so_much_at_a_time_and_the_rest_waits)
{
    struct crawl_hosts h = { .slow = 0 };
    struct crawl_host *host[4];

    crawl_hosts_limit(&h, 2, 100);
    for (int i = 0; i < 4; i++) {
        host[i] = add(&h, i + 1, "x.example", 0);
        crawl_hosts_pop(&h, host[i]);
        assert_true(crawl_host_resolve(&h, host[i], "192.0.2.1"));
    }
    assert_true(enter(&h, host[0]));
    assert_true(enter(&h, host[1]));
    assert_false(enter(&h, host[2]));
    assert_false(enter(&h, host[3]));
    assert_null(crawl_hosts_first(&h));
    crawl_host_leave(&h, host[0]);
    assert_ptr_equal(crawl_hosts_first(&h), host[2]);
    crawl_hosts_pop(&h, host[2]);
    assert_true(crawl_host_may_enter(&h, host[2]));
    assert_int_equal(host[3]->state, CRAWL_HOST_WAITS);
    crawl_host_pass(&h, host[2]); /* it has nothing to request after all */
    assert_ptr_equal(crawl_hosts_first(&h), host[3]);
    crawl_hosts_pop(&h, host[3]);
    assert_true(enter(&h, host[3]));
    assert_false(enter(&h, host[2]));
    crawl_host_leave(&h, host[1]);
    assert_ptr_equal(crawl_hosts_first(&h), host[2]);
    crawl_hosts_clear(&h);
}

TEST(a_host_is_in_one_state_and_comes_back_to_rest_from_all_others)
{
    struct crawl_hosts h = { .per_address = 1 };
    struct crawl_host *host = add(&h, 1, "a.example", 0);

    assert_int_equal(host->state, CRAWL_HOST_DUE);
    assert_false(crawl_host_may_become(host, CRAWL_HOST_BUSY));
    crawl_hosts_pop(&h, host);
    assert_int_equal(host->state, CRAWL_HOST_RESTS);
    assert_false(crawl_host_may_become(host, CRAWL_HOST_CLAIMS));
    crawl_host_become(host, CRAWL_HOST_LOOKED_UP);
    assert_false(crawl_host_is_free(host));
    crawl_host_become(host, CRAWL_HOST_CLAIMS);
    crawl_host_become(host, CRAWL_HOST_RESTS);
    crawl_host_become(host, CRAWL_HOST_RECALLS);
    crawl_host_become(host, CRAWL_HOST_ASKS_AGAIN);
    assert_true(crawl_host_is_asking(host));
    assert_false(crawl_host_may_become(host, CRAWL_HOST_DUE));
    crawl_host_become(host, CRAWL_HOST_RESTS);
    assert_true(crawl_host_is_free(host));
    for (int from = 1; from < CRAWL_HOST_STATES; from++) {
        host->state = (enum crawl_host_state)from;
        assert_true(crawl_host_may_become(host, CRAWL_HOST_RESTS));
        for (int to = 1; to < CRAWL_HOST_STATES; to++)
            assert_int_equal(
                crawl_host_may_become(host, (enum crawl_host_state)to),
                (from == CRAWL_HOST_LOOKED_UP && to == CRAWL_HOST_CLAIMS) ||
                    (from == CRAWL_HOST_RECALLS &&
                     to == CRAWL_HOST_ASKS_AGAIN));
    }
    host->state = CRAWL_HOST_RESTS;
    crawl_hosts_clear(&h);
}

/* One page may link to thousands of them. */
TEST(hosts_that_have_not_answered_leave_requests_to_others)
{
    enum { PARALLEL = 8, NEW = 20, MOST = 6 };
    struct crawl_hosts h = { .slow = 0 };
    struct crawl_host *host, *good;

    crawl_hosts_limit(&h, 4, PARALLEL);
    for (int i = 0; i < NEW; i++)
        add(&h, i, "new.example", 0);
    good = add(&h, NEW, "good.example", 7);
    for (int i = 0; i < MOST; i++) {
        host = crawl_hosts_first(&h);
        assert_int_equal(host->due, 0);
        crawl_hosts_pop(&h, host);
        assert_true(enter(&h, host));
    }
    assert_null(crawl_hosts_first(&h));
    assert_true(crawl_host_set_prompt(&h, good, true));
    assert_ptr_equal(crawl_hosts_first(&h), good);
    crawl_hosts_pop(&h, good);
    assert_true(enter(&h, good)); /* it counts for itself */
    crawl_host_leave(&h, good);
    crawl_host_leave(&h, host);
    assert_true(crawl_host_set_due(&h, host, 9));
    assert_int_equal(crawl_hosts_first(&h)->due, 0);
    crawl_hosts_clear(&h);
}

TEST(one_request_at_a_time_is_always_for_whichever_host)
{
    struct crawl_hosts h = { .slow = 0 };
    struct crawl_host *host;

    crawl_hosts_limit(&h, 1, 1);
    host = add(&h, 1, "new.example", 0);
    assert_ptr_equal(crawl_hosts_first(&h), host);
    crawl_hosts_clear(&h);
    host = add(&h, 2, "next.example", 0); /* the limits stay */
    crawl_hosts_pop(&h, host);
    assert_true(enter(&h, host));
    add(&h, 3, "last.example", 0);
    assert_null(crawl_hosts_first(&h));
    crawl_hosts_clear(&h);
}

static void give_page(struct crawl_host *host)
{
    const struct frontier_page row = { .url = span_of("http://x.example/"),
                                       .path = { "", 0 },
                                       .type = { "", 0 } };
    struct crawl_page *page = crawl_page_new(&row);

    assert_non_null(page);
    crawl_host_push(host, page, false);
}

static struct crawl_page *give_robots(struct crawl_host *host,
                                      struct crawl_host *of)
{
    const struct frontier_page row = { .url = span_of(
                                           "http://x.example/robots.txt"),
                                       .path = { "", 0 },
                                       .type = { "", 0 } };
    struct crawl_page *page = crawl_page_new(&row);

    assert_non_null(page);
    page->robots = crawl_host_origin(of, span_of("http://y.example"));
    crawl_host_push_robots(host, page);
    assert_ptr_equal(page->host, host);
    return page;
}

TEST(robots_txt_of_other_hosts_have_every_fourth_turn_of_a_host_with_pages)
{
    enum { MOVED = 1000 };
    struct crawl_hosts h = { .slow = 0 };
    struct crawl_host *host, *other;
    unsigned pages = 0;

    crawl_hosts_limit(&h, 4, 100);
    host = add(&h, 1, "x.example", 0);
    other = add(&h, 2, "y.example", 0);
    give_page(host);
    assert_true(crawl_host_is_turn_of_pages(host));
    for (int i = 0; i < MOVED; i++)
        give_robots(host, other);
    for (int i = 0; i < MOVED; i++) {
        struct crawl_page *page;

        for (; crawl_host_is_turn_of_pages(host); pages++)
            assert_null(crawl_host_pull_robots(host, false));
        page = crawl_host_pull_robots(host, true);
        assert_ptr_equal(page->robots->host, other);
        crawl_page_free(page);
    }
    assert_int_equal(pages, 3 * MOVED);
    assert_null(crawl_host_pull_robots(host, true));
    assert_true(crawl_host_is_turn_of_pages(host));
    give_robots(host, other); /* which is freed with it */
    crawl_hosts_clear(&h);
}

TEST(robots_txt_of_the_host_itself_comes_before_all_others)
{
    struct crawl_hosts h = { .slow = 0 };
    struct crawl_host *host, *other;
    struct crawl_page *own, *moved;

    crawl_hosts_limit(&h, 4, 100);
    host = add(&h, 1, "x.example", 0);
    other = add(&h, 2, "y.example", 0);
    moved = give_robots(host, other);
    own = give_robots(host, host);
    assert_ptr_equal(crawl_host_pull_robots(host, false), own);
    assert_null(crawl_host_pull_robots(host, false));
    crawl_host_push_robots(host, own);
    assert_ptr_equal(crawl_host_pull_robots(host, true), own);
    assert_ptr_equal(crawl_host_pull_robots(host, true), moved);
    crawl_page_free(own);
    crawl_page_free(moved);
    crawl_hosts_clear(&h);
}

static struct crawl_origin *port(struct crawl_host *host, int port)
{
    char name[64];

    snprintf(name, sizeof name, "http://x.example:%d", port);
    return crawl_host_origin(host, span_of(name));
}

TEST(origins_that_no_page_needs_are_forgotten)
{
    enum { PORTS = 65535 };
    struct crawl_hosts h = { .per_address = 1 };
    struct crawl_host *host = add(&h, 1, "x.example", 0);
    const struct frontier_page row = { .url = span_of("http://x.example:7/"),
                                       .path = { "", 0 },
                                       .type = { "", 0 } };
    struct crawl_origin *asked = port(host, 9), *needed = port(host, 7);

    asked->state = CRAWL_ROBOTS_ASKED;
    crawl_host_push(host, crawl_page_new(&row), false);
    for (int i = 1; i <= PORTS; i++) {
        crawl_host_trim_origins(host);
        assert_non_null(port(host, i));
        assert_true(host->origins.used <= 128);
    }
    assert_ptr_equal(port(host, 9), asked);
    assert_ptr_equal(port(host, 7), needed);
    crawl_hosts_clear(&h);
}

TEST(failures_of_a_port_are_bounded_per_host)
{
    struct crawl_hosts h = { .per_address = 1 };
    struct crawl_host *host = add(&h, 1, "x.example", 0);
    struct crawl_origin *main = crawl_host_origin(
        host, span_of("https://x.example"));

    for (int i = 1; i <= CRAWL_FAILING; i++) {
        struct crawl_origin *o = port(host, i);

        assert_false(crawl_origin_is_too_much(host, o));
        for (int k = 1; k <= CRAWL_FAILURES; k++) {
            assert_int_not_equal(o->state, CRAWL_ROBOTS_CLOSED);
            crawl_origin_failed(host, o);
        }
        assert_int_equal(o->state, CRAWL_ROBOTS_CLOSED);
    }
    assert_int_equal(host->closed, CRAWL_FAILING);
    assert_true(crawl_origin_is_too_much(host, port(host, 99)));
    assert_false(crawl_origin_is_too_much(host, main));
    crawl_origin_open(host, port(host, 1)); /* another visit asks it again */
    assert_false(crawl_origin_is_too_much(host, port(host, 99)));
    crawl_origin_failed(host, port(host, 1));
    assert_true(crawl_origin_is_too_much(host, port(host, 99)));
    crawl_origin_answered(host, port(host, 1));
    assert_false(crawl_origin_is_too_much(host, port(host, 99)));
    crawl_hosts_clear(&h);
}

TEST(what_an_earlier_run_knows_of_origins_counts_once)
{
    struct crawl_hosts h = { .per_address = 1 };
    struct crawl_host *host = add(&h, 1, "[::1]", 0);
    struct crawl_origin *o = crawl_host_origin(host,
                                               span_of("http://[::1]:1"));
    struct crawl_origin *other = crawl_host_origin(host,
                                                   span_of("http://[::1]:2"));
    struct crawl_origin *main = crawl_host_origin(host,
                                                  span_of("http://[::1]"));

    assert_true(crawl_origin_recall(host, o, 4, CRAWL_FAILING, "why", 3));
    assert_true(crawl_origin_recall(host, other, 0, CRAWL_FAILING, NULL, 0));
    assert_int_equal(o->state, CRAWL_ROBOTS_CLOSED);
    assert_string_equal(o->reason, "why");
    assert_int_equal(host->closed, CRAWL_FAILING);
    assert_int_equal(host->failing, CRAWL_FAILING);
    assert_true(crawl_origin_is_too_much(host, other));
    assert_false(crawl_origin_is_too_much(host, main));
    crawl_hosts_clear(&h);
}

TEST(addresses_are_forgotten_with_their_hosts)
{
    struct crawl_hosts h = { .per_address = 1, .slow_most = 2 };
    struct crawl_host *a = add(&h, 1, "a.example", 0);
    struct crawl_host *b = add(&h, 2, "b.example", 0);

    crawl_hosts_pop(&h, a);
    assert_true(crawl_host_resolve(&h, a, "192.0.2.1"));
    assert_true(enter(&h, a));
    assert_true(crawl_host_resolve(&h, b, "192.0.2.1"));
    crawl_hosts_pop(&h, b);
    assert_false(enter(&h, b));
    crawl_host_leave(&h, a);
    assert_ptr_equal(crawl_hosts_first(&h), b);
    assert_int_equal(h.addresses.used, 1);
    crawl_host_remove(&h, a);
    assert_int_equal(h.addresses.used, 1);
    crawl_host_remove(&h, b);
    assert_int_equal(h.addresses.used, 0);
    crawl_hosts_clear(&h);
}

TEST(a_host_that_is_put_off_does_not_come_up_before)
{
    struct crawl_hosts h = { .per_address = 1 };
    struct crawl_host *a = add(&h, 1, "a.example", 0);

    a->hold = 1000;
    assert_true(crawl_host_set_due(&h, a, 10));
    assert_int_equal(a->due, 1000);
    assert_true(crawl_host_set_due(&h, a, 2000));
    assert_int_equal(a->due, 2000);
    assert_ptr_equal(crawl_host_named(&h, span_of("a.example")), a);
    assert_null(crawl_host_named(&h, span_of("b.example")));
    crawl_hosts_clear(&h);
}

TEST(rows_on_their_way_are_known)
{
    struct crawl_hosts h = { .per_address = 1 };
    struct crawl_host *host = add(&h, 1, "a.example", 0);

    for (int64_t id = 1; id <= 100; id++)
        assert_true(crawl_host_note_out(host, id));
    for (int64_t id = 1; id <= 100; id += 2)
        crawl_host_forget_out(host, id);
    for (int64_t id = 1; id <= 100; id++)
        assert_int_equal(crawl_host_is_out(host, id), id % 2 == 0);
    crawl_hosts_clear(&h);
}

TEST(delays_are_those_that_are_documented)
{
    static const struct {
        unsigned ms;
        int64_t fixed;
        double asked;
        unsigned after;
        int64_t delay;
    } known[] = {
        { 100, -1, -1, 0, 3000 },     /* at least 3 s */
        { 1000, -1, -1, 0, 5000 },    /* five times as long as it took */
        { 20000, -1, -1, 0, 30000 },  /* at most 30 s */
        { 100, 0, -1, 0, 0 },         /* --delay 0 */
        { 100, 500, -1, 0, 500 },
        { 100, -1, 10, 0, 10000 },    /* Crawl-delay */
        { 100, -1, 1, 0, 3000 },      /* never shortens */
        { 100, -1, 1e9, 0, 300000 },  /* up to 300 s */
        { 100, 0, 2, 0, 2000 },       /* also with --delay 0 */
        { 100, -1, -1, 120, 120000 }, /* Retry-After */
    };

    for (size_t i = 0; i < LENGTH(known); i++)
        assert_int_equal(crawl_delay(known[i].ms, known[i].fixed,
                                     known[i].asked, known[i].after),
                         known[i].delay);
}

TEST(what_pages_cost_is_charged_ten_times_within_the_limits)
{
    static const struct {
        int64_t delay;
        uint64_t steps;
        int64_t more;
    } known[] = {
        { 3000, 0, 0 },
        { 3000, 4999999, 0 },            /* an ordinary page */
        { 3000, 100000000, 2000 },       /* 0.2 s: 2 s */
        { 0, 1000000000, 20000 },        /* all that a page may cost */
        { 25000, 1000000000, 5000 },     /* up to 30 s */
        { 300000, 1000000000, 0 },       /* it waits for longer already */
        { 0, UINT64_MAX, 30000 },
    };

    for (size_t i = 0; i < LENGTH(known); i++)
        assert_int_equal(crawl_delay_charge(known[i].delay, known[i].steps),
                         known[i].more);
}

TEST(what_a_robots_txt_costs_is_owed_and_only_beside_others)
{
    struct crawl_host host = { .owed = 0 };
    int64_t waited = 0;

    for (int i = 0; i < 60000; i++) {
        int64_t more;

        host.owed += CRAWL_EXCLUDED_STEPS;
        more = crawl_host_owes(&host, false);
        assert_in_range(more, 0, 100);
        waited += more;
    }
    assert_int_equal(waited, 60000 / 1250 * 100);
    host.owed = (uint64_t)CRAWL_RULE_BYTE_STEPS * WEB_ROBOTS_MOST;
    assert_int_equal(crawl_host_owes(&host, false), 204);
    assert_int_equal(crawl_host_owes(&host, false), 0);

    host.owed = UINT64_MAX;
    assert_int_equal(crawl_host_owes(&host, true), 0);
    assert_int_equal(host.owed, 0); /* nor later */
}

TEST(rows_of_links_are_charged_within_the_usual_delays)
{
    assert_int_equal(crawl_delay_charge_rows(0, 0), 0);
    assert_int_equal(crawl_delay_charge_rows(3000, 10), 0);
    assert_int_equal(crawl_delay_charge_rows(0, 1000), 34);
    assert_int_equal(crawl_delay_charge_rows(29990, 100000), 10);
    assert_int_equal(crawl_delay_charge_rows(60000, 100000), 0);
}

TEST(a_host_has_more_answers_waiting_while_they_are_cheap)
{
    struct crawl_host host = { .unread = 0 };

    assert_false(crawl_host_has_unread(&host));
    host.unread = 1;
    assert_true(crawl_host_has_unread(&host));
    for (int i = 0; i < 1000; i++) {
        crawl_host_note_read(&host, false);
        host.unread++;
    }
    for (; host.unread < 501; host.unread++)
        assert_false(crawl_host_has_unread(&host));
    assert_true(crawl_host_has_unread(&host));
    host.unread = 2;
    crawl_host_note_read(&host, true);
    assert_true(crawl_host_has_unread(&host));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_come_in_the_order_of_their_times),
        cmocka_unit_test(
            a_host_is_in_one_state_and_comes_back_to_rest_from_all_others),
        cmocka_unit_test(an_address_has_so_much_at_a_time_and_the_rest_waits),
        cmocka_unit_test(
            hosts_that_have_not_answered_leave_requests_to_others),
        cmocka_unit_test(one_request_at_a_time_is_always_for_whichever_host),
        cmocka_unit_test(
            robots_txt_of_other_hosts_have_every_fourth_turn_of_a_host_with_pages),
        cmocka_unit_test(
            robots_txt_of_the_host_itself_comes_before_all_others),
        cmocka_unit_test(addresses_are_forgotten_with_their_hosts),
        cmocka_unit_test(origins_that_no_page_needs_are_forgotten),
        cmocka_unit_test(failures_of_a_port_are_bounded_per_host),
        cmocka_unit_test(what_an_earlier_run_knows_of_origins_counts_once),
        cmocka_unit_test(a_host_that_is_put_off_does_not_come_up_before),
        cmocka_unit_test(rows_on_their_way_are_known),
        cmocka_unit_test(a_host_has_more_answers_waiting_while_they_are_cheap),
        cmocka_unit_test(rows_of_links_are_charged_within_the_usual_delays),
        cmocka_unit_test(delays_are_those_that_are_documented),
        cmocka_unit_test(
            what_pages_cost_is_charged_ten_times_within_the_limits),
        cmocka_unit_test(
            what_a_robots_txt_costs_is_owed_and_only_beside_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
