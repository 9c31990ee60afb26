/*
 * search.h - a full-text index of the pages of a crawl.
 *
 * The index is a table of SQLite's FTS5 in the state. It changes in the
 * transaction that commits a page, so after any end it has the text of exactly
 * those pages that are stored, in their last version. FTS5 ranks by BM25.
 *
 *     crawl_search_open(&index, &state, &why);
 *     crawl_search_keep(index, id, title, text, &why);    in a transaction
 *
 *     char *words[] = { "roses", "red tulips", "thorn*", NULL };
 *     crawl_search_ask("site", words, 10, print, NULL, &why);
 *
 * Threads: as the state.
 */
#ifndef SEEN_CRAWL_SEARCH_H
#define SEEN_CRAWL_SEARCH_H

#include "state.h"

struct crawl_search;

/* Make the index if it is missing, and get ready to write to it. */
enum seen_code crawl_search_open(struct crawl_search **out,
                                 struct crawl_state *state,
                                 struct seen_error *why);
void crawl_search_close(struct crawl_search *s);

/* The page with this id says this now; or it is gone. */
enum seen_code crawl_search_keep(struct crawl_search *s, int64_t id,
                                 struct seen_span title, struct seen_span text,
                                 struct seen_error *why);
enum seen_code crawl_search_drop(struct crawl_search *s, int64_t id,
                                 struct seen_error *why);

/* A page that was found. Texts live as long as the call. In the snippet,
   words that match are between CRAWL_SEARCH_BEGIN and CRAWL_SEARCH_END. */
#define CRAWL_SEARCH_BEGIN SQL_EXCERPT_BEGIN
#define CRAWL_SEARCH_END SQL_EXCERPT_END
struct crawl_search_result {
    struct seen_span url, title, snippet;
    double rank;   /* smaller is better */
    int64_t stored; /* Unix time in ms */
};
typedef void crawl_search_take(void *owner,
                               const struct crawl_search_result *r);

/*
 * Find the pages with all of these words, the best first, at most `limit`. A
 * word may be several, which must follow each other; with a * at its end, the
 * last one is the beginning of a word. Nothing else has a meaning: quotes and
 * operators are text. SEEN_RANGE if no word has a letter or digit, SEEN_UNABLE
 * if the crawl has no index.
 */
enum seen_code crawl_search_ask(const char *folder, char **words,
                                uint64_t limit, crawl_search_take *take,
                                void *owner, struct seen_error *why);

#endif
