/*
 * digest.c - the digests that WARC records carry.
 *
 * Nobody says whether a value is base16 or base32, so its length decides: for
 * no algorithm here can a text be both. Only MD5 comes close, with 32 digits in
 * base16 and 26 and padding up to 32 in base32, whose "=" base16 does not have.
 *
 * Reading is lenient, since a digest that is not understood cannot be checked;
 * writing has one form, that of most tools.
 */
#include "digest.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <string.h>

#include "../lib/text/hex.h"
#include "../lib/text/span.h"

/* The labels that the community recommends for WARC 1.1; "sha-1:" and the like
   are older spellings. */
static const struct warc_algorithm algorithms[] = {
    { "sha1", "SHA1", 20 },
    { "md5", "MD5", 16 },
    { "sha256", "SHA256", 32 },
    { "sha224", "SHA224", 28 },
    { "sha384", "SHA384", 48 },
    { "sha512", "SHA512", 64 },
    { "sha512-224", "SHA512-224", 28 },
    { "sha512-256", "SHA512-256", 32 },
    { "sha3-224", "SHA3-224", 28 },
    { "sha3-256", "SHA3-256", 32 },
    { "sha3-384", "SHA3-384", 48 },
    { "sha3-512", "SHA3-512", 64 },
    { "blake2s", "BLAKE2S-256", 32 },
    { "blake2b", "BLAKE2B-512", 64 },
};
enum { ALGORITHMS = sizeof algorithms / sizeof algorithms[0] };

const struct warc_algorithm *const warc_sha1 = &algorithms[0];
const struct warc_algorithm *const warc_sha256 = &algorithms[2];

static const struct warc_algorithm *find(struct seen_span label)
{
    for (unsigned i = 0; i < ALGORITHMS; i++)
        if (span_like(label, algorithms[i].label))
            return &algorithms[i];
    if (label.len > 4 && !strncasecmp(label.text, "sha-", 4))
        for (unsigned i = 0; i < ALGORITHMS; i++) {
            const char *plain = algorithms[i].label;
            struct seen_span digits = { label.text + 4, label.len - 4 };

            if (!strncmp(plain, "sha", 3) && span_like(digits, plain + 3))
                return &algorithms[i];
        }
    return NULL;
}

/* --- base32 (RFC 4648, section 6) and base16 --- */

static void base32_write(char *to, const unsigned char *bytes, unsigned n)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    unsigned bits = 0, have = 0;

    for (unsigned i = 0; i < n || have; i++) {
        bits = bits << 8 | (i < n ? bytes[i] : 0);
        have += 8;
        for (; have >= 5; have -= 5)
            *to++ = digit[bits >> (have - 5) & 31];
        if (i + 1 >= n && have) { /* the last digit ends with zero bits */
            *to++ = digit[bits << (5 - have) & 31];
            have = 0;
        }
    }
    *to = '\0';
}

static bool base32_read(unsigned char *to, unsigned n, struct seen_span text)
{
    unsigned bits = 0, have = 0, made = 0;

    while (text.len && text.text[text.len - 1] == '=')
        text.len--;
    if (text.len != (8 * n + 4) / 5)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.text[i];
        char low = (char)(c | 0x20);
        unsigned value;

        if (low >= 'a' && low <= 'z')
            value = (unsigned)(low - 'a');
        else if (c >= '2' && c <= '7')
            value = (unsigned)(c - '2') + 26;
        else
            return false;
        bits = bits << 5 | value;
        have += 5;
        if (have >= 8) {
            have -= 8;
            to[made++] = (unsigned char)(bits >> have);
        }
    }
    return made == n && !(bits & ((1u << have) - 1));
}

static bool base16_read(unsigned char *to, unsigned n, struct seen_span text)
{
    return text.len == 2 * n && hex_read(to, n, text.text, true);
}

enum warc_digest_verdict warc_digest_read(struct seen_span text,
                                          const struct warc_algorithm **a,
                                          unsigned char *bytes)
{
    const char *colon = text.len ? memchr(text.text, ':', text.len) : NULL;
    struct seen_span label = { text.text, 0 }, value;

    if (!colon || colon == text.text)
        return WARC_DIGEST_BAD;
    label.len = (size_t)(colon - text.text);
    value.text = colon + 1;
    value.len = text.len - label.len - 1;
    *a = find(label);
    if (!*a)
        return value.len ? WARC_DIGEST_UNKNOWN : WARC_DIGEST_BAD;
    /* 32 characters of MD5 are base16, or base32 with padding. */
    return base16_read(bytes, (*a)->bytes, value) ||
                   base32_read(bytes, (*a)->bytes, value)
               ? WARC_DIGEST_GOOD
               : WARC_DIGEST_BAD;
}

void warc_digest_write(char text[WARC_DIGEST_TEXT],
                       const struct warc_algorithm *a,
                       const unsigned char *bytes)
{
    size_t n = strlen(a->label);

    memcpy(text, a->label, n);
    text[n++] = ':';
    if (a == warc_sha1)
        base32_write(text + n, bytes, a->bytes);
    else
        hex_write(text + n, bytes, a->bytes);
}

/* --- running digests --- */

/* To find a method by its name takes a microsecond, so it is kept. */
static bool fetch_method(struct warc_hash *h, const struct warc_algorithm *a)
{
    if (h->fetched == a)
        return true;
    EVP_MD_free(h->method);
    h->method = EVP_MD_fetch(NULL, a->method, NULL);
    h->fetched = h->method ? a : NULL;
    return h->method;
}

enum seen_code warc_hash_begin(struct warc_hash *h,
                               const struct warc_algorithm *a,
                               struct seen_error *why)
{
    h->algorithm = NULL;
    h->failed = false;
    /* Without memory for its own state OpenSSL would crash, so it is looked for
       first. */
    if (!h->state && OSSL_LIB_CTX_get0_global_default())
        h->state = EVP_MD_CTX_new();
    if (!h->state || !fetch_method(h, a) ||
        !EVP_DigestInit_ex2(h->state, h->method, NULL))
        return seen_fail(why, SEEN_NOMEM, 0, "no memory for a digest");
    h->algorithm = a;
    return SEEN_OK;
}

void warc_hash_add(struct warc_hash *h, const void *bytes, size_t len)
{
    if (h->algorithm && len && !EVP_DigestUpdate(h->state, bytes, len))
        h->failed = true;
}

bool warc_hash_end(struct warc_hash *h, unsigned char *bytes)
{
    bool good = h->algorithm && !h->failed &&
                EVP_DigestFinal_ex(h->state, bytes, NULL);

    h->algorithm = NULL;
    return good;
}

void warc_hash_clear(struct warc_hash *h)
{
    EVP_MD_CTX_free(h->state);
    EVP_MD_free(h->method);
    *h = (struct warc_hash){ .state = NULL };
}

enum seen_code warc_digest(struct seen_span payload, char digest[WARC_DIGEST],
                           struct seen_error *why)
{
    unsigned char bytes[WARC_DIGEST_MOST];
    struct warc_hash h = { .state = NULL };
    enum seen_code code = warc_hash_begin(&h, warc_sha1, why);

    digest[0] = '\0';
    warc_hash_add(&h, payload.text, payload.len);
    if (code == SEEN_OK && !warc_hash_end(&h, bytes))
        code = seen_fail(why, SEEN_NOMEM, 0, "no memory for a digest");
    if (code == SEEN_OK)
        base32_write(digest, bytes, warc_sha1->bytes);
    warc_hash_clear(&h);
    return code;
}
