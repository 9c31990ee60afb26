/*
 * blocked_x86.c - blocked.c's loops for AVX2 and AVX-512.
 *
 * A question takes four instructions in AVX-512 (spread the bits of the key
 * over eight words, shift each to its own six, rotate the words of the line by
 * them, test their lowest bits): no branch, no loop over probes. Rotations
 * ignore all but six bits. AVX2 has none, and works on halves of a line.
 *
 * With a million keys, which fit into the cache, a lookup took 2.4 ns with
 * AVX-512 (Xeon), and 3.7 ns with AVX2 and 11 ns in the portable loop (EPYC).
 * With 100 million keys the speed of memory decides.
 */
#include "blocked.h"

#if defined __x86_64__ && !defined SEEN_PORTABLE

#include <immintrin.h>

#include "grouped.h"
#include "region.h"

#define FOR(isa) __attribute__((target(isa)))
#define INLINE(isa) static inline __attribute__((always_inline, target(isa)))

#define AVX512 "avx512f,avx512dq,popcnt,prfchw,bmi,bmi2"
#define AVX2 "avx2,popcnt,prfchw,bmi,bmi2"

/* The upper byte of a key's bits begins with its turn, and is cheaper to load
   than three bits are to shift out of a word. So tables have 256 rows. */
static inline unsigned top_byte(const struct mark *m)
{
    return ((const unsigned char *)&m->bits)[7];
}

/* Does a key of turn t have a bit in word w, if k of its words get one? */
#define GETS(k, t, w) (((w) + WORDS - (t)) % WORDS < (k))
#define FOUR(k, t, what) what(k, t), what(k, t), what(k, t), what(k, t)
#define TURN(k, t, what) \
    FOUR(k, t, what), FOUR(k, t, what), FOUR(k, t, what), FOUR(k, t, what), \
        FOUR(k, t, what), FOUR(k, t, what), FOUR(k, t, what), \
        FOUR(k, t, what)
#define FOR_BYTES(k, what) \
    { \
        TURN(k, 0, what), TURN(k, 1, what), TURN(k, 2, what), \
            TURN(k, 3, what), TURN(k, 4, what), TURN(k, 5, what), \
            TURN(k, 6, what), TURN(k, 7, what) \
    }
#define FOR_TURNS(k, what) \
    { \
        what(k, 0), what(k, 1), what(k, 2), what(k, 3), what(k, 4), \
            what(k, 5), what(k, 6), what(k, 7) \
    }
#define FOR_ALL(each, what) \
    { \
        each(0, what), each(1, what), each(2, what), each(3, what), \
            each(4, what), each(5, what), each(6, what), each(7, what), \
            each(8, what), \
    }

/* --- AVX-512 --- */

#define WORD_BIT(k, t, w) GETS(k, t, w) << (w)
#define WORD_BITS(k, t) \
    WORD_BIT(k, t, 0) | WORD_BIT(k, t, 1) | WORD_BIT(k, t, 2) | \
        WORD_BIT(k, t, 3) | WORD_BIT(k, t, 4) | WORD_BIT(k, t, 5) | \
        WORD_BIT(k, t, 6) | WORD_BIT(k, t, 7)

static const uint8_t words_table[WORDS + 1][256] = FOR_ALL(FOR_BYTES,
                                                           WORD_BITS);

/* A filter, and which words of a line get the first and the second bits of a
   key, by its upper byte. */
struct view512 {
    unsigned char *cells;
    const uint8_t *first, *second;
};

static inline struct view512 view512(unsigned char *cells, unsigned k)
{
    struct view512 v = { cells, words_table[k < WORDS ? k : WORDS],
                         words_table[k > WORDS ? k - WORDS : 0] };

    return v;
}

/* What a key sets in a line, and the words that it touches. */
struct mask512 {
    __m512i bits;   /* its bits */
    __mmask8 words; /* words with a first bit */
    __m512i second; /* of `bits`, the second ones (k > 8) */
    __mmask8 words2;
};

