/*
 * round.h - what the parts of a round share.
 */
#ifndef SEEN_HARVEST_ROUND_H
#define SEEN_HARVEST_ROUND_H

#include "../fetch/retry.h"
#include "catalog.h"
#include "folder.h"
#include "harvest.h"

struct harvest_round {
    const struct harvest_options *options;
    struct harvest_folder folder;
    struct fetch *web;
    struct fetch_retry_policy retry;
    struct fetch_health health; /* a group is a publisher's number */
    struct harvest_catalog catalog;
    struct harvest_summary *sum;
    uint64_t done; /* items that were reported */
};

bool harvest_stopped(const struct harvest_round *r);

/* Report and count an event; show how far the round is. */
void harvest_report(struct harvest_round *r,
                    const struct harvest_event *event);
void harvest_progress(struct harvest_round *r);

/* Report a filter that is refused, and a list that is not read. */
void harvest_refuse(struct harvest_round *r, const char *url, const char *name,
                    const struct seen_error *why);
void harvest_unread(struct harvest_round *r, const char *url,
                    const struct seen_error *why);

/* May a file have this many bytes, of which `have` are on the disk already?
   SEEN_RANGE if it is too large, or if the disk has no room for it. */
enum seen_code harvest_fits(const struct harvest_round *r, uint64_t bytes,
                            uint64_t have, struct seen_error *why);

/* Seconds that a publisher has left. */
double harvest_time_left(const struct harvest_round *r,
                         const struct harvest_publisher *p);

/* Is the rest left for the next round, because the host of `url` is down or
   the publisher's time is used up? */
bool harvest_left_out(const struct harvest_round *r,
                      const struct harvest_publisher *p, const char *url,
                      struct seen_error *why);

#endif
