/*
 * sample.h - exchanges to pack: one of each sort that a crawl writes.
 */
#ifndef TEST_WARC_SAMPLE_H
#define TEST_WARC_SAMPLE_H

#include "test/test.h"

#include <string.h>

#include "lib/text/span.h"
#include "warc/pack.h"

#define SAMPLE_WHEN 1767323045678 /* 2026-01-02T03:04:05.678Z */
#define SAMPLE_HELLO "<html>hello</html>"
#define SAMPLE_DIGEST "O57NSEYVH37NN5YSIJIQGZF2VAMOK4GK"

/* A page with a request and metadata. */
static inline struct warc_exchange sample_page(const char *url)
{
    return (struct warc_exchange){
        .url = url,
        .when = SAMPLE_WHEN,
        .address = "192.0.2.1",
        .request = span_of("GET / HTTP/1.1\r\nHost: a.example\r\n\r\n"),
        .head = span_of("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
                        "Content-Length: 18\r\n\r\n"),
        .body = span_of(SAMPLE_HELLO),
        .payload = span_of(SAMPLE_HELLO),
        .metadata = span_of("via: http://a.example/\r\n"),
        .status = 200,
        .type = "text/html",
    };
}

/* The same, in chunks, from an IPv6 address. */
static inline struct warc_exchange sample_chunked(const char *url)
{
    struct warc_exchange x = sample_page(url);

    x.address = "2001:db8::1";
    x.head = span_of("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    x.body = span_of("6\r\n<html>\r\nC;x=y\r\nhello</html>\r\n0\r\n\r\n");
    return x;
}

/* The same page again, later: by digest, or by the server's word. */
static inline struct warc_exchange sample_revisit(const char *url,
                                                  enum warc_revisit how)
{
    struct warc_exchange x = sample_page(url);

    x.when += 1000;
    x.revisit = how;
    x.refers_url = url;
    x.refers_when = SAMPLE_WHEN;
    x.refers_digest = SAMPLE_DIGEST;
    if (how == WARC_NOT_MODIFIED) {
        x.head = span_of("HTTP/1.1 304 Not Modified\r\n\r\n");
        x.body = x.payload = (struct seen_span){ NULL, 0 };
        x.status = 304;
        x.type = NULL;
    }
    return x;
}

/* A page that the limit of a crawl cut short, inside its chunks. */
static inline struct warc_exchange sample_cut(const char *url)
{
    struct warc_exchange x = sample_chunked(url);

    x.body = span_of("6\r\n<html>\r\nC;x=y\r\nhel");
    x.payload = span_of("<html>hel");
    x.truncated = "length";
    x.metadata.len = 0;
    return x;
}

#endif
