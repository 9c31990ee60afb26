/*
 * reader.h - what is done with an answer, off the fetching thread.
 *
 * A reader undoes chunks and codings, finds the links, judges them, makes
 * their keys, extracts fields, and packs the WARC members. It touches neither
 * the state nor the cache: all that it makes is in the page.
 *
 *     code = crawl_reader_new(&r, &stop, &why);
 *     crawl_read(r, page);                       page->outcome, links, packed
 *     crawl_reader_free(r);
 *
 * Threads: one reader per thread; what pages share is read-only.
 */
#ifndef SEEN_CRAWL_READER_H
#define SEEN_CRAWL_READER_H

#include <stdatomic.h>

#include "../page/focus.h"
#include "../page/scope.h"
#include "../page/settings.h"
#include "../page/shared.h"
#include "../template/template.h"
#include "page.h"

/*
 * What a page may cost, in the steps of budget.h, whatever is on it and in the
 * template: some two seconds. The links and fields that were found by then are
 * kept, page->costly says what is missing, and the page is stored as always.
 * All parts pay from one budget: decoding, the tree, links, areas, patterns,
 * lists, fields, words.
 */
enum {
    CRAWL_PAGE_STEPS = 1000000000,
    CRAWL_STEPS_MS = 500000,     /* per millisecond, about */
    CRAWL_STOP_STEPS = 50000000, /* of all pages of a reader after a stop */
};

struct crawl_reader;

/* When *stop becomes true, pages that cost little are still finished, others
   are not. NULL: nobody stops it. */
enum seen_code crawl_reader_new(struct crawl_reader **out,
                                const atomic_bool *stop,
                                struct seen_error *why);
void crawl_reader_free(struct crawl_reader *r);

/* Instead of CRAWL_PAGE_STEPS and CRAWL_STOP_STEPS: tests take less time. */
void crawl_reader_limit(struct crawl_reader *r, uint64_t steps,
                        uint64_t stop_steps);

/*
 * By page->shared. SEEN_UNABLE: it was stopped, and what was made of the page
 * says nothing; the page is to be fetched again by whoever goes on. SEEN_NOMEM,
 * and nothing that a page contains, is a fault that ends the crawl.
 */
enum seen_code crawl_read(struct crawl_reader *r, struct crawl_page *page,
                          struct seen_error *why);

/*
 * Not an answer, but the links of the stored copy page->known.place. The outcome
 * is CRAWL_UNCHANGED, or CRAWL_FAILED if there is no copy or it is damaged. Fails
 * as crawl_read().
 */
enum seen_code crawl_read_stored(struct crawl_reader *r,
                                 struct crawl_page *page,
                                 struct seen_error *why);

/* Was the request refused for good, so that it is not tried again? */
bool crawl_read_refused(const struct crawl_page *page);

#endif
