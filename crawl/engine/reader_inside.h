/*
 * reader_inside.h - what the files of a reader share.
 *
 *     reader.c           a page from its answer to what is stored
 *     reader_answer.c    what an answer means, and what a page says
 *     reader_links.c     which links are followed, and which are left out
 *
 * Threads: one reader per thread.
 */
#ifndef SEEN_CRAWL_READER_INSIDE_H
#define SEEN_CRAWL_READER_INSIDE_H

#include "../../fetch/decode.h"
#include "../../web/links.h"
#include "copy.h"
#include "reader.h"

struct crawl_reader {
    const struct crawl_shared *shared;
    struct warc_packer *packer;
    struct fetch_decoded decoded, other;
    struct crawl_copy copy;
    struct buffer text, title, record, fields;
    struct warc_packed packed;
    char room[SEEN_KEY_TEXT], clean[SEEN_KEY_TEXT];
    struct crawl_page *page; /* the one at hand */
    const char *type;        /* of the template, or NULL */
    struct web_tree *tree;   /* if the template needs it */
    struct crawl_areas *areas;
    bool no_memory;
    bool noindex;            /* the page asks not to be found */
    struct budget budget;    /* of the page at hand */
    struct budget *paying;   /* from which links pay: `budget`, or a part */
    struct budget patterns;  /* lent from `paying` to the patterns of one URL */
    const atomic_bool *stop; /* becomes true when the crawl stops; or NULL */
    uint64_t steps;          /* that a page may take */
    uint64_t stop_steps;     /* that all pages may take after a stop, */
    uint64_t grace;          /* and how many of these are left */
};

static inline struct seen_span span_of_buffer(const struct buffer *b)
{
    return (struct seen_span){ b->bytes ? b->bytes : "", b->len };
}

/* --- what it costs --- */

/* Note what was left out, if something was. The first reason counts. */
void crawl_reader_note_cost(struct crawl_reader *r, bool costly,
                            const char *what);

/* The steps that the words of a text of this length cost. */
uint64_t crawl_reader_focus_cost(const struct crawl_reader *r, size_t bytes);

/* --- links --- */

/* Follow this link of the page, or note why not. It is found as `letter` says,
   and `depth` links deep. */
void crawl_reader_consider(struct crawl_reader *r, struct seen_span url,
                           char letter, unsigned depth, bool requisite,
                           bool nofollow, struct seen_span anchor);

/* The same, for web_links_read(). */
void crawl_reader_take_link(void *reader, const struct web_link *link);

/* A link in scope is not followed for a reason that its URL does not show. */
void crawl_reader_leave_out(struct crawl_reader *r, const struct seen_key *key,
                            enum crawl_left_reason reason);

/* Is the page a sitemap or a feed? Follow its entries. */
bool crawl_reader_has_list(const struct crawl_reader *r);
void crawl_reader_list(struct crawl_reader *r);

/* Follow the sitemaps that a robots.txt names. */
enum seen_code crawl_reader_robots(struct crawl_reader *r,
                                   struct seen_error *why);

/* --- answers --- */

/* Set page->mime, and the charset, from the head: "text/html" and "utf-8" of
   "text/html; charset=utf-8". */
void crawl_reader_type(struct crawl_page *page, char charset[64]);

/* The outcome of the page, and its links. */
enum seen_code crawl_reader_judge(struct crawl_reader *r,
                                  struct seen_error *why);

/* The links of a page that is as it was: our copy stands for the answer. */
enum seen_code crawl_reader_copy(struct crawl_reader *r,
                                 struct seen_error *why);

/* Free the tree that a template needed. */
void crawl_reader_drop_tree(struct crawl_reader *r);

/* May the page be tried again? */
bool crawl_reader_may_retry(const struct crawl_reader *r);

/* Has the text these words, in upper or lower case? */
bool crawl_reader_mentions(struct seen_span text, const char *words);

#endif
