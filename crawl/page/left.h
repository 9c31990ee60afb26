/*
 * left.h - reasons for which a link or a page is left out.
 *
 * A reader notes them, a store counts them by name, and the store of a folder
 * keeps some of them for `seen crawl why` (folder/left_out.h).
 *
 * Threads: constants.
 */
#ifndef SEEN_CRAWL_LEFT_H
#define SEEN_CRAWL_LEFT_H

#include <stdint.h>

/* The numbers are in states: they never change. */
enum crawl_left_reason {
    CRAWL_LEFT_SCOPE = 0,    /* of links; the URL alone shows it: no row */
    CRAWL_LEFT_TRAP = 1,     /* traps have a table of their own */
    CRAWL_LEFT_NOFOLLOW = 2, /* the link or the page asks for that */
    CRAWL_LEFT_RULE = 3,     /* no rule of the template follows it */
    CRAWL_LEFT_SCORE = 4,    /* of a topical crawl: below --threshold */
    CRAWL_LEFT_COSTLY = 5,   /* patterns cost too much for its URL */
    CRAWL_LEFT_LINKS,        /* one more than the last reason of links */
    CRAWL_LEFT_ROBOTS = 16,  /* of pages */
    CRAWL_LEFT_SKIP = 17,
    CRAWL_LEFT_PRUNE = 18
};

/* The names of their counters. */
extern const char *const crawl_left_counters[CRAWL_LEFT_LINKS];

/* A link that a page left out. */
struct crawl_left_link {
    uint64_t key; /* half of the key of its URL */
    enum crawl_left_reason reason;
};

#endif
