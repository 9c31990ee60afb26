/*
 * catalog.h - what a round has found: publishers, sources, lists, filters.
 *
 *     asked for ──> a registry ──> a ──> a's lists and filters
 *                              └─> b, a registry ──> c ──> ...
 *                                                └─> d ──> ...
 *
 * A source is a URL that was asked for, or that a registry has. Each URL that
 * was asked for, and each line of a registry that was asked for, is a
 * publisher: here a and b. Everything that b leads to belongs to b, however
 * many sources b names.
 *
 * Others decide how much they announce. So each resource of a round has a
 * limit, and a smaller one for each publisher, so that none of them can use
 * up what is there for all:
 */
#ifndef SEEN_HARVEST_CATALOG_H
#define SEEN_HARVEST_CATALOG_H

#include "../fetch/host_queue.h"
#include "hash.h"
#include "url.h"

enum {
    /* bytes of memory; a publisher can have half of what others left. The
       50,000 filters of a full sitemap fit into half */
    HARVEST_MEMORY = 36 << 20,

    HARVEST_PUBLISHERS = 1000,

    /* lists, */
    HARVEST_LISTS = 10000,
    HARVEST_PUBLISHER_LISTS = 500,

    /* bytes of them, unpacked, */
    HARVEST_BYTES = 1 << 30,
    HARVEST_PUBLISHER_BYTES = 256 << 20,
    HARVEST_LIST_BYTES = 50 << 20,

    /* and time for them, in units of harvest_options.patience, a minute; a
       publisher has as much again for filters that fail */
    HARVEST_TIME = 30,
    HARVEST_PUBLISHER_TIME = 10,

    /* lists lead to lists, registries to registries; patches of one filter */
    HARVEST_DEPTH = 5,
    HARVEST_REGISTRIES = 3,
    HARVEST_PATCHES = 64
};

struct harvest_publisher {
    struct harvest_publisher *next; /* in a ring */
    struct fetch_host_queue queue;  /* lists, later filters, to fetch */
    unsigned number;                /* from 1 */
    unsigned lists;
    uint64_t bytes;    /* of its lists */
    uint64_t memory;
    double seconds;    /* for its lists, or for filters that failed */
    struct harvest_item *first, *last; /* its filters, as they were found */
};

/* Filters that a source no longer has are withdrawn, if it was read in
   full. */
struct harvest_source {
    struct harvest_source *next;
    struct harvest_publisher *publisher;
    const char *root; /* the URL asked for that led to it */
    unsigned faults;
    bool registry; /* it only leads to other sources */
    bool shared;   /* some of its lists were read for another source */
    size_t len;    /* of its key: url, root */
    char url[];
};

struct harvest_patch {
    struct harvest_patch *next;
    struct harvest_hash hash;
    uint64_t length;
    char url[];
};

/* Patches from our version towards the announced one. */
struct harvest_chain {
    struct harvest_hash have, reached;
    struct harvest_patch *first;
    unsigned links;
    uint64_t bytes;
};

enum harvest_plan { HARVEST_SKIP, HARVEST_FETCH, HARVEST_UPDATE };

struct harvest_item {
    struct fetch_queued queued; /* first: the queue leads to it */
    struct harvest_item *next;
    struct harvest_source *source;
    struct harvest_chain *chain; /* if our version can be patched, or NULL */
    uint64_t length;             /* announced, or UINT64_MAX */
    struct harvest_hash hash;    /* announced */
    unsigned char plan;
    bool own : 1;   /* announced by a list of its own host */
    bool ask : 1;   /* its server whether it changed */
    bool named : 1; /* it has its name */
    bool text : 1;  /* it may be a text that is converted: form.h */
    char lastmod[28];
    char url[]; /* the URL, a zero, and the name with its zero */
};

struct harvest_catalog {
    struct harvest_item *first; /* of all, after harvest_catalog_sort() */
    size_t n;
    struct map items, sources, lists;
    struct harvest_item **by_name; /* sorted; see harvest_catalog_sort() */
    size_t names;
    struct harvest_source *first_source;
    struct harvest_publisher *publisher; /* whose turn it is */
    unsigned publishers, parallel;
    unsigned active; /* requests, of all publishers */
    uint64_t memory;
};

