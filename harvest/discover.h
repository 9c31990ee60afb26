/*
 * discover.h - from an address to the filters that are announced there.
 *
 *     a registry ──> sites, sitemaps, registries
 *     a site ──> .well-known/resourcesync, sitemap.xml, and of its host:
 *                robots.txt, .well-known/resourcesync, sitemap.xml;
 *                the first that leads to a filter
 *     a description ──> capability lists ──> resource lists
 *     a sitemap index ──> sitemaps
 *     a sitemap, a resource list ──> filters
 *     a filter ──> itself
 *
 * What an address is, is told by what comes, not by its name. Bounds: depth,
 * the number of lists and of their bytes, and the budget of items.h. No list
 * is read twice in a round, so loops end where they close.
 */
#ifndef SEEN_HARVEST_DISCOVER_H
#define SEEN_HARVEST_DISCOVER_H

#include "work.h"

enum {
    DISCOVER_LISTS = 10000,
    DISCOVER_NAMED = 1000,     /* addresses in registries, of one source */
    DISCOVER_OTHERS = 250,     /* and in registries that registries name */
    DISCOVER_SOURCE = 250,     /* lists of each source, */
    DISCOVER_PARTY = 500,      /* and of each party; see items.h */
    DISCOVER_LIST = 50 << 20,  /* bytes of one, unpacked, */
    DISCOVER_MUCH = 256 << 20, /* of those of a party, */
    DISCOVER_ALL = 1 << 30,    /* and of all */
    DISCOVER_DEPTH = 5,        /* description, capabilities, index, ... */
    DISCOVER_REGISTRIES = 3    /* that name each other */
};

struct discover;

enum seen_code discover_new(struct discover **out, struct work *w,
                            struct seen_error *why);
void discover_free(struct discover *d);

/* Begin with an address, which is canonical and outlives the round. */
enum seen_code discover_add(struct discover *d, const char *root,
                            struct seen_error *why);

/* Read lists until there are no more, or time is over. Faults of lists are
   told as they come and counted in their source; what was not read in time
   is a fault, too. */
void discover_run(struct discover *d);

/*
 * Then, if some items have a version that could be patched: read the change
 * lists that were named on the way, which fills their chains. What goes
 * wrong here is not told: the whole file is fetched then.
 */
void discover_changes(struct discover *d);

#endif
