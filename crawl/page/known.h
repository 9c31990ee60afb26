/*
 * known.h - what is known of a page that was fetched, in this visit or an
 * earlier one: a row of the store, in memory.
 *
 *     if (!crawl_known_take_texts(&page, text))
 *         return no_memory;
 *     crawl_known_clear(&page);
 *
 * Threads: plain functions of their arguments.
 */
#ifndef SEEN_CRAWL_KNOWN_H
#define SEEN_CRAWL_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

#include <seen/span.h>

struct crawl_known {
    int64_t id;
    int64_t visit;            /* the last one that fetched it */
    int64_t first, last, due; /* Unix time in ms */
    int64_t stored;           /* when the response with this digest was */
    int64_t checks, changes;
    uint32_t history[32];     /* see revisit.h */
    unsigned histories;
    int status;
    unsigned turn;  /* fetches in this visit */
    int64_t size;   /* bytes of the payload */
    unsigned depth; /* links from a start URL */
    int64_t every;  /* seconds between visits, by a template; or 0 */
    char *url, *etag, *modified, *digest, *note; /* "" where there is none */
    char *place; /* of the response with this digest: "OFFSET FILE" */
    char *type;  /* of a template's page */

    /* Of a team only: a folder has them in its rows, or needs none. */
    int64_t terms; /* what the visit asked for that fetched the page:
                      frontier_known */
    int64_t links; /* that the page had */
};

/* The texts of a page, in the order in which crawl_known_take_texts() has
   them. */
enum {
    CRAWL_KNOWN_URL,
    CRAWL_KNOWN_ETAG,
    CRAWL_KNOWN_MODIFIED,
    CRAWL_KNOWN_DIGEST,
    CRAWL_KNOWN_NOTE,
    CRAWL_KNOWN_PLACE,
    CRAWL_KNOWN_TYPE,
    CRAWL_KNOWN_TEXTS
};

/* Copy the texts to one piece of memory, which crawl_known_clear() frees. False
   without memory; then the page has no texts. */
bool crawl_known_take_texts(struct crawl_known *page,
                            const struct seen_span text[CRAWL_KNOWN_TEXTS]);
void crawl_known_clear(struct crawl_known *page);

/* The history of a page, from the bytes that its row has. */
void crawl_known_read_history(struct crawl_known *page,
                              struct seen_span bytes);

#endif
