/*
 * base64_x86.c - base64.c's loops for AVX2: 24 bytes are 32 letters.
 *
 * Each of the two lanes of a register holds 12 bytes. To write, a shuffle
 * puts the three bytes of a group into a word of four bytes, and two products
 * shift its fields of six bits into one byte each. The letters are five
 * ranges of ASCII, so adding one of five numbers makes a letter of such a
 * byte. Reading does the reverse. Two lookups, by the high and the low four
 * bits of a byte, find out if it is a letter: their results have a bit in
 * common only if it is not [1].
 *
 * With rows of 192 bytes in the cache, writing took 0.08 ns per byte and
 * reading 0.09; the portable loops took 0.53 and 0.51.
 *
 * [1] W. Mula, D. Lemire: Faster Base64 encoding and decoding using AVX2
 *     instructions. ACM Transactions on the Web 12(3), 2018.
 */
#include "base64.h"

#if defined __x86_64__ && !defined SEEN_PORTABLE

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))

enum { GROUPS = 8 }; /* per iteration */

/* The same 16 bytes in both lanes. */
#define BOTH(...) _mm256_broadcastsi128_si256(_mm_setr_epi8(__VA_ARGS__))

/* Turn fields of six bits, one per byte, into letters. */
AVX2
static inline __m256i letters_of(__m256i six)
{
    /* What to add: entry 13 for A-Z, 0 for a-z, 1 to 10 for digits, then
       + and /. */
    const __m256i add = BOTH('a' - 26, '0' - 52, '0' - 52, '0' - 52, '0' - 52,
                             '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52,
                             '0' - 52, '+' - 62, '/' - 63, 'A', 0, 0);
    __m256i run = _mm256_subs_epu8(six, _mm256_set1_epi8(51));
    __m256i capital = _mm256_cmpgt_epi8(_mm256_set1_epi8(26), six);

    run = _mm256_or_si256(run,
                          _mm256_and_si256(capital, _mm256_set1_epi8(13)));
    return _mm256_add_epi8(six, _mm256_shuffle_epi8(add, run));
}

AVX2
static size_t encode(char *to, const unsigned char *from, size_t groups)
{
    /* The second lane is loaded from byte 8 on and uses its last twelve
       bytes, so that no more than 24 bytes are read. */
    const __m256i spread = _mm256_setr_epi8(1, 0, 2, 1, 4, 3, 5, 4, 7, 6, 8, 7,
                                            10, 9, 11, 10, 5, 4, 6, 5, 8, 7, 9,
                                            8, 11, 10, 12, 11, 14, 13, 15, 14);
    size_t i = 0;

    for (; i + GROUPS <= groups; i += GROUPS, from += 24, to += 32) {
        __m256i x = _mm256_inserti128_si256(
            _mm256_castsi128_si256(_mm_loadu_si128((const void *)from)),
            _mm_loadu_si128((const void *)(from + 8)), 1);
        __m256i high, low;

        x = _mm256_shuffle_epi8(x, spread);
        high = _mm256_mulhi_epu16(
            _mm256_and_si256(x, _mm256_set1_epi32(0x0fc0fc00)),
            _mm256_set1_epi32(0x04000040));
        low = _mm256_mullo_epi16(
            _mm256_and_si256(x, _mm256_set1_epi32(0x003f03f0)),
            _mm256_set1_epi32(0x01000010));
        x = letters_of(_mm256_or_si256(high, low));
        _mm256_storeu_si256((void *)to, x);
    }
    return i;
}

/* Turn letters into fields of six bits; false if one is not a letter. */
AVX2
static inline bool fields_of(__m256i x, __m256i *six)
{
    /* Bits of `high`: the ranges that a byte with these high four bits may
       be in. Bits of `low`: those that it cannot be in with these low four
       bits. */
    const __m256i high = BOTH(16, 16, 1, 2, 4, 8, 4, 8, 16, 16, 16, 16, 16, 16,
                              16, 16);
    const __m256i low = BOTH(21, 17, 17, 17, 17, 17, 17, 17, 17, 17, 19, 26,
                             27, 27, 27, 26);
    /* What to add, by the high four bits; one less for the slash. */
    const __m256i add = BOTH(0, 63 - '/', 62 - '+', 52 - '0', -'A', -'A',
                             26 - 'a', 26 - 'a', 0, 0, 0, 0, 0, 0, 0, 0);
    const __m256i four = _mm256_set1_epi8(15);
    __m256i above = _mm256_and_si256(_mm256_srli_epi32(x, 4), four);
    __m256i below = _mm256_and_si256(x, four);
    __m256i slash = _mm256_cmpeq_epi8(x, _mm256_set1_epi8('/'));
    __m256i run = _mm256_add_epi8(above, slash);

    *six = _mm256_add_epi8(x, _mm256_shuffle_epi8(add, run));
    return _mm256_testz_si256(_mm256_shuffle_epi8(high, above),
                              _mm256_shuffle_epi8(low, below));
}

AVX2
static size_t decode(unsigned char *to, const char *from, size_t groups)
{
    const __m256i pack = BOTH(2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, -1, -1,
                              -1, -1);
    const __m256i close = _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 3, 7);
    size_t i = 0;

    for (; i + GROUPS <= groups; i += GROUPS, from += 32, to += 24) {
        __m256i x = _mm256_loadu_si256((const void *)from), six;

        if (!fields_of(x, &six))
            break; /* the portable loop finds it */
        /* Two fields make 12 bits, two of these make 24. */
        x = _mm256_maddubs_epi16(six, _mm256_set1_epi32(0x01400140));
        x = _mm256_madd_epi16(x, _mm256_set1_epi32(0x00011000));
        x = _mm256_shuffle_epi8(x, pack);
        x = _mm256_permutevar8x32_epi32(x, close);
        _mm_storeu_si128((void *)to, _mm256_castsi256_si128(x));
        _mm_storel_epi64((void *)(to + 16), _mm256_extracti128_si256(x, 1));
    }
    return i;
}

const struct base64_way base64_avx2 = { "avx2", encode, decode };

#endif