/* One number for each word: where a key's bit is, in the lower six bits. */
INLINE(AVX512) __m512i fields512(uint64_t x)
{
    const __m512i shift = _mm512_set_epi64(55, 49, 43, 37, 31, 25, 19, 13);

    return _mm512_srlv_epi64(_mm512_set1_epi64((long long)x), shift);
}

/* The second bit is d = 1..63 after the first (mod 64). */
INLINE(AVX512) __m512i second512(uint64_t bits, __m512i first)
{
    __m512i d = _mm512_and_si512(fields512(second_bits(bits)),
                                 _mm512_set1_epi64(63));

    return _mm512_add_epi64(first, _mm512_max_epu64(d, _mm512_set1_epi64(1)));
}

INLINE(AVX512)
struct mask512 mask512(const struct mark *mark, const struct view512 *v,
                       bool two)
{
    const __m512i one = _mm512_set1_epi64(1);
    __m512i at = fields512(mark->bits);
    struct mask512 m;

    m.words = (__mmask8)v->first[top_byte(mark)];
    m.bits = _mm512_maskz_rolv_epi64(m.words, one, at);
    m.words2 = 0;
    m.second = _mm512_setzero_si512();
    if (two) {
        m.words2 = (__mmask8)v->second[top_byte(mark)];
        m.second = _mm512_maskz_rolv_epi64(m.words2, one,
                                           second512(mark->bits, at));
    }
    return m;
}

/* Set the key's bits and count those that were clear, a sum for each word:
   it is cheaper to add up vectors than to move masks out and count bits. */
INLINE(AVX512)
bool set_512(const struct view512 *v, const struct mark *mark, bool two,
             __m512i *more)
{
    const __m512i one = _mm512_set1_epi64(1);
    unsigned char *at = v->cells + line_of(mark);
    __m512i line = _mm512_load_si512(at);
    struct mask512 m = mask512(mark, v, two);
    __mmask8 miss = _mm512_mask_testn_epi64_mask(m.words, line, m.bits);
    __mmask8 miss2 = 0;

    *more = _mm512_mask_add_epi64(*more, miss, *more, one);
    line = _mm512_or_si512(line, m.bits);
    if (two) {
        miss2 = _mm512_mask_testn_epi64_mask(m.words2, line, m.second);
        *more = _mm512_mask_add_epi64(*more, miss2, *more, one);
        line = _mm512_or_si512(line, m.second);
    }
    _mm512_store_si512(at, line);
    return miss | miss2;
}

/* The words of a line in which the bit of this number is clear. */
INLINE(AVX512) unsigned clear512(__m512i line, __m512i at)
{
    return _mm512_testn_epi64_mask(_mm512_rorv_epi64(line, at),
                                   _mm512_set1_epi64(1));
}

INLINE(AVX512)
bool in_512(const struct view512 *v, const struct mark *mark, bool two)
{
    __m512i line = _mm512_load_si512(v->cells + line_of(mark));
    __m512i at = fields512(mark->bits);
    unsigned miss = clear512(line, at) & v->first[top_byte(mark)];

    if (two)
        miss |= clear512(line, second512(mark->bits, at)) &
                v->second[top_byte(mark)];
    return !miss;
}

INLINE(AVX512) uint64_t total_512(__m512i more)
{
    return (uint64_t)_mm512_reduce_add_epi64(more);
}

#define WIDTH(name) name##_512
#define TARGET FOR(AVX512)
#define VIEW struct view512
#define VIEW_OF view512
#define IN in_512
#define SET set_512
#define SUM __m512i
#define START(n) _mm512_setzero_si512()
#define TOTAL total_512
#include "blocked_loops.h"

/* --- AVX2 --- */

/*
 * A bit is tested by shifting it to the top of its word, where movmskps reads
 * it; vshufps first brings the top halves of eight words into one register:
 *
 *     words 0 1 4 5  2 3 6 7     which is the order of `tops`
 *
 */
#define BIT(k, t, w, i) (uint32_t) GETS(k, t, w) << (i)
#define TOPS(k, t) \
    BIT(k, t, 0, 0) | BIT(k, t, 1, 1) | BIT(k, t, 4, 2) | BIT(k, t, 5, 3) | \
        BIT(k, t, 2, 4) | BIT(k, t, 3, 5) | BIT(k, t, 6, 6) | BIT(k, t, 7, 7)

