/*
 * url.h - one spelling for every URL.
 *
 * The same page has many addresses: HTTP://A.example:80/x/../y and
 * http://a.example/y are the same. A filter finds a URL only in the spelling
 * in which it was added, so URLs are first brought to a canonical form. There
 * are two:
 *
 *     whatwg   https://www.example.com/a%20b?z=1&a=2   what browsers ask for
 *     surt     com,example)/a%20b?a=2&z=1              what archives file
 *                                                      their captures under
 *
 * doc/profiles.md has all rules of both. Most callers need only the profiles
 * of <seen/key.h>. These functions are for callers that need the text.
 *
 *     char text[SEEN_KEY_TEXT];
 *     const char *link;
 *     size_t n;
 *
 *     if (seen_url_whatwg(&link, &n, text, "../b.html", 9, page, strlen(page),
 *                         &why) == SEEN_OK)
 *         printf("%.*s\n", (int)n, link);
 *
 * A URL that is canonical already is not copied: `*out` points to it. Else
 * `*out` points into the caller's `text` of SEEN_KEY_TEXT bytes. Neither text
 * ends with a zero. The canonical form of a canonical text is the same text.
 *
 * If a URL is refused (SEEN_BAD_URL), why->at is the byte at fault, or
 * SEEN_KEY_TEXT if the URL or its canonical text is longer than that. Outputs
 * are then unchanged, except that `text` may hold anything.
 *
 * Threads: nothing here has state.
 */
#ifndef SEEN_URL_H
#define SEEN_URL_H

#include <stddef.h>

#include <seen/error.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum {
    SEEN_KEY_TEXT = 8192, /* no canonical URL is longer */
    SEEN_SEGMENTS = 99    /* at most, of a path that a profile keeps */
};

/*
 * Parse and serialise a URL by the WHATWG URL standard, without its fragment.
 * A relative URL is resolved against `base`, which may be NULL. If `base` is
 * not an absolute URL, the failure's text says "base". Bytes that are not
 * UTF-8 become U+FFFD, as in browsers.
 */
enum seen_code seen_url_whatwg(const char **out, size_t *out_len, char *text,
                               const char *url, size_t len, const char *base,
                               size_t base_len, struct seen_error *why);

/*
 * The SURT of a URL: the key under which the Internet Archive's `surt` and
 * pywb file it. A URL without a scheme is taken as http. A text that is a SURT
 * already goes through seen_url_surt_key().
 */
enum seen_code seen_url_surt(const char **out, size_t *out_len, char *text,
                             const char *url, size_t len,
                             struct seen_error *why);

/*
 * Bring a SURT that another program wrote, as in the first column of a CDX
 * file, to our form: "com,example,)/a/" becomes "com,example)/a". Nothing else
 * is changed. If nothing was changed, `*out`, `*out_len` equal `key`, `len`.
 * SEEN_MISMATCH: it is not a SURT (no ")" ends a host before the first "/");
 * it may be a URL.
 */
enum seen_code seen_url_surt_key(const char **out, size_t *out_len, char *text,
                                 const char *key, size_t len,
                                 struct seen_error *why);

/*
 * Cut a canonical text of any profile at the slashes of its path, into at
 * least one and at most `most` segments. The last segment takes the rest.
 *
 *     http://a.example/news/2024?p=1/2
 *     \______________/ \__/ \__________/
 *             0          1       2
 *
 * Returns the number of segments. Segment i ends before byte end[i], and
 * segment i + 1 begins after the slash there. The slashes of "scheme://" and
 * those after the first "?" do not count. `most` is not 0.
 */
unsigned seen_url_segments(const char *text, size_t len, size_t *end,
                           unsigned most);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
