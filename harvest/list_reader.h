/*
 * list_reader.h - one list, between lists.c, which queues it, and
 * list_reader.c, which reads it and hands back what it names.
 */
#ifndef SEEN_HARVEST_LIST_READER_H
#define SEEN_HARVEST_LIST_READER_H

#include "lists.h"

enum harvest_list_kind {
    HARVEST_LIST_ANY,     /* as a person or a registry gave it */
    HARVEST_LIST_SITEMAP, /* a sitemap, or a list of ResourceSync */
    HARVEST_LIST_ROBOTS,  /* robots.txt */
    HARVEST_LIST_CHANGES  /* a change list, or one that leads to it */
};

/* A site is tried step by step until a step leads to a filter. */
enum { HARVEST_SITE_STEPS = 5 };

struct harvest_site {
    struct harvest_site *next;
    struct harvest_source *source;
    unsigned registries, step;
    unsigned pending; /* lists of this step */
    uint64_t found;   /* filters */
    bool answered;    /* a list of filters was read, though it is empty */
    bool elsewhere;   /* it is read for another source */
    bool ended;
    struct seen_error fault; /* of a step, if any */
    char url[];
};

struct harvest_list {
    struct fetch_queued queued; /* first: the queue leads to it */
    struct harvest_list *next;  /* while it is put off */
    enum harvest_list_kind kind;
    struct harvest_source *source;
    struct harvest_site *site;  /* that it is a step of, or NULL */
    unsigned depth, registries; /* of lists and registries above it */
    bool from_index;
    bool probe; /* it need not exist */
    struct fetch_retry retry;
    char url[];
};

struct harvest_lists {
    struct harvest_round *round;
    struct harvest_list *changes, **changes_last; /* put off */
    struct harvest_site *sites;
    unsigned count;   /* lists that were found */
    unsigned waiting; /* of them, not yet read */
    unsigned put_off;
    double until; /* when the time for lists is over */
    uint64_t bytes;
};

/* Queue a list that another one names, unless it was before. `like` has
   everything but the URL. */
enum seen_code harvest_list_follow(struct harvest_lists *l,
                                   const struct harvest_list *like,
                                   const char *url, struct seen_error *why);

/* Remember a change list that `from` names. */
void harvest_list_put_off(struct harvest_lists *l,
                          const struct harvest_list *from, const char *url);

/* Follow a URL of the registry `from`, or, with NULL, one that was asked
   for. */
enum seen_code harvest_list_name(struct harvest_lists *l, const char *url,
                                 const char *root,
                                 const struct harvest_list *from,
                                 struct seen_error *why);

/* Note a filter. */
enum seen_code harvest_list_found(struct harvest_lists *l,
                                  const struct harvest_list *in,
                                  struct harvest_announcement *a,
                                  struct seen_error *why);

/* The end of a list, which is freed: again later, read, or failed. */
void harvest_list_again(struct harvest_lists *l, struct harvest_list *it,
                        uint64_t due);
void harvest_list_done(struct harvest_lists *l, struct harvest_list *it);
void harvest_list_failed(struct harvest_lists *l, struct harvest_list *it,
                         const struct seen_error *why);

/* Look for lists of the site at `url`, as a step of `in`. NULL: no memory. */
struct harvest_site *harvest_site_new(struct harvest_lists *l,
                                      const struct harvest_list *in,
                                      const char *url);
void harvest_site_advance(struct harvest_lists *l, struct harvest_site *s);

/* Read a list, which then belongs to the reader; not on failure. */
enum seen_code harvest_list_read(struct harvest_lists *l,
                                 struct harvest_list *it,
                                 struct seen_error *why);

#endif
