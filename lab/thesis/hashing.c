/* hashing.c - one loop around each hash function. */
#include "hashing.h"

#include "../../lib/filter/probe.h"
#include "../../lib/key/published.h"
#include "../lab.h"

static const struct {
    const char *name, *kind;
    enum published published;
} function[HASHINGS] = {
    { "jenkins", "bloom:jenkins", PUBLISHED_JENKINS },
    { "murmur", "bloom:murmur", PUBLISHED_MURMUR },
    { "murmur3", "bloom:murmur3", PUBLISHED_MURMUR3 },
    { "md5", "bloom:md5", PUBLISHED_MD5 },
    { "sha1", "bloom:sha1", PUBLISHED_SHA1 },
    { "ours (XXH3)", "bloom", PUBLISHED_COUNT },
    { "sum of bytes", NULL, PUBLISHED_COUNT },
};

const char *hashing_name(unsigned which)
{
    return function[which].name;
}

const char *hashing_kind(unsigned which)
{
    return function[which].kind;
}

/* What a filter of ours makes of a key: the positions are its high bits. */
static void ours(const struct seen_key *key, uint64_t seed, unsigned salts,
                 uint64_t *hash)
{
    struct seen_key fresh;
    struct probe p;

    seen_key_hash(&fresh, key->text, key->len);
    p = probe_first(&fresh, seen_mix(seed));
    for (unsigned j = 0; j < salts; j++) {
        hash[j] = p.x;
        probe_next(&p, 1);
    }
}

/* Bytes add up to few sums, and a salt moves all of them alike. */
static uint64_t sum(const struct seen_key *key, uint64_t salt)
{
    uint32_t h = (uint32_t)salt;

    for (size_t i = 0; i < key->len; i++)
        h += (unsigned char)key->text[i] * UINT32_C(0x01000193);
    return (uint64_t)h << 32;
}

static void one(unsigned which, struct digest *d, const struct seen_key *key,
                uint64_t seed, unsigned salts, uint64_t *hash)
{
    enum published as = function[which].published;

    if (which == OURS) {
        ours(key, seed, salts, hash);
        return;
    }
    for (unsigned j = 0; j < salts; j++) {
        uint64_t salt = seen_mix(seen_mix(seed) + j);

        if (which == BAD)
            hash[j] = sum(key, salt);
        else if (!published_hash(as, d, key->text, key->len, salt, &hash[j]))
            lab_fail("OpenSSL could not hash a text");
        else if (!published_wide(as))
            hash[j] <<= 32;
    }
}

void hashing_all(unsigned which, const struct corpus *t, uint64_t seed,
                 unsigned salts, uint64_t *hash)
{
    struct digest *d = digest_new();

    if (!d)
        lab_fail("this OpenSSL has no MD5 or no SHA-1");
    for (size_t i = 0; i < t->n; i++)
        one(which, d, &t->key[i], seed, salts, hash + i * salts);
    digest_free(d);
}
