/*
 * key.h - a canonical URL and the 128 bits that stand for it.
 *
 * A URL is canonicalised and hashed once. Its key can then be looked up in any
 * number of filters: each mixes the hash with its own seed.
 *
 *     char text[SEEN_KEY_TEXT];
 *     struct seen_key key;
 *
 *     if (seen_key_make(&key, text, url, strlen(url), "raw", &why) == SEEN_OK)
 *         seen_filter_has(f, &key, 1, &seen, &why);
 *
 * Threads: nothing here has state, except a seen_hash.
 */
#ifndef SEEN_KEY_H
#define SEEN_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seen/error.h>
#include <seen/span.h>
#include <seen/url.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum { SEEN_SECRET = 16 }; /* bytes of a keyed filter's secret */

/* How a URL becomes the text of a key; doc/profiles.md has the rules. */
enum seen_rules {
    SEEN_RAW,    /* the bytes as they are given */
    SEEN_WHATWG, /* as a browser writes it, without the fragment */
    SEEN_SURT    /* as archives file it: com,example)/path?query */
};

struct seen_profile {
    enum seen_rules rules;
    int segments; /* segments of the path that SEEN_SURT keeps; 0: only the
                     host; -1: all */
};

/*
 * How the lines of an index became keys: as its key column says, or derived
 * from its URL column, because other software made the keys by other rules.
 * Indexes that are added to the filter later must be read the same way.
 */
enum seen_index_keys {
    SEEN_KEYS_AUTO = 0, /* not decided */
    SEEN_KEYS_TRUSTED = 1,
    SEEN_KEYS_DERIVED = 2
};

struct seen_key {
    const char *text; /* not copied; only some kinds read it */
    size_t len;
    uint64_t lo, hi; /* XXH3-128 of the text, without a seed */
};

/*
 * The profile of a name: "raw", "whatwg", "surt", or "surt" with a part of
 * the path: "surt:host", "surt:1" ... "surt:99". SEEN_RANGE for other names.
 * `out` may be NULL.
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
 * if that is canonical already, or else into the caller's `text` of
 * SEEN_KEY_TEXT bytes. SEEN_BAD_URL, with the byte in why->at, if it is not a
 * URL; "raw" refuses empty URLs and those above SEEN_KEY_TEXT bytes. On
 * failure the key is unchanged.
 */
enum seen_code seen_key_make(struct seen_key *key, char *text, const char *url,
                             size_t len, const char *profile,
                             struct seen_error *why);

/* The same with a profile from seen_profile_find(). */
enum seen_code seen_key_make_as(struct seen_key *key, char *text,
                                const char *url, size_t len,
                                const struct seen_profile *profile,
                                struct seen_error *why);

/*
 * The keys of n URLs at once: faster than one call per URL, and the keys can
 * be looked up in one batch.
 *
 *     size_t keys = seen_key_make_many(key, code, text, sizeof text, url, n,
 *                                      &profile);
 *
 *     seen_filter_has(f, key, keys, seen, &why);
 *     for (size_t i = 0, k = 0; i < n; i++)
 *         if (code[i] == SEEN_OK)
 *             printf("%.*s %s\n", (int)url[i].len, url[i].text,
 *                    seen[k++] ? "seen" : "new");
 *
 * code[i] becomes what seen_key_make_as() returns for url[i]. The keys of URLs
 * with SEEN_OK are in key[] one after the other, in the order of the URLs;
 * their number is returned. `text` takes the texts of URLs that are not
 * canonical yet. If less than SEEN_KEY_TEXT bytes of its `room` are left, the
 * URL gets SEEN_FULL, and so do all after it: make their keys with another
 * call, after the first keys were used. n * SEEN_KEY_TEXT bytes are always
 * enough; "raw" needs none, and `text` may be NULL. `code` may be NULL.
 */
size_t seen_key_make_many(struct seen_key *key, enum seen_code *code,
                          char *text, size_t room, const struct seen_span *url,
                          size_t n, const struct seen_profile *profile);

/*
 * Why a line of input is not a URL under any profile: it is longer than
 * SEEN_KEY_TEXT bytes, or has a control byte. NULL if neither is so.
 */
const char *seen_key_fault(const char *line, size_t len);

/* The key of a canonical text of any length. */
void seen_key_hash(struct seen_key *key, const char *text, size_t len);

/* SplitMix64's bijection: every bit of x affects every bit of the result. */
static inline uint64_t seen_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* The key of a 64-bit number, such as an id or a fingerprint. */
static inline void seen_key_number(struct seen_key *key, uint64_t x)
{
    key->text = NULL;
    key->len = 0;
    key->lo = seen_mix(x + UINT64_C(0x9e3779b97f4a7c15));
    key->hi = seen_mix(x ^ key->lo);
}

/*
 * The hash functions of published filters, which bloom:NAME also uses:
 * "jenkins" (lookup2), "murmur" (MurmurHash2), "murmur3", "md5" and "sha1".
 * SEEN_RANGE for another name. A seen_hash belongs to the caller, and to one
 * thread at a time.
 */
struct seen_hash;
enum seen_code seen_hash_new(struct seen_hash **out, const char *name,
                             struct seen_error *why);
void seen_hash_free(struct seen_hash *h);

/*
 * Hash a text with each of n salts, as a filter does that salts one function
 * once per probe. Functions of 32 bits use the low half of a salt, and their
 * value is in the upper half of hash[i], so that hash[i] * m >> 64 is one of
 * m cells. It cannot fail.
 */
enum seen_code seen_hash_text(struct seen_hash *h, const char *text,
                              size_t len, const uint64_t *salt, unsigned n,
                              uint64_t *hash, struct seen_error *why);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
