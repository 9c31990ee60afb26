/*
 * log.h - the access log, in the combined format of Apache and nginx or as
 * lines of JSON.
 *
 * A loop collects lines and writes them together to the file, which all loops
 * share: lines of several loops mix, but never within a line. A line of which a
 * full disk took only a part is ended before the next one, of any loop.
 *
 * Threads: a log belongs to one loop, its file to all of them.
 */
#ifndef SEEN_SERVE_LOG_H
#define SEEN_SERVE_LOG_H

#include <pthread.h>
#include <sys/socket.h>

#include "../lib/text/buffer.h"

struct log_file {
    int fd; /* opened for appending; -1: none is kept */
    pthread_mutex_t lock;
    bool torn;     /* its last line was written only in part */
    uint64_t lost; /* lines that could not be written */
    int error;     /* errno of the last write, 0 if it was good; both are read
                      without the lock: relaxed atomics */
};

/* Write to another file from now on, after rotation. It is closed here. False
   if that fails: then the old one is kept. */
bool log_file_replace(struct log_file *f, int fd);

struct log {
    struct log_file *file; /* NULL: none is kept */
    bool json;             /* instead of the combined format */
    char time[40];
    struct buffer lines;
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
