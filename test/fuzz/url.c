/*
 * url.c - fuzz the canonicalisers.
 *
 * Whatever the bytes are: a canonical text is no longer than SEEN_KEY_TEXT,
 * and is its own canonical text under the same profile. What follows a zero
 * byte is a base to resolve against. All versions of the fast way return the
 * same.
 */
#include <stdlib.h>
#include <string.h>

#include <seen/key.h>
#include <seen/url.h>

#include "lib/url/fast.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void twice(const char *url, size_t len, const char *profile)
{
    static char text[SEEN_KEY_TEXT], again[SEEN_KEY_TEXT];
    struct seen_key key, same;
    char *once;

    if (seen_key_make(&key, text, url, len, profile, NULL) != SEEN_OK)
        return;
    if (!key.len || key.len > SEEN_KEY_TEXT)
        abort();
    once = malloc(key.len); /* so that nothing is read beyond its end */
    if (!once)
        abort();
    memcpy(once, key.text, key.len);
    if (seen_key_make(&same, again, once, key.len, profile, NULL) != SEEN_OK ||
        same.len != key.len || memcmp(same.text, once, key.len))
        abort();
    free(once);
}

static void all_ways(const char *url, size_t len)
{
    static char text[SEEN_KEY_TEXT], other[SEEN_KEY_TEXT];
    size_t whatwg = fast_portable.whatwg(url, len);
    size_t surt = fast_portable.surt(text, url, len);

    for (unsigned i = 0; fast_ways(i); i++)
        if (fast_ways(i)->whatwg(url, len) != whatwg ||
            fast_ways(i)->surt(other, url, len) != surt ||
            memcmp(text, other, surt) != 0)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const profiles[] = { "whatwg", "surt", "surt:host",
                                            "surt:1", "surt:2" };
    static char text[SEEN_KEY_TEXT];
    const char *url = (const char *)data, *base, *out;
    size_t len;

    all_ways(url, size);
    for (size_t i = 0; i < sizeof profiles / sizeof profiles[0]; i++)
        twice(url, size, profiles[i]);
    base = size ? memchr(url, 0, size) : NULL;
    if (!base)
        return 0;
    len = (size_t)(base - url);
    base++;
    if (seen_url_whatwg(&out, &size, text, url, len, base, size - len - 1,
                        NULL) == SEEN_OK)
        twice(out, size, "whatwg");
    return 0;
}
