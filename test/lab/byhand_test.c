/* byhand_test.c - the bad hash functions are the ones that they are named
   after, and filters by hand have what was added. */
#include "test/test.h"

#include <string.h>

#include "lab/byhand.h"
#include "lab/corpus.h"
#include "lab/thesis/trial.h"

/* Check values: of the CRC catalogue, of the FNV page, and worked out by hand
   for the two sums. */
TEST(functions_have_their_published_values)
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
    struct byhand b = {
        .function = byhand_functions, .filters = 1, .k = 1, .m = 64
    };

    byhand_init(&b, 1);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const struct byhand_function *h = byhand_functions;

        while (h->name && strcmp(h->name, expected[i].name))
            h++;
        assert_non_null(h->name);
        assert_int_equal(
            h->more(h->begin, expected[i].text, strlen(expected[i].text)),
            expected[i].hash);
    }
    byhand_clear(&b);
}

TEST(what_was_added_is_found)
{
    for (const struct byhand_function *h = byhand_functions; h->name; h++)
        for (int modulo = 0; modulo < 2; modulo++) {
            struct byhand b = { .function = h,
                                .modulo = modulo,
                                .whole = modulo,
                                .filters = 2,
                                .k = 5,
                                .m = 1001 };

            byhand_init(&b, 3);
            assert_false(byhand_has(&b, "http://a.example/", 17));
            byhand_add(&b, "http://a.example/", 17);
            assert_true(byhand_has(&b, "http://a.example/", 17));
            byhand_clear(&b);
        }
}

TEST(filters_by_hand_err_where_those_of_the_library_do)
{
    enum { N = 3000, SEED = 7 };
    struct seen_plan plan = { .kind = "bloom:jenkins",
                              .capacity = N,
                              .probes = 3,
                              .multiplier = 1.7,
                              .seed = SEED };
    const struct thesis_shape cell = { 3, 1.7 };
    struct byhand b = { .filters = 1, .k = 3, .m = shape_bits(&cell, N) };
    struct seen_filter *f;
    struct corpus in, out;
    struct urls *urls;
    bool seen[N];
    size_t wrong = 0;

    assert_int_equal(urls_new(&urls, 1, NULL), SEEN_OK);
    corpus_init(&in, urls, 0, N);
    corpus_init(&out, urls, N, N);
    byhand_init(&b, SEED);
    assert_int_equal(seen_filter_new(&f, &plan, NULL), SEEN_OK);
    assert_int_equal(seen_filter_plan(f)->bits, shape_bits(&cell, N));
    assert_int_equal(seen_filter_add(f, in.key, N, NULL, NULL), SEEN_OK);
    assert_int_equal(seen_filter_has(f, out.key, N, seen, NULL), SEEN_OK);
    for (size_t i = 0; i < N; i++)
        byhand_add(&b, in.key[i].text, in.key[i].len);
    for (size_t i = 0; i < N; i++) {
        b.whole = i % 2; /* which changes the time and no answer */
        assert_int_equal(byhand_has(&b, out.key[i].text, out.key[i].len),
                         seen[i]);
        wrong += seen[i];
    }
    assert_in_range(wrong, 150, 400); /* 8.8 % of 3000, give or take 8 sd */
    seen_filter_free(f);
    byhand_clear(&b);
    corpus_clear(&in);
    corpus_clear(&out);
    urls_free(urls);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_have_their_published_values),
        cmocka_unit_test(what_was_added_is_found),
        cmocka_unit_test(filters_by_hand_err_where_those_of_the_library_do),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
