/* address_test.c - addresses, hidden passwords, slots, and where bits are. */
#include "test/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seen/kind_writer.h>

#include "remote/address.h"
#include "remote/server.h"

TEST(an_address_has_its_parts)
{
    struct remote_address a;

    unsetenv("SEEN_REDIS_PASSWORD");
    assert_int_equal(remote_address_parse(
                         &a,
                         "rediss://me:p%40ss@db.example:7000/3/a/b?timeout="
                         "0.5&replicas=2&verify=peer",
                         NULL),
                     SEEN_OK);
    assert_int_equal(a.scheme, REMOTE_REDIS);
    assert_true(a.tls);
    assert_string_equal(a.host[0].name, "db.example");
    assert_int_equal(a.host[0].port, 7000);
    assert_string_equal(a.user, "me");
    assert_string_equal(a.password, "p@ss");
    assert_int_equal(a.db, 3);
    assert_string_equal(a.name, "a/b");
    assert_int_equal(a.timeout_ms, 500);
    assert_int_equal(a.replicas, 2);
    assert_int_equal(a.verify, REMOTE_VERIFY_PEER);
    remote_address_forget(&a);

    assert_int_equal(
        remote_address_parse(&a, "redis+cluster://a,[::1]:7001,c:1/3/x", NULL),
        SEEN_OK);
    assert_int_equal(a.hosts, 3);
    assert_int_equal(a.host[0].port, 6379);
    assert_string_equal(a.host[1].name, "::1");
    assert_int_equal(a.host[1].port, 7001);
    assert_string_equal(a.name, "3/x"); /* a cluster has one database */
    assert_null(a.password);
    remote_address_forget(&a);
}

TEST(a_name_has_what_names_in_redis_have)
{
    static const struct {
        const char *written, *name; /* NULL: refused */
    } cases[] = {
        { "{crawl}:seen", "{crawl}:seen" },
        { "my%20filter", "my filter" },
        { " a b ", " a b " },
        { "%7Ba%7d{}}{", "{a}{}}{" },
        { "../%25\xc3\xa9", "../%\xc3\xa9" },
        { "a%0Ab", NULL },
        { "a\tb", NULL },
        { "a%7fb", NULL },
        { "a%00b", NULL },
        { "", NULL },
    };
    struct remote_address a;
    char text[64];

    for (size_t i = 0; i < LENGTH(cases); i++) {
        snprintf(text, sizeof text, "redis+cluster://h/%s", cases[i].written);
        assert_int_equal(remote_address_parse(&a, text, NULL),
                         cases[i].name ? SEEN_OK : SEEN_RANGE);
        if (cases[i].name)
            assert_string_equal(a.name, cases[i].name);
        remote_address_forget(&a);
    }
}

TEST(a_hidden_password_is_found_again)
{
    struct remote_address a;
    char text[] = "-oredis://me:secret@h/x", two[] = "x=redis://:pw@h/y";
    char none[] = "redis://h/x", bare[] = "redis://me@h/x";

    remote_address_hide(text);
    assert_string_equal(text, "-oredis://me:***@h/x");
    assert_int_equal(remote_address_parse(&a, text + 2, NULL), SEEN_OK);
    assert_string_equal(a.password, "secret");
    remote_address_forget(&a);
    remote_address_hide(two);
    assert_string_equal(two, "x=redis://:**@h/y");
    assert_int_equal(remote_address_parse(&a, two + 2, NULL), SEEN_OK);
    assert_string_equal(a.password, "pw");
    remote_address_forget(&a);
    remote_address_hide(none);
    remote_address_hide(bare);
    assert_string_equal(none, "redis://h/x");
    assert_string_equal(bare, "redis://me@h/x");
}

TEST(a_password_with_a_slash_or_a_question_mark_is_hidden_too)
{
    struct remote_address a;
    char slash[] = "x=redis://me:se/cr@t@h:1/2/x", ask[] = "redis://:p?w@h/x";
    char two[] = "spatial:redis://:p/w@a/x,redis://b:6379/n@me";
    char *const same[] = { (char[]){ "redis://h:6379/n@me" },
                           (char[]){ "redis+cluster://a:1,b:2/n@me" },
                           (char[]){ "redis://[::1]:7/n@me" },
                           (char[]){ "redis://h/n@me:x@y" },
                           (char[]){ "http://a/?r=redis://u:p@h/x" } };

    remote_address_hide(slash);
    assert_string_equal(slash, "x=redis://me:***@h:1/2/x");
    assert_int_equal(remote_address_parse(&a, slash + 2, NULL), SEEN_OK);
    assert_string_equal(a.password, "se/cr@t");
    assert_int_equal(a.db, 2);
    remote_address_forget(&a);
    remote_address_hide(ask);
    assert_string_equal(ask, "redis://:***@h/x");
    remote_address_hide(two);
    assert_string_equal(two, "spatial:redis://:***@a/x,redis://b:6379/n@me");
    for (int i = 0; i < 5; i++) {
        char before[40];

        strcpy(before, same[i]);
        remote_address_hide(same[i]);
        assert_string_equal(same[i], before);
    }
}

