/*
 * registry.h - lists of addresses in plain text, a line each, as they come.
 *
 *     # Archives of the Adriatic            Sitemap: https://a.example/s.xml
 *     https://haw.nsk.hr/bloom-filter/      User-agent: *
 *     https://b.example/sitemap.xml         Disallow: /private
 *
 * A registry is a list that anyone can keep: each line is a sitemap, a site
 * or another registry; "#" begins a comment. A robots.txt has other lines,
 * too, and only those that begin with "Sitemap:" count.
 *
 * Lines end in LF, CR LF or CR; a byte order mark at the beginning is
 * ignored. Nothing but the line under way is held.
 *
 * Threads: a list belongs to one at a time.
 */
#ifndef SEEN_HARVEST_REGISTRY_H
#define SEEN_HARVEST_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seen/error.h>

#include "address.h"

enum {
    REGISTRY_FAULTS = 20,   /* bad lines; then the list is none */
    ROBOTS_MOST = 500 << 10 /* bytes of a robots.txt, as RFC 9309 allows */
};

struct registry {
    bool robots;

    /* `url` is canonical, or NULL if the line is at fault, in words.
       Another code than SEEN_OK ends the reading with it. */
    enum seen_code (*take)(void *owner, const char *url, uint64_t line,
                           const struct seen_error *fault,
                           struct seen_error *why);
    void *owner;

    /* Its own. Begin with zeros. */
    uint64_t line, bytes;
    unsigned faults;
    bool returned, long_line;
    size_t len;
    char text[ADDRESS_MOST + 256];
};

/*
 * The next bytes, and the end. SEEN_CORRUPT if it is no such list: it has
 * zero bytes, or nothing but faults. Of a robots.txt what comes after
 * ROBOTS_MOST is not looked at: *enough is set, unless NULL.
 */
enum seen_code registry_push(struct registry *r, const void *bytes, size_t n,
                             bool *enough, struct seen_error *why);
enum seen_code registry_end(struct registry *r, struct seen_error *why);

#endif
