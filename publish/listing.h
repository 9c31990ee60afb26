/*
 * listing.h - one list, in as many files as it takes.
 *
 * A sitemap may have 50,000 URLs and 50 MB. A longer list is written as
 * several files, sitemap-1.xml, sitemap-2.xml, ..., and sitemap.xml becomes a
 * list of those. Files whose content has not changed are not touched, so that
 * their date and ETag stay the same; the file that names the others is
 * written last.
 *
 * Threads: one writer per folder, by the folder's lock.
 */
#ifndef SEEN_PUBLISH_LISTING_H
#define SEEN_PUBLISH_LISTING_H

#include "sitemap.h"

enum { PUBLISH_LISTING_URLS = 50000, PUBLISH_LISTING_BYTES = 50000000 };

/* In the first lines of each file that is ours to replace. */
#define PUBLISH_MARK "Written by seen publish; changes to it are lost."

struct publish_listing {
    const char *folder;
    const char *name;            /* "sitemap" */
    bool bare;                   /* the file has no suffix .xml */
    struct publish_sitemap head; /* `whole`, `index`, `from` are set here */
    /* If each part has a time: that of its first entry, or `from`. */
    int64_t (*since)(const void *whose, size_t i);
    int64_t from;
    size_t entries;
    void (*print)(struct buffer *to, const void *whose, size_t i);
    int64_t (*lastmod)(const void *whose, size_t i); /* may be NULL */
    const void *whose;
    size_t most_urls, most_bytes; /* 0: those of a sitemap */
};

/* Fails as publish_listing_check() does for each file that would be replaced.
   *parts: how many files besides the first, 0 if there is only one. *changed:
   the number of files that were written is added to it. */
enum seen_code publish_listing_write(const struct publish_listing *l,
                                     unsigned *parts, size_t *changed,
                                     struct seen_error *why);

/* SEEN_MISMATCH if the file at this path is not one of ours, another code if
   it cannot be read; SEEN_OK if there is no file. */
enum seen_code publish_listing_check(const char *path, struct seen_error *why);

#endif