/* `parallel` requests may be active at a time. */
void harvest_catalog_init(struct harvest_catalog *c, unsigned parallel);
void harvest_catalog_clear(struct harvest_catalog *c);

/* Count memory that is about to be allocated; false if there is not enough. */
bool harvest_catalog_spend(struct harvest_catalog *c, size_t bytes);

/*
 * The source of this URL, which is made if there is none: *fresh. Without a
 * publisher it is one itself. SEEN_RANGE or SEEN_NOMEM if there are too many.
 */
enum seen_code harvest_catalog_source(struct harvest_catalog *c,
                                      struct harvest_source **out,
                                      const char *url, const char *root,
                                      struct harvest_publisher *publisher,
                                      bool *fresh, struct seen_error *why);
struct harvest_source *harvest_catalog_find_source(
    const struct harvest_catalog *c, const char *url, const char *root);

/* What a list says about a filter. */
struct harvest_announcement {
    const char *list; /* its URL */
    const char *url;
    const char *name; /* of the file; "" if it cannot have one */
    struct seen_span lastmod;
    struct harvest_hash hash;
    uint64_t length; /* UINT64_MAX if it is not known */
    bool text;       /* it may be one that is converted */
};

/*
 * Note a filter. A list of the filter's own host counts more than others, so
 * that they cannot spoil its announcement. If others contradict each other,
 * none counts, and the filter's server is asked. Of one source the first
 * announcement counts. SEEN_NOMEM if there is no memory left for it.
 */
enum seen_code harvest_catalog_add(struct harvest_catalog *c,
                                   struct harvest_source *source,
                                   const struct harvest_announcement *a,
                                   struct seen_error *why);
struct harvest_item *harvest_catalog_find(const struct harvest_catalog *c,
                                          const char *url);

/*
 * The same filter in a form that is preferred to this one: haw.seen to
 * haw.csv, and that to haw.json, at one place, announced by one publisher.
 * NULL if there is none.
 */
const struct harvest_item *harvest_catalog_better(
    const struct harvest_catalog *c, const struct harvest_item *i);

/* Is this list new in this round? If it was read for another source, ours is
   shared. */
enum seen_code harvest_catalog_visit(struct harvest_catalog *c,
                                     struct harvest_source *source,
                                     const char *url, bool *first,
                                     struct seen_error *why);

/* The name of an item's file; "" if it cannot have one. */
const char *harvest_item_name(const struct harvest_item *i);

/*
 * All items were added: put them in the order of their publishers, so that it
 * does not depend on which list was read first; and sort their names, which
 * takes less memory than a map. SEEN_NOMEM.
 */
enum seen_code harvest_catalog_sort(struct harvest_catalog *c,
                                    struct seen_error *why);

/* Claim its name for an item. Returns another item that has it, or NULL. */
const struct harvest_item *harvest_catalog_claim(struct harvest_catalog *c,
                                                 struct harvest_item *i);

/* Was a file of this name announced, whatever became of it? */
bool harvest_catalog_named(const struct harvest_catalog *c, const char *name);

/* Prepare for patches of our version. */
enum seen_code harvest_catalog_have(struct harvest_catalog *c,
                                    struct harvest_item *i,
                                    const struct harvest_hash *have,
                                    struct seen_error *why);

/* An entry of a change list, in its order: the next version of the filter at
   `url`, and the patch that leads to it, whose url is "" if there is none. */
enum seen_code harvest_catalog_change(struct harvest_catalog *c,
                                      const char *url,
                                      const struct harvest_hash *hash,
                                      const char *patch,
                                      const struct harvest_hash *patch_hash,
                                      uint64_t patch_length,
                                      struct seen_error *why);

/*
 * Queue something to fetch at `url` for a publisher; it is not next before
 * clock_ms() is `due`. Publishers take turns, and the hosts of each publisher
 * do. If there are several publishers, each has at most half of all requests;
 * with `in_order` one. harvest_catalog_done() is called for each that was
 * next.
 */
bool harvest_catalog_queue(struct harvest_publisher *p, struct fetch_queued *e,
                           const char *url, uint64_t due);
struct fetch_queued *harvest_catalog_next(struct harvest_catalog *c,
                                          bool in_order);
void harvest_catalog_done(struct harvest_catalog *c,
                          struct harvest_publisher *p, struct fetch_queued *e);

#endif
