/*
 * site.h - generated web sites for crawlers, served by nginx.
 *
 *     struct bench_site site = { .pages = 10000, .size = 10000,
 *                                .links = 20, .hosts = 16 };
 *
 *     if (bench_site_make(&site) && bench_site_serve(&site)) ...
 *     bench_site_end(&site);
 *
 * Hosts are addresses of loopback, 250 of 127.0.0.0/24, then those of 127.0.1,
 * and so on, with one port. Page i is at host i mod `hosts`. Its first links
 * lead to the pages i * links / 2 + 1 and on, so that all pages are found from
 * page 0 in a few hops; the others lead anywhere. The text has no meaning, but
 * words as often, and markup as much, as pages of documentation have, at
 * random, with a fixed seed.
 *
 * With `root`, each host has a folder of pages that is there already.
 *
 * Threads: one.
 */
#ifndef SEEN_BENCH_SITE_H
#define SEEN_BENCH_SITE_H

#include "serve.h"

enum { BENCH_SITE_HOSTS = 256 }; /* at most; a template has no more */

struct bench_site {
    uint64_t pages, size, links, hosts;
    const char *const *root; /* a folder per host; NULL: generated pages */
    bool leaves; /* links lead to pages that do not exist, each but once */
    bool log;    /* requests.log: one line "END SECONDS HOST PATH" per request,
                    END in Unix time */
    struct peer nginx;
};

/* The address of a host, and the URL of a page. */
void bench_site_address(uint64_t host, char to[16]);
void bench_site_url(const struct bench_site *site, uint64_t page, char to[64]);

/* Choose the port and write the pages, below the folder of the benchmark, and
   urls.txt, a list of all of them. Pages of an earlier site are overwritten.
   False after a message. */
bool bench_site_make(struct bench_site *site);
bool bench_site_serve(struct bench_site *site);
void bench_site_end(struct bench_site *site);

#endif
