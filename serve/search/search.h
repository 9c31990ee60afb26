/*
 * search.h - crawls whose pages can be searched: `--search`.
 *
 * A question is asked by a thread of the crawl, never by a loop. Each crawl
 * has two, so that what is asked of one crawl, or of a disk that hangs, holds
 * up no other, and a costly question no cheap one:
 *
 *     search_ask() ──> quick ──────────────────> done()
 *                        │  it takes more            ▲
 *                        └──────> thorough ──────────┘
 *
 * The quick thread gives each question some milliseconds of work. Few take
 * more: those are asked again by the other thread, which gives them ten times
 * as much. Both are counted in steps (lib/text/budget.h), and an answer that
 * is not complete says so. If too many wait for the thorough thread, what the
 * quick one has found is the answer.
 *
 * A question is for one crawl: ranks depend on how often words are in all of
 * its pages, so those of two crawls cannot be compared.
 *
 * Threads: every function may be called by any thread.
 */
#ifndef SEEN_SERVE_SEARCH_H
#define SEEN_SERVE_SEARCH_H

#include <stdatomic.h>

#include "pages.h"
#include "words.h"

enum { SEARCH_CRAWLS = 64 };

struct search_set;

struct search_places {
    const char *const *place; /* "[NAME=]DIR" */
    size_t places;
};

/* The texts are copied. SEEN_RANGE: there are too many, or two of one name. */
enum seen_code search_open(struct search_set **out,
                           const struct search_places *places,
                           struct seen_error *why);

/*
 * Questions that wait go back unanswered. It waits for its threads for at most
 * five seconds: one that hangs is left behind, with its question, as the
 * process is about to end. NULL is welcome.
 */
void search_close(struct search_set *s);

/* The name of crawl i, in the order of the places; NULL behind the last. */
const char *search_name(const struct search_set *s, size_t i);

/* A question on its way. */
struct search_asking {
    struct search_question question; /* its words live until done() */
    size_t crawl;
    atomic_bool gone; /* nobody waits for it any more */
    struct search_found
        *found; /* of done(), which frees it; NULL: no memory */
    /* Called in a thread of the crawl: it only passes the question on. */
    void (*done)(struct search_asking *a);
    struct search_asking *next;
};

/* False if too many wait, or the crawl's disk does not answer. */
bool search_ask(struct search_set *s, struct search_asking *a);

/* What was asked, for metrics. */
struct search_counts {
    uint64_t questions, refused;
    uint64_t thorough;   /* that took more than the quick thread gives */
    uint64_t incomplete; /* whose answer says that it is a part */
};
struct search_counts search_count(struct search_set *s);

#endif