static const uint32_t tops_table[WORDS + 1][256] = FOR_ALL(FOR_BYTES, TOPS);

/* A 1 for each word that gets a bit, by turn, for inserts. */
#define ONES(k, t) \
    { \
        GETS(k, t, 0), GETS(k, t, 1), GETS(k, t, 2), GETS(k, t, 3), \
            GETS(k, t, 4), GETS(k, t, 5), GETS(k, t, 6), GETS(k, t, 7) \
    }

static const uint64_t ones_table[WORDS + 1][WORDS][WORDS]
    __attribute__((aligned(LINE))) = FOR_ALL(FOR_TURNS, ONES);

/*
 * A filter: where the lower and the upper halves of its lines begin, and the
 * tables for the first bits of keys and for the second. The compiler must not
 * know what lies 32 bytes after what: it would add up the address of every
 * line instead of using both with an index.
 */
struct view256 {
    unsigned char *low, *high;
    const unsigned char *first_low, *first_high, *second_low;
    const uint32_t *first_tops, *second_tops;
};

static inline struct view256 view256(unsigned char *cells, unsigned k)
{
    unsigned k1 = k < WORDS ? k : WORDS, k2 = k - k1;
    const unsigned char *first = (const unsigned char *)ones_table[k1];
    struct view256 v = { .low = cells,
                         .high = cells + LINE / 2,
                         .first_low = first,
                         .first_high = first + LINE / 2,
                         .second_low = (const unsigned char *)ones_table[k2],
                         .first_tops = tops_table[k1],
                         .second_tops = tops_table[k2] };

    __asm__("" : "+r"(v.high));
    __asm__("" : "+r"(v.first_low), "+r"(v.first_high));
    return v;
}

/* One number for each word: where a key's bit is, in the lower six bits, or
   how far that is below the top. */
struct places {
    __m256i low, high;
};

INLINE(AVX2) struct places fields_of(__m256i bits)
{
    const __m256i low = _mm256_set_epi64x(31, 25, 19, 13);
    const __m256i high = _mm256_set_epi64x(55, 49, 43, 37);
    struct places p = { _mm256_srlv_epi64(bits, low),
                        _mm256_srlv_epi64(bits, high) };

    return p;
}

INLINE(AVX2) struct places places_of(__m256i bits)
{
    const __m256i most = _mm256_set1_epi64x(63);
    struct places p = fields_of(bits);

    p.low = _mm256_and_si256(p.low, most);
    p.high = _mm256_and_si256(p.high, most);
    return p;
}

INLINE(AVX2) struct places below_top(struct places p)
{
    const __m256i most = _mm256_set1_epi64x(63);

    p.low = _mm256_andnot_si256(p.low, most);
    p.high = _mm256_andnot_si256(p.high, most);
    return p;
}

/* The second bit is d = 1..63 after the first (mod 64). */
INLINE(AVX2) struct places second_places(uint64_t bits, struct places first)
{
    const __m256i most = _mm256_set1_epi64x(63), zero = _mm256_setzero_si256();
    struct places d = places_of(
        _mm256_set1_epi64x((long long)second_bits(bits)));

    /* d is 1 instead of 0; comparisons are -1 where they hold */
    d.low = _mm256_sub_epi64(d.low, _mm256_cmpeq_epi64(d.low, zero));
    d.high = _mm256_sub_epi64(d.high, _mm256_cmpeq_epi64(d.high, zero));
    d.low = _mm256_and_si256(_mm256_add_epi64(first.low, d.low), most);
    d.high = _mm256_and_si256(_mm256_add_epi64(first.high, d.high), most);
    return d;
}

/* Which words have a bit set that these shifts bring to the top, in the order
   of `tops`. */
