/* redis.h - a filter whose bits are in Redis or in a Redis Cluster. */
#ifndef SEEN_REMOTE_REDIS_H
#define SEEN_REMOTE_REDIS_H

#include <seen/kind_writer.h>

#include "remote.h"
#include "server.h"

/* As remote_open(); the address is moved. */
enum seen_code remote_redis_open(struct seen_filter **out,
                                 struct remote_address *a,
                                 const struct remote_options *options,
                                 struct seen_error *why);

/* The counter `lost` of such a filter. */
uint64_t remote_redis_losses(const struct seen_filter *f);

/* The connections of such a filter; NULL for other filters. */
struct remote_server *remote_redis_server(const struct seen_filter *f);

extern const struct seen_kind remote_redis;

#endif
