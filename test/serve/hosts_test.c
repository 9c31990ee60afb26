/* hosts_test.c - which Host headers a server on a loopback address accepts. */
#include "test/wall.h"

#include <string.h>

#include "serve/hosts.h"

static bool knows(const struct hosts *h, const char *host)
{
    const size_t len = strlen(host);

    return hosts_know(h, (struct seen_span){ walled(host, len), len });
}

TEST(numeric_addresses_and_localhost_are_always_known)
{
    static const char *const known[] = {
        "",
        "127.0.0.1",
        "127.0.0.1:8080",
        "127.0.0.1:",
        "10.1.2.3:80",
        "[::1]",
        "[::1]:8080",
        "[2001:db8::1.2.3.4]",
        "localhost",
        "LOCALHOST:8080",
        "localhost.",
        "localhost.:1",
    };
    static const char *const unknown[] = {
        "evil.example",
        "evil.example:8080",
        "localhost.evil.example",
        "evillocalhost",
        "localhos",
        "127.0.0.1.evil.example",
        "127.0.0.1.nip.io:80",
        "127.1",
        "2130706433",
        "0x7f.1",
        "127.0.0.1..",
        "127.0.0.01",
        "0.0.0.0=5000",
        "[::1",
        "[127.0.0.1]",
        "[evil.example]",
        "::1",
        ":80",
        ".",
        "localhost..",
    };
    const struct hosts none = { .names = 0 };

    for (size_t i = 0; i < LENGTH(known); i++)
        if (!knows(&none, known[i]))
            fail_msg("%s", known[i]);
    for (size_t i = 0; i < LENGTH(unknown); i++)
        if (knows(&none, unknown[i]))
            fail_msg("%s", unknown[i]);
}

TEST(names_of_ours_are_known_in_any_case_and_with_any_port)
{
    static const char *const names[] = { "archive.example", "b.example." };
    const struct hosts ours = { .name = names,
                                .names = 2,
                                .url = "https://Haw.nsk.hr:8443/bloom" };
    static const char *const known[] = {
        "archive.example", "Archive.Example",  "archive.example:80",
        "b.example",       "archive.example.", "haw.nsk.hr",
        "haw.nsk.hr:1"
    };
    static const char *const unknown[] = { "archive.example.evil.example",
                                           "an.archive.example",
                                           "archive",
                                           "https",
                                           "nsk.hr",
                                           "*",
                                           "bloom" };

    for (size_t i = 0; i < LENGTH(known); i++)
        if (!knows(&ours, known[i]))
            fail_msg("%s", known[i]);
    for (size_t i = 0; i < LENGTH(unknown); i++)
        if (knows(&ours, unknown[i]))
            fail_msg("%s", unknown[i]);
}

TEST(a_star_is_any_name)
{
    static const char *const star = "*";
    const struct hosts any = { .name = &star, .names = 1 };

    assert_true(knows(&any, "evil.example:80"));
}

TEST(names_have_no_scheme_and_no_port)
{
    static const char *const good[] = { "a", "a.example", "A-b_c.example.",
                                        "*", "xn--it-8la.example" };
    static const char *const bad[] = { "",          "a:80", "http://a/",
                                       "*.example", "a b",  "[::1]",
                                       ".a",        "a/",   "a,b" };

    for (size_t i = 0; i < LENGTH(good); i++)
        assert_true(hosts_good(good[i]));
    for (size_t i = 0; i < LENGTH(bad); i++)
        assert_false(hosts_good(bad[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numeric_addresses_and_localhost_are_always_known),
        cmocka_unit_test(
            names_of_ours_are_known_in_any_case_and_with_any_port),
        cmocka_unit_test(a_star_is_any_name),
        cmocka_unit_test(names_have_no_scheme_and_no_port),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
