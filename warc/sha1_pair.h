/*
 * sha1_pair.h - SHA-1 of two texts at once.
 *
 * A record with a response has two digests: of its block, which is head and
 * body, and of its payload, which mostly is the body again. Each step of SHA-1
 * waits for the one before it. Where the CPU has instructions for SHA, those of
 * two texts fill each other's gaps: twice 20 kB take 12.1 us instead of the 19.2
 * that OpenSSL takes for one after the other; 10 kB, 6.2 instead of 9.8.
 *
 *     const struct seen_span block[2] = { head, body };
 *     const struct seen_span payload[2] = { body };
 *     unsigned char sum[2][WARC_SHA1];
 *
 *     if (warc_sha1_pair_works())
 *         warc_sha1_pair(block, payload, sum);
 *
 * Threads: any.
 */
#ifndef SEEN_WARC_SHA1_PAIR_H
#define SEEN_WARC_SHA1_PAIR_H

#include <stdbool.h>

#include <seen/span.h>

enum { WARC_SHA1 = 20 };

/* Does this CPU have the instructions? It takes a microsecond to ask. */
bool warc_sha1_pair_works(void);

/* Each text comes in two parts, which may be empty. Only where it works. */
void warc_sha1_pair(const struct seen_span a[2], const struct seen_span b[2],
                    unsigned char sum[2][WARC_SHA1]);

#endif
