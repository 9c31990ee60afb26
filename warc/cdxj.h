/*
 * cdxj.h - a line of an index, as pywb writes it:
 *
 *     example,a)/b 20260102030405 {"url": "http://a.example/b",
 *     "mime": "text/html", "status": "200", "digest": "...",
 *     "length": "1043", "offset": "333", "filename": "crawl-00001.warc.gz"}
 *
 * Lines are appended in the order of the crawl. Programs that search an index
 * want it sorted: LC_ALL=C sort index.cdxj.
 *
 * Threads: a plain function of its arguments.
 */
#ifndef SEEN_WARC_CDXJ_H
#define SEEN_WARC_CDXJ_H

#include "pack.h"

/*
 * Append the line of the response or revisit record of an exchange, with its
 * line end. `offset` is where the packed bytes were appended to the file. A URL
 * without a SURT is its own key.
 */
void warc_cdxj(struct buffer *line, const struct warc_exchange *x,
               const struct warc_packed *packed, const char *file,
               uint64_t offset);

#endif
