/* options.h - what `seen serve` is asked to do. */
#ifndef SEEN_SERVE_OPTIONS_H
#define SEEN_SERVE_OPTIONS_H

#include "archives/set.h"
#include "memento/gather.h"
#include "watch/watch.h"

enum { SERVE_LISTENS = 16 };

struct serve_options {
    const char *const *listen; /* "127.0.0.1:8080", "[::1]:0" */
    size_t listens;            /* at most SERVE_LISTENS */
    const char *redis;    /* another address for the Redis protocol; or NULL */
    unsigned threads;     /* 0: one per CPU */
    const char *base;     /* "/bloom", or "" */
    const char *url;      /* "https://haw.nsk.hr": how others reach us; NULL:
                             as the Host header says */
    const char *token;    /* NULL: nobody may write */
    const char *log;      /* a file for the access log; "-": stdout; NULL */
    bool sets;            /* SADD and similar commands work on filters */
    bool files;           /* filters are offered at /files/ */
    uint64_t connections; /* at most; 0: as many as there are descriptors */
    uint64_t body;        /* bytes of a body, at most */
    uint64_t seed;        /* of new filters, if `seeded`; else a random one */
    bool seeded;
    uint64_t memory;      /* bytes held for all clients; 0: no limit */
    struct watch_options watch; /* crawls to show; may be empty */
    const struct memento_options *memento; /* of the aggregator; or NULL */
    struct archive_set_options archives;
};

#endif
