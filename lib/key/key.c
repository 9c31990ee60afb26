/*
 * key.c - from a URL to a key: canonical text, then XXH3-128.
 *
 * XXH3-128 of a URL of 67 bytes takes less time than one cache miss, passes
 * SMHasher, and is fixed since xxHash 0.8.0: its values may be stored. They
 * are the hash version 1 of every file.
 */
#include <seen/key.h>

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum seen_code seen_key_profile(const char *profile, struct seen_error *why)
{
    if (strcmp(profile, "raw"))
        return seen_fail(why, SEEN_RANGE, 0, "no profile is named %s",
                         profile);
    return SEEN_OK;
}

void seen_key_hash(struct seen_key *key, const char *text, size_t len)
{
    XXH128_hash_t hash = XXH3_128bits(text, len);

    key->text = text;
    key->len = len;
    key->lo = hash.low64;
    key->hi = hash.high64;
}

enum seen_code seen_key_make(struct seen_key *key, char *text, const char *url,
                             size_t len, const char *profile,
                             struct seen_error *why)
{
    enum seen_code code = seen_key_profile(profile, why);

    (void)text; /* under raw, every text is canonical */
    if (code != SEEN_OK)
        return code;
    if (!len)
        return seen_fail(why, SEEN_RANGE, 0, "the URL is empty");
    if (len > SEEN_KEY_TEXT)
        return seen_fail(why, SEEN_RANGE, SEEN_KEY_TEXT,
                         "the URL is longer than %d bytes", SEEN_KEY_TEXT);
    seen_key_hash(key, url, len);
    return SEEN_OK;
}
