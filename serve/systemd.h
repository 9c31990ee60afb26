/*
 * systemd.h - what a service manager passes to us, and what it is told.
 *
 * Both are simple protocols that other service managers speak, too: sockets
 * are descriptors from 3 on, announced in the environment (sd_listen_fds(3)),
 * and states are datagrams to the socket NOTIFY_SOCKET (sd_notify(3)). So no
 * library is needed.
 *
 * Threads: systemd_sockets() changes the environment, so it is called before
 * other threads start.
 */
#ifndef SEEN_SERVE_SYSTEMD_H
#define SEEN_SERVE_SYSTEMD_H

#include <stdbool.h>

#include <seen/error.h>

enum { SYSTEMD_FIRST = 3, SYSTEMD_SOCKETS = 32 };

/* How many sockets were passed: descriptors from SYSTEMD_FIRST on. Those whose
   name is "redis" have their bit set. None is *n = 0. SEEN_RANGE: what the
   environment says cannot be. */
enum seen_code systemd_sockets(unsigned *n, uint32_t *redis,
                               struct seen_error *why);

/* Report a state, "READY=1"; nothing happens if nobody waits for it. */
void systemd_notify(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

#endif
