/*
 * server.h - seen serve: archives over HTTP and the Redis protocol.
 *
 *     seen serve haw=haw.seen --listen 127.0.0.1:8080
 *
 *     GET /haw/http://haw.nsk.hr/en     200 or 404      web.c
 *     BF.EXISTS haw http://haw.nsk.hr/  :1 or :0        redis.c
 *
 * One loop a thread, each with a listening socket of its own on the same
 * port; the kernel spreads the clients over them (SO_REUSEPORT).
 */
#ifndef SEEN_SERVE_SERVER_H
#define SEEN_SERVE_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "archives/set.h"

struct serve_how {
    const char *listen;   /* "127.0.0.1:8080", "[::1]:0" */
    const char *redis;    /* another address for the Redis protocol; or NULL */
    unsigned threads;     /* 0: one a processor */
    const char *base;     /* "/bloom", or "" */
    const char *url;      /* "https://haw.nsk.hr": how others reach us; NULL:
                           as the Host header says */
    const char *token;    /* NULL: nobody may write */
    const char *log;      /* a file for the access log; "-": stdout; NULL */
    bool sets;            /* SADD and its like work on filters */
    bool files;           /* filters are offered at /files/ */
    uint64_t connections; /* at most; 0: as many as there are descriptors */
    uint64_t body;        /* bytes of a body, at most */
    struct library_how library;
};

/* The server as its loops see it. */
struct server {
    struct serve_how how;
    struct library *library;
    unsigned threads;
    struct loop *loop; /* `threads` of them */
    uint64_t most;     /* connections */
    uint64_t open;     /* now, of all loops */
    uint64_t jobs;     /* waiting or running, of all loops */
    uint64_t started;  /* seconds since 1970 */
    int log;           /* descriptor, or -1 */
};

/* Does `given` equal the token, in a time that does not tell how much of it
   does? False if there is none. */
bool server_knows(const struct server *s, struct span given);

/* Stop as SIGTERM does; from any thread. */
void server_stop(struct server *s);

/*
 * Serve until SIGTERM or SIGINT. `ready` is called when clients can connect,
 * with the ports that were chosen.
 */
enum seen_code serve_run(const struct serve_how *how,
                         void (*ready)(const struct serve_how *how, int port,
                                       int redis_port),
                         struct seen_error *why);

#endif