TEST(stars_that_another_process_left_are_no_password)
{
    struct remote_address a;

    setenv("SEEN_REDIS_PASSWORD", "from outside", 1);
    assert_int_equal(
        remote_address_parse(&a, "redis://she:***@elsewhere/x", NULL),
        SEEN_OK);
    assert_string_equal(a.user, "she");
    assert_string_equal(a.password, "from outside");
    unsetenv("SEEN_REDIS_PASSWORD");
    remote_address_forget(&a);
}

TEST(any_number_of_passwords_is_hidden)
{
    struct remote_address a;
    char text[200][32];

    for (int i = 0; i < 200; i++) {
        snprintf(text[i], sizeof text[i], "redis://u%d:secret%d@h/x", i, i);
        remote_address_hide(text[i]);
        assert_null(strstr(text[i], "secret"));
    }
    assert_int_equal(remote_address_parse(&a, text[199], NULL), SEEN_OK);
    assert_string_equal(a.password, "secret199");
    remote_address_forget(&a);
}

TEST(parts_of_a_spatial_address_are_addresses)
{
    static const char *const part[] = { "redis://a/x,y",
                                        "redis+cluster://b,c:7/x",
                                        "bfs://:***@d/x?profile=surt" };
    char text[] = "spatial:redis://a/x,y,redis+cluster://b,c:7/x,"
                  "bfs://:secret@d/x?profile=surt";
    const char *rest = text;
    struct remote_address a;
    char *one;

    remote_address_hide(text);
    assert_true(remote_is_address(text));
    assert_true(remote_is_spatial(text));
    for (int i = 0; i < 3; i++) {
        assert_true(remote_spatial_next(&rest, &one));
        assert_string_equal(one, part[i]);
        assert_int_equal(remote_address_parse(&a, one, NULL), SEEN_OK);
        if (i == 2) {
            assert_int_equal(a.scheme, REMOTE_BF);
            assert_true(a.tls);
            assert_string_equal(a.password, "secret");
            assert_string_equal(a.profile, "surt");
        }
        remote_address_forget(&a);
        free(one);
    }
    assert_false(remote_spatial_next(&rest, &one));
    assert_false(remote_is_address("spatial:2/blocked"));
    assert_false(remote_is_address("spatial:file.seen"));
}

/* Examples of the Redis Cluster specification, and of CLUSTER KEYSLOT. */
TEST(slots_are_those_of_redis)
{
    assert_int_equal(remote_slot("123456789", 9), 0x31c3 % 16384);
    assert_int_equal(remote_slot("", 0), 0);
    assert_int_equal(remote_slot("{user1000}.following", 20),
                     remote_slot("user1000", 8));
    assert_int_equal(remote_slot("foo{}{bar}", 10), 8363);
    assert_int_equal(remote_slot("foo{{bar}}zap", 13), remote_slot("{bar", 4));
    assert_int_equal(remote_slot("foo{bar}{zap}", 13), remote_slot("bar", 3));
}

/* locate() names the bits that add() sets. */
TEST(the_bits_of_a_key_are_those_that_adding_it_sets)
{
    static const struct seen_plan plans[] = {
        { .kind = "blocked", .capacity = 3000, .rate = 0.01, .seed = 5 },
        { .kind = "blocked", .capacity = 500, .bits = 1 << 14, .probes = 11 },
        { .kind = "bloom", .capacity = 3000, .rate = 1e-6, .seed = 9 },
    };

    for (int p = 0; p < 3; p++) {
        struct seen_filter *f;
        struct seen_key key;
        uint64_t bit[64];

        for (uint64_t i = 0; i < 200; i++) {
            uint64_t distinct = 0;

            assert_int_equal(seen_filter_new(&f, &plans[p], NULL), SEEN_OK);
            seen_key_number(&key, i);
            f->kind->locate(f, &key, 1, bit);
            assert_int_equal(seen_filter_add(f, &key, 1, NULL, NULL), SEEN_OK);
            for (unsigned j = 0; j < f->plan.probes; j++) {
                bool again = false;

                for (unsigned k = 0; k < j; k++)
                    again |= bit[k] == bit[j];
                distinct += !again;
                assert_true(f->cells[bit[j] / 8] >> bit[j] % 8 & 1);
            }
            assert_int_equal(seen_filter_cells_set(f), distinct);
            seen_filter_free(f);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_has_its_parts),
        cmocka_unit_test(a_name_has_what_names_in_redis_have),
        cmocka_unit_test(a_hidden_password_is_found_again),
        cmocka_unit_test(
            a_password_with_a_slash_or_a_question_mark_is_hidden_too),
        cmocka_unit_test(stars_that_another_process_left_are_no_password),
        cmocka_unit_test(any_number_of_passwords_is_hidden),
        cmocka_unit_test(parts_of_a_spatial_address_are_addresses),
        cmocka_unit_test(slots_are_those_of_redis),
        cmocka_unit_test(the_bits_of_a_key_are_those_that_adding_it_sets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
