/*
 * exchange.h - one running request: its hops, its answer, its limits.
 *
 *     fetch_exchange_new()                    with the memory of one that ended
 *     fetch_exchange_hop() ──> libcurl ──> fetch_exchange_done() ──> true: it ended
 *         ^                               │ false: x->target is the next hop
 *         └───────────────────────────────┘
 *     fetch_exchange_release()
 *
 * Most of what libcurl has to be told is the same for all requests, and takes
 * as long as a request does. So exchanges are kept with their easy handles,
 * and used again.
 *
 * Threads: as the client that it belongs to.
 */
#ifndef SEEN_FETCH_EXCHANGE_H
#define SEEN_FETCH_EXCHANGE_H

#include <curl/curl.h>

#include "address.h"
#include "head.h"
#include "host_queue.h"
#include "loop.h"
#include "raw.h"
#include "socket.h"
#include "target.h"
#include "unpack.h"

struct ssl_st; /* OpenSSL's */

enum {
    FETCH_PIECE = 1 << 16, /* bytes at a time, as received and unpacked */
    FETCH_TRIES = 4        /* sockets of one attempt that are remembered */
};

/* A request that was started. It is in the host queue, or in one of the
   client's lists. */
struct fetch_pending {
    struct fetch_queued queued; /* first: lists lead to it */
    struct fetch_exchange *exchange; /* since its first hop */
    const char *host; /* of its first hop */
    bool cancelled;
    struct fetch_request asks; /* its texts are in `text` */
    char text[];
};

/* What all exchanges of a client share. */
struct fetch_shared {
    CURLM *multi;
    struct fetch_loop loop;
    struct fetch_sockets sockets;
    struct fetch_exchange *idle; /* kept for the next requests */
    unsigned idle_count;
    uint64_t look; /* when to look for slow ones; UINT64_MAX: never */
    bool bundled;  /* libcurl's file of CA certificates is there */
    struct fetch_options options; /* with defaults filled in; texts are ours */
    struct fetch_places allowed;
    uint64_t bytes, refused;
    uint8_t piece[FETCH_PIECE]; /* for unpacked bytes */
};

struct fetch_exchange {
    struct fetch_shared *shared;
    struct fetch_exchange *next; /* among those that are idle */
    CURL *easy;
    bool used;                   /* it has had an answer */
    bool is_raw;                 /* the easy handle is set for raw answers */
    bool usual;                  /* `lines` suit any raw request */
    bool posts;                  /* the easy handle is set to POST */
    struct curl_slist *lines;    /* headers that we send */

    /* of this request */
    struct fetch_pending *request;
    struct curl_slist bearer; /* sent before `lines`, if this host gets one */
    bool spent;   /* it has used credentials, or could not be prepared */
    bool strayed; /* it has left the origin that it began with */
    struct fetch_target target; /* of this hop */
    char **visited;           /* the URLs before it */
    unsigned hops;
    unsigned timeout;  /* seconds for all hops, or 0 */
    uint64_t deadline; /* when these are over, or UINT64_MAX */

    /* of this hop */
    bool added;        /* it is in the multi handle */
    bool stale;        /* the connection was kept, and bytes waited in it */
    bool again;        /* this is the second attempt, on a new connection */
    int opened[FETCH_TRIES]; /* the last sockets */
    unsigned tries;
    bool ranged;       /* a part was asked for */
    bool shortage;     /* there was no descriptor for a socket */
    bool wanted;       /* its body goes to the handler */
    uint64_t until;    /* when an unwanted body is given up; 0: there is none */
    uint64_t received, out; /* bytes that came; bytes for the handler */
    uint64_t slow_since, slow_out; /* where the pace was last measured */
    struct fetch_head head;
    struct fetch_unpack unpack;
    struct fetch_raw raw;
    char refused[FETCH_ADDRESS]; /* the address, if it was refused; or "" */
    char words[CURL_ERROR_SIZE];

    /* how it ended */
    enum fetch_outcome outcome; /* if there is a code: why */
    enum seen_code code;
    struct seen_error why;
};

/* NULL if there is no memory. */
struct fetch_exchange *fetch_exchange_new(struct fetch_shared *shared,
                                          struct fetch_pending *request);

/* The request has ended. The exchange is kept for another one, unless it has
   used credentials, or enough are kept. NULL is welcome. */
void fetch_exchange_release(struct fetch_exchange *x);

/* Free those that are kept. */
void fetch_exchange_free_idle(struct fetch_shared *shared);

/* Go to x->target. False on failure, with x->code and x->why. */
bool fetch_exchange_hop(struct fetch_exchange *x);

/* libcurl is done with this hop. False if there is another one, or the same
   one again. */
bool fetch_exchange_done(struct fetch_exchange *x, CURLcode result);

/* End it if its body comes too slowly. Otherwise returns when to look again,
   or UINT64_MAX. */
uint64_t fetch_exchange_pace(struct fetch_exchange *x, uint64_t now);

/* Set up a new easy handle: nothing of the environment, nothing that happens
   by itself, sockets to allowed addresses only. These three return false if
   there is no memory. */
bool fetch_exchange_guard(struct fetch_exchange *x);

/* Make the lines that this request says. */
bool fetch_exchange_say(struct fetch_exchange *x);

/* Send credentials, if there are some for the host of this hop. */
bool fetch_exchange_identify(struct fetch_exchange *x);

/* OpenSSL's connection, while there is one; or NULL. */
struct ssl_st *fetch_exchange_tls(const struct fetch_exchange *x);

/* Translate libcurl's code into x->code and x->why. */
void fetch_exchange_fault(struct fetch_exchange *x, CURLcode result);

#endif
