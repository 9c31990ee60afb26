/*
 * searches.h - the forms in which found pages are shown: HTML and JSON.
 *
 * What was typed comes from anybody, titles and texts from the web: they are
 * escaped wherever they are written.
 */
#ifndef SEEN_SERVE_HTTP_SEARCHES_H
#define SEEN_SERVE_HTTP_SEARCHES_H

#include "../../lib/text/buffer.h"
#include "../search/search.h"

enum { SEARCHES_TYPED = SEARCH_BYTES + 200, SEARCHES_USUAL = 10 };

/* What is asked for: ?q=red+roses&crawl=site&visit=2&from=2026-01-31&page=2 */
struct searches_form {
    char typed[SEARCHES_TYPED], crawl[256], from[32], to[32];
    int64_t visit; /* 0: any */
    size_t number; /* of the page of results, from 1 */
    size_t most;   /* results per page */
};

/* What the answer needs to know of the server. */
struct searches_site {
    const struct search_set *search;
    const char *origin;   /* "https://haw.nsk.hr/bloom" */
    bool crawls;          /* it has the page for operators, */
    bool archives;        /* filters of archives, */
    bool aggregates;      /* and asks these for mementos */
};

void searches_json(struct buffer *o, const struct searches_site *site,
                   const struct searches_form *form,
                   const struct search_found *found);

/* The page; `found` is NULL, or has nothing, if `fault` says why. */
void searches_html(struct buffer *o, const struct searches_site *site,
                   const struct searches_form *form,
                   const struct search_found *found, const char *fault);

/* The address of the copy of a page, from the `--base` on: the memento closest
   to when its text was new. */
void searches_copy(struct buffer *o, const struct search_page *page);

/* Cut a text at its marks: take() gets what was found, and what is between. It
   is one line, whatever the text has. */
typedef void searches_take(void *owner, struct seen_span part, bool found);
void searches_cut(const char *text, searches_take *take, void *owner);

#endif
