/*
 * sitemap.h - lists of ResourceSync, which are sitemaps too, as XML.
 *
 * All functions append to a buffer, so that `seen publish`, which writes files,
 * and `seen serve`, which sends replies, use the same code.
 *
 *     struct publish_sitemap list = { .base = "https://haw.nsk.hr/",
 *                                     .up = "capabilitylist.xml",
 *                                     .capability = "resourcelist" };
 *
 *     publish_sitemap_begin(&b, &list);
 *     publish_sitemap_entry(&b, &entry);              for each file
 *     publish_sitemap_element(&b, "dc:title", title);
 *     publish_sitemap_entry_end(&b, &entry);
 *     publish_sitemap_end(&b, &list);
 *
 * Texts may be any bytes: titles come from filters that anyone may have made.
 * Characters that XML 1.0 does not have become U+FFFD. As with all buffers,
 * b->failed reports lack of memory at the end.
 *
 * Threads: plain functions of their arguments.
 */
#ifndef SEEN_PUBLISH_SITEMAP_H
#define SEEN_PUBLISH_SITEMAP_H

#include <seen/share.h>

#include "../lib/text/buffer.h"

#define PUBLISH_FILTER_TYPE "application/vnd.seen"
#define PUBLISH_DELTA_TYPE "application/vnd.seen-delta"
#define PUBLISH_TEXT_TYPE "text/csv"

/* All pointers may be NULL, except `base` and `capability`. */
struct publish_sitemap {
    bool index;             /* a list of lists: <sitemapindex> */
    const char *comment;    /* before the list */
    const char *base;       /* URL that `up` and `whole` are relative to */
    const char *up;         /* the list above this one */
    const char *whole;      /* the index of lists that this one belongs to */
    const char *capability; /* "resourcelist", "changelist", ... */
    const int64_t *at;      /* when it was complete, in seconds */
    const int64_t *from;    /* since when it has all changes */
};

void publish_sitemap_begin(struct buffer *b, const struct publish_sitemap *s);
void publish_sitemap_end(struct buffer *b, const struct publish_sitemap *s);

/* A file as lists describe it. */
struct publish_sitemap_file {
    const unsigned char *digest; /* SHA-256, SEEN_DIGEST bytes; or NULL */
    uint64_t length;
    const char *type;
};

/* All pointers may be NULL, except `base` and `path`. */
struct publish_sitemap_entry {
    bool part;               /* of an index: <sitemap>, not <url> */
    const char *base, *path; /* its URL: see publish_sitemap_url() */
    const int64_t *lastmod;
    const char *capability; /* of an entry that is a list itself */
    const int64_t *from;    /* the time of that list */
    const char *change;     /* "created", "updated" or "deleted" */
    const int64_t *when;    /* the time of that change */
    const struct publish_sitemap_file *file;
};

void publish_sitemap_entry(struct buffer *b,
                           const struct publish_sitemap_entry *e);
void publish_sitemap_entry_end(struct buffer *b,
                               const struct publish_sitemap_entry *e);
/* A file that belongs to the entry: its text form, or a delta. `path` may be
   NULL if there was no memory for it: then the buffer has failed. */
void publish_sitemap_link(struct buffer *b, const char *rel, const char *base,
                          const char *path,
                          const struct publish_sitemap_file *file);
/* <name>text</name> on a line of its own; nothing for NULL. */
void publish_sitemap_element(struct buffer *b, const char *name,
                             const char *text);

/* Text between tags or within double quotes. */
void publish_sitemap_text(struct buffer *b, const char *text);

/* The same of a URL: `base` and a relative path of bytes, in which all but
   letters, digits, slashes and -._~ is written like %20. */
void publish_sitemap_url(struct buffer *b, const char *base, const char *path);

/* Seconds since 1970 as 2026-11-16T03:00:00Z. */
enum { PUBLISH_TIME = 32 };
void publish_sitemap_time(char text[PUBLISH_TIME], int64_t seconds);

#endif
