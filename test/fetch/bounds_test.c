/*
 * bounds_test.c - what is sent, what is reported, and how much it may cost:
 * bytes, memory and time.
 */
#include "test/fetch/served.h"

#include "lib/disk/clock.h"

#include <time.h>

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The most memory that this program ever had, in kilobytes. */
static long peak(void)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[200];
    long kilobytes = -1;

    assert_non_null(f);
    while (fgets(line, sizeof line, f))
        if (!strncmp(line, "VmHWM:", 6))
            kilobytes = strtol(line + 6, NULL, 10);
    fclose(f);
    assert_true(kilobytes > 0);
    return kilobytes;
}

/* --- responses --- */

TEST(a_head_says_what_the_answer_says)
{
    struct got g = get(
        &here, NULL,
        &(struct fetch_request){ .url = "/plain#fragment", .most = 5 });
    char url[100];

    snprintf(url, sizeof url, "http://%s/plain", here.place);
    assert_string_equal(g.url, url);
    assert_string_equal(g.etag, "\"a\"");
    assert_string_equal(g.modified, "Sun, 15 Nov 2026 10:00:00 GMT");
    assert_string_equal(g.type, "text/csv");
    assert_int_equal(g.length, 5);
    assert_true(g.total == FETCH_UNKNOWN);
    assert_string_equal(g.body, "hello");

    g = get(&here, NULL,
            &(struct fetch_request){ .url = "/status/302", .most = 5 });
    assert_string_equal(g.url, url);
    assert_string_equal(g.etag, "\"a\"");
    g = get(&here, NULL,
            &(struct fetch_request){ .url = "/chunked", .most = 50 });
    assert_true(g.length == FETCH_UNKNOWN);
    assert_string_equal(g.body, "hello world");
    g = get(&here, NULL,
            &(struct fetch_request){ .url = "/304", .etag = "\"a\"" });
    assert_int_equal(g.status, 304);
    assert_string_equal(g.etag, "\"a\"");
}

TEST(a_head_says_nothing_in_control_bytes_or_at_length)
{
    struct got g = get(
        &here, NULL,
        &(struct fetch_request){ .url = "/odd-texts", .most = 5 });

    assert_int_equal(g.code, SEEN_OK);
    assert_string_equal(g.etag, "");
    assert_string_equal(g.modified, "");
    assert_string_equal(g.type, "");
}

TEST(what_is_said_before_or_after_the_head_does_not_count)
{
    struct got g = get(&here, NULL,
                       &(struct fetch_request){ .url = "/hints", .most = 5 });

    assert_string_equal(g.etag, "");
    assert_int_equal(g.length, 5);
    g = get(&here, NULL,
            &(struct fetch_request){ .url = "/trailer", .most = 5 });
    assert_true(g.length == FETCH_UNKNOWN);
}

TEST(a_part_says_which_it_is)
{
    struct got g = get(
        &here, NULL,
        &(struct fetch_request){ .url = "/part", .from = 5, .most = 5 });

    assert_int_equal(g.from, 5);
    assert_int_equal(g.total, 10);
    assert_string_equal(g.body, "world");
    g = get(
        &here, NULL,
        &(struct fetch_request){ .url = "/part-star", .from = 5, .most = 5 });
    assert_true(g.total == FETCH_UNKNOWN);
    g = get(&here, NULL, &(struct fetch_request){ .url = "/416", .from = 5 });
    assert_int_equal(g.total, 4);
}

