/*
 * host_queue_test.c - hosts take turns, within their limits.
 */
#include "test/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fetch/host_queue.h"
#include "lib/disk/clock.h"

struct page {
    struct fetch_queued queued;
    char name[8];
};

static void add(struct fetch_host_queue *q, struct page *p, const char *host,
                const char *name)
{
    snprintf(p->name, sizeof p->name, "%s", name);
    assert_true(fetch_host_queue_add(q, &p->queued, host, 0));
}

/* The names of those that may begin now, one after the other. */
static const char *begin(struct fetch_host_queue *q)
{
    static char names[200];
    struct page *p;

    names[0] = '\0';
    while ((p = (struct page *)fetch_host_queue_next(q)))
        strcat(strcat(names, *names ? " " : ""), p->name);
    return names;
}

TEST(hosts_take_turns_and_each_keeps_its_order)
{
    struct fetch_host_queue q = { .parallel = 6, .per_host = 6 };
    struct page p[6] = { 0 };

    for (int i = 0; i < 6; i++)
        add(&q, &p[i], (const char *[]){ "a", "a", "a", "b", "b", "c" }[i],
            (const char *[]){ "a1", "a2", "a3", "b1", "b2", "c1" }[i]);
    assert_string_equal(begin(&q), "a1 b1 c1 a2 b2 a3");
    for (int i = 0; i < 6; i++)
        fetch_host_queue_remove(&q, &p[i].queued);
    assert_int_equal(q.hosts.used, 0);
    fetch_host_queue_clear(&q);
}

TEST(each_host_and_all_together_have_a_limit)
{
    struct fetch_host_queue q = { .parallel = 5, .per_host = 2 };
    struct page p[9] = { 0 };

    for (int i = 0; i < 9; i++)
        add(&q, &p[i], (const char *[]){ "a", "b", "c" }[i / 3],
            (const char *[]){ "a1", "a2", "a3", "b1", "b2", "b3", "c1", "c2",
                              "c3" }[i]);
    assert_string_equal(begin(&q), "a1 b1 c1 a2 b2");
    fetch_host_queue_remove(&q, &p[0].queued);
    assert_string_equal(begin(&q), "c2");
    fetch_host_queue_remove(&q, &p[1].queued);
    assert_string_equal(begin(&q), "a3");
    fetch_host_queue_clear(&q);
}

TEST(a_host_has_half_while_others_wait_and_all_if_none_does)
{
    struct fetch_host_queue q = { .parallel = 4, .per_host = 4 };
    struct page slow[8] = { 0 }, quick[8] = { 0 };

    for (int i = 0; i < 8; i++)
        add(&q, &slow[i], "slow", "s");
    assert_string_equal(begin(&q), "s s s s");
    for (int i = 0; i < 3; i++)
        fetch_host_queue_remove(&q, &slow[i].queued);
    for (int i = 0; i < 8; i++)
        add(&q, &quick[i], "quick", "q");
    assert_string_equal(begin(&q), "s q q");
    for (int i = 0; i < 6; i++) { /* those of the slow one never end */
        fetch_host_queue_remove(&q, &quick[i].queued);
        assert_string_equal(begin(&q), "q");
    }
    fetch_host_queue_remove(&q, &quick[6].queued);
    assert_string_equal(begin(&q), "s");
    fetch_host_queue_clear(&q);
}

TEST(a_redirect_goes_to_the_front_of_its_new_host)
{
    struct fetch_host_queue q = { .parallel = 1, .per_host = 1 };
    struct page p[4] = { 0 };

    for (int i = 0; i < 4; i++)
        add(&q, &p[i], i < 2 ? "a" : "b",
            (const char *[]){ "a1", "a2", "b1", "b2" }[i]);
    assert_string_equal(begin(&q), "a1");
    assert_true(fetch_host_queue_redirect(&q, &p[0].queued, "b"));
    assert_string_equal(begin(&q), "a1"); /* before b1 */
    assert_true(fetch_host_queue_redirect(&q, &p[0].queued, "b"));
    assert_string_equal(begin(&q), "a2"); /* hosts take turns */
    fetch_host_queue_clear(&q);
}

