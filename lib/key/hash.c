/* hash.c - published hash functions, for users of the library. */
#include <stdlib.h>
#include <string.h>

#include <seen/key.h>

#include "published.h"

struct seen_hash {
    enum published which;
    struct digest *digest; /* of MD5 and SHA-1, else NULL */
};

enum seen_code seen_hash_new(struct seen_hash **out, const char *name,
                             struct seen_error *why)
{
    enum published which = published_find(name, strlen(name));
    struct seen_hash *h;

    *out = NULL;
    if (which == PUBLISHED_COUNT)
        return seen_fail(why, SEEN_RANGE, 0, "no hash function '%s'", name);
    if (published_wide(which) && !digest_able())
        return seen_fail(why, SEEN_UNABLE, 0, "OpenSSL has no %s", name);
    h = calloc(1, sizeof *h);
    if (h && published_wide(which))
        h->digest = digest_new();
    if (!h || (published_wide(which) && !h->digest)) {
        free(h);
        return seen_fail(why, SEEN_NOMEM, 0, "no memory to hash");
    }
    h->which = which;
    *out = h;
    return SEEN_OK;
}

void seen_hash_free(struct seen_hash *h)
{
    if (!h)
        return;
    digest_free(h->digest);
    free(h);
}

/* Up to eight salts at once: see published_jenkins_many(). */
static void jenkins(const char *text, size_t len, const uint64_t *salt,
                    unsigned n, uint64_t *hash)
{
    uint32_t in[8], out[8];

    for (unsigned i = 0; i < n; i++)
        in[i] = (uint32_t)salt[i];
    if (n == 1)
        out[0] = published_jenkins(text, len, in[0]);
    else
        published_jenkins_many(text, len, in, n, out);
    for (unsigned i = 0; i < n; i++)
        hash[i] = (uint64_t)out[i] << 32;
}

enum seen_code seen_hash_text(struct seen_hash *h, const char *text,
                              size_t len, const uint64_t *salt, unsigned n,
                              uint64_t *hash, struct seen_error *why)
{
    for (unsigned i = 0; i < n && h->which == PUBLISHED_JENKINS; i += 8)
        jenkins(text, len, salt + i, n - i < 8 ? n - i : 8, hash + i);
    for (unsigned i = 0; i < n && h->which != PUBLISHED_JENKINS; i++) {
        if (!published_hash(h->which, h->digest, text, len, salt[i], &hash[i]))
            return seen_fail(why, SEEN_UNABLE, i, "OpenSSL cannot hash");
        if (!published_wide(h->which))
            hash[i] <<= 32;
    }
    return SEEN_OK;
}
