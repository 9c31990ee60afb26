/*
 * page.h - one page on its way through the crawler.
 *
 *     frontier ──> host ──> fetch ──> work ──> commit
 *        row        due      answer    links,    files, rows, filter
 *                                      members
 *
 * A page belongs to one of these at a time, and is handed on by its pointer.
 *
 * Threads: the one that has the page.
 */
#ifndef SEEN_CRAWL_PAGE_H
#define SEEN_CRAWL_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include <seen/key.h>

#include "../../frontier/frontier.h"
#include "../../lib/text/buffer.h"
#include "../../warc/pack.h"
#include "../page/known.h"
#include "../page/left.h"

/* What came of a page. The names are those of counters and reports. */
enum crawl_outcome {
    CRAWL_STORED,       /* 200 and other answers with content */
    CRAWL_UNCHANGED,    /* 304, or the digest of the last visit */
    CRAWL_REDIRECT,     /* 3xx */
    CRAWL_ERROR,        /* 4xx, 5xx */
    CRAWL_FAILED,       /* no answer, after all attempts */
    CRAWL_ROBOTS,       /* robots.txt keeps it out */
    CRAWL_SKIPPED,      /* --skip: another archive has it */
    CRAWL_LOOP,         /* a redirect to itself */
    CRAWL_CLOSED,       /* its scheme, host and port is not asked any more */
    CRAWL_ASIDE,        /* it kills the process that reads it: aside.h */
    CRAWL_AGAIN,        /* to be tried again */
    CRAWL_OUTCOMES
};
extern const char *const crawl_outcome_names[CRAWL_OUTCOMES];

/* A link as the reader found it. Texts are in page->texts. */
struct crawl_link {
    struct seen_key key;
    size_t url, url_len; /* offsets, since the buffer moves as it grows */
    size_t type, type_len;
    double score;     /* of a topical crawl */
    int64_t priority; /* without what only the frontier knows */
    unsigned minutes; /* between visits, by a template; or 0 */
    char letter;      /* of the path: L, E (embed), R (redirect),
                         M (sitemap or feed), S (form) */
    bool list;        /* a sitemap */
};

enum crawl_flags {
    CRAWL_FLAG_AGAIN = 1,
    CRAWL_FLAG_REQUISITE = 2,
    CRAWL_FLAG_START = 4,
    CRAWL_FLAG_REVISIT = 8,
    CRAWL_FLAG_SITEMAP =
        16,                /* a list of URLs, named by robots.txt or a list */
    /* bits 5 to 7: FRONTIER_SUSPECT, FRONTIER_DEATHS */
    CRAWL_FLAG_MINUTES = 8   /* bits 8 to 31: between visits, by a template */
};

struct crawl_host;
struct crawl_origin;
struct crawl_shared;

enum { CRAWL_COST = 256 };

struct crawl_page {
    struct crawl_page *next;
    const struct crawl_shared *shared; /* what its visit asks for */
    struct crawl_host *host;           /* that is asked for it */
    struct crawl_origin *robots; /* whose robots.txt this is; NULL: a page. A
                                    robots.txt may have been moved to another
                                    host, which is `host` then */
    struct crawl_page *onward;   /* the page that a robots.txt was moved to */
    int64_t due;                 /* when its host may be asked again */
    bool lookup; /* this is not a page: the address of the host is wanted */
    bool copy;   /* this is not a page either: the links of the stored copy of
                    known.id are wanted, and there is no host */
    int64_t asked; /* until when the rules hold that robots.txt gave for the
                      page; 0: it was not asked */
    unsigned line; /* of robots.txt, with the rule that keeps the page out; 0:
                      it may be fetched */
    bool crowded;  /* it was closed because too many origins of its host fail */

    /* --- the row --- */

    int64_t id, priority, via;
    int64_t visit; /* of a team; 0 in a folder, which has one at a time */
    unsigned depth, attempts, flags;
    char *url;  /* path, type and via_url are in the same piece of memory */
    char *path, *type, *via_url;
    struct seen_key key;
    char *key_text; /* what key.text points to */
    struct crawl_known known; /* what an earlier visit kept; known.id is 0 if
                                 there was none */

    /* --- the answer --- */

