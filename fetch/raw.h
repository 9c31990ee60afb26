/*
 * raw.h - an answer as it came: the part of an exchange that is for crawlers.
 *
 *                    head                      body
 *     libcurl ──> fetch_raw_line() ... ──> fetch_raw_body() ... ──┐
 *                    whole: fetch_raw_facts()                     │
 *                                     fetch_raw_end() <───────────┘
 *
 * Nothing that a server sent after the end of an answer becomes part of it;
 * socket.h is about the next one on that connection.
 *
 * Threads: as the exchange that it belongs to.
 */
#ifndef SEEN_FETCH_RAW_H
#define SEEN_FETCH_RAW_H

#include <curl/curl.h>

#include "../lib/text/buffer.h"
#include "address.h"
#include "chunk.h"
#include "fetch.h"

struct fetch_exchange;

struct fetch_raw {
    struct buffer sent, head;
    struct fetch_chunks chunks;
    bool ended; /* the last chunk was read */
    bool listens; /* libcurl tells what it sends */
    enum fetch_cut cut;
    uint64_t started;
    char address[FETCH_ADDRESS], tls[96];
};

/* Set the exchange's easy handle to hand over answers as they come, or back to
   what it was before. False if there is no memory. */
bool fetch_raw_set(struct fetch_exchange *x, bool raw);

/* libcurl hands over the request that it sends, for says.sent; or not. */
void fetch_raw_listen(struct fetch_exchange *x, bool listen);

/* A new request, or another attempt; memory is kept. */
void fetch_raw_begin(struct fetch_exchange *x);
void fetch_raw_clear(struct fetch_raw *raw);

/* A line of the head, before it is parsed. */
enum seen_code fetch_raw_line(struct fetch_exchange *x, const char *line,
                              size_t len, struct seen_error *why);

/* Fill the members of x->head.says that are for raw requests. */
void fetch_raw_facts(struct fetch_exchange *x);

/* How many of these bytes belong to the body, and may be handed over? If not
   all of them do, the connection must be closed. */
size_t fetch_raw_body(struct fetch_exchange *x, const char *bytes, size_t n);

/* libcurl is done: set x->code, or x->raw.cut. */
void fetch_raw_end(struct fetch_exchange *x, CURLcode result);

#endif
