/* published.c - lookup2, MurmurHash2, MurmurHash3, and salted digests. */
#include "published.h"

#include <string.h>

#include "digest.h"

static const struct {
    const char *name;
    bool wide;
} function[PUBLISHED_COUNT] = {
    [PUBLISHED_JENKINS] = { "jenkins", false },
    [PUBLISHED_MURMUR] = { "murmur", false },
    [PUBLISHED_MURMUR3] = { "murmur3", false },
    [PUBLISHED_MD5] = { "md5", true },
    [PUBLISHED_SHA1] = { "sha1", true },
};

enum published published_find(const char *name, size_t len)
{
    int i = 0;

    while (i < PUBLISHED_COUNT && (strlen(function[i].name) != len ||
                                   memcmp(function[i].name, name, len)))
        i++;
    return (enum published)i;
}

bool published_wide(enum published which)
{
    return function[which].wide;
}

unsigned published_cost(enum published which)
{
    return function[which].wide ? 25 : 8;
}

/* Up to 4 bytes, little endian; those that are missing are zero. */
static uint32_t word(const unsigned char *p, size_t len)
{
    uint32_t x = 0;

    for (size_t i = 0; i < len && i < 4; i++)
        x |= (uint32_t)p[i] << (8 * i);
    return x;
}

static uint32_t rotate(uint32_t x, int by)
{
    return x << by | x >> (32 - by);
}

/*
 * lookup2 takes 12 bytes at a time into three words and mixes them, so that
 * every bit of a and b reaches every bit of c. The low byte of c belongs to
 * the length, hence the tail's bytes for c start one higher.
 */
struct three {
    uint32_t a, b, c;
};

static const int shift[3][3] = { { 13, 8, 13 }, { 12, 16, 5 }, { 3, 10, 15 } };

static void stir(struct three *t)
{
    for (int i = 0; i < 3; i++) {
        t->a = (t->a - t->b - t->c) ^ t->c >> shift[i][0];
        t->b = (t->b - t->c - t->a) ^ t->a << shift[i][1];
        t->c = (t->c - t->a - t->b) ^ t->b >> shift[i][2];
    }
}

uint32_t published_jenkins(const char *text, size_t len, uint32_t salt)
{
    const unsigned char *p = (const unsigned char *)text;
    struct three t = { 0x9e3779b9, 0x9e3779b9, salt };
    size_t left = len;

    for (; left >= 12; left -= 12, p += 12) {
        t.a += word(p, 4);
        t.b += word(p + 4, 4);
        t.c += word(p + 8, 4);
        stir(&t);
    }
    t.c += (uint32_t)len;
    t.a += word(p, left);
    if (left > 4)
        t.b += word(p + 4, left - 4);
    if (left > 8)
        t.c += word(p + 8, left - 8) << 8;
    stir(&t);
    return t.c;
}

/* Eight words at once, in whatever registers the machine has. */
typedef uint32_t eight __attribute__((vector_size(32)));

struct eights {
    eight a, b, c;
};

#define INLINE static inline __attribute__((always_inline))

INLINE void stir_eight(struct eights *t)
{
#pragma GCC unroll 3 /* then the shifts are constants */
    for (int i = 0; i < 3; i++) {
        t->a = (t->a - t->b - t->c) ^ t->c >> shift[i][0];
        t->b = (t->b - t->c - t->a) ^ t->a << shift[i][1];
        t->c = (t->c - t->a - t->b) ^ t->b >> shift[i][2];
    }
}

/* The same in eight lanes, of one text, so that only `c` starts differently.
   lookup2 is one long chain of dependent steps: other lanes fill its gaps. */
