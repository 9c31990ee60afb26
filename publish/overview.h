/*
 * overview.h - a registry: which archives publish filters, and where.
 *
 * "Value-added services such as registries that provide an overview of hosts
 * and locations are conceivable", says the archives report. This one is two
 * files in a folder:
 *
 *     registry.html   for people: per host its places and filters
 *     registry.txt    for seen harvest: a place per line
 *
 * A place is a URL that leads to filters: a site, a sitemap, a registry or a
 * filter. What is known about the filters comes from the caller, who has
 * harvested or published them; a place may be without.
 *
 *     publish_overview_place(o, "https://haw.nsk.hr/", "Croatia", &why);
 *     publish_overview_filter(o, "https://haw.nsk.hr/", &filter, &why);
 *     code = publish_overview_write(o, "/srv/registry", &changed, &why);
 *
 * Threads: an overview belongs to one thread at a time.
 */
#ifndef SEEN_PUBLISH_OVERVIEW_H
#define SEEN_PUBLISH_OVERVIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seen/error.h>

/* Texts may be of anyone, and are NULL or "" if they are not known. */
struct publish_overview_filter {
    const char *url; /* http or https, canonical */
    const char *name, *title, *holder, *as_of, *changed;
    double entries;  /* below 0: not known */
    uint64_t length; /* 0: not known */
};

struct publish_overview_counts {
    size_t hosts, places, filters;
    size_t changed; /* files that were written */
};

struct publish_overview;

/* NULL without memory. */
struct publish_overview *publish_overview_new(void);
void publish_overview_free(struct publish_overview *o);

/* Add a place, unless it is there; texts are copied. The first note that is
   not empty counts. SEEN_NOMEM. */
enum seen_code publish_overview_place(struct publish_overview *o,
                                      const char *url, const char *note,
                                      struct seen_error *why);

/* Add a filter that is announced at `place`. If it is on another host, it is
   a place there, too. */
enum seen_code publish_overview_filter(
    struct publish_overview *o, const char *place,
    const struct publish_overview_filter *filter, struct seen_error *why);

/*
 * Write both files, each in one step; files that would not change are not
 * touched. SEEN_MISMATCH if one exists that is not ours, with its name before
 * the reason; then neither is written. `counts` may be NULL.
 */
enum seen_code publish_overview_write(struct publish_overview *o,
                                      const char *folder, bool dry,
                                      struct publish_overview_counts *counts,
                                      struct seen_error *why);

#endif
