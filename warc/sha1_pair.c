/*
 * sha1_pair.c - SHA-1 of two texts at once, by the SHA extensions of x86.
 *
 * FIPS 180-4, section 6.1: 80 steps per block of 64 bytes. An instruction makes
 * four steps, so that there are 20 rounds, and the schedule of message words is
 * made by two more per round, four rounds ahead.
 */
#include "sha1_pair.h"

#include <stdint.h>
#include <string.h>

#if defined __x86_64__
#include <cpuid.h>
#include <immintrin.h>

enum { BLOCK = 64, LENGTH = 8, LANES = 2 };

/* --- a text as blocks --- */

struct sha1_text {
    struct seen_span part[2];
    unsigned next;           /* part, 2: none */
    const unsigned char *at; /* whole blocks that are to be read, */
    size_t blocks;           /* and how many */
    bool ended;              /* they are the last ones */
    uint64_t bits;
    size_t
        held; /* bytes in `edge`, which has blocks that are in two parts, and
                    the end */
    unsigned char edge[2 * BLOCK];
    __m128i abcd, e;
};

static void end_text(struct sha1_text *l)
{
    size_t blocks = l->held + 1 + LENGTH <= BLOCK ? 1 : 2;
    size_t len = blocks * BLOCK;

    memset(l->edge + l->held, 0, len - l->held);
    l->edge[l->held] = 0x80;
    for (size_t i = 0; i < LENGTH; i++)
        l->edge[len - 1 - i] = (unsigned char)(l->bits >> 8 * i);
    l->at = l->edge;
    l->blocks = blocks;
    l->ended = true;
}

/* Find the next blocks. The last ones were read. */
static void find_blocks(struct sha1_text *l)
{
    for (; l->next < 2; l->next++) {
        struct seen_span *s = &l->part[l->next];
        size_t n = BLOCK - l->held < s->len ? BLOCK - l->held : s->len;

        if (!l->held && s->len >= BLOCK) {
            l->at = (const unsigned char *)s->text;
            l->blocks = s->len / BLOCK;
            s->text += l->blocks * BLOCK;
            s->len %= BLOCK;
            return;
        }
        if (n)
            memcpy(l->edge + l->held, s->text, n);
        l->held += n;
        s->text += n;
        s->len -= n;
        if (l->held == BLOCK) {
            l->at = l->edge;
            l->blocks = 1;
            l->held = 0;
            return;
        }
    }
    end_text(l);
}

static bool has_blocks(struct sha1_text *l)
{
    if (!l->blocks && !l->ended)
        find_blocks(l);
    return l->blocks;
}

/* --- blocks --- */

#define SHA __attribute__((target("sha,sse4.1")))

/* Round r of each lane: four steps, and the words of round r + 4. */
#define ROUND(r) \
    do { \
        for (size_t i = 0; i < n; i++) { \
            __m128i w = m[i][(r) % 4]; \
            __m128i in = (r) ? _mm_sha1nexte_epu32(before[i], w) \
                             : _mm_add_epi32(e[i], w); \
\
            before[i] = now[i]; \
            now[i] = _mm_sha1rnds4_epu32(now[i], in, (r) / 5); \
            if ((r) < 16) \
                m[i][(r) % 4] = _mm_sha1msg2_epu32( \
                    _mm_xor_si128(_mm_sha1msg1_epu32(w, m[i][((r) + 1) % 4]), \
                                  m[i][((r) + 2) % 4]), \
                    m[i][((r) + 3) % 4]); \
        } \
    } while (0)
#define ROUNDS(r) \
    do { \
        ROUND(r); \
        ROUND((r) + 1); \
        ROUND((r) + 2); \
        ROUND((r) + 3); \
        ROUND((r) + 4); \
    } while (0)

/* So many blocks of each of n lanes. With a constant n there are no loops but
   that over blocks, and all is in registers. */
