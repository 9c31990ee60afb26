/*
 * published.h - the hash functions that the papers used.
 *
 * Our own filters derive all probes from one XXH3. The thesis salts a hash
 * function once for each probe, and compares four of them; the archives
 * report's library uses Murmur3. To reproduce their figures, and to read
 * their filters, the functions are here, written from their definitions:
 *
 *     jenkins   lookup2, 32 bits                B. Jenkins: Hash functions.
 *                                               Dr. Dobb's Journal, 1997
 *     murmur    MurmurHash2, 32 bits            A. Appleby, 2008
 *     murmur3   MurmurHash3_x86_32, 32 bits     A. Appleby, 2011
 *     md5       the first 64 bits of MD5        RFC 1321
 *     sha1      the first 64 bits of SHA-1      FIPS 180-1
 *
 * None of them protects against an attacker who chooses URLs.
 *
 * Why in the library, when only the laboratory makes such filters? A file says
 * `bloom:jenkins` for ever, and whoever has libseen can ask it; bloom:orestes is
 * in use outside. As kinds that the laboratory registers they would need
 * bloom's layout, plans and stripes a second time, and a program without the
 * laboratory would refuse files that are valid by doc/format.md.
 *
 * Threads: plain functions of their arguments.
 */
#ifndef SEEN_KEY_PUBLISHED_H
#define SEEN_KEY_PUBLISHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum published {
    PUBLISHED_JENKINS,
    PUBLISHED_MURMUR,
    PUBLISHED_MURMUR3,
    PUBLISHED_MD5,
    PUBLISHED_SHA1,
    PUBLISHED_COUNT /* the number of functions; also: unknown */
};

/* The function of a name that is `len` bytes long, or PUBLISHED_COUNT. */
enum published published_find(const char *name, size_t len);

/* Whether a function gives 64 bits, not 32. */
bool published_wide(enum published which);

/* The time of one hash of a URL of 100 bytes, in units of 10 ns: 8 for the
   32-bit functions (90 to 115 ns were measured, in batches less), 25 for MD5
   and SHA-1 (260 and 140 ns; 460 without the CPU's SHA instructions). */
unsigned published_cost(enum published which);

uint32_t published_jenkins(const char *text, size_t len, uint32_t salt);
/* published_jenkins() of one text under n salts: eight at once take as long as
   one, 60 ns for a URL. */
void published_jenkins_many(const char *text, size_t len, const uint32_t *salt,
                            unsigned n, uint32_t *hash);
uint32_t published_murmur(const char *text, size_t len, uint32_t salt);
uint32_t published_murmur3(const char *text, size_t len, uint32_t salt);

/*
 * Hash a text with a salt. The 32-bit functions use the low half of the salt
 * as seed (`initval` of lookup2). MD5 and SHA-1 have no seed: the salt, as 8
 * bytes in little-endian order, is put before the text, and the first 8 bytes
 * of the digest, read in little-endian order, are the hash.
 */
uint64_t published_hash(enum published which, const char *text, size_t len,
                        uint64_t salt);

#endif
