/*
 * lists.h - from a URL to the filters that are announced there.
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
 * The content decides what a URL is, not its name. The limits are in
 * catalog.h. No list is read twice in a round, so loops end where they close.
 */
#ifndef SEEN_HARVEST_LISTS_H
#define SEEN_HARVEST_LISTS_H

#include "round.h"

struct harvest_lists;

enum seen_code harvest_lists_new(struct harvest_lists **out,
                                 struct harvest_round *r,
                                 struct seen_error *why);

/* All requests must have ended: free the client first. */
void harvest_lists_free(struct harvest_lists *l);

/* Begin with a URL, which is canonical and outlives the round. */
enum seen_code harvest_lists_add(struct harvest_lists *l, const char *root,
                                 struct seen_error *why);

/* Read lists until there are no more, or time is over. Faults of lists are
   reported at once and counted in their source; so are lists that were not
   read in time. */
void harvest_lists_read(struct harvest_lists *l);

/*
 * Then, if our version of some items could be patched: read the change lists
 * that were found, which fills the items' chains. Faults are not reported:
 * without a chain the whole file is fetched.
 */
void harvest_lists_read_changes(struct harvest_lists *l);

#endif
