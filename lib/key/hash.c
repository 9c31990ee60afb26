/* hash.c - published hash functions, for users of the library. */
#include <stdlib.h>
#include <string.h>

#include <seen/key.h>

#include "published.h"

struct seen_hash {
    enum published which;
};

enum seen_code seen_hash_new(struct seen_hash **out, const char *name,
                             struct seen_error *why)
{
    enum published which = published_find(name, strlen(name));
    struct seen_hash *h;

    *out = NULL;
    if (which == PUBLISHED_COUNT)
        return seen_fail(why, SEEN_RANGE, 0, "no hash function '%s'", name);
    h = malloc(sizeof *h);
    if (!h)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory to hash");
    h->which = which;
    *out = h;
    return SEEN_OK;
}

void seen_hash_free(struct seen_hash *h)
{
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
    (void)why;
    for (unsigned i = 0; i < n && h->which == PUBLISHED_JENKINS; i += 8)
        jenkins(text, len, salt + i, n - i < 8 ? n - i : 8, hash + i);
    for (unsigned i = 0; i < n && h->which != PUBLISHED_JENKINS; i++) {
        hash[i] = published_hash(h->which, text, len, salt[i]);
        if (!published_wide(h->which))
            hash[i] <<= 32;
    }
    return SEEN_OK;
}