TEST(a_part_ends_where_it_was_asked_to_or_where_the_file_does)
{
    static const struct {
        const char *path;
        uint64_t from, to;
        enum seen_code code;
    } parts[] = {
        { "/part", 5, 10, SEEN_OK },
        { "/part", 5, 12, SEEN_OK },         /* the file has 10 bytes */
        { "/part-star", 5, 10, SEEN_OK },    /* of an unknown length, */
        { "/part-star", 5, 12, SEEN_CORRUPT }, /* which ends later */
        { "/part-inner", 5, 8, SEEN_OK },
        { "/part-inner", 5, 10, SEEN_CORRUPT }, /* of 11 bytes */
        { "/part-inner", 5, 7, SEEN_CORRUPT },
        { "/part-first", 0, 5, SEEN_OK },
        { "/part-first", 0, 4, SEEN_CORRUPT },
        { "/part-first", 1, 5, SEEN_CORRUPT },
        { "/part", 5, 5, SEEN_RANGE },
        { "/part", 5, 1, SEEN_RANGE },
    };

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct got g = get(&here, NULL,
                           &(struct fetch_request){ .url = parts[i].path,
                                                    .from = parts[i].from,
                                                    .to = parts[i].to,
                                                    .most = 10 });

        if (g.code != parts[i].code)
            fail_msg("%s %d-%d: %d %s", parts[i].path, (int)parts[i].from,
                     (int)parts[i].to, (int)g.code, g.why);
    }
}

TEST(nested_gzip_is_undone_once)
{
    struct got g = get(&here, NULL,
                       &(struct fetch_request){
                           .url = "/nested", .unpack = true, .most = 1000 });

    assert_int_equal(g.code, SEEN_OK);
    assert_memory_equal(g.body, "\x1f\x8b\x08", 3);
    g = get(&here, NULL,
            &(struct fetch_request){ .url = "/file.gz", .most = 1000 });
    assert_memory_equal(g.body, "\x1f\x8b\x08", 3);
}

/* --- what is asked --- */

static void assert_asks(const struct fetch_request *r, const char *line,
                        const char *not_line)
{
    struct fetch_request echo = *r;
    struct got g;

    echo.url = "/echo";
    echo.most = 4000;
    g = get(&here, NULL, &echo);
    assert_int_equal(g.code, SEEN_OK);
    if (!strstr(g.body, line) || (not_line && strstr(g.body, not_line)))
        print_error("%s\n", g.body);
    assert_non_null(strstr(g.body, line));
    assert_true(!not_line || !strstr(g.body, not_line));
}

TEST(requests_say_what_they_should)
{
    static const char date[] = "Sun, 15 Nov 2026 10:00:00 GMT";
    static const char dated[] = ": Sun, 15 Nov 2026 10:00:00 GMT\r\n";

    assert_asks(&(struct fetch_request){ 0 },
                "GET /echo HTTP/1.1\r\nHost: 127.0.0.1", "Cookie");
    assert_asks(&(struct fetch_request){ 0 }, "\r\nUser-Agent: seen/", "If-");
    assert_asks(&(struct fetch_request){ 0 },
                "\r\nAccept-Encoding: identity\r\n", "Range");
    assert_asks(&(struct fetch_request){ .unpack = true },
                "\r\nAccept-Encoding: gzip\r\n", "identity");
    assert_asks(&(struct fetch_request){ .etag = "\"a\"" },
                "\r\nIf-None-Match: \"a\"\r\n", "Range");
    assert_asks(&(struct fetch_request){ .etag = "W/\"a\"" },
                "\r\nIf-None-Match: W/\"a\"\r\n", "Range");
    assert_asks(&(struct fetch_request){ .modified = date },
                "\r\nIf-Modified-Since: Sun, 15 Nov 2026 10:00:00 GMT\r\n",
                "Range");
    assert_asks(&(struct fetch_request){ .datetime = date },
                "\r\nAccept-Datetime: Sun, 15 Nov 2026 10:00:00 GMT\r\n",
                "If-");
    assert_asks(&(struct fetch_request){ .from = 5 },
                "\r\nRange: bytes=5-\r\n", "If-");
    assert_asks(&(struct fetch_request){ .from = UINT64_MAX - 1 },
                "\r\nRange: bytes=18446744073709551614-\r\n", "If-");
    assert_asks(&(struct fetch_request){ .from = 5, .etag = "\"a\"" },
                "\r\nIf-Range: \"a\"\r\n", "If-None");
    assert_asks(&(struct fetch_request){ .from = 5,
                                         .etag = "\"a\"",
                                         .modified = date },
                "\r\nIf-Range: \"a\"\r\n", dated);
    assert_asks(&(struct fetch_request){ .from = 5, .modified = date },
                "\r\nIf-Range: Sun, 15 Nov 2026 10:00:00 GMT\r\n", "If-Mod");
    assert_asks(&(struct fetch_request){ .from = 5,
                                         .etag = "W/\"a\"",
                                         .modified = date },
                "\r\nIf-Range: Sun, 15 Nov 2026 10:00:00 GMT\r\n", "W/");
    assert_asks(&(struct fetch_request){ .from = 5, .to = 6 },
                "\r\nRange: bytes=5-5\r\n", "If-");
    assert_asks(&(struct fetch_request){ .to = 131072 },
                "\r\nRange: bytes=0-131071\r\n", "If-");
    assert_asks(&(struct fetch_request){ .to = 9, .etag = "\"a\"" },
                "\r\nIf-Range: \"a\"\r\n", "If-None");
    /* A weak ETag alone cannot say of which version the part should be. */
    assert_asks(&(struct fetch_request){ .from = 5, .etag = "W/\"a\"" },
                "GET /echo", "ange");
}

