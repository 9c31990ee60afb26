/*
 * digest.h - the digests that WARC records carry, "sha1:BASE32" and others.
 *
 * A digest in a record is a label, a colon and a value. SHA-1 in base32 is the
 * custom, and what we write. Others write MD5 and SHA-256, in base16 or base32,
 * in either case, with or without padding; the length of the value shows
 * which.
 *
 *     const struct warc_algorithm *a;
 *     unsigned char said[WARC_DIGEST_MOST], found[WARC_DIGEST_MOST];
 *
 *     if (warc_digest_read(value, &a, said) == WARC_DIGEST_GOOD &&
 *         warc_hash_begin(&h, a, &why) == SEEN_OK) {
 *         warc_hash_add(&h, block, len);
 *         same = warc_hash_end(&h, found) && !memcmp(said, found, a->bytes);
 *     }
 *     warc_hash_clear(&h);
 *
 * Threads: a running digest belongs to one thread at a time.
 */
#ifndef SEEN_WARC_DIGEST_H
#define SEEN_WARC_DIGEST_H

#include <stdbool.h>
#include <stddef.h>

#include <seen/error.h>
#include <seen/span.h>

enum {
    WARC_DIGEST = 33,      /* SHA-1 in base32, and a zero */
    WARC_DIGEST_MOST = 64, /* bytes of any digest */
    WARC_DIGEST_TEXT = 160 /* a label and a value, and a zero */
};

/* SHA-1 of a payload in base32, without a label. On failure it is "". */
enum seen_code warc_digest(struct seen_span payload, char digest[WARC_DIGEST],
                           struct seen_error *why);

struct warc_algorithm {
    const char *label;  /* "sha1" */
    const char *method; /* its name in OpenSSL */
    unsigned bytes;
};

extern const struct warc_algorithm *const warc_sha1, *const warc_sha256;

enum warc_digest_verdict {
    WARC_DIGEST_GOOD,
    WARC_DIGEST_UNKNOWN, /* an algorithm that is not known here */
    WARC_DIGEST_BAD      /* no label, or not a value of this algorithm */
};

/* Read a label and a value. `bytes` is filled if the answer is GOOD. */
enum warc_digest_verdict warc_digest_read(struct seen_span text,
                                          const struct warc_algorithm **a,
                                          unsigned char *bytes);

/* Write a label and a value, SHA-1 in base32, others in base16. */
void warc_digest_write(char text[WARC_DIGEST_TEXT],
                       const struct warc_algorithm *a,
                       const unsigned char *bytes);

/* A running digest; zeroed at first. */
struct warc_hash {
    const struct warc_algorithm *algorithm; /* NULL: nothing runs */
    const struct warc_algorithm *fetched;   /* what `method` is of */
    void *state, *method;                   /* OpenSSL's */
    bool failed;
};

/* Memory of an earlier digest is used again. SEEN_NOMEM. */
enum seen_code warc_hash_begin(struct warc_hash *h,
                               const struct warc_algorithm *a,
                               struct seen_error *why);

/* Does nothing if nothing runs. */
void warc_hash_add(struct warc_hash *h, const void *bytes, size_t len);

/* False if something failed on the way. Nothing runs after it. */
bool warc_hash_end(struct warc_hash *h, unsigned char *bytes);
void warc_hash_clear(struct warc_hash *h);

#endif
