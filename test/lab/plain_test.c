/* plain_test.c - the bad hash functions are the ones that they are named. */
#include "test/test.h"

#include <string.h>

#include "lab/archives/plain.h"

/* Check values: of the CRC catalogue, of the FNV page, and worked out by hand
   for the two sums. */
static void functions_have_their_published_values(void **state)
{
    static const struct {
        const char *name, *text;
        uint32_t hash;
    } expected[] = {
        { "CRC-32", "123456789", 0xcbf43926 },
        { "CRC-32", "", 0 },
        { "FNV-1a", "", 0x811c9dc5 },
        { "FNV-1a", "a", 0xe40c292c },
        { "FNV-1a", "foobar", 0xbf9cf968 },
        { "Adler-32", "Wikipedia", 0x11e60398 },
        { "Adler-32", "", 1 },
        { "31 h + c", "hello", 99162322 },
    };
    struct plain p = { .hash = plain_hashes, .bits = 64, .probes = 1 };

    (void)state;
    assert_true(plain_init(&p));
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const struct plain_hash *h = plain_hashes;

        while (h->name && strcmp(h->name, expected[i].name))
            h++;
        assert_non_null(h->name);
        assert_int_equal(
            h->more(h->begin, expected[i].text, strlen(expected[i].text)),
            expected[i].hash);
    }
    plain_clear(&p);
}

static void what_was_added_is_found(void **state)
{
    (void)state;
    for (const struct plain_hash *h = plain_hashes; h->name; h++)
        for (int modulo = 0; modulo < 2; modulo++) {
            struct plain p = { .hash = h,
                               .reduce = modulo ? MODULO : TOP_BITS,
                               .bits = 1001,
                               .probes = 5,
                               .seed = 3 };

            assert_true(plain_init(&p));
            assert_false(plain_has(&p, "http://a.example/", 17));
            plain_add(&p, "http://a.example/", 17);
            assert_true(plain_has(&p, "http://a.example/", 17));
            plain_clear(&p);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_have_their_published_values),
        cmocka_unit_test(what_was_added_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
