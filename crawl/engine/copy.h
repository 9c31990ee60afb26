/*
 * copy.h - the response that the WARC files have of a page.
 *
 *     code = crawl_copy_read(&copy, "site", known->place, 16 << 20, &why);
 *     if (code == SEEN_OK && copy.found)
 *         read_links(copy.head, copy.body);
 *     crawl_copy_clear(&copy);
 *
 * A page that has not changed (304) has no body, but its links are asked
 * about in every visit: those that the visit before lost to false positives
 * are found by nothing else.
 *
 * Threads: plain functions of their arguments.
 */
#ifndef SEEN_CRAWL_COPY_H
#define SEEN_CRAWL_COPY_H

#include <stdbool.h>

#include <seen/error.h>

#include "../../lib/text/buffer.h"

/* Begins zeroed. */
struct crawl_copy {
    bool found;
    bool whole; /* it is as long as its record says and not damaged, or `most`
                   bytes */
    struct buffer head, body; /* of the HTTP answer, as they came */
};

/*
 * Read the record at `place`, "OFFSET FILE" in the folder's warc/, at most
 * `most` bytes. Not found: there is no such file any more, or it has no
 * response there. SEEN_NOMEM.
 */
enum seen_code crawl_copy_read(struct crawl_copy *copy, const char *folder,
                               const char *place, size_t most,
                               struct seen_error *why);
void crawl_copy_clear(struct crawl_copy *copy);

#endif
