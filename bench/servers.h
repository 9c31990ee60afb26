/*
 * servers.h - a PostgreSQL and a RabbitMQ server of a benchmark's own.
 *
 *     struct bench_postgres db = { .server.pid = 0 };
 *     char url[PATH_ROOM];
 *
 *     if (bench_postgres_start(&db) && bench_postgres_new(&db, "one", url))
 *         ... url is that of an empty database ...
 *     bench_postgres_stop(&db);
 *
 * They listen on free ports of 127.0.0.1 and keep their files below the folder
 * of the benchmark. Settings are those that the packages of Debian come with:
 * commits are flushed to the disk.
 *
 * Threads: one.
 */
#ifndef SEEN_BENCH_SERVERS_H
#define SEEN_BENCH_SERVERS_H

#include "serve.h"

struct bench_postgres {
    struct peer server;
    char programs[PATH_ROOM]; /* their folder */
};

/* Start it and wait until it answers; false after a message. */
bool bench_postgres_start(struct bench_postgres *p);
/* The URL of a new database. */
bool bench_postgres_new(const struct bench_postgres *p, const char *name,
                        char url[PATH_ROOM]);
void bench_postgres_stop(struct bench_postgres *p);

struct bench_rabbit {
    struct peer server, names; /* the second one is Erlang's epmd */
    pid_t beam;                /* the process that does the work */
    char url[PATH_ROOM];
};

bool bench_rabbit_start(struct bench_rabbit *r);
void bench_rabbit_stop(struct bench_rabbit *r);

#endif
