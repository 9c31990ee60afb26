/* spatial.h - several filters on servers, all of which must have a key. */
#ifndef SEEN_REMOTE_SPATIAL_H
#define SEEN_REMOTE_SPATIAL_H

#include <seen/kind_writer.h>

#include "remote.h"

/* As the functions of remote.h, for an address that begins with spatial: */
enum seen_code remote_spatial_open(struct seen_filter **out,
                                   const char *address,
                                   const struct remote_options *options,
                                   struct seen_error *why);
enum seen_code remote_spatial_able(const struct seen_filter *f,
                                   const char *address,
                                   struct seen_error *why);
enum seen_code remote_spatial_save(const struct seen_filter *f,
                                   const char *address,
                                   const struct remote_options *options,
                                   struct seen_error *why);

extern const struct seen_kind remote_spatial;

#endif
