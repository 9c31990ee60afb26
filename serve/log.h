/*
 * log.h - the access log, in the combined format of Apache and nginx or as
 * lines of JSON.
 *
 * A loop collects lines and writes them together, in one write() to a file
 * opened for appending: lines of several loops mix, but never within a line.
 * The file can be changed under a descriptor (dup3()), when logs are rotated.
 */
#ifndef SEEN_SERVE_LOG_H
#define SEEN_SERVE_LOG_H

#include <sys/socket.h>

#include "../lib/text/buffer.h"

struct log {
    int fd;    /* -1: none is kept */
    bool json; /* instead of the combined format */
    char time[40];
    struct buffer lines;
    bool torn;      /* its last line was written only in part; lines
                       of other loops may follow that part */
    uint64_t lost;  /* lines that could not be written */
    int error;      /* errno of the last write, 0 if it was good; both are
                       read by other threads: relaxed atomics */
};

struct log_entry {
    struct seen_span request; /* the request line */
    int status;
    uint64_t bytes;              /* of the body that was sent */
    struct seen_span from, with; /* the headers Referer and User-Agent; "-"
                                    if there is none */
    /* If a proxy speaks for another client: the proxy. Or NULL. */
    const struct sockaddr_storage *proxy;
};

/* Set the time of lines to come. */
void log_clock(struct log *l, long seconds);
void log_write(struct log *l, const struct sockaddr_storage *client,
               const struct log_entry *entry);
void log_flush(struct log *l);

#endif
