/*
 * decode.c - from raw bytes over the payload to the body.
 *
 *     raw ── chunks undone ──> payload ── codings undone, last first ──> body
 *
 * Each is a span. It lies in the one before where nothing was undone, which is
 * most answers, and a single chunk stays in place, too. Otherwise bytes go to
 * `chunks`, and then to the two steps in turn: a coding reads one and writes
 * the other, so any number of codings takes two buffers.
 *
 * A body of 1 kB can unpack to a terabyte, and do so several times over. Each
 * step is bounded by `most` and by the budget, and their number by
 * FETCH_CODINGS. Damage is not a failure: the caller gets all that was undone
 * before it, and `fault` says why there is no more.
 */
#include "decode.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "../lib/text/span.h"
#include "chunk.h"

enum { KEPT = 1 << 20 }; /* bytes of memory that a buffer keeps */

/* --- headers --- */

/* The rest of the head after this value; all of it if the value is not in it. */
static struct seen_span after_value(struct seen_span head,
                                    struct seen_span value)
{
    const char *end = head.text + head.len;

    if (!value.text || value.text < head.text || value.text > end ||
        value.len > (size_t)(end - value.text))
        return head;
    value.text += value.len;
    return (struct seen_span){ value.text, (size_t)(end - value.text) };
}

bool fetch_header(struct seen_span head, const char *name,
                  struct seen_span *value)
{
    struct seen_span rest = head, line, field;

    if (!head.len)
        return false;
    rest = after_value(head, *value);
    if (rest.text != head.text)
        span_line(&rest, &line); /* the end of the one before */
    while (span_line(&rest, &line)) {
        field = line;
        if (!memchr(line.text, ':', line.len) || !span_cut(&line, ':', &field))
            continue;
        if (!span_like(field, name))
            continue;
        *value = span_trim(line);
        return true;
    }
    return false;
}

/* --- chunks --- */

static bool is_chunked(struct seen_span head)
{
    struct seen_span value = { NULL, 0 };

    while (fetch_header(head, "Transfer-Encoding", &value))
        if (span_like(value, "chunked"))
            return true;
    return false;
}

/* HTTP/1.1 304 Not Modified */
static bool has_no_body(struct seen_span head)
{
    return head.len >= 12 && !memcmp(head.text, "HTTP/", 5) &&
           (!memcmp(head.text + 8, " 304", 4) ||
            !memcmp(head.text + 8, " 204", 4));
}

/* Is the body shorter than the head says? */
static bool is_short(struct seen_span head, size_t len)
{
    struct seen_span value = { NULL, 0 };
    uint64_t said = 0;

    if (has_no_body(head) || !fetch_header(head, "Content-Length", &value))
        return false;
    for (size_t i = 0; i < value.len; i++) {
        if (!isdigit((unsigned char)value.text[i]) || said > UINT64_MAX / 20)
            return false;
        said = said * 10 + (uint64_t)(value.text[i] - '0');
    }
    return said > len;
}

static void set_fault(struct fetch_decoded *d, const char *fault)
{
    if (!*d->fault)
        snprintf(d->fault, sizeof d->fault, "%s", fault);
}

/* One chunk, as short pages have, stays where it is. */
static enum seen_code undo_chunks(struct fetch_decoded *d,
                                  struct seen_span raw, struct seen_error *why)
{
    struct fetch_chunks c = { 0 };
    struct seen_span piece, first = { raw.text, 0 };
    enum fetch_chunks_result at;

    while ((at = fetch_chunks_next(&c, &raw, &piece)) == FETCH_CHUNKS_PIECE) {
        if (!first.len) {
            first = piece;
            continue;
        }
        if (!d->chunks.len)
            buffer_span(&d->chunks, first);
        buffer_span(&d->chunks, piece);
    }
    if (d->chunks.failed)
        return seen_fail(why, SEEN_NOMEM, 0, "no memory to decode");
    d->payload = d->chunks.len
                     ? (struct seen_span){ d->chunks.bytes, d->chunks.len }
                     : first;
    d->cut = at == FETCH_CHUNKS_MORE;
    if (at == FETCH_CHUNKS_DAMAGE)
        set_fault(d, "the chunks are damaged");
    else if (raw.len)
        set_fault(d, "the chunks are followed by other bytes");
    return SEEN_OK;
}

/* --- codings --- */

/* The codings in the order in which they were applied; none if there are too
   many, and then the body stays as it is. */
static unsigned list_codings(struct fetch_decoded *d, struct seen_span head,
                             struct seen_span names[FETCH_CODINGS])
{
    struct seen_span value = { NULL, 0 }, rest, name;
    unsigned count = 0;

    while (fetch_header(head, "Content-Encoding", &value))
        for (rest = value; span_cut(&rest, ',', &name);) {
            name = span_trim(name);
            if (!name.len || span_like(name, "identity"))
                continue;
            if (count == FETCH_CODINGS) {
                set_fault(d, "has too many codings");
                return 0;
            }
            names[count++] = name;
        }
    return count;
}

static enum seen_code undo_codings(struct fetch_decoded *d,
                                   struct seen_span head, size_t most,
                                   struct seen_error *why)
{
    struct seen_span names[FETCH_CODINGS];
    enum seen_code code = SEEN_OK;
    unsigned count = list_codings(d, head, names);

    for (unsigned i = 0; code == SEEN_OK && count--; i++) {
        struct fetch_coded step = { .in = d->body,
                                    .out = &d->steps[i % 2],
                                    .most = most,
                                    .budget = d->budget };

        if (!fetch_coding_known(names[count])) {
            set_fault(d, "has a coding that is not known");
            break;
        }
        code = fetch_coding_undo(&d->coders, names[count], &step, why);
        d->body = (struct seen_span){ step.out->bytes, step.out->len };
        d->cut = d->cut || step.cut;
        if (step.fault)
            set_fault(d, step.fault);
    }
    return code;
}

/* --- the whole way --- */

static void empty(struct buffer *b)
{
    if (b->room > KEPT || b->failed)
        buffer_clear(b);
    b->len = 0;
}

enum seen_code fetch_decode(struct fetch_decoded *d, struct seen_span head,
                            struct seen_span raw, size_t most,
                            struct seen_error *why)
{
    enum seen_code code = SEEN_OK;

    empty(&d->chunks);
    empty(&d->steps[0]);
    empty(&d->steps[1]);
    d->fault[0] = '\0';
    d->payload = d->body = raw;
    if (is_chunked(head) && !has_no_body(head))
        code = undo_chunks(d, raw, why);
    else
        d->cut = is_short(head, raw.len);
    d->body = d->payload;
    if (code == SEEN_OK)
        code = undo_codings(d, head, most, why);
    if (code != SEEN_OK) {
        d->payload = d->body = (struct seen_span){ NULL, 0 };
        return code;
    }
    if (d->body.len > most) {
        d->body.len = most;
        d->cut = true;
    }
    return SEEN_OK;
}

void fetch_decoded_clear(struct fetch_decoded *d)
{
    buffer_clear(&d->chunks);
    buffer_clear(&d->steps[0]);
    buffer_clear(&d->steps[1]);
    fetch_coders_clear(&d->coders);
    d->payload = d->body = (struct seen_span){ NULL, 0 };
}
