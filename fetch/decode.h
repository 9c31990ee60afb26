/*
 * decode.h - undo the chunks and the codings of a body that came raw.
 *
 *     struct fetch_decoded d = { .cut = false };
 *     struct seen_span type = { NULL, 0 };
 *
 *     if (fetch_decode(&d, head, raw, 10 << 20, &why) == SEEN_OK)
 *         index(d.body);                    and d.payload is what is archived
 *     fetch_header(head, "Content-Type", &type);
 *     fetch_decoded_clear(&d);
 *
 * Damaged bodies are common, and mostly still useful: what can be undone is,
 * and `cut` and `fault` say what is missing.
 *
 * Threads: an object belongs to one thread at a time; many may decode.
 */
#ifndef SEEN_FETCH_DECODE_H
#define SEEN_FETCH_DECODE_H

#include <stdbool.h>
#include <stddef.h>

#include <seen/error.h>
#include <seen/span.h>

#include "coding.h"

enum { FETCH_CODINGS = 3 }; /* of one body, at most */

/* Begins zeroed. Memory is kept from use to use. */
struct fetch_decoded {
    struct seen_span payload; /* without chunks, still coded */
    struct seen_span body;    /* without codings; if there is one that is not
                                 known, what it was applied to */
    bool cut;                 /* the input ended early, or there is more than
                                 `most` */
    char fault[80];           /* what is wrong with the input, or "" */
    struct budget *budget;    /* of the caller: steps that it may take; when
                                 it is empty the body is cut. NULL: any
                                 number */

    struct buffer chunks, steps[2];
    struct fetch_coders coders;
};

/*
 * Decode a body that came with this head. The spans live until the next call,
 * and while `raw` does, since they lie in `raw` where nothing has to be undone.
 * `most` bounds the body, and each step on the way. SEEN_NOMEM.
 */
enum seen_code fetch_decode(struct fetch_decoded *d, struct seen_span head,
                            struct seen_span raw, size_t most,
                            struct seen_error *why);

void fetch_decoded_clear(struct fetch_decoded *d);

/*
 * Find a header in the head of a request or answer, or in lines of such. The
 * search begins after *value if this is within the head, else with the first
 * line, so that a loop finds all headers of this name:
 *
 *     struct seen_span link = { NULL, 0 };
 *
 *     while (fetch_header(head, "Link", &link))
 *         ...
 *
 * The value has no white space at its ends; it may have bytes of any kind but
 * line ends. Lines that continue a header are ignored. False if there is no
 * (other) one.
 */
bool fetch_header(struct seen_span head, const char *name,
                  struct seen_span *value);

#endif
