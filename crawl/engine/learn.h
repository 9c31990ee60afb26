/*
 * learn.h - what an answer says about its page: the row that a store keeps.
 *
 *     struct crawl_known row = page->known;
 *
 *     crawl_learn(&row, page, template, true);
 *     row.due = crawl_revisit_due(settings, &row);
 *
 * Threads: plain functions of their arguments.
 */
#ifndef SEEN_CRAWL_LEARN_H
#define SEEN_CRAWL_LEARN_H

#include "page.h"

struct crawl_template;

/*
 * Change what was known of a page to what is known now. Texts are those of the
 * page, and live as long. A page is asked for on a condition only if its copy
 * is whole, and gave all that a template wants; `archived`: and is in a WARC
 * file, from which its links can be read again. The template may be NULL. Of the
 * members `visit`, `turn` and `due` the store knows more, and sets them.
 */
void crawl_learn(struct crawl_known *row, struct crawl_page *page,
                 const struct crawl_template *template, bool archived);

#endif
