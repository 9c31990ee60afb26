/*
 * client.h - what all that ask archives share: the HTTP client and its bounds.
 *
 * Threads: belongs to the thread of the client.
 */
#ifndef SEEN_SERVE_MEMENTO_CLIENT_H
#define SEEN_SERVE_MEMENTO_CLIENT_H

#include "../../fetch/fetch.h"

struct memento_client {
    struct fetch *web;
    size_t most;       /* mementos of one archive's TimeMap; 0: any number */
    uint64_t bytes;    /* of its pages, unpacked */
    size_t memory;     /* bytes that all of them may hold, and */
    size_t held;       /* do hold; */
    unsigned holders;  /* archives that hold more than a little */
    uint64_t requests; /* ever; relaxed atomic */
};

#endif
