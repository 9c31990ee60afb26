/*
 * source.h - bytes of one version of a file on a web server.
 *
 *     distant_source_read()      many ranges at once ──> GET with Range, If-Range
 *     distant_source_same()      is it still this version? ──> If-None-Match
 *
 * The first answer says which version it is, by a strong ETag or a date; any
 * other answer that is not of it is SEEN_MISMATCH, and nothing of it is used. A
 * server that sends the whole file instead of a range is taken at its word: the
 * file goes to a temporary one, if it is not too long, and all ranges come from
 * there.
 *
 * Threads: one at a time.
 */
#ifndef SEEN_DISTANT_SOURCE_H
#define SEEN_DISTANT_SOURCE_H

#include <seen/ranges.h>

#include "../fetch/fetch.h"
#include "../fetch/retry.h"
#include "cache.h"

struct distant_source {
    struct fetch *web;
    const char *url;
    const char *tmp; /* folder for a whole file, */
    uint64_t most;   /* of so many bytes */
    unsigned timeout; /* seconds for a range */
    struct distant_version version;
    uint64_t length; /* of the file, or 0 */
    int whole;       /* the file as it came at once; -1: it did not */
    bool said;       /* this process had an answer of this version */
    uint64_t sent, requests; /* bytes and answers, of all ranges */
    void (*say)(void *whose, const char *text);
    void *whose;
};

/* As `read` of <seen/ranges.h>. */
enum seen_code distant_source_read(struct distant_source *s,
                                   struct seen_range *range, size_t n,
                                   uint64_t *length, struct seen_error *why);

/* SEEN_MISMATCH: the server has another version now. */
enum seen_code distant_source_same(struct distant_source *s,
                                   struct seen_error *why);

#endif