TEST(an_entry_is_not_next_before_it_is_due)
{
    struct fetch_host_queue q = { .parallel = 9, .per_host = 9 };
    struct page p[4] = { 0 };
    uint64_t now = clock_ms();

    for (int i = 0; i < 4; i++) {
        snprintf(p[i].name, sizeof p[i].name, "%d", i);
        assert_true(fetch_host_queue_add(
            &q, &p[i].queued, "a",
            (const uint64_t[]){ now + 1000, 0, now + 3600000, now + 500 }[i]));
    }
    assert_string_equal(begin(&q), "1");
    assert_int_equal(fetch_host_queue_due(&q), now + 500);
    while (clock_ms() < now + 1000)
        usleep(1000);
    assert_string_equal(begin(&q), "3 0");
    assert_int_equal(fetch_host_queue_due(&q), now + 3600000);
    for (int i = 0; i < 4; i++)
        fetch_host_queue_remove(&q, &p[i].queued);
    assert_int_equal(fetch_host_queue_due(&q), UINT64_MAX);
    assert_int_equal(q.hosts.used, 0);
    fetch_host_queue_clear(&q);
}

static bool is_named(const struct fetch_queued *e, const void *name)
{
    return !strcmp(((const struct page *)e)->name, name);
}

TEST(entries_that_wait_can_be_moved_out)
{
    struct fetch_host_queue q = { .parallel = 1, .per_host = 1 };
    struct fetch_list out = { 0 };
    struct page p[4] = { 0 };

    for (int i = 0; i < 4; i++)
        add(&q, &p[i], i % 2 ? "a" : "b", i < 3 ? "x" : "y");
    assert_string_equal(begin(&q), "x"); /* p[0] is active and stays */
    fetch_host_queue_move(&q, is_named, "x", &out);
    assert_ptr_not_equal(out.first, out.last);
    assert_ptr_equal(out.first->after, out.last);
    fetch_host_queue_remove(&q, &p[0].queued);
    assert_string_equal(begin(&q), "y");
    fetch_host_queue_remove(&q, &p[1].queued); /* is out already */
    fetch_host_queue_remove(&q, &p[3].queued);
    assert_null(fetch_host_queue_next(&q));
    assert_int_equal(q.hosts.used, 0);
    fetch_host_queue_clear(&q);
}

TEST(a_hundred_thousand_hosts_take_no_time)
{
    enum { MANY = 100000 };
    struct fetch_host_queue q = { .parallel = 4, .per_host = 2 };
    struct page *p = calloc(MANY, sizeof *p);
    struct fetch_queued *running[4], *e;
    char host[32];
    size_t n = 0;

    assert_non_null(p);
    for (int i = 0; i < MANY; i++) {
        snprintf(host, sizeof host, "h%d.example:443", i);
        add(&q, &p[i], host, "x");
    }
    for (int i = 0; i < 4; i++)
        assert_non_null(running[i] = fetch_host_queue_next(&q));
    for (n = 4; n < MANY; n++) {
        assert_null(fetch_host_queue_next(&q));
        fetch_host_queue_remove(&q, running[n % 4]);
        e = fetch_host_queue_next(&q);
        assert_ptr_equal(e, &p[n].queued);
        running[n % 4] = e;
    }
    for (int i = 0; i < 4; i++)
        fetch_host_queue_remove(&q, running[i]);
    assert_int_equal(q.hosts.used, 0);
    fetch_host_queue_clear(&q);
    free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_take_turns_and_each_keeps_its_order),
        cmocka_unit_test(each_host_and_all_together_have_a_limit),
        cmocka_unit_test(
            a_host_has_half_while_others_wait_and_all_if_none_does),
        cmocka_unit_test(a_redirect_goes_to_the_front_of_its_new_host),
        cmocka_unit_test(an_entry_is_not_next_before_it_is_due),
        cmocka_unit_test(entries_that_wait_can_be_moved_out),
        cmocka_unit_test(a_hundred_thousand_hosts_take_no_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
