/* transfer.h - whole filters to Redis and back. */
#ifndef SEEN_REMOTE_TRANSFER_H
#define SEEN_REMOTE_TRANSFER_H

#include "remote.h"
#include "server.h"

/* As remote_save() and remote_load(), with a server that is open. */
enum seen_code remote_transfer_in(const struct seen_filter *f,
                                  struct remote_server *s, bool fresh,
                                  struct seen_error *why);
enum seen_code remote_transfer_out(struct seen_filter **out,
                                   struct remote_server *s,
                                   const struct seen_access *access,
                                   struct seen_error *why);

#endif
