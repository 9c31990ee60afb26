/*
 * log.h - the access log, in the combined format of Apache and nginx.
 *
 * A loop collects lines and writes them together, in one write() to a file
 * opened for appending: lines of several loops mix, but never within a line.
 */
#ifndef SEEN_SERVE_LOG_H
#define SEEN_SERVE_LOG_H

#include <sys/socket.h>

#include "../lib/text/buffer.h"

struct log {
    int fd; /* -1: none is kept */
    char time[40];
    struct buffer lines;
};

struct log_entry {
    struct seen_span request; /* the request line */
    int status;
    uint64_t bytes;              /* of the body that was sent */
    struct seen_span from, with; /* the headers Referer and User-Agent */
};

/* Set the time that lines begin with. */
void log_clock(struct log *l, long seconds);
void log_write(struct log *l, const struct sockaddr_storage *client,
               const struct log_entry *entry);
void log_flush(struct log *l);

#endif
