/*
 * exchange.h - one running request: its hops, its answer, its limits.
 *
 *     fetch_exchange_new()
 *     fetch_exchange_hop() ──> libcurl ──> fetch_exchange_done() ──> true: it ended
 *         ^                               │ false: x->target is the next hop
 *         └───────────────────────────────┘
 *     fetch_exchange_free()
 *
 * Threads: as the client that it belongs to.
 */
#ifndef SEEN_FETCH_EXCHANGE_H
#define SEEN_FETCH_EXCHANGE_H

#include <curl/curl.h>

#include "address.h"
#include "head.h"
#include "host_queue.h"
#include "target.h"
#include "unpack.h"

enum { FETCH_PIECE = 1 << 16 }; /* bytes at a time, as received and unpacked */

/* A request that was started. It is in the host queue, or in one of the
   client's lists. */
struct fetch_pending {
    struct fetch_queued queued; /* first: lists lead to it */
    struct fetch_exchange *exchange; /* since its first hop */
    bool cancelled;
    struct fetch_request asks; /* its texts are these: */
    char text[];
};

/* What all exchanges of a client share. */
struct fetch_shared {
    CURLM *multi;
    struct fetch_options options; /* with defaults filled in; texts are ours */
    struct fetch_places allowed;
    uint64_t bytes, refused;
    uint8_t piece[FETCH_PIECE]; /* for unpacked bytes */
};

struct fetch_exchange {
    struct fetch_shared *shared;
    struct fetch_pending *request;
    CURL *easy;
    struct curl_slist *lines; /* headers that we send */
    struct fetch_target target; /* of this hop */
    char **visited;           /* the URLs before it */
    unsigned hops;
    unsigned timeout;  /* seconds, or 0, and */
    uint64_t deadline; /* for all hops, or UINT64_MAX */

    /* of this hop */
    bool added;        /* to the multi */
    bool ranged;       /* a part was asked for */
    bool wanted;       /* its body goes to the handler */
    uint64_t until;    /* when an unwanted body is left; 0: there is none */
    uint64_t raw, out; /* bytes of body received, and given to the handler */
    uint64_t slow_since, slow_out; /* where the pace was last measured */
    struct fetch_head head;
    struct fetch_unpack unpack;
    char refused[FETCH_ADDRESS]; /* the address, if it was */
    char words[CURL_ERROR_SIZE];

    /* how it ended */
    enum fetch_outcome outcome; /* if there is a code: why */
    enum seen_code code;
    struct seen_error why;
};

/* NULL if there is no memory. */
struct fetch_exchange *fetch_exchange_new(struct fetch_shared *shared,
                                          struct fetch_pending *request);
void fetch_exchange_free(struct fetch_exchange *x);

/* Go to x->target. False on failure, with x->code and x->why. */
bool fetch_exchange_hop(struct fetch_exchange *x);

/* libcurl is done with this hop. True if the request has ended. */
bool fetch_exchange_done(struct fetch_exchange *x, CURLcode result);

/* End it if its body comes too slowly. Otherwise returns when to look again,
   or UINT64_MAX. */
uint64_t fetch_exchange_pace(struct fetch_exchange *x, uint64_t now);

/* Translate libcurl's code into x->code and x->why. */
void fetch_exchange_fault(struct fetch_exchange *x, CURLcode result);

#endif
