/*
 * redis.h - the Redis protocol, as the server sees it.
 *
 *     redis.c        commands, one after the other
 *     resp.c         their syntax, and that of replies
 *     table.c        all commands, their arity and permissions
 *     client.c       about the connection: HELLO, AUTH, CLIENT
 *     info.c         about the server: INFO, COMMAND, CONFIG, SAVE, SHUTDOWN
 *     bf.c cf.c sets.c    about filters
 *     exists.c       lookups, many at once
 *     redis_write.c  adds and removals
 *     multi.c        transactions
 *     dump.c         whole filters
 *     task.c         what else takes time
 */
#ifndef SEEN_SERVE_REDIS_REDIS_H
#define SEEN_SERVE_REDIS_REDIS_H

#include "../loop.h"

extern const struct protocol redis_protocol;

#endif
