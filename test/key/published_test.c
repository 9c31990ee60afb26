/* published_test.c - the papers' hash functions give their known answers. */
#include "test/wall.h"


#include <seen/key.h>

#include "lib/key/published.h"

struct vector {
    const char *text;
    uint32_t salt, hash;
};

/* The first three are in the tests of several other implementations; the
   last was worked out from the published steps by an independent script. */
TEST(jenkins_is_lookup2)
{
    static const struct vector v[] = {
        { "", 0, 0xbd49d10d },
        { "foobar", 0, 0x9d3ffa02 },
        { "hello world", 0, 0x1aa919e6 },
        { "http://a.example/longer/than/12", 0xdeadbeef, 0x66fcffa9 },
    };

    for (size_t i = 0; i < sizeof v / sizeof v[0]; i++)
        assert_int_equal(
            published_jenkins(v[i].text, strlen(v[i].text), v[i].salt),
            v[i].hash);
}

/* Of every length, and of every number of salts around that of the lanes. */
TEST(jenkins_of_many_salts_is_that_of_each)
{
    enum { LONGEST = 40, SALTS = 19 };
    uint32_t salt[SALTS], hash[SALTS + 1];
    char text[LONGEST];

    for (int i = 0; i < LONGEST; i++)
        text[i] = (char)(i * 37 + 200);
    for (uint32_t i = 0; i < SALTS; i++)
        salt[i] = i * 0x9e3779b9 + 7;
    for (size_t len = 0; len <= LONGEST; len++)
        for (unsigned n = 0; n <= SALTS; n++) {
            hash[n] = 0x5eed;
            published_jenkins_many(text, len, salt, n, hash);
            for (unsigned i = 0; i < n; i++)
                assert_int_equal(hash[i],
                                 published_jenkins(text, len, salt[i]));
            assert_int_equal(hash[n], 0x5eed);
        }
}

TEST(murmur3_is_murmurhash3_x86_32)
{
    static const struct vector v[] = {
        { "", 0, 0 },
        { "", 1, 0x514e28b7 },
        { "", 0xffffffff, 0x81f16f39 },
        { "hello, world", 0, 0x149bbb7f },
        { "!Ce\x87", 0, 0xf55b516b },
        { "!Ce", 0, 0x7e4a8634 },
    };

    for (size_t i = 0; i < sizeof v / sizeof v[0]; i++)
        assert_int_equal(
            published_murmur3(v[i].text, strlen(v[i].text), v[i].salt),
            v[i].hash);
}

/*
 * The author's own check, in his SMHasher: hash the texts of i bytes 0, 1,
 * 2... for i below 256 under the seed 256 - i, then hash all the hashes.
 */
static uint32_t verification(uint32_t (*hash)(const char *, size_t, uint32_t))
{
    char text[256], hashes[1024];

    for (unsigned i = 0; i < 256; i++) {
        uint32_t h;

        text[i] = (char)(unsigned char)i;
        h = hash(text, i, 256 - i);
        for (unsigned j = 0; j < 4; j++)
            hashes[4 * i + j] = (char)(unsigned char)(h >> (8 * j));
    }
    return hash(hashes, sizeof hashes, 0);
}

TEST(both_murmurs_pass_their_authors_verification)
{
    assert_int_equal(verification(published_murmur), 0x27864c1e);
    assert_int_equal(verification(published_murmur3), 0xb0f57ee3);
}

/*
 * The salt goes before the text, little endian: "abc" under the salt whose
 * bytes are "message " is MD5 and SHA-1 of "message abc".
 */
TEST(salted_digests_are_digests_of_salt_and_text)
{
    const uint64_t salt = UINT64_C(0x206567617373656d);

    assert_true(published_hash(PUBLISHED_MD5, "abc", 3, salt) ==
                UINT64_C(0x14c1741df3438b8d));
    assert_true(published_hash(PUBLISHED_SHA1, "abc", 3, salt) ==
                UINT64_C(0x637356e9d45f8c7d));
}

/* Texts are not ended by anything: they end where memory does. */
TEST(nothing_is_read_past_the_end_of_a_text)
{
    char *wall = wall_new(100), copy[100];

    for (size_t len = 0; len < 100; len++) {
        memcpy(copy, wall - len, len);
        for (int i = 0; i < PUBLISHED_COUNT; i++)
            assert_true(
                published_hash((enum published)i, wall - len, len, 1) ==
                published_hash((enum published)i, copy, len, 1));
    }
}

TEST(functions_are_found_by_their_whole_name)
{
    assert_int_equal(published_find("murmur", 6), PUBLISHED_MURMUR);
    assert_int_equal(published_find("murmur3", 7), PUBLISHED_MURMUR3);
    assert_int_equal(published_find("murmur3", 6), PUBLISHED_MURMUR);
    assert_int_equal(published_find("murmur32", 8), PUBLISHED_COUNT);
    assert_int_equal(published_find("", 0), PUBLISHED_COUNT);
    assert_int_equal(published_find("sha", 3), PUBLISHED_COUNT);
}

/* 32 bits are the upper half of what users get, under any number of salts. */
TEST(users_get_the_same_hashes)
{
    static const char *const name[] = { "jenkins", "murmur", "murmur3", "md5",
                                        "sha1" };
    enum { SALTS = 11 };
    uint64_t salt[SALTS], hash[SALTS];
    struct seen_hash *h;

    for (unsigned i = 0; i < SALTS; i++)
        salt[i] = seen_mix(i);
    for (int i = 0; i < PUBLISHED_COUNT; i++)
        for (unsigned n = 1; n <= SALTS; n += 5) {
            assert_int_equal(seen_hash_new(&h, name[i], NULL), SEEN_OK);
            assert_int_equal(
                seen_hash_text(h, "http://a/", 9, salt, n, hash, NULL),
                SEEN_OK);
            for (unsigned j = 0; j < n; j++) {
                uint64_t one = published_hash((enum published)i, "http://a/",
                                              9, salt[j]);

                assert_true(
                    hash[j] ==
                    (published_wide((enum published)i) ? one : one << 32));
            }
            seen_hash_free(h);
        }
    assert_int_equal(seen_hash_new(&h, "sha", NULL), SEEN_RANGE);
    assert_null(h);
    seen_hash_free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jenkins_is_lookup2),
        cmocka_unit_test(jenkins_of_many_salts_is_that_of_each),
        cmocka_unit_test(murmur3_is_murmurhash3_x86_32),
        cmocka_unit_test(both_murmurs_pass_their_authors_verification),
        cmocka_unit_test(salted_digests_are_digests_of_salt_and_text),
        cmocka_unit_test(nothing_is_read_past_the_end_of_a_text),
        cmocka_unit_test(functions_are_found_by_their_whole_name),
        cmocka_unit_test(users_get_the_same_hashes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
