/*
 * registry.h - lists of URLs in plain text, one per line, as the bytes come.
 *
 *     # Archives of the Adriatic            Sitemap: https://a.example/s.xml
 *     https://haw.nsk.hr/bloom-filter/      User-agent: *
 *     https://b.example/sitemap.xml         Disallow: /private
 *
 * A registry is a list that anyone can keep: each line is a sitemap, a site
 * or another registry; "#" begins a comment. A robots.txt has other lines,
 * too; only those that begin with "Sitemap:" count.
 *
 * Lines end in LF, CR LF or CR; a byte order mark at the beginning is
 * ignored. Only the current line is in memory.
 *
 * Threads: a list belongs to one thread at a time.
 */
#ifndef SEEN_HARVEST_REGISTRY_H
#define SEEN_HARVEST_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seen/error.h>

#include "url.h"

enum {
    REGISTRY_FAULTS = 20,     /* bad lines; then it is not a list */
    REGISTRY_ROBOTS = 500 << 10 /* bytes of a robots.txt, as in RFC 9309 */
};

struct registry {
    bool robots;

    /* `url` is canonical, or NULL if the line is bad, with the `fault`. Any
       code but SEEN_OK ends the reading with it. */
    enum seen_code (*handle)(void *owner, const char *url, uint64_t line,
                             const struct seen_error *fault,
                             struct seen_error *why);
    void *owner;

    /* Its own. Begin with zeros. */
    uint64_t line, bytes;
    unsigned faults;
    bool returned, long_line;
    size_t len;
    char text[HARVEST_URL + 256];
};

/*
 * The next bytes, and the end. SEEN_CORRUPT if it is not a list: it has zero
 * bytes, or too many bad lines. Of a robots.txt only REGISTRY_ROBOTS bytes
 * are read: then *enough is set, unless NULL.
 */
enum seen_code registry_push(struct registry *r, const void *bytes, size_t n,
                             bool *enough, struct seen_error *why);
enum seen_code registry_end(struct registry *r, struct seen_error *why);

#endif
