/* bloom_test.c - where the probes of a key fall, as published. */
#include "cases.h"

#include "lib/filter/probe.h"
#include "lib/key/published.h"

static const char text[] = "http://a.example/";

/* Add the one key and tell whether exactly these bits are set. */
static void assert_bits(const char *kind, uint64_t bits, unsigned probes,
                        uint64_t seed, const uint64_t *at)
{
    struct seen_plan plan = {
        .bits = bits, .capacity = 1, .probes = probes, .seed = seed
    };
    struct seen_filter *f;
    struct seen_key key;
    uint64_t distinct = 0;

    snprintf(plan.kind, sizeof plan.kind, "%s", kind);
    f = made(&plan);
    seen_key_hash(&key, text, strlen(text));
    add_all(f, &key, 1);
    for (unsigned j = 0; j < probes; j++) {
        bool before = false;

        for (unsigned l = 0; l < j; l++)
            before = before || at[l] == at[j];
        distinct += !before;
        if (!(f->cells[at[j] / 8] >> at[j] % 8 & 1))
            fail_msg("%s: probe %u is not at %llu", kind, j,
                     (unsigned long long)at[j]);
    }
    assert_int_equal(seen_filter_cells_set(f), distinct);
    assert_int_equal(yes(f, &key, 1), 1);
    seen_filter_free(f);
}

/* x(0) = lo', x(i+1) = C x(i) + hi': hash version 1, which never changes. */
TEST(probes_come_from_the_bits_of_the_key)
{
    struct seen_key key;
    uint64_t at[7], x, y;

    seen_key_hash(&key, text, strlen(text));
    x = seen_mix(key.lo ^ seen_mix(42));
    y = seen_mix(key.hi ^ x);
    for (int j = 0; j < 7; j++) {
        at[j] = reduce(x, 100000);
        x = x * UINT64_C(0xd1342543de82ef95) + y;
    }
    assert_bits("bloom", 100000, 7, 42, at);
}

static bool all_bits(const struct seen_filter *f, const struct seen_key *key)
{
    uint64_t x = seen_mix(key->lo ^ seen_mix(f->plan.seed));
    uint64_t y = seen_mix(key->hi ^ x);
    bool set = true;

    for (unsigned j = 0; j < f->plan.probes; j++) {
        uint64_t at = reduce(x, f->plan.bits);

        set = set && f->cells[at / 8] >> at % 8 & 1;
        x = x * UINT64_C(0xd1342543de82ef95) + y;
    }
    return set;
}

/* Sizes of batches around that of the loop, and numbers of probes around that
   of the first ones. */
TEST(a_key_is_seen_if_all_its_bits_are_set)
{
    static const unsigned probes[] = { 1, 2, 3, 4, 5, 6, 20, 64 };
    enum { MOST = 100 };
    struct seen_key key[MOST];
    bool seen[MOST];

    for (uint64_t i = 0; i < MOST; i++)
        seen_key_number(&key[i], i);
    for (size_t p = 0; p < sizeof probes / sizeof probes[0]; p++) {
        struct seen_plan plan = { .kind = "bloom",
                                  .bits = 300 * probes[p],
                                  .capacity = 1000,
                                  .probes = probes[p],
                                  .seed = p,
                                  .over = true };
        struct seen_filter *f = made(&plan);

        for (uint64_t i = 0; i < MOST; i += 2)
            add_all(f, &key[i], 1);
        for (size_t n = 1; n <= MOST; n++) {
            assert_int_equal(seen_filter_has(f, key, n, seen, NULL), SEEN_OK);
            for (size_t i = 0; i < n; i++)
                assert_int_equal(seen[i], all_bits(f, &key[i]));
        }
        seen_filter_free(f);
    }
}

