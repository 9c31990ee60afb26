/*
 * exchange.h - one request on its way: its hops, its answer, its bounds.
 *
 *     exchange_new()
 *     exchange_hop() ──> libcurl ──> exchange_done() ──> true: it ended
 *         ^                               │ false: x->where is the next hop
 *         └───────────────────────────────┘
 *     exchange_free()
 *
 * Threads: as the client that it belongs to.
 */
#ifndef SEEN_FETCH_EXCHANGE_H
#define SEEN_FETCH_EXCHANGE_H

#include <curl/curl.h>

#include "address.h"
#include "head.h"
#include "turns.h"
#include "unpack.h"
#include "where.h"

enum { PIECE = 1 << 16 }; /* bytes at once, of libcurl and unpacked */

/* What all exchanges of a client have in common. */
struct ways {
    CURLM *multi;
    struct fetch_rules rules; /* nothing is 0; texts are ours */
    struct places allowed;
    uint64_t bytes, refused;
    uint8_t piece[PIECE]; /* for what is unpacked */
};

struct exchange {
    struct ways *ways;
    struct request *request;
    CURL *easy;
    struct curl_slist *lines; /* headers that we send */
    struct where where;       /* this hop */
    char **been;              /* the URLs before it */
    unsigned hops;
    uint64_t deadline; /* of all hops, or UINT64_MAX */

    /* of this hop */
    bool added;     /* to the multi */
    bool ranged;    /* a part was asked for */
    bool taking;    /* a body that somebody wants */
    bool left;      /* a body that nobody wants, of which enough was read */
    uint64_t until; /* to this moment it is read; 0: it is not */
    uint64_t raw, out;
    struct head head;
    struct unpack unpack;
    char unreached[ADDRESS_TEXT]; /* the address that was refused */
    char words[CURL_ERROR_SIZE];

    /* how it ended */
    enum seen_code code;
    struct seen_error why;
};

/* Milliseconds of a clock that never goes back. */
uint64_t fetch_clock(void);

/* NULL if there is no memory. */
struct exchange *exchange_new(struct ways *ways, struct request *request);
void exchange_free(struct exchange *x);

/* Go to x->where. False if that cannot be: x->code and x->why tell. */
bool exchange_hop(struct exchange *x);

/* libcurl is done with this hop. */
bool exchange_done(struct exchange *x, CURLcode result);

/* What libcurl's code means here: fill x->code and x->why. */
void exchange_fault(struct exchange *x, CURLcode result);

#endif
