/*
 * key.c - from a URL to a key: canonical text, then XXH3-128.
 *
 * XXH3-128 of a URL of 67 bytes takes less time than one cache miss, passes
 * SMHasher, and is fixed since xxHash 0.8.0: its values may be stored. They
 * are the hash version 1 of every file.
 */
#include <seen/key.h>

#include <stdbool.h>
#include <string.h>

#include <seen/url.h>

#include "../url/surt.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { AHEAD = 8 }; /* URLs that are fetched before they are hashed */

/* "host" or a number without a zero before it; -1 for neither. */
static int segments(const char *word)
{
    int n = 0;

    if (!strcmp(word, "host"))
        return 0;
    for (; *word >= '0' && *word <= '9' && n <= SEEN_SEGMENTS; word++) {
        n = 10 * n + (*word - '0');
        if (!n)
            return -1;
    }
    return *word || !n || n > SEEN_SEGMENTS ? -1 : n;
}

/* The first byte decides, since this is on the way of every key. */
enum seen_code seen_profile_find(struct seen_profile *out, const char *name,
                                 struct seen_error *why)
{
    struct seen_profile p = { SEEN_RAW, -1 };
    bool known = false;

    switch (*name) {
    case 'r': known = !strcmp(name, "raw"); break;
    case 'w':
        p.rules = SEEN_WHATWG;
        known = !strcmp(name, "whatwg");
        break;
    case 's':
        p.rules = SEEN_SURT;
        known = !strncmp(name, "surt", 4);
        if (known && name[4]) {
            p.segments = name[4] == ':' ? segments(name + 5) : -1;
            known = p.segments >= 0;
        }
        break;
    }
    if (!known)
        return seen_fail(why, SEEN_RANGE, 0, "no profile is named %s", name);
    if (out)
        *out = p;
    return SEEN_OK;
}

bool seen_profile_list(unsigned i, struct seen_profile_entry *entry)
{
    static const struct seen_profile_entry list[] = {
        { "raw", "raw", "the bytes as they are given" },
        { "surt", "surt[:host|:N]",
          "as archives file it: com,example)/path; with :N, N segments" },
        { "whatwg", "whatwg", "as browsers write it, without the fragment" },
    };

    if (i >= sizeof list / sizeof list[0])
        return false;
    *entry = list[i];
    return true;
}

void seen_key_hash(struct seen_key *key, const char *text, size_t len)
{
    XXH128_hash_t hash = XXH3_128bits(text, len);

    key->text = text;
    key->len = len;
    key->lo = hash.low64;
    key->hi = hash.high64;
}

static enum seen_code raw(const char **out, size_t *out_len, const char *url,
                          size_t len, struct seen_error *why)
{
    if (!len)
        return seen_fail(why, SEEN_BAD_URL, 0, "the URL is empty");
    if (len > SEEN_KEY_TEXT)
        return seen_fail(why, SEEN_BAD_URL, SEEN_KEY_TEXT,
                         "the URL is longer than %d bytes", SEEN_KEY_TEXT);
    *out = url;
    *out_len = len;
    return SEEN_OK;
}

enum seen_code seen_key_make_as(struct seen_key *key, char *text,
                                const char *url, size_t len,
                                const struct seen_profile *profile,
                                struct seen_error *why)
{
    enum seen_code code = SEEN_BAD_URL;
    const char *out;
    size_t n;

    switch (profile->rules) {
    case SEEN_RAW: code = raw(&out, &n, url, len, why); break;
    case SEEN_WHATWG:
        code = seen_url_whatwg(&out, &n, text, url, len, NULL, 0, why);
        break;
    case SEEN_SURT: code = seen_url_surt(&out, &n, text, url, len, why); break;
    }
    if (code != SEEN_OK)
        return code;
    if (profile->segments >= 0)
        n = surt_cut(out, n, (unsigned)profile->segments);
    seen_key_hash(key, out, n);
    return SEEN_OK;
}

/* Raw URLs: the hash is inlined, and no error is written down. */
static size_t raw_many(struct seen_key *key, enum seen_code *code,
                       const struct seen_span *url, size_t n)
{
    size_t made = 0;

    for (size_t i = 0; i < n; i++) {
        bool good = url[i].len - 1 < (size_t)SEEN_KEY_TEXT;

        if (i + AHEAD < n)
            __builtin_prefetch(url[i + AHEAD].text);
        if (good)
            seen_key_hash(&key[made++], url[i].text, url[i].len);
        if (code)
            code[i] = good ? SEEN_OK : SEEN_BAD_URL;
    }
    return made;
}

size_t seen_key_make_many(struct seen_key *key, enum seen_code *code,
                          char *text, size_t room, const struct seen_span *url,
                          size_t n, const struct seen_profile *profile)
{
    size_t used = 0, made = 0;

    if (profile->rules == SEEN_RAW && profile->segments < 0)
        return raw_many(key, code, url, n);
    for (size_t i = 0; i < n; i++) {
        enum seen_code result = SEEN_FULL;

        if (room - used >= SEEN_KEY_TEXT)
            result = seen_key_make_as(&key[made], text + used, url[i].text,
                                      url[i].len, profile, NULL);
        if (result == SEEN_OK) {
            const char *end = key[made].text + key[made].len;

            if (end > text && end <= text + room) /* not in the URL */
                used = (size_t)(end - text);
            made++;
        }
        if (code)
            code[i] = result;
    }
    return made;
}

enum seen_code seen_key_make(struct seen_key *key, char *text, const char *url,
                             size_t len, const char *profile,
                             struct seen_error *why)
{
    struct seen_profile p;
    enum seen_code code = seen_profile_find(&p, profile, why);

    return code == SEEN_OK ? seen_key_make_as(key, text, url, len, &p, why)
                           : code;
}