TEST(salted_functions_fall_where_the_comment_says)
{
    enum { K = 5, M = 99999 };
    uint64_t at[K];

    for (unsigned j = 0; j < K; j++)
        at[j] = (uint64_t)published_jenkins(
                    text, strlen(text), (uint32_t)seen_mix(seen_mix(42) + j)) *
                    M >>
                32;
    assert_bits("bloom:jenkins", M, K, 42, at);
    for (unsigned j = 0; j < K; j++)
        at[j] = (uint64_t)published_murmur3(
                    text, strlen(text), (uint32_t)seen_mix(seen_mix(42) + j)) *
                    M >>
                32;
    assert_bits("bloom:murmur3", M, K, 42, at);
    for (unsigned j = 0; j < K; j++) {
        at[j] = reduce(published_hash(PUBLISHED_SHA1, text, strlen(text),
                                      seen_mix(seen_mix(42) + j)),
                       M);
    }
    assert_bits("bloom:sha1", M, K, 42, at);
}

TEST(the_functions_of_a_list_take_turns)
{
    enum { K = 7, M = 123456 };
    static const enum published list[] = { PUBLISHED_JENKINS, PUBLISHED_MURMUR,
                                           PUBLISHED_SHA1 };
    uint64_t at[K];

    for (unsigned j = 0; j < K; j++) {
        uint64_t h = published_hash(list[j % 3], text, strlen(text),
                                    seen_mix(seen_mix(9) + j));

        at[j] = j % 3 == 2 ? reduce(h, M) : h * M >> 32;
    }
    assert_bits("bloom:jenkins+murmur+sha1", M, K, 9, at);
}

/* (h1 + i h2) mod m, and no seed: the filters of others can be read. */
TEST(orestes_is_a_pair_of_murmur3_without_a_seed)
{
    enum { K = 8, M = 1000003 };
    uint64_t h1 = published_murmur3(text, strlen(text), 0), at[K];
    uint64_t h2 = published_murmur3(text, strlen(text), (uint32_t)h1);

    for (unsigned j = 0; j < K; j++)
        at[j] = (h1 + j * h2) % M;
    assert_bits("bloom:orestes", M, K, 0, at);
    assert_bits("bloom:orestes", M, K, 12345, at);
}

TEST(a_32_bit_function_reaches_2_to_the_32_bits)
{
    struct seen_plan plan = { .kind = "bloom:murmur",
                              .capacity = 100,
                              .bits = UINT64_C(1) << 32,
                              .probes = 4 };
    struct seen_filter *f;

    assert_int_equal(seen_filter_new(&f, &plan, NULL), SEEN_OK);
    seen_filter_free(f);
    plan.bits++;
    assert_int_equal(seen_filter_new(&f, &plan, NULL), SEEN_RANGE);
    strcpy(plan.kind, "bloom:md5");
    assert_int_equal(seen_filter_new(&f, &plan, NULL), SEEN_OK);
    seen_filter_free(f);
}

/* Under a secret, sip is what plain bloom does anyway. */
TEST(sip_is_bloom_under_a_secret)
{
    struct seen_plan plan = plan_of("bloom:sip", 100, 0.01);
    struct seen_filter *f, *g;
    struct seen_key *url = urls_new(100);

    plan.keyed = true;
    f = made(&plan);
    strcpy(plan.kind, "bloom");
    g = made(&plan);
    add_all(f, url, 100);
    add_all(g, url, 100);
    assert_true(same(f, g));
    seen_filter_free(f);
    seen_filter_free(g);
    free(url);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probes_come_from_the_bits_of_the_key),
        cmocka_unit_test(a_key_is_seen_if_all_its_bits_are_set),
        cmocka_unit_test(salted_functions_fall_where_the_comment_says),
        cmocka_unit_test(the_functions_of_a_list_take_turns),
        cmocka_unit_test(orestes_is_a_pair_of_murmur3_without_a_seed),
        cmocka_unit_test(a_32_bit_function_reaches_2_to_the_32_bits),
        cmocka_unit_test(sip_is_bloom_under_a_secret),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
