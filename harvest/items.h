/*
 * items.h - what a round has heard of: sources, and the filters they name.
 *
 * All of it has a budget, since others decide how much they name: what is
 * beyond it is not held, and that is told. Filters are found by their address
 * in balanced trees, which no choice of addresses makes slow.
 */
#ifndef SEEN_HARVEST_ITEMS_H
#define SEEN_HARVEST_ITEMS_H

#include "sitemap.h"

/* A full sitemap, of 50,000 filters with addresses of ordinary length, fits
   into half of the budget. */
enum { ITEMS_BUDGET = 36 << 20, CHAIN_MOST = 64 };

/*
 * An address as it was asked for, or as a registry gives it: whose filters
 * they are. Withdrawn is what it no longer names, if all of it was read.
 *
 *     asked for ──> a registry ──> a ──> a's lists and filters
 *                              └─> b, a registry ──> c ──> ...
 *                                                └─> d ──> ...
 *
 * What there is for all, from memory to time, is shared out among parties.
 * The one who asks trusts a list to name a and b, so each of them is a party
 * of its own; whatever b leads to is b's, however many sources it names.
 */
struct source {
    struct source *next;
    struct source *party;   /* itself, or whose it is */
    const char *root;       /* the address that led to it */
    unsigned faults, lists; /* that it led to */
    bool registry;          /* leads to other sources only */
    bool shared;            /* some of its lists were read for another */

    /* of a party: */
    unsigned number; /* in the order in which they were named */
    unsigned active; /* requests under way */
    unsigned named;  /* sources, by its registries, ... */
    unsigned led_to; /* ... and lists */
    uint32_t items;
    uint64_t spent; /* of the budget */
    uint64_t bytes; /* of its lists */
    double reading; /* seconds that its lists took */
    double lost;    /* seconds that went into what failed */
    char url[];
};

/* A patch on the way from the version that we have to the announced one. */
struct patch {
    struct patch *next;
    struct hash hash;
    uint64_t length;
    char url[];
};

/* From the version that we have, towards the announced one. */
struct chain {
    struct hash have, reached;
    struct patch *first;
    unsigned links;
    uint64_t bytes;
};

enum plan { PLAN_NONE, PLAN_NEW, PLAN_UPDATE };

struct item {
    struct item *next;
    struct source *source;
    struct chain *chain; /* if our version can be patched, or NULL */
    uint64_t length;
    uint32_t turn;    /* how many of its party came before it */
    struct hash hash; /* announced */
    unsigned char plan;
    bool own : 1; /* announced by a list of its own host */
    bool begun : 1;
    bool ask : 1; /* whether it changed, which nobody announces */
    char lastmod[40];
    char url[];
};

struct items {
    struct item *first, **last;
    size_t n;
    void *by_url, *by_name, *read, *by_source, *failing; /* trees */
    struct source *sources;
    unsigned parties;
    uint64_t spent;
};

void items_init(struct items *s);
void items_clear(struct items *s);

/* Take from the budget; false if there is not so much left. */
bool items_spend(struct items *s, size_t bytes);

/*
 * The source of this address, which is made if there is none: *fresh. `party`
 * is whose it is, or NULL: its own. NULL if memory or budget are exhausted.
 */
struct source *items_source(struct items *s, const char *url, const char *root,
                            struct source *party, bool *fresh);
struct source *items_find_source(const struct items *s, const char *url,
                                 const char *root);

/*
 * Remember a filter that the list at `list` announces. A list of the filter's
 * own host is believed more than others, lest they spoil its announcement. If
 * others contradict each other, none of them is: its server is asked. One
 * source is believed what it says first. SEEN_NOMEM if memory or budget are
 * exhausted; one of several parties can have half of what the others left.
 */
enum seen_code items_add(struct items *s, struct source *source,
                         const char *list, const char *url,
                         const char *lastmod, const struct hash *hash,
                         uint64_t length, struct seen_error *why);

/* Prepare for patches of the version that we have. */
enum seen_code items_have(struct items *s, struct item *i,
                          const struct hash *have, struct seen_error *why);

/*
 * Put them in the order in which they are taken: one of each party after the
 * other, so that one with many, or with slow ones, keeps nobody waiting.
 */
enum seen_code items_order(struct items *s, struct seen_error *why);
struct item *items_find(const struct items *s, const char *url);

/* Is this the first time? Of lists that are read, so that none is twice. If
   it was read for another source, ours is shared. */
enum seen_code items_first_visit(struct items *s, struct source *source,
                                 const char *url, bool *first,
                                 struct seen_error *why);

/*
 * How often in a row the host of this address failed: for this party, or,
 * with NULL, without any answer at all, whoever asked. It is noted with
 * items_failed(), and forgotten with items_worked().
 */
unsigned items_failures(const struct items *s, const struct source *party,
                        const char *url);
void items_failed(struct items *s, const struct source *party,
                  const char *url);
void items_worked(struct items *s, const struct source *party,
                  const char *url);

/*
 * A name was announced: by `owner`, or, if that is NULL, by one who cannot
 * have it. *taken is another item that has it, or NULL. An item has one name.
 */
enum seen_code items_name(struct items *s, const char *name,
                          const struct item *owner, const struct item **taken,
                          struct seen_error *why);

/* Was a file of this name announced, whatever became of it? */
bool items_named(const struct items *s, const char *name);

/* An entry of a change list, in its order: does the chain go on? */
enum seen_code items_change(struct items *s, const struct sitemap_entry *e,
                            struct seen_error *why);

#endif
