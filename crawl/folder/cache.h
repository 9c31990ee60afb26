/*
 * cache.h - the URL cache of a visit: have we seen this link?
 *
 * A filter in memory, with a copy on the disk that is renewed now and then.
 * The journal of the frontier has every URL that was added since, so the
 * filter of a crawl that was killed is the copy and what the journal replays.
 *
 *     ask ──> commit the rows of new links ──> add
 *
 * The order matters: a link is added only after its row is committed. Added
 * first, a link whose row is lost would never be fetched.
 *
 * What a filter costs is counted: each link that is new has the chance `rate`
 * to be taken for an old one. The sum is the number of pages that the visit
 * is expected to lose. An audit measures it: for a sample of all URLs the
 * state remembers exactly which were seen. And where the filter is several
 * that must agree (spatial:N), those answers are counted that one of them
 * gave alone: false positives that were discovered (thesis, 1.5).
 *
 * The default begins small and is replaced by a larger one when it is full:
 * crawl/cache/growth.c.
 *
 * Every page that was ever fetched is in the cache of a visit from its begin:
 * those that are due are queued by their rows, and those that are not cost no
 * request, whatever links to them.
 *
 * fuse+KIND is for revisits of a site that is mostly known (thesis, 7.2.2: a
 * function that fits the URLs of the last visit). A fuse of the pages that are
 * known when the visit begins, built once, has 9 bits per page instead of 30,
 * and the filter of KIND has only what is new. The fuse is a file of its own
 * that can be built again from the table of pages.
 *
 * An address instead of a kind keeps the filter on a server: cache_remote.h.
 * News of that server go to server.warn(), which is set before it is opened.
 *
 * Threads: one at a time.
 */
#ifndef SEEN_CRAWL_CACHE_H
#define SEEN_CRAWL_CACHE_H

#include <seen/filter.h>

#include "../../lib/text/buffer.h"
#include "../../lib/text/map.h"
#include "../cache/growth.h"
#include "../cache/server.h"
#include "../page/settings.h"
#include "state.h"

struct crawl_cache {
    struct crawl_state *state;
    struct seen_filter *filter; /* NULL: --cache none */
    struct seen_filter *earlier; /* of the visit before, or NULL */
    struct seen_filter *known;   /* pages of earlier visits: fuse+KIND */
    char *path;

    struct crawl_growth growth;

    /* --cache redis://... or bf://...: see cache_remote.h */
    const struct crawl_settings *settings;
    struct crawl_server server; /* without an address: a file */
    char *address;    /* that of this visit's filter */
    char *token;      /* of this crawl, in the metadata of its filters */
    bool in_memory;   /* the filter is to be copied to the address */
    bool unsure;      /* it was asked, and the server may be another one */
    struct map kept;  /* keys that are to be added */
    struct buffer added; /* bf://: texts of the last keys that it has, a line
                            each */
    uint64_t copy_after; /* clock_ms() of the next try to copy it */
    uint64_t warned;     /* clock_ms() of the last warning */
    unsigned patience;   /* ms to wait for the server */

    int64_t last;     /* the journal's number that it has */
    int64_t saved;    /* and that the copy on the disk has */
    uint64_t since;   /* clock_ms() of the copy */
    bool spatial;     /* every part holds every key */
    double sample;    /* share of keys that are audited */
    struct sql_statement *audit_find, *audit_add;
    /* of this run, to be added to the counts of the visit */
    uint64_t asked, discovered, audited, mistaken;
};

/*
 * Load the filter of the visit and replay the journal, or make it of the pages
 * that are known and those that wait: `fresh` if the visit begins.
 */
enum seen_code crawl_cache_open(struct crawl_cache *c, struct crawl_state *s,
                                const struct crawl_settings *settings,
                                bool fresh, struct seen_error *why);
void crawl_cache_close(struct crawl_cache *c);

/* Which of these keys were seen? Within a transaction if there is an audit. */
enum seen_code crawl_cache_ask(struct crawl_cache *c,
                               const struct seen_key *key, size_t n,
                               bool *seen, struct seen_error *why);

/* Before the commit: does what was asked hold? If not, *again: ask all of it
   again. */
enum seen_code crawl_cache_confirm(struct crawl_cache *c, bool *again,
                                   struct seen_error *why);

/* After the commit: add keys whose rows have numbers up to `last`. */
enum seen_code crawl_cache_add(struct crawl_cache *c,
                               const struct seen_key *key, size_t n,
                               int64_t last, struct seen_error *why);

/* The same for filters that read texts: from the journal. */
enum seen_code crawl_cache_replay(struct crawl_cache *c,
                                  struct seen_error *why);

/* Renew the copy if that is due, or `now` in any case. Not within a
   transaction. */
enum seen_code crawl_cache_save(struct crawl_cache *c, bool now,
                                struct seen_error *why);

/* The rate now, for reports; that of the plan if the server does not know. */
double crawl_cache_rate(const struct crawl_cache *c);

/* The URLs of rows that the cache must have, some of them twice. Those that
   were kept out are not among them: of these the rows have no texts. */
enum seen_code crawl_cache_each_url(struct crawl_cache *c,
                                    frontier_take_url *take, void *owner,
                                    struct seen_error *why);

/* Did the filter of the visit before say that it had seen this page? If it
   cannot be asked, it is not asked again. */
bool crawl_cache_was_lost(struct crawl_cache *c, const struct seen_key *key,
                          struct seen_span url);

#endif
