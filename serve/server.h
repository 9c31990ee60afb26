/*
 * server.h - seen serve: archives over HTTP and the Redis protocol.
 *
 *     seen serve haw=haw.seen --listen 127.0.0.1:8080
 *
 *     GET /haw/http://haw.nsk.hr/en     200 or 404      http/
 *     BF.EXISTS haw http://haw.nsk.hr/  :1 or :0        redis/
 *
 * One loop per thread, each with a listening socket of its own on the same
 * port; the kernel spreads the clients over them (SO_REUSEPORT).
 *
 * The order in which the parts include each other:
 *
 *     archives/  <-  log, loop, conn, change, question  <-  http/, redis/
 *     watch/     <------------------------------------------'     <-  server
 *     search/    <------------------------------------------'
 *     memento/   <------------------------------------------'
 *
 * archives/ has the filters and knows of no client. watch/ looks at crawls for
 * the page for operators, search/ finds their pages by words. memento/ asks archives for TimeMaps. loop.h and conn.h carry
 * bytes and run jobs, and reach the protocols through struct protocol.
 * http/ and redis/ do not know each other. server.c puts them together.
 */
#ifndef SEEN_SERVE_SERVER_H
#define SEEN_SERVE_SERVER_H

#include "listen.h"
#include "options.h"

/*
 * Serve until SIGTERM or SIGINT. On SIGHUP the access log is opened again and
 * the folders are read again. `ready` is called when clients can connect, with
 * the addresses that they can connect to; those that a service manager passed
 * take the place of the options' (systemd.h). On failure why->at is the
 * operand at fault, or the number of operands if it is another thing.
 */
enum seen_code serve_run(const struct serve_options *options,
                         void (*ready)(const struct serve_options *options,
                                       const struct listen_address *at,
                                       size_t n),
                         struct seen_error *why);

#endif
