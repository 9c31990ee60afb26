/*
 * scope.h - which links belong to a crawl, and which look like a trap.
 *
 * A link is judged by its URL and its depth alone, so that `seen crawl why`
 * gives the same answer a year later, without having kept a row per link.
 *
 *     in scope     the host of a start URL, a --domain, a --prefix, or
 *                  --everywhere; and one of --include; and no --exclude
 *     a trap       more links deep than --max-depth, longer than 2048 bytes,
 *                  or a path that repeats itself: /a/b/a/b/a/b/a/b
 *
 * Session ids make a new URL of an old page. They are not a trap: the key of
 * a URL is made without them (crawl_key()).
 *
 * Threads: read-only after crawl_scope_new().
 */
#ifndef SEEN_CRAWL_SCOPE_H
#define SEEN_CRAWL_SCOPE_H

#include <stdbool.h>

#include <seen/key.h>
#include <seen/span.h>

#include "../../lib/text/budget.h"
#include "settings.h"

struct crawl_scope;

enum seen_code crawl_scope_new(struct crawl_scope **out,
                               const struct crawl_settings *settings,
                               struct seen_error *why);
void crawl_scope_free(struct crawl_scope *scope);

/* Follow links to the host of this start URL. */
enum seen_code crawl_scope_start(struct crawl_scope *scope,
                                 struct seen_span url, struct seen_error *why);

enum { CRAWL_REASON = 160 };

/* What all patterns together may cost for a URL, in steps of budget.h: some
   0.2 s. A URL of 2048 bytes and patterns of 48,000 parts are within that. */
enum { CRAWL_URL_STEPS = 100000000 };

/* Why a URL is not fetched. */
enum crawl_scope_out {
    CRAWL_OUT_SCOPE,
    CRAWL_OUT_TRAP,  /* it looks like one */
    CRAWL_OUT_COSTLY /* it is not known: a pattern costs too much here */
};

/*
 * Is a canonical URL to be fetched? If not, *out and `reason` say why, with
 * the rule that keeps it out. `requisite`: part of a page that is fetched, from
 * whichever host; --include says which pages. Patterns pay from the budget, or
 * from CRAWL_URL_STEPS if that is NULL. A URL for which it ends is not
 * fetched: an --exclude that could not be asked may be about it.
 */
bool crawl_scope_has(const struct crawl_scope *scope, struct seen_span url,
                     unsigned depth, bool requisite, struct budget *budget,
                     enum crawl_scope_out *out, char reason[CRAWL_REASON]);

/* The same for a list of URLs: --include says which pages are wanted, and does
   not have to name it. */
bool crawl_scope_list(const struct crawl_scope *scope, struct seen_span url,
                      struct budget *budget, enum crawl_scope_out *out,
                      char reason[CRAWL_REASON]);

/* The priority of a URL at this depth: smaller is first.
   --order decides, and --prefer. By priority, a link is worth 1,000. If the
   patterns cost too much, the URL is not preferred. */
int64_t crawl_scope_priority(const struct crawl_scope *scope,
                             const struct crawl_settings *settings,
                             struct seen_span url, unsigned depth,
                             struct budget *budget);

/* http or https? */
bool crawl_scope_is_web(struct seen_span url);

/* "a.example" of "http://a.example:8080/x", and of "http://a.example./x". */
struct seen_span crawl_host_of(struct seen_span url);
/* "http://a.example:8080" of "http://a.example:8080/x". */
struct seen_span crawl_origin_of(struct seen_span url);

/*
 * The key of a canonical URL: without session ids (;jsessionid=..., and
 * parameters named PHPSESSID, JSESSIONID, ASPSESSIONID..., sid, sessionid,
 * CFID, CFTOKEN). `text` has SEEN_KEY_TEXT bytes, or at least url.len, and
 * key->text may point into it.
 */
void crawl_key(struct seen_key *key, char *text, struct seen_span url);

#endif
