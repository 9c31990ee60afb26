/*
 * payload.h - from the block of a record to its payload, as the bytes come.
 *
 *     HTTP/1.1 200 OK                block: everything
 *     Transfer-Encoding: chunked
 *                                    body: all after the head, as on the wire
 *     5\r\nhello\r\n0\r\n\r\n        payload: hello
 *
 * The payload of an HTTP message is its entity body, so chunks are undone;
 * codings of the content (gzip) stay. Some programs write the digest of the
 * body instead. Both are computed where they differ.
 *
 *     code = warc_payload_begin(&p, WARC_MESSAGE_RESPONSE, warc_sha1, &why);
 *     warc_payload_add(&p, bytes, len);
 *     warc_payload_end(&p);
 *     p.payload, p.body, p.status
 *
 * Threads: belongs to one thread at a time.
 */
#ifndef SEEN_WARC_PAYLOAD_H
#define SEEN_WARC_PAYLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include <seen/error.h>

#include "../lib/text/buffer.h"
#include "chunked.h"
#include "digest.h"

enum warc_message {
    WARC_MESSAGE_NONE, /* the payload is the block */
    WARC_MESSAGE_REQUEST,
    WARC_MESSAGE_RESPONSE
};

enum { WARC_HTTP_HEAD_MOST = 1 << 18 }; /* a longer one is not taken as one */

struct warc_payload {
    enum warc_message message;
    bool in_head, chunked, failed;
    struct buffer head;
    struct warc_chunked chunks;
    struct warc_hash payload_hash, body_hash;
    uint64_t length, body_length;            /* of payload and body */
    unsigned char payload[WARC_DIGEST_MOST]; /* digests, after the end */
    unsigned char body[WARC_DIGEST_MOST];
    unsigned short status;   /* of a response; 0 if it has none */
    uint64_t content_length; /* of HTTP; UINT64_MAX if it has none */
};

/* `p` is zeroed before its first use. SEEN_NOMEM. */
enum seen_code warc_payload_begin(struct warc_payload *p,
                                  enum warc_message message,
                                  const struct warc_algorithm *a,
                                  struct seen_error *why);
void warc_payload_add(struct warc_payload *p, const char *bytes, size_t len);

/* False if memory ran out on the way. A message that does not begin as one is
   WARC_MESSAGE_NONE then, and its payload is the block. */
bool warc_payload_end(struct warc_payload *p);
void warc_payload_clear(struct warc_payload *p);

#endif
