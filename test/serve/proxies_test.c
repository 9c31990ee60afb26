/* proxies_test.c - whose word is taken for where a request comes from. */
#include "test/wall.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "serve/proxies.h"

static struct sockaddr_storage address(const char *text)
{
    struct sockaddr_storage to = { .ss_family = AF_INET };

    if (!strcmp(text, "unix"))
        to.ss_family = AF_UNIX;
    else if (inet_pton(AF_INET, text,
                       &((struct sockaddr_in *)&to)->sin_addr) != 1) {
        to.ss_family = AF_INET6;
        assert_int_equal(inet_pton(AF_INET6, text,
                                   &((struct sockaddr_in6 *)&to)->sin6_addr),
                         1);
    }
    return to;
}

static const char *text_of(const struct sockaddr_storage *s, char room[64])
{
    return s->ss_family == AF_INET
               ? inet_ntop(AF_INET, &((const struct sockaddr_in *)s)->sin_addr,
                           room, 64)
               : inet_ntop(AF_INET6,
                           &((const struct sockaddr_in6 *)s)->sin6_addr, room,
                           64);
}

TEST(only_addresses_and_nets_are_proxies)
{
    static const char *const good[] = { "127.0.0.1",     "10.0.0.0/8", "::1",
                                        "2001:db8::/32", "0.0.0.0/0",  "unix",
                                        "::/0",          "10.1.2.3/32" };
    static const char *const bad[] = {
        "",        "localhost", "10.0.0.0/33", "10.0.0/8",
        "::1/129", "10.0.0.0/", "1.2.3.4/a",   "1.2.3.4/-1",
        "/8",      "1.2.3.4 ",  "1.2.3.4/8/8", "unix:"
    };
    struct proxies p = { .n = 0 };

    for (size_t i = 0; i < LENGTH(good); i++)
        assert_true(proxies_add(&p, good[i]));
    assert_int_equal(p.n, LENGTH(good) - 1);
    for (size_t i = 0; i < LENGTH(bad); i++)
        if (proxies_add(&p, bad[i]))
            fail_msg("'%s' is taken for an address", bad[i]);
    while (p.n < PROXIES_MOST)
        assert_true(proxies_add(&p, "192.0.2.1"));
    assert_false(proxies_add(&p, "192.0.2.1"));
}

TEST(nets_are_compared_by_their_bits)
{
    static const struct {
        const char *net, *peer;
        bool trusted;
    } all[] = {
        { "10.0.0.0/8", "10.255.0.1", true },
        { "10.0.0.0/8", "11.0.0.1", false },
        { "192.0.2.128/25", "192.0.2.129", true },
        { "192.0.2.128/25", "192.0.2.127", false },
        { "127.0.0.1", "127.0.0.2", false },
        { "127.0.0.1", "::ffff:127.0.0.1", true },
        { "0.0.0.0/0", "203.0.113.9", true },
        { "0.0.0.0/0", "2001:db8::1", false },
        { "2001:db8::/33", "2001:db8:7fff::", true },
        { "2001:db8::/33", "2001:db8:8000::", false },
        { "::1", "127.0.0.1", false },
        { "127.0.0.1", "unix", false },
        { "unix", "unix", true },
        { "unix", "127.0.0.1", false },
    };

    for (size_t i = 0; i < LENGTH(all); i++) {
        const struct sockaddr_storage peer = address(all[i].peer);
        struct proxies p = { .n = 0 };

        assert_true(proxies_add(&p, all[i].net));
        if (proxies_trust(&p, &peer) != all[i].trusted)
            fail_msg("%s of %s", all[i].peer, all[i].net);
    }
}

/* Proxies are 127.0.0.1 and 10.0.0.0/8. */
TEST(the_last_address_that_is_not_a_proxy_is_the_client)
{
    static const struct {
        const char *header, *client;
        bool more;
    } all[] = {
        { "203.0.113.9", "203.0.113.9", false },
        { "198.51.100.1, 203.0.113.9", "203.0.113.9", false },
        { "203.0.113.9, 10.1.1.1", "203.0.113.9", false },
        { "203.0.113.9,10.1.1.1 ,\t127.0.0.1", "203.0.113.9", false },
        { "10.1.1.1", "10.1.1.1", true },
        { "2001:db8::1", "2001:db8::1", false },
        { "[2001:db8::1]:4711", "2001:db8::1", false },
        { "203.0.113.9:4711", "203.0.113.9", false },
        { "unknown", "127.0.0.1", false },
        { "203.0.113.9, unknown", "127.0.0.1", false },
        { "203.0.113.9, unknown, 10.1.1.1", "10.1.1.1", false },
        { "", "127.0.0.1", true },
        { ",", "127.0.0.1", false },
        { "203.0.113.9,", "127.0.0.1", false },
        { "[2001:db8::1", "127.0.0.1", false },
        { "999.1.1.1", "127.0.0.1", false },
        { "1.2.3.4\", \"evil\": \"x", "127.0.0.1", false },
    };
    struct proxies p = { .n = 0 };
    char room[64];

    assert_true(proxies_add(&p, "127.0.0.1"));
    assert_true(proxies_add(&p, "10.0.0.0/8"));
    for (size_t i = 0; i < LENGTH(all); i++) {
        struct sockaddr_storage client = address("127.0.0.1");
        const size_t len = strlen(all[i].header);
        const struct seen_span header = { walled(all[i].header, len), len };
        const bool more = proxies_forwarded(&p, header, &client);

        assert_string_equal(text_of(&client, room), all[i].client);
        assert_int_equal(more, all[i].more);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_addresses_and_nets_are_proxies),
        cmocka_unit_test(nets_are_compared_by_their_bits),
        cmocka_unit_test(the_last_address_that_is_not_a_proxy_is_the_client),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
