/*
 * retry_test.c - which failures are tried again, when, and how often.
 */
#include "test/test.h"

#include <stdio.h>
#include <string.h>

#include "fetch/retry.h"
#include "lib/disk/clock.h"

static const struct fetch_retry_policy policy = { .attempts = 3,
                                                  .pause = 1000,
                                                  .patience = 60 };

/* --- one request --- */

static const struct {
    const char *name;
    enum seen_code code;
    struct fetch_response response;
    bool again;
} ends[] = {
    { "success", SEEN_OK, { .status = 200 }, false },
    { "not found", SEEN_OK, { .status = 404 }, false },
    { "too many requests", SEEN_OK, { .status = 429 }, true },
    { "server fault", SEEN_OK, { .status = 503 }, true },
    { "no connection", SEEN_IO, { .outcome = FETCH_FAILED }, true },
    { "cut short",
      SEEN_CORRUPT,
      { .status = 200, .outcome = FETCH_FAILED },
      true },
    { "guarded", SEEN_RANGE, { .outcome = FETCH_FAILED }, false },
    { "slow", SEEN_IO, { .status = 200, .outcome = FETCH_LATE }, false },
    { "stopped", SEEN_IO, { .status = 200, .outcome = FETCH_STOPPED }, false },
    { "cancelled", SEEN_UNABLE, { .outcome = FETCH_CANCELLED }, false },
    { "later", SEEN_OK, { .status = 503, .after = 60 }, true },
    { "too late", SEEN_OK, { .status = 503, .after = 61 }, false },
};

TEST(failures_that_may_pass_are_tried_again)
{
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct fetch_retry r = { 0 };
        uint64_t due = 0;
        bool again = fetch_retry_again(&r, &policy, ends[i].code,
                                       &ends[i].response, &due);

        if (again != ends[i].again)
            fail_msg("%s", ends[i].name);
        assert_int_equal(r.attempts,
                         fetch_retry_helps(ends[i].code, &ends[i].response));
        assert_int_equal(due != 0, again);
    }
}

TEST(pauses_grow_and_attempts_end)
{
    const struct fetch_response gone = { .outcome = FETCH_FAILED };
    const struct fetch_response busy = { .status = 503, .after = 5 };
    struct fetch_retry r = { 0 };
    uint64_t due, before = clock_ms();

    assert_true(fetch_retry_again(&r, &policy, SEEN_IO, &gone, &due));
    assert_in_range(due, before + 1000, clock_ms() + 1000);
    before = clock_ms();
    assert_true(fetch_retry_again(&r, &policy, SEEN_IO, &gone, &due));
    assert_in_range(due, before + 4000, clock_ms() + 4000);
    assert_false(fetch_retry_again(&r, &policy, SEEN_IO, &gone, &due));
    r.attempts = 0; /* there was progress */
    before = clock_ms();
    assert_true(fetch_retry_again(&r, &policy, SEEN_OK, &busy, &due));
    assert_in_range(due, before + 5000, clock_ms() + 5000);
}

/* --- hosts --- */

#define HOST "http://a.example:8080"
#define OTHER "http://b.example/"

static void note(struct fetch_health *h, unsigned group, const char *url,
                 enum seen_code code, int status, enum fetch_outcome outcome)
{
    const struct fetch_response response = { .status = status,
                                             .url = url,
                                             .outcome = outcome };

    fetch_health_note(h, group, url, code, &response);
}

TEST(three_failures_in_a_row_make_a_host_down_for_their_group)
{
    struct fetch_health h = { 0 };

    for (int i = 0; i < 3; i++) {
        assert_false(fetch_health_down(&h, 1, HOST "/x"));
        note(&h, 1, i ? HOST "/x" : HOST "?y", SEEN_OK, 500, FETCH_DONE);
    }
    assert_true(fetch_health_down(&h, 1, HOST "/another"));
    assert_false(fetch_health_down(&h, 2, HOST "/another"));
    assert_false(fetch_health_down(&h, 1, OTHER));
    note(&h, 1, HOST "/x", SEEN_OK, 200, FETCH_DONE);
    assert_false(fetch_health_down(&h, 1, HOST "/another"));
    fetch_health_clear(&h);
}

TEST(a_host_that_does_not_answer_is_down_for_all)
{
    struct fetch_health h = { 0 };

    for (unsigned i = 1; i <= 3; i++)
        note(&h, i, HOST "/x", SEEN_IO, 0, FETCH_FAILED);
    assert_true(fetch_health_down(&h, 7, HOST "/another"));
    fetch_health_clear(&h);
}

TEST(faults_of_a_file_or_of_another_host_say_nothing_about_a_host)
{
    const struct fetch_response led_away = { .url = OTHER,
                                             .outcome = FETCH_FAILED };
    struct fetch_health h = { 0 };

    for (int i = 0; i < 9; i++) {
        note(&h, 1, HOST "/x", SEEN_UNABLE, 404, FETCH_DONE);
        note(&h, 1, HOST "/x", SEEN_CORRUPT, 200, FETCH_STOPPED);
        note(&h, 1, HOST "/x", SEEN_RANGE, 0, FETCH_FAILED);
        fetch_health_note(&h, 2, HOST "/x", SEEN_IO, &led_away);
    }
    assert_false(fetch_health_down(&h, 1, HOST "/x"));
    assert_true(fetch_health_down(&h, 2, HOST "/x"));
    assert_false(fetch_health_down(&h, 3, HOST "/x"));
    fetch_health_clear(&h);
}

TEST(hosts_without_end_take_bounded_memory)
{
    struct fetch_health h = { 0 };
    char url[400];

    for (int i = 0; i < 3 * FETCH_HEALTH_MOST; i++) {
        snprintf(url, sizeof url, "http://h%d.example/", i);
        note(&h, 1, url, SEEN_IO, 0, FETCH_FAILED);
    }
    assert_int_equal(h.failures.used, FETCH_HEALTH_MOST);
    memset(url, 'x', sizeof url - 1);
    memcpy(url, "http://", 7);
    url[sizeof url - 1] = '\0';
    for (int i = 0; i < 9; i++)
        note(&h, 1, url, SEEN_IO, 0, FETCH_FAILED);
    assert_false(fetch_health_down(&h, 1, url));
    fetch_health_clear(&h);
}

TEST(a_status_is_put_into_words)
{
    struct seen_error why;

    assert_int_equal(fetch_status_fault(404, &why), SEEN_UNABLE);
    assert_string_equal(why.text, "is answered with 404: not found");
    assert_int_equal(fetch_status_fault(503, &why), SEEN_IO);
    assert_int_equal(why.code, SEEN_IO);
    assert_int_equal(fetch_status_fault(418, NULL), SEEN_UNABLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failures_that_may_pass_are_tried_again),
        cmocka_unit_test(pauses_grow_and_attempts_end),
        cmocka_unit_test(
            three_failures_in_a_row_make_a_host_down_for_their_group),
        cmocka_unit_test(a_host_that_does_not_answer_is_down_for_all),
        cmocka_unit_test(
            faults_of_a_file_or_of_another_host_say_nothing_about_a_host),
        cmocka_unit_test(hosts_without_end_take_bounded_memory),
        cmocka_unit_test(a_status_is_put_into_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