    enum seen_code code; /* SEEN_OK: there is an answer */
    char fault[160];
    int status;
    int64_t started;   /* Unix time in ms, by the crawl's clock */
    unsigned ms;       /* that the request took */
    unsigned after;    /* Retry-After, in seconds */
    unsigned hops;     /* redirects that a robots.txt took so far */
    char address[64];
    char etag[256], modified[64];
    const char *cut;   /* why the body is not whole: "length", "time",
                          "disconnect"; or NULL */
    struct buffer sent, head, raw;
    size_t held;       /* bytes of the body in memory, as body.h counts them */
    size_t filed;      /* bytes of the body in a file; 0: it is in memory */
    int file;          /* that file */
    bool no_room;      /* the page is put off: there was no room for its body */
    bool late;         /* the request took longer than it may */

    /* --- what the reader made of it --- */

    enum crawl_outcome outcome;
    char mime[96], title[128];
    struct warc_packed packed; /* members for the WARC file */
    bool revisit; /* the payload is stored already: a revisit record */
    char unread[96]; /* why the body was not unpacked as a whole, or "" */
    char costly[CRAWL_COST]; /* what was left out because it costs too much, or
                                "" */
    uint64_t steps;     /* that reading it took: budget.h */
    uint64_t fresh;     /* links on the page that became rows */
    bool charged;       /* its cost was charged to its host when it was read */
    bool incomplete; /* a required field of its template was not found */
    char place[96];  /* where the response is in the WARC files, once it is
                        committed */
    struct crawl_link *link;
    size_t links, room;
    struct buffer texts;
    struct buffer record; /* the page record, for pages.jsonl */
    struct buffer body;   /* text for the index; or a robots.txt */
    size_t title_len;     /* bytes of `body` that are the title */
    unsigned lists;       /* sitemaps that led here, one after the other */
    uint64_t excluded[CRAWL_LEFT_LINKS]; /* how many links were left out, by
                                            the reason */
    struct crawl_left_link *left; /* links in scope that were left out */
    size_t lefts, left_room;
    struct buffer traps;  /* some of the traps: reason, zero, URL, zero */
    unsigned trapped;     /* how many traps are in there */
    size_t size;          /* bytes of the payload */
    size_t made;          /* bytes of memory, for the engine's account */
    double score;
};

/*
 * Buffers of answers that are in the archive now, to be used for the next
 * ones: otherwise each page takes its memory from the system, piece by piece
 * while it grows, and gives it back.
 */
enum { CRAWL_SPARES = 32, CRAWL_SPARE_MOST = 128 << 10 };

struct crawl_spares {
    struct buffer buffer[CRAWL_SPARES];
    size_t n;
};

/* Take one for an empty buffer, if there is one. */
void crawl_spare_take(struct crawl_spares *s, struct buffer *b);
/* Give one back; *b is empty then. */
void crawl_spare_give(struct crawl_spares *s, struct buffer *b);
void crawl_spares_clear(struct crawl_spares *s);

/* A copy that takes no more memory than it has bytes. False without memory. */
bool crawl_page_copy(struct buffer *to, const struct buffer *from);

/* A page of a row; NULL without memory. */
struct crawl_page *crawl_page_new(const struct frontier_page *row);
void crawl_page_free(struct crawl_page *page);

/* Was it being read when a process died, so that it is read alone? Has that
   happened so often that it is not read any more? */
bool crawl_page_is_suspect(const struct crawl_page *page);
bool crawl_page_is_aside(const struct crawl_page *page);
#define CRAWL_ASIDE_REASON \
    "the process died three times while it read this page alone"

/* Note what was left out, in page->costly, unless something is noted already.
   It becomes printable ASCII, whatever is in names and patterns. */
void crawl_page_note_cost(struct crawl_page *page, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The page, and all that follow it. */
void crawl_pages_free(struct crawl_page *page);

/*
 * The keys of n links with their texts, for filters that read them: of the
 * links of one page from `at` on, or of links of several pages. Texts are those
 * of the pages, or in memory that is returned for the caller to free(); NULL
 * without memory. n is 1 to CRAWL_KEYS.
 */
enum { CRAWL_KEYS = 512 };
char *crawl_page_keys(struct seen_key *key, const struct crawl_page *page,
                      size_t at, size_t n);
char *crawl_link_keys(struct seen_key *key,
                      const struct crawl_page *const *page,
                      const struct crawl_link *const *link, size_t n);

/* The page is of this visit, until it is freed. */
void crawl_page_share(struct crawl_page *page,
                      const struct crawl_shared *shared);

#endif
