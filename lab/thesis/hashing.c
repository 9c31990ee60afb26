/* hashing.c - one loop around each hash function. */
#include "hashing.h"

#include "../byhand.h"

static const struct {
    const char *name, *kind;
} function[HASHINGS] = {
    { "jenkins", "bloom:jenkins" }, { "murmur", "bloom:murmur" },
    { "murmur3", "bloom:murmur3" }, { "md5", "bloom:md5" },
    { "sha1", "bloom:sha1" },       { "ours (XXH3)", "bloom" },
    { "sum of bytes", NULL },
};

const char *hashing_name(unsigned which)
{
    return function[which].name;
}

const char *hashing_kind(unsigned which)
{
    return function[which].kind;
}

/* The probes of a key in a filter of ours: section 5 of doc/format.md. Their
   positions are the high bits. */
static void ours(const struct seen_key *text, uint64_t seed, unsigned salts,
                 uint64_t *hash)
{
    struct seen_key key;
    uint64_t x, y;

    seen_key_hash(&key, text->text, text->len);
    x = seen_mix(key.lo ^ seen_mix(seed));
    y = seen_mix(key.hi ^ x);
    for (unsigned j = 0; j < salts; j++) {
        hash[j] = x;
        x = x * UINT64_C(0xd1342543de82ef95) + y;
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

/* One hash after the other: what is timed is each by itself. */
static void one(struct seen_hash *h, const struct seen_key *key, uint64_t seed,
                unsigned salts, uint64_t *hash)
{
    struct seen_error why;

    for (unsigned j = 0; j < salts; j++) {
        uint64_t salt = byhand_salt(seed, j);

        if (h)
            lab_must(seen_hash_text(h, key->text, key->len, &salt, 1, &hash[j],
                                    &why),
                     &why);
        else
            hash[j] = sum(key, salt);
    }
}

void hashing_all(unsigned which, const struct corpus *t, uint64_t seed,
                 unsigned salts, uint64_t *hash)
{
    struct seen_hash *h = NULL;
    struct seen_error why;

    if (which < OURS)
        lab_must(seen_hash_new(&h, function[which].name, &why), &why);
    for (size_t i = 0; i < t->n; i++, hash += salts)
        if (which == OURS)
            ours(&t->key[i], seed, salts, hash);
        else
            one(h, &t->key[i], seed, salts, hash);
    seen_hash_free(h);
}
