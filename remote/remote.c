/* remote.c - the door: from an address to a filter. */
#include "remote.h"

#include <errno.h>
#include <string.h>

#include "layout.h"
#include "redis.h"
#include "transfer.h"

static const struct remote_options none = { .profile = NULL };

enum seen_code remote_open(struct seen_filter **out, const char *address,
                           const struct remote_options *options,
                           struct seen_error *why)
{
    struct remote_address a;
    enum seen_code code = remote_address_parse(&a, address, why);

    *out = NULL;
    if (code == SEEN_OK)
        code = remote_redis_open(out, &a, options ? options : &none, why);
    remote_address_forget(&a);
    return code;
}

enum seen_code remote_able(const struct seen_filter *f, struct seen_error *why)
{
    return remote_layout_able(f, why);
}

static enum seen_code open_server(struct remote_server **s,
                                  const char *address,
                                  const struct remote_options *options,
                                  struct seen_error *why)
{
    struct remote_address a;
    enum seen_code code = remote_address_parse(&a, address, why);

    *s = NULL;
    if (code == SEEN_OK)
        code = remote_server_open(s, &a, options->warn, options->whose, why);
    remote_address_forget(&a);
    return code;
}

enum seen_code remote_save(const struct seen_filter *f, const char *address,
                           const struct remote_options *options,
                           struct seen_error *why)
{
    struct remote_server *s;
    enum seen_code code = open_server(&s, address, options ? options : &none,
                                      why);

    if (code == SEEN_OK)
        code = remote_transfer_in(f, s, why);
    remote_server_close(s);
    return code;
}

enum seen_code remote_load(struct seen_filter **out, const char *address,
                           const struct remote_options *options,
                           struct seen_error *why)
{
    const struct seen_access access = {
        .profile = options ? options->profile : NULL,
        .secret = options ? options->secret : NULL
    };
    struct remote_server *s;
    enum seen_code code = open_server(&s, address, options ? options : &none,
                                      why);

    *out = NULL;
    if (code == SEEN_OK)
        code = remote_transfer_out(out, s, &access, why);
    remote_server_close(s);
    return code;
}

uint64_t remote_losses(const struct seen_filter *f)
{
    return seen_filter_can(f, SEEN_IS_SLOW) ? remote_redis_losses(f) : 0;
}
