/*
 * skip.h - do not fetch what an archive already holds.
 *
 * An archive's filter says for certain what it does not hold. What it says
 * yes to is skipped, and with it, at the filter's rate, a page that it does
 * not hold: that is why --skip is for adding to a federation of archives, not
 * for a crawl that must be complete (archives report, section 4).
 *
 *     --skip haw.seen                       a file
 *     --skip http://127.0.0.1:8080/haw      an archive of a seen serve
 *
 * A server is asked by POST /NAME with a list of lines (doc/protocol.md). It
 * may be down, slow or wrong. What it does not answer for certain is fetched:
 * a page is never lost to an archive that was not asked. After a failure the
 * server is left alone for a minute.
 *
 *     code = crawl_skip_ask(s, url, n, &answers, &why);
 *     if (answers.held[i]) skip(url[i]);
 *     if (*answers.warning) say(answers.warning);
 *
 * Threads: one at a time. Questions to a server take up to its deadline.
 */
#ifndef SEEN_CRAWL_SKIP_H
#define SEEN_CRAWL_SKIP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <seen/error.h>
#include <seen/span.h>

#include "../../fetch/fetch.h"
#include "../../lib/text/option.h"

struct crawl_skip;

enum {
    CRAWL_SKIP_DEADLINE = 10, /* seconds for one question to a server,
                                 unless --timeout is shorter */
    CRAWL_SKIP_WARNING = 240
};

/*
 * Open the filters. Files are mapped. Servers are not asked yet: one that is
 * down when a crawl resumes must not stop it. SEEN_RANGE for URLs that are not
 * of the form http://HOST/NAME, and for keyed filters.
 */
enum seen_code crawl_skip_open(struct crawl_skip **out,
                               const struct texts *filters,
                               const struct fetch_options *web,
                               struct seen_error *why);
void crawl_skip_close(struct crawl_skip *s);

struct crawl_skip_answers {
    bool *held;            /* of the caller: one per URL */
    size_t unasked;        /* URLs that no filter holds, but one did not
                              answer */
    const char *by;        /* the filter that holds the first URL, or NULL */
    const atomic_int *stop; /* or NULL: not 0 ends the wait for a server */
    char warning[CRAWL_SKIP_WARNING]; /* "", or news of a server */
};

/* Which of n URLs does one of the filters hold? A server that does not answer
   is not an error. */
enum seen_code crawl_skip_ask(struct crawl_skip *s,
                              const struct seen_span *url, size_t n,
                              struct crawl_skip_answers *answers,
                              struct seen_error *why);

#endif
