/*
 * record.h - page records: what was extracted from one page, as a JSON line.
 *
 *     {"_v": 1, "_id": "5a...", "_url": "http://a.example/", "_template":
 *      "42...", "_type": "default", "_fetched_at": "2026-01-02T03:04:05.678Z",
 *      "_visit": "news@1767323040", "_status": 200, "_skeleton": "0f...",
 *      "_turn": 1, "Title": ["..."]}
 *
 * The lines of pages.jsonl, and what the classifier reads. Members with an
 * underscore are the crawler's, all others are fields, each a list.
 *
 *     struct crawl_record r = { .url = span_of(url), .visit = visit, ... };
 *
 *     crawl_record_write(&line, &r);
 *
 * Threads: plain functions of their arguments.
 */
#ifndef SEEN_CRAWL_RECORD_H
#define SEEN_CRAWL_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include <seen/span.h>

#include "../../lib/text/buffer.h"

enum { CRAWL_RECORD_VERSION = 1, CRAWL_RECORD_ID = 33 };

struct crawl_record {
    struct seen_span url;        /* canonical */
    const char *template;        /* its hash; "" or NULL: none was used */
    const char *type;            /* NULL: the page has no type */
    const char *visit;           /* the visit's id */
    uint64_t fetched;            /* ms since 1970 */
    int status;
    uint64_t turn;               /* which fetch of this URL in this visit,
                                    from 1 */
    const uint64_t *skeleton;    /* web_tree_skeleton(), or NULL */
    const char *costly; /* why some of it is missing, or NULL */
    const struct buffer *fields; /* crawl_template_extract(), or NULL */
};

/*
 * The id of a record: the first 128 bits, as 32 digits and a zero, of the
 * SHA-256 of the visit's id, a zero byte, the URL, a zero byte and the turn as
 * a decimal number. False without memory.
 */
bool crawl_record_id(char id[CRAWL_RECORD_ID], const char *visit,
                     struct seen_span url, uint64_t turn);

/*
 * Append the record with its line end. Answers 304, 404 and 410 have neither
 * fields nor skeleton, whatever was given. Without memory `line` has failed.
 */
void crawl_record_write(struct buffer *line, const struct crawl_record *r);

#endif
