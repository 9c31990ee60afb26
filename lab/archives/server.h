/*
 * server.h - a redis-server of our own for the Redis columns of Table 1.
 *
 *     if (lab_server_start(&server, lab->folder, true))
 *         remote_open(&f, server.address, NULL, &why);
 *     lab_server_stop(&server);
 *
 * It listens on the loopback, and ends with us whatever happens. Threads: the
 * main one.
 */
#ifndef SEEN_LAB_SERVER_H
#define SEEN_LAB_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

struct lab_server {
    pid_t pid;        /* 0: does not run */
    char address[80]; /* of a filter on it */
};

/* Start it, without persistence or with AOF and appendfsync everysec. False:
   there is no redis-server in PATH. */
bool lab_server_start(struct lab_server *s, const char *folder, bool aof);

/* Stop it if it runs. */
void lab_server_stop(struct lab_server *s);

#endif
