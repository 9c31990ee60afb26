/*
 * byhand.c - hash functions good and bad, and a filter over any of them.
 *
 * FNV-1a and h = 31 h + c stir one byte at a time into 32 bits, by a
 * multiplication that carries upwards only. CRC-32 is linear: the hashes of
 * one text under two salts differ by a number that depends only on the salts
 * and the length, so a text that meets a bit of another at one probe meets it
 * at others as well. Adler-32 is two sums, and the sums of a text as short as
 * a URL are small: most of its 32 bits are the same for all URLs.
 */
#include "byhand.h"

#include <pthread.h>
#include <stdlib.h>

#include "lab.h"

/* --- functions --- */

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

/* 5552 bytes of 255 are the most for which b stays below 2^32 (RFC 1950): so
   there is one division per 5552 bytes. */
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

const struct byhand_function byhand_functions[] = {
    { "FNV-1a", 2166136261, fnv },
    { "CRC-32", 0, crc },
    { "Adler-32", 1, adler },
    { "31 h + c", 0, times_31 },
    { .name = NULL },
};

/* --- filters --- */

static size_t words(const struct byhand *b)
{
    return (size_t)(b->m / 64 + 1);
}

void byhand_init(struct byhand *b, uint64_t seed)
{
    struct seen_error why;

    pthread_once(&once, make_table);
    b->word = lab_memory(b->filters * words(b), sizeof *b->word);
    b->salt = lab_memory((size_t)b->filters * b->k, sizeof *b->salt);
    for (unsigned i = 0; i < b->filters * b->k; i++)
        b->salt[i] = byhand_salt(seed, i);
    b->lookup2 = NULL;
    if (!b->function)
        lab_must(seen_hash_new(&b->lookup2, "jenkins", &why), &why);
}

void byhand_clear(struct byhand *b)
{
    free(b->word);
    free(b->salt);
    seen_hash_free(b->lookup2);
}

static uint64_t hash(const struct byhand *b, uint64_t salt, const char *text,
                     size_t len)
{
    const struct byhand_function *f = b->function;
    char before[4] = { (char)salt, (char)(salt >> 8), (char)(salt >> 16),
                       (char)(salt >> 24) };
    uint64_t hash;

    if (f)
        return f->more(f->more(f->begin, before, 4), text, len);
    seen_hash_text(b->lookup2, text, len, &salt, 1, &hash, NULL);
    return hash >> 32;
}

/* The word and the bit of probe j of a filter. */
static uint64_t *locate(const struct byhand *b, unsigned filter, unsigned j,
                        const char *text, size_t len, uint64_t *bit)
{
    uint64_t h = hash(b, b->salt[filter * b->k + j], text, len);
    uint64_t at = b->modulo ? h % b->m : h * b->m >> 32;

    *bit = UINT64_C(1) << (at % 64);
    return &b->word[filter * words(b) + at / 64];
}

void byhand_add(struct byhand *b, const char *text, size_t len)
{
    uint64_t bit;

    for (unsigned f = 0; f < b->filters; f++)
        for (unsigned j = 0; j < b->k; j++)
            *locate(b, f, j, text, len, &bit) |= bit;
}

bool byhand_has(const struct byhand *b, const char *text, size_t len)
{
    bool seen = true;
    uint64_t bit;

    for (unsigned f = 0; f < b->filters && (seen || b->whole); f++)
        for (unsigned j = 0; j < b->k && (seen || b->whole); j++)
            seen &= (*locate(b, f, j, text, len, &bit) & bit) != 0;
    return seen;
}
