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

enum {
    ITEMS_BUDGET = 16 << 20,
    CHAIN_MOST = 64,
    SOURCE_FAILURES = 3 /* in a row; then the next round may try again */
};

/* An address as it was asked for, or as a registry gives it: whose filters
   they are. Withdrawn is what it no longer names, if all of it was read. */
struct source {
    struct source *next;
    const char *root;       /* the address that led to it */
    unsigned number;        /* in the order in which they were named */
    unsigned faults, lists; /* that it led to */
    unsigned active;        /* its requests under way */
    unsigned failures;      /* of its servers, in a row */
    uint64_t items, spent;  /* of the budget, which is not for one alone */
    bool registry;          /* leads to other sources only */
    char url[];
};

/* A patch on the way from the version that we have to the announced one. */
struct patch {
    struct patch *next;
    struct hash hash;
    uint64_t length;
    char url[];
};

enum plan { PLAN_NONE, PLAN_NEW, PLAN_UPDATE };

struct item {
    struct item *next;
    struct source *source;
    uint64_t turn;    /* how many of its source came before it */
    bool own;         /* announced by a list of its own host */
    struct hash hash; /* announced */
    uint64_t length;
    enum plan plan;
    bool begun;
    bool ask;             /* whether it changed, which nobody announces */
    struct hash have;     /* of our version, if it can be patched */
    struct patch *chain;  /* patches that lead from it ... */
    unsigned links;       /* ... so many ... */
    uint64_t chain_bytes; /* ... and large ... */
    struct hash reached;  /* ... to here */
    char lastmod[40];
    char url[];
};

struct items {
    struct item *first, **last;
    size_t n;
    void *by_url, *by_name, *read; /* trees */
    struct source *sources;
    uint64_t spent;
};

void items_init(struct items *s);
void items_clear(struct items *s);

/* Take from the budget; false if there is not so much left. */
bool items_spend(struct items *s, size_t bytes);

/* The source of this address, which is made if there is none; NULL if there
   is no memory. */
struct source *items_source(struct items *s, const char *url,
                            const char *root);

/*
 * Remember a filter that the list at `list` announces. A list of the filter's
 * own host is believed more than others, lest they spoil its announcement,
 * and otherwise the first. SEEN_NOMEM if memory or budget are exhausted; one
 * of several sources can have half of the budget.
 */
enum seen_code items_add(struct items *s, struct source *source,
                         const char *list, const char *url,
                         const char *lastmod, const struct hash *hash,
                         uint64_t length, struct seen_error *why);
/*
 * Put them in the order in which they are taken: one of each source after the
 * other, so that a source with many, or with slow ones, keeps nobody waiting.
 */
enum seen_code items_order(struct items *s, struct seen_error *why);
struct item *items_find(const struct items *s, const char *url);

/* Is this the first time? Of lists that are read, so that none is twice. */
enum seen_code items_first_visit(struct items *s, const char *url, bool *first,
                                 struct seen_error *why);

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
