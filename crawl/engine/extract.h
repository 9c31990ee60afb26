/*
 * extract.h - the page record of a page, for pages.jsonl.
 *
 * With a template its fields are what the template extracts; without one they
 * are the title and the visible text. A page that was not modified, or is
 * gone (404, 410), has a record without fields: the classifier reads these,
 * too. Other failures and redirects have none.
 *
 * Threads: a plain function of its arguments.
 */
#ifndef SEEN_CRAWL_EXTRACT_H
#define SEEN_CRAWL_EXTRACT_H

#include "../../web/tree.h"
#include "page.h"

struct crawl_shared;

/* Write the record, or nothing, into an empty buffer; `fields` is another one,
   for what is made on the way. `tree` is NULL if the page is not HTML, or no
   template needs it. */
enum seen_code crawl_extract(const struct crawl_shared *shared,
                             struct crawl_page *page, struct web_tree *tree,
                             struct seen_span title, struct seen_span text,
                             struct buffer *record, struct buffer *fields,
                             struct seen_error *why);

#endif
