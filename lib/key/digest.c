/*
 * digest.c - MD5 and SHA-1.
 *
 * Both cut the message into blocks of 64 bytes, the last of which ends with
 * its length, and mix each block into a few words of state. They differ in the
 * mixing and in the order of bytes.
 */
#include "digest.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined __x86_64__ && !defined SEEN_PORTABLE
#include <cpuid.h>
#include <immintrin.h>
#endif

enum { BLOCK = 64, LENGTH_AT = 56, WORDS = 16 };

typedef void mix(uint32_t *state, const unsigned char block[BLOCK]);

static uint32_t rotate(uint32_t x, int by)
{
    return x << by | x >> (32 - by);
}

static uint32_t little(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
           (uint32_t)p[3] << 24;
}

static uint32_t big(const unsigned char *p)
{
    return (uint32_t)p[3] | (uint32_t)p[2] << 8 | (uint32_t)p[1] << 16 |
           (uint32_t)p[0] << 24;
}

/* Mix all blocks of a message; the length is written from its lowest byte on,
   or from its highest one. */
static void mix_all(mix *block_in, uint32_t *state, const void *before,
                    size_t bytes, const char *text, size_t len, bool lowest)
{
    const uint64_t bits = 8 * ((uint64_t)bytes + len);
    unsigned char block[BLOCK];
    size_t have = bytes;

    memcpy(block, before, bytes);
    while (have + len >= BLOCK) {
        memcpy(block + have, text, BLOCK - have);
        text += BLOCK - have;
        len -= BLOCK - have;
        have = 0;
        block_in(state, block);
    }
    if (len)
        memcpy(block + have, text, len);
    have += len;
    block[have++] = 0x80;
    memset(block + have, 0, BLOCK - have);
    if (have > LENGTH_AT) {
        block_in(state, block);
        memset(block, 0, LENGTH_AT);
    }
    for (int i = 0; i < 8; i++)
        block[LENGTH_AT + i] = (unsigned char)(bits >>
                                               (lowest ? 8 * i : 56 - 8 * i));
    block_in(state, block);
}

/* --- MD5, RFC 1321 --- */

/* The fraction of |sin(i + 1)|, in units of 2^-32. */
static const uint32_t sine[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a,
    0xa8304613, 0xfd469501, 0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be,
    0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821, 0xf61e2562, 0xc040b340,
    0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8,
    0x676f02d9, 0x8d2a4c8a, 0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c,
    0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70, 0x289b7ec6, 0xeaa127fa,
    0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92,
    0xffeff47d, 0x85845dd1, 0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1,
    0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
};

static uint32_t md5_function(int i, uint32_t b, uint32_t c, uint32_t d)
{
    switch (i / 16) {
    case 0: return d ^ (b & (c ^ d));
    case 1: return c ^ (d & (b ^ c));
    case 2: return b ^ c ^ d;
    default: return c ^ (b | ~d);
    }
}

/* Unrolled, the tables become constants, and no word moves. */
static void mix_md5(uint32_t *state, const unsigned char block[BLOCK])
{
    static const int by[4][4] = { { 7, 12, 17, 22 },
                                  { 5, 9, 14, 20 },
                                  { 4, 11, 16, 23 },
                                  { 6, 10, 15, 21 } };
    static const int first[4] = { 0, 1, 5, 0 }, apart[4] = { 1, 5, 3, 7 };
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];

#pragma GCC unroll 64
    for (int i = 0; i < 64; i++) {
        int round = i / 16, at = (first[round] + i * apart[round]) % WORDS;
        uint32_t sum = a + md5_function(i, b, c, d) + little(block + 4 * at) +
                       sine[i];

        a = d;
        d = c;
        c = b;
        b += rotate(sum, by[round][i % 4]);
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
}

void digest_md5(const void *before, size_t bytes, const char *text, size_t len,
                unsigned char out[DIGEST_MD5])
{
    uint32_t state[4] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476 };

    mix_all(mix_md5, state, before, bytes, text, len, true);
    for (int i = 0; i < DIGEST_MD5; i++)
        out[i] = (unsigned char)(state[i / 4] >> (8 * (i % 4)));
}

/* --- SHA-1, FIPS 180-1 --- */

static uint32_t sha1_function(int i, uint32_t b, uint32_t c, uint32_t d)
{
    switch (i / 20) {
    case 0: return (d ^ (b & (c ^ d))) + 0x5a827999;
    case 1: return (b ^ c ^ d) + 0x6ed9eba1;
    case 2: return ((b & c) | (d & (b | c))) + 0x8f1bbcdc;
    default: return (b ^ c ^ d) + 0xca62c1d6;
    }
}

