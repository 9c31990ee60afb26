/* bf.h - a filter that a server has and is asked for with BF commands. */
#ifndef SEEN_REMOTE_BF_H
#define SEEN_REMOTE_BF_H

#include <seen/kind_writer.h>

#include "remote.h"
#include "server.h"

/* As remote_open(); the address is moved. */
enum seen_code remote_bf_open(struct seen_filter **out,
                              struct remote_address *a,
                              const struct remote_options *options,
                              struct seen_error *why);

/* Times that the server may have lost adds since it was opened. */
uint64_t remote_bf_losses(const struct seen_filter *f);

/* The connection of such a filter; NULL for other filters. */
struct remote_server *remote_bf_server(const struct seen_filter *f);

extern const struct seen_kind remote_bf;

#endif
