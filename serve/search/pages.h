/*
 * pages.h - one question to the full-text index of a crawl.
 *
 * `seen crawl --index` keeps the index in the folder's state.db: a table of
 * SQLite's FTS5 whose rows are those of `fetched`. This reads it, while the
 * crawl runs or after. The folder is opened anew for each question, so one
 * that was replaced is followed, and nothing is written.
 *
 *     struct search_found *found = search_pages("site", &question, &budget);
 *
 *     show(found->page, found->pages);
 *     search_found_free(found);
 *
 * Whoever asks chooses the words, and whoever is crawled the texts. So all of
 * it is paid from a budget. Pages are ranked from the one that was found last
 * to the first one, and if the budget ends on the way, what was ranked until
 * then is the answer, which says that it is a part (`complete`).
 *
 * The crawler has a reader, too (crawl/folder/search.h), for `seen search`. It
 * is not used here: it has no budget, no visits and no dates, and what is
 * crawl/'s is not for the server to include. What both share is below them, in
 * sql/: the table, and seen_excerpt().
 *
 * Threads: free of state.
 */
#ifndef SEEN_SERVE_SEARCH_PAGES_H
#define SEEN_SERVE_SEARCH_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <seen/error.h>
#include <seen/span.h>

#include "../../lib/text/budget.h"

enum {
    SEARCH_MOST = 100,   /* pages of one answer */
    SEARCH_DEEP = 1000,  /* pages that one can turn to */
    SEARCH_VISITS = 100, /* that are listed: the last ones */
    /* Marks in titles and excerpts, around what was found. */
    SEARCH_BEGIN = '\1',
    SEARCH_END = '\2'
};

/* Times are Unix times in ms. */
struct search_question {
    struct seen_span words; /* of words.h; "": only the visits are asked for */
    int64_t visit;          /* the last one that fetched a page; 0: any */
    int64_t from, to;       /* when that was: not before, and before */
    size_t first, most;     /* which of the ranked pages */
};

struct search_page {
    int64_t id;
    char *url, *title, *excerpt;
    double rank; /* smaller is better */
    int64_t visit;
    int64_t fetched; /* the last time */
    int64_t stored;  /* when this text of it was new */
};

struct search_visit {
    int64_t id, began, ended; /* ended 0: it has not */
};

struct search_found {
    enum seen_code code; /* SEEN_OK, or why there is nothing */
    struct seen_error why;
    bool running;  /* the crawl is */
    bool complete; /* all pages were ranked; otherwise there may be more */
    bool costly;   /* not one page could be ranked */
    uint64_t total; /* pages that were ranked */
    struct search_page *page;
    size_t pages;
    struct search_visit *visit; /* the last one first */
    size_t visits;
};

/* NULL without memory. */
struct search_found *search_pages(const char *folder,
                                  const struct search_question *q,
                                  struct budget *budget);
void search_found_free(struct search_found *found);

#endif