SHA static inline __attribute__((always_inline)) void read_blocks(
    struct sha1_text *const *lane, size_t n, size_t blocks)
{
    const __m128i order = _mm_set_epi64x(0x0001020304050607,
                                         0x08090a0b0c0d0e0f);
    __m128i m[LANES][4], abcd[LANES], e[LANES], now[LANES], before[LANES];
    const unsigned char *at[LANES];

    for (size_t i = 0; i < n; i++) {
        abcd[i] = lane[i]->abcd;
        e[i] = lane[i]->e;
        at[i] = lane[i]->at;
        lane[i]->at += blocks * BLOCK;
        lane[i]->blocks -= blocks;
    }
    while (blocks--) {
        for (size_t i = 0; i < n; i++) {
            now[i] = abcd[i];
            for (size_t j = 0; j < 4; j++)
                m[i][j] = _mm_shuffle_epi8(
                    _mm_loadu_si128((const void *)(at[i] + 16 * j)), order);
            at[i] += BLOCK;
        }
        ROUNDS(0);
        ROUNDS(5);
        ROUNDS(10);
        ROUNDS(15);
        for (size_t i = 0; i < n; i++) {
            e[i] = _mm_sha1nexte_epu32(before[i], e[i]);
            abcd[i] = _mm_add_epi32(abcd[i], now[i]);
        }
    }
    for (size_t i = 0; i < n; i++) {
        lane[i]->abcd = abcd[i];
        lane[i]->e = e[i];
    }
}

SHA static void read_both(struct sha1_text *const *lane)
{
    while (has_blocks(lane[0]) && has_blocks(lane[1]))
        read_blocks(lane, 2,
                    lane[0]->blocks < lane[1]->blocks ? lane[0]->blocks
                                                      : lane[1]->blocks);
}

SHA static void read_rest(struct sha1_text *lane)
{
    while (has_blocks(lane))
        read_blocks(&lane, 1, lane->blocks);
}

/* --- a pair --- */

static void begin(struct sha1_text *l, const struct seen_span part[2])
{
    memset(l, 0, sizeof *l);
    l->part[0] = part[0];
    l->part[1] = part[1];
    l->bits = 8 * ((uint64_t)part[0].len + part[1].len);
    l->abcd = _mm_set_epi32(0x67452301, (int)0xefcdab89, (int)0x98badcfe,
                            0x10325476);
    l->e = _mm_set_epi32((int)0xc3d2e1f0, 0, 0, 0);
}

/* The words are in the upper places first, and each begins with its highest
   byte. */
static void write_sum(const struct sha1_text *l, unsigned char sum[WARC_SHA1])
{
    uint32_t word[8];

    _mm_storeu_si128((void *)word, l->abcd);
    _mm_storeu_si128((void *)(word + 4), l->e);
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 4; j++)
            sum[4 * i + j] = (unsigned char)(word[3 - i] >> (24 - 8 * j));
    for (size_t j = 0; j < 4; j++)
        sum[16 + j] = (unsigned char)(word[7] >> (24 - 8 * j));
}

bool warc_sha1_pair_works(void)
{
    unsigned a, b, c, d;

    return __builtin_cpu_supports("sse4.1") &&
           __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & bit_SHA;
}

void warc_sha1_pair(const struct seen_span a[2], const struct seen_span b[2],
                    unsigned char sum[2][WARC_SHA1])
{
    struct sha1_text lane[LANES], *const lanes[LANES] = { &lane[0], &lane[1] };

    begin(&lane[0], a);
    begin(&lane[1], b);
    read_both(lanes);
    for (size_t i = 0; i < LANES; i++) {
        read_rest(&lane[i]);
        write_sum(&lane[i], sum[i]);
    }
}

#else

bool warc_sha1_pair_works(void)
{
    return false;
}

void warc_sha1_pair(const struct seen_span a[2], const struct seen_span b[2],
                    unsigned char sum[2][WARC_SHA1])
{
    (void)a, (void)b;
    memset(sum, 0, 2 * (size_t)WARC_SHA1);
}

#endif
