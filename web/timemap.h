/*
 * timemap.h - TimeMaps of web archives, as they arrive.
 *
 * A TimeMap lists the captures ("mementos") that an archive has of one URL, in
 * the format of links of RFC 6690 that RFC 7089, section 5, extends:
 *
 *     <http://a.example/>; rel="original",
 *     <https://ia.example/tm/2/http://a.example/>; rel="timemap",
 *     <https://ia.example/2000/http://a.example/>; rel="first memento";
 *         datetime="Tue, 20 Jun 2000 18:02:59 GMT"
 *
 * Archives are not to be trusted: a TimeMap may be broken, endless, of another
 * format or charset. The reader keeps one link at a time, skips what is not a
 * link and counts it. What it reports is bounded by the caller, who can stop.
 *
 *     struct web_timemap t = { .latest = now + 86400 };
 *
 *     while ((n = read(fd, bytes, sizeof bytes)) > 0)
 *         web_timemap_read(&t, bytes, n, each, owner);
 *     web_timemap_end(&t, each, owner);
 *     printf("%lu mementos, %lu broken links\n", t.mementos, t.skipped);
 *     web_timemap_clear(&t);
 *
 * Where links begin and end is judged by their lines, too: neither a URL nor a
 * text in quotes goes over the end of a line. So a missing quote costs one link
 * and not all that follow.
 *
 * Threads: a reader belongs to one thread at a time.
 */
#ifndef SEEN_WEB_TIMEMAP_H
#define SEEN_WEB_TIMEMAP_H

#include <stdbool.h>
#include <stdint.h>

#include <seen/span.h>

#include "../lib/text/buffer.h"

enum {
    WEB_TIMEMAP_LINK = 1 << 14, /* bytes of a link with its parameters */
    WEB_TIMEMAP_URL = 8192      /* bytes of its URL */
};

/* A link that matters: a memento, or another page of the TimeMap. */
struct web_timemap_link {
    struct seen_span url; /* as it is written: it may be relative, and have
                             bytes that are not ASCII, but no control bytes */
    bool page;            /* rel="timemap"; otherwise it is a memento */
    int64_t when;         /* of a memento, in seconds since 1970 */
};

/* Called for each of them; the URL lives only during the call. False: read no
   further. */
typedef bool web_timemap_each(void *owner,
                              const struct web_timemap_link *link);

/* Zeroed but for `latest`, it is ready. */
struct web_timemap {
    int64_t latest; /* later mementos are skipped; 0: none are */

    uint64_t links;    /* links that have a relation of any kind */
    uint64_t mementos; /* mementos that were reported */
    uint64_t skipped;  /* links that are broken, too long, or without a date */
    uint64_t future;   /* mementos that are later than `latest` */
    bool cut;          /* it ended in the middle of a link */
    bool stopped;      /* the caller wanted no more */
    bool failed;       /* there was no memory */

    /* Inside. */
    unsigned state;
    bool comma;               /* in a part that is skipped: the byte before
                                 was one */
    unsigned begun;           /* how many of the first two bytes came */
    unsigned char mark[2];    /* they may be a byte order mark */
    unsigned wide;            /* UTF-16: 1 for LE, 2 for BE; else 0 */
    unsigned half, surrogate; /* what came of a character that is not whole */
    bool halved;
    struct buffer link; /* the link that is being read */
};

void web_timemap_read(struct web_timemap *t, const char *bytes, size_t n,
                      web_timemap_each *each, void *owner);

/* There are no more bytes. */
void web_timemap_end(struct web_timemap *t, web_timemap_each *each,
                     void *owner);

void web_timemap_clear(struct web_timemap *t);

/*
 * A date of HTTP: "Tue, 20 Jun 2000 18:02:59 GMT" (RFC 9110, IMF-fixdate). The
 * day of the week may be missing or wrong, and the day of the month may have
 * one digit. False if it is not a date.
 */
bool web_timemap_date(struct seen_span text, int64_t *when);

/* Seconds since 1970 of a day that exists, years 1000 to 9999, at a time from
   00:00:00 to 23:59:60; false otherwise. */
bool web_timemap_when(unsigned year, unsigned month, unsigned day,
                      unsigned hour, unsigned minute, unsigned second,
                      int64_t *when);

#endif
