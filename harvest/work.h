/*
 * work.h - what the parts of a round share.
 */
#ifndef SEEN_HARVEST_WORK_H
#define SEEN_HARVEST_WORK_H

#include "folder.h"
#include "harvest.h"
#include "items.h"

struct work {
    const struct harvest_how *how;
    struct folder folder;
    struct fetch *web;
    struct items items;
    struct harvest_sum *sum;
    uint64_t done; /* items that have been told of */
};

/* How fast a body comes, from its first byte on. */
struct pace {
    double begun; /* 0: not yet */
    uint64_t bytes;
};

/* Seconds since some fixed moment. */
double work_clock(void);
bool pace_slow(const struct pace *p, const struct work *w);

void work_wait(unsigned milliseconds);
bool work_stopped(const struct work *w);

/* Tell, count, and show how far we are. */
void work_tell(struct work *w, const struct harvest_news *news);
void work_moved(struct work *w);

/*
 * How many requests a source may have under way: half of all if there are
 * several, so that one whose servers are slow does not keep the others
 * waiting. And whether its servers failed so often that it is given up.
 */
unsigned work_share(const struct work *w);
bool work_given_up(const struct source *s, struct seen_error *why);

/* A filter, or a list, that nothing comes of. */
void work_refuse(struct work *w, const char *url, const char *name,
                 const struct seen_error *why);
void work_unread(struct work *w, const char *url,
                 const struct seen_error *why);

/* In words: "answers 404, not found". SEEN_IO if it may be better in a
   while, else SEEN_UNABLE. */
enum seen_code work_status(int status, struct seen_error *why);

#endif
