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

/*
 * How long things may take, in units of how.patience, a minute by default.
 * What is beyond is left for the next round, so that rounds end.
 */
enum {
    LIST_TIME = 5,     /* a list; all of them together ... */
    PARTY_TIME = 10,   /* ... of one party, ... */
    LISTS_TIME = 30,   /* ... and of a round */
    CHANGES_TIME = 10, /* all change lists, of which none is needed */
    LOST_TIME = 20,    /* what fails, of one party */
    FAILURES = 3       /* in a row, of one host */
};

/* How fast a body comes: in each window of how.patience, at least 1 kB a
   second. An average since its beginning would let it end in a trickle. */
struct pace {
    double since;   /* the window's beginning; 0: no body yet */
    uint64_t bytes; /* within it */
};

/* Seconds since some fixed moment. */
double work_clock(void);
bool pace_slow(struct pace *p, const struct work *w);

/* When to try again, after so many tries, or 0: not in this round. The server
   may wish that it is later (Retry-After), but for more than how.patience
   nobody waits. */
double work_again(const struct work *w, unsigned tries, unsigned after);

void work_wait(unsigned milliseconds);
bool work_stopped(const struct work *w);

/* Tell, count, and show how far we are. */
void work_tell(struct work *w, const struct harvest_news *news);
void work_moved(struct work *w);

/* How many requests a party may have under way: half of all if there are
   several, so that one whose servers are slow keeps no other waiting. */
unsigned work_share(const struct work *w);

/*
 * What became of a request for `url`, which took so many seconds; `mute`:
 * there was no answer at all. And whether so much failed, of its host or of
 * the source's party, that the rest is left for the next round.
 */
void work_failed(struct work *w, const struct source *s, const char *url,
                 double took, bool mute);
void work_worked(struct work *w, const struct source *s, const char *url);
bool work_given_up(const struct work *w, const struct source *s,
                   const char *url, struct seen_error *why);

/* A filter, or a list, that nothing comes of. */
void work_refuse(struct work *w, const char *url, const char *name,
                 const struct seen_error *why);
void work_unread(struct work *w, const char *url,
                 const struct seen_error *why);

/* In words: "answers 404, not found". SEEN_IO if it may be better in a
   while, else SEEN_UNABLE. */
enum seen_code work_status(int status, struct seen_error *why);

#endif
