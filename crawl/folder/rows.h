/*
 * rows.h - what a commit of a folder writes to its state, and counts.
 *
 * Threads: the committing one.
 */
#ifndef SEEN_CRAWL_ROWS_H
#define SEEN_CRAWL_ROWS_H

#include "../engine/group.h"

struct crawl_rows {
    struct crawl_group *g;
    int64_t last; /* number of the journal */
    int64_t counts[CRAWL_OUTCOMES], left[CRAWL_LEFT_LINKS];
    int64_t fresh, recovered;
    int64_t unasked; /* see engine.h */
    int64_t costly;  /* pages */
    int64_t saved;   /* bytes, by conditional requests */
    int64_t *host;   /* that got rows; one after the other may be the same */
    size_t hosts, host_room;
};

/* The rows of a part of the group: those of a page, or those of the links that
   a robots.txt or a stored copy has. */
enum seen_code crawl_rows_write(struct crawl_rows *r,
                                const struct crawl_part *part,
                                struct seen_error *why);

#endif
