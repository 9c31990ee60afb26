/*
 * url.h - one spelling for every URL.
 *
 * The same page has many addresses: HTTP://A.example:80/x/../y and
 * http://a.example/y are one. A filter only finds what is spelled as it was
 * added, so URLs are brought to a canonical form first. There are two:
 *
 *     whatwg   https://www.example.com/a%20b?z=1&a=2   what browsers ask for
 *     surt     com,example)/a%20b?a=2&z=1              what archives file
 *                                                      their captures under
 *
 * doc/profiles.md has all rules of both. Most callers need only the profiles
 * of <seen/key.h>; these functions are for those who need the text.
 *
 *     char text[SEEN_KEY_TEXT];
 *     const char *link;
 *     size_t n;
 *
 *     if (seen_url_whatwg(&link, &n, text, "../b.html", 9, page, strlen(page),
 *                         &why) == SEEN_OK)
 *         printf("%.*s\n", (int)n, link);
 *
 * What is canonical already is not copied: `*out` then points to the URL that
 * was given, or else into the caller's `text` of SEEN_KEY_TEXT bytes. Neither
 * ends with a zero. A canonical text is its own canonical text.
 *
 * Where a URL is refused (SEEN_BAD_URL), why->at is the byte of it that is at
 * fault, or SEEN_KEY_TEXT if it, or its canonical text, is longer than that.
 * Outputs are then untouched, except that `text` may hold anything.
 *
 * Threads: everything here is free of state.
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
    SEEN_SEGMENTS = 99    /* of a path that a profile keeps, at most */
};

/*
 * Parse and serialise a URL as the WHATWG URL standard says, without its
 * fragment. `base`, unless it is NULL, is what a relative URL is relative to;
 * if it is no absolute URL, the failure's text says "base". A byte that is no
 * UTF-8 becomes U+FFFD, as in browsers.
 */
enum seen_code seen_url_whatwg(const char **out, size_t *out_len, char *text,
                               const char *url, size_t len, const char *base,
                               size_t base_len, struct seen_error *why);

/*
 * The SURT of a URL: the key under which the Internet Archive's `surt` and
 * pywb file it. A URL without a scheme is one of http. What is a SURT already
 * goes through seen_url_surt_key().
 */
enum seen_code seen_url_surt(const char **out, size_t *out_len, char *text,
                             const char *url, size_t len,
                             struct seen_error *why);

/*
 * The SURT that somebody else wrote, as in the first column of a CDX file, in
 * the form of ours: "com,example,)/a/" becomes "com,example)/a". Nothing else
 * is changed; whether that much was, tells a comparison of `*out`, `*out_len`
 * with `key`, `len`. SEEN_MISMATCH: it is no SURT, that is, no ")" ends a
 * host before the first "/"; a URL, perhaps.
 */
enum seen_code seen_url_surt_key(const char **out, size_t *out_len, char *text,
                                 const char *key, size_t len,
                                 struct seen_error *why);

/*
 * Cut a canonical text, of whichever profile, at the slashes of its path: into
 * at least one and at most `most` segments, of which the last takes the rest.
 *
 *     http://a.example/news/2024?p=1/2
 *     \______________/ \__/ \__________/
 *             0          1       2
 *
 * Returns how many there are; segment i ends before byte end[i], and i + 1
 * begins behind the slash there. The slashes of "scheme://" and all from the
 * first "?" on are not cut at. `most` is not 0.
 */
unsigned seen_url_segments(const char *text, size_t len, size_t *end,
                           unsigned most);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
