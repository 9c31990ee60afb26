/*
 * payload.c - from the block of a record to its payload.
 *
 * Whether a block is an HTTP message is known at the end of its head, which may
 * come in pieces: until then its bytes are kept, at most WARC_HTTP_HEAD_MOST of
 * them. If no head ends there, what was kept is the payload of something else.
 * All later bytes go through both digests and are not kept, so a record of any
 * size takes the same memory.
 */
#include "payload.h"

#include "../lib/text/number.h"
#include "../lib/text/span.h"
#include "field.h"

enum seen_code warc_payload_begin(struct warc_payload *p,
                                  enum warc_message message,
                                  const struct warc_algorithm *a,
                                  struct seen_error *why)
{
    enum seen_code code = warc_hash_begin(&p->payload_hash, a, why);

    if (code == SEEN_OK)
        code = warc_hash_begin(&p->body_hash, a, why);
    p->message = message;
    p->in_head = message != WARC_MESSAGE_NONE;
    p->chunked = p->failed = false;
    p->head.len = 0;
    p->head.failed = false;
    p->chunks = (struct warc_chunked){ .left = 0 };
    p->length = p->body_length = 0;
    p->status = 0;
    p->content_length = UINT64_MAX;
    return code;
}

static void add_body(struct warc_payload *p, struct seen_span bytes)
{
    struct seen_span some;

    p->body_length += bytes.len;
    if (!p->chunked) {
        p->length += bytes.len;
        warc_hash_add(&p->payload_hash, bytes.text, bytes.len);
        return;
    }
    warc_hash_add(&p->body_hash, bytes.text, bytes.len);
    while (warc_chunked_next(&p->chunks, &bytes, &some)) {
        p->length += some.len;
        warc_hash_add(&p->payload_hash, some.text, some.len);
    }
}

static bool ends_chunked(struct seen_span codings)
{
    struct seen_span one, last = { "", 0 };

    while (span_cut(&codings, ',', &one))
        if (span_trim(one).len)
            last = span_trim(one);
    return span_like(last, "chunked");
}

static void read_head(struct warc_payload *p)
{
    struct seen_span rest = { p->head.bytes, p->head.len }, line, name, value;

    if (!span_line(&rest, &line))
        return;
    if (p->message == WARC_MESSAGE_RESPONSE && line.len >= 12) {
        const char *space = memchr(line.text, ' ', line.len);

        if (space && line.text + line.len - space >= 4)
            for (unsigned i = 1; i < 4 && space[i] >= '0' && space[i] <= '9';
                 i++)
                p->status = (unsigned short)(10 * p->status + space[i] - '0');
    }
    while (warc_field_next(&rest, &name, &value)) {
        uint64_t number;

        if (span_like(name, "transfer-encoding"))
            p->chunked = ends_chunked(value);
        else if (span_like(name, "content-length") &&
                 number_digits(value, &number))
            p->content_length = number;
    }
}

/* The head is whole, or the block has ended: what was kept is a head, or it
   is the payload of something that is not HTTP. */
static void head_ended(struct warc_payload *p, size_t len)
{
    struct seen_span all = { p->head.len ? p->head.bytes : "", p->head.len };

    p->in_head = false;
    if (p->message == WARC_MESSAGE_RESPONSE && !span_begins(all, "HTTP/"))
        p->message = WARC_MESSAGE_NONE;
    if (p->message == WARC_MESSAGE_NONE) {
        add_body(p, all);
        return;
    }
    p->head.len = len;
    read_head(p);
    add_body(p, (struct seen_span){ all.text + len, all.len - len });
}

void warc_payload_add(struct warc_payload *p, const char *bytes, size_t len)
{
    size_t before = p->head.len, n;

    if (!p->in_head) {
        add_body(p, (struct seen_span){ bytes, len });
        return;
    }
    buffer_bytes(&p->head, bytes, len);
    if (p->head.failed) {
        p->failed = true;
        p->in_head = false;
        return;
    }
    n = warc_head_length(p->head.bytes, p->head.len, before);
    if (n) {
        head_ended(p, n);
    } else if (p->head.len > WARC_HTTP_HEAD_MOST) {
        p->message = WARC_MESSAGE_NONE;
        head_ended(p, 0);
    }
}

bool warc_payload_end(struct warc_payload *p)
{
    if (p->in_head)
        head_ended(p, p->head.len);
    if (!warc_hash_end(&p->payload_hash, p->payload) ||
        !warc_hash_end(&p->body_hash, p->body))
        p->failed = true;
    if (!p->chunked)
        memcpy(p->body, p->payload, sizeof p->body);
    return !p->failed;
}

void warc_payload_clear(struct warc_payload *p)
{
    buffer_clear(&p->head);
    warc_hash_clear(&p->payload_hash);
    warc_hash_clear(&p->body_hash);
}
