/*
 * plain.c - hash functions good and bad, and a filter over any of them.
 *
 * FNV-1a and h = 31 h + c stir one byte at a time into 32 bits, by a
 * multiplication that carries upwards only. CRC-32 is linear: the hashes of
 * one text under two salts differ by a number that depends on the salts and
 * the length alone, so whoever meets a bit of one text at one probe meets it
 * at others as well. Adler-32 is two sums, and of a text as short as a URL
 * the sums are small: most of its 32 bits are the same for all.
 */
#include "plain.h"

#include <pthread.h>
#include <stdlib.h>

#include <seen/key.h>

static uint32_t fnv(uint32_t h, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)text[i]) * 16777619;
    return h;
}

static uint32_t table[256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_table(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++)
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320 : 0);
    }
}

static uint32_t crc(uint32_t h, const char *text, size_t len)
{
    h = ~h;
    for (size_t i = 0; i < len; i++)
        h = h >> 8 ^ table[(h ^ (unsigned char)text[i]) & 255];
    return ~h;
}

/* 5552 bytes of 255 are the most for which b stays below 2^32 (RFC 1950): a
   division for so many, and not for each. */
static uint32_t adler(uint32_t h, const char *text, size_t len)
{
    enum { RUN = 5552, PRIME = 65521 };
    uint32_t a = h & 0xffff, b = h >> 16;

    for (size_t i = 0, end; i < len; a %= PRIME, b %= PRIME)
        for (end = len - i < RUN ? len : i + RUN; i < end; i++) {
            a += (unsigned char)text[i];
            b += a;
        }
    return b << 16 | a;
}

static uint32_t times_31(uint32_t h, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        h = 31 * h + (unsigned char)text[i];
    return h;
}

const struct plain_hash plain_hashes[] = {
    { "FNV-1a", 2166136261, fnv },
    { "CRC-32", 0, crc },
    { "Adler-32", 1, adler },
    { "31 h + c", 0, times_31 },
    { .name = NULL },
};

bool plain_init(struct plain *p)
{
    pthread_once(&once, make_table);
    p->word = calloc(p->bits / 64 + 1, sizeof *p->word);
    return p->word;
}

void plain_clear(struct plain *p)
{
    free(p->word);
    p->word = NULL;
}

static uint64_t position(const struct plain *p, unsigned j, const char *text,
                         size_t len)
{
    uint64_t salt = seen_mix(seen_mix(p->seed) + j);
    char before[4] = { (char)salt, (char)(salt >> 8), (char)(salt >> 16),
                       (char)(salt >> 24) };
    uint64_t h = p->hash->more(p->hash->more(p->hash->begin, before, 4), text,
                               len);

    return p->reduce == MODULO ? h % p->bits : h * p->bits >> 32;
}

void plain_add(struct plain *p, const char *text, size_t len)
{
    for (unsigned j = 0; j < p->probes; j++) {
        uint64_t at = position(p, j, text, len);

        p->word[at / 64] |= UINT64_C(1) << at % 64;
    }
}

bool plain_has(const struct plain *p, const char *text, size_t len)
{
    for (unsigned j = 0; j < p->probes; j++) {
        uint64_t at = position(p, j, text, len);

        if (!(p->word[at / 64] >> at % 64 & 1))
            return false;
    }
    return true;
}
