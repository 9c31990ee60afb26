/* options.h - what `seen serve` is asked to do. */
#ifndef SEEN_SERVE_OPTIONS_H
#define SEEN_SERVE_OPTIONS_H

#include "archives/set.h"
#include "hosts.h"
#include "memento/gather.h"
#include "proxies.h"
#include "search/search.h"
#include "watch/watch.h"

enum { SERVE_LISTENS = 32 };

struct serve_options {
    const char *const *listen; /* "127.0.0.1:8080", "unix:/run/x": listen.h */
    size_t listens;
    const char *const *redis; /* for the Redis protocol only */
    size_t redises;           /* with the others, at most SERVE_LISTENS */
    mode_t socket_mode;       /* of the files of Unix sockets */
    unsigned threads;     /* 0: one per CPU */
    const char *base;     /* "/bloom", or "" */
    const char *url;      /* "https://haw.nsk.hr": how others reach us; NULL:
                             as the Host header says */
    struct hosts hosts;   /* names that clients of loopback addresses use */
    const char *token;    /* NULL: nobody has one */
    bool open;            /* the Redis protocol needs no token; all addresses
                             must be local then */
    const char *log;      /* a file for the access log; "-": stdout; NULL */
    bool log_json;        /* in JSON, not in the combined format */
    struct proxies proxies; /* whose X-Forwarded-For is believed */
    bool sets;            /* SADD and similar commands work on filters */
    bool files;           /* filters are offered at /files/ */
    uint64_t connections; /* at most; 0: as many as there are descriptors */
    uint64_t body;        /* bytes of a body, at most */
    uint64_t seed;        /* of new filters, if `seeded`; else a random one */
    bool seeded;
    uint64_t memory;      /* bytes held for all clients; 0: no limit */
    struct watch_options watch; /* crawls to show; may be empty */
    struct search_places search; /* crawls to search; may be empty */
    const struct memento_options *memento; /* of the aggregator; or NULL */
    struct archive_set_options archives;
    /* Called, from any thread, with a message for the operator; or NULL. */
    void (*say)(const char *text);
};

#endif