INLINE(AVX2) unsigned tops_of(__m256i low, __m256i high, struct places s)
{
    __m256 a = _mm256_castsi256_ps(_mm256_sllv_epi64(low, s.low));
    __m256 b = _mm256_castsi256_ps(_mm256_sllv_epi64(high, s.high));

    return (unsigned)_mm256_movemask_ps(_mm256_shuffle_ps(a, b, 0xdd));
}

INLINE(AVX2)
bool in_256(const struct view256 *v, const struct mark *m, bool two)
{
    uint64_t at = line_of(m);
    __m256i low = _mm256_load_si256((const void *)(v->low + at));
    __m256i high = _mm256_load_si256((const void *)(v->high + at));
    struct places p = fields_of(_mm256_set1_epi64x((long long)m->bits));
    unsigned miss = v->first_tops[top_byte(m)] &
                    ~tops_of(low, high, below_top(p));

    if (two)
        miss |= v->second_tops[top_byte(m)] &
                ~tops_of(low, high, below_top(second_places(m->bits, p)));
    return !miss;
}

/* Which words of a line are the same, in the order of `tops`. */
INLINE(AVX2)
unsigned same_words(__m256i low, __m256i high, __m256i low2, __m256i high2)
{
    __m256 a = _mm256_castsi256_ps(_mm256_cmpeq_epi64(low, low2));
    __m256 b = _mm256_castsi256_ps(_mm256_cmpeq_epi64(high, high2));

    return (unsigned)_mm256_movemask_ps(_mm256_shuffle_ps(a, b, 0xdd));
}

/* `half` with bit `at` in each word that a key of m's turn has one in. */
INLINE(AVX2)
__m256i with(__m256i half, const unsigned char *ones, const struct mark *m,
             __m256i at)
{
    size_t turn = top_byte(m) & 0xe0; /* times 32 */
    const __m256i *words = (const __m256i *)(const void *)(ones + 2 * turn);

    return _mm256_or_si256(half,
                           _mm256_sllv_epi64(_mm256_load_si256(words), at));
}

/*
 * A word gets one bit at a time, so that there are as many new bits as words
 * that change. The sum begins with all words and loses those that do not. The
 * compiler must not reorder it: it would keep eight masks in memory.
 */
INLINE(AVX2)
bool set_256(const struct view256 *v, const struct mark *m, bool two,
             uint64_t *more)
{
    __m256i *half = (__m256i *)(void *)(v->low + line_of(m));
    __m256i old_low = _mm256_load_si256(half);
    __m256i old_high = _mm256_load_si256(half + 1);
    struct places p = places_of(_mm256_set1_epi64x((long long)m->bits));
    __m256i low = with(old_low, v->first_low, m, p.low);
    __m256i high = with(old_high, v->first_high, m, p.high);
    unsigned same = same_words(low, high, old_low, old_high);
    bool miss = same != 0xff;

    if (two) {
        unsigned same2;

        p = second_places(m->bits, p);
        old_low = low;
        old_high = high;
        low = with(low, v->second_low, m, p.low);
        high = with(high, v->second_low + LINE / 2, m, p.high);
        same2 = same_words(low, high, old_low, old_high);
        *more += WORDS - (unsigned)__builtin_popcount(same2);
        miss |= same2 != 0xff;
    }
    _mm256_store_si256(half, low);
    _mm256_store_si256(half + 1, high);
    *more -= (unsigned)__builtin_popcount(same);
    __asm__("" : "+r"(*more));
    return miss;
}

#define WIDTH(name) name##_256
#define TARGET FOR(AVX2)
#define VIEW struct view256
#define VIEW_OF view256
#define IN in_256
#define SET set_256
#define SUM uint64_t
#define START(n) (WORDS * (uint64_t)(n))
#define TOTAL(more) (more)
#include "blocked_loops.h"

#define WAY(width, bits) \
    const struct blocked_way blocked_##width = { .name = #width, \
                                                 .has = has_##bits, \
                                                 .has_one = has_one_##bits, \
                                                 .add = add_##bits, \
                                                 .add_one = add_one_##bits, \
                                                 .share = share_##bits, \
                                                 .fill = fill_##bits }
WAY(avx512, 512);
WAY(avx2, 256);

#endif