TEST(lines_cannot_be_smuggled_into_a_request)
{
    static const char *const bad[] = {
        "\"a\"\r\nX: y", "\"a\n\"", "\"a\"\r", "a\x7f", "\x01", "", " a"
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct fetch_options rules = { .agent = bad[i] };
        struct seen_error why;
        struct fetch *web;
        struct got g = get(
            &here, NULL,
            &(struct fetch_request){ .url = "/echo", .etag = bad[i] });

        assert_int_equal(g.code, SEEN_RANGE);
        assert_int_equal(g.ended, 0);
        g = get(&here, NULL,
                &(struct fetch_request){ .url = "/echo", .modified = bad[i] });
        assert_int_equal(g.code, SEEN_RANGE);
        g = get(&here, NULL,
                &(struct fetch_request){ .url = "/echo", .datetime = bad[i] });
        assert_int_equal(g.code, SEEN_RANGE);
        assert_int_equal(fetch_new(&web, &rules, &why), SEEN_RANGE);
        assert_null(web);
    }
}

TEST(a_part_is_not_unpacked)
{
    struct got g = get(
        &here, NULL,
        &(struct fetch_request){ .url = "/plain", .from = 1, .unpack = true });

    assert_int_equal(g.code, SEEN_RANGE);
    assert_int_equal(g.ended, 0);
}

/* --- bytes --- */

TEST(bodies_are_bounded_to_the_byte)
{
    static const struct {
        const char *path;
        uint64_t n;
        bool unpack, known; /* by Content-Length */
    } bodies[] = {
        { "/big/1000000", 1000000, false, true },
        { "/until-closed", 5, false, false },
        { "/chunked", 11, false, false },
        { "/gzip", 2300, true, false },
        { "/members", 2300, true, false },
        { "/file.gz", 2300, true, false },
        { "/text", 2300, true, false },
        { "/empty", 0, false, true },
    };

    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct fetch_request r = { .url = bodies[i].path,
                                   .unpack = bodies[i].unpack,
                                   .most = bodies[i].n };
        struct got g = get(&here, NULL, &r);

        assert_int_equal(g.code, SEEN_OK);
        assert_int_equal(g.n, bodies[i].n);
        if (!r.most--)
            continue;
        g = get(&here, NULL, &r);
        assert_int_equal(g.code, SEEN_RANGE);
        assert_true(g.n <= r.most);
        if (!bodies[i].known)
            continue;
        assert_int_equal(g.begun, 0);
        assert_int_equal(g.bytes, 0);
    }
}

TEST(unwanted_bodies_cost_little)
{
    static const char *const paths[] = { "/endless-404", "/endless-redirect",
                                         "/endless-redirect-chunks",
                                         "/bomb-redirect", "/drip-redirect" };

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        double since = seconds();
        struct got g = get(&here, NULL,
                           &(struct fetch_request){
                               .url = paths[i], .unpack = true, .most = 100 });

        assert_int_equal(g.code, SEEN_OK);
        assert_true(g.bytes < 100000);
        assert_true(seconds() - since < 30);
    }
}

