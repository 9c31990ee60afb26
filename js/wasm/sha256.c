/* sha256.c - SHA-256 (FIPS 180-4), for the digests of deltas. */
#include <openssl/evp.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 64, LENGTH_AT = 56, WORDS = 8, ROUNDS = 64 };

struct js_sha256 {
    uint32_t state[WORDS];
    uint64_t len;
    unsigned char block[BLOCK];
};

/* The fractions of the cube roots of the first 64 primes. */
static const uint32_t root[ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, int by)
{
    return x >> by | x << (32 - by);
}

static uint32_t big(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 |
           (uint32_t)p[3];
}

static void mix(uint32_t state[WORDS], const unsigned char block[BLOCK])
{
    uint32_t w[ROUNDS], s[WORDS];

    for (int i = 0; i < 16; i++)
        w[i] = big(block + 4 * i);
    for (int i = 16; i < ROUNDS; i++)
        w[i] = w[i - 16] + w[i - 7] +
               (rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^
                w[i - 15] >> 3) +
               (rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10);
    memcpy(s, state, sizeof s);
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t a = s[0], e = s[4];
        uint32_t one = s[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
                       ((e & s[5]) ^ (~e & s[6])) + root[i] + w[i];
        uint32_t two = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) +
                       ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));

        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += one;
        s[0] = one + two;
    }
    for (int i = 0; i < WORDS; i++)
        state[i] += s[i];
}

EVP_MD_CTX *EVP_MD_CTX_new(void)
{
    return calloc(1, sizeof(EVP_MD_CTX));
}

void EVP_MD_CTX_free(EVP_MD_CTX *d)
{
    free(d);
}

const void *EVP_sha256(void)
{
    return NULL;
}

bool OSSL_LIB_CTX_get0_global_default(void)
{
    return true;
}

int EVP_DigestInit_ex(EVP_MD_CTX *d, const void *what, void *engine)
{
    static const uint32_t first[WORDS] = {
        0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
    };

    (void)what, (void)engine;
    memcpy(d->state, first, sizeof first);
    d->len = 0;
    return 1;
}

int EVP_DigestUpdate(EVP_MD_CTX *d, const void *bytes, size_t len)
{
    const unsigned char *p = bytes;

    while (len) {
        size_t have = d->len % BLOCK, n = BLOCK - have;

        if (n > len)
            n = len;
        memcpy(d->block + have, p, n);
        d->len += n;
        p += n;
        len -= n;
        if (have + n == BLOCK)
            mix(d->state, d->block);
    }
    return 1;
}

int EVP_DigestFinal_ex(EVP_MD_CTX *d, unsigned char *sum, unsigned *len)
{
    static const unsigned char pad[BLOCK] = { 0x80 };
    const uint64_t bits = 8 * d->len;
    unsigned char length[8];
    size_t have = d->len % BLOCK;

    (void)len;
    for (int i = 0; i < 8; i++)
        length[i] = (unsigned char)(bits >> (56 - 8 * i));
    EVP_DigestUpdate(
        d, pad, (have < LENGTH_AT ? LENGTH_AT : LENGTH_AT + BLOCK) - have);
    EVP_DigestUpdate(d, length, sizeof length);
    for (int i = 0; i < 4 * WORDS; i++)
        sum[i] = (unsigned char)(d->state[i / 4] >> (24 - 8 * (i % 4)));
    return 1;
}
