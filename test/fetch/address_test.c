/*
 * address_test.c - what is public, at the borders of every range.
 *
 * The expectations are written out from IANA's registries, first and last
 * address and the neighbours of both, and not derived from the table.
 */
#include "test/test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "fetch/address.h"
#include "fetch/fetch.h"

static bool is_public(const char *text)
{
    struct sockaddr_storage a = { 0 };
    struct sockaddr_in *four = (struct sockaddr_in *)&a;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)&a;

    if (strchr(text, ':')) {
        six->sin6_family = AF_INET6;
        assert_int_equal(inet_pton(AF_INET6, text, &six->sin6_addr), 1);
    } else {
        four->sin_family = AF_INET;
        assert_int_equal(inet_pton(AF_INET, text, &four->sin_addr), 1);
    }
    return fetch_public((const struct sockaddr *)&a);
}

/* A range that is not public; what is before and after it, NULL where
   there is nothing or another such range. */
static const struct {
    const char *before, *first, *last, *after;
} special[] = {
    { NULL, "0.0.0.0", "0.255.255.255", "1.0.0.0" },
    { "9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0" },
    { "100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0" },
    { "126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0" },
    { "169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0" },
    { "172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0" },
    { "191.255.255.255", "192.0.0.0", "192.0.0.255", "192.0.1.0" },
    { "192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0" },
    { "192.88.98.255", "192.88.99.0", "192.88.99.255", "192.88.100.0" },
    { "192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0" },
    { "198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0" },
    { "198.51.99.255", "198.51.100.0", "198.51.100.255", "198.51.101.0" },
    { "203.0.112.255", "203.0.113.0", "203.0.113.255", "203.0.114.0" },
    { "223.255.255.255", "224.0.0.0", "239.255.255.255", NULL },
    { NULL, "240.0.0.0", "255.255.255.255", NULL },
    /* IPv6 */
    { NULL, "::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2000::" },
    { NULL, "::1", "::1", NULL },
    { NULL, "::2", "::ffff", NULL },            /* compatible */
    { NULL, "::0808:0808", "::8.8.8.8", NULL }, /* though of a public one */
    { NULL, "::ffff:0:8.8.8.8", "::ffff:0:9.9.9.9", NULL }, /* translated */
    { NULL, "64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", NULL },
    { NULL, "64:ff9b:0:0:0:1::", "64:ff9b::ffff:ffff:ffff:ffff", NULL },
    { NULL, "100::", "100::ffff:ffff:ffff:ffff", NULL },
    { NULL, "100:0:0:1::", "100:0:0:1:ffff:ffff:ffff:ffff", NULL },
    { "2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
      "2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:200::" },
    { NULL, "2001:0:102:304:0:0:f7f7:f7f7",
      "2001:0:ffff::", NULL }, /* Teredo */
    { "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff",
      "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db9::" },
    { "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
      "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:1000::" },
    { "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "4000::", "5eff::", NULL },
    { NULL, "5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NULL },
    { NULL, "fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NULL },
    { NULL, "fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NULL },
    { NULL, "fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NULL },
    { NULL, "ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", NULL },
    /* IPv6 that stands for IPv4 */
    { "::ffff:9.255.255.255", "::ffff:10.0.0.0", "::ffff:10.255.255.255",
      "::ffff:11.0.0.0" },
    { "::ffff:126.255.255.255", "::ffff:127.0.0.0", "::ffff:127.255.255.255",
      "::ffff:128.0.0.0" },
    { NULL, "::ffff:0.0.0.0", "::ffff:0.255.255.255", "::ffff:1.0.0.0" },
    { "64:ff9b::169.253.255.255", "64:ff9b::169.254.0.0",
      "64:ff9b::169.254.255.255", "64:ff9b::169.255.0.0" },
    { "64:ff9b::192.167.255.255", "64:ff9b::192.168.0.0",
      "64:ff9b::192.168.255.255", "64:ff9b::192.169.0.0" },
    { "2002:7eff:ffff:ffff:ffff:ffff:ffff:ffff", "2002:7f00::",
      "2002:7fff:ffff:ffff:ffff:ffff:ffff:ffff", "2002:8000::" },
    { "2002:c0a7:ffff:ffff:ffff:ffff:ffff:ffff", "2002:c0a8::",
      "2002:c0a8:ffff:ffff:ffff:ffff:ffff:ffff", "2002:c0a9::" },
};

TEST(special_ranges_are_not_public_and_their_neighbours_are)
{
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        const char *out[] = { special[i].before, special[i].after };
        const char *in[] = { special[i].first, special[i].last };

        for (int j = 0; j < 2; j++) {
            if (is_public(in[j]) || (out[j] && !is_public(out[j])))
                print_error("at %s\n", special[i].first);
            assert_false(is_public(in[j]));
            assert_true(!out[j] || is_public(out[j]));
        }
    }
}

TEST(well_known_servers_are_public)
{
    static const char *const known[] = {
        "8.8.8.8",
        "161.53.10.25",
        "207.241.224.2",
        "192.31.196.1",
        "192.52.193.1",
        "192.175.48.1",
        "2001:4860:4860::8888",
        "2620:fe::fe",
        "2620:4f:8000::1",
        "2a00:1450:4001::1",
        "::ffff:8.8.8.8",
        "64:ff9b::8.8.8.8",
        "2002:808:808::1",
        "2606:4700:4700::1111",
        "2c0f:fb50:4003::1",
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!is_public(known[i]))
            print_error("%s\n", known[i]);
        assert_true(is_public(known[i]));
    }
}

TEST(what_is_not_ip_is_not_public)
{
    struct sockaddr_un local = { .sun_family = AF_UNIX };
    struct sockaddr none = { .sa_family = AF_UNSPEC };

    assert_false(fetch_public((const struct sockaddr *)&local));
    assert_false(fetch_public(&none));
}

static bool has(const struct fetch_places *list, const char *text,
                uint16_t port)
{
    struct sockaddr_in four = { .sin_family = AF_INET,
                                .sin_port = htons(port) };
    struct sockaddr_in6 six = { .sin6_family = AF_INET6,
                                .sin6_port = htons(port) };

    if (inet_pton(AF_INET, text, &four.sin_addr) == 1)
        return fetch_places_have(list, (const struct sockaddr *)&four);
    assert_int_equal(inet_pton(AF_INET6, text, &six.sin6_addr), 1);
    return fetch_places_have(list, (const struct sockaddr *)&six);
}

TEST(places_are_allowed_with_their_port_only)
{
    struct fetch_places list;

    assert_int_equal(fetch_places_read(&list, "127.0.0.1:8080,[::1]:80", NULL),
                     SEEN_OK);
    assert_int_equal(list.count, 2);
    assert_true(has(&list, "127.0.0.1", 8080));
    assert_true(has(&list, "::1", 80));
    assert_false(has(&list, "127.0.0.1", 80));
    assert_false(has(&list, "127.0.0.2", 8080));
    assert_false(has(&list, "::ffff:127.0.0.1", 8080));
    assert_false(has(&list, "::1", 8080));
    assert_int_equal(fetch_places_read(&list, NULL, NULL), SEEN_OK);
    assert_int_equal(list.count, 0);
    assert_false(has(&list, "127.0.0.1", 8080));
}

TEST(lists_of_places_are_numbers)
{
    static const struct {
        const char *text;
        uint64_t at;
    } wrong[] = {
        { "localhost:80", 0 },
        { "127.0.0.1", 0 },
        { "127.0.0.1:", 0 },
        { ":80", 0 },
        { "::1:80", 0 },
        { "[::1]", 0 },
        { "[::1:80", 0 },
        { "127.0.0.1:http", 0 },
        { "127.0.0.1:80,,", 13 },
        { "127.0.0.1:80, ::1", 13 },
        { ",127.0.0.1:80", 0 },
        { "[]:80", 0 },
        { "127.0.0.1:80,x:1", 13 },
        { "[127.0.0.1:80", 0 },
        { "0000000000000000000000000000000000000000000000000000000000000000"
          "00000000000000000000000000000000127.0.0.1:80",
          0 },
    };
    struct seen_error why;
    struct fetch_places list;

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        if (fetch_places_read(&list, wrong[i].text, &why) != SEEN_RANGE ||
            why.at != wrong[i].at)
            print_error("%s\n", wrong[i].text);
        assert_int_equal(fetch_places_read(&list, wrong[i].text, &why),
                         SEEN_RANGE);
        assert_int_equal(why.at, wrong[i].at);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            special_ranges_are_not_public_and_their_neighbours_are),
        cmocka_unit_test(well_known_servers_are_public),
        cmocka_unit_test(what_is_not_ip_is_not_public),
        cmocka_unit_test(places_are_allowed_with_their_port_only),
        cmocka_unit_test(lists_of_places_are_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