/* --- memory --- */

TEST(bombs_do_not_go_off_in_memory)
{
    static const struct {
        const char *path;
        enum seen_code code;
        uint64_t least;
    } bombs[] = {
        { "/bomb", SEEN_RANGE, 60 << 20 },
        { "/bomb.gz", SEEN_RANGE, 60 << 20 },
        { "/bomb-chunks", SEEN_CORRUPT, 0 },
        { "/bomb-redirect", SEEN_OK, 0 },
        { "/endless-line", SEEN_RANGE, 0 },
        { "/endless-head", SEEN_RANGE, 0 },
        { "/endless-body", SEEN_RANGE, 60 << 20 },
        { "/endless-members", SEEN_RANGE, 0 },
    };
    long before;

    get(&here, NULL,
        &(struct fetch_request){
            .url = "/gzip", .unpack = true, .most = 10000 });
    before = peak();
    for (size_t i = 0; i < sizeof bombs / sizeof *bombs; i++) {
        struct got g = get(&here, NULL,
                           &(struct fetch_request){ .url = bombs[i].path,
                                                    .unpack = true,
                                                    .most = 64 << 20 });

        assert_int_equal(g.code, bombs[i].code);
        assert_true(g.n >= bombs[i].least && g.n <= 64 << 20);
    }
    print_message("peak grew from %ld by %ld kB\n", before, peak() - before);
#ifndef __SANITIZE_ADDRESS__ /* which keeps what was freed */
    assert_true(peak() - before < 4096);
#endif
}

/* --- time --- */

TEST(servers_that_stall_are_given_up)
{
    static const char *const paths[] = { "/silent", "/drip-head", "/drip-line",
                                         "/drip-body" };
    const struct fetch_options rules = { .allow_private = true, .stall = 1 };
    struct got g[4] = { { 0 } };
    double since = seconds();
    struct fetch *web;
    char url[2000];

    assert_int_equal(fetch_new(&web, &rules, NULL), SEEN_OK);
    for (int i = 0; i < 4; i++)
        assert_int_equal(fetch_start(web,
                                     &(struct fetch_request){
                                         .url = at(&here, paths[i], url),
                                         .most = 10000,
                                         .handler = &got_handler,
                                         .owner = &g[i] },
                                     NULL),
                         SEEN_OK);
    finish_all(web);
    fetch_free(web);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(g[i].code, SEEN_IO);
        assert_string_equal(g[i].why, "stalled for 1 seconds");
    }
    assert_true(seconds() - since > 0.9);
    assert_true(seconds() - since < 30);
}

TEST(all_of_a_request_has_a_time)
{
    static const char *const paths[] = { "/drip-body", "/silent", "/late/5" };
    const struct fetch_options rules = { .allow_private = true, .timeout = 1 };

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        double since = seconds();
        struct got g = get(
            &here, &rules,
            &(struct fetch_request){ .url = paths[i], .most = 10000 });

        assert_int_equal(g.code, SEEN_IO);
        assert_string_equal(g.why, "took longer than 1 seconds");
        assert_true(seconds() - since < 30);
    }
}

TEST(a_request_may_have_less_time_than_the_others)
{
    const struct fetch_options rules = { .allow_private = true,
                                         .timeout = 60 };
    struct got g = get(&here, &rules,
                       &(struct fetch_request){
                           .url = "/drip-body", .most = 10000, .timeout = 1 });

    assert_int_equal(g.code, SEEN_IO);
    assert_int_equal(g.outcome, FETCH_LATE);
    assert_string_equal(g.why, "took longer than 1 seconds");
}

/* It sends three bytes per second; only `slow` ends it before a minute. */
TEST(a_slow_body_is_given_up)
{
    const struct fetch_options rules = { .allow_private = true,
                                         .stall = 60,
                                         .slow = 1 };
    struct got g = get(
        &here, &rules,
        &(struct fetch_request){ .url = "/drip-body", .most = 10000 });

    assert_int_equal(g.code, SEEN_IO);
    assert_int_equal(g.outcome, FETCH_LATE);
    assert_string_equal(g.why, "comes too slowly");
    assert_int_equal(g.status, 200);
}

