/*
 * body.h - the bodies of answers, from their first byte until they are read.
 *
 * Hundreds of requests are under way, and each may be answered by a body of
 * --max-size. Most are short and come at once. But nothing keeps many hosts from
 * sending all but the last byte of a long body, and then taking their time. So
 * short bodies are in memory, and long ones on a disk when memory is scarce:
 *
 *     of all bodies    CRAWL_BODIES_ANY bytes are in memory, of whichever body;
 *     beyond that      a body that has more than its share (CRAWL_BODIES_SHARED
 *                      divided by the requests at a time) goes on in a file
 *                      without a name, and what it had in memory goes there.
 *
 * Requests under way take no more than both together, 48 MB, however slow they
 * are: no one waits for another's memory, so no one can hold up the others. A
 * file is not read before a reader has time for it.
 *
 * Why not pause transfers? Those who hold the memory decide how long the others
 * wait. And libcurl counts a pause as slowness (curl issue 6358).
 *
 *     crawl_body_add(&bodies, page, bytes, n, why);      the fetching thread
 *     crawl_body_load(&bodies, page, why);               a reader
 *     read(page->raw);
 *     crawl_body_drop(&bodies, page);
 *
 * Threads: a page belongs to one thread at a time; `bodies` is for all of them.
 */
#ifndef SEEN_CRAWL_BODY_H
#define SEEN_CRAWL_BODY_H

#include <stdatomic.h>

#include "page.h"

enum {
    CRAWL_BODIES_ANY = 32 << 20,
    CRAWL_BODIES_SHARED = 16 << 20,
    /* No request begins while there are more: may_start() in crawl.c. Those
       that began before may still take their shares, with bodies that wait for
       readers at the same time: so there are never more than 64 MB. */
    CRAWL_BODIES_UNDER_WAY = CRAWL_BODIES_ANY + CRAWL_BODIES_SHARED
};

struct crawl_bodies {
    const char *folder; /* for files; of the caller */
    size_t share;       /* bytes of each body */
    atomic_size_t held; /* bytes in memory */
};

/* `requests` is how many there are at a time, at most. */
void crawl_bodies_init(struct crawl_bodies *b, const char *folder,
                       size_t requests);

/* The next bytes of the page's body. SEEN_NOMEM; SEEN_IO if there is no room in
   the folder: the page has what it had before. */
enum seen_code crawl_body_add(struct crawl_bodies *b, struct crawl_page *page,
                              const void *bytes, size_t n,
                              struct seen_error *why);

/* How many bytes of the body have come, wherever they are. */
size_t crawl_body_size(const struct crawl_page *page);

/* Bring the whole body to page->raw. It does not count as held then, since
   readers are few. SEEN_NOMEM, SEEN_IO, SEEN_CORRUPT. */
enum seen_code crawl_body_load(struct crawl_bodies *b, struct crawl_page *page,
                               struct seen_error *why);

/* The body is not needed any more. page->raw is empty, but has memory for the
   next one if it is little. */
void crawl_body_drop(struct crawl_bodies *b, struct crawl_page *page);

#endif