INLINE void jenkins_eight(const char *text, size_t len, const uint32_t *salt,
                          uint32_t *hash)
{
    const unsigned char *p = (const unsigned char *)text;
    struct eights t = { .a = { 0 } };
    size_t left = len;

    t.a += 0x9e3779b9;
    t.b = t.a;
    memcpy(&t.c, salt, sizeof t.c);
    for (; left >= 12; left -= 12, p += 12) {
        t.a += word(p, 4);
        t.b += word(p + 4, 4);
        t.c += word(p + 8, 4);
        stir_eight(&t);
    }
    t.c += (uint32_t)len;
    t.a += word(p, left);
    if (left > 4)
        t.b += word(p + 4, left - 4);
    if (left > 8)
        t.c += word(p + 8, left - 8) << 8;
    stir_eight(&t);
    memcpy(hash, &t.c, sizeof t.c);
}

static void jenkins_any(const char *text, size_t len, const uint32_t *salt,
                        uint32_t *hash)
{
    jenkins_eight(text, len, salt, hash);
}

/* The same code, of which the compiler makes half as many instructions. */
#if defined __x86_64__ && !defined SEEN_PORTABLE
__attribute__((target("avx2"))) static void jenkins_avx2(const char *text,
                                                         size_t len,
                                                         const uint32_t *salt,
                                                         uint32_t *hash)
{
    jenkins_eight(text, len, salt, hash);
}

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2");
}
#else
#define jenkins_avx2 jenkins_any
static bool has_avx2(void)
{
    return false;
}
#endif

void published_jenkins_many(const char *text, size_t len, const uint32_t *salt,
                            unsigned n, uint32_t *hash)
{
    uint32_t in[8] = { 0 }, out[8];

    for (unsigned i = 0; i < n; i += 8) {
        unsigned some = n - i < 8 ? n - i : 8;

        for (unsigned j = 0; j < some; j++)
            in[j] = salt[i + j];
        if (has_avx2())
            jenkins_avx2(text, len, in, out);
        else
            jenkins_any(text, len, in, out);
        for (unsigned j = 0; j < some; j++)
            hash[i + j] = out[j];
    }
}

uint32_t published_murmur(const char *text, size_t len, uint32_t salt)
{
    const uint32_t m = 0x5bd1e995;
    const unsigned char *p = (const unsigned char *)text;
    uint32_t h = salt ^ (uint32_t)len;
    size_t left = len;

    for (; left >= 4; left -= 4, p += 4) {
        uint32_t k = word(p, 4) * m;

        h = h * m ^ (k ^ k >> 24) * m;
    }
    if (left)
        h = (h ^ word(p, left)) * m;
    h = (h ^ h >> 13) * m;
    return h ^ h >> 15;
}

uint32_t published_murmur3(const char *text, size_t len, uint32_t salt)
{
    const unsigned char *p = (const unsigned char *)text;
    uint32_t h = salt;
    size_t left = len;

    for (; left >= 4; left -= 4, p += 4) {
        h ^= rotate(word(p, 4) * 0xcc9e2d51, 15) * 0x1b873593;
        h = rotate(h, 13) * 5 + 0xe6546b64;
    }
    h ^= rotate(word(p, left) * 0xcc9e2d51, 15) * 0x1b873593;
    h ^= (uint32_t)len;
    h = (h ^ h >> 16) * 0x85ebca6b;
    h = (h ^ h >> 13) * 0xc2b2ae35;
    return h ^ h >> 16;
}

uint64_t published_hash(enum published which, const char *text, size_t len,
                        uint64_t salt)
{
    unsigned char before[8], out[DIGEST_SHA1];

    switch (which) {
    case PUBLISHED_JENKINS:
        return published_jenkins(text, len, (uint32_t)salt);
    case PUBLISHED_MURMUR: return published_murmur(text, len, (uint32_t)salt);
    case PUBLISHED_MURMUR3:
        return published_murmur3(text, len, (uint32_t)salt);
    case PUBLISHED_MD5:
    case PUBLISHED_SHA1:
    case PUBLISHED_COUNT: break;
    }
    for (int i = 0; i < 8; i++)
        before[i] = (unsigned char)(salt >> (8 * i));
    if (which == PUBLISHED_MD5)
        digest_md5(before, 8, text, len, out);
    else
        digest_sha1(before, 8, text, len, out);
    return (uint64_t)word(out + 4, 4) << 32 | word(out, 4);
}