TEST(a_request_waits_until_it_is_due)
{
    const struct fetch_options rules = { .allow_private = true };
    static const unsigned wait[] = { 400, 0, 200, 300 };
    uint64_t now = clock_ms();
    struct got g[4] = { { 0 } };
    struct fetch *web;
    char url[2000];

    assert_int_equal(fetch_new(&web, &rules, NULL), SEEN_OK);
    for (int i = 0; i < 4; i++)
        assert_int_equal(fetch_start(web,
                                     &(struct fetch_request){
                                         .url = at(&here, "/plain", url),
                                         .most = 5,
                                         .due = now + wait[i],
                                         .handler = &got_handler,
                                         .owner = &g[i] },
                                     NULL),
                         SEEN_OK);
    while (fetch_poll(web, 10000))
        for (int i = 0; i < 4; i++)
            if (g[i].ended)
                assert_true(clock_ms() >= now + wait[i]);
    fetch_free(web);
    for (int i = 0; i < 4; i++)
        assert_int_equal(g[i].code, SEEN_OK);
}

/* A port without a listener, and one whose queue is full. */
TEST(an_unreachable_server_is_reported)
{
    const struct fetch_options rules = { .allow_private = true, .connect = 1 };
    struct sockaddr_in a = { .sin_family = AF_INET,
                             .sin_addr = { htonl(INADDR_LOOPBACK) } };
    socklen_t len = sizeof a;
    int s = socket(AF_INET, SOCK_STREAM, 0), waiting[8];
    char url[100];
    struct got g;

    assert_int_equal(bind(s, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(getsockname(s, (struct sockaddr *)&a, &len), 0);
    snprintf(url, sizeof url, "http://127.0.0.1:%u/", ntohs(a.sin_port));
    g = get(&here, &rules, &(struct fetch_request){ .url = url });
    assert_int_equal(g.code, SEEN_IO);
    assert_string_equal(g.why, "no connection: Connection refused");

    assert_int_equal(listen(s, 0), 0);
    for (int i = 0; i < 8; i++) {
        waiting[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        connect(waiting[i], (struct sockaddr *)&a, sizeof a);
    }
    g = get(&here, &rules, &(struct fetch_request){ .url = url });
    assert_int_equal(g.code, SEEN_IO);
    assert_string_equal(g.why, "no connection within 1 seconds");
    for (int i = 0; i < 8; i++)
        close(waiting[i]);
    close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_head_says_what_the_answer_says),
        cmocka_unit_test(a_head_says_nothing_in_control_bytes_or_at_length),
        cmocka_unit_test(what_is_said_before_or_after_the_head_does_not_count),
        cmocka_unit_test(a_part_says_which_it_is),
        cmocka_unit_test(
            a_part_ends_where_it_was_asked_to_or_where_the_file_does),
        cmocka_unit_test(nested_gzip_is_undone_once),
        cmocka_unit_test(requests_say_what_they_should),
        cmocka_unit_test(lines_cannot_be_smuggled_into_a_request),
        cmocka_unit_test(a_part_is_not_unpacked),
        cmocka_unit_test(bodies_are_bounded_to_the_byte),
        cmocka_unit_test(unwanted_bodies_cost_little),
        cmocka_unit_test(bombs_do_not_go_off_in_memory),
        cmocka_unit_test(servers_that_stall_are_given_up),
        cmocka_unit_test(all_of_a_request_has_a_time),
        cmocka_unit_test(a_request_may_have_less_time_than_the_others),
        cmocka_unit_test(a_slow_body_is_given_up),
        cmocka_unit_test(a_request_waits_until_it_is_due),
        cmocka_unit_test(an_unreachable_server_is_reported),
    };

    return cmocka_run_group_tests(tests, served_begin, served_end);
}
