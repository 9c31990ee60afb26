/*
 * key.h - a canonical URL and the 128 bits that stand for it.
 *
 * A URL is canonicalised and hashed once, then asked of any number of
 * filters; each mixes the hash with a seed of its own.
 *
 *     char text[SEEN_KEY_TEXT];
 *     struct seen_key key;
 *
 *     if (seen_key_make(&key, text, url, strlen(url), "raw", &why) == SEEN_OK)
 *         seen_filter_has(f, &key, 1, &seen, &why);
 *
 * Threads: everything here but a seen_hash is free of state.
 */
#ifndef SEEN_KEY_H
#define SEEN_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seen/error.h>
#include <seen/url.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum { SEEN_SECRET = 16 }; /* bytes of the secret of a keyed filter */

/* How a URL becomes the text of a key; doc/profiles.md has the rules. */
enum seen_rules {
    SEEN_RAW,    /* the bytes as they are given */
    SEEN_WHATWG, /* as a browser writes it, without the fragment */
    SEEN_SURT    /* as archives file it: com,example)/path?query */
};

struct seen_profile {
    enum seen_rules rules;
    int segments; /* of the path, that SEEN_SURT keeps; 0: the host alone;
                     -1: everything */
};

struct seen_key {
    const char *text; /* borrowed; needed only by kinds that read it */
    size_t len;
    uint64_t lo, hi; /* XXH3-128 of the text, without a seed */
};

/*
 * What a name stands for: "raw", "whatwg", "surt", or "surt" with a part of
 * the path, "surt:host", "surt:1" ... "surt:99"; SEEN_RANGE for others. `out` may be
 * NULL.
 */
enum seen_code seen_profile_find(struct seen_profile *out, const char *name,
                                 struct seen_error *why);

/* A profile, for help, completion and messages. */
struct seen_profile_entry {
    const char *name;     /* "surt" */
    const char *synopsis; /* "surt[:host|:N]" */
    const char *summary;  /* "as archives file it" */
};

/* The i-th profile; false past the last. */
bool seen_profile_list(unsigned i, struct seen_profile_entry *entry);

/*
 * Canonicalise `url` under `profile` and hash it. key->text points to `url`
 * where that is canonical as it stands, or into the caller's `text` of
 * SEEN_KEY_TEXT bytes. SEEN_BAD_URL for what is no URL (under "raw": for an
 * empty one and for one above SEEN_KEY_TEXT bytes), with why->at the byte;
 * the key is then untouched.
 */
enum seen_code seen_key_make(struct seen_key *key, char *text, const char *url,
                             size_t len, const char *profile,
                             struct seen_error *why);

/* The same under a profile that was found before. */
enum seen_code seen_key_make_as(struct seen_key *key, char *text,
                                const char *url, size_t len,
                                const struct seen_profile *profile,
                                struct seen_error *why);

/*
 * What keeps a line of an input from being a URL under any profile: more than
 * SEEN_KEY_TEXT bytes, or a control byte; in words, or NULL for nothing.
 */
const char *seen_key_fault(const char *line, size_t len);

/* The key of a text that is canonical already, of any length. */
void seen_key_hash(struct seen_key *key, const char *text, size_t len);

/* A bijection in which every bit of x reaches every bit: SplitMix64's. */
static inline uint64_t seen_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* The key of a 64-bit number, for what is not a text: an id, a fingerprint. */
static inline void seen_key_number(struct seen_key *key, uint64_t x)
{
    key->text = NULL;
    key->len = 0;
    key->lo = seen_mix(x + UINT64_C(0x9e3779b97f4a7c15));
    key->hi = seen_mix(x ^ key->lo);
}

/*
 * The hash functions that published filters use, and bloom:NAME with them:
 * "jenkins" (lookup2), "murmur" (MurmurHash2), "murmur3", "md5" and "sha1".
 * SEEN_RANGE for another name, SEEN_UNABLE where OpenSSL lacks the function.
 * A seen_hash belongs to one thread at a time, and to the caller.
 */
struct seen_hash;
enum seen_code seen_hash_new(struct seen_hash **out, const char *name,
                             struct seen_error *why);
void seen_hash_free(struct seen_hash *h);

/*
 * Hash a text under each of n salts, as a filter does that salts one function
 * once per probe. Hashes of 32 bits take the low half of a salt and are in
 * the upper half of hash[i], so that hash[i] * m >> 64 is a cell of m.
 * SEEN_UNABLE: OpenSSL failed.
 */
enum seen_code seen_hash_text(struct seen_hash *h, const char *text,
                              size_t len, const uint64_t *salt, unsigned n,
                              uint64_t *hash, struct seen_error *why);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
