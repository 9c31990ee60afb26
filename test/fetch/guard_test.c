/*
 * guard_test.c - no socket is opened to where none may be.
 *
 * The hostile server stands for the public web: its place is allowed, by
 * number and port, and nothing else is. It sends us on to a trap, which
 * listens on all addresses of this machine and counts connections: none.
 */
#include "test/fetch/served.h"

#include <netdb.h>

static int trap;
static unsigned trap_port;

/* IPv6 and IPv4 at once; IPv4 alone on machines without. */
static bool set_trap(int family)
{
    struct sockaddr_in6 six = { .sin6_family = AF_INET6 };
    struct sockaddr_in four = { .sin_family = AF_INET };
    struct sockaddr_storage bound;
    socklen_t len = sizeof bound;
    int no = 0;

    trap = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (trap < 0)
        return false;
    if (family == AF_INET6)
        setsockopt(trap, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
    if (bind(trap,
             family == AF_INET6 ? (struct sockaddr *)&six
                                : (struct sockaddr *)&four,
             family == AF_INET6 ? sizeof six : sizeof four) ||
        listen(trap, 10) || getsockname(trap, (struct sockaddr *)&bound, &len))
        return false;
    trap_port = ntohs(family == AF_INET6
                          ? ((struct sockaddr_in6 *)&bound)->sin6_port
                          : ((struct sockaddr_in *)&bound)->sin_port);
    return true;
}

static int begin(void **state)
{
    (void)state;
    serve_begin(&here);
    return set_trap(AF_INET6) || set_trap(AF_INET) ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    serve_end(&here);
    return close(trap);
}

static int trapped(void)
{
    int count = 0, fd;

    while ((fd = accept4(trap, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
        close(fd);
        count++;
    }
    return count;
}

/* P is where the port of the trap goes. */
static const struct {
    const char *url, *words;
} forbidden[] = {
    { "http://127.0.0.1:P/", "127.0.0.1 is not a public address" },
    { "https://127.0.0.1:P/", "127.0.0.1 is not a public address" },
    { "HTTP://127.0.0.1:P/", "127.0.0.1 is not a public address" },
    { "http://127.1:P/", "127.0.0.1 is not a public address" },
    { "http://127.0.1:P/", "127.0.0.1 is not a public address" },
    { "http://2130706433:P/", "127.0.0.1 is not a public address" },
    { "http://0x7f.1:P/", "127.0.0.1 is not a public address" },
    { "http://0x7f000001:P/", "127.0.0.1 is not a public address" },
    { "http://0177.0.0.1:P/", "127.0.0.1 is not a public address" },
    { "http://017700000001:P/", "127.0.0.1 is not a public address" },
    { "http://127.0.0.1.:P/", "" },
    { "http://127.255.255.254:P/", "127.255.255.254 is not" },
    { "http://localhost:P/", "is not a public address" },
    { "http://LOCALHOST:P/", "is not a public address" },
    { "http://localhost.:P/", "" },
    { "http://%6c%6fcalhost:P/", "is not a public address" },
    { "http://%31%32%37.0.0.1:P/", "" },
    { "http://\xef\xbc\x91\xef\xbc\x92\xef\xbc\x97.0.0.1:P/", "" },
    { "http://127\xe3\x80\x82"
      "0.0.1:P/",
      "" },
    { "http://0.0.0.0:P/", "0.0.0.0 is not a public address" },
    { "http://0:P/", "0.0.0.0 is not a public address" },
    { "http://0x0:P/", "0.0.0.0 is not a public address" },
    { "http://[::1]:P/", "::1 is not a public address" },
    { "http://[0:0:0:0:0:0:0:1]:P/", "::1 is not a public address" },
    { "http://[::]:P/", ":: is not a public address" },
    { "http://[::ffff:127.0.0.1]:P/", "::ffff:127.0.0.1 is not" },
    { "http://[::ffff:7f00:1]:P/", "::ffff:127.0.0.1 is not" },
    { "http://[::127.0.0.1]:P/", "::127.0.0.1 is not" },
    { "http://[64:ff9b::127.0.0.1]:P/", "64:ff9b::7f00:1 is not" },
    { "http://[2002:7f00:1::]:P/", "2002:7f00:1:: is not" },
    { "http://[fe80::1%25lo]:P/", "" },
    { "http://[fd00::1]:P/", "fd00::1 is not" },
    { "http://[ff02::1]:P/", "ff02::1 is not" },
    { "http://10.0.0.1:P/", "10.0.0.1 is not" },
    { "http://172.16.0.1/", "172.16.0.1 is not" },
    { "http://192.168.0.1/", "192.168.0.1 is not" },
    { "http://169.254.169.254/latest/meta-data/", "169.254.169.254 is not" },
    { "http://100.100.100.200/", "100.100.100.200 is not" },
    { "http://255.255.255.255/", "255.255.255.255 is not" },
    { "http://224.0.0.1/", "224.0.0.1 is not" },
};

static const char *with_port(const char *text, char to[300])
{
    const char *p = strstr(text, ":P/");

    if (p)
        snprintf(to, 300, "%.*s:%u/%s", (int)(p - text), text, trap_port,
                 p + 3);
    else
        snprintf(to, 300, "%s", text);
    return to;
}

/* Some of these spellings are no host for libcurl, and are refused as URLs
   or not found, which is as good: then no address was ever looked at. */
static void assert_refused(const struct got *g, size_t i)
{
    bool plain = *forbidden[i].words != 0;

    if ((plain && (g->code != SEEN_RANGE || !g->refused)) ||
        (g->code != SEEN_RANGE && g->code != SEEN_IO) ||
        !strstr(g->why, forbidden[i].words))
        print_error("%s: %d %s\n", forbidden[i].url, g->code, g->why);
    assert_true(g->code == SEEN_RANGE || (!plain && g->code == SEEN_IO));
    assert_non_null(strstr(g->why, forbidden[i].words));
    assert_true(!plain || g->refused);
    assert_int_equal(g->begun, 0);
}

static struct fetch_options closed(void)
{
    return (struct fetch_options){ .allow = here.place, .connect = 3 };
}

TEST(private_addresses_are_not_asked)
{
    struct fetch_options rules = closed();
    char url[300];

    for (size_t i = 0; i < sizeof forbidden / sizeof *forbidden; i++) {
        struct got g = get(&here, &rules,
                           &(struct fetch_request){
                               .url = with_port(forbidden[i].url, url),
                               .most = 100,
                           });

        assert_refused(&g, i);
    }
    assert_int_equal(trapped(), 0);
}

TEST(redirects_lead_to_no_private_address)
{
    struct fetch_options rules = closed();
    char url[300], path[400];

    for (size_t i = 0; i < sizeof forbidden / sizeof *forbidden; i++) {
        struct got g;

        with_port(forbidden[i].url, url);
        for (char *p = url; (p = strchr(p, '%')); p += 3) {
            memmove(p + 2, p, strlen(p) + 1);
            memcpy(p, "%25", 3);
        }
        snprintf(path, sizeof path, "/go?%s", url);
        g = get(&here, &rules,
                &(struct fetch_request){ .url = path, .most = 100 });
        assert_refused(&g, i);
    }
    assert_int_equal(trapped(), 0);
}

TEST(redirects_without_a_scheme_or_over_several_hops_do_not_either)
{
    static const char *const ways[] = { "/go?//127.0.0.1:%u/",
                                        "/go?/go?http://127.0.0.1:%u/",
                                        "/go?\\\\127.0.0.1:%u/x",
                                        "/go?http:127.0.0.1:%u/" };
    struct fetch_options rules = closed();
    char path[400];

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(path, sizeof path, ways[i], trap_port);
#pragma GCC diagnostic pop
        get(&here, &rules,
            &(struct fetch_request){ .url = path, .most = 100 });
    }
    assert_int_equal(trapped(), 0);
}

TEST(the_trap_would_have_noticed)
{
    struct fetch_options rules = closed();
    char url[100], place[100];
    struct got g;

    snprintf(url, sizeof url, "http://127.0.0.1:%u/", trap_port);
    snprintf(place, sizeof place, "127.0.0.1:%u", trap_port);
    rules.allow = place;
    rules.stall = 1;
    g = get(&here, &rules, &(struct fetch_request){ .url = url, .most = 1 });
    assert_int_equal(g.code, SEEN_IO);
    assert_int_equal(g.refused, 0);
    assert_int_equal(trapped(), 1);
}

TEST(an_allowed_place_is_asked)
{
    struct fetch_options rules = closed();
    struct got g = get(
        &here, &rules,
        &(struct fetch_request){ .url = "/chain/3", .most = 100 });

    assert_int_equal(g.code, SEEN_OK);
    assert_string_equal(g.body, "hello");
    assert_int_equal(g.refused, 0);
}

TEST(by_default_nothing_private_is_asked)
{
    struct fetch_options rules = { 0 };
    struct got g = get(
        &here, &rules,
        &(struct fetch_request){ .url = "/plain", .most = 100 });

    assert_int_equal(g.code, SEEN_RANGE);
    assert_string_equal(g.why, "127.0.0.1 is not a public address");
    assert_int_equal(g.refused, 1);
}

TEST(what_cannot_be_fetched_is_refused_at_once)
{
    static const struct {
        const char *url, *words;
    } bad[] = {
        { "file:///etc/passwd", "file: is not fetched" },
        { "ftp://haw.nsk.hr/", "ftp: is not fetched" },
        { "gopher://haw.nsk.hr/", "gopher: is not fetched" },
        { "mailto:a@b", "" },
        { "haw.nsk.hr", "" },
        { "", "" },
        { "http://", "host" },
        { "http://u:p@haw.nsk.hr/", "password" },
        { "http://@haw.nsk.hr/", "" },
        { "http://haw.nsk.hr:22/", "port 22 belongs" },
        { "http://haw.nsk.hr:0/", "" },
        { "http://haw.nsk.hr:65536/", "" },
        { "http://haw.nsk.hr/\r\nHost: x", "" },
        { "http://haw.nsk.hr/\x01", "" },
        { "http://haw nsk.hr/", "" },
        { "http://[::1/", "" },
    };
    struct fetch_options rules = { 0 };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct got g = get(&here, &rules,
                           &(struct fetch_request){ .url = bad[i].url });

        if (g.code != SEEN_RANGE || g.ended)
            print_error("%s: %d %s\n", bad[i].url, g.code, g.why);
        assert_int_equal(g.code, SEEN_RANGE);
        assert_int_equal(g.ended, 0);
        assert_non_null(strstr(g.why, bad[i].words));
    }
}

TEST(proxies_of_the_environment_are_not_used)
{
    char proxy[100];
    struct got g;

    snprintf(proxy, sizeof proxy, "http://127.0.0.1:%u", trap_port);
    setenv("http_proxy", proxy, 1);
    setenv("all_proxy", proxy, 1);
    g = get(&here, NULL,
            &(struct fetch_request){ .url = "/plain", .most = 100 });
    unsetenv("http_proxy");
    unsetenv("all_proxy");
    assert_int_equal(g.code, SEEN_OK);
    assert_int_equal(trapped(), 0);
}

/* --- TLS --- */

static struct got get_tls(const char *host, const char *authorities)
{
    struct fetch_options rules = { .allow_private = true,
                                   .authorities = authorities };
    char url[100];

    snprintf(url, sizeof url, "https://%s:%u/plain", host, here.tls_port);
    return get(&here, &rules,
               &(struct fetch_request){ .url = url, .most = 100 });
}

TEST(an_unknown_authority_is_not_trusted)
{
    struct got g = get_tls("127.0.0.1", NULL);

    assert_int_equal(g.code, SEEN_RANGE);
    assert_non_null(strstr(g.why, "its certificate is not trusted"));
    assert_int_equal(g.begun, 0);
}

TEST(a_given_authority_is_trusted_for_its_names_only)
{
    struct got g = get_tls("127.0.0.1", here.authority);

    assert_int_equal(g.code, SEEN_OK);
    assert_string_equal(g.body, "hello");
    g = get_tls("localhost", here.authority);
    assert_int_equal(g.code, SEEN_RANGE);
    assert_non_null(strstr(g.why, "its certificate is not trusted"));
}

TEST(authorities_that_are_not_there_are_an_error)
{
    const struct fetch_options rules = { .authorities = "/no/such/file" };
    struct seen_error why;
    struct fetch *web;

    assert_int_equal(fetch_new(&web, &rules, &why), SEEN_IO);
    assert_null(web);
    assert_non_null(strstr(why.text, "No such file"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(private_addresses_are_not_asked),
        cmocka_unit_test(redirects_lead_to_no_private_address),
        cmocka_unit_test(
            redirects_without_a_scheme_or_over_several_hops_do_not_either),
        cmocka_unit_test(the_trap_would_have_noticed),
        cmocka_unit_test(an_allowed_place_is_asked),
        cmocka_unit_test(by_default_nothing_private_is_asked),
        cmocka_unit_test(what_cannot_be_fetched_is_refused_at_once),
        cmocka_unit_test(proxies_of_the_environment_are_not_used),
        cmocka_unit_test(an_unknown_authority_is_not_trusted),
        cmocka_unit_test(a_given_authority_is_trusted_for_its_names_only),
        cmocka_unit_test(authorities_that_are_not_there_are_an_error),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
