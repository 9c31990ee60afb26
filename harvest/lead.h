/*
 * lead.h - addresses that should be lists, on their way through discover.c
 * (which queues them) and reading.c (which reads one).
 */
#ifndef SEEN_HARVEST_LEAD_H
#define SEEN_HARVEST_LEAD_H

#include "discover.h"

enum { SITE_STEPS = 5, LEAD_TRIES = 3 };

enum lead_kind {
    LEAD_ANY,     /* as a person or a registry gave it */
    LEAD_SITEMAP, /* a sitemap, or a list of ResourceSync */
    LEAD_ROBOTS,  /* robots.txt */
    LEAD_CHANGES  /* a change list, or what leads to one */
};

/* A site is tried step by step until a step led to a filter. */
struct site {
    struct site *next;
    struct source *source;
    unsigned registries, step, pending;
    uint64_t found;
    bool answered;  /* a list of filters was read, though it has none */
    bool elsewhere; /* it is looked at for another source */
    bool ended;
    struct seen_error fault; /* what was wrong with a step, if anything was */
    char url[];
};

struct lead {
    struct lead *next;
    enum lead_kind kind;
    struct source *source;
    struct site *site;          /* that it is a step of, or NULL */
    unsigned depth, registries; /* how deep we are in lists and registries */
    bool from_index;
    bool probe; /* that there is nothing is no fault */
    unsigned tries;
    double wake; /* not before */
    char url[];
};

struct reading;

struct discover {
    struct work *work;
    struct lead *first, **last, *later, **later_last;
    struct site *sites;
    struct reading *reading; /* those under way */
    unsigned active, leads, named, put_off;
    bool in_order; /* of a source, one list after the other */
    double until;  /* when the time for lists is over */
    uint64_t bytes;
};

/* Queue what a list names, in the way of `like`; once. */
enum seen_code lead_follow(struct discover *d, const struct lead *like,
                           const char *url, struct seen_error *why);
void lead_put_off(struct discover *d, const struct lead *like,
                  const char *url);

/* What the registry of `from` names; or, with NULL, an address asked for. */
enum seen_code lead_any(struct discover *d, const char *url, const char *root,
                        const struct lead *from, struct seen_error *why);

/* Queue it once more, for then. */
void lead_again(struct discover *d, struct lead *l, double wake);

/* The end of a lead, which is freed. */
void lead_done(struct discover *d, struct lead *l);
void lead_failed(struct discover *d, struct lead *l,
                 const struct seen_error *why);

struct site *site_new(struct discover *d, const struct lead *l,
                      const char *url);
void site_advance(struct discover *d, struct site *s);

/* Read a lead, which then belongs to the reading; not on failure. */
enum seen_code reading_start(struct discover *d, struct lead *l,
                             struct seen_error *why);

/* Give up those that come too slowly, or take too long. */
void reading_hurry(struct discover *d);

#endif
