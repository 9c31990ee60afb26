/*
 * listing.h - lists of ResourceSync, which are sitemaps too.
 *
 * A sitemap may have 50,000 URLs and 50 MB. A longer list is written as
 * several files, sitemap-1.xml, sitemap-2.xml, ..., and sitemap.xml becomes a
 * list of those. Files whose content is as it was are left alone (sheet.h);
 * the one that names the others is written last.
 *
 * Threads: one writer a folder.
 */
#ifndef SEEN_PUBLISH_LISTING_H
#define SEEN_PUBLISH_LISTING_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <seen/error.h>

enum { LISTING_URLS = 50000, LISTING_BYTES = 50000000 };

struct listing {
    const char *folder, *base; /* where it is, and where on the web */
    const char *name;          /* "sitemap" */
    bool bare;                 /* the file has no .xml behind it */
    const char *up;            /* the list above it, "capabilitylist.xml" */
    const char *about;         /* attributes of its rs:md */
    int64_t from;              /* its time, if each part has one: that of */
    int64_t (*since)(const void *whose, size_t i); /* its first entry */
    size_t entries;
    void (*print)(FILE *to, const void *whose, size_t i);
    int64_t (*lastmod)(const void *whose, size_t i); /* may be NULL */
    const void *whose;
    size_t most_urls, most_bytes; /* 0: those of a sitemap */
};

/* As listing_check() says for each file that would be replaced. *parts: how
   many files besides the first, 0 if that is all. *changed: how many files
   were written; it is added to. */
enum seen_code listing_write(const struct listing *l, unsigned *parts,
                             size_t *changed, struct seen_error *why);

/* SEEN_MISMATCH if the file at this path is not one of ours, and a reason of
   its own if that cannot be told; SEEN_OK if nothing is there. */
enum seen_code listing_check(const char *path, struct seen_error *why);

#endif
