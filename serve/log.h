/*
 * log.h - the access log, in the combined format of Apache and nginx.
 *
 * A loop collects lines and writes them together, in one write() to a file
 * opened for appending: lines of several loops mix, but never within a line.
 */
#ifndef SEEN_SERVE_LOG_H
#define SEEN_SERVE_LOG_H

#include <sys/socket.h>

#include "http/parse.h"
#include "out.h"

struct log {
    int fd; /* -1: none is kept */
    char time[40];
    struct out lines;
};

/* It is another second. */
void log_clock(struct log *l, long seconds);
/* `bytes` of the body were sent. */
void log_request(struct log *l, const struct sockaddr_storage *who,
                 const struct http_request *r, int status, uint64_t bytes);
void log_flush(struct log *l);

#endif
