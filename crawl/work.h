/*
 * work.h - what is done with an answer, off the fetching thread.
 *
 * A worker undoes chunks and codings, finds the links, judges them, makes
 * their keys, extracts fields, and packs the WARC members. It touches neither
 * the state nor the cache: all that it makes is in the page.
 *
 *     code = crawl_worker_new(&w, &why);
 *     crawl_work(w, page);                       page->outcome, links, packed
 *     crawl_worker_free(w);
 *
 * Threads: one worker per thread; what pages share is read-only.
 */
#ifndef SEEN_CRAWL_WORK_H
#define SEEN_CRAWL_WORK_H

#include "focus.h"
#include "page.h"
#include "scope.h"
#include "settings.h"
#include "template.h"

struct crawl_shared {
    const struct crawl_settings *settings;
    const struct crawl_scope *scope;
    const struct crawl_template *template; /* or NULL */
    const struct crawl_focus *focus;       /* or NULL */
    const char *folder;                    /* of the crawl */
    const char *visit;                     /* its name */
    int64_t visit_id;
    bool no_warc; /* nothing is packed */
};

struct crawl_worker;

enum seen_code crawl_worker_new(struct crawl_worker **out,
                                struct seen_error *why);
void crawl_worker_free(struct crawl_worker *w);

/* By page->shared. SEEN_NOMEM and other faults that a retry does not help end the crawl. */
enum seen_code crawl_work(struct crawl_worker *w, struct crawl_page *page,
                          struct seen_error *why);

/* Was the request refused for good, so that it is not tried again? */
bool crawl_work_refused(const struct crawl_page *page);

#endif
