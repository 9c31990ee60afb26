/*
 * server.h - filters of visits on a server, for both stores: --cache
 * redis://..., bf://..., or spatial: of several of one of them.
 *
 * Each visit has a filter of its own, at the address that was given with more
 * words at the end of its name. A filter in Redis is made in memory and copied
 * there; its metadata has a mark that says whose it is, so that a filter which
 * another crawl left under the same name is never asked. A filter behind bf://
 * is made by the server and has no metadata: its name says whose it is.
 *
 *     crawl_server_init(&s, "redis://127.0.0.1/0/site", "crawl", warn, c);
 *     crawl_server_timeout(s.base, &ms, &why);
 *     crawl_server_new(&f, address, &plan, &why);
 *     crawl_server_save(&s, f, address, token, &why);
 *     crawl_server_open(&s, &f, address, token, &ours, &why);
 *
 * What a store does when the server does not answer is its own matter: a folder
 * makes the filter again from its rows (folder/cache_remote.h), a team asks its
 * frontier (team/cache.h).
 *
 * Threads: one at a time.
 */
#ifndef SEEN_CRAWL_SERVER_H
#define SEEN_CRAWL_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "../../remote/remote.h"

/* URLs of a filter that a server makes, if nobody said how many will come: it
   gets parts, each twice as large. One in Redis does not. */
enum { CRAWL_SERVER_FIRST = 100000 };

struct crawl_server {
    const char
        *base;     /* the address that was given; NULL: there is no server */
    bool reserves;    /* bf://: the server makes filters itself. Keys need their
                         texts, and names have to say whose a filter is */
    const char
        *mark; /* the name of the metadata that says whose a filter is */
    remote_warn *warn;
    void *whose;
};

/* Of the text of --cache; if that is not an address, there is no server. */
void crawl_server_init(struct crawl_server *s, const char *cache,
                       const char *mark, remote_warn *warn, void *whose);

/* Can filters of visits be made at this address? Its timeout=, in ms; of
   several parts the longest. SEEN_UNABLE with the reason if not. */
enum seen_code crawl_server_timeout(const char *base, unsigned *timeout,
                                    struct seen_error *why);

/* A filter in memory of a kind that can be copied to the address: all bits of
   a URL must be in one string. For bf:// it stands in for the server's. */
enum seen_code crawl_server_new(struct seen_filter **out, const char *address,
                                struct seen_plan *plan,
                                struct seen_error *why);

/* Copy it to the server, with the mark. */
enum seen_code crawl_server_save(const struct crawl_server *s,
                                 struct seen_filter *f, const char *address,
                                 const char *mark, struct seen_error *why);

/* Open the filter that is there. *ours: it has the mark; if it has not, there
   is no filter in *out. */
enum seen_code crawl_server_open(const struct crawl_server *s,
                                 struct seen_filter **out, const char *address,
                                 const char *mark, bool *ours,
                                 struct seen_error *why);

/* How many ms to leave a server alone that did not answer for `took` ms: ten
   times as long, so that at most a tenth of the time is lost to it. */
uint64_t crawl_server_pause(uint64_t took);

#endif
