/* sip_test.c - SipHash gives the answers of its authors. */
#include "test/test.h"

#include <string.h>

#include "lib/text/random.h"
#include "lib/text/sip.h"

static void bytes_of(uint64_t lo, uint64_t hi, unsigned char out[16])
{
    for (int i = 0; i < 8; i++) {
        out[i] = (unsigned char)(lo >> (8 * i));
        out[8 + i] = (unsigned char)(hi >> (8 * i));
    }
}

/*
 * The first vectors of the authors' reference code (vectors.h, 128 bits):
 * texts of i bytes 0, 1, 2... under the secret of bytes 0 to 15.
 */
TEST(sip_hash_is_siphash_2_4_128)
{
    static const unsigned char known[3][16] = {
        { 0xa3, 0x81, 0x7f, 0x04, 0xba, 0x25, 0xa8, 0xe6, 0x6d, 0xf6, 0x72,
          0x14, 0xc7, 0x55, 0x02, 0x93 },
        { 0xda, 0x87, 0xc1, 0xd8, 0x6b, 0x99, 0xaf, 0x44, 0x34, 0x76, 0x59,
          0x11, 0x9b, 0x22, 0xfc, 0x45 },
        { 0x81, 0x77, 0x22, 0x8d, 0xa4, 0xa4, 0x5d, 0xc7, 0xfc, 0xa3, 0x8b,
          0xde, 0xf6, 0x0a, 0xff, 0xe4 },
    };
    unsigned char secret[SIP_SECRET], hash[16];
    char text[3];
    uint64_t lo, hi;

    for (int i = 0; i < SIP_SECRET; i++)
        secret[i] = (unsigned char)i;
    for (int i = 0; i < 3; i++) {
        text[i] = (char)i;
        sip_hash(secret, text, (size_t)i, &lo, &hi);
        bytes_of(lo, hi, hash);
        assert_memory_equal(hash, known[i], 16);
    }
}

TEST(all_bytes_of_a_text_count)
{
    static const unsigned char secret[SIP_SECRET] = { 1 };
    char text[40];
    uint64_t lo[41], hi;

    memset(text, 0, sizeof text);
    sip_hash(secret, text, sizeof text, &lo[40], &hi);
    for (int i = 0; i < 40; i++) {
        text[i] = 1;
        sip_hash(secret, text, sizeof text, &lo[i], &hi);
        text[i] = 0;
        for (int j = 0; j < i; j++)
            assert_true(lo[i] != lo[j]);
        assert_true(lo[i] != lo[40]);
    }
}

/* One seed in 2^53 equals another one; 100 make a repeat unlikely enough. */
TEST(seeds_differ_and_fit_a_double)
{
    uint64_t seed[100];

    for (int i = 0; i < 100; i++) {
        seed[i] = random_seed();
        assert_true(seed[i] > 0 && seed[i] < UINT64_C(1) << 53);
        for (int j = 0; j < i; j++)
            assert_true(seed[i] != seed[j]);
    }
}

TEST(random_bytes_fill_every_place)
{
    unsigned char bytes[1000], set[1000] = { 0 };

    for (int i = 0; i < 20; i++) {
        memset(bytes, 0, sizeof bytes);
        random_fill(bytes + 1, sizeof bytes - 2);
        assert_int_equal(bytes[0], 0);
        assert_int_equal(bytes[999], 0);
        for (int j = 1; j < 999; j++)
            set[j] |= bytes[j];
    }
    for (int j = 1; j < 999; j++)
        assert_true(set[j]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sip_hash_is_siphash_2_4_128),
        cmocka_unit_test(all_bytes_of_a_text_count),
        cmocka_unit_test(seeds_differ_and_fit_a_double),
        cmocka_unit_test(random_bytes_fill_every_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