/* Of the 80 words that follow from a block, the last 16 are kept. */
static void mix_sha1(uint32_t *state, const unsigned char block[BLOCK])
{
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3],
             e = state[4], word[WORDS];

#pragma GCC unroll 80
    for (int i = 0; i < 80; i++) {
        uint32_t next;

        word[i % WORDS] = i < WORDS ? big(block + 4 * i)
                                    : rotate(word[(i + 13) % WORDS] ^
                                                 word[(i + 8) % WORDS] ^
                                                 word[(i + 2) % WORDS] ^
                                                 word[i % WORDS],
                                             1);
        next = rotate(a, 5) + sha1_function(i, b, c, d) + e + word[i % WORDS];
        e = d;
        d = c;
        c = rotate(b, 30);
        b = a;
        a = next;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
}

#if defined __x86_64__ && !defined SEEN_PORTABLE

#define SHA __attribute__((target("sha,sse4.1")))

/* Four steps; the instruction has its constant and function in itself. */
SHA static __m128i four_steps(__m128i abcd, __m128i e, int fifth)
{
    switch (fifth) {
    case 0: return _mm_sha1rnds4_epu32(abcd, e, 0);
    case 1: return _mm_sha1rnds4_epu32(abcd, e, 1);
    case 2: return _mm_sha1rnds4_epu32(abcd, e, 2);
    default: return _mm_sha1rnds4_epu32(abcd, e, 3);
    }
}

/* mix_sha1() by the SHA instructions: 145 ns instead of 460 for a URL of 80
   bytes. Registers hold words from the highest one on. */
SHA static void mix_sha1_x86(uint32_t *state, const unsigned char *block)
{
    const __m128i reverse = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
                                         12, 13, 14, 15);
    __m128i abcd = _mm_shuffle_epi32(_mm_loadu_si128((void *)state), 0x1b);
    __m128i e = _mm_set_epi32((int)state[4], 0, 0, 0), word[4];
    const __m128i abcd_before = abcd, e_before = e;

    for (int i = 0; i < 4; i++)
        word[i] = _mm_shuffle_epi8(
            _mm_loadu_si128((const void *)(block + 16 * i)), reverse);
#pragma GCC unroll 20
    for (int i = 0; i < 20; i++) {
        __m128i *now = &word[i % 4];
        __m128i add = i ? _mm_sha1nexte_epu32(e, *now)
                        : _mm_add_epi32(e, *now);

        e = abcd;
        abcd = four_steps(abcd, add, i / 5);
        *now = _mm_sha1msg2_epu32(
            _mm_xor_si128(_mm_sha1msg1_epu32(*now, word[(i + 1) % 4]),
                          word[(i + 2) % 4]),
            word[(i + 3) % 4]);
    }
    e = _mm_sha1nexte_epu32(e, e_before);
    abcd = _mm_add_epi32(abcd, abcd_before);
    _mm_storeu_si128((void *)state, _mm_shuffle_epi32(abcd, 0x1b));
    state[4] = (uint32_t)_mm_extract_epi32(e, 3);
}

/* The compiler's __builtin_cpu_supports() knows no name for them. */
static bool find_sha(void)
{
    unsigned a, b = 0, c, d;

    return __builtin_cpu_supports("sse4.1") &&
           __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & 1u << 29;
}

/* cpuid takes longer than a digest. Threads may find out the same at once. */
static bool has_sha(void)
{
    static int known; /* 1: no, 2: yes */
    int it = __atomic_load_n(&known, __ATOMIC_RELAXED);

    if (!it) {
        it = find_sha() ? 2 : 1;
        __atomic_store_n(&known, it, __ATOMIC_RELAXED);
    }
    return it == 2;
}

#else
#define mix_sha1_x86 mix_sha1
static bool has_sha(void)
{
    return false;
}
#endif

void digest_sha1(const void *before, size_t bytes, const char *text,
                 size_t len, unsigned char out[DIGEST_SHA1])
{
    uint32_t state[5] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476,
                          0xc3d2e1f0 };

    mix_all(has_sha() ? mix_sha1_x86 : mix_sha1, state, before, bytes, text,
            len, false);
    for (int i = 0; i < DIGEST_SHA1; i++)
        out[i] = (unsigned char)(state[i / 4] >> (24 - 8 * (i % 4)));
}
